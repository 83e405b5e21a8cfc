package eventlog

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

// seenStream is the stream whose cursor is how far an agent or a person has seen the digest of a room. No stream
// with a name of its own is called so.
const seenStream = "seen"

// maxDigest is how many events a digest tells of at most: the newest.
const maxDigest = 2000

// GetDigestParams asks what has happened since the caller asked last.
type GetDigestParams struct {
	Caller core.Caller `json:"-"`
	core.Where
}

// GetDigestResult is what has happened since the caller asked last, by the agents whose work it is about.
type GetDigestResult struct {
	RoomID stick.RoomID      `json:"room_id"`
	First  bool              `json:"first,omitempty"` // it has never asked before, so this is all there is
	Since  stick.Time        `json:"since"`           // when what it saw last happened; zero for nothing
	After  int64             `json:"after"`           // the event that it saw last
	Cursor int64             `json:"cursor"`          // the event up to which this tells
	Agents []timeline.Digest `json:"agents"`
	More   bool              `json:"more,omitempty"` // there was more than it tells of
}

// GetDigest sums up what has happened in a room since the caller has seen a digest last: what landed, what came back,
// and what was lost. [Log.DigestDelivered] says that this one was seen. It fails with [stick.CodeNoRoom].
func (l *Log) GetDigest(ctx context.Context, p GetDigestParams) (res GetDigestResult, err error) {
	err = l.core.Read(ctx, p.Where, p.Caller, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) error {
		res, err = readDigest(tx, r.ID, me.Agent)
		return err
	})
	return res, err
}

// DigestDelivered records that the caller has seen the digest of a room up to a cursor. A cursor never moves back.
func (l *Log) DigestDelivered(ctx context.Context, by core.Caller, room stick.RoomID, cursor int64) error {
	return l.advanceCursor(ctx, by, room, seenStream, cursor)
}

// readDigest reads what an agent hasn't seen of a room.
func readDigest(tx *store.Tx, room stick.RoomID, me stick.AgentID) (GetDigestResult, error) {
	res := GetDigestResult{RoomID: room, Agents: []timeline.Digest{}}
	after, ok, err := tx.Cursor(room, me, seenStream)
	if err != nil {
		return res, err
	}

	res.First, res.After = !ok, after
	if res.Cursor, err = tx.LastSeq(room); err != nil {
		return res, err
	}
	if ok {
		last, err := tx.Event(room, after)
		if err != nil {
			return res, err
		}
		if last != nil {
			res.Since = last.CreatedAt
		}
	}

	var events []stick.Event
	events, res.More, err = tx.Events(store.EventQuery{
		Room: room, After: after, Types: timeline.DigestTypes, Limit: maxDigest, Newest: true,
	})
	if err != nil {
		return res, err
	}

	var failed error
	res.Agents = append(res.Agents, timeline.DigestEvents(events, func(id string) stick.Task {
		t, _, err := tx.Task(room, id)
		if err != nil {
			failed = err
		}
		return t
	})...)
	return res, failed
}
