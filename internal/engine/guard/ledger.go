package guard

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// maxEdited is of how many files of a checkout it is noted who has edited them. With more, it is noted for whole directories.
const maxEdited = 5000

// checkout is one checkout of a git repository, and its room.
type checkout struct {
	top   string   // its top level
	chain []string // the places of its room, as in [workspace.Place]; those of a submodule go on with the checkout around it
	apart bool     // it is a linked worktree, or lies in one, so nobody reserves anything there
	files []string // relative to top: those that a tool call has changed

	looks bool // everything in it may have changed

	named []stick.SeenFile // of files, as they are after the call

	staged []git.Uncommitted // the files that a commit in progress takes; empty if git is to say what is uncommitted

	room  stick.RoomID       // empty where nothing is to be noted
	known []stick.EditedFile // what was noted before, of the files or of all
	since stick.Time         // when the caller's tool call began; zero if another agent's runs at the same time, or if that isn't known
	found []stick.SeenFile

	call      stick.Call                   // that has ended
	beside    []stick.Call                 // that ran in the same checkout meanwhile
	own       map[string]rescue.PathChange // what the call has changed, as far as that is sure
	hasOthers bool                         // somebody else has edited a file that the call names

	dirty []git.Uncommitted // what the snapshot after a call found uncommitted; nil if git is to say that
	fold  bool              // names that differ only in case are one file
	gone  bool              // the call has removed the checkout
	taken stick.Taken       // what of others' work the call has changed
	off   bool              // its room wants no snapshots
	prune bool              // somebody has to look through the snapshots of its repository
}

// checkoutOf returns the top level of the checkout that a place lies in, and "" if there is none.
func checkoutOf(p workspace.Place) string {
	if p.Found != workspace.FoundGit || p.WithoutGit {
		return ""
	}
	return cmp.Or(p.Worktree, p.Root)
}

// newCheckout returns the checkout that a place lies in. Its top is empty if there is none.
func newCheckout(p workspace.Place) *checkout {
	c := &checkout{top: checkoutOf(p), chain: p.Chain, apart: p.Worktree != ""}
	if around, ok := superproject(p); ok {
		over := newCheckout(around)
		c.chain, c.apart = slices.Concat(c.chain, over.chain), c.apart || over.apart
	}
	return c
}

// superproject returns the checkout around a submodule, whose git directory is elsewhere.
func superproject(p workspace.Place) (around workspace.Place, ok bool) {
	top := checkoutOf(p)
	if top == "" || p.Worktree != "" {
		return around, false
	}
	if git, err := os.Lstat(filepath.Join(top, ".git")); err != nil || !git.Mode().IsRegular() {
		return around, false
	}
	around, err := workspace.Resolve(filepath.Dir(top), workspace.Env{})
	return around, err == nil && around.Found == workspace.FoundGit
}

// checkouts returns the checkouts in which a tool call has changed files.
func (q editQuestion) checkouts() (all []*checkout) {
	at := func(p workspace.Place) *checkout {
		top := checkoutOf(p)
		i := slices.IndexFunc(all, func(c *checkout) bool { return c.top == top })
		if top == "" {
			return &checkout{}
		}
		if i < 0 {
			i, all = len(all), append(all, newCheckout(p))
		}
		return all[i]
	}
	for _, x := range q.in {
		if c := at(x.Place); c.top != "" && !x.Dir {
			rel, _ := workspace.Below(x.Full, c.top)
			c.files = another(c.files, rel)
		}
	}
	if q.Unread && q.at != nil {
		at(*q.at).looks = true
		for _, p := range q.tree {
			at(p).looks = true
		}
	}
	return all
}

// noteEdits notes who has edited which files, after a tool call of the caller: the files that the call names, and what a
// command has changed that only a look at its checkout shows. It notes nothing where the room enforces nothing, and nothing
// of somebody who isn't a member.
func (g *Guard) noteEdits(ctx context.Context, q editQuestion) ([]*checkout, error) {
	all := q.checkouts()
	hasChangedNothing := q.Failed && !q.Unread // only a command that fails may have done a part of its work
	mayBeGone := q.Unread && q.at != nil       // with the checkout in which it ran
	if len(all) == 0 && !mayBeGone || hasChangedNothing {
		return nil, nil
	}
	db, err := g.core.Open(ctx, false)
	if err != nil {
		return nil, err
	}
	all, by, err := g.readNoted(ctx, db, q, all)
	if err != nil || len(all) == 0 {
		return nil, err
	}

	err = g.lookAfter(ctx, q, all, by)
	return all, cmp.Or(g.writeNoted(ctx, db, q, all), err)
}

// readNoted reads what was noted of checkouts, and when the call began in each. It returns those of which something is to be noted.
func (g *Guard) readNoted(ctx context.Context, db *store.DB, q editQuestion, all []*checkout) (noted []*checkout, by keeper, err error) {
	var elsewhere []stick.Call
	err = g.core.View(ctx, db, q.Caller, func(tx *store.Tx, probes *core.Probes) error {
		noted, by, elsewhere = nil, keeper{}, nil
		me, err := core.Identify(tx, probes, q.Caller)
		if err != nil {
			return err
		}
		for _, c := range all {
			r, err := c.read(tx, me)
			if err != nil {
				return err
			}
			if c.room == "" {
				continue
			}
			by.meet(r, me)
			noted = append(noted, c)
			if err := c.readCall(tx, q, me.Agent); err != nil {
				return err
			}
		}
		if by.room.ID == "" && q.Unread && q.at != nil {
			if err := by.meetAt(tx, *q.at, me); err != nil {
				return err
			}
		}
		if by.room.ID == "" || !q.Unread {
			return nil
		}

		elsewhere, err = q.callsElsewhere(tx, by.room.ID, me.Agent, noted)
		return err
	})
	if err != nil || len(elsewhere) == 0 {
		return noted, by, err
	}

	others, err := g.readElsewhere(ctx, db, q, elsewhere, by)
	return append(noted, others...), by, err
}

// readElsewhere is [Guard.readNoted] of checkouts that only the beginning of the call has named.
func (g *Guard) readElsewhere(ctx context.Context, db *store.DB, q editQuestion, calls []stick.Call, by keeper) (others []*checkout, err error) {
	for _, call := range calls {
		others = append(others, checkoutOfCall(call, by.room))
	}
	err = g.core.View(ctx, db, q.Caller, func(tx *store.Tx, _ *core.Probes) error {
		for _, c := range others {
			if c.gone {
				continue
			}
			if _, err := c.read(tx, by.me); err != nil {
				return err
			}
			if err := c.readCall(tx, q, by.me.Agent); err != nil {
				return err
			}
		}
		return nil
	})
	return slices.DeleteFunc(others, func(c *checkout) bool { return c.room == "" }), err
}

// lookAfter makes the snapshots after a call, and finds what files are like now.
func (g *Guard) lookAfter(ctx context.Context, q editQuestion, all []*checkout, by keeper) error {
	looking, cancel := q.looking(ctx)
	defer cancel()

	errs := make([]error, 2*len(all))
	var wait sync.WaitGroup
	for i, c := range all {
		if c.gone {
			errs[2*i] = g.endGone(ctx, c)
			continue
		}
		wait.Go(func() {
			if !c.off {
				errs[2*i] = g.endCall(ctx, q, c, by)
			}
			errs[2*i+1] = c.look(looking, g.core.Config.Git)
		})
	}
	wait.Wait()

	for _, c := range all {
		c.markOwn()
	}
	return cmp.Or(errs...)
}

// writeNoted writes down who has edited what, and that the call has ended.
func (g *Guard) writeNoted(ctx context.Context, db *store.DB, q editQuestion, all []*checkout) error {
	var rooms []stick.RoomID
	for _, c := range all {
		rooms = append(rooms, c.room)
	}
	return g.core.Update(ctx, db, q.Caller, func(tx *store.Tx, probes *core.Probes) error {
		if err := tx.LockRooms(rooms...); err != nil {
			return err
		}
		me, err := core.Identify(tx, probes, q.Caller)
		if err != nil {
			return err
		}
		for _, c := range all {
			if err := c.writeEnd(tx, probes, me); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeEnd is the part of [Guard.writeNoted] in one checkout.
func (c *checkout) writeEnd(tx *store.Tx, probes *core.Probes, me core.Identity) (err error) {
	if c.taken, err = c.othersWork(tx, probes, me); err != nil {
		return err
	}

	if !c.gone {
		if err := c.note(tx, probes, me); err != nil {
			return err
		}
	}
	if c.call.Before == "" && c.call.After == "" {
		return nil
	}
	call := c.call
	return recordCall(tx, c.room, &call)
}

// looking limits a look at a checkout.
func (q editQuestion) looking(ctx context.Context) (context.Context, context.CancelFunc) {
	if q.LookFor <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, q.LookFor)
}

// read finds the room of a checkout and what was noted there. c.room stays empty if nothing is to be noted.
func (c *checkout) read(tx *store.Tx, me core.Identity) (r stick.Room, err error) {
	c.room, c.known, c.since, c.off = "", nil, 0, false
	rooms, err := tx.RoomsAt([][]string{c.chain})
	if err != nil || rooms[0].Room == "" {
		return r, err
	}
	if r, err = tx.PartAt(rooms[0], me.Agent); err != nil {
		return r, err
	}
	m, ok := r.Member(me.Agent)
	if !r.Enforces() || me.Person() || !ok || m.State != stick.Joined {
		return r, nil
	}
	c.room, c.off = r.ID, !r.KeepsSnapshots()
	if !c.looks {
		return r, nil
	}

	if r, err = tx.Room(r.ID); err != nil {
		return r, err
	}
	c.since = m.BusySince
	for _, o := range r.Members {
		if o.Agent != me.Agent && o.State == stick.Joined && !o.BusySince.IsZero() && !c.since.IsZero() {
			c.since = 0
		}
	}
	c.known, err = tx.Edited(c.room, c.top, nil)
	return r, err
}

// markOwn has what the call has changed for sure be its agent's, and nothing else. Where there are no snapshots, what the file system
// tells has to do.
func (c *checkout) markOwn() {
	if c.call.Before == "" || c.call.After == "" || !c.looks {
		return
	}
	for i, f := range c.found {
		_, c.found[i].New = c.own[f.Path]
	}
}

// look finds what the checkout's files are like now. If it can't look at all of them in time, c.found has only those that
// are named.
func (c *checkout) look(ctx context.Context, g git.Client) error {
	known := map[string]stick.FileState{}
	for _, f := range c.known {
		known[f.Path] = f.State
	}
	for _, path := range c.files {
		if s, _, err := workspace.SeeFile(filepath.Join(c.top, path), stick.FileState{}); err == nil {
			c.found = append(c.found, stick.SeenFile{Path: path, State: s, New: true})
		}
	}
	c.named = c.found
	if !c.looks {
		return nil
	}

	var seen []stick.SeenFile
	var err error
	if c.dirty != nil {
		seen, err = seeFiles(ctx, c.top, c.dirty, known, c.since)
	} else {
		_, seen, err = seeUncommitted(ctx, g, c.top, known, c.since)
	}
	if err != nil {
		c.looks = false
		return err
	}
	c.found = seen
	return nil
}

// seeUncommitted lists the files of a checkout that have changes, and says what they are like, and which of known are gone. What has
// changed since a time is new; if that time is zero, nothing is. With paths, it looks only there and below.
func seeUncommitted(ctx context.Context, g git.Client, top string, known map[string]stick.FileState, since stick.Time, paths ...string) (dirty []git.Uncommitted, found []stick.SeenFile, err error) {
	if dirty, err = g.Uncommitted(ctx, top, paths...); err != nil {
		return nil, nil, err
	}
	found, err = seeFiles(ctx, top, dirty, known, since)
	return dirty, found, err
}

// seeFiles says what the files of a checkout that have changes are like, and which of known are gone. Its since is that of
// [seeUncommitted].
func seeFiles(ctx context.Context, top string, dirty []git.Uncommitted, known map[string]stick.FileState, since stick.Time) (found []stick.SeenFile, err error) {
	const coarse = 10 * time.Millisecond // file systems take their time from a clock that ticks that slowly
	isDirty := map[string]bool{}
	for _, u := range dirty {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		isDirty[u.Path] = true
		s, changed, err := workspace.SeeFile(filepath.Join(top, u.Path), known[u.Path])
		if err != nil { // such as a repository of its own, or a file that can't be read
			continue
		}
		recent := s.Sum == "" || !changed.Before(since.Go().Add(-coarse))
		found = append(found, stick.SeenFile{Path: u.Path, State: s, New: recent && !since.IsZero()})
	}
	for _, path := range slices.Sorted(maps.Keys(known)) {
		if isDirty[path] || strings.HasSuffix(path, "/") {
			continue
		}
		if s, _, err := workspace.SeeFile(filepath.Join(top, path), known[path]); err == nil && s.Sum == "" {
			found = append(found, stick.SeenFile{Path: path, Clean: true})
		}
	}
	return found, nil
}

// note writes down what was found.
func (c *checkout) note(tx *store.Tx, probes *core.Probes, me core.Identity) error {
	r, err := tx.Room(c.room)
	if err != nil {
		return err
	}
	r = r.AtGeneration(tx.Generation(), tx.Now())
	by := editor(r, me, probes.Probed, tx.Now())
	if err := probes.Enough(r); err != nil {
		return err
	}
	if err := c.noteWritten(&op{&core.Op{Tx: tx, Probes: probes, Me: me, Room: r}}); err != nil {
		return err
	}
	if c.looks {
		known, err := tx.Edited(c.room, c.top, nil)
		if err != nil {
			return err
		}
		return c.put(tx, known, stick.Look(known, c.found, by))
	}
	if len(c.found) == 0 {
		return nil
	}
	known, err := tx.Edited(c.room, c.top, c.files)
	if err != nil {
		return err
	}
	var noted []stick.EditedFile
	for _, s := range c.found {
		f := stick.EditedFile{Path: s.Path}
		if i := slices.IndexFunc(known, func(k stick.EditedFile) bool { return k.Path == s.Path }); i >= 0 {
			f = known[i]
		}
		noted = append(noted, f.Note(by, s.State))
	}
	return c.add(tx, noted)
}

// add writes down what is known of some files, beside what was noted of the others.
func (c *checkout) add(tx *store.Tx, noted []stick.EditedFile) error {
	n, err := tx.CountEdited(c.room, c.top)
	if err != nil || n+len(noted) <= maxEdited {
		return cmp.Or(err, tx.PutEdited(c.room, c.top, noted))
	}
	all, err := tx.Edited(c.room, c.top, nil)
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(f stick.EditedFile) bool {
		return slices.ContainsFunc(noted, func(n stick.EditedFile) bool { return n.Path == f.Path })
	})
	return c.put(tx, all, append(rest, noted...))
}

// put replaces what was noted of a checkout.
func (c *checkout) put(tx *store.Tx, before, after []stick.EditedFile) error {
	after = slices.DeleteFunc(after, func(f stick.EditedFile) bool { return f.Forgotten(tx.Now()) })
	after = stick.Fold(after, maxEdited)
	rows := map[string]stick.EditedFile{}
	for _, f := range before {
		rows[f.Path] = f
	}
	var put []stick.EditedFile
	for _, f := range after {
		b, ok := rows[f.Path]
		delete(rows, f.Path)
		if !ok || b.State != f.State || b.Asleep != f.Asleep || !slices.Equal(b.Editors, f.Editors) {
			put = append(put, f)
		}
	}
	var gone []string
	for path := range rows {
		gone = append(gone, path)
	}
	slices.Sort(gone)
	return cmp.Or(tx.DropEdited(c.room, c.top, gone), tx.PutEdited(c.room, c.top, put))
}

// editor describes the caller as one who edits now.
func editor(r stick.Room, me core.Identity, s *stick.Probed, now stick.Time) stick.Editor {
	by := stick.Editor{Agent: me.Agent, Helper: me.Caller.Helper, Turn: r.Turn.ID, At: now, Under: r.Starter(me.Above)}
	_, under := r.Parent(me.Agent, me.Above, s)
	by.Held = under || r.Turn.State == stick.Owned && r.Turn.Owner == me.Agent
	return by
}
