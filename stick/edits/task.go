package edits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"talkingstick/stick"
)

// TaskMark names the attempt at a task that a command was started for. All that the command starts has the
// mark.
type TaskMark struct {
	Room    stick.RoomID // empty if the mark doesn't say
	Task    string
	Attempt int // from 1; 0 for no mark
}

// String returns the mark as [ParseTaskMark] reads it.
func (m TaskMark) String() string { return fmt.Sprintf("%s/%s/%d", m.Room, m.Task, m.Attempt) }

// ParseTaskMark reads a mark: <room>/<task>/<attempt>, such as room/ui-7/2.
func ParseTaskMark(text string) (m TaskMark, ok bool) {
	words := strings.Split(text, "/")
	n := len(words)

	if n < 3 {
		return m, false
	}

	// The name of a room may hold slashes, so task and attempt are read from the end.
	m = TaskMark{Room: stick.RoomID(strings.Join(words[:n-2], "/")), Task: words[n-2]}

	var err error
	m.Attempt, err = strconv.Atoi(words[n-1])
	if err != nil || m.Attempt < 1 || m.Room == "" || m.Task == "" {
		return TaskMark{}, false
	}

	return m, true
}

// Working says which tasks a caller works on.
type Working struct {
	By    stick.AgentID
	Under []stick.AgentID // the agents in whose tool calls it was started: it works on their tasks
	Mark  TaskMark        // of the command in which it runs; zero for none
}

// worksOn reports whether a caller works on a task: as its worker, below it, or in the command of the current
// attempt.
func worksOn(r stick.Room, t stick.Task, w Working) bool {
	marked := w.Mark.Room == r.ID && w.Mark.Attempt == t.Attempt && stick.TaskKey(w.Mark.Task) == stick.TaskKey(t.ID)
	return marked || t.Worker != "" && (t.Worker == w.By || slices.Contains(w.Under, t.Worker))
}

// MayWorkOn judges a change of the worktree or the branch of a task, like [MayEdit]. Its worker may
// change them, and so may everybody while it has no worker.
func MayWorkOn(r stick.Room, t stick.Task, w Working) Judgement {
	if t.Worker == "" || t.Over() || worksOn(r, t, w) || !Enforces(r) {
		return Judgement{}
	}

	why := stick.Wordsf("%s is the worktree of %s, on which %s works", t.Worktree, t.ID, t.Worker)
	return asEnforced(r, errEditDenied(r, why, []string{t.Worktree}).
		With("task_id", t.ID).With("worker", t.Worker).
		Hintf("tell its worker what you want: %s", stick.Cmd("tt msg send <agent> …", t.Worker)))
}

// Straying is a change in one of the trees of a repository.
type Straying struct {
	Root string // of the main checkout; absolute
	Tree string // the linked worktree, relative to Root if it lies below; empty for the main checkout
	Path string // what changes, relative to the tree; empty for anything in it
}

// MayStray judges a change outside of the worktree of a task that the caller works on now. It is kept to that
// worktree, also where a reservation of its own or its parent's turn would cover the path: who writes to
// another tree has mostly taken it for its own. Only who holds the stick itself may change both. tasks are
// those that the caller works on, the nearest first.
func MayStray(r stick.Room, q Straying, w Working, tasks []stick.Task) Judgement {
	if !Enforces(r) || holdsStick(r, w.By) {
		return Judgement{}
	}

	// Who works on several tasks may write to the worktree of each.
	i := slices.IndexFunc(tasks, func(t stick.Task) bool { return keepsToWorktree(r, t, w) })
	if i < 0 || slices.ContainsFunc(tasks,
		func(t stick.Task) bool { return worksOn(r, t, w) && q.Tree == t.Worktree }) {
		return Judgement{}
	}

	t := tasks[i]
	own := q.Root + "/" + t.Worktree
	where, step := stick.Words("the main checkout"), stick.Hintf("work in %s instead", own)

	if q.Tree != "" {
		where = "the worktree " + stick.CutName(q.Tree, 256)
	}

	why, paths := stick.Wordsf("%s isn't yours to change: you work on task %s in %s", where, t.ID, own), []string{}
	if q.Path != "" {
		file := stick.Name(q.Path).Cut(120)
		why, paths = stick.Wordsf("%s lies in %s, and you work on task %s in %s", file, where, t.ID, own),
			[]string{q.Path}
		step = stick.Hintf("change %s instead", own+"/"+q.Path)
	}

	return asEnforced(r, errEditDenied(r, why, paths).With("task_id", t.ID).With("worktree", own).Hintf("%s", step))
}

// keepsToWorktree reports whether a task keeps a caller to its worktree: while its worker should be working, unless
// that one holds the stick. The command of an attempt is kept from its start.
func keepsToWorktree(r stick.Room, t stick.Task, w Working) bool {
	return worksOn(r, t, w) && !holdsStick(r, t.Worker) && (t.Busy() || t.State == stick.TaskAssigned)
}

// holdsStick reports whether an agent has the stick.
func holdsStick(r stick.Room, a stick.AgentID) bool {
	return a != "" && r.Turn.State == stick.Owned && r.Turn.Owner == a
}
