package eventlog

import (
	"context"
	"errors"
	"fmt"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// unissuedCursor is why a cursor is refused that the database hasn't given out.
type unissuedCursor struct{ cursor, issued, last int64 }

func (u *unissuedCursor) Error() string { return fmt.Sprintf("event %d wasn't given out", u.cursor) }

// noticeCursor makes the error of a command whose cursor the database hasn't given out. New events get
// numbers above that cursor, so that none is given out twice if the caller is right. If the number is wrong,
// that costs nothing.
func (l *Log) noticeCursor(ctx context.Context, by core.Caller, err error) error {
	u, ok := errors.AsType[*unissuedCursor](err)
	if !ok {
		return err
	}

	refusal := stick.Errorf(stick.CodeUsage, "the cursor %d is beyond the last event that this database has issued, %d: "+
		"either the number is wrong, or the database is an older copy", u.cursor, u.issued).
		With("field", "after").With("cursor", u.last).Hintf("to go on from the end: --after %d", u.last)

	db, err := l.core.Open(ctx, false)
	if err != nil {
		return refusal
	}

	issue := func(tx *store.Tx, _ *core.Probes) error { return tx.IssueAbove(u.cursor) }
	if err := l.core.Update(ctx, db, by, issue); err != nil {
		// The next caller who can write notices it.
		return refusal
	}
	return refusal
}
