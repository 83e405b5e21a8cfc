package engine_test

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestWakeWaitsForTheEndOfWork: a harness starts both of its stop hooks at once. What came while the agent
// worked wakes it also when the wait began before it counted as idle.
func TestWakeWaitsForTheEndOfWork(t *testing.T) {
	s := scene.New(t)
	agent, sender := s.Agent("claude:agent"), s.Agent("claude:sender")
	s.Joins(agent, sender)
	agent.Works()
	sender.Tell("for later").OK()
	w := agent.WaitForWake()
	s.Rings(agent.Idle) // so that it needn't wait for one of the rare looks
	w.Ends().Brings("for later")
	if shown, _ := agent.Works(); len(shown) != 0 {
		t.Errorf("a hook shows it again: %q", shown)
	}
}

// TestOneWakerOfAnAgent: a second wait ends the first, which brings nothing; then one thing wakes once.
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

// TestNobodyIsWokenOutside: who is removed from the room isn't woken to be told.
func TestNobodyIsWokenOutside(t *testing.T) {
	s := scene.New(t)
	agent, sender := s.Agent("claude:agent"), s.Agent("claude:sender")
	s.Joins(agent, sender)
	agent.Idle()
	w := agent.WaitForWake()
	sender.KickAnyway(agent).OK()
	w.Ends().Brings()
}

// TestWakeBringsWhatFits: what an agent is woken with is bounded like all that hooks show; the rest comes
// when it works.
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
