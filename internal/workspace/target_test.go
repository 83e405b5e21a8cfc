package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTargets: where a change of a path takes effect, as "root: file", with a slash behind directories.
// Roots and paths are those below the test's directory.
func TestTargets(t *testing.T) {
	dir := tree(t)
	write(t, dir, gitDirFiles("app/.git")...)
	write(t, dir, gitDirFiles("app/sub/.git")...)
	write(t, dir, "app/src/a.go", "app/sub/b.go", "etc/passwd", "elsewhere/")

	for name, to := range map[string]string{
		"app/ext": "../etc/passwd", "app/lnk": "src", "app/out": "../elsewhere", "app/new": "src/new.go",
		"app/loop": "loop", "in": "app",
	} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}

	long := strings.Repeat("x", 300)
	deep := strings.Repeat("y/", 3000)
	for _, c := range []struct {
		path           string
		written, named string
		fails          bool // also says what is wrong
	}{
		{path: "src/a.go", written: "app: src/a.go"},
		{path: "src/missing.go", written: "app: src/missing.go"},
		{path: "no/such/dir.go", written: "app: no/such/dir.go"},
		{path: "src", written: "app: src/ app: src/"},
		{path: ".", written: "app: ./"},
		{path: "src/", written: "app: src/"},
		{path: "lnk/a.go", written: "app: src/a.go"},
		{path: "lnk/../a.go", written: "app: a.go"},
		{path: dir + "/in/src/a.go", written: "app: src/a.go"},

		// a link is changed itself, and perhaps what it leads to
		{path: "ext", written: "app: ext etc: passwd", named: "app: ext"},
		{path: "lnk", written: "app: lnk app: src/", named: "app: lnk"},
		{path: "out", written: "app: out elsewhere: ./", named: "app: out"},
		{path: "new", written: "app: new app: src/new.go", named: "app: new"},
		{path: "out/x", written: "elsewhere: x"},

		// a checkout of its own is also an entry of the one around it
		{path: "sub", written: "app: sub/ app/sub: ./"},
		{path: "sub/b.go", written: "app/sub: b.go"},

		// what can't be looked up lies where its name says
		{path: "src/a.go/x", written: "app: src/a.go/x", fails: true},
		{path: "src/a.go/", written: "app: src/a.go"},
		{path: "loop/x", written: "app: loop/x", fails: true},
		{path: "src/" + long, written: "app: src/" + long, fails: true},
		{path: "src/a.go/" + deep, written: "app: src/a.go/" + strings.TrimSuffix(deep, "/"), fails: true},
		{path: "", fails: true},
		{path: "a\x00b", fails: true},
	} {
		if c.named == "" {
			c.named = c.written
		}

		for want, find := range map[string]func(*Targets, string) ([]Target, error){
			"written " + c.written: (*Targets).ResolveWritten, "named " + c.named: (*Targets).ResolveNamed,
		} {
			targets := NewTargets(Env{Dir: filepath.Join(dir, "app")})
			for _, again := range []string{"", ", asked again"} {
				found, err := find(targets, c.path)
				got := strings.Fields(want)[0]
				for _, x := range found {
					got += " " + shown(t, dir, x)
				}
				if diff := cmp.Diff(strings.TrimSpace(want), got); diff != "" || (err != nil) != c.fails {
					t.Errorf("%s%s: %v\n%s", c.path, again, err, diff)
				}
			}
		}
	}

	targets := NewTargets(Env{Dir: filepath.Join(dir, "app")})
	if found, err := targets.ResolveWritten("loop"); err == nil ||
		len(found) != 1 ||
		shown(t, dir, found[0]) != "app: loop" {
		t.Errorf("a loop itself: %v %v", found, err)
	}
}

func shown(t *testing.T, dir string, x Target) string {
	t.Helper()
	rel, ok := RelBelow(x.Full, x.Place.Root)
	if !ok {
		rel = x.Full
	}
	if x.Dir {
		rel += "/"
	}
	root := strings.TrimPrefix(strings.TrimPrefix(x.Place.Root, dir), "/")
	return root + ": " + rel
}

// TestTargetsOfWorktrees: a linked worktree is nothing of the checkout around it.
func TestTargetsOfWorktrees(t *testing.T) {
	dir := tree(t)
	git(t, dir, "init", "--quiet", "app")
	app := filepath.Join(dir, "app")
	git(t, app, "commit", "--quiet", "--allow-empty", "-m", "one")
	git(t, app, "worktree", "add", "--quiet", "worktrees/t1")
	targets := NewTargets(Env{Dir: app})
	top := filepath.Join(app, "worktrees", "t1")
	found, err := targets.ResolveNamed("worktrees/t1")
	if err != nil || len(found) != 1 || found[0].Full != top || found[0].Place.Worktree != top {
		t.Errorf("the worktree: %+v %v", found, err)
	}

	found, err = targets.ResolveNamed("worktrees")
	if err != nil || len(found) != 2 || found[0].Place.Worktree != "" || !found[0].Dir {
		t.Errorf("what holds it: %+v %v", found, err)
	}

	place, err := Resolve(top, Env{})
	must(t, err)
	x := targets.ResolveTracked(place, "src/a.go")
	if x.Full != filepath.Join(top, "src", "a.go") || x.Place.Worktree != top || x.Place.Root != app {
		t.Errorf("what git has on record there: %+v", x)
	}
}

// TestTracked: what git has on record lies where its name says, whatever is there in the checkout.
func TestTracked(t *testing.T) {
	dir := tree(t)
	write(t, dir, gitDirFiles("app/.git")...)
	write(t, dir, gitDirFiles("app/sub/.git")...)
	write(t, dir, "app/tool", "elsewhere/")
	must(t, os.Symlink("../elsewhere", filepath.Join(dir, "app/out")))
	top, err := Resolve(filepath.Join(dir, "app"), Env{})
	must(t, err)

	targets := NewTargets(Env{Dir: top.Path})
	for _, path := range []string{"a.go", "tool/run", "out/x", "out", "sub", "no/such/file"} {
		x := targets.ResolveTracked(top, path)
		if got := shown(t, dir, x); got != "app: "+path || x.Place.Chain[0] != filepath.Dir(x.Full) {
			t.Errorf("%s: %s %v", path, got, x.Place.Chain)
		}
	}
}
