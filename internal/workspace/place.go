// Package workspace finds the workspace that a path lies in. It reads directories, .git files and marker
// files itself and starts no process, because every command needs it.
//
// See docs/decisions/workspaces.md.
package workspace

import (
	"path/filepath"
	"strings"
)

// Env is what resolution needs to know about the caller's environment. It is never read from this process
// itself, so that a server can resolve for its clients.
type Env struct {
	// Dir is the working directory, from which relative paths are taken. If it is empty, relative
	// paths are refused.
	Dir string
	// Home is the user's home directory.
	Home string
	// GitDir is the value of GIT_DIR, which git sets for its hooks. It counts for paths inside its
	// work tree, if it names a repository.
	GitDir string
	// GitWorkTree is the value of GIT_WORK_TREE. It counts only together with GitDir.
	GitWorkTree string
}

// How a workspace root was found.
const (
	FoundGit    = "git"    // the top level of a git checkout
	FoundJJ     = "jj"     // the top level of a workspace of jj without git
	FoundMarker = "marker" // the nearest directory that holds a marker file
	FoundPath   = "path"   // the path itself, because nothing else was found
)

// Place is a path and the workspace it lies in. All of its paths are absolute and canonical.
type Place struct {
	// Path is where the caller is, with symlinks resolved and a file replaced by its directory.
	Path string
	// Root is the preferred workspace root. A new room is created there.
	Root string
	// Found says how Root was found: [FoundGit], [FoundJJ], [FoundMarker] or [FoundPath].
	Found string
	// Marker is the name of the marker file, if Found is [FoundMarker].
	Marker string
	// Worktree is the top level of the linked worktree that Path lies in, or of the second workspace of a jj
	// repository. It is empty outside of one.
	Worktree string
	// WithoutGit is true if git finds no checkout at Path, or another one, because Path lies in a workspace
	// of jj alone.
	WithoutGit bool
	// Lost is set if the checkout leads to a repository that can't be found from here. Root is the checkout's
	// own top level then, although the repository may have a room. See [Place.CheckRepository].
	Lost Pointer
	// Broad is true if Root is the home directory or the root of the file system. A room there would cover
	// nearly everything of a user, so one is made only when somebody asks for it.
	Broad bool
	// Chain lists the directories whose room would cover Path, from the deepest up to Root. It starts at
	// Path. If nothing says where the workspace begins (FoundPath), it goes on above Root, without Broad
	// directories: there a room is the only sign of a workspace. In a linked worktree it starts at the same
	// place in the main checkout, or at the nearest directory above that exists there: one room serves all
	// checkouts of a repository.
	Chain []string
}

// Resolve finds the place of path, which must exist. The root is the first of these: the top level of the git
// checkout (the main one for a linked worktree, its own for a submodule) or of the main workspace of a jj
// repository, the nearest directory upwards with a marker, the path itself.
//
// It fails with invalid_path if the path doesn't exist or can't be read.
func Resolve(path string, env Env) (Place, error) {
	dir, err := resolveDirectory(path, env.Dir)
	if err != nil {
		return Place{}, err
	}
	return locatePlace(dir, env)
}

// isBroad reports whether dir is the home directory or the root of a file system. Both paths are canonical.
func isBroad(dir, home string) bool { return dir == home || dir == filepath.Dir(dir) }

// ResolveGone is [Resolve] for a working directory that may have been deleted under its process. It keeps
// the missing part of path as written, and drops Linux's " (deleted)" at the end. With it, an agent whose
// worktree was removed can still read its room. Nobody may create a new room at such a place.
func ResolveGone(path string, env Env) (Place, error) {
	dir, err := resolveDirectory(path, env.Dir)
	if err == nil {
		return locatePlace(dir, env)
	}

	// Linux adds this to the name of a working directory that was deleted.
	path = strings.TrimSuffix(path, " (deleted)")
	if dir, err := resolveDirectory(path, env.Dir); err == nil {
		return locatePlace(dir, env)
	}

	// Some directory above still exists, and has a room.
	real, rest, serr := splitExisting(path, env.Dir)
	if serr != nil {
		return Place{}, err
	}

	return locatePlace(filepath.Join(real, rest), env)
}

// locatePlace finds the workspace of dir, which is canonical.
func locatePlace(dir string, env Env) (Place, error) {
	p, err := findRoot(dir, env)
	p.Broad = err == nil && isBroad(p.Root, realHome(env.Home))
	return p, err
}

// findRoot is [locatePlace] without Broad.
func findRoot(dir string, env Env) (Place, error) {
	if err := checkSearchable(dir); err != nil {
		return Place{}, err
	}

	if c, ok := findCheckout(dir, env); ok {
		p := Place{Path: dir, Root: c.main, Found: FoundGit, WithoutGit: c.withoutGit, Lost: c.lost}
		if _, ok := dotGit(c.main); c.withoutGit && !ok {
			p.Found = FoundJJ
		}

		// A linked worktree has the room of the main checkout.
		if !c.linked {
			p.Chain = dirsUpTo(dir, c.main)
			return p, nil
		}

		p.Worktree = c.top
		p.Chain = dirsUpTo(inMainCheckout(dir, c.top, c.main), c.main)
		return p, nil
	}

	if root, name, ok := findMarker(dir, env.Home); ok {
		return Place{Path: dir, Root: root, Found: FoundMarker, Marker: name, Chain: dirsUpTo(dir, root)}, nil
	}

	// Nothing says where the workspace begins, so any room above may cover it.
	p := Place{Path: dir, Root: dir, Found: FoundPath, Chain: []string{dir}}
	home := realHome(env.Home)
	for above := filepath.Dir(dir); above != filepath.Dir(above); above = filepath.Dir(above) {
		if above != home {
			p.Chain = append(p.Chain, above)
		}
	}

	return p, nil
}

// Worktrees lists the top levels of the checkouts of p's repository beside the main one: its linked
// worktrees, and that of p, which only p tells of where it is a workspace of jj.
func (p Place) Worktrees() []string {
	tops := Worktrees(p.Root)
	if p.WithoutGit && p.Worktree != "" {
		tops = append(tops, p.Worktree)
	}
	return tops
}

// Repository returns the directory in which git finds the workspace's repository: Root, or the bare
// repository in it.
func (p Place) Repository() string {
	if _, ok := dotGit(p.Root); !ok && IsGitDir(filepath.Join(p.Root, bareName)) {
		return filepath.Join(p.Root, bareName)
	}
	return p.Root
}

// MakesRepository reports whether git would find no repository at p without full, which is canonical. It is
// the .git of the checkout, be it a directory or a file, the bare repository, or a part without which one is
// none. Other files in it, such as a lock, aren't that.
func (p Place) MakesRepository(full string) bool {
	bare := filepath.Join(p.Root, bareName)
	switch full {
	case filepath.Join(p.Root, ".git"), filepath.Join(p.Worktree, ".git"):
		return true
	case bare, filepath.Join(bare, "HEAD"), filepath.Join(bare, "objects"), filepath.Join(bare, "refs"):
		return p.Repository() == bare
	}

	within := filepath.Join(p.Root, ".git")
	switch full {
	case filepath.Join(within, "HEAD"), filepath.Join(within, "objects"), filepath.Join(within, "refs"):
		return true
	}

	return false
}

// dirsUpTo lists the directories from path up to root. For a path outside root, such as one in a separate
// git directory, it lists only root.
func dirsUpTo(path, root string) []string {
	if !IsWithin(path, root) {
		return []string{root}
	}

	dirs := []string{path}
	for path != root {
		path = filepath.Dir(path)
		dirs = append(dirs, path)
	}

	return dirs
}

// inMainCheckout maps dir, in the linked worktree top, to the same directory in the checkout main, or to
// the nearest one above that exists there. It skips symlinks, because a room's path is canonical.
func inMainCheckout(dir, top, main string) string {
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return main
	}

	// The directory may exist in the worktree alone.
	for p := filepath.Join(main, rel); p != main && IsWithin(p, main); p = filepath.Dir(p) {
		if real, err := canonicalPath(p); err == nil && real == p && isDir(p) {
			return p
		}
	}

	return main
}
