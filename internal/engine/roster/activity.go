package roster

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// AskedPerson records that the harness of the caller asks its person something, such as a permission.
func (ro *Roster) AskedPerson(ctx context.Context, p core.HookParams) error {
	return ro.runHookOp(ctx, p, true, func(o *op) error {
		o.Tx.RingLooks(o.Room.ID)
		return o.Tx.RecordAsked(o.Me.Session.Key)
	})
}

// hasOtherHookRun reports whether another hook of the caller's session was recorded since this one began.
func (o *op) hasOtherHookRun(p core.HookParams) (bool, error) {
	h, err := o.Tx.HookTimes(o.Me.Session.Key)
	return !p.Began.IsZero() && h.At > p.Began, err
}

// WorksHere reports whether the caller works where its hook ran, because it may only visit that place. If its
// process carries just this session, the working directory of the process decides, as it does in a scan.
// Otherwise the caller works here unless its session is known to run in another room (runsElsewhere).
func (ro *Roster) WorksHere(p core.HookParams, runsElsewhere bool) bool {
	place, err := ro.core.PlaceToRead(p.Where)
	if err != nil || place == nil {
		return false
	}

	if dir := ro.workingDir(p.Caller); dir != "" {
		return ro.insideFilter(place)(dir)
	}

	return !runsElsewhere
}

// workingDir returns the working directory of an agent's process, if that carries just this session and its
// directory is visible. Otherwise it returns "".
func (ro *Roster) workingDir(by core.Caller) string {
	if by.Proof != stick.ProvesSession {
		return ""
	}

	dir, _ := ro.core.Config.Procs.WorkingDir(by.Process)
	return dir
}
