package guard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// telling is what a command is going to do to work of others, beyond what the snapshots around it show: to
// sweep it up, to drop refs, to use entries of the stash. The hook after the command tells as much of it as
// has happened.
type telling struct {
	Top    string // of the checkout
	Common string // the git directory of its repository
	Taken  edits.Taken

	Tips []rescue.Tip // what the refs are that it drops

	// the commit that was checked out, where it sweeps; empty if files don't tell
	Head    string
	Owners  map[string][]stick.AgentID // of the files that it sweeps up
	Entries []string                   // commits of the entries of the stash that it uses
	Stays   bool                       // these entries stay on the stash

	room stick.RoomID
}

// keepTellings is how long a call may take. What was going to happen is forgotten then.
const keepTellings = 24 * time.Hour

// questionSum tells a call from others of the same agent.
func (q editQuestion) questionSum() string {
	s := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", q.Caller.Helper, q.Tool, q.Call, q.Text))
	return hex.EncodeToString(s[:12])
}

// tellsLater reports whether the hook after a call may have to tell of an act what the hook before it has
// found.
func tellsLater(a shell.Act) bool {
	return slices.Contains([]shell.Kind{shell.Drops, shell.Sweeps, shell.Applies, shell.Pops}, a.Kind)
}

// putTellings writes down what a command is going to do.
func (g *Guard) putTellings(ctx context.Context, q editQuestion, all []telling) error {
	byRoom := map[stick.RoomID][]telling{}
	for _, t := range all {
		byRoom[t.room] = append(byRoom[t.room], t)
	}

	var err error
	for _, room := range slices.Sorted(maps.Keys(byRoom)) {
		plan, merr := json.Marshal(byRoom[room])
		if merr != nil {
			return merr
		}

		p := q.HookParams
		p.Where = core.Where{RoomID: room}
		err = errors.Join(err, g.runHookOp(ctx, p, true, func(o *op) error {
			return o.Tx.PutTelling(o.Room.ID, o.Me.Agent, q.questionSum(), string(plan))
		}))
	}

	return err
}

// tellHappened tells what has happened of what the hook before a command has found.
func (g *Guard) tellHappened(ctx context.Context, q editQuestion) error {
	if !slices.ContainsFunc(q.Acts, tellsLater) {
		return nil
	}

	plans, err := g.readTellings(ctx, q)
	for _, room := range slices.Sorted(maps.Keys(plans)) {
		var planned []telling
		if jerr := json.Unmarshal([]byte(plans[room]), &planned); jerr != nil {
			return jerr
		}

		var happened []roomTaking
		for _, t := range planned {
			taken, terr := g.findHappened(ctx, q, t)
			if err = cmp.Or(err, terr); taken.Form != "" {
				happened = append(happened, roomTaking{room: room, top: t.Top, Taken: taken})
			}
		}

		err = errors.Join(err, g.tellIn(ctx, q, room, happened))
	}

	return err
}

func (g *Guard) readTellings(ctx context.Context, q editQuestion) (plans map[stick.RoomID]string, err error) {
	db, err := g.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	err = g.core.View(ctx, db, q.Caller, func(tx *store.Tx, probes *core.Probes) error {
		me, err := core.Identify(tx, probes, q.Caller)
		if err != nil {
			return err
		}

		plans, err = tx.Tellings(me.Agent, q.questionSum())
		return err
	})
	return plans, err
}

// tellIn tells in one room what a command has done, and forgets what it was going to do.
func (g *Guard) tellIn(ctx context.Context, q editQuestion, room stick.RoomID, happened []roomTaking) error {
	p := q.HookParams
	p.Where = core.Where{RoomID: room}
	return g.runHookOp(ctx, p, true, func(o *op) error {
		for _, t := range mergeTakings(happened) {
			t.By = o.Me.Agent
			o.Events = append(o.Events, edits.Take(o.Room, t.Taken))
		}
		return o.Tx.DropTelling(o.Room.ID, o.Me.Agent, q.questionSum(), o.Tx.Now().Add(-keepTellings))
	})
}

// findHappened returns what a command has done of what it was going to do, empty for nothing.
func (g *Guard) findHappened(ctx context.Context, q editQuestion, t telling) (done edits.Taken, err error) {
	switch {
	case t.Taken.Sweeps:
		return g.findSwept(ctx, t)
	case len(t.Entries) > 0:
		gone, err := g.goneEntries(ctx, t.Common, t.Entries)
		if err != nil || t.Stays && q.Failed || !t.Stays && len(gone) == 0 {
			return done, err
		}
		return t.Taken, nil
	}

	lost, err := g.lostNow(ctx, t)
	if err != nil || len(lost) == 0 {
		return done, err
	}

	done = t.Taken
	if done.Kept = nil; len(t.Taken.Kept) > 0 {
		for _, tip := range lost {
			done.Kept = append(done.Kept, tip.Ref)
		}
	}

	return done, nil
}

// lostNow returns those of the tips that their refs have lost.
func (g *Guard) lostNow(ctx context.Context, t telling) (lost []rescue.Tip, err error) {
	var refs, entries []string
	for _, tip := range t.Tips {
		if tip.Of == rescue.StashName {
			entries = append(entries, tip.Commit)
		} else {
			refs = append(refs, tip.Of)
		}
	}

	now, gone := map[string]string{}, []string(nil)
	if len(refs) > 0 {
		now, err = g.core.Config.Git.RefValues(ctx, t.Common, refs...)
	}
	if len(entries) > 0 && err == nil {
		gone, err = g.goneEntries(ctx, t.Common, entries)
	}
	if err != nil {
		return nil, err
	}

	for _, tip := range t.Tips {
		isLost := now[tip.Of] != tip.Commit
		if tip.Of == rescue.StashName {
			isLost = slices.Contains(gone, tip.Commit)
		}
		if isLost && !slices.Contains(lost, tip) {
			lost = append(lost, tip)
		}
	}

	return lost, nil
}

// goneEntries returns those of the commits that aren't entries of the stash.
func (g *Guard) goneEntries(ctx context.Context, common string, commits []string) (gone []string, err error) {
	var has []string
	entries, ok := workspace.ReadStash(common)
	for _, e := range entries {
		has = append(has, e.Commit)
	}

	if !ok {
		has, err = g.core.Config.Git.TipsOfRef(ctx, common, rescue.StashName)
	}

	for _, c := range commits {
		if !slices.Contains(has, c) {
			gone = append(gone, c)
		}
	}

	return gone, err
}

// findSwept returns which files of others are in the index, or in a commit, since a command.
func (g *Guard) findSwept(ctx context.Context, t telling) (done edits.Taken, err error) {
	if core.IsGone(t.Top) {
		return done, nil
	}

	dirty, err := g.core.Config.Git.Uncommitted(ctx, t.Top, narrowPaths(t.Taken.Files)...)
	if err != nil {
		return done, err
	}

	staged, left := map[string]bool{}, map[string]bool{}
	for _, u := range dirty {
		left[u.Path] = true
		staged[u.Path] = u.Tree == ' ' && u.Index != '?'
	}

	head, _, _ := workspace.Head(t.Top)

	done = edits.Taken{By: t.Taken.By, Form: t.Taken.Form, Sweeps: true}
	for _, f := range t.Taken.Files {
		isCommitted := !left[f] && head != t.Head
		if staged[f] || isCommitted {
			done.Files, done.Of = append(done.Files, f), withAgents(done.Of, t.Owners[f])
		}
	}

	if len(done.Files) == 0 {
		return edits.Taken{}, nil
	}

	return done, nil
}
