package guard

import (
	"context"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// pushTarget says where a push goes, as far as the caller knows.
type pushTarget struct {
	in   *checkout
	refs []string // full names of refs of the remote; HEAD is the branch that is checked out
	some bool     // other branches as well, and nobody can tell which
}

// pushesIn are the pushes among acts.
func (g *Guard) pushesIn(q editQuestion) (all []pushTarget) {
	acts := slices.DeleteFunc(slices.Clone(q.Acts), func(a shell.Act) bool { return a.Kind != shell.Pushes })
	for _, a := range g.actsIn(q.at, acts) {
		all = append(all, pushTarget{a.in, a.Refs, a.Some})
	}
	return all
}

// mayPush judges a push by whose turn it is, where members work in checkouts of their own. What they share
// there is the default branch of the remote, and the branch of the last handoff.
//
// began is when the caller's call began, if that is recorded.
func (g *Guard) mayPush(
	ctx context.Context, by core.Caller, to pushTarget,
) (r stick.Room, j edits.Judgement, began stick.Time, err error) {
	db, err := g.core.Open(ctx, false)
	if err == store.ErrAbsent || err == nil && (!db.ManyHosts() || by.Person) {
		return r, j, 0, nil
	}
	if err != nil {
		return r, j, 0, err
	}

	branches := to.branchNames()
	err = g.core.View(ctx, db, by, func(tx *store.Tx, probes *core.Probes) error {
		r, j = stick.Room{}, edits.Judgement{}
		me, err := core.Identify(tx, probes, by)
		if err != nil {
			return err
		}

		rooms, err := tx.RoomsAt([][]string{to.in.chain})
		if err != nil || rooms[0].Room == "" {
			return err
		}
		if r, err = tx.RoomPartAt(rooms[0], me.Agent); err != nil {
			return err
		}

		r = r.AtGeneration(tx.Generation(), tx.Now())
		m, _ := r.Member(me.Agent)
		began = m.BusySince
		q := edits.Pushing{By: me.Agent, Above: me.Above, Person: me.Person(), In: tx.CheckoutOf(r)}

		if j = edits.MayPushTo(r, q, probes.Probed, tx.Now()); j == (edits.Judgement{}) {
			return probes.RequireComplete(r)
		}

		// The rule is about shared branches only, and finding these takes longer.
		shared, err := sharedBranches(tx, r, to.in.top)
		if err != nil {
			return err
		}

		j = edits.Judgement{}
		if at := slices.IndexFunc(shared, func(b string) bool {
			return to.some || slices.Contains(branches, b)
		}); at >= 0 {
			q.Branch = shared[at]
			j = edits.MayPushTo(r, q, probes.Probed, tx.Now())
		}

		return probes.RequireComplete(r)
	})
	return r, j, began, err
}

// branchNames are the branches that are pushed to, without those that nobody can tell.
func (p pushTarget) branchNames() (out []string) {
	for _, ref := range p.refs {
		if ref == "HEAD" {
			_, branch, _ := workspace.Head(p.in.top)
			out = append(out, branch)
		} else if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			out = append(out, branch)
		}
	}

	return out
}

// sharedBranches are the branches that the members of a room share.
func sharedBranches(tx *store.Tx, r stick.Room, top string) ([]string, error) {
	out := workspace.DefaultBranches(top)
	if r.Turn.HandoffSeq == 0 {
		return out, nil
	}

	last, err := tx.Event(r.ID, r.Turn.HandoffSeq)
	if err == nil && last != nil && last.Handoff != nil &&
		last.Handoff.Workspace != nil && last.Handoff.Workspace.Branch != "" {
		out = append(out, last.Handoff.Workspace.Branch)
	}

	return out, err
}

// checkPushes judges the pushes of a command. What fails on the way stops nothing.
func (g *Guard) checkPushes(ctx context.Context, q editQuestion, res *MayEditResult) (failed error) {
	for _, to := range g.pushesIn(q) {
		r, j, _, err := g.mayPush(ctx, q.Caller, to)
		switch {
		case err != nil:
			failed = err
		case j.Denied != nil:
			if r.ID != res.here {
				j.Denied = j.Denied.In(r.Path)
			}
			res.deny(r.ID, j.Denied)
			return failed
		}
	}

	return failed
}

// hasReached reports whether a push has reached a branch since a time. Where the repository doesn't tell, it
// has.
func (p pushTarget) hasReached(branch string, since stick.Time) bool {
	tree, ok := workspace.FindCheckout(p.in.top, workspace.Env{})
	if !ok {
		return true
	}

	pushed, known := workspace.WasPushed(tree.Common, branch, since.Go())
	return pushed || !known
}

// tellPushed tells of a push that was against the rules of a room that only warns, once in a turn: its
// caller, and the holder. A push that failed, or that had nothing to bring, isn't told.
func (g *Guard) tellPushed(ctx context.Context, p core.HookParams, to pushTarget) (out EditedResult, err error) {
	r, j, began, err := g.mayPush(ctx, p.Caller, to)
	if err != nil || j.Told == nil {
		return out, err
	}

	branch, _ := j.Told.Fields["branch"].(string)

	// A push that git refused has broken no rule.
	if !to.hasReached(branch, began) {
		return out, nil
	}

	p.Where = core.Where{RoomID: r.ID}
	return out, g.runHookOp(ctx, p, true, func(o *op) error {
		out = EditedResult{}
		known, err := o.alreadyTold()
		if err != nil || known {
			return err
		}

		out = EditedResult{Told: j.Told.Words(), Hint: j.Told.Hint.Words()}
		o.Events = append(o.Events, edits.PushTold(o.Room, o.Me.Agent, branch))
		return nil
	})
}
