package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// doing is what the room says that the agent of a harness does.
func (s *stage) doing(harness string) (state string, since time.Time) {
	s.t.Helper()
	var r struct {
		Members []struct {
			Agent    string `json:"agent_id"`
			Activity struct {
				State string    `json:"state"`
				Since time.Time `json:"since"`
			} `json:"activity"`
		} `json:"members"`
	}
	if err := json.Unmarshal([]byte(s.run("state", "--json")), &r); err != nil {
		s.t.Fatal(err)
	}
	for _, m := range r.Members {
		if strings.HasPrefix(m.Agent, harness+":") {
			return m.Activity.State, m.Activity.Since
		}
	}
	return "", since
}

// TestClaudeAsksItsPerson: Claude Code shows a question about a permission. The room says at once that it waits for its person, and
// when the person has answered, that it works again and at last is idle.
func TestClaudeAsksItsPerson(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.run("join")
	a, session := s.prepare(realharness.Claude, modelapi.Steps(
		modelapi.Do(modelapi.Write(filepath.Join(s.place.Repo, "asked.txt"), "asked\n")),
		modelapi.Say("done"),
	))
	o := s.options(realharness.Claude)
	o.Args = append(o.Args, "--settings", `{"permissions":{"ask":["Write"]}}`)
	tui := a.StartTUI(t, o)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it showed\n%s", tui.Text())
		}
	})
	tui.Type("Please-begin.")
	soon(t, "it asks", func() bool { return strings.Contains(tui.Text(), "Doyouwanttocreate") }) // it moves the cursor instead of writing blanks
	shown := time.Now()
	soon(t, "the room says so", func() bool { state, _ := s.doing("claude"); return state == "waits_for_person" })
	if _, since := s.doing("claude"); since.Sub(shown) > time.Second {
		t.Errorf("the room says so %v after the question was shown", since.Sub(shown))
	}
	tui.Press("1")
	soon(t, "it has gone on", func() bool { return len(session.Requests()) >= 2 })
	soon(t, "it is idle", func() bool { state, _ := s.doing("claude"); return state == "idle" })
	tui.End()
}
