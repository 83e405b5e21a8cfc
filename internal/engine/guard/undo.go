package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// UndoCallParams asks to take a call of a tool back.
type UndoCallParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	ID    int64    `json:"call_id,omitempty"` // 0 for the caller's last call that has changed something
	Paths []string `json:"paths,omitempty"`   // only these, relative to the top level of the call's checkout, or absolute
}

// UndoCallResult says what was taken back, path by path.
type UndoCallResult struct {
	RoomID   stick.RoomID    `json:"room_id"`
	AgentID  stick.AgentID   `json:"agent_id"`
	Joined   bool            `json:"joined,omitempty"`
	Call     stick.Call      `json:"call"`                   // the one that was taken back
	UndoID   int64           `json:"undo_call_id,omitempty"` // the call that the undo is, to be taken back in its turn; 0 if it has written nothing
	Checkout string          `json:"checkout"`               // its top level
	Restored []string        `json:"restored"`               // files that are as before the call again
	Removed  []string        `json:"removed"`                // files that the call had made
	Same     []string        `json:"same"`                   // files that were as before the call already
	Left     []LeftFile      `json:"left"`                   // files that stay as they are
	Unstage  string          `json:"unstage,omitempty"`      // the command that takes back what the call has only staged
	Head     *UndoneHead     `json:"head,omitempty"`         // where the call has moved HEAD, which stays
	HeadWhy  string          `json:"head_unread,omitempty"`  // why nobody knows whether it has
	Told     []stick.AgentID `json:"told"`                   // the agents that get to know of it
	Already  bool            `json:"already,omitempty"`      // there was nothing to do
	Warning  string          `json:"warning,omitempty"`      // what is against the rules, though it is allowed
	Hint     string          `json:"hint,omitempty"`         // the next safe step
}

// LeftFile is a file that an undo leaves as it is.
type LeftFile struct {
	Path   string           `json:"path"`
	Reason stick.UndoReason `json:"reason"`
	Why    string           `json:"why"`              // the reason in words
	By     []stick.AgentID  `json:"by,omitempty"`     // who has changed it, as far as hooks have noted
	Beside string           `json:"beside,omitempty"` // where its state from before the call lies now
}

// UndoneHead is how the call has moved HEAD.
type UndoneHead struct {
	From       string   `json:"from"` // the commit; empty if there was none
	FromBranch string   `json:"from_branch,omitempty"`
	To         string   `json:"to"`
	ToBranch   string   `json:"to_branch,omitempty"`
	Back       []string `json:"brings_back"` // the commands of git that bring it back, in their order

	commands []stick.Command
}

// Commands are the commands that bring HEAD back, in their order.
func (h *UndoneHead) Commands() []stick.Command { return h.commands }

// HasLeft reports whether the undo has left something to whoever asked for it.
func (r UndoCallResult) HasLeft() bool { return len(r.Left) > 0 || r.Head != nil }

// undoing is one run of [Guard.UndoCall].
type undoing struct {
	guard *Guard
	p     UndoCallParams

	room   stick.Room
	me     core.Identity
	call   stick.Call
	beside []stick.Call // of other agents, and of the same, that ran in the checkout while the call did
	later  []stick.Call // of the call's agent in the checkout after it
	tree   workspace.Checkout

	undo    *rescue.Undo
	steps   []undoStep
	written []string // paths

	begun  stick.Call // the record of the undo itself
	result UndoCallResult
}

// undoStep is what is done with one path.
type undoStep struct {
	rescue.UndoFile
	do stick.UndoStep
}

// UndoCall takes a call of a tool back, if the caller may change its files now: each file that is still as the call left it gets its state from
// before. One that somebody has changed since stays, with its state from before beside it; so does one that changed while another
// agent's call ran. HEAD, refs and the index stay. What is there is kept before, and the undo is a call itself, so that it can be undone.
// Those whom it concerns are told. A caller that isn't a member joins.
//
// It may be repeated. It fails with [stick.CodeNotFound] if there is no such call, the call has changed nothing or not this path, its checkout is
// gone, or its snapshots are past their time; with [stick.CodeAlreadyRunning] while it runs; with [stick.CodeUsage] if a person names none;
// and with [stick.CodeEditDenied], [stick.CodeRoomClosed] and [stick.CodeKicked].
func (g *Guard) UndoCall(ctx context.Context, p UndoCallParams) (UndoCallResult, error) {
	u := &undoing{guard: g, p: p}
	if err := u.find(ctx); err != nil {
		return UndoCallResult{}, err
	}
	if err := u.compare(ctx); err != nil {
		return UndoCallResult{}, err
	}
	defer u.undo.Close()

	if len(u.toWrite()) > 0 {
		if err := u.ask(ctx); err != nil {
			return UndoCallResult{}, err
		}
		if err := u.begin(ctx); err != nil {
			return UndoCallResult{}, err
		}
		u.write(ctx)
	}
	u.readHead(ctx)
	slices.SortFunc(u.result.Left, func(a, b LeftFile) int { return strings.Compare(a.Path, b.Path) })
	if u.begun.ID != 0 {
		if err := u.end(ctx); err != nil {
			return UndoCallResult{}, err
		}
	}
	return u.result, u.checkResult()
}

// checkResult fails if the call has changed nothing after all, and notes that nothing was left to do.
func (u *undoing) checkResult() error {
	isDone := len(u.written) == 0 && !u.result.HasLeft()
	if u.result.Already = isDone && len(u.result.Same) > 0; isDone && !u.result.Already {
		return errNothingChanged(u.call)
	}
	return nil
}

func errNothingChanged(c stick.Call) error {
	return stick.Errorf(stick.CodeNotFound, "call %d has changed no file", c.ID).With("call_id", c.ID).Hintf("see which have: %s", stick.Cmd("tt calls"))
}

// find reads the call, and those that ran beside it.
func (u *undoing) find(ctx context.Context) error {
	err := u.guard.core.Read(ctx, u.p.Where, u.p.Caller, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) (err error) {
		u.room, u.me = r, me
		if u.call, err = wantedCall(tx, r, me, u.p.ID); err != nil {
			return err
		}
		if u.beside, err = tx.Calls(store.CallQuery{Room: r.ID, Checkout: u.call.Checkout, Since: u.call.Started, Until: u.call.Ended, Limit: maxBeside}); err != nil {
			return err
		}
		u.later, err = tx.Calls(store.CallQuery{Room: r.ID, Checkout: u.call.Checkout, Agent: u.call.Agent, Since: u.call.Ended, Limit: maxBeside})
		return err
	})
	if err != nil {
		return err
	}
	if err := checkUndo(u.call, stick.At(u.guard.core.Now())); err != nil {
		return err
	}

	var ok bool
	if u.tree, ok = workspace.FindCheckout(u.call.Checkout, workspace.Env{}); !ok || u.tree.Top != u.call.Checkout {
		return stick.Errorf(stick.CodeNotFound, "%s, the checkout of call %d, is gone", stick.Line(u.call.Checkout), u.call.ID).With("call_id", u.call.ID).
			With("checkout", u.call.Checkout).Hintf("see what was there before the call: %s", stick.Cmd("tt rescue show <rescue>", u.call.Before))
	}
	u.result = UndoCallResult{
		RoomID: u.room.ID, AgentID: u.me.Agent, Call: u.call, Checkout: u.tree.Top,
		Restored: []string{}, Removed: []string{}, Same: []string{}, Left: []LeftFile{}, Told: []stick.AgentID{},
	}
	return nil
}

// wantedCall returns the call that a caller means.
func wantedCall(tx *store.Tx, r stick.Room, me core.Identity, id int64) (c stick.Call, err error) {
	q := store.CallQuery{Room: r.ID, ID: id, Limit: 1}
	switch {
	case id < 0:
		return c, stick.Errorf(stick.CodeUsage, "the number of a call is at least 1").With("field", "call_id")
	case id == 0 && me.Person():
		return c, stick.Errorf(stick.CodeUsage, "say which call to undo").With("field", "call_id").Hintf("see them: %s", stick.Cmd("tt calls"))
	case id == 0:
		q.Agent, q.Changed = me.Agent, true
	}

	found, err := tx.Calls(q)
	switch {
	case err != nil:
		return c, err
	case len(found) > 0:
		return found[0], nil
	case id == 0:
		return c, stick.Errorf(stick.CodeNotFound, "no call of yours has changed a file, as far as hooks have seen").
			Hintf("see those of all agents: %s", stick.Cmd("tt calls"))
	}
	return c, stick.Errorf(stick.CodeNotFound, "there is no call %d on this host", id).With("call_id", id).Hintf("see which there are: %s", stick.Cmd("tt calls"))
}

// checkUndo says why a call can't be taken back, whatever lies in its checkout.
func checkUndo(c stick.Call, now stick.Time) error {
	refuse := func(code stick.Code, format string) *stick.Error {
		return stick.Errorf(code, format, c.ID).With("call_id", c.ID)
	}
	switch {
	case c.Ended.IsZero() && c.Runs(now):
		return refuse(stick.CodeAlreadyRunning, "call %d is still running").Hintf("see when it has ended: %s", stick.Cmd("tt calls --all"))
	case c.Before == "":
		return refuse(stick.CodeNotFound, "there is no snapshot from before call %d").Hintf("see which copies there are: %s", stick.Cmd("tt rescue list"))
	case c.After == "" && (c.Ended.IsZero() || c.Files > 0):
		return refuse(stick.CodeNotFound, "no hook has seen how call %d left the files").
			Hintf("see what was there before it: %s", stick.Cmd("tt rescue show <rescue>", c.Before))
	case c.After == "" || c.Before == c.After:
		return errNothingChanged(c)
	}
	return nil
}

// compare finds what the call has changed, and decides about each path.
func (u *undoing) compare(ctx context.Context) (err error) {
	r := rescue.UndoRequest{Tree: u.tree, Before: u.call.Before, After: u.call.After, Paths: rescuePaths(u.p.Paths, u.tree.Top)}
	u.undo, err = u.guard.rescues().Undo(ctx, r)
	if err != nil {
		return u.explain(err)
	}
	shared, theirs, err := u.sharedPaths(ctx)
	if err != nil {
		u.undo.Close()
		return err
	}

	var staged []string
	for _, f := range u.undo.Files {
		of, isShared := shared[f.Path]
		f.Alone = !isShared
		step, why := f.Step()
		sameFile := f.Was == f.Left && !f.Was.Unknown
		switch {
		case theirs[f.Path]:
		case f.Nested:
			u.leave(f, stick.UndoNested, nil)
		case sameFile && f.Kind == rescue.ChangeStaged && isShared: // maybe the other one's
		case sameFile && f.Kind == rescue.ChangeStaged:
			staged = append(staged, f.Path)
			u.leave(f, stick.UndoStaged, nil)
		case sameFile: // it was committed as it was, for one
		case step == stick.UndoNothing:
			u.result.Same = append(u.result.Same, f.Path)
		case step == stick.UndoLeave:
			u.leave(f, why, of)
		default:
			u.steps = append(u.steps, undoStep{f, step})
		}
	}
	if len(staged) > 0 {
		u.result.Unstage = stick.Unstage(staged).String()
	}
	return u.nameEditors(ctx)
}

// leave notes that a path stays as it is.
func (u *undoing) leave(f rescue.UndoFile, why stick.UndoReason, by []stick.AgentID) {
	u.result.Left = append(u.result.Left, LeftFile{Path: f.Path, Reason: why, Why: why.Says(), By: by})
	isBeside := why == stick.UndoChanged || why == stick.UndoUnread
	if isBeside && f.Was.Exists() {
		u.steps = append(u.steps, undoStep{f, stick.UndoLeave})
	}
}

// explain says of an error of the snapshots which call it is about.
func (u *undoing) explain(err error) error {
	e := stick.AsError(err)
	path, isPath := e.Fields["path"].(string)
	switch {
	case e.Code != stick.CodeNotFound:
		return err
	case isPath:
		return stick.Errorf(stick.CodeNotFound, "call %d hasn't changed %s", u.call.ID, stick.Line(path)).With("call_id", u.call.ID).With("path", path).
			Hintf("to undo all that it has changed: %s", stick.Cmd("tt undo <call_id>"))
	}
	return stick.Errorf(stick.CodeNotFound, "the snapshots of call %d are past their time", u.call.ID).With("call_id", u.call.ID).
		Hintf("see which copies there are: %s", stick.Cmd("tt rescue list"))
}

// sharedPaths returns the paths that changed while calls of other agents ran, with these agents. theirs are those that one of these
// calls names as the file that it edits, and that didn't change at another time.
func (u *undoing) sharedPaths(ctx context.Context) (shared map[string][]stick.AgentID, theirs map[string]bool, err error) {
	shared, theirs = map[string][]stick.AgentID{}, map[string]bool{}
	all, err := u.guard.rescues().Changes(ctx, u.call.Before, u.call.After)
	if err != nil {
		return nil, nil, u.explain(err)
	}

	parts := u.call.Parts(u.beside, stick.At(u.guard.core.Now()))
	if u.call.IsEditOf(changedIn(all)) { // the snapshot after an edit has only the files that the tool names
		for i := range parts {
			parts[i].Alone = i == len(parts)-1
		}
	}
	alone := map[string]bool{}
	for _, p := range parts {
		changes, err := u.guard.rescues().Changes(ctx, p.From, p.To)
		if stick.CodeOf(err) == stick.CodeNotFound { // another call's snapshot is past its time
			changes, p.Alone = all, false
		} else if err != nil {
			return nil, nil, err
		}
		for _, c := range changes {
			if p.Alone {
				alone[c.Path] = true
			} else {
				shared[c.Path] = u.othersBeside()
			}
		}
	}

	for path := range shared {
		isTheirs := func(o stick.Call) bool { return o.Agent != u.call.Agent && o.Command == path }
		theirs[path] = !alone[path] && slices.ContainsFunc(u.beside, isTheirs)
	}
	return shared, theirs, nil
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
		if l.Reason == stick.UndoChanged {
			paths = append(paths, l.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return u.guard.core.Read(ctx, core.Where{RoomID: u.room.ID}, u.p.Caller, func(tx *store.Tx, _ *core.Probes, _ stick.Room, _ core.Identity) error {
		files, err := tx.Edited(u.room.ID, u.tree.Top, paths)
		for i, l := range u.result.Left {
			at := slices.IndexFunc(files, func(f stick.EditedFile) bool { return f.Path == l.Path })
			if at >= 0 && l.Reason == stick.UndoChanged {
				u.result.Left[i].By = u.editorsSince(files[at])
			}
		}
		return err
	})
}

// editorsSince returns who has edited a file after the call. The call's own agent has only if it is noted for a later call of its own.
func (u *undoing) editorsSince(f stick.EditedFile) (by []stick.AgentID) {
	for _, e := range f.Editors {
		isLater := e.At >= u.call.Ended
		if e.Agent == u.call.Agent {
			isLater = slices.ContainsFunc(u.later, func(c stick.Call) bool { return c.ID > u.call.ID && !c.Ended.IsZero() && e.At >= c.Ended })
		}
		if e.Agent != "" && isLater {
			by = append(by, e.Agent)
		}
	}
	return by
}

// besideSuffix is how the name of a file ends that is put beside another.
func (u *undoing) besideSuffix() string { return fmt.Sprintf(".before-%d", u.call.ID) }

// toWrite lists the paths that are going to be written, absolute.
func (u *undoing) toWrite() (paths []string) {
	for _, s := range u.steps {
		path := s.Path
		if s.do == stick.UndoLeave {
			path += u.besideSuffix()
		}
		paths = append(paths, filepath.Join(u.tree.Top, filepath.FromSlash(path)))
	}
	return paths
}

// ask asks whether the caller may change the files now.
func (u *undoing) ask(ctx context.Context) error {
	may, err := u.guard.MayEdit(ctx, MayEditParams{Caller: u.p.Caller, Where: core.Where{Path: u.tree.Top}, Paths: u.toWrite()})
	if err != nil {
		return err
	}
	if err := may.Refusal(); err != nil {
		return err
	}
	u.result.Warning, u.result.Hint = may.Told, may.Step().As(u.p.Caller.Flag()).String()
	return nil
}

// snapshot keeps the state of the checkout.
func (u *undoing) snapshot(ctx context.Context) (rescue.Taken, error) {
	return u.guard.takeRescue(ctx, rescue.Request{Tree: u.tree, Nested: true, Facts: rescue.Facts{
		Room: string(u.room.ID), Agent: string(u.me.Agent), TurnID: u.room.Turn.ID, Cause: rescue.CauseCall, Command: u.named(),
	}})
}

// named is the undo as somebody would call it.
func (u *undoing) named() string { return fmt.Sprintf("tt undo %d", u.call.ID) }

// undoTool is the tool of a call that is an undo.
const undoTool = "tt undo"

// begin keeps what is there now, and records that the undo begins: whatever happens next, it can be undone, and other agents' calls
// that run meanwhile don't take its changes for theirs.
func (u *undoing) begin(ctx context.Context) error {
	kept, err := u.snapshot(ctx)
	if err != nil {
		return err
	}
	if kept.ID == "" {
		return stick.Errorf(stick.CodeDataDirNotWritable, "no copy could be made of what is there now, so nothing is changed")
	}
	u.dropUnkept(kept.LeftOut)

	return u.guard.write(ctx, core.Where{RoomID: u.room.ID}, u.p.Caller, core.JoinsIfNew, func(o *op) error {
		o.Settle()
		u.begun = stick.Call{
			Agent: o.Me.Agent, Tool: undoTool, Command: u.named(), Checkout: u.tree.Top, Before: kept.ID, Started: o.Tx.Now(),
		}
		u.result.AgentID, u.result.Joined = o.Me.Agent, o.Joined
		return recordCall(o.Tx, o.Room.ID, &u.begun)
	})
}

// dropUnkept leaves files alone of whose present state there is no copy.
func (u *undoing) dropUnkept(leftOut []rescue.LeftOut) {
	steps := u.steps
	u.steps = nil
	for _, s := range steps {
		isUnkept := slices.ContainsFunc(leftOut, func(l rescue.LeftOut) bool { return l.Covers(s.Path) })
		if !isUnkept || s.do == stick.UndoLeave {
			u.steps = append(u.steps, s)
			continue
		}
		u.result.Left = append(u.result.Left, LeftFile{Path: s.Path, Reason: stick.UndoUnkept, Why: "no copy could be made of what is there now"})
	}
}

// write does the steps. Removals come first, since a directory may have been in the place of a file, or the other way round.
func (u *undoing) write(ctx context.Context) {
	for _, s := range slices.Backward(u.steps) {
		if s.do == stick.UndoRemove && u.restore(ctx, s) {
			u.result.Removed = append(u.result.Removed, s.Path)
		}
	}
	slices.Reverse(u.result.Removed)
	for _, s := range u.steps {
		if s.do == stick.UndoRestore && u.restore(ctx, s) {
			u.result.Restored = append(u.result.Restored, s.Path)
		}
	}
	for _, s := range u.steps {
		if s.do == stick.UndoLeave {
			u.putBeside(ctx, s)
		}
	}
}

// restore gives a path its state from before, and reports whether it could.
func (u *undoing) restore(ctx context.Context, s undoStep) bool {
	err := ctx.Err()
	if err == nil {
		err = u.undo.Restore(ctx, s.UndoFile)
	}
	switch {
	case err == nil:
		u.written = append(u.written, s.Path)
		return true
	case errors.Is(err, rescue.ErrChanged):
		u.leave(s.UndoFile, stick.UndoChanged, nil) // putBeside follows
	default:
		u.result.Left = append(u.result.Left, LeftFile{Path: s.Path, Reason: stick.UndoFailed, Why: stick.AsError(err).Message})
	}
	return false
}

// putBeside puts the state of a path from before the call beside it.
func (u *undoing) putBeside(ctx context.Context, s undoStep) {
	i := slices.IndexFunc(u.result.Left, func(l LeftFile) bool { return l.Path == s.Path })
	at, err := u.undo.PutBeside(ctx, s.UndoFile, u.besideSuffix())
	if err != nil {
		u.result.Left[i].Why += "; its state from before can't be put beside it: " + stick.AsError(err).Message
		return
	}
	u.result.Left[i].Beside = at
	u.written = append(u.written, at)
}

// end keeps the state after the undo, records that it has ended, and tells whom it concerns.
func (u *undoing) end(ctx context.Context) error {
	after, serr := u.snapshot(ctx) // without it, the undo can't be undone, but it has happened
	found := u.seeWritten()

	return u.guard.write(ctx, core.Where{RoomID: u.room.ID}, u.p.Caller, core.MustBeMember, func(o *op) error {
		u.begun.Ended, u.begun.Files = o.Tx.Now(), len(u.written)
		if serr == nil {
			u.begun.After = after.ID
		}
		beside, err := o.Tx.Calls(store.CallQuery{Room: o.Room.ID, Checkout: u.tree.Top, Since: u.begun.Started, Limit: maxBeside})
		if err != nil {
			return err
		}
		u.begun.Overlapped = u.begun.Overlaps(beside, u.begun.Ended)
		if err := recordCall(o.Tx, o.Room.ID, &u.begun); err != nil || len(u.written) == 0 {
			return err
		}
		u.result.UndoID = u.begun.ID

		u.tell(o)
		return u.note(o, found)
	})
}

// readHead finds how the call has moved HEAD.
func (u *undoing) readHead(ctx context.Context) {
	m, err := u.undo.HeadMove(ctx)
	switch {
	case err != nil:
		u.result.HeadWhy = stick.AsError(err).Message
	case m.Moved():
		h := &UndoneHead{From: m.From, FromBranch: m.FromBranch, To: m.To, ToBranch: m.ToBranch, Back: []string{}, commands: m.Back()}
		for _, c := range h.commands {
			h.Back = append(h.Back, c.String())
		}
		u.result.Head = h
	}
}

// seeWritten looks at the files that were written.
func (u *undoing) seeWritten() (found []stick.SeenFile) {
	for _, path := range u.written {
		if s, _, err := workspace.SeeFile(filepath.Join(u.tree.Top, filepath.FromSlash(path)), stick.FileState{}); err == nil {
			found = append(found, stick.SeenFile{Path: path, State: s})
		}
	}
	return found
}

// tell adds the event.
func (u *undoing) tell(o *op) {
	t := stick.Undo{By: o.Me.Agent, Call: u.call, As: u.begun.ID, Checkout: u.tree.Top, Files: slices.Concat(u.result.Restored, u.result.Removed)}
	for _, l := range u.result.Left {
		t.Left = append(t.Left, l.Path)
		for _, a := range l.By {
			if !slices.Contains(t.Of, a) {
				t.Of = append(t.Of, a)
			}
		}
	}
	e := o.Room.CallUndone(t)
	o.Events = append(o.Events, e)

	u.result.Told = []stick.AgentID{}
	for _, a := range e.For {
		u.result.Told = append(u.result.Told, a.Agent)
	}
}

// note notes an agent as the editor of the files. Where a file has the bytes again that it was noted with, its editors stay: it is their
// work that came back.
func (u *undoing) note(o *op, found []stick.SeenFile) error {
	if !o.Room.Enforces() || o.Me.Person() {
		return nil
	}
	by := editor(o.Room, o.Me, o.Probes.Probed, o.Tx.Now())
	known, err := o.Tx.Edited(o.Room.ID, u.tree.Top, u.written)
	if err != nil {
		return err
	}

	var noted []stick.EditedFile
	for _, s := range found {
		i := slices.IndexFunc(known, func(k stick.EditedFile) bool { return k.Path == s.Path })
		if i < 0 {
			noted = append(noted, stick.EditedFile{Path: s.Path}.Note(by, s.State))
		} else {
			noted = append(noted, known[i].Find(s.State, by))
		}
	}
	return (&checkout{top: u.tree.Top, room: o.Room.ID}).add(o.Tx, noted)
}
