package restore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// hasCommits reports whether the commits of a scene's repository were copied.
func hasCommits(s *scene.Scene) bool {
	return rescue.New(filepath.Join(filepath.Dir(s.Work), "data"), git.Client{}).HasCommits(filepath.Join(s.Work, ".git"))
}

func TestJoinPath_KeepsCommits(t *testing.T) {
	t.Run("by who joins first", func(t *testing.T) {
		s := scene.InGit(t)
		ann := s.Agent("claude:a")
		ann.Join().OK()
		s.Check(hasCommits(s), "the first command pays for the first copy")
		if err := os.RemoveAll(filepath.Join(s.Work, ".git")); err != nil {
			t.Fatal(err)
		}
		tips := ann.ListRescues(restore.ListRescuesParams{}).OK().Tips
		s.Check(len(tips) == 1 && tips[0].Of == "refs/heads/main", "%+v", tips)
	})

	t.Run("not where the room wants no copies", func(t *testing.T) {
		s := scene.InGit(t)
		pat := s.Person("pat")
		pat.JoinPath(engine.JoinPathParams{Policy: []string{"snapshots=off"}}).OK()
		s.Check(!hasCommits(s), "they were copied")
	})
}

// TestLeftOutCommits_Shown: the list of rescues and the doctor name a branch of which nothing can be copied.
func TestLeftOutCommits_Shown(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Git("switch", "-qc", "broken")
	s.Commit("lost.go", "lost")
	blob := s.Git("rev-parse", "HEAD:lost.go")
	s.Git("switch", "-q", "main")
	if err := os.Remove(filepath.Join(s.Work, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	ann.Join().OK()

	left := ann.ListRescues(restore.ListRescuesParams{}).OK().LeftOut
	s.Check(len(left) == 1 && left[0] == (rescue.LeftOut{Path: "refs/heads/broken", Why: rescue.WhyMissing}), "%+v", left)
	found := ann.Engine.Guard.Restorer.CheckCopies(t.Context())
	s.Check(found.Status == core.FindingWarning && strings.Contains(string(found.Detail), "aren't copied: refs/heads/broken (the repository lacks"), "%+v", found)
}

func TestNameLeftOut(t *testing.T) {
	for path, want := range map[string]stick.Words{
		"./": "all of them", "/r/.git/modules/sub: ./": "all of /r/.git/modules/sub", "refs/heads/x": "refs/heads/x",
		"/r/.git/modules/sub: refs/heads/x": "/r/.git/modules/sub: refs/heads/x",
	} {
		if got := restore.NameLeftOut(rescue.LeftOut{Path: path}); got != want {
			t.Errorf("%s: %s, not %s", path, got, want)
		}
	}
}
