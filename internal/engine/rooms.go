package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// ListRoomsParams asks for rooms.
type ListRoomsParams struct {
	Caller core.Caller  `json:"-"`
	Path   string       `json:"context_path,omitempty"`
	RoomID stick.RoomID `json:"-"`               // instead of a path; not for MCP, where each parameter costs all sessions tokens
	All    bool         `json:"all,omitempty"`   // every room of the database
	Recent bool         `json:"-"`               // those that have changed last come first, instead of the order of their paths
	Limit  int          `json:"limit,omitempty"` // 0 for 50
}

// ListRoomsResult lists rooms: those at the path and above it up to its workspace root, and those below it.
type ListRoomsResult struct {
	Path   string       `json:"path"`
	Root   string       `json:"workspace_root"`
	Rooms  []ListedRoom `json:"rooms"`
	Hidden int          `json:"hidden,omitempty"` // how many more rooms there are
}

// ListedRoom is a room in short.
type ListedRoom struct {
	RoomID      stick.RoomID    `json:"room_id"`
	Path        string          `json:"canonical_path"`     // the room's path; empty if this host has no checkout of it
	Key         string          `json:"room_key,omitempty"` // names the room where several hosts share it
	PathGone    bool            `json:"path_gone,omitempty"`
	Relation    string          `json:"relation"` // to the path: here (its room), above, below, elsewhere
	State       stick.RoomState `json:"state"`
	TurnID      int64           `json:"turn_id"`
	Owner       *stick.AgentID  `json:"owner"`
	ReservedFor *stick.AgentID  `json:"reserved_for"`
}

// ListRooms lists rooms. It writes nothing. It fails with [stick.CodeInvalidPath].
func (e *Engine) ListRooms(ctx context.Context, p ListRoomsParams) (ListRoomsResult, error) {
	place, err := e.core.PlaceOf(ctx, core.Where{RoomID: p.RoomID, Path: p.Path})
	if err != nil {
		return ListRoomsResult{}, err
	}

	limit := p.Limit
	if limit <= 0 {
		limit = 50
	}

	res := ListRoomsResult{Path: place.Path, Root: place.Root, Rooms: []ListedRoom{}}
	db, err := e.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return res, nil
	}
	if err != nil {
		return res, err
	}

	err = e.core.View(ctx, db, p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		res.Rooms, res.Hidden = []ListedRoom{}, 0
		var rooms []stick.Room
		var err error
		if p.All {
			rooms, err = tx.Rooms(nil, "")
		} else {
			rooms, err = tx.Rooms(place.Chain, place.Path)
		}
		if err != nil {
			return err
		}

		if p.Recent {
			slices.SortStableFunc(rooms, func(a, b stick.Room) int { return cmp.Compare(b.UpdatedAt, a.UpdatedAt) })
		}

		// This room has the members and listeners of all listed ones, so that they are probed at once.
		var shown stick.Room
		here := nearestRoom(rooms, place)

		for i, r := range rooms {
			if len(res.Rooms) >= limit {
				res.Hidden = len(rooms) - i
				break
			}

			relation := relationOf(r, place)
			if i == here {
				relation = "here"
			}

			if r, err = tx.Room(r.ID); err != nil {
				return err
			}

			shown.Members = append(shown.Members, r.Members...)
			shown.Listeners = append(shown.Listeners, r.Listeners...)
			short := shortView(r.AtGeneration(tx.Generation(), tx.Now()), relation, probes, tx.Now())
			res.Rooms = append(res.Rooms, short)
		}

		return probes.RequireComplete(shown)
	})

	for i := range res.Rooms {
		res.Rooms[i].PathGone = res.Rooms[i].Path != "" && core.IsGone(res.Rooms[i].Path)
	}

	return res, err
}

// shortView returns a room in short.
func shortView(r stick.Room, relation string, probes *core.Probes, now stick.Time) ListedRoom {
	v := ListedRoom{
		RoomID: r.ID, Path: r.Path, Key: r.Key, Relation: relation,
		State: r.State(probes.Probed, now), TurnID: r.Turn.ID,
	}
	switch {
	case r.Closed:
	case r.Turn.State == stick.Owned:
		v.Owner = &r.Turn.Owner
	case r.Turn.State == stick.Reserved:
		v.ReservedFor = &r.Turn.ReservedFor
	}
	return v
}

// nearestRoom returns the index of the room that a command at the place acts in, -1 if there is none.
func nearestRoom(rooms []stick.Room, place *workspace.Place) int {
	here := -1
	for i, r := range rooms {
		at := slices.Index(place.Chain, r.Path)
		isNearer := here < 0 || at < slices.Index(place.Chain, rooms[here].Path)
		if at >= 0 && isNearer {
			here = i
		}
	}

	return here
}

// relationOf returns where a room lies, seen from the place.
func relationOf(r stick.Room, place *workspace.Place) string {
	switch {
	case r.Path == "":
	case slices.Contains(place.Chain, r.Path):
		return "above"
	case strings.HasPrefix(r.Path, strings.TrimSuffix(place.Path, "/")+"/"):
		return "below"
	}

	return "elsewhere"
}
