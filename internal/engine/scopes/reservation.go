package scopes

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// ReservePathsParams asks to reserve paths.
type ReservePathsParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Paths     []string     `json:"paths"` // patterns relative to the root of the room
	TTL       stick.Millis `json:"ttl_ms,omitempty"`
	TaskID    string       `json:"task_id,omitempty"`
	Strict    bool         `json:"strict,omitempty"`
	TakeStale bool         `json:"takeover_stale,omitempty"`
}

// ReservePathsResult is what was reserved, and what it overlaps with.
type ReservePathsResult struct {
	RoomID       stick.RoomID      `json:"room_id"`
	AgentID      stick.AgentID     `json:"agent_id"`
	Joined       bool              `json:"joined"`
	Reservations []ReservationView `json:"reservations"`
	Overlaps     []scope.Meet      `json:"overlaps"` // with reservations of others; both sides get an event
	Already      bool              `json:"already,omitempty"`
	Warning      stick.Words       `json:"warning,omitempty"`
}

// ReservationView is a reservation, with when it ends and whether it is stale.
type ReservationView struct {
	stick.Reservation
	ExpiresAt stick.Time `json:"expires_at"`
	Stale     bool       `json:"stale,omitempty"`
}

// ReservePaths reserves all the named paths for the caller, or none. A caller that isn't a member joins. It
// fails with [stick.CodeUsage], [stick.CodeRoomClosed] and [stick.CodeKicked]. If others have reserved the
// same, it may fail with [stick.CodeReservationConflict] and [stick.CodeReservationStale].
func (sc *Scopes) ReservePaths(ctx context.Context, p ReservePathsParams) (ReservePathsResult, error) {
	var res ReservePathsResult
	q := scope.Reserving{TTL: p.TTL.Duration(), Task: p.TaskID, Strict: p.Strict, TakeStale: p.TakeStale}

	p.Where = sc.core.Located(p.Where)
	root, dir, err := sc.findRoots(ctx, p.Where)
	if err != nil {
		return res, err
	}

	scopes, err := sc.parseSelections(root, p.Paths)
	if err != nil {
		return res, err
	}

	q.Fold = workspace.FoldsCase(root)
	for _, s := range scopes {
		for _, m := range s.patterns {
			if !slices.Contains(q.Patterns, m) {
				q.Patterns = append(q.Patterns, m)
			}
		}

		if res.Warning == "" && s.leadsOutside {
			res.Warning = stick.Wordsf("%s", s.written) +
				" leads to a place that can't be reserved here, so only the link itself is reserved"
		}
	}

	res.Warning = cmp.Or(warnMisplaced(root, dir, q.Patterns), res.Warning)
	if res.Warning == "" && p.TaskID == "" {
		res.Warning = warnAbsent(root, q.Patterns)
	}

	err = sc.writeRoom(ctx, p.Where, p.Caller, core.JoinsIfNew, func(o *op) error {
		o.Settle()
		q.By = o.Me.Agent

		near, err := o.Tx.ReservationsMeeting(o.Room.ID, q.Patterns)
		if err != nil {
			return err
		}
		if q.Told, err = o.loggedIncursions(near); err != nil {
			return err
		}

		events, met, err := scope.Reserve(o.Room, q, near, o.Probes.Probed, o.Tx.Now())
		if res.Overlaps = append([]scope.Meet{}, met...); err != nil {
			if len(events) == 0 {
				return err
			}

			// The event about the overlap is saved all the same.
			o.Refused = err
		}

		o.Apply(o.Room, events)
		res.Already = err == nil && len(events) == 0
		return nil
	}, func(o *op) error { return o.fillReserved(q, &res) })
	return res, err
}

// fillReserved fills in the caller's reservations for the named patterns.
func (o *op) fillReserved(q scope.Reserving, res *ReservePathsResult) error {
	res.RoomID, res.AgentID, res.Joined, res.Reservations = o.Room.ID, o.Me.Agent, o.Joined, []ReservationView{}

	mine, _, err := o.Tx.Reservations(store.ReservationQuery{Room: o.Room.ID, Agent: o.Me.Agent})
	if err != nil {
		return err
	}

	// That a reservation gives no right matters more than how it is spelt.
	asked, givesRight := map[string]bool{}, true
	for _, p := range q.Patterns {
		asked[p.Key(q.Fold)] = true
		if givesRight && o.Room.Policy.Enforce.HearsScopes() && !edits.GivesRight(o.Room, p) {
			givesRight = false
			res.Warning = stick.Wordsf("%s", p) +
				" could match anywhere, so it gives no right to edit without the stick; " +
				"reserve files or directories by their names"
		}
	}

	for _, v := range mine {
		if asked[v.Pattern.Key(q.Fold)] {
			res.Reservations = append(res.Reservations, viewReservation(o.Room, v, o.Probes, o.Tx.Now()))
		}
	}

	for _, e := range o.Events {
		// The answer shows it, so no hook has to.
		if e.Type == stick.EventIncursion {
			if err := o.Tx.MarkShown(o.Room.ID, o.Me.Agent, e.Seq); err != nil {
				return err
			}
		}
	}

	return nil
}

// loggedIncursions returns the events in the log that say that the caller's scope overlaps with reservations
// in near.
func (o *op) loggedIncursions(near []stick.Reservation) ([]stick.Event, error) {
	oldest := int64(0)
	for _, v := range near {
		if v.Agent != o.Me.Agent && (oldest == 0 || v.ID < oldest) {
			oldest = v.ID
		}
	}

	if oldest == 0 {
		return nil, nil
	}

	// A reservation has the number of its event, and nothing about it is older.
	events, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, After: oldest, From: o.Me.Agent,
		Types: []stick.EventType{stick.EventIncursion}, Limit: core.MaxRows, Newest: true,
	})
	return events, err
}

func viewReservation(r stick.Room, v stick.Reservation, probes *core.Probes, now stick.Time) ReservationView {
	return ReservationView{v, scope.ExpiresAt(r, v), scope.Stale(r, v, probes.Probed, now)}
}

// findRoots returns the path of the room that a call means, or that it would make, and the directory of the
// call.
func (sc *Scopes) findRoots(ctx context.Context, w core.Where) (root, dir string, err error) {
	place, err := sc.core.Place(w)
	if err != nil {
		return "", "", err
	}

	if place != nil {
		root, dir = place.Root, place.Path
	}

	db, err := sc.core.Open(ctx, place != nil)
	if err == store.ErrAbsent {
		return "", "", stick.Errorf(stick.CodeNoRoom, "there is no room %q", stick.Clip(string(w.RoomID), 60))
	}
	if err != nil {
		return "", "", err
	}

	err = db.View(ctx, func(tx *store.Tx) error {
		r, err := core.FindRoom(tx, w, place)
		if stick.CodeOf(err) == stick.CodeNoRoom && place != nil {
			// The first reservation makes the room, at the root.
			return nil
		}

		root = r.Path
		return err
	})
	return root, dir, err
}

// ReleasePathsParams says which reservations to release.
type ReleasePathsParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Paths          []string `json:"paths,omitempty"`           // the caller's patterns, as reserved
	ReservationIDs []int64  `json:"reservation_ids,omitempty"` // a person may also name those of others
	All            bool     `json:"all,omitempty"`             // all of the caller's
}

// ReleasePathsResult is what was released.
type ReleasePathsResult struct {
	RoomID   stick.RoomID        `json:"room_id"`
	AgentID  stick.AgentID       `json:"agent_id"`
	Released []stick.Reservation `json:"released"`
	Already  bool                `json:"already,omitempty"` // nothing was left to release
}

// ReleasePaths releases all the named reservations, or none. It fails with [stick.CodeUnknownMember],
// [stick.CodeNotFound], [stick.CodePersonOnly] and [stick.CodeUsage].
func (sc *Scopes) ReleasePaths(ctx context.Context, p ReleasePathsParams) (ReleasePathsResult, error) {
	var res ReleasePathsResult
	if len(p.Paths) == 0 && len(p.ReservationIDs) == 0 && !p.All {
		return res, stick.Errorf(stick.CodeUsage, "no reservation given").With("field", "paths").
			Hintf("name what you reserved, or release all of it: %s", stick.Cmd("tt unreserve --all"))
	}

	p.Where = sc.core.Located(p.Where)
	root, _, err := sc.findRoots(ctx, p.Where)
	if err != nil {
		return res, err
	}

	scopes, err := sc.parseSelections(root, p.Paths)
	if err != nil {
		return res, err
	}

	fold := workspace.FoldsCase(root)
	err = sc.writeRoom(ctx, p.Where, p.Caller, core.MustBeMember, func(o *op) error {
		o.Settle()
		if err := o.RequireMember(); err != nil && !o.Me.Person() {
			return err
		}

		res = ReleasePathsResult{RoomID: o.Room.ID, AgentID: o.Me.Agent, Released: []stick.Reservation{}}
		vs, err := o.loadChosen(p, scopes, fold)
		if err != nil {
			return err
		}

		events, err := scope.Unreserve(o.Room, o.Me.Agent, o.Me.Person(), vs)
		if err != nil {
			return err
		}

		o.Apply(o.Room, events)
		res.Released, res.Already = append(res.Released, vs...), len(vs) == 0
		return nil
	}, nil)
	return res, err
}

// loadChosen loads the reservations to release. It leaves out those that the caller has released before.
func (o *op) loadChosen(p ReleasePathsParams, scopes []selection, fold bool) (vs []stick.Reservation, err error) {
	mine, _, err := o.Tx.Reservations(store.ReservationQuery{Room: o.Room.ID, Agent: o.Me.Agent})
	if err != nil || p.All {
		return mine, err
	}

	for _, s := range scopes {
		// A link may have led elsewhere when it was reserved.
		asked := map[string]bool{s.written.Key(fold): true}
		for _, m := range s.patterns {
			asked[m.Key(fold)] = true
		}

		some := slices.DeleteFunc(slices.Clone(mine), func(v stick.Reservation) bool {
			return !asked[v.Pattern.Key(fold)]
		})
		if vs = addMissing(vs, some...); len(some) > 0 {
			continue
		}

		// The command may be a repetition: then the log says that the caller has released it.
		ended, err := o.HasUnreserved(func(e stick.Event) bool {
			p, _ := stick.PayloadOf[stick.UnreservedPayload](e)
			return asked[p.Pattern.Key(fold)]
		})
		if err != nil {
			return nil, err
		}
		if !ended {
			return nil, stick.Errorf(stick.CodeNotFound, "you haven't reserved %s", s.written).
				With("pattern", s.written).
				Hintf("see what is reserved: %s", stick.Cmd("tt reservations"))
		}
	}

	for _, id := range p.ReservationIDs {
		v, _, err := o.Tx.Reservations(store.ReservationQuery{Room: o.Room.ID, ID: id})
		if err != nil {
			return nil, err
		}

		// A file may have a number as its name.
		name := glob.Pattern(strconv.FormatInt(id, 10))
		if len(v) == 0 {
			v = slices.DeleteFunc(slices.Clone(mine), func(v stick.Reservation) bool { return v.Pattern != name })
		}

		if vs = addMissing(vs, v...); len(v) > 0 {
			continue
		}

		ended, err := o.HasUnreserved(func(e stick.Event) bool {
			p, _ := stick.PayloadOf[stick.UnreservedPayload](e)
			return p.ReservationID == id || p.Pattern == name
		})
		if err != nil {
			return nil, err
		}
		if !ended {
			return nil, stick.Errorf(stick.CodeNotFound, "there is no reservation %d in this room", id).
				With("reservation_id", id).
				Hintf("see what is reserved: %s", stick.Cmd("tt reservations"))
		}
	}

	return vs, nil
}

// addMissing appends reservations that vs doesn't have yet.
func addMissing(vs []stick.Reservation, more ...stick.Reservation) []stick.Reservation {
	for _, v := range more {
		if !slices.Contains(vs, v) {
			vs = append(vs, v)
		}
	}
	return vs
}

// ListReservationsParams asks what is reserved.
type ListReservationsParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Agent  stick.AgentID `json:"agent_id,omitempty"`
	TaskID string        `json:"task_id,omitempty"`
	Limit  int           `json:"limit,omitempty"` // 0 for 50, at most 500
}

// ListReservationsResult lists reservations, the newest first.
type ListReservationsResult struct {
	RoomID       stick.RoomID      `json:"room_id"`
	AgentID      stick.AgentID     `json:"agent_id"` // who asks
	Enforce      stick.Enforce     `json:"enforce"`
	Reservations []ReservationView `json:"reservations"`
	More         bool              `json:"more,omitempty"` // later ones are hidden
}

// ListReservations lists the reservations of a room. It writes nothing. It fails with [stick.CodeNoRoom] and
// [stick.CodeUsage].
func (sc *Scopes) ListReservations(ctx context.Context, p ListReservationsParams) (ListReservationsResult, error) {
	var res ListReservationsResult
	limit, err := core.CheckLimit(p.Limit)
	if err != nil {
		return res, err
	}

	err = sc.core.Read(ctx, p.Where, p.Caller, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity,
	) (err error) {
		q := store.ReservationQuery{Room: r.ID, Task: p.TaskID, Limit: limit}
		if p.Agent != "" {
			if q.Agent, err = r.Named(p.Agent, probes.Probed, tx.Now()); err != nil {
				return err
			}
		}

		vs, more, err := tx.Reservations(q)
		res = ListReservationsResult{
			RoomID: r.ID, AgentID: me.Agent, Enforce: r.Policy.Enforce, Reservations: []ReservationView{}, More: more,
		}
		for _, v := range vs {
			res.Reservations = append(res.Reservations, viewReservation(r, v, probes, tx.Now()))
		}

		return err
	})
	return res, err
}
