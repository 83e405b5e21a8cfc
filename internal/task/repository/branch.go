package repository

import (
	"context"
	"os"
	"path"
	"strings"

	"talkingstick/internal/git"
	"talkingstick/stick"
)

// requireRoomFor refuses the branch and the worktree of a plan if one of them exists, or can't. It fails with
// [stick.CodeAlreadyExists], with [stick.CodeUsage], and as [Repo.RequireInside] does.
func (rp *Repo) requireRoomFor(ctx context.Context, m Plan) error {
	refs, err := rp.Git.Refs(ctx, rp.Root, branchRefs(m.Task.Branch)...)
	if err != nil {
		return err
	}
	return rp.requireRoomAmong(refs, m)
}

// requireRoomAmong is [Repo.requireRoomFor] for refs that were read already.
func (rp *Repo) requireRoomAmong(refs []git.Ref, m Plan) error {
	if err := requireNoBranchAmong(refs, m); err != nil {
		return err
	}
	if err := rp.RequireInside(m.Path); err != nil {
		return err
	}
	return rp.requireNoDirectory(m)
}

// requireNoDirectory refuses the worktree of a plan if something lies in its place. It fails with
// [stick.CodeAlreadyExists].
func (rp *Repo) requireNoDirectory(m Plan) error {
	if _, err := os.Lstat(m.Path); err != nil {
		return nil
	}

	e := stick.Errorf(stick.CodeAlreadyExists, "%s already exists", m.Path).With("path", m.Path)

	// The task exists already, so its name stays.
	if m.Task.Attempt > 0 {
		return e.With("task_id", m.Task.ID).Hintf("move that directory elsewhere, then run the same command again")
	}
	return e.Hintf("give the task another name, or move that directory elsewhere")
}

// requireNoBranch refuses the branch of a plan if there is one, or can't be. It fails with
// [stick.CodeAlreadyExists] and [stick.CodeUsage].
func (rp *Repo) requireNoBranch(ctx context.Context, m Plan) error {
	refs, err := rp.Git.Refs(ctx, rp.Root, branchRefs(m.Task.Branch)...)
	if err != nil {
		return err
	}
	return requireNoBranchAmong(refs, m)
}

// branchRefs are patterns for the refs because of which a branch can't be: where git has a branch, it can't
// have a directory of that name.
func branchRefs(branch string) []string {
	full := "refs/heads/" + branch
	patterns := []string{path.Dir(full) + "/", full}
	for dir := path.Dir(branch); dir != "."; dir = path.Dir(dir) {
		patterns = append(patterns, "refs/heads/"+dir)
	}
	return patterns
}

// requireNoBranchAmong is [Repo.requireNoBranch] for refs that were read already.
func requireNoBranchAmong(refs []git.Ref, m Plan) error {
	branch := m.Task.Branch
	if !git.BranchName(branch) {
		return stick.Errorf(stick.CodeUsage, "git allows no branch of the name %s", stick.Clip(branch, 130)).
			With("branch", branch).Hintf("give the task another name")
	}

	// A branch blocks its own name, all names below it, and those of its directories.
	full := "refs/heads/" + branch

	// The names are compared by their keys: some file systems don't distinguish case.
	taken := map[string]bool{}

	for _, pattern := range branchRefs(branch) {
		taken[stick.TaskKey(pattern)] = true
	}

	for _, r := range refs {
		name, local := strings.CutPrefix(r.Name, "refs/heads/")
		if local && (taken[stick.TaskKey(r.Name)] || strings.HasPrefix(r.Name, full+"/")) {
			e := stick.Errorf(stick.CodeAlreadyExists, "the branch %s already exists", name).With("branch", name)
			rename := stick.Cmd("git branch -m <branch> <new-branch>")
			if m.Task.Attempt > 0 {
				return e.With("task_id", m.Task.ID).
					Hintf("rename that branch: %s; then run the same command again", rename)
			}

			return e.Hintf("give the task another name, or rename that branch: %s", rename)
		}
	}

	return nil
}
