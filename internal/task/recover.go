package task

import (
	"context"
	"fmt"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// IntentEnv is the environment variable that tells the hooks of a git that tt runs which intent it serves.
const IntentEnv = "TT_INTENT"

// OwnChange reports whether a change that git is about to make serves an open intent, and whether that lands
// a task or reverts one. tt has allowed such a change already, so the hooks needn't check it again.
func (ts *Tasks) OwnChange(ctx context.Context, intent string) (serves, lands bool, err error) {
	if intent == "" {
		return false, false, nil
	}

	db, err := ts.core.Open(ctx, false)
	if err != nil {
		return false, false, err
	}
	return serves, lands, db.View(ctx, func(tx *store.Tx) error {
		i, open, err := tx.Intent(intent)
		serves, lands = open, open && (i.Kind == intentLand || i.Kind == intentRollback)
		return err
	})
}

// shortLockWait is how long a command waits for a task's lock if a landing probably holds it. Landings take
// long.
const shortLockWait = 50 * time.Millisecond

// isLanding reports whether a task has a landing that hasn't ended, or was interrupted.
func (rp *repo) isLanding(ctx context.Context, id string) (yes bool, err error) {
	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		i, err := openIntent(tx, r.ID, id)
		yes = i != nil && (i.Kind == intentLand || i.Kind == intentRollback)
		return err
	})
	return yes, err
}

// openIntent returns the open intent of a task, or nil.
func openIntent(tx *store.Tx, room stick.RoomID, id string) (*store.Intent, error) {
	open, err := tx.Intents(room, id)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	return &open[0], nil
}

// requireNotLanding refuses to change a task that is being merged, or whose merge was interrupted.
func (o *op) requireNotLanding(id string) error {
	i, err := openIntent(o.Tx, o.Room.ID, id)
	if err != nil || i == nil || i.Kind != intentLand && i.Kind != intentRollback {
		return err
	}

	what, again := stick.Words("merged"), stick.Cmd("tt task merge <task_id>", id)
	if i.Kind == intentRollback {
		what, again = "reverted", stick.Cmd("tt task rollback <task_id> --reason …", id)
	}
	return stick.Errorf(stick.CodeLanding, "%s is being %s (started %s)",
		id, what, stick.Ago(o.Tx.Now().Sub(i.StartedAt))).
		With("task_id", id).With("pid", i.PID).Hintf("wait for the outcome: %s; if it was interrupted: %s",
		stick.Cmd("tt task show <task_id>", id), again)
}

// recoverTask finishes or undoes what a command that died began for a task. The caller must hold the task's
// lock, so that no other command in this checkout is working on it. If one in another checkout is, recover
// fails with [stick.CodeLanding].
func (rp *repo) recoverTask(ctx context.Context, id string) error {
	var open *store.Intent
	elsewhere := false
	err := rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		open, err = openIntent(tx, r.ID, id)
		if err != nil || open == nil {
			return err
		}

		// A command in another checkout is alive as long as it renews its intent.
		if elsewhere = open.In.IsOther(tx.CheckoutOf(r)); elsewhere && leaseLeft(*open, tx.Now()) > 0 {
			return errOtherCheckout(tx, *open, id)
		}
		return nil
	})
	if err = ignoreNoRoom(err); err != nil || open == nil {
		return err
	}
	defer rp.serveIntent(ctx, open.ID)()

	if elsewhere {
		return rp.takeOverIntent(ctx, *open)
	}

	// What has begun is finished, undone or only forgotten, each by its kind.
	switch open.Kind {
	case intentSpawn, intentRetry:
		return rp.undoSpawn(ctx, *open)
	case intentSetup: // the task says that its set-up didn't come to its end
		return rp.writeOutcome(ctx, func(o *op) error { return o.Tx.EndIntent(open.ID, "cut off") })
	case intentDone:
		return rp.recoverDone(ctx, *open)
	case intentLand, intentRollback:
		return rp.recoverLanding(ctx, *open, false)
	case intentPR: // the next run finds what there is at the forge
		return rp.writeOutcome(ctx, func(o *op) error { return o.Tx.EndIntent(open.ID, "cut off") })
	case intentCleanup:
		_, err := rp.runCleanup(ctx, *open)
		return err
	}

	return fmt.Errorf("an intent of kind %q is open for %s", open.Kind, id)
}

// recoverOtherLandings finishes the interrupted landings on a branch, except that of one task. Otherwise the
// next landing would take their half-moved files for somebody's changes. The caller must hold the branch's
// lock, so that no other command is working on them.
func (rp *repo) recoverOtherLandings(ctx context.Context, branch, id string) error {
	var open []store.Intent
	err := rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		open, err = tx.Intents(r.ID, "")
		return err
	})
	if err != nil {
		return err
	}

	for _, i := range open {
		if d, lands := landingOf(i); !lands || d.Branch != branch || i.Task == stick.TaskKey(id) {
			continue
		}

		task, err := rp.readTask(ctx, i.Task)
		if err != nil {
			return err
		}

		unlock, err := rp.acquireLock(ctx, "task", task.ID, lockWait)
		if err != nil {
			return err
		}

		err = rp.recoverTask(ctx, i.Task)
		unlock()
		if err != nil {
			return err
		}
	}

	return nil
}

// recoverDone ends an interrupted done. If its rebase stopped at a conflict, the task becomes conflicted.
// Otherwise nothing was lost, and the worker runs done again.
func (rp *repo) recoverDone(ctx context.Context, i store.Intent) error {
	d, err := readIntent[doneIntent](i)
	if err != nil {
		return err
	}

	// Only a rebase that stopped at a conflict has left something to resolve.
	files := []string(nil)
	if rp.isRebasing(ctx, d.Path) {
		if files, err = rp.git.Unmerged(ctx, d.Path); err != nil {
			return err
		}
	}

	return rp.writeOutcome(ctx, func(o *op) error {
		if len(files) > 0 {
			task, err := taskOf(o.Tx, o.Room.ID, i.Task)
			if err != nil {
				return err
			}
			if ev, err := task.Conflict(stick.TaskCall{By: task.Worker}, d.Onto, files); err == nil &&
				task.State != stick.TaskConflicted {
				o.addTaskEvent(ev)
			}
		}

		return o.Tx.EndIntent(i.ID, "cut off")
	})
}

// recoverLanding finishes a landing whose process died. Git decides: if the branch contains the result, the
// task has landed; else nothing has happened, and the landing can start again. Of a landing in another
// checkout the remote's branch decides.
func (rp *repo) recoverLanding(ctx context.Context, i store.Intent, inOtherCheckout bool) error {
	d, err := readIntent[landIntent](i)
	if err != nil {
		return err
	}

	task, err := rp.readTask(ctx, i.Task)
	if err != nil {
		return err
	}

	if d.Tree != "" && !inOtherCheckout {
		// If that fails, tt doctor names it.
		_ = rp.removeTree(d.Tree)
	}

	tg, err := rp.readTarget(ctx, d.Branch)

	// The branch is gone.
	if stick.CodeOf(err) == stick.CodeNotFound {
		return (&landing{repo: rp, task: task, id: i.ID}).abandonIntent(ctx, "cut off")
	}
	if err != nil {
		return err
	}
	if d.Remote != "" {
		// The remote decides, and it may have moved since.
		tg.remote = d.Remote
		if err := rp.fetchTarget(ctx, &tg); err != nil {
			return err
		}
	}

	// The landing goes on from what its intent says.
	l := &landing{repo: rp, task: task, id: i.ID, target: tg, base: d.Base, result: d.Result, revertReason: d.Revert}
	l.task.Approved = d.Head

	// The branch stands at the base, but some of its files may have moved already.
	if d.Remote == "" && d.Checkout != "" && d.Checkout == tg.checkout && tg.local == d.Base {
		if err := rp.git.FinishFastForward(ctx, d.Checkout, tg.ref(), d.Base, d.Result); err != nil {
			return err
		}
		if l.target, err = rp.readTarget(ctx, d.Branch); err != nil {
			return err
		}
	}

	// What another checkout didn't push isn't here.
	contained, err := rp.git.HasCommit(ctx, rp.root, d.Result)
	if err == nil && contained {
		contained, err = rp.git.IsAncestor(ctx, rp.root, d.Result, l.target.head())
	}
	if err != nil {
		return err
	}
	if !contained {
		return l.abandonIntent(ctx, "cut off")
	}
	if d.Remote != "" {
		if err := l.advanceLocal(ctx); err != nil {
			l.note = stick.AsError(err).Words()
		}
	}

	if err := l.recordLanded(ctx, i.ID); err != nil || d.Revert != "" {
		return err
	}

	_, err = l.cleanUpLanded(ctx)
	return err
}
