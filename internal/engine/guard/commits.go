package guard

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/git"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// How many commits of a room it is noted for which agent made them, and how long. What was pushed by then
// doesn't matter any more.
const (
	maxCommits  = 5000
	keepCommits = 30 * 24 * time.Hour
)

// NoteCommitsParams says which commits a hook of git has seen the caller make.
type NoteCommitsParams struct {
	core.HookParams
	Made   []string // full ids
	Landed []string // those that tt itself brings to a branch, after a review: from now on they are nobody's
}

// NoteCommits notes that an agent has made commits. A commit that is noted already stays its first maker's.
// It notes nothing outside of rooms, where the room enforces nothing, and of somebody who isn't a member.
func (g *Guard) NoteCommits(ctx context.Context, p NoteCommitsParams) error {
	if len(p.Made)+len(p.Landed) == 0 {
		return nil
	}

	return g.runHookOp(ctx, p.HookParams, true, func(o *op) error {
		m, ok := o.Room.Member(o.Me.Agent)
		if !edits.Enforces(o.Room) || o.Me.Person() || !ok || m.State != stick.Joined {
			return nil
		}

		now := o.Tx.Now()
		by := ledger.EditorNow(o.Room, o.Me, o.Probes.Probed, now)
		return cmp.Or(
			o.Tx.PutCommits(o.Room.ID, p.Made, by),
			o.Tx.DropCommits(o.Room.ID, p.Landed),
			o.Tx.ForgetCommits(o.Room.ID, now.Add(-keepCommits), maxCommits),
		)
	})
}

// CheckPushParams is what git's hook pre-push knows of a push.
type CheckPushParams struct {
	core.HookParams
	Remote  string          // its name, or its address
	Refs    []string        // where to: full names
	Commits []git.NewCommit // those that the remote doesn't have, parents first
}

// CheckPush decides whether a push may run: whether it is the caller's turn, where that matters, and whether
// it may carry these commits along. It allows everything outside of rooms and for people, and commits of
// which nobody knows who made them. It only reads.
func (g *Guard) CheckPush(ctx context.Context, p CheckPushParams) (res MayEditResult, err error) {
	res = MayEditResult{Allowed: true, Reserved: []stick.Reservation{}}
	ids := make([]string, len(p.Commits))
	for i, c := range p.Commits {
		ids[i] = c.ID
	}

	at, err := g.core.PlaceOfHook(p.Where)
	if err == nil && at != nil {
		var r stick.Room
		var j edits.Judgement
		r, j, _, err = g.mayPush(ctx, p.Caller, pushTarget{in: newCheckout(*at), refs: p.Refs})
		if cmp.Or(j.Denied, j.Told) != nil {
			res.RoomID, res.Enforce = r.ID, r.Policy.Enforce
			res.setJudgement(cmp.Or(j.Denied, j.Told), j.Denied == nil)
		}
	}

	if err != nil || !res.Allowed || len(ids) == 0 {
		return res, err
	}

	// The transaction may run again, and each time it begins with the same answer.
	before := res
	err = g.runHookOp(ctx, p.HookParams, false, func(o *op) error {
		if !edits.Enforces(o.Room) || o.Me.Person() {
			return nil
		}

		made, err := o.Tx.Commits(o.Room.ID, ids)
		if err != nil || len(made) == 0 {
			return err
		}

		// Commits that nobody has noted are nobody's, and may go along.
		q := edits.Editing{By: o.Me.Agent, Above: o.Me.Above}
		var theirs []edits.Carried
		for _, c := range p.Commits {
			if by := made[c.ID]; edits.IsCommitOfOther(o.Room, by, q, o.Probes.Probed, o.Tx.Now()) {
				theirs = append(theirs, edits.Carried{ID: c.ID, Name: c.Short, Agent: by.Agent})
			}
		}

		res = before
		res.RoomID, res.AgentID, res.Enforce = o.Room.ID, o.Me.Agent, o.Room.Policy.Enforce
		j := edits.MayPush(o.Room, theirs, p.commandWithout(theirs))
		if why := cmp.Or(j.Denied, j.Told); why != nil {
			res.setJudgement(why, j.Denied == nil)
		}

		return nil
	})
	return res, err
}

// commandWithout returns the command that pushes as much as can be pushed without some commits, and none if
// that is nothing.
func (p CheckPushParams) commandWithout(theirs []edits.Carried) stick.Command {
	with := map[string]bool{} // the commits that carry some of them along
	for _, c := range theirs {
		with[c.ID] = true
	}

	// Parents come first, so one pass finds all that carry some of them along.
	last := ""
	for _, c := range p.Commits {
		if with[c.ID] || slices.ContainsFunc(c.Parents, func(id string) bool { return with[id] }) {
			with[c.ID] = true
		} else {
			last = c.Short
		}
	}

	if last == "" || len(p.Refs) != 1 {
		return nil
	}

	branch, ok := strings.CutPrefix(p.Refs[0], "refs/heads/")
	if !ok {
		return nil
	}

	return stick.Cmd("git push <remote> <own>", p.Remote, last+":"+branch)
}
