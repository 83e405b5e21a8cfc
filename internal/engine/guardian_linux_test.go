package engine

import (
	"context"
	"testing"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// awaitRenewal waits for the first renewal of a guardian, which rings.
func awaitRenewal(t *testing.T, ctx context.Context, e *Engine, by core.Caller, rings <-chan struct{}, ended <-chan error, pid int) {
	t.Helper()
	for {
		v, err := e.GetRoomState(ctx, GetRoomStateParams{Caller: by})
		if err != nil {
			t.Fatal(err)
		}
		if v.GuardianPID == pid {
			return
		}

		select {
		case <-rings:
		case err := <-ended:
			t.Fatalf("guardian %d ended before it renewed: %v", pid, err)
		case <-ctx.Done():
			t.Fatalf("guardian %d never renewed", pid)
		}
	}
}

// A second guardian of a turn replaces the first, so that guardians can't pile up. The last one ends with the
// turn.
func TestGuardiansReplaceEachOther(t *testing.T) {
	procs, err := proc.Host()
	if err != nil {
		t.Fatal(err)
	}
	self, err := procs.Self()
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e := New(Config{
		Kernel: core.New(core.Config{Dir: t.TempDir(), Procs: procs, Workspace: workspace.Env{Dir: t.TempDir()}}),
	})
	defer e.core.Close()
	by := core.Caller{Harness: "claude", SessionID: "one", Process: self, Proof: stick.ProvesSession}
	got, err := e.WaitForTurn(ctx, WaitForTurnParams{Caller: by, MaxWaitMS: new(int64)})
	if err != nil {
		t.Fatal(err)
	}

	db, err := e.core.Open(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	rings, err := db.Bell.Watch(string(got.RoomID))
	if err != nil {
		t.Fatal(err)
	}
	defer rings.Close()

	guard := func(pid int) <-chan error {
		ended := make(chan error, 1)
		go func() {
			ended <- e.KeepLease(ctx, KeepLeaseParams{
				RoomID: got.RoomID, Owner: got.AgentID, Turn: got.TurnID, Lease: got.LeaseID, Process: self, PID: pid,
			})
		}()

		awaitRenewal(t, ctx, e, by, rings.C, ended, pid)
		return ended
	}

	first := guard(1001)
	second := guard(1002)
	ends := func(name string, ended <-chan error) {
		t.Helper()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the %s guardian: %v", name, err)
			}
		case <-ctx.Done():
			t.Fatalf("the %s guardian goes on", name)
		}
	}

	ends("first", first)
	select {
	case err := <-second:
		t.Fatalf("the second guardian ended with the first: %v", err)
	default:
	}

	if _, err := e.ReleaseStick(ctx, ReleaseStickParams{
		Caller: by, Handoff: stick.Handoff{Status: "s", NextAction: "n"},
	}); err != nil {
		t.Fatal(err)
	}
	ends("second", second)
}

// A guardian outlasts another program that keeps the database locked for longer than a command waits.
func TestAGuardianOutlastsALock(t *testing.T) {
	procs, err := proc.Host()
	if err != nil {
		t.Fatal(err)
	}
	self, err := procs.Self()
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	data, work := t.TempDir(), t.TempDir()
	open := func(wait time.Duration) *Engine {
		e := New(Config{
			Kernel: core.New(core.Config{
				Dir: data, Procs: procs, Workspace: workspace.Env{Dir: work}, WriteWait: wait,
			}),
		})
		t.Cleanup(func() { e.core.Close() })
		return e
	}

	e, impatient := open(0), open(50*time.Millisecond)
	by := core.Caller{Harness: "claude", SessionID: "one", Process: self, Proof: stick.ProvesSession}
	got, err := e.WaitForTurn(ctx, WaitForTurnParams{Caller: by, MaxWaitMS: new(int64)})
	if err != nil {
		t.Fatal(err)
	}

	db, err := e.core.Open(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	rings, err := db.Bell.Watch(string(got.RoomID))
	if err != nil {
		t.Fatal(err)
	}
	defer rings.Close()
	p := KeepLeaseParams{
		RoomID: got.RoomID, Owner: got.AgentID, Turn: got.TurnID, Lease: got.LeaseID, Process: self,
		PID: 1001,
	}
	ended := make(chan error, 1)
	other, err := impatient.core.Open(ctx, false)
	if err != nil {
		t.Fatal(err)
	}

	err = db.Update(ctx, func(*store.Tx) error {
		go func() { ended <- impatient.KeepLease(ctx, p) }()
		for range 3 { // as long as it takes the guardian to fail as well
			if err := impatient.renewLease(ctx, other, p); stick.CodeOf(err) != stick.CodeDatabaseBusy {
				t.Errorf("behind the lock a renewal ends with %v", err)
			}
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	awaitRenewal(t, ctx, e, by, rings.C, ended, p.PID)
	cancel()
	<-ended // it still writes below the data directory
}
