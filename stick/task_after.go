package stick

import (
	"slices"
	"strings"
)

// A task may be for later: it has no branch and no worktree until somebody begins it. It may wait for other
// tasks: then it is ready to begin when all of them have landed. A task that was begun waits for nothing any
// more.

// MaxAfter is how many tasks another one may wait for.
const MaxAfter = 100

// NoSlot is the [Task.Slot] of a task that has none.
const NoSlot = -1

// slotOf returns the slot that an event gives to its task.
func slotOf(f *int) int {
	if f == nil {
		return NoSlot
	}
	return *f
}

// slotFact returns a slot as an event says it.
func slotFact(slot int, later bool) *int {
	if later || slot == NoSlot {
		return nil
	}
	return &slot
}

// FreeSlot returns the lowest slot that isn't among those in use.
func FreeSlot(used []int) int {
	free := 0
	for slices.Contains(used, free) {
		free++
	}
	return free
}

// FindTask finds a task by its name, in any case.
type FindTask func(id string) (t Task, ok bool, err error)

// CheckAfter returns the tasks that a task is to wait for, by their own names and each once. Of a new task,
// id may be the name of none. It fails with [CodeNotFound] for a task that doesn't exist, and with
// [CodeUsage] if the task would wait for itself, at once or through others: that it names as a path, a → b →
// a.
func CheckAfter(id string, after []string, find FindTask) ([]string, error) {
	var names []string
	for _, a := range after {
		if TaskKey(a) == TaskKey(id) {
			return nil, errCycle([]string{id, id})
		}

		t, ok, err := find(a)
		if err != nil {
			return nil, err
		}

		if !ok {
			return nil, Errorf(CodeNotFound, "there is no task %q to wait for", Clip(a, 80)).With("field", "after").
				With("task_id", Clip(a, 80)).
				Hintf("to list the tasks: %s", Cmd("tt task list"))
		}

		if !slices.Contains(names, t.ID) {
			names = append(names, t.ID)
		}
	}

	// The bound is on the tasks, and each counts once.
	if len(names) > MaxAfter {
		return nil, Errorf(CodeUsage, "a task may wait for at most %d others, and these are %d",
			MaxAfter, len(names)).With("field", "after")
	}

	// None of them may wait for the task itself, however long the way.
	seen := map[string]bool{}
	for _, name := range names {
		path, err := wayTo(id, name, find, seen)
		if err != nil {
			return nil, err
		}
		if path != nil {
			return nil, errCycle(append([]string{id}, path...))
		}
	}

	return names, nil
}

// wayTo returns the path from a task that waits to the task id, nil if there is none. Tasks that were begun
// wait for nothing. seen has the tasks from which there is no path.
func wayTo(id, from string, find FindTask, seen map[string]bool) ([]string, error) {
	if seen[TaskKey(from)] {
		return nil, nil
	}

	seen[TaskKey(from)] = true
	t, ok, err := find(from)
	if err != nil || !ok || !t.Later {
		return nil, err
	}

	for _, next := range t.After {
		if TaskKey(next) == TaskKey(id) {
			return []string{t.ID, next}, nil
		}

		if path, err := wayTo(id, next, find, seen); path != nil || err != nil {
			return append([]string{t.ID}, path...), err
		}
	}

	return nil, nil
}

func errCycle(path []string) error {
	return Errorf(CodeUsage, "a task can't wait for itself: %s", Words(strings.Join(path, " → "))).
		With("field", "after").With("cycle", path).
		Hintf("leave out one of them; to see what each waits for: %s", Cmd("tt task list"))
}

// WaitsFor lists the tasks that have to land before a task that is for later can begin.
func (t Task) WaitsFor(find FindTask) (waits []Task, err error) {
	if !t.Later || t.State != TaskAssigned {
		return nil, nil
	}

	for _, id := range t.After {
		d, ok, err := find(id)
		if err != nil {
			return nil, err
		}

		// A task that the store doesn't have can't have landed.
		if !ok {
			d = Task{ID: id}
		}
		if d.State != TaskCompleted {
			waits = append(waits, d)
		}
	}

	return waits, nil
}

// Begin gives a task that is for later its branch, which begins at a commit, and its worktree. waits is what
// [Task.WaitsFor] lists. Begin fails with [CodeInvalidTransition].
func (t Task) Begin(by AgentID, base string, in Checkout, slot int, waits []Task) (Event, error) {
	s, err := t.findStep(ActBegin)
	switch {
	case err != nil:
		return Event{}, err
	case !t.Later:
		return Event{}, t.withTaskFacts(Errorf(CodeInvalidTransition,
			"%s was begun already", t.ID)).Hintf("%s", t.NextStep())
	case len(waits) > 0:
		return Event{}, t.withTaskFacts(Errorf(CodeInvalidTransition, "%s", t.SayWaits(waits))).
			With("waits_for", taskNames(waits)).Hintf("%s", t.WaitStep(waits))
	}
	return taskEvent(t, s, by, "", TaskBegunFacts{Base: base, In: in, Slot: slotFact(slot, false)}), nil
}

// SayWaits says what a task waits for.
func (t Task) SayWaits(waits []Task) Words {
	var parts []Words
	for _, d := range waits {
		parts = append(parts, Wordsf("%s, which is %s", d.ID, d.State.Word(d.Cause)))
	}

	if n := len(parts) - 3; n > 0 {
		parts = append(parts[:3], Count(n, "other task"))
	}

	return Wordsf("%s waits for %s", t.ID, JoinWords(parts, "; "))
}

func taskNames(tasks []Task) []string {
	var names []string
	for _, t := range tasks {
		names = append(names, t.ID)
	}
	return names
}

// Failed returns the first of the tasks that has failed or was cancelled: it lands only after another
// attempt.
func Failed(waits []Task) (t Task, ok bool) {
	i := slices.IndexFunc(waits, func(d Task) bool { return d.State == TaskFailed })
	if i < 0 {
		return Task{}, false
	}
	return waits[i], true
}

// WaitStep returns the hint what to do about a task that waits.
func (t Task) WaitStep(waits []Task) Hint {
	if d, ok := Failed(waits); ok {
		return Hintf("to begin %s again: %s; to wait no longer for any task: %s", d.ID, Cmd("tt task retry <task_id>",
			d.ID), Cmd("tt task after <task_id> --none", t.ID))
	}
	return Hintf("it is ready when they have landed; to see how far they are: %s", Cmd("tt task list"))
}

// SetAfter lets a task wait for other tasks than before; after is what [CheckAfter] returned. If it does
// already, the event is nil. SetAfter fails with [CodeInvalidTransition] if the task isn't for later.
func (t Task) SetAfter(by AgentID, after []string) (*Event, error) {
	s, err := t.findStep(ActAfter)
	switch {
	case err != nil:
		return nil, err
	case !t.Later:
		return nil, t.withTaskFacts(Errorf(CodeInvalidTransition, "somebody has begun %s; it waits for no task", t.ID)).
			Hintf("%s", t.NextStep())
	case slices.Equal(t.After, after):
		return nil, nil
	}
	e := taskEvent(t, s, by, "", TaskAfterFacts{After: after})
	return &e, nil
}

// afterTasks names the tasks that another one waits for, at the end of a sentence.
func afterTasks(after []string) Words {
	if len(after) == 0 {
		return ""
	}
	return " after " + Names(after, len(after))
}
