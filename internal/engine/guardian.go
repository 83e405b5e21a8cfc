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

// KeepLeaseParams says which lease a guardian renews. Whoever starts a guardian hands them to it as JSON, and
// the guardian adds its own pid.
type KeepLeaseParams struct {
	RoomID  stick.RoomID  `json:"room_id"`
	Owner   stick.AgentID `json:"owner"`
	Turn    int64         `json:"turn_id"`
	Lease   stick.LeaseID `json:"lease_id"`
	Process stick.Process `json:"process"` // the owner's process, which others can't see
	PID     int           `json:"-"`       // the guardian's own, for display
}

// completeGrant adds to a grant what needs more than the database, once it has committed: where the tree is by
// now, and who keeps the lease. Every operation that gives the caller the stick ends with it, so that no
// surface has to see to either.
func (e *Engine) completeGrant(ctx context.Context, g *Grant) {
	if g == nil {
		return
	}
	e.addGuardian(g)
	e.addDrift(ctx, g)
}

// addGuardian starts a guardian if others can't see the process that keeps the lease. The grant stands without
// one, too: its lease runs out, as that of any holder who can't be seen.
func (e *Engine) addGuardian(g *Grant) {
	if g.unseen.IsZero() || e.startGuardian == nil {
		return
	}

	pid, err := e.startGuardian(KeepLeaseParams{
		RoomID: g.RoomID, Owner: g.AgentID, Turn: g.TurnID, Lease: g.LeaseID, Process: g.unseen,
	})
	if err != nil {
		g.GuardianWhy = "no guardian could be started; renew your lease yourself"
		return
	}

	g.GuardianPID, g.LeaseKeptBy = pid, stick.KeptByGuardian
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
			current = r.Turn.State == stick.Owned && r.Turn.ID == p.Turn && r.Turn.Lease == p.Lease &&
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

		rings.ReleaseForSleep()
		beat := time.NewTimer(pause)
		select {
		case <-rings.C:
			net.Reset()
		case <-beat.C:
		case <-alive.C:
			// This process ends now, perhaps before its witness has looked at anything.
			e.core.ReportEnded(ctx, db)
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

		after, err := before.Renew(p.Owner, stick.Fence{Turn: p.Turn, Lease: p.Lease}, p.PID, p.Process, tx.Now())
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
