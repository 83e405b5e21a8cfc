package repository

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/git"
	"talkingstick/stick"
)

// Target is an integration branch as it is now.
type Target struct {
	Name     string // of the branch
	Local    string // the commit of the local branch; empty if there is none
	Remote   string // the remote that decides; empty if the local branch decides
	Tracked  string // the commit of the branch at the remote, as of the last fetch
	Checkout string // where the local branch is checked out; it may be on a disk that is missing now
}

// Head returns the commit that new work starts from and that tasks are merged onto.
func (t Target) Head() string {
	if t.Remote != "" && t.Tracked != "" {
		return t.Tracked
	}
	return t.Local
}

// Ref returns the full name of the local branch.
func (t Target) Ref() string { return "refs/heads/" + t.Name }

// ReadTarget reads a branch, and its counterpart at a remote as of the last fetch. It fails with
// [stick.CodeNotFound].
func (rp *Repo) ReadTarget(ctx context.Context, name string) (Target, error) {
	branches, err := rp.Git.Branches(ctx, rp.Root, TargetRefs(name)...)
	if err != nil {
		return Target{Name: name}, err
	}

	t, err := rp.TargetAmong(ctx, name, git.RefsOf(branches))

	// A record of git may name a checkout that somebody has deleted.
	if i := slices.IndexFunc(branches, func(b git.Branch) bool { return b.Name == t.Ref() }); err == nil && i >= 0 {
		t.Checkout, err = rp.existingCheckout(ctx, branches[i].Checkout)
	}
	return t, err
}

// TargetRefs are the names of the refs that [Repo.TargetAmong] needs.
func TargetRefs(name string) []string {
	return []string{Target{Name: name}.Ref(), "refs/remotes/origin/" + name}
}

// TargetAmong is [Repo.ReadTarget] for refs that were read already. It doesn't say where the branch is
// checked out.
func (rp *Repo) TargetAmong(ctx context.Context, name string, refs []git.Ref) (Target, error) {
	t := Target{Name: name}
	upstream := ""
	for _, r := range refs {
		switch r.Name {
		case t.Ref():
			t.Local, upstream = r.Commit, r.Upstream
		case "refs/remotes/origin/" + name:
			t.Remote, t.Tracked = "origin", r.Commit
		}
	}

	// Another remote than origin decides if the branch is set up to follow it.
	if remote, ok := strings.CutSuffix(strings.TrimPrefix(upstream, "refs/remotes/"), "/"+name); ok &&
		upstream != "" && remote != t.Remote {
		t.Remote = remote
		var err error
		if t.Tracked, _, err = rp.Git.Commit(ctx, rp.Root, upstream); err != nil {
			return t, err
		}
	}

	if t.Head() == "" {
		return t, stick.Errorf(stick.CodeNotFound, "there is no branch %q to merge into", name).With("branch", name).
			Hintf("to create it from the commit that you are on: %s", stick.Cmd("tt task init"))
	}

	return t, nil
}

// existingCheckout returns checkout, or "" if only git's record of it is left. A locked worktree counts as
// existing even if its directory is missing.
func (rp *Repo) existingCheckout(ctx context.Context, checkout string) (string, error) {
	if checkout == "" {
		return "", nil
	}
	if _, err := os.Stat(filepath.Join(checkout, ".git")); err == nil {
		return checkout, nil
	}

	// git still lists the worktree. If it is locked, its disk may only be away.
	w, ok, err := rp.Git.Worktree(ctx, rp.Root, checkout)
	if err != nil || ok && !w.Prunable {
		return checkout, err
	}
	return "", nil
}

// FetchTarget fetches the target from the remote that decides, if there is one.
func (rp *Repo) FetchTarget(ctx context.Context, t *Target) (err error) {
	if t.Remote == "" {
		return nil
	}
	t.Tracked, err = rp.Git.Fetch(ctx, rp.Root, t.Remote, t.Name)
	return err
}

// IntegrationKey is the key in git's configuration that names the integration branch.
const IntegrationKey = "talkingstick.integration"

// ReadIntegration reads the branch that new tasks are merged into, as [Repo.ReadTarget] does: the one from git's
// configuration, else the default branch if it exists, else the one from the project's settings.
func (rp *Repo) ReadIntegration(ctx context.Context) (Target, error) {
	name, err := rp.Git.Config(ctx, rp.Root, IntegrationKey)
	if err != nil {
		return Target{}, err
	}
	if name != "" {
		return rp.ReadTarget(ctx, name)
	}

	t, err := rp.ReadTarget(ctx, config.DefaultIntegration)
	isRead := err == nil || stick.CodeOf(err) == stick.CodeNotFound
	if !isRead || t.Local != "" {
		return t, err
	}

	// What can't be read in HEAD names no branch.
	commit, b, ok, herr := rp.Git.ReadFileAt(ctx, rp.Root, "HEAD", config.FileName)
	if herr != nil || !ok {
		return t, err
	}
	rp.settings.keep(commit, b)

	_, w, perr := config.ParseTasks(b)
	switch {
	case perr != nil:
		return Target{}, perr
	case w.Integration == "" || w.Integration == t.Name:
		return t, err
	}

	return rp.ReadTarget(ctx, w.Integration)
}
