package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// wakeWait is how long a test waits for what has to happen.
const wakeWait = 20 * time.Second

// waker is a wait on behalf of an idle agent.
type waker struct {
	h    hooked
	done chan engine.WaitForTurnResult
	stop func()
}

// wake begins to wait as a hook does, and returns when the wait is there.
func (h hooked) wake() waker {
	h.Helper()
	db, err := store.Open(h.Context(), store.Options{Dir: h.data}, false)
	if err != nil {
		h.Fatal(err)
	}
	defer db.Close()
	before := h.wakers(db)
	ctx, stop := context.WithCancel(h.Context())
	w := waker{h: h, done: make(chan engine.WaitForTurnResult, 1), stop: stop}
	h.Cleanup(stop)
	go func() { // ends with ctx
		res, err := h.e.WaitForWake(ctx, h.p)
		if err != nil && stick.CodeOf(err) != stick.CodeCanceled {
			h.Error(err)
		}
		w.done <- res
	}()
	for end := time.Now().Add(wakeWait); ; time.Sleep(time.Millisecond) {
		if now := h.wakers(db); len(now) == 1 && (len(before) == 0 || now[0] != before[0]) {
			return w
		}
		if time.Now().After(end) {
			h.Fatalf("nobody waits to wake the agent: %d wait, before it were %d", len(h.wakers(db)), len(before))
		}
		select {
		case res := <-w.done:
			h.Fatalf("the wait ended at once, with %s", res.Status)
		default:
		}
	}
}

// wakers are the waits on behalf of idle agents.
func (h hooked) wakers(db *store.DB) (ids []stick.ListenerID) {
	h.Helper()
	err := db.View(h.Context(), func(tx *store.Tx) error {
		r, _, err := tx.RoomAt([]string{h.work})
		for _, l := range r.Listeners {
			if l.Intent == stick.Wake {
				ids = append(ids, l.ID)
			}
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	return ids
}

// ends waits for the end of the wait, and tells what it brings.
func (w waker) ends() (bodies []string) {
	w.h.Helper()
	select {
	case res := <-w.done:
		for _, ev := range res.Events {
			if m := ev.Message(); m != nil {
				bodies = append(bodies, m.Body)
			} else {
				bodies = append(bodies, ev.Say())
			}
		}
		if err := w.h.e.Delivered(w.h.Context(), res); err != nil {
			w.h.Error(err)
		}
	case <-time.After(wakeWait):
		w.h.Fatal("the agent wasn't woken")
	}
	return bodies
}

func (h hooked) idle() {
	h.Helper()
	if res, err := h.e.CheckStop(h.Context(), engine.CheckStopParams{HookParams: h.p}); err != nil || res.Block {
		h.Fatalf("%+v, %v", res, err)
	}
}

// TestWakeWaitsForTheEndOfWork: a harness starts both of its stop hooks at once. What came while the agent
// worked wakes it also when the wait began before it counted as idle.
func TestWakeWaitsForTheEndOfWork(t *testing.T) {
	d := newDesk(t)
	agent, sender := d.hooked("agent"), d.hooked("sender")
	if _, _, err := agent.tool(); err != nil {
		t.Fatal(err)
	}
	sender.send("for later")
	w := agent.wake()
	begin := time.Now()
	agent.idle()
	if got := strings.Join(w.ends(), ", "); got != "for later" {
		t.Errorf("it was woken with %q", got)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %s: nothing rang, and one of the rare looks found it", took)
	}
	if bodies, _, err := agent.tool(); err != nil || len(bodies) != 0 {
		t.Errorf("a hook shows it again: %q (%v)", bodies, err)
	}
}

// TestOneWakerOfAnAgent: a second wait ends the first, which brings nothing; then one thing wakes once.
func TestOneWakerOfAnAgent(t *testing.T) {
	d := newDesk(t)
	agent, sender := d.hooked("agent"), d.hooked("sender")
	agent.idle()
	first := agent.wake()
	second := agent.wake()
	if got := first.ends(); len(got) != 0 {
		t.Errorf("the first brings %q", got)
	}
	sender.send("hello")
	if got := strings.Join(second.ends(), ", "); got != "hello" {
		t.Errorf("the second brings %q", got)
	}
	third := agent.wake()
	third.stop()
	if got := third.ends(); len(got) != 0 {
		t.Errorf("it is woken again, with %q", got)
	}
}

// TestNobodyIsWokenOutside: who is removed from the room isn't woken to be told.
func TestNobodyIsWokenOutside(t *testing.T) {
	d := newDesk(t)
	agent, sender := d.hooked("agent"), d.hooked("sender")
	agent.idle()
	w := agent.wake()
	me, err := agent.e.Whoami(t.Context(), engine.WhoamiParams{Caller: agent.by})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sender.e.KickMember(t.Context(), engine.KickMemberParams{Caller: sender.by, Where: sender.p.Where, AgentID: me.AgentID, Force: true}); err != nil {
		t.Fatal(err)
	}
	if got := w.ends(); len(got) != 0 {
		t.Errorf("it was woken with %q", got)
	}
}

// TestWakeBringsWhatFits: what an agent is woken with is bounded like all that hooks show; the rest comes
// when it works.
func TestWakeBringsWhatFits(t *testing.T) {
	d := newDesk(t)
	agent, sender := d.hooked("agent"), d.hooked("sender")
	if _, _, err := agent.tool(); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 3000)
	for _, n := range []string{"1", "2", "3"} {
		sender.send(n + long)
	}
	agent.idle()
	res, err := agent.e.WaitForWake(t.Context(), agent.p)
	if err != nil || len(res.Events) != 2 || !res.More {
		t.Fatalf("it is woken with %d, and more: %v (%v)", len(res.Events), res.More, err)
	}
	if err := agent.e.Delivered(t.Context(), res); err != nil {
		t.Fatal(err)
	}
	if bodies, more, err := agent.tool(); err != nil || len(bodies) != 1 || bodies[0] != "3"+long || more {
		t.Errorf("the hook then shows %d, and more: %v (%v)", len(bodies), more, err)
	}
}
