package engine_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/storetest"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// TestWait_LostAnswer: the network is cut before the commit that gives the turn to who
// waits. Until somebody knows what became of that commit, the wait goes on. The server may still get it, when
// the network is back.
func TestWait_LostAnswer(t *testing.T) {
	d := newDesk(t)
	d.procs.OneHost = false
	address, at := storetest.PostgresURL(t), core.Where{Path: d.work}
	network := storetest.NewNetwork(t, address)

	on := func(host, address string, kill func(string)) *engine.Engine {
		e := engine.New(engine.Config{Kernel: core.New(core.Config{
			Dir: filepath.Join(d.data, host), Database: address, Procs: d.procs, Kill: kill,
			ReadWait:  500 * time.Millisecond,
			Workspace: workspace.Env{Dir: d.work, Home: filepath.Dir(d.work)},
		})})
		t.Cleanup(func() { e.Close() })
		return e
	}

	var armed, isCut, isBack atomic.Bool
	mend := func() {
		if isCut.Load() && isBack.CompareAndSwap(false, true) {
			network.Mend()
		}
	}

	near := on("near", address, nil)
	far := on("far", network.URL(), func(point string) {
		if point == "before commit" && armed.CompareAndSwap(true, false) {
			network.Cut()
			isCut.Store(true)
		}
	})

	defer mend()

	ann, bob, zero := d.caller("ann"), d.caller("bob"), int64(0)
	first, err := near.WaitForTurn(t.Context(), engine.WaitForTurnParams{Caller: ann, Where: at, MaxWaitMS: &zero})
	if err != nil || first.Grant == nil {
		t.Fatalf("%v %+v", err, first)
	}

	blocked := false
	shows := func(engine.Standing) {
		mend()
		if blocked {
			return
		}

		blocked = true
		_, err := near.ReleaseStick(t.Context(), engine.ReleaseStickParams{
			Caller: ann, Where: at, Handoff: stick.Handoff{Status: "done", NextAction: "go on"},
		})
		if err != nil {
			t.Error(err)
		}
		armed.Store(true)
	}

	res, err := far.WaitForTurn(t.Context(), engine.WaitForTurnParams{
		Caller: bob, Where: core.Where{RoomID: first.RoomID}, Shows: shows,
	})
	if !isBack.Load() {
		t.Fatalf("with the network cut: %t, the wait ended with %q (%v) before anybody knew what was committed",
			isCut.Load(), res.Status, err)
	}
	if err != nil ||
		res.Status != stick.YourTurn ||
		res.Grant == nil ||
		res.Grant.TurnID != first.Grant.TurnID+1 ||
		res.Grant.Handoff == nil {
		t.Fatalf("it ended with %+v (%v)", res, err)
	}

	log, err := near.Log.GetRoomEvents(t.Context(), eventlog.GetRoomEventsParams{
		Caller: ann, Where: at, FromStart: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	claims := 0
	for _, ev := range log.Events {
		if ev.Type == stick.EventClaim && ev.Turn == res.Grant.TurnID {
			claims++
		}
	}

	if claims != 1 {
		t.Errorf("the log has %d claims of turn %d", claims, res.Grant.TurnID)
	}
}
