package timeline

import (
	"slices"

	"talkingstick/stick"
)

// drawing is a timeline while it is made, event by event. What lasts is the last of its list and has no end.
type drawing struct {
	lanes  []Lane
	at     map[stick.AgentID]int // where an agent's lane is
	pauses []Paused

	holder      stick.AgentID // whose last holding goes on, empty if none does
	named       stick.AgentID // the same for a naming
	holderKnown bool          // an event has told who has the stick, so that nothing can have begun before the events
}

// laneOf returns the lane of an agent. It is valid until the next call.
func (d *drawing) laneOf(a stick.AgentID) *Lane {
	i, ok := d.at[a]
	if !ok {
		i = len(d.lanes)
		d.at[a] = i
		d.lanes = append(d.lanes, Lane{Agent: a})
	}

	return &d.lanes[i]
}

// drawEvent draws what an event tells.
func (d *drawing) drawEvent(e stick.Event) {
	switch p := e.Decode().(type) {
	case stick.ClaimPayload:
		if !d.holderKnown && (p.Claim == stick.DirectPass || p.Claim == stick.InSequence) {
			d.beginNaming(e.From, reservedBy(p.Claim), 0)
		}
		d.beginTurn(e, p.Claim, p.WaitedSince)
	case stick.TakeoverPayload:
		if p.Ends {
			d.endTurn(p.Prior, e.Turn-1, e)
		} else {
			d.endNaming(p.Prior, e.CreatedAt)
		}

		d.beginTurn(e, stick.TookOver, p.WaitedSince)
		d.addMark(e.From, e, p.Prior, p.Cause)
	case stick.ReleasePayload:
		d.endTurn(e.From, e.Turn, e)
		d.beginNaming(e.To, stick.ByRelease, e.CreatedAt)
	case stick.PassPayload:
		d.endTurn(e.From, e.Turn, e)
		d.beginNaming(e.To, stick.ByPass, e.CreatedAt)
	case stick.ReroutedPayload:
		d.endNaming(p.Prior, e.CreatedAt)
		d.beginNaming(e.To, stick.ByRelease, e.CreatedAt)
	case stick.LeavePayload:
		d.endTurnOrNaming(e.From, p.Ends, e)
	case stick.KickPayload:
		d.endTurnOrNaming(e.To, p.Ends, e)
		d.addMark(e.To, e, e.From, "")
	case stick.RestoredPayload:
		d.endTurnOrNaming(p.Prior, p.Ends, e)
	case stick.ClosePayload:
		d.endNaming(d.named, e.CreatedAt)
	case stick.RoomPausedPayload:
		if !d.isPaused() { // else it gives another reason
			d.pauses = append(d.pauses, Paused{Span: Span{From: e.CreatedAt}, By: e.From, Reason: e.Reason})
		}
	case stick.RoomResumedPayload:
		if !d.isPaused() {
			d.pauses = append(d.pauses, Paused{Span: Span{From: p.Since}})
		}
		d.pauses[len(d.pauses)-1].To = e.CreatedAt
	case stick.IncursionPayload:
		d.addMark(e.From, e, e.To, "")
		d.addMark(e.To, e, e.From, "")
	}
}

// reservedBy returns what had reserved the stick for whoever claimed it for a reason.
func reservedBy(why stick.ClaimReason) stick.ReservedBy {
	if why == stick.DirectPass {
		return stick.ByPass
	}
	return stick.ByRelease
}

func (d *drawing) isPaused() bool {
	return len(d.pauses) > 0 && d.pauses[len(d.pauses)-1].To.IsZero()
}

func (d *drawing) addMark(a stick.AgentID, e stick.Event, other stick.AgentID, cause stick.Cause) {
	if a != "" {
		l := d.laneOf(a)
		l.Marks = append(l.Marks, Mark{
			At: e.CreatedAt, Type: e.Type, Seq: e.Seq, Turn: e.Turn, Other: other, Cause: cause, Reason: e.Reason,
		})
	}
}

// beginTurn begins a turn.
func (d *drawing) beginTurn(e stick.Event, why stick.ClaimReason, waited stick.Time) {
	if d.holder != "" { // in a sound log something has ended its turn
		d.endTurn(d.holder, 0, stick.Event{CreatedAt: e.CreatedAt})
	}

	// Whoever was named either took the stick now, or lost it to somebody else.
	if d.named != "" {
		l := d.laneOf(d.named)
		l.Named[len(l.Named)-1].Claimed = d.named == e.From
		d.endNaming(d.named, e.CreatedAt)
	}

	l := d.laneOf(e.From)
	if !waited.IsZero() {
		l.Waits = append(l.Waits, Waiting{Span{l.afterTurn(waited), e.CreatedAt}, e.Turn})
	}

	l.Holds = append(l.Holds, Holding{Span: Span{From: e.CreatedAt}, Turn: e.Turn, Began: why})
	d.holder, d.holderKnown = e.From, true
}

// afterTurn returns since when a wait counts: if it has gone on since before the agent's last turn, from the
// end of that.
func (l *Lane) afterTurn(since stick.Time) stick.Time {
	if n := len(l.Holds); n > 0 {
		return max(since, l.Holds[n-1].To)
	}
	return since
}

// endTurn ends the turn of a.
func (d *drawing) endTurn(a stick.AgentID, turn int64, e stick.Event) {
	l := d.laneOf(a)
	if d.holder != a {
		if d.holderKnown {
			return // in a sound log it holds the stick
		}

		// The turn began before the events that were read.
		l.Holds = append(l.Holds, Holding{Turn: turn})
	}

	h := &l.Holds[len(l.Holds)-1]
	h.To, h.Ended = e.CreatedAt, e.Type
	if e.From != a {
		h.By = e.From
	}

	d.holder, d.holderKnown = "", true
}

// beginNaming begins a reservation of the stick for a, which may be nobody.
func (d *drawing) beginNaming(a stick.AgentID, by stick.ReservedBy, from stick.Time) {
	if a != "" {
		l := d.laneOf(a)
		l.Named = append(l.Named, Naming{Span: Span{From: from}, By: by})
		d.named, d.holderKnown = a, true
	}
}

// endNaming ends the reservation for a.
func (d *drawing) endNaming(a stick.AgentID, at stick.Time) {
	if a == "" {
		return
	}

	if d.named != a {
		if d.holderKnown {
			return
		}

		// The reservation began before the events that were read.
		d.beginNaming(a, stick.ByRelease, 0)
	}

	l := d.laneOf(a)
	l.Named[len(l.Named)-1].To = at
	d.named = ""
}

// endTurnOrNaming ends what a had of the stick, because it left or was removed, or because the machine restarted.
func (d *drawing) endTurnOrNaming(a stick.AgentID, ends bool, e stick.Event) {
	switch {
	case ends:
		turn := e.Turn
		if e.Type == stick.EventRestored {
			turn = 0 // the event skips turn ids
		}
		d.endTurn(a, turn, e)
	case d.named == a, e.Type == stick.EventRestored:
		d.endNaming(a, e.CreatedAt)
	}
}

// addWait adds a wait that goes on. In a pause the holder's wait does, too.
func (d *drawing) addWait(w Waiter) {
	if w.Agent != d.holder {
		l := d.laneOf(w.Agent)
		l.Waits = append(l.Waits, Waiting{Span: Span{From: l.afterTurn(w.Since)}})
	}
}

// cutToRange returns the part of the drawing that lies in a range of time.
func (d *drawing) cutToRange(from, to stick.Time) Timeline {
	t := Timeline{From: from, To: to, Lanes: []Lane{}, Pauses: spansIn(d.pauses, from, to)}
	for _, l := range d.lanes {
		// A lane is drawn if anything of it lies in the range.
		l.Holds, l.Named, l.Waits = spansIn(l.Holds, from, to), spansIn(l.Named, from, to), spansIn(l.Waits, from, to)
		l.Marks = slices.DeleteFunc(append([]Mark{}, l.Marks...), func(m Mark) bool { return m.At < from || m.At > to })
		l.Turns, l.Held, l.Waited = len(l.Holds), sumOfSpans(l.Holds, from, to), sumOfSpans(l.Waits, from, to)

		if len(l.Holds)+len(l.Named)+len(l.Waits)+len(l.Marks) > 0 {
			t.Lanes = append(t.Lanes, l)
		}
	}

	return t
}

// spanned is what has a span.
type spanned interface {
	In(from, to stick.Time) (Span, bool)
}

// spansIn returns what lies in a range of time, at least in part.
func spansIn[S spanned](all []S, from, to stick.Time) []S {
	return slices.DeleteFunc(append([]S{}, all...), func(s S) bool {
		_, ok := s.In(from, to)
		return !ok
	})
}

// sumOfSpans returns how long all spans together lasted in a range of time.
func sumOfSpans[S spanned](all []S, from, to stick.Time) (sum stick.Millis) {
	for _, s := range all {
		part, _ := s.In(from, to)
		sum += stick.Millis(part.To - part.From)
	}
	return sum
}
