package store

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

// migration is one file of the migrations. Its name begins with its number, and its first line says which
// programs can read and write a database that has it: those that know at least the schema minReader.
type migration struct {
	number    int64
	minReader int64
	text      string
	// schema is all that this migration and those before it make in a new SQLite database; empty where nobody
	// has written it down.
	schema string
}

// minReaderMark begins the first line of each migration.
const minReaderMark = "-- min_reader: "

// readMigrations reads the migrations in order. It refuses whatever in their directory isn't one, because a
// file that is overlooked would leave databases that claim a schema which they don't have.
func readMigrations(fsys fs.FS) ([]migration, error) {
	files, err := fs.ReadDir(fsys, "migrations")
	if err != nil {
		return nil, err
	}

	var out []migration

	// The directory lists them by their names, and so by their numbers.
	for _, f := range files {
		m, err := readMigration(fsys, f.Name(), int64(len(out)+1))
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", f.Name(), err)
		}
		if n := len(out); n > 0 && m.minReader < out[n-1].minReader {
			return nil, fmt.Errorf("migration %s: min_reader falls from %d to %d", f.Name(), out[n-1].minReader, m.minReader)
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

	out[len(out)-1].schema = string(schema)
	return out, nil
}

func readMigration(fsys fs.FS, name string, number int64) (migration, error) {
	m := migration{number: number}
	digits, rest, _ := strings.Cut(name, "_")
	subject, isSQL := strings.CutSuffix(rest, ".sql")
	if digits != fmt.Sprintf("%04d", number) || subject == "" || !isSQL {
		return m, fmt.Errorf("want a name such as %04d_subject.sql: numbers have four digits and no gaps", number)
	}

	b, err := fs.ReadFile(fsys, "migrations/"+name)
	if err != nil {
		return m, err
	}

	m.text = string(b)
	head, body, _ := strings.Cut(m.text, "\n")
	value, marked := strings.CutPrefix(head, minReaderMark)
	value, _, _ = strings.Cut(value, ".") // what follows says why
	m.minReader, err = strconv.ParseInt(value, 10, 64)

	switch {
	case !marked || err != nil:
		return m, fmt.Errorf(`the first line must say which programs can read the database, as in %q`, fmt.Sprintf("%s%d", minReaderMark, number))
	case m.minReader < 1 || m.minReader > number:
		return m, fmt.Errorf("min_reader %d isn't one of the schemas up to this one", m.minReader)
	case strings.TrimSpace(body) == "":
		return m, fmt.Errorf("it changes nothing")
	}

	// Comments are cut off without parsing SQL, so no text may look like one.
	for line := range strings.Lines(body) {
		if before, _, comment := strings.Cut(line, "--"); comment && strings.Count(before, "'")%2 == 1 {
			return m, fmt.Errorf("a text has --, which is taken for a comment: %s", strings.TrimSpace(line))
		}
	}

	return m, nil
}

// hookPrograms is the number of the migration since which it is recorded which program answers the hooks of a
// session.
const hookPrograms = 30

// upgradeScript applies a migration and records it. It runs in a transaction. text is the migration as the
// database reads it.
func (m migration) upgradeScript(text string) string {
	return withoutComments(text) + m.recordScript()
}

// recordScript are the statements that say which schema a database has.
func (m migration) recordScript() string {
	script := fmt.Sprintf("\nUPDATE meta SET value = '%d' WHERE key = 'schema';"+
		"\nUPDATE meta SET value = '%d' WHERE key = 'min_reader';", m.number, m.minReader)
	if m.number >= hookPrograms {
		script += fmt.Sprintf("\nUPDATE sessions SET hooks_schema = %d;", m.number)
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

// newestNumber is the number of the newest migration that a program knows.
func newestNumber(migrations []migration) int64 { return migrations[len(migrations)-1].number }

// errTooNew is the error for a database with a schema that only newer programs can read: those that know at
// least reader.
func errTooNew(schema, reader, known int64) *stick.Error {
	return stick.Errorf(stick.CodeSchemaTooNew, "the database needs schema %d and this tt knows %d", reader, known).
		With("schema", schema).Hintf("use the newer tt that wrote it")
}
