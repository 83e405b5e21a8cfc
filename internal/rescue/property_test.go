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
	"strings"
	"testing"

	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/testenv"
)

var (
	long = flag.Bool("rescue.long", false, "try 400 random trees")
	seed = flag.Uint64("rescue.seed", 0, "try the tree of this seed only")
)

// TestARandomTreeComesBack makes random trees, destroys uncommitted work by a random command, and restores
// it. On the same commit, tree and index must be what they were, but for what was named.
func TestARandomTreeComesBack(t *testing.T) {
	testenv.Alone(t)

	from := template(t)
	for _, n := range seeds(t, 40, 10) {
		t.Run(fmt.Sprint("seed ", n), func(t *testing.T) {
			comesBack(t, from, rand.New(rand.NewPCG(n, 14)))
		})
	}
}

// seeds returns the numbers of the random trees to try: up to last, and in a short run one of some.
func seeds(t *testing.T, last uint64, some int) (seeds []uint64) {
	t.Helper()
	first := uint64(1)
	if *long {
		last = 400
	}
	if *seed != 0 {
		first, last = *seed, *seed
	}
	for n := first; n <= last; n++ {
		seeds = append(seeds, n)
	}
	return testenv.Some(t, testenv.Every, "random trees", seeds, testenv.EveryNth[uint64](some))
}

// TestSnapshot_RandomTrees makes random trees and changes them again and again, with a snapshot after each
// time. Each snapshot has every byte of its state, however many packs of others it needs, and after all of it
// each brings its state back.
func TestSnapshot_RandomTrees(t *testing.T) {
	testenv.Alone(t)

	from := template(t)
	for _, n := range seeds(t, 24, 12) {
		t.Run(fmt.Sprint("seed ", n), func(t *testing.T) {
			snapshotsComeBack(t, from, rand.New(rand.NewPCG(n, 15)))
		})
	}
}

// moment is what a tree was when a snapshot was made of it.
type moment struct {
	taken        Taken
	files, index map[string]string
}

func snapshotsComeBack(t *testing.T, from *scratch, r *rand.Rand) {
	m := newMaker(t, from, r)
	m.plain = true
	m.make()
	m.plant()
	if r.IntN(4) == 0 {
		m.store.Limits.Bytes = int64(50 + r.IntN(4000))
	}
	if r.IntN(3) == 0 {
		m.settle()
	}
	var moments []moment
	for range 4 {
		if r.IntN(2) == 0 { // an edit tool
			path := m.tracked()
			m.file(path, m.text())
			m.forget()
			kept := m.keep(path)
			m.nothingRan("KeepFiles")
			if got := m.blob(kept.ID, path); got != m.read(path) && len(kept.LeftOut) == 0 {
				t.Errorf("%q was kept as %.40q", path, got)
			}
		}
		moments = append(moments, m.moment())
		m.change()
		m.now = m.now.Add(maxNeedAge / 3)
	}
	m.whole()

	for _, i := range r.Perm(len(moments)) {
		was := moments[i]
		m.unflag()
		m.quiet("reset", "-q", "--hard")
		m.quiet("clean", "-q", "-f", "-d", "-x")
		m.forget()
		left := named{}
		for _, l := range was.taken.LeftOut {
			left[l.Path] = true
		}
		for path, now := range was.files {
			if strings.HasPrefix(now, "prw") { // git doesn't tell of a FIFO that it doesn't track
				left[path] = true
			}
		}
		clean := !m.unborn
		for path, line := range was.index {
			if strings.HasPrefix(line, "S") && was.files[path] == "" { // neither wanted in the tree nor there, and back after the reset
				left[path], clean = true, false
			}
		}
		for _, n := range was.taken.Nested { // what is in them isn't cleaned, and they have snapshots of their own
			left[n.Path+"/"], left[n.Path] = true, true
		}
		m.bringBack(manifest.Nested{ID: was.taken.ID}, clean, was.files, left)
		m.nothingRan("Restore")
		compare(t, fmt.Sprint("files of moment ", i), was.files, m.files(), left)
		compare(t, fmt.Sprint("the index and status of moment ", i), was.index, m.index(), left)
	}
	if t.Failed() {
		for _, line := range m.done {
			t.Log(line)
		}
	}
}

// unflag has git look at all files again: a reset leaves alone what it was told not to look at.
func (m *maker) unflag() {
	for _, record := range strings.Split(m.quiet("ls-files", "-v", "-z"), "\x00") {
		if tag, path, ok := strings.Cut(record, " "); ok && tag != "H" {
			m.attempt("update-index", "--no-assume-unchanged", path)
			m.attempt("update-index", "--no-skip-worktree", path)
		}
	}
}

// moment makes a snapshot, and notes what it is of.
func (m *maker) moment() moment {
	m.t.Helper()
	was := moment{files: m.files(), index: m.index()}
	was.taken = m.must(m.store.Take(context.Background(), m.call("build")))
	m.nothingRan("Take")
	if again := m.must(m.store.Take(context.Background(), m.call("build"))); !again.Same && len(was.taken.LeftOut) == 0 { // what was too much may have its turn now
		m.t.Errorf("%+v after %+v", again, was.taken)
	}
	m.done = append(m.done, fmt.Sprintf("snapshot %+v", was.taken))
	return was
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
	for _, n := range slices.Concat([]manifest.Nested{{ID: taken.ID}}, taken.Nested) {
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
func (m *maker) bringBack(n manifest.Nested, clean bool, files map[string]string, left named) {
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

// TestUndo_RandomTrees makes random trees and changes them between two snapshots, and takes that back. Each
// file is as it was, but for those that an undo leaves with a reason.
func TestUndo_RandomTrees(t *testing.T) {
	testenv.Alone(t)

	from := template(t)
	for _, n := range seeds(t, 40, 20) {
		t.Run(fmt.Sprint("seed ", n), func(t *testing.T) {
			isTakenBack(t, from, rand.New(rand.NewPCG(n, 16)))
		})
	}
}

func isTakenBack(t *testing.T, from *scratch, r *rand.Rand) {
	m := newMaker(t, from, r)
	m.plain = true // a file with other line ends than git's comes back with git's
	m.make()
	m.plant()
	before := m.moment()
	m.change()
	after := m.moment()

	u := m.undo(before.taken.ID, after.taken.ID)
	done := m.takeBack(u)
	m.nothingRan("Undo")

	left := named{}
	now := m.files()
	for path, step := range done {
		switch _, isBlocked := now[filepath.Dir(path)]; { // a FIFO lies in the place of its directory
		case strings.HasPrefix(step, "leave"), isBlocked:
			left[path] = true
		case strings.HasPrefix(step, "failed"):
			t.Errorf("%q %s", path, step)
		}
	}
	for _, l := range slices.Concat(before.taken.LeftOut, after.taken.LeftOut) {
		left[l.Path] = true
	}
	for _, files := range []map[string]string{before.files, after.files} {
		for path, is := range files {
			if strings.HasPrefix(is, "prw") { // git doesn't tell of a FIFO that it doesn't track
				left[path] = true
			}
		}
	}
	compare(t, "the files", before.files, m.files(), left)
	if t.Failed() {
		t.Log(done)
		for _, line := range m.done {
			t.Log(line)
		}
	}
}
