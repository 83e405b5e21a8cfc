package confedit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Copy returns where the copy of a file lies that was made before the first edit, and whether there is one.
// Earlier versions put the copy beside the file; such a copy counts where there is no other.
func (f Files) Copy(path string) (file string, ok bool) {
	file = f.copyPath(path)
	for _, at := range []string{file, path + BackupSuffix} {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			return at, true
		}
	}
	return file, false
}

// copyPath is where a new copy is put: in Backups, under the whole path of the file itself, with links
// followed.
func (f Files) copyPath(path string) string {
	if f.Backups == "" {
		return path + BackupSuffix
	}
	target := FollowLinks(path)
	// On Windows the path begins with a volume, whose colon no directory can have.
	volume := filepath.VolumeName(target)
	return filepath.Join(f.Backups, strings.ReplaceAll(volume, ":", ""), target[len(volume):])
}

// keepCopy makes the copy of a file before it is edited, and moves the copy of an earlier file aside.
func (c *Change) keepCopy() error {
	// What lies there is the copy of an earlier file at this path.
	if c.stale != "" {
		if err := os.Rename(c.stale, c.stale+".older"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	if c.Backup == "" {
		return nil
	}

	c.killAt("before backup")
	if c.files.Backups != "" {
		if err := os.MkdirAll(filepath.Dir(c.Backup), 0o700); err != nil {
			return err
		}
	}

	err := c.replaceFile(c.Backup, c.Before, func() error {
		if _, err := os.Lstat(c.Backup); err == nil {
			return fs.ErrExist
		}
		return nil
	})
	// A copy that somebody has just made stays.
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}

	c.killAt("after backup")
	c.sweepLeftovers(filepath.Dir(c.Backup), c.Backup)
	return nil
}

// forgetCopy removes what was kept for a file that is as before us: the copy, and the directories that were
// made for it.
func (c *Change) forgetCopy() {
	at, ok := c.files.Copy(c.Path)
	if saved, err := Read(at); !c.Delete && ok && err == nil && bytes.Equal(saved, c.After) {
		// At worst the copy stays.
		_ = os.Remove(at)
	}

	c.files.pruneDirectories(filepath.Dir(c.Target))

	if c.files.Backups == "" {
		return
	}
	for dir := filepath.Dir(c.files.copyPath(c.Path)); len(dir) >= len(c.files.Backups); dir = filepath.Dir(dir) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			// It holds something else.
			break
		}
	}
}

// The list of the directories that edits have made, one a line. The file system doesn't tell them from empty
// directories of others.

func (f Files) directoryListPath() string { return filepath.Join(f.Backups, ".directories") }

// noteDirectory adds a directory to the list, before it is made.
func (f Files) noteDirectory(dir string) {
	if f.Backups == "" || os.MkdirAll(f.Backups, 0o700) != nil {
		// At worst the directory stays.
		return
	}

	list, err := os.OpenFile(f.directoryListPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}

	_, _ = list.WriteString(dir + "\n")
	_ = list.Close()
}

// pruneDirectories removes a directory and those above it, as long as they are empty and on the list.
func (f Files) pruneDirectories(dir string) {
	if f.Backups == "" {
		return
	}

	b, err := os.ReadFile(f.directoryListPath())
	if err != nil {
		return
	}

	made := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	left := slices.Clone(made)

	// A directory that others have made, or in which something is left, stays.
	for slices.Contains(made, dir) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			// It holds something.
			break
		}
		left = slices.DeleteFunc(left, func(d string) bool { return d == dir })
		dir = filepath.Dir(dir)
	}

	switch {
	case len(left) == 0:
		_ = os.Remove(f.directoryListPath())
	case len(left) < len(made):
		_ = os.WriteFile(f.directoryListPath(), []byte(strings.Join(left, "\n")+"\n"), 0o600)
	}
}
