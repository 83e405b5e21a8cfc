package task

import (
	"context"

	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
)

// OwnChange reports whether a change that git is about to make serves an open intent, and whether that lands
// a task or reverts one. tt has allowed such a change already, so the hooks needn't check it again.
func (ts *Tasks) OwnChange(ctx context.Context, intent string) (serves, lands bool, err error) {
	if intent == "" {
		return false, false, nil
	}

	db, err := ts.core.Open(ctx, false)
	if err != nil {
		return false, false, err
	}
	return serves, lands, db.View(ctx, func(tx *store.Tx) error {
		i, open, err := tx.Intent(intent)
		serves, lands = open, open && (i.Kind == repository.IntentLand || i.Kind == repository.IntentRollback)
		return err
	})
}
