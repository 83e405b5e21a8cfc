package task

import (
	"context"
	"os"
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// A task may have the name of an earlier one that was cancelled, and of which nothing was left. What was said of that
// one stays in the log, and isn't said of the new one.

// commentsOn lists the comments on a task, without those on an earlier task of its name.
func commentsOn(tx *store.Tx, room stick.RoomID, t stick.Task) ([]stick.Comment, error) {
	all, err := tx.Comments(room, t.ID)
	return slices.DeleteFunc(all, func(c stick.Comment) bool { return c.CreatedAt < t.CreatedAt }), err
}

// reviewsOf lists the decisions on a task, without those on an earlier task of its name.
func reviewsOf(tx *store.Tx, room stick.RoomID, t stick.Task) ([]stick.TaskReview, error) {
	all, err := tx.Reviews(room, t.ID)
	return slices.DeleteFunc(all, func(r stick.TaskReview) bool { return r.At < t.CreatedAt }), err
}

// isNameFree reports whether a new task may have the name of one that was cancelled: neither its branch nor its
// worktree is left in this checkout, and it had none in another.
func (rp *repo) isNameFree(ctx context.Context, was stick.Task) (bool, error) {
	if !tasks.CanRenew(was) {
		return false, nil
	}
	if was.Later {
		return true, nil
	}

	elsewhere, _, err := rp.IsElsewhere(ctx, was)
	if err != nil || elsewhere {
		return false, err
	}

	_, has, err := rp.Git.Commit(ctx, rp.Root, "refs/heads/"+was.Branch)
	if err != nil || has {
		return false, err
	}

	_, err = os.Lstat(rp.WorktreePath(was))
	return os.IsNotExist(err), nil
}
