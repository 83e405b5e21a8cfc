package task

import (
	"context"
	"fmt"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// feedback is what reviewers have said about a task.
type feedback struct {
	reviews  []stick.TaskReview // the decisions on it, in all attempts
	comments []stick.Comment    // those on lines that wait to be dealt with
}

// workerPrompt returns what a worker must know about its task, and how to work on it. as is the name that the
// worker gives with each command by the flag --as, if it does.
func workerPrompt(t stick.Task, notes feedback, path, as string) string {
	var b strings.Builder
	run := func(line string, values ...any) stick.Command { return stick.Cmd(line, values...).As(as) }
	line := func(format string, args ...any) { b.WriteString(string(stick.Wordsf(format, args...)) + "\n") }
	line("You are the worker of task %s, attempt %d.", t.ID, t.Attempt)
	line("")
	line("Your worktree is %s, on the branch %s. Work only there: the main checkout and the worktrees of",
		path, t.Branch)
	line("other workers aren't yours. You don't need the talking stick for work in your worktree.")
	if t.Description != "" {
		line("")
		line("The task, as %s wrote it:", t.SpawnedBy)
		writeQuoted(&b, t.Description)
	}

	if t.Spec != "" {
		line("")
		line("Its specification, as %s gave it:", t.SpawnedBy)
		writeQuoted(&b, t.Spec)
	}

	if t.Reason != "" && t.State != stick.TaskFailed {
		line("")
		if ours, printed := stick.SplitGateReason(t.Cause, t.Reason); ours != "" {
			line("The task came back to you. %s", ours)
			writePrinted(&b, printed)
		} else {
			line("The task came back to you (%s); %s wrote:", stick.Words(t.Cause), stick.Reasoner(t.Cause))
			writeQuoted(&b, t.Reason)
		}
	}

	// The last request is above, as the reason; those before it still hold.
	if earlier := earlierRequests(t, notes.reviews); len(earlier) > 0 {
		line("")
		line("Before that, reviewers asked for these changes:")
		for _, r := range earlier {
			line("- %s, in attempt %d, of commit %s:", r.Reviewer, r.Attempt, repository.ShortCommit(r.Head))
			writeQuoted(&b, clipText(r.Body))
		}
	}

	if len(notes.comments) > 0 {
		line("")
		line("Reviewers' comments on lines. When you have dealt with one: %s",
			run("tt task comment <task_id> --resolve <comment>", t.ID))
		line("")
		b.WriteString(commentsText(t.ID, notes.comments, maxPrompt))
	}

	line("")
	line("What to run, in your worktree:")
	line("  %-31s once, before anything else: it makes you the worker of this task", run("tt task start"))
	line("  git add …, git commit           small commits on %s", t.Branch)
	line("  %-31s when everything is committed: it rebases onto %s and asks for a review",
		run("tt task done"), t.Integration)
	line("                                  --evidence \"tests=make test\" also runs that command and shows the reviewer its result")
	line("  %-31s if you can't do the task", run(`tt task fail "why"`))
	line("  %-31s now and then, but only if %s calls you STALE while you work",
		run("tt task heartbeat"), run("tt task list"))
	line("If done stops at a conflict: resolve the files, git add them, git rebase --continue, then %s.",
		run("tt task done --skip-rebase"))
	line("After done, wait for the review with %s. If it requests changes, you get a message: make the changes, commit,", run("tt wait --park"))
	line("and run %s again.", run("tt task done"))
	line("If you are blocked: %s.",
		run(`tt msg send <who> --category BLOCKED --task <task_id> "what you need"`, "", t.ID))
	line("Never push, merge, or force anything by hand, and never use git stash: others share the repository.")
	line("If a command fails with stale_attempt, stop: your attempt is over.")
	return b.String()
}

// Bounds of what a prompt has of earlier reviews.
const (
	mostRequests   = 5
	longestRequest = 4096 // bytes
)

// earlierRequests are the last requests for changes, also those of earlier attempts, without the one that the
// prompt has as the reason why the task came back.
func earlierRequests(t stick.Task, reviews []stick.TaskReview) (requests []stick.TaskReview) {
	for _, r := range reviews {
		current := r.Attempt == t.Attempt && r.Body == t.Reason && t.State != stick.TaskFailed
		if r.Decision == stick.EventTaskChangesRequested && strings.TrimSpace(r.Body) != "" && !current {
			requests = append(requests, r)
		}
	}
	return requests[max(0, len(requests)-mostRequests):]
}

// clipText cuts a long text.
func clipText(s string) string {
	if len(s) <= longestRequest {
		return s
	}
	return strings.ToValidUTF8(s[:longestRequest], "") + "…"
}

// writeQuoted writes a text of others, with a mark before each line that no line of ours begins with.
func writeQuoted(b *strings.Builder, text string) {
	for l := range strings.Lines(strings.Trim(stick.Block(text), "\n")) {
		fmt.Fprintln(b, strings.TrimRight("> "+strings.TrimRight(l, "\n"), " "))
	}
}

// writePrinted writes what a program has printed, each line behind a bar.
func writePrinted(b *strings.Builder, text string) {
	for l := range strings.Lines(strings.Trim(stick.Block(text), "\n")) {
		fmt.Fprintln(b, strings.TrimRight("| "+strings.TrimRight(l, "\n"), " "))
	}
}

// WorkerContextParams asks what a worker must know about its task.
type WorkerContextParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id,omitempty"` // empty for the task in whose worktree the path lies
}

// WorkerContextResult is what a worker must know about its task.
type WorkerContextResult struct {
	RoomID stick.RoomID `json:"room_id"`
	TaskView
	Path   string `json:"path"` // the worktree
	Spec   string `json:"spec,omitempty"`
	Prompt string `json:"prompt"`
}

// WorkerContext returns what a worker must know about its task, for the worker or for whoever starts it. It
// writes nothing. It fails with [stick.CodeUsage] and [stick.CodeNotFound].
func (ts *Tasks) WorkerContext(ctx context.Context, p WorkerContextParams) (WorkerContextResult, error) {
	var res WorkerContextResult
	rp, err := ts.openForTask(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	id, _, err := rp.resolveTask(p.TaskID, 0)
	if err != nil {
		return res, err
	}

	err = rp.Read(ctx, func(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity) error {
		task, err := repository.TaskOf(tx, r.ID, id)
		if err != nil {
			return err
		}

		path := rp.WorktreePath(task)
		v, err := viewTask(tx, task, r, probes, me, taskFinder(tx, r.ID))
		if err != nil {
			return err
		}

		comments, err := commentsOn(tx, r.ID, task)
		if err != nil {
			return err
		}

		v.OpenComments = len(openComments(comments))

		// Whoever isn't the worker asks in order to start one, which has another name.
		as := ""
		if me.Agent == task.Worker {
			as = p.Caller.AssumedByFlag()
		}

		reviews, err := reviewsOf(tx, r.ID, task)
		res = WorkerContextResult{
			RoomID: r.ID, TaskView: v, Path: path, Spec: task.Spec,
			Prompt: workerPrompt(task, feedback{reviews, openComments(comments)}, path, as),
		}

		return err
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

// maxExport is how many events [Tasks.WorkerExport] returns at most.
const maxExport = 500

// WorkerExport returns the events of tasks, oldest first, at most 500. It writes nothing. It fails with
// [stick.CodeNoRoom], and with [stick.CodeNotFound] for a task that doesn't exist.
func (ts *Tasks) WorkerExport(ctx context.Context, p WorkerExportParams) (WorkerExportResult, error) {
	var res WorkerExportResult

	// Resolving a comment is about a task, although it changes nothing of it.
	var types []stick.EventType

	for _, i := range stick.EventTypes {
		if i.Type.OfTask() || i.Type == stick.EventTaskCommentResolved {
			types = append(types, i.Type)
		}
	}

	err := ts.core.Read(ctx, p.Where, p.Caller, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		q := store.EventQuery{Room: r.ID, After: p.After, Types: types, Limit: maxExport}
		if p.TaskID != "" {
			task, err := repository.TaskOf(tx, r.ID, p.TaskID)
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
