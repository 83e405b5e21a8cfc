package restore

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// compareFiles finds what the call has changed, and decides about each path.
func (u *undoing) compareFiles(ctx context.Context) (err error) {
	r := rescue.UndoRequest{
		Tree: u.tree, Before: u.call.Before, After: u.call.After, Paths: rescuePaths(u.p.Paths, u.tree.Top),
	}

	u.undo, err = u.restorer.Store().Undo(ctx, r)
	if err != nil {
		return u.explainMissing(err)
	}

	by, err := u.changedBeside(ctx)
	if err != nil {
		u.undo.Close()
		return err
	}

	var staged []string
	for _, f := range u.undo.Files {
		of, isShared := by.shared[f.Path]
		f.Alone = !isShared
		step, why := f.Step()
		sameFile := f.Was == f.Left && !f.Was.Unknown

		switch {
		case by.theirs[f.Path]:
		case f.Nested:
			u.leaveFile(f, edits.UndoNested, nil)
		case sameFile && f.Kind == rescue.ChangeStaged && by.staged[f.Path]:
			// What is staged may be the other one's.
		case sameFile && f.Kind == rescue.ChangeStaged:
			// Git of this checkout reaches no other.
			if top, _ := u.undo.Place(f.Path); top == u.tree.Top {
				staged = append(staged, f.Path)
			}
			u.leaveFile(f, edits.UndoStaged, nil)
		case sameFile:
			// It was committed as it was, for one.
		case step == edits.UndoNothing:
			u.result.Same = append(u.result.Same, f.Path)
		case step == edits.UndoLeave:
			u.leaveFile(f, why, of)
		default:
			u.steps = append(u.steps, undoStep{f, step})
		}
	}

	if len(staged) > 0 {
		u.result.Unstage = edits.Unstage(staged).Words()
	}

	return u.nameEditors(ctx)
}

// leaveFile notes that a path stays as it is.
func (u *undoing) leaveFile(f rescue.UndoFile, why edits.UndoReason, by []stick.AgentID) {
	u.result.Left = append(u.result.Left, LeftFile{Path: f.Path, Reason: why, Why: why.Says(), By: by})
	isBeside := why == edits.UndoChanged || why == edits.UndoUnread
	if isBeside && f.Was.Exists() {
		u.steps = append(u.steps, undoStep{f, edits.UndoLeave})
	}
}

// explainMissing says of an error of the snapshots which call it is about.
func (u *undoing) explainMissing(err error) error {
	e := stick.AsError(err)
	path, isPath := e.Fields["path"].(string)
	switch {
	case e.Code != stick.CodeNotFound:
		return err
	case isPath:
		return stick.Errorf(stick.CodeNotFound, "call %d hasn't changed %s", u.call.ID, path).
			With("call_id", u.call.ID).With("path", path).
			Hintf("to undo all that it has changed: %s", stick.Cmd("tt undo <call_id>"))
	}

	return stick.Errorf(stick.CodeNotFound, "the snapshots of call %d have expired", u.call.ID).
		With("call_id", u.call.ID).
		Hintf("see the copies: %s", stick.Cmd("tt rescue list"))
}

// changes are the paths that changed while calls of other agents ran beside the one that is undone.
type changes struct {
	shared map[string][]stick.AgentID // of which the file changed, with these agents
	theirs map[string]bool            // those of them that one of these calls names as the file that it edits, and that didn't change at another time
	staged map[string]bool            // of which only what is staged changed, as far as these times go
}

// changedBeside finds what changed while calls of other agents ran.
func (u *undoing) changedBeside(
	ctx context.Context,
) (by changes, err error) {
	by = changes{shared: map[string][]stick.AgentID{}, theirs: map[string]bool{}, staged: map[string]bool{}}
	all, err := u.restorer.Store().Changes(ctx, u.call.Before, u.call.After)
	if err != nil {
		return by, u.explainMissing(err)
	}

	// The snapshots of other calls cut the time of this one into parts.
	parts := u.call.Parts(u.beside, stick.At(u.restorer.core.Now()))

	// The snapshot after an edit has only the files that the tool names.
	if u.call.IsEditOf(changedIn(all)) {
		for i := range parts {
			parts[i].Alone = i == len(parts)-1
		}
	}

	alone := map[string]bool{}
	for _, p := range parts {
		changes, err := u.restorer.Store().Changes(ctx, p.From, p.To)

		// Another call's snapshot is past its time.
		if stick.CodeOf(err) == stick.CodeNotFound {
			changes, p.Alone = all, false
		} else if err != nil {
			return by, err
		}

		for _, c := range changes {
			switch {
			case p.Alone:
				alone[c.Path] = true
			case c.Kind == rescue.ChangeStaged: // such as by git add -A: an undo of the file takes nothing from whoever did that
				by.staged[c.Path] = true
			default:
				by.shared[c.Path] = u.othersBeside()
			}
		}
	}

	// A file that another call names as its own, and that only then changed, is that one's.
	for path := range by.shared {
		isTheirs := func(o edits.Call) bool { return o.Agent != u.call.Agent && o.Command == path }
		by.theirs[path] = !alone[path] && slices.ContainsFunc(u.beside, isTheirs)
	}

	return by, nil
}

func changedIn(changes []rescue.PathChange) (paths []string) {
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// othersBeside are the other agents whose calls ran meanwhile.
func (u *undoing) othersBeside() (others []stick.AgentID) {
	for _, o := range u.beside {
		if o.Agent != u.call.Agent && !slices.Contains(others, o.Agent) {
			others = append(others, o.Agent)
		}
	}

	return others
}

// nameEditors says who has changed the files since the call that stay because they have changed.
func (u *undoing) nameEditors(ctx context.Context) error {
	var paths []string
	for _, l := range u.result.Left {
		if l.Reason == edits.UndoChanged {
			paths = append(paths, l.Path)
		}
	}

	if len(paths) == 0 {
		return nil
	}

	return u.restorer.core.Read(ctx, core.Where{RoomID: u.room.ID}, u.p.Caller, func(
		tx *store.Tx, _ *core.Probes, _ stick.Room, _ core.Identity,
	) error {
		for i, l := range u.result.Left {
			if !slices.Contains(paths, l.Path) {
				continue
			}

			top, rel := u.undo.Place(l.Path)
			files, err := tx.Edited(u.room.ID, top, []string{rel})
			if err != nil {
				return err
			}
			if len(files) > 0 {
				u.result.Left[i].By = u.editorsSince(files[0])
			}
		}

		return nil
	})
}

// editorsSince returns who has edited a file after the call. The call's own agent has only if it is noted for
// a later call of its own.
func (u *undoing) editorsSince(f edits.EditedFile) (by []stick.AgentID) {
	for _, e := range f.Editors {
		isLater := e.At >= u.call.Ended
		if e.Agent == u.call.Agent {
			isLater = slices.ContainsFunc(u.later, func(c edits.Call) bool {
				return c.ID > u.call.ID && !c.Ended.IsZero() && e.At >= c.Ended
			})
		}

		if e.Agent != "" && isLater {
			by = append(by, e.Agent)
		}
	}

	return by
}
