package web

import (
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// column is a column of the board.
type column struct {
	ID, Title string
	Tasks     []boardTask
}

// boardTask is a task on the board.
type boardTask struct {
	Room *monitor.Room
	task.TaskView
}

// columns are those of the board, by the states of the tasks in them.
var columns = []struct {
	id, title string
	states    []stick.TaskState
}{
	{"begin", "To begin", []stick.TaskState{stick.TaskAssigned}},
	{"work", "At work", []stick.TaskState{stick.TaskWorking, stick.TaskConflicted}},
	{"review", "In review", []stick.TaskState{stick.TaskInReview}},
	{"queue", "To merge", []stick.TaskState{stick.TaskApproved}},
	{"over", "Over", []stick.TaskState{stick.TaskCompleted, stick.TaskFailed}},
}

// Board sorts the tasks of all rooms, or of the one that the page is about, by how far they are. The merge
// queue is in its order.
func (v *view) Board() (out []column) {
	rooms := v.Picture.Rooms
	if v.Room != nil {
		rooms = []*monitor.Room{v.Room}
	}

	for _, c := range columns {
		col := column{ID: c.id, Title: c.title}
		for _, state := range c.states {
			for _, r := range rooms {
				for _, t := range r.Tasks {
					if t.State == state {
						col.Tasks = append(col.Tasks, boardTask{r, t})
					}
				}
			}
		}

		// Only the queue has an order of its own.
		if c.id == "queue" {
			sortQueue(col.Tasks)
		}

		out = append(out, col)
	}

	return out
}

// sortQueue puts approved tasks into the order in which they are merged.
func sortQueue(tasks []boardTask) {
	// Tasks of another room stay where they are: each room has its own queue.
	for i := 1; i < len(tasks); i++ {
		for j := i; j > 0 && tasks[j].Room == tasks[j-1].Room && tasks[j].Queue < tasks[j-1].Queue; j-- {
			tasks[j], tasks[j-1] = tasks[j-1], tasks[j]
		}
	}
}

// HiddenTasks counts the tasks that ended too long ago to be listed.
func (v *view) HiddenTasks() (n int) {
	for _, r := range v.Picture.Rooms {
		n += r.Hidden
	}
	return n
}

// Failed is the last thing that the server did for a task, if that has failed and nothing has happened to the
// task since; nil if not.
func (v *view) Failed(r *monitor.Room, id string) *job {
	if id == "" {
		return nil
	}

	j, changed := v.s.jobs.lastAbout(r.ID(), id), stick.Time(0)
	if t := r.Task(id); t != nil {
		changed = t.StateAt
	}
	if j.Failed(changed) {
		return j
	}

	return nil
}

// StuckReason says why a task doesn't get on, empty if nothing keeps it.
func (v *view) StuckReason(r *monitor.Room, t task.TaskView) string {
	switch {
	case t.State == stick.TaskWorking && t.Cause != "":
		return "it " + cameBack(t) + backWith(r, t)
	case t.State == stick.TaskConflicted:
		return "it conflicts with " + t.Integration + backWith(r, t)
	case t.Warning != "":
		return string(t.Warning)
	case t.Later && len(t.WaitsFor) > 0:
		names := ""
		for i, w := range t.WaitsFor {
			if i > 0 {
				names += ", "
			}
			names += w.TaskID
		}

		return "it begins when this has landed: " + names
	case t.State == stick.TaskInReview:
		return "it waits for a review"
	case t.State == stick.TaskApproved:
		if j := v.Failed(r, t.TaskID); j != nil {
			return j.Name() + " failed: " + j.Err.Message
		}

		for _, q := range r.Paused {
			if q.Branch == t.Integration {
				return "the gate failed on " + t.Integration + " itself, so nothing is merged into it"
			}
		}

		if t.Merges {
			return "tt merges it by itself"
		}
		if t.Doing == "" {
			return "it waits until somebody merges it"
		}
	case t.State == stick.TaskFailed && t.Cause != stick.CauseCancelled:
		return "it failed: " + spacedWords(t.Cause)
	}

	return ""
}

// IsStalled reports whether a task came back, and nobody works on it, as far as it is known, or it can't be merged
// until its worker offers it again.
func (t boardTask) IsStalled() bool {
	if t.State != stick.TaskWorking {
		return false
	}
	return isUnmergeable(t.Cause) || t.Cause != "" && backWith(t.Room, t.TaskView) != ""
}

// isUnmergeable reports whether a task came back because its merge has failed. A sign of its worker doesn't change
// that.
func isUnmergeable(cause string) bool {
	return cause == stick.CauseGate || cause == stick.CauseConflict
}

// WorkerToTell is the worker of a task that isn't over, if a person can write to it; empty if not.
func (v *view) WorkerToTell(r *monitor.Room, t task.TaskView) stick.AgentID {
	m := r.Member(t.Worker)
	isEnded := t.State == stick.TaskCompleted || t.State == stick.TaskFailed
	if m == nil || m.Verdict == stick.Gone || t.Worker == v.Picture.Me || isEnded {
		return ""
	}

	return t.Worker
}
