package guard

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

const (
	maxOpen = 20  // calls of an agent that haven't ended
	maxName = 120 // bytes of what a harness names as it likes

	maxMarked = 10 // files that the mark of a snapshot names
)

// callIn describes the call that a hook is about, in one checkout.
func (q editQuestion) callIn(by stick.AgentID, top string) edits.Call {
	text := q.Text

	// An edit has no text, so it is known by its first file.
	if text == "" && len(q.in) > 0 {
		text = q.in[0].Full
		if rel, ok := workspace.RelBelow(text, top); ok {
			text = filepath.ToSlash(rel)
		}
	}

	return edits.Call{
		Agent: by, Helper: stick.Clip(q.Caller.Helper, maxName),
		Tool: stick.Clip(q.Tool, maxName), Key: stick.Clip(q.Call, maxName),
		Command: stick.Clip(stick.Line(text), edits.MaxCallText), Checkout: top,
	}
}

// beginCalls records that a command begins, in each checkout of the room of which a snapshot was made before
// it. elsewhere are the other rooms in which it may change something. An edit is over so soon that its end is
// enough.
func (o *op) beginCalls(q editQuestion, kept []*snapshot) (elsewhere []stick.RoomID, err error) {
	if !q.Unread {
		return nil, nil
	}

	for _, s := range kept {
		if s.err != nil || s.taken.ID == "" {
			continue
		}

		at, err := o.Tx.RoomsAt([][]string{s.chain})
		if err != nil {
			return nil, err
		}

		// A checkout of another room is noted there, in a step of its own.
		room := at[0].Room
		if room != o.Room.ID {
			if room != "" && !slices.Contains(elsewhere, room) {
				elsewhere = append(elsewhere, room)
			}
			continue
		}

		c := q.callIn(o.Me.Agent, s.top)
		c.Before, c.Started, c.Late = s.taken.ID, o.Tx.Now(), s.isLate()
		if err := ledger.RecordCall(o.Tx, o.Room.ID, &c); err != nil {
			return nil, err
		}
	}

	return elsewhere, nil
}

// beginElsewhere records that a command begins in other rooms than that of its working directory, as far as
// the caller is a member there: else nothing is noted of it there either.
func (g *Guard) beginElsewhere(
	ctx context.Context, q editQuestion, rooms []stick.RoomID, kept []*snapshot,
) (err error) {
	for _, room := range rooms {
		p := q.HookParams
		p.Where = core.Where{RoomID: room}
		err = errors.Join(err, g.runHookOp(ctx, p, true, func(o *op) error {
			m, ok := o.Room.Member(o.Me.Agent)
			if !edits.Enforces(o.Room) || !ok || m.State != stick.Joined {
				return nil
			}

			_, err := o.beginCalls(q, kept)
			return err
		}))
	}

	return err
}

// begunCall finds the call of which a hook sees the end, among those of its agent that haven't ended.
func begunCall(open []edits.Call, end edits.Call, now stick.Time) (begun edits.Call, ok bool) {
	i := slices.IndexFunc(open, func(c edits.Call) bool {
		return c.Runs(now) && c.Checkout == end.Checkout && c.Helper == end.Helper &&
			c.Tool == end.Tool && c.Key == end.Key && c.Command == end.Command
	})
	if i < 0 {
		return end, false
	}

	return open[i], true
}

// readCall finds the call that has ended in a checkout, and those that ran beside it.
func (c *checkout) readCall(tx *store.Tx, q editQuestion, me stick.AgentID) (err error) {
	c.call, c.beside = q.callIn(me, c.top), nil
	if !q.Unread {
		rows, err := tx.Edited(c.room, c.top, c.files)
		c.compares = len(rows) < len(c.files) || slices.ContainsFunc(rows, func(f edits.EditedFile) bool {
			return !f.Asleep.IsZero() || slices.ContainsFunc(f.Editors, func(e edits.Editor) bool {
				return e.Agent != me
			})
		})
		return err
	}

	open, err := tx.Calls(store.CallQuery{Room: c.room, Checkout: c.top, Agent: me, Open: true, Limit: maxOpen})
	if err != nil {
		return err
	}
	if c.call, _ = begunCall(open, c.call, tx.Now()); c.call.Started.IsZero() {
		return nil
	}

	// Calls that ran meanwhile share the blame for what has changed.
	c.beside, err = tx.Calls(store.CallQuery{
		Room: c.room, Checkout: c.top, Since: c.call.Started, Limit: ledger.MaxBeside,
	})
	return err
}

// callsElsewhere returns the calls in which this one began in other checkouts than those that are known, in
// all rooms: where its text names others.
func (q editQuestion) callsElsewhere(
	tx *store.Tx, me stick.AgentID, known []*checkout,
) (calls []edits.Call, err error) {
	open, err := tx.Calls(store.CallQuery{Agent: me, Open: true, Limit: maxOpen})
	for _, b := range open {
		isKnown := slices.ContainsFunc(known, func(c *checkout) bool { return c.top == b.Checkout }) ||
			slices.ContainsFunc(calls, func(c edits.Call) bool { return c.Checkout == b.Checkout })
		if begun, ok := begunCall([]edits.Call{b}, q.callIn(me, b.Checkout), tx.Now()); ok && !isKnown {
			calls = append(calls, begun)
		}
	}

	return calls, err
}

// checkoutOfCall returns the checkout in which a call began. It may be gone.
func checkoutOfCall(call edits.Call, r stick.Room) *checkout {
	c := &checkout{top: call.Checkout, gone: true, apart: !workspace.IsWithin(r.Path, call.Checkout)}

	place, err := workspace.Resolve(call.Checkout, workspace.Env{})
	if err == nil && place.CheckoutTop() == call.Checkout {
		c = newCheckout(place)
		c.looks = true
	}

	// A checkout that is gone still has a room, in which its loss is told.
	c.room, c.call = r.ID, call
	return c
}

// changedPaths are the files that a command has changed or removed, other than new ones: of these the room is
// asked as of an edit's.
func (c *checkout) changedPaths() (paths []string) {
	for path, ch := range c.own {
		if ch.Kind == rescue.ChangeChanged || ch.Kind == rescue.ChangeDeleted {
			paths = append(paths, filepath.Join(c.top, filepath.FromSlash(path)))
		}
	}

	slices.Sort(paths)
	return paths
}

// hadWork lists the files that the call has changed and that were uncommitted before it, as far as anybody
// has to be told.
func (c *checkout) hadWork() (files []git.Uncommitted) {
	for _, path := range slices.Sorted(maps.Keys(c.own)) {
		ch := c.own[path]
		isToTell := ch.Kind != rescue.ChangeStaged &&
			ch.Kind != rescue.ChangeKept && (!ch.Ignored || c.isNamed(path))
		if isToTell && (ch.Old.Mode != "" || ch.Old.LeftOut) {
			files = append(files, git.Uncommitted{Path: path})
		}
	}

	return files
}

// othersWork lists the files of others, and those that nobody has noted, whose uncommitted state a call has
// taken or changed. Whoever is noted as an editor of a file has been told already.
func (c *checkout) othersWork(tx *store.Tx, probes *core.Probes, me core.Identity) (t edits.Taken, err error) {
	had := c.hadWork()
	if len(had) == 0 {
		return t, nil
	}

	var paths []string
	for _, u := range had {
		paths = append(paths, u.Path)
	}

	// Of very many files, one row stands for those in a directory.
	known, err := tx.Edited(c.room, c.top, slices.Concat(paths, edits.FoldersOf(paths)))
	if err != nil {
		return t, err
	}
	known = edits.Unfold(known, paths, c.call.Started)

	// What was edited before is committed or gone.
	if !c.looks {
		known = slices.DeleteFunc(known, func(f edits.EditedFile) bool { return !f.Asleep.IsZero() })
	}

	r, err := tx.Room(c.room)
	if err != nil {
		return t, err
	}

	w := uncommittedWork{room: r.AtGeneration(tx.Generation(), tx.Now()), me: me}
	if err := w.addChanges(tx, probes, c, c.fold, had, known); err != nil {
		return t, err
	}

	for _, f := range w.changes {
		ch := c.own[f.Path]
		vanished := ch.Kind == rescue.ChangeDeleted || ch.Kind == rescue.ChangeClean
		isToldOf := f.Share == edits.ShareOthers || f.Share == edits.SharePassed && vanished ||
			f.Share == edits.ShareNobody && (len(f.Editors) > 0 || !ch.Unsure)
		if !isToldOf || f.editedBy(me.Agent) {
			continue
		}

		t.Files, t.Of = append(t.Files, f.Path), withAgents(t.Of, f.Others)
		if ch.Old.LeftOut {
			t.Left = append(t.Left, f.Path)
		}
	}

	return t, probes.RequireComplete(w.room)
}

// withAgents returns agents, and those of more that aren't among them.
func withAgents(agents, more []stick.AgentID) []stick.AgentID {
	for _, a := range more {
		if !slices.Contains(agents, a) {
			agents = append(agents, a)
		}
	}

	return agents
}

// isNamed reports whether the call names a path, or a directory above it. What a build makes and removes
// again nobody has to be told of.
func (c *checkout) isNamed(path string) bool {
	return slices.ContainsFunc(c.files, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

// formOf names a call, as a person would.
func (q editQuestion) formOf(c edits.Call) string {
	var forms []string
	for _, a := range q.Acts {
		if (a.Kind == shell.Takes || a.Kind == shell.Moves) && !slices.Contains(forms, a.Form) {
			forms = append(forms, a.Form)
		}
	}

	switch {
	case len(forms) > 0:
		return strings.Join(forms, " and ")
	case q.Text == "":
		return c.Tool
	}

	const most = 60 // runes, as of a form
	text := []rune(strings.Join(strings.Fields(c.Command), " "))
	if len(text) > most {
		return string(text[:most-1]) + "…"
	}

	return string(text)
}

// tellEnd tells those whose work a call has taken or changed, and the caller, and has the snapshot stay that
// they are told of.
func (g *Guard) tellEnd(ctx context.Context, q editQuestion, all []*checkout) error {
	var told []roomTaking
	var err error
	for _, c := range all {
		if !c.hasToTell() {
			continue
		}

		c.taken.Form, c.taken.Rescue, c.taken.Call = q.formOf(c.call), c.call.Before, c.call.ID
		if len(c.taken.Files) > 0 {
			told = append(told, roomTaking{room: c.room, top: c.top, Taken: c.taken})
		}
		if c.lost != "" {
			told = append(told, roomTaking{room: c.room, top: c.top, Taken: edits.Taken{
				Form: c.taken.Form, Rescue: c.call.Before, Repository: c.lost,
			}})
		}

		// With the last of it, all has been told.
		told[len(told)-1].call = c.call.ID
		err = errors.Join(err, g.Restorer.Store().Mark(c.call.Before, c.loss()))
	}

	terr := g.tellTaken(ctx, q.HookParams, told)
	for _, c := range all {
		if c.late || terr != nil && c.hasToTell() {
			q.finishLater(c.finish)
		}
	}
	return cmp.Or(terr, err)
}

// loss is what the mark of the snapshot before the call says.
func (c *checkout) loss() rescue.Loss {
	return rescue.Loss{
		Agent: string(c.call.Agent), Command: stick.Clip(c.taken.Form, edits.MaxCallText),
		Paths: c.taken.Files[:min(len(c.taken.Files), maxMarked)], Count: len(c.taken.Files),
	}
}

// hasToTell reports whether others have to be told of what the call has done.
func (c *checkout) hasToTell() bool { return len(c.taken.Files) > 0 || c.lost != "" }
