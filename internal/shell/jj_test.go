package shell

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestJJ: a command of jj that isn't known to only read may change any file of its tree, also one that is an
// alias.
func TestJJ(t *testing.T) {
	dir := scratchDir(t)
	sub := filepath.Join(dir, "sub")
	for _, c := range []struct {
		tree     string // of which any file may change
		reads    bool
		commands []string
	}{
		{"", true, []string{
			"jj", "jj log -r @", "jj st", "jj status", "jj --no-pager diff --git", "jj diff -r x -- a.go",
			"jj show", "jj file list", "jj file show -r @- a.go", "jj file annotate a.go",
			"jj files", "jj op log", "jj operation show", "jj op diff", "jj bookmark list", "jj b l",
			"jj tag list", "jj config list", "jj config get user.name", "jj config path --user",
			"jj version", "jj --version", "jj help restore", "jj restore --help", "jj new -h", "jj root",
			"jj evolog", "jj interdiff --from a --to b", "jj git remote list", "jj git root",
			"jj workspace list", "jj sparse list", "jj --at-op @- log",
			"jj --color=never --ignore-working-copy log", "jj --config ui.paginate=never log",
			"jj -R sub log", "jj log | head",
		}},
		{dir, false, []string{
			"jj restore", "jj restore --from main a.go", "jj abandon", "jj edit main", "jj new main",
			"jj undo", "jj op restore abc", "jj op undo", "jj squash", "jj workspace forget x",
			"jj workspace update-stale", "jj commit -m x", "jj describe -m 'jj log'", "jj rebase -d main",
			"jj git fetch", "jj git push", "jj bookmark set x", "jj config set --user a b",
			"jj mine", "jj next", "jj --no-pager --at-op x new", "jj git remote add x y",
			"jj file untrack a.go", "jj op", "command jj new", "(cd sub; cd ..; jj new)",
			"jj sparse set --clear", "jj split a.go",
		}},
		{
			sub,
			false,
			[]string{"jj -R sub new", "jj --repository=sub new", "cd sub && jj new", "(cd sub && jj edit @-)"},
		},
		{"", false, []string{
			"jj $x", `jj -R "$x" new`, "jj workspace add ../two", "jj git clone a b",
			"jj --config ui.pager=./x log", "jj --config-file x log", "jj diff --tool ./x",
			"jj log --config ui.pager=./x", "./jj log > a.go",
		}},
	} {
		for _, command := range c.commands {
			got := Edits(command, dir, Env{})
			var want []string
			if c.tree != "" {
				want = []string{c.tree}
			}
			if got.Reads != c.reads || !slices.Equal(got.Trees, want) {
				t.Errorf("%s: reads is %v, trees %q", command, got.Reads, got.Trees)
			}
		}
	}
}
