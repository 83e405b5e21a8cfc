package upkeep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// RestoreDBParams asks to put a backup in the place of the database, or, without a file, for the backups that
// there are.
type RestoreDBParams struct {
	Caller core.Caller `json:"-"`
	File   string      `json:"file,omitempty"` // a path, or the name of one in the directory of backups

	// Confirm is shown what would be done, and reports whether to do it.
	Confirm func(RestoreDBResult) (bool, error) `json:"-"`
}

// RestoreDBResult is what a restore would replace, or has replaced, or the backups that there are.
type RestoreDBResult struct {
	DataDir string       `json:"data_dir"`
	Backups []BackupFile `json:"backups,omitempty"` // the newest first; only without a file

	File   string          `json:"file,omitempty"`
	At     stick.Time      `json:"at,omitzero"`      // when the backup was made
	Backup *store.Contents `json:"backup,omitempty"` // what it has
	// what the database has that it replaces; absent if there is none, or it can't be read
	Replaces *store.Contents `json:"replaces,omitempty"`
	Broken   bool            `json:"broken,omitempty"` // there is a database, and it can't be read
	// events that the backup doesn't have; of a broken database, at most
	Lost     int64  `json:"lost_events"`
	Restored bool   `json:"restored"`
	Aside    string `json:"aside,omitempty"` // where the database is now that was replaced
	Files    int    `json:"files,omitempty"` // that came with the backup, and weren't there
}

// RestoreDB puts a backup in the place of the database, as a person. It checks the backup before it changes
// anything, and keeps the database that was there. All turns and reservations end, and waits with them. It
// fails with [stick.CodePersonOnly], with [stick.CodeUsage] and [stick.CodeNotFound] for what is no backup,
// with [stick.CodeDatabaseCorrupt] for one that is damaged, with [stick.CodeSchemaTooNew] for one of a newer
// program, and with [stick.CodeDataDirNotWritable].
func (u *Upkeep) RestoreDB(ctx context.Context, p RestoreDBParams) (res RestoreDBResult, err error) {
	res.DataDir = u.core.Config.Dir
	if u.core.Config.Database != "" {
		return res, u.errOnServer("pg_restore")
	}
	if p.File == "" {
		res.Backups, err = u.backups()
		return res, err
	}

	if !p.Caller.ActsAsPerson() {
		return res, stick.Errorf(stick.CodePersonOnly,
			"only a person may restore the database, because all that came after the backup is replaced").
			Hintf("ask a person to run it")
	}

	res.File = u.findBackup(p.File)
	db, openErr := u.core.Open(ctx, false)
	isReplaceable := openErr == nil || openErr == store.ErrAbsent || store.IsDamage(openErr)
	if !isReplaceable {
		return res, openErr
	}

	r := store.RestoreRequest{File: res.File, DB: db, OpenErr: openErr, Close: u.core.Close}
	r.Confirm = func(plan store.RestorePlan) error {
		res.At, res.Backup, res.Replaces = plan.At, &plan.Backup, plan.Current
		res.Broken, res.Lost = plan.IsBroken, plan.Lost

		agreed, err := p.Confirm(res)
		if err == nil && !agreed {
			err = errNotAgreed
		}
		return err
	}

	done, err := store.Restore(ctx, u.core.StoreOptions(), r)
	if err == errNotAgreed {
		return res, nil
	}
	if err != nil {
		return res, err
	}

	res.Restored, res.Aside, res.Files = true, done.Aside, done.Files
	return res, nil
}

// errNotAgreed ends a restore that a person doesn't want.
var errNotAgreed = errors.New("nothing was changed")

// findBackup returns the path of a backup, which may have a name of the directory of backups.
func (u *Upkeep) findBackup(file string) string {
	if _, err := os.Stat(file); err == nil || strings.ContainsAny(file, `/\`) {
		return file
	}
	if path := filepath.Join(u.backupDir(), file); isRegularFile(path) {
		return path
	}
	return file
}

func isRegularFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
