package guard

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// CheckCommit decides for git's hook pre-commit whether a commit of the files p.Tracked may take along
// others' work. Whether the caller may change these files at all, [Guard.CheckEdit] says. It allows
// everything outside of rooms and checkouts, and looks at files only where somebody else is known to have
// edited some. Like CheckEdit, it only reads; [Guard.EditChecked] records what there is to record. See
// docs/decisions/stash-sweeps-and-stale-reads.md#what-a-commit-sweeps-up.
func (g *Guard) CheckCommit(ctx context.Context, p CheckEditParams) (res MayEditResult, err error) {
	res = MayEditResult{Allowed: true, Reserved: []stick.Reservation{}}
	at, err := g.core.PlaceOfHook(p.Where)
	if err != nil || at == nil || len(p.Tracked) == 0 {
		return res, err
	}

	c := newCheckout(*at)
	if c.top == "" {
		return res, nil
	}
	if c.staged, err = g.maybeOthers(ctx, p.Caller, c, p.Tracked); err != nil || len(c.staged) == 0 {
		return res, err
	}

	w, err := g.findWork(ctx, p.Caller, c)
	if err != nil {
		return res, err
	}

	theirs, err := w.findSwept(ctx, g.core.Config.Git, c.top)
	if err != nil || len(theirs) == 0 {
		return res, err
	}

	own := slices.DeleteFunc(slices.Clone(p.Tracked), func(path string) bool {
		return slices.ContainsFunc(theirs, func(s edits.Swept) bool { return s.Path == path })
	})

	res.RoomID, res.AgentID, res.Enforce = w.room.ID, w.me.Agent, w.room.Policy.Enforce
	j := edits.MayCommit(w.room, theirs, own)
	if why := cmp.Or(j.Denied, j.Told); why != nil {
		res.setJudgement(why, j.Denied == nil)
	}
	if !res.Allowed {
		err = g.runHookOp(ctx, p.HookParams, false, func(o *op) error {
			recorded, err := o.alreadyDenied()
			res.due = !recorded
			return err
		})
	}

	return res, err
}

// maybeOthers returns those of the staged files of a checkout that may be others': none if nobody but the
// caller has edited anything there. Files that nobody is known to have edited count only where one that
// another has edited is gone, and may have got their names.
func (g *Guard) maybeOthers(
	ctx context.Context, by core.Caller, c *checkout, staged []string,
) (out []git.Uncommitted, err error) {
	db, err := g.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	var me stick.AgentID
	var rows []edits.EditedFile
	err = g.core.View(ctx, db, by, func(tx *store.Tx, probes *core.Probes) error {
		id, err := core.Identify(tx, probes, by)
		if err != nil {
			return err
		}

		me, rows = id.Agent, nil
		rooms, err := tx.RoomsAt([][]string{c.chain})
		if err != nil || rooms[0].Room == "" || id.Person() {
			return err
		}

		r, err := tx.RoomPartAt(rooms[0], me)
		if err == nil && edits.Enforces(r) {
			rows, err = tx.Edited(r.ID, c.top, nil)
		}

		return err
	})
	if err != nil {
		return nil, err
	}

	noted := map[string]bool{}
	all := false
	for _, f := range rows {
		if !slices.ContainsFunc(f.Editors, func(e edits.Editor) bool { return e.Agent != "" && e.Agent != me }) {
			continue
		}

		noted[f.Path] = true
		_, gone := os.Lstat(filepath.Join(c.top, f.Path))
		all = all || gone != nil || strings.HasSuffix(f.Path, "/")
	}

	for _, path := range staged {
		if len(noted) > 0 && (all || noted[path]) {
			out = append(out, git.Uncommitted{Path: path, Index: 'M', Tree: ' '})
		}
	}

	return out, nil
}

// findSwept returns those of the changes that are others'. What they have edited isn't theirs any more once
// it is committed. Hooks that look at a checkout find that out, and nobody has looked after a commit that a
// person has made. If only a part was committed, the rest counts as committed, too. Only a commit is judged
// so, because it loses nothing; what is taken away stays theirs.
func (w *uncommittedWork) findSwept(ctx context.Context, g git.Client, top string) (theirs []edits.Swept, err error) {
	var paths []string
	var since stick.Time
	for _, c := range w.changes {
		if c.Share != edits.ShareOthers {
			continue
		}

		paths = append(paths, c.Path)
		for _, e := range c.Editors {
			if since.IsZero() || e.At < since {
				since = e.At
			}
		}
	}

	if len(paths) == 0 {
		return nil, nil
	}

	committed, err := g.CommittedSince(ctx, top, since, paths)
	if err != nil {
		return nil, err
	}

	for _, c := range w.changes {
		if c.Share != edits.ShareOthers {
			continue
		}

		left := slices.DeleteFunc(slices.Clone(c.Others), func(a stick.AgentID) bool {
			return slices.ContainsFunc(c.Editors, func(e edits.Editor) bool {
				return e.Agent == a && !e.Claim && e.At < committed[c.Path]
			})
		})
		if len(left) > 0 {
			theirs = append(theirs, edits.Swept{Path: c.Path, Others: left})
		}
	}

	return theirs, nil
}
