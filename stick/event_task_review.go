package stick

import (
	"errors"
)

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
	Merge       bool `json:"merge,omitempty"`        // tt merges it by itself, for the reviewer

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

// belowAuthorNote says that the author of a task had started its reviewer.
func belowAuthorNote(author bool) Words {
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
			return r.sentComments()
		}
	}
	return nil
}

// withComments says how many comments on lines went with a decision.
func withComments(all []Comment) Words {
	if len(all) == 0 {
		return ""
	}
	return ", with " + Count(len(all), "comment")
}

// MergesByItself reports whether an event is an approval after which tt merges the task by itself, for whoever
// approved it.
func MergesByItself(e Event) bool {
	approved, _ := TaskFactsOf[TaskApprovedFacts](e)
	return approved.Merge
}

// mergeNote says that tt merges a task by itself.
func mergeNote(merge bool) Words {
	if !merge {
		return ""
	}
	return "; tt merges it"
}

// ofGate says which of the gate's own files a commit changes.
func (f TaskReviewRequestedFacts) ofGate() Words {
	switch {
	case len(f.GateFiles) > 0:
		return "; it changes the gate: " + Names(f.GateFiles, 5)
	case f.ChangesGate:
		return "; it changes the gate"
	}
	return ""
}

// BelowAuthor reports whether an event is the review of a task by an agent that one of its authors had
// started.
func BelowAuthor(e Event) bool {
	// Of an event of another type, the facts are zero.
	approved, _ := TaskFactsOf[TaskApprovedFacts](e)
	returned, _ := TaskFactsOf[TaskChangesRequestedFacts](e)
	return approved.BelowAuthor || returned.BelowAuthor
}

// reviewer is implemented by the facts of events that record a decision on a commit.
type reviewer interface {
	asReview(Event) TaskReview
	sentComments() []Comment
}

func (f TaskApprovedFacts) sentComments() []Comment { return f.Comments }

func (f TaskChangesRequestedFacts) sentComments() []Comment { return f.Comments }

func (f TaskApprovedFacts) asReview(e Event) TaskReview {
	return TaskReview{
		Seq: e.Seq, Attempt: f.Attempt, Reviewer: e.From, Decision: e.Type,
		Head: f.Head, Body: e.Reason, At: e.CreatedAt,
	}
}

func (f TaskChangesRequestedFacts) asReview(e Event) TaskReview {
	return TaskReview{
		Seq: e.Seq, Attempt: f.Attempt, Reviewer: e.From, Decision: e.Type,
		Head: f.Head, Body: e.Reason, Report: f.Report, At: e.CreatedAt,
	}
}

func (p TaskPayload[F]) reviewOf(e Event) (TaskReview, bool) {
	if p.Task != nil {
		if r, ok := any(*p.Task).(reviewer); ok {
			return r.asReview(e), true
		}
	}
	return TaskReview{}, false
}

// reviewEvents are the events of the review of tasks.
var reviewEvents = []EventInfo{
	taskRow(taskKind[TaskReviewRequestedFacts]{
		Type: EventTaskReviewRequested, Meaning: "a commit of a task waits for review", For: forRecipient,
		Say: func(e Event, f TaskReviewRequestedFacts) Words {
			return Wordsf("%s asked for a review of %s%s%s", AgentName(e.From), taskOf(e), atCommit(f.Head), f.ofGate())
		},
		Apply: func(t *Task, _ Event, f TaskReviewRequestedFacts) {
			t.Base, t.Head, t.Patch, t.ChangesGate = f.Base, f.Head, f.Patch, f.ChangesGate
			t.Cause, t.Reason = "", ""

			// The same change on a newer base keeps its approval.
			if f.Kept {
				t.Approved = f.Head
			} else {
				t.clearApproval()
			}
		},
	}),
	taskRow(taskKind[TaskApprovedFacts]{
		Type: EventTaskApproved, Meaning: "a commit of a task was approved", For: forRecipient,
		Say: func(e Event, f TaskApprovedFacts) Words {
			return Wordsf("%s approved %s%s%s%s%s",
				AgentName(e.From), taskOf(e), atCommit(f.Head), withComments(f.Comments),
				belowAuthorNote(f.BelowAuthor), mergeNote(f.Merge))
		},
		Apply: func(t *Task, e Event, f TaskApprovedFacts) {
			t.Approved, t.ApprovedBy, t.ApprovedSeq = f.Head, e.From, e.Seq
		},
	}),
	taskRow(taskKind[TaskChangesRequestedFacts]{
		Type: EventTaskChangesRequested, For: forNamed,
		Meaning: "a task went back to its worker: a reviewer asked for changes, it conflicts, or its gate is red",
		Say: func(e Event, f TaskChangesRequestedFacts) Words {
			// The merge has failed: whoever asked for it has sent nothing back, and the reason ends with what the
			// gate printed.
			switch f.Cause {
			case CauseGate:
				return Wordsf("%s couldn't merge %s: its gate is red", AgentName(e.From), taskOf(e))
			case CauseConflict:
				return Wordsf("%s couldn't merge %s: it conflicts%s", AgentName(e.From), taskOf(e), inFiles(f.Files))
			}

			why := reasonSuffix(e.Reason)
			return Wordsf("%s%s sent %s back%s%s",
				AgentName(e.From), belowAuthorNote(f.BelowAuthor), taskOf(e), withComments(f.Comments), why)
		},
		Apply: func(t *Task, e Event, f TaskChangesRequestedFacts) {
			t.clearApproval()
			t.Cause, t.Reason = f.Cause, e.Reason
		},
	}),
	eventRow(eventKind[TaskCommentResolvedPayload]{
		Type: EventTaskCommentResolved, Meaning: "a reviewer's comment on a line of a task was resolved", For: forNamed,
		Say: func(e Event, p TaskCommentResolvedPayload) Words {
			return Wordsf("%s resolved comment %d on %s, at %s:%s",
				AgentName(e.From), p.CommentID, taskOf(e), Name(p.Path).Cut(80), p.Lines)
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
