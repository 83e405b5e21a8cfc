package stick

import "fmt"

// Apply is the task after an event of it. It is the only way in which a task changes. It fails when
// the event can't follow: its step isn't in the table.
func (t Task) Apply(e Event) (Task, error) {
	f := e.Facts().Task
	if f == nil {
		return t, fmt.Errorf("it lacks what it says of its task")
	}
	if err := t.follows(e.Type, *f); err != nil {
		return t, err
	}
	if f.State != t.State {
		t.StateAt = e.CreatedAt
	}
	t.State, t.Attempt, t.Seq = f.State, f.Attempt, e.Seq
	switch e.Type {
	case EventTaskAssigned:
		t.ID, t.SpawnedBy, t.CreatedAt = e.Task, e.From, e.CreatedAt
		t.Description, t.Spec, t.Branch, t.Worktree, t.Integration, t.Base = f.Description, f.Spec, f.Branch, f.Worktree, f.Integration, f.Base
	case EventTaskStarted:
		t.replace(e.From)
		t.HeartbeatAt = 0
	case EventTaskConflicted:
		t.unapprove()
		t.Base = f.Base
	case EventTaskReviewRequested:
		t.Base, t.Head, t.Patch, t.ChangesGate = f.Base, f.Head, f.Patch, f.ChangesGate
		t.Cause, t.Reason = "", ""
		if f.Kept {
			t.Approved = f.Head
		} else {
			t.unapprove()
		}
	case EventTaskApproved:
		t.Approved, t.ApprovedBy, t.ApprovedSeq = f.Head, e.From, e.Seq
	case EventTaskChangesRequested, EventTaskFailed:
		t.unapprove()
		t.Cause, t.Reason = f.Cause, e.Reason
	case EventTaskCompleted:
		t.Head, t.Result, t.Cause, t.Reason = f.Head, f.Result, "", ""
	case EventTaskRolledBack:
		t.unapprove()
		t.Cause, t.Reason, t.Result = f.Cause, e.Reason, f.Result
	case EventTaskRetried:
		t.replace("")
		t.Base, t.Head, t.Patch, t.Result, t.Cause, t.Reason, t.ChangesGate = f.Base, "", "", "", "", "", false
	}
	return t, nil
}

// follows tells whether the table has a step of this kind.
func (t Task) follows(typ EventType, f TaskFacts) error {
	attempt := t.Attempt
	if typ == EventTaskAssigned || typ == EventTaskRetried {
		attempt++
	}
	for _, s := range TaskSteps {
		to := s.To
		if to == "" {
			to = t.State
		}
		for _, from := range s.From {
			if s.Event == typ && from == t.State && to == f.State && f.Attempt == attempt {
				return nil
			}
		}
	}
	return fmt.Errorf("a task that is %q in attempt %d doesn't become %q in attempt %d by it", t.State, t.Attempt, f.State, f.Attempt)
}

// replace binds the task to another worker, and remembers the one before.
func (t *Task) replace(by AgentID) {
	if t.Worker != "" && t.Worker != by {
		earlier := make([]AgentID, 0, len(t.Earlier)+1)
		for _, a := range t.Earlier {
			if a != t.Worker {
				earlier = append(earlier, a)
			}
		}
		t.Earlier = append(earlier, t.Worker)
	}
	t.Worker = by
}

func (t *Task) unapprove() { t.Approved, t.ApprovedBy, t.ApprovedSeq = "", "", 0 }

// TaskAttempt is one attempt at a task.
type TaskAttempt struct {
	Number     int       `json:"attempt"`
	Worker     AgentID   `json:"worker,omitempty"`
	AssignedAt Time      `json:"assigned_at"`
	StartedAt  Time      `json:"started_at"`
	EndedAt    Time      `json:"ended_at"`
	Outcome    TaskState `json:"outcome,omitempty"`
}

// Apply is the attempt after an event of its task.
func (was TaskAttempt) Apply(e Event) TaskAttempt {
	f := e.Facts().Task
	if f == nil {
		return was
	}
	was.Number = f.Attempt
	switch e.Type {
	case EventTaskAssigned, EventTaskRetried:
		was.AssignedAt = e.CreatedAt
	case EventTaskStarted:
		was.Worker = e.From
		if was.StartedAt.IsZero() {
			was.StartedAt = e.CreatedAt
		}
	case EventTaskCompleted, EventTaskFailed, EventTaskRolledBack:
		was.EndedAt, was.Outcome = e.CreatedAt, f.State
	}
	return was
}

// TaskReview is a verdict on a commit of a task: a reviewer's, or that of the merge queue.
type TaskReview struct {
	Seq      int64     `json:"event_seq"`
	Attempt  int       `json:"attempt"`
	Reviewer AgentID   `json:"reviewer"`
	Verdict  EventType `json:"verdict"` // the type of its event
	Head     string    `json:"head"`
	Body     string    `json:"body,omitempty"`
	Report   string    `json:"report,omitempty"`
	At       Time      `json:"at"`
}

// ReviewOf is the verdict that an event tells, if it tells one.
func ReviewOf(e Event) (TaskReview, bool) {
	f := e.Facts().Task
	if f == nil || e.Type != EventTaskApproved && e.Type != EventTaskChangesRequested {
		return TaskReview{}, false
	}
	return TaskReview{
		Seq: e.Seq, Attempt: f.Attempt, Reviewer: e.From, Verdict: e.Type, Head: f.Head, Body: e.Reason, Report: f.Report, At: e.CreatedAt,
	}, true
}

// OfTask tells whether an event says something of a task.
func (t EventType) OfTask() bool {
	for _, s := range TaskSteps {
		if s.Event == t {
			return true
		}
	}
	return false
}
