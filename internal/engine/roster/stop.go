package roster

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// The names of the cursors for what has already kept an agent from stopping. The stick, messages and tasks
// have one each, because they don't depend on each other.
const (
	stopStream = "stop"
	owedStream = "stop owed"
	taskStream = "stop task"
)

// CheckStopResult says whether an agent should go on instead of stopping.
type CheckStopResult struct {
	RoomID stick.RoomID `json:"room_id,omitempty"`
	Block  bool         `json:"block"`
	Reason stick.Words  `json:"reason,omitempty"` // what is left to do, and how
}

// CheckStopParams describes an agent that wants to stop.
type CheckStopParams struct {
	core.HookParams
	// Held says that a hook has just kept the agent from stopping. It isn't kept twice in a row.
	Held bool
}

// CheckStop keeps an agent from stopping, once for each reason: it has the stick, the stick is reserved for
// it, it works on a task, or a message waits for its acknowledgement. In a paused room only the message
// counts. If the agent may stop, CheckStop records that it is idle.
func (ro *Roster) CheckStop(ctx context.Context, p CheckStopParams) (CheckStopResult, error) {
	var res CheckStopResult
	var idle core.Identity // set if it was recorded to be

	err := ro.runHookOp(ctx, p.HookParams, true, func(o *op) error {
		res, idle = CheckStopResult{}, core.Identity{}
		m, ok := o.Room.Member(o.Me.Agent)
		if !ok || m.State != stick.Joined {
			return nil
		}

		res.RoomID = o.Room.ID
		held, err := o.openObligations()
		if err != nil {
			return err
		}

		var reasons []stick.Words
		for _, h := range held {
			kept, _, err := o.Tx.Cursor(o.Room.ID, o.Me.Agent, h.stream)
			if err != nil {
				return err
			}

			// This reason has kept the agent before, or some reason did a moment ago.
			if h.since <= kept || p.Held {
				continue
			}

			reasons = append(reasons, h.reason.As(p.Caller.AssumedByFlag()).Words())
			if err := o.Tx.AdvanceCursor(o.Room.ID, o.Me.Agent, h.stream, h.since); err != nil {
				return err
			}
		}
		if len(reasons) == 0 {
			if answered, err := o.hasOtherHookRun(p.HookParams); answered || err != nil {
				// Another hook may have just kept the agent from stopping.
				return err
			}

			for _, l := range o.Room.Listeners {
				if l.Agent == o.Me.Agent && l.Purpose == stick.Wake {
					// Events may have come for that wait while the agent was still working.
					o.Tx.Ring(o.Room.ID)
				}
			}

			o.Tx.RingLooks(o.Room.ID)
			idle = o.Me
			return o.Tx.RecordIdle(o.Me.Session.Key)
		}

		res.Block, res.Reason = true, stick.JoinWords(reasons, "\n")
		return o.RecordWork(p.HookParams)
	})
	if err == nil && idle.Agent != "" {
		ro.core.KeepInbox(p.HookParams, idle)

		// What came while it worked, and no hook has shown, wakes it now.
		ro.core.WakeRooms(ctx, []stick.RoomID{res.RoomID})
	}
	return res, err
}

// obligation is a reason to keep an agent from stopping.
type obligation struct {
	stream string     // the cursor that says what has kept the agent before
	since  int64      // the event that began it
	reason stick.Hint // for the agent: what is left to do, and how
}

// openObligations returns the reasons to keep the caller from stopping.
func (o *op) openObligations() (held []obligation, err error) {
	// Stopping is what it should do then. Only what others wait to hear from it counts.
	if o.Room.Paused.On() {
		return o.owedAnswers()
	}

	now := o.Room.Turn
	switch {
	case now.State == stick.Owned && now.Owner == o.Me.Agent:
		grant, err := o.LastGrant()
		if err != nil {
			return nil, err
		}
		if grant != nil {
			var waits stick.Words
			if line := o.Room.InLine(o.Probes.Probed); len(line) > 0 {
				waits = stick.Wordsf(", and %s waits for it", line[0])
			}

			held = append(held, obligation{stopStream, grant.Seq, stick.Hintf(
				"You still hold the talking stick (turn %d)%s. If your part is done, end the turn with a "+
					"handoff: %s. If you have asked your user something, just stop again.",
				now.ID, waits,
				stick.Cmd("tt release --turn <turn_id> --lease <lease_id> --status … --next-action …", now.ID, now.Lease),
			)})
		}
	case now.State == stick.Reserved && now.ReservedFor == o.Me.Agent &&
		!o.Room.Listening(o.Me.Agent, stick.Work, o.Probes.Probed):
		held = append(held, obligation{
			stopStream, now.HandoffSeq,
			stick.Hintf("The talking stick is reserved for you. Take the turn with %s, "+
				"or just stop again to leave it to the others.", stick.Cmd("tt wait")),
		})
	}

	tasks, err := o.Tx.TasksOf(o.Room.ID, o.Me.Agent)
	if err != nil {
		return held, err
	}

	for _, task := range tasks {
		if task.Busy() {
			held = append(held, obligation{taskStream, task.Seq, stick.Hintf(
				"Your task %s is %s. If the work is committed, ask for its review: %s. If it can't be done: %s. "+
					"If you have asked your user something, just stop again.",
				task.ID, task.State, stick.Cmd("tt task done"), stick.Cmd("tt task fail …"),
			)})
		}
	}

	owed, err := o.owedAnswers()
	return append(held, owed...), err
}

// owedAnswers returns the obligation to acknowledge messages, if the caller has it.
func (o *op) owedAnswers() ([]obligation, error) {
	owed, err := o.Tx.OpenReceipts(o.Room.ID, o.Me.Agent)
	if err != nil || len(owed) == 0 {
		return nil, err
	}

	last := owed[len(owed)-1].Event
	reason := stick.Hintf("Message %d waits for your acknowledgement. "+
		"Read it with %s, act on it, and accept it: %s.", last,
		stick.Cmd("tt inbox"), stick.Cmd("tt ack <message_id>", last))

	if len(owed) > 1 {
		reason = stick.Hintf("%d messages wait for your acknowledgement, the last is %d. Read them with %s, "+
			"and accept those that you act on with %s.",
			len(owed), last, stick.Cmd("tt inbox"), stick.Cmd("tt ack <message_id>"))
	}

	return []obligation{{owedStream, last, reason}}, nil
}
