package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// keepPoints are the points of a backup and a restore at which a process can be killed.
var keepPoints = []string{
	"backup: copied", "backup: checked", "backup: placed",
	"restore: checked", "restore: files", "restore: numbered", "restore: announced", "restore: log kept",
	"restore: moved aside", "restore: log emptied", "restore: place is free", "restore: placed",
}

// TestBackup_KilledAnywhere: whenever a backup or a restore is killed, there is a whole backup or none, and the
// one database, the other, or a refusal that names the next step. The same command, run again, completes it.
func TestBackup_KilledAnywhere(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		kept, _ := newBackup(t, db)
		claim(t, db, id, "codex:b")
		last := lastEventOf(t, db)

		for _, point := range keepPoints {
			t.Run(strings.ReplaceAll(point, " ", "_"), func(t *testing.T) {
				dir, file := filesLeft(t, db.Dir()), kept
				isBackup := strings.HasPrefix(point, "backup")
				if isBackup {
					file = filepath.Join(t.TempDir(), "b.sqlite")
				}

				t.Setenv("STORE_TEST_BACKUP", file)
				opt := store.Options{Dir: dir}
				if err := start(t, opt, "kill", point).Wait(); err == nil {
					t.Fatal("it wasn't killed")
				}

				if isBackup {
					checkKilledBackup(t, opt, file, point)
					return
				}

				again, err := store.Open(ctx, opt, true)
				switch {
				case err == nil:
					is := lastEventOf(t, again)
					if storetest.Check(t, again); is != last && is < last+1<<20 {
						t.Errorf("the last event is %d, and was %d", is, last)
					}
					again.Close()
				default:
					e := refused(t, err, stick.CodeDatabaseCorrupt)
					if !strings.Contains(e.Hint.String(), "tt restore") {
						t.Errorf("it says %s; %s", e.Message, e.Hint)
					}
				}

				if _, err := restoreInto(opt, file); err != nil {
					t.Fatal(err)
				}
				after := openAt(t, dir)
				storetest.Check(t, after)
				if is := lastEventOf(t, after); is < last+1<<20 {
					t.Errorf("restored again, the last event is %d, and was %d", is, last)
				}
			})
		}
	})
}

// checkKilledBackup checks what a backup has left that was killed, and that another one succeeds.
func checkKilledBackup(t *testing.T, opt store.Options, file, point string) {
	t.Helper()
	_, err := os.Stat(file)
	if isThere := err == nil; isThere != (point == "backup: placed") {
		t.Errorf("the backup is there: %v", isThere)
	}

	db := openAt(t, opt.Dir)
	if _, err := db.Backup(ctx, store.BackupRequest{Target: file, Replace: true}); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(opt.Dir, store.BackupsName, "making-*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if _, err := restoreInto(store.Options{Dir: t.TempDir()}, file); err != nil {
		t.Error(err)
	}
}
