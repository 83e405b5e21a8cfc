package guard_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"talkingstick/internal/engine/guard"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// changesAre expects what an actor is told of the uncommitted files.
func changesAre(t *testing.T, a *scene.Actor, want string) {
	t.Helper()
	if got := a.Changes(); got != want {
		t.Errorf("for %s the changes are\n%s\nwant\n%s", a.Name, got, want)
	}
}

// TestWhoEditedWhat: hooks note who edits a file. Work that was done with the stick is the
// holder's, and passes with it; other work stays its editor's.
func TestWhoEditedWhat(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	changesAre(t, ann, "")
	ann.Edits(func() { s.File("a.go", "a") }, "a.go")
	bob.Edits(func() { s.File("b.go", "b") }, filepath.Join(s.Work, "b.go"))
	s.File("c.go", "c")
	changesAre(t, ann, "a.go own by claude:a; b.go others by codex:b; c.go nobody by ?")
	changesAre(t, bob, "a.go others by claude:a; b.go own by codex:b; c.go nobody by ?")
	changesAre(t, pat, "a.go others by claude:a; b.go others by codex:b; c.go nobody by ?")

	bob.Edits(func() { s.File("a.go", "a, by bob") }, "a.go")
	s.File("b.go", "b, by a person")
	changesAre(t, ann, "a.go others by claude:a codex:b; b.go others by codex:b ?; c.go nobody by ?")
	ann.Release("done", "go on").OK()
	bob.Try().Is(stick.YourTurn)
	bob.Edits(func() { s.File("a.go", "a, by bob again") }, "a.go")
	changesAre(t, ann, "a.go others by claude:a codex:b; b.go others by codex:b ?; c.go nobody by ?")
	only := ann.ListChanges(guard.ListChangesParams{Agent: bob.ID, Limit: 1}).OK()
	s.Check(only.Count == 2 && len(only.Changes) == 1, "%+v", only)

	bob.Dies()
	changesAre(t, ann, "a.go own by claude:a codex:b; b.go passed by codex:b ?; c.go nobody by ?")
}

// TestNoteEdits_SameBytesAgain: who writes by a command what another had written before, and which was taken back,
// has edited the file, too.
func TestNoteEdits_SameBytesAgain(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	s.Commit("a.go", "a")

	ann.Executes("echo more >> a.go", func() { s.File("a.go", "a and more") })
	ann.Executes("git reset --hard", func() { s.Git("reset", "--quiet", "--hard") })
	ann.Dies()
	bob.Try().Is(stick.YourTurn)
	bob.Executes("echo more >> a.go", func() { s.File("a.go", "a and more") })
	changesAre(t, bob, "a.go own by claude:a codex:b")
}

// TestWhatACommandChanged: after a command of which nobody can tell what it changes, a look finds it. It is
// the caller's if no other agent's command ran at the same time.
func TestWhatACommandChanged(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	s.File("before", "somebody's")
	bob.Runs(func() { ann.Runs(nil) })
	changesAre(t, ann, "before nobody by ?")
	ann.Runs(func() { s.File("made", "by ann") })
	changesAre(t, bob, "before nobody by ?; made others by claude:a")
	ann.Runs(func() {
		bob.Runs(func() { s.File("both", "by one of them") })
	})
	changesAre(t, bob, "before nobody by ?; both nobody by ?; made others by claude:a")

	ann.Runs(func() {
		s.Git("add", "made")
		s.Git("commit", "-qm", "made")
	})
	bob.Edits(func() { s.File("made", "changed by bob") }, "made")
	changesAre(t, bob, "before nobody by ?; both nobody by ?; made own by codex:b")
	bob.Runs(func() { s.Git("mv", "made", "moved") })
	changesAre(t, ann, "before nobody by ?; both nobody by ?; made others by codex:b; moved others by codex:b")
	bob.Runs(func() { s.Git("stash", "-q") })
	changesAre(t, ann, "before nobody by ?; both nobody by ?")
	s.Later(time.Hour)
	bob.Runs(func() { s.Git("stash", "pop", "-q", "--index") })
	changesAre(t, ann, "before nobody by ?; both nobody by ?; made others by codex:b; moved others by codex:b")
}

// TestWhatIsNotNoted: nothing is noted where the room enforces nothing, outside of the room's repository, and
// of somebody who isn't a member.
func TestWhatIsNotNoted(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, eve, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("codex:e"), s.Person("pat")
	s.Joins(ann, bob)
	pat.Sets("enforce=off").OK()
	ann.Edits(func() { s.File("a.go", "a") }, "a.go")
	ann.Runs(func() { s.File("b.go", "b") })
	ann.Sets("enforce=scopes").OK()
	eve.Runs(func() { s.File("f.go", "f") })
	outside := filepath.Join(s.Dir("outside"), "x")
	bob.Edits(func() {
		if err := os.WriteFile(outside, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}, outside)
	changesAre(t, bob, "a.go nobody by ?; b.go nobody by ?; f.go nobody by ?")
	ann.At(s.Dir("outside")).ListChanges(guard.ListChangesParams{}).Refused(stick.CodeNoRepository)
}
