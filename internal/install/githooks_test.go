//go:build unix

package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/stick"
)

// entries are all names below the machine's root, and where links lead.
func (w *machine) entries() map[string]string {
	w.Helper()
	all := w.tree()
	err := filepath.WalkDir(w.root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}

		to, _ := os.Readlink(path)
		name, err := filepath.Rel(w.root, path)
		if d.IsDir() || to != "" {
			all[name] = info.Mode().String() + to
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}

	return all
}

// whatStates are the states of a plan's steps.
func whatStates(steps []FileChange) (all []string) {
	for _, s := range steps {
		all = append(all, string(s.What)+" "+s.State)
	}
	return all
}

// Whatever hooks were there come back as they were: bytes, mode and link. A directory that we made goes.
func TestGitHooksAndBack(t *testing.T) {
	for name, lay := range map[string]func(w *machine){
		"no directory": func(*machine) {},
		"an empty one": func(w *machine) {
			w.write("app/.git/hooks/x", "")
			os.Remove(filepath.Join(w.root, "app/.git/hooks/x"))
		},
		"samples": func(w *machine) { w.write("app/.git/hooks/pre-commit.sample", "#!/bin/sh\n") },
		"a hook": func(w *machine) {
			w.write("app/.git/hooks/pre-commit", "#!/bin/sh\nexit 0")
			w.mode("app/.git/hooks/pre-commit", 0o750)
		},
		"one that is off": func(w *machine) {
			w.write("app/.git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
			w.mode("app/.git/hooks/pre-commit", 0o644)
		},
		"one of both": func(w *machine) {
			w.write("app/.git/hooks/reference-transaction", "\x7fELF\x00binary")
			w.mode("app/.git/hooks/reference-transaction", 0o700)
		},
		"a link": func(w *machine) {
			w.write("app/tools/check", "#!/bin/sh\n")
			w.write("app/.git/hooks/x", "")
			if err := os.Symlink("../../tools/check", filepath.Join(w.root, "app/.git/hooks/pre-commit")); err != nil {
				w.Fatal(err)
			}
		},
		"a link to nowhere": func(w *machine) {
			w.write("app/.git/hooks/x", "")
			if err := os.Symlink("nowhere", filepath.Join(w.root, "app/.git/hooks/pre-commit")); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newMachine(t)
			r := w.inRepository()
			lay(w)
			before := w.entries()
			plan, err := InstallGit(w.t, r)
			if err != nil {
				t.Fatal(err)
			}

			for i := range plan {
				if plan[i].Show(); !strings.Contains(plan[i].Diff, "+tt=") {
					t.Errorf("the plan doesn't show the hook:\n%s", plan[i].Diff)
				}
			}

			if d := cmp.Diff(before, w.entries()); d != "" {
				t.Errorf("a plan changes something:\n%s", d)
			}
			if s := CheckGit(w.t, r); s.Installed != No || s.Missing != nil {
				t.Errorf("before: %+v", s)
			}

			w.apply(plan, nil)
			once := w.entries()
			steps := w.apply(InstallGit(w.t, r))
			if got := whatStates(steps); !slices.Equal(got, []string{
				"pre-commit there", "reference-transaction there",
			}) ||
				slices.ContainsFunc(steps, FileChange.Pending) {
				t.Errorf("twice: %q", got)
			}
			if s := CheckGit(w.t, r); s.Installed != All || s.Path != filepath.Join(r.Git, "hooks") {
				t.Errorf("after: %+v", s)
			}
			if d := cmp.Diff(once, w.entries()); d != "" {
				t.Errorf("twice:\n%s", d)
			}

			moved := w.t
			moved.TT = filepath.Join(w.root, "elsewhere", "tt")
			if s := CheckGit(moved, r); s.Installed != Partly || len(s.Missing) != 2 {
				t.Errorf("from another place: %+v", s)
			}
			if got := whatStates(w.apply(InstallGit(moved, r))); !slices.Equal(got, []string{
				"pre-commit changed", "reference-transaction changed",
			}) {
				t.Errorf("from another place: %q", got)
			}

			steps = w.apply(UninstallGit(w.t, r))
			if got := whatStates(steps); !slices.Equal(got, []string{
				"pre-commit removed", "reference-transaction removed",
			}) {
				t.Errorf("uninstall: %q", got)
			}
			if d := cmp.Diff(before, w.entries()); d != "" {
				t.Errorf("it isn't as it was:\n%s", d)
			}
			if got := whatStates(w.apply(UninstallGit(w.t, r))); !slices.Equal(got, []string{
				"pre-commit absent", "reference-transaction absent",
			}) {
				t.Errorf("uninstalled twice: %q", got)
			}
		})
	}
}

// We neither replace nor remove a hook of ours that somebody has edited, or another hook in its place.
func TestGitHooksOfOthers(t *testing.T) {
	w := newMachine(t)
	r := w.inRepository()
	const hook = "app/.git/hooks/pre-commit"
	w.write(hook, "#!/bin/sh\necho before\n")
	w.apply(InstallGit(w.t, r))
	w.write(hook, w.read(hook)+"echo mine too\n")

	edited := w.tree()
	for _, planner := range []func(Target, Repository) ([]FileChange, error){InstallGit, UninstallGit} {
		steps := w.apply(planner(w.t, r))
		if steps[0].State != Kept || !strings.Contains(string(steps[0].Note), "edited") {
			t.Errorf("edited: %+v", steps[0])
		}
		if w.read(hook) != strings.SplitN(edited[hook], "\n", 2)[1] {
			t.Error("the edited hook was changed")
		}
	}

	w.apply(InstallGit(w.t, r))
	if s := CheckGit(w.t, r); s.Installed != Partly || !slices.Equal(s.Missing, []stick.Words{"pre-commit"}) {
		t.Errorf("edited: %+v", s)
	}

	w.write(hook, "#!/bin/sh\necho another\n") // as other programs that manage hooks do
	other := w.tree()
	for _, planner := range []func(Target, Repository) ([]FileChange, error){InstallGit, UninstallGit, InstallGit} {
		if steps := w.apply(planner(w.t, r)); steps[0].State != Kept ||
			!strings.Contains(string(steps[0].Note), "pre-commit.before-talking-stick") {
			t.Errorf("replaced: %+v", steps[0])
		}
	}

	w.same("replaced by another tool", other)

	plan, err := UninstallGit(w.t, r)
	if err != nil {
		t.Fatal(err)
	}
	w.write("app/.git/hooks/reference-transaction", "#!/bin/sh\n")
	if err := Apply(plan); stick.CodeOf(err) != stick.CodeConfigChanged {
		t.Errorf("changed after the plan: %v", err)
	}
}

// Hooks go where git looks for them, if that is the repository's own.
func TestGitHooksPath(t *testing.T) {
	w := newMachine(t)
	r := w.inRepository()
	w.write("app/.githooks/x", "")
	w.write("everywhere/pre-commit", "#!/bin/sh\n")
	if err := os.Symlink(filepath.Join(w.root, "everywhere"), filepath.Join(w.root, "app", "linked")); err != nil {
		t.Fatal(err)
	}

	at := func(value, scope string) Repository {
		r := r
		r.HooksPath, r.Scope, r.Origin = value, scope, "/the/config"
		return r
	}

	for _, c := range []struct {
		Repository
		want string // empty where it is refused
	}{
		{at(".githooks", "local"), "app/.githooks"},
		{at(".githooks", "worktree"), "app/.githooks"},
		{at(".husky/_/", "local"), "app/.husky/_"},
		{at(filepath.Join(r.Top, ".githooks"), "local"), "app/.githooks"},
		{at(filepath.Join(r.Git, "hooks2"), "local"), "app/.git/hooks2"},
		{at(".githooks", "global"), ""},
		{at(filepath.Join(w.root, "everywhere"), "global"), ""},
		{at(filepath.Join(w.root, "everywhere"), "system"), ""},
		{at(filepath.Join(w.root, "everywhere"), "local"), ""},
		{at("../everywhere", "local"), ""},
		{at("linked", "local"), ""},
		{at("linked/deeper", "local"), ""},
		{Repository{Path: "/x", Git: r.Git, HooksPath: "hooks", Scope: "local"}, ""}, // its origin isn't known
	} {
		steps, err := InstallGit(w.t, c.Repository)
		if c.want != "" {
			if err != nil || steps[0].File != filepath.Join(w.root, c.want, "pre-commit") {
				t.Errorf("%s: %v %v", c.HooksPath, err, steps)
			}
			continue
		}

		e := stick.AsError(err)
		if err == nil ||
			e.Code != stick.CodeConfigUnwritable ||
			!strings.Contains(e.Hint.String(), w.t.gitLine("pre-commit")) ||
			!strings.Contains(e.Hint.String(), w.t.gitLine("reference-transaction")) {
			t.Errorf("%s (%s): %v %v", c.HooksPath, c.Scope, err, steps)
		}
	}

	_, err := InstallGit(w.t, at("/dev/null", "local"))
	if e := stick.AsError(err); err == nil ||
		e.Code != stick.CodeConfigUnwritable ||
		!strings.Contains(e.Message, "runs no hooks") ||
		!strings.Contains(e.Hint.String(), "--unset core.hooksPath") {
		t.Errorf("hooks that are switched off: %v", err)
	}

	elsewhere := r
	elsewhere.Git = filepath.Join(r.Top, "moved.git")
	w.write("app/moved.git/HEAD", "ref: refs/heads/main\n")
	if err := os.Symlink(filepath.Join(w.root, "everywhere"), filepath.Join(elsewhere.Git, "hooks")); err != nil {
		t.Fatal(err)
	}
	if steps, err := UninstallGit(w.t, elsewhere); stick.CodeOf(err) != stick.CodeConfigUnwritable {
		t.Errorf("no place of its own to look in: %v %v", steps, err)
	}

	for code, c := range map[stick.Code]Repository{
		stick.CodeNoRepository: {Path: "/x"}, stick.CodeInvalidPath: {Path: "/x", Git: r.Git, Bare: true},
	} {
		if _, err := InstallGit(w.t, c); stick.CodeOf(err) != code {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := UninstallGit(w.t, c); stick.CodeOf(err) != code {
			t.Errorf("%+v: %v", c, err)
		}
	}

	// Hooks in one directory are found there, even if git reads another directory now.
	before := w.tree()
	w.apply(InstallGit(w.t, r))
	steps := w.apply(UninstallGit(w.t, at(".githooks", "local")))
	got := whatStates(steps)
	if !slices.Equal(got, []string{
		"pre-commit absent",
		"reference-transaction absent",
		"pre-commit removed",
		"reference-transaction removed",
	}) {
		t.Errorf("from two places: %q", got)
	}

	w.apply(InstallGit(w.t, r))
	w.apply(UninstallGit(w.t, at("/dev/null", "local")))
	w.same("after a change of core.hooksPath", before)
}

// The lines for other people's hooks are shell. They stop git only after a refusal.
func TestGitLines(t *testing.T) {
	w := newMachine(t)
	for _, c := range []struct {
		program string
		want    bool
	}{{"exit 0", true}, {"exit 1", true}, {"exit 2", true}, {"kill -9 $$", true}, {"exit 4", false}} {
		w.write("my bin/tt", "#!/bin/sh\n"+c.program+"\n")
		for _, name := range []string{"pre-commit", "reference-transaction", "pre-push"} {
			script := "set -e\n" + w.t.gitLine(name) + "\n: >'" + filepath.Join(t.TempDir(), "after") + "'"
			if err := exec.Command("/bin/sh", "-c", script, name, "prepared").Run(); (err == nil) != c.want {
				t.Errorf("%s, and the program does %q: %v", name, c.program, err)
			}
		}
	}

	w.t.TT = filepath.Join(w.root, "gone")
	if err := exec.Command("/bin/sh", "-e", "-c", w.t.gitLine("pre-commit")).Run(); err != nil {
		t.Errorf("without the program: %v", err)
	}
}

// stubs are the installed hooks, run as git runs them.
func (w *machine) runHook(name, stdin string, args ...string) (calls string, ok bool) {
	w.Helper()
	called := filepath.Join(w.root, "called")
	_ = os.Remove(called) // there is none at first
	c := exec.Command(filepath.Join(w.root, "app/.git/hooks", name), args...)
	c.Dir, c.Stdin, c.Env = filepath.Join(w.root, "app"), strings.NewReader(stdin), []string{
		"PATH=" + os.Getenv("PATH"), "CALLED=" + called,
	}
	out, err := c.CombinedOutput()
	if len(out) > 0 {
		w.Errorf("%s says %s", name, out)
	}
	b, _ := os.ReadFile(called) // nothing is called, at best
	return string(b), err == nil
}

// The hook runs tt only when a branch gets a new value, and passes on that line and those after it.
func TestReferenceTransactionStub(t *testing.T) {
	const zero, one = "0000000000000000000000000000000000000000", "1111111111111111111111111111111111111111"
	zero256, one256 := strings.Repeat("0", 64), strings.Repeat("0", 63)+"1"
	w := newMachine(t)
	r := w.inRepository()
	const program = "#!/bin/sh\n{ echo \"$*\"; cat; } >>\"$CALLED\"\nexit %d\n"
	w.write("my bin/tt", fmt.Sprintf(program, 0))
	w.apply(InstallGit(w.t, r))

	ask := "hook git reference-transaction prepared "
	for _, c := range []struct{ name, state, in, calls string }{
		{"a branch", "prepared", zero + " " + one + " refs/heads/x\n", ask + zero + " " + one + " refs/heads/x\n"},
		{
			"sha256",
			"prepared",
			zero256 + " " + one256 + " refs/heads/x\n",
			ask + zero256 + " " + one256 + " refs/heads/x\n",
		},
		{
			"the lines after it",
			"prepared",
			one + " " + one + " refs/tags/x\n" + zero + " " + one + " refs/heads/x/y\n" + one + " " + zero + " refs/heads/z\nrest",
			ask + zero + " " + one + " refs/heads/x/y\n" + one + " " + zero + " refs/heads/z\nrest",
		},
		{
			"a symbolic one",
			"prepared",
			zero + " ref:refs/heads/y refs/heads/x\n",
			ask + zero + " ref:refs/heads/y refs/heads/x\n",
		},
		{"deleted", "prepared", one + " " + zero + " refs/heads/x\n" + one256 + " " + zero256 + " refs/heads/x\n", ""},
		{
			"others",
			"prepared",
			one + " " + one + " HEAD\n" + one + " " + one + " refs/remotes/o/x\n" + one + " " + one + " refs/stash\n",
			"",
		},
		{"not by its end", "prepared", one + " " + one + " refs/remotes/refs/heads/x\n", ""},
		{"committed", "committed", zero + " " + one + " refs/heads/x\n", ""},
		{"aborted", "aborted", zero + " " + one + " refs/heads/x\n", ""},
		{"another state", "preparing", zero + " " + one + " refs/heads/x\n", ""},
		{"nothing", "prepared", "", ""},
	} {
		if calls, ok := w.runHook("reference-transaction", c.in, c.state); calls != c.calls || !ok {
			t.Errorf("%s: %v, called %q", c.name, ok, calls)
		}
	}

	in := zero + " " + one + " refs/heads/x\n"
	for status, want := range map[int]bool{0: true, 1: true, 2: true, 4: false, 127: true} {
		w.write("my bin/tt", fmt.Sprintf(program, status))
		if _, ok := w.runHook("reference-transaction", in, "prepared"); ok != want {
			t.Errorf("status %d: %v", status, ok)
		}
		if _, ok := w.runHook("pre-commit", ""); ok != want {
			t.Errorf("status %d: %v", status, ok)
		}
	}

	w.mode("my bin/tt", 0o644)
	if _, ok := w.runHook("reference-transaction", in, "prepared"); !ok {
		t.Error("a program that can't be run hinders")
	}

	if err := os.Remove(w.t.TT); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"pre-commit", "reference-transaction"} {
		if _, ok := w.runHook(name, in, "prepared"); !ok {
			t.Errorf("%s: without the program", name)
		}
	}
}

// A hook that was there gets the same arguments and the same bytes, after ours has allowed the operation. Its
// status is the result.
func TestHooksThatWereThere(t *testing.T) {
	w := newMachine(t)
	r := w.inRepository()
	w.write("my bin/tt", "#!/bin/sh\necho \"ours $*\" >>\"$CALLED\"\nexit $(cat \"$0.status\")\n")
	w.write("my bin/tt.status", "0")

	const theirs = "#!/bin/sh\n{ echo \"theirs $*\"; cat; } >>\"$CALLED\"\nexit $(cat my-status)\n"
	for _, name := range []string{"pre-commit", "reference-transaction"} {
		w.write("app/.git/hooks/"+name, theirs)
		w.mode("app/.git/hooks/"+name, 0o755)
	}

	w.write("app/my-status", "0")
	w.apply(InstallGit(w.t, r))
	const zero, one = "0000000000000000000000000000000000000000", "1111111111111111111111111111111111111111"
	tag, branch := one+" "+one+" refs/tags/a\\b\n", zero+" "+one+" refs/heads/x\n"
	ours := "ours hook git reference-transaction prepared " + zero + " " + one + " refs/heads/x\n"

	many := strings.Repeat(tag, 3000) // more than a pipe holds
	for _, c := range []struct {
		name, in     string
		args         []string
		ours, theirs string
		calls        string
		ok           bool
	}{
		{
			"reference-transaction", tag + branch,
			[]string{"prepared"},
			"0", "0",
			ours + "theirs prepared\n" + tag + branch, true,
		},
		{
			"reference-transaction", tag + branch,
			[]string{"prepared"},
			"0", "7",
			ours + "theirs prepared\n" + tag + branch, false,
		},
		{"reference-transaction", tag + branch, []string{"prepared"}, "4", "0", ours, false},
		{"reference-transaction", tag, []string{"prepared"}, "4", "0", "theirs prepared\n" + tag, true},
		{
			"reference-transaction", branch + "\n\n",
			[]string{"committed"},
			"4", "0",
			"theirs committed\n" + branch + "\n\n", true,
		},
		{"reference-transaction", branch, []string{"aborted"}, "4", "1", "theirs aborted\n" + branch, false},
		{"reference-transaction", "", []string{"prepared"}, "4", "0", "theirs prepared\n", true},
		{
			"reference-transaction", branch + many,
			[]string{"prepared"},
			"0", "0",
			ours + "theirs prepared\n" + branch + many, true,
		},
		{"pre-commit", "typed", []string{"a b", "c"}, "0", "0", "ours hook git pre-commit\ntheirs a b c\ntyped", true},
		{"pre-commit", "", nil, "0", "3", "ours hook git pre-commit\ntheirs \n", false},
		{"pre-commit", "", nil, "4", "0", "ours hook git pre-commit\n", false},
	} {
		w.write("my bin/tt.status", c.ours)
		w.write("app/my-status", c.theirs)
		if calls, ok := w.runHook(c.name, c.in, c.args...); calls != c.calls || ok != c.ok {
			t.Errorf("%s %v, ours %s, theirs %s: %v, called %.300q", c.name, c.args, c.ours, c.theirs, ok, calls)
		}
	}

	if err := os.Remove(w.t.TT); err != nil {
		t.Fatal(err)
	}
	w.write("app/my-status", "0")
	if calls, ok := w.runHook("reference-transaction", branch, "prepared"); calls != "theirs prepared\n"+branch || !ok {
		t.Errorf("without the program: %v, called %q", ok, calls)
	}

	w.mode("app/.git/hooks/pre-commit.before-talking-stick", 0o644) // git skips hooks that aren't executable
	if calls, ok := w.runHook("pre-commit", ""); calls != "" || !ok {
		t.Errorf("one that is off: %v, called %q", ok, calls)
	}
}

// A shell hook that was there runs under its own name: Husky's hook finds what to run by that name.
func TestHookKeepsItsName(t *testing.T) {
	for first, want := range map[string]string{
		"#!/bin/sh\n": "pre-commit", "#!/usr/bin/env sh\n": "pre-commit",
		"#!/bin/sh -e\nfalse || :\n": "pre-commit", "#!/usr/bin/env bash\n": "pre-commit",
		"#!/usr/bin/env -S sh -e\n": "pre-commit", "": "pre-commit.before-talking-stick",
		"#!/usr/bin/env -S sh -u -e\n": "pre-commit",
	} {
		w := newMachine(t)
		r := w.inRepository()
		w.write("my bin/tt", "#!/bin/sh\n")
		w.write("app/.git/hooks/run", "echo \"$(basename \"$0\") $*\" >>\"$CALLED\"\nexit 3\n")
		w.write("app/.git/hooks/pre-commit", first+". \"${0%/*}/run\"\n")
		w.mode("app/.git/hooks/pre-commit", 0o755)
		w.apply(InstallGit(w.t, r))
		c := exec.Command("sh", "-c", `"$0" "$@"`, filepath.Join(r.Git, "hooks", "pre-commit"), "a b", "c")
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "CALLED=" + filepath.Join(w.root, "called")}
		err := c.Run()
		b, _ := os.ReadFile(filepath.Join(w.root, "called"))
		if string(b) != want+" a b c\n" || c.ProcessState.ExitCode() != 3 {
			t.Errorf("%q: %v, called %q", first, err, b)
		}
	}
}

// A program may write its hooks again, as some do after each install of packages. Then tt install works, too.
func TestHooksWrittenAnew(t *testing.T) {
	w := newMachine(t)
	r := w.inRepository()
	const hook, theirs = "app/.git/hooks/pre-commit", "#!/bin/sh\necho theirs\n"
	w.write(hook, theirs)
	w.mode(hook, 0o755)
	before := w.tree()
	w.apply(InstallGit(w.t, r))
	w.write(hook, theirs)
	if s := CheckGit(w.t, r); s.Installed != Partly || !slices.Equal(s.Missing, []stick.Words{"pre-commit"}) {
		t.Errorf("written anew: %+v", s)
	}

	w.apply(InstallGit(w.t, r))
	if s := CheckGit(w.t, r); s.Installed != All {
		t.Errorf("installed again: %+v", s)
	}

	w.apply(UninstallGit(w.t, r))
	w.same("uninstalled", before)
}

// Wherever the process ends, a second run completes its work, and an uninstall restores what was there.
func TestGitHooksCrash(t *testing.T) {
	for n := 1; ; n++ {
		w := newMachine(t)
		r := w.inRepository()
		w.write("app/.git/hooks/pre-commit", "#!/bin/sh\n")
		before := w.tree()
		planner := func(plan func(Target, Repository) ([]FileChange, error)) func(Target, []string) ([]FileChange, error) {
			return func(t Target, _ []string) ([]FileChange, error) { return plan(t, r) }
		}
		if !w.diesIn(n, planner(InstallGit)) {
			if n < 6 {
				t.Errorf("there are only %d points", n-1)
			}
			return
		}

		w.apply(InstallGit(w.t, r))
		if s := CheckGit(w.t, r); s.Installed != All {
			t.Errorf("killed at point %d: %+v", n, s)
		}

		w.diesIn(n, planner(UninstallGit))
		w.apply(UninstallGit(w.t, r))
		w.same(fmt.Sprintf("killed at point %d", n), before)
	}
}
