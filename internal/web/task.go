package web

import (
	"net/http"
	"net/url"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// taskPage is what only the page of a task shows. Its parts, which change by themselves, have only the first
// three fields.
type taskPage struct {
	Task  *task.TaskView // as it is now
	Shown string         // the commit whose diff the page shows
	Job   *job           // what the server does for the task, or did last

	task.WorkerShowResult
	Diff   task.WorkerDiffResult
	NoDiff string // why there is no diff
	Files  []diffFile
	Lines  lineCount
	Cut    bool                // the diff is longer than what the page shows
	Left   []task.ShownComment // those whose lines the diff doesn't have
	Drafts int                 // comments that the person hasn't sent
	Rows   []eventRow
	Older  int64
}

// readTask reads a task and its diff, by which the person has seen the commit.
func (s *Server) readTask(r *http.Request, v *view) error {
	where, id := core.Where{RoomID: v.Room.ID()}, r.PathValue("task")
	shown, err := s.ops.WorkerShow(r.Context(), task.WorkerShowParams{Caller: s.o.Caller, Where: where, TaskID: id})
	if err != nil {
		return err
	}

	b := &taskPage{WorkerShowResult: shown, Task: &shown.TaskView}
	v.Body = b
	b.Diff, err = s.ops.WorkerDiff(r.Context(), task.WorkerDiffParams{Caller: s.o.Caller, Where: where, TaskID: id})
	if err != nil {
		b.NoDiff = stick.AsError(err).Message
		b.Diff.Comments = shown.Comments
	}

	b.Shown = b.Diff.Head

	// The page asks about a line by its address.
	q := r.URL.Query()
	b.Files, b.Left, b.Cut = layDiff(b.Diff, commentTarget{q.Get("at"), q.Get("old") != ""})
	b.Lines = countLines(b.Files)
	for _, c := range b.Diff.Comments {
		if c.Draft {
			b.Drafts++
		}
	}

	b.Rows, b.Older = rowsOf(v.Root, v.Room, shown.Events, shown.More)

	// The stream compares with the commit that the page shows.
	v.Watch = r.URL.Path + "?" + url.Values{"head": {b.Shown}}.Encode()
	return nil
}

// headOfTask fills in how a task is in the picture.
func headOfTask(q url.Values, v *view) {
	b, _ := v.Body.(*taskPage)
	if b == nil {
		b = &taskPage{Shown: q.Get("head")}
		v.Body = b
	}

	if t := v.Room.Task(q.Get("task")); t != nil {
		b.Task = t
	}

	// A task that ended long ago isn't in the picture.
	if b.Task == nil {
		b.Task = &task.TaskView{TaskID: q.Get("task")}
	}

	// A job that is over matters only if it has failed and nothing has happened since.
	b.Job = v.s.jobs.lastAbout(v.Room.ID(), b.Task.TaskID)
	if b.Job != nil && !b.Job.Running() && !b.Job.Failed(b.Task.StateAt) {
		b.Job = nil
	}
}

// returnReason is why a task came back: a sentence, and below it what a command has printed.
type returnReason struct{ Says, Printed string }

// splitReason splits a reason. What was printed is indented in it, after a sentence that ends with a colon.
func splitReason(reason string) returnReason {
	says, printed, found := strings.Cut(reason, ":\n  ")
	if !found {
		return returnReason{Says: reason}
	}

	return returnReason{says, strings.ReplaceAll(printed, "\n  ", "\n")}
}

// NextNeed is what waits for the person besides the task of the page; nil if nothing does.
func (v *view) NextNeed() *monitor.NeedIn {
	b, _ := v.Body.(*taskPage)
	for _, n := range v.Needs() {
		isAbout := b != nil && b.Task != nil && n.Room.ID() == v.Room.ID() && n.Task == b.Task.TaskID
		if !isAbout {
			return &n
		}
	}
	return nil
}

// Moved reports whether there are commits that the page doesn't show.
func (b *taskPage) Moved() bool {
	return b.Shown != "" && b.Task.Branched != "" && b.Task.Branched != b.Shown && b.Task.State != stick.TaskCompleted
}

// Can reports whether a person may do something to a task in its state.
func (b *taskPage) Can(what string) bool {
	t := b.Task
	busy := t.Doing != "" || b.Job != nil && b.Job.Running()

	switch what {
	case "approve":
		return t.State == stick.TaskInReview && !busy
	case "changes":
		return (t.State == stick.TaskInReview || t.State == stick.TaskApproved) && !busy
	case "comment":
		return b.Shown != "" && t.State != stick.TaskCompleted && t.State != stick.TaskFailed
	case "merge":
		return t.State == stick.TaskApproved && !busy
	case "run":
		return t.Run != nil && t.Run.State == tasks.RunEnded && canRun(t.State)
	case "stop":
		return t.Run != nil && t.Run.State != tasks.RunEnded
	case "cancel":
		return t.State != stick.TaskCompleted && t.State != stick.TaskFailed
	case "retry":
		return t.State == stick.TaskFailed
	case "rollback":
		return t.State == stick.TaskCompleted && t.Result != ""
	}

	return false
}

// canRun reports whether the command of a task's worker may be started in a state of the task.
func canRun(state stick.TaskState) bool {
	return state == stick.TaskAssigned || state == stick.TaskWorking || state == stick.TaskConflicted
}
