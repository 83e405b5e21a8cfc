package pull

import (
	"cmp"
	"context"

	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// mergeProof is what git says of a pull request that the forge has merged.
type mergeProof int

const (
	notMerged mergeProof = iota // the forge doesn't say that it was merged
	// the integration branch at the remote has the task's commit, or one by which the forge merged it
	taskContained
	taskAbsent   // that branch has neither
	offerLacking // the forge merged it without the commit that the worker has offered
)

// landMerged completes a task that was merged at the forge, once the integration branch at the remote has it.
func (q *pullRun) landMerged(ctx context.Context, got mergeProof) (err error) {
	switch got {
	case taskAbsent:
		q.res.Warning = stick.Wordsf("the pull request was merged, but %s at %s doesn't have it",
			q.target.Name, q.target.Remote)
	case offerLacking:
		q.res.Warning = stick.Wordsf("the forge merged %s, and %s isn't in it",
			repository.ShortCommit(cmp.Or(q.task.PR.Head, q.task.PR.Commit)), repository.ShortCommit(q.task.Head))
		if q.task.Offered() {
			next := stick.Hintf("to open another pull request for it: %s", stick.Cmd("tt task pr <task_id>", q.task.ID))
			q.res.Warning += "; " + next.As(q.By.AssumedByFlag()).Words()
		}
	}

	if got != taskContained {
		return nil
	}

	// From here on it is a landing like any other, except that the forge moved the branch.
	cleanUp, err := q.requests.config.Queue.RecordMerged(ctx, q.Repo, q.task, q.target)
	if err != nil {
		return err
	}

	q.task.State = stick.TaskCompleted

	// The task has landed, whether or not the ready ones are known.
	q.res.Ready, _ = q.requests.config.Queue.ListReady(ctx, q.Repo, q.task.ID)
	q.res.Remains, err = cleanUp(ctx)
	return err
}

// proveMerged asks git whether a pull request that the forge has merged brought the task. That the forge
// merged something is no proof: it may be an older commit than the one that the worker has offered.
func (q *pullRun) proveMerged(ctx context.Context, now stick.PullRequest) (mergeProof, error) {
	if now.State != stick.PullMerged {
		return notMerged, nil
	}
	if err := q.FetchTarget(ctx, &q.target); err != nil {
		return taskAbsent, err
	}

	// A merge commit has the offered commit among its ancestors.
	head := cmp.Or(q.task.Head, now.Head)
	if has, err := q.hasInHistory(ctx, head, q.target.Head()); err != nil || has {
		return taskContained, err
	}

	// Otherwise the forge has squashed or rebased, and the branch at least has to have its result.
	if has, err := q.hasInHistory(ctx, now.Commit, q.target.Head()); err != nil || !has {
		return taskAbsent, err
	}
	if now.Head == head {
		return taskContained, nil
	}

	// The commit may be of another checkout, or was added at the forge.
	for _, c := range []string{head, now.Head} {
		if have, err := q.Git.HasCommit(ctx, q.Root, c); c != "" && err == nil && !have {
			// If the fetch fails, there is no proof.
			_ = q.Git.FetchCommit(ctx, q.Root, q.target.Remote, c)
		}
	}

	if have, err := q.Git.HasCommit(ctx, q.Root, head); err != nil || !have {
		return offerLacking, err
	}

	// Somebody may have added commits at the forge, on top of the offered one.
	if has, err := q.hasInHistory(ctx, head, now.Head); err != nil || has {
		return taskContained, err
	}
	if same, err := q.HasSameChange(ctx, now.Commit, head, q.target.Head()); err != nil || same {
		return taskContained, err
	}
	return offerLacking, nil
}

// hasInHistory reports whether a commit is in the history of another one. A commit that isn't in the
// repository isn't.
func (q *pullRun) hasInHistory(ctx context.Context, commit, tip string) (bool, error) {
	for _, c := range []string{commit, tip} {
		if c == "" {
			return false, nil
		}
		if have, err := q.Git.HasCommit(ctx, q.Root, c); err != nil || !have {
			return false, err
		}
	}

	return q.Git.IsAncestor(ctx, q.Root, commit, tip)
}
