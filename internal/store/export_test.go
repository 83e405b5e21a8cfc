package store

import (
	"errors"
	"testing"
)

// MovedTables is for the test that knows all tables.
var MovedTables = movedTables

// ChangeIssued changes what the file beside the database says it has issued: the numbers that are committed
// and the highest turn, by what is added to them.
func ChangeIssued(t *testing.T, db *DB, commits, events, turns int64) {
	t.Helper()
	s := db.dialect.(*sqliteDB)
	i, ok, err := s.issued.read()
	if err == nil && !ok {
		err = errors.New("it says nothing")
	}
	i.committed.commit += commits
	i.committed.event += events
	i.highest.commit, i.highest.event = max(i.highest.commit, i.committed.commit), max(i.highest.event, i.committed.event)
	i.turn += turns
	if err == nil {
		err = s.issued.write(i)
	}
	if err != nil {
		t.Fatalf("the file %s: %v", IssuedName, err)
	}
}

// BeginAnew has the file say that the database before this one was set aside.
func BeginAnew(t *testing.T, db *DB) {
	t.Helper()
	s := db.dialect.(*sqliteDB)
	i, _, err := s.issued.read()
	if err == nil {
		err = s.issued.write(issued{highest: i.highest, turn: i.turn})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ForgetID takes the id of a file away, as one that an older program has made has none.
func ForgetID(tx *Tx) error {
	return tx.exec("DELETE FROM counters WHERE name = ?", databaseCounter)
}
