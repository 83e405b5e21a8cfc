package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/presence"
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

// TestWake_OneWaker: a second wait ends the first, which brings nothing. So one event wakes the agent
// once.
func TestWake_OneWaker(t *testing.T) {
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

// TestWake_NobodyOutsideRoom: an agent that is removed from the room isn't woken because of that.
func TestWake_NobodyOutsideRoom(t *testing.T) {
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

// TestWake_OwnWaitTakesTurn: an idle agent whose own wait gets the turn in a moment isn't told that the
// stick is reserved for it, neither by a hook nor by its waker.
func TestWake_OwnWaitTakesTurn(t *testing.T) {
	s := scene.New(t)
	agent, holder := s.Agent("claude:agent"), s.Agent("claude:holder")
	s.Joins(agent, holder)
	holder.Try().Granted(1)
	agent.Idle()
	own, waker := agent.Waits(), agent.WaitForWake()
	holder.Meets("after commit", func() {
		agent.ReadNews(agent.Hook()).That("nothing", func(r engine.ReadNewsResult) bool { return len(r.Events) == 0 })
	}, func(a *scene.Actor) { a.Release("began", "go on").OK() })
	own.Ends().Granted(2)
	waker.GoesOn()
	waker.Interrupted().Refused(stick.CodeCanceled)
}

// TestWake_TwoIdleAgents: they wake each other three times at once, then after 5 s, 10 s and so
// on. The sender learns when. A person's message wakes at once, and brings what was held back.
func TestWake_TwoIdleAgents(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:ann"), s.Agent("claude:bob"), s.Person("carl")
	s.Joins(ann, bob, carl)
	ann.Idle()
	bob.Idle()

	from, to := ann, bob
	for _, body := range []string{"1", "2", "3"} {
		w := to.WaitForWake()
		from.Send(to, body).Reaches(to, presence.DeliveryListening)
		w.Ends().Brings(body)
		from, to = to, from
	}

	for _, c := range []struct {
		body string
		wait time.Duration
	}{{"4", 5 * time.Second}, {"5", 10 * time.Second}} {
		w := to.WaitForWake()
		from.Send(to, c.body).Reaches(to, presence.DeliveryDelayed).That("when", func(r engine.SendMessageResult) bool {
			return r.Recipients[0].WakesAt.Sub(s.Now()) == c.wait
		})
		w.GoesOn()
		s.Later(c.wait - time.Millisecond)
		w.GoesOn()
		s.Later(time.Millisecond)
		w.Ends().Brings(c.body)
		from, to = to, from
	}

	w := to.WaitForWake()
	from.Send(to, "6").Reaches(to, presence.DeliveryDelayed)
	w.GoesOn()
	carl.Send(to, "stop it").Reaches(to, presence.DeliveryListening)
	w.Ends().Brings("6", "stop it")
	w = from.WaitForWake()
	to.Send(from, "7").Reaches(from, presence.DeliveryListening)
	w.Ends().Brings("7")
}
