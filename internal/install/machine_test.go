package install

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
)

// machine is a home directory with harnesses in it, and a project. Its paths have spaces and quotes.
type machine struct {
	*testing.T
	root string
	t    Target
	env  map[string]string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	w := &machine{T: t, root: filepath.Join(t.TempDir(), `Pat's "new" disk`), env: map[string]string{}}
	w.t = Target{
		Home: filepath.Join(w.root, "home"), TT: filepath.Join(w.root, "my bin", "tt"),
		DataDir: filepath.Join(w.root, "data"),
		Getenv:  func(name string) string { return w.env[name] },
	}

	w.t.Default = w.t.DataDir
	w.write("my bin/tt", "#!/bin/sh\necho \"called $*\"\n")
	if err := os.Chmod(w.t.TT, 0o755); err != nil {
		t.Fatal(err)
	}

	return w
}

// inProject makes the machine's project the target.
func (w *machine) inProject() { w.t.Project = filepath.Join(w.root, "app") }

func (w *machine) write(name, text string) {
	w.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		w.Fatal(err)
	}
}

func (w *machine) read(name string) string {
	w.Helper()
	b, err := os.ReadFile(filepath.Join(w.root, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(b)
}

// tree returns every file with its mode, except temporary files of killed writes: a later write removes those
// when they are old enough. The list of directories that install made is left out, too: it names those that
// still hold such files. So is the list of what it has written, which may name more than there is.
func (w *machine) tree() map[string]string {
	w.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil ||
			d.IsDir() ||
			strings.HasPrefix(d.Name(), ".") &&
				(d.Name() == ".directories" ||
					d.Name() == ".written" ||
					strings.Contains(d.Name(), ".talking-stick-")) {
			return err
		}
		if at, err := os.Stat(path); err != nil || at.IsDir() {
			return nil // a link to a directory, or to nowhere
		}

		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}

		name, err := filepath.Rel(w.root, path)
		all[name] = info.Mode().String() + "\n" + string(b)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}

	return all
}

// directories returns every directory.
func (w *machine) directories() (all []string) {
	w.Helper()
	err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}

	return all
}

// same fails the test unless the files are those of before.
func (w *machine) same(what string, before map[string]string) {
	w.Helper()
	if d := cmp.Diff(before, w.tree()); d != "" {
		w.Errorf("%s:\n%s", what, d)
	}
}

// copyOf is where the copy of a file from before the first edit lies.
func (w *machine) copyOf(name string) string {
	return filepath.Join("data/backups", confedit.FollowLinks(filepath.Join(w.root, name)))
}

func (w *machine) install(names ...string) []FileChange {
	w.Helper()
	return w.apply(Install(w.t, names))
}

func (w *machine) uninstall(names ...string) []FileChange {
	w.Helper()
	return w.apply(Uninstall(w.t, names))
}

func (w *machine) apply(steps []FileChange, err error) []FileChange {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
	if err := Apply(steps); err != nil {
		w.Fatal(err)
	}

	return steps
}

// states are the states of the files of a plan, by the ends of their paths.
func (w *machine) states(steps []FileChange) map[string]string {
	all := map[string]string{}
	for _, s := range steps {
		name, _ := filepath.Rel(w.root, s.File)
		all[name] = s.State
	}
	return all
}

// handMade are files as people write them: comments, tabs, odd spacing, no last line end.
var handMade = map[string]string{
	"home/.claude/settings.json":           "{\n\t\"permissions\" : { \"allow\": [ \"Bash\",\"Read\" ] },\n\t\"hooks\": {\n\t\t\"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"say 'done'\" } ] } ],\n\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Edit\", \"hooks\": [ { \"type\": \"command\", \"command\": \"./check.sh\" } ] }\n\t\t]\n\t},\n\n\t\"model\": \"opus\"}",
	"home/.claude.json":                    "{\"numStartups\":7,\"mcpServers\":{\"lab\":{\"command\":\"lab\",\"args\":[]}},\"token\":\"s3cret\"}",
	"home/.codex/hooks.json":               "{\r\n  \"hooks\": {\r\n    \"SessionStart\": [\r\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"hello\"}]}\r\n    ]\r\n  }\r\n}\r\n",
	"home/.codex/config.toml":              "# mine\nmodel = \"gpt-6\"   # the good one\n\n[sandbox_workspace_write]\n# what else may be written\nwritable_roots = [\n  \"/srv/cache\", # big\n]\n\n[mcp_servers.lab]\ncommand='lab'\n\n[projects.\"/srv/app\"]\ntrust_level = \"trusted\"",
	"home/.gemini/settings.json":           "// Gemini reads comments\n{\n    \"theme\": \"dark\", // at night\n    \"mcpServers\": {\n        \"lab\": { \"command\": \"lab\" },\n    },\n    /* hooks: none yet */\n}\n",
	"home/.gemini/config/mcp_config.json":  "{ \"mcpServers\": { \"lab\": { \"command\": \"lab\" } } }\n",
	"home/.config/opencode/opencode.jsonc": "{\n  // models\n  \"model\": \"lab/one\",\n  \"mcp\": {\n    // the laboratory\n    \"lab\": { \"type\": \"local\", \"command\": [\"lab\"], },\n  },\n}\n",
	"home/.copilot/mcp-config.json":        "{ \"mcpServers\": { \"lab\": { \"type\": \"local\", \"command\": \"lab\", \"tools\": [ \"*\" ] } } }\n",
	"home/.qwen/settings.json":             "{\n  // the key is in the environment\n  \"security\": { \"auth\": { \"selectedType\": \"openai\" } },\n  \"hooks\": { \"Stop\": [ ] },\n}\n",
	"home/.pi/agent/settings.json":         "{\"lastChangelogVersion\": \"0.84.4\"}",
	"app/.claude/settings.json":            "{}\n",
	"app/.mcp.json":                        "{\"mcpServers\": {}}",
	"app/.codex/config.toml":               "[mcp_servers]\n",
	"app/.gemini/settings.json":            "{\"mcpServers\":{},\"hooks\":{\"AfterAgent\":[]}}",
	"app/opencode.json":                    "{\n\"$schema\": \"https://opencode.ai/config.json\"\n}",
	"app/AGENTS.md":                        "# How we work\r\n\r\nTabs.",
	"app/CLAUDE.md":                        "Be brief.\n",
}

// handMadeMachine is a machine with those files.
func handMadeMachine(t *testing.T) *machine {
	w := newMachine(t)
	for name, text := range handMade {
		w.write(name, text)
	}
	return w
}

// holds fails the test unless every byte that was there is still there, in its order.
func (w *machine) holds(name, before, after string) {
	w.Helper()
	left := before
	for i := range len(after) {
		if left != "" && left[0] == after[i] {
			left = left[1:]
		}
	}

	if left != "" {
		w.Errorf("%s lost what ends in %q:\n%s", name, left, after)
	}
}

// inRepository makes the machine's project a repository, without running git.
func (w *machine) inRepository() Repository {
	top := filepath.Join(w.root, "app")
	w.write("app/.git/HEAD", "ref: refs/heads/main\n")
	return Repository{Path: top, Top: top, Git: filepath.Join(top, ".git")}
}

func (w *machine) mode(name string, mode os.FileMode) {
	w.Helper()
	if err := os.Chmod(filepath.Join(w.root, name), mode); err != nil {
		w.Fatal(err)
	}
}

var allNames = harness.Names()
