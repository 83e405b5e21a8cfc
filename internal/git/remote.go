package git

import (
	"context"
	"strings"
)

// Fetch gets a branch of a remote into its remote-tracking branch, and returns where it is; empty
// when the remote doesn't have it.
func (c Client) Fetch(ctx context.Context, dir, remote, branch string) (string, error) {
	ref := "refs/remotes/" + remote + "/" + branch
	err := c.write(ctx, change{dir: dir}, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", remote, "+refs/heads/"+branch+":"+ref)
	if err != nil {
		return "", err
	}
	at, _, err := c.Commit(ctx, dir, ref)
	return at, err
}

// Push moves a branch of a remote to a commit, without force. moved is false when the remote's branch
// has other commits: somebody was faster.
func (c Client) Push(ctx context.Context, dir, remote, branch, commit string) (moved bool, err error) {
	err = c.write(ctx, change{dir: dir}, "push", "--quiet", "--no-verify", "--", remote, commit+":refs/heads/"+branch)
	if f := failure(err); f != nil && isRejected(f.Said) {
		return false, nil
	}
	return err == nil, err
}

// isRejected tells whether a remote refused a push because its branch isn't where it was.
func isRejected(said string) bool {
	for _, sign := range []string{"[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value", "reference already exists"} {
		if strings.Contains(said, sign) {
			return true
		}
	}
	return false
}

// PushWithLease moves a branch that is ours alone to a commit, or deletes it when commit is empty. The lease is
// where it was seen last, empty for nowhere.
func (c Client) PushWithLease(ctx context.Context, dir, remote, branch, commit, seen string) error {
	ref := "refs/heads/" + branch
	return c.write(ctx, change{dir: dir}, "push", "--quiet", "--no-verify", "--force-with-lease="+ref+":"+seen, "--", remote, commit+":"+ref)
}

// RemoteBranch is where a branch is at a remote; empty when it isn't there.
func (c Client) RemoteBranch(ctx context.Context, dir, remote, branch string) (string, error) {
	said, err := c.text(ctx, dir, "ls-remote", "--quiet", "--", remote, "refs/heads/"+branch)
	commit, _, _ := strings.Cut(said, "\t")
	return commit, err
}
