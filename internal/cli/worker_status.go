package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

func (a *app) workerStatusCmd() *cobra.Command {
	var p task.WorkerStatusParams
	var watch bool
	c := &cobra.Command{
		Use: "list [path]", Aliases: []string{"ls", "status"},
		Short: "List tasks, their state and who works on them", Args: between(0, 1, "a path"),
	}
	c.Flags().BoolVar(&p.All, "all", false, "also list tasks that ended more than a day ago")
	c.Flags().BoolVar(&watch, "watch", false, "keep the list up to date until you interrupt it")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if p.Where, err = path.whereOf(args, 0); err != nil {
			return err
		}

		if watch {
			return a.watchTasks(c.Context(), p)
		}

		return show(a, func(e operations, by core.Caller) (task.WorkerStatusResult, error) {
			p.Caller = by
			return e.WorkerStatus(c.Context(), p)
		}, (*page).showTasks)
	}

	return c
}

// watchTasks shows the tasks again whenever something happens in the room. It also does so every few seconds,
// because a silent worker gets a warning when enough time has passed.
func (a *app) watchTasks(ctx context.Context, p task.WorkerStatusParams) error {
	e, by, err := a.open()
	if err != nil {
		return err
	}

	p.Caller = by
	a.reads = true
	last := shown("")
	for {
		res, err := e.WorkerStatus(ctx, p)
		if err != nil {
			return err
		}

		if a.json {
			if err := a.printLine(res); err != nil {
				return err
			}
		} else {
			pg := a.page()
			pg.showTasks(res)

			// The screen is drawn again only if it would change.
			if text := pg.shown(); text != last {
				if a.TTY {
					a.write("\x1b[H\x1b[2J")
				}

				a.write(text)
				last = text
			}
		}

		if a.unheard {
			return nil
		}

		wait := int64((10 * time.Second).Milliseconds())
		_, err = e.WaitForEvents(ctx, engine.WaitForEventsParams{
			Caller: p.Caller, Where: p.Where, FromNow: true, MaxWaitMS: &wait,
			EventFilter: engine.EventFilter{Target: engine.TargetAny},
		})
		if err != nil {
			return err
		}
	}
}

// showTasks adds a table of tasks.
func (p *page) showTasks(res task.WorkerStatusResult) {
	if len(res.Tasks) == 0 {
		p.linef("no tasks; to create one: %s", p.next(stick.Cmd("tt task new <task> --description …")))
	}

	list := table{head: []string{"TASK", "STATE", "SINCE", "WORKER", "WHAT"}}
	anyBusy := slices.ContainsFunc(res.Tasks, func(t task.TaskView) bool { return !t.SeenAt.IsZero() })
	if anyBusy {
		list.head = slices.Insert(list.head, 4, "SEEN")
	}

	for _, t := range res.Tasks {
		state := cell{text: showf("%s", t.State.Word(t.Cause))}
		switch t.State {
		case stick.TaskConflicted, stick.TaskFailed:
			state.hue = "31"
		case stick.TaskInReview:
			state.hue = "33"
		case stick.TaskApproved, stick.TaskCompleted:
			state.hue = "32"
		}

		cells := []any{t.TaskID, state, stick.Age(p.now.Sub(t.StateAt)), t.Worker}
		if anyBusy {
			cells = append(cells, p.sinceSeen(t))
		}

		row := list.add(append(cells, p.taskSummary(t))...)
		if t.Warning != "" {
			warning := t.Warning

			// Only somebody who is gone needs a next step of others.
			if t.Liveness == "STALE" {
				warning += "; " + t.NextAction
			}

			row.below = append(row.below, cell{showf("! %s", warning), "31"})
		}
	}

	p.showTable(list)
	if res.Hidden > 0 {
		p.linef("%s", p.faint(showf("%d more ended over a day ago: --all", res.Hidden)))
	}

	for _, q := range res.Paused {
		p.linef("%s", p.paint("31", showf("! the gate failed on %s itself, at %s, %s: nothing is merged into it until it moves", q.Branch, abbrev(q.Commit), p.ago(q.Since))))
	}
}

// sinceSeen returns how long ago the worker of a task gave its last heartbeat, or another sign; empty if
// nobody works on it.
func (p *page) sinceSeen(t task.TaskView) stick.Words {
	if t.SeenAt.IsZero() {
		return ""
	}
	return stick.Age(p.now.Sub(t.SeenAt))
}

// taskActivity says what a command is doing for a task, or that it was stopped or interrupted meanwhile.
func taskActivity(t task.TaskView) stick.Words {
	what := task.Doing(t.Doing)
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
func (p *page) taskSummary(t task.TaskView) stick.Words {
	var parts []stick.Words

	// A worker that is alive needs no word.
	if t.Liveness != "" && t.Liveness != "alive" {
		parts = append(parts, stick.Wordsf("%s", t.Liveness))
	}

	switch {
	case t.Doing != "":
		parts = append(parts, taskActivity(t))
	case t.Queue > 0:
		parts = append(parts, stick.Wordsf("%d in the merge queue", t.Queue))
	}

	if t.Later {
		parts = append(parts, stick.Words(p.waitText(t)))
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
	if t.Reason != "" {
		parts = append(parts, stick.Reasoner(t.Cause)+": "+stick.Quote(t.Reason, 60))
	} else if t.Description != "" {
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

func (a *app) workerShowCmd() *cobra.Command {
	var p task.WorkerShowParams
	var output string
	c := &cobra.Command{
		Use: "show [task]", Short: "Show a task with its history, or the output of a command",
		Args: between(0, 1, "the name of a task"),
	}

	c.Flags().StringVar(&output, "output", "", "print the output with this sum, of a gate, a command or a check")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if output != "" {
			return show(a, func(e operations, by core.Caller) (task.WorkerOutputResult, error) {
				return e.WorkerOutput(c.Context(), task.WorkerOutputParams{Caller: by, Sum: output})
			}, func(p *page, res task.WorkerOutputResult) { p.block(res.Text) })
		}

		if len(args) == 0 {
			return stick.Errorf(stick.CodeUsage, "%s needs the name of a task", stick.Words(c.CommandPath())).Hintf("%s lists them", stick.Cmd("tt task list"))
		}

		return show(a, func(e operations, by core.Caller) (task.WorkerShowResult, error) {
			p.TaskID, p.Where, p.Caller = args[0], path.where(), by
			return e.WorkerShow(c.Context(), p)
		}, (*page).showTask)
	}

	return c
}

// showTask adds everything about one task.
func (p *page) showTask(t task.WorkerShowResult) {
	p.linef("%s %s (attempt %d)", p.strong(showf("%s", t.TaskID)), p.durationOf(t.State.Word(t.Cause), t.StateAt), t.Attempt)
	if t.Description != "" {
		p.linef("  %-12s %s wrote:", "what", t.SpawnedBy)
		p.text("    ", strings.TrimSpace(t.Description))
	}

	p.showFact("worker", t.Worker)
	if !t.SeenAt.IsZero() {
		seen := "seen " + p.ago(t.SeenAt)
		if t.Liveness != "" {
			seen = stick.Wordsf("%s, ", t.Liveness) + seen
		}

		p.showFact("liveness", seen)
	}

	p.showFact("warning", t.Warning)
	p.showFact("conflicts", paths(t.Conflicts))
	p.showFact("spawned by", t.SpawnedBy)

	// A task for later has no worktree yet, and may wait for others.
	if t.Later {
		p.showFact("for later", "it "+p.waitText(t.TaskView))
		p.showFact("after", stick.Names(t.After, len(t.After)))
	}

	p.showTaskCommits(t)
	if t.Doing != "" {
		p.showFact("doing", taskActivity(t.TaskView)+"; it started "+p.ago(t.Runner.Since))
	}

	if t.Cause != "" {
		because := showf("%s", stick.Words(strings.ReplaceAll(t.Cause, "_", " ")))
		if t.Reason != "" {
			because += showf("; %s wrote:", stick.Reasoner(t.Cause))
		}

		p.showFact("because", because)
		p.text("    ", strings.TrimSpace(t.Reason))
	}

	p.showRuns(t)
	p.showSetup(t.TaskView)
	p.showHistory(t)
	p.linef("next: %s", t.NextAction)
}

// showFact shows a fact of a task under its name, unless it is empty.
func (p *page) showFact(name stick.Words, value any) {
	if value = showf("%s", value); value != shown("") {
		p.linef("  %-12s %s", name, value)
	}
}

// showTaskCommits shows where a task is worked on, and what became of its commits.
func (p *page) showTaskCommits(t task.WorkerShowResult) {
	p.showFact("branch", showf("%s for %s", t.Branch, t.Integration))
	worktree := showf("%s", t.Path)
	if t.Host != "" {
		worktree += showf(" on %s", t.Host)
	}
	if !t.Later {
		p.showFact("worktree", worktree)
	}
	if t.Slot != nil {
		p.showFact("slot", *t.Slot)
	}

	p.showFact("base", abbrev(t.Base))
	p.showFact("in review", abbrev(t.Head))
	if t.ChangesGate {
		p.showFact("note", gateMark(t.GateFiles))
	}
	if t.Approved != "" {
		p.showFact("approved", showf("%s by %s%s", abbrev(t.Approved), t.ApprovedBy, startedByAuthor(t.BelowAuthor)))
	}
	if t.Queue > 0 {
		p.showFact("queue", t.Queue)
	}

	p.showFact("pull request", pullRequest(t.PullRequest))
	p.showFact("merged as", abbrev(t.Result))
	p.showFact("reverted by", abbrev(t.RevertedBy))

	// A task can be completed without a merge of tt's.
	if t.State == stick.TaskCompleted && t.Result == "" {
		how := showf("nothing new: %s contained it already", t.Integration)
		if pr := t.PullRequest; pr.HasMerge() {
			how = showf("%s, at the forge by pull request #%d", abbrev(pr.Commit), pr.Number)
		}

		p.showFact("merged as", how)
	}
}

// showSetup shows how a task's worktree was set up.
func (p *page) showSetup(t task.TaskView) {
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

	p.linef("  %-12s %s (%s)", "set-up", stick.Name(s.Command), end)
	if s.Output != "" {
		p.linef("  %-12s %s", "output", p.next(stick.Cmd("tt task show --output <sum>", abbrev(s.Output))))
	}
}

func (p *page) showHistory(t task.WorkerShowResult) {
	if len(t.Commits) > 0 {
		p.linef("commits, in the words of those who made them:")
		for _, c := range t.Commits {
			p.text("  ", c)
		}

		p.showStats(t.Files)
	}

	for _, x := range t.Evidence {
		stale, on := stick.Words(""), showf("%s", abbrev(x.Head))
		if x.Stale {
			stale, on = " is stale", showf("%s in attempt %d", on, x.Attempt)
		}

		p.linef("evidence %s%s: %q ended with %d after %s, on %s", x.Name, stale, stick.Name(x.Command), x.Exit, time.Duration(x.Millis)*time.Millisecond, on)
		p.text("  ", strings.TrimSpace(x.Text))
	}

	p.showComments(t.Comments)
	p.linef("history:")
	if t.More {
		p.linef("  %s", p.faint(showf("older events are hidden: %s shows all", p.next(stick.Cmd("tt task export")))))
	}

	for _, e := range t.Events {
		p.linef("  %s  %s", p.faint(showf("%s", stick.Words(e.CreatedAt.Go().Local().Format("2006-01-02 15:04:05 -0700")))), e.Say())
	}
}
