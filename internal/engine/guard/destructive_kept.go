package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// takesUnkept refuses an act once that takes work away where git refuses to work: nobody can tell what that
// is, and no copy can be kept of it. Of other acts the caller is told after them.
func (g *Guard) takesUnkept(
	ctx context.Context, by core.Caller, room stick.Room, a checkoutAct, refusal *stick.Error, t *telling,
) (why *stick.Error, err error) {
	if a.Kind != shell.Takes || !edits.KeepsSnapshots(room) {
		return nil, nil
	}

	// A second time, the caller knows what it does.
	again, err := g.wasRefused(ctx, by, room.ID, a)
	if again || err != nil {
		return nil, err
	}

	t.Taken.Form = a.Form
	return edits.NoneKept(room, a.Form, refusal), nil
}

// notKept names the uncommitted work that an act would take and that no snapshot has. Where the room wants no
// copies, nothing is missing.
func (g *Guard) notKept(
	ctx context.Context, a checkoutAct, w uncommittedWork, kept []*snapshot,
) (missing []stick.Words, err error) {
	if !edits.KeepsSnapshots(w.room) {
		return nil, nil
	}
	if len(a.paths) == 0 && a.Loses&shell.Ignored != 0 {
		// A snapshot has nothing of ignored directories that aren't named.
		copied, err := g.Restorer.Take(ctx, rescue.Request{
			Tree: a.tree, Untracked: true, Ignored: true, Nested: a.Loses&shell.Nested != 0,
			Facts: rescue.Facts{
				Room: string(w.room.ID), Agent: string(w.me.Agent),
				TurnID: w.room.Turn.ID, Cause: rescue.CauseCommand, Command: a.Form,
			},
		})
		return nameLacking(copied, err), err
	}

	// Of other acts, the snapshot before the call has what they take.
	i := slices.IndexFunc(kept, func(s *snapshot) bool { return s.top == a.in.top })
	if i < 0 {
		return nil, nil
	}

	s := kept[i]
	for _, l := range s.taken.LeftOut {
		if a.mayTake(l, w.changes) {
			missing = append(missing, stick.Wordsf("%s (%s)", stick.Name(l.Path).Cut(256), l.Why))
		}
	}

	if s.err != nil {
		missing = append(missing, stick.Wordsf("all of it (%s)", stick.AsError(s.err)))
	}

	return missing, s.err
}

// mayTake reports whether an act may take what a snapshot lacks, of which the caller has to be told first.
func (a checkoutAct) mayTake(l rescue.LeftOut, changes []Change) bool {
	if isLeftOnPurpose(l) {
		return false
	}

	// What git tells of is judged by its state there.
	i := slices.IndexFunc(changes, func(c Change) bool { return c.Path == l.Path })
	if i >= 0 {
		return a.concernsChange(changes[i])
	}

	// Else git tells nothing of the path, so it counts as untracked.
	return l.Path == "./" ||
		len(a.paths) > 0 && a.concernsChange(Change{Path: l.Path, git: git.Uncommitted{Index: '?', Tree: '?'}})
}

// isLeftOnPurpose reports whether nobody has to be told that a copy lacks something: of ignored files, many
// and large ones are nobody's work, and of what is never copied somebody wanted no copy.
func isLeftOnPurpose(l rescue.LeftOut) bool {
	return l.Why == rescue.WhyIgnored || l.Why == rescue.WhyMany || l.Why == rescue.WhyNever
}

// nameLacking names what a rescue lacks that nobody has left out on purpose.
func nameLacking(kept rescue.Taken, err error) (missing []stick.Words) {
	for _, l := range kept.LeftOut {
		if !isLeftOnPurpose(l) {
			missing = append(missing, stick.Wordsf("%s (%s)", stick.Name(l.Path).Cut(256), l.Why))
		}
	}
	if err != nil {
		missing = append(missing, stick.Wordsf("all of it (%s)", stick.AsError(err)))
	}

	return missing
}

// takingSum tells what a command takes from what others do: by its kind, directory, paths and refs, and by
// the sorts of work. Where nobody can tell which files it means, all its words count.
func (a checkoutAct) takingSum() string {
	text := a.Text
	if !a.Some {
		text = 0
	}

	s := sha256.Sum256(fmt.Appendf(
		nil, "%q %d %q %q %q %t %q %d", a.Kind, a.Loses, a.in.top, a.Dir, a.paths, a.whole, a.Refs, text,
	))
	return hex.EncodeToString(s[:8])
}

// wasRefused reports whether a command was refused to the caller in this turn already.
func (g *Guard) wasRefused(
	ctx context.Context, by core.Caller, room stick.RoomID, a checkoutAct,
) (again bool, err error) {
	err = g.core.Read(ctx, core.Where{RoomID: room}, by, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity,
	) error {
		last, err := (&op{&core.Op{Tx: tx, Probes: probes, Me: me, Room: r}}).readDenials()
		again = edits.AskedAgain(r, a.Form, a.takingSum(), last)
		return err
	})
	return again, err
}
