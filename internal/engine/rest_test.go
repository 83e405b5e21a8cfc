package engine_test

import (
	"path/filepath"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// hooked returns two agents of a room in a repository whose hooks fire.
func hooked(t *testing.T) (s *scene.Scene, ann, bob *scene.Actor) {
	s = scene.InGit(t)
	ann, bob = s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Sets("enforce=warn").OK()
	ann.Works()
	bob.Works()
	return s, ann, bob
}

// takesEmptyTurn takes the free stick by a wait, and gives it back without having changed anything.
func takesEmptyTurn(a *scene.Actor, turn int64) {
	a.Helper()
	a.Waits().Ends().Granted(turn)
	a.Release("looked around", "nothing to do").That("the turn changed nothing", func(r engine.ReleaseStickResult) bool {
		return r.Rests
	})
}

func restsSince(s *scene.Scene, a *scene.Actor) stick.Time {
	m, _ := s.Room().Member(a.ID)
	return m.RestsSince
}

// TestAgentsWithoutWork: two agents that wait for the turn and never do anything have one turn each, in ten minutes
// and for ever. Then their waits sleep.
func TestAgentsWithoutWork(t *testing.T) {
	s, ann, bob := hooked(t)
	takesEmptyTurn(ann, 1)
	takesEmptyTurn(bob, 2)

	anns, bobs := ann.Waits(), bob.Waits()
	for range 20 {
		s.Later(30 * time.Second)
		s.Ring()
	}
	anns.GoesOn()
	bobs.GoesOn()
	s.Check(s.Room().Turn.ID == 2, "turn %d has begun", s.Room().Turn.ID)

	// Everybody sees it.
	res := ann.Sees(stick.StateIdle)
	s.Check(res.Members[0].RestsSince != 0 && res.NextAction == "tt try", "the state is %+v", res)
}

// TestRest_ends: whatever gives an agent work ends its rest and wakes its wait, which takes the free stick.
func TestRest_ends(t *testing.T) {
	for _, c := range []struct {
		name string
		ends func(s *scene.Scene, ann, bob *scene.Actor)
	}{
		{"by a message to it", func(_ *scene.Scene, ann, bob *scene.Actor) { bob.Send(ann, "look at f") }},
		{"by a message of its own", func(_ *scene.Scene, ann, bob *scene.Actor) { ann.Send(bob, "look at f") }},
		{"by a prompt", func(s *scene.Scene, ann, _ *scene.Actor) {
			p := ann.Hook()
			p.Prompted = true
			if _, err := ann.Engine.TellNews(ann.Context(), p, func([]stick.Event, bool) error { return nil }); err != nil {
				s.Fatal(err)
			}
		}},
		{"by its edit", func(_ *scene.Scene, ann, _ *scene.Actor) { ann.Executes("echo x > f", nil) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ann, bob := hooked(t)
			takesEmptyTurn(ann, 1)

			wait := ann.Waits()
			wait.GoesOn()
			c.ends(s, ann, bob)
			wait.Ends().Granted(2)
			s.Check(restsSince(s, ann) == 0, "ann rests")
		})
	}

	t.Run("by a handoff that names it", func(t *testing.T) {
		s, ann, bob := hooked(t)
		takesEmptyTurn(ann, 1)
		wait := ann.Waits()
		bob.Try().Granted(2)
		bob.Release("one half is done", string(ann.ID)+" does the other half").NextIs(ann)
		wait.Ends().Granted(3)
		s.Check(restsSince(s, ann) == 0, "ann rests")
	})
	t.Run("by its try", func(t *testing.T) {
		_, ann, _ := hooked(t)
		takesEmptyTurn(ann, 1)
		ann.Try().Granted(2)
	})
	t.Run("not by a command that changes nothing", func(t *testing.T) {
		s, ann, _ := hooked(t)
		s.File("f", "of a person")
		takesEmptyTurn(ann, 1)
		ann.Executes("go version", nil)
		s.Check(restsSince(s, ann) != 0, "ann doesn't rest")
	})
}

// TestRest_needs: who has done anything in its turn, or may have, doesn't rest.
func TestRest_needs(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(s *scene.Scene, ann, bob *scene.Actor)
	}{
		{"no edit", func(_ *scene.Scene, ann, _ *scene.Actor) { ann.Executes("echo x > f", nil) }},
		{"no second edit of a file that has changes", func(_ *scene.Scene, ann, _ *scene.Actor) { ann.Executes("echo y >> left", nil) }},
		{"no commit", func(s *scene.Scene, _, _ *scene.Actor) { s.Commit("g", "x") }},
		{"no commit in a linked worktree", func(s *scene.Scene, ann, _ *scene.Actor) {
			side := filepath.Join(filepath.Dir(s.Work), "side")
			s.Git("worktree", "add", "-q", side, "-b", "side")
			ann.At(side).Executes("git commit -am g", func() { s.CommitIn(side, "g", "x") })
		}},
		{"no message", func(_ *scene.Scene, ann, bob *scene.Actor) { ann.Send(bob, "look at f") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ann, bob := hooked(t)
			s.File("left", "uncommitted")
			bob.Try().Granted(1)
			bob.Release("half done", "the rest")

			ann.Try().Granted(2)
			c.does(s, ann, bob)
			ann.Release("done", "nothing").That("something has changed", func(r engine.ReleaseStickResult) bool { return !r.Rests })
			s.Check(restsSince(s, ann) == 0, "ann rests")
		})
	}

	t.Run("hooks", func(t *testing.T) {
		s := scene.InGit(t)
		ann := s.Agent("claude:a")
		ann.Try().Granted(1)
		ann.Release("looked around", "nothing").That("nobody knows", func(r engine.ReleaseStickResult) bool { return !r.Rests })
	})
	t.Run("the same answer when it asks twice", func(t *testing.T) {
		_, ann, bob := hooked(t)
		ann.Try().Granted(1)
		for range 2 {
			ann.Pass(bob, "looked around", "nothing").That("it rests", func(r engine.PassStickResult) bool { return r.Rests })
		}
	})
}
