package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// Targets finds the workspaces of paths that somebody is about to change, which need not exist. It
// remembers what it has found: the paths of one question mostly lie together. It is used by one
// goroutine.
type Targets struct {
	env    Env
	reals  map[string]string // what directories are without links
	places map[string]Place
}

// NewTargets takes relative paths from env.Dir.
func NewTargets(env Env) *Targets { return &Targets{env, map[string]string{}, map[string]Place{}} }

// Find returns where a change of path takes effect: links are followed, as writing does. place is that
// of the nearest directory that exists. It fails with invalid_path.
func (t *Targets) Find(path string) (full string, place Place, err error) {
	full, dir, err := t.settle(path)
	if err != nil {
		return "", Place{}, err
	}
	place, ok := t.places[dir]
	if !ok {
		if place, err = locate(dir, t.env); err != nil {
			return "", Place{}, err
		}
		t.places[dir] = place
	}
	return full, place, nil
}

// settle is where path leads, and the nearest directory that exists.
func (t *Targets) settle(path string) (full, dir string, err error) {
	parent, name := filepath.Split(path)
	if real, ok := t.reals[parent]; ok && filepath.IsLocal(name) && name != "." {
		full = filepath.Join(real, name)
		info, err := os.Lstat(full)
		if os.IsNotExist(err) || err == nil && info.Mode().IsRegular() {
			return full, real, nil
		}
	}
	real, rest, err := settle(path, t.env.Dir)
	if err != nil {
		return "", "", err
	}
	full, dir = filepath.Join(real, rest), real
	if rest == "" && !isDir(real) {
		dir = filepath.Dir(real)
	}
	if filepath.Join(dir, name) == full { // no link led elsewhere
		t.reals[parent] = dir
	}
	return full, dir, nil
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
