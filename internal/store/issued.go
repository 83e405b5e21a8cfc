package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/sqlite"
	"talkingstick/stick"
)

// Losses are what a database has lost, as far as it says.
type Losses struct {
	Open *dialect.Loss // the next command that writes begins a generation because of it; nil for nothing

	Last   dialect.Loss // the last one that was settled
	LastAt stick.Time

	// What a caller knew last that the database didn't, because it is an older copy: a turn, or an event.
	OlderTurn, OlderEvent int64
	OlderAt               stick.Time
}

// Losses returns what the database has lost.
func (db *DB) Losses(ctx context.Context) (l Losses, err error) {
	db.compareNext()
	err = db.View(ctx, func(tx *Tx) error {
		tx.ensureBegun()
		l = Losses{
			Open: db.dialect.UnsettledLoss(), Last: tx.meta.LastLoss, LastAt: tx.meta.LostAt,
			OlderTurn: tx.meta.OlderTurn, OlderEvent: tx.meta.OlderEvent, OlderAt: tx.meta.OlderAt,
		}

		return nil
	})

	return l, err
}

// settleLoss begins a generation if the database has lost something of what it had committed, and has a new
// one begin above what the one in its place had.
func (tx *Tx) settleLoss() error {
	settled, err := tx.db.dialect.SettleLoss(tx.meta)
	if err != nil {
		return err
	}

	if settled.IsNew {
		if err := tx.beginAbove(max(tx.meta.Generation.Above, settled.Above)); err != nil {
			return err
		}
	}

	loss := settled.Lost
	if loss == nil {
		return nil
	}

	// Leases from before the loss end with their generation.
	tx.meta.LastLoss, tx.meta.LostAt = *loss, tx.Now()
	return errors.Join(
		tx.newGeneration(stick.Generation{Cause: stick.LossCause, Above: settled.Turn}),
		tx.setMeta("lost_at", fmt.Sprint(int64(tx.Now()))),
		tx.setMeta("lost_changes", fmt.Sprint(loss.Changes)),
		tx.setMeta("lost_from", fmt.Sprint(loss.Events.From)),
		tx.setMeta("lost_to", fmt.Sprint(loss.Events.To)),
	)
}

// SettleLoss does what the next transaction that writes does about a loss.
func (db *DB) SettleLoss(ctx context.Context) error {
	return db.Update(ctx, func(*Tx) error { return nil })
}

func (db *DB) compareNext() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.dialect.CompareNext()
}

// LastIssued returns the last number of an event that was issued in a data directory, whatever has become of
// its database. It is 0 if that isn't known.
func LastIssued(dir string) int64 {
	i, _ := sqlite.ReadIssued(filepath.Join(dir, sqlite.IssuedName))
	return i.Committed.Event
}

// Issued is the last number that the database has given out for an event, of any room.
func (tx *Tx) Issued() (int64, error) { return tx.db.dialect.LastDrawn() }

// IssueAbove has new events get numbers above one that somebody knows, and that the database hasn't given
// out. It leaves numbers that can be of no event.
func (tx *Tx) IssueAbove(event int64) error {
	issued, err := tx.Issued()
	if err != nil || event <= issued || event-issued > beyondAll {
		return err
	}

	return errors.Join(
		tx.db.dialect.SkipNumbers(event-issued),
		tx.setMeta("older_at", fmt.Sprint(int64(tx.Now()))),
		tx.setMeta("older_event", fmt.Sprint(event)),
		tx.setMeta("older_turn", "0"),
	)
}

// HasGrant reports whether the log of a room has the grant of a turn with this sum of a lease, or that of any
// turn, or may have had it before it was pruned.
func (tx *Tx) HasGrant(room stick.RoomID, turn int64, sum string) (bool, error) {
	grants := []stick.EventType{stick.EventClaim, stick.EventTakeover}
	events, _, err := tx.Events(EventQuery{Room: room, Turn: turn, Types: grants, Limit: 1})
	if err != nil || len(events) > 0 && events[0].Lease() == sum {
		return err == nil, err
	}

	// The grants of old turns may have been removed.
	var pruned int64
	if _, err := tx.queryOne("SELECT turn_id FROM checkpoints WHERE room_id = ?", []any{room}, &pruned); err != nil {
		return false, err
	}
	if turn <= pruned {
		return true, nil
	}

	// Else the payload of another grant may have the sum.
	var seq int64
	return tx.queryOne(`SELECT event_seq FROM events
		WHERE room_id = ? AND event_type IN (?, ?) AND payload LIKE ? ORDER BY event_seq LIMIT 1`,
		[]any{room, grants[0], grants[1], `%"` + sum + `"%`}, &seq)
}

// BeginAfterCopy begins a generation because somebody has a grant of this turn that the database has lost: it
// is an older copy. Nobody knows how much newer the copy before it was, so numbers jump far.
func (tx *Tx) BeginAfterCopy(turn int64) error {
	var highest int64
	if _, err := tx.queryOne("SELECT COALESCE(MAX(turn_id), 0) FROM rooms", nil, &highest); err != nil {
		return err
	}

	above := max(turn, highest, tx.Generation().Above) + beyondAll
	return errors.Join(
		tx.newGeneration(stick.Generation{Cause: stick.RestoreCause, Above: above}),
		tx.db.dialect.SkipNumbers(beyondAll),
		tx.setMeta("older_at", fmt.Sprint(int64(tx.Now()))),
		tx.setMeta("older_turn", fmt.Sprint(turn)),
		tx.setMeta("older_event", "0"),
	)
}
