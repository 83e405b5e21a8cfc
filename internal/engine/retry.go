package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"talkingstick/internal/git"
	"talkingstick/stick"
)

// WorkerRetryParams asks for another attempt.
type WorkerRetryParams struct {
	Caller Caller `json:"-"`
	Where
	TaskID string `json:"task_id"`
}

// WorkerRetry begins another attempt at a task that failed, on its branch where that exists, else from
// the branch that it will be merged into. It fails with [stick.CodeNotFound],
// [stick.CodeInvalidTransition] and [stick.CodeLanding].
func (e *Engine) WorkerRetry(ctx context.Context, p WorkerRetryParams) (WorkerSpawnResult, error) {
	var res WorkerSpawnResult
	y, unlock, err := e.locked(ctx, p.Where, p.Caller, p.TaskID)
	if err != nil {
		return res, err
	}
	defer unlock()
	task, yes, err := y.asked(ctx, p.TaskID, stick.EventTaskRetried, "")
	if err == nil && yes {
		return y.spawned(ctx, task)
	}
	if err == nil {
		err = task.CanRetry()
	}
	if err != nil {
		return res, err
	}
	tg, err := y.target(ctx, task.Integration)
	if err != nil {
		return res, err
	}
	m := making{Task: task, Path: y.worktree(task), Base: tg.head()}
	at, have, err := y.git.Commit(ctx, y.root, "refs/heads/"+task.Branch)
	if err != nil {
		return res, err
	}
	if have { // what it is based on is where it left the branch that it will be merged into, and not where that is now
		if base, err := y.git.MergeBase(ctx, y.root, m.Base, at); err != nil {
			return res, err
		} else if base == at { // nothing of its own is in it: the attempt begins where a new task would
			m.From = at
		} else if base != "" {
			m.Base = base
		}
	}
	note := ""
	if task.Cause == stick.CauseRolledBack && task.Result != "" {
		note = fmt.Sprintf("its merge was taken back by %s; in the worktree, git revert %s brings that work back", short(task.Result), short(task.Result))
	}
	m.Task.Attempt++
	m.Task.Base = m.Base
	_, serr := os.Lstat(m.Path)
	m.NewBranch, m.NewTree = !have, os.IsNotExist(serr)
	w, ok, err := y.git.Worktree(ctx, y.root, m.Path)
	switch {
	case err != nil:
		return res, err
	case m.NewTree:
	case ok && !have:
		return res, stick.Errorf(stick.CodeNotFound, "the branch %s isn't there any more, and its worktree is", task.Branch).With("branch", task.Branch).With("path", m.Path).
			Hintf("put it back: git branch %s %s; or move %s away", task.Branch, short(cmp.Or(w.Head, task.Head, task.Base)), stick.Line(m.Path))
	case ok && y.inRebase(ctx, m.Path):
		return res, stick.Errorf(stick.CodeRebaseConflict, "a rebase of %s hasn't ended in %s", task.Branch, stick.Line(m.Path)).With("path", m.Path).
			Hintf("in that worktree: git rebase --abort, or resolve it and git rebase --continue; then run the same command again")
	case !ok || w.Branch != task.Branch:
		return res, stick.Errorf(stick.CodeAlreadyExists, "%s isn't the worktree of %s any more", stick.Line(m.Path), task.Branch).With("path", m.Path).
			Hintf("move it away, or check %s out there", task.Branch)
	}
	id, err := y.newID(ctx)
	if err != nil {
		return res, err
	}
	guard := func(t *turn) (stick.Event, error) {
		if err := t.takesPart(); err != nil {
			return stick.Event{}, err
		}
		now, err := taskOf(t.tx, t.room.ID, p.TaskID)
		if err != nil {
			return stick.Event{}, err
		}
		return now.Retry(t.me.Agent, m.Base)
	}
	err = y.act(ctx, joinsIfNew, func(t *turn) error {
		if _, err := guard(t); err != nil {
			return err
		}
		return t.intend(id, intentRetry, task, m.Task.Attempt, m)
	})
	if err != nil {
		return res, err
	}
	y.serve(id)
	y.at("retry: intended")
	if err := y.make(ctx, m); err != nil {
		return res, y.unmake(ctx, id, m, err)
	}
	y.at("retry: made")
	err = y.commit(ctx, func(t *turn) error {
		ev, err := guard(t)
		if err != nil {
			return err
		}
		t.say(ev)
		res.RoomID, res.AgentID, res.Worktree, res.Note = t.room.ID, t.me.Agent, m.Path, note
		return t.tx.EndIntent(id, "done")
	})
	if err != nil {
		return res, y.unmake(ctx, id, m, err)
	}
	shown, err := e.WorkerShow(context.WithoutCancel(ctx), WorkerShowParams{Caller: p.Caller, Where: y.w, TaskID: p.TaskID, unseen: true})
	res.Task = shown.TaskView
	return res, err
}

// inRebase tells whether a rebase is in progress in a worktree.
func (y *yard) inRebase(ctx context.Context, path string) bool {
	at, err := y.git.Checkout(ctx, path)
	return err == nil && git.Undone(at.GitDir) == "rebase"
}
