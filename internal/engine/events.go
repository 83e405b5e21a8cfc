package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// EventFilter selects events.
type EventFilter struct {
	Types  []stick.EventType `json:"event,omitempty"`
	From   stick.AgentID     `json:"from,omitempty"`
	Target string            `json:"target,omitempty"` // self, any, or an agent
	After  int64             `json:"after,omitempty"`  // only events behind this cursor
	Limit  int               `json:"limit,omitempty"`
}

// Targets of a filter.
const (
	TargetSelf = "self"
	TargetAny  = "any"
)

const (
	defaultEvents = 50
	maxEvents     = 500
)

// GetRoomEventsParams asks for events that are in the log.
type GetRoomEventsParams struct {
	Caller Caller `json:"-"`
	Where
	EventFilter
	// FromStart begins with the oldest event where After is 0; else the newest ones are told.
	FromStart bool `json:"from_start,omitempty"`
}

// EventsResult is a batch of events, the oldest first.
type EventsResult struct {
	RoomID stick.RoomID  `json:"room_id"`
	Events []stick.Event `json:"events"`
	More   bool          `json:"more"`   // there are more: older ones without a cursor, else newer ones
	Cursor int64         `json:"cursor"` // give it as after to go on
}

// GetRoomEvents tells events of a room: the newest ones, or those behind a cursor. It writes
// nothing. It fails with [stick.CodeNoRoom] and [stick.CodeUsage].
func (e *Engine) GetRoomEvents(ctx context.Context, p GetRoomEventsParams) (EventsResult, error) {
	if p.Target == "" {
		p.Target = TargetAny
	}
	var res EventsResult
	err := e.look(ctx, p.Where, p.Caller, func(tx *store.Tx, s *sights, r stick.Room, me identity) (err error) {
		res, err = batch(tx, r.ID, me.Agent, p.EventFilter, p.After == 0 && !p.FromStart)
		return err
	})
	return res, err
}

// batch reads one batch of events of a room.
func batch(tx *store.Tx, room stick.RoomID, me stick.AgentID, f EventFilter, newest bool) (EventsResult, error) {
	q := store.EventQuery{
		Room: room, After: f.After, Types: f.Types, From: f.From, Limit: f.Limit, Newest: newest,
	}
	switch {
	case q.Limit < 0 || q.Limit > maxEvents:
		return EventsResult{}, stick.Errorf(stick.CodeUsage, "a limit lies between 1 and %d", maxEvents).With("field", "limit")
	case q.Limit == 0:
		q.Limit = defaultEvents
	}
	switch f.Target {
	case TargetAny:
	case TargetSelf:
		q.To, q.Types = me, addressed(f.Types)
	default:
		q.To = stick.AgentID(f.Target)
	}
	last, err := tx.LastSeq(room)
	if err != nil {
		return EventsResult{}, err
	}
	res := EventsResult{RoomID: room, Events: []stick.Event{}, Cursor: max(f.After, last)}
	if len(q.Types) == 0 && len(f.Types) > 0 {
		return res, nil // none of those types is ever for somebody
	}
	events, more, err := tx.Events(q)
	res.Events = append(res.Events, events...)
	if res.More = more; more && !newest {
		res.Cursor = lastSeq(events)
	}
	return res, err
}

// addressed narrows types down to those that can be for somebody; none given means all of them.
func addressed(types []stick.EventType) []stick.EventType {
	if len(types) == 0 {
		return stick.AddressedTypes
	}
	return slices.DeleteFunc(slices.Clone(types), func(t stick.EventType) bool { return !slices.Contains(stick.AddressedTypes, t) })
}

// WaitForEventsParams asks for the next events behind a cursor.
type WaitForEventsParams struct {
	Caller Caller `json:"-"`
	Where
	EventFilter
	// FromNow starts behind the newest event, whatever After says.
	FromNow   bool   `json:"from_now,omitempty"`
	MaxWaitMS *int64 `json:"max_wait_ms,omitempty"` // nil waits until there is an event
}

// WaitForEvents returns the next events that pass the filter. It changes nothing: it is no
// listener, and it never brings the turn. At its limit it returns without events. It fails with
// [stick.CodeNoRoom], [stick.CodeUsage] and [stick.CodeCanceled].
func (e *Engine) WaitForEvents(ctx context.Context, p WaitForEventsParams) (EventsResult, error) {
	if p.Target == "" {
		p.Target = TargetSelf
	}
	var res EventsResult
	var me stick.AgentID
	err := e.look(ctx, p.Where, p.Caller, func(tx *store.Tx, s *sights, r stick.Room, id identity) (err error) {
		me = id.Agent
		if p.FromNow {
			if p.After, err = tx.LastSeq(r.ID); err != nil {
				return err
			}
		}
		res, err = batch(tx, r.ID, me, p.EventFilter, false)
		return err
	})
	if err != nil || len(res.Events) > 0 {
		return res, err
	}
	db, err := e.open(ctx, false)
	if err != nil {
		return res, err
	}
	// From here on it stays this room and this caller, so that a look costs no more than a query.
	look := func() error {
		p.After = res.Cursor
		return db.View(ctx, func(tx *store.Tx) (err error) {
			res, err = batch(tx, res.RoomID, me, p.EventFilter, false)
			return err
		})
	}
	w, err := db.Bell.Watch(string(res.RoomID))
	if err != nil {
		return res, err
	}
	defer w.Close()
	var limit <-chan time.Time
	if p.MaxWaitMS != nil {
		limit = time.After(time.Duration(*p.MaxWaitMS) * time.Millisecond)
	}
	net := bell.NewNet(rand.Float64)
	for {
		// Watch first, then look: what is committed in between rings.
		if err := look(); err != nil || len(res.Events) > 0 {
			return res, err
		}
		t := time.NewTimer(net.Next())
		select {
		case <-w.C:
			net.Reset()
		case <-t.C:
		case <-limit:
			t.Stop()
			return res, nil
		case <-ctx.Done():
			t.Stop()
			return res, stick.Errorf(stick.CodeCanceled, "interrupted").With("cursor", res.Cursor)
		}
		t.Stop()
	}
}
