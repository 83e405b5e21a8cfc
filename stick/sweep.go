package stick

import (
	"slices"
	"strings"
)

// Swept is a file with uncommitted changes that are others', and that a commit would take along.
type Swept struct {
	Path   string // relative to the checkout
	Others []AgentID
}

// MayCommit judges a commit that takes along files of others. own are the other files in it. The stick gives
// no right to them; who has to decide that is whoever knows of what [Room.WhoseEdit] says.
func (r Room) MayCommit(theirs []Swept, own []string) Judgement {
	if len(theirs) == 0 || !r.Enforces() {
		return Judgement{}
	}

	var paths []string
	var others []AgentID
	for _, s := range theirs {
		paths = append(paths, s.Path)
		for _, o := range s.Others {
			if !slices.Contains(others, o) {
				others = append(others, o)
			}
		}
	}

	why := Wordsf("the commit takes along what %s has edited: %s", agentNames(others), firstPaths(paths))
	if len(others) > 1 {
		why = Wordsf("the commit takes along what %s have edited: %s", agentNames(others), firstPaths(paths))
	}

	return r.asEnforced(r.errEditDenied(why, paths).Hintf("%s", stepToCommit(others[0], own)))
}

// stepToCommit returns the hint how to commit without the files of another.
func stepToCommit(other AgentID, own []string) Hint {
	ask := Hintf("ask: %s", Cmd("tt msg send <agent> …", other))
	switch {
	case len(own) == 0:
		return ask
	case len(own) > maxDenied:
		return Hintf("name only your own files: %s; or %s", Cmd("git commit -m … -- <path>"), ask)
	}

	// The command is whole, so that a reader can run it as it is.
	values := make([]any, len(own))
	for i, p := range own {
		values[i] = p
	}

	return Hintf("commit only your own: %s; or %s", Cmd("git commit -m … --"+strings.Repeat(" <path>",
		len(own)), values...), ask)
}

// firstPaths names the first few paths, and counts the others.
func firstPaths(paths []string) Words { return Names(paths, maxDenied) }

// agentNames names up to three agents, and counts the others.
func agentNames(all []AgentID) Words {
	const most = 3
	names := make([]Words, min(len(all), most))
	for i := range names {
		names[i] = agentName(all[i])
	}

	if more := len(all) - most; more > 0 {
		names = append(names, Wordsf("%d more", more))
	}

	if last := len(names) - 1; last > 0 {
		return JoinWords(names[:last], ", ") + " and " + names[last]
	}

	return names[0]
}

// Carried is a commit of another agent that a push would carry along.
type Carried struct {
	ID    string
	Name  string // short, as git prints it
	Agent AgentID
}

// IsCommitOfOther reports whether a commit is another's for an agent that pushes it. made is who made it. A
// commit that was made with the stick passes with it, so it is another's only while somebody else holds the
// stick. One of an agent that is gone is nobody's.
func (r Room) IsCommitOfOther(made Editor, q Editing, s *Probed, now Time) bool {
	switch share, _ := r.WhoseEdit(EditedFile{Editors: []Editor{made}}, q, nil, s, now); share {
	case ShareOthers:
		return true
	case SharePassed:
		// A commit that was made with the stick belongs to whoever holds it now.
		_, under := r.Parent(q.By, q.Above, s)
		return made.Held && !r.isGone(made.Agent, s) && r.Turn.State == Owned && r.Turn.Owner != q.By && !under
	}
	return false
}

// MayPush judges a push that carries along commits of others. own is the newest commit that can be pushed
// without them, and where to; empty if there is none.
func (r Room) MayPush(theirs []Carried, own Command) Judgement {
	if len(theirs) == 0 || !r.Enforces() {
		return Judgement{}
	}

	var commits []string
	var others []AgentID
	for _, c := range theirs {
		commits = append(commits, c.Name)
		if !slices.Contains(others, c.Agent) {
			others = append(others, c.Agent)
		}
	}

	what := Words("a commit")
	if len(theirs) > 1 {
		what = Wordsf("%d commits", len(theirs))
	}

	// What is one's own can be pushed without the others' commits.
	step := Hintf("ask: %s", Cmd("tt msg send <agent> …", others[0]))
	if own != nil {
		step = Hintf("push only your own: %s; or %s", own, step)
	}

	return r.asEnforced(r.errEditDenied(Wordsf("the push carries along %s of %s: %s",
		what, agentNames(others), Names(commits, maxDenied)), nil).Hintf("%s", step))
}
