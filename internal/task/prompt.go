package task

import (
	"context"
	"fmt"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// prompt is what a worker has to know of its task.
func prompt(t stick.Task, path string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("You are the worker of task %s, attempt %d.", t.ID, t.Attempt)
	line("")
	line("Your worktree is %s, on the branch %s. Work there and nowhere else: other workers have worktrees of their own, and the", path, t.Branch)
	line("workspace's main checkout isn't yours. You need no talking stick for what you do in your worktree.")
	if t.Description != "" {
		line("")
		line("The task:")
		indent(&b, t.Description)
	}
	if t.Spec != "" {
		line("")
		line("Its specification:")
		indent(&b, t.Spec)
	}
	if t.Reason != "" && t.State != stick.TaskFailed {
		line("")
		line("It came back to you (%s):", t.Cause)
		indent(&b, t.Reason)
	}
	line("")
	line("What you do, in your worktree:")
	line("  tt worker start                 once, before anything else; it binds the task to you")
	line("  git add …, git commit           small commits on %s", t.Branch)
	line("  tt worker done                  when all is committed: it rebases onto %s and asks for a review", t.Integration)
	line("                                  --evidence \"tests=make test\" runs a command and shows its outcome to the reviewer")
	line("  tt worker fail \"why\"            if it can't be done")
	line("  tt worker heartbeat             now and then, only where tt worker status calls you STALE although you work")
	line("If done stops at a conflict: resolve the files, git add them, git rebase --continue, then tt worker done --skip-rebase.")
	line("If changes are requested you get a message; make them, commit, and run tt worker done again. Wait for it with tt wait --park.")
	line("If you are blocked: tt msg send <who> --category BLOCKED --task %s \"what you need\".", t.ID)
	line("Never push, merge, or force anything by hand, and never use git stash: others share the repository.")
	line("When a command answers stale_attempt, stop: the attempt is over.")
	return b.String()
}

func indent(b *strings.Builder, text string) {
	for l := range strings.Lines(strings.Trim(stick.Block(text), "\n")) {
		fmt.Fprintf(b, "  %s\n", strings.TrimRight(l, "\n"))
	}
}

// WorkerContextParams asks what a worker has to know.
type WorkerContextParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id,omitempty"` // empty for the task whose worktree the path lies in
}

// WorkerContextResult is what a worker has to know.
type WorkerContextResult struct {
	RoomID stick.RoomID `json:"room_id"`
	TaskView
	Path   string `json:"path"` // of the worktree
	Spec   string `json:"spec,omitempty"`
	Prompt string `json:"prompt"`
}

// WorkerContext tells a worker, or who starts one, what it has to know. It writes nothing. It fails with
// [stick.CodeUsage] and [stick.CodeNotFound].
func (ts *Tasks) WorkerContext(ctx context.Context, p WorkerContextParams) (WorkerContextResult, error) {
	var res WorkerContextResult
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	id, _, err := rp.ownTask(p.TaskID, 0)
	if err != nil {
		return res, err
	}
	err = rp.read(ctx, func(tx *store.Tx, probes *core.Probes, r stick.Room, _ core.Identity) error {
		task, err := taskOf(tx, r.ID, id)
		if err != nil {
			return err
		}
		path := rp.worktree(task)
		res = WorkerContextResult{RoomID: r.ID, TaskView: taskView(task, r, probes, tx.Now()), Path: path, Spec: task.Spec, Prompt: prompt(task, path)}
		return nil
	})
	return res, err
}

// WorkerExportParams asks for the log of tasks.
type WorkerExportParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id,omitempty"` // empty for all tasks
	After  int64  `json:"after,omitempty"`
}

// WorkerExportResult is a part of the log of tasks.
type WorkerExportResult struct {
	RoomID stick.RoomID  `json:"room_id"`
	Events []stick.Event `json:"events"`
	More   bool          `json:"more,omitempty"`
}

// maxExport is the most events that one answer of [Engine.WorkerExport] has.
const maxExport = 500

// WorkerExport tells the events of tasks, the oldest first, up to 500 of them. It writes nothing. It fails
// with [stick.CodeNoRoom].
func (ts *Tasks) WorkerExport(ctx context.Context, p WorkerExportParams) (WorkerExportResult, error) {
	var res WorkerExportResult
	var types []stick.EventType
	for _, i := range stick.EventTypes {
		if i.Type.OfTask() {
			types = append(types, i.Type)
		}
	}
	err := ts.core.Read(ctx, p.Where, p.Caller, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		q := store.EventQuery{Room: r.ID, After: p.After, Types: types, Limit: maxExport}
		if p.TaskID != "" {
			task, err := taskOf(tx, r.ID, p.TaskID)
			if err != nil {
				return err
			}
			q.Task = task.ID
		}
		events, more, err := tx.Events(q)
		res = WorkerExportResult{RoomID: r.ID, Events: append([]stick.Event{}, events...), More: more}
		return err
	})
	return res, err
}
