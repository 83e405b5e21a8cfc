package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/harness"
)

// again returns the same harness, with a new session at the model API.
func (s *stage) again(a *realharness.Agent, name string, script modelapi.Script) (*realharness.Agent, *modelapi.Session) {
	s.t.Helper()
	session := s.api.Session(name, script)
	b := *a
	b.Config.API = session.URL()
	return &b, session
}

// finished fails the test unless a harness has played all of its script.
func (s *stage) finished(r realharness.Result) {
	s.t.Helper()
	if r.Exit != 0 || !strings.Contains(r.Text, "done") {
		s.t.Errorf("%s", r)
	}
}

// senders returns the agents that sent messages, in order.
func (s *stage) senders() (out []string) {
	s.t.Helper()
	var r struct {
		Events []struct {
			From string `json:"from_agent_id"`
		} `json:"events"`
	}

	if err := json.Unmarshal([]byte(s.run("events", "--event", "message_sent", "--json")), &r); err != nil {
		s.t.Fatal(err)
	}
	for _, e := range r.Events {
		out = append(out, e.From)
	}
	return out
}

// speak has a model join by the shell, then read the room with one tool and send a message with another.
// Without MCP the shell does it all.
func (s *stage) speak(h *realharness.Harness) []modelapi.Script {
	send := modelapi.Shell(s.tt + " msg send room hello")
	state, first := modelapi.MCP("tt", "get_room_state", map[string]any{}), modelapi.MCP("tt", "send_message",
		map[string]any{"to": []string{"room"}, "body": "hello"})
	if !hasMCP(h) {
		state, first = modelapi.Shell(s.tt+" state --all"), send
	}
	return []modelapi.Script{
		modelapi.Do(modelapi.Shell(s.tt + " join")),
		modelapi.Do(state),
		modelapi.Do(first),
		modelapi.Do(send),
	}
}

// hasMCP reports whether a harness can start MCP servers.
func hasMCP(h *realharness.Harness) bool {
	row, _ := harness.ByName(h.Name)
	return len(row.Clients) > 0 || row.Setup.Server.User != ""
}

// TestOneSessionIsOneMember: the command line, the hooks and the MCP server of one session speak for
// one member.
func TestOneSessionIsOneMember(t *testing.T) {
	for _, h := range played(t, realharness.All, realharness.Claude, realharness.OpenCode) {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")
			a, session := s.prepare(h, modelapi.Steps(append(s.speak(h), modelapi.Say("done"))...))
			s.finished(a.Run(t, "Please.", s.options(h)))
			members := s.agents(h.Name)
			if len(members) != 1 {
				t.Fatalf("%s is %d members: %v\n%s",
					h.Name, len(members), members, strings.Join(results(session), "\n---\n"))
			}
			if senders := s.senders(); fmt.Sprint(senders) != fmt.Sprint([]string{members[0], members[0]}) {
				t.Errorf("messages came from %v, and the member is %s", senders, members[0])
			}
			// The server says the id, the command line the name.
			isKnown := func(said string) bool {
				return strings.Contains(said, members[0]) || strings.Contains(said, s.nameOf(members[0]))
			}
			if got := results(session); len(got) < 2 || !isKnown(got[1]) {
				t.Errorf("the server knows another agent than %s:\n%s", members[0], strings.Join(got, "\n---\n"))
			}
			if said := session.Requests()[0].Text(); !strings.Contains(said, "Talking Stick: you are "+s.nameOf(members[0])+" ") {
				t.Errorf("the briefing was for another agent than %s:\n%s", members[0], said)
			}
		})
	}
}

// TestTwoSessionsAreTwoMembers: two sessions of one harness run at once, as two members.
func TestTwoSessionsAreTwoMembers(t *testing.T) {
	for _, h := range played(t, realharness.All, realharness.Codex) {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")
			one, two, running := make(chan struct{}), make(chan struct{}), make(chan struct{})
			script := func(mine chan<- struct{}, other <-chan struct{}) modelapi.Script {
				steps := s.speak(h)
				if mine == one {
					steps[0] = modelapi.Seen(running, steps[0])
				}
				steps[2] = modelapi.Seen(mine, modelapi.When(other, steps[2])) // both have joined, and both run
				return modelapi.Steps(append(steps, modelapi.Say("done"))...)
			}

			a, _ := s.prepare(h, script(one, two))
			b, _ := s.again(a, "second", script(two, one))
			first := a.Start(t, "Please.", s.options(h))
			select {
			case <-running: // the harness has made its own files: OpenCode fails when two make its database at once
			case <-first.Done():
				t.Fatalf("it ended before it asked its model: %s", first.Wait())
			}

			second := b.Start(t, "Please.", s.options(h))
			s.finished(first.Wait())
			s.finished(second.Wait())
			members, senders := s.agents(h.Name), s.senders()
			slices.Sort(members)
			slices.Sort(senders)
			if len(members) != 2 ||
				fmt.Sprint(senders) != fmt.Sprint([]string{members[0], members[0], members[1], members[1]}) {
				t.Errorf("members %v, senders %v", members, senders)
			}
		})
	}
}

// TestResumedElsewhere: a session of Claude Code that is resumed while it still runs is another member, and
// its model learns that.
func TestResumedElsewhere(t *testing.T) {
	onlyInPairs(t, realharness.Claude)

	const id = "0b6f7b1e-8a43-4d4c-9f6d-2f6a3a0c9d11"
	s := newStage(t)
	s.run("join")
	joined, over := make(chan struct{}), make(chan struct{})
	a, _ := s.prepare(realharness.Claude, modelapi.Steps(
		modelapi.Do(modelapi.Shell(s.tt+" join")),
		modelapi.Seen(joined, modelapi.When(over, modelapi.Say("done"))),
	))

	b, resumed := s.again(a, "resumed", modelapi.Steps(append(s.speak(realharness.Claude), modelapi.Say("done"))...))
	o := s.options(realharness.Claude)
	o.Args = []string{"--session-id", id}

	first := a.Start(t, "Please.", o)
	select {
	case <-joined:
	case <-first.Done():
		t.Fatal(first.Wait())
	}

	o.Args = []string{"--resume", id}
	s.finished(b.Run(t, "Please go on.", o))
	close(over)
	s.finished(first.Wait())
	members := s.agents("claude")
	if len(members) != 2 || members[1] != members[0]+"-2" {
		t.Fatalf("members %v", members)
	}
	if senders := s.senders(); fmt.Sprint(senders) != fmt.Sprint([]string{members[1], members[1]}) {
		t.Errorf("messages came from %v", senders)
	}
	if said := resumed.Requests()[0].Text(); !strings.Contains(said, "here you are another member") {
		t.Errorf("it wasn't told:\n%s", said)
	}
}

// inside is a command by which the shell of a harness runs another harness.
func (s *stage) inside(a *realharness.Agent) modelapi.Call {
	s.t.Helper()
	o := s.options(a.Harness)
	o.Sandbox = ""
	c, err := a.Command(context.Background(), "Please.", o)
	if err != nil {
		s.t.Fatal(err)
	}

	var line strings.Builder
	for _, word := range append(append([]string{"env"}, c.Env...), c.Args...) {
		line.WriteString("'" + strings.ReplaceAll(word, "'", `'\''`) + "' ")
	}
	return modelapi.Shell(line.String() + "</dev/null")
}

// TestHarnessInAHarness: Codex that Claude Code runs in its shell is an agent of its own.
func TestHarnessInAHarness(t *testing.T) {
	onlyInPairs(t, realharness.Claude, realharness.Codex)

	s := newStage(t)
	s.run("join")
	inner, session := s.prepare(realharness.Codex,
		modelapi.Steps(append(s.speak(realharness.Codex), modelapi.Say("done"))...))
	steps := append([]modelapi.Script{modelapi.Do(s.inside(inner))}, s.speak(realharness.Claude)...)
	outer, _ := s.prepare(realharness.Claude, modelapi.Steps(append(steps, modelapi.Say("done"))...))
	s.finished(outer.Run(t, "Please.", s.options(realharness.Claude)))
	claude, codex := s.agents("claude"), s.agents("codex")
	if len(claude) != 1 || len(codex) != 1 {
		t.Fatalf("members %v and %v\n%s", claude, codex, strings.Join(results(session), "\n---\n"))
	}
	if senders := s.senders(); fmt.Sprint(senders) != fmt.Sprint([]string{codex[0], codex[0], claude[0], claude[0]}) {
		t.Errorf("messages came from %v", senders)
	}
}

// TestSubAgents: the sub-agents of a session act as their parent.
func TestSubAgents(t *testing.T) {
	harnesses := played(t,
		[]*realharness.Harness{realharness.Claude, realharness.Codex, realharness.Copilot, realharness.Qwen},
		realharness.Claude)

	const mark = "THE PART OF THE SUB-AGENT"
	for _, c := range []struct {
		h     *realharness.Harness
		model string
		spawn modelapi.Call
		wait  func(r *modelapi.Request) modelapi.Call // Codex continues at once, and asks for the outcome later
	}{
		{realharness.Claude, "", modelapi.Named("Agent", map[string]any{
			"description": "a part", "prompt": mark, "subagent_type": "general-purpose", "run_in_background": false,
		}), nil},
		{realharness.Codex, "unknown", modelapi.Named("multi_agent_v1__spawn_agent",
			map[string]any{"message": mark}), func(r *modelapi.Request) modelapi.Call {
			var spawned struct {
				ID string `json:"agent_id"`
			}
			json.Unmarshal([]byte(r.LastResult().Text), &spawned)
			return modelapi.Named("multi_agent_v1__wait_agent", map[string]any{
				"targets": []string{spawned.ID}, "timeout_ms": 120000,
			})
		}},
		{realharness.Copilot, "", modelapi.Named("task", map[string]any{
			"description": "a part", "prompt": mark, "agent_type": "general-purpose", "name": "part", "mode": "sync",
		}), nil},
		{realharness.Qwen, "", modelapi.Named("agent", map[string]any{
			"description": "a part", "prompt": mark, "subagent_type": "general-purpose", "run_in_background": false,
		}), nil},
	} {
		if !slices.Contains(harnesses, c.h) {
			continue
		}

		t.Run(c.h.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")
			sub := modelapi.Steps(append(s.speak(c.h), modelapi.Say("done"))...)
			steps := []modelapi.Script{modelapi.Do(c.spawn)}
			if c.wait != nil {
				steps = append(steps, func(_ context.Context, r *modelapi.Request) (modelapi.Reply, error) {
					return modelapi.Reply{Calls: []modelapi.Call{c.wait(r)}}, nil
				})
			}

			steps = append(append(steps, s.speak(c.h)...), modelapi.Say("done"))
			parent := modelapi.Steps(steps...)
			a, session := s.prepare(c.h, func(ctx context.Context, r *modelapi.Request) (modelapi.Reply, error) {
				for _, m := range r.Messages {
					if m.Role == modelapi.User && strings.Contains(m.Text, mark) {
						return sub(ctx, r)
					}
				}
				return parent(ctx, r)
			})

			a.Config.Model = first(c.model, a.Config.Model)
			o := s.options(c.h)
			o.Sandbox = ""
			s.finished(a.Run(t, "Please.", o))
			members := s.agents(c.h.Name)
			if len(members) != 1 {
				t.Fatalf("members %v\n%s", members, strings.Join(results(session), "\n---\n"))
			}

			m := members[0]
			if senders := s.senders(); fmt.Sprint(senders) != fmt.Sprint([]string{m, m, m, m}) {
				t.Errorf("messages came from %v\n%s", senders, strings.Join(results(session), "\n---\n"))
			}
		})
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestSandboxOfCodex: after tt install, the command line works inside the sandbox. Without it, the command
// line names the ways out, one of which is the MCP tools.
func TestSandboxOfCodex(t *testing.T) {
	realharness.Require(t, realharness.Codex)

	s := newStage(t)
	s.run("join")
	a, session := s.prepare(realharness.Codex, modelapi.Steps(
		modelapi.Do(modelapi.Shell(s.tt+" join")),
		modelapi.Do(modelapi.Shell(s.tt+" wait --turn")),
		modelapi.Do(modelapi.Shell(s.tt+` release --status "it is done" --next-action "look at it"`)),
		modelapi.Say("done"),
	))

	s.finished(a.Run(t, "Please.", s.options(realharness.Codex)))
	if st := s.state(); st.TurnID != 1 || st.Owner != nil || len(s.agents("codex")) != 1 {
		t.Errorf("%+v\n%s", st, strings.Join(results(session), "\n---\n"))
	}

	s.run("uninstall", "codex")
	server := fmt.Sprintf("[mcp_servers.tt]\ncommand = %q\nargs = [\"mcp\"]\n", s.tt)
	var room, lease string
	var turn int
	granted := func(_ context.Context, r *modelapi.Request) (modelapi.Reply, error) {
		var g struct {
			Room  string `json:"room_id"`
			Lease string `json:"lease_id"`
			Turn  int    `json:"turn_id"`
		}

		text := r.LastResult().Text
		if i, j := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); i >= 0 && j > i {
			json.Unmarshal([]byte(text[i:j+1]), &g)
		}
		room, lease, turn = g.Room, g.Lease, g.Turn
		return modelapi.Reply{Calls: []modelapi.Call{modelapi.MCP("tt", "release_stick", map[string]any{
			"room_id": room, "lease_id": lease, "expected_turn_id": turn,
			"handoff": map[string]any{"status": "it is done", "next_action": "look at it"},
		})}}, nil
	}

	b, bare := s.again(a, "bare", modelapi.Steps(
		modelapi.Do(modelapi.Shell(s.tt+" join; echo status $?")),
		modelapi.Do(modelapi.Shell(s.tt+" join --json; echo status $?")),
		modelapi.Do(modelapi.MCP("tt", "join_path", map[string]any{})),
		modelapi.Do(modelapi.MCP("tt", "wait_for_turn", map[string]any{"max_wait_ms": 20000})),
		granted,
		modelapi.Say("done"),
	))

	b.Config.Model = "unknown" // its tools answer with only the result
	appendTo(t, filepath.Join(s.place.Home, ".codex/config.toml"), server)
	s.finished(b.Run(t, "Please.", s.options(realharness.Codex)))
	got := results(bare)
	if len(got) != 5 {
		t.Fatalf("%d results:\n%s", len(got), strings.Join(got, "\n---\n"))
	}

	for _, want := range []string{"can't be written", "tt install codex", "MCP tools", "status 7"} {
		if !strings.Contains(got[0], want) {
			t.Errorf("the command line says nothing of %q:\n%s", want, got[0])
		}
	}

	if !strings.Contains(got[1], `"error":"data_dir_not_writable"`) {
		t.Errorf("as JSON it says %s", got[1])
	}
	if !strings.Contains(got[2], `"joined":true`) ||
		!strings.Contains(got[3], `"status":"your_turn"`) ||
		!strings.Contains(got[4], `"event_seq"`) {
		t.Errorf("the tools say\n%s", strings.Join(got[2:], "\n---\n"))
	}
	if st := s.state(); st.TurnID != 2 || st.Owner != nil || len(s.agents("codex")) != 2 {
		t.Errorf("%+v", st)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("\n" + text); err != nil {
		t.Fatal(err)
	}
}
