package engine

import (
	"cmp"
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// maxTurnEvents is how many events of a holder's are read to find out whether its turn has changed anything.
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

// readTurnWork reads what is known of what the caller's turn has changed.
func (o *op) readTurnWork(h stick.Handoff) (w stick.TurnWork, err error) {
	w.After = h.Workspace
	if seq := o.Room.Turn.HandoffSeq; seq != 0 {
		last, err := o.Tx.Event(o.Room.ID, seq)
		if err != nil {
			return w, err
		}
		w.Before = last.Handoff.Workspace
	}

	var rest error
	w.Events, err = o.eventsOfTurn()
	w.Edited, rest = o.hasEditedInTurn()
	err = cmp.Or(err, rest)
	w.Called, rest = o.hasCalledInTurn()
	return w, cmp.Or(err, rest)
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

// hasCalledInTurn reports whether hooks have recorded a call of the caller since its grant: each but those that
// are known to only read.
func (o *op) hasCalledInTurn() (bool, error) {
	calls, err := o.Tx.Calls(store.CallQuery{Room: o.Room.ID, Agent: o.Me.Agent, Limit: 1})
	if err != nil || len(calls) == 0 {
		return false, err
	}
	return max(calls[0].Started, calls[0].Ended) >= o.Room.Turn.GrantedAt, nil
}
