package install

import (
	"context"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/harness"
)

// noted are files by which harnesses know that they have our plugin.
var noted = map[string][2]string{
	"claude":   {"home/.claude/settings.json", `{"enabledPlugins": {"talking-stick@talking-stick": true}}`},
	"codex":    {"home/.codex/config.toml", "[plugins.\"talking-stick@talking-stick\"]\nenabled = true\n"},
	"copilot":  {"home/.copilot/settings.json", `{"enabledPlugins": {"talking-stick@talking-stick": true}}`},
	"qwen":     {"home/.qwen/extensions/talking-stick/qwen-extension.json", "{}"},
	"gemini":   {"home/.gemini/extensions/talking-stick/gemini-extension.json", "{}"},
	"opencode": {"home/.config/opencode/opencode.jsonc", `{"plugin": ["` + harness.PluginPackage + `"]}`},
}

// TestInstallLeavesAPluginAlone: where a harness has our plugin, tt install says so and writes only what a
// plugin can't bring. Check counts the harness as connected, and says where both are.
func TestInstallLeavesAPluginAlone(t *testing.T) {
	for name, file := range noted {
		t.Run(name, func(t *testing.T) {
			row, _ := harness.ByName(name)
			w := newMachine(t)
			w.write(file[0], file[1])
			before := w.tree()
			steps := w.install(name)
			if len(steps) == 0 ||
				steps[0].State != Kept ||
				!strings.Contains(string(steps[0].Note), "so none of them is written") {
				t.Errorf("install says %+v", steps)
			}

			if row.Setup.Sandbox == nil {
				w.same("after install", before)
			} else if text := w.read(file[0]); !strings.Contains(text, "writable_roots") ||
				strings.Contains(text, "mcp_servers") {
				t.Errorf("the sandbox is told\n%s", text)
			}

			want := Status{Harness: name, Installed: All, Levels: []string{plugin}, Plugin: true}
			if d := cmp.Diff(want, w.check(never)[name]); d != "" {
				t.Error(d)
			}
			if steps := w.uninstall(name); steps[0].State != Kept ||
				!strings.Contains(string(steps[0].Note), string(row.Setup.Bundle.RemovalText())) {
				t.Errorf("uninstall says %+v", steps)
			}
			w.same("after uninstall", before)
		})
	}
}

// TestAPluginAfterInstall: where tt install has been there before, the plugin stands back, and install and
// check say that one of them is enough. After uninstall the plugin is alone.
func TestAPluginAfterInstall(t *testing.T) {
	w := newMachine(t)
	w.install("claude")
	row, _ := harness.ByName("claude")
	settings := w.read("home/.claude/settings.json")
	w.write("home/.claude/settings.json",
		strings.Replace(settings, "{", `{"enabledPlugins": {"talking-stick@x": true}, `, 1))
	before := w.tree()
	steps := w.install("claude")
	w.same("after install", before)
	if len(steps) != 1 || !strings.Contains(string(steps[0].Note), "tt uninstall claude") {
		t.Errorf("install says %+v", steps)
	}
	s := w.check(never)["claude"]
	if !s.Plugin || !slices.Equal(s.Levels, []string{"user", plugin}) || s.Installed != All {
		t.Errorf("check says %+v", s)
	}
	if !HasOwnServer(w.t, row) || !HasOwnHooks(w.t, row) {
		t.Error("the plugin doesn't stand back")
	}

	w.uninstall("claude")
	if HasOwnServer(w.t, row) || HasOwnHooks(w.t, row) {
		t.Error("the plugin stands back from nothing")
	}
}

// TestAPluginSpeaksWhereInstallMayNot: hooks that nobody has trusted don't run, so those of a plugin aren't
// silent beside them. Where a harness has one server of a name, that of a plugin keeps its tools.
func TestAPluginSpeaksWhereInstallMayNot(t *testing.T) {
	w := newMachine(t)
	w.install("codex")
	row, _ := harness.ByName("codex")
	if HasOwnHooks(w.t, row) || HasOwnServer(w.t, row) {
		t.Error("the plugin stands back from hooks that don't run, or from the server that it has replaced")
	}
}

// TestAProjectGetsItsOwn: a plugin of one user doesn't keep tt install from writing for everybody in a
// project. A project that asks for the plugin is left alone.
func TestAProjectGetsItsOwn(t *testing.T) {
	w := newMachine(t)
	w.write(noted["claude"][0], noted["claude"][1])
	w.inProject()
	w.install("claude")
	if !strings.Contains(w.read("app/.claude/settings.json"), "tt hook") {
		t.Error("the project got no hooks")
	}

	w.uninstall("claude")
	w.write("app/.claude/settings.json", noted["claude"][1])
	w.install("claude")
	if text := w.read("app/.claude/settings.json"); text != noted["claude"][1] {
		t.Errorf("the project's settings are\n%s", text)
	}
}

// TestPluginHooksAreQuiet: the commands of a plugin's hooks succeed without a word where there is no tt.
func TestPluginHooksAreQuiet(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil && runtime.GOOS == "windows" {
		t.Skip("Windows needs no sh")
	}
	if err != nil {
		t.Fatal(err)
	}

	for event, groups := range PluginHooks(harness.RowsForFormat(harness.FormatClaude)...) {
		for _, g := range groups {
			for _, h := range g.Hooks {
				c := exec.CommandContext(context.Background(), sh, "-c", h.Command)
				c.Env = []string{"PATH=" + t.TempDir()}
				if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
					t.Errorf("%s: %v, %q", event, err, out)
				}
			}
		}
	}
}

// TestPluginHooksServeAll: a plugin for several harnesses has every event and every tool that install would
// register in each of them, and wakes in the words of each.
func TestPluginHooksServeAll(t *testing.T) {
	for _, format := range []harness.Format{harness.FormatClaude, harness.FormatGemini} {
		rows := harness.RowsForFormat(format)
		hooks := PluginHooks(rows...)
		for _, row := range rows {
			for _, want := range everywhere.wantedHooks(row, row.Setup) {
				i := slices.IndexFunc(hooks[want.event], func(g harness.HookGroup) bool {
					h := g.Hooks[0]
					return h.Command == want.Command && (!want.Async || h.Async) && (!want.AsyncRewake || h.AsyncRewake)
				})

				if i < 0 {
					t.Errorf("%s lacks %+v", row.Name, want)
					continue
				}

				for tool := range strings.SplitSeq(strings.Trim(want.tools, "^()$"), "|") {
					if !strings.Contains(hooks[want.event][i].Matcher, tool) {
						t.Errorf("%s lacks the tool %s", row.Name, tool)
					}
				}
			}
		}
	}
}
