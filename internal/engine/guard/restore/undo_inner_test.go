package restore_test

import (
	"path/filepath"
	"slices"
	"testing"

	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// withInner makes a scene with a submodule, an embedded repository, and a repository in that. Each has a
// committed file, one.
func withInner(t *testing.T) *scene.Scene {
	t.Helper()
	s := scene.InGit(t)
	ext := s.Dir("ext")
	s.GitIn(ext, "init", "-q")
	s.CommitIn(ext, "one", "one")
	s.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", ext, "sm")
	s.Git("commit", "-qm", "a submodule")
	s.Embed("own")
	s.Embed("own/deep")
	return s
}

// TestUndoCall_InsideOtherRepositories: files in submodules and embedded repositories are taken back as
// others are, each as what it is there.
func TestUndoCall_InsideOtherRepositories(t *testing.T) {
	s := withInner(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	s.File("own/mine", "uncommitted")
	ann.Executes("echo x | tee sm/one own/one own/deep/one README; rm own/mine; touch sm/made; git -C own add one", nil)
	all := []string{"README", "own/deep/one", "own/mine", "own/one", "sm/one"}
	call := lastCall(ann)
	s.Check(call.Files == len(all)+1, "%+v", call)
	bob.Edits(func() { s.File("sm/one", "by bob") }, "sm/one")

	res := ann.UndoCall(restore.UndoCallParams{ID: call.ID}).OK()
	s.Check(slices.Equal(res.Restored, all[:4]) && slices.Equal(res.Removed, []string{"sm/made"}) && res.Unstage == "", "%+v", res)
	s.Check(s.Content("own/one") == "one" && s.Content("own/deep/one") == "one" && s.Content("own/mine") == "uncommitted", "the files")
	s.Check(len(res.Left) == 1 && res.Left[0].Path == "sm/one" && res.Left[0].Reason == edits.UndoChanged && slices.Equal(res.Left[0].By, []stick.AgentID{bob.ID}), "%+v", res.Left)
	s.Check(s.Content(res.Left[0].Beside) == "one" && filepath.Dir(res.Left[0].Beside) == "sm", "%+v", res.Left)

	again := ann.UndoCall(restore.UndoCallParams{ID: res.UndoID}).OK()
	s.Check(len(again.Left) == 0 && s.Content("own/deep/one") == "x\n" && s.Content("own/mine") == "", "%+v", again)
}

// TestUndoCall_OfACommitInside: where a call has moved HEAD of a repository inside, its files stay, and the
// answer says why.
func TestUndoCall_OfACommitInside(t *testing.T) {
	s := withInner(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	ann.Executes("echo x | tee own/one README; git -C own commit -qam two; echo y > own/one", nil)

	res := ann.UndoCall(restore.UndoCallParams{}).OK()
	s.Check(slices.Equal(res.Restored, []string{"README"}) && len(res.Left) == 1 && res.Left[0].Path == "own/one", "%+v", res)
	s.Check(res.Left[0].Reason == edits.UndoNested && res.Left[0].Why == "it lies in a repository of its own that is gone, or in which the call has moved HEAD", "%+v", res.Left)
}

// TestUndoCall_AfterGC: a call is taken back by the commits that ours keeps, where the user's repository has
// lost the one that was checked out.
func TestUndoCall_AfterGC(t *testing.T) {
	s := scene.InGit(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	s.Joins(ann)
	lost := s.Commit("a.go", "a, as committed")
	ann.Executes("echo x > a.go", nil)
	call := lastCall(ann)
	forget := func() {
		s.Git("reset", "-q", "--soft", "HEAD~1")
		s.Git("reset", "-q")
		for _, args := range [][]string{{"reflog", "expire", "--expire=now", "--all"}, {"gc", "-q", "--prune=now"}} {
			s.Git(args...)
		}
	}
	ann.Executes("sh tidy.sh", forget)

	res := pat.UndoCall(restore.UndoCallParams{ID: call.ID}).OK()
	s.Check(slices.Equal(res.Restored, []string{"a.go"}) && s.Content("a.go") == "a, as committed", "%+v", res)
	tips := pat.ListRescues(restore.ListRescuesParams{}).OK().Tips
	s.Check(len(tips) == 1 && tips[0].Commit == lost, "%+v", tips)
	scene.RunInBash(s.Work, tips[0].Back)
	s.Check(s.Git("cat-file", "-t", lost) == "commit", "%s", tips[0].Back)
}
