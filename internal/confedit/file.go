package confedit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
)

// Files edits files. Its zero value is ready to use.
type Files struct {
	// Home is the user's home directory. What is made anew in it under a name that begins with a dot,
	// and what is made below that, is for the user alone (0700, 0600); all else that is made is as
	// the umask has it. May be empty.
	Home string
	// Kill is called at named points of a write, so that tests can end the process there.
	Kill func(point string)
}

// Options say how a file is edited.
type Options struct {
	// Removing is for an edit that takes away what an earlier one put there: no backup is made; a
	// backup with just the bytes that the file gets is deleted; and a file that is left blank or as
	// an empty object, and has no backup, is deleted, since then it was made by us.
	Removing bool
}

// BackupSuffix is appended to a file's name for the copy that is made before its first edit.
const BackupSuffix = ".before-talking-stick"

// Change is an edit of a file that is ready to be written.
type Change struct {
	Path   string // as it was given
	Target string // the file itself, behind symbolic links
	Exists bool   // it did when it was read
	Before []byte // what it held
	After  []byte // what it is to hold
	Delete bool   // it is to be deleted
	Backup string // the copy that is to be made; empty when none is

	files Files
	opt   Options
	info  fs.FileInfo // of Target, when it exists
}

// Prepare reads a file and applies an edit; nothing is written. A symbolic link is followed, and
// stays one. A file that isn't there is edited as nil, and made if the edit puts something into it.
//
// Its errors are those of the edit, with the file's name, and [*FileError].
func (f Files) Prepare(path string, edit Edit, opt Options) (*Change, error) {
	c := &Change{Path: path, files: f, opt: opt}
	var err error
	if c.Target, c.info, err = resolve(path); err != nil {
		return nil, err
	}
	if c.info != nil {
		c.Exists = true
		if c.Before, err = os.ReadFile(c.Target); err != nil {
			return nil, &FileError{path, "can't be read", errors.Unwrap(err)}
		}
	}
	var changed bool
	if c.After, changed, err = edit(c.Before); err != nil {
		return nil, named(err, path)
	}
	if !changed {
		return c, nil
	}
	if c.Exists && c.info.Mode()&0o200 == 0 {
		return nil, &FileError{File: path, Why: "is write-protected"}
	}
	_, err = os.Lstat(path + BackupSuffix)
	saved := !errors.Is(err, fs.ErrNotExist)
	if opt.Removing {
		c.Delete = c.Exists && !saved && c.Target == filepath.Clean(path) && nothing(c.After)
	} else if c.Exists && !saved {
		c.Backup = path + BackupSuffix
	}
	return c, nil
}

// nothing tells whether a file says nothing: it is blank or an empty object, without comments.
func nothing(src []byte) bool {
	return blank(src) || bytes.Equal(bytes.Join(bytes.Fields(bytes.TrimPrefix(src, []byte(bom))), nil), []byte("{}"))
}

// resolve finds the file behind a path: its name, and what it is (nil when there is none).
func resolve(path string) (target string, info fs.FileInfo, err error) {
	path = filepath.Clean(path)
	link, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil, nil
	case err != nil:
		return "", nil, &FileError{path, "can't be looked at", errors.Unwrap(err)}
	}
	target = path
	if link.Mode()&fs.ModeSymlink != 0 {
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return "", nil, &FileError{path, "is a symbolic link that leads nowhere", errors.Unwrap(err)}
		}
	}
	if info, err = os.Stat(target); err != nil {
		return "", nil, &FileError{path, "can't be looked at", errors.Unwrap(err)}
	}
	if !info.Mode().IsRegular() {
		return "", nil, &FileError{File: path, Why: "isn't a regular file"}
	}
	return target, info, nil
}

// Changed tells whether there is anything to write.
func (c *Change) Changed() bool { return !bytes.Equal(c.Before, c.After) || c.Delete }

// Diff is the change as a unified diff: empty when there is none. It shows lines of the file, and
// with them what may stand there that is secret.
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
