package guard

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// snapshot is a copy of the uncommitted state of one checkout, beside a call.
type snapshot struct {
	*checkout
	tree  workspace.Checkout
	named []string // what the call names there, relative to the top level; none for all of it
	taken rescue.Taken
	err   error

	after      bool  // it is made after the call, which may have moved refs
	commitsErr error // of keeping the commits that only the repository has
}

// isLate reports whether a snapshot lacks files because the time was over.
func (s *snapshot) isLate() bool { return rescue.IsLate(s.taken.LeftOut) }

// maxSnapshots is how many checkouts one call keeps. Each has a git of its own.
const maxSnapshots = 20

// reachOf lists the checkouts that a call may change: those of the files that it names, of the directories
// that it removes or moves with all below or cleans of repositories, and, for a command of which not
// everything is known, that of its working directory.
func (g *Guard) reachOf(q editQuestion) (reach []*snapshot) {
	add := func(c *checkout, paths ...string) {
		if c.top == "" {
			return
		}

		// Each checkout gets one snapshot, however many paths name it.
		i := slices.IndexFunc(reach, func(s *snapshot) bool { return s.top == c.top })
		if i < 0 {
			tree, ok := workspace.FindCheckout(c.top, workspace.Env{})
			if !ok || len(reach) == maxSnapshots {
				return
			}
			i, reach = len(reach), append(reach, &snapshot{checkout: c, tree: tree})
		}

		reach[i].named = append(reach[i].named, paths...)
	}

	// A directory may hold other checkouts, of which a snapshot of the outer one has nothing.
	for _, x := range q.in {
		c := newCheckout(x.Place)
		add(c, c.relativePaths(x.Full)...)
		for _, below := range checkoutsBelow(x.Full, c, q.at) {
			add(below)
		}
	}

	for _, a := range q.acts {
		add(a.in, a.paths...)
	}

	// A command may change anything where it runs.
	places := q.tree
	if q.Unread && q.at != nil {
		places = append(slices.Clone(places), *q.at)
	}

	for _, p := range places {
		add(newCheckout(p))
	}

	return reach
}

// relativePaths returns a path relative to the top level, and nothing for the top level itself, or for a path
// that isn't below it.
func (c *checkout) relativePaths(full string) []string {
	if c.top == "" {
		return nil
	}

	rel, ok := workspace.RelBelow(full, c.top)
	if !ok || rel == "." {
		return nil
	}

	return []string{rel}
}

// checkoutsBelow lists the checkouts that lie in a directory but aren't the one around it: linked worktrees
// of the repository around it and of the one in which the caller works, wherever they lie, and what else a
// short walk finds.
func checkoutsBelow(dir string, around *checkout, at *workspace.Place) (below []*checkout) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil
	}

	var tops []string

	// Git knows the linked worktrees of a repository, wherever they lie.
	roots := []string{around.top}
	if at != nil && at.Found == workspace.FoundGit {
		roots = append(roots, at.Root)
	}

	for _, root := range roots {
		if root != "" {
			tops = append(tops, workspace.Worktrees(root)...)
		}
	}

	// Of other repositories only the file system knows.
	tops = append(tops, workspace.RepositoriesBelow(dir)...)

	for _, top := range tops {
		if !workspace.IsWithin(top, dir) || top == around.top {
			continue
		}

		// A worktree that git still lists may be gone.
		place, err := workspace.Resolve(top, workspace.Env{})
		if err != nil {
			continue
		}

		c := newCheckout(place)
		if c.top == top && !slices.ContainsFunc(below, func(b *checkout) bool { return b.top == top }) {
			below = append(below, c)
		}
	}

	return below
}

// keeper is for whom snapshots are made: the caller, in the room that a call concerns.
type keeper struct {
	room stick.Room
	me   core.Identity
	off  []stick.RoomID // rooms that the call concerns and that want none
}

// addRoom takes note of a room that a call concerns.
func (k *keeper) addRoom(r stick.Room, me core.Identity) {
	if r.Policy.Snapshots == stick.SnapshotsOff {
		k.off = append(k.off, r.ID)
	}
	if k.room.ID == "" || !edits.KeepsSnapshots(k.room) {
		k.room, k.me = r, me
	}
}

// addRoomAt takes note of the room of a place, which needn't be a checkout any more.
func (k *keeper) addRoomAt(tx *store.Tx, p workspace.Place, me core.Identity) error {
	rooms, err := tx.RoomsAt([][]string{p.Chain})
	if err != nil || rooms[0].Room == "" {
		return err
	}

	r, err := tx.RoomPartAt(rooms[0], me.Agent)
	k.addRoom(r, me)
	return err
}

// keepsSnapshots reports whether snapshots are made: for agents, in rooms that keep them.
func (k keeper) keepsSnapshots() bool {
	return k.room.ID != "" && edits.KeepsSnapshots(k.room) && !k.me.Person()
}

// snapshotFacts says of a snapshot for which call it is made, and when.
func (k keeper) snapshotFacts(q editQuestion, when rescue.Moment) rescue.Facts {
	return rescue.Facts{
		Room: string(k.room.ID), Agent: string(k.me.Agent), TurnID: k.room.Turn.ID, Cause: rescue.CauseCall,
		Command: stick.Clip(cmp.Or(q.Text, q.Tool), edits.MaxCallText), Moment: when,
	}
}

// keepBefore makes sure that snapshots have what a call could take, before it runs. What the last snapshot of
// a checkout has isn't copied again.
func (g *Guard) keepBefore(ctx context.Context, q editQuestion, by keeper) []*snapshot {
	// A room that wants no snapshots gets none, whatever the other rooms of the call want.
	reach := g.reachOf(q)
	if len(by.off) > 0 {
		reach = g.leaveOff(ctx, q, reach, by)
	}

	g.takeSnapshots(ctx, q, reach, by.snapshotFacts(q, rescue.MomentBefore))
	return reach
}

// leaveOff leaves out the checkouts of rooms that want no snapshots, where a call concerns several rooms. If
// it can't tell, it leaves out all.
func (g *Guard) leaveOff(ctx context.Context, q editQuestion, reach []*snapshot, by keeper) (left []*snapshot) {
	var chains [][]string
	for _, s := range reach {
		chains = append(chains, s.chain)
	}

	db, err := g.core.Open(ctx, false)
	if err != nil {
		return nil
	}

	err = g.core.View(ctx, db, q.Caller, func(tx *store.Tx, _ *core.Probes) error {
		left = nil
		rooms, err := tx.RoomsAt(chains)
		for i, at := range rooms {
			if !slices.Contains(by.off, at.Room) {
				left = append(left, reach[i])
			}
		}

		return err
	})
	if err != nil {
		return nil
	}

	return left
}

// keepAnyway is [Guard.keepBefore] where the database can't be read: for checkouts of which there are
// snapshots already.
func (g *Guard) keepAnyway(ctx context.Context, q editQuestion) {
	reach := slices.DeleteFunc(g.reachOf(q), func(s *snapshot) bool { return !g.Restorer.Store().Knows(s.tree.Common) })
	g.takeSnapshots(ctx, q, reach, keeper{}.snapshotFacts(q, rescue.MomentBefore))
}

// finishLater has another process finish what there was too little time for in a checkout.
func (q editQuestion) finishLater(l restore.LateSnapshot) {
	if q.Late != nil {
		q.Late(l)
	}
}

// takeSnapshots makes snapshots of checkouts, all at the same time. Where a call can only change the files
// that it names, no others are looked at.
func (g *Guard) takeSnapshots(ctx context.Context, q editQuestion, reach []*snapshot, facts rescue.Facts) {
	if len(reach) == 0 {
		return
	}
	if q.Unread && q.Rescuing != nil {
		q.Rescuing()
	}

	// The snapshots of one call have one time.
	at := stick.At(g.core.Now())
	var wait sync.WaitGroup
	for _, s := range reach {
		wait.Go(func() {
			r := rescue.Request{Tree: s.tree, Paths: s.named, Nested: true, Facts: facts, At: at, Ahead: q.ahead}
			if q.Unread {
				s.taken, s.err = g.Restorer.Store().Take(ctx, r)
			} else {
				s.taken, s.err = g.Restorer.Store().KeepFiles(ctx, r)
			}
		})
	}

	wait.Wait()

	for _, s := range reach {
		if !s.isLate() {
			continue
		}

		q.finishLater(restore.LateSnapshot{Top: s.top, Named: s.named, Facts: facts})
		if s.taken.ID == "" && !s.after {
			// The call is compared with what was known last.
			s.taken.ID = g.Restorer.Store().Last(s.tree)
		}
	}

	if q.Unread {
		g.keepCommits(ctx, reach)
	}
}

// keepCommits copies the commits that only the repositories of checkouts have, each once: after each command,
// and before one if it was never done. A command may take a repository inside a checkout as a whole, so that
// is looked at before, too: while no ref moves, that asks no git.
func (g *Guard) keepCommits(ctx context.Context, reach []*snapshot) {
	// Several checkouts may share a repository, which is copied once.
	type outcome struct {
		rescue.KeptCommits
		err error
	}

	store, all := g.Restorer.Store(), map[string]*outcome{} // by the git directories
	for _, s := range reach {
		if s.after || !store.HasCommits(s.tree.Common) {
			all[s.tree.Common] = &outcome{}
		}

		for _, e := range s.taken.Embedded {
			all[e.Common] = &outcome{}
		}
	}

	var wait sync.WaitGroup
	for common, o := range all {
		wait.Go(func() { o.KeptCommits, o.err = store.KeepCommits(ctx, common) })
	}

	wait.Wait()

	for _, s := range reach {
		if o := all[s.tree.Common]; o != nil {
			s.commitsErr = o.err
		}

		for _, e := range s.taken.Embedded {
			if o := all[e.Common]; o.err != nil || len(o.LeftOut) > 0 {
				s.taken.LeftOut = append(s.taken.LeftOut, rescue.LeftOut{
					Path: e.Path + "/", Why: rescue.WhyCommits,
				})
			}
		}
	}
}
