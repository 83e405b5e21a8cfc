package store

import (
	"cmp"

	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// LaterTask is as much of a task that nobody has begun as says whether it is ready.
type LaterTask struct {
	ID      string
	Attempt int
	After   []string // the tasks that it waits for
	Labels  []string
}

// TasksMaybeReady lists the tasks of a room that nobody has begun, the most urgent first, then in the order in
// which they were made, without those of which the store knows what they wait for.
func (tx *Tx) TasksMaybeReady(room stick.RoomID) (later []LaterTask, err error) {
	err = tx.scan(`SELECT task_id, attempt, after_tasks, labels FROM tasks
		WHERE room_id = ? AND later = 1 AND state = 'ASSIGNED' AND waits_for = ''
		ORDER BY priority DESC, created_at, task_key`,
		[]any{room}, func(scan rowScan) error {
			var t LaterTask
			after, labels := jsonOrEmpty(&t.After), jsonOrEmpty(&t.Labels)
			err := scan(&t.ID, &t.Attempt, after.place(), labels.place())
			if err == nil {
				err = cmp.Or(after.decode(), labels.decode())
			}

			later = append(later, t)
			return err
		})

	return later, err
}

// waitsFor returns the key of a task that has to land before a task for later can begin; empty if there is
// none.
func (tx *Tx) waitsFor(room stick.RoomID, t stick.Task) (key string, err error) {
	waits, err := tasks.WaitsFor(t, func(id string) (stick.Task, bool, error) { return tx.Task(room, id) })
	if err != nil || len(waits) == 0 {
		return "", err
	}
	return stick.TaskKey(waits[0].ID), nil
}

// clearWaitersOf notes that a task has landed. What else the others wait for is seen when somebody looks.
func (tx *Tx) clearWaitersOf(room stick.RoomID, id string) error {
	return tx.exec("UPDATE tasks SET waits_for = '' WHERE room_id = ? AND waits_for = ? AND waits_for <> ''",
		room, stick.TaskKey(id))
}

// Slots lists the slots of the tasks of a checkout that aren't over.
func (tx *Tx) Slots(room stick.RoomID, in stick.Checkout) (slots []int, err error) {
	err = tx.scan(`SELECT slot FROM tasks
		WHERE room_id = ? AND slot >= 0 AND state <> 'COMPLETED' AND state <> 'FAILED' AND host_id = ?
		AND checkout = ? ORDER BY slot`,
		[]any{room, in.Host, in.Path}, func(scan rowScan) error {
			var slot int
			err := scan(&slot)
			slots = append(slots, slot)
			return err
		})

	return slots, err
}

// TaskSetup is how the project's set-up of an attempt's worktree went.
type TaskSetup struct {
	Task      string // its key
	Attempt   int
	Command   string
	StartedAt stick.Time
	EndedAt   stick.Time // zero until its end is known
	Exit      int        // -1 if it took too long
	Output    string     // the blob
}

// PutSetup stores the set-up of an attempt's worktree, or its new state.
func (tx *Tx) PutSetup(room stick.RoomID, s TaskSetup) error {
	args, err := setupTable().insertArgs(&s, room)
	if err != nil {
		return err
	}
	return tx.execIn(room, setupTable().upsert, args...)
}

// Setups lists the set-ups of the worktrees of a room, or of one task.
func (tx *Tx) Setups(room stick.RoomID, id string) (setups []TaskSetup, err error) {
	where, args := "room_id = ?", []any{room}
	if id != "" {
		where, args = where+" AND task_key = ?", append(args, stick.TaskKey(id))
	}

	query := "SELECT " + setupTable().names + " FROM task_setups WHERE " + where + " ORDER BY task_key, attempt"
	err = tx.scan(query, args, func(scan rowScan) error {
		var s TaskSetup
		err := setupTable().read(scan, &s)
		setups = append(setups, s)
		return err
	})

	return setups, err
}
