package edits

import (
	"slices"
	"strings"

	"talkingstick/stick"
)

// Swept is a file with uncommitted changes that are others', and that a commit would take along.
type Swept struct {
	Path   string // relative to the checkout
	Others []stick.AgentID
}

// MayCommit judges a commit that takes along files of others. own are the other files in it. The stick gives
// no right to them; who has to decide that is whoever knows of what [WhoseEdit] says.
func MayCommit(r stick.Room, theirs []Swept, own []string) Judgement {
	if len(theirs) == 0 || !Enforces(r) {
		return Judgement{}
	}

	var paths []string
	var others []stick.AgentID
	for _, s := range theirs {
		paths = append(paths, s.Path)
		for _, o := range s.Others {
			if !slices.Contains(others, o) {
				others = append(others, o)
			}
		}
	}

	why := stick.Wordsf("the commit takes along what %s has edited: %s", stick.AgentNames(others), firstPaths(paths))
	if len(others) > 1 {
		why = stick.Wordsf("the commit takes along what %s have edited: %s", stick.AgentNames(others),
			firstPaths(paths))
	}

	return asEnforced(r, errEditDenied(r, why, paths).Hintf("%s", stepToCommit(others[0], own)))
}

// stepToCommit returns the hint how to commit without the files of another.
func stepToCommit(other stick.AgentID, own []string) stick.Hint {
	ask := stick.Hintf("ask: %s", stick.Cmd("tt msg send <agent> …", other))
	switch {
	case len(own) == 0:
		return ask
	case len(own) > stick.MaxDenied:
		return stick.Hintf("name only your own files: %s; or %s", stick.Cmd("git commit -m … -- <path>"), ask)
	}

	// The command is whole, so that a reader can run it as it is.
	values := make([]any, len(own))
	for i, p := range own {
		values[i] = p
	}

	return stick.Hintf("commit only your own: %s; or %s", stick.Cmd("git commit -m … --"+strings.Repeat(" <path>",
		len(own)), values...), ask)
}

// firstPaths names the first few paths, and counts the others.
func firstPaths(paths []string) stick.Words { return stick.Names(paths, stick.MaxDenied) }

// Carried is a commit of another agent that a push would carry along.
type Carried struct {
	ID    string
	Name  string // short, as git prints it
	Agent stick.AgentID
}

// IsCommitOfOther reports whether a commit is another's for an agent that pushes it. made is who made it. A
// commit that was made with the stick passes with it, so it is another's only while somebody else holds the
// stick. One of an agent that is gone is nobody's.
func IsCommitOfOther(r stick.Room, made Editor, q Editing, s *stick.Probed, now stick.Time) bool {
	switch share, _ := WhoseEdit(r, EditedFile{Editors: []Editor{made}}, q, nil, s, now); share {
	case ShareOthers:
		return true
	case SharePassed:
		// A commit that was made with the stick belongs to whoever holds it now.
		_, under := r.Parent(q.By, q.Above, s)
		return made.Held && !r.IsGone(made.Agent, s) && r.Turn.State == stick.Owned && r.Turn.Owner != q.By && !under
	}
	return false
}

// MayPush judges a push that carries along commits of others. own is the newest commit that can be pushed
// without them, and where to; empty if there is none.
func MayPush(r stick.Room, theirs []Carried, own stick.Command) Judgement {
	if len(theirs) == 0 || !Enforces(r) {
		return Judgement{}
	}

	var commits []string
	var others []stick.AgentID
	for _, c := range theirs {
		commits = append(commits, c.Name)
		if !slices.Contains(others, c.Agent) {
			others = append(others, c.Agent)
		}
	}

	what := stick.Words("a commit")
	if len(theirs) > 1 {
		what = stick.Wordsf("%d commits", len(theirs))
	}

	// What is one's own can be pushed without the others' commits.
	step := stick.Hintf("ask: %s", stick.Cmd("tt msg send <agent> …", others[0]))
	if own != nil {
		step = stick.Hintf("push only your own: %s; or %s", own, step)
	}

	return asEnforced(r, errEditDenied(r, stick.Wordsf("the push carries along %s of %s: %s",
		what, stick.AgentNames(others), stick.Names(commits, stick.MaxDenied)), nil).Hintf("%s", step))
}
