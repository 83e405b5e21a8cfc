package schema

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// TestMigrationsThatAreNone: a file that would be overlooked, or that doesn't say which programs can read the
// database after it, is refused, and the refusal names it.
func TestMigrationsThatAreNone(t *testing.T) {
	const fine = "CREATE TABLE t (a INTEGER);\n"
	for name, c := range map[string]struct{ file, text, says string }{
		"a gap":                    {"0003_c.sql", "-- min_reader: 1\n" + fine, "0002_subject.sql"},
		"a number twice":           {"0001_b.sql", "-- min_reader: 1\n" + fine, "0002_subject.sql"},
		"a short number":           {"2_b.sql", "-- min_reader: 1\n" + fine, "0002_subject.sql"},
		"no subject":               {"0002_.sql", "-- min_reader: 1\n" + fine, "0002_subject.sql"},
		"another kind of file":     {"0002_b.txt", "-- min_reader: 1\n" + fine, "0002_subject.sql"},
		"no first line":            {"0002_b.sql", fine, "the first line"},
		"a later line":             {"0002_b.sql", "\n-- min_reader: 1\n" + fine, "the first line"},
		"no number":                {"0002_b.sql", "-- min_reader: all\n" + fine, "the first line"},
		"a reader from the future": {"0002_b.sql", "-- min_reader: 3\n" + fine, "min_reader 3"},
		"no reader":                {"0002_b.sql", "-- min_reader: 0\n" + fine, "min_reader 0"},
		"a comment in a text":      {"0002_b.sql", "-- min_reader: 1\nUPDATE t SET a = 'x -- y';\n", "a text has --"},
		"nothing":                  {"0002_b.sql", "-- min_reader: 1\n\n", "changes nothing"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			fsys := fstest.MapFS{
				"migrations/0001_a.sql": {Data: []byte("-- min_reader: 1. It is the first.\n" + fine)},
				"migrations/" + c.file:  {Data: []byte(c.text)},
			}

			ms, err := readAll(fsys)
			if err == nil || !strings.Contains(err.Error(), c.file) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d migrations were read: %v", len(ms), err)
			}
		})
	}

	fsys := fstest.MapFS{}
	for i, reader := range []int{1, 2, 1} {
		fsys[fmt.Sprintf("migrations/%04d_x.sql", i+1)] = &fstest.MapFile{
			Data: fmt.Appendf(nil, "-- min_reader: %d\n%s", reader, fine),
		}
	}
	if _, err := readAll(fsys); err == nil || !strings.Contains(err.Error(), "0003_x.sql: min_reader falls") {
		t.Errorf("a min_reader that falls: %v", err)
	}
	if _, err := readAll(fstest.MapFS{"migrations": {Mode: fs.ModeDir}}); err == nil {
		t.Error("no migrations were read")
	}
}

// TestTheSchemaHasNoComments: every program that opens the database parses the schema.
func TestTheSchemaHasNoComments(t *testing.T) {
	const text = "-- min_reader: 1\n\nCREATE TABLE t ( -- rows\n    a TEXT, -- the first\n    b TEXT\n);\n-- the end\n"
	if got, want := withoutComments(text), "CREATE TABLE t (\na TEXT,\nb TEXT\n);\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}

	ms, err := Migrations()
	if err != nil {
		t.Fatal(err)
	}

	for _, m := range ms {
		if script := m.UpgradeScript(m.Text); strings.Contains(script, "--") {
			t.Errorf("migration %d is run with comments", m.Number)
		}
	}
}
