package repository

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Where a room has several checkouts, a task has its branch and its worktree in one of them. In the others it
// is what its worker has pushed: there it can be reviewed, and merged with the remote as the judge.

// errElsewhere makes the error for something about a task that can be done only in the checkout in. format
// has a verb for the task's name and one for the checkout.
func errElsewhere(tx *store.Tx, id string, in stick.Checkout, format string) *stick.Error {
	e := stick.Errorf(stick.CodeElsewhere, format, id, NameCheckout(tx, in)).With("task_id", id).With("path", in.Path)
	if name := NameOfHost(tx, in); name != "" {
		e.With("host", name)
	}
	return e
}

// NameCheckout names another checkout, for a sentence.
func NameCheckout(tx *store.Tx, in stick.Checkout) stick.Words {
	if name := NameOfHost(tx, in); name != "" {
		return stick.Wordsf("%s on %s", in.Path, name)
	}
	return stick.Wordsf("%s", in.Path)
}

// NameOfHost names the host of a checkout; empty if it is this one. Without it a sentence still has the path.
func NameOfHost(tx *store.Tx, in stick.Checkout) string {
	name, _ := tx.NameOfHost(in.Host)
	return name
}

// RequireBranchHere refuses what needs the branch or the worktree of a task where they aren't. It fails with
// [stick.CodeElsewhere].
func RequireBranchHere(tx *store.Tx, r stick.Room, task stick.Task) error {
	if !task.Elsewhere(tx.CheckoutOf(r)) {
		return nil
	}
	return errElsewhere(tx, task.ID, task.In, "the worktree of %s is in %s, and this needs it").
		Hintf("go there; or %s", StartOverHint("to go on here with what was pushed", task.ID))
}

// IsElsewhere reports whether a task is in another checkout. where names that for a sentence.
func (rp *Repo) IsElsewhere(ctx context.Context, task stick.Task) (yes bool, where stick.Words, err error) {
	// Only rooms with several checkouts say where a task is.
	if task.In == (stick.Checkout{}) {
		return false, "", nil
	}

	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		yes, where = task.Elsewhere(tx.CheckoutOf(r)), NameCheckout(tx, task.In)
		return nil
	})
	return yes, where, err
}

// BranchCommit returns the commit of a task's branch, "" if there is none. Of a task in another checkout that
// is the branch at the remote, whose commits it fetches.
func (rp *Repo) BranchCommit(ctx context.Context, task stick.Task) (string, error) {
	elsewhere, where, err := rp.IsElsewhere(ctx, task)
	if err != nil {
		return "", err
	}

	if !elsewhere {
		at, _, err := rp.Git.Commit(ctx, rp.Root, "refs/heads/"+task.Branch)
		return at, err
	}

	// Of another checkout this one sees only what was pushed.
	t, err := rp.ReadTarget(ctx, task.Integration)
	if err != nil {
		return "", err
	}

	if t.Remote == "" {
		return "", NoRemoteError(task, where)
	}

	at, err := rp.Git.RemoteBranch(ctx, rp.Root, t.Remote, task.Branch)
	if err != nil || at == "" {
		return "", err
	}
	return at, rp.FetchTaskCommit(ctx, t.Remote, task, at)
}

// ReadBranches returns the commit of a task's branch, as [Repo.BranchCommit] does, and the branch that it is for, as
// [Repo.ReadTarget] does but for where that is checked out. One look at the refs shows both. Where there is no
// branch to merge into, the target has no commit.
func (rp *Repo) ReadBranches(ctx context.Context, task stick.Task) (branch string, t Target, err error) {
	ref := "refs/heads/" + task.Branch
	refs, err := rp.Git.Refs(ctx, rp.Root, append(TargetRefs(task.Integration), ref)...)
	if err != nil {
		return "", t, err
	}

	t, err = rp.TargetAmong(ctx, task.Integration, refs)
	if err != nil && stick.CodeOf(err) != stick.CodeNotFound {
		return "", t, err
	}

	elsewhere, _, err := rp.IsElsewhere(ctx, task)
	if err != nil {
		return "", t, err
	}

	// A branch of that name here isn't the task's.
	if elsewhere {
		branch, err = rp.BranchCommit(ctx, task)
		return branch, t, err
	}

	if i := slices.IndexFunc(refs, func(r git.Ref) bool { return r.Name == ref }); i >= 0 {
		branch = refs[i].Commit
	}
	return branch, t, nil
}

// FetchTaskCommit fetches a commit of a task in another checkout.
func (rp *Repo) FetchTaskCommit(ctx context.Context, remote string, task stick.Task, commit string) error {
	have, err := rp.Git.HasCommit(ctx, rp.Root, commit)
	if err != nil || have {
		return err
	}
	_, err = rp.Git.Fetch(ctx, rp.Root, remote, task.Branch)
	return err
}

// NoRemoteError says that what a task is can't be seen from here.
func NoRemoteError(task stick.Task, where stick.Words) error {
	return stick.Errorf(stick.CodeElsewhere,
		"%s is in %s, and only there can it be reviewed and merged, because %s has no remote", task.ID, where,
		task.Integration).
		With("task_id", task.ID).With("path", task.In.Path).
		Hintf("go there; or push %s to a remote of both checkouts, and ask its worker to run %s again",
			task.Integration, stick.Cmd("tt task done"))
}

// StartOverHint says how to give a task to another worker, and when.
func StartOverHint(when stick.Words, id string) stick.Hint {
	return stick.Hintf("%s: %s, then %s",
		when, stick.Cmd("tt task cancel <task_id>", id), stick.Cmd("tt task retry <task_id>", id))
}
