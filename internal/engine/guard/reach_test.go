package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/scene"
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

// TestReach_IsBesideTheRepository: checkouts in a directory that lies in no room are kept, and told of, by the room in which a command
// that takes them runs.
func TestReach_IsBesideTheRepository(t *testing.T) {
	for _, command := range []string{"rm -rf ../wts", "cd .. && rm -rf wts", "mv ../wts ../gone"} {
		t.Run(command, func(t *testing.T) {
			s := scene.InGit(t)
			ann := s.Agent("claude:a")
			s.Joins(ann)
			ann.Try().Is(stick.YourTurn)
			linked(s, filepath.Join(filepath.Dir(s.Work), "wts", "x"), "x")
			told(t, ann)

			runs(t, ann, command, nil)
			s.Check(keeps(t, ann, "left.go"), "no snapshot has the file")
			said := strings.Join(told(t, ann), "; ")
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
	told(t, ann)

	runs(t, ann, "git clean -ffdqx", nil)
	_, err := os.Stat(filepath.Join(s.Work, "side"))
	s.Check(os.IsNotExist(err), "the checkout is still there: %v", err)
	said := strings.Join(told(t, ann), "; ")
	s.Check(strings.Contains(said, "left.go"), "told %q", said)
}

// TestTells_OfARepositoryThatIsGone: what a command has taken with the repository is told, though nothing is left to look at. Files that
// are still there are not taken.
func TestTells_OfARepositoryThatIsGone(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	bob.Edits(func() { s.File("b.go", "by bob") }, "b.go")
	s.File("kept.go", "nobody's")
	told(t, ann)
	told(t, bob)

	runs(t, ann, "sh wipe.sh", func() { runInBash(s.Work, "rm -rf .git b.go") })
	for _, a := range []*scene.Actor{ann, bob} {
		said := strings.Join(told(t, a), "; ")
		s.Check(strings.Contains(said, "which took b.go, work of "+string(bob.ID)+"; a copy was kept before"), "%s: told %q", a.Name, said)
	}
}
