package guard

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// endCall makes the snapshot after a call, and finds what the call has changed.
func (g *Guard) endCall(ctx context.Context, q editQuestion, c *checkout, by keeper) error {
	tree, ok := workspace.FindCheckout(c.top, workspace.Env{})
	if !ok {
		return nil
	}

	// Nobody has recorded its beginning.
	if c.call.Before == "" {
		c.call.Before = g.Restorer.Store().Last(tree)
	}

	// Without the state after the call, nobody can say what it has changed.
	s := &snapshot{checkout: c, tree: tree, named: c.files, after: true}
	g.takeSnapshots(ctx, q, []*snapshot{s}, by.snapshotFacts(q, rescue.MomentAfter))
	if q.Unread && s.isLate() {
		c.endLate(s.taken.ID, stick.At(g.core.Now()))
		return nil
	}
	if s.err != nil || s.taken.ID == "" {
		return cmp.Or(s.err, s.commitsErr)
	}

	c.call.After, c.call.Ended = s.taken.ID, stick.At(g.core.Now())
	c.dirty, c.unkept = uncommittedIn(s.taken), findUnkept(s.taken)
	c.prune = g.Restorer.Store().BeginPrune(tree.Common, c.call.Ended)
	if c.call.Started.IsZero() {
		c.call.Started = c.call.Ended
	}

	// Only now is it known which calls have overlapped with this one.
	c.call.Overlapped = c.call.Overlaps(c.beside, c.call.Ended)

	var err error
	c.own, err = g.ownChanges(ctx, q, c)

	// To git, all files were taken out of it.
	if s.taken.NoIndex {
		maps.DeleteFunc(c.own, func(_ string, ch rescue.PathChange) bool { return ch.Kind == rescue.ChangeStaged })
	}

	c.dropTaskFile()
	c.call.Files, c.fold = len(c.own), len(c.own) > 0 && workspace.FoldsCase(c.top)
	return cmp.Or(err, s.commitsErr)
}

// askAhead has git asked what the snapshot after a command needs first. Where there are no snapshots yet, the
// room may want none, and nothing is asked.
func (g *Guard) askAhead(ctx context.Context, q editQuestion) *rescue.Ahead {
	if !q.Unread || q.at == nil || q.at.CheckoutTop() == "" {
		return nil
	}

	tree, ok := workspace.FindCheckout(q.at.CheckoutTop(), workspace.Env{})
	if !ok || !g.Restorer.Store().Knows(tree.Common) {
		return nil
	}

	return g.Restorer.Store().AskAhead(ctx, tree)
}

// dropTaskFile leaves out the file that tt itself puts into the worktree of a task: it is nobody's work, and
// tt writes it again.
func (c *checkout) dropTaskFile() {
	if c.apart {
		delete(c.own, core.TaskFileName)
	}
}

// uncommittedIn lists what a snapshot of all of a checkout found uncommitted. It is nil if the snapshot
// couldn't look everywhere.
func uncommittedIn(t rescue.Taken) []git.Uncommitted {
	if slices.ContainsFunc(t.LeftOut, func(l rescue.LeftOut) bool { return strings.HasSuffix(l.Path, "/") }) {
		return nil
	}

	// The snapshot has looked everywhere, so git needn't be asked again.
	dirty := make([]git.Uncommitted, 0, len(t.Paths))
	for _, path := range t.Paths {
		dirty = append(dirty, git.Uncommitted{Path: path})
	}

	return dirty
}

// endGone finds what a call has taken with a checkout that it has removed. Where only the repository is gone,
// files are still there.
func (g *Guard) endGone(ctx context.Context, c *checkout) error {
	c.own = map[string]rescue.PathChange{}
	if c.call.Before == "" {
		return nil
	}

	had, err := g.Restorer.Store().Show(ctx, c.call.Before)

	// The call has taken the repository itself, with all of its commits.
	if !c.apart && had.Common != "" && !workspace.IsGitDir(had.Common) {
		c.lost = had.Common
	}

	// What the snapshot before the call had, and isn't there now, the call has removed.
	for _, f := range had.Entries {
		_, lerr := os.Lstat(filepath.Join(c.top, filepath.FromSlash(f.Path)))
		if lerr != nil && !slices.Contains(f.States, "deleted") {
			c.own[f.Path] = rescue.PathChange{
				Path: f.Path, Kind: rescue.ChangeDeleted, Old: rescue.Side{Mode: "100644"},
			}
		}
	}

	c.dropTaskFile()
	c.call.Files, c.call.Ended, c.fold = len(c.own), stick.At(g.core.Now()), workspace.FoldsCase(c.top)
	return err
}

// ownChanges returns what a call has changed for sure, by path: what has changed while no other agent's call
// ran. Of an edit, these are the files that it names.
func (g *Guard) ownChanges(ctx context.Context, q editQuestion, c *checkout) (map[string]rescue.PathChange, error) {
	own := map[string]rescue.PathChange{}
	if c.call.Before == "" || c.call.Before == c.call.After {
		return own, nil
	}

	if !q.Unread && !c.compares {
		for _, path := range c.files {
			own[path] = rescue.PathChange{Path: path, Kind: rescue.ChangeChanged}
		}
		return own, nil
	}

	parts := []edits.CallPart{{From: c.call.Before, To: c.call.After, Alone: true}}

	// A command is told apart from calls beside it by the snapshots between them.
	if q.Unread {
		parts = c.call.Parts(c.beside, c.call.Ended)
	}

	for _, p := range parts {
		// While another agent's call ran, nobody can say whose a change is.
		if !p.Alone {
			continue
		}

		changes, err := g.Restorer.Store().Changes(ctx, p.From, p.To)
		if err != nil {
			return own, err
		}

		for _, ch := range changes {
			if q.Unread || slices.Contains(c.files, ch.Path) {
				own[ch.Path] = ch
			}
		}
	}

	g.dropCommitted(ctx, c.top, own)
	if !q.Unread {
		g.askUncommitted(ctx, c, own)
	}

	return own, nil
}

// askUncommitted asks git of the files of an edit that nobody had seen before whether they had uncommitted
// changes, such as those that a person has just made. The snapshot before an edit asks no git. Where git
// can't say, nobody is told.
func (g *Guard) askUncommitted(ctx context.Context, c *checkout, own map[string]rescue.PathChange) {
	var unsure []rescue.PathChange
	for _, ch := range own {
		if ch.Unsure && ch.Old.Blob != "" {
			unsure = append(unsure, ch)
		}
	}

	tree, ok := workspace.FindCheckout(c.top, workspace.Env{})
	if len(unsure) == 0 || !ok {
		return
	}

	// Only what was uncommitted before the edit can have been somebody's work.
	had, err := g.Restorer.Store().Uncommitted(ctx, tree, "HEAD", unsure)
	if err != nil {
		return
	}

	for _, ch := range unsure {
		if had[ch.Path] {
			ch.Unsure = false
			own[ch.Path] = ch
		}
	}
}

// dropCommitted leaves out files that are clean because they were committed as they were: nothing of them is
// lost. Where git can't say what was committed, they stay.
func (g *Guard) dropCommitted(ctx context.Context, top string, own map[string]rescue.PathChange) {
	const most = 500
	clean := map[string][]string{} // by the commit
	for path, ch := range own {
		if to := ch.New.Commit; ch.Kind == rescue.ChangeClean && to != ch.Old.Commit && len(clean[to]) < most {
			clean[to] = append(clean[to], path)
		}
	}

	for commit, paths := range clean {
		slices.Sort(paths)
		blobs, err := g.core.Config.Git.Blobs(ctx, top, commit, paths)
		if err != nil {
			continue
		}

		maps.DeleteFunc(own, func(path string, ch rescue.PathChange) bool {
			return ch.Kind == rescue.ChangeClean && ch.New.Commit == commit &&
				ch.Old.Blob != "" && ch.Old.Blob == blobs[path]
		})
	}
}
