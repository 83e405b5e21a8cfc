package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// TestServerWithAFullDisk: the file system of the server's tables is full. Whoever writes is told so, and
// nothing of what it wanted is there. Reading goes on, and once there is space again, so does the rest, and
// so does a wait that was there all the time.
func TestServerWithAFullDisk(t *testing.T) {
	testenv.SkipShort(t, testenv.Server, "a server whose disk is full")
	skipInPairs(t)

	t.Parallel()
	disk := storetest.NewSmallDisk(t)
	w := newWorld(t)
	w.env = overlay(w.env, []string{"TALKING_STICK_DATABASE_URL=" + disk.URL()})
	ann, bob := w.start("claude", "runner", nil), w.start("codex", "runner", nil)
	own(t, ann)
	bobs := bob.begin("wait", "--turn")
	w.listening(name(t, bob))
	handOver := []string{"release", "--status", noise(30_000), "--next-action", "go on"}

	disk.Fill()
	sent, full := 0, reply{}
	for sent < 100 && full.Exit == 0 { // pages that are there still have some space
		if full = ann.tt("msg", "send", "room", noise(4_000)); full.Exit == 0 {
			sent++
		}
	}

	for what, r := range map[string]reply{"a message": full, "a release": ann.tt(handOver...)} {
		e := said(t, r)
		if r.Exit != stick.ExitBusy ||
			e.Error != stick.CodeDatabaseUnavailable ||
			!strings.Contains(e.Message, "the disk of PostgreSQL at") ||
			!strings.Contains(r.Err, "free some space there") {
			t.Errorf("%s on a full disk ends with exit %d: %s", what, r.Exit, r.Err)
		}
	}

	if s := said(t, ok(t, w.person("state"))); s.Turn != 1 || s.Owner == nil || *s.Owner != name(t, ann) {
		t.Errorf("what failed has changed the room: %+v", s)
	}

	disk.Free()
	ok(t, ann.tt(handOver...))
	if a := said(t, ok(t, bobs.wait())); a.Turn != 2 || a.Handoff == nil || a.Handoff.Status != handOver[2] {
		t.Errorf("bob has waited all the time, and is told %+v", a)
	}

	messages := 0
	for _, e := range w.log() {
		if e.Type == stick.EventMessageSent {
			messages++
		}
	}

	if messages != sent {
		t.Errorf("%d messages were sent, and the log has %d", sent, messages)
	}
	w.grantedOnce(2)
}

// noise is a text that can't be compressed.
func noise(size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%016x", rand.Uint64())
	}
	return b.String()
}
