package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// BackupDBParams asks for a backup of the database.
type BackupDBParams struct {
	Caller core.Caller `json:"-"`
	File   string      `json:"file,omitempty"`  // an absolute path; empty for a new file in the directory of backups
	Force  bool        `json:"force,omitempty"` // replace the file
	// remove all but so many of those in the directory of backups; 0 removes none
	Keep    int  `json:"keep,omitempty"`
	Rescues bool `json:"rescues,omitempty"` // with the copies of uncommitted work
}

// BackupDBResult is the backup that was made.
type BackupDBResult struct {
	File  string     `json:"file"`
	Bytes int64      `json:"bytes"`
	At    stick.Time `json:"at"` // it has all that was committed before
	store.Contents
	// beside the database: outputs of gates and checks, and copies of uncommitted work
	Files   int      `json:"files"`
	Removed []string `json:"removed,omitempty"` // older backups
}

// BackupDB makes a backup of the database while others use it, and checks it. It fails with [stick.CodeUsage]
// where the rooms are on a server, with [stick.CodeNotFound] where there is no database, with
// [stick.CodeAlreadyExists] where there is a file that it may not replace, with [stick.CodeDatabaseCorrupt] and
// with [stick.CodeDataDirNotWritable].
func (u *Upkeep) BackupDB(ctx context.Context, p BackupDBParams) (res BackupDBResult, err error) {
	switch {
	case u.core.Config.Database != "":
		return res, u.errOnServer("pg_dump")
	case p.File != "" && p.Keep > 0:
		return res, stick.Errorf(stick.CodeUsage,
			"--keep is about the backups in %s, and not about a file that you name", u.backupDir()).
			With("field", "keep").Hintf("leave one of the two out: %s", stick.Cmd("tt backup --keep <n>", p.Keep))
	case p.Keep < 0:
		return res, stick.Errorf(stick.CodeUsage, "--keep is how many backups stay, and must be at least 1").
			With("field", "keep").Hintf("keep at least one: %s", stick.Cmd("tt backup --keep 1"))
	}

	db, err := u.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return res, stick.Errorf(stick.CodeNotFound,
			"there is no database in %s so far, so there is nothing to back up", u.core.Config.Dir).
			With("path", u.core.Config.Dir).Hintf("to make the first room: %s", stick.Cmd("tt join"))
	}
	if err != nil {
		return res, err
	}

	if err := u.refuseDataFile(p.File); err != nil {
		return res, err
	}

	r := store.BackupRequest{Target: p.File, Replace: p.Force}
	if r.Target == "" {
		if r.Target, err = u.newBackupName(); err != nil {
			return res, err
		}
	}
	if p.Rescues {
		r.Folders = append(r.Folders, filepath.Base(u.rescueDir()))
	}

	b, err := db.Backup(ctx, r)
	if err != nil {
		return res, err
	}

	res = BackupDBResult{File: r.Target, Bytes: b.Bytes, At: b.At, Contents: b.Contents, Files: b.Files}
	if p.Keep > 0 {
		res.Removed, err = u.removeOldBackups(p.Keep)
	}

	return res, err
}

// refuseDataFile refuses a file for a backup that lies where some data directory has its own: whoever has the
// database open would go on with another one. The directory of backups is there for it.
func (u *Upkeep) refuseDataFile(file string) error {
	if file == "" {
		return nil
	}

	dir := resolveLinks(filepath.Dir(file))
	inData := isBelow(resolveLinks(u.core.Config.Dir), dir) && !isBelow(resolveLinks(u.backupDir()), dir)
	_, err := os.Lstat(filepath.Join(dir, store.IssuedName)) // of another data directory
	if !inData && err != nil {
		return nil
	}

	return stick.Errorf(stick.CodeUsage, "a data directory keeps its database where this backup would lie: %s", file).
		With("field", "file").Hintf("let tt choose the place: %s; or name a file elsewhere", stick.Cmd("tt backup"))
}

// isBelow reports whether a directory is another one, or lies in it.
func isBelow(top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && filepath.IsLocal(rel)
}

// resolveLinks follows the links of a path. What isn't there has none.
func resolveLinks(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// backupDir is where backups lie that nobody has given another place.
func (u *Upkeep) backupDir() string { return filepath.Join(u.core.Config.Dir, store.BackupsName) }

// The names of backups sort by their time.
const (
	backupPrefix = "rooms-"
	backupSuffix = ".sqlite"
	backupTime   = "2006-01-02T150405Z"
)

// newBackupName is a name in the directory of backups that no file has.
func (u *Upkeep) newBackupName() (string, error) {
	at := u.core.Now().UTC().Format(backupTime)
	for n := 1; ; n++ {
		name := backupPrefix + at
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}

		path := filepath.Join(u.backupDir(), name+backupSuffix)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		} else if err != nil {
			return "", store.ErrBackupFile(path, err)
		}
	}
}

// BackupFile is a backup in the directory of backups.
type BackupFile struct {
	File  string     `json:"file"`
	At    stick.Time `json:"at"` // when it was written
	Bytes int64      `json:"bytes"`
}

// backups lists the backups in their directory, the newest first. Files with other names are somebody else's.
func (u *Upkeep) backups() (found []BackupFile, err error) {
	entries, err := os.ReadDir(u.backupDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, store.ErrBackupFile(u.backupDir(), err)
	}

	for _, e := range entries {
		isBackup := strings.HasPrefix(e.Name(), backupPrefix) && strings.HasSuffix(e.Name(), backupSuffix)
		if !isBackup || !e.Type().IsRegular() {
			continue
		}

		// One that goes meanwhile is none.
		if info, err := e.Info(); err == nil {
			path := filepath.Join(u.backupDir(), e.Name())
			found = append(found, BackupFile{File: path, At: stick.At(info.ModTime()), Bytes: info.Size()})
		}
	}

	// Of two of one second, the later one has a longer name.
	slices.SortFunc(found, func(a, b BackupFile) int {
		return strings.Compare(strings.TrimSuffix(b.File, backupSuffix), strings.TrimSuffix(a.File, backupSuffix))
	})

	return found, nil
}

// removeOldBackups removes all but the newest backups.
func (u *Upkeep) removeOldBackups(keep int) (removed []string, err error) {
	all, err := u.backups()
	if err != nil || len(all) <= keep {
		return nil, err
	}

	for _, b := range all[keep:] {
		if err := os.Remove(b.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, store.ErrBackupFile(b.File, err)
		}
		removed = append(removed, b.File)
	}

	return removed, nil
}

// errOnServer refuses what only a file can have, and names the server's own program for it.
func (u *Upkeep) errOnServer(program string) error {
	line, err := store.DumpLine(u.core.Config.Database, program)
	if err != nil {
		return err
	}

	return stick.Errorf(stick.CodeUsage,
		"the rooms are in a database on a server, and tt backs up and restores only its own file").
		Hintf("use the server's own program, which may ask for the password: %s", line)
}
