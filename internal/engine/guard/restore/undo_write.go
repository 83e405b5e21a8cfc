package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// besideSuffix is how the name of a file ends that is put beside another.
func (u *undoing) besideSuffix() string { return fmt.Sprintf(".before-%d", u.call.ID) }

// toWrite lists the paths that are going to be written, absolute.
func (u *undoing) toWrite() (paths []string) {
	for _, s := range u.steps {
		path := s.Path
		if s.do == edits.UndoLeave {
			path += u.besideSuffix()
		}
		paths = append(paths, filepath.Join(u.tree.Top, filepath.FromSlash(path)))
	}

	return paths
}

// askMayEdit asks whether the caller may change the files now.
func (u *undoing) askMayEdit(ctx context.Context) error {
	told, step, err := u.restorer.askEdit(ctx, u.p.Caller, u.tree.Top, u.toWrite())
	if err != nil {
		return err
	}

	u.result.Warning, u.result.Hint = told, step.As(u.p.Caller.AssumedByFlag()).Words()
	return nil
}

// undoLimit is how long an undo may take for one snapshot. Whoever undoes something waits longer than a hook may.
const undoLimit = 20 * time.Second

// takeSnapshot keeps the state of the checkout, before or after the undo.
func (u *undoing) takeSnapshot(ctx context.Context, when rescue.Moment) (rescue.Taken, error) {
	s := u.restorer.Store()
	s.Limits.Time, s.Limits.Status = undoLimit, undoLimit/2
	return s.Take(ctx, rescue.Request{Tree: u.tree, Nested: true, At: stick.At(u.restorer.core.Now()), Facts: rescue.Facts{
		Room: string(u.room.ID), Agent: string(u.me.Agent),
		TurnID: u.room.Turn.ID, Cause: rescue.CauseCall, Command: u.commandText(), Moment: when,
	}})
}

// commandText is the undo as somebody would call it.
func (u *undoing) commandText() string { return fmt.Sprintf("tt undo %d", u.call.ID) }

// undoTool is the tool of a call that is an undo.
const undoTool = "tt undo"

// beginUndo keeps what is there now, and records that the undo begins: whatever happens next, it can be
// undone, and other agents' calls that run meanwhile don't take its changes for theirs.
func (u *undoing) beginUndo(ctx context.Context) error {
	kept, err := u.takeSnapshot(ctx, rescue.MomentBefore)
	if err != nil {
		return err
	}
	if kept.ID == "" {
		return stick.Errorf(
			stick.CodeGitFailed, "tt couldn't copy what is there now in time, so it changed nothing",
		).
			With("path", u.tree.Top).Hintf("see how long git takes: %s", stick.Cmd("git status"))
	}

	// What can't be brought back again isn't touched.
	u.dropUnkept(kept.LeftOut)

	return u.restorer.writeRoom(ctx, core.Where{RoomID: u.room.ID}, u.p.Caller, core.JoinsIfNew, func(o *op) error {
		o.Settle()
		u.begun = edits.Call{
			Agent: o.Me.Agent, Tool: undoTool, Command: u.commandText(),
			Checkout: u.tree.Top, Before: kept.ID, Started: o.Tx.Now(),
		}

		u.result.AgentID, u.result.Joined = o.Me.Agent, o.Joined
		return ledger.RecordCall(o.Tx, o.Room.ID, &u.begun)
	})
}

// dropUnkept leaves files alone of whose present state there is no copy.
func (u *undoing) dropUnkept(leftOut []rescue.LeftOut) {
	steps := u.steps
	u.steps = nil
	for _, s := range steps {
		isUnkept := slices.ContainsFunc(leftOut, func(l rescue.LeftOut) bool { return l.Covers(s.Path) })
		if !isUnkept || s.do == edits.UndoLeave {
			u.steps = append(u.steps, s)
			continue
		}

		u.result.Left = append(u.result.Left, LeftFile{
			Path: s.Path, Reason: edits.UndoUnkept, Why: "no copy could be made of what is there now",
		})
	}
}

// writeSteps does the steps. Removals come first, since a directory may have been in the place of a file, or
// the other way round.
func (u *undoing) writeSteps(ctx context.Context) {
	for _, s := range slices.Backward(u.steps) {
		if s.do == edits.UndoRemove && u.restoreStep(ctx, s) {
			u.result.Removed = append(u.result.Removed, s.Path)
		}
	}

	// The caller reads the paths in their own order.
	slices.Reverse(u.result.Removed)
	for _, s := range u.steps {
		if s.do == edits.UndoRestore && u.restoreStep(ctx, s) {
			u.result.Restored = append(u.result.Restored, s.Path)
		}
	}

	for _, s := range u.steps {
		if s.do == edits.UndoLeave {
			u.putBeside(ctx, s)
		}
	}
}

// restoreStep gives a path its state from before, and reports whether it could.
func (u *undoing) restoreStep(ctx context.Context, s undoStep) bool {
	err := ctx.Err()
	if err == nil {
		err = u.undo.Restore(ctx, s.UndoFile)
	}

	switch {
	case err == nil:
		u.written = append(u.written, s.Path)
		return true
	case errors.Is(err, rescue.ErrChanged):
		// PutBeside follows.
		u.leaveFile(s.UndoFile, edits.UndoChanged, nil)
	default:
		u.result.Left = append(u.result.Left, LeftFile{
			Path: s.Path, Reason: edits.UndoFailed, Why: stick.AsError(err).Words(),
		})
	}

	return false
}

// putBeside puts the state of a path from before the call beside it.
func (u *undoing) putBeside(ctx context.Context, s undoStep) {
	i := slices.IndexFunc(u.result.Left, func(l LeftFile) bool { return l.Path == s.Path })
	at, err := u.undo.PutBeside(ctx, s.UndoFile, u.besideSuffix())
	if err != nil {
		u.result.Left[i].Why += "; its state from before can't be put beside it: " + stick.AsError(err).Words()
		return
	}

	u.result.Left[i].Beside = at
	u.written = append(u.written, at)
}

// endUndo keeps the state after the undo, records that it has ended, and tells whom it concerns.
func (u *undoing) endUndo(ctx context.Context) error {
	// Without it, the undo can't be undone, but it has happened.
	after, serr := u.takeSnapshot(ctx, rescue.MomentAfter)

	// Files are read before the transaction, which shouldn't wait for a disk.
	found := u.seeWritten()

	return u.restorer.writeRoom(ctx, core.Where{RoomID: u.room.ID}, u.p.Caller, core.MustBeMember, func(o *op) error {
		u.begun.Ended, u.begun.Files = o.Tx.Now(), len(u.written)
		if serr == nil {
			u.begun.After = after.ID
		}

		beside, err := o.Tx.Calls(store.CallQuery{
			Room: o.Room.ID, Checkout: u.tree.Top, Since: u.begun.Started, Limit: ledger.MaxBeside,
		})
		if err != nil {
			return err
		}

		// An undo is a call like others, and can be undone like others.
		u.begun.Overlapped = u.begun.Overlaps(beside, u.begun.Ended)
		if err := ledger.RecordCall(o.Tx, o.Room.ID, &u.begun); err != nil || len(u.written) == 0 {
			return err
		}

		u.result.UndoID = u.begun.ID

		u.addEvent(o)
		return u.noteEditors(o, found)
	})
}

// readHead finds how the call has moved HEAD.
func (u *undoing) readHead(ctx context.Context) {
	m, err := u.undo.HeadMove(ctx)
	switch {
	case err != nil:
		u.result.HeadWhy = stick.AsError(err).Words()
	case m.Moved():
		h := &UndoneHead{
			From: m.From, FromBranch: m.FromBranch, To: m.To,
			ToBranch: m.ToBranch, Back: []stick.Words{}, commands: m.Back(),
		}

		for _, c := range h.commands {
			h.Back = append(h.Back, stick.Words(c.String()))
		}

		u.result.Head = h
	}
}

// seeWritten looks at the files that were written.
func (u *undoing) seeWritten() (found []edits.SeenFile) {
	for _, path := range u.written {
		full := filepath.Join(u.tree.Top, filepath.FromSlash(path))
		if s, _, err := workspace.StateOfFile(full, edits.FileState{}); err == nil {
			found = append(found, edits.SeenFile{Path: path, State: s})
		}
	}

	return found
}

// addEvent adds the event.
func (u *undoing) addEvent(o *op) {
	t := edits.Undo{
		By: o.Me.Agent, Call: u.call, As: u.begun.ID, Checkout: u.tree.Top, Files: slices.Concat(
			u.result.Restored, u.result.Removed,
		),
	}

	for _, l := range u.result.Left {
		t.Left = append(t.Left, l.Path)
		for _, a := range l.By {
			if !slices.Contains(t.Of, a) {
				t.Of = append(t.Of, a)
			}
		}
	}

	e := edits.CallUndone(o.Room, t)
	o.Events = append(o.Events, e)

	u.result.Told = []stick.AgentID{}
	for _, a := range e.For {
		u.result.Told = append(u.result.Told, a.Agent)
	}
}

// noteEditors notes an agent as the editor of the files. Where a file has the bytes again that it was noted
// with, its editors stay: it is their work that came back.
func (u *undoing) noteEditors(o *op, found []edits.SeenFile) error {
	if !edits.Enforces(o.Room) || o.Me.Person() {
		return nil
	}

	// Files of repositories inside are noted in checkouts of their own.
	by := ledger.EditorNow(o.Room, o.Me, o.Probes.Probed, o.Tx.Now())
	written := map[string][]edits.SeenFile{} // by the checkout
	for _, f := range found {
		top, rel := u.undo.Place(f.Path)
		f.Path = rel
		written[top] = append(written[top], f)
	}

	for _, top := range slices.Sorted(maps.Keys(written)) {
		if err := noteUndone(o, by, top, written[top]); err != nil {
			return err
		}
	}

	return nil
}

// noteUndone is [undoing.noteEditors] in one checkout.
func noteUndone(o *op, by edits.Editor, top string, found []edits.SeenFile) error {
	var paths []string
	for _, f := range found {
		paths = append(paths, f.Path)
	}

	known, err := o.Tx.Edited(o.Room.ID, top, paths)
	if err != nil {
		return err
	}

	var noted []edits.EditedFile
	for _, s := range found {
		i := slices.IndexFunc(known, func(k edits.EditedFile) bool { return k.Path == s.Path })
		if i < 0 {
			noted = append(noted, edits.EditedFile{Path: s.Path}.Note(by, s.State))
		} else {
			noted = append(noted, known[i].Find(s.State, by))
		}
	}

	return ledger.AddEdited(o.Tx, o.Room.ID, top, noted)
}
