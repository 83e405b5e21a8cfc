// Package scene plays operations in one process: a workspace and a database of their own, callers that follow
// a script, a clock that the story moves, and processes that exist only as data. A story is a test:
//
//	s := scene.New(t)
//	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
//	ann.Try().Granted(1)
//	bob.Try().NotYet()
//	ann.Release("half done", "do the rest").ForNobody()
//	bob.Try().Granted(2).Handoff("half done")
//
// Each caller has a program of its own, as if it had started tt: they only share files. No process is started
// except git, and nothing sleeps. At the end of a story its database is checked against its log. A story that
// fails prints what it expected, what came instead, and the log of the room in words.
package scene

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// patience is how long a story waits for something that must happen. No story that passes takes that long.
const patience = 30 * time.Second

// Scene is where a story happens.
type Scene struct {
	*testing.T
	Work string // the workspace, whose room the story is about

	dir      string // the story writes only below it
	data     string // the data directory
	database string // the address of the database; empty for a file in data
	clock    *storetest.Clock
	machine  *machine
	observer *Actor // reads for the story, and never takes part

	mu       sync.Mutex // guards the fields below
	ids      int        // how many ids were made
	first    *Scene     // where ids are made; nil for here
	host     string     // the name of its host, where that matters
	actors   []*Actor
	peers    map[string]int // which processes listen on sockets, by their paths
	programs []*core.Kernel // of all actors, to close at the end
	untidy   bool           // see LeavesWork
	over     func()         // what checks and closes everything at the end, once
}

// New returns a scene whose workspace is a plain directory. Scenes run in parallel.
func New(t *testing.T) *Scene {
	t.Helper()
	t.Parallel()
	return newScene(t, storetest.Address(t))
}

// NewAlone returns such a scene for a test that measures its process, so that no other test runs beside it.
func NewAlone(t *testing.T) *Scene {
	t.Helper()
	return newScene(t, storetest.Address(t))
}

// newScene builds a scene with a database without making the test parallel.
func newScene(t *testing.T, database string) *Scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	s := &Scene{
		T: t, dir: dir, Work: filepath.Join(dir, "work"), data: filepath.Join(dir, "data"), database: database,
		clock: storetest.NewClock(), machine: newMachine(), peers: map[string]int{},
	}
	if err := os.MkdirAll(filepath.Join(s.Work, ".talking-stick"), 0o755); err != nil {
		t.Fatal(err)
	}

	s.over = sync.OnceFunc(s.checkAndClose)
	t.Cleanup(s.over)
	s.observer = s.Person("observer")
	return s
}

// Elsewhere returns the scene on another host, with a clone of the workspace's repository that shares its
// room. The clone's origin is that of the workspace. Both scenes have one clock.
func (s *Scene) Elsewhere(host string) *Scene {
	s.Helper()
	dir := s.Dir(host)

	there := &Scene{
		T: s.T, dir: dir, Work: filepath.Join(dir, "work"), data: filepath.Join(dir, "data"), database: s.database, clock: s.clock,
		machine: newMachine(), first: s, host: host, peers: map[string]int{},
	}
	there.machine.name = host

	s.GitIn(dir, "clone", "-q", s.Git("remote", "get-url", "origin"), there.Work)
	there.Git("config", "talkingstick.room", s.Git("config", "talkingstick.room"))

	there.over = sync.OnceFunc(there.checkAndClose)
	s.Cleanup(there.over)
	there.observer = there.Person("observer-" + host)
	return there
}

// TellsServer tells programs from now on to use a database on a server.
func (s *Scene) TellsServer() {
	s.Helper()
	storetest.NeedsFile(s.T)
	s.database = storetest.PostgresURL(s.T)
	s.observer = s.observer.Again()
	s.Cleanup(s.over) // before that database goes
}

// Shared reports whether other hosts could have the database open, too.
func (s *Scene) Shared() bool { return s.database != "" }

// checkAndClose checks the database, and closes all programs.
func (s *Scene) checkAndClose() {
	if _, err := s.observer.kernel.Open(context.Background(), false); err != store.ErrAbsent {
		s.checkSound()
	}

	for _, k := range s.programs {
		if err := k.Close(); err != nil {
			s.Errorf("close: %v", err)
		}
	}
}

// checkSound fails a story if the database doesn't agree with its log, or if the doctor finds something half done
// that the story didn't announce by [Scene.LeavesWork].
func (s *Scene) checkSound() {
	ctx := context.Background()
	db, err := s.observer.kernel.Open(ctx, false)
	if err != nil {
		s.Errorf("the database at the end: %v", err)
		return
	}

	storetest.Check(s.T, db)
	res, err := s.observer.Engine.Upkeep.Doctor(ctx, upkeep.DoctorParams{})
	if err != nil || !res.Healthy {
		s.Errorf("the doctor at the end: %+v, %v", res.Findings, err)
	}

	for _, f := range res.Findings {
		if f.Check == "workers" && f.Status != core.FindingOK && !s.untidy {
			s.Errorf("the story leaves something half done: %s", f.Detail)
		}
	}
}

// LeavesWork announces that the story ends with something half done, which the doctor reports.
func (s *Scene) LeavesWork() { s.untidy = true }

// Now returns the time of the story.
func (s *Scene) Now() stick.Time { return stick.At(s.clock.Now()) }

// Later moves the clock, and makes all waits read their room again.
func (s *Scene) Later(d time.Duration) {
	s.Helper()
	s.clock.Move(d)
	s.Ring()
}

// Ring makes all waits read their room again.
func (s *Scene) Ring() {
	s.Helper()
	s.eachRoom(func(*store.Tx, stick.Room) error { return nil })
}

// ForgetsWaits takes all waits out of the database, as a server does that has lost its last commits.
func (s *Scene) ForgetsWaits() {
	s.Helper()
	s.eachRoom(func(tx *store.Tx, r stick.Room) error {
		r, err := tx.Room(r.ID)
		for _, l := range r.Listeners {
			err = errors.Join(err, tx.DropListener(l.ID))
		}
		return err
	})
}

// eachRoom runs fn on all rooms in one transaction, and makes all waits read their room again.
func (s *Scene) eachRoom(fn func(*store.Tx, stick.Room) error) {
	s.Helper()
	db, err := s.observer.kernel.Open(s.Context(), false)
	if err == store.ErrAbsent {
		return
	}
	if err == nil {
		err = db.Update(s.Context(), func(tx *store.Tx) error {
			rooms, err := tx.Rooms(nil, "")
			for _, r := range rooms {
				err = errors.Join(err, fn(tx, r))
				tx.Ring(r.ID)
			}
			return err
		})
	}
	if err != nil {
		s.Fatal(err)
	}
}

// Dir makes a directory beside the workspace, or inside of it (work/...), and returns its path.
func (s *Scene) Dir(name string) string {
	s.Helper()
	dir := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.Fatal(err)
	}
	return dir
}

// File writes a file of the workspace, dated by the story's clock, and returns its path.
func (s *Scene) File(name, text string) string {
	s.Helper()
	path := filepath.Join(s.Work, filepath.FromSlash(name))
	s.writeFile(path, text)
	return path
}

func (s *Scene) writeFile(path, text string) {
	s.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err == nil {
		err = os.Chtimes(path, s.clock.Now(), s.clock.Now())
	}
	if err != nil {
		s.Fatal(err)
	}
}

// newID returns ids that count up over all programs of the story. Any part of an id shows its number.
func (s *Scene) newID() string {
	if s.first != nil {
		return s.first.newID()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return strings.Repeat(fmt.Sprintf("%08d", s.ids), 4)
}

// Room returns the room of the workspace as it is stored.
func (s *Scene) Room() (r stick.Room) {
	s.Helper()
	db, err := s.observer.kernel.Open(s.Context(), false)
	if err == nil {
		err = db.View(s.Context(), func(tx *store.Tx) (err error) {
			r, _, err = tx.RoomAt([]string{s.Work})
			return err
		})
	}
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// InWords returns the log of the room in words, with the names of the story.
func (s *Scene) InWords() string {
	res, err := s.observer.Engine.Log.GetRoomEvents(context.Background(), eventlog.GetRoomEventsParams{
		Caller: s.observer.By, Where: core.Where{Path: s.Work}, FromStart: true, EventFilter: eventlog.EventFilter{Limit: 500},
	})
	if err != nil {
		return "  (" + s.nameActors(err.Error()) + ")\n"
	}

	var b strings.Builder
	for _, e := range res.Events {
		fmt.Fprintf(&b, "  %3d %-24s %s\n", e.Seq, e.Type, e.Say())
	}
	return s.nameActors(b.String())
}

// nameActors replaces agent ids by the names of the story.
func (s *Scene) nameActors(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.actors {
		if a.ID != "" && string(a.ID) != a.Name {
			text = strings.ReplaceAll(text, string(a.ID), a.Name)
		}
	}
	return text
}

// Logged fails the story unless the log has exactly these types of events, from the first one on.
func (s *Scene) Logged(want ...stick.EventType) {
	s.Helper()
	res, err := s.observer.Engine.Log.GetRoomEvents(s.Context(), eventlog.GetRoomEventsParams{
		Caller: s.observer.By, Where: core.Where{Path: s.Work}, FromStart: true, EventFilter: eventlog.EventFilter{Limit: 500},
	})

	var got []stick.EventType
	for _, e := range res.Events {
		got = append(got, e.Type)
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		s.failStory("the log has %v (%v), want %v", got, err, want)
	}
}

// Has fails the story unless the log has an event of this type.
func (s *Scene) Has(want stick.EventType) {
	s.Helper()
	res, err := s.observer.Engine.Log.GetRoomEvents(s.Context(), eventlog.GetRoomEventsParams{
		Caller: s.observer.By, Where: core.Where{Path: s.Work}, FromStart: true,
		EventFilter: eventlog.EventFilter{Types: []stick.EventType{want}},
	})
	if err != nil || len(res.Events) == 0 {
		s.failStory("the log has no %s (%v)", want, err)
	}
}

// failStory ends the story with a message and the log.
func (s *Scene) failStory(format string, args ...any) {
	s.Helper()
	s.Fatalf("%s\nthe log of the room:\n%s", s.nameActors(fmt.Sprintf(format, args...)), s.InWords())
}

// Check fails the story unless ok is true.
func (s *Scene) Check(ok bool, format string, args ...any) {
	s.Helper()
	if !ok {
		s.failStory(format, args...)
	}
}

// Foreign puts a database of another program into the data directory.
func (s *Scene) Foreign() {
	s.Helper()
	storetest.NeedsFile(s.T)
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		s.Fatal(err)
	}
	storetest.Foreign(s.T, s.data)
}

// Rings fails the story unless fn rings the room's bell.
func (s *Scene) Rings(fn func()) {
	s.Helper()
	room := s.Room().ID
	db, err := s.observer.kernel.Open(s.Context(), false)
	if err != nil {
		s.Fatal(err)
	}
	w, err := db.Bell.Watch(string(room))
	if err != nil {
		s.Fatal(err)
	}
	defer w.Close()

	fn()
	select {
	case <-w.C:
	case <-time.After(patience):
		s.failStory("nothing rang")
	}
}

// WhileLocked runs fn while another program locks the database for writing.
func (s *Scene) WhileLocked(fn func()) {
	s.Helper()
	storetest.NeedsFile(s.T)
	db, err := s.observer.Again().kernel.Open(s.Context(), false)
	if err == nil {
		err = db.Update(s.Context(), func(*store.Tx) error {
			fn()
			return nil
		})
	}
	if err != nil {
		s.Fatal(err)
	}
}
