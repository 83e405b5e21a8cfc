package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Repository is a git repository with its main checkout, which all who work in it share.
type Repository struct {
	Top string // the main checkout's top level; empty in a bare repository
	Git string // the git directory that all its worktrees share
}

// FindRepository finds the repository that GIT_DIR names, if it is set, else the one that path lies in.
// GIT_WORK_TREE doesn't matter: a repository used with another work tree is still the same. ok is false
// if there is none.
func FindRepository(path string, env Env) (r Repository, ok bool) {
	dir, err := resolveDirectory(path, env.Dir)
	if err != nil {
		return r, false
	}

	main := ""
	if c, ok := findCheckout(dir, Env{Home: env.Home}); ok {
		r.Git, main = commonAt(gitDirAt(c.top)), c.main
	}

	if env.GitDir != "" {
		given, ok := realPath(env.GitDir, env.Dir)
		// GIT_DIR may name a .git file.
		if ok && !isDir(given) {
			given, _ = readPath(given, parseGitFile, filepath.Dir(given))
		}

		// With the same repository, the checkout around path has the main one already.
		if common := commonAt(given); common != r.Git {
			r.Git, main = common, mainTop(common)
		}
	}

	if r.Git == "" {
		return r, false
	}
	if main != r.Git && !isBare(r.Git) {
		r.Top = main
	}

	return r, true
}

// Checkout is one checkout of a git repository, with a working tree.
type Checkout struct {
	Top    string // its top level
	Git    string // its own git directory, which has its HEAD and index
	Common string // the git directory that all checkouts of the repository share
	Given  bool   // GIT_DIR names the git directory. From Top alone git finds another one, or none
}

// FindCheckout finds the checkout that path lies in: the one that GIT_DIR and GIT_WORK_TREE name, if path
// lies in it, else the one around path. ok is false if there is none, or only a bare repository.
func FindCheckout(path string, env Env) (c Checkout, ok bool) {
	dir, err := resolveDirectory(path, env.Dir)
	if err != nil {
		return Checkout{}, false
	}

	found, ok := givenCheckout(dir, env)
	if ok {
		base := env.Dir
		if base == "" {
			base = dir
		}
		c.Git, c.Given = givenGitDir(env, base)
	} else if found, ok = findCheckout(dir, Env{Home: env.Home}); ok {
		c.Git, _ = dotGit(found.top)
	}

	// What lies in no checkout, or in a bare repository, has no top level of its own.
	if !ok || c.Git == "" {
		return Checkout{}, false
	}
	if c.Git, err = canonicalPath(c.Git); err != nil {
		return Checkout{}, false
	}

	c.Top, c.Common = found.top, commonAt(c.Git)
	return c, c.Common != "" && c.Top != c.Git
}

// commonAt returns the shared git directory of the repository that git belongs to, and "" if there is none.
func commonAt(git string) string {
	if git == "" {
		return ""
	}

	common, _ := commonDir(git)
	common, err := canonicalPath(common)
	if err != nil || !IsGitDir(common) {
		return ""
	}

	return common
}

// isBare reports whether a repository has no main checkout. With extensions.worktreeConfig, git keeps
// that setting in the main checkout's own file.
func isBare(git string) bool {
	for _, name := range []string{"config.worktree", "config"} {
		b, err := os.ReadFile(filepath.Join(git, name))
		if err != nil {
			continue
		}

		if v, ok := parseCore(b, "bare"); ok {
			return slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(v))
		}
	}

	return false
}

// CheckedOut lists the branches that are checked out in the main checkout, as refs/heads/name: that of
// HEAD, and one that is being rebased, although HEAD is detached during a rebase. If git hasn't noted the
// name of that one, it is a branch that still points at orig. Both are empty when HEAD is detached, and
// when the files don't tell.
func (r Repository) CheckedOut() (refs []string, orig string) {
	if r.Top == "" {
		return nil, ""
	}

	for _, name := range []string{"HEAD", "rebase-merge/head-name", "rebase-apply/head-name"} {
		ref := strings.TrimPrefix(r.readLine(name), "ref: ")
		if strings.HasPrefix(ref, "refs/heads/") && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}

	// Git notes the name only when a patch fails.
	if len(refs) == 0 && hasEntry(r.Git, "rebase-apply") {
		orig = r.readLine("ORIG_HEAD")
	}

	return refs, orig
}

// readLine returns the content of a small file of the git directory, and "" if there is none.
func (r Repository) readLine(name string) string {
	b, err := os.ReadFile(filepath.Join(r.Git, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
