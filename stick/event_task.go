package stick

import (
	"errors"
	"fmt"
	"strings"
)

// TaskPayload is the payload of an event of a task. Each type has its own F.
type TaskPayload[F TaskFacts] struct {
	Caller
	Task *F `json:"task,omitempty"` // nil if it is damaged
}

// TaskFacts is what an event says about its task. Each type has a struct of its own, which embeds [TaskStatus].
type TaskFacts interface{ status() TaskStatus }

// TaskStatus is what every event of a task says.
type TaskStatus struct {
	State   TaskState `json:"state"`   // from now on
	Attempt int       `json:"attempt"` // which attempt at the task, from 1
}

func (s TaskStatus) status() TaskStatus      { return s }
func (s *TaskStatus) setStatus(x TaskStatus) { *s = x }

func (p TaskPayload[F]) taskStatus() (s TaskStatus, ok bool) {
	if p.Task == nil {
		return s, false
	}
	return (*p.Task).status(), true
}

// TaskStatus returns the status of the task from this event on. ok is false if the event isn't about a task, or is
// damaged.
func (e Event) TaskStatus() (s TaskStatus, ok bool) {
	if p, is := e.Decode().(interface{ taskStatus() (TaskStatus, bool) }); is {
		return p.taskStatus()
	}
	return s, false
}

// TaskFactsOf returns what an event says about its task. ok is false if the event's type has other facts, or the
// event is damaged.
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
	In          Checkout `json:"in,omitzero"`           // with the branch and the worktree
	Slot        *int     `json:"slot,omitempty"`        // its number among the tasks that are being worked on; absent if it has none
	Later       bool     `json:"later,omitempty"`       // it has neither branch nor worktree: somebody begins it later
	After       []string `json:"after,omitempty"`       // the tasks that have to land before
}

// TaskBegunFacts are the facts of [EventTaskBegun].
type TaskBegunFacts struct {
	TaskStatus
	Base string   `json:"base,omitempty"` // the commit that the branch begins at
	In   Checkout `json:"in,omitzero"`    // with the branch and the worktree
	Slot *int     `json:"slot,omitempty"` // its number among the tasks that are being worked on
}

// TaskAfterFacts are the facts of [EventTaskAfter].
type TaskAfterFacts struct {
	TaskStatus
	After []string `json:"after,omitempty"` // the tasks that have to land before it begins; absent for none
}

// TaskStartedFacts are the facts of [EventTaskStarted].
type TaskStartedFacts struct{ TaskStatus }

// TaskConflictedFacts are the facts of [EventTaskConflicted].
type TaskConflictedFacts struct {
	TaskStatus
	Base  string   `json:"base,omitempty"`  // the commit that the work is rebased onto
	Files []string `json:"files,omitempty"` // in conflict
}

// TaskReviewRequestedFacts are the facts of [EventTaskReviewRequested].
type TaskReviewRequestedFacts struct {
	TaskStatus
	Base        string      `json:"base,omitempty"`         // the commit that the work is based on
	Head        string      `json:"head,omitempty"`         // the commit to be reviewed
	Patch       string      `json:"patch,omitempty"`        // the sum of what it changes
	Kept        bool        `json:"kept,omitempty"`         // it is the change that was approved, so the approval stays
	ChangesGate bool        `json:"changes_gate,omitempty"` // it changes the file that defines the gate
	Checks      []TaskCheck `json:"evidence,omitempty"`     // the checks that the worker ran
	GateFiles   []string    `json:"gate_files,omitempty"`   // those of the gate's own files that it changes, at most 20
}

// TaskApprovedFacts are the facts of [EventTaskApproved].
type TaskApprovedFacts struct {
	TaskStatus
	Head     string `json:"head,omitempty"`     // the commit approved
	Override bool   `json:"override,omitempty"` // a person approved it against the rules of review

	BelowAuthor bool `json:"below_author,omitempty"` // an agent that worked on the task had started the reviewer

	Comments []Comment `json:"comments,omitempty"` // on lines of the diff, by the reviewer
}

// TaskChangesRequestedFacts are the facts of [EventTaskChangesRequested].
type TaskChangesRequestedFacts struct {
	TaskStatus
	Head  string   `json:"head,omitempty"`  // the commit that was reviewed
	Files []string `json:"files,omitempty"` // in conflict

	BelowAuthor bool   `json:"below_author,omitempty"` // an agent that worked on the task had started the reviewer
	Cause       string `json:"cause,omitempty"`        // why
	Report      string `json:"report,omitempty"`       // the blob that holds the gate's output

	Comments []Comment `json:"comments,omitempty"` // on lines of the diff, by the reviewer
}

// TaskMergeStartedFacts are the facts of [EventTaskMergeStarted].
type TaskMergeStartedFacts struct {
	TaskStatus
	Base   string `json:"base,omitempty"`   // the commit of the integration branch
	Head   string `json:"head,omitempty"`   // the commit approved
	Result string `json:"result,omitempty"` // the commit made of both
}

// TaskCompletedFacts are the facts of [EventTaskCompleted].
type TaskCompletedFacts struct {
	TaskStatus
	Head   string `json:"head,omitempty"`   // the commit of the task that was merged
	Result string `json:"result,omitempty"` // the commit that merged it; absent if the branch already contained it
}

// TaskFailedFacts are the facts of [EventTaskFailed].
type TaskFailedFacts struct {
	TaskStatus
	Cause string `json:"cause,omitempty"` // why
}

// TaskRetriedFacts are the facts of [EventTaskRetried].
type TaskRetriedFacts struct {
	TaskStatus
	Base string   `json:"base,omitempty"` // the commit that the new attempt begins at; absent if it is for later
	In   Checkout `json:"in,omitzero"`    // with the branch and the worktree from now on
	Slot *int     `json:"slot,omitempty"` // its number among the tasks that are being worked on
}

// TaskRolledBackFacts are the facts of [EventTaskRolledBack].
type TaskRolledBackFacts struct {
	TaskStatus
	Result string `json:"result,omitempty"` // the commit that reverted the merge
	Cause  string `json:"cause,omitempty"`  // why
}

// TaskPullRequestFacts are the facts of [EventTaskPullRequest].
type TaskPullRequestFacts struct {
	TaskStatus
	PullRequest
}

// TaskCommentResolvedPayload is the payload of [EventTaskCommentResolved].
type TaskCommentResolvedPayload struct {
	Caller
	CommentID int    `json:"comment_id"` // its number in the task
	Path      string `json:"path"`       // of the file that it is about
	Lines     Lines  `json:"lines"`      // the first and the last line
}

// TaskCheck is the outcome of a command that a worker ran as evidence for its work.
type TaskCheck struct {
	Name    string `json:"name"`
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	Millis  int64  `json:"took_ms"`
	Output  string `json:"output"` // the blob that holds what it printed
	Size    int64  `json:"size"`
	Cut     bool   `json:"cut,omitempty"` // it printed more than is kept
}

// taskKind is what one writes to make the row of a type of events of tasks.
type taskKind[F TaskFacts] struct {
	Type    EventType
	Meaning string
	For     func(Event) []Addressee
	Say     func(Event, F) string
	Apply   func(*Task, Event, F) // what an event changes besides state and attempt
}

// taskRow makes a row of the table. A part that is missing stays missing, so that a test can name it.
func taskRow[F TaskFacts](k taskKind[F]) EventInfo {
	general := kind[TaskPayload[F]]{Type: k.Type, Meaning: k.Meaning, For: k.For}
	if k.Say != nil {
		general.Say = func(e Event, p TaskPayload[F]) string {
			if p.Task == nil { // damaged
				p.Task = new(F)
			}
			return k.Say(e, *p.Task)
		}
	}
	if k.Apply != nil {
		general.task = func(t Task, e Event, p TaskPayload[F]) (Task, error) {
			if p.Task == nil {
				return t, errors.New("it lacks what it says of its task")
			}
			t, err := t.after(e, (*p.Task).status())
			if err == nil {
				k.Apply(&t, e, *p.Task)
			}
			return t, err
		}
		general.Replay = func(c *Record, e *Event, p TaskPayload[F]) error {
			key := TaskKey(e.Task)
			t, err := general.task(c.Tasks[key], *e, p)
			if err != nil {
				return err
			}
			c.Tasks[key] = t
			k := AttemptKey{key, t.Attempt}
			c.Attempts[k] = c.Attempts[k].after(*e, (*p.Task).status())
			if r, ok := any(*p.Task).(reviewer); ok {
				c.Reviews[e.Seq] = r.review(*e)
				for _, x := range r.comments() {
					x.Author, x.Sent = e.From, e.Seq
					c.Comments[CommentKey{key, x.ID}] = x
				}
			}
			return nil
		}
	}
	return row(general)
}

// below says that the author of a task had started its reviewer.
func below(author bool) string {
	if !author {
		return ""
	}
	return " (started by its author)"
}

// CommentsOf returns the comments that a decision sent, without their author and their event.
func CommentsOf(e Event) []Comment {
	if p, ok := e.Decode().(interface{ commentsOf() []Comment }); ok {
		return p.commentsOf()
	}
	return nil
}

func (p TaskPayload[F]) commentsOf() []Comment {
	if p.Task != nil {
		if r, ok := any(*p.Task).(reviewer); ok {
			return r.comments()
		}
	}
	return nil
}

// withComments says how many comments on lines went with a decision.
func withComments(all []Comment) string {
	if len(all) == 0 {
		return ""
	}
	return ", with " + Count(len(all), "comment")
}

// ofGate says which of the gate's own files a commit changes.
func (f TaskReviewRequestedFacts) ofGate() string {
	switch {
	case len(f.GateFiles) > 0:
		return "; it changes the gate: " + clip(strings.Join(f.GateFiles, ", "), 120)
	case f.ChangesGate:
		return "; it changes the gate"
	}
	return ""
}

// BelowAuthor reports whether an event is the review of a task by an agent that one of its authors had started.
func BelowAuthor(e Event) bool {
	approved, _ := TaskFactsOf[TaskApprovedFacts](e)
	returned, _ := TaskFactsOf[TaskChangesRequestedFacts](e)
	return approved.BelowAuthor || returned.BelowAuthor
}

// reviewer is implemented by the facts of events that record a decision on a commit.
type reviewer interface {
	review(Event) TaskReview
	comments() []Comment
}

func (f TaskApprovedFacts) comments() []Comment         { return f.Comments }
func (f TaskChangesRequestedFacts) comments() []Comment { return f.Comments }

func (f TaskApprovedFacts) review(e Event) TaskReview {
	return TaskReview{
		Seq: e.Seq, Attempt: f.Attempt, Reviewer: e.From, Decision: e.Type, Head: f.Head, Body: e.Reason, At: e.CreatedAt,
	}
}

func (f TaskChangesRequestedFacts) review(e Event) TaskReview {
	return TaskReview{
		Seq: e.Seq, Attempt: f.Attempt, Reviewer: e.From, Decision: e.Type, Head: f.Head, Body: e.Reason, Report: f.Report, At: e.CreatedAt,
	}
}

func (p TaskPayload[F]) reviewOf(e Event) (TaskReview, bool) {
	if p.Task != nil {
		if r, ok := any(*p.Task).(reviewer); ok {
			return r.review(e), true
		}
	}
	return TaskReview{}, false
}

// taskEvents are the events of tasks.
var taskEvents = []EventInfo{
	taskRow(taskKind[TaskAssignedFacts]{
		Type: EventTaskAssigned, Meaning: "a task was created, with a branch and a worktree", For: forNamed,
		Say: func(e Event, f TaskAssignedFacts) string {
			later := ""
			if f.Later {
				later = " for later"
			}
			return fmt.Sprintf("%s created task %s%s%s%s", who(e.From), taskOf(e), later, afterTasks(f.After), because(f.Description))
		},
		Apply: func(t *Task, e Event, f TaskAssignedFacts) {
			t.ID, t.SpawnedBy, t.CreatedAt = e.Task, e.From, e.CreatedAt
			t.Description, t.Spec, t.Branch, t.Worktree, t.Integration, t.Base = f.Description, f.Spec, f.Branch, f.Worktree, f.Integration, f.Base
			t.In, t.Slot, t.Later, t.After = f.In, slotOf(f.Slot), f.Later, f.After
		},
	}),
	taskRow(taskKind[TaskBegunFacts]{
		Type: EventTaskBegun, Meaning: "a task that was for later got its branch and its worktree", For: forNamed,
		Say: func(e Event, f TaskBegunFacts) string {
			return fmt.Sprintf("%s began %s%s", who(e.From), taskOf(e), at(f.Base))
		},
		Apply: func(t *Task, _ Event, f TaskBegunFacts) {
			t.Base, t.In, t.Slot, t.Later = f.Base, f.In, slotOf(f.Slot), false
		},
	}),
	taskRow(taskKind[TaskAfterFacts]{
		Type: EventTaskAfter, Meaning: "a task waits for other tasks than before", For: forNamed,
		Say: func(e Event, f TaskAfterFacts) string {
			if len(f.After) == 0 {
				return fmt.Sprintf("%s let %s wait for no other task", who(e.From), taskOf(e))
			}
			return fmt.Sprintf("%s moved %s%s", who(e.From), taskOf(e), afterTasks(f.After))
		},
		Apply: func(t *Task, _ Event, f TaskAfterFacts) { t.After = f.After },
	}),
	taskRow(taskKind[TaskStartedFacts]{
		Type: EventTaskStarted, Meaning: "an agent started a task", For: forNamed,
		Say: func(e Event, _ TaskStartedFacts) string { return fmt.Sprintf("%s started %s", who(e.From), taskOf(e)) },
		Apply: func(t *Task, e Event, _ TaskStartedFacts) {
			t.replace(e.From)
			t.HeartbeatAt = 0
		},
	}),
	taskRow(taskKind[TaskConflictedFacts]{
		Type: EventTaskConflicted, Meaning: "a task's branch conflicts with the integration branch; a rebase is in progress", For: forNamed,
		Say: func(e Event, f TaskConflictedFacts) string {
			return fmt.Sprintf("%s hit a conflict in %s%s", who(e.From), taskOf(e), because(strings.Join(f.Files, ", ")))
		},
		Apply: func(t *Task, _ Event, f TaskConflictedFacts) {
			t.unapprove()
			t.Base = f.Base
		},
	}),
	taskRow(taskKind[TaskReviewRequestedFacts]{
		Type: EventTaskReviewRequested, Meaning: "a commit of a task waits for review", For: forRecipient,
		Say: func(e Event, f TaskReviewRequestedFacts) string {
			return fmt.Sprintf("%s asked for a review of %s%s%s", who(e.From), taskOf(e), at(f.Head), f.ofGate())
		},
		Apply: func(t *Task, _ Event, f TaskReviewRequestedFacts) {
			t.Base, t.Head, t.Patch, t.ChangesGate = f.Base, f.Head, f.Patch, f.ChangesGate
			t.Cause, t.Reason = "", ""
			if f.Kept {
				t.Approved = f.Head
			} else {
				t.unapprove()
			}
		},
	}),
	taskRow(taskKind[TaskApprovedFacts]{
		Type: EventTaskApproved, Meaning: "a commit of a task was approved", For: forRecipient,
		Say: func(e Event, f TaskApprovedFacts) string {
			return fmt.Sprintf("%s approved %s%s%s%s", who(e.From), taskOf(e), at(f.Head), withComments(f.Comments), below(f.BelowAuthor))
		},
		Apply: func(t *Task, e Event, f TaskApprovedFacts) {
			t.Approved, t.ApprovedBy, t.ApprovedSeq = f.Head, e.From, e.Seq
		},
	}),
	taskRow(taskKind[TaskChangesRequestedFacts]{
		Type: EventTaskChangesRequested, Meaning: "a task went back to its worker: a reviewer asked for changes, it conflicts, or its gate is red", For: forNamed,
		Say: func(e Event, f TaskChangesRequestedFacts) string {
			return fmt.Sprintf("%s%s sent %s back%s%s", who(e.From), below(f.BelowAuthor), taskOf(e), withComments(f.Comments), because(e.Reason))
		},
		Apply: func(t *Task, e Event, f TaskChangesRequestedFacts) {
			t.unapprove()
			t.Cause, t.Reason = f.Cause, e.Reason
		},
	}),
	taskRow(taskKind[TaskMergeStartedFacts]{
		Type: EventTaskMergeStarted, Meaning: "the merge of a task started", For: forNamed,
		Say: func(e Event, f TaskMergeStartedFacts) string {
			return fmt.Sprintf("%s started to merge %s%s", who(e.From), taskOf(e), at(f.Head))
		},
		Apply: func(*Task, Event, TaskMergeStartedFacts) {},
	}),
	taskRow(taskKind[TaskCompletedFacts]{
		Type: EventTaskCompleted, Meaning: "the integration branch contains a task", For: forRecipient,
		Say: func(e Event, f TaskCompletedFacts) string {
			return fmt.Sprintf("%s merged %s%s", who(e.From), taskOf(e), at(f.Result))
		},
		Apply: func(t *Task, _ Event, f TaskCompletedFacts) {
			t.Head, t.Result, t.Cause, t.Reason = f.Head, f.Result, "", ""
		},
	}),
	taskRow(taskKind[TaskFailedFacts]{
		Type: EventTaskFailed, Meaning: "a task was given up or cancelled", For: forRecipient,
		Say: func(e Event, f TaskFailedFacts) string {
			did := "gave up"
			if f.Cause == CauseCancelled {
				did = "cancelled"
			}
			return fmt.Sprintf("%s %s %s%s", who(e.From), did, taskOf(e), because(e.Reason))
		},
		Apply: func(t *Task, e Event, f TaskFailedFacts) {
			t.unapprove()
			t.Cause, t.Reason = f.Cause, e.Reason
		},
	}),
	taskRow(taskKind[TaskRetriedFacts]{
		Type: EventTaskRetried, Meaning: "another attempt at a task started", For: forRecipient,
		Say: func(e Event, _ TaskRetriedFacts) string {
			return fmt.Sprintf("%s started another attempt at %s", who(e.From), taskOf(e))
		},
		Apply: func(t *Task, _ Event, f TaskRetriedFacts) {
			t.replace("")
			t.Base, t.Head, t.Patch, t.Result, t.Cause, t.Reason, t.ChangesGate = f.Base, "", "", "", "", "", false
			t.PR = PullRequest{}
			t.In, t.Slot = f.In, slotOf(f.Slot)
		},
	}),
	taskRow(taskKind[TaskRolledBackFacts]{
		Type: EventTaskRolledBack, Meaning: "a new commit reverted a merged task", For: forRecipient,
		Say: func(e Event, _ TaskRolledBackFacts) string {
			return fmt.Sprintf("%s reverted the merge of %s%s", who(e.From), taskOf(e), because(e.Reason))
		},
		Apply: func(t *Task, e Event, f TaskRolledBackFacts) {
			t.unapprove()
			t.Cause, t.Reason, t.Result = f.Cause, e.Reason, f.Result
		},
	}),
	taskRow(taskKind[TaskPullRequestFacts]{
		Type: EventTaskPullRequest, Meaning: "a pull request for a task was opened, or tt learned that it changed at the forge", For: forRecipient,
		Say: func(e Event, f TaskPullRequestFacts) string {
			pr := fmt.Sprintf("pull request #%d of %s", f.Number, taskOf(e))
			switch f.PullRequest.State {
			case PullMerged:
				return pr + " was merged at the forge"
			case PullClosed:
				return pr + " was closed at the forge without being merged"
			}
			return who(e.From) + " offered " + pr + because(f.URL)
		},
		Apply: func(t *Task, _ Event, f TaskPullRequestFacts) { t.PR = f.PullRequest },
	}),
	row(kind[TaskCommentResolvedPayload]{
		Type: EventTaskCommentResolved, Meaning: "a reviewer's comment on a line of a task was resolved", For: forNamed,
		Say: func(e Event, p TaskCommentResolvedPayload) string {
			return fmt.Sprintf("%s resolved comment %d on %s, at %s:%s", who(e.From), p.CommentID, taskOf(e), clip(p.Path, 80), p.Lines)
		},
		Replay: func(c *Record, e *Event, p TaskCommentResolvedPayload) error {
			k := CommentKey{TaskKey(e.Task), p.CommentID}
			x, ok := c.Comments[k]
			if !ok {
				return errors.New("there is no such comment")
			}
			x.ResolvedAt, x.ResolvedBy = e.CreatedAt, e.From
			c.Comments[k] = x
			return nil
		},
	}),
}
