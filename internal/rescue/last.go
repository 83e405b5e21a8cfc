package rescue

import (
	"context"

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

// IsLate reports whether a snapshot lacks something because the time was over. It fails as [Store.Show] does.
func (s *Store) IsLate(ctx context.Context, id string) (bool, error) {
	r, err := s.loadRescue(ctx, id)
	if err != nil {
		return false, err
	}
	return IsLate(r.manifest.LeftOut), nil
}
