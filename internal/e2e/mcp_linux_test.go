package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// served is a running tt mcp below a harness, and a client of it.
type served struct {
	*mcp.ClientSession
	w       *world
	harness *exec.Cmd
	in      *os.File // its standard input; only the test has the other end
	pid     int      // of tt
}

// object is a JSON object.
type object = map[string]any

// serve starts a harness with a server in it. Its pipes stay open until the test ends.
func (w *world) serve(name string) *served {
	w.t.Helper()
	in, inWrite, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	outRead, out, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}

	c := exec.Command(filepath.Join(w.bin, name), filepath.Join(w.bin, "tt"), "mcp", "--tools", "all")
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = w.work, w.env, in, out, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}

	in.Close()
	out.Close()
	s := &served{w: w, harness: c, in: inWrite}

	w.t.Cleanup(func() {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		c.Wait()
		inWrite.Close()
		outRead.Close()
	})

	s.ClientSession = connect(w.t, outRead, inWrite)
	kids, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", c.Process.Pid))
	if err == nil && len(bytes.Fields(kids)) == 0 { // a thread other than the first may have started it
		kids, err = children(c.Process.Pid)
	}
	if err != nil || len(bytes.Fields(kids)) != 1 {
		w.t.Fatalf("the children of the harness are %q: %v", kids, err)
	}
	s.pid, _ = strconv.Atoi(string(bytes.TrimSpace(kids)))
	return s
}

// children lists the children of all threads of a process.
func children(pid int) (out []byte, err error) {
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range paths {
		b, _ := os.ReadFile(path) // a thread may have ended
		out = append(out, b...)
	}
	return out, err
}

// connect makes a client on a server's streams.
func connect(t testing.TB, out io.ReadCloser, in io.WriteCloser) *mcp.ClientSession {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).
		Connect(context.Background(), &mcp.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// ask calls a tool and returns its answer, which may be a refusal.
func ask(t testing.TB, c *mcp.ClientSession, tool string, arguments object) object {
	t.Helper()
	res, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var answer object
	if err := json.Unmarshal([]byte(res.Content[0].(*mcp.TextContent).Text), &answer); err != nil {
		t.Fatalf("%s: %v", tool, err)
	}

	return answer
}

// ended waits for the end of the server.
func (s *served) ended() {
	s.w.t.Helper()
	soon(s.w.t, fmt.Sprintf("the server %d ends", s.pid), func() bool { return !lives(s.pid) })
}

// noListeners fails the test if the database still has a row of a wait.
func (w *world) noListeners() {
	w.t.Helper()
	db, err := store.Open(w.t.Context(), w.database(), false)
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()

	err = db.View(w.t.Context(), func(tx *store.Tx) error {
		rooms, err := tx.Rooms(nil, "")
		for _, r := range rooms {
			if r, err = tx.Room(r.ID); err != nil {
				return err
			}
			if n := len(r.Listeners); n > 0 {
				w.t.Errorf("%d listeners are left in %s", n, r.Path)
			}
		}

		return err
	})
	if err != nil {
		w.t.Error(err)
	}
}

// occupied returns a server in a call that blocks because another agent holds the stick, or in no call.
func occupied(t *testing.T, tool string) *served {
	t.Helper()
	w := newWorld(t)
	owner := w.start("codex", "runner", nil)
	if a := said(t, ok(t, owner.tt("try"))); a.Status != "your_turn" {
		t.Fatal(a.Status)
	}

	s := w.serve("claude")
	me := stick.AgentID(ask(t, s.ClientSession, "join_path", object{})["agent_id"].(string))
	if tool != "" {
		go s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: object{}})
	}
	if tool == "wait_for_turn" {
		w.listening(me)
	}
	return s
}

// TestServerEndsWithItsInput: a server ends when its client closes its side, even while a wait blocks.
// Nothing of the wait is left.
func TestServerEndsWithItsInput(t *testing.T) {
	for _, tool := range []string{"", "wait_for_turn", "wait_for_events"} {
		t.Run("in "+tool, func(t *testing.T) {
			s := occupied(t, tool)
			s.in.Close()
			s.ended()
			s.w.noListeners()
			s.w.healthy()
		})
	}
}

// TestServerEndsWithItsHarness: a server ends with the process that started it, although other processes hold
// its streams open.
func TestServerEndsWithItsHarness(t *testing.T) {
	for _, tool := range []string{"", "wait_for_turn", "wait_for_events"} {
		t.Run("in "+tool, func(t *testing.T) {
			s := occupied(t, tool)
			s.harness.Process.Kill()
			s.harness.Wait()
			s.ended()
			s.w.noListeners()
			s.w.healthy()
		})
	}
}

// TestSeveralServers: the servers of several harnesses work on one database at once, each for another member.
// They pass the stick around.
func TestSeveralServers(t *testing.T) {
	const servers, rounds = 4, 3
	w := newWorld(t)
	ok(t, w.person("join"))
	var mu sync.Mutex
	turns, members := map[float64]string{}, map[string]bool{}

	var all sync.WaitGroup
	for range servers {
		s := w.serve("claude")
		all.Go(func() {
			for done := 0; done < rounds; {
				got := ask(t, s.ClientSession, "wait_for_turn", object{})
				if got["status"] != "your_turn" {
					if got["error"] != nil {
						t.Errorf("a wait was refused: %v", got)
						return
					}
					continue
				}

				done++
				turn, me := got["turn_id"].(float64), got["agent_id"].(string)
				mu.Lock()
				if turns[turn] != "" {
					t.Errorf("turn %v was given to %s and to %s", turn, turns[turn], me)
				}

				turns[turn], members[me] = me, true
				mu.Unlock()
				ended := ask(t, s.ClientSession, "release_stick", object{
					"room_id": got["room_id"], "lease_id": got["lease_id"], "expected_turn_id": turn,
					"handoff": object{"status": "a round", "next_action": "the next round"},
				})

				if ended["error"] != nil {
					t.Errorf("a release was refused: %v", ended)
					return
				}
			}
		})
	}

	all.Wait()
	if len(turns) != servers*rounds || len(members) != servers {
		t.Errorf("%d turns of %d members", len(turns), len(members))
	}

	w.noListeners()
	w.healthy()
}

// nest is a simulated harness with a shell in it. The shell runs what the harness would run: tools, hooks and
// servers.
type nest struct {
	w    *world
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *os.File
	next int
}

func (w *world) nest(name string, env ...string) *nest {
	w.t.Helper()
	c := exec.Command(filepath.Join(w.bin, name), "/bin/bash", "--norc")
	c.Dir, c.Env, c.Stderr = w.work, overlay(w.env, env), os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := c.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}

	out, outWrite, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	c.Stdout = outWrite
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}

	outWrite.Close()
	n := &nest{w: w, cmd: c, in: in, out: out}
	w.t.Cleanup(func() {
		n.kill()
		out.Close()
	})

	return n
}

// kill ends the harness and everything in it.
func (n *nest) kill() {
	syscall.Kill(-n.cmd.Process.Pid, syscall.SIGKILL)
	n.cmd.Wait()
}

// sh runs a line of shell, and returns what it printed and its status.
func (n *nest) sh(line string) (string, int) {
	n.w.t.Helper()
	n.next++
	mark := fmt.Sprintf("--end %d of ", n.next)
	fmt.Fprintf(n.in, "{ %s\n} 2>&1; echo; echo \"%s$?\"\n", line, mark)
	var said strings.Builder

	b := make([]byte, 4096)
	for {
		k, err := n.out.Read(b)
		if err != nil {
			n.w.t.Fatalf("the shell of the harness ended: %v\n%s", err, said.String())
		}
		said.Write(b[:k])
		text, status, ok := strings.Cut(said.String(), "\n"+mark)
		if !ok || !strings.HasSuffix(status, "\n") {
			continue
		}

		exit, err := strconv.Atoi(strings.TrimSpace(status))
		if err != nil {
			n.w.t.Fatal(err)
		}

		return text, exit
	}
}

// tt runs a command line of tt, which has to succeed, and reads its answer.
func (n *nest) tt(line string) answer {
	n.w.t.Helper()
	out, exit := n.sh("tt " + line)
	return said(n.w.t, ok(n.w.t, reply{Out: strings.TrimSpace(out), Exit: exit}))
}

// hook runs a hook of the harness.
func (n *nest) hook(harness, input string) string {
	n.w.t.Helper()
	out, exit := n.sh(fmt.Sprintf("printf %%s '%s' | tt hook %s", input, harness))
	if exit != 0 {
		n.w.t.Fatalf("the hook ended with %d: %s", exit, out)
	}
	return out
}

// server starts tt mcp in the harness, with an environment of its own.
func (n *nest) server(env string) *mcp.ClientSession {
	n.w.t.Helper()
	n.next++
	dir := n.w.t.TempDir()
	for _, name := range []string{"in", "out"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			n.w.t.Fatal(err)
		}
	}

	n.sh(fmt.Sprintf("%s tt mcp --tools all <%s/in >%[2]s/out 2>/dev/null &", env, dir))
	in, err := os.OpenFile(filepath.Join(dir, "in"), os.O_WRONLY, 0)
	if err != nil {
		n.w.t.Fatal(err)
	}
	out, err := os.Open(filepath.Join(dir, "out"))
	if err != nil {
		n.w.t.Fatal(err)
	}

	n.w.t.Cleanup(func() {
		in.Close()
		out.Close()
	})

	return connect(n.w.t, out, in)
}

// TestToolsAnswerLikeCommands: a tool answers what the command prints as JSON, for the same caller.
func TestToolsAnswerLikeCommands(t *testing.T) {
	w := newWorld(t)
	n := w.nest("claude", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=one")
	if a := n.tt("try"); a.Status != "your_turn" {
		t.Fatal(a)
	}

	ok(t, w.person("join"))
	ok(t, w.person("msg", "send", "claude", "hello"))
	ok(t, w.person("notes", "add", "remember"))
	server := n.server("")

	id := said(t, ok(t, w.person("state"))).Room
	for _, c := range []struct {
		command, tool string
		arguments     object
	}{
		{"list", "list_rooms", object{}},
		{"state", "get_room_state", object{"room_id": string(id)}},
		{"state --all", "get_room_state", object{"all": true}},
		{"events --limit 2", "get_room_events", object{"limit": 2}},
		{"inbox", "get_inbox", object{}},
		{"inbox --state all", "get_inbox", object{"state": "all"}},
		{"msg show 3", "get_message", object{"message_id": 3}},
		{"notes list", "list_notes", object{}},
		{"policy", "set_room_policy", object{}},
		{"release --status x", "release_stick", nil},
		{"msg show 4711", "get_message", object{"message_id": 4711}},
		{"ack 1", "ack_message", object{"message_ids": []int{1}}},
	} {
		line, _ := n.sh("tt " + c.command)
		if c.arguments == nil { // its fence and handoff are flags there, and objects here
			held := ask(t, server, "wait_for_turn", object{"max_wait_ms": 0})
			c.arguments = object{
				"room_id": string(id), "lease_id": held["lease_id"], "expected_turn_id": held["turn_id"],
				"handoff": object{"status": "x", "next_action": ""},
			}
		}

		answer := ask(t, server, c.tool, c.arguments)
		delete(answer, "hint") // it names a tool here, and a command there
		got, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}

		var printed object
		if err := json.Unmarshal([]byte(line), &printed); err != nil {
			t.Errorf("tt %s printed %s", c.command, line)
			continue
		}
		delete(printed, "hint")
		want, err := json.Marshal(printed)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s answered\n%s\nand tt %s\n%s", c.tool, got, c.command, want)
		}
	}
}
