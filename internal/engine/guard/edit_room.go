package guard

import (
	"cmp"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// roomQuestion is the part of a question that one room decides.
type roomQuestion struct {
	place store.Place
	room  stick.Room
	in    stick.Checkout // where the room has several
	tree  bool           // anything in the room may change
	paths []string       // files to change, relative to the room
	dirs  []string       // directories in which anything may change, relative to the room
	gone  []edits.Removing
	root  string           // the main checkout; empty if only the room is known
	apart []edits.Straying // the worktrees in which something is to be changed, each with the first of it
	over  []string         // directories to change that may contain worktrees, relative to the main checkout
}

// addTarget adds a file or directory to change.
func (a *roomQuestion) addTarget(x workspace.Target) {
	if a.root = x.Place.Root; x.Place.Worktree != "" {
		rel, _ := workspace.RelBelow(x.Full, x.Place.Worktree)
		if rel == "." {
			rel = ""
		}

		a.addApart(x.Place, rel)
		return
	}

	if rel, ok := workspace.RelBelow(x.Full, x.Place.Root); ok && x.Dir && rel != "." {
		// A change of the whole tree leaves worktrees alone.
		a.over = append(a.over, rel)
	}

	rel, ok := workspace.RelBelow(x.Full, a.room.Path)
	switch {
	case !ok:
	case rel == ".":
		a.tree = true
	case x.Dir:
		a.dirs = addPath(a.dirs, rel)
	default:
		a.paths = addPath(a.paths, rel)
	}
}

// addPath adds a path, unless it is the last one already.
func addPath(paths []string, rel string) []string {
	if n := len(paths); n > 0 && paths[n-1] == rel {
		return paths
	}
	return append(paths, rel)
}

// addPlace adds a checkout in which anything may change.
func (a *roomQuestion) addPlace(p workspace.Place) {
	if a.root = p.Root; p.Worktree == "" {
		a.tree = true
		return
	}
	a.addApart(p, "")
}

// addApart adds what changes in a linked worktree, relative to it; empty for anything.
func (a *roomQuestion) addApart(p workspace.Place, rel string) {
	tree := core.NameTree(p)
	if !slices.ContainsFunc(a.apart, func(x edits.Straying) bool { return x.Tree == tree }) {
		a.apart = append(a.apart, edits.Straying{Root: p.Root, Tree: tree, Path: rel})
	}
}

// roomQuestions are the parts of a question, one for each room that decides.
type roomQuestions []*roomQuestion

// questionFor returns the part that a room decides. It loads only a part of the room.
func (all *roomQuestions) questionFor(tx *store.Tx, at store.Place, me stick.AgentID) (*roomQuestion, error) {
	if i := slices.IndexFunc(*all, func(a *roomQuestion) bool { return a.place == at }); i >= 0 {
		return (*all)[i], nil
	}

	r, err := tx.RoomPartAt(at, me)
	a := &roomQuestion{place: at, room: r.AtGeneration(tx.Generation(), tx.Now()), in: tx.CheckoutOf(r)}
	*all = append(*all, a)

	return a, err
}

// readRooms returns the rooms that decide, and the room of the place of the call, empty if there is none. If
// nothing is to be changed, that one decides.
func (q editQuestion) readRooms(tx *store.Tx, me stick.AgentID) (out roomQuestions, here stick.RoomID, err error) {
	places := q.askedPlaces()
	chains := make([][]string, len(places))
	for i, p := range places {
		chains[i] = slices.Concat(p.Chain, q.around[p.CheckoutTop()])
	}

	if q.at != nil {
		chains = append(chains, q.at.Chain)
	}

	rooms, err := tx.RoomsAt(chains)
	if err != nil {
		return nil, "", err
	}
	if here = q.RoomID; q.at != nil {
		here, rooms = rooms[len(places)].Room, rooms[:len(places)]
	} else {
		rooms = append(rooms, store.Place{Room: q.RoomID})
	}

	for i, at := range rooms {
		if at.Room == "" {
			continue
		}

		a, err := out.questionFor(tx, at, me)
		if err != nil {
			return nil, "", err
		}

		switch {
		case i == len(places):
			// A room by its id.
			a.tree = a.tree || q.all
		case i < len(q.in):
			a.addTarget(q.in[i])
		case i < len(q.in)+len(q.tree):
			a.addPlace(places[i])
		}
	}

	err = q.addRemovals(tx, &out, me)
	return out, here, err
}

// answerEdit lets the room decide, and adds the decision to res.
func (a *roomQuestion) answerEdit(
	tx *store.Tx, probes *core.Probes, me core.Identity, q editQuestion, res *MayEditResult,
) error {
	ask := edits.Editing{
		By: me.Agent, Above: me.Above, Person: me.Person(), Paths: a.paths, Dirs: a.dirs, Tree: a.tree, In: a.in,
	}

	for _, x := range a.apart {
		ask.Apart = append(ask.Apart, x.Tree)
	}

	files, ok := q.roles[a.room.ID]
	if !ok && len(a.paths)+len(a.dirs) > 0 {
		return errRolesUnread{a.room}
	}

	m, _ := a.room.Member(me.Agent)
	ask.PrimaryOnly, ask.Fold, ask.Paths = files.PrimaryOnly, files.foldsCase, files.withoutContextFile(a.paths, m)
	var near []stick.Reservation
	var err error

	if !q.decides || a.room.Policy.Enforce.HearsScopes() {
		if near, err = tx.ReservationsNear(a.room.ID, a.paths, a.dirs); err != nil {
			return err
		}
	}

	// Whether a reservation is stale depends on its owner, so all members are needed.
	if len(near) > 0 {
		all, err := tx.Room(a.room.ID)
		if err != nil {
			return err
		}

		all.Path = a.room.Path
		a.room = all.AtGeneration(tx.Generation(), tx.Now())
	}

	t := a.room.Turn
	if res.RoomID == "" {
		res.RoomID, res.AgentID, res.Enforce = a.room.ID, me.Agent, a.room.Policy.Enforce
		if t.State == stick.Owned {
			res.Holder = t.Owner
		}
	}

	res.Reserved = append(res.Reserved, edits.ReservedByOthers(a.room, ask, near, probes.Probed, tx.Now())...)
	j := a.mayRemove(me)

	// A pause comes before whose tree it is.
	if j == (edits.Judgement{}) && a.room.Paused.On() {
		j = edits.MayEdit(a.room, ask, near, probes.Probed, tx.Now())
	}
	if j == (edits.Judgement{}) {
		if j, err = a.mayWork(tx, probes, me, q, ask); err != nil {
			return err
		}
	}

	if j == (edits.Judgement{}) {
		j = edits.MayEdit(a.room, ask, near, probes.Probed, tx.Now())
	}

	why := cmp.Or(j.Denied, j.Told)

	// Another room has told already.
	if why == nil || j.Denied == nil && res.Told != "" {
		return nil
	}
	if a.room.ID != res.here {
		why = why.In(a.room.Path)
	}

	res.RoomID, res.Enforce = a.room.ID, a.room.Policy.Enforce
	if res.Holder = ""; t.State == stick.Owned {
		res.Holder = t.Owner
	}

	res.setJudgement(why, j.Denied == nil)
	return nil
}

// setJudgement takes over what a room has found against the rules, and whether it allows it.
func (r *MayEditResult) setJudgement(why *stick.Error, allowed bool) {
	r.step, r.Hint = why.Hint, why.Hint.Words()
	r.against, _ = why.Fields["paths"].([]string)
	if r.Allowed = allowed; allowed {
		r.Told = why.Words()
		return
	}

	r.Told, r.Denied, r.refusal, r.Reason = "", r.against, why, why.Words()
}
