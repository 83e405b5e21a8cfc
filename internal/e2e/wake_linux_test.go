package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// wakeable are the harnesses whose idle agents can be woken.
var wakeable = []*realharness.Harness{realharness.Claude, realharness.Codex, realharness.OpenCode, realharness.Pi}

// TestIdleAgentsAreWoken: a harness waits at its prompt, and a message comes that nothing has shown its
// agent. The agent then begins to work by itself, once for each message, by the harness's own means. While it
// works, a hook shows a message instead, and the agent isn't woken for that. When the harness is killed, the
// process that waits to wake its agent ends.
func TestIdleAgentsAreWoken(t *testing.T) {
	harnesses := played(t, wakeable, realharness.Claude, realharness.Codex, realharness.Pi)

	t.Parallel()
	for _, h := range harnesses {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			isWoken(t, woken{h: h, daemon: h == realharness.Codex})
		})
	}

	if *allPairs {
		t.Run("codex without its daemon", func(t *testing.T) { // it reads its queue only every ten seconds
			t.Parallel()
			isWoken(t, woken{h: realharness.Codex})
		})
	}
}

// TestClaudeIsWokenByItsInbox: where another process waits in the room, none waits for Claude Code. Whoever
// sends a message writes it into the inbox of the idle session.
func TestClaudeIsWokenByItsInbox(t *testing.T) {
	onlyInPairs(t, realharness.Claude)

	t.Parallel()
	isWoken(t, woken{h: realharness.Claude, network: realharness.Loopback(t)})
}

// woken is how a harness runs whose agent is woken.
type woken struct {
	h       *realharness.Harness
	daemon  bool                 // Codex leaves its work to a daemon
	network *realharness.Network // in which the harness has an inbox; nil for none
}

func isWoken(t *testing.T, how woken) {
	h, daemon := how.h, how.daemon
	s := newStage(t)
	s.run("join")
	waker, wakers := s.waker, 1
	if how.network != nil {
		s.parks("other")
		waker, wakers = s.idleWithoutWaker, 0
	}

	gate := filepath.Join(s.place.Home, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}

	a, session := s.prepare(h, modelapi.Steps(
		modelapi.Do(modelapi.Shell(s.tt+" join")),
		modelapi.Say("done"),
		modelapi.Do(modelapi.Shell("cat < "+gate)), // woken by the first message
		modelapi.Say("done"),                       // a hook has shown it the second
		modelapi.Say("done"),                       // woken by the third
	))

	o := s.options(h)
	if o.Network = how.network; o.Network != nil {
		l := o.Network.Listen(t)
		s.api.On(l)
		a.Config.API = session.URLOn(l)
	}

	if o.Daemon = daemon; daemon {
		o.BypassHookTrust = false
		a.TrustHooks(t)
	}

	tui := a.StartTUI(t, o)
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(s.data(), "tt.log"))
			t.Logf("%s showed\n%s\ntt.log: %s", h.Name, tui.Text(), log)
		}
	})

	tui.Type("Please-join-the-room.")
	asks := func(n int) time.Duration {
		begin := time.Now()
		soon(t, fmt.Sprintf("%s asks its model %d times", h.Name, n), func() bool {
			return len(session.Requests()) >= n
		})
		return time.Since(begin)
	}

	asks(2)
	waker(h.Name)

	bodies := []string{"FIRST is for you", "SECOND is for you", "THIRD is for you"}
	ids := []int64{s.send(h.Name, bodies[0], presence.DeliveryListening)}
	t.Logf("woken %s after the message", asks(3))
	busy, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits for the command that reads it
	if err != nil {
		t.Fatal(err)
	}

	ids = append(ids, s.send(h.Name, bodies[1], presence.DeliveryNextTool))
	busy.Close()
	asks(4)
	waker(h.Name)
	ids = append(ids, s.send(h.Name, bodies[2], presence.DeliveryListening))
	t.Logf("woken %s after the message", asks(5))
	waker(h.Name)

	requests := session.Requests()
	if len(requests) != 5 {
		t.Errorf("it asked its model %d times, want 5", len(requests))
	}

	for i, body := range bodies {
		told := requests[i+2] // the first with the message
		if strings.Contains(requests[i+1].Text(), body) {
			t.Errorf("it was told %q before", body)
		}
		if !strings.Contains(told.Text(), fmt.Sprintf("message %d from watcher, just now\n  %s", ids[i], body)) {
			t.Errorf("it wasn't told %q, but\n%s", body, told.Text())
		}
		if n := strings.Count(requests[4].Text(), body); n != 1 {
			t.Errorf("it was told %q %d times", body, n)
		}
		if shown := s.run("msg", "show", fmt.Sprint(ids[i])); !strings.Contains(shown, "unread, shown ") {
			t.Errorf("message %d isn't marked as shown:\n%s", ids[i], shown)
		}
	}

	if members := s.agents(h.Name); len(members) != 1 {
		t.Errorf("it is %d members: %v", len(members), members)
	}
	if pids := s.wakers(); len(pids) != wakers {
		t.Errorf("%d processes wait to wake it", len(pids))
	}

	tui.End()
	if daemon { // its session goes on without the terminal
		for _, pid := range s.processes("app-server") {
			syscall.Kill(pid, syscall.SIGKILL) // fails when it ends with another one
		}
	}
	soon(t, "the process that waits to wake it ends", func() bool { return len(s.wakers()) == 0 })
}

// TestNobodyIsIdleWithoutATerminal: a harness without a terminal ends with its work. The process that waits
// to wake its agent doesn't delay that end, and doesn't outlive it.
func TestNobodyIsIdleWithoutATerminal(t *testing.T) {
	onlyInPairs(t, wakeable...)

	t.Parallel()
	for _, h := range wakeable {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")
			work := []modelapi.Script{modelapi.Do(modelapi.Shell(s.tt + " join")), modelapi.Say("done")}
			a := h.Prepare(t, s.place, realharness.Config{API: s.api.Session("before", modelapi.Steps(work...)).URL()})
			o := s.options(h)
			o.Leave = true
			before := a.Run(t, "Please join the room.", o)
			s.run("install", h.Name)
			a.Config.API = s.api.Session("after", modelapi.Steps(work...)).URL()

			after := a.Run(t, "Please join the room.", o)
			for _, r := range []realharness.Result{before, after} {
				if r.Exit != 0 || !strings.Contains(r.Text, "done") {
					t.Error(r)
				}
			}

			t.Logf("%s without tt, %s with it", before.Took, after.Took)
			if after.Took > before.Took+20*time.Second {
				t.Errorf("it took %s without tt, and %s with it", before.Took, after.Took)
			}
			soon(t, "the process that waits to wake it ends", func() bool { return len(s.wakers()) == 0 })
		})
	}
}

// send sends a message to the only agent of a harness, and checks how the message reaches the agent.
func (s *stage) send(harness, body string, by presence.Delivery) (id int64) {
	s.t.Helper()
	var res struct {
		ID         int64 `json:"message_id"`
		Recipients []struct {
			Delivery presence.Delivery `json:"delivery"`
		} `json:"recipients"`
	}

	if err := json.Unmarshal([]byte(s.run("msg", "send", s.agents(harness)[0], body, "--json")), &res); err != nil {
		s.t.Fatal(err)
	}
	if len(res.Recipients) != 1 || res.Recipients[0].Delivery != by {
		s.t.Errorf("%q reaches %s by %v, want %s", body, harness, res.Recipients, by)
	}
	return res.ID
}

// waker waits until a process waits to wake the idle agent of a harness.
func (s *stage) waker(harness string) {
	s.t.Helper()
	s.idle(harness, stick.Wake)
}

// parks starts a wait for events of an agent, which ends with the test.
func (s *stage) parks(name string) {
	s.t.Helper()
	c := s.command(name, "wait", "--park")
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	soon(s.t, name+" waits", func() bool { return strings.Contains(s.run("state", "--json"), `"listening": "listen"`) })
}

// idleWithoutWaker waits until the agent of a harness is idle, and no process waits to wake it.
func (s *stage) idleWithoutWaker(harness string) {
	s.t.Helper()
	soon(s.t, harness+" is idle", func() bool { state, _ := s.doing(harness); return state == "idle" })
	soon(s.t, "no process waits to wake it", func() bool { return len(s.wakers()) == 0 })
}

// idle waits until the agent of a harness is idle, and a wait of a purpose listens for it.
func (s *stage) idle(harness string, purpose stick.Purpose) {
	s.t.Helper()
	db, err := store.Open(s.t.Context(), store.Options{Dir: s.data()}, false)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()

	soon(s.t, fmt.Sprintf("%s is idle, and a wait (%s) listens", harness, purpose), func() (waits bool) {
		err := db.View(s.t.Context(), func(tx *store.Tx) error {
			r, _, err := tx.RoomAt([]string{s.place.Repo})
			for _, l := range r.Listeners {
				m, _ := r.Member(l.Agent)
				waits = waits ||
					l.Purpose == purpose && strings.HasPrefix(string(l.Agent), harness+":") && !m.IdleAt.IsZero()
			}
			return err
		})
		if err != nil {
			s.t.Fatal(err)
		}

		return waits
	})
}

// data returns the data directory.
func (s *stage) data() string { return filepath.Join(s.place.Home, ".local/share/talking-stick") }

// wakers returns the processes that wait to wake an agent, without the shells that started them.
func (s *stage) wakers() []int {
	return slices.DeleteFunc(s.processes("--wake"), func(pid int) bool {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return !strings.HasPrefix(string(line), s.tt+"\x00")
	})
}

// processes returns the processes of this home that have a word among their arguments.
func (s *stage) processes(word string) (pids []int) {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.t.Fatal(err)
	}

	has := func(path, word string) bool {
		b, err := os.ReadFile(path)
		return err == nil && slices.Contains(strings.Split(string(b), "\x00"), word)
	}

	for _, path := range paths {
		dir := filepath.Dir(path)
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil &&
			has(path, word) &&
			has(filepath.Join(dir, "environ"), "HOME="+s.place.Home) {
			pids = append(pids, pid)
		}
	}

	return pids
}
