package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// addTaskEvent adds the event of a task to the events of the operation.
func (o *Op) addTaskEvent(e stick.Event) { o.Apply(o.Room, []stick.Event{o.Room.About(e)}) }

// endTask adds the event that ends a task, and releases the paths that were reserved for it.
func (o *Op) endTask(e stick.Event) error {
	o.addTaskEvent(e)

	// Nobody works on the task any more, so its paths are free.
	vs, _, err := o.Tx.Reservations(store.ReservationQuery{Room: o.Room.ID, Task: e.Task})
	if err != nil {
		return err
	}

	events, err := o.Room.Unreserve(o.Me.Agent, true, vs)
	o.Apply(o.Room, events)
	return err
}

// Op is one run of an operation on tasks inside its transaction.
type Op struct{ *core.Op }

// wrapOp adapts a function of this package to package core.
func wrapOp(fn func(*Op) error) func(*core.Op) error {
	if fn == nil {
		return nil
	}
	return func(o *core.Op) error { return fn(&Op{o}) }
}

// requireMemberOrPerson refuses callers that are neither members nor people.
func (o *Op) requireMemberOrPerson() error { return requireMemberOrPerson(o.Room, o.Me) }

// requireMemberOrPerson refuses a caller that is neither a member nor a person.
func requireMemberOrPerson(r stick.Room, me core.Identity) error {
	if m, ok := r.Member(me.Agent); ok && m.State == stick.Joined || me.Person() {
		return nil
	}
	return stick.Errorf(stick.CodeUnknownMember, "%s isn't a member of this room", me.Agent).
		With("agent_id", me.Agent).Hintf("join it: %s", stick.Cmd("tt join"))
}

// taskCall returns the caller as the rules of tasks need it.
func (o *Op) taskCall(attempt int) stick.TaskCall {
	return stick.TaskCall{By: o.Me.Agent, Person: o.Me.Person(), Attempt: attempt}
}

// sameAsLast reports whether the caller repeats the last change of a task: the last event has this type and
// reason, and is the caller's.
func sameAsLast(
	tx *store.Tx, room stick.RoomID, me core.Identity, task stick.Task, typ stick.EventType, reason string,
) (bool, error) {
	e, err := tx.Event(room, task.Seq)
	return err == nil && e != nil && e.Type == typ && e.From == me.Agent && e.Reason == reason, err
}

// taskOf loads a task. It fails with [stick.CodeNotFound].
func taskOf(tx *store.Tx, room stick.RoomID, id string) (stick.Task, error) {
	t, ok, err := tx.Task(room, id)
	if err == nil && !ok {
		err = stick.Errorf(stick.CodeNotFound, "there is no task %q here", stick.Clip(id, 80)).
			With("task_id", stick.Clip(id, 80)).
			Hintf("to list the tasks: %s", stick.Cmd("tt task list"))
	}
	return t, err
}

// write is [core.Kernel.Write] for operations on tasks.
func (o *Opener) write(
	ctx context.Context, w core.Where, by core.Caller, j core.Joining, rule, done func(*Op) error,
) error {
	return o.core.Write(ctx, w, by, j, wrapOp(rule), wrapOp(done))
}
