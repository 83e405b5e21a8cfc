package task

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

func workerStatusCmd(a *app.Run) *cobra.Command {
	var p task.WorkerStatusParams
	var watch bool
	c := &cobra.Command{
		Use: "list [path]", Aliases: []string{"ls", "status"},
		Short: "List tasks, their state and who works on them", Args: app.ArgsBetween(0, 1, "a path"),
	}
	c.Flags().BoolVar(&p.All, "all", false, "also list tasks that ended more than a day ago")
	addLabelFlag(c, &p.Labels, "only tasks that have all of these labels, separated by commas")
	c.Flags().BoolVar(&watch, "watch", false, "keep the list up to date until you interrupt it")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if p.Where, err = path.WhereOf(args, 0); err != nil {
			return err
		}

		p.Begin = true
		if watch {
			return watchTasks(c.Context(), a, p)
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (task.WorkerStatusResult, error) {
			p.Caller = by
			return e.WorkerStatus(c.Context(), p)
		}, showTasks)
	}

	return c
}

// watchTasks shows the tasks again whenever something happens in the room. It also does so every few seconds,
// because a silent worker gets a warning when enough time has passed.
func watchTasks(ctx context.Context, a *app.Run, p task.WorkerStatusParams) error {
	e, by, err := a.Open()
	if err != nil {
		return err
	}

	p.Caller = by
	a.Reads = true
	last := term.Text("")
	for {
		res, err := e.WorkerStatus(ctx, p)
		if err != nil {
			return err
		}

		if a.JSON {
			if err := a.PrintLine(res); err != nil {
				return err
			}
		} else {
			pg := a.NewPage()
			showTasks(pg, res)

			// The screen is drawn again only if it would change.
			if text := pg.Text(); text != last {
				if a.TTY {
					a.Write("\x1b[H\x1b[2J")
				}

				a.Write(text)
				last = text
			}
		}

		if a.Unheard {
			return nil
		}

		wait := int64((10 * time.Second).Milliseconds())
		_, err = e.WaitForEvents(ctx, eventlog.WaitForEventsParams{
			Caller: p.Caller, Where: p.Where, FromNow: true, MaxWaitMS: &wait,
			EventFilter: eventlog.EventFilter{Target: eventlog.TargetAny},
		})
		if err != nil {
			return err
		}
	}
}

// showTasks adds a table of tasks.
func showTasks(p *term.Page, res task.WorkerStatusResult) {
	switch {
	case res.NeedsInit:
		p.Linef("no tasks; to make the branch that they are merged into: %s", p.Next(stick.Cmd("tt task init")))
	case len(res.Tasks) == 0:
		p.Linef("no tasks; to create one: %s", p.Next(stick.Cmd("tt task new <task> --description …")))
	}

	list := term.Table{Head: []string{"TASK", "STATE", "SINCE", "WORKER", "WHAT"}}
	anyBusy := slices.ContainsFunc(res.Tasks, func(t task.TaskView) bool { return !t.SeenAt.IsZero() })
	if anyBusy {
		list.Head = slices.Insert(list.Head, 4, "SEEN")
	}

	for _, t := range res.Tasks {
		state := term.Cell{Text: term.Wordsf("%s", t.State.Word(t.Cause))}
		switch t.State {
		case stick.TaskConflicted, stick.TaskFailed:
			state.Hue = "31"
		case stick.TaskInReview:
			state.Hue = "33"
		case stick.TaskApproved, stick.TaskCompleted:
			state.Hue = "32"
		}

		cells := []any{t.TaskID, state, stick.Age(p.Now.Sub(t.StateAt)), t.Worker}
		if anyBusy {
			cells = append(cells, sinceSeen(p, t))
		}

		row := list.Add(append(cells, taskSummary(p, t))...)
		if t.Warning != "" {
			warning := t.Warning

			// Only somebody who is gone needs a next step of others.
			if t.Liveness == "STALE" {
				warning += "; " + t.NextAction
			}

			row.Below = append(row.Below, term.Cell{Text: term.Wordsf("! %s", warning), Hue: "31"})
		}
	}

	p.ShowTable(list)
	if res.Hidden > 0 {
		p.Linef("%s", p.Faint(term.Wordsf("%d more ended over a day ago: --all", res.Hidden)))
	}

	if n := len(res.CutOff); n > 0 {
		p.Linef("%s", p.Paint("31", term.Wordsf("! %s; to start what was cut off again: %s",
			cutOffText(n), p.Next(stick.Cmd("tt task run --all")))))
	}

	for _, q := range res.Paused {
		p.Linef("%s", p.Paint("31",
			term.Wordsf("! the gate failed on %s itself, at %s, %s: nothing is merged into it until it moves",
				q.Branch, abbrev(q.Commit), p.Ago(q.Since))))
	}
}

// cutOffText says how many commands of tasks were cut off.
func cutOffText(n int) stick.Words {
	if n == 1 {
		return "1 command was cut off"
	}
	return stick.Wordsf("%d commands were cut off", n)
}

// sinceSeen returns how long ago the worker of a task gave its last heartbeat, or another sign; empty if
// nobody works on it.
func sinceSeen(p *term.Page, t task.TaskView) stick.Words {
	if t.SeenAt.IsZero() {
		return ""
	}
	return stick.Age(p.Now.Sub(t.SeenAt))
}

// taskActivity says what a command is doing for a task, or that it was stopped or interrupted meanwhile.
func taskActivity(t task.TaskView) stick.Words {
	what := task.IntentText(t.Doing)
	if t.Runner == nil {
		return what
	}

	if t.Runner.Host != "" {
		what += stick.Wordsf(" on %s", t.Runner.Host)
	}

	switch {
	case t.Runner.State == task.RunnerStopped:
		return stick.Wordsf("stopped while %s (process %d)", what, t.Runner.PID)
	case t.Runner.State == task.RunnerGone, t.Runner.State == task.RunnerUnknown && t.Runner.Host != "":
		return "interrupted while " + what
	}

	return what
}

// startedByAuthor marks a reviewer that an author of the task had started, as the log does.
func startedByAuthor(below bool) stick.Words {
	if below {
		return " (started by its author)"
	}
	return ""
}

// taskSummary returns what matters most about a task now.
func taskSummary(p *term.Page, t task.TaskView) stick.Words {
	var parts []stick.Words

	// A worker that is alive needs no word.
	if t.Liveness != "" && t.Liveness != "alive" {
		parts = append(parts, stick.Wordsf("%s", t.Liveness))
	}

	switch {
	case t.Doing != "":
		parts = append(parts, taskActivity(t))
	case t.Merges:
		parts = append(parts, stick.Wordsf("%d in the merge queue, merged by itself", t.Queue))
	case t.Queue > 0:
		parts = append(parts, stick.Wordsf("%d in the merge queue", t.Queue))
	}

	if t.Later {
		parts = append(parts, stick.Words(waitText(t)))
	}
	if t.Priority != stick.PriorityNormal && t.State != stick.TaskCompleted {
		parts = append(parts, stick.Wordsf("%s priority", stick.Words(t.Priority.String())))
	}
	if len(t.Labels) > 0 {
		parts = append(parts, labelText(t.Labels))
	}
	if t.BelowAuthor {
		parts = append(parts, stick.Wordsf("approved by %s", t.ApprovedBy)+startedByAuthor(true))
	}
	if t.ChangesGate {
		parts = append(parts, stick.Words(strings.TrimPrefix(string(gateMark(t.GateFiles)), "it ")))
	}
	if mark := checksMark(t.Evidence); mark != "" && (t.State == stick.TaskInReview || t.State == stick.TaskApproved) {
		parts = append(parts, mark)
	}
	if t.PullRequest.Number != 0 && t.State != stick.TaskCompleted {
		parts = append(parts, stick.Wordsf("pull request #%d %s", t.PullRequest.Number, t.PullRequest.State))
	}
	if t.OpenComments > 0 {
		parts = append(parts, stick.Count(t.OpenComments, "open comment"))
	}
	if t.Checkout != "" {
		parts = append(parts, "in "+taskPlace(t))
	}
	if t.Attempt > 1 {
		parts = append(parts, stick.Wordsf("attempt %d", t.Attempt))
	}

	// Why a task is where it is matters more than what it is about.
	if t.Reason != "" && t.Reason != tasks.NoReason {
		parts = append(parts, stick.Reasoner(t.Cause)+": "+stick.Quote(t.Reason, 60))
	}
	if t.Description != "" {
		parts = append(parts, stick.Wordsf("%s: %s", t.SpawnedBy, stick.Quote(t.Description, 60)))
	}

	return stick.JoinWords(parts, "; ")
}

// gateMark says which of the gate's own files a task changes.
func gateMark(files []string) stick.Words {
	const most = 5
	if len(files) == 0 {
		return "it changes the gate itself"
	}
	return "it changes the gate itself: " + stick.Names(files, most)
}

// checksMark says what is odd about the checks of a task in a few words; empty if they passed on the commit
// that is offered.
func checksMark(checks []task.ShownCheck) stick.Words {
	var red []string
	for _, c := range checks {
		// Stale checks say nothing of the commit, whether they passed or not.
		if c.Stale {
			return "its checks are stale"
		}

		if c.Exit != 0 {
			red = append(red, c.Name)
		}
	}

	if len(red) == 0 {
		return ""
	}
	return "failed checks: " + stick.Names(red, 3)
}

// taskPlace names another checkout: that with a task's branch and worktree.
func taskPlace(t task.TaskView) stick.Words {
	if t.Host == "" {
		return stick.Wordsf("%s", t.Checkout)
	}
	return stick.Wordsf("%s on %s", t.Checkout, t.Host)
}
