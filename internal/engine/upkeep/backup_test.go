package upkeep_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// TestBackupDB_AndRestore: anybody may back up, and only a person restores. The plan says what would be lost, and a
// no changes nothing.
func TestBackupDB_AndRestore(t *testing.T) {
	storetest.NeedsFile(t)
	s := scene.InGit(t)
	ann, bob, pat := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("pat")
	pat.BackupDB(upkeep.BackupDBParams{}).Refused(stick.CodeNotFound)
	ann.Try().Granted(1)

	kept := ann.BackupDB(upkeep.BackupDBParams{Rescues: true}).OK()
	s.Check(kept.Rooms == 1 && filepath.Base(filepath.Dir(kept.File)) == "backups", "%+v", kept)
	pat.BackupDB(upkeep.BackupDBParams{File: kept.File}).Refused(stick.CodeAlreadyExists)
	pat.BackupDB(upkeep.BackupDBParams{File: kept.File, Keep: 2}).Refused(stick.CodeUsage)
	pat.BackupDB(upkeep.BackupDBParams{Keep: -1}).Refused(stick.CodeUsage)

	bob.Join().OK()
	answer := false
	p := upkeep.RestoreDBParams{
		File:    filepath.Base(kept.File),
		Confirm: func(plan upkeep.RestoreDBResult) (bool, error) { return answer, nil },
	}
	ann.RestoreDB(p).Refused(stick.CodePersonOnly)
	pat.RestoreDB(p).That("no", func(r upkeep.RestoreDBResult) bool { return !r.Restored && r.Lost == 1 })
	ann.State()

	answer = true
	pat.RestoreDB(p).That("yes", func(r upkeep.RestoreDBResult) bool { return r.Restored && r.Aside != "" })
	bob.Join().OK()
	bob.Try().Granted(2 + stick.RestoreSkip)
	pat.RestoreDB(upkeep.RestoreDBParams{}).That("the list", func(r upkeep.RestoreDBResult) bool {
		return len(r.Backups) == 1 && r.Backups[0].File == kept.File
	})
}

// TestBackupDB_Keep: only so many backups stay, and no file of somebody else goes.
func TestBackupDB_Keep(t *testing.T) {
	storetest.NeedsFile(t)
	s := scene.New(t)
	ann := s.Agent("claude:a")
	ann.Join().OK()

	first := ann.BackupDB(upkeep.BackupDBParams{}).OK().File
	mine := filepath.Join(filepath.Dir(first), "mine.sqlite")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	ann.BackupDB(upkeep.BackupDBParams{}).OK()
	ann.BackupDB(upkeep.BackupDBParams{Keep: 2}).That("the oldest went", func(r upkeep.BackupDBResult) bool {
		return len(r.Removed) == 1 && r.Removed[0] == first
	})
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

// TestBackupDB_OnServer: tt names the server's own program, and no password.
func TestBackupDB_OnServer(t *testing.T) {
	if !storetest.OnServer(t) {
		testenv.Leaves(t, testenv.Server, "what tt says of a server")
		return
	}

	s := scene.New(t)
	pat := s.Person("pat")
	pat.Join().OK()
	e := pat.BackupDB(upkeep.BackupDBParams{}).Refused(stick.CodeUsage)
	s.Check(strings.Contains(e.Hint.String(), "pg_dump --host "), "it says %s", e.Hint)
	e = pat.RestoreDB(upkeep.RestoreDBParams{File: "x"}).Refused(stick.CodeUsage)
	s.Check(strings.Contains(e.Hint.String(), "pg_restore --host "), "it says %s", e.Hint)
}
