package sqlite

import (
	"context"
	"database/sql"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/schema"
)

var updateSchema = flag.Bool("schema.update", false, "write schema.sql anew from the migrations")

// TestSchema_MigrationsMakeIt compares what the migrations make in a new database, one by one, with what
// schema.sql makes there.
func TestSchema_MigrationsMakeIt(t *testing.T) {
	all, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	last := &all[len(all)-1]
	if *updateSchema {
		last.Schema = ""
	}
	whole := last.Schema

	last.Schema = ""
	migrated := newSchema(t, all)
	if *updateSchema {
		if err := os.WriteFile("../schema/schema.sql", []byte(migrated.script()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}

	last.Schema = whole
	atOnce := newSchema(t, all)
	if migrated.script() != atOnce.script() {
		t.Errorf("schema.sql isn't what the migrations make: go test ./internal/store/sqlite -run ^TestSchema_ -schema.update")
	}
	if migrated.meta != atOnce.meta {
		t.Errorf("meta has %s after the migrations, and %s after schema.sql", migrated.meta, atOnce.meta)
	}
}

// madeSchema is what a new database has.
type madeSchema struct {
	statements []string // of its tables and indexes, in the order in which they were made
	rows       []string // statements that insert what the tables hold, apart from meta
	meta       string
}

func (m madeSchema) script() string {
	return strings.Join(append(m.statements, m.rows...), ";\n\n") + ";\n"
}

// newSchema makes a database with these migrations, and reads what it has.
func newSchema(t *testing.T, migrations []schema.Migration) (made madeSchema) {
	t.Helper()
	d, err := Open(context.Background(),
		dialect.Options{Dir: t.TempDir(), ReadWait: time.Second, WriteWait: time.Minute}, true, migrations)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })

	made.statements = texts(t, d.conn,
		"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'meta' ORDER BY rowid")
	made.meta = strings.Join(
		texts(t,
			d.conn,
			"SELECT key || '=' || value FROM meta WHERE key IN ('schema', 'min_reader', 'generation') ORDER BY key"),
		" ",
	)
	for _, table := range texts(t, d.conn, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('meta', 'counters') ORDER BY rowid") {
		if n := texts(t, d.conn, "SELECT count(*) FROM "+table); n[0] != "0" {
			t.Errorf("the migrations leave %s rows in %s, which schema.sql doesn't know", n[0], table)
		}
	}

	made.rows = texts(t,
		d.conn,
		"SELECT format('INSERT INTO counters (name, value) VALUES (%Q, %d)', name, value) FROM counters ORDER BY name")
	return made
}

// texts reads the values of a query's one column.
func texts(t *testing.T, conn *sql.Conn, query string) (values []string) {
	t.Helper()
	rows, err := conn.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()

	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}

	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}
