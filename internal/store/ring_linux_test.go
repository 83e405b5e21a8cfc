package store_test

import (
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestSaveRings: a commit wakes the waits that it concerns and who follows the room. On a server it wakes all.
func TestSaveRings(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/p").ID
		for _, a := range []stick.AgentID{"a", "b", "c", "d", "e"} {
			join(t, db, id, a)
		}
		claim(t, db, id, "a")

		waits := map[stick.AgentID]*store.Watch{}
		for _, a := range []stick.AgentID{"b", "c", "d", "e"} {
			waits[a] = registerWait(t, db, id, a)
		}
		follower, err := db.Watch(id)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { follower.Close() })

		for _, c := range []struct {
			what string
			act  func()
			want []stick.AgentID
		}{
			{"a join", func() { join(t, db, id, "f") }, nil},
			{"a release to b, with the sentinels c and d", func() { release(t, db, id, "a") }, []stick.AgentID{"b", "c", "d"}},
			{"a claim", func() { claim(t, db, id, "b") }, []stick.AgentID{"b", "c", "d"}},
			{
				"a ring by a program that knows no others", func() {
					r, err := db.Bell.Prepare(string(id))
					if err != nil {
						t.Fatal(err)
					}
					r.Ring()
				}, []stick.AgentID{"b", "c", "d", "e"},
			},
		} {
			c.act()
			want := map[stick.AgentID]bool{}
			for _, a := range c.want {
				want[a] = true
			}
			for a, w := range waits {
				if got := isRung(w, want[a] || db.ManyHosts()); got != want[a] && !db.ManyHosts() {
					t.Errorf("%s: %s is rung: %v", c.what, a, got)
				}
			}
			if !isRung(follower, true) {
				t.Errorf("%s: who follows the room isn't rung", c.what)
			}
		}
	})
}

// registerWait registers a wait of a for the stick, and listens for it.
func registerWait(t *testing.T, db *store.DB, room stick.RoomID, a stick.AgentID) *store.Watch {
	t.Helper()
	l := stick.Listener{ID: stick.ListenerID("wait-" + a), Agent: a, Purpose: stick.Work}
	p, err := db.Bell.TakePresence(string(l.ID))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })

	w, err := db.WatchOwn(room, l.ID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })

	update(t, db, func(tx *store.Tx) error { return tx.PutListener(room, l) })
	return w
}

// isRung reports whether a watch hears a ring. It waits long for one that should come.
func isRung(w *store.Watch, should bool) bool {
	limit := 50 * time.Millisecond
	if should {
		limit = 20 * time.Second
	}
	select {
	case <-w.C:
		return true
	case <-time.After(limit):
		return false
	}
}
