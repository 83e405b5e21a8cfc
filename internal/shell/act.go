package shell

import (
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Act is a part of a command that may cost somebody work that isn't committed, or commits that only one ref
// names. It says what may go, not what does: whoever judges it looks at what there is.
type Act struct {
	Kind Kind

	// Form is the command as it was written, without git's own options and at most maxForm runes, such as
	// "git reset --hard".
	Form string

	// Text is a sum of the whole command as it was written, of which Form may have only the first part.
	Text uint64

	// Dir is where it runs, absolute. Its checkout is the one that is meant, or its repository where the act
	// is about refs.
	Dir string

	// Paths are the files that are meant, absolute and clean. As in [Changes], a directory means everything
	// below it, and itself unless it ends with a separator. Without any, it is the whole checkout of Dir.
	Paths []string

	// Some says that only some files of Paths, or some of Refs, are meant, and nobody can tell which, as in
	// find . -name x -delete and git branch -D $(git branch --merged).
	Some bool

	Tracked bool // only files that git tracks are swept; otherwise new ones, too

	Loses Work // what may be lost, or leave the tree, as by git stash

	// Refs are full names of the refs that are deleted or set to another commit. One that ends with a slash
	// means all refs below it; refs/stash@{1} is an entry of the stash, refs/stash all of it. Those of
	// Applies and Pops are the entries that go into the tree; one may be named by its commit.
	Refs []string
}

// Kind is what an act does.
type Kind string

// The kinds of acts. One command may be several acts, each of one kind: git checkout -B is Moves and Drops.
const (
	Takes   Kind = "takes"   // takes uncommitted work away
	Moves   Kind = "moves"   // changes which commit or branch is checked out, or applies one; git refuses to lose work
	Drops   Kind = "drops"   // deletes a ref, an entry of the stash or of a reflog, or sets a branch to another commit
	Sweeps  Kind = "sweeps"  // puts changes into the index or a commit, whoever made them
	Removes Kind = "removes" // removes or moves away whole directories, or .git; their work is in an act of kind Takes
	Pushes  Kind = "pushes"  // moves refs of a remote: Refs are their names there, HEAD for the checked-out branch
	Applies Kind = "applies" // puts an entry of the stash into the tree, or into the stash again, and keeps it
	Pops    Kind = "pops"    // puts an entry of the stash into the tree, and takes it off the stash
)

// Work is a set of what an act may cost.
type Work uint16

// The parts of a [Work].
const (
	Modified  Work = 1 << iota // changes of tracked files that aren't staged
	Staged                     // changes that are staged, also those of new files
	Partly                     // what is staged of a file that was changed again since
	Untracked                  // files that git doesn't track, but for ignored ones
	Ignored                    // files that git ignores
	Nested                     // work in submodules and in other repositories inside the tree
	Stash                      // entries of the stash
	Commits                    // commits that no other ref may name
)

// tracked is what there is of uncommitted work in tracked files.
const tracked = Modified | Staged | Partly

// onDisk is the work that exists as files only.
const onDisk = Modified | Untracked | Ignored

const (
	maxActs = 100
	maxForm = 60
)

// addAct notes an act of the command that runs. It skips one of which nobody knows where it happens.
func (w *walker) addAct(a Act) {
	if a.Dir == "" {
		a.Dir = w.dir
	}

	if !w.dirKnown && len(a.Paths) == 0 || !filepath.IsAbs(a.Dir) || len(w.changes.Acts) >= maxActs {
		return
	}

	// A full list may lack paths that go, too.
	if len(a.Paths) >= maxPaths {
		a.Paths, a.Some = nil, true
	}

	a.Dir, a.Form, a.Text = filepath.Clean(a.Dir), w.form, w.text
	a = w.addEarlier(a)

	same := func(b Act) bool {
		return a.Kind == b.Kind && a.Form == b.Form && a.Text == b.Text && a.Dir == b.Dir &&
			a.Some == b.Some && a.Loses == b.Loses &&
			slices.Equal(a.Paths, b.Paths) && slices.Equal(a.Refs, b.Refs)
	}
	if !slices.ContainsFunc(w.changes.Acts, same) {
		w.changes.Acts = append(w.changes.Acts, a)
	}
}

// noteRemoval notes that files go, by a command that knows nothing of git. What isn't there can't be lost.
func (w *walker) noteRemoval(files []word, recursive bool) {
	var sure, maybe []string // what goes for certain, and where something may go
	var whole []string       // of what goes for certain, the directories and parts of a repository
	loses := onDisk

	for _, x := range files {
		path, ok := w.pathOf(x)
		if x.some {
			path, ok = w.reachedPath(x)
		}
		if !ok || !filepath.IsAbs(path) || inDev(path) {
			continue
		}

		// What an earlier part of the command has moved there is lost under the name that it had before.
		for _, path := range w.earlier.namesBefore(path) {
			if !pathExists(path) {
				continue
			}

			if x.some {
				maybe = addPath(maybe, path)
			} else {
				sure = addPath(sure, path)
			}

			// Where only some files of a directory go, its repository stays, unless the directory is .git.
			if !x.some || filepath.Base(path) == ".git" {
				loses |= lossWithRepository(path)
			}

			if !x.some && (recursive || isRepositoryPart(path) && !isDirectory(path)) {
				whole = addPath(whole, path)
			}
		}
	}

	// What goes for certain needs no second act that says it may go.
	maybe = slices.DeleteFunc(maybe, func(path string) bool { return slices.Contains(sure, path) })

	if recursive {
		loses |= Nested
	}

	w.noteTaking(sure, false, loses)
	w.noteTaking(maybe, true, loses)
	if len(whole) > 0 {
		w.addAct(Act{Kind: Removes, Dir: w.actDir(whole[0]), Paths: whole})
	}
}

// noteTaking notes that files go, or some of them.
func (w *walker) noteTaking(paths []string, some bool, loses Work) {
	if len(paths) > 0 {
		w.addAct(Act{Kind: Takes, Dir: w.actDir(paths[0]), Paths: paths, Some: some, Loses: loses})
	}
}

// actDir returns the directory in which a command runs, or that of a path where nobody knows it.
func (w *walker) actDir(path string) string {
	if !w.dirKnown || !filepath.IsAbs(w.dir) {
		return filepath.Dir(path)
	}
	return w.dir
}

func isDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// lossWithRepository returns what else is lost with a directory that is a repository, or has one in it.
func lossWithRepository(path string) Work {
	switch {
	case filepath.Base(path) == ".git":
		return Partly | Stash | Commits
	case pathExists(filepath.Join(path, ".git")):
		return Staged | Partly | Stash | Commits
	}
	return 0
}

// sumOf returns a sum of all words of a command. It is kept in the log, so it is the same in every program.
func sumOf(name string, args []word) uint64 {
	sum := fnv.New64a()
	io.WriteString(sum, name)

	for _, x := range args {
		io.WriteString(sum, "\x00"+x.text)
		if !x.isKnown() {
			io.WriteString(sum, "\x01")
		}
	}

	return sum.Sum64()
}

// setForm sets how the command that runs now is called in its acts.
func (w *walker) setForm(name string, args []word) {
	w.text = sumOf(name, args)

	var b strings.Builder
	b.WriteString(name)
	for _, a := range args {
		b.WriteByte(' ')
		// A pattern has become whole paths, which people read relative to the directory.
		if w.dirKnown && a.ok {
			a.text = strings.TrimPrefix(a.text, contentsOf(w.dir))
		}
		b.WriteString(a.displayText())

		if b.Len() > utf8.UTFMax*maxForm {
			break
		}
	}

	if r := []rune(b.String()); len(r) > maxForm {
		w.form = string(r[:maxForm-1]) + "…"
	} else {
		w.form = string(r)
	}
}

// needsQuotes reports whether a character can't stand in a text for people as it is.
func needsQuotes(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// displayText is a word as a text for people shows it.
func (x word) displayText() string {
	switch {
	case !x.isKnown():
		return "…"
	case x.text == "" || strings.ContainsFunc(x.text, needsQuotes):
		return "'" + strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, x.text) + "'"
	}
	return x.text
}
