package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/store"
)

// readMigrations reads the migrations up to a number, in order.
func readMigrations(t *testing.T, last int) []string {
	t.Helper()
	names, err := filepath.Glob("schema/migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("there are no migrations (%v)", err)
	}

	var out []string
	for _, name := range names[:min(last, len(names))] {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}

	return out
}

// openRaw opens the database in a directory without the store.
func openRaw(t *testing.T, dir string) *sql.DB {
	t.Helper()
	raw, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	t.Cleanup(func() { raw.Close() })
	return raw
}
