package store

import (
	"context"
	"fmt"

	"talkingstick/stick"
)

// Check looks for damage and for contradictions: SQLite's own check, references between tables,
// the chain of sums, the counter, and every room rebuilt from its log against what is stored. It
// returns what it found, a sentence each.
func (db *DB) Check(ctx context.Context) (found []string, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		found = nil
		report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
		texts := func(pragma string) error {
			return tx.scan(pragma, nil, func(scan func(...any) error) error {
				var s string
				if err := scan(&s); err != nil {
					return err
				}
				if s != "ok" {
					report("the database file: %s", s)
				}
				return nil
			})
		}
		if err := texts("PRAGMA integrity_check"); err != nil {
			return err
		}
		err := tx.scan("PRAGMA foreign_key_check", nil, func(scan func(...any) error) error {
			var table, parent string
			var row, key any
			if err := scan(&table, &row, &parent, &key); err != nil {
				return err
			}
			report("a row of %s names something that isn't in %s", table, parent)
			return nil
		})
		if err != nil {
			return err
		}
		return tx.checkRooms(report)
	})
	return found, err
}

// checkRooms replays the log of every room.
func (tx *Tx) checkRooms(report func(string, ...any)) error {
	var counter, newest int64
	if _, err := tx.one("SELECT value FROM counters WHERE name = 'event_seq'", nil, &counter); err != nil {
		return err
	}
	rooms, err := tx.Rooms(nil, "")
	if err != nil {
		return err
	}
	for _, summary := range rooms {
		r, err := tx.Room(summary.ID)
		if err != nil {
			return err
		}
		var record stick.Record
		var seq int64
		for more := true; more; {
			var events []stick.Event
			if events, more, err = tx.Events(EventQuery{Room: r.ID, After: seq, Limit: 500}); err != nil {
				return err
			}
			for _, e := range events {
				if err := record.Replay(e); err != nil {
					report("room %s: %v", r.ID, err)
				}
				seq = e.Seq
			}
		}
		newest = max(newest, seq)
		last, err := tx.LastSeq(r.ID)
		if err != nil {
			return err
		}
		if last != seq {
			report("room %s: its last event is %d, and the log ends with %d", r.ID, last, seq)
		}
		if d := record.Differs(r); d != "" && record.Events > 0 {
			report("room %s: %s", r.ID, d)
		}
	}
	if newest > counter {
		report("event %d lies beyond the counter, which stands at %d", newest, counter)
	}
	return nil
}
