package store

import (
	"context"
	"path/filepath"

	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/sqlite"
)

// SetAside moves the database and what belongs to it to a new directory below dir, and returns that. It waits
// for writers as they wait for each other. If it is interrupted, the log without its database refuses
// everybody, and another call moves the rest. The next database goes on above the numbers that this one has
// given out. Where these aren't kept, they are read from db, which may be nil.
func SetAside(ctx context.Context, dir string, db *DB) (aside string, err error) {
	// This reads the database, so it comes before the files are moved.
	return sqlite.SetAside(ctx, dir, nextAfter(ctx, dir, db))
}

// beyondAll is above the numbers of any database.
const beyondAll = 1 << 32

// nextAfter is what the file of issued numbers says of the database that takes the place of the one in dir.
func nextAfter(ctx context.Context, dir string, db *DB) sqlite.Issued {
	if i, ok := sqlite.ReadIssued(filepath.Join(dir, sqlite.IssuedName)); ok {
		return sqlite.Issued{Highest: i.Highest, Turn: i.Turn}
	}

	next := sqlite.Issued{Highest: dialect.Numbers{Event: beyondAll}, Turn: beyondAll}
	if db == nil {
		return next
	}

	// If it can't be read, the next one begins beyond all that it can have given out.
	_ = db.View(ctx, func(tx *Tx) error {
		event, err := db.dialect.LastDrawn()
		if err != nil {
			return err
		}

		var turn int64
		if _, err := tx.queryOne("SELECT COALESCE(MAX(turn_id), 0) FROM rooms", nil, &turn); err != nil {
			return err
		}

		next.Highest.Event, next.Turn = event, max(turn, tx.Generation().Above)
		return nil
	})

	return next
}
