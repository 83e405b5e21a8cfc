package queue

import (
	"cmp"
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// recoverLanding finishes a landing whose process died. Git decides: if the branch contains the result, the
// task has landed; else nothing has happened, and the landing can start again. Of a landing in another
// checkout the remote's branch decides.
func (mg *merger) recoverLanding(ctx context.Context, i store.Intent, inOtherCheckout bool) error {
	// What a lander finishes is still the act of whoever approved.
	if mg.By.Behalf == landerName {
		defer func(by core.Caller) { mg.By = by }(mg.By)
		mg.By = core.Caller{Behalf: i.Agent, Person: i.Agent.Human()}
	}

	d, err := repository.ReadIntent[repository.LandIntent](i)
	if err != nil {
		return err
	}

	task, err := mg.ReadTask(ctx, i.Task)
	if err != nil {
		return err
	}

	// The landing goes on from what its intent says.
	l := landing{merger: mg, task: task, revertReason: d.Revert}
	l.task.Approved = d.Head

	if d.Tree != "" && !inOtherCheckout {
		// If that fails, tt doctor names it.
		_ = mg.RemoveTree(d.Tree)
	}

	tg, err := mg.ReadTarget(ctx, d.Branch)

	// The branch is gone.
	if stick.CodeOf(err) == stick.CodeNotFound {
		return l.abandonIntent(ctx, i.ID, "cut off")
	}
	if err != nil {
		return err
	}
	if d.Remote != "" {
		// The remote decides, and it may have moved since.
		tg.Remote = d.Remote
		if err := mg.FetchTarget(ctx, &tg); err != nil {
			return err
		}
	}

	// The branch stands at the base, but some of its files may have moved already.
	if d.Remote == "" && d.Checkout != "" && d.Checkout == tg.Checkout && tg.Local == d.Base {
		to := cmp.Or(d.Tip, d.Result)
		if err := mg.Git.FinishFastForward(ctx, d.Checkout, tg.Ref(), d.Base, to); err != nil {
			return err
		}
		if tg, err = mg.ReadTarget(ctx, d.Branch); err != nil {
			return err
		}
	}

	// What another checkout didn't push isn't here.
	contained, err := mg.Git.HasCommit(ctx, mg.Root, d.Result)
	if err == nil && contained {
		contained, err = mg.Git.IsAncestor(ctx, mg.Root, d.Result, tg.Head())
	}
	if err != nil {
		return err
	}
	if !contained {
		return l.abandonIntent(ctx, i.ID, "cut off")
	}
	if d.Remote != "" {
		// The remote has decided. Where the local branch can't follow, the next merge says so.
		_ = l.advanceLocal(ctx, tg.Name, d.Result)
	}

	due, err := l.recordLanded(ctx, arrival{intent: i.ID, target: tg, commit: d.Result})
	if err != nil || d.Revert != "" {
		return err
	}

	_, err = mg.cleanUp(ctx, due)
	return err
}

// recoverOtherLandings finishes the interrupted landings on a branch, except that of one task. Otherwise the
// next landing would take their half-moved files for somebody's changes. The caller must hold the branch's
// lock, so that no other command is working on them.
func (mg *merger) recoverOtherLandings(ctx context.Context, branch, id string) error {
	var open []store.Intent
	err := mg.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) (err error) {
		open, err = tx.Intents(r.ID, "")
		return err
	})
	if err != nil {
		return err
	}

	for _, i := range open {
		if d, lands := repository.LandingOf(i); !lands || d.Branch != branch || i.Task == stick.TaskKey(id) {
			continue
		}

		task, err := mg.ReadTask(ctx, i.Task)
		if err != nil {
			return err
		}

		unlock, err := mg.AcquireLock(ctx, "task", task.ID, repository.LockWait)
		if err != nil {
			return err
		}

		err = mg.RecoverTask(ctx, i.Task)
		unlock()
		if err != nil {
			return err
		}
	}

	return nil
}
