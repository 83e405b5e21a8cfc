package stick

// Checkout is a copy of the repository in which members work. Where a room has several, on several hosts or
// on one, nobody can overwrite what is in another one, and the turn is about what they share: the branch to
// which all push. It is zero where a room has one, and where it isn't known.
type Checkout struct {
	Host string `json:"host_id"` // its host
	Path string `json:"path"`    // its top directory there
}

// IsOther reports whether c and in are two checkouts. Where one of them isn't known, they aren't.
func (c Checkout) IsOther(in Checkout) bool {
	return c != (Checkout{}) && in != (Checkout{}) && c != in
}

// Fenced says in which checkouts edits need the turn.
type Fenced string

const (
	// FencedHolders means the checkout of whoever has the turn, and all of them while nobody has it.
	FencedHolders Fenced = "holder"
	// FencedAll means all checkouts of the room.
	FencedAll Fenced = "all"
)

// WorksIn records in which checkout a member works.
func (r Room) WorksIn(a AgentID, in Checkout) Room {
	if m, ok := r.Member(a); ok && in != (Checkout{}) && m.Checkout != in {
		r.editMember(a, func(m *Member) { m.Checkout = in })
	}
	return r
}

// isTurnInOtherCheckout reports whether the turn is somebody's who works in another checkout.
func (r Room) isTurnInOtherCheckout(in Checkout) bool {
	has := r.Turn.Owner
	if r.Turn.State == Reserved {
		has = r.Turn.ReservedFor
	}

	// The holder, or whom the stick is reserved for: an edit elsewhere can't touch its checkout.
	m, ok := r.Member(has)
	return ok && m.Checkout.IsOther(in)
}

// Pushing is the question whether an agent may push to a branch of the room's remote.
type Pushing struct {
	By     AgentID
	Above  Lineage // of the caller
	Person bool
	In     Checkout // from which it pushes
	Branch string   // that the members share
}

// MayPushTo judges a push to a branch that the members share. Only where their checkouts are several it needs
// the turn: elsewhere edits do. While nobody has the turn, anybody may push.
func (r Room) MayPushTo(q Pushing, s *Probed, now Time) Judgement {
	if q.Person || !r.Enforces() || !r.isTurnInOtherCheckout(q.In) || r.Turn.Owner == q.By {
		return Judgement{}
	}

	// Who works under the holder's turn pushes as the holder does.
	if _, under := r.Parent(q.By, q.Above, s); under {
		return Judgement{}
	}

	return r.asEnforced(r.errEditDenied("a push to "+cutName(q.Branch, 120)+" isn't yours now: "+r.Holder(now), nil).
		With("branch", q.Branch).Hintf("%s", r.stepToEdit()))
}
