package stick

import (
	"strings"
)

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

// HasMerge reports whether the forge has said by which commit it merged the pull request.
func (p PullRequest) HasMerge() bool { return p.State == PullMerged && p.Commit != "" }
