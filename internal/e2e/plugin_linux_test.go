package e2e

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/harness"
)

// pluginDir is the directory with our plugins, as a release writes it. TestMain removes it.
var pluginDir = sync.OnceValues(func() (string, error) {
	if _, err := program(); err != nil { // it makes the directory that TestMain removes
		return "", err
	}
	dir := filepath.Join(built, "plugins")
	out, err := exec.Command("go", "run", "talkingstick/internal/plugin", "-version", "0.1.0", dir).CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}

	return dir, err
})

// plugged are the harnesses that take a plugin of ours.
var plugged = []*realharness.Harness{
	realharness.Claude, realharness.Codex, realharness.Copilot, realharness.Qwen, realharness.Gemini,
	realharness.OpenCode,
}

// bundleOf returns the row's part about the plugin of a harness.
func bundleOf(t *testing.T, h *realharness.Harness) harness.Bundle {
	t.Helper()
	row, ok := harness.ByName(h.Name)
	if !ok || row.Setup.Bundle.Format == harness.NoPlugin {
		t.Fatalf("%s has no plugin", h.Name)
	}
	return row.Setup.Bundle
}

// own runs a command of a harness's own, as its person does in the repository.
func (s *stage) own(a *realharness.Agent, line string) string {
	s.t.Helper()
	dir, err := pluginDir()
	if err != nil {
		s.t.Fatal(err)
	}
	words := strings.Fields(strings.ReplaceAll(line, harness.From, dir))
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	c, err := a.Own(ctx, words[1:], s.options(a.Harness))
	if err != nil {
		s.t.Fatal(err)
	}

	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", line, err, out)
	}

	return string(out)
}

// plug installs our plugin in a harness, by the commands that its row names.
func (s *stage) plug(a *realharness.Agent) {
	s.t.Helper()
	for _, line := range bundleOf(s.t, a.Harness).Add {
		if a.Harness == realharness.Qwen || a.Harness == realharness.Gemini {
			line += " --consent" // the person's yes
		}
		s.own(a, line)
	}
}

// TestPluginsBringTT: a plugin that a harness has installed by its own command briefs the model, tells it of
// messages and denies an edit, each once, names the skill, and serves the tools. The same holds where tt
// install has been there before.
func TestPluginsBringTT(t *testing.T) {
	harnesses := played(t, plugged, realharness.Claude)

	t.Parallel()
	for _, h := range harnesses {
		t.Run(h.Name, func(t *testing.T) {
			for _, beside := range []bool{false, true} {
				t.Run(map[bool]string{false: "alone", true: "beside tt install"}[beside], func(t *testing.T) {
					bringsTT(t, h, beside)
				})
			}
		})
	}
}

func bringsTT(t *testing.T, h *realharness.Harness, beside bool) {
	s := newStage(t)
	s.as(reviewer, "wait", "--turn")
	s.as(reviewer, "policy", "set", "enforce=stick")
	server := "tt"
	if h == realharness.Claude && !beside {
		server = "plugin_talking-stick_tt"
	}

	steps := []modelapi.Script{
		modelapi.Do(modelapi.Shell(
			"TT_HARNESS_AGENT_ID=" + reviewer + " " + s.tt + " msg send room 'the build is red'",
		)),
		modelapi.Do(modelapi.MCP(server, "get_room_state", map[string]any{})),
	}

	names := []string{"one.txt", "two.txt", "three.txt", "four.txt"}
	for _, name := range names {
		steps = append(steps, modelapi.Do(modelapi.Write(filepath.Join(s.place.Repo, name), "x\n")))
	}
	session := s.api.Session(h.Name, modelapi.Steps(append(steps, modelapi.Say("done"))...))
	a := h.Prepare(s.t, s.place, realharness.Config{API: session.URL(), Servers: []string{server}})
	if beside {
		s.run("install", h.Name)
	}
	s.plug(a)
	if h == realharness.Codex && !beside {
		s.run("install", h.Name) // a plugin can't tell its sandbox of tt's database
	}
	s.finished(a.Run(t, "Please.", s.options(h)))
	requests := session.Requests()
	last := requests[len(requests)-1].Text()
	for _, once := range []string{"Talking Stick: you are " + h.Name + "-", "\n  the build is red"} {
		if n := strings.Count(last, once); n != 1 {
			t.Errorf("%q comes %d times in\n%s", once, n, last)
		}
	}

	offered := 0
	for _, tool := range requests[len(requests)-1].Tools {
		if strings.HasSuffix(tool.Name, "get_room_state") {
			offered++
		}
	}

	if offered > 1 {
		t.Errorf("it offers a tool %d times", offered)
	}
	if !strings.Contains(requests[0].Text(), "talking-stick") {
		t.Errorf("it doesn't know the skill:\n%s", requests[0].Text())
	}
	if got := results(session); len(got) != 2+len(names) || !strings.Contains(got[1], `"member":true`) {
		t.Errorf("the tools answer\n%s", strings.Join(got, "\n---\n"))
	}
	if members := s.agents(h.Name); len(members) != 1 {
		t.Errorf("the members are %v", members)
	}

	denied := 0
	for _, name := range names { // on a busy machine a hook may have no answer in time: then it allows the call
		n := strings.Count(last, name+" isn't yours to change now: "+reviewer)
		denied += n
		if _, err := os.Lstat(filepath.Join(s.place.Repo, name)); os.IsNotExist(err) != (n == 1) || n > 1 {
			t.Errorf("the edit of %s is denied %d times (%v)\n%s\n%s", name, n, err, last, s.faults())
		}
	}

	if denied == 0 {
		t.Errorf("no edit was denied:\n%s\n%s", last, s.faults())
	}
}

// TestPluginsAreValid: the programs that check plugins find nothing wrong with ours. Claude Code also looks
// for an icon, which ours has none of.
func TestPluginsAreValid(t *testing.T) {
	realharness.Require(t, realharness.Claude, realharness.Gemini)

	for h, lines := range map[*realharness.Harness][]string{
		realharness.Claude: {
			"claude plugin validate " + harness.From,
			"claude plugin validate " + harness.From + "/talking-stick",
		},
		realharness.Gemini: {"gemini extensions validate " + harness.From + "/gemini"},
	} {
		t.Run(h.Name, func(t *testing.T) {
			s := newStage(t)
			a := h.Prepare(t, s.place, realharness.Config{API: s.api.Session(h.Name, modelapi.Say("done")).URL()})
			for _, line := range lines {
				out := strings.ToLower(s.own(a, line))
				if strings.Contains(strings.ReplaceAll(out, "icon_missing", ""), "_missing") ||
					strings.Contains(out, "✘") ||
					!strings.Contains(out, "valid") {
					t.Errorf("%s:\n%s", line, out)
				}
			}
		})
	}
}

// remains are the files below the home in which a program itself leaves something of a plugin that it has
// removed.
var remains = map[string][]string{
	"claude":  {".claude/plugins/cache/"},           // a copy, which it has marked for its next clean-up
	"copilot": {".copilot/settings.json"},           // that the plugin is off
	"qwen":    {".qwen/extension-store/"},           // what was installed before
	"gemini":  {".gemini/extension_integrity.json"}, // the digest of the extension
}

// restored are the files that have the bytes of before, once a plugin is gone.
var restored = map[string]string{"codex": ".codex/config.toml", "gemini": ".gemini/settings.json"}

// TestPluginsGoAgain: after a harness's own commands have removed our plugin, nothing speaks of it but what
// remains says. Then tt install works as it did before, and leaves no word of a plugin.
func TestPluginsGoAgain(t *testing.T) {
	harnesses := played(t, plugged, realharness.Codex)

	t.Parallel()
	for _, h := range harnesses {
		bundle := bundleOf(t, h)
		if len(bundle.Remove) == 0 {
			continue // a person edits its file
		}

		t.Run(h.Name, func(t *testing.T) {
			s := newStage(t)
			a := h.Prepare(t, s.place, realharness.Config{API: s.api.Session(h.Name, modelapi.Say("done")).URL()})
			before := filesBelow(t, s.place.Home)
			s.plug(a)
			if says := s.run("install", h.Name); !strings.Contains(says, "its plugin brings") {
				t.Errorf("beside the plugin, tt install says\n%s", says)
			}

			s.run("uninstall", h.Name)
			for _, line := range bundle.Remove {
				s.own(a, line)
			}

			after := filesBelow(t, s.place.Home)
			for name, text := range after {
				if strings.HasPrefix(name, "tmp/") {
					// what node has compiled of the harness, with the path of the directory that tests install it into
					continue
				}
				text = strings.ReplaceAll(text, s.place.Repo, "")
				left := slices.ContainsFunc(remains[h.Name], func(part string) bool {
					return strings.HasPrefix(name, part)
				})
				log := strings.Contains(name, "/logs/") || strings.HasPrefix(name, ".local/share/talking-stick/")
				if strings.Contains(text, harness.PluginName) && before[name] == "" && !left && !log {
					t.Errorf("%s speaks of it:\n%.2000s", name, text)
				}
			}

			if name := restored[h.Name]; name != "" && after[name] != before[name] {
				t.Errorf("%s was\n%s\nand is\n%s", name, before[name], after[name])
			}
			if says := s.run("install", h.Name); strings.Contains(says, "its plugin") {
				t.Errorf("without the plugin, tt install says\n%s", says)
			}
		})
	}
}

// TestPluginsAreQuiet: where there is no tt, a harness with our plugin works as if it weren't there.
func TestPluginsAreQuiet(t *testing.T) {
	onlyInPairs(t, plugged...)

	t.Parallel()
	for _, h := range plugged {
		t.Run(h.Name, func(t *testing.T) {
			s := newStage(t)
			session := s.api.Session(h.Name,
				modelapi.Steps(modelapi.Do(modelapi.Shell("command -v tt || echo there is none")),
					modelapi.Say("done")))
			a := h.Prepare(t, s.place, realharness.Config{API: session.URL()})
			s.plug(a)
			o := s.options(h)
			o.Path = nil
			s.finished(a.Run(t, "Please.", o))
			if got := results(session); len(got) != 1 || !strings.Contains(got[0], "there is none") {
				t.Errorf("the shell says %q", got)
			}

			requests := session.Requests()
			last := requests[len(requests)-1].Text()
			if strings.Contains(last, "tt: not found") || strings.Contains(last, "Talking Stick: you are") {
				t.Errorf("its model reads\n%s", last)
			}
		})
	}
}

// TestCodexTrustsAPlugin: Codex skips the hooks of a plugin until its person trusts them, in the question
// that it asks at its start. Then they run, in every later session, too.
func TestCodexTrustsAPlugin(t *testing.T) {
	onlyInPairs(t, realharness.Codex)

	s := newStage(t)
	s.run("join")
	session := s.api.Session("codex", modelapi.Say("done"))
	a := realharness.Codex.Prepare(t, s.place, realharness.Config{API: session.URL()})
	s.plug(a)
	o := s.options(realharness.Codex)
	o.BypassHookTrust = false

	briefed := func() bool {
		requests := session.Requests()
		return len(requests) > 0 && strings.Contains(requests[len(requests)-1].Text(), "Talking Stick: you are codex-")
	}

	s.finished(a.Run(t, "Please.", o))
	if briefed() {
		t.Error("it runs hooks that nobody has trusted")
	}

	u := trustsHooks(t, func() *realharness.Terminal { return a.StartTUI(t, o) })
	u.Type("Please.")
	soon(t, "it is briefed in the terminal", briefed)
	u.Kill()
	s.finished(a.Run(t, "Please.", o))
	if !briefed() {
		t.Error("it has forgotten the trust")
	}
}

// trustsHooks starts Codex, answers its question with "Trust all and continue", and returns its terminal.
// Codex throws away what was typed before it asked, and ends if a busy machine is too slow for that. It is
// started again then, as a person would.
func trustsHooks(t *testing.T, start func() *realharness.Terminal) *realharness.Terminal {
	t.Helper()
	for range 5 {
		u := start()
		u.Sees(0, "Hooks need review")
		u.Sees(0, "2. Trust all and continue")

		gaveUp := func() bool { return u.Shows(0, "timed out discarding buffered terminal input") }
		for _, answer := range []struct{ key, shows string }{
			{"2", "› 2. Trust all"}, {"\r", "Ask Codex to do anything"},
		} {
			since, pressed := len(u.Raw()), time.Time{}
			soon(t, "it takes the answer", func() bool {
				// it throws keys away, too, that come too early after its question
				if time.Since(pressed) > time.Second {
					u.Press(answer.key)
					pressed = time.Now()
				}
				return u.Shows(since, answer.shows) || gaveUp()
			})
		}

		if !gaveUp() {
			return u
		}
		t.Log("Codex gave up: it starts again")
	}

	t.Fatal("Codex gave up five times")
	return nil
}

// filesBelow reads all files below a directory, by their names there.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return all
}
