package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// owedMessage is the message of a target if the one who watches has to accept it, 0 otherwise.
func (t target) owedMessage() int64 {
	if t.room == nil {
		return 0
	}

	for _, i := range t.room.Inbox {
		if i.MessageID == t.message && i.RequiresAck && i.State != stick.Acked {
			return t.message
		}
	}

	for _, n := range t.room.Needs {
		if n.Message == t.message {
			return t.message
		}
	}

	return 0
}

// acceptMessage asks whether to accept a message.
func acceptMessage(m *model, t target) tea.Cmd {
	at, id := t.whereOf(), t.owedMessage()
	m.ask = newConfirm("accept", func(m *model) tea.Cmd {
		e := m.env
		return m.startAct(term.Textf("accepting message %d", id), func(ctx context.Context, _ func(term.Text)) doneMsg {
			p := engine.MessagesParams{Caller: e.Caller, Where: at, MessageIDs: []int64{id}}
			_, err := e.Operations.AckMessage(ctx, p)

			done := doneWith(err, "message %d is accepted", id)
			done.reread = true
			return done
		})
	}, "Accept message %d of %s? It tells the sender that you take care of it.", id, t.agent)
	return nil
}

// addressee is whom a message goes to from where somebody is: an agent, or everybody in the room.
func addressee(m *model, t target) stick.AgentID {
	if t.room == nil {
		return ""
	}
	if t.agent == "" || t.agent == m.picture.Me {
		return stick.ToRoom
	}

	return t.agent
}

// sendMessage asks for a message, and sends it. An answer to a message that waits for acceptance accepts it:
// who answers has taken it up.
func sendMessage(m *model, t target) tea.Cmd {
	to, at, about, replies, owed := addressee(m, t), t.whereOf(), t.task, t.message, t.owedMessage()

	// The question says to whom the message goes, and what else it does.
	whom := term.Textf("%s", to)
	if to == stick.ToRoom {
		whom = term.Textf("everybody in %s", roomName(t.room))
	}

	what := term.Textf("Message to %s", whom)
	if replies != 0 {
		what = term.Textf("Answer to %s", whom)
	}
	if owed != 0 {
		what += term.Textf("; it accepts message %d, too", owed)
	}
	if about != "" {
		what += term.Textf(", about %s", about)
	}

	m.ask = newPrompt(func(m *model, text string) tea.Cmd {
		e := m.env
		return m.startAct(term.Textf("sending"), func(ctx context.Context, _ func(term.Text)) doneMsg {
			res, err := e.Operations.SendMessage(ctx, engine.SendMessageParams{
				Caller: e.Caller, Where: at, To: []stick.AgentID{to}, Body: text, TaskID: about, ReplyTo: replies,
			})

			said := term.Textf("message %d was sent", res.MessageID)
			if len(res.Recipients) == 1 {
				r := res.Recipients[0]
				said = term.Textf("message %d was sent to %s: %s", res.MessageID, r.AgentID, deliveryWords[r.Delivery])
			}

			if res.Note != "" {
				said += term.Textf("; %s", res.Note)
			}

			// Accepting comes second, so that nothing is accepted without its answer.
			if err == nil && owed != 0 {
				p := engine.MessagesParams{Caller: e.Caller, Where: at, MessageIDs: []int64{owed}}
				_, err = e.Operations.AckMessage(ctx, p)
				said += term.Textf("; message %d is accepted", owed)
			}

			return doneMsg{text: said, err: err, reread: owed != 0}
		})
	}, "%s", what)
	return nil
}

// deliveryWords says when a recipient sees a message.
var deliveryWords = map[presence.Delivery]string{
	presence.DeliveryListening:   "it gets it now",
	presence.DeliveryDelayed:     "it is woken later",
	presence.DeliveryNextTool:    "it gets it after its next tool call",
	presence.DeliveryNextPrompt:  "it gets it with its next wait or check",
	presence.DeliveryNeedsPerson: "nothing wakes it, so a person has to prompt it",
}

// isAboutRoom reports whether a target is a room, or an agent in it.
func isAboutRoom(t target) bool {
	return t.room != nil && t.task == "" && t.message == 0 && t.rescue == ""
}

func canTake(m *model, t target) bool {
	if !isAboutRoom(t) {
		return false
	}

	st := t.room.State
	return st.Owner != nil && *st.Owner != m.picture.Me || st.Takeover != nil
}

// takeStick asks for a reason, and takes the stick over.
func takeStick(m *model, t target) tea.Cmd {
	st, at := t.room.State, t.whereOf()
	who := deref(st.Owner)
	if who == "" {
		who = deref(st.ReservedFor)
	}

	// Without a cause that the program found, it is the person's word that counts.
	operator := st.Takeover == nil
	text := term.Textf("Why do you take the stick of %s over from %s?", roomName(t.room), who)
	if operator {
		text += " It can still go on with its turn."
	}

	m.ask = newPrompt(func(m *model, reason string) tea.Cmd {
		e := m.env
		return m.startAct(term.Textf("taking the stick"), func(ctx context.Context, _ func(term.Text)) doneMsg {
			res, err := e.Operations.TakeoverStick(ctx, engine.TakeoverStickParams{
				Caller: e.Caller, Where: at, ExpectedTurn: st.TurnID, Reason: reason, Operator: operator,
			})
			if err != nil {
				return doneMsg{err: err}
			}

			handOn := stick.Cmd("tt release --status … --next-action …").As(e.Caller.AssumedByFlag()).String()
			said := term.Textf("you have the stick; to hand it on: %s", handOn)
			if r := res.Rescue; r != nil {
				said += term.Textf("; what was uncommitted is kept as rescue %s", r.ID)
			}
			if res.GuardianWhy != "" {
				said += term.Textf("; %s: %s", res.GuardianWhy, stick.Cmd("tt heartbeat").As(e.Caller.AssumedByFlag()).String())
			}

			return doneMsg{text: said}
		})
	}, "%s", text)
	return nil
}

// pauseWord says whether a room can be paused, or goes on.
func pauseWord(_ *model, t target) string {
	switch {
	case !isAboutRoom(t) || t.room.State.State == stick.StateClosed:
		return ""
	case t.room.State.Paused != nil:
		return "resume"
	}

	return "pause"
}

// togglePause pauses a room for a reason, or ends its pause.
func togglePause(m *model, t target) tea.Cmd {
	at, name := t.whereOf(), roomName(t.room)
	if t.room.State.Paused != nil {
		m.ask = newConfirm("resume", func(m *model) tea.Cmd {
			e := m.env
			return m.startAct(term.Textf("resuming"), func(ctx context.Context, _ func(term.Text)) doneMsg {
				_, err := e.Operations.ResumeRoom(ctx, engine.ResumeRoomParams{Caller: e.Caller, Where: at})
				return doneWith(err, "%s goes on", name)
			})
		}, "Let %s go on?", name)
		return nil
	}

	m.ask = newPrompt(func(m *model, reason string) tea.Cmd {
		e := m.env
		return m.startAct(term.Textf("pausing"), func(ctx context.Context, _ func(term.Text)) doneMsg {
			_, err := e.Operations.PauseRoom(ctx, engine.PauseRoomParams{Caller: e.Caller, Where: at, Reason: reason})
			return doneWith(err, "%s is paused: nobody gets the stick, and nothing is merged", name)
		})
	}, "Why is %s paused? Everybody there is told.", name)
	return nil
}

func hasRescue(_ *model, t target) bool { return t.rescue != "" }

// restoreRescue asks whether to bring back what a rescue holds.
func restoreRescue(m *model, t target) tea.Cmd {
	id := t.rescue
	m.ask = newConfirm("bring back", func(m *model) tea.Cmd {
		e := m.env
		return m.startAct(term.Textf("bringing back rescue %s", id), func(ctx context.Context, _ func(term.Text)) doneMsg {
			res, err := e.Operations.RestoreRescue(ctx, restore.RestoreRescueParams{Caller: e.Caller, ID: id})
			if err != nil {
				return doneMsg{err: err}
			}

			said := term.Textf("brought back %s in %s",
				stick.Count(len(res.Restored.Restored), "file"), term.Path(res.Checkout))

			// A file that has changed since isn't overwritten.
			var beside []string
			for _, b := range res.Beside {
				beside = append(beside, b.At)
			}

			if len(beside) > 0 {
				said += term.Textf("; what has changed since stays, and the rescued files are beside it: %s",
					strings.Join(beside, ", "))
			}

			if n := len(res.Failed); n > 0 {
				said += term.Textf("; %s couldn't be brought back, the first because %s",
					stick.Count(n, "file"), res.Failed[0].Why)
			}

			return doneMsg{text: said, reread: true}
		})
	}, "Bring back what rescue %s holds? A file that has changed since stays, and the rescued one is put beside it.",
		id)
	return nil
}

func canJump(m *model, t target) bool {
	member := memberOf(t)
	return member != nil && m.env != nil && m.env.Jump != nil && !member.Process.IsZero()
}

// jumpToPane shows the pane of tmux in which an agent runs.
func jumpToPane(m *model, t target) tea.Cmd {
	who := memberOf(t)
	e, p, name := m.env, who.Process, who.AgentID
	return m.startAct(term.Textf("looking for the pane of %s", name), func(ctx context.Context, _ func(term.Text)) doneMsg {
		return doneWith(e.Jump(ctx, p), "switched to the pane of %s", name)
	})
}
