package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// inboxFlags select messages of an inbox.
type inboxFlags struct {
	from string
	p    engine.GetInboxParams
}

func (i *inboxFlags) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.SetNormalizeFunc(otherWords)
	f.StringVar(&i.p.State, "state", "", "unread, read, acked or all (default: what still waits for you)")
	f.StringVar(&i.p.TaskID, "task", "", "only about this task (also --bead)")
	f.StringVar(&i.p.Thread, "thread", "", "only in this conversation")
	f.Int64Var(&i.p.After, "after", 0, "only messages after this number")
	f.IntVar(&i.p.Limit, "limit", 50, "list at most this many messages (up to 500)")
}

func (a *app) inboxCmd() *cobra.Command {
	var i inboxFlags
	c := &cobra.Command{
		Use: "inbox [path]", Short: "List your messages", Args: between(0, 1, "a path"),
		Long: "List the messages that you haven't read, and those that wait for you to accept them. " +
			"Listing changes nothing: tt msg read\n" +
			"marks messages as read, and tt ack accepts them. " +
			"An answer has at most 16 KB, and says how to get the rest.",
	}

	i.addFlags(c)
	c.Flags().StringVar(&i.from, "from", "", "only from this agent")
	c.Flags().BoolVar(&i.p.Sent, "sent", false,
		"list the messages that you sent, and their state; --from then names their recipient")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.whereOf(args, 0)
		if err != nil {
			return err
		}

		i.p.Where, i.p.From = w, stick.AgentID(i.from)
		return a.showInbox(c.Context(), i.p)
	}

	return c
}

func (a *app) showInbox(ctx context.Context, params engine.GetInboxParams) error {
	return show(a, func(e operations, by core.Caller) (engine.GetInboxResult, error) {
		params.Caller = by
		return e.GetInbox(ctx, params)
	}, func(p *page, res engine.GetInboxResult) {
		if !params.Sent {
			p.linef("%d unread, %d to accept", res.Unread, res.Unacked)
		}
		if res.More && params.After == 0 {
			p.linef("%s", p.faint("older ones are hidden: --after 1 begins with the oldest"))
		}

		for _, m := range res.Messages {
			if params.Sent {
				p.messageText(m.MessageView, stick.Wordsf("%s: %s", m.Recipient, m.State), false, false)
			} else {
				p.messageText(m.MessageView, stick.Words(m.State), true, isReceiptOpen(m.State))
			}
		}

		if len(res.Messages) == 0 {
			p.linef("no messages")
		}
		if res.More && params.After > 0 {
			p.linef("%s", p.faint(showf("there are more: --after %d", res.Cursor)))
		}
	})
}

// showMessage shows a message to its recipient.
func (p *page) showMessage(m engine.MessageView, state stick.Words) {
	p.messageText(m, state, true, true)
}

// isReceiptOpen reports whether a receipt is open: the message is unread, or read and not accepted.
func isReceiptOpen(s stick.ReceiptState) bool { return s == stick.Unread || s == stick.Read }

// messageText shows a message with its body. With mine, the words address the reader as its recipient; with
// open, they say how to accept it. Lines from agents are indented, so that no body can look like a line of
// ours.
func (p *page) messageText(m engine.MessageView, state stick.Words, mine, open bool) {
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

	line += ", " + p.ago(m.CreatedAt)

	// A pass reads as "passed to you" to its recipient, and as "passed on" to all others.
	what := messageLabel(m.Message)
	if m.Category == stick.Handover && !mine {
		what = "passed on"
	}

	var urgent stick.Words
	if m.Urgent(m.CreatedAt, p.now) && open {
		urgent = "urgent: read it now"
	}

	// Parts that are empty leave no comma behind.
	for _, s := range []stick.Words{state, what, urgent} {
		if s != "" {
			line += ", " + s
		}
	}

	if m.RequiresAck && open {
		line += stick.Wordsf(" (%s)", stick.Cmd("tt ack <message_id>", m.MessageID).As(p.as))
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

	p.linef("%s", line)
	p.text("  ", m.Body)
	for _, f := range m.Says() {
		p.showBody(stick.Words(f.Name), *f.Value(&m.Contract))
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
