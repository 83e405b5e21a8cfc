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

// Targets finds the workspaces of paths that somebody is about to change, which need not exist. It
// remembers what it has found: the paths of one question mostly lie together. It is used by one
// goroutine.
type Targets struct {
	env     Env
	reals   map[string]string // what directories are without links
	places  map[string]Place  // of directories
	tracked map[string]Place  // of directories that git has on record
}

// Target is a place at which something is about to be changed.
type Target struct {
	Full  string // canonical, as far as it exists
	Place Place  // of the nearest directory that exists
	Dir   bool   // it is a directory: all that lies below it is meant too
}

// NewTargets takes relative paths from env.Dir.
func NewTargets(env Env) *Targets {
	return &Targets{env, map[string]string{}, map[string]Place{}, map[string]Place{}}
}

// ResolveWritten returns where a change of what path holds takes effect: where writing to it leads, and at the
// path itself, because many programs replace a file to change it.
//
// It fails with invalid_path for a path that can't be looked up. Where that path lies by its name, and
// what else can be told, is returned beside the error.
func (t *Targets) ResolveWritten(path string) ([]Target, error) {
	found, link, err := t.byName(path)
	if link {
		led, err := t.followLink(path)
		if err != nil {
			return found, err
		}
		found = append(found, led)
	}
	return found, err
}

// ResolveNamed returns where it takes effect that path is removed, moved or replaced: a link is changed itself,
// and not what it leads to. It fails as [Targets.ResolveWritten] does.
func (t *Targets) ResolveNamed(path string) ([]Target, error) {
	found, _, err := t.byName(path)
	return found, err
}

// ResolveTracked returns where git changes a path that it has on record, as seen from the top level that top
// is the place of. Its name alone decides. In the checkout a file may stand where its directory was, or
// a link; and of a submodule git records only which commit it is at.
func (t *Targets) ResolveTracked(top Place, path string) Target {
	full := filepath.Join(top.Path, filepath.FromSlash(path))
	dir := filepath.Dir(full)
	place, ok := t.tracked[dir]
	if !ok {
		place = Place{Path: dir, Root: top.Root, Found: top.Found, Worktree: top.Worktree, Chain: chain(dir, top.Root)}
		if top.Worktree != "" {
			place.Chain = chain(inMainCheckout(dir, top.Worktree, top.Root), top.Root)
		}
		t.tracked[dir] = place
	}
	return Target{Full: full, Place: place}
}

// ResolveDir returns the place of a directory in which something is done, or of what of it exists. It fails with
// invalid_path.
func (t *Targets) ResolveDir(path string) (Place, error) {
	led, err := t.followLink(path)
	return led.Place, err
}

// byName finds a path without following it, and tells whether it is a link.
func (t *Targets) byName(path string) (found []Target, link bool, err error) {
	parent, name := filepath.Split(path)
	if name == "" || name == "." || name == ".." { // a directory, by whatever way
		led, err := t.followLink(path)
		if err != nil {
			return t.nearest(path), false, err
		}
		return []Target{led}, false, nil
	}
	dir, rest, err := t.resolveParent(parent)
	var place Place
	if err == nil {
		place, err = t.place(dir)
	}
	full := filepath.Join(dir, rest, name)
	var info os.FileInfo
	if err == nil && rest == "" {
		if info, err = os.Lstat(full); os.IsNotExist(err) {
			err = nil
		}
	}
	switch {
	case err != nil:
		return t.nearest(path), false, lookupError(path, cmp.Or(errors.Unwrap(err), err))
	case info != nil && info.IsDir():
		found, err = t.directory(full, place)
		return found, false, err
	}
	return []Target{{Full: full, Place: place}}, info != nil && info.Mode()&os.ModeSymlink != 0, nil
}

// directory is a directory that is changed with all that is below it. One that is a checkout of its own,
// or has a room of its own, is also an entry of what is around it; that doesn't hold for a linked
// worktree, of which the checkout around it knows nothing.
func (t *Targets) directory(full string, enclosing Place) ([]Target, error) {
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

// followLink is where a path leads once all links are followed.
func (t *Targets) followLink(path string) (Target, error) {
	real, rest, err := splitExisting(path, t.env.Dir)
	if err != nil {
		return Target{}, err
	}
	dir := real
	if rest == "" && !isDir(real) {
		dir = filepath.Dir(real)
	}
	place, err := t.place(dir)
	return Target{Full: filepath.Join(real, rest), Place: place, Dir: rest == "" && dir == real}, err
}

// resolveParent is the directory that parent leads to, and what of it doesn't exist.
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

// place is that of a directory that is canonical.
func (t *Targets) place(dir string) (Place, error) {
	if p, ok := t.places[dir]; ok {
		return p, nil
	}
	p, err := locate(dir, t.env)
	if err == nil {
		t.places[dir] = p
	}
	return p, err
}

// maxPath is a length that the path of a file never has.
const maxPath = 4096

// nearest places a path that can't be looked up by its name, below the nearest directory that can.
func (t *Targets) nearest(path string) []Target {
	abs, err := absolute(path, t.env.Dir)
	if err != nil {
		return nil
	}
	abs = filepath.Clean(abs)
	dir := filepath.Dir(abs)
	for len(dir) > maxPath {
		dir = filepath.Dir(dir[:maxPath])
	}
	for {
		if isDir(dir) {
			if real, err := canonical(dir); err == nil {
				if place, err := t.place(real); err == nil {
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

// Below gives full in terms of root, with / between the names, and false when it lies elsewhere.
// Both are canonical.
func Below(full, root string) (rel string, ok bool) {
	if !within(full, root) {
		return "", false
	}
	rel = strings.TrimLeft(full[len(root):], string(filepath.Separator))
	if rel == "" {
		rel = "."
	}
	return filepath.ToSlash(rel), true
}

// FoldsCase tells whether names in dir that differ in case only are one file. It asks by the name of
// an entry that is there, or of dir itself.
func FoldsCase(dir string) bool {
	for _, name := range []string{filepath.Join(dir, ".git"), dir} {
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
