package task

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

func workerMergeCmd(a *app.Run) *cobra.Command {
	var p task.WorkerMergeParams
	c := &cobra.Command{
		Use: "merge [task]", Short: "Merge an approved task, the next in the queue, or all",
		Args: app.ArgsBetween(0, 1, "the name of a task"),
		Long: "Merge approved tasks one at a time, in the order of their approval. " +
			"tt makes the merge without touching any checkout, and runs\n" +
			"the gate on exactly that commit. Then it moves the branch, if nobody else has moved it. " +
			"A task that conflicts, or that fails the\n" +
			"gate, goes back to its worker. If the gate fails on the branch itself, no task is to blame, " +
			"and the queue waits until the\n" +
			"branch has moved.",
	}

	c.Flags().BoolVar(&p.All, "all", false, "merge all approved tasks")
	c.Flags().BoolVar(&p.Wait, "wait", false,
		"merge nothing; wait until tt has merged the tasks that were approved with --merge")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		p.Where = path.Where()
		if len(args) > 0 {
			p.TaskID = args[0]
		}

		e, by, err := a.Open()
		if err != nil {
			return err
		}

		// A gate may take minutes, so a line on the terminal says which one runs.
		l := a.StartProgress(true)
		p.Caller, p.Shows = by, showsGate(a, l)
		p.Waits = func(on string, r task.Runner) { sayMergeWaits(a, on, r) }
		p.Held = func(h task.HeldTask) { sayHeld(a, h) }
		res, err := e.WorkerMerge(c.Context(), p)
		l.End()

		// Without anything merged the failure says it all.
		saysAll := len(res.Merged)+len(res.Waiting) == 0 || !p.Wait && len(res.Merged) == 0
		if err != nil && saysAll && !p.All {
			return err
		}

		// Also show what was merged before the failure.
		return errors.Join(err, a.Print(res, func(p *term.Page) { showMerged(p, res, err) }))
	}

	return c
}

// showRemains shows what went with a worktree although git ignores it, and what stays.
func showRemains(p *term.Page, indent term.Text, r task.Remains) {
	const most = 10
	if n := len(r.Ignored); n > most {
		p.Linef("%sremoved with the worktree, ignored by git: %s, and %d more", indent, app.PathNames(r.Ignored[:most]), n-most)
	} else if n > 0 {
		p.Linef("%sremoved with the worktree, ignored by git: %s", indent, app.PathNames(r.Ignored))
	}

	if r.Rescue != "" {
		p.Linef("%skept: %s; to bring it back: %s",
			indent, app.PathNames(r.Kept), p.Next(stick.Cmd("tt rescue restore <id>", r.Rescue)))
	}

	for _, ref := range r.Tips {
		_, branch, _ := strings.Cut(ref, "/heads/")
		p.Linef("%skept: its commits; to bring them back: %s", indent, p.Next(stick.Cmd("git branch <branch> <ref>", branch, ref)))
	}

	for _, l := range r.Left {
		p.Linef("%sleft: %s", indent, l)
	}
}

// sayMergeWaits says for whom a merge waits. on is the branch or the task.
func sayMergeWaits(a *app.Run, on string, r task.Runner) {
	if a.JSON {
		return
	}

	var since term.Text
	if d := a.CurrentTime().Sub(r.Since); !r.Since.IsZero() && d >= time.Second {
		since = term.Wordsf(" for %s", stick.Age(d))
	}

	_ = a.Sayf("tt: waiting for %s: it has worked on %s%s", r.Words(), on, since)
	if r.State == task.RunnerStopped {
		_ = a.Sayf("hint: let it go on: kill -CONT %d", r.PID)
	}
}

// sayHeld says why a task that tt merges by itself has to wait.
func sayHeld(a *app.Run, h task.HeldTask) {
	if a.JSON {
		return
	}
	_ = a.Sayf("tt: %s has to wait: %s", h.TaskID, h.Why)
	if h.Next != "" {
		_ = a.Sayf("hint: %s", h.Next)
	}
}

// showMerged shows what a merge did before it ended, with or without an error.
func showMerged(p *term.Page, res task.WorkerMergeResult, err error) {
	for _, m := range res.Merged {
		gate := stick.Words("no gate")
		switch {
		case m.Already:
			gate = "already"
		case m.Gate == "green":
			gate = "the gate passed"
		case m.Gate == "":
			gate = "by itself"
		}

		var as stick.Words
		if m.Commit != "" {
			as = stick.Wordsf(": %s", abbrev(m.Commit))
		}

		p.Linef("%s is merged into %s%s (%s)", m.TaskID, m.Branch, as, gate)
		if m.Note != "" {
			p.Linef("  note: %s", m.Note)
		}

		showRemains(p, "  ", m.Remains)
	}

	for _, c := range res.Cleaned {
		if len(c.Removed) > 0 {
			p.Linef("%s was merged before; removed now: %s", c.TaskID, stick.JoinWords(c.Removed, ", "))
		} else {
			p.Linef("%s was merged before, and its worktree is still there", c.TaskID)
		}

		showRemains(p, "  ", c.Remains)
	}

	showReady(p, res.Ready)
	showStarted(p, res.Started)
	for _, w := range res.Waiting {
		p.Linef("%s is %s: %s", w.TaskID, w.State, w.Why)
		if w.Next != "" {
			p.Linef("  next: %s", w.Next)
		}
	}

	if err == nil && len(res.Merged)+len(res.Waiting) == 0 {
		p.Linef("no task is approved")
		for _, id := range res.InReview {
			p.Linef("%s waits for review: %s", id, p.Next(stick.Cmd("tt task diff <task_id>", id)))
		}
		if len(res.InReview) == 0 {
			p.Linef("to see the tasks: %s", p.Next(stick.Cmd("tt task list")))
		}
	}
}

// showsGate returns what tells l which gate runs, nil if there is no line.
func showsGate(a *app.Run, l *app.ProgressLine) func(task.GateRun) {
	if l == nil {
		return nil
	}
	return func(g task.GateRun) { l.SetText(func() term.Text { return gateRun(a.NewPage(), g) }) }
}

// gateRun says which gate runs, for how long, and what it printed last.
func gateRun(p *term.Page, g task.GateRun) term.Text {
	on := term.Wordsf("%s", g.TaskID)
	if g.OnBranch {
		on = term.Wordsf("%s itself", g.Branch)
	}
	line := term.Wordsf("running the gate on %s%s: %s", on, p.DurationText(g.Since), stick.Name(g.Command).Cut(40))
	if last := g.LastLine(); last != "" {
		line += term.Wordsf(" | %s", stick.Quote(last, 160))
	}
	return line
}
