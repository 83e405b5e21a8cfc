package stick

import (
	"slices"
	"strings"
)

// Comment is what a reviewer says about lines of a task's diff. It is a draft, which only its author sees,
// until the author decides on the task.
type Comment struct {
	ID         int          `json:"comment_id"` // counts from 1 in its task
	Author     AgentID      `json:"author,omitempty"`
	Base       string       `json:"base"`          // the commit before the change
	Head       string       `json:"head"`          // the commit that the author saw
	Path       string       `json:"path"`          // of the file, in the commit whose lines it is about
	Old        bool         `json:"old,omitempty"` // the lines are those before the change
	Lines      Lines        `json:"lines"`         // the first and the last line that it is about
	Around     []SourceLine `json:"around"`        // the lines, and three on each side
	Body       string       `json:"body"`
	CreatedAt  Time         `json:"created_at"`
	Sent       int64        `json:"event_seq,omitempty"` // the decision that sent it, 0 for a draft
	ResolvedAt Time         `json:"resolved_at,omitzero"`
	ResolvedBy AgentID      `json:"resolved_by,omitempty"`
}

// SourceLine is a line of a file with its number.
type SourceLine struct {
	Number int    `json:"line"`           // its number, from 1
	Sign   string `json:"sign,omitempty"` // + or - if the task changes it
	Text   string `json:"text"`           // what it says, cut if it is long
}

// Bounds of comments. A comment itself is bounded as a message is.
const (
	MaxComments = 1000      // of a task
	MaxReview   = 256 << 10 // bytes of what one decision sends: the texts of its comments and the code around them

	maxAround     = 40  // lines that a comment keeps
	maxSourceLine = 200 // bytes that it keeps of each
)

// Draft reports whether a comment wasn't sent.
func (c Comment) Draft() bool { return c.Sent == 0 }

// Open reports whether a comment was sent and waits to be dealt with.
func (c Comment) Open() bool { return !c.Draft() && c.ResolvedAt.IsZero() }

// For reports whether an agent may see a comment.
func (c Comment) For(a AgentID) bool { return !c.Draft() || c.Author == a }

// At names the lines of a comment as its reader would: src/parse.go:12.
func (c Comment) At() string { return c.Path + ":" + c.Lines.String() }

// Arg is At as an argument of a command: one that begins with a dash would be a flag.
func (c Comment) Arg() string {
	if strings.HasPrefix(c.Path, "-") {
		return "./" + c.At()
	}
	return c.At()
}

// From returns the commit whose lines the comment is about.
func (c Comment) From() string {
	if c.Old {
		return c.Base
	}
	return c.Head
}

// sizeInBytes is how much a comment adds to a decision, in bytes.
func (c Comment) sizeInBytes() int {
	n := len(c.Body) + len(c.Path)
	for _, l := range c.Around {
		n += len(l.Text)
	}

	return n
}

// SourceAround returns the lines of a file that a comment on some of them keeps. Of many it leaves out those
// in the middle.
func SourceAround(file []string, l Lines, old bool, hs Hunks) []SourceLine {
	code := []SourceLine{}
	first, last := max(l[0]-contextLines, 1), min(l[1]+contextLines, len(file))

	for n := first; n <= last; n++ {
		// Of many lines the middle is left out.
		if last-first >= maxAround && n == first+maxAround/2 {
			n = last - maxAround/2 + 1
		}

		c := SourceLine{Number: n, Text: clipBytes(strings.ToValidUTF8(file[n-1], "\uFFFD"), maxSourceLine)}
		switch {
		case hs.Changes(n, old) && old:
			c.Sign = "-"
		case hs.Changes(n, old):
			c.Sign = "+"
		}
		code = append(code, c)
	}

	return code
}

// Comment checks a draft on the commit that the reviewer has seen, and gives it its number. others are the
// comments that the task has. If the reviewer's drafts have it already, Comment returns that one, and true.
// It fails with [CodeUsage], [CodeMessageTooLarge], [CodeInvalidTransition], and as [Task.Approve] does.
func (t Task) Comment(v TaskDecision, c Comment, others []Comment) (Comment, bool, error) {
	if t.Over() {
		return c, false, t.withTaskFacts(Errorf(CodeInvalidTransition, "%s is %s: nobody would read the comment",
			t.ID, t.State.Word(t.Cause))).Hintf("%s", t.NextStep())
	}

	if err := t.mayReview(v); err != nil {
		return c, false, err
	}

	if err := t.hasSeen(v, t.Head, v.Branch); err != nil {
		return c, false, err
	}

	// A comment is bounded as a message is.
	switch bad := notText(c.Body); {
	case bad != "":
		return c, false, badMessage("body", "the comment holds %s", bad)
	case strings.TrimSpace(c.Body) == "":
		return c, false, badMessage("body", "the comment is empty").
			Hintf("%s", Cmd("tt task comment <task_id> <at> …", t.ID, c.Arg()))
	case isLeftBlank(c.Body):
		return c, false, badMessage("body", "the comment is the blank of a printed command: %s", strings.TrimSpace(c.Body))
	case len(c.Body) > MaxBody:
		return c, false, tooLarge("body", "the comment", len(c.Body), MaxBody)
	}

	// Its number is the next one of its task, whoever made the others.
	c.Author, c.ID = v.By, 1
	drafts := 0
	for _, o := range others {
		// A call that is repeated finds the draft that the first one made.
		if o.Draft() && o.Author == v.By {
			if o.Path == c.Path && o.Lines == c.Lines && o.Old == c.Old && o.From() == c.From() && o.Body == c.Body {
				return o, true, nil
			}
			drafts += o.sizeInBytes()
		}

		c.ID = max(c.ID, o.ID+1)
	}

	switch {
	case len(others) >= MaxComments:
		return c, false, t.withTaskFacts(Errorf(CodeMessageTooLarge, "%s has %d comments, and no more fit",
			t.ID, len(others))).
			Hintf("say the rest in one: %s", Cmd("tt task request-changes <task_id> …", t.ID))
	case drafts+c.sizeInBytes() > MaxReview:
		return c, false, t.withTaskFacts(Errorf(CodeMessageTooLarge,
			"your comments on %s would have %d bytes with the code around them; at most %d fit into one review", t.ID, drafts+c.sizeInBytes(), MaxReview)).
			With("size", drafts+c.sizeInBytes()).With("max", MaxReview).
			Hintf("send those that you have: %s", Cmd("tt task request-changes <task_id>", t.ID))
	}

	return c, false, nil
}

// draftsToSend returns the reviewer's drafts as the event of a decision holds them.
func (v TaskDecision) draftsToSend() []Comment {
	sent := slices.Clone(v.Drafts)
	for i := range sent {
		sent[i].Author = "" // the event's
	}

	return sent
}

// Resolve marks a comment as dealt with. An author of the task may, or whoever made the comment, or a person.
// If it is resolved already, the event is nil. Resolve fails with [CodeNotFound] and [CodeNotYourTask].
func (t Task) Resolve(c TaskCall, x Comment) (*Event, error) {
	switch {
	case !x.For(c.By):
		return nil, t.errNoComment(x.ID)
	case x.Draft():
		return nil, t.withTaskFacts(Errorf(CodeNotFound,
			"comment %d on %s is a draft of yours, so there is nothing to resolve", x.ID, t.ID)).With("comment_id", x.ID).
			Hintf("to delete it: %s", Cmd("tt task comment <task_id> --delete <comment>", t.ID, x.ID))
	case !c.Person && c.By != x.Author && !t.Worked(c.By):
		return nil, t.withTaskFacts(Errorf(CodeNotYourTask,
			"comment %d is by %s, and you have neither made it nor worked on %s", x.ID, x.Author, t.ID)).
			With("comment_id", x.ID).Hintf("tell its author: %s", Cmd("tt msg send <agent> …", x.Author))
	case !x.ResolvedAt.IsZero():
		return nil, nil
	}

	e := Event{Type: EventTaskCommentResolved, From: c.By, Task: t.ID}.withPayload(TaskCommentResolvedPayload{
		CommentID: x.ID, Path: x.Path, Lines: x.Lines,
	})
	return &e, nil
}

// DeleteDraft checks that a comment is a draft of the caller. It fails with [CodeNotFound].
func (t Task) DeleteDraft(c TaskCall, x Comment) error {
	switch {
	case !x.For(c.By):
		return t.errNoComment(x.ID)
	case !x.Draft():
		return t.withTaskFacts(Errorf(CodeNotFound, "comment %d on %s isn't a draft: it was sent", x.ID, t.ID)).
			With("comment_id", x.ID).
			Hintf("when it is dealt with: %s", Cmd("tt task comment <task_id> --resolve <comment>", t.ID, x.ID))
	}
	return nil
}

func (t Task) errNoComment(id int) *Error {
	return t.withTaskFacts(Errorf(CodeNotFound, "%s has no comment %d", t.ID, id)).With("comment_id", id).
		Hintf("to see its comments: %s", Cmd("tt task show <task_id>", t.ID))
}
