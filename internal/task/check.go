package task

import (
	"context"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// The limits of a worker's checks.
const (
	checkTimeout = 10 * time.Minute
	maxChecks    = 20
)

// validateChecks checks the form of the worker's checks. It fails with [stick.CodeUsage].
func validateChecks(evidence []string) error {
	if len(evidence) > maxChecks {
		return stick.Errorf(stick.CodeUsage, "%d checks are too many; at most %d are allowed",
			len(evidence), maxChecks).
			With("field", "evidence")
	}

	for _, e := range evidence {
		name, command, ok := strings.Cut(e, "=")
		if !ok || strings.TrimSpace(name) == "" || strings.TrimSpace(command) == "" || len(e) > stick.MaxBody ||
			strings.ContainsRune(e, 0) {
			return stick.Errorf(stick.CodeUsage, "a check is written name=command, not %q", stick.Clip(e, 60)).
				With("field", "evidence").
				Hintf("%s", stick.Cmd("tt task done --evidence <check>", "tests=make test"))
		}
	}

	return nil
}

// runChecks runs the worker's checks in its worktree. It fails with [stick.CodeDirtyTree] if one of them
// changed the worktree, because then the checks say nothing about the commit that is offered.
func (f *doneRun) runChecks(ctx context.Context, q *tasks.Offering) ([]store.Blob, error) {
	if len(f.p.Evidence) == 0 {
		return nil, nil
	}

	// The outputs are blobs, which the offer then names.
	db, err := f.Core.Open(ctx, true)
	if err != nil {
		return nil, err
	}

	var blobs []store.Blob
	for _, e := range f.p.Evidence {
		name, command, _ := strings.Cut(e, "=")
		o, err := f.RunShell(ctx, f.Path, command, checkTimeout, repository.SlotEnviron(f.Task.Slot), nil)
		if err != nil {
			return nil, err
		}

		b, err := db.WriteBlob(o.Output)
		if err != nil {
			return nil, err
		}

		blobs = append(blobs, b)
		q.Checks = append(q.Checks, stick.TaskCheck{
			Name: strings.TrimSpace(name), Command: command, Exit: o.Exit, Millis: o.Took.Milliseconds(),
			Output: b.Sum, Size: b.Size, Cut: o.IsTruncated(),
		})
	}

	// The checks have to leave the commit and the worktree as they were.
	s, err := f.Git.Snapshot(ctx, f.Path)
	if err != nil {
		return nil, err
	}

	if s.Head != q.Head {
		return nil, stick.Errorf(stick.CodeDirtyTree,
			"the checks moved the worktree of %s to another commit: it is now at %s", f.Task.ID,
			repository.ShortCommit(s.Head)).
			With("task_id", f.Task.ID).With("head", s.Head).With("left", s.Dirty).
			Hintf("stop the checks from committing, then run %s again; the reviewer must see the commit that they ran on",
				stick.Cmd("tt task done --task <task_id>", f.Task.ID))
	}

	if s.DirtyCount > 0 {
		return nil, repository.DirtyError(stick.Wordsf("the worktree of %s", f.Task.ID), s.Dirty, s.DirtyCount).
			With("task_id", f.Task.ID).
			Hintf("make the checks clean up after themselves, or commit the files that they create")
	}

	return blobs, nil
}

// unansweredBlocks returns the number of the newest message in which the task's worker says that it is
// blocked and that nobody has accepted. It returns 0 if there is none.
func unansweredBlocks(o *repository.Op, task stick.Task) (int64, error) {
	sent, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, From: task.Worker, Types: []stick.EventType{stick.EventMessageSent}, Limit: 200, Newest: true,
	})
	if err != nil || task.Worker == "" {
		return 0, err
	}

	// The newest first.
	slices.Reverse(sent)
	for _, e := range sent {
		m := e.Message()
		if m == nil || m.Category != stick.Blocked || e.Task != "" && stick.TaskKey(e.Task) != stick.TaskKey(task.ID) {
			continue
		}

		// One recipient who accepted the message has answered it.
		cs, err := o.Tx.Receipts(e.Seq)
		if err != nil {
			return 0, err
		}

		if slices.ContainsFunc(cs, stick.Receipt.Open) &&
			!slices.ContainsFunc(cs, func(c stick.Receipt) bool { return c.State() == stick.Acked }) {
			return e.Seq, nil
		}
	}

	return 0, nil
}
