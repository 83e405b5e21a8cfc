package engine_test

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestWakeWaitsForTheEndOfWork: a harness starts both of its stop hooks at once. An event that came while the
// agent worked wakes it, even if the wait began before the agent was idle.
func TestWakeWaitsForTheEndOfWork(t *testing.T) {
	s := scene.New(t)
	agent, sender := s.Agent("claude:agent"), s.Agent("claude:sender")
	s.Joins(agent, sender)
	agent.Works()
	sender.Tell("for later").OK()
	w := agent.WaitForWake()
	s.Rings(agent.Idle) // so that the test doesn't wait for the slow net
	w.Ends().Brings("for later")
	if shown, _ := agent.Works(); len(shown) != 0 {
		t.Errorf("a hook shows it again: %q", shown)
	}
}

// TestOneWakerOfAnAgent: a second wait ends the first, which brings nothing. So one event wakes the agent
// once.
func TestOneWakerOfAnAgent(t *testing.T) {
	s := scene.New(t)
	agent, sender := s.Agent("claude:agent"), s.Agent("claude:sender")
	s.Joins(agent, sender)
	agent.Idle()
	first := agent.WaitForWake()
	second := agent.WaitForWake()
	first.Ends().Brings()
	sender.Tell("hello").OK()
	second.Ends().Brings("hello")
	third := agent.WaitForWake()
	third.GoesOn()
	third.Interrupted().Refused(stick.CodeCanceled)
}

// TestNobodyIsWokenOutside: an agent that is removed from the room isn't woken because of that.
func TestNobodyIsWokenOutside(t *testing.T) {
	s := scene.New(t)
	agent, sender := s.Agent("claude:agent"), s.Agent("claude:sender")
	s.Joins(agent, sender)
	agent.Idle()
	w := agent.WaitForWake()
	sender.KickAnyway(agent).OK()
	w.Ends().Brings()
}

// TestWakeBringsWhatFits: a wake shows at most as much as a hook does. A later hook shows the rest.
func TestWakeBringsWhatFits(t *testing.T) {
	s := scene.New(t)
	agent, sender := s.Agent("claude:agent"), s.Agent("claude:sender")
	s.Joins(agent, sender)
	agent.Works()
	long := strings.Repeat("x", 3000)
	for _, n := range []string{"1", "2", "3"} {
		sender.Tell(n + long).OK()
	}
	agent.Idle()
	x := agent.WaitForWake().Ends().Brings("1"+long, "2"+long)
	s.Check(x.Res.More, "there is no more")
	if shown, more := agent.Works(); !slices.Equal(shown, []string{"3" + long}) || more {
		t.Errorf("the hook then shows %d, and more: %v", len(shown), more)
	}
}

// TestAWaitOfItsOwnTakesTheTurn: an idle agent whose own wait gets the turn in a moment isn't told that the stick is reserved for it,
// neither by a hook nor by its waker.
func TestAWaitOfItsOwnTakesTheTurn(t *testing.T) {
	s := scene.New(t)
	agent, holder := s.Agent("claude:agent"), s.Agent("claude:holder")
	s.Joins(agent, holder)
	holder.Try().Granted(1)
	agent.Idle()
	own, waker := agent.Waits(), agent.WaitForWake()
	holder.Meets("after commit", func() {
		agent.DeliverEvents(agent.Hook()).That("nothing", func(r engine.DeliverEventsResult) bool { return len(r.Events) == 0 })
	}, func(a *scene.Actor) { a.Release("began", "go on").OK() })
	own.Ends().Granted(2)
	waker.GoesOn()
	waker.Interrupted().Refused(stick.CodeCanceled)
}
