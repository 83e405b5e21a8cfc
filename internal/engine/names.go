package engine

import (
	"context"
	"errors"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// AgentNames returns what people call the agents that have joined a room of this database, as far as that isn't
// their id. There are none without a database.
func (e *Engine) AgentNames(ctx context.Context) (names map[stick.AgentID]string, err error) {
	db, err := e.core.Open(ctx, false)
	if errors.Is(err, store.ErrAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	err = db.View(ctx, func(tx *store.Tx) error {
		names, err = tx.AgentNames()
		return err
	})
	return names, err
}
