package engine

import "context"

// RenewLease renews a lease once, as a guardian that lives does.
func (e *Engine) RenewLease(ctx context.Context, p KeepLeaseParams) error {
	db, err := e.core.Open(ctx, false)
	if err != nil {
		return err
	}
	return e.renewLease(ctx, db, p)
}
