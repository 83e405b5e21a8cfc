package guard_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// sweeps are files that one agent has edited with the stick, and files that another has edited without it.
func sweeps(t *testing.T, enforce string) (s *scene.Scene, ann, bob, pat *scene.Actor) {
	t.Helper()
	s = scene.InGit(t)
	ann, bob, pat = s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob)
	ann.Try().Is(stick.YourTurn)
	ann.Edits(func() { s.File("a.go", "a") }, "a.go")
	bob.Edits(func() { s.File("b.go", "b") }, "b.go")
	s.File("c.go", "nobody's")
	pat.Sets("enforce=" + enforce).OK()
	return s, ann, bob, pat
}

// TestSweeps: a commit that takes along what a live agent has edited without the stick is refused, even to
// the holder of the stick. What nobody noted, what passes with the stick, and what its editor commits is not.
func TestSweeps(t *testing.T) {
	for _, enforce := range []string{"stick", "scopes"} {
		t.Run(enforce, func(t *testing.T) {
			s, ann, bob, pat := sweeps(t, enforce)
			ann.Commits("a.go", "c.go").Allowed()
			x := ann.Commits("a.go", "b.go", "c.go").Denied("b.go").Res
			s.Check(strings.Contains(string(x.Reason), "what "+string(bob.ID)+" has edited: b.go") && strings.Contains(string(x.Hint), "-- a.go c.go"), "%s; %s", x.Reason, x.Hint)
			ann.Commits("b.go").Denied("b.go")
			bob.Commits("a.go", "b.go").Denied("a.go") // the holder's
			bob.Commits("b.go").Allowed()              // whether it may edit it is another question
			pat.Commits("a.go", "b.go").Allowed()
			bob.Dies()
			ann.Commits("a.go", "b.go").Allowed()
		})
	}
}

// TestSweepsAreTold: where the room only warns, a commit is told of, and allowed; where it enforces nothing,
// nobody hears of it.
func TestSweepsAreTold(t *testing.T) {
	s, ann, bob, pat := sweeps(t, "warn")
	x := ann.Commits("a.go", "b.go").Allowed().Res
	s.Check(strings.Contains(string(x.Told), "what "+string(bob.ID)+" has edited: b.go"), "%+v", x)
	pat.Sets("enforce=off").OK()
	s.Check(ann.Commits("a.go", "b.go").Allowed().Res.Told == "", "it enforces nothing")
	pat.Sets("enforce=stick").OK()
	bob.Leave().OK()
	ann.Commits("a.go", "b.go").Denied("b.go")
}

// TestSweepsOfMovedFiles: a file that was moved is still its editor's.
func TestSweepsOfMovedFiles(t *testing.T) {
	s, ann, _, _ := sweeps(t, "stick")
	s.Git("add", "b.go")
	s.Git("mv", "b.go", "moved.go")
	ann.Commits("moved.go", "a.go").Denied("moved.go")
	ann.Commits("a.go", "c.go").Allowed()
}

// TestSweepsAfterACommit: what was committed after its editor's last edit isn't its editor's any more, though
// no hook has seen the commit.
func TestSweepsAfterACommit(t *testing.T) {
	s, ann, bob, pat := sweeps(t, "warn")
	s.Git("add", "b.go")
	s.Later(time.Hour)
	c := exec.Command("git", "-C", s.Work, "commit", "-qm", "a person's")
	c.Env = append(os.Environ(), fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", s.Now()/1000))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ann.Edits(func() { s.File("b.go", "b, by ann") }, "b.go")
	s.Check(ann.Commits("b.go").Allowed().Res.Told == "", "it is committed")
	s.Later(time.Hour)
	bob.Edits(func() { s.File("b.go", "b, by bob again") }, "b.go")
	pat.Sets("enforce=stick").OK()
	ann.Commits("b.go").Denied("b.go")
}
