package store

import "talkingstick/stick"

// runColumns are the columns of the two tables of runs.
const runColumns = `task_key, attempt, run, command, machine, boot, pid_ns, pid, start_time,
	started_at, ended_at, exit, output, started_by, exit_signal, stop_at, stopped_by, restarts, task_at, queued`

// PutRun stores a run, or its new state. The run of the same attempt that it follows moves to those of the
// past, which nobody changes any more.
func (tx *Tx) PutRun(room stick.RoomID, r stick.Run) error {
	err := tx.execIn(room, `INSERT INTO past_runs (room_id, `+runColumns+`)
		SELECT room_id, `+runColumns+` FROM task_runs
		WHERE room_id = ? AND task_key = ? AND attempt = ? AND run < ?`, room, r.Task, r.Attempt, r.Number)
	if err != nil {
		return err
	}

	// An attempt has one row here: that of its last run.
	p := r.Process
	return tx.execIn(room, `INSERT INTO task_runs (room_id, `+runColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (room_id, task_key, attempt) DO UPDATE
		SET run = excluded.run, command = excluded.command, machine = excluded.machine, boot = excluded.boot,
		pid_ns = excluded.pid_ns, pid = excluded.pid, start_time = excluded.start_time,
		started_at = excluded.started_at, ended_at = excluded.ended_at, exit = excluded.exit,
		output = excluded.output, started_by = excluded.started_by, exit_signal = excluded.exit_signal,
		stop_at = excluded.stop_at, stopped_by = excluded.stopped_by, restarts = excluded.restarts,
		task_at = excluded.task_at, queued = excluded.queued`,
		room, r.Task, r.Attempt, r.Number, r.Command, p.Machine, p.Boot, p.PIDNS, p.PID, p.Start,
		r.StartedAt, r.EndedAt, r.Exit, r.Output,
		r.By, r.Signal, r.StopAt, r.StoppedBy, r.Restarts, r.TaskAt, r.Queued)
}

// LastRuns lists the last run of each attempt at the tasks of a room.
func (tx *Tx) LastRuns(room stick.RoomID) ([]stick.Run, error) {
	return tx.scanRuns("SELECT "+runColumns+" FROM task_runs WHERE room_id = ? ORDER BY task_key, attempt", room)
}

// RunsWithWorkers lists the last run of the attempt at each task that is with its worker, in the order of the
// tasks' names.
func (tx *Tx) RunsWithWorkers(room stick.RoomID) ([]stick.Run, error) {
	return tx.scanRuns(`SELECT `+runColumns+` FROM task_runs AS r WHERE room_id = ? AND EXISTS (
		SELECT 1 FROM tasks WHERE tasks.room_id = r.room_id AND tasks.task_key = r.task_key
		AND tasks.attempt = r.attempt AND tasks.state IN ('ASSIGNED', 'WORKING', 'CONFLICTED')
		) ORDER BY task_key`, room)
}

// Runs lists all runs of a task, the oldest first.
func (tx *Tx) Runs(room stick.RoomID, id string) ([]stick.Run, error) {
	return tx.scanRuns(`SELECT `+runColumns+` FROM task_runs WHERE room_id = ? AND task_key = ?
		UNION ALL SELECT `+runColumns+` FROM past_runs WHERE room_id = ? AND task_key = ? ORDER BY attempt, run`,
		room, stick.TaskKey(id), room, stick.TaskKey(id))
}

func (tx *Tx) scanRuns(query string, args ...any) (runs []stick.Run, err error) {
	err = tx.scan(query, args, func(scan rowScan) error {
		var r stick.Run
		p := &r.Process
		err := scan(&r.Task, &r.Attempt, &r.Number, &r.Command, &p.Machine, &p.Boot, &p.PIDNS, &p.PID, &p.Start,
			&r.StartedAt, &r.EndedAt, &r.Exit, &r.Output,
			&r.By, &r.Signal, &r.StopAt, &r.StoppedBy, &r.Restarts, &r.TaskAt, &r.Queued)
		runs = append(runs, r)

		return err
	})

	return runs, err
}
