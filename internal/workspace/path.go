package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"talkingstick/stick"
)

// resolveDirectory returns the canonical form of path or, if path is a file, of its directory.
func resolveDirectory(path, cwd string) (string, error) {
	abs, err := absolutePath(path, cwd)
	if err != nil {
		return "", err
	}

	info, err := os.Stat(abs)
	if err != nil {
		return "", lookupError(path, err)
	}

	if !info.IsDir() {
		// Not filepath.Dir: it would take a/link/.. for a before the link is followed.
		abs = abs[:lastSeparator(abs)+1]
	}

	real, err := canonicalPath(abs)
	if err != nil {
		return "", lookupError(path, err)
	}

	return real, nil
}

// canonicalPath returns the one spelling of an existing path: absolute, without symlinks, in the case that
// the directories have on record.
func canonicalPath(abs string) (string, error) {
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}

	// On Windows EvalSymlinks has found the spelling already.
	if runtime.GOOS == "darwin" {
		real = recordedSpelling(real, os.ReadDir, sameFile)
	}

	return real, nil
}

// maxLinks is how many links to follow before a path counts as a loop.
const maxLinks = 255

// splitExisting splits path into the part that exists, made canonical, and the rest. It also follows links
// to what doesn't exist: a file created through such a link appears at its target.
func splitExisting(path, cwd string) (real, rest string, err error) {
	abs, err := absolutePath(path, cwd)
	if err != nil {
		return "", "", err
	}

	// Each round resolves one link, or one "..", after the part that exists.
	for range maxLinks {
		real, missing, err := longestExisting(abs)
		if err != nil {
			return "", "", lookupError(path, err)
		}

		if len(missing) == 0 {
			return real, "", nil
		}

		next := filepath.Join(real, missing[0])
		if target, err := os.Readlink(next); err == nil {
			if !filepath.IsAbs(target) {
				target = real + string(filepath.Separator) + target
			}
			abs = target + string(filepath.Separator) + filepath.Join(missing[1:]...)
			continue
		}

		rest = strings.Join(missing, string(filepath.Separator))
		if clean := filepath.Join(missing...); clean != rest {
			// A ".." after something missing may lead back to what exists.
			abs = filepath.Join(real, clean)
			continue
		}

		return real, rest, nil
	}

	return "", "", lookupError(path, syscall.ELOOP)
}

// longestExisting returns the longest part of abs that exists, made canonical, and the names after it.
func longestExisting(abs string) (real string, missing []string, err error) {
	volume := filepath.VolumeName(abs)
	isSeparator := func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }
	names := strings.FieldsFunc(abs[len(volume):], isSeparator)
	const sep = string(filepath.Separator)

	for n := len(names); n >= 0; n-- {
		head := volume + sep + strings.Join(names[:n], sep)
		info, err := os.Stat(head)
		switch {
		case err == nil && n < len(names) && !info.IsDir():
			return "", nil, &fs.PathError{Op: "stat", Path: abs, Err: syscall.ENOTDIR}
		case err == nil:
			real, err := canonicalPath(head)
			return real, names[n:], err
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return "", nil, err
		}
	}

	return "", nil, &fs.PathError{Op: "stat", Path: abs, Err: fs.ErrNotExist}
}

// absolutePath joins path to cwd. It doesn't clean the result, because a/link/.. isn't always a.
func absolutePath(path, cwd string) (string, error) {
	switch {
	case path == "":
		return "", invalid(nil, "the path is empty").Hintf("name a directory, or . for this one")
	case strings.ContainsRune(path, 0):
		return "", invalid(nil, "the path contains a NUL byte: %s", printable(path))
	case filepath.IsAbs(path):
		return path, nil
	case !filepath.IsAbs(cwd) || filepath.VolumeName(path) != "":
		return "", invalid(nil, "not an absolute path: %s", printable(path)).Hintf("write the path from the root of the file system")
	case os.IsPathSeparator(path[0]):
		// On Windows such a path is rooted, but has no drive.
		return filepath.VolumeName(cwd) + path, nil
	}

	return cwd + string(filepath.Separator) + path, nil
}

// checkSearchable fails for a directory whose entries can't be looked up, because its root can't be found.
func checkSearchable(dir string) error {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	if errors.Is(err, fs.ErrPermission) {
		return lookupError(dir, err)
	}
	return nil
}

// Within reports whether path is dir or lies below it. Both are clean.
func IsWithin(path, dir string) bool {
	if !strings.HasPrefix(path, dir) {
		return false
	}
	return len(path) == len(dir) || os.IsPathSeparator(dir[len(dir)-1]) || os.IsPathSeparator(path[len(dir)])
}

// hasEntry reports whether dir has an entry of that name. It runs for every directory up to the root of the
// file system, for many names. So it avoids filepath.Join, which would clean a clean path.
func hasEntry(dir, name string) bool {
	_, err := os.Lstat(dir + string(filepath.Separator) + name)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func sameFile(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}

	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}

func lastSeparator(path string) int {
	i := len(path) - 1
	for i >= 0 && !os.IsPathSeparator(path[i]) {
		i--
	}
	return i
}

// pathHint is what to do about a path that leads nowhere. It may have been meant for something else than a path.
const pathHint = "give a path that exists, or none to mean the working directory"

// lookupError says why the operating system couldn't look path up.
func lookupError(path string, cause error) error {
	if e, ok := errors.AsType[*stick.Error](cause); ok {
		return e
	}

	p := printable(path)
	switch {
	case errors.Is(cause, syscall.ENOTDIR):
		return invalid(cause, "a part of the path is a file, not a directory: %s", p).Hintf(pathHint)
	case errors.Is(cause, fs.ErrNotExist):
		return invalid(cause, "no such directory: %s", p).Hintf(pathHint)
	case errors.Is(cause, fs.ErrPermission):
		return invalid(cause, "no permission to read %s", p)
	case errors.Is(cause, syscall.ELOOP):
		return invalid(cause, "the path is a loop of symbolic links: %s", p)
	case errors.Is(cause, syscall.ENAMETOOLONG):
		return invalid(cause, "the path is too long: %s", p)
	}

	return invalid(cause, "the path can't be read: %s", p)
}

func invalid(cause error, format string, args ...any) *stick.Error {
	e := stick.Errorf(stick.CodeInvalidPath, format, args...)
	e.Err = cause
	return e
}

// maxShown limits a path in a message, in bytes.
const maxShown = 300

// printable is a path for a message, cut to a length that can be read.
func printable(path string) stick.Name {
	if len(path) > maxShown {
		path = strings.ToValidUTF8(path[:maxShown], "") + "…"
	}

	return stick.Name(path)
}
