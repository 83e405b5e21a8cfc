package eventlog

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/proc"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// EventFilter selects events.
type EventFilter struct {
	Types  []stick.EventType `json:"event,omitempty"`
	From   stick.AgentID     `json:"from,omitempty"`
	Target string            `json:"target,omitempty"` // an addressee: self, any, or an agent
	TaskID string            `json:"task_id,omitempty"`
	After  int64             `json:"after,omitempty"` // only events after this cursor
	Before int64             `json:"-"`               // only events before this one, for pages that go back; 0 for all
	Limit  int               `json:"limit,omitempty"`
}

// Values of [EventFilter.Target], besides agents.
const (
	TargetSelf = "self"
	TargetAny  = "any"
)

// GetRoomEventsParams asks for events of the log.
type GetRoomEventsParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	EventFilter
	// FromStart starts with the oldest event if After is 0. Otherwise the newest events are returned.
	FromStart bool `json:"from_start,omitempty"`
}

// EventsResult is a batch of events, the oldest first.
type EventsResult struct {
	// Status is the outcome of a wait for events: events, or not_yet at its limit. It is empty for a read.
	Status stick.WaitStatus `json:"status,omitempty"`

	RoomID stick.RoomID  `json:"room_id"`
	Events []stick.Event `json:"events"`
	More   bool          `json:"more"`   // there are more: newer ones after a cursor, else older ones
	Cursor int64         `json:"cursor"` // pass it as after to go on

	// PrunedTo says that these events begin where others were removed with tt prune: up to it only those are there that
	// something still needs. 0 if none were removed.
	PrunedTo int64 `json:"pruned_to,omitempty"`
}

// GetRoomEvents returns events of a room: the newest ones, or those after a cursor. It writes nothing. It
// fails with [stick.CodeNoRoom], [stick.CodeUsage], [stick.CodeUnknownMember] and
// [stick.CodeAmbiguousRecipient].
func (l *Log) GetRoomEvents(ctx context.Context, p GetRoomEventsParams) (EventsResult, error) {
	if p.Target == "" {
		p.Target = TargetAny
	}

	var res EventsResult
	err := l.core.Read(ctx, p.Where, p.Caller, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity,
	) (err error) {
		f, err := p.EventFilter.withFullNames(r, probes, tx.Now())
		if err != nil {
			return err
		}
		if err := f.requireReached(tx, r.ID); err != nil {
			return err
		}

		res, err = readBatch(tx, r.ID, me.Agent, f, p.After == 0 && !p.FromStart)
		return err
	})
	return res, l.noticeCursor(ctx, p.Caller, err)
}

// withFullNames returns the filter with the full names of agents in place of short ones. It fails with
// [stick.CodeUnknownMember] for an agent that has never been a member: the filter could wait for it for ever.
func (f EventFilter) withFullNames(r stick.Room, probes *core.Probes, now stick.Time) (_ EventFilter, err error) {
	if f.From != "" {
		if f.From, err = r.NamedEver(f.From, probes.Probed, now); err != nil {
			return f, stick.AsError(err).With("field", "from")
		}
	}

	if f.Target != TargetAny && f.Target != TargetSelf {
		target, err := r.NamedEver(stick.AgentID(f.Target), probes.Probed, now)
		if err != nil {
			return f, stick.AsError(err).With("field", "target")
		}
		f.Target = string(target)
	}

	return f, nil
}

// requireReached refuses a cursor that the room's log hasn't reached with [stick.CodeUsage]. It belongs to
// another room, and what comes next here would be left out.
func (f EventFilter) requireReached(tx *store.Tx, room stick.RoomID) error {
	last, err := tx.LastSeq(room)
	if err != nil || f.After <= last {
		return err
	}

	// A number that wasn't given out at all may mean that the database is an older copy.
	if issued, err := tx.Issued(); err != nil || f.After > issued {
		return cmp.Or(err, error(&unissuedCursor{cursor: f.After, issued: issued, last: last}))
	}

	return stick.Errorf(stick.CodeUsage,
		"the cursor %d is beyond the end of this room's log, which is at %d", f.After, last).
		With("field", "after").With("cursor", last).Hintf("to go on from the end: --after %d", last)
}

// readBatch reads one batch of events of a room.
func readBatch(tx *store.Tx, room stick.RoomID, me stick.AgentID, f EventFilter, newest bool) (EventsResult, error) {
	limit, err := core.CheckLimit(f.Limit)
	if err != nil {
		return EventsResult{}, err
	}

	q := store.EventQuery{
		Room: room, After: f.After, Before: f.Before, Types: f.Types,
		From: f.From, Task: f.TaskID, Limit: limit, Newest: newest,
	}

	switch f.Target {
	case TargetAny:
	case TargetSelf:
		q.For = me
	default:
		q.For = stick.AgentID(f.Target)
	}

	last, pruned, err := tx.LogBounds(room)
	if err != nil {
		return EventsResult{}, err
	}

	res := EventsResult{RoomID: room, Events: []stick.Event{}, Cursor: max(f.After, last)}
	events, more, err := tx.Events(q)
	res.Events = append(res.Events, events...)

	// Who reads on gets what comes after these; who asked for the newest, what comes after the log.
	if res.More = more; more && !newest {
		res.Cursor = core.LastSeq(events)
	}

	// The newest ones reach back to where events were removed, or there is more before them.
	hasAll := !newest || !more
	if hasAll && f.After < pruned {
		res.PrunedTo = pruned
	}

	return res, err
}

// WaitForEventsParams asks for the next events after a cursor.
type WaitForEventsParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	EventFilter
	// FromNow starts after the newest event, whatever After says.
	FromNow bool `json:"from_now,omitempty"`
	// Name starts where the caller's stream of that name has got to. A new stream starts where the caller
	// joined.
	Name      string `json:"name,omitempty"`
	MaxWaitMS *int64 `json:"max_wait_ms,omitempty"` // in milliseconds; nil waits until there is an event

	// AtMost limits a wait that is a call through a server, together with the room's policy. Zero means that
	// the wait may last.
	AtMost time.Duration `json:"-"`
}

// WaitForEvents returns the next events that pass the filter. It changes nothing: the caller is no listener,
// and never gets the turn this way. [Log.StreamDelivered] moves a named stream on. At its limit it returns
// [stick.NotYet], without events. It fails with [stick.CodeNoRoom], [stick.CodeUsage], [stick.CodeCanceled],
// [stick.CodeAmbiguousRecipient] and, for a filter by an agent that never joined or a named stream of one,
// [stick.CodeUnknownMember].
func (l *Log) WaitForEvents(ctx context.Context, p WaitForEventsParams) (EventsResult, error) {
	var got EventsResult
	if err := core.CheckMaxWait(p.MaxWaitMS); err != nil {
		return got, err
	}

	last, err := l.FollowEvents(ctx, p, func(res EventsResult) error {
		got = res
		return errEnough
	})
	if err == errEnough {
		got.Status = stick.GotEvents
		return got, nil
	}

	if err == nil {
		last.Status = stick.NotYet
	}

	return last, err
}

// errEnough ends a stream after its first batch.
var errEnough = errors.New("enough")

// FollowEvents calls deliver with each batch of events that pass the filter, as they come. It ends when
// deliver fails, with that error, or when ctx ends, with [stick.CodeCanceled]. It returns the last batch,
// whose cursor says how far it has read, or nothing if it has read nothing. In all else it is like
// [Log.WaitForEvents].
func (l *Log) FollowEvents(
	ctx context.Context, p WaitForEventsParams, deliver func(EventsResult) error,
) (EventsResult, error) {
	if p.Target == "" {
		p.Target = TargetSelf
	}

	res, me, most, err := l.firstBatch(ctx, &p)
	if err != nil {
		return res, err
	}

	if len(res.Events) > 0 {
		if err := deliver(res); err != nil {
			return res, err
		}
	}

	db, err := l.core.Open(ctx, false)
	if err != nil {
		return res, err
	}

	// The room and the caller stay the same from here on, so reading again costs no more than a query.
	readNext := func() error {
		p.After = res.Cursor
		var next EventsResult
		err := db.View(ctx, func(tx *store.Tx) (err error) {
			next, err = readBatch(tx, res.RoomID, me, p.EventFilter, false)
			return err
		})

		// After an error the answer stays at what was delivered.
		if err == nil {
			res = next
		}
		return err
	}

	w, err := db.Watch(res.RoomID)
	if err != nil {
		return res, err
	}
	defer w.Close()

	var limit <-chan time.Time
	if ms := core.WaitLimit(p.MaxWaitMS, p.AtMost, most); ms != nil {
		limit = time.After(time.Duration(*ms) * time.Millisecond)
	}

	// From here on it sleeps most of the time, perhaps for hours.
	net := bell.NewNet(rand.Float64)
	proc.ReleaseMemory()
	for {
		// Watch came first, so a commit after this rings.
		err := readNext()
		if core.IsUnavailable(err) {
			// The server may come back.
			w.Missed()
		} else if err != nil {
			return res, err
		}

		if err == nil && len(res.Events) > 0 {
			if err := deliver(res); err != nil {
				return res, err
			}
			// More is likely to happen soon. A ring without an event for its caller leaves the net alone.
			net.Reset()
			continue
		}

		if atLimit, err := l.awaitRing(ctx, w, net, limit); atLimit || err != nil {
			if err != nil {
				err = stick.Errorf(stick.CodeCanceled, "interrupted").With("cursor", res.Cursor)
			}
			return res, err
		}
	}
}

// awaitRing waits until it is time to read the log again: a ring, or the net under it. atLimit is true at the
// limit. It fails when ctx ends.
func (l *Log) awaitRing(
	ctx context.Context, watch *store.Watch, net *bell.Net, limit <-chan time.Time,
) (atLimit bool, err error) {
	watch.ReleaseForSleep()

	if l.core.Config.Alone {
		defer proc.PauseCollection()()
	}
	t := time.NewTimer(net.Next())
	defer t.Stop()

	for {
		select {
		case <-watch.C:
			return false, nil
		case <-t.C:
			// Where no ring can be missed, it sleeps on.
			more := watch.SleepOn(net)
			if more == 0 {
				return false, nil
			}
			t.Reset(more)
		case <-limit:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// firstBatch reads the first events of a stream, and sets in p after which event they come. me is the caller,
// and most is how long the room lets a server wait for events.
func (l *Log) firstBatch(
	ctx context.Context, p *WaitForEventsParams,
) (res EventsResult, me stick.AgentID, most time.Duration, err error) {
	// The transaction may run again, and then starts from the filter as it was given.
	given := p.EventFilter
	err = l.core.Read(ctx, p.Where, p.Caller, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, id core.Identity,
	) (err error) {
		me, most = id.Agent, r.Policy.EventsMaxWait
		if p.EventFilter, err = given.withFullNames(r, probes, tx.Now()); err != nil {
			return err
		}

		switch {
		case p.Name != "":
			if p.After, err = streamAt(tx, r, me, p.Name, p.Target); err != nil {
				return err
			}
		case p.FromNow:
			if p.After, err = tx.LastSeq(r.ID); err != nil {
				return err
			}
		default:
			if err = p.requireReached(tx, r.ID); err != nil {
				return err
			}
		}

		res, err = readBatch(tx, r.ID, me, p.EventFilter, false)
		return err
	})
	// What was read before an error says how far the log goes, and nothing of what is in it.
	if err != nil {
		res = EventsResult{}
	}
	return res, me, most, l.noticeCursor(ctx, p.Caller, err)
}

// namedStream returns the name of the cursor of a caller's stream. The prefix keeps it apart from the
// program's own cursors.
func namedStream(name string) string { return "named:" + name }

// streamAt returns how far an agent has read a named stream. A new stream of events for the agent starts at
// 0, because none is older than its membership. A stream of other events starts at the agent's last join.
func streamAt(tx *store.Tx, r stick.Room, me stick.AgentID, name, target string) (int64, error) {
	if len(name) > stick.MaxLabel || stick.Line(name) != name {
		return 0, stick.Errorf(stick.CodeUsage, "the name of a stream is one line of at most %d bytes", stick.MaxLabel).
			With("field", "name")
	}

	m, ok := r.Member(me)
	if !ok {
		return 0, stick.Errorf(stick.CodeUnknownMember, "%s isn't a member of this room, and has no stream in it", me).
			With("agent_id", me).Hintf("join it: %s; or leave --name out to begin now", stick.Cmd("tt join"))
	}

	seen, ok, err := tx.Cursor(r.ID, me, namedStream(name))
	if err == nil && !ok && target != TargetSelf {
		seen = m.JoinSeq
	}

	return seen, err
}

// StreamDelivered records that a named stream was delivered up to a cursor. A cursor never moves back.
func (l *Log) StreamDelivered(
	ctx context.Context, by core.Caller, room stick.RoomID, name string, cursor int64,
) error {
	return l.advanceCursor(ctx, by, room, namedStream(name), cursor)
}

// advanceCursor moves a cursor of the caller on.
func (l *Log) advanceCursor(
	ctx context.Context, by core.Caller, room stick.RoomID, stream string, cursor int64,
) error {
	db, err := l.core.Open(ctx, false)
	if err != nil {
		return err
	}

	return l.core.Update(ctx, db, by, func(tx *store.Tx, probes *core.Probes) error {
		me, err := core.Identify(tx, probes, by)
		if err != nil {
			return err
		}

		return tx.AdvanceCursor(room, me.Agent, stream, cursor)
	})
}
