package cli

import (
	"context"
	"fmt"
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
	c := &cobra.Command{Use: "list [path]", Aliases: []string{"ls", "status"}, Short: "List tasks, their state and who works on them", Args: between(0, 1, "a path")}
	c.Flags().BoolVar(&p.All, "all", false, "also list tasks that ended more than a day ago")
	c.Flags().BoolVar(&watch, "watch", false, "keep the list up to date until you interrupt it")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if p.Where, err = path.of(args, 0); err != nil {
			return err
		}
		if watch {
			return a.watchTasks(c.Context(), p)
		}
		return show(a, func(e operations, by core.Caller) (task.WorkerStatusResult, error) {
			p.Caller = by
			return e.WorkerStatus(c.Context(), p)
		}, (*page).tasks)
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
			if err := a.line(res); err != nil {
				return err
			}
		} else {
			pg := a.page()
			pg.tasks(res)
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
			Caller: p.Caller, Where: p.Where, FromNow: true, MaxWaitMS: &wait, EventFilter: engine.EventFilter{Target: engine.TargetAny},
		})
		if err != nil {
			return err
		}
	}
}

// tasks adds a table of tasks.
func (p *page) tasks(res task.WorkerStatusResult) {
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
		row := list.add(append(cells, p.what(t))...)
		if t.Warning != "" {
			warning := t.Warning
			if t.Liveness == "STALE" {
				warning += "; " + t.NextAction
			}
			row.below = append(row.below, cell{showf("! %s", warning), "31"})
		}
	}
	p.table(list)
	if res.Hidden > 0 {
		p.linef("%s", p.faint(fmt.Sprintf("%d more ended over a day ago: --all", res.Hidden)))
	}
	for _, q := range res.Paused {
		p.linef("%s", p.paint("31", fmt.Sprintf("! the gate failed on %s itself, at %s, %s: nothing is merged into it until it moves", stick.Line(q.Branch), abbrev(q.Commit), p.ago(q.Since))))
	}
}

// sinceSeen returns how long ago the worker of a task gave its last heartbeat, or another sign; empty if nobody works on it.
func (p *page) sinceSeen(t task.TaskView) string {
	if t.SeenAt.IsZero() {
		return ""
	}
	return stick.Age(p.now.Sub(t.SeenAt))
}

// doing says what a command is doing for a task, or that it was stopped or interrupted meanwhile.
func doing(t task.TaskView) string {
	what := task.Doing(t.Doing)
	if t.Runner == nil {
		return what
	}
	if t.Runner.Host != "" {
		what += " on " + t.Runner.Host
	}
	switch {
	case t.Runner.State == task.RunnerStopped:
		return fmt.Sprintf("stopped while %s (process %d)", what, t.Runner.PID)
	case t.Runner.State == task.RunnerGone, t.Runner.State == task.RunnerUnknown && t.Runner.Host != "":
		return "interrupted while " + what
	}
	return what
}

// startedByAuthor marks a reviewer that an author of the task had started, as the log does.
func startedByAuthor(below bool) string {
	if below {
		return " (started by its author)"
	}
	return ""
}

// what returns what matters most about a task now.
func (p *page) what(t task.TaskView) string {
	var parts []string
	if t.Liveness != "" && t.Liveness != "alive" {
		parts = append(parts, t.Liveness)
	}
	switch {
	case t.Doing != "":
		parts = append(parts, doing(t))
	case t.Queue > 0:
		parts = append(parts, fmt.Sprintf("%d in the merge queue", t.Queue))
	}
	if t.Later {
		parts = append(parts, string(p.waits(t)))
	}
	if t.BelowAuthor {
		parts = append(parts, "approved by "+string(t.ApprovedBy)+startedByAuthor(true))
	}
	if t.ChangesGate {
		parts = append(parts, strings.TrimPrefix(gateMark(t.GateFiles), "it "))
	}
	if mark := checksMark(t.Evidence); mark != "" && (t.State == stick.TaskInReview || t.State == stick.TaskApproved) {
		parts = append(parts, mark)
	}
	if t.PullRequest.Number != 0 && t.State != stick.TaskCompleted {
		parts = append(parts, fmt.Sprintf("pull request #%d %s", t.PullRequest.Number, t.PullRequest.State))
	}
	if t.OpenComments > 0 {
		parts = append(parts, stick.Count(t.OpenComments, "open comment"))
	}
	if t.Checkout != "" {
		parts = append(parts, "in "+place(t))
	}
	if t.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", t.Attempt))
	}
	if t.Reason != "" {
		parts = append(parts, stick.Clip(t.Reason, 60))
	} else if t.Description != "" {
		parts = append(parts, stick.Clip(t.Description, 60))
	}
	return strings.Join(parts, "; ")
}

// gateMark says which of the gate's own files a task changes.
func gateMark(files []string) string {
	const most = 5
	more := ""
	if len(files) > most {
		files, more = files[:most], fmt.Sprintf(" and %d more", len(files)-most)
	}
	if len(files) == 0 {
		return "it changes the gate itself"
	}
	return "it changes the gate itself: " + paths(files) + more
}

// checksMark says what is odd about the checks of a task in a few words; empty if they passed on the commit that is offered.
func checksMark(checks []task.ShownCheck) string {
	var red []string
	for _, c := range checks {
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
	return "failed checks: " + stick.Clip(strings.Join(red, ", "), 40)
}

// place names another checkout: that with a task's branch and worktree.
func place(t task.TaskView) string {
	if t.Host == "" {
		return t.Checkout
	}
	return t.Checkout + " on " + t.Host
}

func (a *app) workerShowCmd() *cobra.Command {
	var p task.WorkerShowParams
	var output string
	c := &cobra.Command{
		Use: "show [task]", Short: "Show a task with its history, or the output of a command", Args: between(0, 1, "the name of a task"),
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
			return stick.Errorf(stick.CodeUsage, "%s needs the name of a task", c.CommandPath()).Hintf("%s lists them", stick.Cmd("tt task list"))
		}
		return show(a, func(e operations, by core.Caller) (task.WorkerShowResult, error) {
			p.TaskID, p.Where, p.Caller = args[0], path.where(), by
			return e.WorkerShow(c.Context(), p)
		}, (*page).task)
	}
	return c
}

// task adds everything about one task.
func (p *page) task(t task.WorkerShowResult) {
	p.linef("%s %s (attempt %d)", p.strong(t.TaskID), p.been(t.State.Word(t.Cause), t.StateAt), t.Attempt)
	row := func(name, value string) {
		if value != "" {
			p.linef("  %-12s %s", name, stick.Line(value))
		}
	}
	row("what", t.Description)
	row("worker", string(t.Worker))
	if !t.SeenAt.IsZero() {
		row("liveness", strings.TrimPrefix(t.Liveness+", seen "+p.ago(t.SeenAt), ", "))
	}
	row("warning", t.Warning)
	row("conflicts", paths(t.Conflicts))
	row("spawned by", string(t.SpawnedBy))
	if t.Later {
		row("for later", "it "+string(p.waits(t.TaskView)))
		row("after", strings.Join(t.After, ", "))
	}
	row("branch", t.Branch+" for "+t.Integration)
	worktree := t.Path
	if t.Host != "" {
		worktree += " on " + t.Host
	}
	if !t.Later {
		row("worktree", worktree)
	}
	if t.Slot != nil {
		row("slot", itoa(*t.Slot))
	}
	row("base", abbrev(t.Base))
	row("in review", abbrev(t.Head))
	if t.ChangesGate {
		row("note", gateMark(t.GateFiles))
	}
	if t.Approved != "" {
		row("approved", abbrev(t.Approved)+" by "+string(t.ApprovedBy)+startedByAuthor(t.BelowAuthor))
	}
	if t.Queue > 0 {
		row("queue", itoa(t.Queue))
	}
	row("pull request", pullRequest(t.PullRequest))
	row("merged as", abbrev(t.Result))
	row("reverted by", abbrev(t.RevertedBy))
	if t.State == stick.TaskCompleted && t.Result == "" {
		how := "nothing new: " + t.Integration + " contained it already"
		if pr := t.PullRequest; pr.HasMerge() {
			how = fmt.Sprintf("%s, at the forge by pull request #%d", abbrev(pr.Commit), pr.Number)
		}
		row("merged as", how)
	}
	if t.Doing != "" {
		row("doing", doing(t.TaskView)+"; it started "+p.ago(t.Runner.Since))
	}
	if t.Cause != "" {
		row("because", strings.ReplaceAll(t.Cause, "_", " "))
		p.text("    ", strings.TrimSpace(t.Reason))
	}
	p.runs(t)
	p.setup(t.TaskView)
	p.history(t)
	p.linef("next: %s", stick.Line(t.NextAction))
}

// setup shows how a task's worktree was set up.
func (p *page) setup(t task.TaskView) {
	s := t.Setup
	if s == nil {
		return
	}
	end := "ended well"
	if why := s.Failed(t.Doing); why != "" {
		end = why
	} else if s.Exit == nil {
		end = "runs"
	}
	p.linef("  %-12s %s (%s)", "set-up", stick.Line(s.Command), end)
	if s.Output != "" {
		p.linef("  %-12s %s", "output", p.next(stick.Cmd("tt task show --output <sum>", abbrev(s.Output))))
	}
}

func (p *page) history(t task.WorkerShowResult) {
	if len(t.Commits) > 0 {
		p.linef("commits:")
		for _, c := range t.Commits {
			p.linef("  %s", stick.Line(c))
		}
		p.stats(t.Files)
	}
	for _, x := range t.Evidence {
		stale, on := "", abbrev(x.Head)
		if x.Stale {
			stale, on = " is stale", fmt.Sprintf("%s in attempt %d", on, x.Attempt)
		}
		p.linef("evidence %s%s: %s ended with %d after %s, on %s", stick.Line(x.Name), stale, stick.Line(x.Command), x.Exit, time.Duration(x.Millis)*time.Millisecond, on)
		p.text("  ", strings.TrimSpace(x.Text))
	}
	p.comments(t.Comments)
	p.linef("history:")
	if t.More {
		p.linef("  %s", p.faint(showf("older events are hidden: %s shows all", p.next(stick.Cmd("tt task export")))))
	}
	for _, e := range t.Events {
		p.linef("  %s  %s", p.faint(e.CreatedAt.Go().Local().Format("2006-01-02 15:04:05 -0700")), e.Say())
	}
}
