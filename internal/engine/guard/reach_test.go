package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// linked adds a linked worktree with a file that nobody has committed.
func linked(s *scene.Scene, dir, branch string) {
	s.Helper()
	s.Git("worktree", "add", "-q", dir, "-b", branch)
	rel, err := filepath.Rel(s.Work, filepath.Join(dir, "left.go"))
	if err != nil {
		s.Fatal(err)
	}
	s.File(rel, "nobody's")
}

// TestReach_IsBesideTheRepository: checkouts in a directory that lies in no room are kept, and told of, by
// the room in which a command that takes them runs.
func TestReach_IsBesideTheRepository(t *testing.T) {
	for _, command := range []string{"rm -rf ../wts", "cd .. && rm -rf wts", "mv ../wts ../gone"} {
		t.Run(command, func(t *testing.T) {
			s := scene.InGit(t)
			ann := s.Agent("claude:a")
			s.Joins(ann)
			ann.Try().Is(stick.YourTurn)
			linked(s, filepath.Join(filepath.Dir(s.Work), "wts", "x"), "x")
			ann.LearnsAfterTool()

			ann.Executes(command, nil)
			s.Check(keeps(t, ann, "left.go"), "no snapshot has the file")
			said := strings.Join(ann.LearnsAfterTool(), "; ")
			s.Check(strings.Contains(said, "which took left.go; a copy was kept before"), "told %q", said)
		})
	}
}

// TestReach_IsWhatACleanTakes: git clean with two f takes the checkouts inside of the tree.
func TestReach_IsWhatACleanTakes(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Joins(ann)
	ann.Try().Is(stick.YourTurn)
	linked(s, filepath.Join(s.Work, "side"), "side")
	ann.LearnsAfterTool()

	ann.Executes("git clean -ffdqx", nil)
	_, err := os.Stat(filepath.Join(s.Work, "side"))
	s.Check(os.IsNotExist(err), "the checkout is still there: %v", err)
	said := strings.Join(ann.LearnsAfterTool(), "; ")
	s.Check(strings.Contains(said, "left.go"), "told %q", said)
}

// TestTells_OfARepositoryThatIsGone: what a command has taken with the repository is told, though nothing is
// left to look at. Files that are still there are not taken.
func TestTells_OfARepositoryThatIsGone(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	bob.Edits(func() { s.File("b.go", "by bob") }, "b.go")
	s.File("kept.go", "nobody's")
	ann.LearnsAfterTool()
	bob.LearnsAfterTool()

	ann.Executes("sh wipe.sh", func() { scene.RunInBash(s.Work, "rm -rf .git b.go") })
	for _, a := range []*scene.Actor{ann, bob} {
		said := strings.Join(a.LearnsAfterTool(), "; ")
		s.Check(strings.Contains(said, "which took b.go, work of "+string(bob.ID)+"; a copy was kept before"), "%s: told %q", a.Name, said)
	}
}

// TestTells_OfARepositoryAlone: a script that removes the repository and no file is told to everybody in the
// room, once.
func TestTells_OfARepositoryAlone(t *testing.T) {
	storetest.SkipQuick(t, "what is told of a repository without a room")

	for _, part := range []string{".git", ".git/objects", ".git/HEAD"} {
		t.Run(part, func(t *testing.T) {
			s := scene.InGit(t)
			ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
			pat := s.Person("pat")
			s.Joins(ann, bob, cyd, pat)
			s.File("b.go", "nobody's")
			for _, a := range []*scene.Actor{ann, bob, cyd} {
				a.LearnsAfterTool()
			}

			ann.Executes("sh wipe.sh", func() { scene.RunInBash(s.Work, "rm -rf "+part) })
			for _, a := range []*scene.Actor{ann, bob, cyd} {
				said := strings.Join(a.LearnsAfterTool(), "; ")
				want := " ran \"sh wipe.sh\", which removed the repository " + filepath.Join(s.Work, ".git") + "; its commits, as far as they are kept: tt rescue list"
				s.Check(strings.Count(said, want) == 1 && !strings.Contains(said, "work of"), "%s: told %q", a.Name, said)
			}
			inbox := pat.Inbox()
			s.Check(len(inbox.Messages) == 1, "%+v", inbox)
			ann.Executes("sh wipe.sh", nil)
			s.Check(len(bob.LearnsAfterTool()) == 0, "told again")
		})
	}
}

// TestTells_OfAnIndexThatIsGone: who removes the index has edited none of the files that git then finds
// untracked. What the same command has changed is told.
func TestTells_OfAnIndexThatIsGone(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		s.Commit(name, name)
	}
	bob.Try().Is(stick.YourTurn)
	bob.Edits(func() { s.File("b.go", "by bob") }, "b.go")
	s.File("n.go", "nobody's")
	bob.LearnsAfterTool()

	ann.Executes("sh fix.sh", func() { scene.RunInBash(s.Work, "rm .git/index; echo changed > a.go; rm n.go") })
	said := strings.Join(bob.LearnsAfterTool(), "; ")
	s.Check(strings.Contains(said, " edited 2 files, first a.go without the stick"), "bob is told %q", said)
	said = strings.Join(ann.LearnsAfterTool(), "; ")
	s.Check(strings.Contains(said, "ran \"sh fix.sh\", which took n.go; a copy was kept"), "ann is told %q", said)
	calls := pat.ListCalls(restore.ListCallsParams{Agent: ann.ID}).OK().Calls
	s.Check(len(calls) == 1 && calls[0].Files == 2, "%+v", calls)
	s.Git("reset", "-q")
	s.Check(pat.Changes() == "a.go others by claude:a; b.go others by codex:b", "%s", pat.Changes())
}

// TestTells_OfATasksWorktree: who removes the worktree of a task is told of the work in it, and not of the
// file that tt has put there.
func TestTells_OfATasksWorktree(t *testing.T) {
	storetest.SkipQuick(t, "what a command in a worktree of a task tells")

	for _, command := range []string{"rm -rf worktrees/ui", "git worktree remove --force worktrees/ui", "sh wipe.sh"} {
		t.Run(command, func(t *testing.T) {
			s := scene.InQueue(t, "")
			ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
			s.Joins(ann, bob)
			ann.Spawn("ui").OK()
			work := bob.WorksOn("ui")
			work.Edits(func() { s.File("worktrees/ui/x.go", "by bob") }, "x.go")
			ann.LearnsAfterTool()
			bob.LearnsAfterTool()

			at := ann
			if command == "sh wipe.sh" {
				at = ann.At(work.Path)
			}
			at.Executes(command, func() { scene.RunInBash(s.Work, "rm -rf worktrees/ui") })
			for _, a := range []*scene.Actor{ann, bob} {
				said := strings.Join(a.LearnsAfterTool(), "; ")
				s.Check(strings.Contains(said, "which took x.go, work of "+string(bob.ID)+"; a copy"), "%s is told %q", a.Name, said)
			}
		})
	}
}
