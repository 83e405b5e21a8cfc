package shell

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// earlier is what a command has done before, as far as that changes what a later part of it costs. Whoever
// judges the command sees the files as they are before all of it.
type earlier struct {
	moved   []move   // files and directories that have other names by now
	indexed []string // the checkouts in which it has put new files into the index
	popped  []popped // entries of the stash that are in a tree now, and nowhere else
	aliases []alias  // git's aliases that it has set
}

// alias is a setting that makes an alias of git's, in a checkout, or everywhere.
type alias struct{ checkout, setting string }

// move is the move of a file or a directory.
type move struct{ from, to string }

// popped is an entry of the stash.
type popped struct{ checkout, ref string }

// namesBefore lists what a path names by the names that all that had before the command: an earlier part of
// it may have moved something there, or into it.
func (e *earlier) namesBefore(path string) []string {
	names := []string{path}

	// The last move comes first: each name is traced back through those before it.
	for _, m := range slices.Backward(e.moved) {
		for i, name := range names {
			if rest, below := strings.CutPrefix(contentsOf(name), contentsOf(m.to)); below {
				names[i] = strings.TrimSuffix(contentsOf(m.from)+rest, separator)
			} else if strings.HasPrefix(m.to, contentsOf(name)) {
				names = addPath(names, m.from)
			}
		}
	}
	return names
}

// noteMoves notes that files have other names from now on.
func (w *walker) noteMoves(made []renamed) {
	for _, m := range made {
		from, ok := w.pathOf(m.from)
		to, known := w.pathOf(m.to)
		if ok && known && filepath.IsAbs(from) && filepath.IsAbs(to) && len(w.earlier.moved) < maxPaths {
			w.earlier.moved = append(w.earlier.moved, move{from, to})
		}
	}
}

// checkoutRoot is the checkout in which git works, as far as one can be told from another.
func (w *walker) checkoutRoot() string { return cmp.Or(w.topLevel().text, w.dir) }

// addEarlier adds to an act what goes with it because of what the command has done before: new files that
// are tracked by now, and what was in the stash.
func (w *walker) addEarlier(a Act) Act {
	if a.Kind != Takes || a.Loses&Staged == 0 || len(w.earlier.indexed)+len(w.earlier.popped) == 0 {
		return a
	}

	here := w.checkoutRoot()

	// A command that takes staged work away takes new files, too, once they are in the index.
	if slices.Contains(w.earlier.indexed, here) {
		a.Loses |= Untracked
	}

	// What has come out of the stash is nowhere else.
	for _, p := range w.earlier.popped {
		if p.checkout == here {
			w.dropRefs(Stash, p.ref)
		}
	}
	return a
}
