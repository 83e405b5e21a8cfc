package git

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"talkingstick/stick"
)

// AddWorktree creates a locked worktree with a new branch at a commit.
func (c Client) AddWorktree(ctx context.Context, dir, path, branch, commit, why string) error {
	return c.addWorktree(ctx, dir, "-b", branch, "--no-track", "--lock", "--reason", why, "--", path, commit)
}

// AddWorktreeOf creates a locked worktree of an existing branch.
func (c Client) AddWorktreeOf(ctx context.Context, dir, path, branch, why string) error {
	return c.addWorktree(ctx, dir, "--lock", "--reason", why, "--", path, branch)
}

// AddDetached creates a worktree at a commit, on no branch.
func (c Client) AddDetached(ctx context.Context, dir, path, commit string) error {
	return c.addWorktree(ctx, dir, "--detach", "--", path, commit)
}

// addWorktree creates a worktree, a second time if another git got in the way.
func (c Client) addWorktree(ctx context.Context, dir string, args ...string) error {
	args = append([]string{"worktree", "add", "--quiet"}, args...)
	err := c.runWrite(ctx, writeCall{dir: dir}, args...)
	if !hasMetRemoval(err) {
		return err
	}

	// A new branch was made before this git failed, so it is no obstacle.
	if i := slices.Index(args, "-b"); i >= 0 {
		args[i] = "-B"
	}
	return c.runWrite(ctx, writeCall{dir: dir}, args...)
}

// hasMetRemoval reports whether git failed to add a worktree because another git removed the last one at that
// moment, and with it the directory in which git keeps its records of worktrees.
func hasMetRemoval(err error) bool {
	f := asFailure(err)
	return f != nil && strings.Contains(f.Said, "could not create directory of ") && strings.Contains(f.Said, "No such file")
}

// RemoveDetached removes a worktree that [Client.AddDetached] has created, complete or not, with all its
// files. rel is where it lies below root. It doesn't follow a link that leads out of root.
func (c Client) RemoveDetached(common, root, rel string) error {
	path := filepath.Join(root, rel)
	if err := removeAll(root, rel); err != nil {
		return stick.Errorf(stick.CodeGitFailed, "%s can't be removed: %w", path, err).With("path", path).
			Hintf("remove it by hand: %s", RemovalCommand(path))
	}

	return c.RemoveRecord(common, path)
}

// RemovalCommand returns the command with which a person removes a worktree.
func RemovalCommand(path string) stick.Words {
	return stick.Wordsf("%s && git worktree prune", stick.Cmd("rm -rf <path>", path))
}

// removeAll removes a directory below root and everything in it, even if it is read-only: some programs
// protect their caches that way.
func removeAll(root, rel string) error {
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer r.Close()

	// Most trees need no change of their modes.
	if r.RemoveAll(rel) == nil {
		return nil
	}

	makeWritable(r, rel)
	return r.RemoveAll(rel)
}

// makeWritable makes all directories of a tree writable for their owner, each before it is read. It
// ignores failures: they show when the tree is removed.
func makeWritable(r *os.Root, rel string) {
	_ = fs.WalkDir(r.FS(), filepath.ToSlash(rel), func(p string, d fs.DirEntry, _ error) error {
		if d == nil || !d.IsDir() {
			return nil
		}
		if info, err := r.Lstat(p); err == nil && info.IsDir() {
			_ = r.Chmod(p, info.Mode().Perm()|0o700)
		}
		return nil
	})
}

// RemoveWorktree unlocks and removes a worktree that has no changed or untracked files. If it has some, it
// fails with [stick.CodeGitFailed] and locks the worktree again, for the reason why.
func (c Client) RemoveWorktree(ctx context.Context, dir, path, why string) error {
	_, ok, err := c.Worktree(ctx, dir, path)
	if err != nil {
		return err
	}
	if !ok {
		return removeLeftover(path)
	}

	// Where the directory is missing, only git's record of it is left to remove.
	if _, err := os.Stat(path); os.IsNotExist(err) {
		at, err := c.Checkout(ctx, dir)
		if err != nil {
			return err
		}
		return c.RemoveRecord(at.Common, path)
	}

	// Git removes none that is locked. Whatever makes it fail, the worktree is protected again.
	unlocked := c.runWrite(ctx, writeCall{dir: dir}, "worktree", "unlock", "--", path) == nil
	err = c.runWrite(ctx, writeCall{dir: dir}, "worktree", "remove", "--", path)
	if err != nil && unlocked {
		_ = c.runWrite(ctx, writeCall{dir: dir}, "worktree", "lock", "--reason", why, "--", path)
	}

	if f := asFailure(err); f != nil && strings.Contains(f.Said, "containing submodules") {
		return stick.Errorf(stick.CodeGitFailed, "git doesn't remove a worktree with submodules checked out; if you need nothing in them: %s",
			stick.Cmd("git worktree remove -f -f <path>", path)).With("path", path).Hintf("then run the same command again")
	}

	return err
}

// DiscardWorktree unlocks and removes a worktree with all changes in it. Whoever calls it has kept what must not be
// lost. It fails with [stick.CodeGitFailed].
func (c Client) DiscardWorktree(ctx context.Context, dir, path string) error {
	_, ok, err := c.Worktree(ctx, dir, path)
	if err != nil {
		return err
	}
	if !ok {
		return removeLeftover(path)
	}

	// Where the directory is missing, only git's record of it is left to remove.
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return c.RemoveWorktree(ctx, dir, path, "")
	}

	// Forced twice: once for the changes, and once for the lock.
	return c.runWrite(ctx, writeCall{dir: dir}, "worktree", "remove", "--force", "--force", "--", path)
}

// removeLeftover removes the directory of a worktree that git no longer knows. The directory must be
// empty or missing.
func removeLeftover(path string) error {
	err := os.Remove(path)
	if err == nil || os.IsNotExist(err) {
		return nil
	}

	return stick.Errorf(stick.CodeGitFailed, "%s isn't a worktree any more, but it isn't empty", path).
		Hintf("check what is in it, then remove it by hand")
}

// Worktree finds the checkout at a path.
func (c Client) Worktree(ctx context.Context, dir, path string) (Worktree, bool, error) {
	list, err := c.Worktrees(ctx, dir)
	for _, w := range list {
		if samePath(w.Path, path) {
			return w, true, err
		}
	}

	return Worktree{}, false, err
}

func samePath(a, b string) bool {
	if a == b {
		return true
	}

	x, err := filepath.EvalSymlinks(a)
	if err != nil {
		return false
	}

	y, err := filepath.EvalSymlinks(b)
	return err == nil && x == y
}

// OperationInProgress names the operation that is in progress in the checkout of a git directory, such as
// rebase. It is empty if there is none.
func OperationInProgress(gitDir string) string {
	for name, what := range map[string]string{
		"rebase-merge": "rebase", "rebase-apply": "rebase", "MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick",
		"REVERT_HEAD": "revert", "BISECT_LOG": "bisect",
	} {
		if _, err := os.Stat(filepath.Join(gitDir, name)); err == nil {
			return what
		}
	}

	return ""
}

// Rebase rebases the branch that is checked out in dir onto a commit. At a conflict it leaves the rebase in
// progress, and conflict is true. Any other failure leaves the branch as it was. Like [Client.FastForward] it
// runs to its end even if ctx is cancelled. The commits are signed if s says so; call [Client.CheckSigning]
// before.
func (c Client) Rebase(ctx context.Context, dir string, s Signing, onto string) (conflict bool, err error) {
	ctx = context.WithoutCancel(ctx)
	sign := "commit.gpgSign=" + strconv.FormatBool(s.Program != "")
	err = c.runWrite(ctx, writeCall{dir: dir, waited: stick.Wordsf("%s", s.Program)},
		"-c", sign, "-c", "rebase.autoStash=false", "-c", "rebase.updateRefs=false", "-c", "rebase.autoSquash=false",
		"rebase", "--quiet", "--no-autostash", "--", onto)
	if err == nil {
		return false, nil
	}

	// A rebase in progress with conflicts waits for whoever resolves them. Any other one is taken back.
	at, cerr := c.Checkout(ctx, dir)
	if cerr != nil || OperationInProgress(at.GitDir) != "rebase" {
		return false, err
	}

	files, ferr := c.Unmerged(ctx, dir)
	if ferr == nil && len(files) > 0 {
		return true, nil
	}

	if aerr := c.runWrite(ctx, writeCall{dir: dir}, "rebase", "--abort"); aerr != nil {
		return false, aerr
	}

	return false, err
}

// Unmerged lists the paths in conflict in the checkout at dir.
func (c Client) Unmerged(ctx context.Context, dir string) ([]string, error) {
	return c.runList(ctx, dir, "diff", "--name-only", "--diff-filter=U", "-z")
}

// Ignored lists the paths in the checkout at dir that git ignores. A directory of which it ignores everything
// is one path, with a slash at its end.
func (c Client) Ignored(ctx context.Context, dir string) ([]string, error) {
	return c.runList(ctx, dir, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
}

// ExcludePatterns makes git ignore patterns in all checkouts of the repository.
func ExcludePatterns(common string, patterns ...string) error {
	path := filepath.Join(common, "info", "exclude")
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}

	// What is excluded already isn't written again, so that most calls change nothing.
	have := map[string]bool{}
	for l := range strings.Lines(string(b)) {
		have[strings.TrimSpace(l)] = true
	}

	text := string(b)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}

	was := text
	for _, p := range patterns {
		if !have[p] {
			text += p + "\n"
		}
	}

	if text == was {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}

	// Another process may read the file meanwhile: it is replaced as a whole.
	tmp, err := os.CreateTemp(filepath.Dir(path), "exclude-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())

	if _, err := tmp.WriteString(text); err != nil {
		tmp.Close()
		return err
	}

	if err := tmp.Close(); err != nil {
		return err
	}

	if err := os.Chmod(tmp.Name(), 0o644); err != nil {
		return err
	}

	return os.Rename(tmp.Name(), path)
}

// TrackedChanges lists the tracked paths of a checkout that differ from its commit. It leaves submodules
// out: a merge changes the recorded commit of a submodule, never its checkout.
func (c Client) TrackedChanges(ctx context.Context, dir string) ([]string, error) {
	var s statusParser
	err := c.runReadOnly(ctx, dir, &s, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no",
		"--no-renames", "--no-ahead-behind", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}

	w, err := s.asWorkspace()
	if err != nil {
		return nil, err
	}

	return w.Dirty, nil
}

// IgnoredFiles lists the files in the checkout at dir that git ignores, each by itself: below the given
// paths, or all. Of a repository that lies there git knows no more than its directory: those are the second
// list.
func (c Client) IgnoredFiles(
	ctx context.Context, dir string, below []string,
) (files, repositories []string, err error) {
	args := []string{"ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"}
	for _, path := range below {
		args = append(args, ":(top,literal)"+path)
	}

	all, err := c.runList(ctx, dir, args...)
	for _, f := range all {
		if repository, ok := strings.CutSuffix(f, "/"); ok {
			repositories = append(repositories, repository)
		} else {
			files = append(files, f)
		}
	}

	return files, repositories, err
}

// UntrackedFilesOf lists the files in the checkout at dir that git doesn't track and that the patterns of a
// file match, each by itself and whether git ignores them or not. The file is written as a .gitignore is.
func (c Client) UntrackedFilesOf(ctx context.Context, dir, patterns string) ([]string, error) {
	all, err := c.runList(ctx, dir, "ls-files", "--others", "--ignored", "--exclude-from="+patterns, "-z")

	// Of a repository that lies there git knows no more than its directory.
	return slices.DeleteFunc(all, func(f string) bool { return strings.HasSuffix(f, "/") }), err
}

// WouldIgnore returns those of the paths that git ignores, or would if they were there, in the checkout at
// dir.
func (c Client) WouldIgnore(ctx context.Context, dir string, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}

	var out bytes.Buffer
	q := writeCall{dir: dir, in: strings.NewReader(strings.Join(paths, "\x00") + "\x00"), out: &out}
	err := c.runWrite(ctx, q, "check-ignore", "-z", "--stdin")
	// Status 1: it ignores none of them.
	if err != nil && !exitedWith(err, 1) {
		return nil, err
	}

	return splitNUL(out.String()), nil
}
