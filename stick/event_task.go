package stick

import (
	"errors"
)

// TaskPayload is the payload of an event of a task. Each type has its own F.
type TaskPayload[F TaskFacts] struct {
	Caller
	Task *F `json:"task,omitempty"` // nil if it is damaged
}

// TaskFacts is what an event says about its task. Each type has a struct of its own, which embeds
// [TaskStatus].
type TaskFacts interface{ status() TaskStatus }

// TaskStatus is what every event of a task says.
type TaskStatus struct {
	State   TaskState `json:"state"`   // from now on
	Attempt int       `json:"attempt"` // which attempt at the task, from 1
}

func (s TaskStatus) status() TaskStatus { return s }

func (s *TaskStatus) setStatus(x TaskStatus) { *s = x }

func (p TaskPayload[F]) taskStatus() (s TaskStatus, ok bool) {
	if p.Task == nil {
		return s, false
	}
	return (*p.Task).status(), true
}

// TaskStatus returns the status of the task from this event on. ok is false if the event isn't about a task,
// or is damaged.
func (e Event) TaskStatus() (s TaskStatus, ok bool) {
	if p, is := e.Decode().(interface{ taskStatus() (TaskStatus, bool) }); is {
		return p.taskStatus()
	}
	return s, false
}

// TaskFactsOf returns what an event says about its task. ok is false if the event's type has other facts, or
// the event is damaged.
func TaskFactsOf[F TaskFacts](e Event) (f F, ok bool) {
	p, ok := PayloadOf[TaskPayload[F]](e)
	if !ok || p.Task == nil {
		return f, false
	}
	return *p.Task, true
}

// TaskAssignedFacts are the facts of [EventTaskAssigned].
type TaskAssignedFacts struct {
	TaskStatus
	Description string   `json:"description,omitempty"`
	Spec        string   `json:"spec,omitempty"`
	Branch      string   `json:"branch,omitempty"`
	Worktree    string   `json:"worktree,omitempty"`    // relative to the workspace's root
	Integration string   `json:"integration,omitempty"` // the branch that a merge moves
	Base        string   `json:"base,omitempty"`        // the commit that the branch begins at
	In          Checkout `json:"in,omitzero"`           // the checkout with the branch and the worktree
	// its number among the tasks that are being worked on; absent if it has none
	Slot     *int     `json:"slot,omitempty"`
	Labels   []string `json:"labels,omitempty"`
	Priority Priority `json:"priority,omitempty"` // absent for normal
	Later    bool     `json:"later,omitempty"`    // it has neither branch nor worktree: somebody begins it later
	After    []string `json:"after,omitempty"`    // the tasks that have to land before
}

// TaskBegunFacts are the facts of [EventTaskBegun].
type TaskBegunFacts struct {
	TaskStatus
	Base string   `json:"base,omitempty"` // the commit that the branch begins at
	In   Checkout `json:"in,omitzero"`    // the checkout with the branch and the worktree
	Slot *int     `json:"slot,omitempty"` // its number among the tasks that are being worked on
}

// TaskAfterFacts are the facts of [EventTaskAfter].
type TaskAfterFacts struct {
	TaskStatus
	After []string `json:"after,omitempty"` // the tasks that have to land before it begins; absent for none
}

// TaskEditedFacts are the facts of [EventTaskEdited]: what has changed, and how it is now.
type TaskEditedFacts struct {
	TaskStatus
	Description *string   `json:"description,omitempty"`
	Spec        *string   `json:"spec,omitempty"`
	Labels      *[]string `json:"labels,omitempty"`
	Priority    *Priority `json:"priority,omitempty"`
}

// TaskStartedFacts are the facts of [EventTaskStarted].
type TaskStartedFacts struct{ TaskStatus }

// TaskFailedFacts are the facts of [EventTaskFailed].
type TaskFailedFacts struct {
	TaskStatus
	Cause string `json:"cause,omitempty"` // why
}

// TaskRetriedFacts are the facts of [EventTaskRetried].
type TaskRetriedFacts struct {
	TaskStatus
	Base string   `json:"base,omitempty"` // the commit that the new attempt begins at; absent if it is for later
	In   Checkout `json:"in,omitzero"`    // the checkout that has the branch and the worktree from now on
	Slot *int     `json:"slot,omitempty"` // its number among the tasks that are being worked on
}

// taskKind is what one writes to make the row of a type of events of tasks.
type taskKind[F TaskFacts] struct {
	Type    EventType
	Meaning string
	For     func(Event) []Addressee
	Say     func(Event, F) Words
	Apply   func(*Task, Event, F) // what an event changes besides state and attempt
}

// taskRow makes a row of the table. A part that is missing stays missing, so that a test can name it.
func taskRow[F TaskFacts](k taskKind[F]) EventInfo {
	general := eventKind[TaskPayload[F]]{Type: k.Type, Meaning: k.Meaning, For: k.For}

	// A damaged event without facts is shown as far as possible.
	if k.Say != nil {
		general.Say = func(e Event, p TaskPayload[F]) Words {
			if p.Task == nil { // damaged
				p.Task = new(F)
			}
			return k.Say(e, *p.Task)
		}
	}

	if k.Apply != nil {
		// State and attempt change alike for all events; the row adds what is its own.
		general.task = func(t Task, e Event, p TaskPayload[F]) (Task, error) {
			if p.Task == nil {
				return t, errors.New("it lacks what it says of its task")
			}

			t, err := t.applyStatus(e, (*p.Task).status())
			if err == nil {
				k.Apply(&t, e, *p.Task)
			}

			return t, err
		}

		// The record keeps the task, its attempt, and the decision with its comments.
		general.Replay = func(c *Record, e *Event, p TaskPayload[F]) error {
			key := TaskKey(e.Task)
			t, err := general.task(c.Tasks[key], *e, p)
			if err != nil {
				return err
			}

			c.Tasks[key] = t
			k := AttemptKey{key, t.Attempt}
			c.Attempts[k] = c.Attempts[k].applyStatus(*e, (*p.Task).status())

			if r, ok := any(*p.Task).(reviewer); ok {
				c.Reviews[e.Seq] = r.asReview(*e)
				for _, x := range r.sentComments() {
					// What was sent belongs to the event that sent it.
					x.Author, x.Sent = e.From, e.Seq
					c.Comments[CommentKey{key, x.ID}] = x
				}
			}

			return nil
		}
	}

	return eventRow(general)
}

// taskEvents are the events of a task's life, and its attempts.
var taskEvents = []EventInfo{
	taskRow(taskKind[TaskAssignedFacts]{
		Type: EventTaskAssigned, Meaning: "a task was created, with a branch and a worktree", For: forNamed,
		Say: func(e Event, f TaskAssignedFacts) Words {
			later := Words("")
			if f.Later {
				later = " for later"
			}
			return Wordsf("%s created task %s%s%s%s",
				AgentName(e.From), taskOf(e), later, afterTasks(f.After), reasonSuffix(f.Description))
		},
		Apply: func(t *Task, e Event, f TaskAssignedFacts) {
			// It has nothing of an earlier task of its name, but for the number of the attempt.
			*t = Task{State: t.State, Attempt: t.Attempt, StateAt: t.StateAt, Seq: t.Seq}
			t.ID, t.SpawnedBy, t.CreatedAt = e.Task, e.From, e.CreatedAt
			t.Description, t.Spec, t.Labels, t.Priority = f.Description, f.Spec, f.Labels, f.Priority
			t.Branch, t.Worktree, t.Integration, t.Base = f.Branch, f.Worktree, f.Integration, f.Base
			t.In, t.Slot, t.Later, t.After = f.In, slotOf(f.Slot), f.Later, f.After
		},
	}),
	taskRow(taskKind[TaskBegunFacts]{
		Type: EventTaskBegun, Meaning: "a task that was for later got its branch and its worktree", For: forNamed,
		Say: func(e Event, f TaskBegunFacts) Words {
			return Wordsf("%s began %s%s", AgentName(e.From), taskOf(e), atCommit(f.Base))
		},
		Apply: func(t *Task, _ Event, f TaskBegunFacts) {
			t.Base, t.In, t.Slot, t.Later = f.Base, f.In, slotOf(f.Slot), false
		},
	}),
	taskRow(taskKind[TaskAfterFacts]{
		Type: EventTaskAfter, Meaning: "a task waits for other tasks than before", For: forNamed,
		Say: func(e Event, f TaskAfterFacts) Words {
			if len(f.After) == 0 {
				return Wordsf("%s let %s wait for no other task", AgentName(e.From), taskOf(e))
			}
			return Wordsf("%s moved %s%s", AgentName(e.From), taskOf(e), afterTasks(f.After))
		},
		Apply: func(t *Task, _ Event, f TaskAfterFacts) { t.After = f.After },
	}),
	taskRow(taskKind[TaskEditedFacts]{
		Type: EventTaskEdited, Meaning: "a task's description, spec, labels or priority were changed", For: forRecipient,
		Say: func(e Event, f TaskEditedFacts) Words {
			return Wordsf("%s changed %s of %s", AgentName(e.From), f.changedParts(), taskOf(e))
		},
		Apply: func(t *Task, _ Event, f TaskEditedFacts) { f.applyTo(t) },
	}),
	taskRow(taskKind[TaskStartedFacts]{
		Type: EventTaskStarted, Meaning: "an agent started a task", For: forNamed,
		Say: func(e Event, _ TaskStartedFacts) Words { return Wordsf("%s started %s", AgentName(e.From), taskOf(e)) },
		Apply: func(t *Task, e Event, _ TaskStartedFacts) {
			t.setWorker(e.From)

			// The last heartbeat was of the worker before.
			t.HeartbeatAt = 0
		},
	}),
	taskRow(taskKind[TaskFailedFacts]{
		Type: EventTaskFailed, Meaning: "a task was given up or cancelled", For: forRecipient,
		Say: func(e Event, f TaskFailedFacts) Words {
			did := Words("gave up")
			if f.Cause == CauseCancelled {
				did = "cancelled"
			}
			return Wordsf("%s %s %s%s", AgentName(e.From), did, taskOf(e), reasonSuffix(e.Reason))
		},
		Apply: func(t *Task, e Event, f TaskFailedFacts) {
			t.clearApproval()

			// It has no approval left that a merge could use.
			t.Cause, t.Reason = f.Cause, e.Reason
		},
	}),
	taskRow(taskKind[TaskRetriedFacts]{
		Type: EventTaskRetried, Meaning: "another attempt at a task started", For: forRecipient,
		Say: func(e Event, _ TaskRetriedFacts) Words {
			return Wordsf("%s started another attempt at %s", AgentName(e.From), taskOf(e))
		},
		Apply: func(t *Task, _ Event, f TaskRetriedFacts) {
			t.setWorker("")

			// The next attempt begins with nothing of what the last one has offered.
			t.Base, t.Head, t.Patch, t.Result, t.Cause, t.Reason, t.ChangesGate = f.Base, "", "", "", "", "", false
			t.PR = PullRequest{}
			t.In, t.Slot = f.In, slotOf(f.Slot)
		},
	}),
}
