package guard_test

import (
	"path/filepath"
	"slices"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestATakeoverKeepsWhatIsUncommitted: whoever takes over has a copy of what a dead holder left, and can bring it back.
func TestATakeoverKeepsWhatIsUncommitted(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, cyd, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c"), s.Person("pat")
	s.Joins(ann, bob, cyd)
	ann.Try().Granted(1)
	s.File("draft.md", "a draft\n")
	s.File("README", "two\n")
	ann.Dies()
	took := bob.Take("it is gone").Granted(2, stick.OwnerGone).OK()
	kept := took.Rescue
	s.Check(kept != nil && kept.Files == 2 && kept.Checkout == s.Work && took.RescueWhy == "", "%+v", took)
	bob.Take("again").That("the same rescue", func(r engine.TakeoverStickResult) bool { return r.Already && r.Rescue.ID == kept.ID })

	list := bob.ListRescues(guard.ListRescuesParams{}).OK().Rescues
	s.Check(len(list) == 1 && list[0].ID == kept.ID && list[0].Prior == string(ann.ID) && list[0].TurnID == 2, "%+v", list)
	bob.ListRescues(guard.ListRescuesParams{Limit: 501}).Refused(stick.CodeUsage)
	bob.ShowRescue(guard.ShowRescueParams{ID: kept.ID[:9], Paths: []string{"draft.md"}}).That("its one file", func(r guard.ShowRescueResult) bool {
		return len(r.Entries) == 1 && !r.Gone && r.Hidden == 0
	})
	bob.ShowRescue(guard.ShowRescueParams{ID: kept.ID, Limit: 1}).That("that one is hidden", func(r guard.ShowRescueResult) bool { return r.Hidden == 1 })
	bob.ShowRescue(guard.ShowRescueParams{ID: kept.ID, Limit: -1}).Refused(stick.CodeUsage)
	bob.ShowRescue(guard.ShowRescueParams{ID: kept.ID, Paths: []string{"lost"}}).Refused(stick.CodeNotFound)
	bob.ShowRescue(guard.ShowRescueParams{ID: "1m8"}).Refused(stick.CodeNotFound)

	s.Git("reset", "-q", "--hard")
	bob.DiffRescue(guard.DiffRescueParams{ID: kept.ID}).That("what differs", func(r guard.DiffRescueResult) bool { return r.Diff != "" && !r.Cut })
	only := guard.RestoreRescueParams{ID: kept.ID, Paths: []string{filepath.Join(s.Work, "README")}}
	bob.Sets("enforce=stick").OK()
	cyd.RestoreRescue(only).Refused(stick.CodeEditDenied)
	s.Check(s.Git("status", "--porcelain") == "?? draft.md", "a refusal has changed the tree")
	pat.RestoreRescue(only).That("the file", func(r guard.RestoreRescueResult) bool { return slices.Equal(r.Restored.Restored, []string{"README"}) })
	pat.Sets("enforce=warn").OK()
	cyd.RestoreRescue(only).That("what the room says", func(r guard.RestoreRescueResult) bool { return r.Told != "" && r.Exact })
	bob.RestoreRescue(guard.RestoreRescueParams{ID: kept.ID, Where: core.Where{Path: s.Dir("elsewhere")}}).Refused(stick.CodeNoRepository)
}
