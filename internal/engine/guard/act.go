package guard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// actIn is what an act of a command means in one checkout.
type actIn struct {
	shell.Act
	tree  workspace.Checkout
	in    *checkout
	paths []string // relative to the top level; none means all of it
	whole bool     // one of them is the top level itself
}

// takenIn is what a command is going to take, to be told in the room.
type takenIn struct {
	room stick.RoomID
	top  string // of the checkout
	stick.Taken
}

// joined makes one telling of what several parts of a command take in a checkout, if the same copy has all of it.
func joined(all []takenIn) (out []takenIn) {
	for _, t := range all {
		i := slices.IndexFunc(out, func(o takenIn) bool {
			return o.room == t.room && o.top == t.top && o.Rescue == t.Rescue && o.Sweeps == t.Sweeps
		})
		if i < 0 {
			out = append(out, t)
		} else {
			out[i].Taken = out[i].With(t.Taken)
		}
	}
	return out
}

// actsIn finds the checkouts in which acts take something. It leaves out what lies outside of git.
func (g *Guard) actsIn(at *workspace.Place, acts []shell.Act) (all []actIn) {
	env := g.core.Config.Workspace
	if env.Dir = ""; at != nil {
		env.Dir = at.Path
	}
	targets := workspace.NewTargets(env)
	add := func(act shell.Act, p workspace.Place, full string) {
		top := checkoutOf(p)
		if top == "" {
			return
		}
		i := slices.IndexFunc(all, func(a actIn) bool {
			return a.in.top == top && a.Kind == act.Kind && a.Text == act.Text && a.Form == act.Form && a.Loses == act.Loses
		})
		if i < 0 {
			tree, ok := workspace.FindCheckout(top, workspace.Env{})
			if !ok {
				return
			}
			i, all = len(all), append(all, actIn{Act: act, tree: tree, in: newCheckout(p)})
		} else {
			all[i].Refs = slices.Concat(all[i].Refs, act.Refs)
		}
		switch rel, ok := workspace.Below(full, top); {
		case !ok || rel == ".":
			all[i].paths, all[i].whole = nil, true
		case !all[i].whole:
			all[i].paths = another(all[i].paths, rel)
		}
	}
	for _, act := range acts {
		switch act.Kind {
		case shell.Removes: // judged with the edits
			continue
		case shell.Applies, shell.Pops: // see checkStash
			continue
		}
		if len(act.Paths) == 0 {
			if place, err := targets.ResolveDir(act.Dir); err == nil {
				add(act, place, "")
			}
		}
		for _, path := range act.Paths {
			found, _ := targets.ResolveNamed(path)
			for _, x := range found {
				add(act, x.Place, x.Full)
				if checkoutOf(x.Place) == "" {
					all = append(all, actsBelow(act, x.Full, &checkout{}, at)...)
				}
			}
		}
	}

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

// actsBelow says what an act that takes a directory means in the checkouts that lie in it: each goes as a whole. Of git's commands, only some
// take those.
func actsBelow(act shell.Act, dir string, around *checkout, at *workspace.Place) (below []actIn) {
	isGit := strings.HasPrefix(act.Form, "git ")
	if act.Kind != shell.Takes || act.Some || isGit && act.Loses&shell.Nested == 0 {
		return nil
	}

	act.Loses = shell.Modified | shell.Staged | shell.Partly | shell.Untracked | shell.Nested
	for _, c := range checkoutsBelow(dir, around, at) {
		if tree, ok := workspace.FindCheckout(c.top, workspace.Env{}); ok {
			below = append(below, actIn{Act: act, tree: tree, in: c, whole: true})
		}
	}
	return below
}

// checkActs judges what a command would take of uncommitted work. Where the room only warns, nothing is denied for whose work it is. What
// fails on the way stops nothing, except that work of which there is no whole copy is denied once. What a command has taken is told after
// it, see [Guard.tellEnd].
func (g *Guard) checkActs(ctx context.Context, q editQuestion, res *MayEditResult) error {
	var failed error
	for _, a := range q.acts {
		if a.Kind == shell.Pushes { // see checkPushes
			continue
		}
		room, ok, err := g.enforcing(ctx, q.Caller, a.in)
		if err != nil || !ok {
			failed = cmp.Or(failed, err)
			continue
		}
		if q.Rescuing != nil {
			q.Rescuing()
		}

		var taken stick.Taken
		var why *stick.Error
		if a.Kind == shell.Drops {
			taken, why, err = g.keepTips(ctx, a, room, q.Caller)
		} else {
			taken, why, err = g.takes(ctx, a, q, res.kept)
		}
		failed = cmp.Or(failed, err)
		if why != nil {
			if room.ID != res.here {
				why = why.In(room.Path)
			}
			res.deny(room.ID, why)
			res.unkept, res.unkeptSum = taken.Form, a.sum()
			return failed
		}
		if len(taken.Kept)+len(taken.Of) > 0 {
			res.taken = append(res.taken, takenIn{room.ID, a.in.top, taken})
		}
	}
	return failed
}

// deny makes the answer a refusal. Nothing is taken then, whatever another part of the command would take.
func (r *MayEditResult) deny(room stick.RoomID, why *stick.Error) {
	r.judged(why, false)
	r.RoomID, r.due, r.taken = room, true, nil
	r.Enforce, _ = why.Fields["enforce"].(stick.Enforce)
}

// enforcing returns the part of a checkout's room that the caller needs, and whether there is one that enforces anything.
func (g *Guard) enforcing(ctx context.Context, by core.Caller, c *checkout) (r stick.Room, ok bool, err error) {
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
		r, err = tx.PartAt(rooms[0], "")
		r = r.AtGeneration(tx.Generation(), tx.Now())
		ok = err == nil && r.Enforces()
		return err
	})
	return r, ok, err
}

// takes judges an act by the uncommitted work that it would take. Where no snapshot has all of that, the act is refused once, and the
// result has the form of the command. Whose work it is can't be told in time where very many files have changes.
func (g *Guard) takes(ctx context.Context, a actIn, q editQuestion, kept []*snapshot) (taken stick.Taken, why *stick.Error, err error) {
	looking, cancel := q.looking(ctx)
	defer cancel()
	w, err := g.whose(looking, q.Caller, a.in, narrowed(a.paths)...)
	if foreign := git.Distrust(err); foreign != nil {
		return g.takesUnkept(ctx, q.Caller, w.room, a, foreign)
	}
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && w.room.ID != ""
	if err != nil && !late {
		return taken, nil, err
	}

	taken, j := a.judge(w)
	switch {
	case j.Denied != nil:
		return stick.Taken{}, j.Denied, nil
	case taken.Sweeps:
		return taken, nil, nil
	case a.Kind == shell.Moves, !late && !a.mayLose(len(taken.Files)): // git itself refuses to lose what a move would overwrite
		return stick.Taken{}, nil, nil
	}

	missing, merr := g.notKept(ctx, a, w, kept)
	if len(missing) > 0 {
		again, err := g.wasRefused(ctx, q.Caller, w.room.ID, a)
		if !again && err == nil {
			return taken, w.room.NotKept(a.Form, missing), merr
		}
	}
	return stick.Taken{}, nil, merr
}

// takesUnkept refuses an act once that takes work away where git refuses to work: nobody can tell what that is, and no copy can be kept of it.
// Of other acts the caller is told after them.
func (g *Guard) takesUnkept(ctx context.Context, by core.Caller, room stick.Room, a actIn, foreign *stick.Error) (taken stick.Taken, why *stick.Error, err error) {
	if a.Kind != shell.Takes {
		return taken, nil, nil
	}
	again, err := g.wasRefused(ctx, by, room.ID, a)
	if again || err != nil {
		return taken, nil, err
	}
	taken.Form = a.Form
	return taken, room.NoneKept(a.Form, foreign), nil
}

// notKept names the uncommitted work that an act would take and that no snapshot has. Where the room wants no copies, nothing is missing.
func (g *Guard) notKept(ctx context.Context, a actIn, w whoseWork, kept []*snapshot) (missing []string, err error) {
	if !w.room.KeepsSnapshots() {
		return nil, nil
	}
	if len(a.paths) == 0 && a.Loses&shell.Ignored != 0 { // a snapshot has nothing of ignored directories that aren't named
		copied, err := g.takeRescue(ctx, rescue.Request{
			Tree: a.tree, Untracked: true, Ignored: true, Nested: a.Loses&shell.Nested != 0,
			Facts: rescue.Facts{Room: string(w.room.ID), Agent: string(w.me.Agent), TurnID: w.room.Turn.ID, Cause: rescue.CauseCommand, Command: a.Form},
		})
		return lacks(copied, err), err
	}

	i := slices.IndexFunc(kept, func(s *snapshot) bool { return s.top == a.in.top })
	if i < 0 {
		return nil, nil
	}
	s := kept[i]
	for _, l := range s.taken.LeftOut {
		if a.mayTake(l, w.changes) {
			missing = append(missing, l.Path+" ("+string(l.Why)+")")
		}
	}
	if s.err != nil {
		missing = append(missing, "all of it ("+stick.AsError(s.err).Message+")")
	}
	return missing, s.err
}

// mayTake reports whether an act may take what a snapshot lacks, of which the caller has to be told first.
func (a actIn) mayTake(l rescue.LeftOut, changes []Change) bool {
	if isLeftOnPurpose(l) {
		return false
	}
	i := slices.IndexFunc(changes, func(c Change) bool { return c.Path == l.Path })
	if i >= 0 {
		return a.concerns(changes[i])
	}
	return l.Path == "./" || len(a.paths) > 0 && a.concerns(Change{Path: l.Path, git: git.Uncommitted{Index: '?', Tree: '?'}})
}

// judge says which of the uncommitted files an act would take, and whether it may.
func (a actIn) judge(w whoseWork) (stick.Taken, stick.Judgement) {
	q := stick.Taking{By: w.me.Agent, Person: w.me.Person(), Form: a.Form, Sweeps: a.Kind == shell.Sweeps}
	taken := stick.Taken{By: w.me.Agent, Form: a.Form, Sweeps: q.Sweeps}
	for _, c := range w.changes {
		if !a.concerns(c) {
			continue
		}
		taken.Files = append(taken.Files, c.Path)
		if c.Share != stick.ShareOthers || a.Some || a.Kind == shell.Moves {
			continue
		}
		q.Theirs = append(q.Theirs, c.Path)
		for _, o := range c.Others {
			if !slices.Contains(q.Of, o) {
				q.Of = append(q.Of, o)
			}
		}
	}
	if taken.Of = q.Of; q.Sweeps {
		taken.Files = q.Theirs
	}
	return taken, w.room.MayTake(q)
}

// mayLose reports whether an act may lose something, if so many of the files that git tells of are concerned. Git doesn't tell of files
// that it was told to take for unchanged, and of those in submodules.
func (a actIn) mayLose(files int) bool {
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

// maxRescuePaths is how many paths a look and a rescue are narrowed to. With more, they are of the whole checkout.
const maxRescuePaths = 500

func narrowed(paths []string) []string {
	if len(paths) > maxRescuePaths {
		return nil
	}
	return paths
}

// concerns reports whether an act may take the uncommitted state of a file.
func (a actIn) concerns(c Change) bool {
	under := func(p string) bool {
		return c.Path == p || strings.HasPrefix(c.Path, p+"/") || strings.HasPrefix(p+"/", c.Path) && strings.HasSuffix(c.Path, "/")
	}
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
	staged, changed := c.git.Index != ' ', c.git.Tree != ' '
	return changed && a.Loses&shell.Modified != 0 || staged && a.Loses&shell.Staged != 0 || staged && changed && a.Loses&shell.Partly != 0
}

// isLeftOnPurpose reports whether nobody has to be told that a copy lacks something: of ignored files, many and large ones are nobody's work,
// and of what is never copied somebody wanted no copy.
func isLeftOnPurpose(l rescue.LeftOut) bool {
	return l.Why == rescue.WhyIgnored || l.Why == rescue.WhyMany || l.Why == rescue.WhyNever
}

// lacks names what a rescue lacks that nobody has left out on purpose.
func lacks(kept rescue.Taken, err error) (missing []string) {
	for _, l := range kept.LeftOut {
		if !isLeftOnPurpose(l) {
			missing = append(missing, l.Path+" ("+string(l.Why)+")")
		}
	}
	if err != nil {
		missing = append(missing, "all of it ("+stick.AsError(err).Message+")")
	}
	return missing
}

// sum tells what a command takes from what others do: by its kind, directory, paths and refs, and by the sorts of work. Where nobody can
// tell which files it means, all its words count.
func (a actIn) sum() string {
	text := a.Text
	if !a.Some {
		text = 0
	}

	s := sha256.Sum256(fmt.Appendf(nil, "%q %d %q %q %q %t %q %d", a.Kind, a.Loses, a.in.top, a.Dir, a.paths, a.whole, a.Refs, text))
	return hex.EncodeToString(s[:8])
}

// wasRefused reports whether a command was refused to the caller in this turn already.
func (g *Guard) wasRefused(ctx context.Context, by core.Caller, room stick.RoomID, a actIn) (again bool, err error) {
	err = g.core.Read(ctx, core.Where{RoomID: room}, by, func(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity) error {
		last, err := (&op{&core.Op{Tx: tx, Probes: probes, Me: me, Room: r}}).denials()
		again = r.AskedAgain(a.Form, a.sum(), last)
		return err
	})
	return again, err
}

// keepTips keeps the commits that refs are about to lose. Where one is the branch of another agent's task, the result names that agent.
// If a commit can't be kept, the act is refused once.
func (g *Guard) keepTips(ctx context.Context, a actIn, room stick.Room, by core.Caller) (taken stick.Taken, why *stick.Error, err error) {
	taken.Form = a.Form
	taken.Of, err = g.workersOf(ctx, room.ID, a.Refs, by)
	lost, terr := g.lostTips(ctx, a)
	kept, kerr := g.rescues().KeepTips(ctx, a.tree.Common, lost, stick.At(g.core.Now()))
	if err = errors.Join(err, terr, kerr); kerr == nil {
		for _, tip := range kept {
			if !slices.Contains(taken.Kept, tip.Ref) {
				taken.Kept = append(taken.Kept, tip.Ref)
			}
		}
		return taken, nil, err
	}
	var missing []string
	for _, tip := range lost {
		missing = append(missing, tip.Of+" ("+stick.AsError(kerr).Message+")")
	}
	again, rerr := g.wasRefused(ctx, by, room.ID, a)
	if again || rerr != nil {
		return taken, nil, errors.Join(err, rerr)
	}
	return taken, room.NotKept(a.Form, missing), err
}

// tellTaken records what a command takes, for the agent that runs it and for those whose work it is.
func (g *Guard) tellTaken(ctx context.Context, p core.HookParams, all []takenIn) error {
	var err error
	for _, t := range joined(all) {
		p.Where = core.Where{RoomID: t.room}
		err = errors.Join(err, g.hooked(ctx, p, true, func(o *op) error {
			t.By = o.Me.Agent
			o.Events = append(o.Events, o.Room.Take(t.Taken))
			return nil
		}))
	}
	return err
}

// lostTips lists the commits that the refs of an act name.
func (g *Guard) lostTips(ctx context.Context, a actIn) (lost []rescue.Tip, err error) {
	for _, ref := range a.Refs {
		if strings.HasSuffix(ref, "/") { // any below it
			all, rerr := g.core.Config.Git.Refs(ctx, a.in.top, ref)
			for _, r := range all {
				lost = append(lost, rescue.Tip{Of: r.Name, Commit: r.Commit})
			}
			err = errors.Join(err, rerr)
			continue
		}
		commits, terr := g.core.Config.Git.Tips(ctx, a.in.top, ref)
		name, _, _ := strings.Cut(ref, "@{") // an entry of the stash is kept as a ref like its others
		for _, commit := range commits {
			lost = append(lost, rescue.Tip{Of: name, Commit: commit})
		}
		err = errors.Join(err, terr)
	}
	return lost, err
}

// workersOf lists the agents that work on the tasks of branches, if these are others' for the caller.
func (g *Guard) workersOf(ctx context.Context, room stick.RoomID, refs []string, by core.Caller) (of []stick.AgentID, err error) {
	err = g.core.Read(ctx, core.Where{RoomID: room}, by, func(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity) error {
		of = nil
		w, err := (&roomQuestion{room: r}).working(tx, probes, me)
		if err != nil {
			return err
		}
		tasks, err := tx.Tasks(room)
		for _, t := range tasks {
			if slices.Contains(refs, "refs/heads/"+t.Branch) && r.MayWorkOn(t, w) != (stick.Judgement{}) {
				of = append(of, t.Worker)
			}
		}
		return err
	})
	return of, err
}
