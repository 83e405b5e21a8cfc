package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/storetest"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// desk is a workspace with a database, on the processes of the real machine.
type desk struct {
	*testing.T
	work, data string
	procs      *proc.Table
	self       stick.Process
}

func newDesk(t *testing.T) *desk {
	procs, err := proc.Host()
	if err != nil {
		t.Skipf("SKIPPED: the processes of this machine can't be seen: %v", err)
	}
	procs.OneHost = true
	self, err := procs.Self()
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	d := &desk{T: t, work: filepath.Join(dir, "work"), data: filepath.Join(dir, "data"), procs: procs, self: self}
	if err := os.MkdirAll(filepath.Join(d.work, ".talking-stick"), 0o755); err != nil {
		t.Fatal(err)
	}

	return d
}

// engine returns an engine. At the end of the test the doctor checks the database, and the engine is closed.
func (d *desk) engine() *engine.Engine {
	e := engine.New(engine.Config{
		Kernel: core.New(core.Config{
			Dir: d.data, Procs: d.procs, Workspace: workspace.Env{Dir: d.work, Home: filepath.Dir(d.work)},
		}),
	})
	d.Cleanup(func() {
		res, err := e.Upkeep.Doctor(context.Background(), upkeep.DoctorParams{})
		if err == nil && !res.Healthy {
			d.Errorf("the doctor found %+v", res.Findings)
		}
		if err := e.Close(); err != nil {
			d.Error(err)
		}
	})

	return e
}

// caller returns an agent with its own session in this process.
func (d *desk) caller(session string) core.Caller {
	return harness.Caller{
		Harness: "claude", SessionID: session, Process: d.self, Proof: stick.ProvesSession, User: "ann",
		Host: "here",
	}
}

// TestEnginesInOneProcess passes the stick between goroutines that use two engines. CI runs it with the race
// detector, too.
func TestEnginesInOneProcess(t *testing.T) {
	const agents, turns = 6, 10
	d := newDesk(t)
	engines := []*engine.Engine{d.engine(), d.engine()}
	at := core.Where{Path: d.work}
	var holders atomic.Int32
	var mu sync.Mutex
	seen := map[int64]stick.AgentID{}

	var wg sync.WaitGroup
	for i := range agents {
		wg.Go(func() {
			e, by := engines[i%2], d.caller(fmt.Sprintf("s%d", i))
			for n := range turns {
				g, err := e.WaitForTurn(t.Context(), engine.WaitForTurnParams{Caller: by, Where: at})
				if err != nil || g.Status != stick.YourTurn {
					t.Errorf("agent %d waited for turn %d: %v %+v", i, n, err, g)
					return
				}
				if h := holders.Add(1); h != 1 {
					t.Errorf("%d agents hold the stick", h)
				}

				mu.Lock()
				if other, twice := seen[g.Grant.TurnID]; twice {
					t.Errorf("turn %d was given to %s and to %s", g.Grant.TurnID, other, g.AgentID)
				}

				seen[g.Grant.TurnID] = g.AgentID
				mu.Unlock()
				holders.Add(-1)

				_, err = e.ReleaseStick(t.Context(), engine.ReleaseStickParams{
					Caller: by, Where: at, Fence: engine.Fence{Turn: g.Grant.TurnID, Lease: g.LeaseID},
					Handoff: stick.Handoff{Status: fmt.Sprintf("turn %d", g.Grant.TurnID), NextAction: "go on"},
				})
				if err != nil {
					t.Errorf("agent %d released turn %d: %v", i, g.Grant.TurnID, err)
					return
				}
			}
		})
	}

	wg.Wait()
	if len(seen) != agents*turns {
		t.Errorf("%d turns, want %d", len(seen), agents*turns)
	}

	for n := range len(seen) {
		if seen[int64(n+1)] == "" {
			t.Errorf("turn %d was never given", n+1)
		}
	}
}

// TestReadersBesideWriters reads the state and the log from goroutines while others write.
func TestReadersBesideWriters(t *testing.T) {
	d := newDesk(t)
	e := d.engine()
	at := core.Where{Path: d.work}
	by := d.caller("writer")
	if _, err := e.JoinPath(t.Context(), engine.JoinPathParams{Caller: by, Path: d.work}); err != nil {
		t.Fatal(err)
	}

	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			reader, who := e, d.caller(fmt.Sprintf("reader %d", i))
			for turn, seq := int64(0), int64(0); ; {
				select {
				case <-stop:
					return
				default:
				}

				s, err := reader.GetRoomState(t.Context(), engine.GetRoomStateParams{Caller: who, Where: at})
				if err != nil || s.TurnID < turn {
					t.Errorf("the state went from turn %d to %d (%v)", turn, s.TurnID, err)
					return
				}

				turn = s.TurnID
				ev, err := reader.Log.GetRoomEvents(t.Context(), eventlog.GetRoomEventsParams{
					Caller: who, Where: at, EventFilter: eventlog.EventFilter{After: max(seq, 1)},
				})
				if err != nil {
					t.Error(err)
					return
				}

				for _, x := range ev.Events {
					if seq != 0 && x.Seq != seq+1 {
						t.Errorf("event %d was read after event %d", x.Seq, seq)
					}
					seq = x.Seq
				}
			}
		})
	}

	zero := int64(0)
	for range 40 {
		g, err := e.WaitForTurn(t.Context(), engine.WaitForTurnParams{Caller: by, Where: at, MaxWaitMS: &zero})
		if err != nil || g.Grant == nil {
			t.Fatalf("%v %+v", err, g)
		}

		if _, err := e.ReleaseStick(t.Context(), engine.ReleaseStickParams{
			Caller: by, Where: at, Handoff: stick.Handoff{Status: "s", NextAction: "n"},
		}); err != nil {
			t.Fatal(err)
		}
	}

	close(stop)
	wg.Wait()
}

// TestFollow_CursorAfterFailedRead: where reading the log fails, or is interrupted, the answer tells
// how far it has come.
func TestFollow_CursorAfterFailedRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	address := storetest.PostgresURL(t) // there a test can stop a reader in the middle
	e := engine.New(engine.Config{Kernel: core.New(core.Config{
		Dir: d.data, Database: address, Procs: d.procs,
		Workspace: workspace.Env{Dir: d.work, Home: filepath.Dir(d.work)}, ReadWait: time.Second,
	})})
	defer e.Close()
	ann := d.caller("ann")
	joined, err := e.JoinPath(t.Context(), engine.JoinPathParams{Caller: ann, Path: d.work})
	if err != nil {
		t.Fatal(err)
	}

	var last int64
	follow := func() (eventlog.EventsResult, error) {
		return e.Log.FollowEvents(t.Context(), eventlog.WaitForEventsParams{
			Caller: ann, Where: core.Where{Path: d.work}, EventFilter: eventlog.EventFilter{Target: eventlog.TargetAny},
		}, func(r eventlog.EventsResult) error {
			last = r.Cursor
			release, err := storetest.Hold(address, "LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
			if err == nil {
				t.Cleanup(release)
			}
			return err
		})
	}

	res, err := follow()
	if stick.CodeOf(err) != stick.CodeDatabaseBusy || last == 0 || res.RoomID != joined.RoomID || res.Cursor != last {
		t.Errorf("delivered up to %d, it ends at %d of %q with %v", last, res.Cursor, res.RoomID, err)
	}

	last = 0
	res, err = follow() // it reads how far the log goes, and then can't read the log
	if stick.CodeOf(err) != stick.CodeDatabaseBusy || last != 0 || res.RoomID != "" || res.Cursor != 0 {
		t.Errorf("delivered nothing, it ends at %d of %q with %v", res.Cursor, res.RoomID, err)
	}
}
