package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// repo is the repository of one operation, with the operations on tasks.
type repo struct {
	*repository.Repo
	tasks *Tasks
}

// openRepo opens the repository that w means, as [repository.Opener.Open] does.
func (ts *Tasks) openRepo(ctx context.Context, w core.Where, by core.Caller) (*repo, error) {
	rp, err := ts.repos.Open(ctx, w, by)
	if err != nil {
		return nil, err
	}
	return &repo{rp, ts}, nil
}

// openForTask opens the repository of a task that is there already, as [repository.Opener.OpenForTask] does.
func (ts *Tasks) openForTask(ctx context.Context, w core.Where, by core.Caller) (*repo, error) {
	rp, err := ts.repos.OpenForTask(ctx, w, by)
	if err != nil {
		return nil, err
	}
	return &repo{rp, ts}, nil
}

// openForWorker opens the repository for a worker, and returns the task and the attempt that it means. See
// ownTask.
func (ts *Tasks) openForWorker(
	ctx context.Context, w core.Where, by core.Caller, id string, attempt int,
) (*repo, string, int, error) {
	rp, err := ts.openForTask(ctx, w, by)
	if err != nil {
		return nil, "", 0, err
	}
	id, attempt, err = rp.resolveTask(id, attempt)
	return rp, id, attempt, err
}

// resolveTask returns the task and the attempt that a worker means: the task that it names, or the one whose
// worktree it is in. It fails with [stick.CodeUsage] if it is in none.
func (rp *repo) resolveTask(id string, attempt int) (string, int, error) {
	if id != "" {
		return id, attempt, nil
	}

	f, ok := core.ReadTaskFile(rp.CallerWorktree)
	if !ok {
		return "", 0, stick.Errorf(stick.CodeUsage, "this isn't the worktree of a task").With("field", "task_id").
			Hintf("go to the task's worktree, or add --task <task>; to list the tasks: %s", stick.Cmd("tt task list"))
	}

	if attempt == 0 {
		attempt = f.Attempt
	}
	return f.TaskID, attempt, nil
}

// openLocked opens the repository and locks a task: see [repository.Repo.LockTask].
func (ts *Tasks) openLocked(ctx context.Context, w core.Where, by core.Caller, id string) (*repo, func(), error) {
	rp, err := ts.openRepo(ctx, w, by)
	if err != nil {
		return nil, nil, err
	}
	unlock, err := rp.LockTask(ctx, id)
	return rp, unlock, err
}
