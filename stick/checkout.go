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

// EnforcedCheckouts says in which checkouts of a room edits need the turn. It has nothing to do with [Fence].
type EnforcedCheckouts string

const (
	// HolderCheckout means the checkout of whoever has the turn, and all of them while nobody has it.
	HolderCheckout EnforcedCheckouts = "holder"
	// AllCheckouts means all checkouts of the room.
	AllCheckouts EnforcedCheckouts = "all"
)
