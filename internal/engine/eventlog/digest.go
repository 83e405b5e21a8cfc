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

// GetDigest sums up what has happened in a room since the caller asked last: what landed, what came back, and what
// was lost. It moves the caller's cursor to the end of the log. It fails with [stick.CodeNoRoom].
func (l *Log) GetDigest(ctx context.Context, p GetDigestParams) (GetDigestResult, error) {
	var res GetDigestResult
	err := l.core.ReadRoom(ctx, p.Where, p.Caller, func(_ *store.Tx, _ *core.Probes, r stick.Room) error {
		res.RoomID = r.ID
		return nil
	})
	if err != nil {
		return res, err
	}

	db, err := l.core.Open(ctx, false)
	if err != nil {
		return res, err
	}

	err = l.core.Update(ctx, db, p.Caller, func(tx *store.Tx, probes *core.Probes) error {
		me, err := core.Identify(tx, probes, p.Caller)
		if err != nil {
			return err
		}

		if res, err = readDigest(tx, res.RoomID, me.Agent); err != nil {
			return err
		}
		return tx.AdvanceCursor(res.RoomID, me.Agent, seenStream, res.Cursor)
	})
	return res, err
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

	// The worker of a task says whose work has landed, whoever has merged it.
	var failed error
	res.Agents = append(res.Agents, timeline.DigestEvents(events, func(id string) stick.AgentID {
		t, _, err := tx.Task(room, id)
		if err != nil {
			failed = err
		}
		if t.Worker == "" {
			return t.SpawnedBy
		}
		return t.Worker
	})...)
	return res, failed
}
