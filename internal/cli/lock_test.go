//go:build unix

package cli_test

import (
	"context"
	"database/sql"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"talkingstick/internal/bell"
)

// locked locks the database until the script ends or changes the lock: like a writer that doesn't end, or so that nobody can
// even read.
func (s *story) locked(ts *testscript.TestScript, args []string) {
	s.free()
	if args[0] == "free" {
		return
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.data, "rooms.sqlite"))
	ts.Check(err)
	conn, err := db.Conn(context.Background())
	ts.Check(err)
	s.unlock = func() { conn.Close(); db.Close() }
	statement := "BEGIN IMMEDIATE"
	if args[0] == "all" {
		statement = "PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE; UPDATE meta SET value = value"
	} else {
		lock := bell.NewMutex(filepath.Join(s.data, "write.lock"))
		ts.Check(lock.Lock(context.Background()))
		s.unlock = func() { conn.Close(); db.Close(); lock.Unlock() }
	}
	ts.Defer(s.free)
	_, err = conn.ExecContext(context.Background(), statement)
	ts.Check(err)
}

// free releases the lock.
func (s *story) free() {
	if s.unlock != nil {
		s.unlock()
	}
	s.unlock = nil
}
