package workspace

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checkout is the git checkout, or the workspace of jj, that a directory lies in.
type checkout struct {
	top    string // the top level
	main   string // the main checkout's top level; top itself, unless linked
	linked bool   // top is a linked worktree

	withoutGit bool    // top is a workspace of jj in which git doesn't work
	lost       Pointer // to the repository, which isn't where it leads; empty if it is there
}

// findCheckout finds the checkout of dir as git does: by GIT_DIR first, then by the nearest directory upwards
// that holds .git or is a git directory itself. A directory whose .git leads nowhere is a top level, too. Git
// itself would go on to the next checkout above; that would put an agent in a damaged worktree into somebody
// else's tree.
//
// A bare repository inside a checkout is a part of it, because whoever wrote the checkout may have put it
// there; but a .git in the home directory, in which people keep their settings, doesn't take the bare
// repositories below. It is a repository like any other otherwise. A directory that holds a bare repository
// named .bare is that repository's checkout. Git agrees once there is a .git file beside it.
func findCheckout(dir string, env Env) (checkout, bool) {
	if c, ok := givenCheckout(dir, env); ok {
		return c, true
	}

	// Going up, the first .git counts; without any, the nearest bare repository or workspace of jj.
	var bare, jj checkout
	for d := dir; ; d = filepath.Dir(d) {
		if git, ok := dotGit(d); ok && (bare.top+jj.top == "" || !isHome(d, env)) {
			// A second workspace of jj that lies in the main checkout is none of its directories.
			c := lostWorktree(dir, checkoutAt(d, git), git)
			if jj.linked && jj.main == c.main {
				return jj, true
			}

			return c, true
		}

		switch {
		case bare.top+jj.top != "":
			// Something nearer was found. Only a .git above can still matter.
		case IsGitDir(d):
			main := mainTop(d)
			bare = checkout{top: main, main: main}
			// The git directory may be the .git of a checkout.
			if main != d {
				return bare, true
			}
		case IsGitDir(filepath.Join(d, bareName)):
			bare = checkout{top: d, main: d}
		default:
			jj = jjCheckout(d)
		}

		if d == filepath.Dir(d) {
			if jj.top != "" {
				return jj, true
			}
			return bare, bare.top != ""
		}
	}
}

func isHome(dir string, env Env) bool {
	home, err := canonicalPath(env.Home)
	return err == nil && dir == home
}

// givenCheckout returns the checkout that GIT_DIR and GIT_WORK_TREE name, if dir lies in it. If only
// GIT_DIR is set, git takes the current directory for the top level. This takes the directory that holds
// the git directory, so that agents in two subdirectories meet in one room.
func givenCheckout(dir string, env Env) (checkout, bool) {
	if env.GitDir == "" {
		return checkout{}, false
	}

	base := env.Dir
	if base == "" {
		base = dir
	}

	git, ok := givenGitDir(env, base)
	if !ok {
		return checkout{}, false
	}

	common, linked := commonDir(git)
	if !IsGitDir(common) {
		return checkout{}, false
	}

	// A linked worktree knows its own top level, but GIT_WORK_TREE comes before it.
	main := mainTop(common)
	c := checkout{top: main, main: main, linked: linked}
	if linked {
		c.top, ok = worktreeTop(git)
	}

	if env.GitWorkTree != "" {
		c.top, ok = realPath(env.GitWorkTree, base)
		if !linked {
			c.main = c.top
		}
	}
	if !ok || !IsWithin(dir, c.top) {
		return checkout{}, false
	}

	return c, true
}

// givenGitDir returns the git directory that GIT_DIR names. It may name a .git file. A relative one is taken
// from base.
func givenGitDir(env Env, base string) (git string, ok bool) {
	git, ok = realPath(env.GitDir, base)
	if ok && !isDir(git) {
		git, ok = readPath(git, parseGitFile, filepath.Dir(git))
	}
	return git, ok
}

// checkoutAt returns the checkout with top level top and git directory git, which is "" if its .git leads
// nowhere.
func checkoutAt(top, git string) checkout {
	c := checkout{top: top, main: top}
	if git == "" {
		c.lost = lostGit(top)
		return c
	}

	common, linked := commonDir(git)
	switch {
	case linked && IsGitDir(common):
		c.main, c.linked = mainTop(common), true
	case linked:
		c.lost = Pointer{File: ".git", Target: filepath.Clean(common)}
	}

	return c
}

// lostWorktree corrects c if dir lies in a linked worktree that has lost its .git file and so looks like a
// part of the checkout around it. Git names the record of a worktree after its directory, so only records
// with a fitting name are read.
func lostWorktree(dir string, c checkout, git string) checkout {
	if dir == c.top || git == "" || c.linked {
		return c
	}

	records, err := os.ReadDir(filepath.Join(git, "worktrees"))
	if err != nil {
		return c
	}

	for d := dir; d != c.top; d = filepath.Dir(d) {
		for _, r := range records {
			if !strings.HasPrefix(r.Name(), filepath.Base(d)) {
				continue
			}
			if top, ok := worktreeTop(filepath.Join(git, "worktrees", r.Name())); ok && top == d {
				return checkout{top: d, main: c.main, linked: true}
			}
		}
	}

	return c
}

// Worktrees lists the top levels of the linked worktrees of the repository at root, sorted. It leaves out
// directories that no longer exist. A root without git has none.
func Worktrees(root string) []string {
	git := gitDirAt(root)
	if git == "" {
		return nil
	}

	common, _ := commonDir(git)
	records, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return nil
	}

	var tops []string
	for _, r := range records {
		if top, ok := worktreeTop(filepath.Join(common, "worktrees", r.Name())); ok {
			tops = append(tops, top)
		}
	}

	slices.Sort(tops)
	return tops
}

// gitDirAt returns the git directory of the checkout with top level top, and "" if its .git leads nowhere.
func gitDirAt(top string) string {
	if git, ok := dotGit(top); ok {
		return git
	}
	if IsGitDir(top) {
		return top
	}

	return filepath.Join(top, bareName)
}

// dotGit looks for .git in dir. git is the git directory that it leads to, and "" if that doesn't exist.
func dotGit(dir string) (git string, ok bool) {
	p := filepath.Join(dir, ".git")
	info, err := os.Lstat(p)
	if err != nil {
		return "", false
	}

	// A link counts as what it leads to.
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(p); err != nil {
			return "", true
		}
	}

	switch {
	case info.IsDir():
		return p, true
	case !info.Mode().IsRegular():
		return "", true
	}

	git, ok = readPath(p, parseGitFile, dir)
	if !ok || !isDir(git) {
		return "", true
	}

	return git, true
}

// IsGitDir reports whether dir is a git directory, other than a linked worktree's.
func IsGitDir(dir string) bool {
	return hasEntry(dir, "HEAD") && isDir(filepath.Join(dir, "objects")) && isDir(filepath.Join(dir, "refs"))
}

// commonDir returns the git directory that all worktrees of a repository share, and reports whether git
// is the part of one linked worktree.
func commonDir(git string) (common string, linked bool) {
	if common, ok := readPath(filepath.Join(git, "commondir"), parseLine, git); ok {
		return common, true
	}
	return git, false
}

// worktreeTop returns the top level of the linked worktree whose record is git.
func worktreeTop(git string) (top string, ok bool) {
	file, ok := readPath(filepath.Join(git, "gitdir"), parseLine, git)
	if !ok {
		return "", false
	}

	top, ok = realPath(filepath.Dir(file), git)
	return top, ok && isDir(top)
}

// bareName is the customary name of a bare repository in a directory that otherwise holds only its
// worktrees.
const bareName = ".bare"

// mainTop returns the top level of the main checkout of the repository with git directory common. A bare
// repository has none, and git doesn't record the checkout of a repository made with --separate-git-dir.
// Then mainOf returns the git directory itself, which all worktrees have in common.
func mainTop(common string) string {
	if real, err := canonicalPath(common); err == nil {
		common = real
	}

	parent := filepath.Dir(common)
	if filepath.Base(common) == ".git" {
		return parent
	}

	// A submodule's git directory is .git/modules/<name>, and names its top level.
	if top, ok := configuredTop(common); ok {
		return top
	}
	if filepath.Base(common) == bareName {
		return parent
	}

	// The .git file of the directory around it may lead back here.
	if git, ok := dotGit(parent); ok && git != "" {
		if real, err := canonicalPath(git); err == nil && real == common {
			return parent
		}
	}

	return common
}

// configuredTop returns core.worktree. Git moves that setting to config.worktree for a sparse checkout.
func configuredTop(git string) (top string, ok bool) {
	for _, name := range []string{"config.worktree", "config"} {
		if p, ok := readPath(filepath.Join(git, name), parseWorktree, git); ok {
			if top, ok := realPath(p, git); ok && isDir(top) {
				return top, true
			}
		}
	}

	return "", false
}

// realPath makes path canonical. A relative one is taken from base.
func realPath(path, base string) (string, bool) {
	abs, err := absolutePath(path, base)
	if err != nil {
		return "", false
	}

	real, err := canonicalPath(abs)
	return real, err == nil
}

// readPath reads the path that parse finds in file. A relative one is taken from base.
func readPath(file string, parse func([]byte) (string, bool), base string) (string, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}

	p, ok := parse(b)
	if !ok {
		return "", false
	}

	abs, err := absolutePath(filepath.FromSlash(p), base)
	return abs, err == nil
}

// CheckoutTop returns the top level of the checkout that the place lies in, and "" if there is none.
func (p Place) CheckoutTop() string {
	if p.Found != FoundGit || p.WithoutGit {
		return ""
	}
	return cmp.Or(p.Worktree, p.Root)
}

// Superproject returns the place of the checkout around a submodule, whose git directory is elsewhere.
func (p Place) Superproject() (around Place, ok bool) {
	top := p.CheckoutTop()
	if top == "" || p.Worktree != "" {
		return around, false
	}

	// In a submodule, .git is a file that leads to the git directory.
	if git, err := os.Lstat(filepath.Join(top, ".git")); err != nil || !git.Mode().IsRegular() {
		return around, false
	}

	around, err := Resolve(filepath.Dir(top), Env{})
	return around, err == nil && around.Found == FoundGit
}

// RoomChain returns the places of the rooms that files of the place's checkout may lie in, as in Place.Chain: those
// of a submodule without a room go on with the checkout around it. apart reports whether it is a linked worktree,
// or lies in one.
func (p Place) RoomChain() (chain []string, apart bool) {
	chain, apart = p.Chain, p.Worktree != ""
	if around, ok := p.Superproject(); ok {
		over, isOverApart := around.RoomChain()
		chain, apart = slices.Concat(chain, over), apart || isOverApart
	}
	return chain, apart
}
