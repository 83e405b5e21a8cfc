package events

import (
	"strings"

	"talkingstick/internal/engine"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// showMessage shows a message to its recipient.
func showMessage(p *term.Page, m engine.MessageView, state stick.Words) {
	MessageText(p, m, state, true, true)
}

// MessageText shows a message with its body. With mine, the words address the reader as its recipient; with
// open, they say how to accept it. Lines from agents are indented, so that no body can look like a line of
// ours.
func MessageText(p *term.Page, m engine.MessageView, state stick.Words, mine, open bool) {
	line := stick.Wordsf("message %d from %s", m.MessageID, m.From)
	if m.Event != "" {
		line = stick.Wordsf("event %d by %s", m.MessageID, m.From)
	}

	switch {
	case len(m.To) == 1 && m.To[0] == stick.ToRoom:
		line += " to all"
	case len(m.To) > 1:
		line += stick.Wordsf(" to %d members", len(m.To))
	}

	line += ", " + p.Ago(m.CreatedAt)

	// A pass reads as "passed to you" to its recipient, and as "passed on" to all others.
	what := messageLabel(m.Message)
	if m.Category == stick.Handover && !mine {
		what = "passed on"
	}

	var urgent stick.Words
	if m.Urgent(m.CreatedAt, p.Now) && open {
		urgent = "urgent: read it now"
	}

	// Parts that are empty leave no comma behind.
	for _, s := range []stick.Words{state, what, urgent} {
		if s != "" {
			line += ", " + s
		}
	}

	if m.RequiresAck && open {
		line += stick.Wordsf(" (%s)", stick.Cmd("tt ack <message_id>", m.MessageID).As(p.As))
	}
	if m.TaskID != "" {
		line += stick.Wordsf(", task %s", stick.Name(m.TaskID).Cut(60))
	}
	if m.ReplyTo != 0 {
		line += stick.Wordsf(", replies to %d", m.ReplyTo)
	}
	if m.Subject != "" {
		line += ": " + stick.Quote(m.Subject, stick.MaxSubject)
	}

	p.Linef("%s", line)
	p.ShowText("  ", m.Body)
	for _, f := range m.Says() {
		p.ShowBody(stick.Words(f.Name), *f.Value(&m.Contract))
	}
}

// messageLabel names the kind of a message in the words of the screens for people. It is empty for an
// ordinary message.
func messageLabel(m stick.Message) stick.Words {
	switch m.Category {
	case stick.Handover:
		return "passed to you"
	case stick.Blocked:
		return "needs input"
	case stick.Resume, stick.Incursion:
		return categoryWord(m)
	}
	return ""
}

// categoryWord is the category of a message, as a word.
func categoryWord(m stick.Message) stick.Words {
	return stick.Words(strings.ToLower(string(m.Category)))
}

// showTold shows an event to the member that it is for, and a message with its body.
func showTold(p *term.Page, e stick.Event) {
	started, ok := stick.PayloadOf[stick.SessionStartedPayload](e)
	switch {
	case e.Message() != nil:
		showMessage(p, engine.ViewMessage(e), "")
	case ok && started.AlongWith != "":
		// Only the agent itself is told of its start.
		p.Linef("event %d: you are the primary here, because you came before %s: %s",
			e.Seq, started.AlongWith, p.Next(stick.Cmd("tt session role")))
	default:
		p.Linef("event %d: %s", e.Seq, e.Tell())
	}
}

// ShowDelivered prints the events in a wait's answer, messages with their bodies.
func ShowDelivered(p *term.Page, res engine.WaitForTurnResult, again stick.Command) {
	for _, e := range res.Events {
		showTold(p, e)
	}
	if res.More {
		p.Linef("there are more: run %s again", p.Next(again))
	}
}
