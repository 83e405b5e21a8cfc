package roster

import (
	"slices"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// AbandonedTurn is a turn that ended with the session before this one, without a handoff.
type AbandonedTurn struct {
	AgentID stick.AgentID    `json:"agent_id"` // of that session; the caller itself, if its session was resumed
	TurnID  int64            `json:"turn_id"`
	At      stick.Time       `json:"abandoned_at"`
	Reason  string           `json:"reason,omitempty"`
	Ending  *stick.Ending    `json:"ending,omitempty"` // tt's reason; absent if the agent gave one itself
	Tree    *stick.Workspace `json:"workspace"`        // the shared tree now; null if git couldn't tell
}

// maxLeaves is how many members that left during one turn are looked at.
const maxLeaves = 20

// abandonedBy returns the room's last turn if one of these agents ended it by leaving without a handoff, and
// nil if not, or if somebody has had the stick since.
func abandonedBy(tx *store.Tx, r stick.Room, agents []stick.AgentID) (*AbandonedTurn, error) {
	if r.Turn.ID == 0 || r.Turn.State == stick.Owned {
		return nil, nil
	}

	left, _, err := tx.Events(store.EventQuery{
		Room: r.ID, Turn: r.Turn.ID, Types: []stick.EventType{stick.EventLeave}, Limit: maxLeaves, Newest: true,
	})

	for _, e := range left {
		if a := e.TurnEndedOf(); a != "" && slices.Contains(agents, a) {
			p, _ := stick.PayloadOf[stick.LeavePayload](e)
			return &AbandonedTurn{
				AgentID: a, TurnID: e.Turn, At: e.CreatedAt, Reason: e.Reason, Ending: p.Ending,
			}, err
		}
	}

	return nil, err
}
