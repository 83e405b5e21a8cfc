package tasks

import (
	"slices"
	"strings"

	"talkingstick/stick"
)

// A task may be for later: it has no branch and no worktree until somebody begins it. It may wait for other
// tasks: then it is ready to begin when all of them have landed. A task that was begun waits for nothing any
// more.

// MaxAfter is how many tasks another one may wait for.
const MaxAfter = 100

// slotFact returns a slot as an event says it.
func slotFact(slot int, later bool) *int {
	if later || slot == stick.NoSlot {
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

// Find finds a task by its name, in any case.
type Find func(id string) (t stick.Task, ok bool, err error)

// CheckAfter returns the tasks that a task is to wait for, by their own names and each once. Of a new task,
// id may be the name of none. It fails with [stick.CodeNotFound] for a task that doesn't exist, and with
// [stick.CodeUsage] if the task would wait for itself, at once or through others: that it names as a path, a → b →
// a.
func CheckAfter(id string, after []string, find Find) ([]string, error) {
	var names []string
	for _, a := range after {
		if stick.TaskKey(a) == stick.TaskKey(id) {
			return nil, errCycle([]string{id, id})
		}

		t, ok, err := find(a)
		if err != nil {
			return nil, err
		}

		if !ok {
			return nil, stick.Errorf(stick.CodeNotFound, "there is no task %q to wait for",
				stick.Clip(a, 80)).With("field", "after").
				With("task_id", stick.Clip(a, 80)).
				Hintf("to list the tasks: %s", stick.Cmd("tt task list"))
		}

		if !slices.Contains(names, t.ID) {
			names = append(names, t.ID)
		}
	}

	// The bound is on the tasks, and each counts once.
	if len(names) > MaxAfter {
		return nil, stick.Errorf(stick.CodeUsage, "a task may wait for at most %d others, not for %d",
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
func wayTo(id, from string, find Find, seen map[string]bool) ([]string, error) {
	if seen[stick.TaskKey(from)] {
		return nil, nil
	}

	seen[stick.TaskKey(from)] = true
	t, ok, err := find(from)
	if err != nil || !ok || !t.Later {
		return nil, err
	}

	for _, next := range t.After {
		if stick.TaskKey(next) == stick.TaskKey(id) {
			return []string{t.ID, next}, nil
		}

		if path, err := wayTo(id, next, find, seen); path != nil || err != nil {
			return append([]string{t.ID}, path...), err
		}
	}

	return nil, nil
}

func errCycle(path []string) error {
	return stick.Errorf(stick.CodeUsage, "a task can't wait for itself: %s", stick.Words(strings.Join(path, " → "))).
		With("field", "after").With("cycle", path).
		Hintf("leave one of them out; to see what each waits for: %s", stick.Cmd("tt task list"))
}

// WaitsFor lists the tasks that have to land before a task that is for later can begin.
func WaitsFor(t stick.Task, find Find) (waits []stick.Task, err error) {
	if !t.Later || t.State != stick.TaskAssigned {
		return nil, nil
	}

	for _, id := range t.After {
		d, ok, err := find(id)
		if err != nil {
			return nil, err
		}

		// A task that the store doesn't have can't have landed.
		if !ok {
			d = stick.Task{ID: id}
		}
		if d.State != stick.TaskCompleted {
			waits = append(waits, d)
		}
	}

	return waits, nil
}

// Begin gives a task that is for later its branch, which begins at a commit, and its worktree. waits is what
// [WaitsFor] lists. Begin fails with [stick.CodeInvalidTransition].
func Begin(
	t stick.Task, by stick.AgentID, base string, in stick.Checkout, slot int, waits []stick.Task,
) (stick.Event, error) {
	s, err := findStep(t, stick.ActBegin)
	switch {
	case err != nil:
		return stick.Event{}, err
	case !t.Later:
		return stick.Event{}, withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
			"%s has already begun", t.ID)).Hintf("%s", t.NextStep())
	case len(waits) > 0:
		return stick.Event{}, withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition, "%s", SayWaits(t, waits))).
			With("waits_for", taskNames(waits)).Hintf("%s", WaitStep(t, waits))
	}
	return stick.TaskEvent(t, s, by, "", stick.TaskBegunFacts{Base: base, In: in, Slot: slotFact(slot, false)}), nil
}

// SayWaits says what a task waits for.
func SayWaits(t stick.Task, waits []stick.Task) stick.Words {
	var parts []stick.Words
	for _, d := range waits {
		parts = append(parts, stick.Wordsf("%s, which is %s", d.ID, d.State.Word(d.Cause)))
	}

	if n := len(parts) - 3; n > 0 {
		parts = append(parts[:3], stick.Count(n, "other task"))
	}

	return stick.Wordsf("%s waits for %s", t.ID, stick.JoinWords(parts, "; "))
}

func taskNames(tasks []stick.Task) []string {
	var names []string
	for _, t := range tasks {
		names = append(names, t.ID)
	}
	return names
}

// Failed returns the first of the tasks that has failed or was cancelled: it lands only after another
// attempt.
func Failed(waits []stick.Task) (t stick.Task, ok bool) {
	i := slices.IndexFunc(waits, func(d stick.Task) bool { return d.State == stick.TaskFailed })
	if i < 0 {
		return stick.Task{}, false
	}
	return waits[i], true
}

// WaitStep returns the hint what to do about a task that waits.
func WaitStep(t stick.Task, waits []stick.Task) stick.Hint {
	if d, ok := Failed(waits); ok {
		return stick.Hintf("to begin %s again: %s; to wait no longer for any task: %s", d.ID,
			stick.Cmd("tt task retry <task_id>",
				d.ID), stick.Cmd("tt task after <task_id> --none", t.ID))
	}
	return stick.Hintf("wait until they have landed; to see how far they are: %s", stick.Cmd("tt task list"))
}

// SetAfter lets a task wait for other tasks than before; after is what [CheckAfter] returned. If it does
// already, the event is nil. SetAfter fails with [stick.CodeInvalidTransition] if the task isn't for later.
func SetAfter(t stick.Task, by stick.AgentID, after []string) (*stick.Event, error) {
	s, err := findStep(t, stick.ActAfter)
	switch {
	case err != nil:
		return nil, err
	case !t.Later:
		return nil, withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
			"%s has already begun, so it no longer waits for other tasks", t.ID)).
			Hintf("%s", t.NextStep())
	case slices.Equal(t.After, after):
		return nil, nil
	}
	e := stick.TaskEvent(t, s, by, "", stick.TaskAfterFacts{After: after})
	return &e, nil
}
