package store

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/sqlite"
)

// MovedTables is for the test that knows all tables.
var MovedTables = movedTables

// ChangeIssued changes what the file beside the database says it has issued: the numbers that are committed
// and the highest turn, by what is added to them.
func ChangeIssued(t *testing.T, db *DB, commits, events, turns int64) {
	t.Helper()
	path := filepath.Join(db.Dir(), sqlite.IssuedName)
	i, ok := sqlite.ReadIssued(path)
	if !ok {
		t.Fatalf("the file %s says nothing", sqlite.IssuedName)
	}

	i.Committed.Commit += commits
	i.Committed.Event += events
	i.Highest.Commit, i.Highest.Event = max(i.Highest.Commit, i.Committed.Commit), max(i.Highest.Event,
		i.Committed.Event)
	i.Turn += turns
	writeIssued(t, path, i)
}

// BeginAnew has the file say that the database before this one was set aside.
func BeginAnew(t *testing.T, db *DB) {
	t.Helper()
	path := filepath.Join(db.Dir(), sqlite.IssuedName)
	i, _ := sqlite.ReadIssued(path)
	writeIssued(t, path, sqlite.Issued{Highest: i.Highest, Turn: i.Turn})
}

func writeIssued(t *testing.T, path string, i sqlite.Issued) {
	t.Helper()
	f := sqlite.IssuedFile{Path: path}
	if err := errors.Join(f.Write(i), f.Close()); err != nil {
		t.Fatalf("the file %s: %v", sqlite.IssuedName, err)
	}
}

// ForgetID takes the id of a file away, as one that an older program has made has none.
func ForgetID(tx *Tx) error {
	return tx.exec("DELETE FROM counters WHERE name = ?", dialect.DatabaseCounter)
}

// RemovesRowsOf reports whether the rows of a table go with their room.
func RemovesRowsOf(table string) bool { return slices.Contains(roomTables, table) }
