package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// files reads everything in a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return out
}

func TestOpenMakesPrivateFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are left to Windows")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	if _, err := store.Open(ctx, store.Options{Dir: dir}, false); !errors.Is(err, store.ErrAbsent) {
		t.Fatalf("a database that isn't there: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("looking for a database made its directory")
	}

	db, err := store.Open(ctx, store.Options{Dir: dir}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	newRoom(t, db, "/work")

	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestForeignDatabaseIsUntouched: not a byte of another program's database changes, and nothing
// appears beside it.
func TestForeignDatabaseIsUntouched(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, file string)
		code stick.Code
	}{
		"the npm program's": {func(t *testing.T, file string) {
			raw, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			if _, err := raw.Exec("PRAGMA journal_mode=WAL; CREATE TABLE rooms (id TEXT); INSERT INTO rooms VALUES ('x')"); err != nil {
				t.Fatal(err)
			}
		}, stick.CodeForeignDatabase},
		"another application's": {func(t *testing.T, file string) {
			raw, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			if _, err := raw.Exec("PRAGMA application_id=42; CREATE TABLE meta (key TEXT, value TEXT)"); err != nil {
				t.Fatal(err)
			}
		}, stick.CodeForeignDatabase},
		"no database at all": {func(t *testing.T, file string) {
			if err := os.WriteFile(file, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, stick.CodeDatabaseCorrupt},
		"the beginning of one": {func(t *testing.T, file string) {
			if err := os.WriteFile(file, []byte("SQLite format 3\x00"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, stick.CodeDatabaseCorrupt},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, filepath.Join(dir, store.FileName))
			before := files(t, dir)

			for _, create := range []bool{false, true} {
				_, err := store.Open(ctx, store.Options{Dir: dir}, create)
				if e := refused(t, err, c.code); len(e.Hint) == 0 {
					t.Error("the refusal doesn't say what to do")
				}
			}

			if diff := cmp.Diff(before, files(t, dir)); diff != "" {
				t.Errorf("something changed:\n%s", diff)
			}
		})
	}
}

func TestSchemaOfANewerProgram(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		storetest.Exec(t,
			db,
			"UPDATE meta SET value = '99' WHERE key = 'schema'; ALTER TABLE rooms ADD COLUMN novelty TEXT NOT NULL DEFAULT ''")
		additive := storetest.Again(t, db)
		join(t, additive, id, "gemini:c")
		if r := load(t, additive, id); len(r.Members) != 3 {
			t.Error("with an additive schema nothing was saved")
		}

		storetest.Exec(t, db, "UPDATE meta SET value = '98' WHERE key = 'min_reader'")
		opt := storetest.Options(db)
		_, err := store.Open(ctx, opt, false)
		e := refused(t, err, stick.CodeSchemaTooNew)
		if len(e.Hint) == 0 {
			t.Error("the refusal doesn't say what to do")
		}

		// A process that ran meanwhile ends with "upgraded", whether it reads or writes.
		read := false
		look := func(tx *store.Tx) error {
			_, err := tx.Room(id)
			read = err == nil
			return err
		}

		for name, asks := range map[string]func(*store.Tx) error{
			"a query":  look,
			"the time": func(tx *store.Tx) error { tx.Now(); return nil },
			"a change": func(tx *store.Tx) error { return tx.DropListener("l") },
		} {
			refused(t, db.Update(ctx, asks), stick.CodeUpgraded)
			if name != "a change" {
				refused(t, db.View(ctx, asks), stick.CodeUpgraded)
			}
			if read {
				t.Errorf("%s: a transaction ran on a schema that isn't known", name)
			}
		}
		storetest.Exec(t, db, "UPDATE meta SET value = '1' WHERE key = 'min_reader'") // for the check
	})
}

// TestManyProcessesMakeOneDatabase starts processes that all find no database. Each makes a room
// in it; none may fail and none may be lost.
func TestManyProcessesMakeOneDatabase(t *testing.T) {
	const n = 8
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   func(testing.TB) string { return "" },
		"postgres": storetest.PostgresURL,
	} {
		t.Run(name, func(t *testing.T) {
			opt := store.Options{Dir: filepath.Join(t.TempDir(), "new"), URL: address(t)}
			if _, err := store.Open(ctx, opt, false); !errors.Is(err, store.ErrAbsent) {
				t.Fatalf("a database that isn't there: %v", err)
			}

			var wg sync.WaitGroup
			for range n {
				c := start(t, opt, "none", "")
				wg.Go(func() {
					if err := c.Wait(); err != nil {
						t.Errorf("a process that made the database: %v", err)
					}
				})
			}

			wg.Wait()
			db, err := store.Open(ctx, opt, false)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()

			view(t, db, func(tx *store.Tx) error {
				rooms, err := tx.Rooms(nil, "")
				if len(rooms) != n {
					t.Errorf("%d processes made %d rooms", n, len(rooms))
				}
				return err
			})

			if found, err := db.Check(ctx); err != nil || len(found) > 0 {
				t.Errorf("the check found %q (%v)", found, err)
			}
		})
	}
}

// TestOpenedTwiceInOneProcess: a process that opens the database twice keeps its locks. Otherwise another
// process that closes the database would believe that it is the last one, and delete the log.
func TestOpenedTwiceInOneProcess(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		newRoom(t, db, "/before")
		second := storetest.Again(t, db)
		newRoom(t, second, "/second")

		for range 2 {
			if err := start(t, storetest.Options(db), "none", "").Wait(); err != nil {
				t.Fatal(err)
			}
			newRoom(t, db, fmt.Sprint("/after/", time.Now().UnixNano()))
		}

		if err := start(t, storetest.Options(db), "none", "").Wait(); err != nil {
			t.Fatal(err)
		}
		raw := storetest.Raw(t, db)
		var n int
		if err := raw.QueryRow("SELECT count(*) FROM rooms").Scan(&n); err != nil || n != 7 {
			t.Errorf("there are %d rooms (%v), want 7", n, err)
		}
		if wal := filepath.Join(db.Dir(), store.FileName+"-wal"); !exists(wal) {
			t.Error("the log was thrown away by a process that isn't the last")
		}
	})
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// TestLargeWALIsCheckpointed: while somebody reads, nobody can move the log into the database, so it grows.
// The next writer moves it. A reader never makes writers wait.
func TestLargeWALIsCheckpointed(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := newRoom(t, db, "/work").ID
		join(t, db, id, "claude:a")
		wal := filepath.Join(db.Dir(), store.FileName+"-wal")
		size := func() int64 {
			info, err := os.Stat(wal)
			if err != nil {
				t.Fatal(err)
			}
			return info.Size()
		}

		grow := func(n int) {
			t.Helper()
			for range n {
				play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
					r, events, err := r.SetPolicy("claude:a", true, []string{"order=sequence"}, now)
					if len(events) == 0 {
						r, events, err = r.SetPolicy("claude:a", true, []string{"order=fair"}, now)
					}
					if err != nil {
						t.Fatal(err)
					}
					events[0].Reason = strings.Repeat("x", 1<<20)
					return r, events
				})
			}
		}

		raw := storetest.Raw(t, db)
		reader, err := raw.Begin()
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := reader.QueryRow("SELECT count(*) FROM events").Scan(&n); err != nil {
			t.Fatal(err)
		}

		grow(3)
		if size() <= 2<<20 {
			t.Fatalf("the log has %d bytes although somebody reads", size())
		}

		began := time.Now()
		play(t, db, id, func(r stick.Room, _ stick.Time) (stick.Room, []stick.Event) { return r, nil })
		if took := time.Since(began); took > 3*time.Second { // SQLite would wait for five
			t.Errorf("a reader made a writer wait for %s", took)
		}

		if err := reader.Rollback(); err != nil {
			t.Fatal(err)
		}
		grow(1)
		if size() > 1<<20 {
			t.Errorf("the log still has %d bytes", size())
		}

		grow(10)
		if size() <= 2<<20 {
			t.Errorf("a process that goes on writing has moved the log at %d bytes", size())
		}
	})
}
