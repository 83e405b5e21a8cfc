package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/clitest"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// TestHostWithoutNetwork: a host loses its network for longer than its lease lasts. Meanwhile an agent of
// another host takes the stick over. What the holder does then, during the cut and after it, changes nothing,
// and it is told why. A wait on its host goes on by itself.
func TestHostWithoutNetwork(t *testing.T) {
	testenv.SkipShort(t, testenv.Server, "a host without network")

	t.Parallel()
	w, far, network := newCutWorld(t)
	ann, carol, bob := w.start("claude", "runner", far), w.start("opencode", "runner", far), w.start("codex", "runner", nil)
	own(t, ann)
	carols := carol.begin("wait", "--turn")
	w.listening(name(t, carol))
	handOver := []string{"release", "--status", "from the cut", "--next-action", "nothing"}

	network.Cut()
	w.leases("2s")
	if a := said(t, bob.tt("wait", "--turn")); a.Status != "takeover_available" || a.Reason != "owner_timeout" {
		t.Fatalf("the holder's host has no network, and bob is told %+v", a)
	}

	taken := said(t, ok(t, bob.tt("take", "--reason", "its machine doesn't answer")))
	if taken.Turn != 2 {
		t.Fatalf("bob has %+v", taken)
	}

	w.leases("45m")
	lost := ann.tt(handOver...)
	if lost.Exit != stick.ExitBusy || said(t, lost).Error != stick.CodeDatabaseUnavailable {
		t.Errorf("without network ann's release ended with exit %d: %s", lost.Exit, lost.Err)
	}
	if carols.over() {
		t.Errorf("carol's wait ended without network: %s%s", carols.got.Out, carols.got.Err)
	}

	network.Mend()

	late := ann.tt(handOver...)
	if e := said(t, late); late.Exit != stick.ExitFenced || e.Holder == nil || *e.Holder != name(t, bob) {
		t.Errorf("ann is back, and her release ends with exit %d: %s", late.Exit, late.Err)
	}

	release(t, bob, "from the host that stayed")
	granted := said(t, ok(t, carols.wait()))
	if granted.Turn != 3 || granted.Handoff == nil || granted.Handoff.Status != "from the host that stayed" {
		t.Errorf("carol has waited all the time, and is told %+v", granted)
	}

	w.grantedOnce(3)
	release(t, carol, "done")
	w.guardianEnds(taken.Guardian)
	w.guardianEnds(granted.Guardian)
}

// TestDeadlineWithoutNetwork: while a host has no network, a lease ends elsewhere. Nobody commits anything
// then, so no notice comes when the network is back. The wait there reads again by itself.
func TestDeadlineWithoutNetwork(t *testing.T) {
	testenv.SkipShort(t, testenv.Server, "a deadline that passes without network")

	t.Parallel()
	w, far, network := newCutWorld(t)
	trace := filepath.Join(t.TempDir(), "trace")
	carol, bob := w.start("opencode", "runner", append(far, "TT_TRACE="+trace)), w.start("codex", "runner", nil)
	own(t, bob)
	carols := carol.begin("wait", "--turn")
	w.listening(name(t, carol))
	ok(t, bob.tt("heartbeat"))
	w.leases("10s")

	t.Cleanup(func() {
		if text, _ := os.ReadFile(trace); t.Failed() {
			t.Logf("the wait traces\n%s", text)
		}
	})

	// The notice of the shorter lease has to reach the wait before the cut.
	soon(t, "the wait knows when the lease ends", func() bool {
		deadline := tracedDeadline(t, trace)
		return !deadline.IsZero() && time.Until(deadline) < time.Minute
	})

	network.Cut()
	soon(t, "the wait reads when the lease has ended, and gets no answer", func() bool {
		text, _ := os.ReadFile(trace)
		return strings.Contains(string(text), string(stick.CodeDatabaseUnavailable))
	})

	if carols.over() {
		t.Errorf("the wait ended without network: %s%s", carols.got.Out, carols.got.Err)
	}
	network.Mend()
	if a := said(t, carols.wait()); a.Status != "takeover_available" || a.Reason != "owner_timeout" {
		t.Errorf("carol is told %+v", a)
	}
	w.grantedOnce(1)
}

// tracedDeadline is when the wait that writes a trace would read again by itself, as of its last read; zero
// for never.
func tracedDeadline(t *testing.T, trace string) (deadline time.Time) {
	t.Helper()
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}

	for line := range strings.Lines(string(text)) {
		var traced struct {
			What     string    `json:"what"`
			Deadline time.Time `json:"next_deadline"`
		}

		// The last line may be half written.
		if json.Unmarshal([]byte(line), &traced) == nil && traced.What == "wait_read" {
			deadline = traced.Deadline
		}
	}

	return deadline
}

// leases has all leases last that long from now on.
func (w *world) leases(last string) {
	w.t.Helper()
	w.policy("heartbeat_interval=1s", "owner_lease_ttl="+last, "owner_idle_ttl="+last)
}

// newCutWorld is a world whose database is on a server. far puts an agent on another host, whose network can
// be cut.
func newCutWorld(t *testing.T) (w *world, far []string, network *storetest.Network) {
	t.Helper()
	w = newWorld(t)
	address := storetest.PostgresURL(t)
	network = storetest.NewNetwork(t, address)

	for _, line := range [][]string{{"init", "-q"}, {"config", "talkingstick.room", "cut/room"}} {
		git := exec.Command("git", line...)
		git.Dir, git.Env = w.work, w.env
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}

	host := func(name, url string) []string {
		return []string{
			"TALKING_STICK_DATABASE_URL=" + url,
			"TALKING_STICK_DATA_DIR=" + filepath.Join(t.TempDir(), name),
			clitest.Boot + "=boot-of-" + name,
		}
	}
	w.env = overlay(w.env, host("near", address))
	ok(t, w.person("join"))
	w.policy("waiter_grace=200ms")
	return w, host("far", network.URL()), network
}

// grantedOnce fails the test unless turns 1 to n were granted, each once, and the database is sound.
func (w *world) grantedOnce(n int64) {
	w.t.Helper()
	var turns, want []int64
	for _, e := range w.log() {
		if e.Type == stick.EventClaim || e.Type == stick.EventTakeover {
			turns = append(turns, e.Turn)
		}
	}

	for i := range n {
		want = append(want, i+1)
	}
	if !slices.Equal(turns, want) {
		w.t.Errorf("the turns %v were granted", turns)
	}
	w.healthy()
}

// TestKilledWitness: of two waits on a host, the one that speaks for the host is killed together with its
// agent. The other takes its place, so the agents of another host learn that this agent is gone, and the turn
// that is passed on wakes the other wait.
func TestKilledWitness(t *testing.T) {
	testenv.SkipShort(t, testenv.Server, "a wait that is killed while it speaks for its host")

	t.Parallel()
	w, far, _ := newCutWorld(t)
	carol, dan, bob := w.start("opencode", "runner", far), w.start("gemini", "runner", far), w.start("codex", "runner", nil)
	own(t, bob)
	carols := name(t, carol)
	carol.begin("wait", "--turn") // the first to listen there, so the witness
	w.listening(carols)
	dans := dan.begin("wait", "--turn")
	w.listening(name(t, dan))
	carol.kill()

	soon(t, "the other host learns that carol is gone", func() bool {
		for _, m := range said(t, ok(t, w.person("state"))).Members {
			if m.Agent == carols {
				return m.Verdict == stick.Gone && m.Listening == ""
			}
		}
		return false
	})

	release(t, bob, "go on")
	granted := said(t, ok(t, dans.wait()))
	if granted.Turn != 2 {
		t.Errorf("dan is told %+v", granted)
	}

	w.grantedOnce(2)
	release(t, dan, "done")
	w.guardianEnds(granted.Guardian)
}

// guardianEnds waits until the guardian of a turn has ended, if it had one.
func (w *world) guardianEnds(pid int) {
	w.t.Helper()
	soon(w.t, "the guardian of a turn ends with it", func() bool {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return len(line) == 0 // what has ended and wasn't reaped has none either
	})
}
