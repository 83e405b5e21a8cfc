package engine_test

import (
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestPause_StopsRoom: while a room is paused nobody is granted the stick and no agent edits; with its end
// the one who waits is named.
func TestPause_StopsRoom(t *testing.T) {
	s := scene.New(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	s.Joins(ann, bob, pat)
	ann.Try().Granted(1)
	ann.PauseRoom(engine.PauseRoomParams{Reason: "mine"}).Refused(stick.CodePersonOnly)
	pat.PauseRoom(engine.PauseRoomParams{}).Refused(stick.CodeUsage)

	pat.PauseRoom(engine.PauseRoomParams{Reason: "a demo"}).OK()
	pat.PauseRoom(engine.PauseRoomParams{Reason: "a demo"}).That("already",
		func(r engine.PauseRoomResult) bool { return r.Already })
	x := ann.MayIEdit("a.go").OK()
	s.Check(x.Told != "" && strings.Contains(string(x.Told), "paused the room"), "the holder is told %+v", x)
	ann.Release("s", "n").OK()
	bob.Try().Is(stick.InPause)
	bob.ResumeRoom(engine.ResumeRoomParams{}).Refused(stick.CodePersonOnly)

	pat.ResumeRoom(engine.ResumeRoomParams{}).OK()
	pat.ResumeRoom(engine.ResumeRoomParams{}).That("already", func(r engine.ResumeRoomResult) bool { return r.Already })
	bob.Try().Granted(2)
}

// TestPersonByAnAssumedName: a person who acts by the name of an agent has no more rights than that agent.
func TestPersonByAnAssumedName(t *testing.T) {
	s := scene.New(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	helper := pat.As("helper:one")
	s.Joins(ann, pat, helper)
	ann.Sets("enforce=stick").OK()
	ann.Try().Granted(1)

	helper.PauseRoom(engine.PauseRoomParams{Reason: "mine"}).Refused(stick.CodePersonOnly)
	helper.TakeNotices(engine.TakeNoticesParams{Keys: []string{"review/ui-7"}}).Refused(stick.CodePersonOnly)
	helper.MayIEdit("a.go").That("not to edit", func(r guard.MayEditResult) bool { return !r.Allowed })

	pat.MayIEdit("a.go").That("to edit", func(r guard.MayEditResult) bool { return r.Allowed })
	pat.TakeNotices(engine.TakeNoticesParams{Keys: []string{"review/ui-7"}}).OK()
	pat.PauseRoom(engine.PauseRoomParams{Reason: "mine"}).OK()
}
