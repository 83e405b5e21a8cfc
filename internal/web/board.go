package web

import (
	"slices"

	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// column is a column of the board.
type column struct {
	ID, Title string
	Tasks     []boardTask
	Folded    []boardTask // the rest of a backlog, which would push everything else away

	MergeAll []*monitor.Room // in which several tasks wait for their merge
}

// Len is how many tasks the column has.
func (c column) Len() int { return len(c.Tasks) + len(c.Folded) }

// boardTask is a task on the board.
type boardTask struct {
	Room *monitor.Room
	task.TaskView
}

// columns are those of the board, in the order of a task's life.
var columns = []column{
	{ID: "begin", Title: "To begin"},
	{ID: "work", Title: "At work"},
	{ID: "review", Title: "In review"},
	{ID: "queue", Title: "To merge"},
	{ID: "over", Title: "Over"},
}

// columnOf is the column of a task. One whose command runs is at work, although its worker hasn't said so.
func (t boardTask) columnOf() string {
	switch t.State {
	case stick.TaskAssigned:
		if t.Run != nil && t.Run.State.Live() {
			return "work"
		}
		return "begin"
	case stick.TaskWorking, stick.TaskConflicted:
		return "work"
	case stick.TaskInReview:
		return "review"
	case stick.TaskApproved:
		return "queue"
	}

	return "over"
}

// shownBacklog is how many tasks that nobody has begun the board shows open.
const shownBacklog = 3

// Board sorts the tasks of all rooms, or of the one that the page is about, by how far they are. Within a column what
// matters most comes first, as in every list of tasks; the merge queue is in its own order.
func (v *view) Board() (out []column) {
	rooms := v.Picture.Rooms
	if v.Room != nil {
		rooms = []*monitor.Room{v.Room}
	}

	out = slices.Clone(columns)
	for _, r := range rooms {
		for _, t := range r.Tasks {
			one := boardTask{r, t}
			if !v.matchesTask(one) {
				continue
			}

			i := slices.IndexFunc(out, func(c column) bool { return c.ID == one.columnOf() })
			out[i].Tasks = append(out[i].Tasks, one)
		}
	}

	for i := range out {
		c := &out[i]
		switch {
		case c.ID == "queue":
			sortQueue(c.Tasks)
			c.MergeAll = roomsWithQueue(c.Tasks)
		case c.ID == "begin" && len(c.Tasks) > shownBacklog+1 && v.Query == "":
			c.Tasks, c.Folded = c.Tasks[:shownBacklog], c.Tasks[shownBacklog:]
		}
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

// roomsWithQueue returns the rooms in which at least two tasks wait for their merge, and none is being merged.
func roomsWithQueue(tasks []boardTask) (rooms []*monitor.Room) {
	waiting := map[*monitor.Room]int{}
	for _, t := range tasks {
		if t.Doing != "" || t.Merges {
			waiting[t.Room] = -len(tasks)
		}

		if waiting[t.Room]++; waiting[t.Room] == 2 {
			rooms = append(rooms, t.Room)
		}
	}

	return slices.DeleteFunc(rooms, func(r *monitor.Room) bool { return waiting[r] < 2 })
}

// HiddenTasks counts the tasks that ended too long ago to be listed.
func (v *view) HiddenTasks() (n int) {
	for _, r := range v.Picture.Rooms {
		n += r.Hidden
	}
	return n
}

// IsStalled reports whether a task came back, and nobody works on it, as far as it is known, or it can't be merged
// until its worker offers it again.
func (t boardTask) IsStalled() bool {
	if t.State != stick.TaskWorking {
		return false
	}
	return isUnmergeable(t.Cause) || t.Cause != "" && backWith(t.Room, t.TaskView) != ""
}

// NeedsPill reports whether the card of a task says its state: its column mostly does.
func (t boardTask) NeedsPill() bool {
	switch t.State {
	case stick.TaskAssigned, stick.TaskInReview, stick.TaskApproved:
		return false
	}
	return true
}

// CardReason says on its card why a task doesn't get on, if its column doesn't.
func (v *view) CardReason(t boardTask) string {
	isWaiting := t.Warning == "" && v.Failed(t.Room, t.TaskID) == nil
	if t.State == stick.TaskInReview && isWaiting {
		return ""
	}

	says := v.StuckReason(t.Room, t.TaskView)
	if says == waitsForMerge {
		return ""
	}
	return says
}
