package stick

import (
	"errors"
	"fmt"
	"slices"
)

// Apply returns the task after one of its events. A task changes in no other way; the row of each event type
// says what its events change. Apply fails if [TaskSteps] has no such step.
func (t Task) Apply(e Event) (Task, error) {
	info, ok := e.Type.findRow()
	if !ok || !info.ofTask() {
		return t, errors.New("it is no event of a task")
	}
	return info.applyTo(t, e)
}

// applyStatus makes the changes that all events of a task make.
func (t Task) applyStatus(e Event, s TaskStatus) (Task, error) {
	if err := t.checkStep(e.Type, s); err != nil {
		return t, err
	}
	if s.State != t.State {
		t.StateAt = e.CreatedAt
	}

	t.State, t.Attempt, t.Seq = s.State, s.Attempt, e.Seq
	return t, nil
}

// checkStep checks that [TaskSteps] has a step by an event of this type to this status.
func (t Task) checkStep(typ EventType, to TaskStatus) error {
	// A new task and a retry begin the next attempt; all else belongs to the present one.
	attempt := t.Attempt
	if typ == EventTaskAssigned || typ == EventTaskRetried {
		attempt++
	}

	for _, s := range TaskSteps {
		if s.To == "" {
			s.To = t.State
		}
		if s.Event == typ && slices.Contains(s.From, t.State) && s.To == to.State && to.Attempt == attempt {
			return nil
		}
	}

	return fmt.Errorf("a task that is %q in attempt %d doesn't become %q in attempt %d by it",
		t.State, t.Attempt, to.State, to.Attempt)
}

// setWorker makes by the task's worker and adds the previous one to Earlier.
func (t *Task) setWorker(by AgentID) {
	if t.Worker != "" && t.Worker != by {
		// Each earlier worker is named once, at its latest place.
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

func (t *Task) clearApproval() { t.Approved, t.ApprovedBy, t.ApprovedSeq = "", "", 0 }

// TaskAttempt is one attempt at a task.
type TaskAttempt struct {
	Number     int       `json:"attempt"`
	Worker     AgentID   `json:"worker,omitempty"`
	AssignedAt Time      `json:"assigned_at"`
	StartedAt  Time      `json:"started_at"`
	EndedAt    Time      `json:"ended_at"`
	Outcome    TaskState `json:"outcome,omitempty"`
}

// Apply returns the attempt after an event of its task.
func (was TaskAttempt) Apply(e Event) TaskAttempt {
	s, ok := e.TaskStatus()
	if !ok {
		return was
	}
	return was.applyStatus(e, s)
}

func (was TaskAttempt) applyStatus(e Event, s TaskStatus) TaskAttempt {
	was.Number = s.Attempt
	switch s.State {
	case TaskAssigned:
		if was.AssignedAt.IsZero() { // else the attempt was for later, and begins now, or waits for other tasks
			was.AssignedAt = e.CreatedAt
		}
	case TaskCompleted, TaskFailed:
		was.EndedAt, was.Outcome = e.CreatedAt, s.State
	}
	if e.Type == EventTaskStarted {
		was.Worker = e.From
		if was.StartedAt.IsZero() {
			was.StartedAt = e.CreatedAt
		}
	}

	return was
}

// TaskReview is a decision on a commit of a task, by a reviewer or by the merge queue.
type TaskReview struct {
	Seq      int64     `json:"event_seq"`
	Attempt  int       `json:"attempt"`
	Reviewer AgentID   `json:"reviewer"`
	Decision EventType `json:"verdict"` // the type of its event
	Head     string    `json:"head"`
	Body     string    `json:"body,omitempty"`
	Report   string    `json:"report,omitempty"`
	At       Time      `json:"at"`
}

// ReviewOf returns the decision that an event records, and false if it records none.
func ReviewOf(e Event) (TaskReview, bool) {
	if p, ok := e.Decode().(interface {
		reviewOf(Event) (TaskReview, bool)
	}); ok {
		return p.reviewOf(e)
	}
	return TaskReview{}, false
}

// OfTask reports whether events of the type are about tasks.
func (t EventType) OfTask() bool {
	info, ok := t.findRow()
	return ok && info.ofTask()
}
