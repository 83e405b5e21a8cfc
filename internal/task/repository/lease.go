package repository

import (
	"context"
	"sync"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Locks of files end at the host. For other checkouts an open intent is the lock: its command renews it while
// it works, and one that isn't renewed any more is taken over.

const (
	// intentLease is how long an intent stands after it was last renewed.
	intentLease = time.Minute
	// renewInterval is how often a command renews it.
	renewInterval = intentLease / 4
)

// ServeIntent makes later git commands tell their hooks that they serve an intent. Until the caller calls
// stop, it renews the intent where other hosts could see it.
func (rp *Repo) ServeIntent(ctx context.Context, id string) (stop func()) {
	// The hooks of git ask tt whether a change is allowed, and this one is.
	rp.Git.Env = []string{IntentEnv + "=" + id}
	db, err := rp.Core.Open(ctx, false)
	if err != nil || !db.ManyHosts() {
		return func() {}
	}

	// A cancelled command still has to end its work, so its intent stays renewed until stop.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(rp.opener.config.Renew)
		defer tick.Stop()

		for {
			select {
			case <-tick.C:
				// Whoever must know whether it still stands asks at that moment.
				_, _ = renewIntent(ctx, db, id)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}

// renewIntent renews an intent, and reports whether it was open.
func renewIntent(ctx context.Context, db *store.DB, id string) (open bool, err error) {
	err = db.Update(ctx, func(tx *store.Tx) (err error) {
		open, err = tx.RenewIntent(id)
		return err
	})
	return open, err
}

// LeaseLeft is how long an open intent stands. It is over if it isn't positive.
func LeaseLeft(i store.Intent, now stick.Time) time.Duration {
	return i.RenewedAt.Add(intentLease).Sub(now)
}

// conflictsWith reports whether a command with an intent is in the way of one that works on a task, or lands
// on a branch.
func conflictsWith(i store.Intent, id, branch string) bool {
	if i.Task == stick.TaskKey(id) {
		return true
	}
	d, lands := LandingOf(i)
	return lands && d.Branch == branch
}

// LandingOf returns what an intent is about to do to a branch, and false if it is of another kind.
func LandingOf(i store.Intent) (LandIntent, bool) {
	if i.Kind != IntentLand && i.Kind != IntentRollback {
		return LandIntent{}, false
	}
	d, err := ReadIntent[LandIntent](i)
	return d, err == nil
}

// OtherCheckoutError says that a command in another checkout is in the way.
type OtherCheckoutError struct{ err *stick.Error }

func (b OtherCheckoutError) Error() string { return b.err.Error() }
func (b OtherCheckoutError) Unwrap() error { return b.err }

// errOtherCheckout makes the error for an intent of another checkout. name is what its command works on.
func errOtherCheckout(tx *store.Tx, i store.Intent, name string) error {
	r, err := RunnerOfIntent(tx, i)
	if err != nil {
		return err
	}
	return OtherCheckoutError{errBusy(name, r, tx.Now())}
}

// RunnerOfIntent is the process of an intent of another checkout.
func RunnerOfIntent(tx *store.Tx, i store.Intent) (r Runner, err error) {
	r = Runner{PID: i.PID, Since: i.StartedAt, State: RunnerUnknown}
	if LeaseLeft(i, tx.Now()) > 0 {
		r.State = RunnerAlive
	}
	r.Host, err = tx.NameOfHost(i.In.Host)
	return r, err
}

// requireUnblocked refuses an intent that another one is in the way of, from another checkout. The caller has
// finished what died there.
func (o *Op) requireUnblocked(i store.Intent) error {
	if i.In == (stick.Checkout{}) {
		return nil
	}

	// Two landings on one branch exclude each other, even of different tasks.
	d, _ := LandingOf(i)
	open, err := o.Tx.Intents(o.Room.ID, "")

	for _, other := range open {
		if other.In.IsOther(i.In) && conflictsWith(other, i.Task, d.Branch) {
			return errOtherCheckout(o.Tx, other, i.Task)
		}
	}

	return err
}

// AwaitOtherCheckouts waits until no command in another checkout works on a task or, with a branch, lands on
// that. It fails with [stick.CodeLanding] after wait. What a command that died has left is for
// [Repo.RecoverTask].
func (rp *Repo) AwaitOtherCheckouts(ctx context.Context, id, branch string, wait time.Duration) error {
	db, err := rp.Core.Open(ctx, false)
	if err == store.ErrAbsent || err == nil && !db.ManyHosts() {
		return nil
	}
	if err != nil {
		return err
	}

	// Most often nobody is in the way, and no watch is needed.
	blocking, busy, err := rp.findBlockingCommand(ctx, id, branch)
	if err != nil || busy == nil {
		return err
	}

	if wait <= 0 {
		return busy
	}

	watch, err := db.Watch(blocking.room)
	if err != nil {
		return err
	}
	defer watch.Close()

	if rp.OnWait != nil {
		rp.OnWait(id, blocking.runner)
	}

	// Each ring of the room, and the end of the lease, is a reason to look again.
	limit := time.After(wait)
	for {
		if blocking, busy, err = rp.findBlockingCommand(ctx, id, branch); err != nil || busy == nil {
			return err
		}

		watch.ReleaseForSleep()
		select {
		case <-watch.C:
		case <-time.After(blocking.left):
		case <-limit:
			return busy
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// blockingCommand is a command in another checkout that is in the way.
type blockingCommand struct {
	room   stick.RoomID
	runner Runner
	left   time.Duration // of its lease
}

// findBlockingCommand finds a command in another checkout that works on a task or lands on a branch. busy is
// the error that says so; nil if there is none.
func (rp *Repo) findBlockingCommand(
	ctx context.Context, id, branch string,
) (blocking blockingCommand, busy, err error) {
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		blocking, busy = blockingCommand{}, nil
		here := tx.CheckoutOf(r)
		open, err := tx.Intents(r.ID, "")

		for _, i := range open {
			// A command whose lease has run out is dead, and recoverTask finishes its work.
			left := LeaseLeft(i, tx.Now())
			if !i.In.IsOther(here) || left <= 0 || !conflictsWith(i, id, branch) {
				continue
			}

			runner, err := RunnerOfIntent(tx, i)
			blocking, busy = blockingCommand{r.ID, runner, left}, OtherCheckoutError{errBusy(id, runner, tx.Now())}
			return err
		}

		return err
	})
	return blocking, busy, IgnoreNoRoom(err)
}

// IgnoreNoRoom returns err unless it says that there is no room yet.
func IgnoreNoRoom(err error) error {
	if stick.CodeOf(err) == stick.CodeNoRoom {
		return nil
	}
	return err
}

// IntentEnv is the environment variable that tells the hooks of a git that tt runs which intent it serves.
const IntentEnv = "TT_INTENT"

// HoldsIntent reports whether the command of an intent may go on: a command on another host takes over one
// that has slept.
func (rp *Repo) HoldsIntent(ctx context.Context, id string) (bool, error) {
	db, err := rp.Core.Open(ctx, false)
	if err != nil || !db.ManyHosts() {
		return true, err
	}
	return renewIntent(ctx, db, id)
}
