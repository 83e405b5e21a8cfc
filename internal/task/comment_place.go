package task

import (
	"context"

	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/stick"
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
func commentsFor(tx *store.Tx, room stick.RoomID, task string, a stick.AgentID) ([]ShownComment, error) {
	all, err := tx.Comments(room, task)
	shown := []ShownComment{}
	for _, c := range all {
		if c.For(a) {
			shown = append(shown, ShownComment{Comment: c, Draft: c.Draft()})
		}
	}
	return shown, err
}

// pair is a pair of commits.
type pair struct{ from, to string }

// listing is what differs between two commits. known is false if git can't tell.
type listing struct {
	changes []git.Change
	known   bool
}

// placing finds the lines of comments in a diff. What git can't tell, because a commit is gone for example,
// counts as outdated.
type placing struct {
	diffLines
	ctx    context.Context
	listed map[pair]listing
}

// place finds where the lines of comments are in the diff between two commits.
func (ts *Tasks) place(ctx context.Context, root, base, head string, comments []ShownComment) {
	if len(comments) == 0 {
		return
	}
	p := &placing{diffLines{ts.core.Config.Git, root, base, head}, ctx, map[pair]listing{}}
	if base != "" && head != "" {
		p.follow(comments)
		p.keepShown(comments)
	}
	for i := range comments {
		comments[i].Outdated = comments[i].Now == nil
	}
}

// changes lists what differs between two commits, once for each pair.
func (p *placing) changes(x pair) listing {
	if x.from == x.to {
		return listing{known: true}
	}
	l, ok := p.listed[x]
	if !ok {
		changes, err := p.git.Changes(p.ctx, p.dir, x.from, x.to)
		l = listing{changes, err == nil}
		p.listed[x] = l
	}
	return l
}

// way is the way of a comment from the commit that it is about to that in the diff, on the same side.
func (p *placing) way(c stick.Comment) pair {
	if c.Old {
		return pair{c.Base, p.from}
	}
	return pair{c.Head, p.to}
}

// follow sets where the lines of comments are now, whether the diff shows them or not.
func (p *placing) follow(comments []ShownComment) {
	files := map[pair][]git.Change{} // those that comments are about
	where := make([]git.Change, len(comments))
	for i, c := range comments {
		way := p.way(c.Comment)
		before := c.Comment
		before.Old = true // the file has its path in the first commit of the way
		l := p.changes(way)
		x, changed := find(l.changes, before)
		switch {
		case changed:
			files[way] = append(files[way], x)
		case l.known:
			x = git.Change{From: c.Path, Path: c.Path}
		}
		where[i] = x
	}
	hunks := map[pair]map[git.Change]stick.Hunks{}
	for way, xs := range files {
		if found, err := p.git.Hunks(p.ctx, p.dir, way.from, way.to, unique(xs)); err == nil {
			hunks[way] = found
		}
	}
	for i, c := range comments {
		way, x := p.way(c.Comment), where[i]
		if len(files[way]) > 0 && hunks[way] == nil {
			continue // git can't tell what changed there
		}
		if lines, ok := hunks[way][x].Follow(c.Lines); ok && x.Path != "" {
			comments[i].Now = &SourcePlace{x.Path, lines}
		}
	}
}

// keepShown forgets where comments are whose lines the diff doesn't show.
func (p *placing) keepShown(comments []ShownComment) {
	changes := p.changes(pair{p.from, p.to}).changes
	where, files := make([]git.Change, len(comments)), []git.Change{}
	for i, c := range comments {
		if c.Now == nil {
			continue
		}
		x, found := find(changes, stick.Comment{Path: c.Now.Path, Old: c.Old})
		if found {
			files = append(files, x)
		}
		where[i] = x
	}
	hunks, _ := p.git.Hunks(p.ctx, p.dir, p.from, p.to, unique(files))
	for i, c := range comments {
		if c.Now != nil && !hunks[where[i]].Shows(c.Now.Lines, c.Old) {
			comments[i].Now = nil
		}
	}
}

// unique returns the files, each once.
func unique(files []git.Change) (out []git.Change) {
	seen := map[git.Change]bool{}
	for _, x := range files {
		if !seen[x] {
			out = append(out, x)
		}
		seen[x] = true
	}
	return out
}
