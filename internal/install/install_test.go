package install

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// Files that people wrote by hand keep every byte; a second install does nothing; uninstall gives every
// byte and mode back, and leaves no file behind.
func TestInstallAndUninstallHandMade(t *testing.T) {
	for _, scope := range []string{"user", "project"} {
		for _, names := range append([][]string{allNames}, []string{"claude"}, []string{"codex"}, []string{"gemini"}, []string{"antigravity"}, []string{"opencode"}, []string{"copilot"}, []string{"qwen"}, []string{"pi"}) {
			t.Run(scope+" "+strings.Join(names, " "), func(t *testing.T) {
				w := handMadeMachine(t)
				if scope == "project" {
					w.inProject()
				}
				before := w.tree()
				w.install(names...)
				after := w.tree()

				changed := 0
				for name := range handMade {
					if after[name] != before[name] {
						changed++
						w.holds(name, before[name], after[name])
						if got := w.read(w.copyOf(name)); got != handMade[name] {
							t.Errorf("the copy of %s is\n%s", name, got)
						}
					}
				}

				// it gets only files of ours
				if own := scope == "user" && slices.Equal(names, []string{"pi"}); changed == 0 && !own {
					t.Error("nothing was changed")
				}

				for _, s := range w.install(names...) {
					if s.Pending() || s.State != There || s.Note != "" {
						t.Errorf("the second time: %+v", s)
					}
				}

				w.same("the second time", after)
				w.uninstall(names...)
				w.same("after uninstall", before)

				for _, s := range w.uninstall(names...) {
					if s.Pending() || s.State != Absent {
						t.Errorf("the second uninstall: %+v", s)
					}
				}
			})
		}
	}
}

// In a home without any file of a harness, uninstall leaves none, and no directory. An empty directory that
// was there before stays. That holds even if the program was moved in between, so that install had to change
// its own files.
func TestUninstallLeavesNoFile(t *testing.T) {
	for _, project := range []bool{false, true} {
		w := newMachine(t)
		if project {
			w.inProject()
		}

		for _, dir := range []string{"app/.opencode", "home/.codex", "data"} {
			if err := os.MkdirAll(filepath.Join(w.root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}

		before, dirs := w.tree(), w.directories()
		w.install(allNames...)
		there := w.tree()
		if len(there) < len(before)+8 {
			t.Errorf("only %d files were made", len(there)-len(before))
		}

		tt := w.t.TT
		w.t.TT = filepath.Join(w.root, "elsewhere", "tt")
		w.install(allNames...)
		if project {
			w.same("moved", there) // a project's files don't say where the program lies
		}

		for name, text := range w.tree() {
			if strings.Contains(text, "my bin/tt") || strings.HasPrefix(name, "data/") {
				t.Errorf("the old place is still in %s:\n%s", name, text)
			}
		}

		w.t.TT = tt
		w.install(allNames...)
		w.same("moved there and back", there)
		w.t.TT = filepath.Join(w.root, "elsewhere", "tt")
		w.uninstall(allNames...)
		w.same("after uninstall", before)
		if d := cmp.Diff(dirs, w.directories()); d != "" {
			t.Error(d)
		}
	}
}

// What others have changed since stays, and so does what was there before us, but empty.
func TestUninstallKeepsWhatOthersChangedSince(t *testing.T) {
	w := newMachine(t)
	w.write("home/.claude.json", "{\n  \"mcpServers\": {}\n}\n")
	w.write("home/.claude/settings.json", `{"hooks": {"Stop": []}}`)
	w.install("claude")
	w.write("home/.claude.json", strings.Replace(w.read("home/.claude.json"), "{\n", "{\n  \"numStartups\": 8,\n", 1))
	w.write("home/.claude/settings.json",
		strings.Replace(w.read("home/.claude/settings.json"), `{"hooks"`, `{"model": "opus", "hooks"`, 1))
	w.uninstall("claude")
	if d := cmp.Diff("{\n  \"numStartups\": 8,\n  \"mcpServers\": {}\n}\n", w.read("home/.claude.json")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(`{"model": "opus", "hooks": {"Stop": []}}`, w.read("home/.claude/settings.json")); d != "" {
		t.Error(d)
	}
}

// A copy may not be from before us, because somebody wrote into a file that we made. Such a copy restores
// nothing of ours, and a copy beside a file of ours doesn't keep that file.
func TestUninstallDoesNotRestoreOurs(t *testing.T) {
	w := newMachine(t)
	w.install("gemini", "claude")
	settings := "home/.gemini/settings.json"
	w.write(settings, strings.Replace(w.read(settings), "{\n", "{\n  \"theme\": \"dark\",\n", 1))
	w.t.TT = filepath.Join(w.root, "elsewhere", "tt")
	w.install("gemini")
	if !strings.Contains(w.read(w.copyOf(settings)), "my bin/tt") {
		t.Fatal("the copy has nothing of ours, so this shows nothing")
	}

	w.write("home/.claude/skills/talking-stick/SKILL.md"+confedit.BackupSuffix, "an older one")
	w.uninstall("gemini", "claude")
	if got := w.read(settings); got != "{\n  \"theme\": \"dark\"\n}\n" {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(w.root, "home/.claude/skills/talking-stick/SKILL.md")); !os.IsNotExist(err) {
		t.Error("the skill is still there:", err)
	}
}

// A copy beside the file, as earlier versions made it, restores the file and goes.
func TestCopiesOfEarlierVersions(t *testing.T) {
	w := newMachine(t)
	w.write("home/.claude.json", "{ \"mcpServers\": { } }")
	before := w.tree()
	w.install("claude")
	copied := filepath.Join(w.root, w.copyOf("home/.claude.json"))
	if err := os.Rename(copied, filepath.Join(w.root, "home/.claude.json"+confedit.BackupSuffix)); err != nil {
		t.Fatal(err)
	}

	w.t.TT = filepath.Join(w.root, "elsewhere", "tt")
	w.install("claude") // it needs no second copy
	if _, err := os.Stat(copied); !os.IsNotExist(err) {
		t.Error(err)
	}

	w.uninstall("claude")
	w.same("after uninstall", before)
}

// A workspace may go, and another one be made in its place. The copy of the earlier file restores nothing
// there, and is kept aside.
func TestCopiesOfAnEarlierWorkspace(t *testing.T) {
	w := newMachine(t)
	w.inProject()
	w.write("app/AGENTS.md", "# The first\n")
	w.write("app/.mcp.json", "{\"mcpServers\": {\"lab\": {\"command\": \"lab\"}}}")
	w.install("claude")
	if err := os.RemoveAll(filepath.Join(w.root, "app")); err != nil {
		t.Fatal(err)
	}

	w.write("app/AGENTS.md", "# The second\n")
	w.install("claude")
	if got := w.read(w.copyOf("app/AGENTS.md")); got != "# The second\n" {
		t.Error(got)
	}

	w.uninstall("claude")
	if got := w.read("app/AGENTS.md"); got != "# The second\n" {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(w.root, "app/.mcp.json")); !os.IsNotExist(err) {
		t.Error("a file of ours is left:", err)
	}
	if got := w.read(w.copyOf("app/AGENTS.md") + ".older"); got != "# The first\n" {
		t.Error(got)
	}
}

// Files of white space, and empty ones, come back.
func TestUninstallRestoresBlankFiles(t *testing.T) {
	w := newMachine(t)
	w.write("home/.claude/settings.json", "\n\n")
	w.write("home/.claude.json", "")
	w.write("home/.codex/config.toml", "\n# nothing yet\n\n")
	w.write("home/.codex/hooks.json", "{ }")
	before := w.tree()
	w.install("claude", "codex")
	w.uninstall("claude", "codex")
	w.same("after uninstall", before)
}

// If a file can't be read, install refuses and touches no other file.
func TestMalformedIsRefusedUntouched(t *testing.T) {
	for file, text := range map[string]string{
		"home/.claude/settings.json":          `{"permissions": {"allow": ["Bash"]}`,
		"home/.claude.json":                   `{"mcpServers": "none"}`,
		"home/.codex/hooks.json":              `{"hooks": {"Stop": {}}}`,
		"home/.codex/config.toml":             "model = \"gpt",
		"home/.gemini/settings.json":          "{'theme': 1}",
		"home/.gemini/config/mcp_config.json": "{} {}",
		"home/.config/opencode/opencode.json": "[]",
		"app/AGENTS.md":                       confedit.Begin + "\nno end\n",
	} {
		t.Run(file, func(t *testing.T) {
			w := newMachine(t)
			if strings.HasPrefix(file, "app/") {
				w.inProject()
			}
			w.write(file, text)
			before := w.tree()
			_, err := Install(w.t, allNames)
			if stick.CodeOf(err) != stick.CodeConfigMalformed || !strings.Contains(err.Error(), filepath.Base(file)) {
				t.Errorf("refused with %v", err)
			}
			w.same("after the refusal", before)
		})
	}
}

// Entries of the npm program are removed and reported, and don't come back. Other entries of that name stay.
func TestNpmEntriesGo(t *testing.T) {
	npm := map[string]string{
		"home/.claude.json":                   `{"mcpServers":{"talking-stick":{"command":"npx","args":["-y","@dhwd/talking-stick","mcp"]},"lab":{"command":"lab"}}}`,
		"home/.codex/config.toml":             "[mcp_servers.talking-stick]\ncommand = \"/opt/npm/bin/tt\"\nargs = [\"mcp\"]\n",
		"home/.gemini/settings.json":          `{"mcpServers":{"talking-stick":{"command":"node","args":["/opt/talking-stick/dist/cli.js","mcp"]}}}`,
		"home/.config/opencode/opencode.json": `{"mcp":{"talking-stick":{"type":"local","command":["talking-stick","mcp"]}}}`,
	}

	w := newMachine(t)
	for file, text := range npm {
		w.write(file, text)
	}
	steps := w.install(allNames...)
	gone := RemovedNpmEntries(steps)
	if len(gone) != len(npm) {
		t.Errorf("told as gone: %v", slices.Sorted(maps.Keys(gone)))
	}

	for file := range npm {
		if strings.Contains(w.read(file), `"talking-stick"`) ||
			strings.Contains(w.read(file), "mcp_servers.talking-stick") {
			t.Errorf("%s still has it:\n%s", file, w.read(file))
		}
		if gone[filepath.Join(w.root, file)] == nil {
			t.Errorf("it isn't told that it went from %s", file)
		}
	}

	if got := w.read("home/.claude.json"); !strings.Contains(got, `"lab":{"command":"lab"}`) ||
		!strings.Contains(got, "my bin/tt") {
		t.Error(got)
	}
	w.uninstall(allNames...)
	if got := w.read("home/.claude.json"); got != `{"mcpServers":{"lab":{"command":"lab"}}}` {
		t.Error("after uninstall:", got)
	}

	for _, entry := range []string{
		`{"command":"vault","args":["mcp"]}`, `{"command":"tt","args":["serve"]}`,
		`{"url":"https://example.com"}`, `{"command":"node","args":["other.js","mcp"]}`,
		`{"command":` + quoted(w.t.TT) + `,"args":["mcp"]}`, // this program, under another name
	} {
		w := &machine{T: t, root: w.root, t: w.t, env: w.env}
		w.write("home/.claude.json", `{"mcpServers":{"talking-stick":`+entry+`}}`)
		if len(RemovedNpmEntries(w.install("claude"))) != 0 || !strings.Contains(w.read("home/.claude.json"), entry) {
			t.Errorf("%s was taken for the npm program: %s", entry, w.read("home/.claude.json"))
		}

		w.uninstall("claude")
		if !strings.Contains(w.read("home/.claude.json"), entry) {
			t.Errorf("%s was removed: %s", entry, w.read("home/.claude.json"))
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// A server named tt that is another program stays after install and uninstall. A server of ours keeps what
// somebody added to it.
func TestServersCalledTT(t *testing.T) {
	w := newMachine(t)
	w.write("home/.claude.json", `{"mcpServers":{"tt":{"command":"timetracker","args":["mcp"]}}}`)
	w.write("home/.codex/config.toml", "[mcp_servers.tt]\ncommand = \"/usr/bin/timetracker\"\n")
	steps := w.install("claude", "codex")

	noted := 0
	for _, s := range steps {
		if strings.Contains(string(s.Note), "another program") {
			noted++
		}
	}

	if noted != 2 ||
		!strings.Contains(w.read("home/.claude.json"), `{"tt":{"command":"timetracker","args":["mcp"]}}`) ||
		!strings.Contains(w.read("home/.codex/config.toml"), "[mcp_servers.tt]\ncommand = \"/usr/bin/timetracker\"\n") {
		t.Errorf("%d notes\n%s\n%s", noted, w.read("home/.claude.json"), w.read("home/.codex/config.toml"))
	}

	w.uninstall("claude", "codex")
	if got := w.read("home/.claude.json"); got != `{"mcpServers":{"tt":{"command":"timetracker","args":["mcp"]}}}` {
		t.Error("after uninstall:", got)
	}

	w.write("home/.claude.json",
		`{"mcpServers":{"tt":{"type":"stdio","command":"/old/tt","args":["mcp","--tools","all"],"timeout":9}}}`)
	w.write("home/.codex/config.toml",
		"[mcp_servers.tt]\ncommand = \"/old/tt\"\nargs = [\"mcp\", \"--tools\", \"all\"]\ntool_timeout_sec = 9\n")
	w.write("home/.config/opencode/opencode.json",
		`{"mcp":{"tt":{"type":"local","command":["/old/tt","mcp","--tools","all"],"enabled":false}}}`)
	w.install("claude", "codex", "opencode")

	tt := quoted(w.t.TT)
	for file, want := range map[string]string{
		"home/.claude.json":                   `{"mcpServers":{"tt":{"type":"stdio","command":` + tt + `,"args":["mcp","--tools","all"],"timeout":9}}}`,
		"home/.config/opencode/opencode.json": `{"mcp":{"tt":{"type":"local","command":[` + tt + `,"mcp","--tools","all"],"enabled":false}}}`,
	} {
		if d := cmp.Diff(want, w.read(file)); d != "" {
			t.Error(file, d)
		}
	}

	if got := w.read("home/.codex/config.toml"); !strings.Contains(got,
		"args = [\"mcp\", \"--tools\", \"all\"]\ntool_timeout_sec = 9\n") ||
		strings.Contains(got, "/old/tt") {
		t.Error(got)
	}
}

// The skill that harnesses share goes with the last of them in which tt is installed. In a project so do the
// instructions.
func TestSharedSkillStaysWhileUsed(t *testing.T) {
	shared := "home/.agents/skills/talking-stick/SKILL.md"
	w := newMachine(t)
	w.install("codex", "gemini", "opencode")
	steps := w.uninstall("codex")
	i := slices.IndexFunc(steps, func(s FileChange) bool { return s.What == "skill" })
	if steps[i].State != Kept || steps[i].Note != "still used by gemini and opencode" {
		t.Errorf("%+v", steps[i])
	}
	if w.read(shared) != harness.Skill {
		t.Error("the skill is gone")
	}

	w.write("home/.gemini/settings.json", "{") // a file that can't be read may have something of ours
	w.uninstall("opencode")
	w.read(shared)
	if err := os.Remove(filepath.Join(w.root, "home/.gemini/settings.json")); err != nil {
		t.Fatal(err)
	}

	w.install("gemini", "opencode")
	w.uninstall("gemini", "opencode")
	if _, err := os.Stat(filepath.Join(w.root, filepath.Dir(shared))); !os.IsNotExist(err) {
		t.Error("the skill is still there:", err)
	}

	w.inProject()
	w.install("claude", "codex")
	if got := w.states(w.uninstall("claude")); got["app/AGENTS.md"] != Kept ||
		got["app/CLAUDE.md"] != Removed ||
		got["app/.mcp.json"] != Removed {
		t.Error(got)
	}

	w.install("codex", "gemini")
	if err := os.Symlink("GEMINI.md", filepath.Join(w.root, "app/CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	w.install("claude")
	if got := w.states(w.uninstall("gemini")); got["app/GEMINI.md"] != Kept ||
		got["app/.gemini/settings.json"] != Removed {
		t.Error(got)
	}
	if got := w.states(w.uninstall("codex", "claude")); got["app/AGENTS.md"] != Removed ||
		got["app/CLAUDE.md"] != Removed {
		t.Error(got)
	}
}

// A server that harnesses share in a project goes with the last of them in which tt is installed. Somebody
// who has only the other harness isn't told that tt is there.
func TestSharedServerStaysWhileUsed(t *testing.T) {
	w := newMachine(t)
	w.inProject()
	before := w.tree()
	w.install("claude")
	if s, shown := w.check(never)["copilot"]; shown {
		t.Errorf("for Claude Code alone, Copilot is %+v", s)
	}

	alone := w.read("app/.mcp.json")
	for _, s := range w.install("claude", "copilot") {
		if strings.HasSuffix(s.File, ".mcp.json") && (s.What != "MCP server" || s.State != There) {
			t.Errorf("%+v", s)
		}
	}

	if d := cmp.Diff(alone, w.read("app/.mcp.json")); d != "" {
		t.Error(d)
	}

	for _, one := range []string{"claude", "copilot"} {
		other := map[string]string{"claude": "copilot", "copilot": "claude"}[one]
		steps := w.uninstall(one)
		i := slices.IndexFunc(steps, func(s FileChange) bool { return s.What == "MCP server" })
		if steps[i].State != Kept || steps[i].Note != stick.Words("still used by "+other) {
			t.Errorf("%+v", steps[i])
		}
		w.install(one)
	}

	w.uninstall("claude")
	if s := w.check(never)["copilot"]; s.Installed != All {
		t.Errorf("without Claude Code it is %+v", s)
	}

	w.uninstall("copilot")
	w.same("after the last", before)
}

// What is printed for other harnesses is an entry that runs this program, whatever its path, beside nothing
// else.
func TestSnippets(t *testing.T) {
	w := newMachine(t)
	for _, name := range harness.SnippetNames() {
		s, ok := harness.SnippetFor(name, w.t.TT)
		toml, entries := strings.HasSuffix(s.File, ".toml"), 0
		for _, at := range []string{"mcpServers", "mcp", "mcp_servers"} {
			if e := valueAt([]byte(s.Text), toml, []string{at, harness.ServerName}); e != nil {
				entries++
				if argv, _ := argvOf(e); !slices.Equal(argv, []string{w.t.TT, "mcp"}) || !w.t.runsUs(e) {
					t.Errorf("%s runs %q", name, argv)
				}
			}
		}

		if !ok || entries != 1 || s.Title == "" || !strings.HasPrefix(s.File, "~/") {
			t.Errorf("%+v", s)
		}
		if _, known := harness.ByName(name); known {
			t.Errorf("%s has a row", name)
		}
	}

	if _, ok := harness.SnippetFor("emacs", w.t.TT); ok {
		t.Error("there is a snippet for emacs")
	}
}

// Install and uninstall leave a skill or plugin alone that somebody has edited, and report it.
func TestEditedFilesOfOursStay(t *testing.T) {
	w := newMachine(t)
	w.install("claude", "opencode", "pi")
	edited := []string{
		"home/.claude/skills/talking-stick/SKILL.md",
		"home/.config/opencode/plugin/talking-stick.js",
		"home/.pi/agent/extensions/talking-stick.ts",
	}
	for _, file := range edited {
		w.write(file, w.read(file)+"\n// mine\n")
	}

	before := w.tree()
	for _, f := range []func(...string) []FileChange{w.install, w.uninstall} {
		got := w.states(f("claude", "opencode", "pi"))
		for _, file := range edited {
			if got[file] != Kept || w.tree()[file] != before[file] {
				t.Errorf("%s: %s", file, got[file])
			}
		}
	}
}

// Uninstall leaves a skill alone that is a symbolic link into somebody's own collection.
func TestLinkedSkillStays(t *testing.T) {
	w := newMachine(t)
	w.write("dotfiles/SKILL.md", harness.Skill)
	link := filepath.Join(w.root, "home/.claude/skills/talking-stick/SKILL.md")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink(filepath.Join(w.root, "dotfiles/SKILL.md"), link); err != nil {
		t.Fatal(err)
	}
	before := w.tree()
	w.install("claude")
	if got := w.states(w.uninstall("claude")); got["home/.claude/skills/talking-stick/SKILL.md"] != Kept {
		t.Error(got)
	}
	w.same("after uninstall", before)
}

// A shell runs the command of a hook as intended, whatever characters the path has. When the program is gone,
// the command prints nothing and succeeds.
func TestHookCommandsRun(t *testing.T) {
	w := newMachine(t)
	w.install("claude", "codex", "gemini", "copilot", "qwen")
	for file, name := range map[string]string{
		"home/.claude/settings.json": "claude", "home/.codex/hooks.json": "codex",
		"home/.gemini/settings.json":             "gemini",
		"home/.copilot/hooks/talking-stick.json": "copilot", "home/.qwen/settings.json": "qwen",
	} {
		var config struct {
			Hooks map[string][]harness.HookGroup
		}
		if err := json.Unmarshal([]byte(w.read(file)), &config); err != nil {
			t.Fatal(err)
		}
		if row, _ := harness.ByName(name); len(config.Hooks) != len(row.Hooks) {
			t.Errorf("%s has hooks for %d events", name, len(config.Hooks))
		}

		for event, groups := range config.Hooks {
			for _, g := range groups {
				command := g.Hooks[0].Command
				want := "called hook\n"
				if strings.Contains(command, "--wake") {
					want = "called hook --wake\n"
				}

				for _, c := range []struct{ gone, want string }{{"", want}, {"gone", ""}} {
					if c.gone != "" {
						if err := os.Rename(w.t.TT, w.t.TT+c.gone); err != nil {
							t.Fatal(err)
						}
					}

					out, err := exec.Command("sh", "-c", command).CombinedOutput()
					if err != nil || string(out) != c.want {
						t.Errorf("%s %s %s: %v, %q", name, event, c.gone, err, out)
					}

					if c.gone != "" {
						if err := os.Rename(w.t.TT+c.gone, w.t.TT); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
	}
}

// Hooks of earlier versions are replaced, and each in its place: they named the harness, and passed on
// whatever status the program ended with. So is one that a harness has taken over from another's file. A hook
// of somebody else stays.
func TestHooksOfEarlierVersionsAreReplaced(t *testing.T) {
	for name, file := range map[string]string{
		"claude": "home/.claude/settings.json", "codex": "home/.codex/hooks.json",
		"gemini": "home/.gemini/settings.json",
	} {
		w := newMachine(t)
		w.install(name)
		now := w.read(file)
		for _, older := range []struct{ hook, wake string }{
			{" hook " + name, " hook " + name + " --wake"},
			{" hook claude", " hook claude --wake"},
		} {
			text := strings.ReplaceAll(now, " hook || true", older.hook)
			text = strings.ReplaceAll(text, " hook --wake || [ $? -ne 76 ] || exit 2", older.wake)
			if text == now || strings.Contains(text, "||  true") || strings.Contains(text, "-ne 76") {
				t.Fatalf("these aren't hooks of an earlier version:\n%s", text)
			}

			w.install(name)
			w.write(file, text)
			if s := w.check(never)[name]; s.Installed != Partly || !slices.Equal(s.Missing, []stick.Words{"hooks"}) {
				t.Errorf("%s of an earlier version is %+v", name, s)
			}

			w.install(name)
			if d := cmp.Diff(now, w.read(file)); d != "" {
				t.Errorf("%s after the update:\n%s", name, d)
			}

			w.write(file, text)
			w.uninstall(name)
			if left := w.tree()[file]; strings.Contains(left, " hook") {
				t.Errorf("%s after uninstall:\n%s", name, left)
			}
		}
	}

	w := newMachine(t)
	const others = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/bin/other hook claude"},{"type":"command","command":"tt hooked || true"},{"type":"command","command":"tt hook git pre-commit"}]}]}}`
	w.write("home/.claude/settings.json", others)
	w.install("claude")
	w.uninstall("claude")
	if d := cmp.Diff(others, w.read("home/.claude/settings.json")); d != "" {
		t.Error(d)
	}
}

// A variable that moves a harness's configuration moves everything that install writes for it.
func TestMovedConfigurations(t *testing.T) {
	w := newMachine(t)
	w.env["CLAUDE_CONFIG_DIR"] = filepath.Join(w.root, "moved/claude")
	w.env["CODEX_HOME"] = filepath.Join(w.root, "moved/codex")
	w.env["XDG_CONFIG_HOME"] = filepath.Join(w.root, "moved/config")
	w.env["COPILOT_HOME"] = filepath.Join(w.root, "moved/copilot")
	w.env["QWEN_HOME"] = filepath.Join(w.root, "moved/qwen")
	w.env["PI_CODING_AGENT_DIR"] = filepath.Join(w.root, "moved/pi")
	w.install("claude", "codex", "opencode", "copilot", "qwen", "pi")
	got := slices.Sorted(maps.Keys(w.tree()))

	want := []string{
		"home/.agents/skills/talking-stick/SKILL.md",
		"moved/claude/.claude.json", "moved/claude/settings.json", "moved/claude/skills/talking-stick/SKILL.md",
		"moved/codex/config.toml", "moved/codex/hooks.json",
		"moved/config/opencode/opencode.json", "moved/config/opencode/plugin/talking-stick.js",
		"moved/copilot/hooks/talking-stick.json", "moved/copilot/mcp-config.json",
		"moved/pi/extensions/talking-stick.ts", "moved/qwen/settings.json",
		"my bin/tt",
	}

	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"claude", "codex", "opencode", "copilot", "qwen", "pi"}, FoundHarnesses(w.t)); d != "" {
		t.Error("found:", d)
	}
}

// The hook before a tool runs only for the tools that edit, because it costs a process each time. An
// installation from before that hook gets it, and keeps its others as they were.
func TestHookBeforeATool(t *testing.T) {
	w := newMachine(t)
	for _, c := range []struct{ name, file, event, tools, after string }{
		{
			"claude",
			"home/.claude/settings.json",
			"PreToolUse",
			"^(Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*)$",
			"PostToolUse",
		},
		{"codex", "home/.codex/hooks.json", "PreToolUse", "^(apply_patch|Bash|mcp__.*)$", "PostToolUse"},
		{
			"gemini",
			"home/.gemini/settings.json",
			"BeforeTool",
			"^(write_file|replace|run_shell_command|mcp_.*)$",
			"AfterTool",
		},
		{
			"qwen",
			"home/.qwen/settings.json",
			"PreToolUse",
			"^(write_file|edit|notebook_edit|run_shell_command|mcp__.*)$",
			"PostToolUse",
		},
		{"copilot", "home/.copilot/hooks/talking-stick.json", "PreToolUse", "^(Write|Edit|Bash|.+-.+)$", "PostToolUse"},
	} {
		w.install(c.name)
		before := w.read(c.file)
		var config map[string]map[string]json.RawMessage
		if err := json.Unmarshal([]byte(before), &config); err != nil {
			t.Fatal(err)
		}

		var groups, after []harness.HookGroup
		if json.Unmarshal(config["hooks"][c.event], &groups) != nil ||
			json.Unmarshal(config["hooks"][c.after], &after) != nil {
			t.Fatal(before)
		}

		row, _ := harness.ByName(c.name)
		want := 5 * row.Setup.HookUnit
		if len(groups) != 1 ||
			groups[0].Matcher != c.tools ||
			len(groups[0].Hooks) != 1 ||
			groups[0].Hooks[0].Timeout != want {
			t.Errorf("%s: before a tool %+v", c.name, groups)
		}
		if len(after) != 1 || after[0].Matcher != "" {
			t.Errorf("%s: after a tool %+v", c.name, after)
		}

		delete(config["hooks"], c.event)
		earlier, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		w.write(c.file, string(earlier))
		if s := w.check(never)[c.name]; s.Installed != Partly || !slices.Equal(s.Missing, []stick.Words{"hooks"}) {
			t.Errorf("%s of an earlier version is %+v", c.name, s)
		}

		w.install(c.name)
		if s := w.check(never)[c.name]; s.Installed != All {
			t.Errorf("%s is %+v", c.name, s)
		}
	}
}
