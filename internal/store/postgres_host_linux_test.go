package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// machine is a host that a test plays: a data directory and a boot.
type machine struct{ dir, boot string }

func (m machine) open(t *testing.T, db *store.DB) *store.DB {
	t.Helper()
	opt := storetest.Options(db)
	opt.Dir, opt.Boot, opt.HostName = m.dir, m.boot, "laptop"
	return storetest.With(t, db, opt)
}

// process is a process under the boot.
func (m machine) process(pid int) stick.Process {
	return stick.Process{Boot: m.boot, PIDNS: "n", PID: pid, Start: 7}
}

// ended returns whether the process that carries an agent is known to have ended.
func ended(t *testing.T, db *store.DB, a stick.AgentID) (gone bool) {
	t.Helper()
	view(t, db, func(tx *store.Tx) error {
		found, err := tx.Processes(a)
		gone = len(found) == 1 && found[0].Gone
		return err
	})

	return gone
}

func touch(t *testing.T, db *store.DB) {
	t.Helper()
	update(t, db, func(*store.Tx) error { return nil })
}

// TestARestartedHostEndsItsOwn: on PostgreSQL the end of a boot ends what ran under it, and nothing of other
// hosts.
func TestARestartedHostEndsItsOwn(t *testing.T) {
	clock := storetest.NewClock()
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		here, there := machine{t.TempDir(), "1"}, machine{t.TempDir(), "other"}
		for agent, m := range map[stick.AgentID]machine{"claude:a": here, "codex:b": there} {
			on := m.open(t, db)
			update(t, on, func(tx *store.Tx) error {
				return tx.PutProcess(agent, "", stick.Evidence{Process: m.process(5), Proof: stick.ProvesSession})
			})
			update(t, on, func(tx *store.Tx) error {
				return tx.PutListener(id, stick.Listener{
					ID: stick.ListenerID(agent), Agent: agent, Purpose: stick.Work, Process: m.process(5),
					StartedAt: tx.Now(),
				})
			})
		}

		claim(t, db, id, "claude:a")

		notices := storetest.Listen(t, db)
		again := machine{here.dir, "2"}.open(t, db)
		touch(t, again)
		if ended(t, db, "claude:a") {
			t.Error("a boot that was there a moment ago counts as ended")
		}

		clock.Move(time.Minute)
		touch(t, there.open(t, db))
		if ended(t, db, "claude:a") {
			t.Error("another host has ended it")
		}

		touch(t, again)
		if !ended(t, db, "claude:a") || ended(t, db, "codex:b") {
			t.Errorf("after the restart: ended is %v, of the other host %v",
				ended(t, db, "claude:a"), ended(t, db, "codex:b"))
		}
		if got := <-notices; got != string(id) {
			t.Errorf("the notice is %q", got)
		}

		r := load(t, db, id)
		if len(r.Listeners) != 1 || r.Listeners[0].Agent != "codex:b" {
			t.Errorf("the listeners are %+v", r.Listeners)
		}
		if r.Generation != 1 || r.Turn.State != stick.Owned {
			t.Errorf("the room is %+v", r)
		}
	}, storetest.At(clock))
}

// TestACopyOfADisk: two hosts with one id are found out, whichever writes first, and then each has its own.
func TestACopyOfADisk(t *testing.T) {
	clock := storetest.NewClock()
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		first := machine{t.TempDir(), "1"}
		on := first.open(t, db)
		update(t, on, func(tx *store.Tx) error {
			return tx.PutProcess("claude:a", "", stick.Evidence{Process: first.process(5), Proof: stick.ProvesSession})
		})
		copied := machine{t.TempDir(), "2"}
		text, err := os.ReadFile(filepath.Join(first.dir, "host"))
		if err == nil {
			err = os.WriteFile(filepath.Join(copied.dir, "host"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}

		other := copied.open(t, db)
		clock.Move(2 * time.Minute)
		touch(t, other)
		if !ended(t, db, "claude:a") {
			t.Error("who has been silent for two minutes counts as alive")
		}

		touch(t, on) // it has been alive all the time
		if ended(t, db, "claude:a") {
			t.Error("what runs still counts as ended")
		}

		for range 3 {
			clock.Move(2 * time.Minute)
			touch(t, other)
			touch(t, on)
		}

		if ended(t, db, "claude:a") {
			t.Error("the two hosts go on ending each other")
		}

		names := map[string]bool{}
		for _, h := range []*store.DB{on, other} {
			view(t, h, func(tx *store.Tx) error {
				name, err := tx.HostName()
				names[name] = true
				return err
			})
		}

		if !names["laptop"] || !names["laptop-2"] {
			t.Errorf("the hosts are called %v", names)
		}
	}, storetest.At(clock))
}

// TestReportOfAHost: what a host says of its process ends that and its waits, and rings the rooms of its
// agents.
func TestReportOfAHost(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		here := machine{t.TempDir(), "1"}
		on := here.open(t, db)
		p := here.process(5)
		update(t, on, func(tx *store.Tx) error {
			return tx.PutProcess("claude:a", "", stick.Evidence{Process: p, Proof: stick.ProvesSession})
		})

		view(t, on, func(tx *store.Tx) error {
			holds, err := tx.LocalProcesses("1", "n")
			if held, known := holds[p]; !known || held {
				t.Errorf("before it has the stick: %v", holds)
			}
			return err
		})

		claim(t, db, id, "claude:a")
		view(t, on, func(tx *store.Tx) error {
			holds, err := tx.LocalProcesses("1", "n")
			if !holds[p] {
				t.Errorf("with the stick: %v", holds)
			}
			return err
		})

		notices := storetest.Listen(t, db)
		update(t, on, func(tx *store.Tx) error { return tx.ReportGone(p) })
		if got := <-notices; got != string(id) {
			t.Errorf("the notice is %q", got)
		}
		if !ended(t, db, "claude:a") {
			t.Error("it isn't known to have ended")
		}

		view(t, on, func(tx *store.Tx) error {
			holds, err := tx.LocalProcesses("1", "n")
			if len(holds) != 0 {
				t.Errorf("after the report: %v", holds)
			}
			return err
		})
	})
}

// TestReadingMakesNoHost: a hook that looks whether there is a room leaves no trace on a host that has none.
func TestReadingMakesNoHost(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		played(t, db)
		dir := filepath.Join(t.TempDir(), "data")
		opt := storetest.Options(db)
		opt.Dir = dir
		fresh, err := store.Open(t.Context(), opt, false)
		if err != nil {
			t.Fatal(err)
		}

		t.Cleanup(func() { fresh.Close() })
		view(t, fresh, func(tx *store.Tx) error {
			_, found, err := tx.RoomAt([]string{"/work"})
			if found {
				t.Error("a host without checkouts has found a room")
			}
			return err
		})

		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("reading has made the data directory: %v", err)
		}
		touch(t, fresh)
		if _, err := os.Stat(filepath.Join(dir, "host")); err != nil {
			t.Error(err)
		}
	})
}
