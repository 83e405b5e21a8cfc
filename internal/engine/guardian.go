package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// KeepLeaseParams says which lease a guardian renews.
type KeepLeaseParams struct {
	RoomID  stick.RoomID
	Owner   stick.AgentID
	Fence   stick.Fence
	Process stick.Process // the owner's process, which others can't see
	PID     int           // the guardian's own, for display
}

// KeepLease renews a lease as long as the owner's process lives, for a process that others can't see. A
// renewal doesn't count as activity of the owner. KeepLease returns without an error when the turn or the
// process ends, or when another guardian takes over the same turn. See
// docs/decisions/turns-and-takeovers.md#guardians.
func (e *Engine) KeepLease(ctx context.Context, p KeepLeaseParams) error {
	db, err := e.core.Open(ctx, false)
	if err != nil {
		return err
	}

	alive, err := e.core.Config.Procs.Watch(p.Process)
	if err != nil {
		return err
	}
	defer alive.Close()

	// The room's bell rings when the turn ends.
	rings, err := db.Watch(p.RoomID)
	if err != nil {
		return err
	}
	defer rings.Close()

	net := bell.NewNet(rand.Float64)
	var renewed time.Time
	for {
		var every time.Duration
		current := false
		err := db.View(ctx, func(tx *store.Tx) error {
			r, err := tx.RoomPart(p.RoomID, p.Owner)
			every = r.Policy.HeartbeatInterval

			// Once this guardian has renewed the lease, another pid means that another one has taken over.
			current = r.Turn.State == stick.Owned && r.Turn.ID == p.Fence.Turn && r.Turn.Lease == p.Fence.Lease &&
				(renewed.IsZero() || r.Turn.GuardianPID == p.PID)

			return err
		})
		if err == nil && current && time.Since(renewed) >= every {
			if err = e.renewLease(ctx, db, p); err == nil {
				// The monotonic clock may stop while the machine sleeps, so this time has none.
				renewed = time.Now().Round(0)
			} else if !isTemporary(err) {
				return nil // fenced: the turn is over
			}
		}

		// While the database doesn't answer, the slow timer tries again.
		pause := net.Next()
		switch {
		case isTemporary(err):
		case err != nil || !current:
			return err
		default:
			pause = min(time.Until(renewed.Add(every)), pause)
		}

		rings.Sleeps()
		beat := time.NewTimer(pause)
		select {
		case <-rings.C:
			net.Reset()
		case <-beat.C:
		case <-alive.C:
			return nil
		case <-ctx.Done():
			return nil
		}

		beat.Stop()
	}
}

// isTemporary reports whether an error is about the database, and may be over the next time.
func isTemporary(err error) bool {
	return core.IsUnavailable(err) || stick.CodeOf(err) == stick.CodeDatabaseBusy
}

// renewLease renews the lease once. It fails when the turn is over.
func (e *Engine) renewLease(ctx context.Context, db *store.DB, p KeepLeaseParams) error {
	return db.Update(ctx, func(tx *store.Tx) error {
		before, err := tx.RoomPart(p.RoomID, p.Owner)
		if err != nil {
			return err
		}

		after, err := before.Renew(p.Owner, p.Fence, p.PID, p.Process, tx.Now())
		if err != nil {
			return err
		}
		if before.Guardian(tx.Now()) != p.PID {
			// Another guardian keeps the lease now, so waiters have another deadline.
			tx.Ring(p.RoomID)
		}

		_, _, err = tx.Save(before, after, nil)
		return err
	})
}
