package stash

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// IsName reports whether a path names an entry of the stash, such as stash@{1}.
func IsName(path string) bool {
	_, ok := IndexOf("refs/" + path)
	return ok
}

// Adopting names entries of the stash that the caller makes its own.
type Adopting struct {
	Caller  core.Caller
	Where   core.Where
	Entries []string // as git names them, such as stash@{1}
	edits.Adoption
}

// Adopted says what is the caller's now, and whose it was.
type Adopted struct {
	RoomID   stick.RoomID
	AgentID  stick.AgentID
	Joined   bool
	Checkout string          // its top level
	Entries  []string        // that weren't the caller's before
	From     []stick.AgentID // who had made them; each gets an event
	NotKept  error           // why their commits aren't kept; nil if they are
}

// Adopt makes entries of the stash the caller's own, and keeps their commits.
func (k *Keeper) Adopt(ctx context.Context, p Adopting) (res Adopted, err error) {
	top, entries, common, err := k.findNamed(ctx, p)
	if err != nil {
		return res, err
	}

	room := stick.RoomID("")
	err = k.core.Read(ctx, core.Where{Path: top}, p.Caller, func(
		_ *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity,
	) error {
		room = r.ID
		return edits.NotesEdits(r)
	})
	if err != nil {
		return res, err
	}

	err = k.core.Write(ctx, core.Where{RoomID: room}, p.Caller, core.JoinsIfNew, func(o *core.Op) error {
		o.Settle()
		q := p.Adoption
		q.By = ledger.EditorNow(o.Room, o.Me, o.Probes.Probed, o.Tx.Now())
		found, err := notedEntries(o.Tx, o.Room.ID, entries)
		if err != nil {
			return err
		}

		out, events, err := edits.AdoptStash(o.Room, q, askedBy(o.Me), top, found, o.Probes.Probed)
		if err != nil {
			return err
		}

		o.Apply(o.Room, events)

		res = Adopted{
			RoomID: o.Room.ID, AgentID: o.Me.Agent, Joined: o.Joined, Checkout: top, From: []stick.AgentID{},
		}

		for _, e := range out {
			res.Entries = append(res.Entries, e.Name)
		}

		for _, ev := range events {
			res.From = append(res.From, ev.To)
		}

		return o.Tx.PutStashed(o.Room.ID, out)
	}, nil)
	if err != nil {
		return res, err
	}

	var commits []string
	for _, e := range entries {
		commits = append(commits, e.Commit)
	}

	_, res.NotKept = k.Keep(ctx, common, commits)
	return res, nil
}

// findNamed finds the entries of the stash that the caller names, all of them or none.
func (k *Keeper) findNamed(
	ctx context.Context, p Adopting,
) (top string, entries []edits.StashEntry, common string, err error) {
	if i := slices.IndexFunc(p.Entries, func(path string) bool { return !IsName(path) }); i >= 0 {
		return "", nil, "", stick.Errorf(
			stick.CodeUsage,
			"%s isn't a stash entry: name files or stash entries, not both", p.Entries[i],
		).
			With("field", "paths").With("path", p.Entries[i]).Hintf("run the command once for each")
	}

	if top, common, err = k.findCheckout(ctx, p.Where); err != nil {
		return "", nil, "", err
	}

	now := readStash(common)
	for _, name := range p.Entries {
		i, _ := IndexOf("refs/" + name)
		if i >= len(now.entries) {
			return "", nil, "", stick.Errorf(stick.CodeNotFound, "there is no %s", name).With("path", name).
				Hintf("to see what is in the stash: %s", stick.Cmd("git stash list"))
		}

		entries = append(entries, now.entries[i])
	}

	return top, entries, common, nil
}
