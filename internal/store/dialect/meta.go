package dialect

import (
	"strconv"

	"talkingstick/stick"
)

// Meta is what a database says of itself, in its table meta.
type Meta struct {
	Schema     int64
	MinReader  int64
	Generation stick.Generation
	MovedTo    string // where the rooms of a file are now; empty for here

	LastLoss Loss       // the last one that was settled
	LostAt   stick.Time // when that was

	OlderTurn, OlderEvent int64 // what a caller knew last that the database didn't
	OlderAt               stick.Time

	Database int64   // an id of the database, in files only; 0 if it has none so far
	Have     Numbers // what it has committed, in files only, where that is asked for
}

// MovedTo is the key in the meta of a file that was moved: where to.
const MovedTo = "moved_to"

// MetaQuery returns the rows that [meta.ReadRow] reads.
const MetaQuery = "SELECT key, value FROM meta ORDER BY key"

// ReadRow takes in a row of MetaQuery.
func (m *Meta) ReadRow(scan RowScan) error {
	var key, value string
	if err := scan(&key, &value); err != nil {
		return err
	}

	switch key {
	case "world":
		m.Generation.Cause = value
	case MovedTo:
		m.MovedTo = value
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
func (m *Meta) numberField(key string) *int64 {
	switch key {
	case "schema":
		return &m.Schema
	case "min_reader":
		return &m.MinReader
	case "generation":
		return &m.Generation.Number
	case "turns_above":
		return &m.Generation.Above
	case "lost_changes":
		return &m.LastLoss.Changes
	case "lost_from":
		return &m.LastLoss.Events.From
	case "lost_to":
		return &m.LastLoss.Events.To
	case "lost_at":
		return (*int64)(&m.LostAt)
	case "older_turn":
		return &m.OlderTurn
	case "older_event":
		return &m.OlderEvent
	case "older_at":
		return (*int64)(&m.OlderAt)
	case DatabaseCounter:
		return &m.Database
	case CommitCounter:
		return &m.Have.Commit
	case EventCounter:
		return &m.Have.Event
	}
	return nil
}

// The counters of a file, in its table counters. A row of it is in each commit, so a log of another database
// shows by it.
const (
	EventCounter    = "event_seq"
	CommitCounter   = "commits"
	DatabaseCounter = "database" // no counter, but an id that never changes
)

// MetaTable is older than the migrations, because they are counted in it.
const MetaTable = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);\n" +
	"INSERT INTO meta (key, value) VALUES ('schema', '0'), ('min_reader', '0'), ('generation', '1');"
