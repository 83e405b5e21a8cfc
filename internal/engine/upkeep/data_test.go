package upkeep_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestRemoveData: a person has the database and the copies removed, and an agent may only look.
func TestRemoveData(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	ann.Try().Granted(1)
	s.File("draft.md", "a draft\n")
	bob.TakeoverStick(engine.TakeoverStickParams{Reason: "ann is away", Operator: true}).OK()

	if !storetest.OnServer(t) {
		pat.BackupDB(upkeep.BackupDBParams{}).OK()
	}

	remove := upkeep.RemoveDataParams{Remove: true}
	bob.RemoveData(remove).Refused(stick.CodePersonOnly)
	there := bob.RemoveData(upkeep.RemoveDataParams{}).OK()
	want := []string{upkeep.DataCopies, upkeep.DataDatabase, upkeep.DataBackups}
	if storetest.OnServer(t) { // the rooms aren't in this directory
		want = want[:1]
	}

	var kept []string
	for _, part := range there.Parts {
		s.Check(part.Bytes > 0, "%+v", part)
		kept = append(kept, part.What)
	}

	s.Check(!there.Removed && slices.Equal(kept, want), "%+v", there)

	gone := func() (n int) {
		for _, part := range there.Parts {
			if _, err := os.Lstat(part.Path); os.IsNotExist(err) {
				n++
			}
		}
		return n
	}

	s.Check(gone() == 0, "a look has removed something")
	pat.RemoveData(remove).That("all of it", func(r upkeep.RemoveDataResult) bool {
		return r.Removed && len(r.Parts) == len(want)
	})
	s.Check(gone() == len(want), "something is left")
	pat.RemoveData(remove).That("nothing is left to remove", func(r upkeep.RemoveDataResult) bool {
		return r.Removed && len(r.Parts) == 0
	})
}

// TestRemoveData_Worktrees: what there is names the directory with worktrees of tasks, which stays.
func TestRemoveData_Worktrees(t *testing.T) {
	s := scene.InQueue(t, "")
	ann := s.Agent("claude:a")
	s.Joins(ann)
	ann.Spawn("one").OK()

	want := []core.TaskDirectory{{Path: filepath.Join(s.Work, "worktrees"), Worktrees: 1}}
	ann.RemoveData(upkeep.RemoveDataParams{}).That("one directory", func(r upkeep.RemoveDataResult) bool {
		return slices.Equal(r.Worktrees, want)
	})
}
