package workspace

import (
	"os"
	"path/filepath"
)

// jjName is the directory in which jj keeps what it knows of a workspace.
const jjName = ".jj"

// jjCheckout returns the workspace of jj with top level top, where git doesn't work; without a top if there
// is none. In the main one, .jj/repo is the repository. In others it is a file with the path to that; one
// that leads nowhere makes the workspace one of its own, as such a .git does.
func jjCheckout(top string) checkout {
	dir := filepath.Join(top, jjName)
	info, err := os.Stat(filepath.Join(dir, "repo"))
	if err != nil {
		return checkout{}
	}

	c := checkout{top: top, main: top, withoutGit: true}
	if info.IsDir() {
		return c
	}

	named, _ := readPath(filepath.Join(dir, "repo"), parseLine, dir)
	repo, ok := realPath(named, dir)
	if !ok || !isDir(repo) || filepath.Base(filepath.Dir(repo)) != jjName {
		c.lost = Pointer{File: filepath.Join(jjName, "repo")}
		if named != "" {
			c.lost.Target = filepath.Clean(named)
		}
		return c
	}

	c.main = filepath.Dir(filepath.Dir(repo))
	// jj and git work in the same files, maybe in a linked worktree.
	if git, ok := dotGit(c.main); ok {
		c.main = checkoutAt(c.main, git).main
	}

	c.linked = c.main != top
	return c
}
