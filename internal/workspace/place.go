// Package workspace finds the workspace that a path lies in. It reads directories, .git files and
// marker files itself and starts no process, because every command pays for it.
package workspace

import (
	"path/filepath"
	"strings"
)

// Env is what resolution needs of the process's surroundings. It is never read from the process
// itself, so that a server can resolve for its clients.
type Env struct {
	// Dir is the working directory, which relative paths are taken from. Where it is empty, a
	// relative path is refused.
	Dir string
	// Home is the user's home directory.
	Home string
	// GitDir is the value of GIT_DIR, as git gives it to its hooks. It decides for paths inside of
	// its work tree. For others it is ignored, and so it is when it names no repository.
	GitDir string
	// GitWorkTree is the value of GIT_WORK_TREE. It counts only together with GitDir.
	GitWorkTree string
}

// The ways in which a workspace root is found.
const (
	FoundGit    = "git"    // the top level of a git checkout
	FoundMarker = "marker" // the nearest directory that holds a marker file
	FoundPath   = "path"   // nothing else was found: the path itself
)

// Place is a path and the workspace it lies in. All of its paths are absolute and canonical.
type Place struct {
	// Path is where the caller is: symlinks resolved, a file replaced by its directory.
	Path string
	// Root is the preferred workspace root: where a new room would be made.
	Root string
	// Found tells how Root was found: [FoundGit], [FoundMarker] or [FoundPath].
	Found string
	// Marker is the name of the marker, when Found is [FoundMarker].
	Marker string
	// Worktree is the top of the linked worktree that Path lies in, and empty outside of one.
	Worktree string
	// Chain holds the paths at which a room would be this path's: the deepest first, each the
	// parent of the one before, Root last. It starts at Path. In a linked worktree it starts where
	// Path would be in the main checkout, or at the nearest directory above that exists there:
	// one room serves a repository, whichever checkout an agent is in.
	Chain []string
}

// Resolve finds the place of path, which must exist. The root is, in this order: the top level of
// the git checkout, where a linked worktree counts as its main checkout and a submodule as itself;
// the nearest ancestor with a marker; the path.
//
// It fails with invalid_path for a path that doesn't exist or can't be looked at.
func Resolve(path string, env Env) (Place, error) {
	dir, err := directory(path, env.Dir)
	if err != nil {
		return Place{}, err
	}
	return locate(dir, env)
}

// ResolveGone is [Resolve] for a working directory that may have been deleted under the process:
// what is missing of path is kept as it is written. Linux's " (deleted)" at the end is dropped. An
// agent whose worktree was removed can still read its room in this way; a new room must not be made
// at such a place.
func ResolveGone(path string, env Env) (Place, error) {
	dir, err := directory(path, env.Dir)
	if err == nil {
		return locate(dir, env)
	}
	path = strings.TrimSuffix(path, " (deleted)")
	if dir, err := directory(path, env.Dir); err == nil {
		return locate(dir, env)
	}
	real, rest, serr := splitExisting(path, env.Dir)
	if serr != nil {
		return Place{}, err
	}
	return locate(filepath.Join(real, rest), env)
}

// locate finds the workspace of dir, which is canonical.
func locate(dir string, env Env) (Place, error) {
	if err := searchable(dir); err != nil {
		return Place{}, err
	}
	if c, ok := findCheckout(dir, env); ok {
		p := Place{Path: dir, Root: c.main, Found: FoundGit}
		if !c.linked {
			p.Chain = chain(dir, c.main)
			return p, nil
		}
		p.Worktree = c.top
		p.Chain = chain(inMainCheckout(dir, c.top, c.main), c.main)
		return p, nil
	}
	if root, name, ok := findMarker(dir, env.Home); ok {
		return Place{Path: dir, Root: root, Found: FoundMarker, Marker: name, Chain: chain(dir, root)}, nil
	}
	return Place{Path: dir, Root: dir, Found: FoundPath, Chain: []string{dir}}, nil
}

// Repository is where git finds the workspace's repository: Root, or the bare repository that is
// hidden in it.
func (p Place) Repository() string {
	if _, ok := dotGit(p.Root); !ok && isGitDir(filepath.Join(p.Root, bareName)) {
		return filepath.Join(p.Root, bareName)
	}
	return p.Root
}

// chain lists the directories from path up to root. A path outside of root, such as one inside of a
// git directory that is kept apart from its checkout, has only the root.
func chain(path, root string) []string {
	if !within(path, root) {
		return []string{root}
	}
	dirs := []string{path}
	for path != root {
		path = filepath.Dir(path)
		dirs = append(dirs, path)
	}
	return dirs
}

// inMainCheckout is where dir, inside of the linked worktree top, would be in the checkout main. What
// doesn't exist there is left off, and so is what is a symlink there: a room's path is canonical.
func inMainCheckout(dir, top, main string) string {
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return main
	}
	for p := filepath.Join(main, rel); p != main && within(p, main); p = filepath.Dir(p) {
		if real, err := canonical(p); err == nil && real == p && isDir(p) {
			return p
		}
	}
	return main
}
