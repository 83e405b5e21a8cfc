package guard_test

import (
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/stick/edits"
)

// TestCallsOfSeveralRooms: a command that may change something in the checkout of another room has begun
// there, too, if its agent is a member. Who works there knows of it, and it ends in both, also if it removes
// that checkout.
func TestCallsOfSeveralRooms(t *testing.T) {
	storetest.SkipQuick(t, "calls of several rooms")

	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	beside := s.Dir("beside")
	s.GitIn(beside, "init", "-q")
	s.CommitIn(beside, "one", "one")
	there, bobThere := ann.At(beside), bob.At(beside)
	there.Join().OK()
	bobThere.Join().OK()
	calls := func(a *scene.Actor) []edits.Call {
		return a.ListCalls(restore.ListCallsParams{All: true}).OK().Calls
	}

	p := begins(t, ann, "echo x > here.go; echo x > "+filepath.Join(beside, "one"), "one")
	s.Check(len(calls(pat)) == 1 && len(calls(pat.At(beside))) == 1, "%+v, %+v", calls(pat), calls(pat.At(beside)))
	bobThere.Executes("echo y > bobs.go", nil)
	s.Check(calls(bobThere)[0].Overlapped, "bob's call: %+v", calls(bobThere)[0])
	ann.CheckEdited(p)
	for _, at := range []*scene.Actor{pat, pat.At(beside)} {
		for _, c := range calls(at) {
			s.Check(!c.Ended.IsZero(), "it has ended: %+v", c)
			s.Check(c.Agent != ann.ID || c.Files == 1, "it has changed one file in each room: %+v", c)
		}
	}

	linked := filepath.Join(filepath.Dir(beside), "linked")
	s.GitIn(beside, "worktree", "add", "-q", linked, "-b", "x")
	if err := os.WriteFile(filepath.Join(linked, "lost.go"), []byte("nobody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	ann.Executes("rm -rf "+linked, nil)
	last := calls(pat.At(beside))[0]
	s.Check(last.Agent == ann.ID && last.Checkout == linked && !last.Ended.IsZero() && last.Files == 1, "%+v", last)

	p = begins(t, bob, "echo x > "+filepath.Join(s.Work, "b.go"), "two")
	s.Check(len(calls(pat.At(beside))) == 3, "a command that names nothing there")
	bob.CheckEdited(p)
}
