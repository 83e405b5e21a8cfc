package stick

import (
	"slices"
	"strings"
)

// TaskDecision is a reviewer's decision on one commit.
type TaskDecision struct {
	TaskCall
	Head     string // the commit that the reviewer saw last, "" for none
	Branch   string // the commit that the branch is at now, "" if there is no branch
	Override bool   // a person may approve even if they worked on the task

	Reviewer    Actor
	Authors     []Actor   // those who worked on the task
	Independent bool      // the project wants no review by whom an author has started
	Drafts      []Comment // the reviewer's, which the decision sends
}

// findAuthor returns the first of the task's authors for which is holds.
func (v TaskDecision) findAuthor(is func(Actor) bool) (AgentID, bool) {
	i := slices.IndexFunc(v.Authors, is)
	if v.Person || i < 0 {
		return "", false
	}
	return v.Authors[i].Names[0], true
}

// belowAuthor reports whether one of the task's authors has started the reviewer.
func (v TaskDecision) belowAuthor() (AgentID, bool) { return v.findAuthor(v.Reviewer.Below) }

// mayReview refuses a reviewer that has worked on the task under whatever name, unless it is a person who
// overrides that. It fails with [CodeAuthorCannotReview] and [CodePersonOnly].
func (t Task) mayReview(v TaskDecision) error {
	switch {
	case v.Override && !v.Person:
		return t.withTaskFacts(Errorf(CodePersonOnly, "only a person may approve a task against the rules of review")).
			Hintf("ask a person to run it")

	// A person who works alone may override that, an agent never.
	case t.Worked(v.By) && !v.Override && v.Person:
		return t.withTaskFacts(Errorf(CodeAuthorCannotReview, "%s worked on %s, so somebody else has to review it",
			v.By, t.ID)).
			Hintf("ask an agent to review it; if you work alone, approve your own work: %s",
				Cmd("tt task approve <task_id> --override", t.ID))
	case t.Worked(v.By) && !v.Override:
		return t.withTaskFacts(Errorf(CodeAuthorCannotReview, "%s worked on %s, so somebody else has to review it",
			v.By, t.ID)).
			Hintf("%s lists the members; ask one of them, or a person", Cmd("tt state"))
	}

	// The names differ, but a process or a session is the same.
	if author, same := v.findAuthor(v.Reviewer.Is); same {
		return t.withTaskFacts(Errorf(CodeAuthorCannotReview,
			"you are %s by another name, which worked on %s, so somebody else has to review it", author, t.ID)).
			With("author", author).Hintf("%s lists the members; ask one of them, or a person", Cmd("tt state"))
	}

	return nil
}

// isOffered refuses a decision if the branch isn't at the commit that was offered for review. It doesn't help
// to look at the task again: its worker has to offer the new commits. It fails with [CodeReviewStale].
func (t Task) isOffered(v TaskDecision) error {
	switch v.Branch {
	case t.Head:
		return nil
	case "":
		return t.errReviewStale(v, "the branch %s no longer exists", t.Branch).
			Hintf("restore it: %s", Cmd("git branch <branch> <commit>", t.Branch, shortCommit(t.Head)))
	}
	return t.errReviewStale(v, "%s is at %s, but commit %s was offered for review",
		t.Branch, shortCommit(v.Branch), shortCommit(t.Head)).
		Hintf("its worker has to offer it again; ask: %s; or give it back: %s, then %s",
			Cmd("tt msg send <agent> …", t.Worker),
			Cmd("tt task diff <task_id>", t.ID), Cmd("tt task request-changes <task_id> …", t.ID))
}

// hasSeen refuses a decision of a reviewer that hasn't seen one of the commits that it can be about. It fails
// with [CodeReviewStale].
func (t Task) hasSeen(v TaskDecision, about ...string) error {
	switch {
	case v.Head == "":
		return t.errReviewStale(v, "you haven't seen %s yet", t.ID).
			Hintf("look at it first: %s", Cmd("tt task diff <task_id>", t.ID))
	case !slices.Contains(about, v.Head):
		// Nothing is offered yet: then the branch's own commit is the newest.
		newest, is := t.Head, Words("was offered for review")
		if newest == "" {
			newest, is = v.Branch, "is its newest"
		}

		return t.errReviewStale(v, "you saw commit %s of %s, but commit %s %s",
			shortCommit(v.Head), t.ID, shortCommit(newest), is).
			Hintf("look at what is new: %s", Cmd("tt task diff <task_id>", t.ID))
	}
	return nil
}

func (t Task) errReviewStale(v TaskDecision, format string, args ...any) *Error {
	e := t.withTaskFacts(Errorf(CodeReviewStale, format, args...)).With("head", v.Branch)
	if v.Head != "" {
		e.With("seen", v.Head)
	}
	return e
}

// mayApprove refuses an approval that would mean nothing. Somebody who hasn't worked on the task has to have
// seen the offered commit, and the branch still has to be at it.
func (t Task) mayApprove(v TaskDecision) error {
	if err := t.mayReview(v); err != nil {
		return err
	}

	if author, below := v.belowAuthor(); below && v.Independent {
		return t.withTaskFacts(Errorf(CodeAuthorCannotReview,
			"%s, which worked on %s, has started you, and this project wants an independent review", author, t.ID)).
			With("author", author).Hintf("%s lists the members; ask one of them, or a person", Cmd("tt state"))
	}

	if err := t.isOffered(v); err != nil {
		return err
	}

	return t.hasSeen(v, t.Head)
}

func shortCommit(commit string) string {
	if len(commit) > 10 {
		return commit[:10]
	}
	return Clip(commit, 40)
}

// Approve approves exactly one commit, and sends the reviewer's drafts. If it is already approved, and there
// are no drafts, the event is nil. Approve fails with [CodeUsage], [CodeInvalidTransition],
// [CodeAuthorCannotReview], [CodePersonOnly] and [CodeReviewStale].
func (t Task) Approve(v TaskDecision, reason string) (*Event, error) {
	if err := checkReason("reason", reason); err != nil {
		return nil, err
	}

	// Asking twice is safe.
	if t.State == TaskApproved && v.Head == t.Approved && len(v.Drafts) == 0 && t.mayApprove(v) == nil {
		return nil, nil
	}

	// An approval that changes nothing would leave the drafts unsent.
	if n := len(v.Drafts); n > 0 && t.State == TaskApproved {
		return nil, t.withTaskFacts(Errorf(CodeInvalidTransition,
			"%s is approved already, and you have %s that approving it again wouldn't send", t.ID, Count(n, "draft"))).
			Hintf("to send them, return the task: %s; else delete them: %s",
				Cmd("tt task request-changes <task_id>", t.ID),
				Cmd("tt task comment <task_id> --delete <comment>", t.ID, v.Drafts[0].ID))
	}

	s, err := t.findStep(ActApprove)
	if err != nil {
		return nil, err
	}

	if err := t.mayApprove(v); err != nil {
		return nil, err
	}

	f := TaskApprovedFacts{Head: t.Head, Override: v.Override, Comments: v.draftsToSend()}
	_, f.BelowAuthor = v.belowAuthor()
	e := taskEvent(t, s, v.By, t.Worker, f)
	e.Reason = reason

	return &e, nil
}

// RequestChanges returns the task to its worker, and sends the reviewer's drafts. The reviewer has to have
// seen the offered commit, or the one that the branch is at now. Without drafts it needs words. It fails like
// [Task.Approve].
func (t Task) RequestChanges(v TaskDecision, what string) (Event, error) {
	s, err := t.findStep(ActChanges)
	if err != nil {
		return Event{}, err
	}

	if err := t.mayReview(v); err != nil {
		return Event{}, err
	}

	if err := t.hasSeen(v, t.Head, v.Branch); err != nil {
		return Event{}, err
	}

	if strings.TrimSpace(what) == "" && len(v.Drafts) == 0 {
		return Event{}, Errorf(CodeUsage, "say what must change").With("field", "reason").
			Hintf("%s; or comment on lines first, of what this shows: %s", Cmd("tt task request-changes <task_id> …",
				t.ID), Cmd("tt task diff <task_id>", t.ID))
	}

	if err := checkReason("reason", what); err != nil {
		return Event{}, err
	}

	f := TaskChangesRequestedFacts{Head: v.Head, Cause: CauseReview, Comments: v.draftsToSend()}
	_, f.BelowAuthor = v.belowAuthor()
	e := taskEvent(t, s, v.By, t.Worker, f)
	e.Reason = what

	return e, nil
}

// Merge records that the merge of the approved commit begins. It fails with [CodeInvalidTransition].
func (t Task) Merge(by AgentID, base, result string) (Event, error) {
	s, err := t.findStep(ActMerge)
	if err != nil {
		return Event{}, err
	}
	return taskEvent(t, s, by, "", TaskMergeStartedFacts{Base: base, Head: t.Approved, Result: result}), nil
}
