package task

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

func workerShowCmd(a *app.Run) *cobra.Command {
	var p task.WorkerShowParams
	var output string
	c := &cobra.Command{
		Use: "show [task]", Short: "Show a task with its history, or the output of a command",
		Args: app.ArgsBetween(0, 1, "the name of a task"),
	}

	c.Flags().StringVar(&output, "output", "", "print the output with this sum, of a gate, a command or a check")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if output != "" {
			return app.Show(a, func(e app.Operations, by core.Caller) (task.WorkerOutputResult, error) {
				return e.WorkerOutput(c.Context(), task.WorkerOutputParams{Caller: by, Sum: output})
			}, func(p *term.Page, res task.WorkerOutputResult) {
				p.Linef("what a command of a task, a check or a gate printed:")
				p.ShowOutput("", res.Text)
			})
		}

		if len(args) == 0 {
			return stick.Errorf(stick.CodeUsage, "%s needs the name of a task", stick.Words(c.CommandPath())).
				Hintf("%s lists them", stick.Cmd("tt task list"))
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (task.WorkerShowResult, error) {
			p.TaskID, p.Where, p.Caller = args[0], path.Where(), by
			return e.WorkerShow(c.Context(), p)
		}, showTask)
	}

	return c
}

// showTask adds everything about one task.
func showTask(p *term.Page, t task.WorkerShowResult) {
	p.Linef("%s %s (attempt %d)", p.Strong(term.Wordsf("%s", t.TaskID)),
		p.DurationOf(t.State.Word(t.Cause), t.StateAt), t.Attempt)
	if t.Description != "" {
		p.Linef("  %-12s %s wrote:", "what", t.SpawnedBy)
		p.ShowText("  "+term.Quote, strings.TrimSpace(t.Description))
	}

	showFact(p, "worker", t.Worker)
	if !t.SeenAt.IsZero() {
		seen := "seen " + p.Ago(t.SeenAt)
		if t.Liveness != "" {
			seen = stick.Wordsf("%s, ", t.Liveness) + seen
		}

		showFact(p, "liveness", seen)
	}

	showFact(p, "warning", t.Warning)
	showFact(p, "conflicts", app.PathNames(t.Conflicts))
	showFact(p, "spawned by", t.SpawnedBy)
	showFact(p, "labels", stick.Names(t.Labels, len(t.Labels)))
	if t.Priority != stick.PriorityNormal {
		showFact(p, "priority", stick.Words(t.Priority.String()))
	}

	// A task for later has no worktree yet, and may wait for others.
	if t.Later {
		showFact(p, "for later", "it "+waitText(t.TaskView))
		showFact(p, "after", stick.Names(t.After, len(t.After)))
	}

	showTaskCommits(p, t)
	if t.Doing != "" {
		showFact(p, "doing", taskActivity(t.TaskView)+"; it started "+p.Ago(t.Runner.Since))
	}

	if t.Cause != "" {
		because := term.Wordsf("%s", stick.Words(strings.ReplaceAll(t.Cause, "_", " ")))
		ours, printed := stick.SplitGateReason(t.Cause, t.Reason)
		switch {
		case ours != "":
			showFact(p, "because", because+"; "+term.Wordsf("%s", ours))
			p.ShowOutput("  ", strings.TrimSpace(printed))
		case t.Reason != "":
			showFact(p, "because", because+term.Wordsf("; %s wrote:", stick.Reasoner(t.Cause)))
			p.ShowText("  "+term.Quote, strings.TrimSpace(t.Reason))
		default:
			showFact(p, "because", because)
		}
	}

	showRuns(p, t)
	showSetup(p, t.TaskView)
	showHistory(p, t)
	p.Linef("next: %s", t.NextAction)
}

// showFact shows a fact of a task under its name, unless it is empty.
func showFact(p *term.Page, name stick.Words, value any) {
	if value = term.Wordsf("%s", value); value != term.Text("") {
		p.Linef("  %-12s %s", name, value)
	}
}

// showTaskCommits shows where a task is worked on, and what became of its commits.
func showTaskCommits(p *term.Page, t task.WorkerShowResult) {
	showFact(p, "branch", term.Wordsf("%s for %s", t.Branch, t.Integration))
	worktree := term.Wordsf("%s", t.Path)
	if t.Host != "" {
		worktree += term.Wordsf(" on %s", t.Host)
	}
	if !t.Later {
		showFact(p, "worktree", worktree)
	}
	if t.Slot != nil {
		showFact(p, "slot", term.Wordsf("%d", *t.Slot))
	}

	showFact(p, "base", abbrev(t.Base))
	showFact(p, "in review", abbrev(t.Head))
	if t.ChangesGate {
		showFact(p, "note", gateMark(t.GateFiles))
	}
	if t.Approved != "" {
		showFact(p, "approved", term.Wordsf("%s by %s%s", abbrev(t.Approved), t.ApprovedBy, startedByAuthor(t.BelowAuthor)))
	}
	if t.Queue > 0 {
		showFact(p, "queue", term.Wordsf("%d", t.Queue))
	}

	showFact(p, "pull request", pullRequest(t.PullRequest))
	showFact(p, "merged as", abbrev(t.Result))
	showFact(p, "reverted by", abbrev(t.RevertedBy))

	// A task can be completed without a merge of tt's.
	if t.State == stick.TaskCompleted && t.Result == "" {
		how := term.Wordsf("nothing new: %s contained it already", t.Integration)
		if pr := t.PullRequest; pr.HasMerge() {
			how = term.Wordsf("%s, at the forge by pull request #%d", abbrev(pr.Commit), pr.Number)
		}

		showFact(p, "merged as", how)
	}
}

// showSetup shows how a task's worktree was set up.
func showSetup(p *term.Page, t task.TaskView) {
	s := t.Setup
	if s == nil {
		return
	}

	end := stick.Words("ended well")
	if why := s.Failed(t.Doing); why != "" {
		end = why
	} else if s.Exit == nil {
		end = "runs"
	}

	p.Linef("  %-12s %s (%s)", "set-up", stick.Name(s.Command), end)
	if s.Output != "" {
		p.Linef("  %-12s %s", "output", p.Next(stick.Cmd("tt task show --output <sum>", abbrev(s.Output))))
	}
}

func showHistory(p *term.Page, t task.WorkerShowResult) {
	if len(t.Commits) > 0 {
		by := stick.Words("whoever made them")
		if t.Worker != "" {
			by = stick.Wordsf("%s, or of whoever else made them", t.Worker)
		}

		p.Linef("commits, in the words of %s:", by)
		for _, c := range t.Commits {
			p.ShowOutput("  ", c)
		}

		showStats(p, t.Files)
	}

	for _, x := range t.Evidence {
		stale, on := stick.Words(""), term.Wordsf("%s", abbrev(x.Head))
		if x.Stale {
			stale, on = " is stale", term.Wordsf("%s in attempt %d", on, x.Attempt)
		}

		p.Linef("evidence %s%s: %q ended with %d after %s, on %s; %s ran it", x.Name, stale, stick.Name(x.Command),
			x.Exit, time.Duration(x.Millis)*time.Millisecond, on, x.By)
		p.ShowOutput("  ", strings.TrimSpace(x.Text))
	}

	showComments(p, t.Comments)
	p.Linef("history:")
	if t.More {
		p.Linef("  %s", p.Faint(term.Wordsf("older events are hidden: %s shows all", p.Next(stick.Cmd("tt task export")))))
	}

	for _, e := range t.Events {
		p.Linef("  %s  %s",
			p.Faint(term.Wordsf("%s", stick.Words(e.CreatedAt.Go().Local().Format("2006-01-02 15:04:05 -0700")))), e.Say())
	}
}
