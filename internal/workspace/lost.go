package workspace

import (
	"os"
	"path/filepath"

	"talkingstick/stick"
)

// Pointer is a file of a checkout that leads to the directory of its repository.
type Pointer struct {
	File   string // .git or .jj/repo
	Target string // where it leads; empty if it names no directory
}

// CheckRepository fails with repository_missing if the checkout of p leads to a repository that can't be
// found from here. Git doesn't work in it, and the room of those who work on that repository isn't known.
func (p Place) CheckRepository() error {
	if p.Lost.File == "" {
		return nil
	}

	file, target := printable(p.Lost.File), printable(p.Lost.Target)
	e := stick.Errorf(stick.CodeRepositoryMissing, "the repository of %s can't be found: its %s points to %s, which isn't there", printable(p.Root), file, target)
	if p.Lost.Target == "" {
		e = stick.Errorf(stick.CodeRepositoryMissing, "the repository of %s can't be found: its %s doesn't name a directory", printable(p.Root), file)
	}

	e.With("path", p.Root).With("git_dir", p.Lost.Target).Hintf("in a container, mount the repository at that path too")
	if p.Lost.File == ".git" {
		repair := stick.Cmd("git -C <main> worktree repair <path>")
		if main := findMain(p.Root, p.Lost.Target); main != "" {
			repair = stick.Cmd("git -C <main> worktree repair <path>", main, p.Root)
		}
		e.Hintf("in a container, mount the repository at that path too; if it was moved: %s", repair)
	}

	return e
}

// findMain finds the checkout above a lost worktree whose repository has a record of that name, as after the
// whole repository was renamed. It is empty if there is none.
func findMain(worktree, record string) string {
	for dir := filepath.Dir(worktree); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		records := filepath.Join(dir, ".git", "worktrees")
		if info, err := os.Lstat(filepath.Join(records, filepath.Base(record))); err == nil && info.IsDir() {
			return dir
		}
	}

	return ""
}

// CheckRepository is [Place.CheckRepository] for the checkout that path lies in. It returns nil for a path
// that can't be looked up.
func CheckRepository(path string, env Env) error {
	dir, err := resolveDirectory(path, env.Dir)
	if err != nil {
		return nil
	}

	c, _ := findCheckout(dir, env)
	return Place{Root: c.top, Lost: c.lost}.CheckRepository()
}

// lostGit returns the .git of the checkout with top level top, which has led to no directory. The result is
// empty where .git is no pointer but a device, as sandboxes put there.
func lostGit(top string) Pointer {
	file := filepath.Join(top, ".git")
	lost := Pointer{File: ".git"}
	if target, err := os.Readlink(file); err == nil {
		// A link that leads to something, as to a device, isn't lost.
		if _, err := os.Stat(file); err == nil {
			return Pointer{}
		}

		lost.Target = joinToDir(target, top)
		return lost
	}

	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return Pointer{}
	}

	if target, ok := readPath(file, parseGitFile, top); ok {
		lost.Target = filepath.Clean(target)
	}

	return lost
}

// joinToDir joins a relative path to dir.
func joinToDir(path, dir string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
