package roster_test

import (
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// doing is what the state of the room says that an agent does.
func doing(a *scene.Actor, of *scene.Actor) presence.Activity {
	a.Helper()
	for _, m := range a.State().Members {
		if m.AgentID == of.ID && m.Activity != nil {
			return *m.Activity
		}
	}
	return presence.Activity{}
}

// TestStateSaysWhatAgentsDo plays the hooks of a session, and reads what the state of the room makes of them.
func TestStateSaysWhatAgentsDo(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	expect := func(what string, want presence.AgentState, since stick.Time) presence.Activity {
		t.Helper()
		got := doing(bob, ann)
		if got.State != want || got.Since != since {
			t.Fatalf("%s: %s since %d, want %s since %d", what, got.State, got.Since, want, since)
		}
		return got
	}
	expect("no hook has fired", presence.AgentUnknown, s.Now())
	ann.StartsByHook("startup").OK()
	started := s.Now()
	s.Later(time.Second)
	expect("its session has started", presence.AgentIdle, started)
	ann.Works()
	prompt := s.Now()
	s.Later(time.Minute)
	expect("it has a prompt", presence.AgentWorks, prompt)

	q := core.HookParams{Caller: ann.By, Where: ann.Hook().Where, Tool: "Edit", File: s.File("cart.go", "package shop\n")}
	res := ann.ReadNews(q).OK()
	if err := ann.Engine.RecordShownByHook(t.Context(), q, res); err != nil {
		t.Fatal(err)
	}
	if got := expect("it has edited a file", presence.AgentWorks, prompt); got.Tool != "Edit" || got.File != "cart.go" {
		t.Errorf("its last call is %s of %s", got.Tool, got.File)
	}
	s.Later(time.Second)
	if err := ann.Engine.Roster.AskedPerson(t.Context(), ann.Hook()); err != nil {
		t.Fatal(err)
	}
	asked := s.Now()
	s.Later(time.Minute)
	expect("it asks for a permission", presence.AgentAsks, asked)
	ann.Works()
	s.Later(time.Second)
	expect("it has got it", presence.AgentWorks, prompt)
	s.Later(presence.SilentAfter)
	if got := doing(bob, ann); got.State != presence.AgentIdle || !got.Silent {
		t.Errorf("it was interrupted, and is %+v", got)
	}
	ann.Works()
	expect("it goes on", presence.AgentWorks, s.Now())
	ann.Idle()
	stopped := s.Now()
	s.Later(time.Second)
	expect("it has stopped", presence.AgentIdle, stopped)
	ann.Dies()
	if got := doing(bob, ann); got.State != presence.AgentGone {
		t.Errorf("its process has ended, and it is %s", got.State)
	}
}

// TestStateSaysWhatMembersOwe: the sender of a message isn't the only one who sees that its answer is still
// missing.
func TestStateSaysWhatMembersOwe(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	id := ann.SendMessage(engine.SendMessageParams{To: []stick.AgentID{bob.ID}, Body: "the tests are red", Category: string(stick.Blocked)}).OK().MessageID
	owes := func() (n int) {
		for _, m := range ann.State().Members {
			n += m.Owes
		}
		return n
	}
	s.Check(owes() == 1, "%d messages are owed", owes())
	bob.AckMessage(engine.MessagesParams{MessageIDs: []int64{id}}).OK()
	s.Check(owes() == 0, "%d messages are owed after the answer", owes())
}
