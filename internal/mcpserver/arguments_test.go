package mcpserver

import (
	"path/filepath"
	"testing"

	"talkingstick/internal/params"
)

// TestArgumentsAsModelsWriteThem: a single value is a list of one, and a contract is an object or flat.
func TestArgumentsAsModelsWriteThem(t *testing.T) {
	d := newDesk(t)
	room := d.join(other, agent)
	c := d.client()
	id := c.ok("send_message", doc{"to": string(other), "body": "one"})["message_id"]
	if id == nil {
		t.Fatal("a single recipient isn't taken")
	}

	sent := c.ok("send_message", doc{
		"to": string(other), "category": "BLOCKED",
		"contract": doc{"blocker": "no key", "requested_action": "get one"}, "urgency": "high",
	})
	got := c.ok("get_message", doc{"message_id": sent["message_id"]})
	if got["blocker"] != "no key" || got["requested_action"] != "get one" || got["urgency"] != "high" {
		t.Errorf("the contract is %v", got)
	}
	if res, failed := c.call("send_message", doc{"to": string(other), "contract": doc{"blocked_by": "x"}}); !failed ||
		res["field"] != "blocked_by" {
		t.Errorf("an unknown field of a contract: %v", res)
	}
	if res, failed := c.call("send_message", doc{"to": string(other), "contract": "x"}); !failed ||
		res["field"] != params.Contract {
		t.Errorf("a contract that is no object: %v", res)
	}

	mine := d.say(other, agent, "two")
	if res := c.ok("ack_message", doc{"message_ids": mine}); len(res["messages"].([]any)) != 1 {
		t.Errorf("a single message is %v", res)
	}

	turn := c.ok("wait_for_turn", doc{"max_wait_ms": 0})
	c.ok("release_stick", doc{
		"room_id": string(room), "lease_id": turn["lease_id"], "expected_turn_id": turn["turn_id"],
		"handoff": doc{
			"status": "done", "next_action": "go", "open_questions": "which?",
			"artifacts": doc{"path": ".", "role": "review", "lines": []int{9}},
		},
	})

	turn = c.ok("wait_for_turn", doc{"max_wait_ms": 0})
	bad := doc{
		"room_id": string(room), "lease_id": turn["lease_id"], "expected_turn_id": turn["turn_id"],
		"handoff": doc{
			"status": "done", "next_action": "go",
			"artifacts": doc{"path": ".", "role": "review", "lines": []int{1, 2, 3}},
		},
	}

	if res, failed := c.call("release_stick", bad); !failed ||
		res["error"] != "invalid_handoff" ||
		res["field"] != "artifacts" {
		t.Errorf("three numbers for lines: %v", res)
	}

	for given, says := range map[any]string{
		1.5:    "max_wait_ms of wait_for_turn must be a whole number",
		"soon": "max_wait_ms of wait_for_turn must be a whole number",
	} {
		if res, failed := c.call("wait_for_turn", doc{"max_wait_ms": given}); !failed ||
			res["message"] != says ||
			res["field"] != "max_wait_ms" {
			t.Errorf("a wait of %v: %v", given, res)
		}
	}

	for _, tool := range []string{"wait_for_turn", "wait_for_events"} {
		if res, failed := c.call(tool, doc{"max_wait_ms": -5}); !failed ||
			res["error"] != "usage" ||
			res["field"] != "max_wait_ms" {
			t.Errorf("%s with less than no time: %v", tool, res)
		}
	}
}

// TestPathsOfARoom: a relative path is seen from the room that is named.
func TestPathsOfARoom(t *testing.T) {
	d := newDesk(t)
	room := d.join(agent)
	for _, path := range []string{"src/a.go", filepath.Join(d.work, "src", "a.go")} {
		if res := d.client().ok("may_edit", doc{"room_id": string(room), "paths": path}); res["room_id"] != string(room) ||
			res["allowed"] != true {
			t.Errorf("%s: %v", path, res)
		}
	}

	if res, failed := d.client().call("may_edit", doc{"room_id": "room-none", "paths": "a"}); !failed {
		t.Errorf("a room that isn't there: %v", res)
	}
}
