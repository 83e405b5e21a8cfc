package engine

import (
	"slices"

	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// maxTurnEvents is how many events, and how many calls, of a holder's are read to find out whether its turn has
// changed anything.
const maxTurnEvents = 100

// restAfter lets the caller rest if its turn, which ends with a handoff, has changed nothing.
func (o *op) restAfter(h stick.Handoff) error {
	var w stick.TurnWork
	if o.Room.MayRest(o.Me.Agent) && h.Workspace != nil {
		var err error
		if w, err = o.readTurnWork(h); err != nil {
			return err
		}
	}

	o.Room = o.Room.RestAfter(o.Me.Agent, w, o.Tx.Now())
	return nil
}

// readTurnWork reads what is known of what the caller's turn has changed, until something shows that it has: all
// of it is read while others wait for the lock.
func (o *op) readTurnWork(h stick.Handoff) (w stick.TurnWork, err error) {
	w.After = h.Workspace
	if seq := o.Room.Turn.HandoffSeq; seq != 0 {
		last, err := o.Tx.Event(o.Room.ID, seq)
		if err != nil {
			return w, err
		}
		w.Before = last.Handoff.Workspace
	}
	if !w.HasChangedNothing() {
		return w, nil
	}

	w.Events, err = o.eventsOfTurn()
	if err != nil || !w.HasChangedNothing() {
		return w, err
	}

	w.Edited, err = o.hasEditedInTurn()
	if err != nil || w.Edited {
		return w, err
	}

	calls, err := o.callsOfTurn()
	w.Called, w.CalledApart = len(calls) > 0, slices.ContainsFunc(calls, o.isApart)
	return w, err
}

// eventsOfTurn returns the events that the caller has made since its grant.
func (o *op) eventsOfTurn() ([]stick.Event, error) {
	grant, err := o.LastGrant()
	if grant == nil || err != nil {
		return nil, err
	}

	events, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, After: grant.Seq, From: o.Me.Agent, Limit: maxTurnEvents,
	})
	return events, err
}

// hasEditedInTurn reports whether hooks have noted an edit with the stick in the current turn: of the caller, or
// of an agent that it has started.
func (o *op) hasEditedInTurn() (bool, error) {
	tops, err := o.Tx.EditedCheckouts(o.Room.ID)
	for _, top := range tops {
		files, err := o.Tx.Edited(o.Room.ID, top, nil)
		if err != nil || slices.ContainsFunc(files, o.isOfThisTurn) {
			return err == nil, err
		}
	}

	return false, err
}

// isOfThisTurn reports whether a file was edited with the stick in the current turn.
func (o *op) isOfThisTurn(f edits.EditedFile) bool {
	return slices.ContainsFunc(f.Editors, func(e edits.Editor) bool { return e.Held && e.Turn == o.Room.Turn.ID })
}

// callsOfTurn returns the last calls of the caller that hooks have recorded since its grant: all but those that are
// known to only read.
func (o *op) callsOfTurn() ([]edits.Call, error) {
	calls, err := o.Tx.Calls(store.CallQuery{Room: o.Room.ID, Agent: o.Me.Agent, Limit: maxTurnEvents})
	return slices.DeleteFunc(calls, func(c edits.Call) bool {
		return max(c.Started, c.Ended) < o.Room.Turn.GrantedAt
	}), err
}

// isApart reports whether a call ran in another checkout than the shared tree, such as a linked worktree.
func (o *op) isApart(c edits.Call) bool { return !workspace.IsWithin(o.Room.Path, c.Checkout) }
