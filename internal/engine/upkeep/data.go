package upkeep

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// RemoveDataParams asks for what the data directory keeps, or to remove it.
type RemoveDataParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Remove bool `json:"remove,omitempty"` // without it, nothing is changed
}

// RemoveDataResult says what the data directory keeps, or kept.
type RemoveDataResult struct {
	DataDir string      `json:"data_dir"`
	Parts   []DataPart  `json:"parts"` // what can be removed, or was
	Removed bool        `json:"removed,omitempty"`
	Stays   stick.Words `json:"stays,omitempty"` // why the database isn't among it

	// Worktrees are the directories for worktrees of tasks of the repository at the caller's place. They stay.
	Worktrees []core.TaskDirectory `json:"worktrees,omitempty"`
}

// DataPart is a part of the data directory.
type DataPart struct {
	// copies, of uncommitted work; database; backups and replaced, of the database; comparisons; or outputs, of gates
	What  string `json:"what"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // on disk
}

// The parts of the data directory.
const (
	DataCopies   = "copies"
	DataDatabase = "database"
	DataBackups  = "backups"     // of the database
	DataReplaced = "replaced"    // a database that a restore or the doctor has put aside
	DataPairs    = "comparisons" // of working trees
	DataOutputs  = "outputs"     // of gates and checks
)

// RemoveData removes the database, its backups and the copies of uncommitted work from the data directory, or says what
// there is. Nothing brings them back. What is no file of ours stays. It may be repeated. It fails with
// [stick.CodePersonOnly] if an agent wants something removed, and with [stick.CodeDataDirNotWritable].
func (u *Upkeep) RemoveData(ctx context.Context, p RemoveDataParams) (RemoveDataResult, error) {
	res := RemoveDataResult{
		DataDir: u.core.Config.Dir, Parts: []DataPart{}, Worktrees: u.core.TaskDirectories(p.Where),
	}
	if p.Remove && !p.Caller.ActsAsPerson() {
		return res, stick.Errorf(stick.CodePersonOnly, "only a person may remove the data").
			Hintf("ask a person to run it")
	}

	res.addPart(DataCopies, u.rescueDir())
	file := filepath.Join(res.DataDir, store.FileName)
	if res.Stays = u.whyDatabaseStays(ctx); res.Stays == "" {
		res.addPart(DataDatabase, file, file+"-wal", file+"-shm", filepath.Join(res.DataDir, store.IssuedName))
	}
	res.addPart(DataBackups, filepath.Join(res.DataDir, store.BackupsName))
	for _, aside := range store.ReplacedDatabases(res.DataDir) {
		res.addPart(DataReplaced, aside)
	}
	res.addPart(DataPairs, filepath.Join(res.DataDir, core.ComparisonsName))

	if !p.Remove {
		return res, nil
	}

	// Nothing of this process may have the database open while its files go.
	if err := u.core.Close(); err != nil {
		return res, err
	}

	for _, part := range res.Parts {
		paths := []string{part.Path}

		// The file itself comes last: a log without it would stop every command.
		if part.What == DataDatabase {
			paths = []string{filepath.Join(res.DataDir, store.IssuedName), file + "-wal", file + "-shm", file}
		}

		for _, path := range paths {
			if err := os.RemoveAll(path); err != nil {
				return res, stick.Errorf(stick.CodeDataDirNotWritable, "%s can't be removed: %w", path, err).
					With("path", path).
					Hintf("make that directory writable, then run the same command again")
			}
		}
	}

	res.Removed = true
	return res, nil
}

// whyDatabaseStays says why there is no database of ours to remove beside the copies; empty if there may be
// one.
func (u *Upkeep) whyDatabaseStays(ctx context.Context) stick.Words {
	if u.core.Config.Database != "" {
		return "the rooms are in a database on a server"
	}

	_, err := u.core.Open(ctx, false)
	if stick.CodeOf(err) == stick.CodeForeignDatabase {
		return stick.AsError(err).Words()
	}
	return ""
}

// addPart adds a part, if there is something of it.
func (r *RemoveDataResult) addPart(what string, paths ...string) {
	part, found := DataPart{What: what, Path: paths[0]}, false
	for _, path := range paths {
		n, err := sizeOf(path)
		found = found || err == nil
		part.Bytes += n
	}

	if found {
		r.Parts = append(r.Parts, part)
	}
}

// sizeOf returns how many bytes a file has, or all below a directory. What goes meanwhile, or can't be read,
// counts nothing.
func sizeOf(path string) (n int64, err error) {
	if _, err := os.Lstat(path); err != nil {
		return 0, err
	}

	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}

		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})

	return n, err
}
