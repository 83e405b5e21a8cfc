package shell

import (
	"path/filepath"
	"slices"
)

// walkByName walks through a command that removes, moves or replaces files, links themselves among them.
func (w *walker) walkByName(f func()) {
	was := w.nameOnly
	w.nameOnly = true

	f()

	w.nameOnly = was
}

// changeFile notes that the file of a word is changed.
func (w *walker) changeFile(x word) {
	if x.some {
		w.changeInside(x)
		return
	}

	path, ok := w.pathOf(x)
	if ok && inDev(path) {
		return
	}

	w.writes = true
	if ok {
		w.changePath(path)
	}
}

func (w *walker) changePath(path string) {
	switch known := slices.Contains(w.changes.Paths, path); {
	case !w.nameOnly:
		// It changes what a link leads to, so the path isn't that of a link alone.
		w.changes.Names = slices.DeleteFunc(w.changes.Names, func(name string) bool { return name == path })
	case !known:
		w.changes.Names = addPath(w.changes.Names, path)
	}

	w.changes.Paths = addPath(w.changes.Paths, path)
}

// changeInside is [walker.changeFile] for a command that reaches only what is inside a directory.
func (w *walker) changeInside(x word) {
	path, ok := w.reachedPath(x)
	if !ok || !endsInSeparator(path) {
		x.some = false
		w.changeFile(x)
		return
	}

	w.writes = true
	w.changes.Paths = addPath(w.changes.Paths, path)
}

func (w *walker) changeAll(all []word) {
	for _, x := range all {
		w.changeFile(x)
	}
}

// changeTree notes that any file of the present checkout may change.
func (w *walker) changeTree() {
	w.writes = true

	switch {
	case !w.dirKnown:
	case w.git.top != "":
		w.changes.Paths = addPath(w.changes.Paths, contentsOf(w.git.top))
	default:
		w.changes.Trees = addPath(w.changes.Trees, filepath.Clean(w.dir))
	}
}

func addPath(paths []string, path string) []string {
	if len(paths) >= maxPaths || slices.Contains(paths, path) {
		return paths
	}
	return append(paths, path)
}
