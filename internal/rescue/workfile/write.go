package workfile

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"

	"talkingstick/internal/rescue/pack"
)

// checkUnchanged fails with [ErrTorn] if the file at name isn't the one that info is of, or was written since.
func checkUnchanged(dir *os.Root, name string, info fs.FileInfo) error {
	now, err := dir.Lstat(name)
	if err != nil {
		return err
	}

	if !os.SameFile(now, info) || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return ErrTorn
	}
	return nil
}

// CreateFile makes a file or link, and the directories above it. A file appears under its name when it is
// complete. It fails with [fs.ErrExist] if something is there, or as openParent does.
func (f *Folders) CreateFile(path, temp string, c Content) error {
	dir, name, err := f.openParent(path, true)
	if err != nil {
		return err
	}

	if c.Mode == pack.ModeLink {
		return dir.Symlink(string(c.Data), name)
	}

	if err := f.writeTemp(dir, temp, c); err != nil {
		return err
	}

	// A link fails where something lies, a rename would replace it.
	err = dir.Link(temp, name)

	// A file system may have no links.
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if _, err = dir.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return dir.Rename(temp, name)
		}
		err = errors.Join(fs.ErrExist, err)
	}

	return errors.Join(err, dir.Remove(temp))
}

// ReplaceFile puts a file or link in the place of the one that info is of. It fails with [ErrTorn] if that has
// changed.
func (f *Folders) ReplaceFile(path, temp string, c Content, info fs.FileInfo) error {
	dir, name, err := f.openParent(path, false)
	if err != nil {
		return err
	}

	if err := f.writeTemp(dir, temp, c); err != nil {
		return err
	}

	// Checked as late as possible: what somebody writes after that is lost.
	if err := checkUnchanged(dir, name, info); err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	return dir.Rename(temp, name)
}

// writeTemp writes a file or link under a temporary name. What an interrupted restore has left there goes.
func (f *Folders) writeTemp(dir *os.Root, temp string, c Content) error {
	if info, err := dir.Lstat(temp); err == nil && !info.IsDir() {
		if err := dir.Remove(temp); err != nil {
			return err
		}
	}

	if c.Mode == pack.ModeLink {
		return dir.Symlink(string(c.Data), temp)
	}

	file, err := dir.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, c.firstPerm())
	if err != nil {
		return err
	}

	_, err = file.Write(c.Data)
	if !c.Usual {
		err = errors.Join(err, file.Chmod(c.Perm))
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, dir.Remove(temp))
	}

	if f.Kill != nil {
		f.Kill("wrote a file")
	}
	return nil
}

// firstPerm returns the permissions with which a file is made, as far as the process's mask allows them.
func (c Content) firstPerm() fs.FileMode {
	switch {
	case !c.Usual:
		return 0o600
	case c.Mode == pack.ModeProgram:
		return 0o777
	}
	return 0o666
}

// RemoveEmpty removes the directory at path if it is empty, and reports whether it did.
func (f *Folders) RemoveEmpty(path string) bool {
	dir, name, err := f.openParent(path, false)
	if err != nil {
		return false
	}

	info, err := dir.Lstat(name)
	return err == nil && info.IsDir() && dir.Remove(name) == nil
}

// RemoveFile removes a file that was read, and the directories that are empty then, as git does.
func (f *Folders) RemoveFile(path string, c Content) error {
	dir, name, err := f.openParent(path, false)
	if err != nil {
		return err
	}
	if err := checkUnchanged(dir, name, c.Info); err != nil {
		return err
	}
	if err := dir.Remove(name); err != nil {
		return err
	}

	// Git removes directories that become empty, too.
	for {
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return nil
		}

		path = path[:i]
		f.CloseBelowTop()
		dir, name, err := f.openParent(path, false)
		if err != nil {
			return nil
		}

		if info, err := dir.Lstat(name); err != nil || !info.IsDir() || dir.Remove(name) != nil {
			return nil
		}
	}
}

// PutBeside puts a file or link beside a path, under its name with a suffix. Where something else lies in the
// place of one of the path's directories, a directory beside that one gets it. It replaces nothing, and does
// nothing if the same lies there already.
func (f *Folders) PutBeside(ctx context.Context, path, suffix, temp string, c Content) (at string, err error) {
	names := strings.Split(path, "/")
	i := len(names) - 1

	_, _, err = f.openParent(path, false)
	if blocked := (*BlockedError)(nil); errors.As(err, &blocked) {
		i = blocked.depth
	}

	names[i] += suffix
	at = strings.Join(names, "/")

	err = f.CreateFile(at, temp, c)
	if errors.Is(err, fs.ErrExist) {
		if now, rerr := f.ReadContent(ctx, at, math.MaxInt64-1); rerr == nil && IsSameContent(now, c) {
			err = nil
		}
	}
	return at, err
}
