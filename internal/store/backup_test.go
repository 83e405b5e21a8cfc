package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// newBackup makes a backup of a database.
func newBackup(t *testing.T, db *store.DB) (file string, b store.Backup) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "the backup.sqlite")
	b, err := db.Backup(ctx, store.BackupRequest{Target: file})
	if err != nil {
		t.Fatal(err)
	}
	return file, b
}

// rowsAt reads the first column of a query in a file.
func rowsAt(t *testing.T, path, query string) []string {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	return column(t, raw, query)
}

// TestBackup_HasAllThatWasCommitted: a backup has rooms, log and outputs, and is for its owner's eyes. It takes
// no name that another file has.
func TestBackup_HasAllThatWasCommitted(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		played(t, db)
		output, err := db.WriteBlob([]byte("what the gate said"))
		if err != nil {
			t.Fatal(err)
		}
		update(t, db, func(tx *store.Tx) error { return tx.AddBlob(output) })

		file, b := newBackup(t, db)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 || info.Size() != b.Bytes || b.Rooms != 1 || b.Files != 1 {
			t.Errorf("the file has mode %v and %d bytes, the backup is %+v", info.Mode(), info.Size(), b)
		}

		_, err = db.Backup(ctx, store.BackupRequest{Target: file})
		refused(t, err, stick.CodeAlreadyExists)
		if _, err := db.Backup(ctx, store.BackupRequest{Target: file, Replace: true}); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(db.Dir(), store.BackupsName, "making-*")); len(left) > 0 {
			t.Errorf("%q are left", left)
		}

		if rooms := rowsAt(t, file, "SELECT canonical_path FROM rooms ORDER BY 1"); !slices.Equal(rooms, []string{"/work"}) {
			t.Errorf("it has the rooms %q", rooms)
		}
		packed := rowsAt(t, file, "SELECT path || ' ' || content FROM backup_files ORDER BY 1")
		if want := "blobs/" + output.Sum[:2] + "/" + output.Sum[2:] + " what the gate said"; !slices.Equal(packed, []string{want}) {
			t.Errorf("it has the files %q", packed)
		}
	})
}

// TestBackup_Cancelled: whoever interrupts a backup has none.
func TestBackup_Cancelled(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		played(t, db)
		gone, cancel := context.WithCancel(ctx)
		cancel()

		file := filepath.Join(t.TempDir(), "b.sqlite")
		_, err := db.Backup(gone, store.BackupRequest{Target: file})
		if _, there := os.Stat(file); !errors.Is(err, context.Canceled) || there == nil {
			t.Errorf("%v, %v", err, there)
		}
	})
}
