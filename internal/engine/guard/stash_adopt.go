package guard

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// isStashName reports whether a path names an entry of the stash, such as stash@{1}.
func isStashName(path string) bool {
	_, ok := indexOf("refs/" + path)
	return ok
}

// adoptStash makes entries of the stash the caller's own, and keeps their commits.
func (g *Guard) adoptStash(
	ctx context.Context, p AdoptChangesParams, q edits.Adoption,
) (res AdoptChangesResult, err error) {
	c, entries, common, err := g.namedStash(ctx, p)
	if err != nil {
		return res, err
	}

	room := stick.RoomID("")
	err = g.core.Read(ctx, core.Where{Path: c.top}, p.Caller, func(
		_ *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity,
	) error {
		room = r.ID
		return edits.NotesEdits(r)
	})
	if err != nil {
		return res, err
	}

	err = g.writeRoom(ctx, core.Where{RoomID: room}, p.Caller, core.JoinsIfNew, func(o *op) error {
		o.Settle()
		q.By = ledger.EditorNow(o.Room, o.Me, o.Probes.Probed, o.Tx.Now())
		found, err := notedEntries(o.Tx, o.Room.ID, entries)
		if err != nil {
			return err
		}

		out, events, err := edits.AdoptStash(o.Room, q, askedBy(o.Me), c.top, found, o.Probes.Probed)
		if err != nil {
			return err
		}

		o.Apply(o.Room, events)

		res = AdoptChangesResult{
			RoomID: o.Room.ID, AgentID: o.Me.Agent, Joined: o.Joined, Checkout: c.top,
			Paths: []string{}, Already: len(out) == 0, From: []stick.AgentID{},
		}

		for _, e := range out {
			res.Stash = append(res.Stash, e.Name)
		}

		for _, ev := range events {
			res.From = append(res.From, ev.To)
		}

		return o.Tx.PutStashed(o.Room.ID, out)
	})
	if err != nil {
		return res, err
	}

	var commits []string
	for _, e := range entries {
		commits = append(commits, e.Commit)
	}

	if _, kerr := g.keepStashed(ctx, common, commits); kerr != nil {
		res.RescueWhy = "failed: " + stick.AsError(kerr).Words()
	}

	return res, nil
}

// namedStash finds the entries of the stash that the caller names, all of them or none.
func (g *Guard) namedStash(
	ctx context.Context, p AdoptChangesParams,
) (c *checkout, entries []edits.StashEntry, common string, err error) {
	if i := slices.IndexFunc(p.Paths, func(path string) bool { return !isStashName(path) }); i >= 0 {
		return nil, nil, "", stick.Errorf(
			stick.CodeUsage,
			"%s isn't a stash entry: name files or stash entries, not both", p.Paths[i],
		).
			With("field", "paths").With("path", p.Paths[i]).Hintf("run the command once for each")
	}

	if c, err = g.checkoutAt(ctx, p.Where); err != nil {
		return nil, nil, "", err
	}

	tree, ok := workspace.FindCheckout(c.top, workspace.Env{})
	if !ok {
		return nil, nil, "", errNoCheckout(c.top)
	}

	now := readStash(tree.Common)
	for _, name := range p.Paths {
		i, _ := indexOf("refs/" + name)
		if i >= len(now.entries) {
			return nil, nil, "", stick.Errorf(stick.CodeNotFound, "there is no %s", name).With("path", name).
				Hintf("to see what is in the stash: %s", stick.Cmd("git stash list"))
		}

		entries = append(entries, now.entries[i])
	}

	return c, entries, tree.Common, nil
}
