package repository

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/scope"
	"talkingstick/stick/tasks"
)

// AddTaskEvent adds the event of a task to the events of the operation.
func (o *Op) AddTaskEvent(e stick.Event) { o.Apply(o.Room, []stick.Event{o.Room.About(e)}) }

// EndTask adds the event that ends a task, and releases the paths that were reserved for it.
func (o *Op) EndTask(e stick.Event) error {
	o.AddTaskEvent(e)

	// Nobody works on the task any more, so its paths are free.
	vs, _, err := o.Tx.Reservations(store.ReservationQuery{Room: o.Room.ID, Task: e.Task})
	if err != nil {
		return err
	}

	events, err := scope.Unreserve(o.Room, o.Me.Agent, true, vs)
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

// RequireMemberOrPerson refuses callers that are neither members nor people.
func (o *Op) RequireMemberOrPerson() error { return RequireMemberOrPerson(o.Room, o.Me) }

// RequireMemberOrPerson refuses a caller that is neither a member nor a person.
func RequireMemberOrPerson(r stick.Room, me core.Identity) error {
	// What a member has asked for goes on after it has left.
	if me.Caller.Behalf != "" {
		return nil
	}
	if m, ok := r.Member(me.Agent); ok && m.State == stick.Joined || me.Person() {
		return nil
	}
	return stick.Errorf(stick.CodeUnknownMember, "%s isn't a member of this room", me.Agent).
		With("agent_id", me.Agent).Hintf("join it: %s", stick.Cmd("tt join"))
}

// TaskCall returns the caller as the rules of tasks need it.
func (o *Op) TaskCall(attempt int) tasks.Call {
	return tasks.Call{By: o.Me.Agent, Person: o.Me.Person(), Attempt: attempt}
}

// RepeatsLast reports whether the caller repeats the last change of a task: the last event has this type and
// reason, and is the caller's.
func RepeatsLast(
	tx *store.Tx, room stick.RoomID, me core.Identity, task stick.Task, typ stick.EventType, reason string,
) (bool, error) {
	e, err := tx.Event(room, task.Seq)
	return err == nil && e != nil && e.Type == typ && e.From == me.Agent && e.Reason == reason, err
}

// TaskOf loads a task. It fails with [stick.CodeNotFound].
func TaskOf(tx *store.Tx, room stick.RoomID, id string) (stick.Task, error) {
	t, ok, err := tx.Task(room, id)
	if err == nil && !ok {
		err = stick.Errorf(stick.CodeNotFound, "there is no task %q here", stick.Clip(id, 80)).
			With("task_id", stick.Clip(id, 80)).
			Hintf("to list the tasks: %s", stick.Cmd("tt task list"))
	}
	return t, err
}

// Write is [core.Kernel.Write] for operations on tasks.
func (o *Opener) Write(
	ctx context.Context, w core.Where, by core.Caller, j core.Joining, rule, done func(*Op) error,
) error {
	return o.core.Write(ctx, w, by, j, wrapOp(rule), wrapOp(done))
}
