package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// Where a room has several checkouts, a task has its branch and its worktree in one of them. In the others it
// is what its worker has pushed: there it can be reviewed, and merged with the remote as the judge.

// errElsewhere makes the error for something about a task that can be done only in the checkout in. format
// has a verb for the task's name and one for the checkout.
func errElsewhere(tx *store.Tx, id string, in stick.Checkout, format string) *stick.Error {
	e := stick.Errorf(stick.CodeElsewhere, format, id, nameCheckout(tx, in)).With("task_id", id).With("path", in.Path)
	if name := hostOf(tx, in); name != "" {
		e.With("host", name)
	}
	return e
}

// nameCheckout names another checkout, for a sentence.
func nameCheckout(tx *store.Tx, in stick.Checkout) stick.Words {
	if name := hostOf(tx, in); name != "" {
		return stick.Wordsf("%s on %s", in.Path, name)
	}
	return stick.Wordsf("%s", in.Path)
}

// hostOf names the host of a checkout; empty if it is this one. Without it a sentence still has the path.
func hostOf(tx *store.Tx, in stick.Checkout) string {
	name, _ := tx.NameOfHost(in.Host)
	return name
}

// requireHere refuses what needs the branch or the worktree of a task where they aren't. It fails with
// [stick.CodeElsewhere].
func requireHere(tx *store.Tx, r stick.Room, task stick.Task) error {
	if !task.Elsewhere(tx.CheckoutOf(r)) {
		return nil
	}
	return errElsewhere(tx, task.ID, task.In, "the worktree of %s is in %s, and this needs it").
		Hintf("go there; or %s", startOver("to go on here with what was pushed", task.ID))
}

// isElsewhere reports whether a task is in another checkout. where names that for a sentence.
func (rp *Repo) isElsewhere(ctx context.Context, task stick.Task) (yes bool, where stick.Words, err error) {
	// Only rooms with several checkouts say where a task is.
	if task.In == (stick.Checkout{}) {
		return false, "", nil
	}

	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		yes, where = task.Elsewhere(tx.CheckoutOf(r)), nameCheckout(tx, task.In)
		return nil
	})
	return yes, where, err
}

// branchCommit returns the commit of a task's branch, "" if there is none. Of a task in another checkout that
// is the branch at the remote, whose commits it fetches.
func (rp *Repo) branchCommit(ctx context.Context, task stick.Task) (string, error) {
	elsewhere, where, err := rp.isElsewhere(ctx, task)
	if err != nil {
		return "", err
	}

	if !elsewhere {
		at, _, err := rp.git.Commit(ctx, rp.root, "refs/heads/"+task.Branch)
		return at, err
	}

	// Of another checkout this one sees only what was pushed.
	t, err := rp.readTarget(ctx, task.Integration)
	if err != nil {
		return "", err
	}

	if t.remote == "" {
		return "", errNoRemote(task, where)
	}

	at, err := rp.git.RemoteBranch(ctx, rp.root, t.remote, task.Branch)
	if err != nil || at == "" {
		return "", err
	}
	return at, rp.fetchTaskCommit(ctx, t.remote, task, at)
}

// fetchTaskCommit fetches a commit of a task in another checkout.
func (rp *Repo) fetchTaskCommit(ctx context.Context, remote string, task stick.Task, commit string) error {
	have, err := rp.git.HasCommit(ctx, rp.root, commit)
	if err != nil || have {
		return err
	}
	_, err = rp.git.Fetch(ctx, rp.root, remote, task.Branch)
	return err
}

// errNoRemote says that what a task is can't be seen from here.
func errNoRemote(task stick.Task, where stick.Words) error {
	return stick.Errorf(stick.CodeElsewhere,
		"%s is in %s, and can be reviewed and merged only there, because %s has no remote", task.ID, where,
		task.Integration).
		With("task_id", task.ID).With("path", task.In.Path).
		Hintf("go there; or push %s to a remote that both have, and have its worker run %s again",
			task.Integration, stick.Cmd("tt task done"))
}

// startOver says how to give a task to another worker, and when.
func startOver(when stick.Words, id string) stick.Hint {
	return stick.Hintf("%s: %s, then %s",
		when, stick.Cmd("tt task cancel <task_id>", id), stick.Cmd("tt task retry <task_id>", id))
}
