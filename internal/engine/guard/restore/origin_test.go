package restore_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/rescue"
	"talkingstick/internal/scene"
)

// originsOf are what the list says of the rescues, the newest first.
func originsOf(a *scene.Actor) (said []string) {
	for _, m := range a.ListRescues(restore.ListRescuesParams{}).OK().Rescues {
		said = append(said, string(m.Origin()))
	}
	return said
}

// originOf is what one rescue says of itself.
func originOf(a *scene.Actor, id string) string {
	return string(a.ShowRescue(restore.ShowRescueParams{ID: id}).OK().Origin())
}

// TestListRescues_origin: one snapshot serves as the state after a call and before the next. The list names the
// call that took work of which it is the copy; any other says truly on which side of its call it is.
func TestListRescues_origin(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	who := string(ann.ID)
	s.Joins(ann, bob)
	s.Commit("a.go", "a")

	bob.Executes("echo by bob > a.go; echo notes > notes.txt", nil)
	s.Later(time.Second)
	ann.Executes("git reset --hard", nil)
	reset := lastCall(ann)
	want := "before " + who + ` ran "git reset --hard", which took a.go`
	s.Check(slices.Equal(originsOf(pat), []string{want}), "%q", originsOf(pat))
	s.Check(originOf(pat, reset.Before) == want, "%s", originOf(pat, reset.Before))
	s.Check(originOf(pat, reset.After) == "after "+who+` ran "git reset --hard"`, "%s", originOf(pat, reset.After))

	// The state after one loss is that before the next: the newer loss is what it is a copy of.
	s.Later(time.Second)
	ann.Executes("rm notes.txt", nil)
	list := []string{"before " + who + ` ran "rm notes.txt", which took notes.txt`, want}
	s.Check(slices.Equal(originsOf(pat), list), "%q", originsOf(pat))
	said := strings.Join(ann.LearnsAfterTool(), "\n")
	s.Check(strings.Contains(said, `ran "rm notes.txt", which took notes.txt, work of `+string(bob.ID)+
		`; a copy was kept before: tt rescue show `+lastCall(ann).Before), "%s", said)

	// What an undo finds is the state after the call before it, and what it leaves comes after the undo.
	pat.UndoCall(restore.UndoCallParams{ID: reset.ID}).OK()
	undo := pat.ListCalls(restore.ListCallsParams{Limit: 1}).OK().Calls[0]
	s.Check(originOf(pat, undo.Before) == "after "+who+` ran "rm notes.txt"`, "%s", originOf(pat, undo.Before))
	s.Check(originOf(pat, undo.After) == "after "+string(pat.ID)+` ran "`+undo.Command+`"`, "%s", originOf(pat, undo.After))
}

// TestManifest_Origin: a snapshot of an older program doesn't know on which side of its call it is.
func TestManifest_Origin(t *testing.T) {
	for want, m := range map[string]rescue.Manifest{
		`when codex:b ran "make all"`:   {Facts: rescue.Facts{Cause: rescue.CauseCall}},
		`before codex:b ran "make all"`: {Facts: rescue.Facts{Cause: rescue.CauseCall, Moment: rescue.MomentBefore}},
		`after codex:b ran "make all"`:  {Facts: rescue.Facts{Cause: rescue.CauseCall, Moment: rescue.MomentAfter}},
		`before claude:a ran "rm -r ."`: {
			Facts: rescue.Facts{Cause: rescue.CauseCall, Moment: rescue.MomentAfter},
			Loss:  &rescue.Loss{Agent: "claude:a", Command: "rm -r ."},
		},
	} {
		m.Agent, m.Command = "codex:b", "make all"
		if got := string(m.Origin()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
