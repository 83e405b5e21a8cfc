package roster

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// GetSessionParams asks for the caller's session.
type GetSessionParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Context string `json:"-"` // the name of its context file in the environment
}

// GetSessionResult is the caller's session in a room. Role is empty if the session hasn't started or has
// ended.
type GetSessionResult struct {
	RoomID   stick.RoomID   `json:"room_id,omitempty"`
	AgentID  stick.AgentID  `json:"agent_id"`
	Role     stick.Role     `json:"role,omitempty"`
	Since    stick.Time     `json:"since"`
	Name     string         `json:"context,omitempty"` // of its context file; absent for the primary's own
	Context  string         `json:"context_path"`
	Primary  *stick.AgentID `json:"primary"` // another agent that isn't gone
	Contract *RoleContract  `json:"contract"`

	Recovered *Recovered `json:"recovered,omitempty"` // what an earlier session left, if this one recovers it
}

// GetSession returns the caller's session: its role, its context file, and what the role may do. It writes
// nothing. It fails with [stick.CodeInvalidPath] and [stick.CodeProjectConfig].
func (ro *Roster) GetSession(ctx context.Context, p GetSessionParams) (GetSessionResult, error) {
	var res GetSessionResult
	var left *Recovered
	r, me, s, err := ro.sessionRoom(ctx, p.Where, p.Caller, func(
		tx *store.Tx, r stick.Room, me stick.AgentID,
	) (err error) {
		if left = nil; isSessionRunning(r, me) {
			_, left, err = startOf(tx, r, me)
		}
		return err
	})
	if err != nil {
		return res, err
	}

	its, err := ro.readProject(r.Path)
	if err != nil {
		return res, err
	}

	left.setPath(its.anchor)
	res = GetSessionResult{RoomID: r.ID, AgentID: me.Agent, Contract: its.roleContract(), Recovered: left}
	if m, _ := r.Member(me.Agent); isSessionRunning(r, me.Agent) {
		res.Role, res.Since, res.Name = m.Session.Role, m.Session.Since, m.Session.Context
	} else {
		// This is what it asks for. It may get another one when it starts.
		res.Name = presence.ContextName(p.Context)
	}

	if prior, led := presence.Primary(r); led && prior.Agent != me.Agent && prior.Verdict(s) != stick.Gone {
		res.Primary = &prior.Agent
	}

	res.Context = its.anchor.absPath(res.Name)
	return res, nil
}

// isSessionRunning reports whether a member's session is running.
func isSessionRunning(r stick.Room, a stick.AgentID) bool {
	m, _ := r.Member(a)
	return m.State == stick.Joined && m.Session.Running
}

// sessionRoom reads the room of a place, and calls also with it in the same transaction. If there is no room,
// r has only the path that a room would have.
func (ro *Roster) sessionRoom(
	ctx context.Context, w core.Where, by core.Caller, also func(*store.Tx, stick.Room, stick.AgentID) error,
) (r stick.Room, me core.Identity, probed *stick.Probed, err error) {
	place, err := ro.core.PlaceOf(ctx, w)
	if err != nil {
		return r, me, nil, err
	}

	probed, me = core.NewProbed(), ro.core.IdentifyUnrecorded(by)
	db, err := ro.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return stick.Room{Path: place.Root}, me, probed, nil
	}
	if err != nil {
		return r, me, nil, err
	}

	err = ro.core.View(ctx, db, by, func(tx *store.Tx, probes *core.Probes) (err error) {
		if me, err = core.Identify(tx, probes, by); err != nil {
			return err
		}

		var ok bool
		if r, ok, err = tx.RoomAt(place.Chain); err != nil || !ok {
			r = stick.Room{Path: place.Root}
			return err
		}

		r, probed = r.AtGeneration(tx.Generation(), tx.Now()), probes.Probed
		for _, m := range r.Members {
			// This asks for the verdict, so that the member is probed.
			m.Verdict(probed)
		}

		if err := also(tx, r, me.Agent); err != nil {
			return err
		}
		return probes.RequireComplete(r)
	})
	return r, me, probed, err
}

// ListSessionsParams asks for the sessions of a room.
type ListSessionsParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	All bool `json:"all,omitempty"` // those that have ended, too
}

// ListSessionsResult lists the sessions of a room.
type ListSessionsResult struct {
	RoomID   stick.RoomID    `json:"room_id,omitempty"` // empty where there is no room
	Path     string          `json:"canonical_path"`
	Sessions []ListedSession `json:"sessions"`
}

// ListedSession is the session of one member.
type ListedSession struct {
	AgentID stick.AgentID `json:"agent_id"`
	Role    stick.Role    `json:"role"`
	Since   stick.Time    `json:"since"`
	Running bool          `json:"running"`           // it started and hasn't ended
	Verdict stick.Verdict `json:"verdict"`           // of the member: gone means that the session ended without saying so
	Name    string        `json:"context,omitempty"` // of its context file; absent for the primary's own
	Context string        `json:"context_path"`
	Self    bool          `json:"self,omitempty"` // the caller's
}

// ListSessions lists the sessions of a room. It writes nothing. It fails with [stick.CodeInvalidPath] and
// [stick.CodeProjectConfig].
func (ro *Roster) ListSessions(ctx context.Context, p ListSessionsParams) (ListSessionsResult, error) {
	r, me, s, err := ro.sessionRoom(ctx, p.Where, p.Caller, func(*store.Tx, stick.Room, stick.AgentID) error {
		return nil
	})
	if err != nil {
		return ListSessionsResult{}, err
	}

	its, err := ro.readProject(r.Path)
	if err != nil {
		return ListSessionsResult{}, err
	}

	res := ListSessionsResult{RoomID: r.ID, Path: r.Path, Sessions: []ListedSession{}}
	for _, m := range r.Members {
		running := m.State == stick.Joined && m.Session.Running
		if m.Session.Role == "" || !running && !p.All {
			continue
		}

		res.Sessions = append(res.Sessions, ListedSession{
			AgentID: m.Agent, Role: m.Session.Role, Since: m.Session.Since, Running: running, Verdict: m.Verdict(s),
			Name: m.Session.Context, Context: its.anchor.absPath(m.Session.Context), Self: m.Agent == me.Agent,
		})
	}

	return res, nil
}

// PromoteSessionParams asks to become the primary.
type PromoteSessionParams struct {
	Caller core.Caller `json:"-"`
	core.Where
}

// PromoteSessionResult says that the caller is the primary.
type PromoteSessionResult struct {
	RoomID   stick.RoomID   `json:"room_id"`
	AgentID  stick.AgentID  `json:"agent_id"`
	Replaced *stick.AgentID `json:"replaced,omitempty"` // the primary before, whose session this ends
	Context  string         `json:"context_path"`       // the primary's file; the helper's own stays where it is
	Already  bool           `json:"already,omitempty"`
}

// PromoteSession makes the caller's session the primary one. It needs that there is no primary, that the
// primary is gone, or that its verdict is unknown and it has been silent as long as a lease lasts. It fails
// with [stick.CodeMemberPresent], [stick.CodeUnknownMember] and, for a person, [stick.CodeUsage].
func (ro *Roster) PromoteSession(ctx context.Context, p PromoteSessionParams) (PromoteSessionResult, error) {
	var res PromoteSessionResult
	if err := requireAgent(p.Caller); err != nil {
		return res, err
	}

	var at stick.Time
	err := ro.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()
		r, events, err := presence.Promote(o.Room, o.Me.Agent, o.Me.Above, o.Probes.Probed, o.Tx.Now())
		if err != nil {
			return err
		}

		o.Apply(r, events)
		res = PromoteSessionResult{RoomID: r.ID, AgentID: o.Me.Agent, Already: len(events) == 0, Context: r.Path}
		if len(events) > 0 {
			if p, _ := stick.PayloadOf[stick.SessionStartedPayload](events[0]); p.Prior != "" {
				res.Replaced = &p.Prior
			}
		}

		at = o.Tx.Now()
		return nil
	}, nil)
	if err != nil {
		return res, err
	}

	// The role is granted already. With an error the file has its default place.
	its, _ := ro.readProject(res.Context)
	res.Context = its.anchor.absPath("")

	if !res.Already || !its.anchor.hasFile("") {
		// Without a file the promotion holds just as well.
		_ = its.anchor.beginFile("", res.AgentID, at)
	}

	return res, nil
}
