package rescue

import (
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/workspace"
)

// Last returns the id of the last snapshot of a checkout, and "" if there is none, or if nobody knows which
// it is.
func (s *Store) Last(tree workspace.Checkout) string {
	r := s.repositoryOf(tree.Common)
	c := r.readCache(tree)
	if c == nil || !r.IsHeld(bare.Ref{Form: bare.LeanForm, Checkout: bare.CheckoutName(tree), ID: c.id}) {
		return ""
	}
	return c.id
}
