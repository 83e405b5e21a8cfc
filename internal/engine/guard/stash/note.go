package stash

import (
	"cmp"
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// newStash is what a tool call may have put into the stash of a repository.
type newStash struct {
	Place
	named   []Place // where the call's text makes an entry
	entries []workspace.StashEntry
	room    stick.RoomID       // empty where nothing is to be noted
	to      []edits.StashEntry // what is to be noted
}

// Note notes which entries of the stash a tool call of the caller has made, and keeps their commits. An
// entry is the caller's if it was made since the call began, and no other agent's call can have made it. It
// reads a file of git's, and goes on only if there is a stash.
func (k *Keeper) Note(ctx context.Context, c ToolCall) error {
	stashes := k.newStashes(c)
	if len(stashes) == 0 {
		return nil
	}

	db, err := k.core.Open(ctx, false)
	if err != nil {
		return err
	}

	for _, s := range stashes {
		err = cmp.Or(err, k.noteIn(ctx, db, c.Caller, s))
	}

	return err
}

// newStashes finds the repositories in which a call may have stashed something and that have a stash.
func (k *Keeper) newStashes(c ToolCall) (all []*newStash) {
	at := func(dir string) (*newStash, Place) {
		p, ok := k.findPlace(c.Place, dir)
		if !ok {
			return nil, p
		}

		// All worktrees of a repository share one stash.
		i := slices.IndexFunc(all, func(s *newStash) bool { return s.Common == p.Common })
		if i < 0 {
			entries, _ := workspace.ReadStash(p.Common)
			if len(entries) == 0 {
				return nil, p
			}
			i, all = len(all), append(all, &newStash{Place: p, entries: entries})
		}

		return all[i], p
	}

	if c.Place != nil {
		at(c.Place.Path)
	}

	for _, p := range c.Trees {
		at(p.Path)
	}

	// The text of the command may say where it stashes.
	for _, act := range c.Acts {
		if makesEntry(act) {
			if s, p := at(act.Dir); s != nil {
				s.named = append(s.named, p)
			}
		}
	}

	return all
}

// noteIn notes what a call has put into one stash.
func (k *Keeper) noteIn(ctx context.Context, db *store.DB, by core.Caller, s *newStash) error {
	err := k.core.View(ctx, db, by, func(tx *store.Tx, probes *core.Probes) error {
		return s.readKnown(tx, probes, by)
	})
	if err != nil || len(s.to) == 0 {
		return err
	}

	// Most commands stash nothing, and take no lock.
	err = k.core.Update(ctx, db, by, func(tx *store.Tx, probes *core.Probes) error {
		if err := tx.LockRooms(s.room); err != nil {
			return err
		}
		return s.noteEntries(tx, probes, by)
	})

	// Who drops an entry needs its commit, so it is kept by us as well.
	var commits []string
	for _, e := range s.to {
		commits = append(commits, e.Commit)
	}

	_, kerr := k.Keep(ctx, s.Common, commits)
	return cmp.Or(err, kerr)
}

// readKnown finds out which entries are to be noted. There are none where the room enforces nothing, of
// somebody who isn't a member, and if nobody knows when the call began.
func (s *newStash) readKnown(tx *store.Tx, probes *core.Probes, by core.Caller) error {
	s.room, s.to = "", nil
	me, err := core.Identify(tx, probes, by)
	if err != nil {
		return err
	}

	rooms, err := tx.RoomsAt([][]string{s.chain})
	if err != nil || rooms[0].Room == "" {
		return err
	}

	r, err := tx.RoomPartAt(rooms[0], me.Agent)
	if err != nil {
		return err
	}

	m, ok := r.Member(me.Agent)
	if !edits.Enforces(r) || me.Person() || !ok || m.State != stick.Joined || m.BusySince.IsZero() {
		return nil
	}

	// What is older than the call was made by somebody else. Git counts in seconds.
	began := m.BusySince.Go().Unix()
	made := slices.DeleteFunc(slices.Clone(s.entries), func(e workspace.StashEntry) bool {
		return e.At.Unix() < began
	})
	if len(made) == 0 {
		return nil
	}
	if r, err = tx.Room(r.ID); err != nil {
		return err
	}

	s.room = r.ID
	if err := s.chooseEntries(tx, !edits.OthersInCall(r, me.Agent, probes.Probed, tx.Now()), made); err != nil {
		return err
	}

	return probes.RequireComplete(r)
}

// chooseEntries chooses those of the entries that nobody has noted and that are the caller's. If its text
// makes an entry and no other agent's call runs, they are. Otherwise the branch of an entry has to be that of
// a checkout in which the call works: another agent, or a person, has another branch in its own.
func (s *newStash) chooseEntries(tx *store.Tx, alone bool, made []workspace.StashEntry) error {
	ids := make([]string, len(made))
	for i, e := range made {
		ids[i] = e.Commit
	}

	known, err := tx.Stashed(s.room, ids)
	if err != nil {
		return err
	}

	// Without a command that names a place, an entry is the caller's only if nobody else worked.
	places := s.named
	if len(places) == 0 && alone {
		places = []Place{s.Place}
	}

	for _, e := range made {
		if _, noted := known[e.Commit]; noted || len(places) == 0 {
			continue
		}

		// The message of an entry names the branch on which it was made.
		on := slices.IndexFunc(places, func(p Place) bool {
			_, branch, _ := workspace.Head(p.Top)
			return branch != "" && branch == e.Branch()
		})
		if on < 0 && (!alone || len(s.named) == 0) {
			continue
		}

		s.to = append(s.to, edits.StashEntry{
			Commit: e.Commit, Message: e.Message, Checkout: places[max(on, 0)].Top,
		})
	}

	return nil
}

// noteEntries writes down that the caller has made entries, and forgets old ones.
func (s *newStash) noteEntries(tx *store.Tx, probes *core.Probes, by core.Caller) error {
	me, err := core.Identify(tx, probes, by)
	if err != nil {
		return err
	}

	r, err := tx.Room(s.room)
	if err != nil {
		return err
	}

	r = r.AtGeneration(tx.Generation(), tx.Now())
	made := ledger.EditorNow(r, me, probes.Probed, tx.Now())
	if err := probes.RequireComplete(r); err != nil {
		return err
	}

	// The transaction may run again, so it changes a copy.
	put := slices.Clone(s.to)
	for i := range put {
		put[i].By = made
	}

	return cmp.Or(tx.PutStashed(r.ID, put), tx.ForgetStashed(r.ID, tx.Now().Add(-keepEntries), maxEntries))
}
