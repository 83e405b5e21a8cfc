package rescue

import "talkingstick/internal/workspace"

// Last returns the id of the last snapshot of a checkout, and "" if there is none, or if nobody knows which
// it is.
func (s *Store) Last(tree workspace.Checkout) string {
	r := s.repositoryOf(tree.Common)
	c := r.readCache(tree)
	if c == nil || !r.IsHeld(Ref{LeanForm, CheckoutName(tree), c.id}) {
		return ""
	}
	return c.id
}
