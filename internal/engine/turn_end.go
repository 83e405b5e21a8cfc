package engine

import (
	"context"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// completeEndingFence completes the fence of a command that ends the caller's turn, as [op.ownFence] does. A
// caller that was detached from its session has to name the turn and the lease: nothing else shows that its
// session wants this.
func (o *op) completeEndingFence(given stick.Fence) (stick.Fence, error) {
	f, err := o.ownFence(given)

	if err == nil && o.Me.Detached && f.Lease != "" && given.Lease == "" {
		return given, stick.Errorf(stick.CodeUsage, "this command runs outside the session of %s, "+
			"so it must name the turn that it ends and its lease", o.Me.Agent).
			With("agent_id", o.Me.Agent).Hintf("give --turn and --lease, as %s prints them", stick.Cmd("tt try"))
	}

	return f, err
}

// ownFence completes the fence of an owner's command: it is what the caller gave, else the caller's own last
// grant. A caller that never had the stick gets [stick.CodeNotYourTurn].
func (o *op) ownFence(given stick.Fence) (stick.Fence, error) {
	switch {
	case given.Turn != 0 && given.Lease != "":
		return given, o.requireKnown(given)
	case given.Turn != 0 || given.Lease != "":
		return given, stick.Errorf(stick.CodeUsage, "--turn and --lease go together").
			Hintf("give both, or neither to mean your own last turn")
	}

	// Without a fence it is the caller's turn now, else its last one.
	now := o.Room.Turn
	if now.State == stick.Owned && now.Owner == o.Me.Agent {
		return stick.Fence{Turn: now.ID, Lease: now.Lease}, nil
	}

	last, err := o.LastGrant()
	if err != nil {
		return given, err
	}
	if last == nil {
		return given, o.errNotYourTurn()
	}

	// The lease is over, and the log has only its hash.
	return stick.Fence{Turn: last.Turn}, nil
}

// turnBefore returns what to tell a caller whose handoff is incomplete: that it isn't their turn, if so, because
// a better handoff would only be refused for that.
func (e *Engine) turnBefore(ctx context.Context, w core.Where, by core.Caller, f Fence, incomplete error) error {
	if f != (Fence{}) {
		return incomplete
	}

	var later error
	err := e.core.Read(ctx, w, by, func(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity) error {
		later = nil
		if r.Turn.State != stick.Owned || r.Turn.Owner != me.Agent {
			later = errNotYourTurn(r, probes, tx.Now())
		}
		return nil
	})

	if err != nil || later == nil {
		return incomplete
	}
	return later
}

// errNotYourTurn says who has the stick, and what the caller can do next.
func (o *op) errNotYourTurn() error { return errNotYourTurn(o.Room, o.Probes, o.Tx.Now()) }

func errNotYourTurn(r stick.Room, probes *core.Probes, now stick.Time) error {
	e := stick.Errorf(stick.CodeNotYourTurn, "it isn't your turn; %s", r.Holder(now)).
		With("room_state", r.State(probes.Probed, now)).With("current_turn_id", r.Turn.ID).
		With("current_owner", nil).
		Hintf("%s", r.NextStep())

	switch {
	case r.Closed:
		e.Hintf("stop here; a closed room has no turns")
	case r.Turn.State == stick.Owned:
		e.With("current_owner", r.Turn.Owner)
	case r.Turn.State == stick.Reserved:
		e.With("reserved_for", r.Turn.ReservedFor)
	}

	return e
}

// turnEnding is a command by which a caller ends its turn, as far as it can repeat an earlier one.
type turnEnding struct {
	typ     stick.EventType // of the event that it makes; empty for a command that doesn't end a turn
	handoff *stick.Handoff
	to      stick.AgentID // whom it passes the stick to, as the caller named it
	reason  string        // why the turn is abandoned, or the room closed
}

// isRepeatOf reports whether the command says again what the caller said when it ended the turn. first is the
// handoff of that turn, or nil.
func (q turnEnding) isRepeatOf(end stick.Event, first *stick.Handoff) bool {
	switch {
	case q.typ != end.Type:
		return false
	case q.to != "" && q.to != stick.Next && q.to != end.To && !strings.HasPrefix(string(end.To), string(q.to)+":"):
		return false
	case q.handoff != nil:
		return first != nil && q.handoff.SameAs(*first)
	}

	return strings.TrimSpace(q.reason) == end.Reason
}

// endingEvent returns the event with which the caller itself ended the turn of a fence by the same command.
// The caller is repeating that command then, and gets its first result again. If the caller ended the turn by
// another command, or with another handoff, endingEvent fails with [stick.CodeAlreadyEnded], because what it
// says now would be lost. If the turn ended in any other way, it fails with [stick.CodeTurnMismatch] or
// [stick.CodeStaleLease] and says how. While the turn runs, or if nothing is known of its end, it returns
// nil.
func (o *op) endingEvent(f stick.Fence, q turnEnding) (*stick.Event, error) {
	r := o.Room
	if r.Turn.State == stick.Owned && r.Turn.ID == f.Turn {
		return nil, nil
	}

	events, _, err := o.Tx.Events(store.EventQuery{Room: r.ID, Turn: f.Turn, Limit: 100, Types: []stick.EventType{
		stick.EventClaim, stick.EventTakeover, stick.EventRelease, stick.EventPass, stick.EventLeave, stick.EventKick,
		stick.EventClose, stick.EventRestored,
	}})
	if err != nil {
		return nil, err
	}

	var end *stick.Event
	var handoff *stick.Handoff
	for i, e := range events {
		if e.Handoff != nil {
			handoff = e.Handoff
		}

		switch {
		case e.Type == stick.EventRelease || e.Type == stick.EventPass,
			e.TurnEndedOf() != "" && e.Type != stick.EventTakeover && e.Type != stick.EventRestored:
			end = &events[i]
		case (e.Type == stick.EventClose || e.Type == stick.EventLeave) && end != nil && end.From == e.From:
			// Leaving or closing with a handoff is a release followed by this event.
			end = &events[i]
		}
	}

	// The caller ended the turn itself: it repeats that command, or says something else too late.
	if end != nil && end.From == o.Me.Agent && q.typ != "" && o.sameLease(f, events) {
		if q.isRepeatOf(*end, handoff) {
			return end, nil
		}
		return nil, o.errAlreadyEnded(f.Turn, *end, handoff)
	}

	// A takeover and a new generation of the room end a turn by an event that isn't in it.
	if end == nil {
		later, _, err := o.Tx.Events(store.EventQuery{
			Room: r.ID, After: core.LastSeq(events), Limit: 1,
			Types: []stick.EventType{stick.EventTakeover, stick.EventRestored},
		})
		if err != nil {
			return nil, err
		}
		later = append(later, o.restoredEvents()...)
		if len(later) > 0 && len(events) > 0 {
			end = &later[0]
		}
	}

	if end == nil {
		return nil, nil
	}

	what := *end
	what.Handoff = nil // the sentence would repeat its next action, and HolderFor gives the current one
	e := stick.Errorf(stick.CodeTurnMismatch, "turn %d is over: %s; %s",
		f.Turn, what.Say(), r.HolderFor(o.Me.Agent, o.Tx.Now()))

	// The number is that of the current turn, so it is the lease that is old.
	if f.Turn == r.Turn.ID {
		e.Code = stick.CodeStaleLease
	}

	e.With("current_turn_id", r.Turn.ID).With("room_state", r.State(o.Probes.Probed, o.Tx.Now())).
		With("current_owner", nil).
		With("ended_by", end.Type).Hintf("%s", r.FencedStep(o.Me.Agent))
	if !r.Closed && r.Turn.State == stick.Owned {
		e.With("current_owner", r.Turn.Owner)
	}

	return nil, e
}

// restoredEvents returns the event by which the operation itself has brought the room to a new generation, if
// it has.
func (o *op) restoredEvents() []stick.Event {
	return slices.DeleteFunc(slices.Clone(o.Events), func(e stick.Event) bool {
		return e.Type != stick.EventRestored
	})
}

// errAlreadyEnded says how the caller ended its turn, and how to add what it wants to say now.
func (o *op) errAlreadyEnded(turn int64, end stick.Event, handoff *stick.Handoff) error {
	r := o.Room
	how, said := map[stick.EventType]stick.Words{
		stick.EventRelease: "released it", stick.EventPass: stick.Wordsf("passed it to %s", end.To),
		stick.EventLeave: "left the room", stick.EventClose: "closed the room",
	}[end.Type], stick.Words("without a handoff")

	if handoff != nil {
		first := *handoff

		// The caller didn't say that.
		first.Workspace = nil
		handoff = &first
		said = "with the status " + stick.Quote(handoff.Status, 200) +
			" and the next action " + stick.Quote(handoff.NextAction, 200)
	}

	e := stick.Errorf(stick.CodeAlreadyEnded,
		"turn %d is over, and this command changed nothing: you %s %s", turn, how, said).
		With("current_turn_id", r.Turn.ID).With("room_state", r.State(o.Probes.Probed, o.Tx.Now())).
		With("current_owner", nil).
		With("ended_by", end.Type).With("handoff", handoff)

	// next is who has the stick now, or gets it next.
	next := stick.AgentID("")
	switch {
	case r.Closed:
	case r.Turn.State == stick.Owned && r.Turn.Owner == o.Me.Agent:
		return e.With("current_owner", o.Me.Agent).
			Hintf("say it in the handoff of turn %d, which you hold; %s shows its lease",
				r.Turn.ID, stick.Cmd("tt try"))
	case r.Turn.State == stick.Owned:
		e.With("current_owner", r.Turn.Owner)
		next = r.Turn.Owner
	case r.Turn.State == stick.Reserved:
		e.With("reserved_for", r.Turn.ReservedFor)
		next = r.Turn.ReservedFor
	}

	add := stick.Cmd("tt notes add …")
	switch next {
	case "":
		return e.Hintf("to add something for the next holder: %s", add)
	case o.Me.Agent:
		return e.Hintf("say it in the handoff of your next turn, which is reserved for you: %s", stick.Cmd("tt wait"))
	}

	return e.Hintf("to add something for the next holder: %s; to tell %s: %s",
		add, next, stick.Cmd("tt msg send <agent> …", next))
}

// sameLease reports whether the fence has the lease of the turn's grant. A fence without a lease means the
// caller's own.
func (o *op) sameLease(f stick.Fence, events []stick.Event) bool {
	return f.Lease == "" || slices.ContainsFunc(events, func(e stick.Event) bool {
		return e.Type.Grants() && e.Lease() == stick.LeaseSum(f.Lease)
	})
}
