package roster

import (
	"context"
	"path/filepath"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/wake"
	"talkingstick/stick"
)

// EndSessionParams describes a session that ends.
type EndSessionParams struct {
	core.HookParams
	Why     string // the reason, in the harness's words
	Wrapped bool   // the agent calls, after it has wrapped up: its context files are removed
	Abandon string // why a holder ends it without a handoff
}

// EndSessionResult says what the end of a session left.
type EndSessionResult struct {
	AgentID stick.AgentID  `json:"agent_id,omitempty"`
	Left    []stick.RoomID `json:"left"`              // the rooms that its agent left
	Removed []string       `json:"removed,omitempty"` // context files that were removed
	Kept    []string       `json:"kept,omitempty"`    // files that stayed because tt didn't make them
	Taken   []string       `json:"taken,omitempty"`   // context files that another session uses by now
}

// endedSession is a session that ended in a room.
type endedSession struct {
	room    stick.Room // before the end
	context string
}

// isOwnHeader reports whether tt wrote this first line of a context file: the name of the session's context
// or, in the primary's file, a member of the room. The member may be an earlier primary.
func (o endedSession) isOwnHeader(line string) bool {
	if o.context != "" {
		return line == o.context
	}
	_, ok := o.room.Member(stick.AgentID(line))
	return ok
}

// EndSession ends the caller's session and no other. If it was the last session of its agent, the agent
// leaves its rooms and abandons its turn. With Wrapped, a holder must say why it leaves no handoff; otherwise
// it is refused with [stick.CodeInvalidHandoff]. A person, who has no session, is refused with
// [stick.CodeUsage].
func (ro *Roster) EndSession(ctx context.Context, p EndSessionParams) (EndSessionResult, error) {
	res := EndSessionResult{Left: []stick.RoomID{}}
	if err := requireAgent(p.Caller); err != nil {
		return res, err
	}

	db, err := ro.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return res, nil
	}
	if err != nil {
		return res, err
	}

	// Without a wrap-up the harness ended it, and the reason is ours.
	q := stick.Leaving{Abandon: p.Abandon}
	if !p.Wrapped {
		q = stick.Leaving{Ending: &stick.Ending{Cause: stick.EndedByHarness, Said: stick.Clip(p.Why, 60)}}
	}

	var endedSessions []endedSession
	endedKey := "" // the key of the session
	err = ro.core.Update(ctx, db, p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		// The transaction may run again.
		res, endedSessions = EndSessionResult{Left: []stick.RoomID{}}, nil
		me, err := core.Identify(tx, probes, p.Caller)
		if err != nil || me.Unrecorded {
			return err
		}

		res.AgentID, endedKey = me.Agent, me.Session.Key
		rooms, err := tx.LockRoomsOf(me.Agent)
		if err != nil {
			return err
		}

		// While another session of the agent runs, the agent stays.
		if live, err := tx.EndSession(me.Session.Key, me.Agent); live || err != nil {
			return err
		}

		for n, id := range rooms {
			r, err := ro.leaveRoom(tx, probes, me, id, n, q)
			if err != nil {
				return err
			}
			if m, _ := r.Member(me.Agent); m.Session.Running {
				endedSessions = append(endedSessions, endedSession{r, m.Session.Context})
			}
			if err := tx.ForgetReads(id, me.Agent); err != nil {
				return err
			}

			res.Left = append(res.Left, id)
		}

		return nil
	})
	if err != nil {
		return EndSessionResult{Left: []stick.RoomID{}}, err
	}

	// Nobody writes to the inbox of a session that has ended.
	if endedKey != "" {
		_ = wake.FolderOf(ro.core.Config.Dir).Drop(endedKey)
	}

	for _, o := range endedSessions {
		ro.removeContext(ctx, db, o, p.Wrapped, &res)
	}

	return res, nil
}

// removeContext removes the context file of a session that has ended, if it is the session's own, and adds to
// res what became of it. Where the configuration can't be read it does nothing, because it doesn't know the
// path.
func (ro *Roster) removeContext(
	ctx context.Context, db *store.DB, o endedSession, wrapped bool, res *EndSessionResult,
) {
	its, err := ro.readProject(o.room.Path)
	if err != nil {
		return
	}

	path := filepath.Clean(its.anchor.absPath(o.context))
	ro.core.KillPoint("before aside")
	isTaken := func() bool { return ro.isContextTaken(ctx, db, o) }
	switch its.anchor.removeEnded(contextRemoval{o.context, wrapped, o.isOwnHeader, isTaken}) {
	case fileRemoved:
		res.Removed = append(res.Removed, path)
	case fileForeign:
		res.Kept = append(res.Kept, path)
	case fileTaken:
		res.Taken = append(res.Taken, path)
	}
}

// isContextTaken reports whether another session uses the file of one that has ended. If the room can't be
// read, it reports true.
func (ro *Roster) isContextTaken(ctx context.Context, db *store.DB, o endedSession) (yes bool) {
	ro.core.KillPoint("aside")
	err := db.View(ctx, func(tx *store.Tx) error {
		r, err := tx.Room(o.room.ID)
		yes = slices.ContainsFunc(r.Members, func(m stick.Member) bool {
			was, _ := o.room.Member(m.Agent)

			// A session that began since then has used the file, even if it has ended.
			hasFile := m.Session.Role != "" && m.Session.Context == o.context
			return hasFile && (m.Session.Running || m.Session.Since != was.Session.Since)
		})

		return err
	})
	return yes || err != nil
}

// leaveRoom makes an agent leave a room for the reason that q has, and returns the room as it was. n counts the rooms, so that events
// of different rooms get different ids.
func (ro *Roster) leaveRoom(
	tx *store.Tx, probes *core.Probes, me core.Identity, id stick.RoomID, n int, q stick.Leaving,
) (stick.Room, error) {
	r, err := tx.Room(id)
	if err != nil {
		return r, err
	}

	o := &op{&core.Op{Tx: tx, Probes: probes, Me: me, Before: r, Room: r, FirstID: n * maxEventsOfAct}}
	o.Apply(r.Restore(tx.Generation(), probes.Probed, tx.Now()))

	q.By = me.Agent
	if now := o.Room.Turn; now.State == stick.Owned && now.Owner == me.Agent {
		q.Fence = stick.Fence{Turn: now.ID, Lease: now.Lease}
	}

	left, events, err := o.Room.Leave(q, probes.Probed, tx.Now())

	// Without all verdicts the outcome doesn't count: they are found out, and this runs again.
	if missed := probes.RequireComplete(o.Room); missed != nil {
		return r, missed
	}

	if stick.CodeOf(err) == stick.CodeInvalidHandoff {
		err = stick.AsError(err).Hintf("release it first: %s; or: %s",
			stick.Cmd("tt release --status … --next-action …"), stick.Cmd("tt session end --abandon …"))
	}
	if err != nil {
		return r, err
	}

	o.Apply(left, events)
	if err := o.ListUnanswered(me.Agent, stick.EventLeave); err != nil {
		return r, err
	}
	if err := o.DropListeners(me.Agent); err != nil {
		return r, err
	}

	return r, o.Save()
}

// maxEventsOfAct is more events than an act adds to one room.
const maxEventsOfAct = 16
