package repository

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/stick"
)

// CheckMoved fails with [stick.CodeNotFound] if somebody has moved the missing worktree of a task without git: the
// caller is in it, or git still has the task's branch in another place, where nothing is. A new worktree would take
// git's record from the one that there is, and with it what is staged there.
func (rp *Repo) CheckMoved(ctx context.Context, task stick.Task) error {
	path := rp.WorktreePath(task)
	if f, ok := core.ReadTaskFile(rp.CallerWorktree); ok && f.TaskID == task.ID && rp.CallerWorktree != path {
		return stick.Errorf(stick.CodeNotFound, "git doesn't know that the worktree of %s has been moved to %s", task.ID,
			rp.CallerWorktree).With("task_id", task.ID).With("path", rp.CallerWorktree).
			Hintf("tell git, in that directory: %s; then run the same command again", stick.Cmd("git worktree repair"))
	}

	trees, err := rp.Git.Worktrees(ctx, rp.Root)
	if err != nil {
		return err
	}

	i := slices.IndexFunc(trees, func(w git.Worktree) bool { return w.Branch == task.Branch && w.Gone && w.Path != path })
	if i < 0 {
		return nil
	}
	return stick.Errorf(stick.CodeNotFound, "the worktree of %s is missing: git has it in %s", task.ID, trees[i].Path).
		With("task_id", task.ID).With("path", trees[i].Path).
		Hintf("if you have moved it, run %s where it is now; if it is gone: %s, then %s",
			stick.Cmd("git worktree repair"), stick.Cmd("git worktree remove -f -f <path>", trees[i].Path),
			stick.Cmd("tt task start --task <task_id>", task.ID))
}
