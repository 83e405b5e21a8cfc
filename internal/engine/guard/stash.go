package guard

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// Of how many entries of the stash it is noted for a room who made them, and how long: as long as their
// commits are kept.
const (
	maxStashed  = 1000
	keepStashed = 14 * 24 * time.Hour
)

// stashPlace is a checkout in which a command works with the stash of its repository.
type stashPlace struct {
	in   *checkout
	tree workspace.Checkout
}

// stashAt finds the checkout in which an act works. ok is false outside of git.
func (g *Guard) stashAt(at *workspace.Place, dir string) (p stashPlace, ok bool) {
	env := g.core.Config.Workspace
	if env.Dir = ""; at != nil {
		env.Dir = at.Path
	}

	place, err := workspace.NewTargets(env).ResolveDir(dir)
	if err != nil || place.CheckoutTop() == "" {
		return p, false
	}

	p.in = newCheckout(place)
	p.tree, ok = workspace.FindCheckout(p.in.top, workspace.Env{})
	return p, ok
}

// namesStash reports whether an act is of a command git stash.
func namesStash(a shell.Act) bool {
	return a.Form == "git stash" || strings.HasPrefix(a.Form, "git stash ")
}

// makesEntry reports whether an act makes an entry of the stash.
func makesEntry(a shell.Act) bool {
	return a.Kind == shell.Takes && namesStash(a) ||
		a.Kind == shell.Applies && strings.HasPrefix(a.Form, "git stash store")
}

// usesStash reports whether an act uses entries of the stash. What git drops with the work of another
// command, after a pop, was used by that pop.
func usesStash(a shell.Act) bool {
	switch a.Kind {
	case shell.Applies, shell.Pops:
		return !a.Some
	case shell.Drops:
		return !a.Some && len(a.Refs) == 1 && strings.HasPrefix(a.Refs[0], rescue.StashName) &&
			(namesStash(a) || strings.HasPrefix(a.Form, "git update-ref "))
	}

	return false
}

// stashedUse is what one act uses of the stash.
type stashedUse struct {
	stashPlace
	edits.StashUse
}

// laterStash is the stash of a repository as it is at some step of a command. An entry without a commit is
// one that the command makes.
type laterStash struct {
	now     []edits.StashEntry // before the command
	entries []edits.StashEntry
	empty   bool // the command would stash something, but there was nothing
}

// readStash reads the stash of a repository. It is empty where files alone don't tell what is in it: then
// nothing is judged.
func readStash(common string) *laterStash {
	found, _ := workspace.ReadStash(common)
	l := &laterStash{}
	for i, e := range found {
		l.now = append(l.now, edits.StashEntry{
			Commit: e.Commit, Name: "stash@{" + strconv.Itoa(i) + "}", Message: e.Message,
		})
	}

	l.entries = slices.Clone(l.now)
	return l
}

// stashUses goes through a command as it will run, and finds which entries of the stash it uses. An entry
// that it makes first stands before the others then.
func (g *Guard) stashUses(ctx context.Context, q editQuestion) (uses []stashedUse, err error) {
	if !slices.ContainsFunc(q.Acts, usesStash) {
		return nil, nil
	}

	stashes := map[string]*laterStash{} // by their repositories
	for _, act := range q.Acts {
		makes := act.Kind == shell.Takes && namesStash(act)
		if !makes && !usesStash(act) {
			continue
		}

		at, ok := g.stashAt(q.at, act.Dir)
		if !ok {
			continue
		}

		l := stashes[at.tree.Common]
		if l == nil {
			l = readStash(at.tree.Common)
			stashes[at.tree.Common] = l
		}

		if makes {
			has, herr := g.hasToStash(ctx, q, act)
			if err = cmp.Or(err, herr); has {
				l.entries = slices.Insert(l.entries, 0, edits.StashEntry{})
			}

			l.empty = l.empty || herr == nil && !has
			continue
		}

		use := edits.StashUse{
			Form: act.Form, Verb: stashVerb(act), Checkout: at.in.top,
			Takes: g.findUsed(ctx, l, at, act), Has: l.now, Empty: l.empty,
		}

		if len(use.Takes) > 0 {
			uses = append(uses, stashedUse{at, use})
		}
	}

	return uses, err
}

// stashVerb is the command of git stash that does to one entry what an act does.
func stashVerb(a shell.Act) string {
	switch a.Kind {
	case shell.Pops:
		return "pop"
	case shell.Drops:
		return "drop"
	}

	return "apply"
}

// findUsed finds the entries that an act uses, and takes those off the stash that are gone after it.
func (g *Guard) findUsed(
	ctx context.Context, l *laterStash, at stashPlace, act shell.Act,
) (takes []edits.StashEntry) {
	// An entry is named by its number, which changes with each one that leaves the stash.
	ref := act.Refs[0]
	i, numbered := indexOf(ref)

	switch {
	case act.Kind == shell.Drops && ref == rescue.StashName:
		// All of them.
		takes, l.entries = l.entries, nil
	case numbered && i >= len(l.entries):
		// Git refuses it.
	case numbered:
		takes = l.entries[i : i+1]
		if act.Kind != shell.Applies {
			l.entries = slices.Concat(l.entries[:i], l.entries[i+1:])
		}
	default:
		// A commit, or what only git understands.
		commit, found, err := g.core.Config.Git.Commit(ctx, at.in.top, ref)
		if err == nil && found {
			takes = []edits.StashEntry{l.entryOf(commit)}
		}
	}

	return slices.DeleteFunc(slices.Clone(takes), func(e edits.StashEntry) bool { return e.Commit == "" })
}

// indexOf returns the number by which a ref names an entry of the stash. ok is false if it names something
// else.
func indexOf(ref string) (i int, ok bool) {
	number, ok := strings.CutPrefix(ref, rescue.StashName+"@{")
	i, err := strconv.Atoi(strings.TrimSuffix(number, "}"))
	return i, ok && err == nil && i >= 0
}

// entryOf finds the entry of a commit, which may have left the stash.
func (l *laterStash) entryOf(id string) edits.StashEntry {
	if i := slices.IndexFunc(l.now, func(e edits.StashEntry) bool { return e.Commit == id }); i >= 0 {
		return l.now[i]
	}
	return edits.StashEntry{Commit: id, Name: id}
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
	uses, failed := g.stashUses(ctx, q)
	for _, use := range uses {
		room, used, j, err := g.mayUseStash(ctx, q.Caller, use)
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

		kept, err := g.keepStashed(ctx, use.tree.Common, used.Keep)
		failed = cmp.Or(failed, err)
		t := telling{
			room: room.ID, Top: use.in.top, Common: use.tree.Common, Stays: use.Verb == "apply",
			Taken: edits.Taken{Form: use.Form, Stash: used.Said, Of: used.Of, Kept: kept},
		}

		for _, e := range use.Takes {
			t.Entries = append(t.Entries, e.Commit)
		}

		res.tellings = append(res.tellings, t)
	}

	return failed
}

// mayUseStash lets the room decide. The room is empty where there is none.
func (g *Guard) mayUseStash(
	ctx context.Context, by core.Caller, use stashedUse,
) (r stick.Room, used edits.StashUsed, j edits.Judgement, err error) {
	db, err := g.core.Open(ctx, false)
	if err == store.ErrAbsent || by.Person {
		return r, used, j, nil
	}
	if err != nil {
		return r, used, j, err
	}

	err = g.core.View(ctx, db, by, func(tx *store.Tx, probes *core.Probes) error {
		r, used, j = stick.Room{}, edits.StashUsed{}, edits.Judgement{}
		found, err := core.FindRoom(tx, core.Where{}, &workspace.Place{Path: use.in.top, Chain: use.in.chain})
		if stick.CodeOf(err) == stick.CodeNoRoom {
			return nil
		}
		if err != nil {
			return err
		}

		r = found.AtGeneration(tx.Generation(), tx.Now())
		me, err := core.Identify(tx, probes, by)
		if err != nil {
			return err
		}

		ask := use.StashUse
		ask.Editing = askedBy(me)
		if ask.Takes, err = notedEntries(tx, r.ID, use.Takes); err != nil {
			return err
		}
		if ask.Has, err = notedEntries(tx, r.ID, use.Has); err != nil {
			return err
		}

		used, j = edits.MayUseStash(r, ask, probes.Probed)
		return probes.RequireComplete(r)
	})
	return r, used, j, err
}

// askedBy is a question of the caller about what all checkouts share.
func askedBy(me core.Identity) edits.Editing {
	return edits.Editing{By: me.Agent, Above: me.Above, Person: me.Person(), Tree: true}
}

// notedEntries adds to entries of the stash who made them, as far as that is noted.
func notedEntries(tx *store.Tx, room stick.RoomID, entries []edits.StashEntry) ([]edits.StashEntry, error) {
	commits := make([]string, len(entries))
	for i, e := range entries {
		commits[i] = e.Commit
	}

	made, err := tx.Stashed(room, commits)
	out := slices.Clone(entries)
	for i, e := range out {
		out[i].By, out[i].Checkout = made[e.Commit].By, made[e.Commit].Checkout
	}

	return out, err
}

// keepStashed keeps commits of the stash, which otherwise only its log names, and returns the refs that keep
// them.
func (g *Guard) keepStashed(ctx context.Context, common string, commits []string) (refs []string, err error) {
	if len(commits) == 0 {
		return nil, nil
	}

	var tips []rescue.Tip
	for _, c := range commits {
		tips = append(tips, rescue.Tip{Of: rescue.StashName, Commit: c})
	}

	kept, err := g.Restorer.Store().KeepTips(ctx, common, tips, stick.At(g.core.Now()))
	for _, t := range kept {
		refs = append(refs, t.Ref)
	}

	return refs, err
}
