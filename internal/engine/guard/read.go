package guard

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// How much is noted of what an agent has read, together with its sub-agents, and how long. What it read
// earlier it has rarely in mind.
const (
	maxReads  = 500
	keepReads = 48 * time.Hour
)

// maxCounted is the longest diff whose lines are counted, in bytes.
const maxCounted = 1 << 20

// countLimit is how long a refusal waits for git to say how many lines have changed.
const countLimit = 100 * time.Millisecond

// knownRead is what is noted of a file that the caller is about to write whole.
type knownRead struct {
	room stick.RoomID
	top  string // of the checkout
	edits.NotedRead
}

// checkoutsOf returns the checkouts that files lie in. It leaves out what can't be looked up, and what lies
// outside of git.
func checkoutsOf(targets *workspace.Targets, paths []string) (all []*checkout) {
	for _, path := range paths {
		found, err := targets.ResolveWritten(path)
		if err != nil || len(found) == 0 {
			continue
		}

		// What counts is where links lead to.
		x := found[len(found)-1]
		top := x.Place.CheckoutTop()
		if top == "" || x.Dir {
			continue
		}

		// Files of one checkout are kept together.
		i := slices.IndexFunc(all, func(c *checkout) bool { return c.top == top })
		if i < 0 {
			i, all = len(all), append(all, newCheckout(x.Place))
		}

		rel, _ := workspace.RelBelow(x.Full, top)
		all[i].files = addPath(all[i].files, rel)
	}

	return all
}

// findReads finds what is noted of the files that the caller is about to write whole.
func (o *op) findReads(q editQuestion, res *MayEditResult) error {
	if !res.Allowed || o.Me.Person() || !edits.Enforces(o.Room) {
		return nil
	}

	for _, c := range q.wholes {
		reads, err := o.Tx.Reads(o.readsOf(c, c.files))
		if err != nil {
			return err
		}

		for _, n := range reads {
			res.reads = append(res.reads, knownRead{o.Room.ID, c.top, n})
		}
	}

	return nil
}

// readsOf asks what is noted of what the caller has read in a checkout.
func (o *op) readsOf(c *checkout, paths []string) store.ReadQuery {
	return store.ReadQuery{
		Room: o.Room.ID, Agent: o.Me.Agent, Helper: o.Me.Caller.Helper, Checkout: c.top, Paths: paths,
	}
}

// checkReads refuses once to write files whole that somebody has changed since the caller last saw them. Of
// most calls nothing is known, and they cost nothing here. See
// docs/decisions/stash-sweeps-and-stale-reads.md#stale-reads.
func (g *Guard) checkReads(ctx context.Context, q editQuestion, res *MayEditResult) error {
	var writes []edits.StaleWrite
	var stale []knownRead
	for _, n := range res.reads {
		now, _, err := workspace.StateOfFile(filepath.Join(n.top, n.Path), n.State)
		if err == nil && n.IsStale(now) {
			n.Refused = now.Sum
			writes, stale = append(writes, edits.StaleWrite{Read: n.NotedRead}), append(stale, n)
		}
	}

	if len(stale) == 0 {
		return nil
	}

	// Only now does it pay to ask who has changed the files.
	room, err := g.findChangers(ctx, q.Caller, stale, writes)
	if err != nil {
		return err
	}
	if why := edits.RefuseStale(room, writes); why != nil {
		if room.ID != res.here {
			why = why.In(room.Path)
		}
		res.deny(room.ID, why)
		res.stale = stale
	}

	return nil
}

// findChangers fills in who has changed the files, and how much, and returns the room of the first.
func (g *Guard) findChangers(
	ctx context.Context, by core.Caller, stale []knownRead, writes []edits.StaleWrite,
) (r stick.Room, err error) {
	db, err := g.core.Open(ctx, false)
	if err != nil {
		return r, err
	}

	err = g.core.View(ctx, db, by, func(tx *store.Tx, _ *core.Probes) error {
		if r, err = tx.Room(stale[0].room); err != nil {
			return err
		}

		r = r.AtGeneration(tx.Generation(), tx.Now())
		for i, n := range stale {
			known, err := tx.Edited(n.room, n.top, []string{n.Path})
			if err != nil {
				return err
			}

			for _, f := range known {
				writes[i].By = f.LastEditor(edits.FileState{Sum: n.Refused})
			}
		}

		return nil
	})
	if err == nil {
		g.countLines(ctx, stale[0], &writes[0])
	}

	return r, err
}

// countLines counts the lines that have changed since a file was read, where it was read as it is in the
// commit that is checked out. What was in another file isn't known any more.
func (g *Guard) countLines(ctx context.Context, n knownRead, w *edits.StaleWrite) {
	ctx, cancel := context.WithTimeout(ctx, g.core.ExtendLimit(countLimit))
	defer cancel()

	// A diff tells what has changed since the read only if HEAD is what was read.
	committed, ok, err := g.core.Config.Git.ReadFile(ctx, n.top, "HEAD", n.Path)
	if err != nil || !ok || workspace.SumOf(committed) != n.State.Sum {
		return
	}

	diff, cut, err := g.core.Config.Git.DiffUncommitted(ctx, n.top, []git.Uncommitted{{Path: n.Path}}, maxCounted)
	if w.Counted = err == nil && !cut && diff != ""; w.Counted {
		w.Added, w.Removed = changedLines(diff)
	}
}

// changedLines counts the lines that the diff of one file adds and removes.
func changedLines(diff string) (added, removed int) {
	_, hunks, _ := strings.Cut(diff, "\n@@")
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}

	return added, removed
}

// noteRefusal notes that a write was refused, so that the same write goes through.
func (g *Guard) noteRefusal(ctx context.Context, p CheckEditParams, res MayEditResult) error {
	p.Where = core.Where{RoomID: res.RoomID}
	return g.runHookOp(ctx, p.HookParams, true, func(o *op) error {
		for _, n := range res.stale {
			if err := o.Tx.PutReads(n.room, n.top, []edits.NotedRead{n.NotedRead}); err != nil {
				return err
			}
		}

		return o.RecordWork(p.HookParams)
	})
}

// noteReads notes the files that a tool call has shown to the caller. It notes nothing for one that is alone
// in its room: nobody else changes its files.
func (g *Guard) noteReads(ctx context.Context, p CheckEditParams) error {
	if len(p.Shown) == 0 || p.Caller.Person {
		return nil
	}

	env := g.core.Config.Workspace
	if at, err := g.core.PlaceOfHook(p.Where); err == nil && at != nil {
		env.Dir = at.Path
	}

	// Of what lies outside of git nothing is noted.
	all := checkoutsOf(workspace.NewTargets(env), p.Shown)
	if len(all) == 0 {
		return nil
	}

	db, err := g.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return nil
	}
	if err != nil {
		return err
	}

	for _, c := range all {
		if err := g.noteReadsIn(ctx, db, p.Caller, c); err != nil {
			return err
		}
	}

	return nil
}

// noteReadsIn is [Guard.noteReads] for the files in one checkout. If they are as they were noted, it writes
// nothing.
func (g *Guard) noteReadsIn(ctx context.Context, db *store.DB, by core.Caller, c *checkout) error {
	var known []edits.NotedRead
	noting := false
	err := g.core.View(ctx, db, by, func(tx *store.Tx, probes *core.Probes) (err error) {
		known, noting = nil, false
		me, err := core.Identify(tx, probes, by)
		if err != nil {
			return err
		}

		rooms, err := tx.RoomsAt([][]string{c.chain})
		if err != nil || rooms[0].Room == "" {
			return err
		}

		o := &op{&core.Op{Tx: tx, Probes: probes, Me: me}}
		if o.Room, err = tx.Room(rooms[0].Room); err != nil {
			return err
		}

		c.room = o.Room.ID
		if noting, err = o.paysToNote(); err != nil || !noting {
			return err
		}

		known, err = tx.Reads(o.readsOf(c, c.files))
		return err
	})
	if err != nil || !noting {
		return err
	}

	// A write costs a lock, so it is left out where nothing is new.
	seen := c.seenAnew(known)
	if len(seen) == 0 {
		return nil
	}

	return g.core.Update(ctx, db, by, func(tx *store.Tx, probes *core.Probes) error {
		if err := tx.LockRooms(c.room); err != nil {
			return err
		}

		me, err := core.Identify(tx, probes, by)
		if err != nil {
			return err
		}

		return c.putReads(tx, me, seen, false)
	})
}

// seenAnew says what the checkout's files are like that aren't noted as they are.
func (c *checkout) seenAnew(known []edits.NotedRead) (seen []edits.SeenFile) {
	for _, path := range c.files {
		var was edits.NotedRead
		for _, n := range known {
			if n.Path == path {
				was = n
			}
		}

		now, _, err := workspace.StateOfFile(filepath.Join(c.top, path), was.State)
		isNews := now.Sum != was.State.Sum || was.Refused != ""
		if err == nil && now.Sum != "" && isNews {
			seen = append(seen, edits.SeenFile{Path: path, State: now})
		}
	}

	return seen
}

// paysToNote reports whether it is noted what the caller reads and writes: in a room that enforces something,
// of a member that isn't alone. A sub-agent isn't, and neither is the agent above it.
func (o *op) paysToNote() (bool, error) {
	m, ok := o.Room.Member(o.Me.Agent)
	switch {
	case !edits.Enforces(o.Room) || o.Me.Person() || !ok || m.State != stick.Joined:
		return false, nil
	case o.Me.Caller.Helper != "" || edits.HasCompany(o.Room, o.Me.Agent, o.Tx.Now()):
		return true, nil
	}

	return o.Tx.HasOtherReads(o.Room.ID, o.Me.Agent, o.Me.Caller.Helper)
}

// putReads notes what the caller has seen of files.
func (c *checkout) putReads(tx *store.Tx, me core.Identity, seen []edits.SeenFile, wrote bool) error {
	now := tx.Now()
	var reads []edits.NotedRead
	for _, s := range seen {
		reads = append(reads, edits.NotedRead{
			Agent: me.Agent, Helper: me.Caller.Helper, Path: s.Path, State: s.State, Wrote: wrote, At: now,
		})
	}

	return cmp.Or(
		tx.PutReads(c.room, c.top, reads),
		tx.BoundReads(c.room, me.Agent, maxReads, now.Add(-keepReads)),
	)
}

// noteWritten notes that the caller knows the files that it has written: those that its tool call names, and
// of those that a look has found new the ones that it had read. A file that is as another has left it wasn't
// written by the call, whatever it tried.
func (c *checkout) noteWritten(o *op) error {
	if notes, err := o.paysToNote(); err != nil || !notes {
		return err
	}

	var paths []string
	for _, s := range slices.Concat(c.named, c.found) {
		if s.State.Sum != "" && s.New && !slices.Contains(paths, s.Path) {
			paths = append(paths, s.Path)
		}
	}

	if len(paths) == 0 {
		return nil
	}

	// A file counts if the call names it or the caller had read it, and if nobody else left it so.
	known, err := o.Tx.Reads(o.readsOf(c, paths))
	if err != nil {
		return err
	}

	edited, err := o.Tx.Edited(c.room, c.top, paths)
	if err != nil {
		return err
	}

	var wrote []edits.SeenFile
	for _, path := range paths {
		named := seenAt(c.named, path)
		s := cmp.Or(named, seenAt(c.found, path))
		isRead := slices.ContainsFunc(known, func(n edits.NotedRead) bool { return n.Path == path })
		isOthers := slices.ContainsFunc(edited, func(f edits.EditedFile) bool {
			last := f.LastEditor(s.State)
			return f.Path == path && f.State.Sum == s.State.Sum &&
				(last.Agent != o.Me.Agent || last.Helper != o.Me.Caller.Helper)
		})
		if (isRead || named != edits.SeenFile{}) && !isOthers {
			wrote = append(wrote, s)
		}
	}

	if len(wrote) == 0 {
		return nil
	}

	return c.putReads(o.Tx, o.Me, wrote, true)
}

// seenAt returns the file at a path among those that were seen, and none if it isn't among them.
func seenAt(all []edits.SeenFile, path string) edits.SeenFile {
	for _, s := range all {
		if s.Path == path {
			return s
		}
	}

	return edits.SeenFile{}
}
