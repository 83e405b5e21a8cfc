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
	Paths []string      `json:"paths,omitempty"` // only those that changed one of these, or something below it
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

		// Which call changed a path is known only after its snapshots were compared.
		most := p.Limit
		if len(p.Paths) > 0 {
			most = mostCalls
		}

		found, err := tx.Calls(store.CallQuery{Room: r.ID, Agent: agent, Changed: !p.All, Limit: most + 1})
		if res.More = len(found) > most; res.More {
			found = found[:most]
		}

		res.Calls = append(res.Calls, found...)
		return err
	})
	if err == nil && len(p.Paths) > 0 {
		err = rs.keepCallsOf(ctx, &res, p)
	}
	return res, err
}

// keepCallsOf leaves only the calls that changed one of the paths, as far as their snapshots are still there.
func (rs *Restorer) keepCallsOf(ctx context.Context, res *ListCallsResult, p ListCallsParams) error {
	kept := []edits.Call{}
	for _, c := range res.Calls {
		if len(kept) == p.Limit {
			res.More = true
			break
		}

		hasChanged, err := rs.Store().HasChanged(ctx, c.Before, c.After, rescuePaths(p.Paths, c.Checkout))
		switch {
		case stick.CodeOf(err) == stick.CodeNotFound:
			// Its snapshots have expired.
		case err != nil:
			return err
		case hasChanged:
			kept = append(kept, c)
		}
	}

	res.Calls = kept
	return nil
}
