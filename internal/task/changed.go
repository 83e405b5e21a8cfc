package task

import (
	"context"

	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// Changed is how much the worker of a task has changed.
type Changed struct {
	Files       int `json:"files"`                 // in its commits
	Added       int `json:"added"`                 // lines in its commits
	Deleted     int `json:"deleted"`               // lines in its commits
	Uncommitted int `json:"uncommitted,omitempty"` // files in its worktree
}

// addChanged adds how much the workers of unfinished tasks have changed. What git can't tell stays out.
func (ts *Tasks) addChanged(ctx context.Context, root string, tasks []stick.Task, shown map[string]*TaskView) {
	for _, t := range tasks {
		v := shown[stick.TaskKey(t.ID)]

		// There is no worktree here to ask about.
		if t.Over() || v.Later || v.Checkout != "" || v.Branched == "" {
			continue
		}

		base, head := ts.shownRange(ctx, root, t, v.Branched)
		files, err := ts.core.Config.Git.Stat(ctx, root, base, head)
		if err != nil {
			continue
		}

		c := Changed{Files: len(files)}
		for _, f := range files {
			c.Added, c.Deleted = c.Added+max(0, f.Added), c.Deleted+max(0, f.Deleted)
		}

		if dirty, err := ts.core.Config.Git.Uncommitted(ctx, repository.LocateWorktree(root, t)); err == nil {
			c.Uncommitted = len(dirty)
		}

		v.Changed = &c
	}
}
