package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/stick"
)

// AddWorktree makes a locked worktree with a new branch at a commit.
func (c Client) AddWorktree(ctx context.Context, dir, path, branch, commit, why string) error {
	return c.write(ctx, change{dir: dir}, "worktree", "add", "--quiet", "--no-track", "--lock", "--reason", why, "-b", branch, "--", path, commit)
}

// AddWorktreeOf makes a locked worktree of a branch that exists.
func (c Client) AddWorktreeOf(ctx context.Context, dir, path, branch, why string) error {
	return c.write(ctx, change{dir: dir}, "worktree", "add", "--quiet", "--lock", "--reason", why, "--", path, branch)
}

// AddDetached makes a worktree of a commit, on no branch.
func (c Client) AddDetached(ctx context.Context, dir, path, commit string) error {
	return c.write(ctx, change{dir: dir}, "worktree", "add", "--quiet", "--detach", "--", path, commit)
}

// RemoveDetached removes a worktree that [Client.AddDetached] made, or half of one, with whatever is in
// it.
func (c Client) RemoveDetached(common, path string) error {
	if err := removeAll(path); err != nil {
		return stick.Errorf(stick.CodeGitFailed, "%s can't be removed: %w", stick.Line(path), err).With("path", path).
			Hintf("remove it by hand: %s", RemoveByHand(path))
	}
	return c.RemoveRecord(common, path)
}

// RemoveByHand is the command by which a person removes a worktree that nobody needs.
func RemoveByHand(path string) string {
	return fmt.Sprintf("rm -rf '%s' && git worktree prune", strings.ReplaceAll(stick.Line(path), "'", `'\''`))
}

// removeAll removes a directory with all that is in it, also where that was made read-only: some programs
// protect their caches so.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	makeWritable(path)
	return os.RemoveAll(path)
}

// makeWritable lets its owner change all directories of a tree, each before it is read. What can't be changed shows
// when it is removed.
func makeWritable(path string) {
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, _ error) error {
		if d == nil || !d.IsDir() {
			return nil
		}
		if info, err := os.Lstat(p); err == nil && info.IsDir() {
			_ = os.Chmod(p, info.Mode().Perm()|0o700)
		}
		return nil
	})
}

// RemoveRecord removes git's record of the worktree at a path where nothing is any more, and no other:
// git's own prune would also take those on a disk that isn't mounted.
func (c Client) RemoveRecord(common, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil // it isn't gone
	}
	records, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return nil // there are none
	}
	for _, r := range records {
		dir := filepath.Join(common, "worktrees", r.Name())
		if b, err := os.ReadFile(filepath.Join(dir, "gitdir")); err == nil && sameParent(strings.TrimSpace(string(b)), path) {
			return os.RemoveAll(dir)
		}
	}
	return nil
}

// sameParent tells whether a .git file's path is that of the checkout at path, which need not exist.
func sameParent(file, path string) bool {
	dir := filepath.Dir(filepath.FromSlash(file))
	return dir == path || filepath.Base(dir) == filepath.Base(path) && samePath(filepath.Dir(dir), filepath.Dir(path))
}

// RemoveWorktree removes a worktree in which nothing is changed or untracked, and its lock. Why
// it is locked is said again if it stays. It fails with [stick.CodeGitFailed] when something is, and leaves it as it was.
func (c Client) RemoveWorktree(ctx context.Context, dir, path, why string) error {
	_, ok, err := c.Worktree(ctx, dir, path)
	if err != nil {
		return err
	}
	if !ok {
		return removeLeftover(path)
	}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		at, err := c.Checkout(ctx, dir)
		if err != nil {
			return err
		}
		return c.RemoveRecord(at.Common, path)
	}
	unlocked := c.write(ctx, change{dir: dir}, "worktree", "unlock", "--", path) == nil
	err = c.write(ctx, change{dir: dir}, "worktree", "remove", "--", path)
	if err != nil && unlocked {
		_ = c.write(ctx, change{dir: dir}, "worktree", "lock", "--reason", why, "--", path)
	}
	if f := failure(err); f != nil && strings.Contains(f.Said, "containing submodules") {
		return stick.Errorf(stick.CodeGitFailed, "git removes none that has submodules checked out; if nothing in them has to be kept: git worktree remove -f -f '%s'",
			strings.ReplaceAll(stick.Line(path), "'", `'\''`)).With("path", path).Hintf("run the same command again then")
	}
	return err
}

// removeLeftover removes what is left of a worktree that git doesn't know any more: nothing, or an empty
// directory.
func removeLeftover(path string) error {
	err := os.Remove(path)
	if err == nil || os.IsNotExist(err) {
		return nil
	}
	return stick.Errorf(stick.CodeGitFailed, "%s isn't a worktree any more, and isn't empty", stick.Line(path)).
		Hintf("look at what is in it, and remove it by hand")
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

// OperationInProgress says what a git directory shows to be in progress in its checkout; empty for nothing.
func OperationInProgress(gitDir string) string {
	for name, what := range map[string]string{
		"rebase-merge": "rebase", "rebase-apply": "rebase", "MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "BISECT_LOG": "bisect",
	} {
		if _, err := os.Stat(filepath.Join(gitDir, name)); err == nil {
			return what
		}
	}
	return ""
}

// Rebase puts the branch that is checked out in dir onto a commit. When it stops at a conflict the
// rebase is left in progress, and conflict is true. Any other failure leaves the branch as it was. It isn't given
// up because its caller is, for the same reason as [Client.FastForward].
func (c Client) Rebase(ctx context.Context, dir, onto string) (conflict bool, err error) {
	ctx = context.WithoutCancel(ctx)
	err = c.write(ctx, change{dir: dir}, "-c", "rebase.autoStash=false", "-c", "rebase.updateRefs=false", "-c", "rebase.autoSquash=false",
		"rebase", "--quiet", "--no-autostash", "--", onto)
	if err == nil {
		return false, nil
	}
	at, cerr := c.Checkout(ctx, dir)
	if cerr != nil || OperationInProgress(at.GitDir) != "rebase" {
		return false, err
	}
	files, ferr := c.Unmerged(ctx, dir)
	if ferr == nil && len(files) > 0 {
		return true, nil
	}
	if aerr := c.write(ctx, change{dir: dir}, "rebase", "--abort"); aerr != nil {
		return false, aerr
	}
	return false, err
}

// Unmerged lists the paths in conflict in the checkout at dir.
func (c Client) Unmerged(ctx context.Context, dir string) ([]string, error) {
	return c.list(ctx, dir, "diff", "--name-only", "--diff-filter=U", "-z")
}

// Exclude has git ignore patterns in all checkouts of the repository.
func Exclude(common string, patterns ...string) error {
	path := filepath.Join(common, "info", "exclude")
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
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

// TrackedChanges lists the paths of a checkout that differ from its commit, untracked ones and submodules left out:
// a merge moves what is recorded of a submodule, and never its checkout.
func (c Client) TrackedChanges(ctx context.Context, dir string) ([]string, error) {
	var s status
	err := c.read(ctx, dir, &s, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no", "--no-renames", "--no-ahead-behind", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	w, err := s.workspace()
	if err != nil {
		return nil, err
	}
	return w.Dirty, nil
}
