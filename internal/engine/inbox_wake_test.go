package engine_test

import (
	"io"
	"net"
	"testing"
	"time"

	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// idleWithInbox plays a room with an idle agent whose harness has an inbox, and another member.
func idleWithInbox(t *testing.T) (s *scene.Scene, agent, sender *scene.Actor, inbox *scene.Inbox) {
	s = scene.New(t)
	agent, sender = s.Agent("claude:agent"), s.Agent("claude:sender")
	inbox = agent.HasInbox()
	s.Joins(agent, sender)
	agent.Works()
	agent.Idle()
	s.Check(inbox.WrittenDown(), "the inbox isn't written down")
	return s, agent, sender, inbox
}

// TestWokenByItsInbox: whoever commits wakes an idle agent, once for each event, and no process waits for
// that.
func TestWokenByItsInbox(t *testing.T) {
	s, agent, sender, inbox := idleWithInbox(t)
	sender.Send(agent, "first").Reaches(agent, presence.DeliveryListening)
	inbox.Gets("first")
	if shown, _ := agent.Works(); len(shown) != 0 {
		t.Errorf("a hook shows it again: %q", shown)
	}

	sender.Send(agent, "while it works").Reaches(agent, presence.DeliveryNextTool)
	inbox.GetsNothing()
	agent.Idle()
	inbox.Gets("while it works") // no tool call came between
	sender.Tell("to all").OK()
	inbox.Gets("to all")
	inbox.GetsNothing()
	agent.Ends().OK()
	s.Check(!inbox.WrittenDown(), "the inbox is written down after the session")
}

// TestInboxThatTakesNothing: a message to an agent whose inbox can't be written to is told as before, and the
// command that sent it succeeds within its time.
func TestInboxThatTakesNothing(t *testing.T) {
	ends := func(i *scene.Inbox) { i.Closes() }
	for _, c := range []struct {
		name string
		to   func(s *scene.Scene, agent *scene.Actor, inbox *scene.Inbox)
		by   presence.Delivery
	}{
		{
			"its socket is closed",
			func(_ *scene.Scene, _ *scene.Actor, i *scene.Inbox) { ends(i) },
			presence.DeliveryNextPrompt,
		},
		{"another process listens there", func(s *scene.Scene, _ *scene.Actor, i *scene.Inbox) {
			ends(i)
			i.Serves(1, func(c net.Conn) {
				if b, _ := io.ReadAll(c); len(b) > 0 {
					t.Errorf("a stranger was told %q", b)
				}
			})
		}, presence.DeliveryNextPrompt},
		{"its process is gone", func(_ *scene.Scene, a *scene.Actor, _ *scene.Inbox) { a.Dies() }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, agent, sender, inbox := idleWithInbox(t)
			c.to(s, agent, inbox)
			if c.by == "" {
				sender.Send(agent, "hello").Refused(stick.CodeNoRecipient)
				s.Check(!inbox.WrittenDown(), "the inbox of a process that is gone is written down")
				return
			}

			sender.Send(agent, "hello").Reaches(agent, c.by)
			inbox.GetsNothing()
			if shown, _ := agent.Works(); len(shown) != 1 {
				t.Errorf("a hook shows %q", shown)
			}
		})
	}
}

// TestInboxThatHangs: a harness that reads nothing delays nobody. What the operating system has taken for it
// counts as shown.
func TestInboxThatHangs(t *testing.T) {
	_, agent, sender, inbox := idleWithInbox(t)
	inbox.Closes()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	inbox.Serves(agent.PID(), func(c net.Conn) { <-over; c.Close() })
	sender.Send(agent, "hello").Reaches(agent, presence.DeliveryListening)
	if shown, _ := agent.Works(); len(shown) != 0 {
		t.Errorf("a hook shows %q", shown)
	}
}

// TestInboxThatRefuses: a harness that hangs up on whoever writes, as on a wrong token, fails no command. The
// recipient still owes reading.
func TestInboxThatRefuses(t *testing.T) {
	s, agent, sender, inbox := idleWithInbox(t)
	inbox.Closes()
	inbox.Serves(agent.PID(), func(c net.Conn) { c.Close() })
	sender.Send(agent, "hello").OK()
	inbox.GetsNothing()
	s.Check(len(agent.Inbox().Messages) == 1, "nothing is left to read")
}

// TestInboxWake_OnlyOneWay: an agent that listens by itself, or by its harness's wait, isn't told by its inbox as
// well.
func TestInboxWake_OnlyOneWay(t *testing.T) {
	_, agent, sender, inbox := idleWithInbox(t)
	w := agent.Parks()
	sender.Send(agent, "to its wait").Reaches(agent, presence.DeliveryListening)
	w.Ends().Brings("to its wait")
	inbox.GetsNothing()
	w = agent.WaitForWake() // nobody else waits in the room
	sender.Send(agent, "to its harness's wait").Reaches(agent, presence.DeliveryListening)
	w.Ends().Brings("to its harness's wait")
	inbox.GetsNothing()
}

// TestInboxWake_SecondWaitRefused: the harness's wait isn't needed where another process waits in the room. That one
// tells what is due by time, and what a command that was killed couldn't tell.
func TestInboxWake_SecondWaitRefused(t *testing.T) {
	s, agent, sender, inbox := idleWithInbox(t)
	other := s.Agent("codex:other")
	other.Try().Granted(1)
	sender.Waits()
	agent.WaitForWake().Ends().Brings()

	if !other.Killed("before wake", 1, func(a *scene.Actor) { a.Send(agent, "from one that is killed").OK() }) {
		t.Fatal("nothing is woken after the commit")
	}
	inbox.Gets("from one that is killed")
	inbox.GetsNothing()
}

// TestAnotherAttends: when the wait ends that tells others, another wait of the room does it.
func TestAnotherAttends(t *testing.T) {
	s, agent, sender, inbox := idleWithInbox(t)
	first, second := s.Agent("codex:first").Parks(), s.Agent("codex:second").Parks()
	if !sender.Killed("before wake", 1, func(a *scene.Actor) { a.Send(agent, "to the first").OK() }) {
		t.Fatal("nothing is woken after the commit")
	}

	inbox.Gets("to the first")
	agent.Works()
	agent.Idle()
	first.Interrupted()
	if !sender.Killed("before wake", 1, func(a *scene.Actor) { a.Send(agent, "to the second").OK() }) {
		t.Fatal("nothing is woken after the commit")
	}

	inbox.Gets("to the second")
	inbox.GetsNothing()
	second.Interrupted()
}

// TestInboxAtItsTime: messages between two idle agents that come too soon after each other are told at their
// time, by a process that waits. Where none does, the sender isn't promised a time.
func TestInboxAtItsTime(t *testing.T) {
	s, agent, sender, inbox := idleWithInbox(t)
	for range 2 {
		sender.Send(agent, "again").Reaches(agent, presence.DeliveryListening)
		inbox.Gets("again")
		agent.Works()
		agent.Send(sender, "and again").OK()
		sender.Works()
		agent.Idle()
	}

	sender.Send(agent, "too soon").Reaches(agent, presence.DeliveryNextPrompt)
	inbox.GetsNothing()
	w := s.Agent("codex:other").Parks()
	sender.Send(agent, "too soon, too").Reaches(agent, presence.DeliveryDelayed)
	s.Later(time.Hour)
	s.Rings(func() { sender.Note("so that the wait looks") })
	inbox.Gets("too soon", "too soon, too")
	w.Interrupted()
}

// TestInboxWake_TwoSendersAtOnce: of several that commit at the same moment, one tells an agent each event.
func TestInboxWake_TwoSendersAtOnce(t *testing.T) {
	s, agent, sender, inbox := idleWithInbox(t)
	other := s.Agent("claude:other")
	other.Works()
	sender.Meets("before inbox", func() { other.Send(agent, "second").OK() }, func(a *scene.Actor) {
		a.Send(agent, "first").OK()
	})
	inbox.Gets("first")
	inbox.Gets("second")
	inbox.GetsNothing()
	if shown, _ := agent.Works(); len(shown) != 0 {
		t.Errorf("a hook shows %q again", shown)
	}
}

// TestKilledAfterTheInbox: a process that is killed before it has recorded that it told an agent leaves it to
// a hook to tell it again.
func TestKilledAfterTheInbox(t *testing.T) {
	_, agent, sender, inbox := idleWithInbox(t)
	if !sender.Killed("before inbox", 1, func(a *scene.Actor) { a.Send(agent, "hello").OK() }) {
		t.Fatal("nothing is woken after the commit")
	}

	inbox.GetsNothing()
	if shown, _ := agent.Works(); len(shown) != 1 {
		t.Errorf("a hook shows %q", shown)
	}
}

// TestJustStarted: an agent whose session has started and had no prompt is idle.
func TestJustStarted(t *testing.T) {
	s := scene.New(t)
	agent, sender := s.Agent("claude:agent"), s.Agent("claude:sender")
	inbox := agent.HasInbox()
	s.Joins(sender)
	agent.StartsByHook("startup").OK()
	sender.Send(agent, "begin").Reaches(agent, presence.DeliveryListening)
	inbox.Gets("begin")
}
