package eventlog

import (
	"cmp"
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

const (
	defaultTimeline = 500
	maxTimeline     = 2000
	timelineReach   = 20_000
)

// GetTimelineParams asks who held the stick of a room when.
type GetTimelineParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	LastMS int64 `json:"last_ms,omitempty"` // how long the range is, in milliseconds; 0 for as long as Limit allows
	Before int64 `json:"before,omitempty"`  // the range ends at this event, which an earlier answer named, instead of now
	Limit  int   `json:"limit,omitempty"`   // how many events about the turn are read at most; 0 for 500

	// Reach is how many events of any type are read through at most, because a log may have a million
	// messages; 0 for 20,000. Only tests set it.
	Reach int `json:"-"`
}

// GetTimelineResult is the timeline of a room: who held the stick when, and who waited for it.
type GetTimelineResult struct {
	RoomID stick.RoomID `json:"room_id"`
	Path   string       `json:"canonical_path"`
	timeline.Timeline
	More   bool  `json:"more"`             // the log goes back further; the range may be shorter than what was asked for
	Before int64 `json:"before,omitempty"` // pass it as before for the time that came before
}

// GetTimeline shows who held the stick of a room when, from the newest events about the turn, or from those
// before an event. It writes nothing. One call reads through a part of the log only, and its answer says
// where to go on. It fails with [stick.CodeNoRoom], and with [stick.CodeUsage] for a limit that is out of
// range and for an event that the room doesn't have.
func (l *Log) GetTimeline(ctx context.Context, p GetTimelineParams) (GetTimelineResult, error) {
	p.Limit, p.Reach = cmp.Or(p.Limit, defaultTimeline), cmp.Or(p.Reach, timelineReach)
	switch {
	case p.Limit < 0 || p.Limit > maxTimeline:
		return GetTimelineResult{}, stick.Errorf(stick.CodeUsage, "a limit must be between 1 and %d", maxTimeline).
			With("field", "limit")
	case p.LastMS < 0:
		return GetTimelineResult{}, stick.Errorf(stick.CodeUsage, "last_ms must be 0 or more, not %d", p.LastMS).
			With("field", "last_ms")
	}

	var res GetTimelineResult
	err := l.core.ReadRoom(ctx, p.Where, p.Caller, func(tx *store.Tx, probes *core.Probes, r stick.Room) error {
		res = GetTimelineResult{RoomID: r.ID, Path: r.Path}
		now, waiting := tx.Now(), timeline.Waiters(r, probes.Probed, tx.Now())

		if p.Before != 0 {
			end, err := tx.Event(r.ID, p.Before)
			if err != nil {
				return err
			}
			if end == nil {
				return stick.Errorf(stick.CodeUsage, "this room's log has no event %d", p.Before).
					With("field", "before").
					Hintf("without it the time up to now is shown: %s", stick.Cmd("tt timeline"))
			}

			// Who waited then and got no turn isn't in the log.
			now, waiting = end.CreatedAt, nil
		}

		s, err := readStretch(tx, r, p)
		if err != nil {
			return err
		}

		from, to := s.timeRange(now, stick.Millis(p.LastMS))
		res.More, res.Before = s.hasOlder(from)

		before, err := s.openingEvents(tx, r)
		res.Timeline = timeline.Of(append(before, s.events...), waiting, from, to)
		return err
	})
	return res, err
}

// stretch is a part of a room's log.
type stretch struct {
	events []stick.Event // those about the turn, the oldest first
	// first is where it begins, which is another event if the stretch is as long as one may be; nil if the
	// log has nothing.
	first *stick.Event
	more  bool // the log goes back further
	limit int
	reach int
}

// readStretch reads the newest events, or those before an event.
func readStretch(tx *store.Tx, r stick.Room, p GetTimelineParams) (s stretch, err error) {
	s.limit, s.reach = p.Limit, p.Reach
	back, err := tx.SeqBack(r.ID, p.Before, s.reach)
	if err != nil {
		return s, err
	}

	s.events, s.more, err = tx.Events(store.EventQuery{
		Room: r.ID, After: back - 1, Before: p.Before, Types: timeline.Events, Limit: p.Limit, Newest: true,
	})
	switch {
	case err != nil:
	case back > 0 && !s.more:
		// The log goes back further than this call reads.
		s.more = true
		s.first, err = tx.Event(r.ID, back)
	case len(s.events) > 0:
		s.first = &s.events[0]
	}

	return s, err
}

// timeRange returns the range of the timeline: it ends at a time, and is at most so long, if that isn't 0.
func (s *stretch) timeRange(to stick.Time, last stick.Millis) (from, until stick.Time) {
	from = to
	if s.first != nil {
		from = min(from, s.first.CreatedAt)
	}

	// The clock may have gone back.
	for _, e := range s.events {
		from, to = min(from, e.CreatedAt), max(to, e.CreatedAt)
	}

	if last > 0 {
		from = max(from, to-stick.Time(last))
	}

	return from, to
}

// hasOlder reports whether the log has events before the range, and before which event they are.
func (s *stretch) hasOlder(from stick.Time) (more bool, before int64) {
	if s.first == nil || !s.more && s.first.CreatedAt >= from {
		return false, 0
	}

	for _, e := range s.events {
		if e.CreatedAt >= from {
			return true, e.Seq
		}
	}

	// Nothing happened in the range.
	if n := len(s.events); n > 0 && s.first.CreatedAt < from {
		return true, s.events[n-1].Seq
	}

	return true, s.first.Seq
}

// openingEvents returns the events that tell how things stood where the stretch begins: the grant of the
// turn, and what happened in that turn. If that is too far back, the stretch's own events have to tell it.
func (s *stretch) openingEvents(tx *store.Tx, r stick.Room) ([]stick.Event, error) {
	if s.first == nil || s.first.Type.Grants() {
		return nil, nil
	}

	// A turn's first event is its grant.
	q := store.EventQuery{Room: r.ID, Turn: s.first.Turn, Limit: 1}
	grant, _, err := tx.Events(q)
	switch {
	case err != nil || len(grant) == 0 || !grant[0].Type.Grants():
		// There was no turn, or a restart has skipped its number.
		return nil, err
	case r.Turn.State == stick.Owned && r.Turn.ID == s.first.Turn:
		return grant, nil
	}

	back, err := tx.SeqBack(r.ID, s.first.Seq, s.reach)
	if err != nil || grant[0].Seq < back {
		return nil, err
	}

	q.After, q.Before, q.Limit, q.Types, q.Newest = grant[0].Seq, s.first.Seq, s.limit, timeline.Events, true
	since, _, err := tx.Events(q)
	return slices.Concat(grant, since), err
}
