package e2e

import (
	"syscall"
	"testing"
)

// line is a room in which the stick has gone from one agent to the next, and four more wait for it. Only the first
// two of them have looked since.
func line(t *testing.T) (owner *agent, waits []*run) {
	w := newWorld(t)
	first := w.start("claude", "runner", nil)
	own(t, first)
	w.policy("waiter_grace=500ms")

	owner = w.start("codex", "runner", nil)
	next := owner.begin("wait", "--turn")
	w.listening(name(t, owner))
	for range 4 {
		a := w.start("opencode", "runner", nil)
		waits = append(waits, a.begin("wait", "--turn"))
		w.listening(name(t, a))
	}

	release(t, first, "one")
	hasTurn(t, next, "one")
	return owner, waits
}

// isOffered fails unless a wait brings the takeover from an owner that is gone.
func isOffered(t *testing.T, r *run) {
	t.Helper()
	if a := said(t, r.wait()); a.Status != "takeover_available" || a.Reason != "owner_gone" {
		t.Errorf("the wait brought %+v", a)
	}
}

// TestSentinels: two waits watch the process of the holder for the others, and others take their place.
func TestSentinels(t *testing.T) {
	t.Parallel()

	t.Run("the holder dies", func(t *testing.T) {
		t.Parallel()
		owner, waits := line(t)
		owner.die()
		if !waits[0].within(promptly) {
			t.Fatalf("nobody noticed it within %s", promptly)
		}

		// The offer to the first one rings all, and each gets its own in time.
		for _, r := range waits {
			isOffered(t, r)
		}
	})

	t.Run("after the sentinels have left", func(t *testing.T) {
		t.Parallel()
		owner, waits := line(t)
		for _, r := range waits[:2] {
			r.signal(syscall.SIGINT)
			r.wait()
		}

		owner.die()
		if !waits[2].within(promptly) {
			t.Fatalf("nobody took their place within %s", promptly)
		}
		isOffered(t, waits[2])
	})

	t.Run("after one was killed and one stopped", func(t *testing.T) {
		t.Parallel()
		owner, waits := line(t)
		waits[0].signal(syscall.SIGKILL)
		waits[0].wait()
		waits[1].signal(syscall.SIGSTOP)
		t.Cleanup(func() { waits[1].signal(syscall.SIGCONT) })

		// Only the slow net is left.
		owner.die()
		isOffered(t, waits[2])
	})
}
