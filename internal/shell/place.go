package shell

import (
	"os"
	"path/filepath"
	"strings"
)

// currentDirectory is the directory in which the shell is, as a word.
func (w *walker) currentDirectory() word { return word{text: w.dir, ok: w.dirKnown} }

// pathOf returns the file that a word names.
func (w *walker) pathOf(x word) (string, bool) {
	switch {
	case !x.ok || x.text == "" || strings.ContainsRune(x.text, 0):
		return "", false
	case filepath.IsAbs(x.text):
		return filepath.Clean(x.text), true
	case !w.dirKnown || strings.HasPrefix(x.text, "/"):
		// On Windows the shell has a root of its own.
		return "", false
	}
	return filepath.Join(w.dir, x.text), true
}

// fileExists reports whether a word names an existing file.
func (w *walker) fileExists(x word) bool {
	path, ok := w.pathOf(x)
	return ok && pathExists(path)
}

// isDir reports whether a word names a directory.
func (w *walker) isDir(x word) bool {
	path, ok := w.pathOf(x)
	if !ok {
		return false
	}

	info, err := os.Stat(path)
	return strings.HasSuffix(x.text, "/") || err == nil && info.IsDir()
}

// enterDirectory changes the directory. After a word that isn't known, neither is the directory.
func (w *walker) enterDirectory(x word) {
	path, ok := w.pathOf(x)
	w.last = w.currentDirectory()

	if !ok || x.some {
		w.dirKnown = false
		return
	}

	w.dir, w.dirKnown = path, true
}

// reachedPath returns what a command reaches that works on what is inside a directory. It doesn't reach the
// directory in which it runs, or one around it, as an entry of its parent: that path ends with a separator.
func (w *walker) reachedPath(x word) (string, bool) {
	path, ok := w.pathOf(x)
	if !ok || !w.dirKnown || !filepath.IsAbs(path) {
		return path, ok
	}

	rel, err := filepath.Rel(path, w.dir)
	isAround := err == nil && filepath.IsLocal(rel)
	if isAround && w.isDir(x) {
		return contentsOf(path), true
	}
	return path, true
}

const separator = string(filepath.Separator)

// contentsOf returns the path that means everything below a directory.
func contentsOf(dir string) string { return strings.TrimSuffix(dir, separator) + separator }

func endsInSeparator(path string) bool { return strings.HasSuffix(path, separator) }

// inDev reports whether a path is a device, such as /dev/null. In /dev/shm lie files of which people make
// checkouts, too.
func inDev(path string) bool {
	path = filepath.ToSlash(path)
	return strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/shm/")
}
