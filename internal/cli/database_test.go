//go:build unix

package cli_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"

	"talkingstick/internal/bell"
	"talkingstick/internal/storetest"
)

// hostName is the name of the machine that tt sees in scripts.
const hostName = "here"

// person matches the name of a person in a script, or a pattern for one.
var person = regexp.MustCompile(`\b(human:(?:pat|\[a-z\]\+))([^\w@])`)

// onServer returns scripts as they read where the database is on a server: names of persons have the host's
// in them there.
func onServer(t *testing.T, p testscript.Params) testscript.Params {
	files := p.Files
	if p.Dir != "" {
		found, err := filepath.Glob(filepath.Join(p.Dir, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}

	p.Dir, p.Files = "", nil
	dir := t.TempDir()
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script = person.ReplaceAll(script, []byte("${1}@"+hostName+"$2"))
		there := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(there, script, 0o644); err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, there)
	}

	return p
}

// serve has every tt of the script from here on open an empty database on a server.
func (s *story) serve(ts *testscript.TestScript, _ []string) {
	ts.Check(s.newSchema())
	ts.Setenv("TALKING_STICK_DATABASE_URL", s.address)
}

func (s *story) newSchema() error {
	address, drop, err := storetest.NewSchema()
	if err == nil {
		s.address, s.drops = address, append(s.drops, drop)
	}
	return err
}

func (s *story) snapshot(ts *testscript.TestScript, _ []string) {
	dump, err := s.dump()
	ts.Check(err)
	s.before = dump
}

func (s *story) unchanged(ts *testscript.TestScript, _ []string) {
	now, err := s.dump()
	ts.Check(err)
	if d := compareTexts(s.before, now); d != "" {
		ts.Fatalf("the database was changed:\n%s", d)
	}
}

// dump returns the whole content of the script's database as text, or "" if there is none.
func (s *story) dump() (string, error) {
	if s.address != "" {
		return storetest.Dump(s.address)
	}
	return dump(s.data)
}

// dump returns the whole content of the database file in a data directory as text, or "" if there is none.
// For a file that SQLite can't read, it returns the file's bytes.
func dump(dir string) (string, error) {
	path := filepath.Join(dir, "rooms.sqlite")
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	if err != nil {
		return "", err
	}

	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return "", err
	}
	defer db.Close()
	rows, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
	if err != nil {
		return string(raw), nil
	}

	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", err
		}
		tables = append(tables, name)
	}

	if err := rows.Close(); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range tables {
		if err := dumpTable(&b, db, name); err != nil {
			return string(raw), nil
		}
	}

	return b.String(), nil
}

func dumpTable(b *strings.Builder, db *sql.DB, name string) error {
	rows, err := db.Query("SELECT * FROM " + name + " ORDER BY rowid")
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}

	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}

		fmt.Fprintf(b, "%s:", name)
		for i, c := range columns {
			fmt.Fprintf(b, " %s=%v", c, values[i])
		}
		b.WriteByte('\n')
	}

	return rows.Err()
}

// sql runs a statement in the script's database, or in a file of SQLite's.
func (s *story) sql(ts *testscript.TestScript, args []string) {
	file := filepath.Join(s.data, "rooms.sqlite")
	switch {
	case len(args) == 2:
		file = ts.MkAbs(args[0])
	case s.address != "":
		ts.Check(storetest.Script(s.address, args[0]))
		return
	}

	db, err := sql.Open("sqlite", "file:"+file)
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[len(args)-1])
	ts.Check(err)
}

// locked locks the database until the script ends or changes the lock: like a writer that doesn't end, or so
// that nobody can even read.
func (s *story) locked(ts *testscript.TestScript, args []string) {
	s.free()
	if args[0] == "free" {
		return
	}

	ts.Defer(s.free)
	if s.address != "" {
		statement := "SELECT 1 FROM rooms FOR UPDATE"
		if args[0] == "all" {
			statement = "LOCK TABLE rooms IN ACCESS EXCLUSIVE MODE"
		}
		release, err := storetest.Hold(s.address, statement)
		ts.Check(err)
		s.unlock = release
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
