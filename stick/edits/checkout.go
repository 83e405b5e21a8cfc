package edits

import (
	"talkingstick/stick"
)

// WorksIn records in which checkout a member works.
func WorksIn(r stick.Room, a stick.AgentID, in stick.Checkout) stick.Room {
	if m, ok := r.Member(a); ok && in != (stick.Checkout{}) && m.Checkout != in {
		r.EditMember(a, func(m *stick.Member) { m.Checkout = in })
	}
	return r
}

// isTurnInOtherCheckout reports whether the turn is somebody's who works in another checkout.
func isTurnInOtherCheckout(r stick.Room, in stick.Checkout) bool {
	has := r.Turn.Owner
	if r.Turn.State == stick.Reserved {
		has = r.Turn.ReservedFor
	}

	// The holder, or whom the stick is reserved for: an edit elsewhere can't touch its checkout.
	m, ok := r.Member(has)
	return ok && m.Checkout.IsOther(in)
}

// Pushing is the question whether an agent may push to a branch of the room's remote.
type Pushing struct {
	By     stick.AgentID
	Above  stick.Lineage // of the caller
	Person bool
	In     stick.Checkout // from which it pushes
	Branch string         // that the members share
}

// MayPushTo judges a push to a branch that the members share. Only where their checkouts are several it needs
// the turn: elsewhere edits do. While nobody has the turn, anybody may push.
func MayPushTo(r stick.Room, q Pushing, s *stick.Probed, now stick.Time) Judgement {
	if q.Person || !Enforces(r) || !isTurnInOtherCheckout(r, q.In) || r.Turn.Owner == q.By {
		return Judgement{}
	}

	// Who works under the holder's turn pushes as the holder does.
	if _, under := r.Parent(q.By, q.Above, s); under {
		return Judgement{}
	}

	return asEnforced(r, errEditDenied(r,
		"a push to "+stick.CutName(q.Branch, 120)+" isn't yours now: "+r.Holder(now), nil).
		With("branch", q.Branch).Hintf("%s", stepToEdit(r)))
}
