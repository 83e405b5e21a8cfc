package confedit

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Write makes the change: first the backup, then the new file in one step, by renaming. If the process or the
// machine dies, the old file or the new one is there, and at worst a file named like
// .settings.json.talking-stick-… beside it, which a later write removes. The file keeps its mode and owner,
// but loses hard links, extended attributes and access control lists.
//
// Just before the last step it reads the file again, and fails with [*ChangedError] if that has changed. It
// can't notice a write between that and the rename. Other errors are [*FileError].
func (c *Change) Write() error {
	if c.Changed() {
		if err := c.writeFile(); err != nil {
			return err
		}
	}
	if c.opt.Removing {
		c.forgetCopy()
	}
	return nil
}

func (c *Change) writeFile() error {
	if c.Delete {
		if err := c.checkUnchanged(); err != nil {
			return err
		}
		return c.fileError("can't be deleted", os.Remove(c.Target))
	}

	dir := filepath.Dir(c.Target)
	if err := c.files.makeDirectory(dir); err != nil {
		return c.fileError("can't be written: its directory can't be made", err)
	}

	// The copy comes before the new file, so that no crash leaves the old bytes nowhere.
	if err := c.keepCopy(); err != nil {
		return c.fileError("can't be backed up", err)
	}

	err := c.replaceFile(c.Target, c.After, func() error {
		c.killAt("before rename")
		return c.checkUnchanged()
	})
	if err != nil {
		return c.fileError("can't be written", err)
	}

	c.killAt("after rename")
	syncDir(dir)
	c.sweepLeftovers(dir, c.Target)
	return nil
}

func (c *Change) killAt(point string) {
	if c.files.Kill != nil {
		c.files.Kill(point)
	}
}

// fileError adds the file's name to a system's error.
func (c *Change) fileError(why string, err error) error {
	var changed *ChangedError
	var file *FileError
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &changed):
		return changed
	case errors.As(err, &file):
		return file
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return &FileError{c.Path, why, err}
}

// checkUnchanged checks that the path still leads to the file that was read, and that the file hasn't
// changed.
func (c *Change) checkUnchanged() error {
	target, info, err := resolveFile(c.Path)
	if err != nil {
		return err
	}
	if target != c.Target || (info != nil) != c.Exists {
		return &ChangedError{c.Path}
	}
	if info == nil {
		return nil
	}

	now, err := Read(target)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, c.Before) || info.Mode() != c.info.Mode() {
		return &ChangedError{c.Path}
	}
	return nil
}

// replaceFile gives a file new bytes. It writes them to a new file beside it, syncs that and, if last agrees,
// renames it.
func (c *Change) replaceFile(name string, data []byte, last func() error) error {
	temp := filepath.Join(filepath.Dir(name), tempPrefix(name)+strings.ToLower(rand.Text()[:8]))
	perm := fs.FileMode(0o600)
	if c.info == nil && !c.files.isPrivate(name) {
		perm = 0o644
	}

	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}

	_, err = f.Write(data)
	if err == nil && c.info != nil {
		err = c.copyOwner(f)
	}

	// The bytes have to be on the disk before the file gets its name.
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}

	// What was read is compared last, so that little can happen before the rename.
	if err == nil {
		err = last()
	}
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		// The first error is the one to report.
		_ = os.Remove(temp)
	}

	return err
}

// copyOwner gives a new file the owner and mode of the one it replaces.
func (c *Change) copyOwner(f *os.File) error {
	if err := keepOwner(f, c.info); err != nil {
		return &FileError{c.Path, "can't keep its owner", err}
	}
	return f.Chmod(c.info.Mode().Perm())
}

func tempPrefix(name string) string { return "." + filepath.Base(name) + ".talking-stick-" }

// staleAge is the age at which a temporary file counts as left behind. No write takes that long.
const staleAge = time.Hour

// sweepLeftovers removes what earlier writes of a file left behind in its directory when they died.
func (c *Change) sweepLeftovers(dir, name string) {
	written, err := os.Stat(name)
	if err != nil {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}

	for _, e := range entries {
		ours := strings.HasPrefix(e.Name(), tempPrefix(name)) ||
			strings.HasPrefix(e.Name(), tempPrefix(name+BackupSuffix))
		if !ours {
			continue
		}

		// A younger file may be of a write that goes on.
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && written.ModTime().Sub(info.ModTime()) > staleAge {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// makeDirectory makes a directory and those above it.
func (f Files) makeDirectory(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}

	if parent := filepath.Dir(dir); parent != dir {
		if err := f.makeDirectory(parent); err != nil {
			return err
		}
	}

	// The directory is noted before it is made, so that a crash leaves none of which nobody knows.
	f.noteDirectory(dir)
	err := os.Mkdir(dir, f.dirMode(dir))
	if errors.Is(err, fs.ErrExist) {
		if info, stat := os.Stat(dir); stat == nil && info.IsDir() {
			// Somebody has just made it.
			return nil
		}
	}
	return err
}

func (f Files) dirMode(dir string) fs.FileMode {
	if f.isPrivate(dir) {
		return 0o700
	}
	return 0o755
}

// isPrivate reports whether a path is in the home directory, and the first part of its name there begins with
// a dot.
func (f Files) isPrivate(path string) bool {
	if f.Home == "" {
		return false
	}
	rel, err := filepath.Rel(f.Home, path)
	outside := rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))
	return err == nil && strings.HasPrefix(rel, ".") && rel != "." && !outside
}
