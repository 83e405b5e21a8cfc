package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
)

// work is a repository with a commit.
type work struct {
	*testing.T
	Client
	dir string
}

func newWork(t *testing.T) *work {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", base)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(base, "config"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")

	for _, v := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Setenv(v, "")
		os.Unsetenv(v)
	}

	w := &work{T: t, dir: filepath.Join(base, "work")}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.git("init", "--quiet", "--initial-branch=main")
	w.git("config", "user.name", "Ann")
	w.git("config", "user.email", "ann@example.invalid")
	w.commit("a", "one\ntwo\nthree\n")
	return w
}

func (w *work) git(args ...string) string {
	w.Helper()
	c := exec.Command("git", args...)
	c.Dir = w.dir
	out, err := c.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}

	return strings.TrimSpace(string(out))
}

func (w *work) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// commit commits a file on the branch that is checked out, and returns the commit.
func (w *work) commit(name, text string) string {
	w.Helper()
	w.write(name, text)
	w.git("add", "--", name)
	w.git("commit", "--quiet", "-m", "change "+name)
	return w.git("rev-parse", "HEAD")
}

func (w *work) sum(from, to string) string {
	w.Helper()
	s, err := w.PatchSum(w.Context(), w.dir, from, to)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// TestPatchSum: the same change on another base has the same sum, and nothing else has; blanks and binary
// files count.
func TestPatchSum(t *testing.T) {
	w := newWork(t)
	base := w.git("rev-parse", "HEAD")
	w.git("switch", "--quiet", "-c", "work")
	one := w.commit("a", "one\ntwo\nTHREE\n")
	w.git("switch", "--quiet", "main")
	other := w.commit("b", "elsewhere\n")
	w.git("switch", "--quiet", "-c", "again", "main")
	w.git("cherry-pick", one)
	moved := w.git("rev-parse", "HEAD")
	if w.sum(base, one) != w.sum(other, moved) {
		t.Error("the same change on another base has another sum")
	}

	for name, text := range map[string]string{
		"a": "one\ntwo\nTHREE \n", "c": "new\n", "d": "\x00\x01", "e": "\x00\x02",
	} {
		w.git("switch", "--quiet", "--detach", base)
		if w.sum(base, one) == w.sum(base, w.commit(name, text)) {
			t.Errorf("a change of %s to %q has the same sum", name, text)
		}
	}

	w.git("switch", "--quiet", "--detach", base)
	first := w.commit("x", "\x00 one")
	w.git("switch", "--quiet", "--detach", base)
	if w.sum(base, first) == w.sum(base, w.commit("x", "\x00 two")) {
		t.Error("two binary files have one sum")
	}
	if w.sum(base, base) == w.sum(base, one) {
		t.Error("nothing has the sum of something")
	}
}

// TestUpdateRef: a branch moves only from where it was seen.
func TestUpdateRef(t *testing.T) {
	w := newWork(t)
	ctx := t.Context()
	first := w.git("rev-parse", "HEAD")
	second := w.commit("a", "x\n")

	move := func(to, from string, want bool) {
		t.Helper()
		moved, err := w.UpdateRef(ctx, w.dir, "refs/heads/x", to, from)
		if err != nil || moved != want {
			t.Errorf("%v, %v; want %v", moved, err, want)
		}
	}

	move(first, "", true)
	move(second, "", false)
	move(second, first, true)
	move(first, first, false)
	if err := w.DeleteRef(ctx, w.dir, "refs/heads/x", first); stick.CodeOf(err) != stick.CodeGitFailed {
		t.Errorf("a branch that had moved was deleted: %v", err)
	}

	if err := w.DeleteRef(ctx, w.dir, "refs/heads/x", second); err != nil {
		t.Error(err)
	}
	if err := w.DeleteRef(ctx, w.dir, "refs/heads/x", second); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
}

// TestContained: a commit is in itself and in what came after it; one that isn't here is in nothing else.
func TestContained(t *testing.T) {
	w := newWork(t)
	first, absent := w.git("rev-parse", "HEAD"), strings.Repeat("1", 40)
	second := w.commit("a", "x\n")
	for _, c := range []struct {
		commit string
		in     []string
		want   bool
	}{
		{first, []string{first}, true},
		{first, []string{"", absent, second}, true},
		{second, []string{first}, false},
		{second, []string{first, absent}, false},
		{first, nil, false},
		{absent, []string{second}, false},
		{absent, []string{absent}, true},
	} {
		if got, err := w.IsContained(t.Context(), w.dir, c.commit, c.in...); err != nil || got != c.want {
			t.Errorf("%s in %v: %v, %v", c.commit, c.in, got, err)
		}
	}
}

// TestMergeWithoutACheckout makes merges and reversals, and names what is in conflict.
func TestMergeWithoutACheckout(t *testing.T) {
	w := newWork(t)
	ctx := t.Context()
	w.git("switch", "--quiet", "-c", "work")
	work := w.commit("b", "b\n")
	w.git("switch", "--quiet", "main")
	main := w.commit("c", "c\n")
	tree, files, err := w.MergeTree(ctx, w.dir, main, work)
	if err != nil || len(files) > 0 {
		t.Fatal(tree, files, err)
	}

	merge, err := w.CommitTree(ctx, w.dir, Signing{}, tree, "Merge\n\nline\n", main, work)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.git("log", "-1", "--format=%P %B", merge); got != main+" "+work+" Merge\n\nline" {
		t.Errorf("the commit is %q", got)
	}
	if ok, err := w.IsAncestor(ctx, w.dir, work, merge); !ok || err != nil {
		t.Error(ok, err)
	}
	if ok, err := w.IsAncestor(ctx, w.dir, merge, work); ok || err != nil {
		t.Error(ok, err)
	}

	w.git("switch", "--quiet", "work")
	clash := w.commit("c", "mine\n")
	if tree, files, err := w.MergeTree(ctx, w.dir, main, clash); err != nil ||
		tree != "" ||
		!slices.Equal(files, []string{"c"}) {
		t.Errorf("a conflict is %q, %q, %v", tree, files, err)
	}
	if status := w.git("status", "--porcelain"); status != "" {
		t.Errorf("the checkout was touched: %s", status)
	}
}

func TestReadFile(t *testing.T) {
	w := newWork(t)
	if b, ok, err := w.ReadFile(t.Context(), w.dir, "HEAD", "a"); err != nil ||
		!ok ||
		string(b) != "one\ntwo\nthree\n" {
		t.Errorf("%q, %v, %v", b, ok, err)
	}

	for _, path := range []string{"no", ".talking-stick.toml", ""} {
		if b, ok, err := w.ReadFile(t.Context(), w.dir, "HEAD", path); err != nil || ok {
			t.Errorf("%q: %q, %v, %v", path, b, ok, err)
		}
	}
}

// TestReadFileAt: it says which commit it has read, also if the file is empty or missing there.
func TestReadFileAt(t *testing.T) {
	w := newWork(t)
	head := w.commit("empty", "")
	for path, want := range map[string]string{"a": "one\ntwo\nthree\n", "empty": "", "nosuch": "none"} {
		commit, b, ok, err := w.ReadFileAt(t.Context(), w.dir, "HEAD", path)
		if err != nil || commit != head || ok != (want != "none") || ok && string(b) != want {
			t.Errorf("%s: %q in %s, %v %v", path, b, commit, ok, err)
		}
	}

	if commit, _, ok, err := w.ReadFileAt(t.Context(), w.dir, "refs/heads/nosuch", "a"); commit != "" ||
		ok ||
		err != nil {
		t.Errorf("a branch that isn't there has commit %q, %v %v", commit, ok, err)
	}
}

// TestRemoveWorktree: only what can be lost without harm is removed.
func TestRemoveWorktree(t *testing.T) {
	w := newWork(t)
	ctx := t.Context()
	head := w.git("rev-parse", "HEAD")
	path := filepath.Join(w.dir, "trees", "x")
	if err := w.AddWorktree(ctx, w.dir, path, "feat/x", head, "why"); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(path, "new"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveWorktree(ctx, w.dir, path, "why"); stick.CodeOf(err) != stick.CodeGitFailed {
		t.Errorf("a worktree with an untracked file: %v", err)
	}
	if list := w.git("worktree", "list", "--porcelain"); !strings.Contains(list, "locked why") {
		t.Errorf("it isn't locked any more:\n%s", list)
	}

	if err := os.Remove(filepath.Join(path, "new")); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveWorktree(ctx, w.dir, path, "why"); err != nil {
		t.Error(err)
	}

	if err := w.RemoveWorktree(ctx, w.dir, path, "why"); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(path, "theirs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveWorktree(ctx, w.dir, path, "why"); err == nil {
		t.Error("a directory that is no worktree was removed")
	}
}

// TestDropDetached takes the record of one worktree, and leaves those on a disk that isn't there.
func TestDropDetached(t *testing.T) {
	w := newWork(t)
	ctx := t.Context()
	head := w.git("rev-parse", "HEAD")

	gate, away := filepath.Join(w.dir, ".gate"), filepath.Join(w.dir, "away")
	for _, path := range []string{gate, away} {
		if err := w.AddDetached(ctx, w.dir, path, head); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.RemoveAll(away); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveDetached(filepath.Join(w.dir, ".git"), filepath.Dir(gate), filepath.Base(gate)); err != nil {
		t.Fatal(err)
	}
	if list := w.git("worktree", "list"); strings.Contains(list, ".gate") || !strings.Contains(list, "away") {
		t.Errorf("what is left is\n%s", list)
	}

	if err := w.RemoveRecord(filepath.Join(w.dir, ".git"), w.dir); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveRecord(filepath.Join(w.dir, ".git"), away); err != nil {
		t.Fatal(err)
	}
	if list := w.git("worktree", "list"); strings.Contains(list, "away") {
		t.Errorf("what is left is\n%s", list)
	}

	if err := w.AddDetached(ctx, w.dir, away, head); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveRecord(filepath.Join(w.dir, ".git"), away); err != nil {
		t.Fatal(err)
	}
	if list := w.git("worktree", "list"); !strings.Contains(list, "away") {
		t.Errorf("the record of one that is there was dropped: %s", list)
	}
}

func TestExclude(t *testing.T) {
	w := newWork(t)
	common := filepath.Join(w.dir, ".git")
	path := filepath.Join(common, "info", "exclude")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}

	for range 2 {
		if err := ExcludePatterns(common, "/worktrees/", "x"); err != nil {
			t.Fatal(err)
		}
	}

	if b, _ := os.ReadFile(path); string(b) != "mine\n/worktrees/\nx\n" {
		t.Errorf("it is %q", b)
	}
}

func TestBranchName(t *testing.T) {
	for _, name := range []string{"main", "feat/x", "a.b", "ä"} {
		if !BranchName(name) {
			t.Errorf("%q can't be a branch", name)
		}
	}

	for _, name := range []string{
		"", "-x", "a..b", "a b", "a~", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "@", "a@{b", "a\n", "a?",
		strings.Repeat("x", 201),
	} {
		if BranchName(name) {
			t.Errorf("%q can be a branch", name)
		}
	}
}

// TestFailures: what git says is told, and its kind can be found out.
func TestFailures(t *testing.T) {
	w := newWork(t)
	_, err := w.runText(t.Context(), w.dir, "rev-list", "nosuch")
	f := asFailure(err)
	if f == nil ||
		f.Exit != 128 ||
		stick.CodeOf(err) != stick.CodeGitFailed ||
		!strings.Contains(err.Error(), "nosuch") {
		t.Errorf("%v", err)
	}
	if _, err := (Client{Path: filepath.Join(w.dir, "nogit")}).runText(t.Context(), w.dir, "version"); stick.CodeOf(err) != stick.CodeGitMissing {
		t.Errorf("no program: %v", err)
	}
	if _, err := w.Checkout(t.Context(), filepath.Join(w.dir, "..")); stick.CodeOf(err) != stick.CodeNoRepository {
		t.Errorf("no repository: %v", err)
	}

	w.git("config", "user.name", "")
	w.git("config", "user.useConfigOnly", "true")
	w.git("config", "--unset", "user.email")

	for _, v := range []string{
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL",
	} {
		t.Setenv(v, "")
		os.Unsetenv(v)
	}

	if err := w.Identity(t.Context(), w.dir); stick.CodeOf(err) != stick.CodeGitFailed {
		t.Errorf("nobody: %v", err)
	}
	var exit *exec.ExitError
	if !errors.As(w.Identity(t.Context(), w.dir), &exit) {
		t.Error("the cause is lost")
	}
}

// TestWritingEnvironment: who commits and how remotes are reached comes through, and no other tree.
func TestWritingEnvironment(t *testing.T) {
	env := Client{Env: []string{"TT_INTENT=i"}}.writeEnvironment([]string{
		"PATH=/bin", "GIT_DIR=/x", "GIT_INDEX_FILE=/y", "GIT_AUTHOR_NAME=Ann", "GIT_SSH_COMMAND=ssh -v",
		"GIT_CONFIG_GLOBAL=/g", "GIT_AUTHOR_DATE=1",
		"GIT_CONFIG_COUNT=1",
	})

	for _, want := range []string{
		"PATH=/bin",
		"GIT_AUTHOR_NAME=Ann",
		"GIT_SSH_COMMAND=ssh -v",
		"GIT_CONFIG_GLOBAL=/g",
		"TT_INTENT=i",
		"GIT_TERMINAL_PROMPT=0",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}

	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains([]string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_AUTHOR_DATE", "GIT_CONFIG_COUNT"}, name) {
			t.Errorf("%s came through", v)
		}
	}
}

// TestLostRace: a remote that has other commits is no failure.
func TestLostRace(t *testing.T) {
	w := newWork(t)
	ctx := t.Context()
	first := w.git("rev-parse", "HEAD")
	up := filepath.Join(w.dir, "..", "up.git")
	w.git("clone", "--quiet", "--bare", ".", up)
	w.git("remote", "add", "origin", up)
	theirs := w.commit("a", "theirs\n")
	if moved, err := w.Push(ctx, w.dir, "origin", "main", theirs); !moved || err != nil {
		t.Fatal(moved, err)
	}

	w.git("switch", "--quiet", "--detach", first)
	mine := w.commit("a", "mine\n")
	if moved, err := w.Push(ctx, w.dir, "origin", "main", mine); moved || err != nil {
		t.Errorf("%v, %v", moved, err)
	}
	if at, err := w.Fetch(ctx, w.dir, "origin", "main"); at != theirs || err != nil {
		t.Errorf("%s, %v", at, err)
	}

	hook := filepath.Join(up, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho not today >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Push(ctx, w.dir, "origin", "other", mine); stick.CodeOf(err) != stick.CodeGitFailed {
		t.Errorf("a remote that refuses: %v", err)
	}

	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	if err := w.PushWithLease(ctx, w.dir, "origin", "feat/x", mine, ""); err != nil {
		t.Error(err)
	}
	if at, err := w.RemoteBranch(ctx, w.dir, "origin", "feat/x"); at != mine || err != nil {
		t.Errorf("%s, %v", at, err)
	}
	if err := w.PushWithLease(ctx, w.dir, "origin", "feat/x", theirs, first); err == nil {
		t.Error("a branch that had moved was overwritten")
	}

	if err := w.PushWithLease(ctx, w.dir, "origin", "feat/x", "", mine); err != nil {
		t.Error(err)
	}
}

// TestFailuresOfGit: a failure names git's command and the files that it is about, and what keeps git out is
// named with its remedy.
func TestFailuresOfGit(t *testing.T) {
	w := newWork(t)
	ctx := t.Context()
	first := w.git("rev-parse", "HEAD")
	second := w.commit("new", "theirs\n")
	w.git("reset", "--quiet", "--hard", first)
	w.write("new", "mine\n")
	err := w.FastForward(ctx, w.dir, second)
	if err == nil ||
		!strings.HasPrefix(err.Error(), "git merge failed: ") ||
		!strings.HasSuffix(err.Error(), `overwritten by merge: new"`) {
		t.Errorf("a file in the way: %v", err)
	}

	if err := os.Remove(filepath.Join(w.dir, "new")); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(w.dir, ".git", "index.lock")
	w.write(".git/index.lock", "")
	err = w.FastForward(ctx, w.dir, second)
	if e := stick.AsError(err); e.Fields["path"] != lock || !strings.Contains(e.Hint.String(), "remove that file") {
		t.Errorf("a lock: %v; %s", err, e.Hint)
	}

	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, ".git", "hooks", "post-checkout"), []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	err = w.AddDetached(ctx, w.dir, filepath.Join(w.dir, "tree"), first)
	if err == nil || err.Error() != "git worktree failed: its post-checkout hook seems to have failed: exit status 3" {
		t.Errorf("a hook: %v", err)
	}
}

// TestUntrackedInTheWay lists what a checkout that moves forward would overwrite: what git doesn't know
// there, ignored or not.
func TestUntrackedInTheWay(t *testing.T) {
	w := newWork(t)
	ctx := t.Context()
	if err := os.Mkdir(filepath.Join(w.dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.commit("File", "1\n")
	from := w.commit("d/known", "1\n")
	w.git("mv", "File", "file")
	w.git("rm", "--quiet", "-r", "d")
	for _, name := range []string{"d", "plain", "kept.ign", "free"} {
		w.commit(name, "new\n")
	}
	if err := os.Mkdir(filepath.Join(w.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}

	to := w.commit("sub/x", "new\n")
	w.git("reset", "--quiet", "--hard", from)
	if files, err := w.UntrackedOverwritten(ctx, w.dir, from, to); err != nil || len(files) > 0 {
		t.Fatalf("%q, %v", files, err)
	}

	w.write(".git/info/exclude", "*.ign\n")
	for _, name := range []string{"plain", "kept.ign", "sub"} {
		w.write(name, "mine\n")
	}
	files, err := w.UntrackedOverwritten(ctx, w.dir, from, to)
	slices.Sort(files)
	if err != nil || !slices.Equal(files, []string{"kept.ign", "plain", "sub"}) {
		t.Errorf("%q, %v", files, err)
	}

	for _, name := range []string{"plain", "sub"} {
		if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.FastForward(ctx, w.dir, to); err == nil || !strings.Contains(err.Error(), "kept.ign") {
		t.Errorf("an ignored file: %v", err)
	}
	if b, _ := os.ReadFile(filepath.Join(w.dir, "kept.ign")); string(b) != "mine\n" {
		t.Errorf("it is %q", b)
	}
}

// TestCompleteForward takes a checkout to its end from wherever git may have been stopped, and keeps what
// somebody has changed since.
func TestFinishFastForward(t *testing.T) {
	w := newWork(t)
	ctx := t.Context()
	if err := os.Symlink("a", filepath.Join(w.dir, "link")); err != nil {
		t.Skip(err)
	}
	w.git("add", "link")
	from := w.commit("long", "old\n")
	if err := os.Remove(filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink("long", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	w.git("add", "link")
	w.git("rm", "--quiet", "a")
	w.commit("new", "new\n")

	to := w.commit("long", "the new text\n")
	for _, c := range []struct {
		name, half string
		foreign    []string
	}{
		{"nothing", ":", nil},
		{"a file that is removed, and not written yet", "rm long", nil},
		{"a file that is half written", "printf 'the new' >long", nil},
		{"an empty one", ": >new", nil},
		{"a link", "ln -sf long link", nil},
		{"a removed file", "rm a", nil},
		{"somebody's text", "rm a; echo mine >long", []string{"long"}},
		{"somebody's new file", "rm a; echo mine >new", []string{"new"}},
		{"somebody's link", "rm a; ln -sf mine link", []string{"link"}},
		{"somebody's text in a file that goes", "rm link; echo mine >a", []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.git("switch", "--quiet", "--force", "--detach", from)
			w.git("clean", "--quiet", "-fdx")
			w.git("branch", "--force", "main", from)
			w.git("switch", "--quiet", "main")
			if out, err := exec.Command("sh", "-c", "cd '"+w.dir+"' && "+c.half).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}

			err := w.FinishFastForward(ctx, w.dir, "refs/heads/main", from, to)
			if c.foreign != nil {
				e := stick.AsError(err)
				if stick.CodeOf(err) != stick.CodeDirtyTree || !slices.Equal(e.Fields["left"].([]string), c.foreign) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}

			want := to
			if c.name == "nothing" {
				want = from
			}
			if at, status := w.git("rev-parse", "main"), w.git("status", "--porcelain"); at != want || status != "" {
				t.Errorf("it is at %s, not %s:\n%s", at, want, status)
			}
		})
	}
}

// TestReadOnlyWorktree removes what was made read-only, and doesn't follow links out of it.
func TestReadOnlyWorktree(t *testing.T) {
	w := newWork(t)
	path, outside := filepath.Join(w.dir, "tree"), filepath.Join(w.dir, "outside")
	if err := w.AddDetached(t.Context(), w.dir, path, w.git("rev-parse", "HEAD")); err != nil {
		t.Fatal(err)
	}
	shut := []string{
		filepath.Join(path, "cache", "x", "y"),
		filepath.Join(path, "cache", "x"),
		filepath.Join(path, "cache"),
		outside,
	}
	for _, dir := range shut {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.WriteFile(filepath.Join(shut[0], "f"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(path, "out")); err != nil {
		t.Fatal(err)
	}

	for _, dir := range shut {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}

	root, err := os.OpenRoot(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	makeWritable(root, "tree") // removing it shows nothing where permissions don't count

	for i, dir := range shut {
		info, err := os.Lstat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if may := info.Mode().Perm()&0o200 != 0; may != (i < 3) {
			t.Errorf("%s has the mode %v", dir, info.Mode())
		}
	}

	for _, dir := range shut {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.RemoveDetached(filepath.Join(w.dir, ".git"), filepath.Dir(path), filepath.Base(path)); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
