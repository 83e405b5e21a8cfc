package guard_test

import (
	"path/filepath"
	"testing"

	"talkingstick/internal/engine/guard"
	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// TestAWorkerIsKeptToItsWorktree: neither its reservation nor its parent's turn lets a worker change another
// tree, and what it has started is kept as it is. With the stick it may.
func TestAWorkerIsKeptToItsWorktree(t *testing.T) {
	s := scene.InQueue(t, "")
	s.Git("worktree", "add", "-q", "-b", "side", filepath.Join(s.Work, "..", "side"))
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob)
	ann.Sets("enforce=scopes").OK()
	ann.Spawn("ui").OK()
	bob.Reserve("src").OK()
	main, own := filepath.Join(s.Work, "src", "a.go"), filepath.Join(s.Work, "worktrees", "ui", "src", "a.go")
	side := filepath.Join(s.Work, "..", "side", "src", "a.go")
	bob.MayIEdit(main, side, own).Allowed()

	w := bob.WorksOn("ui")
	kept := func(a *scene.Actor, path, hint string) {
		t.Helper()
		a.MayIEdit(path).Denied("src/a.go").That("where to change it", func(r guard.MayEditResult) bool { return string(r.Hint) == "change "+hint+" instead" })
	}
	for _, a := range []*scene.Actor{w.Actor, bob} {
		a.MayIEdit(own).Allowed()
		kept(a, main, own)
		kept(a, side, own)
	}
	bob.MayIEdit("../../src/a.go").Allowed() // from the main checkout that is elsewhere
	w.MayIEdit("../../src/a.go").Denied("src/a.go")
	w.MayIEdit("../../.git/info/exclude").Allowed()
	bob.MayEdit(guard.MayEditParams{Tree: true}).That("denied", func(r guard.MayEditResult) bool { return !r.Allowed })
	w.MayEdit(guard.MayEditParams{Tree: true}).That("allowed", func(r guard.MayEditResult) bool { return r.Allowed })
	carl.MayIEdit(main, side, own).Allowed()

	// what it has started
	child := s.Agent("gemini:c")
	child.MayIEdit(own).Denied("worktrees/ui")
	child.By.Above = []stick.Process{bob.By.Process}
	child.MayIEdit(own).Allowed()
	kept(child, main, own)

	// what runs in the command of the attempt
	run := s.Agent("opencode:d")
	run.By.Task = edits.TaskMark{Room: s.Room().ID, Task: "ui", Attempt: 1}
	run.MayIEdit(own).Allowed()
	kept(run, main, own)
	run.By.Task.Attempt = 2
	run.MayIEdit(own).Denied("worktrees/ui")

	// the parent's turn covers its child, and not as a worker
	ann.Try().Granted(1)
	bob.By.Above = []stick.Process{ann.By.Process}
	kept(bob, main, own)
	ann.MayIEdit(main).Allowed()
	ann.MayIEdit(own).Denied("worktrees/ui")

	// where the room only warns it is told; with the stick it isn't; and not while its commit waits for the
	// review
	carl.Sets("enforce=warn").OK()
	bob.MayIEdit(main).That("that it is told", func(r guard.MayEditResult) bool {
		return r.Allowed && r.Told != "" && string(r.Hint) == "change "+own+" instead"
	})
	carl.Sets("enforce=scopes").OK()
	bob.By.Above = nil
	ann.Release("s", "n").ForNobody()
	bob.Try().Granted(2)
	bob.MayIEdit(main, side).Allowed()
	bob.Release("s", "n").ForNobody()
	kept(bob, main, own)
	w.Commits("x", "x")
	w.Done("").OK()
	bob.MayIEdit(main).Allowed()
}
