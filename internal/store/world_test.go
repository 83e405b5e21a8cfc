package store_test

import (
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestAnotherBootEndsTheWorld: the first write after another boot begins a new generation; reading
// doesn't. Leases and reservations end, the handoff stays, turn ids and event numbers go on above
// everything that can have been issued.
func TestAnotherBootEndsTheWorld(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		gave := load(t, db, id).Turn.HandoffSeq
		owned := claim(t, db, id, "codex:b")
		after := storetest.Again(t, db, storetest.Boot("second boot"))
		view(t, after, func(tx *store.Tx) error {
			if tx.Generation() != 1 {
				t.Errorf("reading began generation %d", tx.Generation())
			}
			return nil
		})
		r, events := play(t, after, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
			if r.Turn.Owner != "codex:b" || r.Generation != 1 {
				t.Errorf("the room as it is stored: %+v", r)
			}
			return r.Restore(2, "reboot", now)
		})
		if len(events) != 1 || events[0].Seq <= owned.Seq+1<<20 {
			t.Fatalf("the events are %+v", events)
		}
		if p, ok := stick.PayloadOf[stick.RestoredPayload](events[0]); !ok || p.World != "reboot" {
			t.Errorf("the events are %+v", events)
		}
		if r.Turn.State != stick.Idle || r.Turn.ID != owned.Turn+stick.RestoreSkip || r.Turn.HandoffSeq != gave || r.Generation != 2 {
			t.Errorf("the room is %+v", r)
		}
		update(t, after, func(tx *store.Tx) error {
			if tx.Generation() != 2 || tx.World() != "reboot" {
				t.Errorf("the generation is %d of %q", tx.Generation(), tx.World())
			}
			return nil
		})
		if next := claim(t, after, id, "claude:a"); next.Turn != r.Turn.ID+1 || next.Seq != events[0].Seq+1 {
			t.Errorf("the next grant is %+v", next)
		}
	}, storetest.Boot("first boot"))
}

// TestTheFirstBootEndsNothing: a database whose boot isn't known yet begins no new world, nor does
// a process that can't tell its boot.
func TestTheFirstBootEndsNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		for _, boot := range []string{"the first", "", "the first"} {
			again := storetest.Again(t, db, storetest.Boot(boot))
			before := load(t, db, id)
			update(t, again, func(tx *store.Tx) error {
				if tx.Generation() != 1 || tx.World() != "" {
					t.Errorf("boot %q: generation %d of %q", boot, tx.Generation(), tx.World())
				}
				return nil
			})
			if after := load(t, again, id); after.Turn != before.Turn {
				t.Errorf("boot %q changed the turn", boot)
			}
		}
	})
}
