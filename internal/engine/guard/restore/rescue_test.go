package restore_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestATakeoverKeepsWhatIsUncommitted: whoever takes over has a copy of what a dead holder left, and can
// bring it back.
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

	list := bob.ListRescues(restore.ListRescuesParams{}).OK().Rescues
	s.Check(len(list) == 1 && list[0].ID == kept.ID && list[0].Prior == string(ann.ID) && list[0].TurnID == 2, "%+v", list)
	bob.ListRescues(restore.ListRescuesParams{Limit: 501}).Refused(stick.CodeUsage)
	bob.ShowRescue(restore.ShowRescueParams{ID: kept.ID[:9], Paths: []string{"draft.md"}}).That("its one file", func(r restore.ShowRescueResult) bool {
		return len(r.Entries) == 1 && !r.Gone && r.Hidden == 0
	})
	bob.ShowRescue(restore.ShowRescueParams{ID: kept.ID, Limit: 1}).That("that one is hidden", func(r restore.ShowRescueResult) bool { return r.Hidden == 1 })
	bob.ShowRescue(restore.ShowRescueParams{ID: kept.ID, Limit: -1}).Refused(stick.CodeUsage)
	bob.ShowRescue(restore.ShowRescueParams{ID: kept.ID, Paths: []string{"lost"}}).Refused(stick.CodeNotFound)
	bob.ShowRescue(restore.ShowRescueParams{ID: "1m8"}).Refused(stick.CodeNotFound)

	s.Git("reset", "-q", "--hard")
	bob.DiffRescue(restore.DiffRescueParams{ID: kept.ID}).That("what differs", func(r restore.DiffRescueResult) bool { return r.Diff != "" && !r.Cut })
	only := restore.RestoreRescueParams{ID: kept.ID, Paths: []string{filepath.Join(s.Work, "README")}}
	bob.Sets("enforce=stick").OK()
	cyd.RestoreRescue(only).Refused(stick.CodeEditDenied)
	s.Check(s.Git("status", "--porcelain") == "?? draft.md", "a refusal has changed the tree")
	pat.RestoreRescue(only).That("the file", func(r restore.RestoreRescueResult) bool { return slices.Equal(r.Restored.Restored, []string{"README"}) })
	pat.Sets("enforce=warn").OK()
	cyd.RestoreRescue(only).That("what the room says", func(r restore.RestoreRescueResult) bool { return r.Told != "" && r.Exact })
	bob.RestoreRescue(restore.RestoreRescueParams{ID: kept.ID, Where: core.Where{Path: s.Dir("elsewhere")}}).Refused(stick.CodeNoRepository)
}

// TestForgetRescue: a person has a file forgotten by all rescues of a repository, also of one that is gone,
// or a whole rescue. An agent may not, whatever name it asks for.
func TestForgetRescue(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ann.Try().Granted(1)
	s.File("draft.md", "a draft\n")
	s.File("key.pem", "a secret\n")
	ann.Dies()
	kept := bob.Take("it is gone").OK().Rescue.ID

	secret := restore.ForgetRescueParams{File: "key.pem"}
	bob.ForgetRescue(secret).Refused(stick.CodePersonOnly)
	bob.ForgetRescue(restore.ForgetRescueParams{ID: kept}).Refused(stick.CodePersonOnly)
	pat.ForgetRescue(restore.ForgetRescueParams{}).Refused(stick.CodeUsage)
	pat.ForgetRescue(restore.ForgetRescueParams{ID: kept, File: "key.pem"}).Refused(stick.CodeUsage)
	pat.ForgetRescue(restore.ForgetRescueParams{ID: "1m8"}).Refused(stick.CodeNotFound)
	elsewhere := core.Where{Path: s.Dir("elsewhere")}
	pat.ForgetRescue(restore.ForgetRescueParams{Where: elsewhere, File: "key.pem"}).Refused(stick.CodeNoRepository)
	s.Check(slices.Contains(pat.Holds(kept), "key.pem"), "a refusal has changed something")
	remove := func(name string) {
		if err := os.RemoveAll(filepath.Join(s.Work, name)); err != nil {
			t.Fatal(err)
		}
	}

	remove("key.pem")
	pat.ForgetRescue(secret).That("the one rescue", func(r restore.ForgetRescueResult) bool {
		return slices.Equal(r.Rescues, []string{kept}) && r.File == "key.pem" && !r.Kept
	})
	s.Check(slices.Equal(pat.Holds(kept), []string{"draft.md"}), "%v", pat.Holds(kept))
	pat.ForgetRescue(secret).Refused(stick.CodeNotFound)

	remove(".git")
	byItsPath := restore.ForgetRescueParams{Where: elsewhere, File: filepath.Join(s.Work, "draft.md")}
	pat.ForgetRescue(byItsPath).That("a file that is there", func(r restore.ForgetRescueResult) bool { return r.Kept && r.File == "draft.md" })
	pat.ForgetRescue(restore.ForgetRescueParams{ID: kept[:9]}).That("its whole id", func(r restore.ForgetRescueResult) bool { return r.ID == kept })
	bob.ShowRescue(restore.ShowRescueParams{ID: kept}).Refused(stick.CodeNotFound)
}
