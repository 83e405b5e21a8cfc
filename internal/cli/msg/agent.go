package msg

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/stick"
)

// AgentCmd is tt agent, for programs that were written for coordination events. It has their words: send,
// inbox, read and ack, with an agent and a bead. The operations are those of tt msg, tt inbox and tt ack.
func AgentCmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "agent", Short: "Coordination events: send, inbox, read, ack (also as bb)", Args: app.NoArgs,
		Long: "The four verbs of coordination events, with flags of their own. " +
			"They do the same as tt msg send, tt inbox, tt msg read\n" +
			"and tt ack.",
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}

	c.AddCommand(
		agentSendCmd(a), agentInboxCmd(a),
		agentMarkCmd(a, "read", "Mark messages as read", seen), agentMarkCmd(a, "ack", "Accept messages", accepted),
	)
	return c
}

// actingAs gives a command its own flag for --as.
func actingAs(a *app.Run, c *cobra.Command, flag string) {
	name := c.Flags().String(flag, "", "act under this agent's name (like --as)")
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed(flag) {
			switch {
			case a.As != "":
				return stick.Errorf(stick.CodeUsage, "--as and --%s mean the same: use one or the other", flag).
					With("field", flag)
			case *name == "":
				return stick.Errorf(stick.CodeUsage, "--%s needs a name", flag).With("field", flag).
					Hintf("leave it out to act as yourself")
			}

			a.As = *name
		}

		return run(c, args)
	}
}

func agentSendCmd(a *app.Run) *cobra.Command {
	var m messageFlags
	var to []string
	var body string
	c := &cobra.Command{
		Use: "send", Short: "Send a coordination event", Args: app.NoArgs,
	}

	m.addFlags(c)
	c.Flags().StringSliceVar(&to, "to", nil, "the recipient, or room, broadcast or system; repeatable")
	c.Flags().StringVar(&body, "body", "", "what it says")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		p, err := m.sendParams(a, to, body, c.Flags().Changed("body"))
		if err != nil {
			return err
		}

		p.Where = path.Where()
		return sendMessage(c.Context(), a, p)
	}

	actingAs(a, c, "from")
	return c
}

func agentInboxCmd(a *app.Run) *cobra.Command {
	var i inboxFlags
	c := &cobra.Command{Use: "inbox", Short: "List an agent's messages", Args: app.NoArgs}
	i.addFlags(c)
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		i.p.Where = path.Where()
		return showInbox(c.Context(), a, i.p)
	}

	actingAs(a, c, "agent")
	return c
}

// agentMarkCmd is a verb that changes the state of messages.
func agentMarkCmd(a *app.Run, use, short string, m marking) *cobra.Command {
	var ids []string
	c := &cobra.Command{Use: use, Short: short, Args: app.NoArgs}
	c.Flags().StringSliceVar(&ids, "message", nil, "the number of a message; repeatable")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error { return markMessages(c.Context(), a, m, path.Where(), ids) }
	actingAs(a, c, "agent")
	return c
}
