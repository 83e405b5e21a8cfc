package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// TestTwoEntriesAnswerOnce: where an older entry of tt stands beside the new one in a project, a harness runs
// both for each event. The model is briefed once, and reads a message once. It comes also after a command
// that fails.
func TestTwoEntriesAnswerOnce(t *testing.T) {
	onlyInPairs(t, realharness.Claude, realharness.Codex, realharness.Gemini)

	for h, file := range map[*realharness.Harness]string{
		realharness.Claude: ".claude/settings.json", realharness.Codex: ".codex/hooks.json",
		realharness.Gemini: ".gemini/settings.json",
	} {
		t.Run(h.Name, func(t *testing.T) {
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
			if n := strings.Count(last, "Talking Stick: you are "+h.Name+"-"); n != 1 {
				t.Errorf("it was briefed %d times:\n%s", n, last)
			}
			if n := strings.Count(last, "\n  the build is red"); n != 1 {
				t.Errorf("it read the message %d times:\n%s", n, last)
			}
		})
	}
}

// TestCopilotRunsTheHooksOfClaudeCode: in a folder that its person trusts, Copilot runs the hooks that tt
// install has put there for Claude Code, beside its own or without. It is Copilot's agent that is briefed,
// told and denied, each once, and in the words that Copilot understands.
func TestCopilotRunsTheHooksOfClaudeCode(t *testing.T) {
	onlyInPairs(t, realharness.Copilot)

	t.Parallel()
	for _, own := range []bool{false, true} {
		t.Run(map[bool]string{false: "without its own", true: "beside its own"}[own], func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.as(reviewer, "wait", "--turn")
			s.as(reviewer, "policy", "set", "enforce=stick")
			file := filepath.Join(s.place.Repo, "notes.txt")
			session := s.api.Session("copilot", modelapi.Steps(
				modelapi.Do(modelapi.Shell(
					"TT_HARNESS_AGENT_ID="+reviewer+" "+s.tt+" msg send room 'the build is red'",
				)),
				modelapi.Do(modelapi.Write(file, "x\n")),
				modelapi.Say("done"),
			))

			a := realharness.Copilot.Prepare(t, s.place, realharness.Config{API: session.URL()})
			s.run("install", "claude", "--project")
			if own {
				s.run("install", "copilot")
			}
			o := s.options(realharness.Copilot)
			o.Args = []string{"--trust-folder"}
			s.finished(a.Run(t, "Please.", o))
			requests := session.Requests()
			last := requests[len(requests)-1].Text()
			for _, once := range []string{
				"Talking Stick: you are copilot-",
				"\n  the build is red",
				"notes.txt isn't yours to change now: " + reviewer,
			} {
				if n := strings.Count(last, once); n != 1 {
					t.Errorf("%q comes %d times in\n%s", once, n, last)
				}
			}

			if _, err := os.Lstat(file); !os.IsNotExist(err) {
				t.Errorf("it wrote nevertheless: %v", err)
			}
			if claudes, members := s.agents("claude"), s.agents("copilot"); len(claudes) != 0 || len(members) != 1 {
				t.Errorf("the members are %v and %v", claudes, members)
			}
		})
	}
}
