// Package msg sends, shows and acknowledges messages, and keeps notes.
package msg

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/events"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// Cmd makes tt msg.
func Cmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "msg", Short: "Send, receive and show messages", Args: app.NoArgs,
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}
	c.AddCommand(msgSendCmd(a), events.RecvCmd(a), msgShowCmd(a), msgReadCmd(a), msgWithdrawCmd(a))
	return c
}

// messageFlags are what a message can have besides its recipients and its body.
type messageFlags struct {
	category, subject, task, thread string
	replyTo                         int64
	requiresAck, stdin, interrupt   bool
	contract                        stick.Contract
	flags                           *pflag.FlagSet
}

func (m *messageFlags) addFlags(c *cobra.Command) {
	f := c.Flags()
	m.flags = f
	f.SetNormalizeFunc(app.OtherWords)
	f.StringVar(&m.category, "category", "", "HANDOFF, BLOCKED, RESUME, INCURSION or INFO (default INFO)")
	f.StringVar(&m.subject, "subject", "", "a short summary")
	f.StringVar(&m.task, "task", "", "the task it is about (also --bead)")
	f.StringVar(&m.thread, "thread", "", "the conversation it belongs to (default: that of --reply-to, or the task)")
	f.Int64Var(&m.replyTo, "reply-to", 0, "the message that you answer; its author also receives yours")
	f.BoolVar(&m.requiresAck, "requires-ack", false,
		"ask for an acknowledgement (also --ack-required; default for HANDOFF and BLOCKED)")
	f.BoolVar(&m.interrupt, "interrupt", false, "ask for attention at once; after a minute it is an ordinary message")
	f.BoolVar(&m.stdin, "stdin", false, "read the body from standard input")
	for _, field := range stick.ContractFields {
		name := strings.ReplaceAll(field.Name, "_", "-")
		f.StringVar(field.Value(&m.contract), name, "", fmt.Sprintf("%s: %s", field.Category, field.Meaning))
	}
}

// sendParams makes the operation's parameters from the flags and the arguments.
func (m *messageFlags) sendParams(
	a *app.Run, to []string, body string, hasBody bool,
) (engine.SendMessageParams, error) {
	p := engine.SendMessageParams{
		Body: body, Category: m.category, Subject: m.subject, TaskID: m.task, Thread: m.thread,
		ReplyTo: m.replyTo, Contract: m.contract,
	}

	// Recipients may be separated by commas, in one argument or several.
	for _, list := range to {
		for _, name := range strings.Split(list, ",") {
			p.To = append(p.To, stick.AgentID(strings.TrimSpace(name)))
		}
	}

	// Only a flag that was given overrides the default.
	if m.flags.Changed("requires-ack") {
		p.RequiresAck = &m.requiresAck
	}
	if m.interrupt {
		p.Hint = stick.Interrupt
	}

	if m.stdin && hasBody {
		return p, stick.Errorf(stick.CodeUsage,
			"give the body on the command line or on standard input, not on both").With("field", "body")
	}

	if m.stdin {
		var err error
		if p.Body, err = app.ReadBody(a.Input(), stick.MaxBody); err != nil {
			return p, err
		}
	}

	return p, nil
}

func msgSendCmd(a *app.Run) *cobra.Command {
	var m messageFlags
	var body string
	c := &cobra.Command{
		Use: "send <recipient>[,…] [body]", Short: "Send a message", Args: recipientAndBody,
		Long: "Send a message to members of the room. " +
			"Name them in full, or by their harness if only one of them runs in it now; room means\n" +
			"all members, and system only the log. If you aren't in the room, you join it. " +
			"A message never moves the stick.",
	}

	m.addFlags(c)
	c.Flags().StringVarP(&body, "body", "m", "", "the body, instead of the second argument")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		hasBody := c.Flags().Changed("body")
		if len(args) > 1 {
			if hasBody {
				return stick.Errorf(stick.CodeUsage,
					"give the body by --body or as an argument, not by both").With("field", "body")
			}

			body, hasBody = args[1], true
		}

		p, err := m.sendParams(a, args[:1], body, hasBody)
		if err != nil {
			return err
		}

		p.Where = path.Where()
		return sendMessage(c.Context(), a, p)
	}

	return c
}

// recipientAndBody checks the arguments of a message.
func recipientAndBody(c *cobra.Command, args []string) error {
	err := app.ArgsBetween(1, 2, "a recipient and a body")(c, args)
	if len(args) > 2 {
		return stick.AsError(err).Hintf("put the body in quotes: %s",
			stick.Cmd("tt msg send <agent> …", stick.Clip(args[0], 60)))
	}
	return err
}

func sendMessage(ctx context.Context, a *app.Run, p engine.SendMessageParams) error {
	return app.Answer(a, func(e app.Operations, by core.Caller) (engine.SendMessageResult, error) {
		p.Caller = by
		return e.SendMessage(ctx, p)
	}, showSent)
}

// deliveries say in words how a message reaches a recipient.
var deliveries = []struct {
	delivery  presence.Delivery
	one, many string
}{
	{presence.DeliveryListening, "%s is woken now", "%s are woken now"},
	{
		presence.DeliveryDelayed, "%s is idle and is woken later: you have woken each other several times",
		"%s are idle and are woken later: you have woken each other several times",
	},
	{presence.DeliveryNextTool, "%s sees it after its next tool call", "%s see it after their next tool call"},
	{presence.DeliveryNextPrompt, "%s sees it at its next prompt or tt call", "%s see it at their next prompt or tt call"},
	{presence.DeliveryNeedsPerson, "nothing wakes %s: a person has to", "nothing wakes %s: a person has to"},
}

// showSent says how a message reaches its recipients.
func showSent(p *term.Page, res engine.SendMessageResult) {
	if res.Reopened {
		p.Linef("you reopened the room")
	}
	if res.Joined {
		p.Linef("you joined the room as %s", res.AgentID)
	}

	p.Linef("message %d was sent", res.MessageID)

	// Recipients that a message reaches in the same way share a line.
	for _, d := range deliveries {
		var names []stick.Words
		for _, r := range res.Recipients {
			if r.Delivery != d.delivery {
				continue
			}

			name := stick.Wordsf("%s", r.AgentID)
			if !r.WakesAt.IsZero() {
				name += " (" + p.Until(r.WakesAt) + ")"
			}

			names = append(names, name)
		}

		switch len(names) {
		case 0:
		case 1:
			p.Linef("  "+d.one, names[0])
		case 2, 3, 4, 5:
			p.Linef("  "+d.many, stick.JoinWords(names, ", "))
		default:
			p.Linef("  "+d.many, stick.Wordsf("%s and %d more", stick.JoinWords(names[:4], ", "), len(names)-4))
		}
	}

	if n := len(res.LeftOut); n > 0 {
		p.Linef("  not sent to %s%s: gone", res.LeftOut[0], andMore(n-1))
	}
	if res.Contract != nil {
		p.Linef("  %s messages should also say: %s",
			res.Category, stick.Names(res.Contract.Missing, len(res.Contract.Missing)))
	}
	if res.Note != "" {
		p.Linef("note: %s", res.Note)
	}
}

func andMore(n int) stick.Words {
	if n == 0 {
		return ""
	}
	return stick.Wordsf(" and %d more", n)
}

func msgShowCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "show <message>", Short: "Show a message, and who has seen or accepted it",
		Args: app.ArgsBetween(1, 1, "the number of a message"),
		Long: "Show a message, and which recipient has seen or accepted it. " +
			"Every member may look, and looking marks nothing as read.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ids, err := app.ParseNumbers("message", args)
		if err != nil {
			return err
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (engine.GetMessageResult, error) {
			return e.GetMessage(c.Context(), engine.GetMessageParams{
				Caller: by, Where: path.Where(), MessageID: ids[0],
			})
		}, func(p *term.Page, res engine.GetMessageResult) {
			// A reader who isn't a recipient isn't asked to accept the message.
			mine := slices.IndexFunc(res.Receipts, func(r engine.ReceiptView) bool { return r.AgentID == res.Me })
			events.MessageText(p, res.MessageView, "", mine >= 0, mine >= 0 && isReceiptOpen(res.Receipts[mine].State))
			for _, r := range res.Receipts[:min(len(res.Receipts), 50)] {
				p.Linef("%s: %s", r.AgentID, receiptText(p, r))
			}

			if more := len(res.Receipts) - 50; more > 0 {
				p.Linef("%d more are hidden: --json shows all", more)
			}
		})
	}

	return c
}

// receiptText says whether one recipient has seen or accepted a message, in the words of the screens for
// people.
func receiptText(p *term.Page, r engine.ReceiptView) stick.Words {
	switch r.State {
	case stick.Acked:
		return "Accepted " + p.Ago(r.AckedAt)
	case stick.Read:
		return "Seen " + p.Ago(r.ReadAt)
	case stick.Undeliverable:
		return "undeliverable: the recipient left or is gone"
	case stick.Withdrawn:
		return "withdrawn"
	}

	state := stick.Words("unread")
	if !r.ShownAt.IsZero() {
		state += ", shown " + p.Ago(r.ShownAt)
	}
	if r.Overdue {
		state += ", not seen within a minute, so it interrupted nobody"
	}

	return state
}

// marking is an operation that changes the state of messages for their recipient.
type marking struct {
	op   func(*engine.Engine, context.Context, engine.MessagesParams) (engine.MessagesResult, error)
	word stick.Words // says what was done, as the screens for people do
}

var (
	seen = marking{func(e *engine.Engine, ctx context.Context, p engine.MessagesParams) (engine.MessagesResult, error) {
		return e.ReadMessage(ctx, engine.ReadMessageParams{MessagesParams: p})
	}, "Seen"}
	allSeen = marking{func(e *engine.Engine, ctx context.Context, p engine.MessagesParams) (engine.MessagesResult, error) {
		return e.ReadMessage(ctx, engine.ReadMessageParams{MessagesParams: p, All: true})
	}, "Seen"}
	accepted = marking{(*engine.Engine).AckMessage, "Accepted"}
)

func msgReadCmd(a *app.Run) *cobra.Command {
	var all bool
	c := markCmd(a, func() marking {
		if all {
			return allSeen
		}

		return seen
	}, &cobra.Command{
		Use: "read [message]…", Short: "Mark messages as read",
		Long: "Mark messages as read. To accept them, use tt ack. " +
			"--all marks every unread message, even those that you were never shown. Messages that wait " +
			"for you to accept them still wait.",
	})

	c.Flags().BoolVar(&all, "all", false, "mark all your unread messages as read")
	c.Args = func(c *cobra.Command, args []string) error {
		switch {
		case !all:
			return app.ArgsBetween(1, -1, "the number of a message, or --all")(c, args)
		case len(args) > 0:
			return stick.Errorf(stick.CodeUsage, "--all means all of yours: give --all or %q, not both",
				stick.Clip(args[0], 60)).With("field", "all")
		}

		return nil
	}

	return c
}

// AckCmd makes tt ack.
func AckCmd(a *app.Run) *cobra.Command {
	return markCmd(a, func() marking { return accepted }, &cobra.Command{
		Use: "ack <message>…", Short: "Accept messages; their senders are told",
		Long: "Accept messages: you have seen them and will act on them. " +
			"tt tells their senders, and wakes them if they wait.",
	})
}

// markCmd completes a command that changes the state of messages. which says how, once its flags are read.
func markCmd(a *app.Run, which func() marking, c *cobra.Command) *cobra.Command {
	c.Args = app.ArgsBetween(1, -1, "the number of a message")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return markMessages(c.Context(), a, which(), path.Where(), args)
	}
	return c
}

func markMessages(ctx context.Context, a *app.Run, m marking, w core.Where, messages []string) error {
	ids, err := app.ParseNumbers("message", messages)
	if err != nil {
		return err
	}
	return app.Answer(a, func(e app.Operations, by core.Caller) (engine.MessagesResult, error) {
		return m.op(e.Engine, ctx, engine.MessagesParams{Caller: by, Where: w, MessageIDs: ids})
	}, func(p *term.Page, res engine.MessagesResult) { showMarked(p, res, m.word) })
}

func showMarked(p *term.Page, res engine.MessagesResult, word stick.Words) {
	if res.Count != nil {
		p.Linef("%s: %s", word, stick.Count(*res.Count, "message"))
	}

	for _, m := range res.Messages {
		// A withdrawn message can't be read or accepted any more.
		if m.State == stick.Withdrawn {
			p.Linef("the sender has withdrawn message %d", m.MessageID)
			continue
		}

		p.Linef("%s%s: message %d", word, app.AlreadyText(m.Already), m.MessageID)
	}
}

func msgWithdrawCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "withdraw <message>", Short: "Withdraw a message that nobody has accepted",
		Args: app.ArgsBetween(1, 1, "the number of a message"),
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ids, err := app.ParseNumbers("message", args)
		if err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (engine.WithdrawMessageResult, error) {
			return e.WithdrawMessage(c.Context(), engine.WithdrawMessageParams{
				Caller: by, Where: path.Where(), MessageID: ids[0],
			})
		}, func(p *term.Page, res engine.WithdrawMessageResult) {
			p.Linef("message %d is withdrawn%s", res.MessageID, app.AlreadyText(res.Already))
		})
	}

	return c
}
