package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// hooked is an agent with hooks, as a member of the desk's room.
type hooked struct {
	*desk
	e  *engine.Engine
	by core.Caller
	p  engine.HookParams
}

func (d *desk) hooked(session string) hooked {
	d.Helper()
	h := hooked{desk: d, e: d.engine(), by: d.caller(session)}
	h.p = engine.HookParams{Caller: h.by, Where: core.Where{Path: d.work}}
	if _, err := h.e.JoinPath(d.Context(), engine.JoinPathParams{Caller: h.by, Path: h.p.Path}); err != nil {
		d.Fatal(err)
	}
	return h
}

// tool is a hook after a tool call: what it shows.
func (h hooked) tool() (bodies []string, more bool, err error) {
	res, err := h.e.DeliverEvents(h.Context(), h.p)
	if err != nil {
		return nil, false, err
	}
	for _, ev := range res.Events {
		bodies = append(bodies, ev.Message().Body)
	}
	return bodies, res.More, h.e.HookDelivered(h.Context(), h.p, res)
}

func (h hooked) send(body string) {
	h.Helper()
	_, err := h.e.SendMessage(h.Context(), engine.SendMessageParams{Caller: h.by, Where: h.p.Where, To: []stick.AgentID{"room"}, Body: body})
	if err != nil {
		h.Error(err)
	}
}

// TestHookShowsInPieces shows much in several hooks, each with as much as harnesses take, all of it
// once and in its order.
func TestHookShowsInPieces(t *testing.T) {
	d := newDesk(t)
	reader, sender := d.hooked("reader"), d.hooked("sender")
	for _, c := range []struct {
		name   string
		count  int
		length int
		want   []int // by hook
	}{
		{"many short ones", 45, 10, []int{20, 20, 5, 0}},
		{"as many as there may be", 20, 10, []int{20, 0}},
		{"long ones", 3, 4000, []int{1, 1, 1, 0}},
		{"two to a hook", 3, 3000, []int{2, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent, shown []string
			for i := range c.count {
				body := fmt.Sprintf("%s %d %s", c.name, i, strings.Repeat("x", c.length))
				sent = append(sent, body)
				sender.send(body)
			}
			for i, want := range c.want {
				bodies, more, err := reader.tool()
				if err != nil || len(bodies) != want || more != (len(shown)+want < c.count) {
					t.Errorf("hook %d shows %d, and more: %v (%v); want %d", i, len(bodies), more, err, want)
				}
				shown = append(shown, bodies...)
			}
			if strings.Join(sent, "\n") != strings.Join(shown, "\n") {
				t.Errorf("%d of %d were shown, or not in their order", len(shown), len(sent))
			}
		})
	}
}

// TestHooksAtOnce runs hooks of one session beside each other, and beside its wait, while others send:
// a harness runs tools in parallel. Each message is shown, and when all is quiet nothing is new.
func TestHooksAtOnce(t *testing.T) {
	const hooks, messages = 3, 40
	d := newDesk(t)
	reader, sender := d.hooked("reader"), d.hooked("sender")
	var mu sync.Mutex // guards seen
	seen := map[string]int{}
	note := func(bodies []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, b := range bodies {
			seen[b]++
		}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range hooks {
		h := reader
		h.e = d.engine()
		wg.Go(func() {
			for over := false; !over; {
				select {
				case <-done:
					over = true // and a last look
				default:
				}
				bodies, _, err := h.tool()
				if err != nil {
					t.Error(err)
					return
				}
				note(bodies)
			}
		})
	}
	wg.Go(func() {
		e := d.engine()
		for over := false; !over; {
			select {
			case <-done:
				over = true
			default:
			}
			res, err := e.WaitForTurn(t.Context(), engine.WaitForTurnParams{Caller: reader.by, Where: reader.p.Where, Park: true, MaxWaitMS: new(int64)})
			if err == nil {
				err = e.Delivered(t.Context(), res)
			}
			if err != nil {
				t.Error(err)
				return
			}
			for _, ev := range res.Events {
				note([]string{ev.Message().Body})
			}
		}
	})
	for i := range messages {
		sender.send(fmt.Sprintf("message %d", i))
	}
	close(done)
	wg.Wait()
	for range 2 + messages/20 {
		bodies, _, err := reader.tool()
		if err != nil {
			t.Fatal(err)
		}
		note(bodies)
	}
	for i := range messages {
		if seen[fmt.Sprintf("message %d", i)] == 0 {
			t.Errorf("message %d was never shown", i)
		}
	}
	if bodies, more, err := reader.tool(); len(bodies) > 0 || more || err != nil {
		t.Errorf("all was shown, and a hook shows %q, and more: %v (%v)", bodies, more, err)
	}
}

// TestHookGivesUp ends a hook at its limit while another program keeps the database locked: the
// harness waits for it. One that only reads isn't kept from it.
func TestHookGivesUp(t *testing.T) {
	d := newDesk(t)
	reader, sender := d.hooked("reader"), d.hooked("sender")
	sender.send("hello")
	db, err := store.Open(t.Context(), store.Options{Dir: d.data}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	held, free := make(chan struct{}), make(chan struct{})
	over := make(chan error)
	go func() { // ended by free
		over <- db.Update(context.Background(), func(*store.Tx) error {
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	limited := func(fn func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return fn(ctx)
	}
	var found engine.DeliverEventsResult
	if found, err = reader.e.DeliverEvents(t.Context(), reader.p); err != nil || len(found.Events) != 1 {
		t.Errorf("a hook that reads found %d events (%v)", len(found.Events), err)
	}
	for name, fn := range map[string]func(context.Context) error{
		"stop": func(ctx context.Context) error {
			_, err := reader.e.CheckStop(ctx, engine.CheckStopParams{HookParams: reader.p})
			return err
		},
		"session start": func(ctx context.Context) error {
			_, err := reader.e.StartSession(ctx, engine.StartSessionParams{HookParams: reader.p, Auto: true})
			return err
		},
		"session end": func(ctx context.Context) error {
			_, err := reader.e.EndSession(ctx, engine.EndSessionParams{HookParams: reader.p, Why: "other"})
			return err
		},
		"after tool": func(ctx context.Context) error { return reader.e.HookDelivered(ctx, reader.p, found) },
	} {
		began := time.Now()
		err := limited(fn)
		if err == nil {
			t.Errorf("%s: the database is locked, and the hook says nothing of it", name)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: it went on for %s", name, took)
		}
	}
	close(free)
	if err := <-over; err != nil {
		t.Fatal(err)
	}

	// What wasn't noted as shown is shown again.
	if bodies, _, err := reader.tool(); len(bodies) != 1 || err != nil {
		t.Errorf("the next hook shows %q (%v)", bodies, err)
	}
	if bodies, _, err := reader.tool(); len(bodies) != 0 || err != nil {
		t.Errorf("and the one after it %q (%v)", bodies, err)
	}
}

// TestSessionEndsInSeveralRooms has an agent leave all its rooms at once, a closed one among them,
// and abandon the turn that it has in one.
func TestSessionEndsInSeveralRooms(t *testing.T) {
	d := newDesk(t)
	h := d.hooked("one")
	closed, third := core.Where{Path: t.TempDir()}, core.Where{Path: t.TempDir()}
	for _, w := range []core.Where{closed, third} {
		if _, err := h.e.JoinPath(t.Context(), engine.JoinPathParams{Caller: h.by, Path: w.Path, ForceNew: true}); err != nil {
			t.Fatal(err)
		}
	}
	other := d.hooked("two")
	for _, w := range []core.Where{closed, third} {
		if _, err := h.e.WaitForTurn(t.Context(), engine.WaitForTurnParams{Caller: h.by, Where: w}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.e.CloseRoom(t.Context(), engine.CloseRoomParams{Caller: h.by, Where: closed, Handoff: &stick.Handoff{Status: "done", NextAction: "rest"}}); err != nil {
		t.Fatal(err)
	}
	res, err := h.e.EndSession(t.Context(), engine.EndSessionParams{HookParams: h.p, Why: strings.Repeat("long ", 40)})
	if err != nil || len(res.Left) != 3 {
		t.Fatalf("it left %v (%v)", res.Left, err)
	}
	for _, w := range []core.Where{h.p.Where, third} {
		state, err := h.e.GetRoomState(t.Context(), engine.GetRoomStateParams{Caller: other.by, Where: w})
		if err != nil {
			t.Fatal(err)
		}
		if state.Owner != nil {
			t.Errorf("%s holds the stick of %s", *state.Owner, state.Path)
		}
		for _, m := range state.Members {
			if m.AgentID == res.AgentID {
				t.Errorf("%s is still a member of %s", m.AgentID, state.Path)
			}
		}
	}
	if res, err := h.e.EndSession(t.Context(), engine.EndSessionParams{HookParams: h.p, Why: "other"}); err != nil || len(res.Left) != 0 {
		t.Errorf("the second end left %v (%v)", res.Left, err)
	}

	// Nobody knows this one, and nothing becomes known of it.
	unknown := h.p
	unknown.Caller = d.caller("three")
	if res, err := h.e.EndSession(t.Context(), engine.EndSessionParams{HookParams: unknown, Why: "other"}); err != nil || res.AgentID != "" {
		t.Errorf("the end of an unknown session: %+v (%v)", res, err)
	}
}

// TestHookOfOneWhoIsntWhoItSays fails without a word to the room: a name that lives elsewhere isn't taken over.
func TestHookOfOneWhoIsntWhoItSays(t *testing.T) {
	d := newDesk(t)
	h := d.hooked("one")
	state, err := h.e.StartSession(t.Context(), engine.StartSessionParams{HookParams: h.p, Auto: true})
	if err != nil || state.RoomID == "" {
		t.Fatalf("%+v (%v)", state, err)
	}
	forged := h.p
	forged.Caller = core.Caller{As: string(state.AgentID), AsSource: "TT_HARNESS_AGENT_ID", Harness: "codex", SessionID: "x", User: "ann"}
	for name, fn := range map[string]func() error{
		"session start": func() error {
			_, err := h.e.StartSession(t.Context(), engine.StartSessionParams{HookParams: forged, Auto: true})
			return err
		},
		"after tool": func() error { _, err := h.e.DeliverEvents(t.Context(), forged); return err },
		"session end": func() error {
			_, err := h.e.EndSession(t.Context(), engine.EndSessionParams{HookParams: forged, Why: "other"})
			return err
		},
	} {
		if err := fn(); stick.CodeOf(err) != stick.CodeIdentityMismatch {
			t.Errorf("%s: %v", name, err)
		}
	}
	if again, err := h.e.StartSession(t.Context(), engine.StartSessionParams{HookParams: h.p, Auto: true}); err != nil || again.AgentID != state.AgentID {
		t.Errorf("it isn't a member any more: %+v (%v)", again, err)
	}
}
