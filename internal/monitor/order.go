package monitor

import (
	"slices"

	"talkingstick/internal/task"
	"talkingstick/stick"
)

// sortTasks puts the tasks of a room into the order in which people look for them: what needs them, what is red,
// what waits for others, what is at work, what can begin, and what is over. Of each the newest comes first, as
// it was read. Tasks of an older picture stay as they are.
func (r *Room) sortTasks() {
	r.Tasks = slices.Clone(r.Tasks)
	slices.SortStableFunc(r.Tasks, func(a, b task.TaskView) int { return r.taskRank(&a) - r.taskRank(&b) })
}

func (r *Room) taskRank(t *task.TaskView) int {
	switch {
	case t.State == stick.TaskCompleted, t.State == stick.TaskFailed && t.Cause == stick.CauseCancelled:
		return 6
	case r.needsTask(t.TaskID):
		return 0
	case t.State == stick.TaskFailed, t.State == stick.TaskConflicted, hasFailedMerge(t):
		return 1
	case t.State == stick.TaskInReview, t.State == stick.TaskApproved:
		return 2
	case t.State == stick.TaskWorking, !t.Later:
		return 3
	case t.Ready:
		return 4
	}
	return 5
}

// needsTask reports whether a task needs the one who watches.
func (r *Room) needsTask(id string) bool {
	for _, n := range r.Needs {
		if n.Task == id {
			return true
		}
	}
	return false
}

// hasFailedMerge reports whether a task is its worker's again because it couldn't be merged.
func hasFailedMerge(t *task.TaskView) bool {
	return hasComeBack(t) && (t.Cause == stick.CauseGate || t.Cause == stick.CauseConflict)
}
