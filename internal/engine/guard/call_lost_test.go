package guard_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/rescue"
	"talkingstick/internal/scene"
	"talkingstick/internal/testenv"
	"talkingstick/stick/edits"
)

// begins plays the hook before a command, and the command, and no hook after it: that was killed, or its
// harness was.
func begins(t *testing.T, a *scene.Actor, command, key string) (p guard.CheckEditParams) {
	t.Helper()
	p = a.CommandParams(command)
	p.Call = key
	res := a.CheckEdit(p).OK()
	if err := a.Engine.Guard.EditChecked(t.Context(), p, res); err != nil {
		t.Fatal(err)
	}
	scene.RunInBash(a.Work, command)
	return p
}

// TestLostCalls: a call whose end no hook has seen ends before the next one, if it is sure to be over. What
// it has changed is its agent's, what it has taken of others is told, and the next call isn't taken for one
// beside it.
func TestLostCalls(t *testing.T) {
	for name, x := range testenv.NthByName(t, "things that happened to a call", 3, map[string]struct {
		happens func(*testing.T, *scene.Scene, *scene.Actor)
		over    bool
	}{
		"the agent is gone":              {func(_ *testing.T, _ *scene.Scene, ann *scene.Actor) { ann.Dies() }, true},
		"the agent has been idle since":  {func(_ *testing.T, s *scene.Scene, ann *scene.Actor) { s.Later(1e9); ann.Idle() }, true},
		"its conversation has gone on":   {func(t *testing.T, s *scene.Scene, ann *scene.Actor) { goesOn(t, s, ann, 3) }, true},
		"another runs beside it":         {func(t *testing.T, s *scene.Scene, ann *scene.Actor) { goesOn(t, s, ann, 1) }, false},
		"another has ended beside it":    {func(t *testing.T, s *scene.Scene, ann *scene.Actor) { goesOn(t, s, ann, 2) }, false},
		"nothing is known of it":         {func(*testing.T, *scene.Scene, *scene.Actor) {}, false},
		"it has run for more than hours": {func(_ *testing.T, s *scene.Scene, _ *scene.Actor) { s.Later(2 * edits.LongestCall) }, false},
	}) {
		t.Run(name, func(t *testing.T) {
			s := scene.InGit(t)
			ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
			s.Joins(ann, bob)
			s.Commit("a.go", "a")
			bob.Edits(func() { s.File("b.go", "by bob") }, "b.go")
			for _, a := range []*scene.Actor{ann, bob} {
				a.LearnsAfterTool()
			}

			begins(t, ann, "echo x > a.go; echo x > made.go; rm b.go", "one")
			x.happens(t, s, ann)
			s.Later(1e9)
			bob.Executes("echo y > bobs.go", nil)

			var lost, bobs edits.Call
			for _, c := range pat.ListCalls(restore.ListCallsParams{All: true}).OK().Calls {
				switch {
				case strings.HasPrefix(c.Command, "echo x"):
					lost = c
				case c.Agent == bob.ID && strings.HasPrefix(c.Command, "echo y"):
					bobs = c
				}
			}
			s.Check(lost.Ended.IsZero() != x.over && (lost.Files == 3) == x.over, "the lost one: %+v", lost)
			said := strings.Join(bob.LearnsAfterTool(), "; ")
			want := " ran \"echo x > a.go; echo x > made.go; rm b.go\", which took b.go, work of " + string(bob.ID) + "; a copy was kept before: tt rescue show " + lost.Before
			s.Check(strings.Contains(said, want) == x.over, "bob is told %q", said)
			if !x.over {
				return
			}

			isAlone := name != "its conversation has gone on"
			s.Check((bobs.Files == 1) == isAlone && bobs.Overlapped != isAlone, "bob's: %+v", bobs)
			changes := pat.Changes()
			for _, name := range []string{"a.go ", "made.go "} {
				s.Check(strings.Contains(changes, name+"others by claude:a") || strings.Contains(changes, name+"passed by claude:a"), "%s", changes)
			}
			has := func(f rescue.File) bool { return f.Path == "b.go" }
			s.Check(slices.ContainsFunc(pat.ShowRescue(restore.ShowRescueParams{ID: lost.Before}).OK().Entries, has), "there is no copy")
			undone := pat.UndoCall(restore.UndoCallParams{ID: lost.ID}).OK()
			s.Check(len(undone.Left) == 0 && s.Content("b.go") == "by bob" && s.Content("a.go") == "a", "%+v", undone)
		})
	}
}

// goesOn plays more commands of an agent after one: of three, the first two begin beside it, one of them
// ends, and then the third begins.
func goesOn(t *testing.T, s *scene.Scene, a *scene.Actor, commands int) {
	t.Helper()
	s.Later(1e9)
	second := begins(t, a, "echo 2 > "+filepath.Join(t.TempDir(), "x"), "two")
	if commands > 1 {
		s.Later(1e9)
		a.CheckEdited(second)
	}
	if commands > 2 {
		s.Later(1e9)
		begins(t, a, "echo 3 > "+filepath.Join(t.TempDir(), "x"), "three")
	}
}
