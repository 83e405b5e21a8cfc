package mcpserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/scopes"
	"talkingstick/stick"
)

// story calls every tool at least once, and records which it has called.
type story struct {
	*client
	called map[string]bool
}

func (s *story) ok(tool string, arguments doc) doc {
	s.Helper()
	s.called[tool] = true
	return s.client.ok(tool, arguments)
}

// equal calls a tool, and compares its answer with the operation's.
func equal[P, R any](s *story, tool string, arguments doc, op func(*engine.Engine, P) (R, error), p P) {
	s.Helper()
	got, err := json.Marshal(s.ok(tool, arguments))
	if err != nil {
		s.Fatal(err)
	}
	res, err := op(s.engine, p)
	if err != nil {
		s.Fatal(err)
	}

	want, err := json.Marshal(res)
	if err != nil {
		s.Fatal(err)
	}
	if !same(s.T, got, want) {
		s.Errorf("%s answers\n%s\nand the operation\n%s", tool, got, want)
	}
}

// TestEveryTool plays a story against a real database, in which every tool is called with what it needs. A
// tool that reads answers what its operation answers, which is what --json prints.
func TestEveryTool(t *testing.T) {
	d := newDesk(t)
	s := &story{d.client(), map[string]bool{}}
	ctx, me := t.Context(), d.caller(agent)
	const b, c, e stick.AgentID = "codex:b", "codex:c", "codex:e"
	room := string(d.join(b, c, e))
	others := map[stick.AgentID]*story{b: {d.named(b), s.called}, e: {d.named(e), s.called}}
	here := core.Where{RoomID: stick.RoomID(room)}
	handoff := doc{
		"status": "it is done", "next_action": "look at it",
		"artifacts": []doc{{"path": ".", "role": "review"}},
	}

	is := func(res doc, field string, want any) {
		t.Helper()
		if res[field] != want {
			t.Errorf("%s is %v, want %v, in %v", field, res[field], want, res)
		}
	}

	equal(s, "list_rooms", doc{"context_path": d.work},
		func(e *engine.Engine, p engine.ListRoomsParams) (engine.ListRoomsResult, error) {
			return e.ListRooms(ctx, p)
		},
		engine.ListRoomsParams{Caller: me, Path: d.work})

	joined := s.ok("join_path", doc{"context_path": d.work})
	is(joined, "joined", true)
	is(joined, "agent_id", string(agent))
	is(joined, "room_id", room)

	grant := s.ok("wait_for_turn", doc{"max_wait_ms": 0})
	is(grant, "status", "your_turn")
	fence := func(more doc) doc {
		more["room_id"], more["lease_id"], more["expected_turn_id"] = room, grant["lease_id"], grant["turn_id"]
		return more
	}

	is(s.ok("heartbeat", fence(doc{})), "turn_id", grant["turn_id"])
	equal(s, "get_room_state", doc{"all": true},
		func(e *engine.Engine, p engine.GetRoomStateParams) (engine.GetRoomStateResult, error) {
			return e.GetRoomState(ctx, p)
		},
		engine.GetRoomStateParams{Caller: me, Where: here, All: true})

	d.git("init", "-q")
	equal(s, "get_conflicts", doc{},
		func(e *engine.Engine, p scopes.GetConflictsParams) (scopes.GetConflictsResult, error) {
			return e.Scopes.GetConflicts(ctx, p)
		},
		scopes.GetConflictsParams{Caller: me, Where: here})

	sent := s.ok("send_message", doc{
		"to": []string{string(b)}, "body": "please look", "category": "BLOCKED", "blocker": "the tests",
		"requested_action": "look",
	})
	id := sent["message_id"]
	equal(s, "get_message", doc{"message_id": id},
		func(e *engine.Engine, p engine.GetMessageParams) (engine.GetMessageResult, error) {
			return e.GetMessage(ctx, p)
		},
		engine.GetMessageParams{Caller: me, Where: here, MessageID: int64(id.(float64))})

	equal(others[b], "get_inbox", doc{"state": "unread"},
		func(e *engine.Engine, p engine.GetInboxParams) (engine.GetInboxResult, error) {
			return e.GetInbox(ctx, p)
		},
		engine.GetInboxParams{Caller: d.caller(b), Where: here, State: "unread"})

	stands := func(res doc, want string) {
		t.Helper()
		is(res["messages"].([]any)[0].(doc), "state", want)
	}

	stands(others[b].ok("read_message", doc{"message_ids": []any{id}}), "read")
	stands(others[b].ok("ack_message", doc{"message_ids": []any{id}}), "acked")
	second := s.ok("send_message", doc{"to": []string{string(b)}, "body": "a mistake"})
	if w := s.ok("withdraw_message", doc{"message_id": second["message_id"]}); len(w["withdrawn_from"].([]any)) != 1 {
		t.Errorf("withdrawn: %v", w)
	}

	if r := s.ok("get_roster", doc{}); r["others"] == nil {
		t.Errorf("the roster: %v", r)
	}

	saved := s.ok("save_draft", fence(doc{"text": "half of it"}))
	is(saved, "turn_id", 1.0)
	note := s.ok("add_note", doc{"body": "the tests need a database"})

	equal(s, "list_notes", doc{},
		func(e *engine.Engine, p engine.ListNotesParams) (engine.ListNotesResult, error) {
			return e.ListNotes(ctx, p)
		},
		engine.ListNotesParams{Caller: me, Where: here})

	is(s.ok("resolve_note", doc{"note_id": note["note_id"]}), "resolved_by", string(agent))
	equal(s, "get_room_events", doc{"limit": 3},
		func(e *engine.Engine, p eventlog.GetRoomEventsParams) (eventlog.EventsResult, error) {
			return e.Log.GetRoomEvents(ctx, p)
		},
		eventlog.GetRoomEventsParams{Caller: me, Where: here, EventFilter: eventlog.EventFilter{Limit: 3}})

	equal(s, "wait_for_events", doc{"target": "any", "limit": 2},
		func(e *engine.Engine, p eventlog.WaitForEventsParams) (eventlog.EventsResult, error) {
			return e.Log.WaitForEvents(ctx, p)
		},
		eventlog.WaitForEventsParams{
			Caller: me, Where: here, EventFilter: eventlog.EventFilter{Target: "any", Limit: 2},
		})

	is(s.ok("reserve_paths", doc{"paths": []string{"src/*.go"}})["reservations"].([]any)[0].(doc), "pattern",
		"src/*.go")
	equal(s, "list_reservations", doc{},
		func(e *engine.Engine, p scopes.ListReservationsParams) (scopes.ListReservationsResult, error) {
			return e.Scopes.ListReservations(ctx, p)
		},
		scopes.ListReservationsParams{Caller: me, Where: here})

	equal(others[b], "may_edit", doc{"paths": []string{filepath.Join(d.work, "src", "a.go")}},
		func(e *engine.Engine, p guard.MayEditParams) (guard.MayEditResult, error) {
			return e.Guard.MayEdit(ctx, p)
		},
		guard.MayEditParams{Caller: d.caller(b), Where: here, Paths: []string{filepath.Join(d.work, "src", "a.go")}})

	equal(s, "list_calls", doc{"all": true},
		func(e *engine.Engine, p restore.ListCallsParams) (restore.ListCallsResult, error) {
			return e.Guard.Restorer.ListCalls(ctx, p)
		},
		restore.ListCallsParams{Caller: me, Where: here, All: true})

	s.called["undo_call"] = true // no hook has seen a call here
	if none, failed := s.call("undo_call", doc{}); !failed || none["error"] != "not_found" {
		t.Errorf("no call has changed a file, but the undo answers %v", none)
	}
	if free := s.ok("release_paths", doc{"all": true})["released"].([]any); len(free) != 1 {
		t.Errorf("given free: %v", free)
	}

	is(s.ok("release_stick", fence(doc{"handoff": handoff})), "turn_id", grant["turn_id"])
	is(s.ok("release_stick", fence(doc{"handoff": handoff})), "already", true)
	grant = others[b].ok("wait_for_turn", doc{"max_wait_ms": 0})
	is(grant, "status", "your_turn")
	passed := fence(doc{"to_agent_id": "claude:a", "handoff": handoff})
	is(others[b].ok("pass_stick", passed), "reserved_for", string(agent))
	is(s.ok("wait_for_turn", doc{"max_wait_ms": 0}), "status", "your_turn")
	grant = others[b].ok("takeover_stick", doc{"reason": "ann said so", "operator_requested": true})
	is(grant, "taken_from", string(agent))

	d.task("lexer")
	is(s.ok("worker_start", doc{"task_id": "lexer"}), "state", "WORKING")
	is(s.ok("worker_heartbeat", doc{"task_id": "lexer"}), "state", "WORKING")
	is(s.ok("worker_context", doc{"task_id": "lexer"}), "worker", string(agent))
	err := os.WriteFile(filepath.Join(d.work, "worktrees", "lexer", "lexer"), []byte("a line\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}

	d.git("-C", "worktrees/lexer", "add", ".")
	d.git("-C", "worktrees/lexer", "commit", "--quiet", "--message", "the lexer")
	is(s.ok("worker_done", doc{"task_id": "lexer"}), "state", "IN_REVIEW")
	comment := others[b].ok("worker_comment", doc{
		"task_id": "lexer", "at": "lexer:1", "body": "why?", "head": "feat/lexer",
	})
	is(comment, "drafts", float64(1))
	is(others[b].ok("worker_comment", doc{"task_id": "lexer", "delete": comment["comment"].(doc)["comment_id"]}),
		"drafts", float64(0))
	is(s.ok("worker_fail", doc{"task_id": "lexer", "reason": "it can't be done"}), "state", "FAILED")
	d.taskForLater("parser")
	is(s.ok("worker_next", doc{}), "task_id", "parser")

	is(s.ok("set_room_policy", doc{"set": []string{"order=sequence"}}), "changed", true)
	if order := s.ok("reorder_members", doc{"order": []string{string(c)}})["order"].([]any); order[0] != string(c) {
		t.Errorf("the order is %v", order)
	}

	is(s.ok("kick_member", doc{"agent_id": string(c), "force": true, "reason": "ann said so"}), "agent_id", string(c))
	is(others[e].ok("leave_room", doc{}), "agent_id", string(e))
	others[b].ok("close_room", doc{"handoff": handoff})
	is(s.ok("get_room_state", doc{}), "state", "closed")

	for _, row := range tools() {
		if !s.called[row.name] {
			t.Errorf("nothing calls the tool %s", row.name)
		}
	}
}

// TestBadArguments: a model that makes a wrong call learns what is wrong, in the same fields as on every
// other surface, and nothing changes.
func TestBadArguments(t *testing.T) {
	d := newDesk(t)
	room := string(d.join(agent))
	fence := `"room_id":"` + room + `","lease_id":"x","expected_turn_id":1,`
	for _, c := range []struct {
		name, tool, arguments string
		code, field           string
	}{
		{"an unknown parameter", "join_path", `{"pth":"."}`, "usage", "pth"},
		{"a hidden parameter", "get_room_state", `{"path":"."}`, "usage", "path"},
		{"the caller", "join_path", `{"Caller":{}}`, "usage", "Caller"},
		{"a parameter in capitals", "join_path", `{"Context_Path":"."}`, "usage", "Context_Path"},
		{"a number for a text", "join_path", `{"context_path":1}`, "usage", "context_path"},
		{"a text for a number", "wait_for_turn", `{"max_wait_ms":"5"}`, "usage", "max_wait_ms"},
		{"a fraction", "wait_for_turn", `{"max_wait_ms":0.5}`, "usage", "max_wait_ms"},
		{"an object for a list", "send_message", `{"to":{"name":"b"},"body":"x"}`, "usage", "to"},
		{"a wrong element", "ack_message", `{"message_ids":["1"]}`, "usage", "message_ids"},
		{"a text for an object", "release_stick", `{` + fence + `"handoff":"done"}`, "usage", "handoff"},
		{
			"a wrong type within",
			"release_stick",
			`{` + fence + `"handoff":{"status":1,"next_action":"x"}}`,
			"usage",
			"handoff.status",
		},
		{
			"an unknown field within",
			"release_stick",
			`{` + fence + `"handoff":{"state":"x","next_action":"x"}}`,
			"usage",
			"state",
		},
		{
			"an incomplete handoff",
			"release_stick",
			`{` + fence + `"handoff":{"status":"x"}}`,
			"invalid_handoff",
			"next_action",
		},
		{"a missing parameter", "takeover_stick", `{}`, "usage", "reason"},
		{"null for a required parameter", "takeover_stick", `{"reason":null}`, "usage", "reason"},
		{"an override of another type", "join_path", `{"agent_id_override":7}`, "usage", "agent_id_override"},
		{"an override for one call", "wait_for_turn", `{"agent_id_override":"codex:b"}`, "usage", "agent_id_override"},
		{"a list", "list_rooms", `[]`, "usage", "arguments"},
		{"a text", "list_rooms", `"."`, "usage", "arguments"},
		{"null", "list_rooms", `null`, "usage", "arguments"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := d.wire()
			w.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + c.tool + `","arguments":` + c.arguments + `}}`)
			m := w.read()
			got := m.answer()
			if !m.Result.IsError ||
				got["error"] != c.code ||
				got["field"] != c.field ||
				got["message"] == "" ||
				got["message"] == nil {
				t.Errorf("%+v, want %s of %s", m, c.code, c.field)
			}
		})
	}

	before, err := d.engine.Log.GetRoomEvents(t.Context(), eventlog.GetRoomEventsParams{
		Caller: d.caller(agent), Where: d.at(),
	})
	if err != nil || len(before.Events) != 1 { // the join
		t.Errorf("%d events, %v", len(before.Events), err)
	}

	w := d.wire()
	for _, arguments := range []string{``, `,"arguments":{}`, `,"arguments":{"room_id":null}`} {
		w.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_room_policy"` + arguments + `}}`)
		if m := w.read(); m.Result.IsError || m.answer()["room_id"] != room {
			t.Errorf("nothing is missing in %q: %+v", arguments, m)
		}
	}
}
