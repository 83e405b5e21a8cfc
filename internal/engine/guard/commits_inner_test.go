package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/engine/guard"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// embed makes a repository inside the scene's, with one commit.
func embed(s *scene.Scene, name string) (dir, commit string) {
	s.Helper()
	dir = filepath.Join(s.Work, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.Fatal(err)
	}
	s.GitIn(dir, "init", "-q", "-b", "main")
	return dir, s.CommitIn(dir, "one", "one")
}

func TestKeepsCommits_OfARepositoryInside(t *testing.T) {
	t.Run("that a command removes", func(t *testing.T) {
		s := scene.InGit(t)
		ann := s.Agent("claude:a")
		s.Joins(ann)
		ann.Try().Is(stick.YourTurn)
		dir, commit := embed(s, "deps/x")
		s.Check(runs(t, ann, "rm -rf deps", nil).Allowed, "refused, because no copy can be kept")
		if _, err := os.Stat(dir); err == nil {
			t.Fatal("it is still there")
		}

		tips := ann.ListRescues(guard.ListRescuesParams{}).OK().Tips
		s.Check(len(tips) == 1 && tips[0].Commit == commit && tips[0].Inside == filepath.Join(dir, ".git"), "%+v", tips)
		runInBash(s.Work, tips[0].Back)
		s.Check(s.Git("rev-parse", "x-main") == commit, "%s didn't bring it back", tips[0].Back)
	})

	t.Run("in which a branch is lost", func(t *testing.T) {
		s := scene.InGit(t)
		ann := s.Agent("claude:a")
		s.Joins(ann)
		dir, _ := embed(s, "x y")
		second := ""
		ann.Runs(func() { second = s.CommitIn(dir, "two", "two") })
		ann.Runs(func() {
			s.GitIn(dir, "reset", "-q", "--hard", "HEAD~1")
			s.GitIn(dir, "reflog", "expire", "--expire=now", "--all")
			s.GitIn(dir, "gc", "-q", "--prune=now")
		})

		tips := ann.ListRescues(guard.ListRescuesParams{}).OK().Tips
		s.Check(len(tips) == 1 && tips[0].Commit == second, "%+v", tips)
		runInBash(s.Work, tips[0].Back)
		s.Check(s.GitIn(dir, "rev-parse", "main-"+second[:7]) == second, "%s didn't bring it back", tips[0].Back)
	})

	t.Run("of which nothing can be copied", func(t *testing.T) {
		s := scene.InGit(t)
		ann := s.Agent("claude:a")
		s.Joins(ann)
		ann.Try().Is(stick.YourTurn)
		dir, _ := embed(s, "deps/x")
		blob := s.GitIn(dir, "rev-parse", "HEAD:one")
		if err := os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			res := runs(t, ann, "rm -rf deps", nil)
			s.Check(res.Allowed == (i > 0), "%d: %+v", i, res)
			s.Check(res.Allowed || strings.Contains(string(res.Reason), "deps/x/ (what is committed in a repository inside the tree isn't copied)"), "%s", res.Reason)
		}
		left := ann.ListRescues(guard.ListRescuesParams{}).OK().LeftOut
		s.Check(len(left) == 1 && strings.HasPrefix(left[0].Path, filepath.Join(dir, ".git")+": refs/heads/main"), "%+v", left)
	})
}
