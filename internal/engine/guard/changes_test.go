package guard_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// TestAPersonsChanges: a person says that changes are theirs, and may take that back. An agent can't.
func TestAPersonsChanges(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	ann.Edits(func() { s.File("a.go", "a") }, "a.go")
	s.File("docs/b.md", "b")
	s.File("docs/c.md", "c")
	mine := func(paths ...string) guard.ClaimChangesParams { return guard.ClaimChangesParams{Paths: paths} }
	bob.ClaimChanges(mine("docs")).Refused(stick.CodePersonOnly)
	pat.ClaimChanges(mine()).Refused(stick.CodeUsage)
	pat.ClaimChanges(mine("docs", "README")).Refused(stick.CodeNotFound)
	changesAre(t, ann, "a.go own by claude:a; docs/b.md nobody by ?; docs/c.md nobody by ?")

	pat.At(filepath.Join(s.Work, "docs")).ClaimChanges(mine(".", filepath.Join(s.Work, "a.go"))).That("three files", func(r guard.ClaimChangesResult) bool {
		return r.Joined && !r.Already && slices.Equal(r.Paths, []string{"a.go", "docs/b.md", "docs/c.md"})
	})
	const all = "a.go others by claude:a pat; docs/b.md others by pat; docs/c.md others by pat"
	changesAre(t, ann, all)
	pat.ClaimChanges(mine("docs")).That("that it was so", func(r guard.ClaimChangesResult) bool { return r.Already && len(r.Paths) == 0 })
	s.File("docs/b.md", "b, by somebody")
	changesAre(t, ann, strings.Replace(all, "b.md others by pat", "b.md others by pat ?", 1))
	pat.ClaimChanges(mine("docs")).That("the one that has changed", func(r guard.ClaimChangesResult) bool { return slices.Equal(r.Paths, []string{"docs/b.md"}) })
	changesAre(t, ann, all)

	not := guard.ClaimChangesParams{Paths: []string{"a.go", "docs/b.md"}, Not: true}
	pat.ClaimChanges(not).OK()
	pat.ClaimChanges(not).That("that it was so", func(r guard.ClaimChangesResult) bool { return r.Already })
	changesAre(t, ann, "a.go own by claude:a ?; docs/b.md nobody by ?; docs/c.md others by pat")

	elsewhere := filepath.Join(s.Dir("elsewhere"), "x")
	if err := os.WriteFile(elsewhere, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pat.ClaimChanges(mine(elsewhere)).Refused(stick.CodeNoRepository)
	pat.Sets("enforce=off").OK()
	pat.ClaimChanges(mine("docs")).Refused(stick.CodeNotEnforced)
	ann.AdoptChanges(guard.AdoptChangesParams{Paths: []string{"docs"}, Reason: "mine"}).Refused(stick.CodeNotEnforced)
}

// TestAdoptedChanges: who may change files may make the changes of others its own. There is a rescue of them
// then, and the former editors are told.
func TestAdoptedChanges(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, cyd, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c"), s.Person("pat")
	s.Joins(ann, bob, cyd)
	ann.Try().Is(stick.YourTurn)
	ann.Edits(func() { s.File("a.go", "a") }, "a.go")
	bob.Edits(func() { s.File("b.go", "b") }, "b.go")
	bob.Edits(func() { s.File("c.go", "c") }, "c.go")
	cyd.Edits(func() { s.File("c.go", "c, by cyd") }, "c.go")
	pat.Sets("enforce=stick").OK()
	adopts := func(why string, paths ...string) guard.AdoptChangesParams {
		return guard.AdoptChangesParams{Paths: paths, Reason: why}
	}
	const before = "a.go own by claude:a; b.go others by codex:b; c.go others by codex:b gemini:c"
	changesAre(t, ann, before)
	bob.AdoptChanges(adopts("mine", "a.go")).Refused(stick.CodeEditDenied)
	ann.AdoptChanges(adopts(" ", "b.go")).Refused(stick.CodeUsage)
	ann.AdoptChanges(adopts("mine", "b.go", "README")).Refused(stick.CodeNotFound)
	ann.AdoptChanges(adopts("mine", "a.go")).That("that it was so", func(r guard.AdoptChangesResult) bool { return r.Already && r.Rescue == nil && r.AgentID == ann.ID })
	changesAre(t, ann, before)

	got := ann.AdoptChanges(adopts("they block the release", ".")).OK()
	s.Check(slices.Equal(got.Paths, []string{"b.go", "c.go"}) && slices.Equal(got.From, []stick.AgentID{bob.ID, cyd.ID}), "%+v", got)
	s.Check(got.Rescue != nil && got.Rescue.Files == 2 && len(got.Rescue.LeftOut) == 0, "%+v", got)
	changesAre(t, ann, "a.go own by claude:a; b.go own by claude:a; c.go own by claude:a")
	changesAre(t, bob, "a.go others by claude:a; b.go others by claude:a; c.go others by claude:a")
	told := bob.ReadNews(bob.Hook()).OK().Events
	s.Check(len(told) == 2 && told[0].Type == stick.EventWorkTaken, "%+v", told)
	told = told[1:]
	s.Check(len(told) == 1 && told[0].Type == stick.EventChangesAdopted && told[0].Reason == "they block the release", "%+v", told)
	p, _ := stick.PayloadOf[stick.ChangesAdoptedPayload](told[0])
	s.Check(p.Count == 2 && slices.Equal(p.Paths, got.Paths) && p.Rescue == got.Rescue.ID, "%+v", p)

	pat.AdoptChanges(adopts("a person's word", "b.go")).That("whose it was", func(r guard.AdoptChangesResult) bool { return slices.Equal(r.From, []stick.AgentID{ann.ID}) })
	changesAre(t, ann, "a.go own by claude:a; b.go others by pat; c.go own by claude:a")
	pat.Sets("enforce=warn").OK()
	bob.AdoptChanges(adopts("agreed with pat", "b.go")).That("what is against the rules", func(r guard.AdoptChangesResult) bool {
		return r.Told != "" && r.Hint != "" && slices.Equal(r.From, []stick.AgentID{pat.ID})
	})
	changesAre(t, ann, "a.go own by claude:a; b.go others by codex:b; c.go own by claude:a")
}

// TestChangesOfAnotherCheckout: paths decide of which checkout the changes are.
func TestChangesOfAnotherCheckout(t *testing.T) {
	s := scene.InGit(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	s.Joins(ann)
	side := filepath.Join(s.Work, "worktrees", "side")
	s.Git("worktree", "add", "-q", side, "-b", "side")
	s.File("a.go", "a")
	s.File("worktrees/side/b.go", "b")
	b := filepath.Join(side, "b.go")
	pat.ClaimChanges(guard.ClaimChangesParams{Paths: []string{"a.go", b}}).Refused(stick.CodeUsage)
	pat.ClaimChanges(guard.ClaimChangesParams{Paths: []string{b}}).That("one file of the worktree", func(r guard.ClaimChangesResult) bool {
		return r.Checkout == side && slices.Equal(r.Paths, []string{"b.go"})
	})
	ann.ListChanges(guard.ListChangesParams{Where: core.Where{Path: side}, Agent: pat.ID, Diff: true}).That("its diff", func(r guard.ListChangesResult) bool {
		return r.Count == 1 && r.Changes[0].Share == edits.ShareOthers && strings.Contains(r.Diff, "+++ b/b.go\n@@ -0,0 +1 @@\n+b\n")
	})
	ann.ListChanges(guard.ListChangesParams{Agent: "gemini"}).Refused(stick.CodeUnknownMember)
}

// TestHowManyFilesAnAgentHasEdited: the holder is told how many files another has edited since in its turn,
// though the event was made at the first. Those that the other had reserved, and edited before, don't count.
func TestHowManyFilesAnAgentHasEdited(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	bob.Edits(func() { s.File("before.go", "b") }, "before.go")
	ann.Try().Is(stick.YourTurn)
	bob.Reserve("own").OK()
	bob.Edits(func() { s.File("own/a.go", "b") }, "own/a.go")
	s.Later(time.Second)
	for _, name := range []string{"c.go", "a.go", "b.go"} {
		bob.Edits(func() { s.File(name, "x") }, name)
	}
	told := ann.ReadNews(ann.Hook()).OK().Events
	s.Check(len(told) == 1, "%+v", told)
	s.Check(string(told[0].Tell()) == string(bob.ID)+" edited 3 files, first c.go while you hold the stick", "%s", told[0].Tell())
}

// TestWorkThatIsUncommitted: the state, a session's start and a grant count what hooks have noted of
// uncommitted work.
func TestWorkThatIsUncommitted(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
	s.Joins(ann, bob)
	s.Check(ann.GetRoomState(engine.GetRoomStateParams{}).OK().Changes == nil, "nothing is noted, and it is told")
	s.Check(ann.Try().OK().Grant.Changes == nil, "nothing is noted, and it is told")
	ann.Edits(func() { s.File("a.go", "a") }, "a.go")
	for _, name := range []string{"b.go", "c.go"} {
		bob.Edits(func() { s.File(name, "x") }, name)
	}
	s.File("d.go", "nobody's")
	bob.Runs(func() { ann.Runs(nil) })
	want := func(what string, got *ledger.NotedWork, own, passed, others, nobody int, paths string) {
		t.Helper()
		if got == nil || got.Own != own || got.Passed != passed || got.Others != others || got.Nobody != nobody || strings.Join(got.Paths, " ") != paths {
			t.Errorf("%s: %+v", what, got)
		}
	}
	state := ann.GetRoomState(engine.GetRoomStateParams{}).OK().Changes
	want("the state", state, 1, 0, 2, 1, "b.go c.go d.go")
	s.Check(len(state.Of) == 1 && state.Of[0] == ledger.WorkOf{Agent: bob.ID, Files: 2}, "%+v", state)
	ann.Release("done", "go on").OK()
	want("a grant", bob.Try().OK().Grant.Changes, 2, 1, 0, 1, "")
	seen := cyd.StartSession(roster.StartSessionParams{}).OK().Changes
	want("a session's start", seen, 0, 1, 2, 1, "a.go b.go c.go")
	s.Check(seen.Held == 0 && seen.HeldOthers == 2, "of the holder are %+v", seen)
	bob.Edits(func() { s.File("e.go", "x") }, "e.go")
	seen = cyd.GetRoomState(engine.GetRoomStateParams{}).OK().Changes
	s.Check(seen.Passed == 1 && seen.HeldOthers == 3, "what the holder edits with the stick is %+v", seen)
	bob.Runs(func() {
		s.Git("add", ".")
		s.Git("commit", "-qm", "all")
	})
	s.Check(ann.GetRoomState(engine.GetRoomStateParams{}).OK().Changes == nil, "it is committed, and is told")
}
