package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
	"talkingstick/internal/shell"
	"talkingstick/stick"
)

// TestReservationsAreSignals: an overlap sends an event to both sides, and refuses nobody who doesn't ask for
// that.
func TestReservationsAreSignals(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	ann.Reserve("src/**", "docs/a.md").That("two", func(r engine.ReservePathsResult) bool {
		return len(r.Reservations) == 2 && r.Joined && len(r.Overlaps) == 0
	})
	ann.Reserve("src/**").That("again", func(r engine.ReservePathsResult) bool { return r.Already })
	x := bob.Reserve("src/main.go").OK()
	s.Check(len(x.Overlaps) == 1 && x.Overlaps[0].Agent == ann.ID && x.Overlaps[0].Verdict == stick.Alive, "%+v", x.Overlaps)
	ann.Looks().Brings(string(stick.EventIncursion))
	bob.ReservePaths(engine.ReservePathsParams{Paths: []string{"docs/*.md"}, Strict: true}).Refused(stick.CodeReservationConflict)
	bob.Reserve("../out").Refused(stick.CodeUsage)
	bob.Reserve("/elsewhere/x").Refused(stick.CodeUsage)
	bob.Reserve().Refused(stick.CodeUsage)
	bob.ReservePaths(engine.ReservePathsParams{Paths: []string{"x"}, TTL: -1}).Refused(stick.CodeUsage)
	bob.Reserve(filepath.Join(s.Work, "lib")+"/*.go").That("from the root", func(r engine.ReservePathsResult) bool { return r.Reservations[0].Pattern == "lib/*.go" })
	s.File("odd/[id].ts", "")
	bob.Reserve("odd/[id].ts").OK()
	s.File("deep/below/file.go", "")
	bob.At(s.Dir("work/deep")).Reserve("below/file.go").That("a warning", func(r engine.ReservePathsResult) bool { return r.Warning != "" })
	if err := os.Symlink("lib", filepath.Join(s.Work, "link")); err != nil {
		t.Fatal(err)
	}
	s.Dir("work/lib")
	bob.Reserve("link/x.go").OK()

	all := ann.ListReservations(engine.ListReservationsParams{}).OK().Reservations
	s.Check(len(all) >= 6, "%+v", all)
	mine := ann.ListReservations(engine.ListReservationsParams{Agent: "claude"}).OK().Reservations
	s.Check(len(mine) == 2, "%+v", mine)
	ann.ListReservations(engine.ListReservationsParams{Limit: 501}).Refused(stick.CodeUsage)
	ann.ListReservations(engine.ListReservationsParams{Limit: 1}).That("that there are more", func(r engine.ListReservationsResult) bool { return r.More })

	ann.Unreserve("docs/a.md").That("one", func(r engine.ReleasePathsResult) bool { return len(r.Released) == 1 })
	ann.Unreserve("docs/a.md").That("before", func(r engine.ReleasePathsResult) bool { return r.Already })
	ann.Unreserve("never").Refused(stick.CodeNotFound)
	ann.ReleasePaths(engine.ReleasePathsParams{}).Refused(stick.CodeUsage)
	ann.ReleasePaths(engine.ReleasePathsParams{ReservationIDs: []int64{999}}).Refused(stick.CodeNotFound)
	ann.ReleasePaths(engine.ReleasePathsParams{ReservationIDs: []int64{x.Reservations[0].ID}}).Refused(stick.CodePersonOnly)
	carl.Join().OK()
	carl.ReleasePaths(engine.ReleasePathsParams{ReservationIDs: []int64{x.Reservations[0].ID}}).OK()
	bob.ReleasePaths(engine.ReleasePathsParams{ReservationIDs: []int64{x.Reservations[0].ID}}).Refused(stick.CodeNotFound)
	bob.ReleasePaths(engine.ReleasePathsParams{All: true}).OK()
	bob.Leave().OK()
	s.Agent("gemini:x").Unreserve("a").Refused(stick.CodeUnknownMember)
}

// TestAStaleReservation: an agent that needs the path may end a stale reservation explicitly.
func TestAStaleReservation(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.ReservePaths(engine.ReservePathsParams{Paths: []string{"a"}, TTL: stick.Millis((5 * time.Minute).Milliseconds())}).OK()
	ann.Dies()
	bob.Join().OK()
	s.Check(bob.ListReservations(engine.ListReservationsParams{}).OK().Reservations[0].Stale, "not stale")
	bob.ReservePaths(engine.ReservePathsParams{Paths: []string{"a"}, Strict: true}).Refused(stick.CodeReservationStale)
	bob.ReservePaths(engine.ReservePathsParams{Paths: []string{"a"}, Strict: true, TakeStale: true}).That("taken", func(r engine.ReservePathsResult) bool { return len(r.Overlaps) <= 1 })
	s.Later(time.Hour)
	ann.Returns().Reserve("b").OK()
}

// TestMayIEdit: depending on the policy an edit needs the stick, a reservation, or nothing.
func TestMayIEdit(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	bob.MayIEdit("x").Allowed() // there is no room
	bob.MayIEdit().Refused(stick.CodeUsage)
	s.Joins(ann, bob)
	ann.Try().Granted(1)
	bob.MayIEdit("x").Allowed()
	ann.Sets("enforce=stick").OK()
	ann.MayIEdit("x", "dir/").Allowed()
	bob.MayIEdit("x").Denied("x")
	carl.MayIEdit("x").Allowed()
	bob.MayIEdit("/elsewhere/x").Allowed()
	bob.MayEdit(engine.MayEditParams{Tree: true}).That("the whole tree denied", func(r engine.MayEditResult) bool { return !r.Allowed })
	bob.MayEdit(engine.MayEditParams{Where: s.ByID(), Tree: true}).That("the whole tree denied", func(r engine.MayEditResult) bool { return !r.Allowed && r.Holder == ann.ID })
	many := make([]string, 6000)
	for i := range many {
		many[i] = "x"
	}
	scene.Editing{Answer: bob.MayEdit(engine.MayEditParams{Paths: many})}.That("denied", func(r engine.MayEditResult) bool { return !r.Allowed })
	carl.Sets("enforce=scopes").OK()
	bob.Reserve("src/**").OK()
	bob.MayIEdit("src/a.go").Allowed()
	bob.MayIEdit("lib/a.go").Denied("lib/a.go")
	ann.MayIEdit("src/a.go").That("that bob has reserved it", func(r engine.MayEditResult) bool { return len(r.Reserved) == 1 })
}

// TestHooksAskBeforeAnEdit: a denial is recorded once. If an agent lost the right to an edit while it ran, an
// event says so.
func TestHooksAskBeforeAnEdit(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob)
	ann.Sets("enforce=stick").OK()
	ann.Try().Granted(1)
	bob.Edits(nil, "x").Denied("x")
	bob.Edits(nil, "x").Denied("x")
	ann.Edits(nil, "x").Allowed()
	ann.Edits(nil).Allowed()
	ann.Edits(func() { ann.Release("s", "n").OK() }, "x").Allowed() // it gave the stick up itself
	ann.Try().Granted(2)
	ann.Edits(func() {
		carl.TakeoverStick(engine.TakeoverStickParams{Reason: "stop", Operator: true}).OK()
	}, "x").Allowed()
	s.Has(stick.EventLateEdit)
	events := carl.GetRoomEvents(engine.GetRoomEventsParams{EventFilter: engine.EventFilter{Types: []stick.EventType{stick.EventStickDenied, stick.EventLateEdit}}}).OK().Events
	s.Check(len(events) == 2, "%d events", len(events))
	bob.CheckEdit(engine.CheckEditParams{HookParams: core.HookParams{Tool: "Bash"}, Trees: []string{s.Work}}).That("denied", func(r engine.MayEditResult) bool { return !r.Allowed })
	bob.CheckEdit(engine.CheckEditParams{HookParams: core.HookParams{Tool: "Bash"}, Names: []string{"x"}, Paths: []string{"x"}, Tracked: []string{"y"}}).That("denied", func(r engine.MayEditResult) bool { return len(r.Denied) == 2 })
}

// TestPrimaryOnlyFiles: a helper may not change the primary's files, even with the stick.
func TestPrimaryOnlyFiles(t *testing.T) {
	s := scene.New(t)
	s.File(".talking-stick.toml", "[roles]\nprimary_only = [\"lead/**\"]\nappend = [\"log.md\"]\n")
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Starts().As(stick.RolePrimary, stick.StartFresh)
	bob.Starts().As(stick.RoleHelper, stick.StartHelper).That("the contract", func(r engine.StartSessionResult) bool {
		return len(r.Contract.Append) == 1 && len(r.Contract.PrimaryOnly) == 1
	})
	ann.Sets("enforce=stick").OK()
	bob.Try().Granted(1)
	bob.MayIEdit("lead/x").Denied("lead/x")
	bob.MayIEdit("other").Allowed()
	bob.MayIEdit(bob.Session().Context).Allowed()
	ann.MayIEdit(ann.Session().Context).Allowed()
}

// TestConflictsOfWorkingTrees: where two working trees conflict, with their uncommitted changes.
func TestConflictsOfWorkingTrees(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Agent("codex:p").GetConflicts(engine.GetConflictsParams{}).Refused(stick.CodeNoRoom)
	ann.Try().Granted(1)
	other := filepath.Join(s.Work, "..", "other")
	s.Commit("both", "a\nb\nc\nd\ne\n")
	s.Git("worktree", "add", "-q", "-b", "side", other)
	s.CommitIn(other, "README", "two\n")
	s.CommitIn(other, "both", "A\nb\nc\nd\ne\n")
	s.File("README", "three\n")
	s.File("both", "a\nb\nc\nd\nE\n")
	x := ann.GetConflicts(engine.GetConflictsParams{}).OK()
	var got []string
	for _, c := range x.Conflicts {
		got = append(got, c.Kind+" "+c.Path)
	}
	s.Check(slices.Equal(got, []string{"conflict README", "both_changed both"}) && len(x.Sides) == 2 && x.Sides[0].Agent == ann.ID, "%+v", x)
	ann.GetConflicts(engine.GetConflictsParams{Where: s.ByID()}).OK()

	plain := s.Dir("plain")
	cyd := s.AgentIn("gemini:c", plain)
	cyd.Join().OK()
	cyd.GetConflicts(engine.GetConflictsParams{}).Refused(stick.CodeNoRepository)
}

// TestNobodyRemovesTheWorkspace: its root and its repository are no agent's to remove, and the log says who tried.
func TestNobodyRemovesTheWorkspace(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob)
	ann.Try().Granted(1)
	removes := func(path string) engine.CheckEditParams {
		act := shell.Act{Kind: shell.Removes, Form: "rm -rf it", Dir: s.Work, Paths: []string{path}}
		return engine.CheckEditParams{HookParams: core.HookParams{Tool: "Bash"}, Paths: act.Paths, Acts: []shell.Act{act}}
	}
	for path, denied := range map[string]string{
		filepath.Join(s.Work, ".git"): ".git", s.Work: ".", filepath.Dir(s.Work): ".", filepath.Join(s.Work, ".git", "refs"): ".git/refs",
	} {
		for _, by := range []*scene.Actor{ann, bob} {
			by.CheckEdit(removes(path)).That("denied", func(r engine.MayEditResult) bool { return !r.Allowed && slices.Equal(r.Denied, []string{denied}) })
		}
		carl.CheckEdit(removes(path)).That("allowed", func(r engine.MayEditResult) bool { return r.Allowed })
	}
	some := removes(s.Work)
	some.Acts[0].Some = true
	ann.CheckEdit(some).That("allowed, because nobody knows which files", func(r engine.MayEditResult) bool { return r.Allowed })
	ann.CheckEdit(removes(s.File("src/a.go", ""))).That("allowed", func(r engine.MayEditResult) bool { return r.Allowed })
	carl.Sets("enforce=off").OK()
	ann.CheckEdit(removes(s.Work)).That("allowed", func(r engine.MayEditResult) bool { return r.Allowed })
}

// TestAPatternThatGivesNoRight: a pattern whose first name has a wildcard is reserved, and lets nobody edit. Whether a file matches it
// has no part in that. The answer says so, where other reservations give that right.
func TestAPatternThatGivesNoRight(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	pat.Sets("enforce=scopes").OK()
	s.File("new.txt", "there")
	warns := func(r engine.ReservePathsResult) bool {
		return strings.HasPrefix(r.Warning, "new* could match anywhere, so it gives no right to edit")
	}
	bob.Reserve("docs", "new*").That("that it gives no right", warns)
	bob.Edits(nil, "new.txt").Denied("new.txt")
	bob.Edits(nil, "newer.txt").Denied("newer.txt")
	bob.Reserve("src/new*").That("no warning", func(r engine.ReservePathsResult) bool { return r.Warning == "" })
	bob.Edits(nil, "src/newer.txt").Allowed()
	pat.Sets("enforce=stick").OK()
	bob.Reserve("old*").That("no warning where no reservation gives a right", func(r engine.ReservePathsResult) bool { return r.Warning == "" })
}
