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
	err = e.viewNames(ctx, func(tx *store.Tx) (err error) {
		names, err = tx.AgentNames()
		return err
	})
	return names, err
}

// AgentName returns what people call an agent; empty where that is its id.
func (e *Engine) AgentName(ctx context.Context, a stick.AgentID) (name string, err error) {
	err = e.viewNames(ctx, func(tx *store.Tx) (err error) {
		name, err = tx.NameOf(a)
		return err
	})
	return name, err
}

// viewNames reads the database, if there is one.
func (e *Engine) viewNames(ctx context.Context, read func(*store.Tx) error) error {
	db, err := e.core.Open(ctx, false)
	switch {
	case errors.Is(err, store.ErrAbsent):
		return nil
	case err != nil:
		return err
	}
	return db.View(ctx, read)
}
