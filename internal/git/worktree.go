package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/stick"
)

// AddWorktree makes a locked worktree with a new branch at a commit.
func (c Client) AddWorktree(ctx context.Context, dir, path, branch, commit, why string) error {
	return c.act(ctx, change{dir: dir}, "worktree", "add", "--quiet", "--no-track", "--lock", "--reason", why, "-b", branch, "--", path, commit)
}

// AddWorktreeOf makes a locked worktree of a branch that exists.
func (c Client) AddWorktreeOf(ctx context.Context, dir, path, branch, why string) error {
	return c.act(ctx, change{dir: dir}, "worktree", "add", "--quiet", "--lock", "--reason", why, "--", path, branch)
}

// AddDetached makes a worktree of a commit, on no branch.
func (c Client) AddDetached(ctx context.Context, dir, path, commit string) error {
	return c.act(ctx, change{dir: dir}, "worktree", "add", "--quiet", "--detach", "--", path, commit)
}

// DropDetached removes a worktree that [Client.AddDetached] made, or half of one, with whatever is in
// it.
func (c Client) DropDetached(common, path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return c.DropRecord(common, path)
}

// DropRecord removes git's record of the worktree at a path where nothing is any more, and no other:
// git's own prune would also take those on a disk that isn't mounted.
func (c Client) DropRecord(common, path string) error {
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
	return dir == path || filepath.Base(dir) == filepath.Base(path) && same(filepath.Dir(dir), filepath.Dir(path))
}

// RemoveWorktree removes a worktree in which nothing is changed or untracked, and its lock. Why
// it is locked is said again if it stays. It fails with [stick.CodeGitFailed] when something is, and leaves it as it was.
func (c Client) RemoveWorktree(ctx context.Context, dir, path, why string) error {
	_, ok, err := c.Worktree(ctx, dir, path)
	if err != nil {
		return err
	}
	if !ok {
		return forget(path)
	}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		at, err := c.Checkout(ctx, dir)
		if err != nil {
			return err
		}
		return c.DropRecord(at.Common, path)
	}
	unlocked := c.act(ctx, change{dir: dir}, "worktree", "unlock", "--", path) == nil
	err = c.act(ctx, change{dir: dir}, "worktree", "remove", "--", path)
	if err != nil && unlocked {
		_ = c.act(ctx, change{dir: dir}, "worktree", "lock", "--reason", why, "--", path)
	}
	return err
}

// forget removes what is left of a worktree that git doesn't know any more: nothing, or an empty
// directory.
func forget(path string) error {
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
		if same(w.Path, path) {
			return w, true, err
		}
	}
	return Worktree{}, false, err
}

func same(a, b string) bool {
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

// Undone says what a git directory shows to be in progress in its checkout; empty for nothing.
func Undone(gitDir string) string {
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
// rebase is left in progress, and conflict is true. Any other failure leaves the branch as it was.
func (c Client) Rebase(ctx context.Context, dir, onto string) (conflict bool, err error) {
	err = c.act(ctx, change{dir: dir}, "-c", "rebase.autoStash=false", "-c", "rebase.updateRefs=false", "-c", "rebase.autoSquash=false",
		"rebase", "--quiet", "--no-autostash", "--", onto)
	if err == nil {
		return false, nil
	}
	at, cerr := c.Checkout(ctx, dir)
	if cerr != nil || Undone(at.GitDir) != "rebase" {
		return false, err
	}
	files, ferr := c.Unmerged(ctx, dir)
	if ferr == nil && len(files) > 0 {
		return true, nil
	}
	if aerr := c.act(ctx, change{dir: dir}, "rebase", "--abort"); aerr != nil {
		return false, aerr
	}
	return false, err
}

// Unmerged lists the paths in conflict in the checkout at dir.
func (c Client) Unmerged(ctx context.Context, dir string) ([]string, error) {
	return c.list(ctx, dir, "diff", "--name-only", "--diff-filter=U", "-z")
}

// FastForward moves the branch that is checked out in dir forward to a commit, with the checkout.
func (c Client) FastForward(ctx context.Context, dir, commit string) error {
	return c.act(ctx, change{dir: dir}, "-c", "merge.autoStash=false", "merge", "--ff-only", "--no-autostash", "--quiet", "--", commit)
}

// CompleteForward takes a checkout whose fast-forward from one commit to another was cut off to its end,
// branch and all; one in which it hasn't begun stays as it is. It refuses, with [stick.CodeDirtyTree], a
// checkout in which something is neither as in the one nor as in the other.
func (c Client) CompleteForward(ctx context.Context, dir, ref, from, to string) error {
	begun, foreign, err := c.between(ctx, dir, from, to)
	if err != nil || !begun {
		return err
	}
	if len(foreign) > 0 {
		return stick.Errorf(stick.CodeDirtyTree, "%s has changes of its own: %s", stick.Line(dir), stick.Clip(strings.Join(foreign, ", "), 160)).
			With("left", foreign).Hintf("commit or undo them there, and run the same command again")
	}
	if err := c.act(ctx, change{dir: dir}, "read-tree", "--reset", "-u", to); err != nil {
		return err
	}
	moved, err := c.UpdateRef(ctx, dir, ref, to, from)
	if err == nil && !moved {
		err = fmt.Errorf("%s moved meanwhile", ref)
	}
	return err
}

// between tells whether the files of a checkout are on their way from one commit to another, and which are
// neither as in the one nor as in the other.
func (c Client) between(ctx context.Context, dir, from, to string) (begun bool, foreign []string, err error) {
	paths, err := c.Changed(ctx, dir, from, to)
	if err != nil {
		return false, nil, err
	}
	dirty, err := c.list(ctx, dir, "diff", "--name-only", "-z", "--no-renames", from)
	if err != nil {
		return false, nil, err
	}
	added, err := c.list(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames", "--diff-filter=A", from, to)
	if err != nil {
		return false, nil, err
	}
	if len(dirty) == 0 && !slices.ContainsFunc(added, func(p string) bool { _, err := os.Lstat(filepath.Join(dir, p)); return err == nil }) {
		return false, nil, nil
	}
	changed := map[string]bool{}
	for _, p := range paths {
		changed[p] = true
		have, err := c.blobOf(dir, p, func() (string, error) { return c.text(ctx, dir, "hash-object", "--", p) })
		if err != nil {
			return false, nil, err
		}
		was, err := c.blobIn(ctx, dir, from, p)
		if err != nil {
			return false, nil, err
		}
		is, err := c.blobIn(ctx, dir, to, p)
		switch {
		case err != nil:
			return false, nil, err
		case have == is && have != was:
			begun = true
		case have != was:
			foreign = append(foreign, p)
		}
	}
	for _, p := range dirty {
		begun = begun || changed[p]
		if !changed[p] {
			foreign = append(foreign, p)
		}
	}
	return begun, foreign, nil
}

// blobOf is the name of a file's content in a checkout, empty when there is no such file. What isn't a plain
// file has a name that is nowhere else.
func (c Client) blobOf(dir, path string, hash func() (string, error)) (string, error) {
	switch info, err := os.Lstat(filepath.Join(dir, path)); {
	case os.IsNotExist(err):
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "no plain file", nil
	}
	return hash()
}

// blobIn is the name of a file's content in a commit, empty when it isn't there.
func (c Client) blobIn(ctx context.Context, dir, commit, path string) (string, error) {
	name, err := c.text(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+":"+path)
	if exits(err, 1) || exits(err, 128) {
		return "", nil
	}
	return name, err
}

// Fetch gets a branch of a remote into its remote-tracking branch, and returns where it is; empty
// when the remote doesn't have it.
func (c Client) Fetch(ctx context.Context, dir, remote, branch string) (string, error) {
	ref := "refs/remotes/" + remote + "/" + branch
	err := c.act(ctx, change{dir: dir}, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", remote, "+refs/heads/"+branch+":"+ref)
	if err != nil {
		return "", err
	}
	at, _, err := c.Commit(ctx, dir, ref)
	return at, err
}

// Push moves a branch of a remote to a commit, without force. moved is false when the remote's branch
// has other commits: somebody was faster.
func (c Client) Push(ctx context.Context, dir, remote, branch, commit string) (moved bool, err error) {
	err = c.act(ctx, change{dir: dir}, "push", "--quiet", "--no-verify", "--", remote, commit+":refs/heads/"+branch)
	if f := failure(err); f != nil && lostRace(f.Said) {
		return false, nil
	}
	return err == nil, err
}

// lostRace tells whether a remote refused a push because its branch isn't where it was.
func lostRace(said string) bool {
	for _, sign := range []string{"[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value", "reference already exists"} {
		if strings.Contains(said, sign) {
			return true
		}
	}
	return false
}

// PushOwn moves a branch that is ours alone to a commit, or deletes it when commit is empty. The lease is
// where it was seen last, empty for nowhere.
func (c Client) PushOwn(ctx context.Context, dir, remote, branch, commit, seen string) error {
	ref := "refs/heads/" + branch
	return c.act(ctx, change{dir: dir}, "push", "--quiet", "--no-verify", "--force-with-lease="+ref+":"+seen, "--", remote, commit+":"+ref)
}

// Remote is where a branch is at a remote; empty when it isn't there.
func (c Client) Remote(ctx context.Context, dir, remote, branch string) (string, error) {
	said, err := c.text(ctx, dir, "ls-remote", "--quiet", "--", remote, "refs/heads/"+branch)
	commit, _, _ := strings.Cut(said, "\t")
	return commit, err
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

// Tracked lists the paths of a checkout that differ from its commit, untracked ones left out.
func (c Client) Tracked(ctx context.Context, dir string) ([]string, error) {
	var s status
	err := c.read(ctx, dir, &s, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no", "--no-renames", "--no-ahead-behind", "--ignore-submodules=none")
	if err != nil {
		return nil, err
	}
	w, err := s.workspace()
	if err != nil {
		return nil, err
	}
	return w.Dirty, nil
}
