package guard

import (
	"context"
	"errors"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/stash"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// keepTips keeps the commits that refs are about to lose. Where one is the branch of another agent's task,
// the telling names that agent. If a commit can't be kept, the act is refused once.
func (g *Guard) keepTips(
	ctx context.Context, a checkoutAct, room stick.Room, by core.Caller, t *telling,
) (why *stick.Error, err error) {
	t.Taken.Form = a.Form
	t.Taken.Of, err = g.workersOf(ctx, room.ID, a.Refs, by)

	// The commits are kept although it may be unknown whose branches they are.
	lost, terr := g.lostTips(ctx, a)
	kept, kerr := g.Restorer.Store().KeepTips(ctx, a.tree.Common, lost, stick.At(g.core.Now()))
	if err = errors.Join(err, terr, kerr); kerr == nil {
		t.Tips = kept
		for _, tip := range kept {
			if !slices.Contains(t.Taken.Kept, tip.Ref) {
				t.Taken.Kept = append(t.Taken.Kept, tip.Ref)
			}
		}

		return nil, err
	}

	// Nothing was kept, so the caller is told once what would be lost.
	var missing []stick.Words
	for _, tip := range lost {
		missing = append(missing, stick.Wordsf("%s (%s)", tip.Of, stick.AsError(kerr)))
	}

	again, rerr := g.wasRefused(ctx, by, room.ID, a)
	if again || rerr != nil {
		return nil, errors.Join(err, rerr)
	}

	return edits.NotKept(room, a.Form, missing), err
}

// lostTips lists the commits that the refs of an act name.
func (g *Guard) lostTips(ctx context.Context, a checkoutAct) (lost []rescue.Tip, err error) {
	for _, ref := range a.Refs {
		// A ref that ends in a slash stands for all below it.
		if strings.HasSuffix(ref, "/") {
			all, rerr := g.core.Config.Git.Refs(ctx, a.in.top, ref)
			for _, r := range all {
				lost = append(lost, rescue.Tip{Of: r.Name, Commit: r.Commit})
			}

			err = errors.Join(err, rerr)
			continue
		}

		if entries, ok := workspace.ReadStash(a.tree.Common); ok {
			// Git refuses it.
			if i, numbered := stash.IndexOf(ref); numbered && i >= len(entries) {
				continue
			}
		}

		commits, terr := g.core.Config.Git.TipsOfRef(ctx, a.in.top, ref)

		// An entry of the stash is kept as a ref like its others, and HEAD stands for its branch.
		name, _, _ := strings.Cut(ref, "@{")
		if _, branch, ok := workspace.Head(a.in.top); ok && name == "HEAD" && branch != "" {
			name = "refs/heads/" + branch
		}

		for _, commit := range commits {
			lost = append(lost, rescue.Tip{Of: name, Commit: commit})
		}

		err = errors.Join(err, terr)
	}

	return lost, err
}

// workersOf lists the agents that work on the tasks of branches, if these are others' for the caller.
func (g *Guard) workersOf(
	ctx context.Context, room stick.RoomID, refs []string, by core.Caller,
) (of []stick.AgentID, err error) {
	err = g.core.Read(ctx, core.Where{RoomID: room}, by, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity,
	) error {
		of = nil
		w, err := (&roomQuestion{room: r}).readWorking(tx, probes, me)
		if err != nil {
			return err
		}

		tasks, err := tx.Tasks(room)
		for _, t := range tasks {
			if slices.Contains(refs, "refs/heads/"+t.Branch) && edits.MayWorkOn(r, t, w) != (edits.Judgement{}) {
				of = append(of, t.Worker)
			}
		}

		return err
	})
	return of, err
}
