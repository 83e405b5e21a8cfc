package store_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestWaitsShareTheServer: however many processes of a host wait, at a ring only some read at a time, and at
// rest the host has five connections. Here each open database is a process.
func TestWaitsShareTheServer(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		opt, connections := countedConnections(t, db)
		const processes = 60
		var waits [processes]*store.Watch

		var dbs [processes]*store.DB
		for i := range processes {
			dbs[i] = storetest.With(t, db, opt)
			waits[i] = watch(t, dbs[i], id)
			waits[i].ReleaseForSleep()
		}

		soon(t, "at rest a host has five connections", func() bool { return connections() <= 5 })
		soon(t, "the witness hears", func() bool { return hears(waits[0]) })

		update(t, db, func(tx *store.Tx) error { tx.Ring(id); return nil })
		var looks sync.WaitGroup
		for i := range processes {
			looks.Go(func() {
				<-waits[i].C
				err := dbs[i].View(ctx, func(tx *store.Tx) error { _, err := tx.Room(id); return err })
				if waits[i].ReleaseForSleep(); err != nil {
					t.Error(err)
				}
			})
		}

		most := mostDuring(&looks, connections)
		if t.Logf("at most %d connections at a ring", most); most > 35 { // 25, and those that the server is just ending
			t.Errorf("at a ring the host had %d connections", most)
		}
		soon(t, "after it five again", func() bool { return connections() <= 5 })
	})
}

// TestAWaitHasTime: a process that is about to wait doesn't give up where others keep a room locked for a
// while.
func TestAWaitHasTime(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		opt := storetest.Options(db)
		opt.Waits, opt.WriteWait = true, 50*time.Millisecond
		waits := storetest.With(t, db, opt)
		tried, over := make(chan int, 100), make(chan error, 1)
		update(t, db, func(tx *store.Tx) error {
			if _, err := tx.Room(id); err != nil {
				return err
			}

			go func() {
				over <- waits.Update(ctx, func(tx *store.Tx) error {
					tried <- 1
					_, err := tx.Room(id)
					return err
				})
			}()

			for range 3 { // it has given up twice
				<-tried
			}
			return nil
		})

		if err := <-over; err != nil {
			t.Errorf("it gave up: %v", err)
		}
	})
}

// countedConnections returns options for processes of a host, and counts the connections of all that were
// opened with them.
func countedConnections(t *testing.T, db *store.DB) (opt store.Options, connections func() int) {
	t.Helper()
	opt = storetest.Options(db)
	u, _ := url.Parse(opt.URL)
	q := u.Query()
	name := q.Get("search_path")
	q.Set("application_name", name)
	u.RawQuery = q.Encode()
	opt.URL = u.String()

	return opt, func() int {
		t.Helper()
		n, err := strconv.Atoi(
			storetest.Exec(t, db, "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"+name+"'")[0],
		)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// mostDuring returns how many connections there were at most until all have ended.
func mostDuring(all *sync.WaitGroup, connections func() int) (most int) {
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	for {
		select {
		case <-over:
			return most
		default:
			most = max(most, connections())
		}
	}
}

// TestTheWordOfTheWitness: that nobody needs to read unless a bell rings holds while one process of the host
// listens, and the server delivers.
func TestTheWordOfTheWitness(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		w := watch(t, db, id)
		if !db.ManyHosts() {
			if w.ReleaseForSleep(); hears(w) {
				t.Error("on SQLite nobody hears for others")
			}
			return
		}

		soon(t, "the witness hears", func() bool { return hears(w) })
		reads := 0
		for range 100 {
			if !hears(w) {
				reads++
			}
		}

		if reads < 3 {
			t.Errorf("of 100 times a wait reads %d times all the same", reads)
		}
		u, _ := url.Parse(storetest.Options(db).URL)
		storetest.Exec(t,
			db,
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%"`+u.Query().Get("search_path")+`"%' AND query LIKE 'LISTEN%'`)
		soon(t, "it says so when it hears again", func() bool { return hears(w) })
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if hears(w) {
			t.Error("nobody listens, and somebody is said to hear")
		}
	})
}

// hears reports whether a wait needn't read when its slow timer fires.
func hears(w *store.Watch) bool { return w.SleepOn(bell.NewNet(middle)) > 0 }

func middle() float64 { return 0.5 }

// TestAStoppedWitness: most waits of a host rely on the witness for minutes. A few look each minute, and wake
// the rest when it doesn't say that it hears, as when somebody has stopped its process.
func TestAStoppedWitness(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		var waits [5]*store.Watch
		for i := range waits {
			process := storetest.Again(t, db)
			waits[i] = watch(t, process, id)
			if err := process.View(ctx, func(tx *store.Tx) error { _, err := tx.Room(id); return err }); err != nil {
				t.Fatal(err)
			}
			waits[i].ReleaseForSleep()
		}

		soon(t, "the witness hears", func() bool { return hears(waits[0]) })
		var guards, rest []*store.Watch
		for _, w := range waits {
			net, last := bell.NewNet(middle), time.Duration(0)
			for range 9 {
				last = max(last, w.SleepOn(net))
			}

			if last > time.Minute {
				rest = append(rest, w)
			} else {
				guards = append(guards, w)
			}
		}

		if len(guards) != 3 || len(rest) != 2 {
			t.Fatalf("%d look each minute, and %d seldom", len(guards), len(rest))
		}
		files, err := filepath.Glob(filepath.Join(storetest.Options(db).Dir, "postgres", "*", "heard"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}

		drain(rest[0])
		// unless the witness says so just then
		soon(t, "a guard finds that nobody has said for an hour that it hears", func() bool {
			long := time.Now().Add(-time.Hour)
			return os.Chtimes(files[0], long, long) == nil && !hears(guards[0])
		})

		select {
		case <-rest[0].C:
		case <-time.After(10 * time.Second):
			t.Error("the others sleep on")
		}
	})
}

// drain takes a ring that is there.
func drain(w *store.Watch) {
	select {
	case <-w.C:
	default:
	}
}

// TestWaitsBeginTogether: of many processes of a host that begin to wait at once, some connect and register
// at a time, and all of them come.
func TestWaitsBeginTogether(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		opt, connections := countedConnections(t, db)
		opt.Waits = true
		const processes = 80
		var begins sync.WaitGroup

		begin := make(chan struct{})
		for i := range processes {
			begins.Go(func() {
				<-begin
				own, err := store.Open(ctx, opt, false)
				if err != nil {
					t.Errorf("a wait can't begin: %v", err)
					return
				}

				t.Cleanup(func() { own.Close() })
				w, err := own.Watch(id)
				if err != nil {
					t.Error(err)
					return
				}

				t.Cleanup(func() { w.Close() })
				err = own.Update(ctx, func(tx *store.Tx) error {
					if _, err := tx.Room(id); err != nil {
						return err
					}
					return tx.PutListener(id, stick.Listener{
						ID: stick.ListenerID(strconv.Itoa(i)), Agent: "claude:a", Purpose: stick.Work,
					})
				})
				if err != nil {
					t.Errorf("a wait can't register: %v", err)
				}
				w.ReleaseForSleep()
			})
		}

		close(begin)
		most := mostDuring(&begins, connections)
		// 25, and those that the server is just ending
		if t.Logf("at most %d connections at the beginning", most); most > 35 {
			t.Errorf("at the beginning the host had %d connections", most)
		}
		if r := load(t, db, id); len(r.Listeners) != processes {
			t.Errorf("%d waits have registered", len(r.Listeners))
		}
	})
}
