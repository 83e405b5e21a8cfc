package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/stick"
)

const other stick.AgentID = "codex:b"

// busy has another agent hold the stick, so that a wait for the turn blocks.
func (d *desk) busy() {
	d.Helper()
	d.join(other, agent)
	none := int64(0)
	res, err := d.engine.WaitForTurn(d.Context(), engine.WaitForTurnParams{
		Caller: d.caller(other), Where: d.at(), MaxWaitMS: &none,
	})
	if err != nil || res.Status != stick.YourTurn {
		d.Fatal(res.Status, err)
	}
}

// TestProgress: a wait reports that it still runs to a client that asks for that, and to no other.
func TestProgress(t *testing.T) {
	d := newDesk(t)
	d.o.Progress = 5 * time.Millisecond
	d.busy()
	c := d.client()
	q := &mcp.CallToolParams{Name: "wait_for_turn", Arguments: doc{}}
	q.SetProgressToken("mine")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.CallTool(ctx, q)
	}()

	last := 0.0
	for range 3 {
		select {
		case n := <-c.progress:
			if n <= last {
				t.Errorf("progress went from %v to %v", last, n)
			}
			last = n

		case <-time.After(30 * time.Second):
			t.Fatal("no progress is told")
		}
	}

	cancel()
	<-done
	d.soon("the wait is cancelled", func() bool { return d.listeners() == 0 })
	c.ok("get_room_state", doc{}) // whatever was sent before it has arrived now
	for len(c.progress) > 0 {
		<-c.progress
	}
	if res := c.ok("wait_for_turn", doc{"max_wait_ms": 50}); res["status"] != "not_yet" || len(c.progress) > 0 {
		t.Errorf("%v; told %d times without a token", res["status"], len(c.progress))
	}
}

// TestCancelledWait: a wait ends when its call is cancelled, and isn't answered. Nobody listens any more, the
// turn isn't taken, and the next wait finds no other.
func TestCancelledWait(t *testing.T) {
	for _, tool := range []string{"wait_for_turn", "wait_for_events"} {
		d := newDesk(t)
		d.busy()
		w := d.wire()
		cursor, err := d.engine.Log.GetRoomEvents(t.Context(), eventlog.GetRoomEventsParams{
			Caller: d.caller(agent), Where: d.at(),
		})
		if err != nil {
			t.Fatal(err)
		}

		arguments := "{}"
		if tool == "wait_for_events" {
			arguments = fmt.Sprintf(`{"after":%d}`, cursor.Cursor)
		}
		w.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`)
		if tool == "wait_for_turn" {
			d.soon("it listens", func() bool { return d.listeners() == 1 })
		}
		w.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"impatience"}}`)
		d.soon("nobody listens", func() bool { return d.listeners() == 0 })
		w.write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait_for_turn","arguments":{"max_wait_ms":0}}}`)
		if m := w.read(); *m.ID != 2 || m.answer()["status"] != "not_yet" {
			t.Errorf("the next wait answered %+v", m)
		}
	}
}

// TestCancelOfWhatIsOver: OpenCode cancels each call after its answer.
func TestCancelOfWhatIsOver(t *testing.T) {
	d := newDesk(t)
	d.join(agent)
	w := d.wire()
	for id := 1; id < 4; id++ {
		w.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_room_state"}}`, id))
		if m := w.read(); m.ID == nil || *m.ID != id || m.Result.IsError || m.Error != nil {
			t.Errorf("call %d was answered %+v", id, m)
		}
		w.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		w.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never"}}`)
	}
}

// TestEndOfInput: a server ends with its input, even while a wait blocks, and the wait's listener goes too.
func TestEndOfInput(t *testing.T) {
	d := newDesk(t)
	d.busy()
	w := d.wire()
	w.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_for_turn"}}`)
	d.soon("it listens", func() bool { return d.listeners() == 1 })
	w.in.Close()
	w.over()
	if n := d.listeners(); n != 0 {
		t.Errorf("%d listen", n)
	}
}

// TestEndOfItsOwner: a server that is told to end does so even while waits block, and their caller's process
// lives on.
func TestEndOfItsOwner(t *testing.T) {
	for _, tool := range []string{"wait_for_turn", "wait_for_events"} {
		d := newDesk(t)
		d.busy()
		started := make(chan struct{}, 1)
		for i := range tools() {
			if row := tools()[i]; row.name == tool {
				tools()[i].run = func(ctx context.Context, s *server, by core.Caller, arguments any) (any, error) {
					started <- struct{}{}
					return row.run(ctx, s, by, arguments)
				}
				t.Cleanup(func() { tools()[i] = row })
			}
		}

		w := d.wire()
		arguments := "{}"
		if tool == "wait_for_events" {
			arguments = fmt.Sprintf(`{"after":%d}`, 1<<40) // which has none
		}
		w.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`)
		<-started
		if tool == "wait_for_turn" {
			d.soon("it listens", func() bool { return d.listeners() == 1 })
		}
		w.stop()
		w.over()
		if n := d.listeners(); n != 0 {
			t.Errorf("%d listen", n)
		}
	}
}

// bodies are the messages of a wait's answer.
func bodies(t *testing.T, res doc) (out []string) {
	t.Helper()
	b, err := json.Marshal(res["events"])
	if err != nil {
		t.Fatal(err)
	}
	var events []stick.Event
	if err := json.Unmarshal(b, &events); err != nil {
		t.Fatal(err)
	}

	for _, e := range events {
		if m := e.Message(); m != nil {
			out = append(out, m.Body)
		}
	}

	return out
}

// TestDeliveredByTheNextCall: the events in a wait's answer count as delivered when the client calls again. A
// client that never does, or whose call was cancelled before it got the answer, gets them again.
func TestDeliveredByTheNextCall(t *testing.T) {
	look := doc{"park": true, "max_wait_ms": 0}
	hears := func(c *client, want ...string) {
		t.Helper()
		if got := bodies(t, c.ok("wait_for_turn", look)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("heard %q, want %q", got, want)
		}
	}

	d := newDesk(t)
	d.join(other, agent)
	d.say(other, agent, "one")
	first := d.client()
	hears(first, "one")
	first.Close() // it was killed before it read the answer

	second := d.client()
	hears(second, "one")
	d.say(other, agent, "two")
	hears(second, "two") // it called again, so it has the first
	second.ok("list_rooms", doc{"context_path": d.work})
	hears(second)
	hears(d.client())

	d.say(other, agent, "three")
	third := d.client()
	hears(third, "three")
	d.named(other) // another agent's call says nothing about this one's
	fourth := d.client()
	hears(fourth, "three")
	fourth.call("takeover_stick", doc{}) // a call that can't be understood isn't one
	hears(d.client(), "three")
	fourth.call("release_stick", doc{
		"room_id": "x", "lease_id": "x", "expected_turn_id": 1,
		"handoff": doc{"status": "x", "next_action": "x"},
	})
	hears(d.client())
}

// TestAnswerOfACancelledCall: a wait is cancelled at the moment at which it has an answer.
func TestAnswerOfACancelledCall(t *testing.T) {
	d := newDesk(t)
	d.join(other, agent)
	d.say(other, agent, "one")
	s := &server{ctx: t.Context(), o: d.o, unconfirmed: map[stick.AgentID]engine.WaitForTurnResult{}}

	var wait tool
	for _, row := range tools() {
		if row.name == "wait_for_turn" {
			wait = row
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	late := wait
	late.run = func(ctx context.Context, s *server, by core.Caller, arguments any) (any, error) {
		defer cancel()
		return wait.run(ctx, s, by, arguments)
	}

	ask := func(ctx context.Context, row tool) []stick.Event {
		t.Helper()
		q := &mcp.CallToolRequest{
			Params: &mcp.CallToolParamsRaw{Arguments: json.RawMessage(`{"park":true,"max_wait_ms":0}`)},
		}
		res, err := s.callTool(ctx, row, q)
		if err != nil {
			t.Fatal(err)
		}

		return res.(engine.WaitForTurnResult).Events
	}

	for _, c := range []struct {
		ctx  context.Context
		row  tool
		want int
	}{{ctx, late, 1}, {t.Context(), wait, 1}, {t.Context(), wait, 0}} {
		if got := ask(c.ctx, c.row); len(got) != c.want {
			t.Errorf("%d events, want %d", len(got), c.want)
		}
	}
}

// TestWaitIsBounded: a wait whose caller sets no limit answers before a harness ends the call.
func TestWaitIsBounded(t *testing.T) {
	d := newDesk(t)
	d.busy()
	d.o.Wait = 20 * time.Millisecond
	c := d.client()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()

	for tool, arguments := range map[string]doc{
		"wait_for_turn": {}, "wait_for_events": {"event": []string{"takeover"}},
	} {
		res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if got, failed := c.result(res); failed || len(got["events"].([]any)) != 0 {
			t.Errorf("%s: %v", tool, got)
		}
	}

	if n := d.listeners(); n != 0 {
		t.Errorf("%d listen", n)
	}
}

// TestNameOfAConnection: a name that join_path was given holds for all later calls of the connection, and for
// no other connection. A join that fails gives none.
func TestNameOfAConnection(t *testing.T) {
	d := newDesk(t)
	room := d.join(agent)
	is := func(c *client, want stick.AgentID) {
		t.Helper()
		if got := c.ok("wait_for_turn", doc{"park": true, "max_wait_ms": 0})["agent_id"]; got != string(want) {
			t.Errorf("the caller is %v, want %s", got, want)
		}
	}

	first := d.client()
	is(first, agent)
	if _, failed := first.call("join_path", doc{"room_id": "none", "agent_id_override": string(other)}); !failed {
		t.Fatal("it joined a room that doesn't exist")
	}

	is(first, agent)
	first.ok("join_path", doc{"room_id": room, "agent_id_override": string(other)})
	is(first, other)
	first.ok("join_path", doc{"room_id": room})
	is(first, other)
	is(d.client(), agent)
}

// TestWarningBesideAnAnswer: the next answer, a failure, too, says beside its result what the client has to
// know.
func TestWarningBesideAnAnswer(t *testing.T) {
	d := newDesk(t)
	d.join(agent)
	warnings := []stick.Words{"the database has lost event 7", "", "once more", ""}
	d.o.Warning = func() stick.Words {
		w := warnings[0]
		warnings = warnings[1:]
		return w
	}

	c := d.client()
	for _, x := range []struct {
		tool, says string
		fails      bool
	}{
		{"list_rooms", "the database has lost event 7", false},
		{"list_rooms", "", false},
		{"takeover_stick", "once more", true},
		{"takeover_stick", "", true},
	} {
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: x.tool, Arguments: doc{}})
		if err != nil || res.IsError != x.fails {
			t.Fatalf("%s: %+v (%v)", x.tool, res, err)
		}

		var says string
		for _, more := range res.Content[1:] {
			says += more.(*mcp.TextContent).Text
		}
		if says != x.says {
			t.Errorf("%s says %q beside its result, want %q", x.tool, says, x.says)
		}
	}
}
