package guard

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// checkoutAct is what an act of a command means in one checkout.
type checkoutAct struct {
	shell.Act
	tree  workspace.Checkout
	in    *checkout
	paths []string // relative to the top level; none means all of it
	whole bool     // one of them is the top level itself
}

// roomTaking is what a command has taken, to be told in the room.
type roomTaking struct {
	room stick.RoomID
	top  string // of the checkout
	edits.Taken

	call int64 // that is late until this is told; 0 for none
}

// mergeTakings makes one telling of what several parts of a command take in a checkout, if the same copy has
// all of it.
func mergeTakings(all []roomTaking) (out []roomTaking) {
	for _, t := range all {
		// Parts that the same copy holds are told together.
		i := slices.IndexFunc(out, func(o roomTaking) bool {
			return o.room == t.room && o.top == t.top && o.Rescue == t.Rescue &&
				o.Sweeps == t.Sweeps && o.Repository == t.Repository
		})
		if i < 0 {
			out = append(out, t)
		} else {
			out[i].Taken, out[i].call = out[i].With(t.Taken), max(out[i].call, t.call)
		}
	}

	return out
}

// actsIn finds the checkouts in which acts take something. It leaves out what lies outside of git.
func (g *Guard) actsIn(at *workspace.Place, acts []shell.Act) (all []checkoutAct) {
	env := g.core.Config.Workspace
	if env.Dir = ""; at != nil {
		env.Dir = at.Path
	}

	targets := workspace.NewTargets(env)
	add := func(act shell.Act, p workspace.Place, full string) {
		top := p.CheckoutTop()
		if top == "" {
			return
		}

		// One act that names several paths of a checkout is judged once.
		i := slices.IndexFunc(all, func(a checkoutAct) bool {
			return a.in.top == top && a.Kind == act.Kind &&
				a.Text == act.Text && a.Form == act.Form && a.Loses == act.Loses
		})
		if i < 0 {
			tree, ok := workspace.FindCheckout(top, workspace.Env{})
			if !ok {
				return
			}
			i, all = len(all), append(all, checkoutAct{Act: act, tree: tree, in: newCheckout(p)})
		} else {
			all[i].Refs = slices.Concat(all[i].Refs, act.Refs)
		}

		// The top level stands for all that is in the checkout.
		switch rel, ok := workspace.RelBelow(full, top); {
		case !ok || rel == ".":
			all[i].paths, all[i].whole = nil, true
		case !all[i].whole:
			all[i].paths = addPath(all[i].paths, rel)
		}
	}

	for _, act := range acts {
		switch act.Kind {
		case shell.Removes:
			// They are judged with the edits.
			continue
		case shell.Applies, shell.Pops:
			// They are judged by checkStash.
			continue
		}

		// An act without paths is about all of the directory in which it runs.
		if len(act.Paths) == 0 {
			if place, err := targets.ResolveDir(act.Dir); err == nil {
				add(act, place, "")
			}
		}

		for _, path := range act.Paths {
			found, _ := targets.ResolveNamed(path)
			for _, x := range found {
				add(act, x.Place, x.Full)
				if x.Place.CheckoutTop() == "" {
					all = append(all, actsBelow(act, x.Full, &checkout{}, at)...)
				}
			}
		}
	}

	// Checkouts that lie in what an act takes go with it.
	for _, a := range slices.Clone(all) {
		if len(a.paths) == 0 {
			all = append(all, actsBelow(a.Act, a.in.top, a.in, at)...)
		}

		for _, path := range a.paths {
			all = append(all, actsBelow(a.Act, filepath.Join(a.in.top, filepath.FromSlash(path)), a.in, at)...)
		}
	}

	return all
}

// actsBelow says what an act that takes a directory means in the checkouts that lie in it: each goes as a
// whole. Of git's commands, only some take those.
func actsBelow(act shell.Act, dir string, around *checkout, at *workspace.Place) (below []checkoutAct) {
	isGit := strings.HasPrefix(act.Form, "git ")
	if act.Kind != shell.Takes || act.Some || isGit && act.Loses&shell.Nested == 0 {
		return nil
	}

	// Who removes a directory removes whatever the checkouts in it hold.
	act.Loses = shell.Modified | shell.Staged | shell.Partly | shell.Untracked | shell.Nested
	for _, c := range checkoutsBelow(dir, around, at) {
		if tree, ok := workspace.FindCheckout(c.top, workspace.Env{}); ok {
			below = append(below, checkoutAct{Act: act, tree: tree, in: c, whole: true})
		}
	}

	return below
}

// checkActs judges what a command would take of uncommitted work. Where the room only warns, nothing is
// denied for whose work it is. What fails on the way stops nothing, except that work of which there is no
// whole copy is denied once. What a command has done is told after it, see [Guard.tellEnd] and
// [Guard.tellHappened].
func (g *Guard) checkActs(ctx context.Context, q editQuestion, res *MayEditResult) error {
	var failed error
	for _, a := range q.acts {
		// Pushes are judged by checkPushes.
		if a.Kind == shell.Pushes {
			continue
		}

		room, ok, err := g.enforcingRoom(ctx, q.Caller, a.in)
		if err != nil || !ok {
			failed = cmp.Or(failed, err)
			continue
		}

		// From here on it may take long, so whoever waits is told why.
		if q.Rescuing != nil {
			q.Rescuing()
		}

		t := telling{room: room.ID, Top: a.in.top, Common: a.tree.Common}
		var why *stick.Error

		// Refs are kept as commits, files by snapshots.
		if a.Kind == shell.Drops {
			why, err = g.keepTips(ctx, a, room, q.Caller, &t)
		} else {
			why, err = g.judgeTaking(ctx, a, q, res.kept, &t)
		}

		failed = cmp.Or(failed, err)
		if why != nil {
			if room.ID != res.here {
				why = why.In(room.Path)
			}

			res.deny(room.ID, why)
			res.unkept, res.unkeptSum = t.Taken.Form, a.takingSum()
			return failed
		}

		// Nothing is told of an act that costs nobody anything.
		if len(t.Taken.Kept)+len(t.Taken.Of) > 0 {
			res.tellings = append(res.tellings, t)
		}
	}

	return failed
}

// deny makes the answer a refusal. Nothing is taken then, whatever another part of the command would take.
func (r *MayEditResult) deny(room stick.RoomID, why *stick.Error) {
	r.setJudgement(why, false)
	r.RoomID, r.due, r.tellings = room, true, nil
	r.Enforce, _ = why.Fields["enforce"].(stick.Enforce)
}

// enforcingRoom returns the part of a checkout's room that the caller needs, and whether there is one that
// enforces anything.
func (g *Guard) enforcingRoom(ctx context.Context, by core.Caller, c *checkout) (r stick.Room, ok bool, err error) {
	db, err := g.core.Open(ctx, false)
	if err == store.ErrAbsent || by.Person {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}

	err = g.core.View(ctx, db, by, func(tx *store.Tx, _ *core.Probes) error {
		rooms, err := tx.RoomsAt([][]string{c.chain})
		if ok = false; err != nil || rooms[0].Room == "" {
			return err
		}

		r, err = tx.RoomPartAt(rooms[0], "")
		r = r.AtGeneration(tx.Generation(), tx.Now())
		ok = err == nil && edits.Enforces(r)
		return err
	})
	return r, ok, err
}

// judgeTaking judges an act by the uncommitted work that it would take. Where no snapshot has all of that,
// the act is refused once, and the telling has the form of the command. Else the telling says what it sweeps
// up. Whose work it is can't be told in time where very many files have changes.
func (g *Guard) judgeTaking(
	ctx context.Context, a checkoutAct, q editQuestion, kept []*snapshot, t *telling,
) (why *stick.Error, err error) {
	looking, cancel := q.limitLook(ctx)
	defer cancel()
	w, err := g.findWork(looking, q.Caller, a.in, narrowPaths(a.paths)...)
	if refusal := git.RefusalOf(err); refusal != nil {
		return g.takesUnkept(ctx, q.Caller, w.room, a, refusal, t)
	}

	// Out of time isn't an error: the act is then judged by what it might take.
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && w.room.ID != ""
	if err != nil && !late {
		return nil, err
	}

	taken, j := a.judgeTaken(w)
	switch {
	case j.Denied != nil:
		return j.Denied, nil
	case taken.Sweeps:
		t.Taken, t.Owners = taken, w.ownersOf(taken.Files)
		t.Head, _, _ = workspace.Head(a.in.top)
		return nil, nil
	case a.Kind == shell.Moves, !late && !a.mayLose(len(taken.Files)):
		// Git itself refuses to lose what a move would overwrite.
		return nil, nil
	}

	// The same command again goes through: its caller has been told.
	missing, merr := g.notKept(ctx, a, w, kept)
	if len(missing) > 0 {
		again, err := g.wasRefused(ctx, q.Caller, w.room.ID, a)
		if !again && err == nil {
			t.Taken.Form = a.Form
			return edits.NotKept(w.room, a.Form, missing), merr
		}
	}

	return nil, merr
}

// ownersOf says whose files are.
func (w uncommittedWork) ownersOf(files []string) map[string][]stick.AgentID {
	of := map[string][]stick.AgentID{}
	for _, c := range w.changes {
		if slices.Contains(files, c.Path) {
			of[c.Path] = c.Others
		}
	}

	return of
}

// judgeTaken says which of the uncommitted files an act would take, and whether it may.
func (a checkoutAct) judgeTaken(w uncommittedWork) (edits.Taken, edits.Judgement) {
	q := edits.Taking{By: w.me.Agent, Person: w.me.Person(), Form: a.Form, Sweeps: a.Kind == shell.Sweeps}
	taken := edits.Taken{By: w.me.Agent, Form: a.Form, Sweeps: q.Sweeps}
	for _, c := range w.changes {
		if !a.concernsChange(c) {
			continue
		}

		taken.Files = append(taken.Files, c.Path)

		// Own work needs no protection, and of some acts nobody can tell what they take.
		if c.Share != edits.ShareOthers || a.Some || a.Kind == shell.Moves {
			continue
		}

		q.Theirs = append(q.Theirs, c.Path)
		for _, o := range c.Others {
			if !slices.Contains(q.Of, o) {
				q.Of = append(q.Of, o)
			}
		}
	}

	// A sweep takes along only what is others' work.
	if taken.Of = q.Of; q.Sweeps {
		taken.Files = q.Theirs
	}

	return taken, edits.MayTake(w.room, q)
}

// mayLose reports whether an act may lose something, if so many of the files that git tells of are concerned.
// Git doesn't tell of files that it was told to take for unchanged, and of those in submodules.
func (a checkoutAct) mayLose(files int) bool {
	switch {
	case files > 0:
		return true
	case a.Kind != shell.Takes:
		return false
	case strings.HasPrefix(a.Form, "git "):
		return a.Loses&(shell.Modified|shell.Ignored|shell.Nested) != 0
	}

	return slices.ContainsFunc(a.paths, func(p string) bool {
		full := filepath.Join(a.in.top, p)
		info, err := os.Lstat(full)
		_, nested := os.Lstat(filepath.Join(full, ".git"))
		return err == nil && !info.IsDir() || nested == nil
	})
}

// maxRescuePaths is how many paths a look and a rescue are narrowed to. With more, they are of the whole
// checkout.
const maxRescuePaths = 500

func narrowPaths(paths []string) []string {
	if len(paths) > maxRescuePaths {
		return nil
	}
	return paths
}

// concernsChange reports whether an act may take the uncommitted state of a file.
func (a checkoutAct) concernsChange(c Change) bool {
	under := func(p string) bool {
		return c.Path == p || strings.HasPrefix(c.Path, p+"/") ||
			strings.HasPrefix(p+"/", c.Path) && strings.HasSuffix(c.Path, "/")
	}

	// Without paths, the act is about the whole checkout.
	if len(a.paths) > 0 && !slices.ContainsFunc(a.paths, under) {
		return false
	}

	untracked := c.git.Index == '?'
	switch {
	case a.Kind == shell.Sweeps:
		return c.git.Tree != ' ' && !(untracked && a.Tracked)
	case a.Kind == shell.Moves:
		return true
	case strings.HasSuffix(c.Path, "/"):
		return a.Loses&shell.Nested != 0
	case untracked:
		return a.Loses&shell.Untracked != 0
	}

	// Some acts lose only what is both staged and changed since.
	staged, changed := c.git.Index != ' ', c.git.Tree != ' '
	return changed && a.Loses&shell.Modified != 0 || staged && a.Loses&shell.Staged != 0 ||
		staged && changed && a.Loses&shell.Partly != 0
}

// tellTaken records what a command takes, for the agent that runs it and for those whose work it is.
func (g *Guard) tellTaken(ctx context.Context, p core.HookParams, all []roomTaking) error {
	var err error
	for _, t := range mergeTakings(all) {
		p.Where = core.Where{RoomID: t.room}
		err = errors.Join(err, g.runHookOp(ctx, p, true, func(o *op) error {
			if isTold, err := o.settleCall(t.call); err != nil || isTold {
				return err
			}

			t.By = o.Me.Agent
			o.Events = append(o.Events, edits.Take(o.Room, t.Taken))
			return nil
		}))
	}

	return err
}
