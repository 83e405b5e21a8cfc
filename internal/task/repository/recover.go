package repository

import (
	"context"
	"fmt"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// IsLanding reports whether a task has a landing that hasn't ended, or was interrupted.
func (rp *Repo) IsLanding(ctx context.Context, id string) (yes bool, err error) {
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		i, err := OpenIntentOf(tx, r.ID, id)
		yes = i != nil && (i.Kind == IntentLand || i.Kind == IntentRollback)
		return err
	})
	return yes, err
}

// OpenIntentOf returns the open intent of a task, or nil.
func OpenIntentOf(tx *store.Tx, room stick.RoomID, id string) (*store.Intent, error) {
	open, err := tx.Intents(room, id)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	return &open[0], nil
}

// RecoverTask finishes or undoes what a command that died began for a task. The caller must hold the task's
// lock, so that no other command in this checkout is working on it. If one in another checkout is, it
// fails with [stick.CodeLanding].
func (rp *Repo) RecoverTask(ctx context.Context, id string) error {
	var open *store.Intent
	elsewhere := false
	err := rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		open, err = OpenIntentOf(tx, r.ID, id)
		if err != nil || open == nil {
			return err
		}

		// A command in another checkout is alive as long as it renews its intent.
		if elsewhere = open.In.IsOther(tx.CheckoutOf(r)); elsewhere && LeaseLeft(*open, tx.Now()) > 0 {
			return errOtherCheckout(tx, *open, id)
		}
		return nil
	})
	if err = IgnoreNoRoom(err); err != nil || open == nil {
		return err
	}
	defer rp.ServeIntent(ctx, open.ID)()

	if elsewhere {
		return rp.takeOverIntent(ctx, *open)
	}

	// What has begun is finished, undone or only forgotten, each by its kind.
	switch open.Kind {
	case IntentSpawn, IntentRetry:
		return rp.undoSpawn(ctx, *open)
	case IntentSetup: // the task says that its set-up didn't come to its end
		return rp.WriteOutcome(ctx, func(o *Op) error { return o.Tx.EndIntent(open.ID, "cut off") })
	case IntentDone:
		return rp.recoverDone(ctx, *open)
	case IntentLand, IntentRollback:
		return rp.opener.config.FinishLanding(ctx, rp, *open, false)
	case IntentPR: // the next run finds what there is at the forge
		return rp.WriteOutcome(ctx, func(o *Op) error { return o.Tx.EndIntent(open.ID, "cut off") })
	case IntentCleanup:
		_, err := rp.RunCleanup(ctx, *open)
		return err
	}

	return fmt.Errorf("an intent of kind %q is open for %s", open.Kind, id)
}

// takeOverIntent finishes what a command in another checkout began and left. The remote decides whether a
// landing came through. Of everything else what is left stays in that checkout, where the next command finds
// it.
func (rp *Repo) takeOverIntent(ctx context.Context, i store.Intent) error {
	d, lands := LandingOf(i)
	if lands && d.Remote != "" {
		return rp.opener.config.FinishLanding(ctx, rp, i, true)
	}
	return rp.WriteOutcome(ctx, func(o *Op) error {
		// Without a remote nobody else can tell whether the branch has moved.
		if lands {
			return errElsewhere(o.Tx, i.Task, i.In,
				"a merge of %s was interrupted in %s, and can be finished only there").
				Hintf("run there: %s", stick.Cmd("tt task merge <task_id>", i.Task))
		}

		if _, open, err := o.Tx.Intent(i.ID); err != nil || !open {
			return err
		}
		return o.Tx.EndIntent(i.ID, "cut off")
	})
}
