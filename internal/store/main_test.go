package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("STORE_TEST_ROLE"); role != "" {
		err := child(role, store.Options{Dir: os.Getenv("STORE_TEST_DIR"), URL: os.Getenv("STORE_TEST_URL")},
			os.Getenv("STORE_TEST_POINT"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testenv.Run(m))
}

// child is another process that opens the database and makes a room at a path of its own.
func child(role string, opt store.Options, point string) error {
	opt.Kill = func(at string) {
		if at == point {
			signalSelf(role)
		}
	}

	if file := os.Getenv("STORE_TEST_BACKUP"); file != "" {
		return keepOrRestore(opt, file)
	}

	db, err := store.Open(context.Background(), opt, true)
	if err != nil {
		return err
	}

	err = db.Update(context.Background(), func(tx *store.Tx) error {
		_, err := tx.NewRoom(fmt.Sprintf("/child/%d", os.Getpid()), storetest.Key(os.Getpid()))
		tx.Ring("bell")
		return err
	})

	return errors.Join(err, db.Close())
}

// start starts a child. Its role, "kill" or "stop", is what happens to it at the point.
func start(t *testing.T, opt store.Options, role, point string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "STORE_TEST_ROLE="+role, "STORE_TEST_DIR="+opt.Dir, "STORE_TEST_URL="+opt.URL,
		"STORE_TEST_POINT="+point)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}

	return c
}

var ctx = context.Background()

func update(t *testing.T, db *store.DB, fn func(*store.Tx) error) {
	t.Helper()
	if err := db.Update(ctx, fn); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, db *store.DB, fn func(*store.Tx) error) {
	t.Helper()
	if err := db.View(ctx, fn); err != nil {
		t.Fatal(err)
	}
}

// newRoom makes a room.
func newRoom(t *testing.T, db *store.DB, path string) (r stick.Room) {
	t.Helper()
	update(t, db, func(tx *store.Tx) (err error) {
		r, err = tx.NewRoom(path, storetest.Key(path))
		return err
	})
	return r
}

// load loads a room.
func load(t *testing.T, db *store.DB, id stick.RoomID) (r stick.Room) {
	t.Helper()
	view(t, db, func(tx *store.Tx) (err error) {
		r, err = tx.Room(id)
		return err
	})
	return r
}

// play applies a rule to a room and saves the outcome.
func play(t *testing.T, db *store.DB, id stick.RoomID, rule func(stick.Room, stick.Time) (stick.Room, []stick.Event)) (after stick.Room, events []stick.Event) {
	t.Helper()
	update(t, db, func(tx *store.Tx) error {
		before, err := tx.Room(id)
		if err != nil {
			return err
		}
		r, made := rule(before, tx.Now())
		after, events, err = tx.Save(before, r, made)
		return err
	})

	return after, events
}

func blind() *stick.Probed {
	return &stick.Probed{Processes: map[stick.Process]stick.Verdict{}, Listeners: map[stick.ListenerID]stick.Verdict{}}
}

// join, claim and release play the rule of that name.
func join(t *testing.T, db *store.DB, id stick.RoomID, a stick.AgentID) stick.Event {
	t.Helper()
	_, events := play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		r, events, _, err := r.Join(a, "", true, now)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	return events[len(events)-1]
}

func claim(t *testing.T, db *store.DB, id stick.RoomID, a stick.AgentID) stick.Event {
	t.Helper()
	_, events := play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		r, events, why := r.Claim(a, stick.LeaseID("lease of "+string(a)), blind(), now)
		if why == "" {
			t.Fatalf("%s may not claim", a)
		}
		return r, events
	})

	return events[0]
}

func release(t *testing.T, db *store.DB, id stick.RoomID, a stick.AgentID) stick.Event {
	t.Helper()
	_, events := play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		r, events, err := r.Release(a, stick.Fence{Turn: r.Turn.ID, Lease: r.Turn.Lease},
			stick.Handoff{Status: "did it", NextAction: "go on"}, blind(), now)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	return events[0]
}

func pass(t *testing.T, db *store.DB, id stick.RoomID, a, to stick.AgentID) stick.Event {
	t.Helper()
	_, events := play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		r, events, err := r.Pass(a, stick.Fence{Turn: r.Turn.ID, Lease: r.Turn.Lease}, to,
			stick.Handoff{Status: "did it", NextAction: "your part"}, blind(), now)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	return events[0]
}

// played is a room with a log: two members, two turns, a handoff that waits.
func played(t *testing.T, db *store.DB) stick.RoomID {
	t.Helper()
	id := newRoom(t, db, "/work").ID
	join(t, db, id, "claude:a")
	join(t, db, id, "codex:b")
	claim(t, db, id, "claude:a")
	pass(t, db, id, "claude:a", "codex:b")
	claim(t, db, id, "codex:b")
	release(t, db, id, "codex:b")
	return id
}

// refused fails the test unless err has the code.
func refused(t *testing.T, err error, code stick.Code) *stick.Error {
	t.Helper()
	if stick.CodeOf(err) != code {
		t.Fatalf("got %v, want the code %s", err, code)
	}
	e, _ := errors.AsType[*stick.Error](err)
	return e
}

// soon waits for something that must happen, and fails the test if it doesn't.
func soon(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if happened() {
			return
		}
	}
	t.Fatalf("%s: it didn't happen within ten seconds", what)
}
