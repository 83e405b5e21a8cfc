package store

import (
	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// rowScan puts the columns of a row into variables, in their order.
type rowScan = dialect.RowScan

// rowReader reads one row of a query.
type rowReader = dialect.RowReader

// exec runs a statement that returns no rows.
func (tx *Tx) exec(text string, args ...any) error { return tx.db.dialect.Exec(text, args) }

// execIn is exec for what belongs to a room, which it locks.
func (tx *Tx) execIn(room stick.RoomID, text string, args ...any) error {
	if err := tx.lockRoom(room); err != nil {
		return err
	}
	return tx.exec(text, args...)
}

// scan runs a query and calls row for each row of it.
func (tx *Tx) scan(text string, args []any, row rowReader) error {
	return tx.db.dialect.Scan(text, args, dialect.MarkRowErrors(row))
}

// scanLater is scan for rows that its caller doesn't need before its next scan or queryOne.
func (tx *Tx) scanLater(text string, args []any, row rowReader) error {
	return tx.db.dialect.ScanLater(text, args, dialect.MarkRowErrors(row))
}

// FetchLater has come now what the methods ask for whose names begin with Later.
func (tx *Tx) FetchLater() error { return tx.fetchLater() }

// fetchLater has the rows of [Tx.scanLater] come now.
func (tx *Tx) fetchLater() error { return tx.db.dialect.FetchLater() }

// queryOne runs a query for at most one row and reports whether there was one.
func (tx *Tx) queryOne(text string, args []any, into ...any) (bool, error) {
	return tx.db.dialect.QueryOne(text, args, into)
}
