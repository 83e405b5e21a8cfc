package store_test

import (
	"net/url"
	"strconv"
	"sync"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
)

// TestWaitsShareTheServer: however many processes of a host wait, at a ring only some read at a time, and at rest the host has five
// connections. Here each open database is a process.
func TestWaitsShareTheServer(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		opt := storetest.Options(db)
		u, _ := url.Parse(opt.URL)
		q := u.Query()
		name := q.Get("search_path")
		q.Set("application_name", name)
		u.RawQuery = q.Encode()
		opt.URL = u.String()
		connections := func() int {
			n, err := strconv.Atoi(storetest.Exec(t, db, "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"+name+"'")[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		const processes = 60
		var waits [processes]*store.Watch
		var dbs [processes]*store.DB
		for i := range processes {
			dbs[i] = storetest.With(t, db, opt)
			waits[i] = watch(t, dbs[i], id)
			waits[i].Sleeps()
		}
		soon(t, "at rest a host has five connections", func() bool { return connections() <= 5 })
		soon(t, "the witness hears", func() bool { return waits[0].Hears() })

		update(t, db, func(tx *store.Tx) error { tx.Ring(id); return nil })
		var looks sync.WaitGroup
		for i := range processes {
			looks.Go(func() {
				<-waits[i].C
				err := dbs[i].View(ctx, func(tx *store.Tx) error { _, err := tx.Room(id); return err })
				if waits[i].Sleeps(); err != nil {
					t.Error(err)
				}
			})
		}
		over := make(chan struct{})
		go func() { looks.Wait(); close(over) }()
		most := 0
		for done := false; !done; {
			select {
			case <-over:
				done = true
			default:
				most = max(most, connections())
			}
		}
		if t.Logf("at most %d connections at a ring", most); most > 35 { // 25, and those that the server is just ending
			t.Errorf("at a ring the host had %d connections", most)
		}
		soon(t, "after it five again", func() bool { return connections() <= 5 })
	})
}

// TestTheWordOfTheWitness: that nobody needs to read unless a bell rings holds while one process of the host listens, and the server
// delivers.
func TestTheWordOfTheWitness(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		w := watch(t, db, id)
		if !db.ManyHosts() {
			if w.Sleeps(); w.Hears() {
				t.Error("on SQLite nobody hears for others")
			}
			return
		}
		soon(t, "the witness hears", w.Hears)
		reads := 0
		for range 100 {
			if !w.Hears() {
				reads++
			}
		}
		if reads < 3 {
			t.Errorf("of 100 times a wait reads %d times all the same", reads)
		}
		u, _ := url.Parse(storetest.Options(db).URL)
		storetest.Exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%"`+u.Query().Get("search_path")+`"%' AND query LIKE 'LISTEN%'`)
		soon(t, "it says so when it hears again", w.Hears)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if w.Hears() {
			t.Error("nobody listens, and somebody is said to hear")
		}
	})
}
