package restore

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// How many calls are listed: if nobody says how many, and at most.
const (
	defaultCalls = 50
	mostCalls    = 500
)

// ListCallsParams asks for the calls of tools that hooks have seen in a room.
type ListCallsParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Agent stick.AgentID `json:"agent,omitempty"` // only those of this agent; empty for all
	All   bool          `json:"all,omitempty"`   // also those that have changed nothing, or haven't ended
	Limit int           `json:"limit,omitempty"` // 0 for 50, at most 500
}

// ListCallsResult lists calls, the newest first.
type ListCallsResult struct {
	RoomID  stick.RoomID  `json:"room_id"`
	AgentID stick.AgentID `json:"agent_id"`       // who asks
	Calls   []edits.Call  `json:"calls"`          // on this host
	More    bool          `json:"more,omitempty"` // there are older ones
}

// ListCalls lists the calls of tools in a room, as far as they are of this host and there are snapshots of
// them. It writes nothing. It fails with [stick.CodeNoRoom] and [stick.CodeUsage], and for an agent that is
// unknown with [stick.CodeUnknownMember] and [stick.CodeAmbiguousRecipient].
func (rs *Restorer) ListCalls(ctx context.Context, p ListCallsParams) (ListCallsResult, error) {
	var res ListCallsResult
	switch {
	case p.Limit < 0 || p.Limit > mostCalls:
		return res, stick.Errorf(stick.CodeUsage, "a limit must be between 1 and %d", mostCalls).
			With("field", "limit")
	case p.Limit == 0:
		p.Limit = defaultCalls
	}

	err := rs.core.Read(ctx, p.Where, p.Caller, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity,
	) (err error) {
		res = ListCallsResult{RoomID: r.ID, AgentID: me.Agent, Calls: []edits.Call{}}
		agent := p.Agent
		if agent != "" {
			if agent, err = r.NamedEver(agent, probes.Probed, tx.Now()); err != nil {
				return stick.AsError(err).With("field", "agent")
			}
		}

		found, err := tx.Calls(store.CallQuery{Room: r.ID, Agent: agent, Changed: !p.All, Limit: p.Limit + 1})
		if res.More = len(found) > p.Limit; res.More {
			found = found[:p.Limit]
		}

		res.Calls = append(res.Calls, found...)
		return err
	})
	return res, err
}
