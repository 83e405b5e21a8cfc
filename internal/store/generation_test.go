package store_test

import (
	"errors"
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestAnotherBootEndsTheWorld: the first write after a reboot begins a new generation; a read doesn't. Leases
// and reservations end, and the handoff stays. Turn ids and event numbers go on above all that can have been
// given out.
func TestAnotherBootEndsTheWorld(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		gave := load(t, db, id).Turn.HandoffSeq
		owned := claim(t, db, id, "codex:b")
		after := storetest.Again(t, db, storetest.Boot("second boot"))
		view(t, after, func(tx *store.Tx) error {
			if tx.Generation().Number != 1 {
				t.Errorf("reading began generation %d", tx.Generation().Number)
			}
			return nil
		})

		r, events := play(t, after, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
			if r.Turn.Owner != "codex:b" || r.Generation != 1 {
				t.Errorf("the room as it is stored: %+v", r)
			}
			return r.Restore(stick.Generation{Number: 2, Cause: stick.RebootCause}, blind(), now)
		})

		if len(events) != 1 || events[0].Seq <= owned.Seq+1<<20 {
			t.Fatalf("the events are %+v", events)
		}
		if p, ok := stick.PayloadOf[stick.RestoredPayload](events[0]); !ok || p.World != "reboot" {
			t.Errorf("the events are %+v", events)
		}
		if r.Turn.State != stick.Idle ||
			r.Turn.ID != owned.Turn+stick.RestoreSkip ||
			r.Turn.HandoffSeq != gave ||
			r.Generation != 2 {
			t.Errorf("the room is %+v", r)
		}

		update(t, after, func(tx *store.Tx) error {
			if tx.Generation().Number != 2 || tx.Generation().Cause != "reboot" {
				t.Errorf("the generation is %d of %q", tx.Generation().Number, tx.Generation().Cause)
			}
			return nil
		})

		if next := claim(t, after, id, "claude:a"); next.Turn != r.Turn.ID+1 || next.Seq != events[0].Seq+1 {
			t.Errorf("the next grant is %+v", next)
		}
	}, storetest.Boot("first boot"))
}

// TestTheFirstBootEndsNothing: no new generation begins if the database knows no boot so far, or if a process
// doesn't know its own.
func TestTheFirstBootEndsNothing(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		for _, boot := range []string{"the first", "", "the first"} {
			again := storetest.Again(t, db, storetest.Boot(boot))
			before := load(t, db, id)
			update(t, again, func(tx *store.Tx) error {
				if tx.Generation().Number != 1 || tx.Generation().Cause != "" {
					t.Errorf("boot %q: generation %d of %q", boot, tx.Generation().Number, tx.Generation().Cause)
				}
				return nil
			})

			if after := load(t, again, id); after.Turn != before.Turn {
				t.Errorf("boot %q changed the turn", boot)
			}
		}
	})
}

// host is a machine under one of its boots.
func host(machine, boot string) []storetest.Option {
	return []storetest.Option{storetest.Machine(machine), storetest.Boot(boot)}
}

// TestEachHostHasItsBoot: hosts that write in turn don't end each other's leases. The first write of a host
// after its reboot ends the generation, once, whoever else writes before and after.
func TestEachHostHasItsBoot(t *testing.T) {
	for name, c := range map[string]struct {
		writes      [][2]string // machine and boot, in order
		generations []int64     // after each write
	}{
		"two hosts in turns": {
			[][2]string{{"a", "1"}, {"b", "1'"}, {"a", "1"}, {"b", "1'"}, {"a", "1"}},
			[]int64{1, 1, 1, 1, 1},
		},
		"each starts again": {
			[][2]string{{"a", "1"}, {"b", "1'"}, {"a", "2"}, {"b", "1'"}, {"a", "2"}, {"b", "2'"}, {"a", "2"}},
			[]int64{1, 1, 2, 2, 2, 3, 3},
		},
		"copies of one image have one id": {
			[][2]string{{"a", "1"}, {"a", "1'"}, {"a", "1"}, {"a", "1'"}, {"a", "2"}, {"a", "1'"}},
			[]int64{1, 2, 2, 2, 3, 3},
		},
		"copies without an id": {
			[][2]string{{"", "1"}, {"", "1'"}, {"", "1"}, {"", "1'"}},
			[]int64{1, 2, 2, 2},
		},
		"a container has its host's boot": {
			[][2]string{{"a", "1"}, {"c", "1"}, {"a", "2"}, {"c", "2"}, {"c", "3"}, {"a", "3"}, {"c", "3"}},
			[]int64{1, 1, 2, 2, 3, 3, 3},
		},
		"a container without an id": {
			[][2]string{
				{"a", "1"},
				{"", "1"},
				{"a", "1"},
				{"", "2"},
				{"a", "2"},
				{"", "2"},
				{"a", "3"},
				{"", "3"},
				{"a", "3"},
			},
			[]int64{1, 1, 1, 2, 2, 2, 3, 3, 3},
		},
		"a boot that nobody can tell": {
			[][2]string{{"a", "1"}, {"a", ""}, {"a", "1"}},
			[]int64{1, 1, 1},
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
				for i, w := range c.writes {
					again := storetest.Again(t, db, host(w[0], w[1])...)
					for range 2 {
						update(t, again, func(tx *store.Tx) error {
							if tx.Generation().Number != c.generations[i] {
								t.Errorf("write %d, of %s under boot %s, was in generation %d, want %d",
									i, w[0], w[1], tx.Generation().Number, c.generations[i])
							}
							return nil
						})
					}
				}
			})
		})
	}
}

// TestARebootIsNoticedAgainAfterARollback: after a write that noticed a reboot and failed, the next one
// notices it again.
func TestARebootIsNoticedAgainAfterARollback(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		update(t, storetest.Again(t, db, host("a", "1")...), func(*store.Tx) error { return nil })
		again := storetest.Again(t, db, host("a", "2")...)
		failed := errors.New("it failed")
		if err := again.Update(ctx, func(*store.Tx) error { return failed }); !errors.Is(err, failed) {
			t.Fatal(err)
		}

		update(t, again, func(tx *store.Tx) error {
			if tx.Generation().Number != 2 {
				t.Errorf("the generation is %d", tx.Generation().Number)
			}
			return nil
		})
	})
}

// TestBootOfAnEarlierProgram: an earlier program stored its boot without its host. If the first host that
// writes has another boot, it counts as rebooted.
func TestBootOfAnEarlierProgram(t *testing.T) {
	const last = "5e1f0c2b-0000-4000-8000-000000000002" // in the dump
	for name, c := range map[string]struct {
		boot       string
		generation int64
	}{
		"the same boot": {last, 2},
		"another boot":  {"third", 3},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			db := storetest.Old(t, "8cc1f78", nil, host("a", c.boot)...)
			for _, as := range [][]storetest.Option{host("a", c.boot), host("b", "fourth"), host("a", c.boot)} {
				update(t, storetest.Again(t, db, as...), func(tx *store.Tx) error {
					if tx.Generation().Number != c.generation {
						t.Errorf("the generation is %d, want %d", tx.Generation().Number, c.generation)
					}
					return nil
				})
			}
		})
	}
}
