package engine

import (
	"context"
	"path/filepath"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// JoinPathParams asks to join the room of a path.
type JoinPathParams struct {
	Caller   core.Caller  `json:"-"`
	Path     string       `json:"context_path,omitempty"`
	RoomID   stick.RoomID `json:"room_id,omitempty"`
	ForceNew bool         `json:"force_new,omitempty"` // make a room at the path itself, even inside another one

	Policy []string `json:"-"` // changes of the room's policy, each "key=value", made together with joining, or neither is
}

// JoinPathResult is the room that was joined.
type JoinPathResult struct {
	RoomID   stick.RoomID      `json:"room_id"`
	Path     string            `json:"canonical_path"`
	Key      string            `json:"room_key,omitempty"` // names the room where several hosts share it
	AgentID  stick.AgentID     `json:"agent_id"`
	Name     string            `json:"name,omitempty"`       // what people call the caller, where that isn't its id
	Joined   bool              `json:"joined"`               // false if it was a member already
	Created  bool              `json:"created"`              // this call made the room
	Moved    string            `json:"moved_from,omitempty"` // the path that the room had before this call
	Warning  stick.Words       `json:"warning,omitempty"`
	Policy   stick.Policy      `json:"policy"`
	Template map[string]string `json:"handoff_template"`
	Room     PathRoom          `json:"room"`
}

// HandoffTemplate returns the fields of a handoff and their meanings.
func HandoffTemplate() map[string]string {
	template := map[string]string{}
	for _, f := range stick.HandoffFields {
		template[f.Name] = f.Meaning
	}
	return template
}

// JoinPath joins the room of a path, and makes it if there is none. A room by its id whose directory is gone
// moves to the workspace of the path, if that has no room. It fails with [stick.CodeInvalidPath],
// [stick.CodeNoRoom] and, for a new room by an id, [stick.CodeUsage]. Where the repository of the path can't
// be found, it makes a room only with ForceNew, and otherwise fails with [stick.CodeRepositoryMissing]. With
// changes of the policy it also fails as [Engine.SetRoomPolicy] does; then nothing was joined or made.
//
// Who joins first also has the commits copied that only the repository has.
func (e *Engine) JoinPath(ctx context.Context, p JoinPathParams) (JoinPathResult, error) {
	var room stick.Room
	res, err := e.joinPath(ctx, p, &room)
	if err == nil {
		e.Guard.Restorer.KeepFirstCommits(ctx, room)
	}
	return res, err
}

// joinPath is [Engine.JoinPath] in the database. It fills in the room.
func (e *Engine) joinPath(ctx context.Context, p JoinPathParams, room *stick.Room) (JoinPathResult, error) {
	var res JoinPathResult
	w := core.Where{RoomID: p.RoomID, Path: p.Path}
	var above string
	var move roomMove

	if p.RoomID != "" {
		var err error
		if move, err = e.findMove(ctx, p); err != nil {
			return res, err
		}
		w.Path = ""
	}

	if p.ForceNew {
		var err error
		if above, err = e.makeRoomAt(ctx, w); err != nil {
			return res, err
		}
	}

	// A room can be joined where the repository is lost. The answer then warns of it.
	lost := e.core.CheckRepository(w)
	err := e.writeRoom(ctx, w, p.Caller, core.JoinsExplicitly, func(o *op) error {
		o.Settle()
		if err := move.moveRoom(o); err != nil {
			return err
		}

		if len(p.Policy) > 0 {
			r, events, err := o.Room.SetPolicy(o.Me.Agent, o.Me.Person(), p.Policy, o.Tx.Now())
			if err != nil {
				return err
			}
			o.Apply(r, events)
		}

		// This asks for the verdicts that the result shows.
		roomView(o.Room, o.Me.Agent, o.Probes, o.Tx.Now(), false)
		return nil
	}, func(o *op) error {
		*room = o.Room
		me, _ := o.Room.Member(o.Me.Agent)
		res = JoinPathResult{
			RoomID: o.Room.ID, Path: o.Room.Path, Key: o.Room.Key, AgentID: o.Me.Agent, Name: me.Name,
			Joined: o.Joined, Created: o.Created || above == "" && p.ForceNew,
			Policy: o.Room.Policy, Template: HandoffTemplate(),
			Room: roomView(o.Room, o.Me.Agent, o.Probes, o.Tx.Now(), false),
		}
		if err := res.Room.addHandoffAuthor(o.Tx); err != nil {
			return err
		}

		if o.Room.Path != o.Before.Path {
			res.Moved = o.Before.Path
		}
		if p.ForceNew && above != "" {
			res.Created = above != o.Room.Path
		}

		warnings, err := explainJoin(o, p, move, above)
		if lost != nil {
			warnings = append([]stick.Words{stick.AsError(lost).Words()}, warnings...)
		}
		res.Warning = stick.JoinWords(warnings, "; ")
		return err
	})
	return res, err
}

// explainJoin says what whoever has joined a room should know of the place. above is the room that was there, or
// above it, before a new one was asked for.
func explainJoin(o *op, p JoinPathParams, move roomMove, above string) (warnings []stick.Words, err error) {
	switch {
	case o.Room.Path != o.Before.Path:
	case move.to != nil && move.from == o.Room.Path:
		// The room couldn't move.
		warnings = append(warnings, move.explainRefusal())
	case p.ForceNew && above == o.Room.Path:
		warnings = append(warnings, "there was already a room at this path; you joined it")
	case p.ForceNew && above != "":
		warnings = append(warnings,
			stick.Wordsf("this room lies inside the room of %s, whose members don't see it", above))
	case o.Created:
		gone, err := findMovedRoom(o)
		if err != nil {
			return nil, err
		}
		if gone.ID != "" {
			warnings = append(warnings, stick.Wordsf(
				"the directory of your room, %s, is gone; if its files are here now, bring that room here: %s",
				gone.Path, stick.Cmd("tt join --room <room_id>", gone.ID)))
		}
	}

	if o.Me.Note != "" {
		warnings = append(warnings, o.Me.Note)
	}
	return warnings, nil
}

// findMovedRoom finds a room of the caller that may have lain where its new room lies, under another name or in
// another directory. It is zero if there is none.
func findMovedRoom(o *op) (stick.Room, error) {
	here := o.Room.Path
	return core.FindGoneRoom(o.Tx, o.Me.Agent, func(path string) bool {
		return filepath.Dir(path) == filepath.Dir(here) || filepath.Base(path) == filepath.Base(here)
	})
}

// makeRoomAt makes a room at the path of w itself, unless there is one, as [Engine.makeNestedRoom] does. It
// fails with [stick.CodeUsage] where w has no path.
func (e *Engine) makeRoomAt(ctx context.Context, w core.Where) (above string, err error) {
	place, err := e.core.Place(w)
	if err != nil {
		return "", err
	}
	if place == nil {
		return "", stick.Errorf(stick.CodeUsage, "a new room is made at a path, not by an id").
			With("field", "force_new")
	}
	return e.makeNestedRoom(ctx, place)
}

// makeNestedRoom makes a room at the first path of a place's chain, unless there is one. above is the path of
// the room that was there before, at that path or above it; empty for none.
func (e *Engine) makeNestedRoom(ctx context.Context, place *workspace.Place) (above string, err error) {
	db, err := e.core.Open(ctx, true)
	if err != nil {
		return "", err
	}

	chain := place.Chain
	return above, e.core.WithKey(ctx, db, place, chain[0], func(key string) error {
		return db.Update(ctx, func(tx *store.Tx) error {
			// The transaction may run again.
			above = ""
			r, ok, err := tx.RoomAt(chain)
			if err != nil {
				return err
			}

			if ok {
				above = r.Path
			}
			if above == chain[0] {
				return nil
			}

			_, _, err = core.MakeRoom(tx, chain[0], key)
			return err
		})
	})
}

// roomMove is what [Engine.JoinPath] knows of a room whose directory is gone.
type roomMove struct {
	from string           // the room's path; empty if it has none on this host
	to   *workspace.Place // where the caller is; nil if the room is there
}

// findMove finds out whether the room that the caller names has lost its directory, and where it would move
// to.
func (e *Engine) findMove(ctx context.Context, p JoinPathParams) (roomMove, error) {
	path, err := e.core.PathOf(ctx, p.RoomID)
	if stick.CodeOf(err) == stick.CodeNoRoom || err == nil && path != "" && !core.IsGone(path) {
		return roomMove{}, nil
	}
	if err != nil {
		return roomMove{}, err
	}

	to, err := e.core.Place(core.Where{Path: p.Path})
	return roomMove{path, to}, err
}

// moveRoom moves the room, unless it was moved meanwhile, or the workspace has a room in which something has
// happened.
func (m roomMove) moveRoom(o *op) error {
	if m.to == nil || o.Room.Path != m.from {
		return nil
	}

	there, taken, err := o.Tx.RoomAt(m.to.Chain)
	if err != nil || m.to.Broad || m.to.CheckRepository() != nil {
		return err
	}

	// Whoever types a plain tt join after a move makes a room that nobody needs.
	if taken {
		unused, err := m.isUnused(o, there)
		if !unused || err != nil {
			return err
		}
		if err := exchangePaths(o, there); err != nil {
			return err
		}
	}

	if o.Room.Key == "" {
		o.Apply(o.Room.Move(o.Me.Agent, m.to.Root))
		return nil
	}

	// Other hosts have the room elsewhere, and aren't concerned.
	if m.from != "" {
		if err := o.Tx.LeaveCheckout(o.Room, m.from); err != nil {
			return err
		}
	}

	r, err := o.Tx.Checkout(o.Room, m.to.Root)
	o.Room.Path = r.Path
	return err
}

// maxUnusedLog is how many events the log of an unused room has at most.
const maxUnusedLog = 64

// isUnused reports whether the room that lies where this one would move to gives way to it: it lies just there,
// nobody but the caller is in it, and nothing has happened in it. Rooms of a server follow their repository.
func (m roomMove) isUnused(o *op, there stick.Room) (bool, error) {
	if there.Key != "" || there.Path != m.to.Root || there.HasOthers(o.Me.Agent) {
		return false, nil
	}

	log, more, err := o.Tx.Events(store.EventQuery{Room: there.ID, Limit: maxUnusedLog})
	return !more && !stick.HasWork(log), err
}

// exchangePaths gives an unused room the path that the caller's room had, so that this one can have the other's.
func exchangePaths(o *op, unused stick.Room) error {
	if err := o.Tx.ExchangePaths(unused, o.Room); err != nil {
		return err
	}

	after, events := unused.Move(o.Me.Agent, o.Room.Path)
	_, _, err := o.Tx.Save(unused, after, events)
	return err
}

// explainRefusal says why a room whose directory is gone, or that has none on this host, doesn't get that of
// the caller.
func (m roomMove) explainRefusal() stick.Words {
	why := stick.Words("has a room that is in use")

	switch {
	case m.to.CheckRepository() != nil:
		why = " leads to a repository that can't be found"
	case m.to.Broad:
		why = "is a whole home directory or disk"
	}

	if m.from == "" {
		return stick.Wordsf("this room has no directory on this host, and it can't have this one: %s %s",
			m.to.Root, why)
	}

	return stick.Wordsf("the directory of this room is gone, and the room can't move here: %s %s", m.to.Root, why)
}
