package scopes_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestReservationsAreSignals: an overlap sends an event to both sides, and refuses nobody who doesn't ask for
// that.
func TestReservationsAreSignals(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	ann.Reserve("src/**", "docs/a.md").That("two", func(r scopes.ReservePathsResult) bool {
		return len(r.Reservations) == 2 && r.Joined && len(r.Overlaps) == 0
	})
	ann.Reserve("src/**").That("again", func(r scopes.ReservePathsResult) bool { return r.Already })
	x := bob.Reserve("src/main.go").OK()
	s.Check(len(x.Overlaps) == 1 && x.Overlaps[0].Agent == ann.ID && x.Overlaps[0].Verdict == stick.Alive, "%+v",
		x.Overlaps)
	ann.Looks().Brings(string(stick.EventIncursion))
	bob.ReservePaths(scopes.ReservePathsParams{Paths: []string{"docs/*.md"}, Strict: true}).Refused(stick.CodeReservationConflict)
	bob.Reserve("../out").Refused(stick.CodeUsage)
	bob.Reserve("/elsewhere/x").Refused(stick.CodeUsage)
	bob.Reserve().Refused(stick.CodeUsage)
	bob.ReservePaths(scopes.ReservePathsParams{Paths: []string{"x"}, TTL: -1}).Refused(stick.CodeUsage)

	bob.Reserve(filepath.Join(s.Work, "lib")+"/*.go").That("from the root",
		func(r scopes.ReservePathsResult) bool { return r.Reservations[0].Pattern == "lib/*.go" })
	s.File("odd/[id].ts", "")
	bob.Reserve("odd/[id].ts").OK()
	s.File("deep/below/file.go", "")
	bob.At(s.Dir("work/deep")).Reserve("below/file.go").
		That("a warning", func(r scopes.ReservePathsResult) bool { return r.Warning != "" })
	if err := os.Symlink("lib", filepath.Join(s.Work, "link")); err != nil {
		t.Fatal(err)
	}

	s.Dir("work/lib")
	bob.Reserve("link/x.go").OK()

	all := ann.ListReservations(scopes.ListReservationsParams{}).OK().Reservations
	s.Check(len(all) >= 6, "%+v", all)
	mine := ann.ListReservations(scopes.ListReservationsParams{Agent: "claude"}).OK().Reservations
	s.Check(len(mine) == 2, "%+v", mine)
	ann.ListReservations(scopes.ListReservationsParams{Limit: 501}).Refused(stick.CodeUsage)

	ann.ListReservations(scopes.ListReservationsParams{Limit: 1}).That("that there are more",
		func(r scopes.ListReservationsResult) bool { return r.More })

	ann.Unreserve("docs/a.md").That("one", func(r scopes.ReleasePathsResult) bool { return len(r.Released) == 1 })
	ann.Unreserve("docs/a.md").That("before", func(r scopes.ReleasePathsResult) bool { return r.Already })
	ann.Unreserve("never").Refused(stick.CodeNotFound)
	ann.ReleasePaths(scopes.ReleasePathsParams{}).Refused(stick.CodeUsage)
	ann.ReleasePaths(scopes.ReleasePathsParams{ReservationIDs: []int64{999}}).Refused(stick.CodeNotFound)
	ann.ReleasePaths(scopes.ReleasePathsParams{ReservationIDs: []int64{x.Reservations[0].ID}}).Refused(stick.CodePersonOnly)

	carl.Join().OK()
	carl.ReleasePaths(scopes.ReleasePathsParams{ReservationIDs: []int64{x.Reservations[0].ID}}).OK()
	bob.ReleasePaths(scopes.ReleasePathsParams{ReservationIDs: []int64{x.Reservations[0].ID}}).Refused(stick.CodeNotFound)
	bob.ReleasePaths(scopes.ReleasePathsParams{All: true}).OK()
	bob.Leave().OK()
	s.Agent("gemini:x").Unreserve("a").Refused(stick.CodeUnknownMember)
}

// TestReserve_Stale: an agent that needs the path may end a stale reservation explicitly.
func TestReserve_Stale(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.ReservePaths(scopes.ReservePathsParams{
		Paths: []string{"a"}, TTL: stick.Millis((5 * time.Minute).Milliseconds()),
	}).OK()
	ann.Dies()
	bob.Join().OK()
	s.Check(bob.ListReservations(scopes.ListReservationsParams{}).OK().Reservations[0].Stale, "not stale")
	bob.ReservePaths(scopes.ReservePathsParams{Paths: []string{"a"}, Strict: true}).Refused(stick.CodeReservationStale)

	bob.ReservePaths(scopes.ReservePathsParams{Paths: []string{"a"}, Strict: true, TakeStale: true}).That("taken",
		func(r scopes.ReservePathsResult) bool { return len(r.Overlaps) <= 1 })
	s.Later(time.Hour)
	ann.Returns().Reserve("b").OK()
}

// TestConflictsOfWorkingTrees: where two working trees conflict, with their uncommitted changes.
func TestConflictsOfWorkingTrees(t *testing.T) {
	s := scene.InGit(t)
	ann := s.Agent("claude:a")
	s.Agent("codex:p").GetConflicts(scopes.GetConflictsParams{}).Refused(stick.CodeNoRoom)
	ann.Try().Granted(1)
	other := filepath.Join(s.Work, "..", "other")
	s.Commit("both", "a\nb\nc\nd\ne\n")
	s.Git("worktree", "add", "-q", "-b", "side", other)
	s.CommitIn(other, "README", "two\n")
	s.CommitIn(other, "both", "A\nb\nc\nd\ne\n")
	s.File("README", "three\n")
	s.File("both", "a\nb\nc\nd\nE\n")
	x := ann.GetConflicts(scopes.GetConflictsParams{}).OK()
	var got []string
	for _, c := range x.Conflicts {
		got = append(got, c.Kind+" "+c.Path)
	}
	s.Check(
		slices.Equal(got, []string{"conflict README", "both_changed both"}) &&
			len(x.Sides) == 2 &&
			x.Sides[0].Agent == ann.ID,
		"%+v", x,
	)
	ann.GetConflicts(scopes.GetConflictsParams{Where: s.ByID()}).OK()

	plain := s.Dir("plain")
	cyd := s.AgentIn("gemini:c", plain)
	cyd.Join().OK()
	cyd.GetConflicts(scopes.GetConflictsParams{}).Refused(stick.CodeNoRepository)
}

// TestReserve_PatternWithoutRight: a pattern whose first name has a wildcard is reserved, and lets nobody edit.
// Whether a file matches it has no part in that. The answer says so, where other reservations give that
// right.
func TestReserve_PatternWithoutRight(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	pat.Sets("enforce=scopes").OK()
	for _, there := range []string{"new.txt", "src/new.txt", "old.txt"} {
		s.File(there, "there")
	}
	warns := func(r scopes.ReservePathsResult) bool {
		return strings.HasPrefix(string(r.Warning), "new* could match anywhere, so it gives no right to edit")
	}
	bob.Reserve("docs", "new*").That("that it gives no right", warns)
	bob.Edits(nil, "new.txt").Denied("new.txt")
	bob.Edits(nil, "newer.txt").Denied("newer.txt")
	bob.Reserve("src/new*").That("no warning", func(r scopes.ReservePathsResult) bool { return r.Warning == "" })
	bob.Edits(nil, "src/newer.txt").Allowed()
	pat.Sets("enforce=stick").OK()
	bob.Reserve("old*").That("no warning where no reservation gives a right",
		func(r scopes.ReservePathsResult) bool { return r.Warning == "" })
}
