package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/stick"
)

// sessionEvents are the starts and ends of sessions in the log, in words.
func (s *stage) sessionEvents() (out []string) {
	s.t.Helper()
	var r struct {
		Events []stick.Event `json:"events"`
	}
	err := json.Unmarshal([]byte(s.run("events", "--event", "session_started,session_ended", "--json")), &r)
	if err != nil {
		s.t.Fatal(err)
	}

	for _, e := range r.Events {
		began, _ := stick.PayloadOf[stick.SessionStartedPayload](e)
		ended, _ := stick.PayloadOf[stick.SessionEndedPayload](e)
		out = append(out, strings.TrimSpace(string(e.Type)+" "+string(began.Role+ended.Role)+" "+string(began.Start)))
	}

	return out
}

// TestHooksStartAndEndSessions: by the hooks that tt install writes, each real harness starts a session as
// the primary of a room, reads that in its briefing, and ends it. The next one starts fresh, unless the
// harness didn't say that the first has ended. tt knows that it is alone from the processes or, in Codex's
// sandbox, which hides them, from the members.
func TestHooksStartAndEndSessions(t *testing.T) {
	harnesses := played(t, realharness.All, realharness.Codex)

	t.Parallel()
	for _, h := range harnesses {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")
			s.run("leave") // from now on it only reads
			a, session := s.prepare(h,
				modelapi.Steps(modelapi.Do(modelapi.Shell(s.tt+" session path; "+s.tt+" roster --json")),
					modelapi.Say("done")))
			s.finished(a.Run(t, "Please.", s.options(h)))
			want := filepath.Join(s.place.Repo, ".talking-stick/session.md")
			if said := session.Requests()[0].Text(); !strings.Contains(said, "You are the primary. Your context file: "+want) {
				t.Errorf("it was told\n%s", said)
			}

			if got := results(session); len(got) == 0 || !strings.Contains(got[0], want) {
				t.Errorf("its shell says %q", got)
			} else if blind := strings.Contains(got[0], `"blind": true`); blind != (h == realharness.Codex) ||
				!strings.Contains(got[0], `"alone": true`) {
				t.Errorf("its roster says %q; in the sandbox nothing but the room can be seen", got)
			}

			b, again := s.again(a, "again", modelapi.Steps(modelapi.Say("done")))
			s.finished(b.Run(t, "Please.", s.options(h)))
			one := "session_started primary fresh, session_ended primary"
			events := one + ", " + one
			silent := h == realharness.Qwen // it fires no hook when it ends, except in a terminal
			if silent {
				events = "session_started primary fresh, session_started primary recover"
			}
			if said := again.Requests()[0].Text(); !strings.Contains(said, "You are the primary.") ||
				strings.Contains(said, "never ended its session") != silent {
				t.Errorf("the second was told\n%s", said)
			}
			if got := strings.Join(s.sessionEvents(), ", "); got != events {
				t.Errorf("the log says %s", got)
			}
		})
	}
}
