package git

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
)

// remoteCall is a run of a command that speaks to a remote.
func remoteCall(dir string) writeCall {
	return writeCall{dir: dir, limit: remoteLimit, waited: "the remote, or a program that asks for its credentials"}
}

// Fetch fetches a branch into its remote-tracking branch, and returns its commit. It returns "" when the
// remote doesn't have it.
func (c Client) Fetch(ctx context.Context, dir, remote, branch string) (string, error) {
	ref := "refs/remotes/" + remote + "/" + branch
	err := c.runWrite(ctx, remoteCall(dir), "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
		"--", remote, "+refs/heads/"+branch+":"+ref)
	if err != nil {
		return "", err
	}

	at, _, err := c.Commit(ctx, dir, ref)
	return at, err
}

// FetchCommit fetches a commit that a remote has, with its history, into no branch.
func (c Client) FetchCommit(ctx context.Context, dir, remote, commit string) error {
	return c.runWrite(ctx, remoteCall(dir), "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
		"--", remote, commit)
}

// Push moves a branch of a remote to a commit, without force. moved is false if somebody was faster and
// the remote's branch has other commits.
func (c Client) Push(ctx context.Context, dir, remote, branch, commit string) (moved bool, err error) {
	err = c.runWrite(ctx, remoteCall(dir), "push", "--quiet", "--no-verify", "--", remote, commit+":refs/heads/"+branch)
	if f := asFailure(err); f != nil && isRejected(f.Said) {
		return false, nil
	}
	return err == nil, err
}

// isRejected reports whether a remote refused a push because its branch has moved.
func isRejected(said string) bool {
	signs := []string{
		"[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value", "reference already exists",
	}

	for line := range strings.Lines(said) {
		// What programs of the remote print proves nothing.
		isOurs := !strings.HasPrefix(line, "remote:")
		if isOurs && slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(line, sign) }) {
			return true
		}
	}

	return false
}

// PushWithLease moves a branch that only we write to a commit, or deletes it if commit is empty. It fails
// unless the branch is where it was last seen; an empty seen means that it didn't exist.
func (c Client) PushWithLease(ctx context.Context, dir, remote, branch, commit, seen string) error {
	ref := "refs/heads/" + branch
	return c.runWrite(ctx, remoteCall(dir), "push", "--quiet", "--no-verify", "--force-with-lease="+ref+":"+seen,
		"--", remote, commit+":"+ref)
}

// RemoteBranch returns the commit of a branch at a remote, and "" if the remote doesn't have it.
func (c Client) RemoteBranch(ctx context.Context, dir, remote, branch string) (string, error) {
	var out bytes.Buffer
	q := remoteCall(dir)
	q.out = &out

	err := c.runWrite(ctx, q, "ls-remote", "--quiet", "--", remote, "refs/heads/"+branch)
	commit, _, _ := strings.Cut(out.String(), "\t")
	return commit, err
}

// IsUnpushed reports whether no branch of a remote, as the repository last saw it, has a commit.
func (c Client) IsUnpushed(ctx context.Context, dir, commit string) (bool, error) {
	said, err := c.runText(ctx, dir, "for-each-ref", "--count=1", "--contains="+commit, "--format=%(refname)",
		"refs/remotes")
	return err == nil && said == "", err
}

// HasCommit reports whether the repository has a commit.
func (c Client) HasCommit(ctx context.Context, dir, commit string) (bool, error) {
	err := c.runReadOnly(ctx, dir, nil, "cat-file", "-e", "--end-of-options", commit+"^{commit}")
	if _, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}
