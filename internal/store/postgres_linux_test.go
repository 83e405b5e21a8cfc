package store_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/store/postgres"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// TestPostgres lets PostgreSQL apply the schema and prepare every query, so that the schema and the queries
// stay ready for it. Each parameter must be of the kind that the store passes.
func TestPostgres(t *testing.T) {
	db := rebooted(t)
	rec := recorded(t, db)
	texts := queries(rec)
	pg := postgresAt(t)
	const meta = "SELECT key || value FROM meta ORDER BY key"
	if got, want := pg.run(t, meta), strings.Join(column(t, openRaw(t, fresh(t).Dir()), meta), "\n"); strings.TrimSpace(got) != want {
		t.Errorf("PostgreSQL has\n%s\nand SQLite has\n%s", got, want)
	}

	t.Run("columns", func(t *testing.T) {
		out := pg.run(t, `SELECT table_name || '.' || column_name || ' is ' || data_type || ' ' || COALESCE(collation_name, '')
			FROM information_schema.columns WHERE table_schema = current_schema() AND table_name <> 'blob_contents' ORDER BY 1;`)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		for _, line := range lines {
			if !strings.HasSuffix(line, " is bigint ") && !strings.HasSuffix(line, " is text C") {
				t.Errorf(
					"%s: only 64 bit integers and text in the order of its bytes hold what SQLite's columns do",
					line,
				)
			}
		}

		if len(lines) < 50 {
			t.Errorf("there are only %d columns", len(lines))
		}
	})

	t.Run("queries", func(t *testing.T) {
		var script strings.Builder
		for i, text := range texts {
			fmt.Fprintf(&script, "\\warn at q%d:\nPREPARE q%d AS %s;\n", i, i, postgres.TranslateQuery(text))
		}
		script.WriteString("SELECT name || ' ' || array_to_string(parameter_types, ',') FROM pg_prepared_statements;\n")
		out, said, err := pg.psql(script.String(), false)
		if err != nil {
			t.Fatalf("psql: %v\n%s", err, said)
		}

		types := map[string]string{}
		for line := range strings.Lines(out) {
			name, kinds, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			types[name] = kinds
		}

		for i, text := range texts {
			name := fmt.Sprintf("q%d", i)
			want, ok := types[name]
			if !ok {
				_, why, _ := strings.Cut(said, "at "+name+":\n")
				why, _, _ = strings.Cut(why, "at q")
				t.Errorf("PostgreSQL can't prepare\n%s\nIt says: %s", text, why)
				continue
			}

			for _, args := range rec.Statements[text].Args {
				if got := kinds.Replace(args); got != want {
					t.Errorf("the store passes (%s) where PostgreSQL expects (%s):\n%s", got, want, text)
				}
			}
		}
	})
}

// kinds are PostgreSQL's types for what the store passes; truth values are 0 and 1.
var kinds = strings.NewReplacer("int64", "bigint", "bool", "bigint", "string", "text")

// database is a database of PostgreSQL that the store has made.
type database struct{ address string }

func postgresAt(t *testing.T) database {
	t.Helper()
	address := storetest.PostgresURL(t)
	db, err := store.Open(ctx, store.Options{Dir: t.TempDir(), URL: address}, true)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}

	return database{address}
}

// psql runs a script, up to its first error or to its end.
func (d database) psql(script string, stop bool) (out, said string, err error) {
	u, err := url.Parse(d.address)
	if err != nil {
		return "", "", err
	}
	schema := u.Query().Get("search_path")
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c := exec.CommandContext(limited, filepath.Join(storetest.PostgresBin, "psql"), "-X", "-q", "-A", "-t", "-v", fmt.Sprintf("ON_ERROR_STOP=%t", stop),
		"-h", u.Query().Get("host"), "-p", u.Query().Get("port"), "-U", "tt", "-d", "postgres", "-f", "-")
	var stdout, stderr bytes.Buffer
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + os.Getenv("HOME"),
		"LC_ALL=C",
		"PGOPTIONS=-c search_path=" + schema,
	}
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(script), &stdout, &stderr
	err = c.Run()
	return stdout.String(), stderr.String(), err
}

func (d database) run(t *testing.T, script string) string {
	t.Helper()
	out, said, err := d.psql(script, true)
	if err != nil {
		t.Fatalf("psql: %v\n%s\n%s", err, said, script)
	}
	return out
}

// TestClocksApart: outside of a transaction, too, the time is the server's, whatever this machine's clock
// says.
func TestClocksApart(t *testing.T) {
	storetest.OnPostgres(t, func(t *testing.T, db *store.DB) {
		for _, apart := range []time.Duration{time.Hour, -time.Hour} {
			opt := storetest.Options(db)
			opt.Local = func() time.Time { return time.Now().Add(apart) }
			there := storetest.With(t, db, opt)
			var in stick.Time
			if err := there.View(ctx, func(tx *store.Tx) error { in = tx.Now(); return nil }); err != nil {
				t.Fatal(err)
			}
			if d := stick.At(there.Now()).Sub(in); d < -time.Minute || d > time.Minute {
				t.Errorf("where the clock is off by %s, the time after a transaction is off by %s", apart, d)
			}
		}
	})
}
