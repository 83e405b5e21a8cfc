package engine

import (
	"context"

	"talkingstick/stick"
)

// WorkerApproveParams approves one commit of a task.
type WorkerApproveParams struct {
	Caller Caller `json:"-"`
	Where
	TaskID   string `json:"task_id"`
	Head     string `json:"head,omitempty"` // empty for the commit that the caller saw last
	Reason   string `json:"reason,omitempty"`
	Override bool   `json:"override,omitempty"` // a person's: who did the work doesn't matter, nor what was seen
}

// WorkerVerdictResult is how a task stands after a verdict.
type WorkerVerdictResult struct {
	RoomID    stick.RoomID    `json:"room_id"`
	AgentID   stick.AgentID   `json:"agent_id"`
	TaskID    string          `json:"task_id"`
	State     stick.TaskState `json:"state"`
	Attempt   int             `json:"attempt"`
	Head      string          `json:"head"`
	Worker    stick.AgentID   `json:"worker,omitempty"`
	MessageID int64           `json:"message_id,omitempty"` // that told the worker
	Delivery  stick.Delivery  `json:"delivery,omitempty"`   // how it reaches the worker
	Note      string          `json:"note,omitempty"`
	Already   bool            `json:"already,omitempty"`
}

// WorkerApprove approves exactly one commit, and puts the task into the merge queue. It fails with
// [stick.CodeInvalidTransition], [stick.CodeAuthorCannotReview], [stick.CodeReviewStale],
// [stick.CodePersonOnly] and [stick.CodeLanding].
func (e *Engine) WorkerApprove(ctx context.Context, p WorkerApproveParams) (WorkerVerdictResult, error) {
	var res WorkerVerdictResult
	y, err := e.yard(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	head, branch, err := y.seen(ctx, p.TaskID, p.Head)
	if err != nil {
		return res, err
	}
	err = y.act(ctx, mustBeMember, func(t *turn) error {
		task, v, err := t.verdict(p.TaskID, head, branch)
		if err != nil {
			return err
		}
		if v.Override = p.Override; v.Override && v.Head == "" && v.Person {
			v.Head = branch
		}
		ev, err := task.Approve(v, p.Reason)
		if err != nil {
			return err
		}
		res = t.verdictOn(task)
		res.State, res.Already = stick.TaskApproved, ev == nil
		if ev != nil {
			t.say(*ev)
		}
		if task.ChangesGate {
			res.Note = "it changes the file that says how it is judged; the gate that judges it is that of the branch it is merged into"
		}
		return nil
	})
	return res, err
}

// WorkerRequestChangesParams gives a task back to its worker.
type WorkerRequestChangesParams struct {
	Caller Caller `json:"-"`
	Where
	TaskID string `json:"task_id"`
	Head   string `json:"head,omitempty"`
	Reason string `json:"reason"`
}

// WorkerRequestChanges gives a task back to its worker, who gets it as a message and is woken. It fails
// as [Engine.WorkerApprove] does, and with [stick.CodeUsage].
func (e *Engine) WorkerRequestChanges(ctx context.Context, p WorkerRequestChangesParams) (WorkerVerdictResult, error) {
	var res WorkerVerdictResult
	y, err := e.yard(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	head, branch, err := y.seen(ctx, p.TaskID, p.Head)
	if err != nil {
		return res, err
	}
	err = y.e.act(ctx, y.w, y.by, mustBeMember, func(t *turn) error {
		t.settle()
		task, v, err := t.verdict(p.TaskID, head, branch)
		if err != nil {
			return err
		}
		if yes, err := again(t.tx, t.room.ID, t.me, task, stick.EventTaskChangesRequested, p.Reason); err != nil || yes {
			res = t.verdictOn(task)
			res.Already = true
			return err
		}
		ev, err := task.RequestChanges(v, p.Reason)
		if err != nil {
			return err
		}
		t.say(ev)
		res = t.verdictOn(task)
		res.State = stick.TaskWorking
		res.Delivery, res.Note = t.tellWorker(task, "Changes requested", p.Reason)
		return nil
	}, func(t *turn) error {
		if sent := t.last(stick.EventMessageSent); sent != nil && sent.Task == res.TaskID {
			res.MessageID = sent.Seq
		}
		return nil
	})
	return res, err
}

// seen finds the commit that a verdict names, and where the branch of the task is.
func (y *yard) seen(ctx context.Context, id, head string) (seen, branch string, err error) {
	task, err := y.task(ctx, id)
	if err != nil {
		return "", "", err
	}
	if head != "" {
		commit, ok, err := y.git.Commit(ctx, y.root, head)
		if err != nil {
			return "", "", err
		}
		if !ok {
			return "", "", stick.Errorf(stick.CodeNotFound, "there is no commit %q", stick.Clip(head, 60)).With("head", stick.Clip(head, 60)).
				Hintf("tt worker show %s tells the commit that waits for review", task.ID)
		}
		seen = commit
	}
	branch, _, err = y.git.Commit(ctx, y.root, "refs/heads/"+task.Branch)
	return seen, branch, err
}

// verdict prepares the verdict of the caller on a task.
func (t *turn) verdict(id, head, branch string) (task stick.Task, v stick.TaskVerdict, err error) {
	if err := t.takesPart(); err != nil {
		return task, v, err
	}
	if task, err = taskOf(t.tx, t.room.ID, id); err != nil {
		return task, v, err
	}
	if err := t.notLanding(task.ID); err != nil {
		return task, v, err
	}
	if head == "" {
		if head, err = t.tx.Seen(t.room.ID, task.ID, t.me.Agent); err != nil {
			return task, v, err
		}
	}
	return task, stick.TaskVerdict{TaskCall: t.call(0), Head: head, Branch: branch}, nil
}

func (t *turn) verdictOn(task stick.Task) WorkerVerdictResult {
	return WorkerVerdictResult{
		RoomID: t.room.ID, AgentID: t.me.Agent, TaskID: task.ID, State: task.State, Attempt: task.Attempt, Head: task.Head, Worker: task.Worker,
	}
}

// tellWorker sends the worker of a task a message, where it can be reached at all.
func (t *turn) tellWorker(task stick.Task, subject, body string) (stick.Delivery, string) {
	if task.Worker == "" || task.Worker == t.me.Agent {
		return "", ""
	}
	q := stick.Sending{By: t.me.Agent, Task: task.ID, Message: stick.Message{
		To: []stick.AgentID{task.Worker}, Category: stick.Info, Subject: subject + ": " + task.ID, Body: body, Thread: "bead:" + task.ID,
	}}
	r, events, err := t.room.Send(q, t.s.Sight, t.tx.Now())
	if err != nil { // it left or is gone: the task waits for whoever takes it on
		return stick.DeliveryNeedsPerson, string(task.Worker) + " isn't there to be told; another agent can take it on: tt worker start --task " + task.ID
	}
	t.add(r, events)
	return t.room.Reaches(task.Worker, t.s.Sight, t.tx.Now()), ""
}
