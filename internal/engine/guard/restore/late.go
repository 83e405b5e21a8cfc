package restore

import (
	"context"
	"time"

	"talkingstick/internal/rescue"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// finishTime is how long a process in the background may take for a snapshot for which a hook had too little
// time.
const finishTime = time.Minute

// LateSnapshot is a snapshot that lacks files because the time of a hook was over.
type LateSnapshot struct {
	Top   string       `json:"top"`             // of the checkout
	Named []string     `json:"named,omitempty"` // what the call names there, relative to Top
	Facts rescue.Facts `json:"facts"`
}

// FinishSnapshots makes snapshots again for which hooks had too little time: of what the checkouts hold now,
// a minute for each. It isn't an operation: a process in the background calls it, and the hook has answered
// by then. A checkout that is gone is left out, and what fails the next call tries again.
func (rs *Restorer) FinishSnapshots(ctx context.Context, late []LateSnapshot) {
	copies := rs.Store()
	copies.Limits.Time, copies.Limits.Status = finishTime, finishTime/2

	for _, l := range late {
		tree, ok := workspace.FindCheckout(l.Top, workspace.Env{})
		if !ok {
			continue
		}

		// Anybody can start such a process: it makes snapshots only, and none in the name of what is no agent.
		l.Facts.Cause = rescue.CauseCall
		if _, err := stick.ParseAgentID(l.Facts.Agent); err != nil {
			continue
		}

		// A request without a time is made now: what the hook has kept is older.
		r := rescue.Request{Tree: tree, Paths: l.Named, Nested: true, Facts: l.Facts}
		_, _ = copies.Take(ctx, r)
	}
}
