package engine_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// guards records which guardians are started. The pid of the first is 41. With fails none starts.
type guards struct {
	started []engine.KeepLeaseParams
	fails   bool
}

func (g *guards) start(p engine.KeepLeaseParams) (pid int, err error) {
	g.started = append(g.started, p)
	if g.fails {
		return 0, errors.New("no process can be started")
	}
	return 40 + len(g.started), nil
}

// grants are the operations that give the caller the stick. Each row has the caller get it, while bob is
// there, who can't see the caller.
var grants = map[string]func(caller, bob *scene.Actor) (*engine.Grant, stick.AgentID){
	"WaitForTurn": func(caller, bob *scene.Actor) (*engine.Grant, stick.AgentID) {
		bob.Join().OK()
		x := caller.Try().Granted(1)
		return x.Res.Grant, x.Res.AgentID
	},
	"WaitForTurn, blocked": func(caller, bob *scene.Actor) (*engine.Grant, stick.AgentID) {
		bob.Try().Granted(1)
		wait := caller.Waits()
		bob.Release("half done", "do the rest")
		x := wait.Ends().Granted(2)
		return x.Res.Grant, x.Res.AgentID
	},
	"TakeoverStick": func(caller, bob *scene.Actor) (*engine.Grant, stick.AgentID) {
		bob.Try().Granted(1)
		x := caller.TakeoverStick(engine.TakeoverStickParams{Reason: "a person said so", Operator: true}).OK()
		return x.Grant, x.AgentID
	},
}

// TestGuardian_starts with each operation that gives the stick to a caller whom others can't see, once, and
// keeps just this lease.
func TestGuardian_starts(t *testing.T) {
	for name, take := range grants {
		t.Run(name, func(t *testing.T) {
			s := scene.New(t)
			var g guards
			ann, bob := s.AgentElsewhere("claude:a").Guarded(g.start), s.Agent("codex:b")

			got, me := take(ann, bob)
			if len(g.started) != 1 {
				t.Fatalf("%d guardians were started: %+v", len(g.started), g.started)
			}

			want := engine.KeepLeaseParams{
				RoomID: got.RoomID, Owner: me, Turn: got.TurnID, Lease: got.LeaseID, Process: ann.By.Process,
			}
			if g.started[0] != want {
				t.Errorf("it keeps %+v, and the lease is %+v", g.started[0], want)
			}
			if got.GuardianPID != 41 || got.LeaseKeptBy != stick.KeptByGuardian || got.GuardianWhy != "" {
				t.Errorf("the answer says %d, %s, %q", got.GuardianPID, got.LeaseKeptBy, got.GuardianWhy)
			}
		})
	}
}

// TestGuardian_covers_every_grant: an operation whose result has a grant is a row of the table above.
func TestGuardian_covers_every_grant(t *testing.T) {
	operations := reflect.TypeFor[*engine.Engine]()
	for i := range operations.NumMethod() {
		m := operations.Method(i)
		if m.Type.NumOut() == 0 || m.Type.Out(0).Kind() != reflect.Struct || m.Name == "WaitForWake" {
			continue // a wait for an idle agent wakes it, and never has the stick
		}
		f, has := m.Type.Out(0).FieldByName("Grant")
		if has && f.Type == reflect.TypeFor[*engine.Grant]() && grants[m.Name] == nil {
			t.Errorf("no test shows that %s starts a guardian", m.Name)
		}
	}
}

// TestGuardian_fails_to_start: the turn stands, and the answer says who has to renew its lease.
func TestGuardian_fails_to_start(t *testing.T) {
	for name, take := range grants {
		t.Run(name, func(t *testing.T) {
			s := scene.New(t)
			g := guards{fails: true}
			ann, bob := s.AgentElsewhere("claude:a").Guarded(g.start), s.Agent("codex:b")

			got, _ := take(ann, bob)
			if got.GuardianPID != 0 || got.LeaseKeptBy == stick.KeptByGuardian || got.GuardianWhy == "" {
				t.Errorf("the answer says %d, %s, %q", got.GuardianPID, got.LeaseKeptBy, got.GuardianWhy)
			}
			ann.Heartbeat(engine.HeartbeatParams{Fence: engine.Fence{Turn: got.TurnID, Lease: got.LeaseID}}).OK()
		})
	}
}

// TestGuardian_isnt_needed where everybody sees the holder's process, nor for an answer without the stick.
func TestGuardian_isnt_needed(t *testing.T) {
	s := scene.New(t)
	var g guards
	ann, bob, cyd := s.Agent("claude:a").Guarded(g.start), s.Agent("codex:b"), s.AgentElsewhere("gemini:c").Guarded(g.start)
	bob.Join().OK()
	ann.Try().Granted(1)
	cyd.Try().NotYet()
	if len(g.started) != 0 {
		t.Errorf("guardians were started: %+v", g.started)
	}
}

// TestGuardian_missing: without one the lease expires, though the process lives.
func TestGuardian_missing(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.AgentElsewhere("claude:a"), s.Agent("codex:b")
	bob.Join().OK()
	ann.Try().Granted(1)
	s.Later(44 * time.Minute)
	bob.Sees(stick.StateOwned)
	s.Later(2 * time.Minute)
	bob.Sees(stick.StateStaleOwner)
	bob.Take("no sign of it").Granted(2, stick.OwnerTimeout).From(ann)
}

// TestGuardian_is_replaced: a holder that asks again gets another guardian if the one it had serves another
// process, or was killed. One that doesn't renew the lease isn't shown.
func TestGuardian_is_replaced(t *testing.T) {
	s := scene.New(t)
	var g guards
	ann, before, bob := s.AgentElsewhere("claude:a").Guarded(g.start), s.AgentElsewhere("claude:x"), s.Agent("codex:b")
	bob.Join().OK()
	x := ann.Try().Granted(1)

	starts := func(want int) {
		t.Helper()
		ann.Try().Granted(1)
		s.Check(len(g.started) == want, "%d guardians were started by now, not %d", len(g.started), want)
	}

	renews := func(process stick.Process, pid int) {
		t.Helper()
		if err := ann.Engine.RenewLease(t.Context(), engine.KeepLeaseParams{
			RoomID: x.Res.RoomID, Owner: x.Res.AgentID, Turn: 1, Lease: x.Res.LeaseID, Process: process, PID: pid,
		}); err != nil {
			t.Fatal(err)
		}
	}

	sees := func(pid int, keeper stick.LeaseKeeper) {
		t.Helper()
		v := bob.GetRoomState(engine.GetRoomStateParams{}).OK()
		s.Check(v.GuardianPID == pid && v.LeaseKeptBy == keeper, "guardian %d, the lease is kept by %s",
			v.GuardianPID, v.LeaseKeptBy)
	}

	renews(before.By.Process, 41)
	sees(41, stick.KeptByGuardian)
	starts(2)
	renews(ann.By.Process, 42)
	sees(42, stick.KeptByGuardian)
	starts(2)

	s.Later(10*time.Minute + time.Second)
	sees(0, stick.KeptByHeartbeat)
	starts(3)
}

// TestGuardian_BeginsAfterItsOwnerDied: others, who can't see the owner's process, know of its end at once. They
// don't wait until its lease runs out.
func TestGuardian_BeginsAfterItsOwnerDied(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.AgentElsewhere("claude:a"), s.Agent("codex:b")
	bob.Join().OK()
	x := ann.Try().Granted(1)

	ann.Dies()
	err := ann.KeepLease(t.Context(), engine.KeepLeaseParams{
		RoomID: x.Res.RoomID, Owner: x.Res.AgentID, Turn: 1, Lease: x.Res.LeaseID, Process: ann.By.Process, PID: 41,
	})
	if err != nil {
		t.Fatal(err)
	}

	bob.Sees(stick.StateOwnerGone)
	bob.Take("it is gone").Granted(2, stick.OwnerGone).From(ann)
}
