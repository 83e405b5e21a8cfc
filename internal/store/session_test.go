package store_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

func TestListeners(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id, other := newRoom(t, db, "/work").ID, newRoom(t, db, "/other").ID
		listeners := []stick.Listener{
			{
				ID: "l2", Agent: "claude:a", Purpose: stick.Work, StartedAt: 5,
				Process: stick.Process{Machine: "m", Boot: "b", PIDNS: "n", PID: 7, Start: 8},
			},
			{ID: "l1", Agent: "codex:b", Purpose: stick.Listen, StartedAt: 5},
			{ID: "l0", Agent: "claude:a", Purpose: stick.Work, StartedAt: 9},
		}

		update(t, db, func(tx *store.Tx) error {
			for _, l := range listeners {
				if err := tx.PutListener(id, l); err != nil {
					return err
				}
			}
			return tx.PutListener(other, stick.Listener{ID: "l9", Agent: "codex:b", Purpose: stick.Work})
		})

		want := []stick.Listener{listeners[1], listeners[0], listeners[2]} // by start, then by id
		if diff := cmp.Diff(want, load(t, db, id).Listeners); diff != "" {
			t.Errorf("the listeners aren't what was put:\n%s", diff)
		}
		if err := db.Update(ctx, func(tx *store.Tx) error { return tx.PutListener(id, listeners[0]) }); err == nil {
			t.Error("two listeners have one id")
		}

		has := func(l stick.ListenerID) (here bool) {
			view(t, db, func(tx *store.Tx) error {
				if err := tx.LaterListener(l, &here); err != nil {
					return err
				}
				return tx.FetchLater()
			})

			return here
		}

		for range 2 { // ending one twice is no fault
			update(t, db, func(tx *store.Tx) error { return tx.DropListener("l1") })
		}
		if has("l1") || !has("l2") || !has("l9") {
			t.Error("not just one listener was dropped")
		}
	}, storetest.At(clock))
}

func TestSessionsAndProcesses(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		p1 := stick.Process{Machine: "m", Boot: "b", PIDNS: "n", PID: 1, Start: 10}
		p2 := stick.Process{Machine: "m", Boot: "b", PIDNS: "n", PID: 2, Start: 20}
		later := p1
		later.Start++ // the pid again, another process

		put := func(a stick.AgentID, key string, p stick.Process, proof stick.Proof) {
			t.Helper()
			clock.Move(time.Second)
			update(t, db, func(tx *store.Tx) error {
				if err := tx.PutSession(store.Session{Key: key, Agent: a, Harness: "claude", ID: "s"}); err != nil {
					return err
				}
				return tx.PutProcess(a, key, stick.Evidence{Process: p, Proof: proof})
			})
		}

		put("claude:a", "key a", p1, stick.ProvesSession)
		put("claude:a", "key a", p2, stick.ProvesCarrier)
		put("claude:b", "key b", p1, stick.ProvesTurn)

		view(t, db, func(tx *store.Tx) error {
			if a, ok, err := tx.AgentOf("key a"); a != "claude:a" || !ok || err != nil {
				t.Errorf("the session is %s's (%v, %v)", a, ok, err)
			}
			if a, ok, err := tx.AgentOf("key z"); ok || err != nil {
				t.Errorf("an unknown session is %s's (%v)", a, err)
			}
			if s, ok, err := tx.SessionOf(p1); s.Agent != "claude:b" || !ok || err != nil {
				t.Errorf("the process was last seen carrying %s (%v, %v)", s.Agent, ok, err)
			}
			if s, ok, err := tx.SessionOf(later); ok || err != nil {
				t.Errorf("another process of the same pid carries %s (%v)", s.Agent, err)
			}

			ps, err := tx.Processes("claude:a")
			want := []stick.Evidence{
				{Process: p1, Proof: stick.ProvesSession}, {Process: p2, Proof: stick.ProvesCarrier},
			}
			if diff := cmp.Diff(want, ps); diff != "" || err != nil {
				t.Errorf("the processes (%v):\n%s", err, diff)
			}

			for a, want := range map[stick.AgentID]bool{"claude:a": true, "claude:b": true, "claude:z": false} {
				if got, err := tx.IsKnownName(a); got != want || err != nil {
					t.Errorf("%s is known: %v (%v), want %v", a, got, err, want)
				}
			}

			return nil
		})

		// An assumed name is recorded without a session, so the process doesn't get that name later.
		update(t, db, func(tx *store.Tx) error {
			return tx.PutProcess("codex:assumed", "", stick.Evidence{Process: later, Proof: stick.ProvesSession})
		})

		view(t, db, func(tx *store.Tx) error {
			if s, ok, err := tx.SessionOf(later); ok || err != nil {
				t.Errorf("an assumed name counts as the session of %s (%v)", s.Agent, err)
			}
			return nil
		})

		// What a process proves may change; it stays one row.
		put("claude:a", "key a", p1, stick.ProvesTurn)
		update(t, db, func(tx *store.Tx) error { return tx.DropProcess("claude:a", p2) })

		view(t, db, func(tx *store.Tx) error {
			ps, err := tx.Processes("claude:a")
			if diff := cmp.Diff([]stick.Evidence{{Process: p1, Proof: stick.ProvesTurn}}, ps); diff != "" {
				t.Errorf("the processes (%v):\n%s", err, diff)
			}
			return err
		})
	}, storetest.At(clock))
}

// TestMembersCarryTheEvidence: a member has the evidence of its sessions.
func TestMembersCarryTheEvidence(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/work").ID
		join(t, db, id, "claude:a")
		join(t, db, id, "codex:b")
		p := stick.Process{Machine: "m", Boot: "b", PIDNS: "n", PID: 1, Start: 10}
		update(t, db, func(tx *store.Tx) error {
			err := tx.PutSession(store.Session{Key: "key a", Agent: "claude:a", Harness: "claude", ID: "s"})
			if err != nil {
				return err
			}
			return tx.PutProcess("claude:a", "key a", stick.Evidence{Process: p, Proof: stick.ProvesSession})
		})

		storetest.Exec(t, db, "UPDATE sessions SET hooks_at = 3, busy_since = 4")
		a, _ := load(t, db, id).Member("claude:a")
		b, _ := load(t, db, id).Member("codex:b")
		if !a.HooksSeen || a.BusySince != 4 || len(a.Processes) != 1 || a.Processes[0].Process != p {
			t.Errorf("the evidence of a member is %+v", a)
		}
		if b.HooksSeen || b.BusySince != 0 || len(b.Processes) != 0 {
			t.Errorf("a member has the evidence of another: %+v", b)
		}

		storetest.Exec(t, db, "UPDATE sessions SET ended_at = 9")
		if a, _ := load(t, db, id).Member("claude:a"); a.HooksSeen || a.BusySince != 0 {
			t.Errorf("a session that has ended still counts: %+v", a)
		}
	})
}

func TestHeldBy(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		owned, reserved, idle := newRoom(t, db, "/1").ID, newRoom(t, db, "/2").ID, newRoom(t, db, "/3").ID
		for _, id := range []stick.RoomID{owned, reserved, idle} {
			join(t, db, id, "claude:a")
			join(t, db, id, "codex:b")
		}

		claim(t, db, owned, "codex:b")
		claim(t, db, reserved, "claude:a")
		pass(t, db, reserved, "claude:a", "codex:b")

		held := func(a stick.AgentID) map[stick.RoomID]bool {
			out := map[stick.RoomID]bool{}
			view(t, db, func(tx *store.Tx) error {
				rooms, err := tx.RoomsHeldBy(a)
				for _, r := range rooms {
					out[r] = true
				}
				return err
			})

			return out
		}

		if diff := cmp.Diff(map[stick.RoomID]bool{owned: true, reserved: true}, held("codex:b")); diff != "" {
			t.Errorf("codex:b holds:\n%s", diff)
		}
		if diff := cmp.Diff(map[stick.RoomID]bool{}, held("claude:a")); diff != "" {
			t.Errorf("claude:a holds:\n%s", diff)
		}
	})
}

// TestHooked: hooks report about their own session only.
func TestHooked(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/work").ID
		join(t, db, id, "claude:a")
		join(t, db, id, "claude:b")

		update(t, db, func(tx *store.Tx) error {
			for key, a := range map[string]stick.AgentID{"key a": "claude:a", "key b": "claude:b"} {
				if err := tx.PutSession(store.Session{Key: key, Agent: a, Harness: "claude", ID: key}); err != nil {
					return err
				}
			}
			return nil
		})

		hooked := func(key string, idle bool) (now stick.Time) {
			t.Helper()
			clock.Move(time.Second)
			update(t, db, func(tx *store.Tx) error {
				now = tx.Now()
				if idle {
					return tx.RecordIdle(key)
				}
				return tx.RecordWork(key)
			})

			return now
		}

		expect := func(when, key string, hooksAt, idleAt stick.Time) {
			t.Helper()
			view(t, db, func(tx *store.Tx) error {
				h, err := tx.HookTimes(key)
				if h.At != hooksAt || h.IdleAt != idleAt || h.BusySince != 0 {
					t.Errorf("%s: of %s hooks tell %v; want it fired at %d and idle since %d",
						when, key, h, hooksAt, idleAt)
				}
				return err
			})
		}

		last := func(harness string, want stick.Time) {
			t.Helper()
			view(t, db, func(tx *store.Tx) error {
				at, err := tx.LastHook(harness)
				if at != want {
					t.Errorf("the last hook of %s fired at %d, want %d", harness, at, want)
				}
				return err
			})
		}

		member := func(when string, a stick.AgentID, seen bool, idleAt stick.Time) {
			t.Helper()
			if m, _ := load(t, db, id).Member(a); m.HooksSeen != seen || m.IdleAt != idleAt {
				t.Errorf("%s: %s has hooks: %v, idle since %d; want %v and %d",
					when, a, m.HooksSeen, m.IdleAt, seen, idleAt)
			}
		}

		expect("at first", "key a", 0, 0)
		expect("at first", "nobody's", 0, 0)
		last("claude", 0)
		member("at first", "claude:a", false, 0)

		at := hooked("key a", false)
		expect("a hook", "key a", at, 0)
		expect("the other's hook", "key b", 0, 0)
		member("a hook", "claude:a", true, 0)
		member("the other's hook", "claude:b", false, 0)
		last("claude", at)
		last("codex", 0)

		idle := hooked("key a", true)
		expect("it stops", "key a", idle, idle)
		member("it stops", "claude:a", true, idle)
		at = hooked("key b", false)
		last("claude", at)
		expect("it works", "key b", at, 0)

		member("it works", "claude:b", true, 0)
		at = hooked("key a", false)
		expect("it works again", "key a", at, 0)
		member("it works again", "claude:a", true, 0)

		hooked("nobody's", false) // there is no such session, and there is none afterwards
		expect("a hook of nobody", "nobody's", 0, 0)
		last("claude", at)

		// A session that has ended no longer counts, until one of its hooks fires again.
		hooked("key a", true)
		update(t, db, func(tx *store.Tx) error {
			_, err := tx.EndSession("key a", "claude:a")
			return err
		})

		member("it ended", "claude:a", false, 0)
		at = hooked("key a", false)
		member("it goes on", "claude:a", true, 0)
		expect("it goes on", "key a", at, 0)
	}, storetest.At(clock))
}

// TestEndSession: EndSession reports whether the agent has another session that is running.
func TestEndSession(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		update(t, db, func(tx *store.Tx) error {
			for _, s := range []store.Session{
				{Key: "one", Agent: "claude:a", Harness: "claude", ID: "s1"},
				{Key: "two", Agent: "claude:a", Harness: "claude", ID: "s2"},
				{Key: "other", Agent: "claude:b", Harness: "claude", ID: "s3"},
				// What identified gemini:c until a hook named its session.
				{Key: "process", Agent: "gemini:c", Harness: "gemini"},
				{Key: "told", Agent: "gemini:c", Harness: "gemini", ID: "s4"},
				// An agent that never names a session.
				{Key: "silent", Agent: "opencode:d", Harness: "opencode"},
			} {
				if err := tx.PutSession(s); err != nil {
					return err
				}
			}

			return nil
		})

		end := func(key string, a stick.AgentID, want bool) {
			t.Helper()
			clock.Move(time.Second)
			update(t, db, func(tx *store.Tx) error {
				live, err := tx.EndSession(key, a)
				if live != want {
					t.Errorf("%s has another session when %s has ended: %v, want %v", a, key, live, want)
				}
				return err
			})
		}

		ended := func(key string) (at stick.Time) {
			t.Helper()
			ms, err := strconv.ParseInt(
				storetest.Exec(t, db, "SELECT ended_at FROM sessions WHERE session_key = '"+key+"'")[0], 10,
				64,
			)
			if err != nil {
				t.Fatal(err)
			}
			return stick.Time(ms)
		}

		end("one", "claude:a", true)
		first := ended("one")
		if first.IsZero() || !ended("two").IsZero() || !ended("other").IsZero() {
			t.Errorf("not just one session ended: %d, %d, %d", first, ended("two"), ended("other"))
		}

		end("one", "claude:a", true) // a second time; the first counts
		if again := ended("one"); again != first {
			t.Errorf("it ended at %d, and again at %d", first, again)
		}

		end("two", "claude:a", false)
		end("told", "gemini:c", false)
		end("silent", "opencode:d", false)
		end("nobody's", "pi:e", false)
		if !ended("other").IsZero() {
			t.Error("another agent's session ended")
		}

		// A session that goes on counts again.
		update(t, db, func(tx *store.Tx) error { return tx.RecordWork("one") })
		end("two", "claude:a", true)
	}, storetest.At(clock))
}

// TestRoomsOf: RoomsOf lists the rooms that an agent is a member of now.
func TestRoomsOf(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		in, left, never := newRoom(t, db, "/1").ID, newRoom(t, db, "/2").ID, newRoom(t, db, "/3").ID
		second := newRoom(t, db, "/4").ID
		for _, id := range []stick.RoomID{in, left, second} {
			join(t, db, id, "claude:a")
		}
		join(t, db, never, "codex:b")

		play(t, db, left, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
			r, events, err := r.Leave(stick.Leaving{By: "claude:a"}, blind(), now)
			if err != nil {
				t.Fatal(err)
			}
			return r, events
		})

		for a, want := range map[stick.AgentID][]stick.RoomID{
			"claude:a": {in, second}, "codex:b": {never}, "pi:c": nil,
		} {
			slices.Sort(want)
			view(t, db, func(tx *store.Tx) error {
				got, err := tx.RoomsOf(a)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the rooms of %s:\n%s", a, diff)
				}
				return err
			})
		}
	})
}

// TestTx_OlderHooks: a session counts whose last hook a program answered that knows an earlier schema, or
// that doesn't record what it knows.
func TestTx_OlderHooks(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		room := newRoom(t, db, "/work").ID
		join(t, db, room, "claude:a")
		fires := func() {
			t.Helper()
			clock.Move(time.Second)
			update(t, db, func(tx *store.Tx) error { return tx.RecordWork("key") })
		}

		isOlder := func(when string, want bool) {
			t.Helper()
			view(t, db, func(tx *store.Tx) error {
				all, err := tx.OlderHooks(stick.At(clock.Now().Add(-time.Hour)))
				signs, serr := tx.SessionSigns(room)
				got := len(all) == 1 && all[0].ID == "s"
				if got != want || signs["claude:a"].OlderProgram != want || err != nil || serr != nil {
					t.Errorf("%s: %+v, %+v (%v, %v)", when, all, signs, err, serr)
				}
				return nil
			})
		}

		update(t, db, func(tx *store.Tx) error {
			return tx.PutSession(store.Session{Key: "key", Agent: "claude:a", Harness: "claude", ID: "s"})
		})
		isOlder("no hook has run", false)
		fires()
		isOlder("this program", false)
		storetest.Exec(t, db, "UPDATE sessions SET hooks_at = hooks_at + 1")
		isOlder("one that records nothing", true)
		fires()
		isOlder("this program again", false)
		storetest.Exec(t, db, "UPDATE sessions SET hooks_schema = hooks_schema - 1")
		isOlder("one that knows less", true)

		if !db.ManyHosts() {
			db = before(t, db, 29)
			isOlder("the database was upgraded since", false)
		}
	}, storetest.At(clock))
}
