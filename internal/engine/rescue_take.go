package engine

import (
	"context"
	"time"

	"talkingstick/internal/rescue"
	"talkingstick/stick"
)

// rescues returns the store of rescues in the data directory.
func (e *Engine) rescues() *rescue.Store {
	s := rescue.New(e.core.Config.Dir, e.core.Config.Git)
	slack := time.Duration(max(e.core.Config.Slack, 1))
	s.Limits.Time *= slack
	s.Limits.Status *= slack
	return s
}

// takeRescue keeps a copy of what is uncommitted in a checkout. It changes nothing there. It fails as [rescue.Store.Take]
// does, and may be called only outside of transactions.
func (e *Engine) takeRescue(ctx context.Context, r rescue.Request) (rescue.Taken, error) {
	if r.At.IsZero() {
		r.At = stick.At(e.core.Now())
	}
	return e.rescues().Take(ctx, r)
}
