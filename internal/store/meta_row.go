package store

import (
	"strconv"

	"talkingstick/stick"
)

type meta struct {
	schema     int64
	minReader  int64
	generation stick.Generation
	movedTo    string // where the rooms of a file are now; empty for here

	lastLoss Loss       // the last one that was settled
	lostAt   stick.Time // when that was

	olderTurn, olderEvent int64 // what a caller knew last that the database didn't
	olderAt               stick.Time

	database int64   // an id of the database, in files only; 0 if it has none so far
	have     numbers // what it has committed, in files only, where that is asked for
}

// movedTo is the key in the meta of a file that was moved: where to.
const movedTo = "moved_to"

// metaQuery returns the rows that [meta.readRow] reads.
const metaQuery = "SELECT key, value FROM meta ORDER BY key"

// readRow takes in a row of metaQuery.
func (m *meta) readRow(scan rowScan) error {
	var key, value string
	if err := scan(&key, &value); err != nil {
		return err
	}

	switch key {
	case "world":
		m.generation.Cause = value
	case movedTo:
		m.movedTo = value
	}

	// Newer programs may have added keys, which are left alone.
	if into := m.numberField(key); into != nil {
		n, err := strconv.ParseInt(value, 10, 64)
		*into = n
		return err
	}

	return nil
}

// numberField returns where the number with this key goes, nil for a key of something else.
func (m *meta) numberField(key string) *int64 {
	switch key {
	case "schema":
		return &m.schema
	case "min_reader":
		return &m.minReader
	case "generation":
		return &m.generation.Number
	case "turns_above":
		return &m.generation.Above
	case "lost_changes":
		return &m.lastLoss.Changes
	case "lost_from":
		return &m.lastLoss.Events.From
	case "lost_to":
		return &m.lastLoss.Events.To
	case "lost_at":
		return (*int64)(&m.lostAt)
	case "older_turn":
		return &m.olderTurn
	case "older_event":
		return &m.olderEvent
	case "older_at":
		return (*int64)(&m.olderAt)
	case databaseCounter:
		return &m.database
	case commitCounter:
		return &m.have.commit
	case eventCounter:
		return &m.have.event
	}
	return nil
}

// The counters of a file, in its table counters. A row of it is in each commit, so a log of another database
// shows by it.
const (
	eventCounter    = "event_seq"
	commitCounter   = "commits"
	databaseCounter = "database" // no counter, but an id that never changes
)

// metaTable is older than the migrations, because they are counted in it.
const metaTable = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);\n" +
	"INSERT INTO meta (key, value) VALUES ('schema', '0'), ('min_reader', '0'), ('generation', '1');"
