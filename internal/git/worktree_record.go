package git

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// RemoveRecord removes git's record of the worktree at path, if nothing is at path any more. It isn't git
// worktree prune because that also removes records of worktrees on disks that aren't mounted.
func (c Client) RemoveRecord(common, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil // it still exists
	}

	if dir := recordOf(common, path); dir != "" {
		return os.RemoveAll(dir)
	}

	return nil
}

// recordOf returns the directory with git's record of the worktree at path, which need not exist. It is empty
// if there is none.
func recordOf(common, path string) string {
	records, _ := os.ReadDir(filepath.Join(common, "worktrees"))
	for _, r := range records {
		dir := filepath.Join(common, "worktrees", r.Name())
		b, err := os.ReadFile(filepath.Join(dir, "gitdir"))
		if err == nil && isGitFileOf(strings.TrimSpace(string(b)), path) {
			return dir
		}
	}

	return ""
}

// LockReason returns the reason for which the worktree at path, which need not exist, is locked. It is empty
// if there is no such worktree, or it isn't locked.
func LockReason(common, path string) string {
	dir := recordOf(common, path)
	if dir == "" {
		return ""
	}

	why, _ := os.ReadFile(filepath.Join(dir, "locked"))
	return strings.TrimSpace(string(why))
}

// IsRecordClean reports whether git's record of a worktree, whose directory is missing, has nothing that the
// branch doesn't have: it is on the branch, nothing is staged, and no rebase or the like is in progress. No
// record is clean.
func (c Client) IsRecordClean(ctx context.Context, common, path, branch string) (bool, error) {
	dir := recordOf(common, path)
	if dir == "" {
		return true, nil
	}

	head, err := os.ReadFile(filepath.Join(dir, "HEAD"))
	// A record that can't be read is kept, too.
	if err != nil || strings.TrimSpace(string(head)) != "ref: refs/heads/"+branch || OperationInProgress(dir) != "" {
		return false, nil
	}

	err = c.runReadOnly(ctx, common, io.Discard, "--git-dir="+dir, "diff", "--cached", "--quiet", "HEAD", "--")
	if exitedWith(err, 1) {
		return false, nil
	}

	return err == nil, err
}

// isGitFileOf reports whether file is the .git file of the checkout at path, which need not exist.
func isGitFileOf(file, path string) bool {
	// The path need not exist, so only its parent is resolved.
	dir := filepath.Dir(filepath.FromSlash(file))
	return dir == path || filepath.Base(dir) == filepath.Base(path) && samePath(filepath.Dir(dir), filepath.Dir(path))
}
