package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
)

// killing is a command that is killed at every point that it passes.
type killing struct {
	name  string
	setup func(*farm)
	args  []string
	as    string
	exit  int         // of the command if nobody kills it
	done  func(*farm) // checks the end
}

// TestKilledWorkerCommands kills spawn, next, done, merge, cancel, retry and rollback at every point that
// they pass in a first run. The same command again ends in the right state. Then nothing unmerged is deleted,
// no checkout is dirty, and nothing is half done.
func TestKilledWorkerCommands(t *testing.T) {
	testenv.Leaves(t, testenv.Every, "six of seven points at which a command is killed")

	merged := func(f *farm) {
		s := f.show("x")
		if s.State != "COMPLETED" || s.Result == "" {
			f.Errorf("the task is %+v", s)
		}
		if n := f.git("rev-list", "--count", "--merges", "integration"); n != "1" {
			f.Errorf("%s merges are on the branch", n)
		}
		if refs := f.git("for-each-ref", "refs/heads/feat"); refs != "" {
			f.Errorf("left are %s", refs)
		}
		f.gone("worktrees/x")
	}

	gate := func(f *farm) {
		f.write(".talking-stick.toml", "[gate]\ncommand = \"grep -q fine state\"\n")
		f.git("add", ".")
		f.git("commit", "--quiet", "-m", "gate")
	}

	setUps := func(f *farm) {
		f.write(".talking-stick.toml", "[worker]\nsetup = \"echo done >set-up\"\n")
		f.write(".gitignore", "set-up\n")
		f.git("add", ".")
		f.git("commit", "--quiet", "-m", "settings")
		f.ok("claude:boss", "worker", "init")

		var shown struct {
			Commands []struct {
				Sum string `json:"sum"`
			} `json:"commands"`
		}

		if err := json.Unmarshal([]byte(f.ok("claude:boss", "worker", "init", "--json").out), &shown); err != nil ||
			len(shown.Commands) != 1 {
			f.Fatalf("%+v, %v", shown, err)
		}
		// by a person
		if r := f.run(f.dir, nil, "tt", "worker", "init", "--accept", shown.Commands[0].Sum); r.exit != 0 {
			f.Fatalf("%d %s%s", r.exit, r.out, r.err)
		}
	}

	isSetUp := func(f *farm, state string) {
		if s := f.show("x"); s.State != state {
			f.Errorf("the task is %+v", s)
		}
		if b, err := os.ReadFile(filepath.Join(f.dir, "worktrees/x/set-up")); string(b) != "done\n" {
			f.Errorf("its worktree isn't set up: %q, %v", b, err)
		}
		if got := f.git("-C", "worktrees/x", "status", "--porcelain"); got != "" {
			f.Errorf("the worktree isn't clean: %s", got)
		}
	}

	merge := []string{"worker", "merge", "x"}
	commands := []killing{
		{
			name: "spawn", as: "claude:boss", args: []string{"worker", "spawn", "x", "--description", "the lexer"},
			setup: func(f *farm) { f.ok("claude:boss", "worker", "init") },
			done: func(f *farm) {
				if s := f.show("x"); s.State != "ASSIGNED" ||
					f.git("rev-parse", "feat/x") != f.git("rev-parse", "integration") {
					f.Errorf("the task is %+v", s)
				}
				if got := f.git("-C", "worktrees/x", "status", "--porcelain"); got != "" {
					f.Errorf("the worktree isn't clean: %s", got)
				}
				f.ok("codex:x", "worker", "start", "--path", "worktrees/x")
			},
		},
		{
			name: "spawn with a set-up", as: "claude:boss", args: []string{"worker", "spawn", "x"},
			setup: setUps,
			done:  func(f *farm) { isSetUp(f, "ASSIGNED") },
		},
		{
			name: "next", as: "codex:x", args: []string{"worker", "next"},
			setup: func(f *farm) {
				setUps(f)
				f.ok("claude:boss", "worker", "spawn", "x", "--later")
				f.ok("claude:boss", "worker", "spawn", "y", "--later") // nobody gets two
			},
			done: func(f *farm) {
				isSetUp(f, "WORKING")
				if s := f.show("x"); s.Worker != "codex:x" {
					f.Errorf("the task is %+v", s)
				}
				if s := f.show("y"); s.State != "ASSIGNED" {
					f.Errorf("the other task is %+v", s)
				}
				f.gone("worktrees/y")
			},
		},
		{
			name: "done", as: "codex:x", args: []string{"worker", "done", "--task", "x"},
			setup: func(f *farm) {
				f.ok("claude:boss", "worker", "init")
				f.committed("x", "lexer", "x\n")
				f.onMain("other", "o")
			},
			done: func(f *farm) {
				s := f.show("x")
				if s.State != "IN_REVIEW" ||
					s.Head != f.git("rev-parse", "feat/x") ||
					f.git("merge-base", "feat/x", "integration") != f.git("rev-parse", "integration") {
					f.Errorf("the task is %+v", s)
				}
			},
		},
		{
			name: "done upstream", as: "codex:x", args: []string{"worker", "done", "--task", "x"},
			setup: func(f *farm) {
				f.ok("claude:boss", "worker", "init")
				f.git("clone", "--quiet", "--bare", ".", "../up.git")
				f.git("remote", "add", "origin", "../up.git")
				f.git("fetch", "--quiet")
				f.committed("x", "lexer", "x\n")
				f.onMain("other", "o")
				f.git("push", "--quiet", "origin", "integration")
				if r := f.run(f.dir, []string{
					"TT_HARNESS_AGENT_ID=codex:x", clitest.Kill + "=done: pushed#1",
				}, "tt", "worker", "done", "--task", "x"); r.exit != 137 {
					f.Fatalf("%d %s%s", r.exit, r.out, r.err)
				}
				// a commit that nobody has recorded as pushed
				f.git("-C", "worktrees/x", "commit", "--quiet", "--amend", "-m", "work on x, amended")
			},
			done: func(f *farm) {
				s := f.show("x")
				if up := f.git("--git-dir", "../up.git", "rev-parse", "feat/x"); s.State != "IN_REVIEW" ||
					s.Head != up {
					f.Errorf("the task is %+v, the remote is at %s", s, up)
				}
			},
		},
		{
			name: "conflict", as: "codex:x", args: []string{"worker", "done", "--task", "x"}, exit: 8,
			setup: func(f *farm) {
				f.ok("claude:boss", "worker", "init")
				f.committed("x", "lexer", "x\n")
				f.onMain("lexer", "o")
			},
			done: func(f *farm) {
				if s := f.show("x"); s.State != "CONFLICTED" {
					f.Errorf("the task is %+v", s)
				}
				if got := f.git("-C", "worktrees/x", "diff", "--name-only", "--diff-filter=U"); got != "lexer" {
					f.Errorf("in conflict is %q", got)
				}
			},
		},
		{
			name: "merge", as: "claude:boss", args: merge,
			setup: func(f *farm) {
				gate(f)
				f.ok("claude:boss", "worker", "init")
				f.approved("x", "lexer", "x\n")
			},
			done: merged,
		},
		{
			name: "merge into the checkout", as: "claude:boss", args: merge,
			setup: func(f *farm) {
				f.ok("claude:boss", "worker", "init")
				f.approved("x", "lexer", "x\n")
				f.git("switch", "--quiet", "integration")
			},
			done: func(f *farm) {
				merged(f)
				if b, err := os.ReadFile(filepath.Join(f.dir, "lexer")); string(b) != "x\n" {
					f.Errorf("the checkout has %q, %v", b, err)
				}
			},
		},
		{
			name: "merge upstream", as: "claude:boss", args: merge,
			setup: func(f *farm) {
				f.ok("claude:boss", "worker", "init")
				f.git("clone", "--quiet", "--bare", ".", "../up.git")
				f.git("remote", "add", "origin", "../up.git")
				f.git("fetch", "--quiet")
				f.approved("x", "lexer", "x\n")
			},
			done: func(f *farm) {
				merged(f)
				if up := f.git("--git-dir", "../up.git", "rev-parse", "integration"); up != f.git("rev-parse", "integration") {
					f.Errorf("the remote is at %s", up)
				}
			},
		},
		{
			name: "cancel", as: "claude:boss", args: []string{"worker", "cancel", "x", "--delete"},
			setup: func(f *farm) {
				f.ok("claude:boss", "worker", "init")
				f.committed("x", "lexer", "x\n")
				f.git("update-ref", "refs/heads/integration", "feat/x") // somebody merged it by hand
			},
			done: func(f *farm) {
				if s := f.show("x"); s.State != "FAILED" || f.git("for-each-ref", "refs/heads/feat") != "" {
					f.Errorf("the task is %+v", s)
				}
				f.gone("worktrees/x")
			},
		},
		{
			name: "retry", as: "claude:boss", args: []string{"worker", "retry", "x"},
			setup: func(f *farm) {
				f.ok("claude:boss", "worker", "init")
				f.committed("x", "lexer", "x\n")
				f.ok("claude:boss", "worker", "cancel", "x")
				f.git("worktree", "remove", "--force", "--force", "worktrees/x")
			},
			exit: 0,
			done: func(f *farm) {
				if s := f.show("x"); s.State != "ASSIGNED" ||
					s.Attempt != 2 ||
					f.git("-C", "worktrees/x", "log", "-1", "--format=%s") != "work on x" {
					f.Errorf("the task is %+v", s)
				}
			},
		},
		{
			name: "rollback", as: "claude:boss", args: []string{"worker", "rollback", "x", "--reason", "it is slow"},
			setup: func(f *farm) {
				f.ok("claude:boss", "worker", "init")
				f.approved("x", "lexer", "x\n")
				f.ok("claude:boss", "worker", "merge", "x")
			},
			done: func(f *farm) {
				if s := f.show("x"); s.State != "FAILED" ||
					f.git("log", "-1", "--format=%s", "integration") != "Revert task x" ||
					f.git("ls-tree", "--name-only", "integration", "lexer") != "" {
					f.Errorf("the task is %+v", s)
				}
			},
		},
	}

	// The others are like one of these. internal/task has them die in one process, at every point.
	short := []string{"done", "merge"}
	isInShortRun := func(_ int, c killing) bool { return slices.Contains(short, c.name) }
	for _, c := range testenv.Some(t, testenv.Every, "killed commands", commands, isInShortRun) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			c.setup(f)
			f.save()

			for i, point := range f.points(c) {
				if !testenv.KillsAt(i) {
					continue
				}

				t.Run(point, func(t *testing.T) {
					f := &farm{T: t, base: f.base, dir: f.dir, url: f.url, saved: f.saved, env: f.env}
					f.restore()
					f.killed(c, point)
				})
			}
		})
	}
}

// points runs a command once, and lists the points that it passed, each with how often it had passed that
// before.
func (f *farm) points(c killing) (points []string) {
	f.Helper()
	list := filepath.Join(f.base, "points")
	r := f.run(f.dir, []string{"TT_HARNESS_AGENT_ID=" + c.as, clitest.Points + "=" + list},
		append([]string{"tt"}, c.args...)...)
	if r.exit != c.exit {
		f.Fatalf("%d %s%s", r.exit, r.out, r.err)
	}
	c.done(f)
	f.tidy()
	b, err := os.ReadFile(list)
	if err != nil {
		f.Fatal(err)
	}

	times := map[string]int{}
	for _, name := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		times[name]++
		points = append(points, fmt.Sprintf("%s#%d", name, times[name]))
	}

	if len(points) < 5 {
		f.Fatalf("only %q were seen", points)
	}
	return points
}

// killed kills the command at a point, and runs it again.
func (f *farm) killed(c killing, point string) {
	work := f.git("for-each-ref", "--format=%(objectname)", "refs/heads/feat")
	argv := append([]string{"tt"}, c.args...)
	as := "TT_HARNESS_AGENT_ID=" + c.as
	if r := f.run(f.dir, []string{as, clitest.Kill + "=" + point}, argv...); r.exit != 137 {
		f.Fatalf("it wasn't killed: %d %s%s", r.exit, r.out, r.err)
	}
	f.sound()
	f.kept(work)
	again := f.run(f.dir, []string{as}, argv...)
	f.accept(c, again)
	c.done(f)
	f.kept(work)
	f.tidy()
}

// accept checks the second run: it did what was asked, or says that it was already done.
func (f *farm) accept(c killing, r ran) {
	f.Helper()
	if r.exit != c.exit {
		f.Errorf("the second run: %d %s%s", r.exit, r.out, r.err)
	}
}

// kept checks that a commit, or what a rebase made of it, can still be reached from a branch.
func (f *farm) kept(commit string) {
	f.Helper()
	if commit == "" {
		return
	}

	heads := f.git("for-each-ref", "--contains", commit)
	rewritten := f.git("log", "--all", "--format=%s") // by a rebase
	if heads == "" && !strings.Contains(rewritten, "work on x") {
		f.Errorf("the work %s can't be reached any more", commit)
	}
}

func (f *farm) gone(name string) {
	f.Helper()
	if _, err := os.Lstat(filepath.Join(f.dir, name)); !os.IsNotExist(err) {
		f.Errorf("%s is still there (%v)", name, err)
	}
}

// save copies everything, and restore brings it back to the same place.
func (f *farm) save() {
	f.Helper()
	if out, err := exec.Command("cp", "-a", f.base, f.base+".saved").CombinedOutput(); err != nil {
		f.Fatalf("%v %s", err, out)
	}
	saved := f.base + ".saved"
	f.Cleanup(func() { os.RemoveAll(saved) })
	if f.url != "" {
		f.saved = f.copy(f.url)
	}
}

// copy copies the database to another schema of the server.
func (f *farm) copy(of string) string {
	f.Helper()
	address, drop, err := storetest.CopySchema(of)
	if err != nil {
		f.Fatal(err)
	}

	f.Cleanup(func() {
		if err := drop(); err != nil {
			f.Error(err)
		}
	})

	return address
}

func (f *farm) restore() {
	f.Helper()
	if err := os.RemoveAll(f.base); err != nil {
		f.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", f.base+".saved", f.base).CombinedOutput(); err != nil {
		f.Fatalf("%v %s", err, out)
	}

	if f.url != "" {
		f.url = f.copy(f.saved)
		f.env = overlay(f.env, []string{"TALKING_STICK_DATABASE_URL=" + f.url})
	}
}

// TestCutOffFastForward: the power fails while git moves a checkout forward. Some files are there already,
// with or without the index, and the branch hasn't moved. The next merge completes the move. What somebody
// has changed there since stops the merge, and stays.
func TestCutOffFastForward(t *testing.T) {
	storetest.SkipQuick(t, "a power failure in the middle of a fast-forward")
	for _, c := range []struct {
		name, half string
		theirs     bool // somebody has changed something there since
	}{
		{"files and index", `git checkout -q "$last" -- lexer`, false},
		{"files only", `git show "$last:lexer" >lexer; git show "$last:state" >state`, false},
		{"half of the files", `git show "$last:state" >state`, false},
		{"nothing", `:`, false},
		{"somebody's changes", `git show "$last:state" >state`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			f.ok("claude:boss", "worker", "init")
			f.committed("x", "lexer", "x\n")
			f.write("worktrees/x/state", "better\n")
			f.git("-C", "worktrees/x", "commit", "--quiet", "--all", "-m", "work on x")
			f.ok("codex:x", "worker", "done", "--task", "x")
			f.ok("claude:boss", "worker", "diff", "x")
			f.ok("claude:boss", "worker", "approve", "x")
			f.git("switch", "--quiet", "integration")
			real, err := exec.LookPath("git")
			if err != nil {
				t.Fatal(err)
			}

			cut := filepath.Join(f.base, "cut")
			if err := os.Mkdir(cut, 0o700); err != nil {
				t.Fatal(err)
			}
			script := "#!/bin/sh\ncase \"$*\" in *--ff-only*) ;; *) exec " + real + " \"$@\";; esac\nfor last; do :; done\ncd '" + f.dir + "'\n" + c.half + "\nkill -9 $PPID\n"
			if err := os.WriteFile(filepath.Join(cut, "git"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}

			path := strings.TrimPrefix(f.env[0], "PATH=")
			r := f.run(f.dir, []string{"TT_HARNESS_AGENT_ID=claude:boss", "PATH=" + cut + ":" + path}, "tt",
				"worker", "merge", "x")
			if r.exit != 137 {
				t.Fatalf("%d %s%s", r.exit, r.out, r.err)
			}

			if c.theirs {
				f.write("lexer", "mine\n")
				if r := f.tt("claude:boss", "worker", "merge", "x"); r.exit != 8 || !strings.Contains(r.err, "lexer") {
					t.Errorf("%d %s%s", r.exit, r.out, r.err)
				}
				if b, _ := os.ReadFile(filepath.Join(f.dir, "lexer")); string(b) != "mine\n" {
					t.Errorf("their file is %q", b)
				}

				if err := os.Remove(filepath.Join(f.dir, "lexer")); err != nil {
					t.Fatal(err)
				}
			}

			f.ok("claude:boss", "worker", "merge", "x")
			if s := f.show("x"); s.State != "COMPLETED" {
				t.Errorf("the task is %+v", s)
			}
			if n := f.git("rev-list", "--count", "--merges", "integration"); n != "1" {
				t.Errorf("%s merges are on the branch", n)
			}
			f.tidy()
		})
	}
}

// TestGitOutlivesItsCommand kills tt while its git runs. That git continues, and keeps the task's lock until
// it ends. The next command waits for it, and then completes the work.
func TestGitOutlivesItsCommand(t *testing.T) {
	storetest.SkipQuick(t, "a git that outlives its command")
	f := newFarm(t)
	f.ok("claude:boss", "worker", "init")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}

	slow, pipe, ready := filepath.Join(f.base, "slow"), filepath.Join(f.base, "pipe"), filepath.Join(f.base, "ready")
	if err := os.Mkdir(slow, 0o700); err != nil {
		t.Fatal(err)
	}

	for _, p := range []string{pipe, ready} {
		if err := syscall.Mkfifo(p, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	script := "#!/bin/sh\ncase \"$*\" in *'worktree add'*) echo >'" + ready + "'; read x <'" + pipe + "';; esac\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(slow, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(strings.TrimPrefix(strings.Split(f.env[0], ":")[0], "PATH="), "tt"), "worker",
		"spawn", "x")
	c.Dir, c.Env = f.dir, append(f.env[1:len(f.env):len(f.env)], "TT_HARNESS_AGENT_ID=claude:boss",
		"PATH="+slow+":"+strings.TrimPrefix(f.env[0], "PATH="))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}

	if _, err := os.ReadFile(ready); err != nil { // git has begun
		t.Fatal(err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	_ = c.Wait()
	again := make(chan ran)
	go func() { again <- f.tt("claude:boss", "worker", "spawn", "x") }() // received below

	select {
	case r := <-again:
		t.Fatalf("it didn't wait for the git that runs: %d %s%s", r.exit, r.out, r.err)
	case <-f.waiting():
	}

	if err := os.WriteFile(pipe, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := <-again; r.exit != 0 {
		t.Fatalf("%d %s%s", r.exit, r.out, r.err)
	}
	if s := f.show("x"); s.State != "ASSIGNED" {
		t.Errorf("the task is %+v", s)
	}
	f.tidy()
}

// waiting is closed when a process waits for a lock that somebody else holds.
func (f *farm) waiting() <-chan struct{} {
	done := make(chan struct{})
	go func() { // ends when a wait shows, which it does soon
		defer close(done)
		for {
			b, err := os.ReadFile("/proc/locks")
			if err != nil || strings.Contains(string(b), "-> FLOCK") {
				return
			}
			runtime.Gosched()
		}
	}()

	return done
}

// TestInterruptedFastForward presses Ctrl-C while git moves a checkout forward. The merge comes to its end,
// the checkout is whole, and the queue stops there.
func TestInterruptedFastForward(t *testing.T) {
	storetest.SkipQuick(t, "Ctrl-C in a fast-forward")
	f := newFarm(t)
	f.ok("claude:boss", "worker", "init")
	f.approved("x", "lexer", "x\n")
	f.approved("y", "parser", "y\n")
	f.git("switch", "--quiet", "integration")
	env := f.wrapped(`case "$*" in *--ff-only*) kill -INT $PPID; sleep 1;; esac`)
	r := f.run(f.dir, append(env, "TT_HARNESS_AGENT_ID=claude:boss"), "tt", "worker", "merge", "--all")
	if r.exit != 130 ||
		!strings.Contains(r.out, "x is merged") ||
		!strings.Contains(r.err, "tasks merged before that: 1") {
		t.Errorf("%d %s%s", r.exit, r.out, r.err)
	}
	if x, y := f.show("x"), f.show("y"); x.State != "COMPLETED" || y.State != "APPROVED" || y.Doing != "" {
		t.Errorf("the tasks are %+v, %+v", x, y)
	}

	f.tidy()
	f.ok("claude:boss", "worker", "merge")
	f.tidy()
}

// TestInterruptedGate presses Ctrl-C while the gate runs: nothing has moved, and the message says what holds.
func TestInterruptedGate(t *testing.T) {
	storetest.SkipQuick(t, "Ctrl-C in a gate")
	f := newFarm(t)
	f.write(".talking-stick.toml", "[gate]\ncommand = \"kill -INT $PPID; sleep 60\"\n")
	f.git("add", ".")
	f.git("commit", "--quiet", "-m", "gate")
	f.ok("claude:boss", "worker", "init")
	f.approved("x", "lexer", "x\n")
	r := f.tt("claude:boss", "worker", "merge", "x")
	if r.exit != 130 || !strings.Contains(r.err, "interrupted; x wasn't merged, and stays approved") {
		t.Errorf("%d %s%s", r.exit, r.out, r.err)
	}
	if s := f.show("x"); s.State != "APPROVED" || s.Doing != "" {
		t.Errorf("the task is %+v", s)
	}
	f.tidy()
}

// TestKilledFastForward has git itself die while it moves a checkout forward, with its lock and half of the
// files. The lock is named with its remedy, and then the next merge, also of another task, takes the checkout
// to its end.
func TestKilledFastForward(t *testing.T) {
	f := newFarm(t)
	f.write("long", "old\n")
	f.git("add", ".")
	f.git("commit", "--quiet", "-m", "long")
	f.ok("claude:boss", "worker", "init")
	f.committed("x", "lexer", "x\n")
	f.write("worktrees/x/long", "the new text\n")
	f.git("-C", "worktrees/x", "commit", "--quiet", "--all", "-m", "work on x")
	f.ok("codex:x", "worker", "done", "--task", "x")
	f.ok("claude:boss", "worker", "diff", "x")
	f.ok("claude:boss", "worker", "approve", "x")
	f.approved("y", "parser", "y\n")
	f.git("switch", "--quiet", "integration")
	env := f.wrapped(`case "$*" in *--ff-only*) touch .git/index.lock; rm long; echo x >lexer; kill -9 $$;; esac`)
	merge := []string{"tt", "worker", "merge", "x"}
	r := f.run(f.dir, append(env, "TT_HARNESS_AGENT_ID=claude:boss"), merge...)
	if r.exit != 7 || !strings.Contains(r.err, "has half of the merge") {
		t.Errorf("%d %s%s", r.exit, r.out, r.err)
	}
	if r := f.tt("claude:boss", merge[1:]...); r.exit != 7 || !strings.Contains(r.err, "index.lock exists") {
		t.Errorf("%d %s%s", r.exit, r.out, r.err)
	}

	if err := os.Remove(filepath.Join(f.dir, ".git", "index.lock")); err != nil {
		t.Fatal(err)
	}
	f.ok("claude:boss", "worker", "merge", "y")
	if x, y := f.show("x"), f.show("y"); x.State != "COMPLETED" || y.State != "COMPLETED" {
		t.Errorf("the tasks are %+v, %+v", x, y)
	}
	f.tidy()
}

// wrapped is an environment in which git is a script that does something before it is git.
func (f *farm) wrapped(before string) []string {
	f.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		f.Fatal(err)
	}
	dir := filepath.Join(f.base, "wrapped")
	if err := os.Mkdir(dir, 0o700); err != nil {
		f.Fatal(err)
	}

	script := "#!/bin/sh\ncd '" + f.dir + "'\n" + before + "\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		f.Fatal(err)
	}

	return []string{"PATH=" + dir + ":" + strings.TrimPrefix(f.env[0], "PATH=")}
}
