package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"talkingstick/stick"
)

// speaks returns the agent that a server's calls act as.
func speaks(t *testing.T, c *mcp.ClientSession) stick.AgentID {
	t.Helper()
	got := ask(t, c, "get_room_state", object{})
	if got["error"] != nil {
		t.Fatal(got)
	}
	return stick.AgentID(got["agent_id"].(string))
}

// hookInput is what Claude Code sends to a hook.
func hookInput(w *world, event, session, more string) string {
	return fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"cwd":%q%s}`, event, session, w.work, more)
}

// status returns whether a member takes part, has left or was removed.
func (w *world) status(a stick.AgentID) string {
	w.t.Helper()
	for _, m := range said(w.t, ok(w.t, w.person("state", "--all"))).Members {
		if m.Agent == a {
			return m.Status
		}
	}

	return "unknown"
}

// nameOf returns what people call an agent of the room.
func (w *world) nameOf(a stick.AgentID) string {
	w.t.Helper()
	for _, m := range said(w.t, ok(w.t, w.person("state", "--all"))).Members {
		if m.Agent == a {
			return m.Name
		}
	}

	w.t.Fatalf("%s isn't a member", a)
	return ""
}

// TestClearedSession: after /clear the harness's process and its MCP server live on, with another session.
// The old session's member has left, and its turn is over. The server acts for the new session, although its
// environment names the old one.
func TestClearedSession(t *testing.T) {
	w := newWorld(t)
	n := w.nest("claude", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=one")
	first := n.tt("join").Agent
	server := n.server("")
	if a := speaks(t, server); a != first {
		t.Fatalf("the server speaks for %s, and the command line for %s", a, first)
	}

	n.hook("claude", hookInput(w, "SessionStart", "one", `,"source":"startup"`))
	grant := ask(t, server, "wait_for_turn", object{"max_wait_ms": 0})
	if grant["status"] != "your_turn" {
		t.Fatal(grant)
	}

	n.hook("claude", hookInput(w, "SessionEnd", "one", `,"reason":"clear"`))
	said := n.hook("claude", hookInput(w, "SessionStart", "two", `,"source":"clear"`))
	second := speaks(t, server)
	if second == first || !strings.Contains(said, "you are "+w.nameOf(second)+" ") {
		t.Errorf("after /clear the server speaks for %s, and the hook said %s", second, said)
	}
	if got := w.status(first); got != "left" {
		t.Errorf("the old member is %s", got)
	}
	if a := n.tt("whoami").Agent; a != first { // a shell of the old session is still the old member
		t.Errorf("the old session is %s", a)
	}

	n.sh("export CLAUDE_CODE_SESSION_ID=two")
	if a := n.tt("join").Agent; a != second {
		t.Errorf("the command line is %s, and the server %s", a, second)
	}

	late := ask(t, server, "release_stick", object{
		"room_id": grant["room_id"], "lease_id": grant["lease_id"], "expected_turn_id": grant["turn_id"],
		"handoff": object{"status": "x", "next_action": "x"},
	})

	if late["error"] != "stale_lease" {
		t.Errorf("the old session's turn was ended by the new one: %v", late)
	}
	if got := ask(t, server, "wait_for_turn", object{"max_wait_ms": 0}); got["status"] != "your_turn" ||
		got["agent_id"] != string(second) {
		t.Errorf("%v", got)
	}

	// Back to the old session, without a hook that reports it.
	n.sh("export CLAUDE_CODE_SESSION_ID=one")
	if a := n.tt("join").Agent; a != first {
		t.Errorf("the old session is %s", a)
	}
	if a := speaks(t, server); a != first {
		t.Errorf("after the old session was resumed the server speaks for %s", a)
	}
	w.healthy()
}

// TestSessionKnownLater: a harness names its session only to hooks, and its agent joined before the first
// hook. Hooks, shell and server are one member, and another one after /clear.
func TestSessionKnownLater(t *testing.T) {
	w := newWorld(t)
	n := w.nest("claude")
	first := n.tt("join").Agent
	server := n.server("")
	n.hook("claude", hookInput(w, "PostToolUse", "one", ""))

	for range 2 {
		if a, b := n.tt("whoami").Agent, speaks(t, server); a != first || b != first {
			t.Errorf("the shell is %s, the server %s, and %s has joined", a, b, first)
		}
		n.hook("claude", hookInput(w, "SessionStart", "one", `,"source":"compact"`))
	}

	n.hook("claude", hookInput(w, "SessionEnd", "one", `,"reason":"clear"`))
	if got := w.status(first); got != "left" {
		t.Errorf("the old member is %s", got)
	}

	n.hook("claude", hookInput(w, "SessionStart", "two", `,"source":"clear"`))
	second := n.tt("join").Agent
	if a := speaks(t, server); a != second || second == first {
		t.Errorf("after /clear the shell is %s and the server %s; before it was %s", second, a, first)
	}
	w.healthy()
}

// TestResumedStaysApart: a session that was resumed beside the running one is another member. It stays that
// member, and keeps its turn, when the other ends.
func TestResumedStaysApart(t *testing.T) {
	w := newWorld(t)
	env := []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=one"}
	one := w.nest("claude", env...)
	first := one.tt("join").Agent
	two := w.nest("claude", env...)
	server := two.server("")
	if a := stick.AgentID(ask(t, server, "join_path", object{})["agent_id"].(string)); a != first+"-2" {
		t.Fatalf("the second is %s", a)
	}

	said := two.hook("claude", hookInput(w, "SessionStart", "one", `,"source":"resume"`))
	if !strings.Contains(said, "you are "+w.nameOf(first+"-2")+" ") ||
		!strings.Contains(said, "here you are another member") {
		t.Errorf("it was told %s", said)
	}
	if a := two.tt("try"); a.Status != "your_turn" || a.Agent != first+"-2" {
		t.Fatal(a)
	}

	one.kill()
	if a, b := two.tt("whoami").Agent, speaks(t, server); a != first+"-2" || b != first+"-2" {
		t.Errorf("when the first had ended, the second became %s and %s", a, b)
	}

	two.tt(`release --status "it is done" --next-action "look at it"`)
	two.hook("claude", hookInput(w, "SessionEnd", "one", `,"reason":"other"`))
	if got := w.status(first + "-2"); got != "left" {
		t.Errorf("after its end the second is %s", got)
	}

	three := w.nest("claude", env...) // the session, resumed when it runs nowhere else
	if a := three.tt("join").Agent; a != first {
		t.Errorf("resumed alone it is %s", a)
	}
	w.healthy()
}

// TestHooksOfSubAgents: a sub-agent's hooks don't make it a member. They end nothing of its parent's, and
// take none of the parent's events.
func TestHooksOfSubAgents(t *testing.T) {
	for _, h := range []string{"claude", "codex"} {
		w := newWorld(t)
		n := w.nest(h)
		n.hook(h, hookInput(w, "SessionStart", "one", `,"source":"startup"`))
		me := n.tt("join").Agent
		n.hook(h,
			hookInput(w, "SubagentStart", "one", `,"agent_id":"a14a743d142f450e7","agent_type":"general-purpose"`))
		ok(t, w.person("msg", "send", string(me), "hello"))
		n.hook(h,
			hookInput(w, "PostToolUse", "one",
				`,"agent_id":"a14a743d142f450e7","agent_type":"general-purpose","tool_name":"Bash"`))
		n.hook(h, hookInput(w, "SubagentStop", "one", `,"agent_id":"a14a743d142f450e7","stop_hook_active":false`))
		said := n.hook(h, hookInput(w, "PostToolUse", "one", `,"tool_name":"Bash"`))
		if !strings.Contains(said, "hello") {
			t.Errorf("%s: what is new for the session wasn't told to it: %q", h, said)
		}
		if got := w.status(me); got != "active" {
			t.Errorf("%s: after the sub-agent's end its parent is %s", h, got)
		}

		for _, m := range w.members() {
			if m != me && !m.Human() {
				t.Errorf("%s: %s is a member, too", h, m)
			}
		}
	}
}

// members returns all members that ever joined.
func (w *world) members() (out []stick.AgentID) {
	w.t.Helper()
	for _, m := range said(w.t, ok(w.t, w.person("state", "--all"))).Members {
		out = append(out, m.Agent)
	}
	return out
}
