package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/rescue"
	"talkingstick/internal/scene"
)

// lateCall is a command whose hooks have too little time.
type lateCall struct {
	by     *scene.Actor
	before func(*rescue.Limits) // what the hook before it has; nil for enough
	after  func(*rescue.Limits)
	late   []restore.LateSnapshot // for another process
}

func noNewFiles(l *rescue.Limits) { l.Status = time.Nanosecond }
func nothing(l *rescue.Limits)    { l.Time = time.Nanosecond }

// plays plays the hooks around a command.
func (l *lateCall) plays(s *scene.Scene, text string, do func()) {
	s.Helper()
	p := guard.CheckEditParams{HookParams: l.by.Hook(), Unread: true, Text: text, Call: text, LookFor: time.Minute}
	p.Tool, p.Late = "Bash", func(x restore.LateSnapshot) { l.late = append(l.late, x) }
	g := l.by.Engine.Guard

	g.Restorer.Limit = l.before
	may := l.by.CheckEdit(p).OK()
	if err := g.EditChecked(s.Context(), p, may); err != nil {
		s.Fatal(err)
	}
	do()
	g.Restorer.Limit = l.after
	l.by.CheckEdited(p)
	g.Restorer.Limit = nil
}

// finishes plays the process that finishes what was late.
func (l *lateCall) finishes(s *scene.Scene) {
	s.Helper()
	if err := l.by.Engine.Guard.FinishSnapshots(s.Context(), l.by.By, l.late); err != nil {
		s.Fatal(err)
	}
}

// TestLateCalls: a command takes another agent's new files, and its hooks had too little time to see that.
// Both are told once, as by a look in time, whoever finishes it.
func TestLateCalls(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after func(*rescue.Limits)
		finishes      int // how many processes do
	}{
		{"in time", nil, nil, 0},
		{"no new files before it", noNewFiles, nil, 1},
		{"nothing before it", nothing, nil, 1},
		{"no new files after it", nil, noNewFiles, 1},
		{"nothing after it", nil, nothing, 1},
		{"nothing at all", nothing, nothing, 1},
		{"no new files at all", noNewFiles, noNewFiles, 1},
		{"two finish it", nothing, nothing, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scene.InGit(t)
			ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
			s.Joins(ann, bob)
			ann.Executes("make", func() { s.File("new/one", "by ann"); s.File("new/two", "by ann") })
			for _, a := range []*scene.Actor{ann, bob} {
				a.LearnsAfterTool()
			}

			wipes := lateCall{by: bob, before: c.before, after: c.after}
			wipes.plays(s, "./wipe", func() { os.RemoveAll(filepath.Join(s.Work, "new")) })
			s.Later(time.Second)
			for range c.finishes {
				wipes.finishes(s)
			}

			want := " ran ./wipe, which took 2 files, first new/one, work of " + string(ann.ID) + "; a copy was kept before: tt rescue show "
			for _, a := range []*scene.Actor{ann, bob} {
				said := a.LearnsAfterTool()
				s.Check(len(said) == 1 && strings.Contains(said[0], want), "%s is told %q", a.ID, said)
			}
		})
	}
}

// TestLateCalls_makes: files that a command has made are its agent's, though its hooks had no time to see them,
// and another agent's command ran until somebody did.
func TestLateCalls_makes(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	makes := lateCall{by: ann, after: noNewFiles}
	makes.plays(s, "./make", func() { s.File("made", "by ann") })
	s.Later(time.Second)
	makes.finishes(s)

	got := bob.Changes()
	s.Check(got == "made others by claude:a", "%s", got)
	for _, a := range []*scene.Actor{ann, bob} {
		said := a.LearnsAfterTool()
		s.Check(len(said) == 0, "%s is told %q", a.ID, said)
	}
}

// TestLateCalls_takesNothing: nobody is told of a late command that takes nothing, nor of what a person takes
// away when it has ended, while another agent works.
func TestLateCalls_takesNothing(t *testing.T) {
	s := scene.InGit(t)
	ann, bob, kim := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:k")
	s.Joins(ann, bob, kim)
	ann.Executes("make", func() { s.File("new", "by ann") })

	lists := lateCall{by: bob, before: nothing, after: nothing}
	lists.plays(s, "./list", func() {})
	s.Later(time.Second)
	kim.Executes("./other", func() { os.Remove(filepath.Join(s.Work, "new")); s.Later(time.Second) })
	for _, a := range []*scene.Actor{ann, bob, kim} {
		a.LearnsAfterTool()
	}

	lists.finishes(s)
	for _, a := range []*scene.Actor{ann, bob, kim} {
		said := a.LearnsAfterTool()
		s.Check(len(said) == 0, "%s is told %q", a.ID, said)
	}
}

// TestLateCalls_processDies: where the process that was to finish a late call has died, the next command
// starts another after a minute.
func TestLateCalls_processDies(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Executes("make", func() { s.File("new", "by ann") })
	wipes := lateCall{by: bob, before: noNewFiles, after: nothing}
	wipes.plays(s, "./wipe", func() { os.Remove(filepath.Join(s.Work, "new")) })

	next := lateCall{by: ann}
	next.plays(s, "ls", func() {})
	s.Check(len(next.late) == 0, "started at once: %v", next.late)
	s.Later(2 * restore.FinishTime)
	next.plays(s, "ls", func() {})
	s.Check(len(next.late) == 1, "started after a minute: %v", next.late)
	ann.LearnsAfterTool()
	next.finishes(s)
	said := ann.LearnsAfterTool()
	s.Check(len(said) == 1 && strings.Contains(said[0], "which took new, work of "), "told %q", said)
}

// TestLateCalls_givenUp: what nobody could find out for ten minutes isn't tried again by each command.
func TestLateCalls_givenUp(t *testing.T) {
	s := scene.InGit(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Executes("make", func() { s.File("new", "by ann") })
	wipes := lateCall{by: bob, before: noNewFiles, after: nothing}
	wipes.plays(s, "./wipe", func() { os.Remove(filepath.Join(s.Work, "new")) })

	s.Later(10 * restore.FinishTime)
	next := lateCall{by: ann}
	next.plays(s, "ls", func() {})
	s.Check(len(next.late) == 0, "started: %v", next.late)
}
