package tasks

import (
	"slices"
	"strings"

	"talkingstick/stick"
)

// Decision is a reviewer's decision on one commit.
type Decision struct {
	Call
	Head     string // the commit that the reviewer saw last, "" for none
	Branch   string // the commit that the branch is at now, "" if there is no branch
	Override bool   // a person may approve even if they worked on the task
	Merge    bool   // tt is to merge the approved commit by itself
	Merging  bool   // it is to do so already

	Reviewer    stick.Actor
	Authors     []stick.Actor   // those who worked on the task
	Independent bool            // the project wants no review by whom an author has started
	Drafts      []stick.Comment // the reviewer's, which the decision sends
}

// findAuthor returns the first of the task's authors for which is holds.
func (v Decision) findAuthor(is func(stick.Actor) bool) (stick.AgentID, bool) {
	i := slices.IndexFunc(v.Authors, is)
	if v.Person || i < 0 {
		return "", false
	}
	return v.Authors[i].Names[0], true
}

// belowAuthor reports whether one of the task's authors has started the reviewer.
func (v Decision) belowAuthor() (stick.AgentID, bool) { return v.findAuthor(v.Reviewer.Below) }

// mayReview refuses a reviewer that has worked on the task under whatever name, unless it is a person who
// overrides that. It fails with [stick.CodeAuthorCannotReview] and [stick.CodePersonOnly].
func mayReview(t stick.Task, v Decision) error {
	switch {
	case v.Override && !v.Person:
		return withTaskFacts(t, stick.Errorf(stick.CodePersonOnly,
			"only a person may approve a task against the rules of review")).
			Hintf("ask a person to run it")

	// A person who works alone may override that, an agent never.
	case t.Worked(v.By) && !v.Override && v.Person:
		return withTaskFacts(t, stick.Errorf(stick.CodeAuthorCannotReview,
			"%s worked on %s, so somebody else has to review it",
			v.By, t.ID)).
			Hintf("ask an agent to review it; if you work alone, approve your own work: %s",
				stick.Cmd("tt task approve <task_id> --override", t.ID))
	case t.Worked(v.By) && !v.Override:
		return withTaskFacts(t, stick.Errorf(stick.CodeAuthorCannotReview,
			"%s worked on %s, so somebody else has to review it",
			v.By, t.ID)).
			Hintf("ask another member, or a person; to see who is here: %s", stick.Cmd("tt state"))
	}

	// The names differ, but a process or a session is the same.
	if author, same := v.findAuthor(v.Reviewer.Is); same {
		return withTaskFacts(t, stick.Errorf(stick.CodeAuthorCannotReview,
			"you worked on %s as %s, so somebody else has to review it", t.ID, author)).
			With("author", author).Hintf("ask another member, or a person; to see who is here: %s", stick.Cmd("tt state"))
	}

	return nil
}

// MayReview reports whether somebody may review a task: its commit waits for that, and the reviewer hasn't worked on
// it. Where the project wants an independent review, no author has started the reviewer.
func MayReview(t stick.Task, v Decision) bool {
	if t.State != stick.TaskInReview || mayReview(t, v) != nil {
		return false
	}
	_, below := v.belowAuthor()
	return !below || !v.Independent
}

// isOffered refuses a decision if the branch isn't at the commit that was offered for review. It doesn't help
// to look at the task again: its worker has to offer the new commits. It fails with [stick.CodeReviewStale].
func isOffered(t stick.Task, v Decision) error {
	switch v.Branch {
	case t.Head:
		return nil
	case "":
		return errReviewStale(t, v, "the branch %s no longer exists", t.Branch).
			Hintf("restore it: %s", stick.Cmd("git branch <branch> <commit>", t.Branch, stick.ShortCommit(t.Head)))
	}
	return errReviewStale(t, v, "%s is at %s, but commit %s was offered for review",
		t.Branch, stick.ShortCommit(v.Branch), stick.ShortCommit(t.Head)).
		Hintf("its worker has to offer it again; ask: %s; or give it back: %s, then %s",
			stick.Cmd("tt msg send <agent> …", t.Worker),
			stick.Cmd("tt task diff <task_id>", t.ID), stick.Cmd("tt task request-changes <task_id> …", t.ID))
}

// hasSeen refuses a decision of a reviewer that hasn't seen one of the commits that it can be about. It fails
// with [stick.CodeReviewStale].
func hasSeen(t stick.Task, v Decision, about ...string) error {
	switch {
	case v.Head == "":
		return errReviewStale(t, v, "you haven't seen %s yet", t.ID).
			Hintf("look at it first: %s", stick.Cmd("tt task diff <task_id>", t.ID))
	case !slices.Contains(about, v.Head):
		// Nothing is offered yet: then the branch's own commit is the newest.
		newest, is := t.Head, stick.Words("was offered for review")
		if newest == "" {
			newest, is = v.Branch, "is its newest"
		}

		return errReviewStale(t, v, "you saw commit %s of %s, but commit %s %s",
			stick.ShortCommit(v.Head), t.ID, stick.ShortCommit(newest), is).
			Hintf("look at what is new: %s", stick.Cmd("tt task diff <task_id>", t.ID))
	}
	return nil
}

func errReviewStale(t stick.Task, v Decision, format string, args ...any) *stick.Error {
	e := withTaskFacts(t, stick.Errorf(stick.CodeReviewStale, format, args...)).With("head", v.Branch)
	if v.Head != "" {
		e.With("seen", v.Head)
	}
	return e
}

// mayApprove refuses an approval that would mean nothing. Somebody who hasn't worked on the task has to have
// seen the offered commit, and the branch still has to be at it.
func mayApprove(t stick.Task, v Decision) error {
	if err := mayReview(t, v); err != nil {
		return err
	}

	if author, below := v.belowAuthor(); below && v.Independent {
		return withTaskFacts(t, stick.Errorf(stick.CodeAuthorCannotReview,
			"you were started by %s, which worked on %s, and this project wants an independent review", author, t.ID)).
			With("author", author).Hintf("ask another member, or a person; to see who is here: %s", stick.Cmd("tt state"))
	}

	if err := isOffered(t, v); err != nil {
		return err
	}

	return hasSeen(t, v, t.Head)
}

// isApproved reports whether a decision without drafts approves the commit that is approved already.
func isApproved(t stick.Task, v Decision) bool {
	if t.State != stick.TaskApproved || v.Head != t.Approved {
		return false
	}
	return len(v.Drafts) == 0 && mayApprove(t, v) == nil
}

// Approve approves exactly one commit, and sends the reviewer's drafts. If it is already approved, and there
// are no drafts, the event is nil, unless tt is to merge it by itself from now on. Approve fails with
// [stick.CodeUsage], [stick.CodeInvalidTransition], [stick.CodeAuthorCannotReview], [stick.CodePersonOnly]
// and [stick.CodeReviewStale].
func Approve(t stick.Task, v Decision, reason string) (*stick.Event, error) {
	if err := stick.CheckReason("reason", reason); err != nil {
		return nil, err
	}

	// Asking twice is safe. Only the wish for a merge is news.
	if isApproved(t, v) && (!v.Merge || v.Merging) {
		return nil, nil
	}

	// An approval that changes nothing would leave the drafts unsent.
	if n := len(v.Drafts); n > 0 && t.State == stick.TaskApproved {
		return nil, withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
			"%s is approved already, and you have %s that approving it again wouldn't send", t.ID,
			stick.Count(n, "draft"))).
			Hintf("to send them, return the task: %s; else delete them: %s",
				stick.Cmd("tt task request-changes <task_id>", t.ID),
				stick.Cmd("tt task comment <task_id> --delete <comment>", t.ID, v.Drafts[0].ID))
	}

	act := stick.ActApprove
	if v.Merge {
		act = stick.ActApproveMerge
	}

	s, err := findStep(t, act)
	if err != nil {
		return nil, err
	}

	if err := mayApprove(t, v); err != nil {
		return nil, err
	}

	f := stick.TaskApprovedFacts{Head: t.Head, Override: v.Override, Merge: v.Merge, Comments: v.draftsToSend()}
	_, f.BelowAuthor = v.belowAuthor()
	e := stick.TaskEvent(t, s, v.By, t.Worker, f)
	e.Reason = reason

	return &e, nil
}

// RequestChanges returns the task to its worker, and sends the reviewer's drafts. The reviewer has to have
// seen the offered commit, or the one that the branch is at now. Without drafts it needs words. It fails like
// [Approve].
func RequestChanges(t stick.Task, v Decision, what string) (stick.Event, error) {
	s, err := findStep(t, stick.ActChanges)
	if err != nil {
		return stick.Event{}, err
	}

	if err := mayReview(t, v); err != nil {
		return stick.Event{}, err
	}

	if err := hasSeen(t, v, t.Head, v.Branch); err != nil {
		return stick.Event{}, err
	}

	if strings.TrimSpace(what) == "" && len(v.Drafts) == 0 {
		return stick.Event{}, stick.Errorf(stick.CodeUsage, "say what must change").With("field", "reason").
			Hintf("%s; or comment on lines first; to see them: %s",
				stick.Cmd("tt task request-changes <task_id> …",
					t.ID), stick.Cmd("tt task diff <task_id>", t.ID))
	}

	if err := stick.CheckReason("reason", what); err != nil {
		return stick.Event{}, err
	}

	f := stick.TaskChangesRequestedFacts{Head: v.Head, Cause: stick.CauseReview, Comments: v.draftsToSend()}
	_, f.BelowAuthor = v.belowAuthor()
	e := stick.TaskEvent(t, s, v.By, t.Worker, f)
	e.Reason = what

	return e, nil
}

// Merge records that the merge of the approved commit begins. It fails with [stick.CodeInvalidTransition].
func Merge(t stick.Task, by stick.AgentID, base, result string) (stick.Event, error) {
	s, err := findStep(t, stick.ActMerge)
	if err != nil {
		return stick.Event{}, err
	}
	return stick.TaskEvent(t, s, by, "", stick.TaskMergeStartedFacts{Base: base, Head: t.Approved, Result: result}), nil
}
