package restore_test

import (
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
)

// TestOfWhichCheckoutATakeoverKeepsTheWork: that in which the former holder still works comes first, then the
// shared tree, then the caller's. One without uncommitted work is passed over.
func TestOfWhichCheckoutATakeoverKeepsTheWork(t *testing.T) {
	s := scene.InGit(t)
	fix, docs := filepath.Join(filepath.Dir(s.Work), "fix"), filepath.Join(filepath.Dir(s.Work), "docs")
	s.Git("worktree", "add", "-q", fix, "-b", "fix")
	s.Git("worktree", "add", "-q", docs, "-b", "docs")
	other := filepath.Join(s.Dir("other"), "a.go")
	s.GitIn(filepath.Dir(other), "init", "-q")
	dirty := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("changed\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dirty(other)
	ann, bob := s.AgentIn("claude:a", fix), s.AgentIn("codex:b", docs)
	takes := func(by *scene.Actor) engine.TakeoverStickResult {
		t.Helper()
		return by.TakeoverStick(engine.TakeoverStickParams{Reason: "ann is away", Operator: true}).OK()
	}
	ann.Try().Granted(1)
	s.Check(takes(bob).RescueWhy == "nothing is uncommitted", "a rescue of nothing")
	dirty(filepath.Join(docs, "README"))
	got := takes(ann) // bob's process runs in docs
	s.Check(got.Rescue != nil && got.Rescue.Checkout == docs, "%+v", got)
	got = takes(bob) // ann's in fix, where nothing has changed; nor has it in the shared tree
	s.Check(got.Rescue != nil && got.Rescue.Checkout == docs, "%+v", got)
	dirty(filepath.Join(s.Work, "README"))
	takes(ann)
	got = takes(bob)
	s.Check(got.Rescue != nil && got.Rescue.Checkout == s.Work, "%+v", got)
	dirty(filepath.Join(fix, "README"))
	takes(ann)
	got = takes(bob)
	s.Check(got.Rescue != nil && got.Rescue.Checkout == fix, "%+v", got)
}
