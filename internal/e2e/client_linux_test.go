package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/stick"
)

// client is a program that speaks MCP through the SDK and isn't known to tt. It starts tt mcp as its server.
type client struct{ *mcp.ClientSession }

func newClient() client {
	server := exec.Command("tt", "mcp", "--tools", "all")
	server.Stderr = os.Stderr
	c, err := mcp.NewClient(&mcp.Implementation{Name: os.Getenv(clientEnv), Version: "1"}, nil).
		Connect(context.Background(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		panic(err)
	}

	return client{c}
}

func (c client) serve(q request, answer func(reply)) {
	res, err := c.CallTool(context.Background(),
		&mcp.CallToolParams{Name: q.Args[0], Arguments: json.RawMessage(q.Args[1])})
	if err != nil {
		answer(reply{ID: q.ID, Done: true, Exit: 1, Err: err.Error()})
		return
	}
	answer(reply{ID: q.ID, Done: true, Out: res.Content[0].(*mcp.TextContent).Text})
}

// calls has a client call a tool, and doesn't wait for its answer.
func (h *agent) calls(tool string, arguments object) *run {
	h.w.t.Helper()
	b, err := json.Marshal(arguments)
	if err != nil {
		h.w.t.Fatal(err)
	}
	return h.do(request{Args: []string{tool, string(b)}})
}

// TestTwoUnknownClients: programs that speak MCP and aren't known to tt, each with a server of its own, are
// as many agents, also two of one name. One of them is given the turn, and its release wakes another with the
// handoff. None is a person.
func TestTwoUnknownClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var clients []*agent
	names := map[stick.AgentID]bool{}

	var grant answer
	for i, name := range []string{"cursor", "windsurf", "cursor"} {
		c := w.start("", "client", []string{clientEnv + "=" + name})
		clients = append(clients, c)
		a := said(t, c.calls("wait_for_turn", object{"max_wait_ms": 0}).wait())
		if (a.Status == "your_turn") != (i == 0) || !strings.HasPrefix(string(a.Agent), name+":") || names[a.Agent] {
			t.Fatalf("after %v, the client %d is answered %+v", names, i+1, a)
		}

		names[a.Agent] = true
		if i == 0 {
			grant = a
		}
	}

	said(t, clients[0].calls("set_room_policy", object{"set": []string{"enforce=stick"}}).wait())
	for i, c := range clients {
		if a := said(t, c.calls("set_room_policy", object{"set": []string{"enforce=off"}}).wait()); a.Error != stick.CodePersonOnly {
			t.Errorf("the client %d relaxes a policy: %+v", i+1, a)
		}
	}

	next := clients[1].calls("wait_for_turn", object{})
	end := object{
		"room_id": grant.Room, "lease_id": grant.Lease, "expected_turn_id": grant.Turn,
		"handoff": object{"status": "half is done", "next_action": "do the rest"},
	}

	if a := said(t, clients[2].calls("release_stick", end).wait()); a.Error == "" {
		t.Errorf("a client of the same name ends the turn: %+v", a)
	}
	if a := said(t, clients[0].calls("release_stick", end).wait()); a.Error != "" {
		t.Errorf("the holder's release is refused: %+v", a)
	}
	if a := said(t, next.wait()); a.Status != "your_turn" || a.Handoff == nil || a.Handoff.NextAction != "do the rest" {
		t.Errorf("the client that waited is answered %+v", a)
	}
	w.healthy()
}

// TestTwoInspectors: two MCP inspectors, each of which starts a server of its own, wait for the turn at once,
// as two agents. The holder's release gives it to one of them.
func TestTwoInspectors(t *testing.T) {
	t.Parallel()
	program := realharness.Inspector(t)
	w := newWorld(t)
	holder := w.start("codex", "runner", nil)
	ok(t, holder.tt("try"))

	ended := make(chan []byte, 2)
	for range 2 {
		c := exec.Command(program, "--cli", filepath.Join(w.bin, "tt"), "mcp", "--method", "tools/call",
			"--tool-name", "wait_for_turn")
		var out bytes.Buffer
		c.Dir, c.Stdout = w.work, &out
		c.Env = overlay(w.env, []string{"PATH=" + w.bin + ":" + os.Getenv("PATH")}) // node is there
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}

		over := make(chan struct{})
		go func() {
			c.Wait() // its answer says whether it succeeded
			ended <- out.Bytes()
			close(over)
		}()

		t.Cleanup(func() {
			syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			<-over
		})
	}

	soon(t, "two inspectors wait", func() bool { return len(w.waiting()) == 2 })
	waiting := w.waiting()
	ok(t, holder.tt("release", "--status", "half is done", "--next-action", "do the rest"))
	var a answer
	if err := json.Unmarshal([]byte(result(t, string(<-ended))), &a); err != nil {
		t.Fatal(err)
	}
	if a.Status != "your_turn" || a.Turn != 2 || !waiting[a.Agent] {
		t.Errorf("of %v, one is answered %+v", waiting, a)
	}
}

// waiting returns the members that wait for the turn.
func (w *world) waiting() map[stick.AgentID]bool {
	w.t.Helper()
	out := map[stick.AgentID]bool{}
	for _, m := range said(w.t, ok(w.t, w.person("state"))).Members {
		if m.Listening == stick.Work {
			out[m.Agent] = true
		}
	}

	return out
}
