//go:build unix

package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/stick"
)

// The hook pre-push is installed where somebody asks for it, and stays until the hooks go. Then everything is
// as it was.
func TestPrePushHook(t *testing.T) {
	for _, there := range []bool{false, true} {
		w := newMachine(t)
		r := w.inRepository()
		if there {
			w.write("app/.git/hooks/pre-push", "#!/bin/sh\n# theirs\n")
			w.mode("app/.git/hooks/pre-push", 0o750)
		}

		before := w.entries()
		w.apply(InstallGit(w.t, r))
		plain := w.entries()
		if s := CheckGit(w.t, r); s.Installed != All ||
			!slices.Equal(s.Hooks, []stick.Words{"pre-commit", "reference-transaction"}) {
			t.Errorf("nobody has asked: %+v", s)
		}

		asked := r
		asked.PrePush = true
		steps := w.apply(InstallGit(w.t, asked))
		if got := whatStates(steps); !slices.Equal(got[:2], []string{
			"pre-commit there", "reference-transaction there",
		}) ||
			len(got) != 3 ||
			cmp.Equal(plain, w.entries()) {
			t.Errorf("asked for: %q", got)
		}
		if got := whatStates(w.apply(InstallGit(w.t, r))); !slices.Equal(got[2:], []string{"pre-push there"}) {
			t.Errorf("not asked for again: %q", got)
		}
		if s := CheckGit(w.t, r); s.Installed != All ||
			!slices.Equal(s.Hooks, []stick.Words{"pre-commit", "reference-transaction", "pre-push"}) {
			t.Errorf("installed: %+v", s)
		}

		moved := w.t
		moved.TT = filepath.Join(w.root, "elsewhere", "tt")
		if s := CheckGit(moved, r); s.Installed != Partly ||
			!slices.Equal(s.Missing, []stick.Words{"pre-commit", "reference-transaction", "pre-push"}) ||
			len(s.Hooks) > 0 {
			t.Errorf("from another place: %+v", s)
		}
		if got := whatStates(w.apply(UninstallGit(w.t, r))); !slices.Equal(got, []string{
			"pre-commit removed", "reference-transaction removed", "pre-push removed",
		}) {
			t.Errorf("uninstall: %q", got)
		}
		if d := cmp.Diff(before, w.entries()); d != "" {
			t.Errorf("it isn't as it was:\n%s", d)
		}
	}

	w := newMachine(t)
	r := w.inRepository()
	r.PrePush, r.HooksPath, r.Scope, r.Origin = true, "/elsewhere", "global", "/the/config"
	_, err := InstallGit(w.t, r)
	if e := stick.AsError(err); err == nil || !strings.Contains(e.Hint.String(), w.t.gitLine("pre-push")) {
		t.Errorf("by hand: %v", err)
	}
}

// The hook asks with the remote's name, and with git's lines. A hook that was there gets the same lines after
// it.
func TestPrePushStub(t *testing.T) {
	for _, there := range []bool{false, true} {
		w := newMachine(t)
		r := w.inRepository()
		r.PrePush = true

		if there {
			w.write("app/.git/hooks/pre-push",
				"#!/bin/sh\n{ echo \"theirs $*\"; cat; } >>\"$CALLED\"\nexit $(cat my-status)\n")
			w.mode("app/.git/hooks/pre-push", 0o755)
		}

		w.write("my bin/tt", "#!/bin/sh\n{ echo \"ours $*\"; cat; } >>\"$CALLED\"\nexit $(cat \"$0.status\")\n")
		w.apply(InstallGit(w.t, r))
		in := strings.Repeat("refs/heads/a 1 refs/heads/a 0\n", 3000) + "\n\n" // more than a pipe holds
		ours, theirs := "ours hook git pre-push a b\n"+in, "theirs a b https://x\n"+in
		for _, c := range []struct {
			ours, theirs string
			calls        string
			ok           bool
		}{
			{"0", "0", ours + theirs, true},
			{"0", "3", ours + theirs, false},
			{"1", "0", ours + theirs, true},
			{"4", "0", ours, false},
		} {
			w.write("my bin/tt.status", c.ours)
			w.write("app/my-status", c.theirs)
			want, ok := c.calls, c.ok
			if !there {
				want, ok = ours, c.ours != "4"
			}
			if calls, allowed := w.runHook("pre-push", in, "a b", "https://x"); calls != want || allowed != ok {
				t.Errorf("there %v, ours %s, theirs %s: %v, called %.300q", there, c.ours, c.theirs, allowed, calls)
			}
		}

		if err := os.Remove(w.t.TT); err != nil {
			t.Fatal(err)
		}
		w.write("app/my-status", "0")
		want := ""
		if there {
			want = theirs
		}
		if calls, ok := w.runHook("pre-push", in, "a b", "https://x"); calls != want || !ok {
			t.Errorf("without the program: %v, called %.300q", ok, calls)
		}
	}
}
