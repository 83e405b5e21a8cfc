// Package schema has the migrations of the database, and reads them. They are written once, in SQL that SQLite
// reads; each dialect runs them in its own way.
package schema

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"talkingstick/stick"
)

// embedded holds the files of the migrations. They are the only place that says which schema this program
// knows and which programs can read it.
//
//go:embed migrations schema.sql
var embedded embed.FS

// Migrations returns the migrations that this program knows, in order.
func Migrations() ([]Migration, error) { return readAll(embedded) }

// Migration is one file of the migrations. Its name begins with its number, and its first line says which
// programs can read and write a database that has it: those that know at least the schema MinReader.
type Migration struct {
	Number    int64
	MinReader int64
	Text      string

	// Schema is all that this migration and those before it make in a new SQLite database; empty where nobody
	// has written it down.
	Schema string
}

// minReaderMark begins the first line of each migration.
const minReaderMark = "-- min_reader: "

// readAll reads the migrations in order. It refuses whatever in their directory isn't one, because a
// file that is overlooked would leave databases that claim a schema which they don't have.
func readAll(fsys fs.FS) ([]Migration, error) {
	files, err := fs.ReadDir(fsys, "migrations")
	if err != nil {
		return nil, err
	}

	// The directory lists them by their names, and so by their numbers.
	var out []Migration
	for _, f := range files {
		m, err := readOne(fsys, f.Name(), int64(len(out)+1))
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", f.Name(), err)
		}
		if n := len(out); n > 0 && m.MinReader < out[n-1].MinReader {
			return nil, fmt.Errorf("migration %s: min_reader falls from %d to %d", f.Name(), out[n-1].MinReader, m.MinReader)
		}

		out = append(out, m)
	}

	if len(out) == 0 {
		return nil, fmt.Errorf("there are no migrations")
	}

	schema, err := fs.ReadFile(fsys, "schema.sql")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}

	out[len(out)-1].Schema = string(schema)
	return out, nil
}

// readOne reads the migration in a file. It refuses one that doesn't have the number that is next.
func readOne(fsys fs.FS, name string, number int64) (Migration, error) {
	m := Migration{Number: number}
	digits, rest, _ := strings.Cut(name, "_")
	subject, isSQL := strings.CutSuffix(rest, ".sql")
	if digits != fmt.Sprintf("%04d", number) || subject == "" || !isSQL {
		return m, fmt.Errorf("want a name such as %04d_subject.sql: numbers have four digits and no gaps", number)
	}

	b, err := fs.ReadFile(fsys, "migrations/"+name)
	if err != nil {
		return m, err
	}

	m.Text = string(b)
	head, body, _ := strings.Cut(m.Text, "\n")
	value, marked := strings.CutPrefix(head, minReaderMark)
	value, _, _ = strings.Cut(value, ".") // what follows says why
	m.MinReader, err = strconv.ParseInt(value, 10, 64)
	switch {
	case !marked || err != nil:
		return m, fmt.Errorf(`the first line must say which programs can read the database, as in %q`, fmt.Sprintf("%s%d", minReaderMark, number))
	case m.MinReader < 1 || m.MinReader > number:
		return m, fmt.Errorf("min_reader %d isn't one of the schemas up to this one", m.MinReader)
	case strings.TrimSpace(body) == "":
		return m, fmt.Errorf("it changes nothing")
	}

	// Comments are cut off without parsing SQL, so no string may hold what looks like one.
	for line := range strings.Lines(body) {
		if before, _, comment := strings.Cut(line, "--"); comment && strings.Count(before, "'")%2 == 1 {
			return m, fmt.Errorf("a text has --, which is taken for a comment: %s", strings.TrimSpace(line))
		}
	}

	return m, nil
}

// hookColumns is the number of the migration that added to sessions which schema the program knows that
// answers their hooks.
const hookColumns = 30

// UpgradeScript returns the statements that apply a migration and record it, for one transaction. text is the
// migration in the words of the database.
func (m Migration) UpgradeScript(text string) string {
	return withoutComments(text) + m.RecordScript()
}

// RecordScript returns the statements that record which schema a database has, and that its sessions may by
// now have a program that knows it.
func (m Migration) RecordScript() string {
	script := fmt.Sprintf("\nUPDATE meta SET value = '%d' WHERE key = 'schema';"+
		"\nUPDATE meta SET value = '%d' WHERE key = 'min_reader';", m.Number, m.MinReader)
	if m.Number >= hookColumns {
		script += fmt.Sprintf("\nUPDATE sessions SET hooks_schema = %d;", m.Number)
	}

	return script
}

// withoutComments returns a migration without its comments. SQLite keeps the text of a table, and every
// program that opens the database parses it.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "--")
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}

	return b.String()
}

// Newest is the number of the newest migration that a program knows.
func Newest(migrations []Migration) int64 { return migrations[len(migrations)-1].Number }

// ErrTooNew is the error for a database with a schema that only newer programs can read: those that know at
// least reader.
func ErrTooNew(schema, reader, known int64) *stick.Error {
	return stick.Errorf(stick.CodeSchemaTooNew, "the database needs schema %d, and this tt knows only schemas up to %d", reader, known).
		With("schema", schema).Hintf("use the newer tt that wrote it")
}
