package restore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/rescue"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// UndoCallParams asks to take a call of a tool back.
type UndoCallParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	ID int64 `json:"call_id,omitempty"` // 0 for the caller's last call that has changed something

	// only these, relative to the top level of the call's checkout, or absolute
	Paths []string `json:"paths,omitempty"`
}

// UndoCallResult says what was taken back, path by path.
type UndoCallResult struct {
	RoomID  stick.RoomID  `json:"room_id"`
	AgentID stick.AgentID `json:"agent_id"`
	Joined  bool          `json:"joined,omitempty"`
	Call    edits.Call    `json:"call"` // the one that was undone

	// the number by which this undo can itself be undone; 0 if it has written nothing
	UndoID   int64      `json:"undo_call_id,omitempty"`
	Checkout string     `json:"checkout"` // its top level
	Restored []string   `json:"restored"` // files that are as before the call again
	Removed  []string   `json:"removed"`  // files that the call had made
	Same     []string   `json:"same"`     // files that were as before the call already
	Left     []LeftFile `json:"left"`     // files that stay as they are

	// the git command that unstages what the call has only staged
	Unstage stick.Words     `json:"unstage,omitempty"`
	Head    *UndoneHead     `json:"head,omitempty"`        // where the call has moved HEAD, which stays
	HeadWhy stick.Words     `json:"head_unread,omitempty"` // why nobody knows whether it has
	Told    []stick.AgentID `json:"told"`                  // the agents that get to know of it
	Already bool            `json:"already,omitempty"`     // there was nothing to do
	Warning stick.Words     `json:"warning,omitempty"`     // what is against the rules, though it is allowed
	Hint    stick.Words     `json:"hint,omitempty"`        // the next safe step
}

// LeftFile is a file that an undo leaves as it is.
type LeftFile struct {
	Path   string           `json:"path"`
	Reason edits.UndoReason `json:"reason"`
	Why    stick.Words      `json:"why"`              // the reason in words
	By     []stick.AgentID  `json:"by,omitempty"`     // who has changed it, as far as hooks have noted
	Beside string           `json:"beside,omitempty"` // where its state from before the call lies now
}

// UndoneHead is how the call has moved HEAD.
type UndoneHead struct {
	From       string        `json:"from"` // the commit; empty if there was none
	FromBranch string        `json:"from_branch,omitempty"`
	To         string        `json:"to"`
	ToBranch   string        `json:"to_branch,omitempty"`
	Back       []stick.Words `json:"brings_back"` // the commands of git that bring it back, in their order

	commands []stick.Command
}

// Commands are the commands that bring HEAD back, in their order.
func (h *UndoneHead) Commands() []stick.Command { return h.commands }

// HasLeft reports whether the undo has left something to whoever asked for it.
func (r UndoCallResult) HasLeft() bool { return len(r.Left) > 0 || r.Head != nil }

// undoing is one run of [Restorer.UndoCall].
type undoing struct {
	restorer *Restorer
	p        UndoCallParams

	room   stick.Room
	me     core.Identity
	call   edits.Call
	beside []edits.Call // of other agents, and of the same, that ran in the checkout while the call did
	later  []edits.Call // of the call's agent in the checkout after it
	tree   workspace.Checkout

	undo    *rescue.Undo
	steps   []undoStep
	written []string // paths

	begun  edits.Call // the record of the undo itself
	result UndoCallResult
}

// undoStep is what is done with one path.
type undoStep struct {
	rescue.UndoFile
	do edits.UndoStep
}

// UndoCall takes a call of a tool back, if the caller may change its files now: each file that is still as
// the call left it gets its state from before. One that somebody has changed since stays, with its state from
// before beside it; so does one that changed while another agent's call ran. HEAD, refs and the index stay.
// What is there is kept before, and the undo is a call itself, so that it can be undone. Those whom it
// concerns are told. A caller that isn't a member joins.
//
// It may be repeated. It fails with [stick.CodeNotFound] if there is no such call, the call has changed
// nothing or not this path, its checkout is gone, or its snapshots are past their time; with
// [stick.CodeAlreadyRunning] while it runs; with [stick.CodeUsage] if a person names none; and with
// [stick.CodeEditDenied], [stick.CodeRoomClosed] and [stick.CodeKicked].
func (rs *Restorer) UndoCall(ctx context.Context, p UndoCallParams) (UndoCallResult, error) {
	u := &undoing{restorer: rs, p: p}
	if err := u.findCall(ctx); err != nil {
		return UndoCallResult{}, err
	}
	if err := u.compareFiles(ctx); err != nil {
		return UndoCallResult{}, err
	}

	// The snapshots stay open until all steps are done.
	defer u.undo.Close()

	// Nothing is recorded of an undo that has nothing to write.
	if len(u.toWrite()) > 0 {
		if err := u.askMayEdit(ctx); err != nil {
			return UndoCallResult{}, err
		}
		if err := u.beginUndo(ctx); err != nil {
			return UndoCallResult{}, err
		}

		u.writeSteps(ctx)
	}

	// HEAD stays as it is, and the caller is told how to move it.
	u.readHead(ctx)
	err := u.settleRescue()
	slices.SortFunc(u.result.Left, func(a, b LeftFile) int { return strings.Compare(a.Path, b.Path) })
	if u.begun.ID != 0 {
		if err := u.endUndo(ctx); err != nil {
			return UndoCallResult{}, err
		}
	}

	return u.result, cmp.Or(u.checkResult(), err)
}

// settleRescue notes that the snapshot before the call was brought back, unless a file of it is neither there
// nor beside what is.
func (u *undoing) settleRescue() error {
	isLacking := func(l LeftFile) bool { return l.Beside == "" }
	if slices.ContainsFunc(u.result.Left, isLacking) || !u.restorer.IsRescueOpen(u.call.Before) {
		return nil
	}
	return u.restorer.Store().Settle(u.call.Before)
}

// checkResult fails if the call has changed nothing after all, and notes that nothing was left to do.
func (u *undoing) checkResult() error {
	// Where all is as before the call, the undo was made already.
	isDone := len(u.written) == 0 && !u.result.HasLeft()
	if u.result.Already = isDone && len(u.result.Same) > 0; isDone && !u.result.Already {
		return errNothingChanged(u.call)
	}
	return nil
}

func errNothingChanged(c edits.Call) error {
	return stick.Errorf(stick.CodeNotFound, "call %d changed no files", c.ID).With("call_id", c.ID).
		Hintf("see which calls did: %s", stick.Cmd("tt calls"))
}

// findCall reads the call, and those that ran beside it.
func (u *undoing) findCall(ctx context.Context) error {
	err := u.restorer.core.Read(ctx, u.p.Where, u.p.Caller, func(
		tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity,
	) (err error) {
		u.room, u.me = r, me
		if u.call, err = wantedCall(tx, r, me, u.p.ID); err != nil {
			return err
		}
		if u.beside, err = tx.Calls(store.CallQuery{
			Room: r.ID, Checkout: u.call.Checkout, Since: u.call.Started, Until: u.call.Ended, Limit: ledger.MaxBeside,
		}); err != nil {
			return err
		}

		// Later calls of the same agent tell whether it has changed a file again.
		u.later, err = tx.Calls(store.CallQuery{
			Room: r.ID, Checkout: u.call.Checkout, Agent: u.call.Agent, Since: u.call.Ended, Limit: ledger.MaxBeside,
		})
		return err
	})
	if err != nil {
		return err
	}
	if err := checkUndo(u.call, stick.At(u.restorer.core.Now())); err != nil {
		return err
	}

	// A checkout inside another counts only if it is the one of the call.
	var ok bool
	if u.tree, ok = workspace.FindCheckout(u.call.Checkout, workspace.Env{}); !ok || u.tree.Top != u.call.Checkout {
		return stick.Errorf(stick.CodeNotFound, "%s, the checkout of call %d, is gone", u.call.Checkout, u.call.ID).
			With("call_id", u.call.ID).
			With("checkout", u.call.Checkout).
			Hintf("see what was there before the call: %s", stick.Cmd("tt rescue show <rescue>", u.call.Before))
	}

	u.result = UndoCallResult{
		RoomID: u.room.ID, AgentID: u.me.Agent, Call: u.call, Checkout: u.tree.Top,
		Restored: []string{}, Removed: []string{}, Same: []string{}, Left: []LeftFile{}, Told: []stick.AgentID{},
	}

	return nil
}

// wantedCall returns the call that a caller means.
func wantedCall(tx *store.Tx, r stick.Room, me core.Identity, id int64) (c edits.Call, err error) {
	q := store.CallQuery{Room: r.ID, ID: id, Limit: 1}
	switch {
	case id < 0:
		return c, stick.Errorf(stick.CodeUsage, "a call's number is at least 1").With("field", "call_id")
	case id == 0 && me.Person():
		return c, stick.Errorf(stick.CodeUsage, "say which call to undo").With("field", "call_id").
			Hintf("see them: %s", stick.Cmd("tt calls"))
	case id == 0:
		q.Agent, q.Changed = me.Agent, true
	}

	// Without a number, the last call that has changed something is meant.
	found, err := tx.Calls(q)
	switch {
	case err != nil:
		return c, err
	case len(found) > 0:
		return found[0], nil
	case id == 0:
		return c, stick.Errorf(
			stick.CodeNotFound, "hooks haven't seen any call of yours change a file",
		).
			Hintf("see all agents' calls: %s", stick.Cmd("tt calls"))
	}

	return c, stick.Errorf(stick.CodeNotFound, "there is no call %d on this host", id).With("call_id", id).
		Hintf("see the calls: %s", stick.Cmd("tt calls"))
}

// checkUndo says why a call can't be taken back, whatever lies in its checkout.
func checkUndo(c edits.Call, now stick.Time) error {
	refuse := func(code stick.Code, format string) *stick.Error {
		return stick.Errorf(code, format, c.ID).With("call_id", c.ID)
	}

	switch {
	case c.Ended.IsZero() && c.Runs(now):
		return refuse(stick.CodeAlreadyRunning, "call %d is still running").
			Hintf("wait until it has ended; to see: %s", stick.Cmd("tt calls --all"))
	case c.Before == "":
		return refuse(stick.CodeNotFound, "there is no snapshot from before call %d").
			Hintf("see the copies: %s", stick.Cmd("tt rescue list"))
	case c.After == "" && (c.Ended.IsZero() || c.Files > 0):
		return refuse(stick.CodeNotFound, "hooks didn't see what the files were after call %d").
			Hintf("see what was there before it: %s", stick.Cmd("tt rescue show <rescue>", c.Before))
	case c.After == "" || c.Before == c.After:
		return errNothingChanged(c)
	}

	return nil
}
