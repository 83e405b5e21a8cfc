package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/tasks"
)

// WorkerEditParams asks to change what a task is about. What is absent stays as it is.
type WorkerEditParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID      string    `json:"task_id"`
	Description *string   `json:"description,omitempty"`
	Spec        *string   `json:"spec,omitempty"`
	Labels      *[]string `json:"labels,omitempty"`   // all that it is to have; empty for none
	Priority    *string   `json:"priority,omitempty"` // high, normal or low
}

// WorkerEditResult is a task whose description, spec, labels or priority were changed.
type WorkerEditResult struct {
	RoomID   stick.RoomID      `json:"room_id"`
	AgentID  stick.AgentID     `json:"agent_id"`
	Task     TaskView          `json:"task"`
	Spec     string            `json:"spec,omitempty"`
	Already  bool              `json:"already,omitempty"`  // it was like that
	Delivery presence.Delivery `json:"delivery,omitempty"` // how the message reaches its worker
	Note     stick.Words       `json:"note,omitempty"`     // that its worker can't be reached
}

// WorkerEdit changes what a task is about, until it is approved. Its worker gets a message. It fails with
// [stick.CodeUsage], [stick.CodeMessageTooLarge], [stick.CodeNotFound], [stick.CodeNotYourTask] and
// [stick.CodeInvalidTransition].
func (ts *Tasks) WorkerEdit(ctx context.Context, p WorkerEditParams) (WorkerEditResult, error) {
	var res WorkerEditResult
	q := tasks.Edit{Description: p.Description, Spec: p.Spec, Labels: p.Labels}
	if p.Priority != nil {
		priority, err := tasks.ParsePriority(*p.Priority)
		if err != nil {
			return res, err
		}
		q.Priority = &priority
	}

	rp, unlock, err := ts.openLocked(ctx, p.Where, p.Caller, p.TaskID)
	if err != nil {
		return res, err
	}
	defer unlock()

	// The message to the worker needs to know how it is reached, which is probed outside of the transaction.
	var task stick.Task
	in := ts.core.Inboxes()
	edit := func(o *repository.Op) error {
		if err := o.RequireMemberOrPerson(); err != nil {
			return err
		}
		if task, err = repository.TaskOf(o.Tx, o.Room.ID, p.TaskID); err != nil {
			return err
		}

		ev, err := tasks.EditTask(task, tasks.Call{By: o.Me.Agent, Person: o.Me.Person()}, q)
		if err != nil {
			return err
		}

		res = WorkerEditResult{RoomID: o.Room.ID, AgentID: o.Me.Agent, Already: ev == nil}
		if ev != nil {
			o.AddTaskEvent(*ev)
			if task, err = task.Apply(*ev); err != nil {
				return err
			}
			if !task.Over() {
				res.Delivery, res.Note, err = tellWorker(o, in, task, "Changed", editText(task.ID, ev.Say()))
			}
			if err != nil {
				return err
			}
		}

		res.Spec = task.Spec
		res.Task, err = viewTask(o.Tx, task, o.Room, o.Probes, o.Me, taskFinder(o.Tx, o.Room.ID))
		return err
	}

	if err = in.RetryUnseen(ctx, func() error { return rp.Write(ctx, core.MustBeMember, edit) }); err != nil {
		return res, err
	}
	if res.Already {
		return res, nil
	}
	return res, rp.RefreshTaskFile(task)
}

// editText is the message to the worker of a task that was changed.
func editText(id string, change stick.Words) string {
	return string(change) + ". To read it as it is now: " + stick.Cmd("tt task prompt <task_id>", id).String()
}
