package task

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

// target is an integration branch as it is now.
type target struct {
	name     string // of the branch
	local    string // the commit of the local branch; empty if there is none
	remote   string // the remote that decides; empty if the local branch decides
	tracked  string // the commit of the branch at the remote, as of the last fetch
	checkout string // where the local branch is checked out; it may be on a disk that is missing now
}

// head returns the commit that new work starts from and that tasks are merged onto.
func (t target) head() string {
	if t.remote != "" && t.tracked != "" {
		return t.tracked
	}
	return t.local
}

// ref returns the full name of the local branch.
func (t target) ref() string { return "refs/heads/" + t.name }

// readTarget reads a branch, and its counterpart at a remote as of the last fetch. It fails with
// [stick.CodeNotFound].
func (rp *Repo) readTarget(ctx context.Context, name string) (target, error) {
	branches, err := rp.git.Branches(ctx, rp.root, targetRefs(name)...)
	if err != nil {
		return target{name: name}, err
	}

	var refs []git.Ref
	for _, b := range branches {
		refs = append(refs, b.Ref)
	}

	t, err := rp.targetAmong(ctx, name, refs)

	// A record of git may name a checkout that somebody has deleted.
	if i := slices.IndexFunc(branches, func(b git.Branch) bool { return b.Name == t.ref() }); err == nil && i >= 0 {
		t.checkout, err = rp.existingCheckout(ctx, branches[i].Checkout)
	}
	return t, err
}

// targetRefs are the names of the refs that [Repo.targetAmong] needs.
func targetRefs(name string) []string {
	return []string{target{name: name}.ref(), "refs/remotes/origin/" + name}
}

// targetAmong is [Repo.readTarget] for refs that were read already. It doesn't say where the branch is
// checked out.
func (rp *Repo) targetAmong(ctx context.Context, name string, refs []git.Ref) (target, error) {
	t := target{name: name}
	upstream := ""
	for _, r := range refs {
		switch r.Name {
		case t.ref():
			t.local, upstream = r.Commit, r.Upstream
		case "refs/remotes/origin/" + name:
			t.remote, t.tracked = "origin", r.Commit
		}
	}

	// Another remote than origin decides if the branch is set up to follow it.
	if remote, ok := strings.CutSuffix(strings.TrimPrefix(upstream, "refs/remotes/"), "/"+name); ok &&
		upstream != "" && remote != t.remote {
		t.remote = remote
		var err error
		if t.tracked, _, err = rp.git.Commit(ctx, rp.root, upstream); err != nil {
			return t, err
		}
	}

	if t.head() == "" {
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
	w, ok, err := rp.git.Worktree(ctx, rp.root, checkout)
	if err != nil || ok && !w.Prunable {
		return checkout, err
	}
	return "", nil
}

// fetchTarget fetches the target from the remote that decides, if there is one.
func (rp *Repo) fetchTarget(ctx context.Context, t *target) (err error) {
	if t.remote == "" {
		return nil
	}
	t.tracked, err = rp.git.Fetch(ctx, rp.root, t.remote, t.name)
	return err
}

// integrationKey is the key in git's configuration that names the integration branch.
const integrationKey = "talkingstick.integration"

// integrationBranch returns the name of the branch that new tasks are merged into: the one from git's
// configuration, else the default branch if it exists, else the one from the project's settings.
func (rp *Repo) integrationBranch(ctx context.Context) (string, error) {
	name, err := rp.git.Config(ctx, rp.root, integrationKey)
	if err != nil || name != "" {
		return name, err
	}
	if _, ok, err := rp.git.Ref(ctx, rp.root, "refs/heads/"+config.DefaultIntegration); ok || err != nil {
		return config.DefaultIntegration, err
	}
	if b, ok, err := rp.git.ReadFile(ctx, rp.root, "HEAD", config.FileName); err == nil && ok {
		if _, w, err := config.ParseTasks(b); err != nil || w.Integration != "" {
			return w.Integration, err
		}
	}

	return config.DefaultIntegration, nil
}
