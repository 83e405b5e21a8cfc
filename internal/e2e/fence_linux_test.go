package e2e

import (
	"os"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/testenv"
)

// TestHarnessesAreFenced: in a room that enforces the stick, a real harness's edits are denied while another
// agent holds it, and work once the turn has come. Then the stick is taken over in the middle of a command,
// perhaps while the harness is stopped. The harness learns that the command's write came too late, and
// neither the hook before its next edit nor git lets it change anything more.
func TestHarnessesAreFenced(t *testing.T) {
	testenv.LeavesToFull(t, *allPairs, "sessions with other tools and other models of the harnesses")
	realharness.Require(t, realharness.All...)

	t.Parallel()
	for _, c := range []struct {
		name   string
		h      *realharness.Harness
		model  string
		change func(path, old, new string) modelapi.Call
		stops  bool // also without -pairs
		costly bool // only with -pairs
	}{
		{name: "opencode", h: realharness.OpenCode, change: modelapi.Edit}, // the slowest first
		{name: "claude", h: realharness.Claude, change: modelapi.Edit, stops: true},
		{name: "codex", h: realharness.Codex, change: modelapi.Edit, stops: true},
		{name: "gemini", h: realharness.Gemini, change: rewrite},
		{name: "copilot", h: realharness.Copilot, change: modelapi.Edit},
		{name: "qwen", h: realharness.Qwen, change: modelapi.Edit},
		{name: "pi", h: realharness.Pi, change: modelapi.Edit},
		{name: "claude writes", h: realharness.Claude, change: rewrite, costly: true},
		{
			name: "codex with an older model", h: realharness.Codex, model: "gpt-5.5", change: modelapi.Edit,
			costly: true,
		},
		{
			name: "codex with an unknown model", h: realharness.Codex, model: "unknown",
			change: modelapi.Edit, costly: true,
		},
		{name: "gemini edits", h: realharness.Gemini, change: modelapi.Edit, costly: true},
		{
			name: "copilot with a model that patches", h: realharness.Copilot, model: "gpt-5.1-codex",
			change: modelapi.Edit, costly: true,
		},
		{name: "qwen writes", h: realharness.Qwen, change: rewrite, costly: true},
		{name: "pi writes", h: realharness.Pi, change: rewrite, costly: true},
		{name: "opencode writes", h: realharness.OpenCode, change: rewrite, costly: true},
	} {
		if c.costly && !*allPairs {
			continue
		}

		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFence(t, c.h)
			f.change = c.change
			f.begin(c.model, true)
			f.waitsForItsTurn()

			if c.stops || *allPairs {
				f.isTakenOver(f.stopped)
			} else {
				f.isTakenOver(f.overruled)
			}

			f.asksGit()
			f.end()
		})
	}
}

func rewrite(path, _, new string) modelapi.Call { return modelapi.Write(path, new+"\n") }

// TestHarnessesFencedByGitAlone: Codex skips hooks that nobody has trusted, so nothing stops its edits. The
// hooks of git still refuse its commit.
func TestHarnessesFencedByGitAlone(t *testing.T) {
	realharness.Require(t, realharness.Codex)

	t.Parallel()
	f := newFence(t, realharness.Codex)
	f.begin("", false)
	f.talk.do(f.change(f.file, "one", "two"))
	f.holds("two\n")
	f.asksGit()
	f.end()
	if said := f.run("doctor"); !strings.Contains(said, "hooks not trusted") {
		t.Errorf("the doctor says\n%s", said)
	}
}

// TestHarnessesWithoutADatabase: only the database denies. While it is missing, the harness edits as if there
// were no room: nothing makes a new one, and nothing is printed. Once it is back, edits are denied again.
func TestHarnessesWithoutADatabase(t *testing.T) {
	realharness.Require(t, realharness.Codex)

	t.Parallel()
	f := newFence(t, realharness.Codex)
	f.begin("", true)
	f.denied(f.change(f.file, "one", "two"), "one\n")
	if err := os.Rename(f.data(), f.data()+".aside"); err != nil {
		t.Fatal(err)
	}
	if said := f.talk.do(f.change(f.file, "one", "two")); strings.Contains(said, "Talking Stick") {
		t.Errorf("without a database the model is told\n%s", said)
	}

	f.holds("two\n")
	if _, err := os.Lstat(f.data()); !os.IsNotExist(err) {
		t.Errorf("something made a data directory: %v", err)
	}

	if err := os.Rename(f.data()+".aside", f.data()); err != nil {
		t.Fatal(err)
	}
	f.denied(f.change(f.file, "two", "three"), "two\n")
	f.end()
}
