package engine_test

import (
	"os"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestRemoveData: a person has the database and the copies removed, and an agent may only look.
func TestRemoveData(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	ann.Try().Granted(1)
	s.File("draft.md", "a draft\n")
	bob.TakeoverStick(engine.TakeoverStickParams{Reason: "ann is away", Operator: true}).OK()

	remove := engine.RemoveDataParams{Remove: true}
	bob.RemoveData(remove).Refused(stick.CodePersonOnly)
	there := bob.RemoveData(engine.RemoveDataParams{}).OK()
	s.Check(!there.Removed && len(there.Parts) == 2 && there.Parts[0].What == engine.DataCopies && there.Parts[0].Bytes > 0 && there.Parts[1].Bytes > 0, "%+v", there)

	gone := func() (n int) {
		for _, part := range there.Parts {
			if _, err := os.Lstat(part.Path); os.IsNotExist(err) {
				n++
			}
		}
		return n
	}
	s.Check(gone() == 0, "a look has removed something")
	pat.RemoveData(remove).That("all of it", func(r engine.RemoveDataResult) bool { return r.Removed && len(r.Parts) == 2 })
	s.Check(gone() == 2, "something is left")
	pat.RemoveData(remove).That("nothing is left to remove", func(r engine.RemoveDataResult) bool { return r.Removed && len(r.Parts) == 0 })
}
