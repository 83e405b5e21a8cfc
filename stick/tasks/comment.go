package tasks

import (
	"slices"
	"strings"

	"talkingstick/stick"
	"talkingstick/stick/diff"
)

// Bounds of comments. A comment itself is bounded as a message is.
const (
	MaxComments = 1000      // of a task
	MaxReview   = 256 << 10 // bytes of what one decision sends: the texts of its comments and the code around them

	maxAround     = 40  // lines that a comment keeps
	maxSourceLine = 200 // bytes that it keeps of each
)

// SourceAround returns the lines of a file that a comment on some of them keeps. Of many it leaves out those
// in the middle.
func SourceAround(file []string, l stick.Lines, old bool, hs diff.Hunks) []stick.SourceLine {
	code := []stick.SourceLine{}
	first, last := max(l[0]-diff.ContextLines, 1), min(l[1]+diff.ContextLines, len(file))

	for n := first; n <= last; n++ {
		// Of many lines the middle is left out.
		if last-first >= maxAround && n == first+maxAround/2 {
			n = last - maxAround/2 + 1
		}

		c := stick.SourceLine{Number: n, Text: clipBytes(strings.ToValidUTF8(file[n-1], "\uFFFD"), maxSourceLine)}
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
// It fails with [stick.CodeUsage], [stick.CodeMessageTooLarge], [stick.CodeInvalidTransition], and as [Approve] does.
func Comment(t stick.Task, v Decision, c stick.Comment, others []stick.Comment) (stick.Comment, bool, error) {
	if t.Over() {
		return c, false, withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
			"%s is %s, so nobody would read the comment",
			t.ID, t.State.Word(t.Cause))).Hintf("%s", t.NextStep())
	}

	if err := mayReview(t, v); err != nil {
		return c, false, err
	}

	if err := hasSeen(t, v, t.Head, v.Branch); err != nil {
		return c, false, err
	}

	// A comment is bounded as a message is.
	switch bad := stick.NotText(c.Body); {
	case bad != "":
		return c, false, stick.BadMessage("body", "the comment holds %s", bad)
	case strings.TrimSpace(c.Body) == "":
		return c, false, stick.BadMessage("body", "the comment is empty").
			Hintf("%s", stick.Cmd("tt task comment <task_id> <at> …", t.ID, c.Arg()))
	case stick.IsLeftBlank(c.Body):
		return c, false, stick.BadMessage("body", "the comment is still a placeholder: %s",
			strings.TrimSpace(c.Body))
	case len(c.Body) > stick.MaxBody:
		return c, false, stick.TooLarge("body", "the comment", len(c.Body), stick.MaxBody)
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
			drafts += o.SizeInBytes()
		}

		c.ID = max(c.ID, o.ID+1)
	}

	switch {
	case len(others) >= MaxComments:
		return c, false, withTaskFacts(t, stick.Errorf(stick.CodeMessageTooLarge, "%s already has %d comments, the most there can be",
			t.ID, len(others))).
			Hintf("put the rest into one text: %s", stick.Cmd("tt task request-changes <task_id> …", t.ID))
	case drafts+c.SizeInBytes() > MaxReview:
		return c, false, withTaskFacts(t, stick.Errorf(stick.CodeMessageTooLarge,
			"with the code around them, your comments on %s would be %d bytes long; the limit for one review is %d", t.ID, drafts+c.SizeInBytes(), MaxReview)).
			With("size", drafts+c.SizeInBytes()).With("max", MaxReview).
			Hintf("send the comments that you have: %s", stick.Cmd("tt task request-changes <task_id>", t.ID))
	}

	return c, false, nil
}

// draftsToSend returns the reviewer's drafts as the event of a decision holds them.
func (v Decision) draftsToSend() []stick.Comment {
	sent := slices.Clone(v.Drafts)
	for i := range sent {
		sent[i].Author = "" // the event's
	}

	return sent
}

// Resolve marks a comment as dealt with. An author of the task may, or whoever made the comment, or a person.
// If it is resolved already, the event is nil. Resolve fails with [stick.CodeNotFound] and [stick.CodeNotYourTask].
func Resolve(t stick.Task, c Call, x stick.Comment) (*stick.Event, error) {
	switch {
	case !x.For(c.By):
		return nil, errNoComment(t, x.ID)
	case x.Draft():
		return nil, withTaskFacts(t, stick.Errorf(stick.CodeNotFound,
			"comment %d on %s is your draft, so there is nothing to resolve", x.ID, t.ID)).
			With("comment_id", x.ID).
			Hintf("to delete it: %s", stick.Cmd("tt task comment <task_id> --delete <comment>", t.ID, x.ID))
	case !c.Person && c.By != x.Author && !t.Worked(c.By):
		return nil, withTaskFacts(t, stick.Errorf(stick.CodeNotYourTask,
			"only the author of comment %d, %s, or the worker of %s can resolve it", x.ID, x.Author, t.ID)).
			With("comment_id", x.ID).Hintf("tell its author: %s", stick.Cmd("tt msg send <agent> …", x.Author))
	case !x.ResolvedAt.IsZero():
		return nil, nil
	}

	e := stick.Event{
		Type: stick.EventTaskCommentResolved, From: c.By, Task: t.ID,
	}.WithPayload(stick.TaskCommentResolvedPayload{
		CommentID: x.ID, Path: x.Path, Lines: x.Lines,
	})
	return &e, nil
}

// DeleteDraft checks that a comment is a draft of the caller. It fails with [stick.CodeNotFound].
func DeleteDraft(t stick.Task, c Call, x stick.Comment) error {
	switch {
	case !x.For(c.By):
		return errNoComment(t, x.ID)
	case !x.Draft():
		return withTaskFacts(t, stick.Errorf(stick.CodeNotFound,
			"comment %d on %s isn't a draft: it was sent", x.ID, t.ID)).
			With("comment_id", x.ID).
			Hintf("once it is dealt with, resolve it: %s", stick.Cmd("tt task comment <task_id> --resolve <comment>", t.ID, x.ID))
	}
	return nil
}

func errNoComment(t stick.Task, id int) *stick.Error {
	return withTaskFacts(t, stick.Errorf(stick.CodeNotFound, "%s has no comment %d", t.ID, id)).With("comment_id", id).
		Hintf("to see its comments: %s", stick.Cmd("tt task show <task_id>", t.ID))
}
