package engine

import (
	"context"

	"talkingstick/internal/rescue"
	"talkingstick/stick"
)

// rescues returns the store of rescues in the data directory.
func (e *Engine) rescues() *rescue.Store {
	return rescue.New(e.core.Config.Dir, e.core.Config.Git)
}

// takeRescue keeps a copy of what is uncommitted in a checkout. It changes nothing there. It fails as [rescue.Store.Take]
// does, and may be called only outside of transactions.
func (e *Engine) takeRescue(ctx context.Context, r rescue.Request) (rescue.Taken, error) {
	if r.At.IsZero() {
		r.At = stick.At(e.core.Now())
	}
	return e.rescues().Take(ctx, r)
}
