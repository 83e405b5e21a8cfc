package task

import (
	"context"

	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/diff"
)

// ShownComment is a comment, and where its lines are now.
type ShownComment struct {
	stick.Comment
	Draft    bool         `json:"draft,omitempty"`    // only the caller sees it
	Now      *SourcePlace `json:"now,omitempty"`      // where the diff that is shown has its lines
	Outdated bool         `json:"outdated,omitempty"` // the diff that is shown doesn't have its lines any more
}

// SourcePlace is where lines of a file are.
type SourcePlace struct {
	Path  string      `json:"path"`  // of the file
	Lines stick.Lines `json:"lines"` // the first and the last one
}

// commentsFor returns the comments on a task that an agent may see.
func commentsFor(tx *store.Tx, room stick.RoomID, task stick.Task, a stick.AgentID) ([]ShownComment, error) {
	all, err := commentsOn(tx, room, task)
	shown := []ShownComment{}
	for _, c := range all {
		if c.For(a) {
			shown = append(shown, ShownComment{Comment: c, Draft: c.Draft()})
		}
	}

	return shown, err
}

// commitPair is a pair of commits.
type commitPair struct{ from, to string }

// changeList is what differs between two commits. known is false if git can't tell.
type changeList struct {
	changes []git.Change
	known   bool
}

// commentPlacer finds the lines of comments in a diff. What git can't tell, because a commit is gone for
// example, counts as outdated.
type commentPlacer struct {
	diffLines
	ctx    context.Context
	listed map[commitPair]changeList
}

// placeComments finds where the lines of comments are in the diff between two commits.
func (ts *Tasks) placeComments(ctx context.Context, root, base, head string, comments []ShownComment) {
	if len(comments) == 0 {
		return
	}

	p := &commentPlacer{diffLines{ts.core.Config.Git, root, base, head}, ctx, map[commitPair]changeList{}}

	// What can't be placed stays without a place, and is outdated below.
	if base != "" && head != "" {
		p.followComments(comments)
		p.keepShown(comments)
	}

	for i := range comments {
		comments[i].Outdated = comments[i].Now == nil
	}
}

// listChanges lists what differs between two commits, once for each pair.
func (p *commentPlacer) listChanges(x commitPair) changeList {
	if x.from == x.to {
		return changeList{known: true}
	}

	// Many comments are about the same commits, and each listing is a run of git.
	l, ok := p.listed[x]
	if !ok {
		changes, err := p.git.Changes(p.ctx, p.dir, x.from, x.to)
		l = changeList{changes, err == nil}
		p.listed[x] = l
	}

	return l
}

// commitsOf is the way of a comment from the commit that it is about to that in the diff, on the same side.
func (p *commentPlacer) commitsOf(c stick.Comment) commitPair {
	if c.Old {
		return commitPair{c.Base, p.from}
	}
	return commitPair{c.Head, p.to}
}

// followComments sets where the lines of comments are now, whether the diff shows them or not.
func (p *commentPlacer) followComments(comments []ShownComment) {
	// First the files: which of them changed on the way from the comment's commit to the diff.
	files := map[commitPair][]git.Change{}
	where := make([]git.Change, len(comments))

	for i, c := range comments {
		commits := p.commitsOf(c.Comment)
		before := c.Comment

		// The file has its path in the first commit of the way.
		before.Old = true
		l := p.listChanges(commits)
		x, changed := findChange(l.changes, before)

		switch {
		case changed:
			files[commits] = append(files[commits], x)
		case l.known:
			x = git.Change{From: c.Path, Path: c.Path}
		}

		where[i] = x
	}

	// Then the hunks of those files, with one run of git for each pair of commits.
	hunks := map[commitPair]map[git.Change]diff.Hunks{}
	for commits, xs := range files {
		if found, err := p.git.Hunks(p.ctx, p.dir, commits.from, commits.to, uniqueChanges(xs)); err == nil {
			hunks[commits] = found
		}
	}

	for i, c := range comments {
		commits, x := p.commitsOf(c.Comment), where[i]
		if len(files[commits]) > 0 && hunks[commits] == nil {
			// git can't tell what changed there.
			continue
		}

		// Lines that were changed since have no place any more.
		if lines, ok := hunks[commits][x].Follow(c.Lines); ok && x.Path != "" {
			comments[i].Now = &SourcePlace{x.Path, lines}
		}
	}
}

// keepShown forgets where comments are whose lines the diff doesn't show.
func (p *commentPlacer) keepShown(comments []ShownComment) {
	// One run of git for all files tells which lines the diff shows.
	changes := p.listChanges(commitPair{p.from, p.to}).changes
	where, files := make([]git.Change, len(comments)), []git.Change{}

	for i, c := range comments {
		if c.Now == nil {
			continue
		}

		x, found := findChange(changes, stick.Comment{Path: c.Now.Path, Old: c.Old})
		if found {
			files = append(files, x)
		}

		where[i] = x
	}

	hunks, _ := p.git.Hunks(p.ctx, p.dir, p.from, p.to, uniqueChanges(files))
	for i, c := range comments {
		if c.Now != nil && !hunks[where[i]].Shows(c.Now.Lines, c.Old) {
			comments[i].Now = nil
		}
	}
}

// uniqueChanges returns the files, each once.
func uniqueChanges(files []git.Change) (out []git.Change) {
	seen := map[git.Change]bool{}
	for _, x := range files {
		if !seen[x] {
			out = append(out, x)
		}

		seen[x] = true
	}

	return out
}
