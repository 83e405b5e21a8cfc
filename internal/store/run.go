package store

import (
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// PutRun stores a run, or its new state. The run of the same attempt that it follows moves to those of the
// past, which nobody changes any more.
func (tx *Tx) PutRun(room stick.RoomID, r tasks.Run) error {
	columns := runTable().names
	err := tx.execIn(room, "INSERT INTO past_runs (room_id, "+columns+") SELECT room_id, "+columns+` FROM task_runs
		WHERE room_id = ? AND task_key = ? AND attempt = ? AND run < ?`, room, r.Task, r.Attempt, r.Number)
	if err != nil {
		return err
	}

	// An attempt has one row here: that of its last run.
	args, err := runTable().insertArgs(&r, room)
	if err != nil {
		return err
	}
	return tx.execIn(room, runTable().upsert, args...)
}

// LastRuns lists the last run of each attempt at the tasks of a room.
func (tx *Tx) LastRuns(room stick.RoomID) ([]tasks.Run, error) {
	return tx.scanRuns("SELECT "+runTable().names+" FROM task_runs WHERE room_id = ? ORDER BY task_key, attempt", room)
}

// RunsWithWorkers lists the last run of the attempt at each task that is with its worker, in the order of the
// tasks' names.
func (tx *Tx) RunsWithWorkers(room stick.RoomID) ([]tasks.Run, error) {
	return tx.scanRuns(`SELECT `+runTable().names+` FROM task_runs AS r WHERE room_id = ? AND EXISTS (
		SELECT 1 FROM tasks WHERE tasks.room_id = r.room_id AND tasks.task_key = r.task_key
		AND tasks.attempt = r.attempt AND tasks.state IN ('ASSIGNED', 'WORKING', 'CONFLICTED')
		) ORDER BY task_key`, room)
}

// Runs lists all runs of a task, the oldest first.
func (tx *Tx) Runs(room stick.RoomID, id string) ([]tasks.Run, error) {
	return tx.scanRuns(`SELECT `+runTable().names+` FROM task_runs WHERE room_id = ? AND task_key = ?
		UNION ALL SELECT `+runTable().names+` FROM past_runs WHERE room_id = ? AND task_key = ? ORDER BY attempt, run`,
		room, stick.TaskKey(id), room, stick.TaskKey(id))
}

func (tx *Tx) scanRuns(query string, args ...any) (runs []tasks.Run, err error) {
	err = tx.scan(query, args, func(scan rowScan) error {
		var r tasks.Run
		err := runTable().read(scan, &r)
		runs = append(runs, r)

		return err
	})

	return runs, err
}
