package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// TestTwoEntriesAnswerOnce: where an older entry of tt stands beside the new one in a project, a harness runs both for each
// event. The model is briefed once, and reads a message once. It comes also after a command that fails.
func TestTwoEntriesAnswerOnce(t *testing.T) {
	for h, file := range map[*realharness.Harness]string{
		realharness.Claude: ".claude/settings.json", realharness.Codex: ".codex/hooks.json", realharness.Gemini: ".gemini/settings.json",
	} {
		t.Run(h.Name, func(t *testing.T) {
			h.Require(t)
			s := newStage(t)
			s.run("join")
			a, session := s.prepare(h, modelapi.Steps(
				modelapi.Do(modelapi.Shell(s.tt+" whoami; "+s.tt+" msg send watcher hello; TT_HARNESS_AGENT_ID=watcher "+s.tt+" msg send room 'the build is red'; exit 3")),
				modelapi.Say("done"),
			))
			mine, err := os.ReadFile(filepath.Join(s.place.Home, file))
			if err != nil {
				t.Fatal(err)
			}
			older := strings.NewReplacer(" hook || true", " hook "+h.Name).Replace(string(mine))
			if err := os.MkdirAll(filepath.Dir(filepath.Join(s.place.Repo, file)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.place.Repo, file), []byte(older), 0o600); err != nil {
				t.Fatal(err)
			}
			if r := a.Run(t, "Please.", s.options(h)); r.Exit != 0 || !strings.Contains(r.Text, "done") {
				t.Fatalf("%s", r)
			}
			requests := session.Requests()
			last := requests[len(requests)-1].Text()
			if n := strings.Count(last, "Talking Stick: you are "+h.Name+":"); n != 1 {
				t.Errorf("it was briefed %d times:\n%s", n, last)
			}
			if n := strings.Count(last, "\n  the build is red"); n != 1 {
				t.Errorf("it read the message %d times:\n%s", n, last)
			}
		})
	}
}
