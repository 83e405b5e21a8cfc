package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// queueTask returns the stand-in for a task in the intents about a queue as a whole. No task can have its
// name.
func queueTask(branch string) stick.Task {
	sum := sha256.Sum256([]byte(branch))
	return stick.Task{ID: "queue/" + hex.EncodeToString(sum[:8])}
}

// PauseOf returns the pause that an intent records, or nil if it is of another kind.
func PauseOf(i store.Intent) *QueuePause {
	if i.Kind != repository.IntentPause {
		return nil
	}

	p, err := repository.ReadIntent[repository.PauseIntent](i)
	if err != nil {
		return nil
	}
	return &QueuePause{Branch: p.Branch, Commit: p.Commit, Since: i.StartedAt, Report: p.Report}
}

// requireNotPaused refuses to land while the branch is at a commit on which the gate is red. If the branch
// has moved since, it ends the pause.
func (l landing) requireNotPaused(ctx context.Context, g ground) error {
	var p *QueuePause
	err := l.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		// There is at most one pause for a branch.
		open, err := tx.Intents(r.ID, "")
		p = nil

		for _, i := range open {
			if q := PauseOf(i); q != nil && q.Branch == g.target.Name {
				p = q
			}
		}

		return err
	})

	switch {
	case err != nil || p == nil:
		return err
	case p.Commit == g.base && !l.byName:
		return l.errBaseRed(g, p.Report)
	case p.Commit == g.base:
		// The task may repair the branch; the pause ends when it lands.
		return nil
	}

	return l.WriteOutcome(ctx, func(o *repository.Op) error {
		open, err := o.Tx.Intents(o.Room.ID, "")
		if err != nil {
			return err
		}
		return endPause(o, open, g.target.Name)
	})
}

// endPause ends the pause of a branch's queue, if one is among the open intents.
func endPause(o *repository.Op, open []store.Intent, branch string) error {
	for _, i := range open {
		if p := PauseOf(i); p != nil && p.Branch == branch {
			if err := o.Tx.EndIntent(i.ID, "over"); err != nil {
				return err
			}
		}
	}

	return nil
}

// errBaseRed returns the error for a gate that is red on the branch itself. report is the sum of its output.
func (l landing) errBaseRed(g ground, report string) error {
	return stick.Errorf(stick.CodeBaseRed,
		"the gate is red on %s itself, at %s: nothing was merged, and no task is to blame", g.target.Name,
		repository.ShortCommit(g.base)).
		With("task_id", l.task.ID).With("branch", g.target.Name).With("commit", g.base).With("report", report).
		With("left", []string{}).
		Hintf("see what is wrong: %s; then approve a task that repairs it, and merge that task by name",
			stick.Cmd("tt task show --output <sum>", repository.ShortCommit(report)))
}

// pauseQueue pauses the queue until the branch moves, ends the intent to land, and returns
// [landing.errBaseRed].
func (l landing) pauseQueue(ctx context.Context, intent string, g ground, report store.Blob) error {
	id, err := l.NewID(ctx)
	if err != nil {
		return err
	}

	err = l.WriteOutcome(ctx, func(o *repository.Op) error {
		if err := o.Tx.AddBlob(report); err != nil {
			return err
		}

		open, err := o.Tx.Intents(o.Room.ID, "")
		if err != nil {
			return err
		}

		// The new pause takes the place of an older one.
		if err := endPause(o, open, g.target.Name); err != nil {
			return err
		}
		paused := repository.PauseIntent{Branch: g.target.Name, Commit: g.base, Report: report.Sum}
		if err := o.StoreIntent(id, repository.IntentPause, queueTask(g.target.Name), 0, paused); err != nil {
			return err
		}
		return o.Tx.EndIntent(intent, "base red")
	})
	if err != nil {
		return err
	}
	return l.errBaseRed(g, report.Sum)
}

// QueuePause says why the merge queue of a branch is paused.
type QueuePause struct {
	Branch string     `json:"branch"`
	Commit string     `json:"commit"` // on which the gate is red
	Since  stick.Time `json:"since"`
	Report string     `json:"report,omitempty"` // the sum of the gate's output
}
