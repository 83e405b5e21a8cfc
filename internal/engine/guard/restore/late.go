package restore

import (
	"context"
	"time"

	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// FinishTime is how long a process in the background may take for a snapshot for which a hook had too little
// time.
const FinishTime = time.Minute

// LateSnapshot is a snapshot that lacks files because the time of a hook was over.
type LateSnapshot struct {
	Top   string       `json:"top"`             // of the checkout
	Named []string     `json:"named,omitempty"` // what the call names there, relative to Top
	Facts rescue.Facts `json:"facts"`
}

// FinishSnapshot makes a snapshot again for which a hook had too little time: of what the checkout holds now,
// in at most a minute. ok is false if there is none, such as of a checkout that is gone.
func (rs *Restorer) FinishSnapshot(ctx context.Context, l LateSnapshot) (taken rescue.Taken, ok bool) {
	copies := rs.Store()
	copies.Limits.Time, copies.Limits.Status = FinishTime, FinishTime/2

	tree, ok := workspace.FindCheckout(l.Top, workspace.Env{})
	if !ok {
		return taken, false
	}

	// Anybody can start such a process: it makes snapshots only, and none in the name of what is no agent.
	l.Facts.Cause = rescue.CauseCall
	if _, err := stick.ParseAgentID(l.Facts.Agent); err != nil {
		return taken, false
	}

	// The call may have begun since, and the state is neither that before it nor that after it.
	if l.Facts.Moment == rescue.MomentBefore {
		l.Facts.Moment = ""
	}

	// A request without a time is made now: what the hook has kept is older.
	r := rescue.Request{Tree: tree, Paths: l.Named, Nested: true, Facts: l.Facts}
	taken, err := copies.Take(ctx, r)
	return taken, err == nil && taken.ID != "" && !rescue.IsLate(taken.LeftOut)
}
