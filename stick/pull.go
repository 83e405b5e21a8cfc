package stick

import "strings"

// PullState is the state of a pull request.
type PullState string

// The states of a pull request.
const (
	PullOpen   PullState = "open"
	PullMerged PullState = "merged"
	PullClosed PullState = "closed" // without being merged
)

// PullRequest is a request at a forge to merge a task's branch. The zero PullRequest is none.
type PullRequest struct {
	Number int       `json:"pr_number,omitempty"`
	URL    string    `json:"pr_url,omitempty"`
	State  PullState `json:"pr_state,omitempty"`  // as of the last time that tt asked
	Head   string    `json:"pr_head,omitempty"`   // the commit of its branch then
	Commit string    `json:"pr_commit,omitempty"` // the commit by which the forge merged it
}

// Check refuses what can't be a pull request. A program of others gave it, so nothing in it is trusted.
func (p PullRequest) Check() error {
	bad := func(what Words) error { return Errorf(CodeForgeFailed, "a pull request has %s", what) }
	switch {
	case p.Number <= 0:
		return bad("no number")
	case !isWebAddress(p.URL):
		return bad("no address")
	case p.State != PullOpen && p.State != PullMerged && p.State != PullClosed:
		return bad("no state")
	case !isCommitOr(p.Head, "") || !isCommitOr(p.Commit, ""):
		return bad("no commit")
	}
	return nil
}

// isWebAddress reports whether a text can be the address of a page: with a host and no user, on one line and
// without blanks.
func isWebAddress(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(s, "http://")
	}

	host, _, _ := strings.Cut(rest, "/")
	return ok && host != "" && !strings.ContainsAny(host, "@\\?#") && len(s) <= 500 && Line(s) == s &&
		!strings.Contains(s, " ")
}

// isCommitOr reports whether s is the full name of a commit, or the other thing.
func isCommitOr(s, other string) bool {
	if s == other {
		return true
	}
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// CanPull refuses to open a pull request for a task without a commit for it: its worker has offered none, or
// it has ended. It fails with [CodeInvalidTransition].
func (t Task) CanPull() error {
	if t.Offered() {
		return nil
	}
	return t.withTaskFacts(Errorf(CodeInvalidTransition,
		"%s is %s: a pull request needs a commit that its worker has offered for review", t.ID, t.State.Word(t.Cause))).
		Hintf("%s", t.NextStep())
}

// HasMerge reports whether the forge has said by which commit it merged the pull request.
func (p PullRequest) HasMerge() bool { return p.State == PullMerged && p.Commit != "" }

// AfterClosed returns the hint what to do with a task whose pull request was closed without being merged.
func (t Task) AfterClosed() Hint {
	if !t.Offered() {
		return t.NextStep()
	}
	return Hintf("to send it back: %s; to give it up: %s",
		Cmd("tt task request-changes <task_id> …", t.ID), Cmd("tt task cancel <task_id>", t.ID))
}

// Pulled records what is known of the task's pull request. If nothing has changed, the event is nil. without
// is the commit that the worker has offered, if the forge merged the pull request without it. This, and that
// it was closed without being merged, is told to the task's worker, or to whoever created the task.
func (t Task) Pulled(by AgentID, p PullRequest, without string) (*Event, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if t.PR == p {
		return nil, nil
	}

	s, err := t.findStep(ActPull)
	if err != nil {
		return nil, err
	}

	// Only what somebody has to act on is told, and not to a worker that did it itself.
	to := AgentID("")
	if (p.State == PullClosed && t.PR.State != PullClosed || without != "") && t.State != TaskCompleted {
		if to = t.Worker; to == by || to == "" {
			to = t.SpawnedBy
		}
	}

	e := taskEvent(t, s, by, to, TaskPullRequestFacts{PullRequest: p, Without: without})
	return &e, nil
}
