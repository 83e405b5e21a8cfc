package store_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// keepOrRestore is what a child does with a backup: it restores one that is there, and makes one that isn't.
func keepOrRestore(opt store.Options, file string) error {
	_, err := os.Stat(file)
	if err == nil {
		_, err := restoreInto(opt, file)
		return err
	}

	db, err := store.Open(ctx, opt, false)
	if err == nil {
		_, err = db.Backup(ctx, store.BackupRequest{Target: file})
	}
	return err
}

// restoreInto restores a backup in a data directory.
func restoreInto(opt store.Options, file string) (store.Restored, error) {
	db, openErr := store.Open(ctx, opt, false)
	r := store.RestoreRequest{
		File: file, DB: db, OpenErr: openErr, Close: func() error { return nil },
		Confirm: func(store.RestorePlan) error { return nil },
	}
	if db != nil {
		r.Close = db.Close
	}

	return store.Restore(ctx, opt, r)
}

// openAt opens the database in a data directory.
func openAt(t *testing.T, dir string) *store.DB {
	t.Helper()
	db, err := store.Open(ctx, store.Options{Dir: dir}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// lastEventOf is the last number that a database has given out.
func lastEventOf(t *testing.T, db *store.DB) (last int64) {
	t.Helper()
	view(t, db, func(tx *store.Tx) (err error) {
		last, err = tx.Issued()
		return err
	})
	return last
}

// execAt runs a statement in a file behind the store's back.
func execAt(t *testing.T, path, statement string) {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = raw.Exec(statement)
		err = errors.Join(err, raw.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRestore_OnAnotherMachine: another machine goes on where this one was, with the outputs of gates.
func TestRestore_OnAnotherMachine(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		output, err := db.WriteBlob([]byte("what the gate said"))
		if err != nil {
			t.Fatal(err)
		}
		update(t, db, func(tx *store.Tx) error { return tx.AddBlob(output) })
		file, _ := newBackup(t, db)

		dir := t.TempDir()
		done, err := restoreInto(store.Options{Dir: dir}, file)
		if err != nil || done.Aside != "" || done.Files != 1 {
			t.Fatalf("%+v, %v", done, err)
		}

		there := openAt(t, dir)
		storetest.Check(t, there)
		if was, is := load(t, db, id), load(t, there, id); was.Turn != is.Turn || was.Path != is.Path {
			t.Errorf("the room was %+v and is %+v", was.Turn, is.Turn)
		}
		if content, err := there.ReadBlob(output.Sum); err != nil || string(content) != "what the gate said" {
			t.Errorf("the output is %q, %v", content, err)
		}
	})
}

// TestRestore_Numbers: after a restore, events and turns go on above all that the database in its place has
// given out. Its leases have ended, it is kept, and who has it open hears that it is gone.
func TestRestore_Numbers(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		file, _ := newBackup(t, db)
		later := claim(t, db, id, "codex:b")

		// The database of the test itself stays where it is.
		dir := filesLeft(t, db.Dir())
		waits, second := openAt(t, dir), openAt(t, dir)
		var plan store.RestorePlan
		r := store.RestoreRequest{File: file, DB: second, Close: func() error { return nil }}
		r.Confirm = func(p store.RestorePlan) error {
			plan = p
			return nil
		}
		done, err := store.Restore(ctx, store.Options{Dir: dir}, r)
		if err != nil || done.Aside == "" {
			t.Fatalf("%+v, %v", done, err)
		}
		if plan.Lost != 1 || plan.AtMost || plan.IsBroken || plan.Current.LastEvent != later.Seq {
			t.Errorf("the plan was %+v", plan)
		}
		refused(t, waits.RequireInPlace(), stick.CodeDatabaseMoved)

		after := openAt(t, dir)
		view(t, after, func(tx *store.Tx) error {
			g := tx.Generation()
			if g.Cause != stick.RestoreCause || g.Above < later.Turn {
				t.Errorf("the generation is %+v", g)
			}
			return nil
		})
		if last := lastEventOf(t, after); last < later.Seq+1<<20 {
			t.Errorf("events go on after %d", last)
		}
		if losses, err := after.Losses(ctx); err != nil || losses.Open != nil {
			t.Errorf("the doctor finds %+v, %v", losses.Open, err)
		}
		storetest.Check(t, after)

		kept := openAt(t, done.Aside)
		if last := lastEventOf(t, kept); last != later.Seq {
			t.Errorf("what was there is kept up to event %d, want %d", last, later.Seq)
		}
	})
}

// fileBeyond puts a file into a backup that would lie outside of the data directory.
const fileBeyond = "INSERT INTO backup_files VALUES ('../x', 0, 384, x'00')"

// TestRestore_Refuses: what isn't a whole backup that this program can read changes nothing.
func TestRestore_Refuses(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		played(t, db)
		file, _ := newBackup(t, db)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		changed := func(change func(path string)) string {
			path := filepath.Join(t.TempDir(), "changed")
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			change(path)
			return path
		}
		run := func(statement string) func(string) {
			return func(path string) { execAt(t, path, statement) }
		}

		for name, c := range map[string]struct {
			file string
			code stick.Code
		}{
			"nothing":      {filepath.Join(t.TempDir(), "none"), stick.CodeNotFound},
			"a directory":  {t.TempDir(), stick.CodeUsage},
			"the database": {filepath.Join(db.Dir(), store.FileName), stick.CodeUsage},
			"empty":        {changed(func(path string) { os.Truncate(path, 0) }), stick.CodeUsage},
			"half": {
				changed(func(path string) { os.Truncate(path, int64(len(whole)/2)) }), stick.CodeDatabaseCorrupt,
			},
			"another log": {
				changed(run("UPDATE events SET reason = 'x' WHERE event_seq = 2")), stick.CodeDatabaseCorrupt,
			},
			"newer": {
				changed(run("UPDATE meta SET value = 99999 WHERE key = 'min_reader'")), stick.CodeSchemaTooNew,
			},
			"another kind": {changed(run("PRAGMA application_id = 7")), stick.CodeUsage},
			"a live log": {
				changed(func(path string) { os.WriteFile(path+"-wal", []byte("x"), 0o600) }), stick.CodeUsage,
			},
			"a file beyond": {changed(run(fileBeyond)), stick.CodeDatabaseCorrupt},
		} {
			t.Run(name, func(t *testing.T) {
				before := lastEventOf(t, db)
				_, err := restoreInto(storetest.Options(db), c.file)
				refused(t, err, c.code)
				if err := db.RequireInPlace(); err != nil || lastEventOf(t, db) != before {
					t.Errorf("something was changed: %v", err)
				}
			})
		}
	})
}
