package store_test

import (
	"net/url"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestWitness: one process of a host listens for all that wait there, and rings them when another host
// commits. When its watch ends, or its connection, another one does.
func TestWitness(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, here *store.DB) {
		id := played(t, here)
		opt := storetest.Options(here)
		opt.Dir = t.TempDir() // another host
		there, err := store.Open(ctx, opt, false)
		if err != nil {
			t.Fatal(err)
		}
		defer there.Close()
		u, _ := url.Parse(opt.URL)
		listens := `SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN "` + u.Query().Get("search_path") + `"%' AND state = 'idle'`
		first, second := watch(t, here, id), watch(t, storetest.Again(t, here), id)

		heard := func(what string, by *store.Watch) {
			t.Helper()
			soon(t, "one process listens "+what, func() bool { return len(storetest.Exec(t, here, listens)) == 1 })
			for range 3 { // one ring may be from before, and one says that somebody has begun to listen
				update(t, there, func(tx *store.Tx) error { tx.Ring(id); return nil })
				select {
				case <-by.C:
				case <-time.After(10 * time.Second):
					t.Fatalf("%s: a commit of another host rings nobody", what)
				}
			}
		}

		heard("at first", first)
		heard("for the other process, too", second)
		pid := storetest.Exec(t, here, listens)[0]
		storetest.Exec(t, here, "SELECT pg_terminate_backend("+pid+")")

		soon(t, "it connects again", func() bool {
			pids := storetest.Exec(t, here, listens)
			return len(pids) == 1 && pids[0] != pid
		})

		heard("after its connection broke", second)
		if err := first.Close(); err != nil {
			t.Error(err)
		}
		heard("when the first has ended", second)
		if err := second.Close(); err != nil {
			t.Error(err)
		}
		soon(t, "nobody listens", func() bool { return len(storetest.Exec(t, here, listens)) == 0 })
	})
}

func watch(t *testing.T, db *store.DB, room stick.RoomID) *store.Watch {
	t.Helper()
	w, err := db.Watch(room)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}
