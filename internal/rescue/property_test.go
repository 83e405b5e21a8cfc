//go:build unix

package rescue

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"talkingstick/internal/testenv"
)

var (
	long = flag.Bool("rescue.long", false, "try 400 random trees")
	seed = flag.Uint64("rescue.seed", 0, "try the tree of this seed only")
)

// TestARandomTreeComesBack makes random trees, destroys uncommitted work by a random command, and restores it. On the same
// commit, tree and index must be what they were, but for what was named.
func TestARandomTreeComesBack(t *testing.T) {
	testenv.Alone(t)

	first, last := uint64(1), uint64(40)
	if *long {
		last = 400
	}
	if *seed != 0 {
		first, last = *seed, *seed
	}
	var seeds []uint64
	for n := first; n <= last; n++ {
		seeds = append(seeds, n)
	}

	from := template(t)
	for _, n := range testenv.Some(t, testenv.Every, "random trees", seeds, testenv.EveryNth[uint64](4)) {
		t.Run(fmt.Sprint("seed ", n), func(t *testing.T) {
			comesBack(t, from, rand.New(rand.NewPCG(n, 14)))
		})
	}
}

func comesBack(t *testing.T, from *scratch, r *rand.Rand) {
	m := newMaker(t, from, r)
	d := damages[r.IntN(len(damages))]
	m.make()
	m.plant()
	if r.IntN(4) == 0 {
		m.store.Limits.Bytes = int64(50 + r.IntN(4000))
	}
	req := m.request()
	req.Untracked, req.Ignored, req.Nested = d.untracked, d.ignored, d.nested

	base := filepath.Dir(m.tree.Common)
	if filepath.Dir(base) != filepath.Dir(m.top) {
		t.Fatalf("the repository lies at %s, the tree at %s", base, m.top)
	}
	files, index := m.files(), m.index()
	everything := snapshot(t, filepath.Dir(base), "data")
	taken, err := m.store.Take(context.Background(), req)
	if err != nil {
		t.Fatalf("%s: %v\n%s", d.name, err, m.done)
	}
	m.nothingRan("Take")
	compare(t, "all files after Take", everything, snapshot(t, filepath.Dir(base), "data"), nil)

	said, err := d.run(m)
	m.done = append(m.done, fmt.Sprintf("%s: %s (%v)", d.name, said, err))
	clean := d.reset || d.untracked && r.IntN(2) == 0
	if m.unborn && !d.ignored { // cleaning would remove what .gitignore names
		clean = false
	}
	if clean { // the tree becomes that of the last commit
		m.quiet("reset", "-q", "--hard")
		m.quiet(d.clean()...)
	}
	m.forget()
	outside := snapshot(t, filepath.Dir(base), "data", filepath.Base(m.top), filepath.Base(base))

	left := named{}
	for _, l := range taken.LeftOut {
		left[l.Path] = true
	}
	for _, n := range slices.Concat([]Nested{{ID: taken.ID}}, taken.Nested) {
		if n.ID != "" {
			m.bringBack(n, clean, files, left)
		}
	}
	m.nothingRan("Restore")
	compare(t, "files", files, m.files(), left)
	compare(t, "the index and status", index, m.index(), left)
	compare(t, "files outside of the tree", outside, snapshot(t, filepath.Dir(base), "data", filepath.Base(m.top), filepath.Base(base)), nil)
	if t.Failed() {
		t.Logf("cleaned: %v, taken: %+v, limit %d", clean, taken, m.store.Limits.Bytes)
		for _, line := range m.done {
			t.Log(line)
		}
	}
}

// bringBack restores one rescue, twice, and notes in left what that named.
func (m *maker) bringBack(n Nested, clean bool, files map[string]string, left named) {
	m.t.Helper()
	got := m.restore(n.ID)
	m.done = append(m.done, fmt.Sprintf("restore %q: %+v", n.Path, got))
	if (len(got.Beside) > 0 || len(got.Failed) > 0) && clean && n.Path == "" {
		m.t.Errorf("with a clean tree: beside %q, failed %q", got.Beside, got.Failed)
	}
	for _, b := range got.Beside {
		path, at := filepath.Join(n.Path, b.Path), filepath.Join(n.Path, b.At)
		if now := describe(m.path(at)); now != files[path] {
			m.t.Errorf("beside %q there is %s, not %s", path, now, files[path])
		}
		left[path], left[at] = true, true
	}
	for _, p := range got.Failed {
		left[filepath.Join(n.Path, p.Path)] = true
	}
	before := m.files()
	if again := m.restore(n.ID); len(again.Restored) > 0 || len(again.Index) > 0 {
		m.t.Errorf("restoring again changed something: %+v", again)
	}
	compare(m.t, "files after restoring again", before, m.files(), nil)
}

// damage is a command that destroys uncommitted work.
type damage struct {
	name                       string
	untracked, ignored, nested bool // what it destroys beside changes of tracked files
	reset                      bool // committed files go, too, which a rescue hasn't
	run                        func(m *maker) (said string, err error)
}

// clean returns the command that removes what the damage may have left of what was rescued.
func (d damage) clean() []string {
	args := []string{"clean", "-q", "-f", "-d"}
	if d.ignored {
		args = append(args, "-x")
	}
	if d.nested {
		args = append(args, "-f")
	}
	return args
}

func run(args ...string) func(m *maker) (string, error) {
	return func(m *maker) (string, error) { return m.attempt(args...) }
}

var damages = []damage{
	{name: "reset --hard", untracked: true, run: run("reset", "-q", "--hard")}, // files in the way of tracked ones go, too
	{name: "reset --mixed", run: run("reset", "-q")},
	{name: "reset --merge", untracked: true, run: run("reset", "-q", "--merge")},
	{name: "checkout -f", untracked: true, run: run("checkout", "-q", "-f")},
	{name: "checkout .", untracked: true, run: run("checkout", "-q", "--", ".")},
	{name: "checkout HEAD -- a path", untracked: true, run: func(m *maker) (string, error) {
		return m.attempt("checkout", "-q", "HEAD", "--", m.tracked())
	}},
	{name: "checkout -m", untracked: true, run: run("checkout", "-q", "-m", "--", "clash.txt")},
	{name: "restore -SW", untracked: true, run: run("restore", "-S", "-W", ".")},
	{name: "restore -S", run: run("restore", "-S", ".")},
	{name: "add -u", run: run("add", "-u")},
	{name: "clean -fd", untracked: true, run: run("clean", "-q", "-fd")},
	{name: "clean -fdx", untracked: true, ignored: true, run: run("clean", "-q", "-fdx")},
	{name: "clean -ffdx", untracked: true, ignored: true, nested: true, run: run("clean", "-q", "-ffdx")},
	{name: "stash -u and drop", untracked: true, run: func(m *maker) (string, error) {
		if said, err := m.attempt("stash", "push", "-q", "-u"); err != nil {
			return said, err
		}
		return m.attempt("stash", "drop", "-q")
	}},
	{name: "switch there and back", untracked: true, run: func(m *maker) (string, error) {
		head, err := m.attempt("rev-parse", "HEAD")
		if err != nil {
			return head, err
		}
		m.attempt("switch", "-q", "-f", "--detach", "other")
		return m.attempt("reset", "-q", "--hard", head[:40])
	}},
	{name: "read-tree", untracked: true, run: run("read-tree", "--reset", "-u", "HEAD")},
	{name: "merge --abort", untracked: true, run: run("merge", "--abort")},
	{name: "checkout-index", untracked: true, run: run("checkout-index", "-q", "-f", "-a")},
	{name: "git rm -rf", untracked: true, reset: true, run: run("rm", "-rfq", ".")},
	{name: "rm -rf", untracked: true, ignored: true, nested: true, reset: true, run: func(m *maker) (string, error) {
		entries, err := os.ReadDir(m.top)
		for _, e := range entries {
			if e.Name() != ".git" {
				os.RemoveAll(m.path(e.Name()))
			}
		}
		if said, err := m.attempt("reset", "-q", "--hard"); err != nil {
			return said, err
		}
		m.attempt("submodule", "update", "-q", "--init", "-f")
		return "", err
	}},
	{name: "submodule foreach reset", untracked: true, nested: true, run: func(m *maker) (string, error) {
		m.attempt("submodule", "--quiet", "foreach", "git clean -qfd")
		return m.attempt("submodule", "--quiet", "foreach", "git reset -q --hard")
	}},
	{name: "gc", untracked: true, run: func(m *maker) (string, error) {
		m.attempt("reset", "-q", "--hard")
		m.attempt("reflog", "expire", "--expire=now", "--all")
		return m.attempt("gc", "-q", "--prune=now")
	}},
}
