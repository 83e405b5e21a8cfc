package guard

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// keepAlone makes snapshots beside a call of an agent that works where there is no room, if the user wants
// that. Nothing is noted of the call, and nobody is told: nobody else is there. It reports whether it made
// some.
func (g *Guard) keepAlone(ctx context.Context, q editQuestion, when rescue.Moment) bool {
	if !g.core.Config.Snapshots.Alone || q.Caller.ActsAsPerson() {
		return false
	}

	reach := g.reachOf(q)
	if len(reach) == 0 || !g.isOutsideRooms(ctx, q, reach) {
		return false
	}

	for _, s := range reach {
		s.after = when == rescue.MomentAfter
	}

	facts := keeper{}.snapshotFacts(q, when)
	facts.Agent = q.Caller.Harness
	g.takeSnapshots(ctx, q, reach, facts)
	return true
}

// isOutsideRooms reports whether no checkout that a call may change is in a room. If it can't tell, it doesn't
// say so: a room may want no snapshots.
func (g *Guard) isOutsideRooms(ctx context.Context, q editQuestion, reach []*snapshot) (isOutside bool) {
	var chains [][]string
	for _, s := range reach {
		chains = append(chains, s.chain)
	}

	db, err := g.core.Open(ctx, false)
	if err != nil {
		return err == store.ErrAbsent
	}

	err = g.core.View(ctx, db, q.Caller, func(tx *store.Tx, _ *core.Probes) error {
		rooms, err := tx.RoomsAt(chains)
		isOutside = !slices.ContainsFunc(rooms, func(r store.Place) bool { return r.Room != "" })
		return err
	})
	return err == nil && isOutside
}

// keepAfterAlone is [Guard.keepAlone] after a call. It reports whether old snapshots are to be dropped.
func (g *Guard) keepAfterAlone(ctx context.Context, q editQuestion) (prune bool) {
	if !g.keepAlone(ctx, q, rescue.MomentAfter) {
		return false
	}

	now := stick.At(g.core.Now())
	for _, s := range g.reachOf(q) {
		prune = g.Restorer.Store().BeginPrune(s.tree.Common, now) || prune
	}
	return prune
}
