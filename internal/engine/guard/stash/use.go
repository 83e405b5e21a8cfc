package stash

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

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

// Use is what one act uses of the stash.
type Use struct {
	Place
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

// FindUses goes through a command as it will run, and finds which entries of the stash it uses. An entry
// that it makes first stands before the others then.
func (k *Keeper) FindUses(ctx context.Context, c ToolCall) (uses []Use, err error) {
	if !slices.ContainsFunc(c.Acts, usesStash) {
		return nil, nil
	}

	stashes := map[string]*laterStash{} // by their repositories
	for _, act := range c.Acts {
		makes := act.Kind == shell.Takes && namesStash(act)
		if !makes && !usesStash(act) {
			continue
		}

		at, ok := k.findPlace(c.Place, act.Dir)
		if !ok {
			continue
		}

		l := stashes[at.Common]
		if l == nil {
			l = readStash(at.Common)
			stashes[at.Common] = l
		}

		if makes {
			has, herr := c.HasWork(ctx, act)
			if err = cmp.Or(err, herr); has {
				l.entries = slices.Insert(l.entries, 0, edits.StashEntry{})
			}

			l.empty = l.empty || herr == nil && !has
			continue
		}

		use := edits.StashUse{
			Form: act.Form, Verb: stashVerb(act), Checkout: at.Top,
			Takes: k.findUsed(ctx, l, at, act), Has: l.now, Empty: l.empty,
		}

		if len(use.Takes) > 0 {
			uses = append(uses, Use{at, use})
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
func (k *Keeper) findUsed(
	ctx context.Context, l *laterStash, at Place, act shell.Act,
) (takes []edits.StashEntry) {
	// An entry is named by its number, which changes with each one that leaves the stash.
	ref := act.Refs[0]
	i, numbered := IndexOf(ref)

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
		commit, found, err := k.core.Config.Git.Commit(ctx, at.Top, ref)
		if err == nil && found {
			takes = []edits.StashEntry{l.entryOf(commit)}
		}
	}

	return slices.DeleteFunc(slices.Clone(takes), func(e edits.StashEntry) bool { return e.Commit == "" })
}

// IndexOf returns the number by which a ref names an entry of the stash. ok is false if it names something
// else.
func IndexOf(ref string) (i int, ok bool) {
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

// MayUse lets the room decide. The room is empty where there is none.
func (k *Keeper) MayUse(
	ctx context.Context, by core.Caller, use Use,
) (r stick.Room, used edits.StashUsed, j edits.Judgement, err error) {
	db, err := k.core.Open(ctx, false)
	if err == store.ErrAbsent || by.Person {
		return r, used, j, nil
	}
	if err != nil {
		return r, used, j, err
	}

	err = k.core.View(ctx, db, by, func(tx *store.Tx, probes *core.Probes) error {
		r, used, j = stick.Room{}, edits.StashUsed{}, edits.Judgement{}
		found, err := core.FindRoom(tx, core.Where{}, &workspace.Place{Path: use.Top, Chain: use.chain})
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
