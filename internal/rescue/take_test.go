package rescue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/workfile"
	"talkingstick/internal/testenv"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// scratch is a repository with a store beside it.
type scratch struct {
	t     testing.TB
	top   string
	tree  workspace.Checkout
	store *Store
	now   stick.Time
}

// oneCommit is the repository of [newScratch].
var oneCommit testenv.Template

// newScratch makes a repository with one commit of some files.
func newScratch(t testing.TB) *scratch {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scratch{t: t, top: filepath.Join(base, "tree"), now: stick.At(time.Now())}
	if err := os.Mkdir(s.top, 0o777); err != nil {
		t.Fatal(err)
	}
	err = oneCommit.Copy(s.top, func() error {
		s.git("init", "-q")
		s.write("a.txt", "one\n")
		s.write("dir/b.txt", "two\n")
		s.git("add", ".")
		s.git("commit", "-qm", "first")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	s.store = New(filepath.Join(base, "data"), git.Client{})
	s.store.Limits.Time, s.store.Limits.Status, s.store.Limits.Prune = time.Minute, 40*time.Second, time.Minute // a busy machine isn't what is tested
	s.find()
	return s
}

// find finds the checkout, as it is now.
func (s *scratch) find() {
	s.t.Helper()
	tree, ok := workspace.FindCheckout(s.top, workspace.Env{})
	if !ok || tree.Top != s.top {
		s.t.Fatalf("no checkout at %s: %+v", s.top, tree)
	}
	s.tree = tree
}

func (s *scratch) path(name string) string { return filepath.Join(s.top, filepath.FromSlash(name)) }

func (s *scratch) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scratch) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *scratch) git(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (s *scratch) try(args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = s.top
	c.Env = append(os.Environ(), "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=gc.auto", "GIT_CONFIG_VALUE_0=0", // nothing runs on after it
		"GIT_CONFIG_KEY_1=maintenance.auto", "GIT_CONFIG_VALUE_1=false")
	out, err := c.CombinedOutput()
	return string(out), err
}

// request asks for everything.
func (s *scratch) request() Request {
	s.now++
	return Request{
		Tree: s.tree, Untracked: true, Ignored: true, Nested: true, At: s.now,
		Facts: manifest.Facts{Room: s.top, Agent: "claude:1", TurnID: 3, Cause: "command", Command: "git reset --hard"},
	}
}

func (s *scratch) take() Taken {
	s.t.Helper()
	t, err := s.store.Take(context.Background(), s.request())
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

func (s *scratch) restore(id string, paths ...string) Restored {
	s.t.Helper()
	r, err := s.store.Restore(context.Background(), RestoreRequest{ID: id, Paths: paths})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *scratch) status() string {
	return s.git("status", "--porcelain=v2", "-uall", "--ignored") + s.git("ls-files", "-s", "-v")
}

// ids returns the rescues, the newest first.
func (s *scratch) ids() (ids []string) {
	s.t.Helper()
	all, err := s.store.List(context.Background(), "", 0, Every)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range all.Rescues {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestARescueSaysWhatItIs(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "staged\n")
	s.git("add", "a.txt")
	s.write("a.txt", "and changed\n")
	s.write("new/c", "untracked")
	os.Remove(s.path("dir/b.txt"))
	taken := s.take()
	at := s.now
	if taken.ID == "" || taken.Files != 3 || taken.Bytes != int64(len("staged\nand changed\nuntracked")) || len(taken.LeftOut) > 0 {
		t.Errorf("%+v", taken)
	}
	got, err := s.store.Show(context.Background(), taken.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := Rescue{
		Manifest: manifest.Manifest{
			ID: taken.ID, At: at, Top: s.top, Common: s.tree.Common, Head: strings.TrimSpace(s.git("rev-parse", "HEAD")), Branch: "main",
			Facts: s.request().Facts, Files: 3, Bytes: taken.Bytes, LeftOut: []manifest.LeftOut{}, // each path once, however it is changed
		},
		Entries: []File{
			{Path: "a.txt", States: []string{"staged", "modified"}, Size: 12},
			{Path: "dir/b.txt", States: []string{"deleted"}},
			{Path: "new/c", States: []string{"untracked"}, Size: 9},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if ids := s.ids(); len(ids) != 1 || ids[0] != taken.ID {
		t.Errorf("listed: %q", ids)
	}
	for _, id := range []string{"", "../x", "-", taken.ID + "0", "000000000-0000", strings.ToUpper(taken.ID)} {
		if _, err := s.store.Show(context.Background(), id); stick.CodeOf(err) != stick.CodeNotFound {
			t.Errorf("show %q: %v", id, err)
		}
	}
}

// A path counts once, in whatever ways it differs, and one of which nothing is kept doesn't count.
func TestEachPathCountsOnce(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "staged\n")
	s.git("add", "a.txt")
	s.write("a.txt", "and changed\n")
	if got := s.take(); got.Files != 1 {
		t.Errorf("partly staged: %+v", got)
	}
	s.git("rm", "-q", "dir/b.txt")
	s.write("new", "new\n")
	taken := s.take()
	got, err := s.store.Show(context.Background(), taken.ID)
	if err != nil || taken.Files != 3 || got.Files != 3 || len(got.Entries) != 3 {
		t.Errorf("with a deleted and a new one: %+v, %+v, %v", taken, got, err)
	}
	s.store.Limits.Bytes = 10 // for what is staged, and for new
	s.write("a.txt", strings.Repeat("large", 100))
	s.write("new", "n")
	s.write("large", strings.Repeat("large", 100))
	if got := s.take(); got.Files != 3 || len(got.LeftOut) != 2 {
		t.Errorf("with large ones: %+v", got)
	}
}

func TestNothingIsRescuedOfACleanTree(t *testing.T) {
	s := newScratch(t)
	if got := s.take(); !got.Nothing || got.ID != "" {
		t.Errorf("%+v", got)
	}
	if _, err := os.Lstat(s.store.Root()); err == nil {
		t.Error("a store was made for nothing")
	}
}

func TestTheSameStateIsRescuedOnce(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	first := s.take()
	if again := s.take(); !again.Same || again.ID != first.ID || again.Files != first.Files {
		t.Errorf("%+v after %+v", again, first)
	}
	s.write("a.txt", "changed again\n")
	if next := s.take(); next.Same || next.ID <= first.ID {
		t.Errorf("%+v after %+v", next, first)
	}
	s.write("a.txt", "changed\n") // as at first, but that isn't the last
	if back := s.take(); back.Same || len(s.ids()) != 3 {
		t.Errorf("%+v", back)
	}
	if left := s.leftovers(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A rescue of another checkout of the repository is another one, and lies in the same place.
func TestCheckoutsOfOneRepository(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	first := s.take()
	linked := filepath.Join(filepath.Dir(s.top), "linked")
	s.git("worktree", "add", "-q", "--detach", linked)
	s.top = linked
	s.find()
	s.write("a.txt", "changed\n")
	second := s.take()
	if second.Same || second.ID == first.ID {
		t.Errorf("%+v after %+v", second, first)
	}
	l, err := s.store.List(context.Background(), s.tree.Common, 0, Every)
	if all := l.Rescues; err != nil || len(all) != 2 || all[0].Top != s.top || all[1].Top == s.top {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestOnlyWhatIsAtStakeIsTaken(t *testing.T) {
	s := newScratch(t)
	s.write(".gitignore", "*.o\n")
	s.git("add", ".")
	s.git("commit", "-qm", "ignore")
	for _, name := range []string{"a.txt", "dir/b.txt", "dir/new", "x.o", "dir/y.o"} {
		s.write(name, "changed\n")
	}
	for _, c := range []struct {
		change func(r *Request)
		want   string
	}{
		{func(r *Request) {}, "a.txt dir/b.txt dir/new dir/y.o x.o"},
		{func(r *Request) { r.Ignored = false }, "a.txt dir/b.txt dir/new"},
		{func(r *Request) { r.Ignored, r.Untracked = false, false }, "a.txt dir/b.txt"},
		{func(r *Request) { r.Paths = []string{"dir/"} }, "dir/b.txt dir/new dir/y.o"},
		{func(r *Request) { r.Untracked, r.Paths = false, []string{"x.o", "./dir"} }, "dir/b.txt dir/y.o x.o"},
		{func(r *Request) { r.Paths = []string{"."} }, "a.txt dir/b.txt dir/new dir/y.o x.o"},
	} {
		r := s.request()
		c.change(&r)
		taken, err := s.store.Take(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.store.Show(context.Background(), taken.ID)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, f := range got.Entries {
			paths = append(paths, f.Path)
		}
		if have := strings.Join(paths, " "); have != c.want {
			t.Errorf("taken: %s, want %s", have, c.want)
		}
	}
	for _, path := range []string{"", "../x", "/etc", "a/../../x", "nul\x00"} {
		r := s.request()
		r.Paths = []string{path}
		if _, err := s.store.Take(context.Background(), r); stick.CodeOf(err) != stick.CodeUsage {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// TestFewOfManyIgnoredFiles can be asked for by their names, however many lie beside them.
func TestFewOfManyIgnoredFiles(t *testing.T) {
	s := newScratch(t)
	s.store.Limits.IgnoredFiles = 3
	s.write(".gitignore", "*.o\nbuild/\n")
	s.git("add", ".")
	s.git("commit", "-qm", "ignore")
	for _, name := range []string{"1.o", "2.o", "3.o", "4.o", "build/1", "build/2", "build/3", "build/4", "build/deep/5"} {
		s.write(name, "made\n")
	}
	s.write("build/inner/.git/HEAD", "ref: refs/heads/main\n")
	s.write("build/inner/x", "another repository's\n")
	r := s.request()
	r.Nested, r.Paths = false, []string{"2.o", "build/3", "build/deep", "build/inner/x", "build/gone"}
	taken, err := s.store.Take(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.store.Show(context.Background(), taken.ID)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range got.Entries {
		paths = append(paths, f.Path)
	}
	if have, want := strings.Join(paths, " "), "2.o build/3 build/deep/5"; have != want || len(taken.LeftOut) != 0 {
		t.Errorf("taken: %s, want %s; %+v", have, want, taken.LeftOut)
	}
}

func TestWhatIsTooLargeIsNamed(t *testing.T) {
	s := newScratch(t)
	s.store.Limits.Bytes, s.store.Limits.IgnoredBytes, s.store.Limits.IgnoredFiles = 100, 20, 3
	s.write(".gitignore", "*.o\nbuild/\n")
	s.git("add", ".")
	s.git("commit", "-qm", "ignore")
	s.write("a.txt", strings.Repeat("a", 60)) // tracked ones come first
	s.write("new", strings.Repeat("n", 50))
	s.write("small", "s")
	s.write("large.o", strings.Repeat("o", 21))
	s.write("small.o", "o")
	for _, name := range []string{"1", "2", "3", "4/5"} {
		s.write("build/"+name, "b")
	}
	taken := s.take()
	want := []manifest.LeftOut{{Path: "build/", Why: manifest.WhyMany}, {Path: "large.o", Why: manifest.WhyIgnored}, {Path: "new", Why: manifest.WhyLimit}}
	if d := cmp.Diff(want, taken.LeftOut); d != "" || taken.Files != 3 || taken.Bytes != 62 {
		t.Errorf("%+v: %s", taken, d)
	}
}

func TestManyThingsThatWereLeftOut(t *testing.T) {
	var all []manifest.LeftOut
	for i := range manifest.MaxLeftOut {
		all = append(all, manifest.LeftOut{Path: fmt.Sprintf("dir/%d", i), Why: manifest.WhyLimit})
	}
	if got := manifest.CollapseLeftOut(all); len(got) != manifest.MaxLeftOut {
		t.Errorf("%d of %d are named", len(got), manifest.MaxLeftOut)
	}
	got := manifest.CollapseLeftOut(append(all, manifest.LeftOut{Path: "top", Why: manifest.WhyLimit}, manifest.LeftOut{Path: "dir/x/", Why: manifest.WhyMany, Files: 5}))
	want := []manifest.LeftOut{{Path: "./", Why: manifest.WhyLimit, Files: 1}, {Path: "dir/", Why: manifest.WhyMany, Files: 5}, {Path: "dir/", Why: manifest.WhyLimit, Files: manifest.MaxLeftOut}}
	slices.SortFunc(want, func(a, b manifest.LeftOut) int {
		return strings.Compare(a.Path+"\x00"+string(a.Why), b.Path+"\x00"+string(b.Why))
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// meddler changes a file whenever it is asked whether time is over, which is while the file is read.
type meddler struct {
	context.Context
	meddle func()
}

func (m meddler) Err() error {
	m.meddle()
	return nil
}

func TestAFileThatChangesWhileItIsReadIsNamed(t *testing.T) {
	s := newScratch(t)
	tree, err := workfile.Open(s.top)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	times := 0
	always := meddler{context.Background(), func() {
		times++
		s.write("a.txt", strings.Repeat("x", times))
	}}
	if _, err := tree.ReadContent(always, "a.txt", 1000); !errors.Is(err, workfile.ErrTorn) {
		t.Errorf("read a file that changes: %v", err)
	}
	times = 0
	once := meddler{context.Background(), func() {
		if times++; times == 1 {
			s.write("a.txt", "longer than before")
		}
	}}
	if c, err := tree.ReadContent(once, "a.txt", 1000); err != nil || string(c.Data) != "longer than before" {
		t.Errorf("read a file that changed once: %q, %v", c.Data, err)
	}
	taking := &rescueTaker{store: s.store, reading: always, tree: tree, seen: &survey{entries: map[string]*manifest.Entry{}}}
	taking.readWork(candidate{entry: taking.seen.entryAt("a.txt")})
	if d := cmp.Diff([]manifest.LeftOut{{Path: "a.txt", Why: manifest.WhyTorn}}, taking.taken.LeftOut); d != "" {
		t.Error(d)
	}
}

func TestTimeThatIsOver(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	s.store.Limits.Time = time.Nanosecond
	got := s.take()
	if d := cmp.Diff([]manifest.LeftOut{{Path: "./", Why: manifest.WhyTime}}, got.LeftOut); d != "" || got.ID != "" || got.Nothing {
		t.Errorf("%+v: %s", got, d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.store.Take(ctx, s.request()); !errors.Is(err, context.Canceled) {
		t.Errorf("for a caller that has gone: %v", err)
	}
}

// over is a context whose time is over when the test says so.
type over struct {
	context.Context
	is *atomic.Bool
}

func (o over) Err() error {
	if o.is.Load() {
		return context.DeadlineExceeded
	}
	return nil
}

// A slow disk hands out 20 of 50 MB until the time for reading is over: these are kept, and the others are
// named.
func TestASlowDisk(t *testing.T) {
	s := newScratch(t)
	const files, inTime = 50, 20
	for i := range files {
		s.write(fmt.Sprintf("f%02d", i), strings.Repeat(fmt.Sprintf("%15d\n", i), 1<<16-i)) // the later, the smaller
	}
	reading, read, left := over{context.Background(), new(atomic.Bool)}, 0, s.store.Limits.Bytes
	s.store.Kill = func(point string) {
		if point == "reading" {
			read++
			reading.is.Store(read > inTime)
		}
	}
	taken, err := (&rescueTaker{store: s.store, r: s.request(), reading: reading, left: &left}).runRescue(context.Background())
	if err != nil || taken.ID == "" || taken.Files != inTime || len(taken.LeftOut) != files-inTime {
		t.Fatalf("%d files, %d left out, %v", taken.Files, len(taken.LeftOut), err)
	}
	for i, l := range taken.LeftOut {
		if want := (manifest.LeftOut{Path: fmt.Sprintf("f%02d", inTime+i), Why: manifest.WhyTime}); l != want {
			t.Errorf("left out: %+v, want %+v", l, want)
		}
	}
	s.store.Kill = nil
	s.git("clean", "-qfd")
	if got := s.restore(taken.ID); len(got.Restored) != inTime || len(got.LeftOut) != files-inTime {
		t.Errorf("%+v", got)
	}
}

// hang makes the store wait at the n-th pass of a point, as for a disk that doesn't answer, until the test
// ends, and calls also then.
func (s *scratch) hang(point string, n int, also func()) {
	var passed atomic.Int64
	release := make(chan struct{})
	s.t.Cleanup(func() { close(release) })
	s.store.Kill = func(p string) {
		if p == point && passed.Add(1) == int64(n) {
			also()
			<-release
			runtime.Goexit()
		}
	}
}

// A disk that doesn't answer for one file: what was read before is kept, and nothing is waited for.
func TestAFileThatADiskDoesNotHandOut(t *testing.T) {
	s := newScratch(t)
	for _, name := range []string{"a.txt", "dir/b.txt", "later"} {
		s.write(name, "changed\n")
	}
	reading, end := context.WithCancel(context.Background())
	s.hang("reading", 2, end)
	left := s.store.Limits.Bytes
	taken, err := (&rescueTaker{store: s.store, r: s.request(), reading: reading, left: &left}).runRescue(context.Background())
	if d := cmp.Diff([]manifest.LeftOut{{Path: "dir/b.txt", Why: manifest.WhyTime}, {Path: "later", Why: manifest.WhyTime}}, taken.LeftOut); err != nil || d != "" || taken.Files != 1 {
		t.Errorf("%+v, %v: %s", taken, err, d)
	}
}

// A disk that doesn't take what is written: the rescue ends in time, and says that nothing was kept.
func TestADiskThatTakesNothing(t *testing.T) {
	for _, point := range testenv.Nth(t, "points at which a disk takes nothing", 3, []string{"repository", "claimed", "index"}) {
		s := newScratch(t)
		s.write("a.txt", "changed\n")
		s.store.Limits.Time, s.store.Limits.Prune = 2*time.Second, 0 // also on a busy machine it comes to the point before
		s.hang(point, 1, func() {})
		if got := s.take(); got.ID != "" || cmp.Diff([]manifest.LeftOut{{Path: "./", Why: manifest.WhyTime}}, got.LeftOut) != "" {
			t.Errorf("at %q: %+v", point, got)
		}
	}
}

// fake makes a git that does something before the real one.
func (s *scratch) fake(script string) git.Client {
	s.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.t.TempDir(), "git")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\nexec '"+real+"' \"$@\"\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return git.Client{Path: path}
}

func TestWhenGitIsSlowTrackedFilesAreTaken(t *testing.T) {
	s := newScratch(t)
	if runtime.GOOS == "windows" {
		t.Skip("the git of this test is a shell script")
	}
	s.write("a.txt", "changed\n")
	s.write("new", "new\n")
	s.store.Git = s.fake(`case "$*" in *-uall*) exec sleep 600;; esac`) // it is killed long before
	s.store.Limits.Status = 50 * time.Millisecond
	got := s.take()
	if d := cmp.Diff([]manifest.LeftOut{{Path: "./", Why: manifest.WhyTime}}, got.LeftOut); d != "" || got.Files != 1 {
		t.Errorf("%+v: %s", got, d)
	}
}

func TestWhatGitCannotReadIsNamed(t *testing.T) {
	s := newScratch(t)
	if runtime.GOOS == "windows" {
		t.Skip("the git of this test is a shell script")
	}
	s.write("a.txt", "changed\n")
	s.store.Git = s.fake(`case "$*" in *-uall*) echo "warning: could not open directory 'it's/': Permission denied
warning: could not open directory 'b/': Permission denied" >&2;; esac`)
	got := s.take()
	if d := cmp.Diff([]manifest.LeftOut{{Path: "b/", Why: manifest.WhyUnreadable}, {Path: "it's/", Why: manifest.WhyUnreadable}}, got.LeftOut); d != "" || got.Files != 1 {
		t.Errorf("%+v: %s", got, d)
	}
}

func TestGitThatFails(t *testing.T) {
	s := newScratch(t)
	s.write("a.txt", "changed\n")
	s.store.Git = git.Client{Path: filepath.Join(t.TempDir(), "none")}
	if _, err := s.store.Take(context.Background(), s.request()); err == nil {
		t.Error("a rescue without git")
	}
	s.store.Git = git.Client{}
	if err := os.WriteFile(filepath.Join(s.tree.Git, "index"), []byte("no index"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Take(context.Background(), s.request()); stick.CodeOf(err) != stick.CodeGitFailed {
		t.Errorf("a rescue with a damaged index: %v", err)
	}
}

// GIT_DIR names the repository of people who keep their settings in one whose tree is their home.
func TestARepositoryThatOnlyGITDIRNames(t *testing.T) {
	s := newScratch(t)
	elsewhere := filepath.Join(filepath.Dir(s.top), "elsewhere")
	if err := os.Rename(s.path(".git"), elsewhere); err != nil {
		t.Fatal(err)
	}
	tree, ok := workspace.FindCheckout(s.top, workspace.Env{GitDir: elsewhere, GitWorkTree: s.top})
	if !ok || !tree.Given || tree.Git != elsewhere {
		t.Fatalf("%+v", tree)
	}
	s.tree = tree
	s.write("a.txt", "changed\n")
	taken := s.take()
	s.write("a.txt", "one\n")
	got, err := s.store.Restore(context.Background(), RestoreRequest{ID: taken.ID, Tree: tree})
	if err != nil || !got.Exact || s.read("a.txt") != "changed\n" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestIDsSortByTime(t *testing.T) {
	const sum = "0123456789abcdef"
	last := ""
	for _, at := range []stick.Time{0, 1, 31, 32, 1 << 40, 1<<40 + 1, 1 << 44} {
		id := manifest.NewID(at, sum)
		if got, ok := manifest.TimeOf(id); !ok || got != at || id <= last || len(id) != 14 {
			t.Errorf("%q: %v, %v, after %q", id, got, ok, last)
		}
		last = id
	}
	for _, id := range []string{"", "0123", "00000000i-0123", "000000000+0123", "000000000-012G", "000000000-01234"} {
		if _, ok := manifest.TimeOf(id); ok {
			t.Errorf("%q is an id", id)
		}
	}
}

func TestTextsOfAnyBytes(t *testing.T) {
	for _, want := range []string{"", "a/b", "ünï", "new\nline", "\xff\xfe", "base64:x", "base64:"} {
		b, err := json.Marshal(manifest.BytesText(want))
		if err != nil {
			t.Fatal(err)
		}
		var got manifest.BytesText
		if err := json.Unmarshal(b, &got); err != nil || string(got) != want {
			t.Errorf("%q became %s and %q: %v", want, b, got, err)
		}
	}
	m := manifest.Manifest{
		ID: "x", Top: "\xfftop", Common: "\xfe", Branch: "\xfd", Facts: manifest.Facts{Command: "rm \xff", Agent: "a"},
		LeftOut: []manifest.LeftOut{{Path: "\xff", Why: manifest.WhyTime, Files: 2}}, Nested: []manifest.Nested{{Path: "\xff", ID: "id"}},
	}
	b, err := m.EncodeJSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := manifest.Decode(b)
	if d := cmp.Diff(m, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
}
