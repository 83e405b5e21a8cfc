package store

import (
	"encoding/json"
	"fmt"

	"talkingstick/stick"
)

// putTask stores what an event changes about its task: the task, its attempt, a decision.
func (tx *Tx) putTask(e stick.Event) error {
	if !e.Type.OfTask() {
		return nil
	}

	// The row is derived: it is what the event makes of the row before it.
	was, _, err := tx.Task(e.Room, e.Task)
	if err != nil {
		return err
	}

	t, err := was.Apply(e)
	if err != nil {
		return err
	}

	// One task that it waits for is enough to know that it can't begin.
	waits, err := tx.waitsFor(e.Room, t)
	if err != nil {
		return err
	}

	args, err := taskTable().insertArgs(&t, e.Room, stick.TaskKey(t.ID), waits)
	if err != nil {
		return err
	}
	if err := tx.exec(taskTable().upsert, args...); err != nil {
		return err
	}

	// Those that wait for it are asked again whether they are ready.
	if t.State == stick.TaskCompleted && was.State != t.State {
		if err := tx.clearWaitersOf(e.Room, t.ID); err != nil {
			return err
		}
	}
	if err := tx.putAttempt(e, t); err != nil {
		return err
	}

	if r, ok := stick.ReviewOf(e); ok {
		args, err := reviewTable().insertArgs(&r, e.Room, stick.TaskKey(t.ID))
		if err != nil {
			return err
		}
		return tx.exec(reviewTable().insert, args...)
	}

	return nil
}

func (tx *Tx) putAttempt(e stick.Event, t stick.Task) error {
	var was stick.TaskAttempt

	// An event of a new attempt finds no row, and makes one.
	attempts, err := tx.Attempts(e.Room, t.ID)
	if err != nil {
		return err
	}

	for _, a := range attempts {
		if a.Number == t.Attempt {
			was = a
		}
	}

	a := was.Apply(e)
	if a == was {
		return nil
	}

	args, err := attemptTable().insertArgs(&a, e.Room, stick.TaskKey(t.ID))
	if err != nil {
		return err
	}
	return tx.exec(attemptTable().upsert, args...)
}

// Task loads a task by its name, in any case; ok is false when there is none, and t is then fit for
// [tasks.Spawn].
func (tx *Tx) Task(room stick.RoomID, id string) (t stick.Task, ok bool, err error) {
	tasks, err := tx.scanTasks("WHERE room_id = ? AND task_key = ? ORDER BY task_key", room, stick.TaskKey(id))
	if err != nil || len(tasks) == 0 {
		return t, false, err
	}
	return tasks[0], true, nil
}

// Tasks lists the tasks of a room in the order in which they were made.
func (tx *Tx) Tasks(room stick.RoomID) ([]stick.Task, error) {
	return tx.scanTasks("WHERE room_id = ? ORDER BY created_at, task_key", room)
}

// Queue lists the approved tasks of a room in the order of [tasks.CompareQueued].
func (tx *Tx) Queue(room stick.RoomID) ([]stick.Task, error) {
	return tx.scanTasks("WHERE room_id = ? AND state = 'APPROVED' ORDER BY priority DESC, approved_seq", room)
}

// MergesByItself reports whether tt merges an approved task by itself: the event of its approval says so.
func (tx *Tx) MergesByItself(room stick.RoomID, t stick.Task) (bool, error) {
	if t.State != stick.TaskApproved {
		return false, nil
	}

	e, err := tx.Event(room, t.ApprovedSeq)
	if err != nil || e == nil {
		return false, err
	}
	return stick.MergesByItself(*e), nil
}

// OpenTasks lists the tasks of a room on which somebody works or which wait for a decision, in the order in
// which they were made.
func (tx *Tx) OpenTasks(room stick.RoomID) ([]stick.Task, error) {
	return tx.scanTasks(`WHERE room_id = ? AND state IN ('WORKING', 'CONFLICTED', 'IN_REVIEW', 'APPROVED')
		ORDER BY created_at, task_key`,
		room)
}

// OpenTasksOf lists those of [Tx.OpenTasks] that one of the agents is the worker of, the newest first.
func (tx *Tx) OpenTasksOf(room stick.RoomID, workers []stick.AgentID) ([]stick.Task, error) {
	marks, args := placeholders(workers)
	return tx.scanTasks("WHERE worker IN ("+marks+`) AND room_id = ? AND worker <> ''
		AND state IN ('WORKING', 'CONFLICTED', 'IN_REVIEW', 'APPROVED') ORDER BY state_at DESC, task_key`,
		append(args, room)...)
}

// TasksOf lists the tasks of a room that an agent is the worker of.
func (tx *Tx) TasksOf(room stick.RoomID, a stick.AgentID) ([]stick.Task, error) {
	return tx.scanTasks("WHERE worker = ? AND room_id = ? AND worker <> '' ORDER BY created_at, task_key", a, room)
}

func (tx *Tx) scanTasks(where string, args ...any) (tasks []stick.Task, err error) {
	err = tx.scan("SELECT "+taskTable().names+" FROM tasks "+where, args, func(scan rowScan) error {
		var t stick.Task
		err := taskTable().read(scan, &t)
		tasks = append(tasks, t)
		return err
	})

	return tasks, err
}

// Attempts lists the attempts at a task.
func (tx *Tx) Attempts(room stick.RoomID, id string) (attempts []stick.TaskAttempt, err error) {
	query := "SELECT " + attemptTable().names +
		" FROM task_attempts WHERE room_id = ? AND task_key = ? ORDER BY attempt"
	err = tx.scan(query, []any{room, stick.TaskKey(id)}, func(scan rowScan) error {
		var a stick.TaskAttempt
		err := attemptTable().read(scan, &a)
		attempts = append(attempts, a)
		return err
	})

	return attempts, err
}

// Reviews lists the decisions on a task.
func (tx *Tx) Reviews(room stick.RoomID, id string) (reviews []stick.TaskReview, err error) {
	query := "SELECT " + reviewTable().names + " FROM reviews WHERE room_id = ? AND task_key = ? ORDER BY event_seq"
	err = tx.scan(query, []any{room, stick.TaskKey(id)}, func(scan rowScan) error {
		var r stick.TaskReview
		err := reviewTable().read(scan, &r)
		reviews = append(reviews, r)
		return err
	})

	return reviews, err
}

// Heartbeat records that a task's worker has said that it works.
func (tx *Tx) Heartbeat(room stick.RoomID, id string) error {
	return tx.execIn(room, "UPDATE tasks SET heartbeat_at = ? WHERE room_id = ? AND task_key = ?",
		tx.Now(), room, stick.TaskKey(id))
}

// RecordSeenHead records which commit of a task an agent has seen.
func (tx *Tx) RecordSeenHead(room stick.RoomID, id string, a stick.AgentID, head string) error {
	return tx.execIn(room, `INSERT INTO task_views (room_id, task_key, agent_id, head, seen_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (room_id, task_key, agent_id) DO UPDATE SET head = excluded.head, seen_at = excluded.seen_at`,
		room, stick.TaskKey(id), a, head, tx.Now())
}

// SeenHead returns the commit of a task that an agent saw last, empty for none.
func (tx *Tx) SeenHead(room stick.RoomID, id string, a stick.AgentID) (head string, err error) {
	_, err = tx.queryOne("SELECT head FROM task_views WHERE room_id = ? AND task_key = ? AND agent_id = ?",
		[]any{room, stick.TaskKey(id), a}, &head)
	return head, err
}

// Intent is something that is being done outside of the database.
type Intent struct {
	ID        string
	Room      stick.RoomID
	Task      string // its key, or what stands for the queue of a branch
	Attempt   int
	Kind      string
	Agent     stick.AgentID
	Data      json.RawMessage
	PID       int            // of the process that does it
	In        stick.Checkout // in which it is done; zero where the room has one
	StartedAt stick.Time
	RenewedAt stick.Time // when the process last said that it works
	EndedAt   stick.Time
	Outcome   string
}

// PutIntent stores an intent that begins now, or replaces the data of an open one. A task has at most one
// open intent.
func (tx *Tx) PutIntent(i Intent) error {
	i.StartedAt, i.RenewedAt, i.EndedAt, i.Outcome = tx.Now(), tx.Now(), 0, ""
	args, err := intentTable().insertArgs(&i)
	if err != nil {
		return err
	}
	return tx.execIn(i.Room, intentTable().upsert+" WHERE intents.ended_at = 0", args...)
}

// RenewIntent records that the process of an intent still works. open is false if the intent has ended.
func (tx *Tx) RenewIntent(id string) (open bool, err error) {
	var found string
	return tx.queryOne("UPDATE intents SET renewed_at = ? WHERE intent_id = ? AND ended_at = 0 RETURNING intent_id",
		[]any{tx.Now(), id}, &found)
}

// EndIntent records how an intent ended. It fails when it had ended before. Commands on other hosts may wait
// for it.
func (tx *Tx) EndIntent(id, outcome string) error {
	var room stick.RoomID

	// Zero means open, so no intent ends at time zero.
	ok, err := tx.queryOne(`UPDATE intents SET ended_at = ?, outcome = ?
		WHERE intent_id = ? AND ended_at = 0 RETURNING room_id`,
		[]any{max(tx.Now(), 1), outcome, id}, &room)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("intent %s was ended by another process", id)
	case tx.ManyHosts():
		tx.Ring(room)
	}
	return nil
}

// Intents lists the open intents of a room, or of one task.
func (tx *Tx) Intents(room stick.RoomID, id string) (open []Intent, err error) {
	where, args := "room_id = ? AND ended_at = 0", []any{room}
	if id != "" {
		where, args = where+" AND task_key = ?", append(args, stick.TaskKey(id))
	}

	query := "SELECT " + intentTable().names + " FROM intents WHERE " + where + " ORDER BY started_at, intent_id"
	err = tx.scan(query, args, func(scan rowScan) error {
		var i Intent
		err := intentTable().read(scan, &i)
		open = append(open, i)
		return err
	})

	return open, err
}

// IntentsOfKind lists all intents of one kind that a task has ever had.
func (tx *Tx) IntentsOfKind(room stick.RoomID, id, kind string) (all []Intent, err error) {
	err = tx.scan("SELECT "+intentTable().names+` FROM intents WHERE room_id = ? AND task_key = ? AND kind = ?
		ORDER BY started_at, intent_id`,
		[]any{room, stick.TaskKey(id), kind}, func(scan rowScan) error {
			var i Intent
			err := intentTable().read(scan, &i)
			all = append(all, i)
			return err
		})

	return all, err
}

// Intent loads an open intent.
func (tx *Tx) Intent(id string) (i Intent, ok bool, err error) {
	query := "SELECT " + intentTable().names + " FROM intents WHERE intent_id = ? AND ended_at = 0 ORDER BY intent_id"
	err = tx.scan(query, []any{id}, func(scan rowScan) error {
		ok = true
		return intentTable().read(scan, &i)
	})

	return i, ok, err
}
