package talk

import (
	"talkingstick/stick"
)

// Overtaken reports whether an event that was addressed to a says nothing any more, because what it told has
// ended since. A reservation of the stick lasts until the next grant. An idle notice, the wish for a draft
// and an edit without the stick matter as long as the turn that they are about, a pause and an edit in it
// until it ends, and its end until the next grant. That the stick was taken from a is told until a has had it
// again: until then a may believe that it holds it. See
// docs/decisions/messages-and-cursors.md#what-isnt-told-again.
func Overtaken(r stick.Room, e stick.Event, a stick.AgentID) bool {
	t := r.Turn
	switch e.Type {
	case stick.EventRelease, stick.EventPass, stick.EventRerouted:
		return t.State != stick.Reserved || t.ReservedFor != a || e.Turn != t.ID
	case stick.EventEditTold:
		if p, _ := stick.PayloadOf[stick.EditToldPayload](e); p.Paused {
			return !r.Paused.On()
		}
		return t.State != stick.Owned || t.Owner != a || e.Turn != t.ID
	case stick.EventOwnerIdle, stick.EventDraftAsked:
		return t.State != stick.Owned || t.Owner != a || e.Turn != t.ID
	case stick.EventRoomPaused:
		return !r.Paused.On() || e.Reason != r.Paused.Reason
	case stick.EventRoomResumed:
		return r.Paused.On() || e.Turn != t.ID
	case stick.EventTakeover:
		m, _ := r.Member(a)
		return t.State == stick.Owned && t.Owner == a || m.HeldSeq > e.Seq
	}
	return false
}
