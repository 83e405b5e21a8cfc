package confedit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"
)

// Files edits files. Its zero value is ready to use.
type Files struct {
	// Home is the user's home directory; it may be empty. New files and directories in it, or below it, are
	// for the user alone (0600, 0700) if the first part of their path begins with a dot. All others follow
	// the umask.
	Home string
	// Backups is the directory of the copies that are made before the first edit, and of the list of
	// directories that edits have made. Without it a copy lies beside its file, and directories stay.
	Backups string
	// Kill is called at named points of a write, where tests end the process.
	Kill func(point string)
}

// Options say how a file is edited.
type Options struct {
	// Removing is for an edit that removes what an earlier one has set. It makes no backup. It deletes a
	// backup that equals the new file. It deletes a file that becomes blank or an empty object and has no
	// backup, because then we made it. It deletes the directories that were made for the file, when they are
	// empty.
	Removing bool
	// Ours reports whether a file holds something of ours. If it doesn't, this is a first edit, and a copy
	// that is in Backups is of an earlier file at this path: it is moved aside. Without Ours, a copy is never
	// moved.
	Ours func(src []byte) bool
}

// BackupSuffix ends the name of the copy that is made before the first edit of a file.
const BackupSuffix = ".before-talking-stick"

// Change is an edit of a file that is ready to be written.
type Change struct {
	Path   string // as given
	Target string // the file itself, behind symbolic links
	Exists bool   // when it was read
	Before []byte // what it held
	After  []byte // what it will hold
	Delete bool   // the edit deletes it
	Backup string // the copy to make first; empty for none

	stale string // the copy of an earlier file, to be moved aside; empty for none

	files Files
	opt   Options
	info  fs.FileInfo // of Target, when it exists
}

// Prepare reads a file and applies an edit, but writes nothing. It follows a symbolic link, which stays one.
// A file that doesn't exist is nil to the edit, and is made if the edit returns something.
//
// Its errors are those of the edit, with the file's name, and [*FileError].
func (f Files) Prepare(path string, edit Edit, opt Options) (*Change, error) {
	c := &Change{Path: path, files: f, opt: opt}
	var err error
	if c.Target, c.info, err = resolveFile(path); err != nil {
		return nil, err
	}

	if c.info != nil {
		c.Exists = true
		if c.Before, err = Read(path); errors.Is(err, fs.ErrNotExist) {
			// The file was there a moment ago.
			err = &ChangedError{path}
		}
		if err != nil {
			return nil, err
		}
	}

	var changed bool
	if c.After, changed, err = edit(c.Before); err != nil {
		return nil, addFileName(err, path)
	}

	if !changed {
		return c, nil
	}

	if c.Exists && c.info.Mode()&0o200 == 0 {
		return nil, &FileError{File: path, Why: "is write-protected"}
	}

	// The copy of an earlier file at this path isn't one of this file.
	at, saved := f.Copy(path)
	mayBeStale := saved && !opt.Removing && opt.Ours != nil && f.Backups != ""
	if mayBeStale && at == f.copyPath(path) && !opt.Ours(c.Before) {
		if b, err := Read(at); !c.Exists || err != nil || !bytes.Equal(b, c.Before) {
			c.stale, saved = at, false
		}
	}

	if opt.Removing {
		c.Delete = c.Exists && !saved && c.Target == filepath.Clean(path) && holdsNothing(c.After)
	} else if c.Exists && !saved {
		c.Backup = f.copyPath(path)
	}
	return c, nil
}

// holdsNothing reports whether a file is blank or an empty object, without comments.
func holdsNothing(src []byte) bool {
	return isBlank(src) || bytes.Equal(bytes.Join(bytes.Fields(bytes.TrimPrefix(src, []byte(bom))), nil), []byte("{}"))
}

// resolveFile finds the file behind a path: its name, and its info if it exists.
func resolveFile(path string) (target string, info fs.FileInfo, err error) {
	path = filepath.Clean(path)
	link, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil, nil
	case err != nil:
		return "", nil, unreadable(path, err)
	}

	target = path
	if link.Mode()&fs.ModeSymlink != 0 {
		// EvalSymlinks would go round in a circle hundreds of times.
		_, err = os.Stat(path)
		if errors.Is(err, syscall.ELOOP) {
			return "", nil, unreadable(path, err)
		}
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return "", nil, &FileError{path, "is a symbolic link that leads nowhere", errors.Unwrap(err)}
		}
	}

	if info, err = os.Stat(target); err != nil {
		return "", nil, &FileError{path, "can't be read", errors.Unwrap(err)}
	}
	return target, info, checkPlain(path, info)
}

// Changed reports whether there is anything to write.
func (c *Change) Changed() bool { return !bytes.Equal(c.Before, c.After) || c.Delete }

// Diff is the change as a unified diff, empty when there is none. It shows lines of the file, which may hold
// secrets.
func (c *Change) Diff() string {
	if !c.Changed() {
		return ""
	}

	from, to, after := c.Path, c.Path, c.After
	if !c.Exists {
		from = os.DevNull
	}
	if c.Delete {
		to, after = os.DevNull, nil
	}

	return string(diff.Diff(from, c.Before, to, after))
}
