package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/harness"
)

// Files that an earlier version installed count as ours, and are replaced unless somebody has edited them.
func TestFilesOfEarlierVersionsAreReplaced(t *testing.T) {
	t.Run("the first", func(t *testing.T) {
		replaced(t, "SKILL.md", "opencode.js", "pre-commit", "reference-transaction")
	})
	t.Run("later", func(t *testing.T) { replaced(t, "opencode-status2.js") })
}

// replaced installs files of earlier versions, and then those of this one.
func replaced(t *testing.T, names ...string) {
	w := newMachine(t)
	r := w.inRepository()
	w.install("claude", "opencode")
	w.apply(InstallGit(w.t, r))
	now := w.tree()

	places := map[string]string{
		"SKILL.md":              "home/.claude/skills/talking-stick/SKILL.md",
		"opencode.js":           "home/.config/opencode/plugin/talking-stick.js",
		"opencode-status2.js":   "home/.config/opencode/plugin/talking-stick.js",
		"pre-commit":            "app/.git/hooks/pre-commit",
		"reference-transaction": "app/.git/hooks/reference-transaction",
	}

	for _, name := range names {
		at := places[name]
		b, err := os.ReadFile(filepath.Join("testdata/shipped", name))
		if err != nil {
			t.Fatal(err)
		}
		old := strings.NewReplacer(`"{{tt}}"`, quoted("/older/tt"), "tt={{tt}}\n", madeDir+"tt=/older/tt\n").Replace(string(b))
		if old == w.read(at) || name != "SKILL.md" && old == string(b) {
			t.Errorf("%s is of this version, so this shows nothing", name)
		}
		w.write(at, old)
	}

	plan, err := InstallGit(w.t, r)
	if err != nil {
		t.Fatal(err)
	}
	more, err := Install(w.t, []string{"claude", "opencode"})
	if err != nil {
		t.Fatal(err)
	}
	plan = append(plan, more...)
	if len(plan) < 4 || slices.ContainsFunc(plan, func(c FileChange) bool { return c.State == Kept }) {
		t.Errorf("something was taken for edited: %+v", plan)
	}

	w.apply(plan, nil)
	w.mode("app/.git/hooks/pre-commit", 0o755)
	w.mode("app/.git/hooks/reference-transaction", 0o755)
	w.same("after the update", now)
	if w.read("home/.claude/skills/talking-stick/SKILL.md") != harness.Skill {
		t.Error("the skill is the old one")
	}
}
