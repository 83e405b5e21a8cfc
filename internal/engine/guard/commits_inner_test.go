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

func TestKeepsCommits_OfARepositoryInside(t *testing.T) {
	storetest.SkipQuick(t, "commits of a repository inside")

	t.Run("that a command removes", func(t *testing.T) {
		s := scene.InGit(t)
		ann := s.Agent("claude:a")
		s.Joins(ann)
		ann.Try().Is(stick.YourTurn)
		dir, commit := s.Embed("deps/x")
		s.Check(ann.Executes("rm -rf deps", nil).Allowed, "refused, because no copy can be kept")
		if _, err := os.Stat(dir); err == nil {
			t.Fatal("it is still there")
		}

		tips := ann.ListRescues(restore.ListRescuesParams{}).OK().Tips
		s.Check(len(tips) == 1 && tips[0].Commit == commit && tips[0].Inside == filepath.Join(dir, ".git"), "%+v", tips)
		scene.RunInBash(s.Work, tips[0].Back)
		s.Check(s.Git("rev-parse", "x-main") == commit, "%s didn't bring it back", tips[0].Back)
	})

	t.Run("in which a branch is lost", func(t *testing.T) {
		s := scene.InGit(t)
		ann := s.Agent("claude:a")
		s.Joins(ann)
		dir, _ := s.Embed("x y")
		second := ""
		ann.Runs(func() { second = s.CommitIn(dir, "two", "two") })
		ann.Runs(func() {
			s.GitIn(dir, "reset", "-q", "--hard", "HEAD~1")
			s.GitIn(dir, "reflog", "expire", "--expire=now", "--all")
			s.GitIn(dir, "gc", "-q", "--prune=now")
		})

		tips := ann.ListRescues(restore.ListRescuesParams{}).OK().Tips
		s.Check(len(tips) == 1 && tips[0].Commit == second, "%+v", tips)
		scene.RunInBash(s.Work, tips[0].Back)
		s.Check(s.GitIn(dir, "rev-parse", "main-"+second[:7]) == second, "%s didn't bring it back", tips[0].Back)
	})

	t.Run("of which nothing can be copied", func(t *testing.T) {
		s := scene.InGit(t)
		ann := s.Agent("claude:a")
		s.Joins(ann)
		ann.Try().Is(stick.YourTurn)
		dir, _ := s.Embed("deps/x")
		blob := s.GitIn(dir, "rev-parse", "HEAD:one")
		if err := os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			res := ann.Executes("rm -rf deps", nil)
			s.Check(res.Allowed == (i > 0), "%d: %+v", i, res)
			s.Check(res.Allowed || strings.Contains(string(res.Reason), "deps/x/ (what is committed in a repository inside the tree isn't copied)"), "%s", res.Reason)
		}
		left := ann.ListRescues(restore.ListRescuesParams{}).OK().LeftOut
		s.Check(len(left) == 1 && strings.HasPrefix(left[0].Path, filepath.Join(dir, ".git")+": refs/heads/main"), "%+v", left)
	})
}
