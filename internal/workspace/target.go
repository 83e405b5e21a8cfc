package workspace

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
)

// Targets finds the workspaces of paths that somebody is about to change. The paths need not exist. It
// caches what it finds, because the paths of one question are mostly close together. Only one goroutine
// may use it.
type Targets struct {
	env     Env
	reals   map[string]string // directories with their links resolved
	places  map[string]Place  // by directory
	tracked map[string]Place  // by directory, for tracked paths
}

// Target is a path that is about to be changed.
type Target struct {
	Full  string // canonical, as far as it exists
	Place Place  // of the nearest directory that exists
	Dir   bool   // it is a directory, and everything below it changes, too
}

// NewTargets returns Targets that take relative paths from env.Dir.
func NewTargets(env Env) *Targets {
	return &Targets{env, map[string]string{}, map[string]Place{}, map[string]Place{}}
}

// ResolveWritten returns the paths that change when somebody writes to path: the target of its links, and
// the path itself, because many programs replace a file to change it.
//
// It fails with invalid_path for a path that can't be looked up. Beside the error it returns what it has
// found so far, at least the place of the path by its name.
func (t *Targets) ResolveWritten(path string) ([]Target, error) {
	found, link, err := t.resolveName(path)
	if link {
		led, err := t.followLink(path)
		if err != nil {
			return found, err
		}
		found = append(found, led)
	}

	return found, err
}

// ResolveNamed returns the paths that change when somebody removes, moves or replaces path: a link itself,
// and not its target. It fails as [Targets.ResolveWritten] does.
func (t *Targets) ResolveNamed(path string) ([]Target, error) {
	found, _, err := t.resolveName(path)
	return found, err
}

// ResolveTracked returns the target of a path that git tracks, relative to the top level at top. Only its
// name counts. In the checkout, a file or a link may be where its directory was, and of a submodule git
// tracks only the commit.
func (t *Targets) ResolveTracked(top Place, path string) Target {
	full := filepath.Join(top.Path, filepath.FromSlash(path))
	dir := filepath.Dir(full)

	// Files of one directory share their place, which takes reading to find.
	place, ok := t.tracked[dir]
	if !ok {
		place = Place{Path: dir, Root: top.Root, Found: top.Found, Worktree: top.Worktree, Chain: dirsUpTo(dir, top.Root)}
		if top.Worktree != "" {
			place.Chain = dirsUpTo(inMainCheckout(dir, top.Worktree, top.Root), top.Root)
		}
		t.tracked[dir] = place
	}

	return Target{Full: full, Place: place}
}

// ResolveDir returns the place of a directory, or of the part of it that exists. It fails with invalid_path.
func (t *Targets) ResolveDir(path string) (Place, error) {
	led, err := t.followLink(path)
	return led.Place, err
}

// resolveName finds a path without following its last link, and reports whether it is a link.
func (t *Targets) resolveName(path string) (found []Target, link bool, err error) {
	parent, name := filepath.Split(path)
	// A directory, however it is written, has no name of its own to resolve.
	if name == "" || name == "." || name == ".." {
		led, err := t.followLink(path)
		if err != nil {
			return t.nearestTarget(path), false, err
		}
		return []Target{led}, false, nil
	}

	dir, rest, err := t.resolveParent(parent)
	var place Place
	if err == nil {
		place, err = t.placeOf(dir)
	}

	// What doesn't exist yet is written like any other path.
	full := filepath.Join(dir, rest, name)
	var info os.FileInfo
	if err == nil && rest == "" {
		if info, err = os.Lstat(full); os.IsNotExist(err) {
			err = nil
		}
	}

	switch {
	case err != nil:
		return t.nearestTarget(path), false, lookupError(path, cmp.Or(errors.Unwrap(err), err))
	case info != nil && info.IsDir():
		found, err = t.directoryTargets(full, place)
		return found, false, err
	}

	return []Target{{Full: full, Place: place}}, info != nil && info.Mode()&os.ModeSymlink != 0, nil
}

// directoryTargets returns the targets of a directory that changes with everything below it. If it is a
// checkout or workspace of its own, it is also an entry of the enclosing one. A linked worktree isn't: the
// checkout around it doesn't track it.
func (t *Targets) directoryTargets(full string, enclosing Place) ([]Target, error) {
	own, err := t.followLink(full)
	entry := Target{Full: full, Place: enclosing, Dir: true}
	switch {
	case err != nil:
		return []Target{entry}, err
	case own.Place.Worktree == own.Full && own.Place.Root == enclosing.Root:
		return []Target{own}, nil
	}

	return []Target{entry, own}, nil
}

// followLink returns the target of a path with all links followed.
func (t *Targets) followLink(path string) (Target, error) {
	real, rest, err := splitExisting(path, t.env.Dir)
	if err != nil {
		return Target{}, err
	}

	// The place is that of the nearest directory that exists.
	dir := real
	if rest == "" && !isDir(real) {
		dir = filepath.Dir(real)
	}

	place, err := t.placeOf(dir)
	return Target{Full: filepath.Join(real, rest), Place: place, Dir: rest == "" && dir == real}, err
}

// resolveParent returns the directory that parent leads to, and the part of it that doesn't exist.
func (t *Targets) resolveParent(parent string) (dir, rest string, err error) {
	if dir, ok := t.reals[parent]; ok {
		return dir, "", nil
	}

	path := parent
	if path == "" {
		path = "."
	}
	if dir, rest, err = splitExisting(path, t.env.Dir); err != nil || rest != "" {
		return dir, rest, err
	}

	if !isDir(dir) {
		return "", "", lookupError(parent, syscall.ENOTDIR)
	}

	t.reals[parent] = dir
	return dir, "", nil
}

// placeOf returns the place of a canonical directory.
func (t *Targets) placeOf(dir string) (Place, error) {
	if p, ok := t.places[dir]; ok {
		return p, nil
	}

	p, err := locatePlace(dir, t.env)
	if err == nil {
		t.places[dir] = p
	}

	return p, err
}

// maxPath is longer than the path of any file.
const maxPath = 4096

// nearestTarget returns the target of a path that can't be looked up: by its name, below the nearest
// directory that can be.
func (t *Targets) nearestTarget(path string) []Target {
	abs, err := absolutePath(path, t.env.Dir)
	if err != nil {
		return nil
	}

	// The system refuses longer paths, so that no directory of such a name can exist.
	abs = filepath.Clean(abs)
	dir := filepath.Dir(abs)
	for len(dir) > maxPath {
		dir = filepath.Dir(dir[:maxPath])
	}

	for {
		if isDir(dir) {
			if real, err := canonicalPath(dir); err == nil {
				if place, err := t.placeOf(real); err == nil {
					return []Target{{Full: filepath.Join(real, abs[len(dir):]), Place: place}}
				}
			}
		}

		if dir == filepath.Dir(dir) {
			return nil
		}

		dir = filepath.Dir(dir)
	}
}

// Below returns full relative to root, with / between the names, and false if it lies elsewhere. Both are
// canonical.
func RelBelow(full, root string) (rel string, ok bool) {
	if !IsWithin(full, root) {
		return "", false
	}

	rel = strings.TrimLeft(full[len(root):], string(filepath.Separator))
	if rel == "" {
		rel = "."
	}

	return filepath.ToSlash(rel), true
}

// FoldsCase reports whether names in dir that differ only in case are one file. It tries the name of an
// existing entry, or of dir itself.
func FoldsCase(dir string) bool {
	for _, name := range []string{filepath.Join(dir, ".git"), dir} {
		// Change the case of each letter: if both names are one file, the directory ignores it.
		base := []rune(filepath.Base(name))
		for i, r := range base {
			switch {
			case unicode.IsLower(r):
				base[i] = unicode.ToUpper(r)
			case unicode.IsUpper(r):
				base[i] = unicode.ToLower(r)
			}
		}

		other := filepath.Join(filepath.Dir(name), string(base))
		if _, err := os.Lstat(name); err == nil && other != name {
			return sameFile(name, other)
		}
	}

	return false
}
