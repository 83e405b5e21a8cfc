package guard

import (
	"cmp"
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/stash"
	"talkingstick/internal/shell"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// stashCall is a tool call as package stash judges it.
func (g *Guard) stashCall(q editQuestion) stash.ToolCall {
	return stash.ToolCall{
		Caller: q.Caller, Place: q.at, Trees: q.tree, Acts: q.Acts,
		HasWork: func(ctx context.Context, act shell.Act) (bool, error) { return g.hasToStash(ctx, q, act) },
	}
}

// hasToStash reports whether git stash would find something to stash. With nothing it makes no entry, and no
// error.
func (g *Guard) hasToStash(ctx context.Context, q editQuestion, act shell.Act) (bool, error) {
	looking, cancel := q.limitLook(ctx)
	defer cancel()

	// Git has to look at the whole checkout.
	if q.Rescuing != nil {
		q.Rescuing()
	}

	for _, a := range g.actsIn(q.at, []shell.Act{act}) {
		dirty, err := g.core.Config.Git.Uncommitted(looking, a.in.top, narrowPaths(a.paths)...)
		if err != nil {
			return true, err
		}

		for _, u := range dirty {
			if a.concernsChange(Change{Path: u.Path, git: u}) {
				return true, nil
			}
		}
	}

	return false, nil
}

// checkStash judges what the text of a command asks of the stash. Before a command that may use the entry of
// another, or one that nobody has noted, it keeps the entry's commit. See
// docs/decisions/stash-sweeps-and-stale-reads.md#the-stash.
func (g *Guard) checkStash(ctx context.Context, q editQuestion, res *MayEditResult) error {
	uses, failed := g.stash.FindUses(ctx, g.stashCall(q))
	for _, use := range uses {
		room, used, j, err := g.stash.MayUse(ctx, q.Caller, use)
		if failed = cmp.Or(failed, err); err != nil {
			continue
		}
		if why := j.Denied; why != nil {
			if room.ID != res.here {
				why = why.In(room.Path)
			}
			res.deny(room.ID, why)
			return failed
		}

		if len(used.Said) == 0 {
			continue
		}
		if q.Rescuing != nil {
			q.Rescuing()
		}

		kept, err := g.stash.Keep(ctx, use.Common, used.Keep)
		failed = cmp.Or(failed, err)
		t := telling{
			room: room.ID, Top: use.Top, Common: use.Common, Stays: use.Verb == "apply",
			Taken: edits.Taken{Form: use.Form, Stash: used.Said, Of: used.Of, Kept: kept},
		}

		for _, e := range use.Takes {
			t.Entries = append(t.Entries, e.Commit)
		}

		res.tellings = append(res.tellings, t)
	}

	return failed
}

// noteStash notes which entries of the stash a tool call of the caller has made.
func (g *Guard) noteStash(ctx context.Context, q editQuestion) error {
	// Only a command can stash something.
	if !q.Unread {
		return nil
	}
	return g.stash.Note(ctx, g.stashCall(q))
}

// adoptStash makes entries of the stash the caller's own, and keeps their commits.
func (g *Guard) adoptStash(
	ctx context.Context, p AdoptChangesParams, q edits.Adoption,
) (res AdoptChangesResult, err error) {
	done, err := g.stash.Adopt(ctx, stash.Adopting{
		Caller: p.Caller, Where: p.Where, Entries: p.Paths, Adoption: q,
	})
	if err != nil {
		return res, err
	}

	res = AdoptChangesResult{
		RoomID: done.RoomID, AgentID: done.AgentID, Joined: done.Joined, Checkout: done.Checkout,
		Paths: []string{}, Stash: done.Entries, Already: len(done.Entries) == 0, From: done.From,
	}
	if done.NotKept != nil {
		res.RescueWhy = "failed: " + stick.AsError(done.NotKept).Words()
	}

	return res, nil
}

// findCheckout returns the top level of the checkout of a place, and the git directory of its repository.
func (g *Guard) findCheckout(ctx context.Context, w core.Where) (top, common string, err error) {
	c, err := g.checkoutAt(ctx, w)
	if err != nil {
		return "", "", err
	}

	tree, ok := workspace.FindCheckout(c.top, workspace.Env{})
	if !ok {
		return "", "", errNoCheckout(c.top)
	}

	return c.top, tree.Common, nil
}
