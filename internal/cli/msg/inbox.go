package msg

import (
	"context"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/events"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// inboxFlags select messages of an inbox.
type inboxFlags struct {
	from string
	p    engine.GetInboxParams
}

func (i *inboxFlags) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.SetNormalizeFunc(app.OtherWords)
	f.StringVar(&i.p.State, "state", "", "unread, read, acked or all (default: what still waits for you)")
	f.StringVar(&i.p.TaskID, "task", "", "only about this task (also --bead)")
	f.StringVar(&i.p.Thread, "thread", "", "only in this conversation")
	f.Int64Var(&i.p.After, "after", 0, "only messages after this number")
	f.IntVar(&i.p.Limit, "limit", 50, "list at most this many messages (up to 500)")
}

// InboxCmd makes tt inbox.
func InboxCmd(a *app.Run) *cobra.Command {
	var i inboxFlags
	c := &cobra.Command{
		Use: "inbox [path]", Short: "List your messages", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "List the messages that you haven't read, and those that wait for you to accept them. " +
			"Listing changes nothing: tt msg read\n" +
			"marks messages as read, and tt ack accepts them. " +
			"An answer has at most 16 KB, and says how to get the rest.",
	}

	i.addFlags(c)
	c.Flags().StringVar(&i.from, "from", "", "only from this agent")
	c.Flags().BoolVar(&i.p.Sent, "sent", false,
		"list the messages that you sent, and their state; --from then names their recipient")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		i.p.Where, i.p.From = w, stick.AgentID(i.from)
		return showInbox(c.Context(), a, i.p)
	}

	return c
}

func showInbox(ctx context.Context, a *app.Run, params engine.GetInboxParams) error {
	return app.Show(a, func(e app.Operations, by core.Caller) (engine.GetInboxResult, error) {
		params.Caller = by
		return e.GetInbox(ctx, params)
	}, func(p *term.Page, res engine.GetInboxResult) {
		if !params.Sent {
			p.Linef("%d unread, %d to accept", res.Unread, res.Unacked)
		}
		if res.More && params.After == 0 {
			p.Linef("%s", p.Faint("older ones are hidden: --after 1 begins with the oldest"))
		}

		for _, m := range res.Messages {
			if params.Sent {
				events.MessageText(p, m.MessageView, stick.Wordsf("%s: %s", m.Recipient, m.State), false, false)
			} else {
				events.MessageText(p, m.MessageView, stick.Words(m.State), true, isReceiptOpen(m.State))
			}
		}

		if len(res.Messages) == 0 {
			p.Linef("no messages")
		}
		if res.More && params.After > 0 {
			p.Linef("%s", p.Faint(term.Wordsf("there are more: --after %d", res.Cursor)))
		}
	})
}

// isReceiptOpen reports whether a receipt is open: the message is unread, or read and not accepted.
func isReceiptOpen(s stick.ReceiptState) bool { return s == stick.Unread || s == stick.Read }
