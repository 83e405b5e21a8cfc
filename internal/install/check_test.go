package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// never is for tests in which no harness's program may run.
func never(context.Context, string, ...string) ([]byte, error) { panic("a program was run") }

// check returns the status of each harness that is shown.
func (w *machine) check(run Run) map[string]Status {
	all := map[string]Status{}
	for _, s := range Check(context.Background(), w.t, run) {
		all[s.Harness] = s
	}
	return all
}

// The status of each harness that was used says whether tt is installed, where, and what is missing.
func TestCheck(t *testing.T) {
	w := newMachine(t)
	if got := w.check(never); len(got) != 0 {
		t.Errorf("where no harness was used: %+v", got)
	}

	for _, dir := range []string{"home/.gemini/config/x", "home/.config/opencode/x", "app/x"} {
		w.write(dir, "")
	}
	w.install("claude", "codex")
	got := w.check(never)
	no := Status{Installed: No, Levels: []string{}}
	opencode, gemini, antigravity := no, no, no // the skill that is there is Codex's
	opencode.Harness, gemini.Harness, antigravity.Harness = "opencode", "gemini", "antigravity"

	want := map[string]Status{
		"claude":   {Harness: "claude", Installed: All, Levels: []string{"user"}},
		"codex":    {Harness: "codex", Installed: All, Levels: []string{"user"}, Trusted: new(bool)},
		"opencode": opencode, "gemini": gemini, "antigravity": antigravity,
	}

	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	w.write("home/.claude/settings.json",
		strings.Replace(w.read("home/.claude/settings.json"), "SessionEnd", "SessionEnded", 1))
	if err := os.Remove(filepath.Join(w.root, "home/.claude/skills/talking-stick/SKILL.md")); err != nil {
		t.Fatal(err)
	}
	w.write("home/.gemini/settings.json", "{")
	got = w.check(never)
	if d := cmp.Diff(Status{
		Harness: "claude", Installed: Partly, Levels: []string{"user"},
		Missing: []stick.Words{"skill", "hooks"},
	}, got["claude"]); d != "" {
		t.Error(d)
	}
	if s := got["gemini"]; s.Installed != No || !strings.Contains(string(s.Problem), "settings.json") {
		t.Errorf("with a malformed file: %+v", s)
	}

	before := w.tree()
	w.inProject()
	w.check(never)
	w.same("after a look", before)

	w.install("claude", "opencode")
	got = w.check(never)
	if d := cmp.Diff(Status{Harness: "claude", Installed: All, Levels: []string{"user", "project"}}, got["claude"]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Status{Harness: "opencode", Installed: All, Levels: []string{"project"}}, got["opencode"]); d != "" {
		t.Error(d)
	}

	w.t.TT = filepath.Join(w.root, "elsewhere/tt")
	got = w.check(never)
	if s := got["codex"]; s.Installed != Partly || !slices.Equal(s.Missing, []stick.Words{"hooks", "MCP server"}) {
		t.Errorf("from another place: %+v", s)
	}
	if s := got["opencode"]; s.Installed != All {
		t.Errorf("a project's files name no place: %+v", s)
	}
}

// Programs that PATH finds are asked for their versions, all at once. No harness may take long to answer.
func TestCheckVersions(t *testing.T) {
	w := newMachine(t)
	w.install(allNames...)
	for _, name := range []string{"claude", "codex", "gemini", "agy"} {
		w.write("tools/"+name, "")
		if name != "agy" { // it can't be run
			if err := os.Chmod(filepath.Join(w.root, "tools", name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}

	w.write("first/claude/x", "") // a directory is no program
	w.env["PATH"] = strings.Join(
		[]string{filepath.Join(w.root, "first"), "", "tools", filepath.Join(w.root, "tools")},
		string(filepath.ListSeparator),
	)
	var started atomic.Int32
	all := make(chan struct{}) // closed when all three run at the same time
	got := w.check(func(ctx context.Context, program string, args ...string) ([]byte, error) {
		if filepath.Dir(program) != filepath.Join(w.root, "tools") || !slices.Equal(args, []string{"--version"}) {
			t.Errorf("ran %s %v", program, args)
		}
		limit, ok := ctx.Deadline()
		if !ok || time.Until(limit) > 3*time.Second {
			t.Error("it may take long")
		}

		if started.Add(1) == 3 {
			close(all)
		}

		select {
		case <-all:
		case <-ctx.Done():
			return nil, ctx.Err()
		}

		switch filepath.Base(program) {
		case "claude":
			return []byte("2.1.197 (Claude Code)\n"), nil
		case "codex":
			return []byte("codex-cli 0.169.0-alpha.1\n"), nil
		}

		return []byte("9.9.9"), errors.New("it failed")
	})

	for name, want := range map[string]string{
		"claude": "2.1.197", "codex": "0.169.0-alpha.1", "gemini": "", "antigravity": "", "opencode": "",
	} {
		if got[name].Version != want {
			t.Errorf("%s has version %q", name, got[name].Version)
		}
	}
}

// Codex trusts a hook by its file, its place and what it does, so a person has to trust any change again.
// Until all hooks are trusted, the next step is to open /hooks.
func TestCodexTrust(t *testing.T) {
	w := newMachine(t)
	w.write("home/.codex/hooks.json",
		`{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "other"}]}]}}`)
	steps := w.install("codex")

	trust := func() (yes, told bool) {
		s := w.check(never)["codex"]
		if s.Trusted == nil {
			return false, false
		}
		return *s.Trusted, true
	}

	codex, _ := harness.ByName("codex")
	review := "codex: " + codex.Setup.Trust.Review
	if yes, told := trust(); yes || !told || !slices.Contains(NextSteps(t.Context(), w.t, steps, never), review) {
		t.Errorf("before anybody trusted them: %v %v, %v", yes, told, NextSteps(t.Context(), w.t, steps, never))
	}

	hooks := filepath.Join(w.t.Home, ".codex/hooks.json")
	var file struct {
		Hooks map[string][]struct {
			Matcher *string
			Hooks   []json.RawMessage
		}
	}

	if err := json.Unmarshal([]byte(w.read("home/.codex/hooks.json")), &file); err != nil {
		t.Fatal(err)
	}
	config := w.read("home/.codex/config.toml")

	n := 0
	for event, groups := range file.Hooks {
		for g, in := range groups {
			if event == "Stop" && g == 0 {
				continue // the other's
			}
			at := codex.Setup.Trust.At(hooks, event, g, 0)
			config += fmt.Sprintf("\n[%s.%s.%q]\n%s = %q\n",
				at[0], at[1], at[2], at[3], codex.Setup.Trust.Note(event, in.Matcher, in.Hooks[0]))
			n++
		}
	}

	if n != 9 {
		t.Errorf("%d hooks of ours", n)
	}
	w.write("home/.codex/config.toml", config)
	if yes, _ := trust(); !yes || slices.Contains(NextSteps(t.Context(), w.t, w.install("codex"), never), review) {
		t.Error("all were trusted")
	}

	w.t.TT = filepath.Join(w.root, "elsewhere/tt")
	if yes, _ := trust(); !yes {
		t.Error("what is trusted is what stands there, not what would be put there")
	}

	w.install("codex")
	if yes, _ := trust(); yes {
		t.Error("the commands have changed")
	}

	w.uninstall("codex")
	if strings.Count(w.read("home/.codex/config.toml"), "trusted_hash") != 9 {
		t.Error("what Codex noted isn't ours to remove")
	}
	if trusted := w.t.isTrusted(codex); trusted != nil {
		t.Error("without hooks of ours there is nothing to trust")
	}
}
