package queue

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/command"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// GatePrefix begins the names of the gates' worktrees. No task can have such a name.
const GatePrefix = ".gate-"

// verdict is what the gate has said of a commit.
type verdict struct {
	green   bool
	outcome command.Result
	remains []stick.Words // what it left behind
}

// name returns the word for a gate that let a task land.
func (v verdict) name() string {
	if v.green {
		return "green"
	}
	return "none"
}

// runGates runs the gate on exactly the commit that is to land. If it is red, the gate also runs on the base.
// If it is red there too, the task isn't to blame, and the queue is paused; else the task returns to its
// worker. intent is the one under which the task lands.
func (l landing) runGates(ctx context.Context, intent string, c candidate) (verdict, error) {
	v, err := l.judgeCommit(ctx, c, c.commit)
	if err != nil || v.green {
		return v, err
	}
	l.KillPoint("merge: red")

	// The output of the gate is kept for whoever has to find out why.
	db, err := l.Core.Open(ctx, true)
	if err != nil {
		return v, err
	}

	report, err := db.WriteBlob(v.outcome.Output)
	if err != nil {
		return v, err
	}

	// Red on the branch itself means that the task isn't the cause.
	onBase, err := l.judgeCommit(ctx, c, c.base)
	if err != nil {
		return v, err
	}

	if !onBase.green {
		if report, err = db.WriteBlob(onBase.outcome.Output); err != nil {
			return v, haltQueue(err)
		}
		return v, haltQueue(settleIntent(l.pauseQueue(ctx, intent, c.ground, report)))
	}

	return v, l.refuseRed(ctx, intent, c.ground, v, report)
}

// judgeCommit has the gate judge a commit. A gate that a signal has ended, as when memory is short, has said
// nothing: it runs once more. If that ends so too, judgeCommit fails with [stick.CodeGateEnded].
func (l landing) judgeCommit(ctx context.Context, c candidate, commit string) (v verdict, err error) {
	for range 2 {
		if v, err = l.runGate(ctx, c, commit); err != nil || v.outcome.Signal == "" {
			return v, err
		}
		l.KillPoint("gate: ended")
	}

	return v, haltQueue(stick.Errorf(stick.CodeGateEnded,
		"the gate was ended by %s, twice, before it could say anything about %s: nothing was merged, and no task is to blame",
		v.outcome.Signal, l.task.ID).
		With("task_id", l.task.ID).With("signal", v.outcome.Signal).
		Hintf("see what ends it, such as a lack of memory; then: %s", l.retryCommand()))
}

// refuseRed returns a task to its worker whose gate is red, and makes the error for it. A revert only fails.
func (l landing) refuseRed(ctx context.Context, intent string, g ground, v verdict, report store.Blob) error {
	if l.revertReason != "" {
		if err := l.WriteOutcome(ctx, func(o *repository.Op) error { return o.Tx.AddBlob(report) }); err != nil {
			return err
		}
		return l.errGateRed(g.target.Name, v.outcome, report, nil)
	}

	// The worker reads the end of the output in its message.
	printed := strings.ReplaceAll(lastLines(v.outcome.Output, 2000), "\n", "\n  ")
	reason := string(stick.Wordsf("The gate is red (%s) on its merge with %s: %s printed:\n  ",
		v.outcome.DescribeExit(), g.target.Name, stick.Name(g.gate.Command).Cut(200))) + printed
	restart, err := l.returnTask(ctx, intent, returned{cause: stick.CauseGate, reason: reason, report: report})
	if err != nil {
		return err
	}
	return settleIntent(l.errGateRed(g.target.Name, v.outcome, report, restart))
}

// gateTree returns the place of the gate's worktree, or "" if there is no gate.
func (l landing) gateTree(g ground, commit string) (string, error) {
	if g.gate.Command == "" {
		return "", nil
	}

	dir, err := l.NameDirectory(g.worker)
	tree := filepath.Join(l.Root, filepath.FromSlash(dir), GatePrefix+repository.ShortCommit(commit))
	if err == nil {
		err = l.RequireInside(tree)
	}
	if err == nil {
		err = l.MakeDirectory(filepath.Dir(tree))
	}
	if err != nil {
		// No task can land there either.
		return "", haltQueue(err)
	}

	return tree, nil
}

// errGateRed returns the error for a gate that is red on the result. restart says how the command of the task
// starts again.
func (l landing) errGateRed(branch string, outcome command.Result, report store.Blob, restart stick.Hint) error {
	what, prefix := stick.Wordsf("merge of %s with", l.task.ID), stick.Words("its worker got a message; ")
	if l.revertReason != "" {
		what, prefix = stick.Wordsf("revert of %s on", l.task.ID), ""
	}
	next := stick.Hintf("%sthe whole output of the gate: %s",
		prefix, stick.Cmd("tt task show --output <sum>", repository.ShortCommit(report.Sum)))
	return stick.Errorf(stick.CodeGateFailed, "the gate is red (%s) on the %s %s",
		outcome.DescribeExit(), what, branch).
		With("task_id", l.task.ID).With("report", report.Sum).With("left", []string{}).
		Hintf("%s", withRestart(next, restart))
}

// lastLines returns the last n bytes of an output as text.
func lastLines(b []byte, n int) string {
	return stick.Block(string(b[max(0, len(b)-n):]))
}

// borrowSlot returns a slot that no task has now. A task that begins while the gate runs may get it.
func (l landing) borrowSlot(ctx context.Context) (slot int, err error) {
	err = l.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		used, err := tx.Slots(r.ID, tx.CheckoutOf(r))
		slot = tasks.FreeSlot(used)
		if err == nil && !slices.Contains(used, l.task.Slot) {
			slot = l.task.Slot
		}
		return err
	})
	return slot, err
}

// runGate runs the gate at a commit. While it is red, it runs again, as often as the project allows. Each run
// has a fresh worktree, so that no run sees what an earlier one left. Afterwards the worktree is removed. If
// that fails, the verdict says so, and counts all the same.
func (l landing) runGate(ctx context.Context, c candidate, commit string) (v verdict, err error) {
	defer func() {
		if derr := l.RemoveTree(c.tree); derr != nil {
			v.remains = []stick.Words{stick.AsError(derr).Words()}
		}
	}()

	// The gate has the ports and databases of the task's slot for itself.
	slot := l.task.Slot

	// The task that is reverted has given its slot back.
	if l.revertReason != "" && slot != stick.NoSlot {
		if slot, err = l.borrowSlot(ctx); err != nil {
			return v, err
		}
	}

	for range c.gate.Retries + 1 {
		// An earlier run, or a command that died, may have left its worktree.
		if err := l.RemoveTree(c.tree); err != nil {
			return v, err
		}
		if err := l.addGateTree(ctx, c.tree, commit); err != nil {
			return v, err
		}
		l.KillPoint("gate: worktree")

		o, err := l.RunShell(ctx, c.tree, c.gate.Command, c.gate.Timeout, repository.SlotEnviron(slot),
			l.showGate(c.ground, commit))
		v = verdict{green: err == nil && o.Exit == 0, outcome: o}
		if err != nil || v.green {
			return v, err
		}
		if len(bytes.TrimSpace(o.Output)) == 0 {
			v.outcome.Output = fmt.Appendf(nil, "[tt: the gate printed nothing; %s]\n", o.DescribeExit())
		}
	}

	return v, nil
}

// addGateTree creates the gate's worktree.
func (l landing) addGateTree(ctx context.Context, tree, commit string) error {
	unlock, err := l.LockWorktrees(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return l.Git.AddDetached(ctx, l.Root, tree, commit)
}

// GateRun is a gate that runs now.
type GateRun struct {
	TaskID   string // the task whose merge or revert is tested
	Branch   string // the integration branch
	OnBranch bool   // it tests the branch itself, because it was red on the task
	Command  string
	Since    stick.Time
	LastLine func() string // the last line that it has printed so far, as it is
}

// showGate tells the caller that the gate begins to run on a commit. It returns what has to hear the gate's
// output, nil if the caller doesn't want to know.
func (l landing) showGate(g ground, commit string) io.Writer {
	if l.onGate == nil {
		return nil
	}

	// The caller reads the last line whenever it likes, while the gate writes.
	var heard command.LastLine
	l.onGate(GateRun{
		TaskID: l.task.ID, Branch: g.target.Name, OnBranch: commit == g.base, Command: g.gate.Command,
		Since: stick.At(l.Core.Now()), LastLine: heard.String,
	})
	return &heard
}
