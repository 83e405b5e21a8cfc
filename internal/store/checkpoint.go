package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"talkingstick/stick"
)

// Checkpoint returns the checkpoint with which the log of a room begins; ok is false if it begins with its first
// event.
func (tx *Tx) Checkpoint(room stick.RoomID) (p stick.Checkpoint, ok bool, err error) {
	query := "SELECT " + checkpointTable().names + " FROM checkpoints WHERE room_id = ?"
	ok, err = checkpointTable().readOne(tx, query, []any{room}, &p)
	return p, ok, err
}

// beginReplay returns the record with which a replay of a room's log begins. It fails with a [brokenCheckpoint] if
// there is one that can't be read.
func (tx *Tx) beginReplay(room stick.RoomID) (*stick.Record, error) {
	p, ok, err := tx.Checkpoint(room)
	if err != nil {
		return nil, err
	}
	if !ok {
		return startRecord(nil)
	}
	return startRecord(&p)
}

// startRecord returns the record with which a replay begins. p is nil where that is the first event.
func startRecord(p *stick.Checkpoint) (*stick.Record, error) {
	if p == nil {
		return &stick.Record{}, nil
	}

	record, err := stick.RecordFrom(*p)
	if err != nil {
		return nil, &brokenCheckpoint{err}
	}
	return record, nil
}

// brokenCheckpoint is why a log can't be replayed at all.
type brokenCheckpoint struct{ error }

func (b *brokenCheckpoint) Unwrap() error { return b.error }

// putCheckpoint stores the checkpoint of a room in the place of an earlier one.
func (tx *Tx) putCheckpoint(room stick.RoomID, p stick.Checkpoint) error {
	args, err := checkpointTable().insertArgs(&p, room)
	if err != nil {
		return err
	}
	return tx.exec(checkpointTable().upsert, args...)
}

// LogCut is how the log of a room gets shorter.
type LogCut struct {
	Room    stick.RoomID
	Removed int64      // how many events go
	Events  int64      // how many there are
	Bytes   int64      // about: what those that go take in the file
	LastAt  stick.Time // when the last of them came

	last       int64 // the end of the log that was read
	kept       []stick.KeptEvent
	checkpoint stick.Checkpoint
}

// CutRequest asks to shorten a log.
type CutRequest struct {
	Room   stick.RoomID
	Before stick.Time    // older events go
	Gain   int64         // only if the file gets smaller by so many bytes, about; 0 for whatever it becomes
	By     stick.AgentID // whose word it is
}

// PlanLogCut finds out which old events of a room nobody needs any longer. None goes of a room that isn't what its log
// says: that may be needed to repair it.
func (db *DB) PlanLogCut(ctx context.Context, q CutRequest) (cut LogCut, err error) {
	err = db.View(ctx, func(tx *Tx) (err error) {
		cut, err = tx.planLogCut(q)
		return err
	})
	return cut, err
}

// errLogMoved says that a log has more events than a plan of its cut has read.
var errLogMoved = errors.New("the log has gone on")

// CutLog removes the old events of a room that nobody needs any longer, and leaves a checkpoint with what they came
// to. A reader of the log that comes meanwhile sees it as it was or as it is then.
func (db *DB) CutLog(ctx context.Context, q CutRequest) (cut LogCut, err error) {
	const tries = 3

	// A long log takes a while, and others can write meanwhile. In a room where they don't stop, they wait in the end.
	for range tries {
		if cut, err = db.PlanLogCut(ctx, q); err != nil || cut.Removed == 0 {
			return cut, err
		}

		err = db.Update(ctx, func(tx *Tx) error { return tx.cutLog(cut, q) })
		if !errors.Is(err, errLogMoved) {
			return cut, err
		}
	}

	err = db.Update(ctx, func(tx *Tx) (err error) {
		if cut, err = tx.planLogCut(q); err != nil || cut.Removed == 0 {
			return err
		}
		return tx.cutLog(cut, q)
	})
	return cut, err
}

// oldEvent is what a plan notes of an event that may go.
type oldEvent struct {
	stick.Event        // without what it says
	before      string // the sum of the one before it
	bytes       int64
}

// planLogCut is [DB.PlanLogCut] within a transaction.
func (tx *Tx) planLogCut(q CutRequest) (cut LogCut, err error) {
	room := q.Room
	cut.Room = room
	found, err := tx.contradictionsOf(room)
	if err != nil || len(found) > 0 {
		return cut, err
	}
	to, err := tx.lastBefore(room, q.Before)
	if err != nil || to == 0 {
		return cut, err
	}

	at, later, old, err := tx.replayOld(room, &to)
	if err != nil || len(old) == 0 {
		return cut, err
	}
	unseen, err := tx.unseenUpTo(room, to)
	if err != nil {
		return cut, err
	}

	// Checkpoints alone are no reason for another one.
	needs, hasOther := at.LogNeeds(to, later), false
	for _, e := range old {
		if needs.Has(e.Event) || unseen[e.Seq] {
			cut.kept = append(cut.kept, stick.KeptEvent{Seq: e.Seq, Before: e.before})
			continue
		}
		cut.Removed, cut.Bytes, cut.LastAt = cut.Removed+1, cut.Bytes+e.bytes, e.CreatedAt
		hasOther = hasOther || e.Type != stick.EventCheckpoint
	}
	if cut.checkpoint, err = at.LeaveCheckpoint(to, cut.kept); err != nil {
		return cut, err
	}
	was, _, err := tx.Checkpoint(room)
	if err != nil {
		return cut, err
	}

	gain := cut.Bytes + int64(len(was.State)-len(cut.checkpoint.State))
	isTooLittle := q.Gain > 0 && gain < q.Gain
	if !hasOther || isTooLittle {
		return LogCut{Room: room}, nil
	}

	cut.Events = later.Events
	if cut.last, err = tx.LastSeq(room); err != nil {
		return cut, err
	}
	return cut, tx.proveCut(cut, later)
}

// lastBefore returns the last event of a room before the first that isn't older than a time, and no event before the
// end of what was removed already.
func (tx *Tx) lastBefore(room stick.RoomID, before stick.Time) (seq int64, err error) {
	query := "SELECT COALESCE(MIN(event_seq), 0) FROM events WHERE room_id = ? AND created_at >= ?"
	var first int64
	if _, err = tx.queryOne(query, []any{room, before}, &first); err != nil {
		return 0, err
	}

	last, pruned, err := tx.LogBounds(room)
	if seq = first - 1; first == 0 {
		seq = last
	}
	return max(seq, pruned), err
}

// replayOld replays the log of a room. It returns its record at an event and at the end, and the events up to that
// one. An event of a type that only a newer program knows stays, with all that come after it.
func (tx *Tx) replayOld(room stick.RoomID, to *int64) (at, later *stick.Record, old []oldEvent, err error) {
	if later, err = tx.beginReplay(room); err != nil {
		return nil, nil, nil, err
	}

	err = tx.eachEvent(room, func(e stick.Event) error {
		if !e.Type.IsKnown() {
			*to = min(*to, e.Seq-1)
		}
		if e.Seq > *to && at == nil {
			if at, err = later.Clone(); err != nil {
				return err
			}
		}

		if e.Seq <= *to {
			o := oldEvent{Event: e, before: later.SumBefore(e.Seq), bytes: sizeOfEvent(e)}
			o.Payload, o.Handoff = nil, nil
			old = append(old, o)
		}
		return later.Replay(e)
	})
	if err == nil && at == nil {
		at, err = later.Clone()
	}

	return at, later, old, err
}

// sizeOfEvent is about what an event takes in the file.
func sizeOfEvent(e stick.Event) int64 {
	handoff, _ := json.Marshal(e.Handoff)
	return int64(eventBytes + len(e.Payload) + len(e.Reason) + len(handoff))
}

// eachEvent calls do with each event of a room, the oldest first.
func (tx *Tx) eachEvent(room stick.RoomID, do func(stick.Event) error) error {
	after := int64(0)
	for more := true; more; {
		events, isMore, err := tx.Events(EventQuery{Room: room, After: after, Limit: 500})
		if err != nil {
			return err
		}

		for _, e := range events {
			if err := do(e); err != nil {
				return err
			}
			after = e.Seq
		}
		more = isMore
	}

	return nil
}

// unseenFor is for how long a member may be away and still gets to see what it hasn't seen. What it has to read or to
// acknowledge waits for as long as it takes.
const unseenFor = 90 * 24 * time.Hour

// unseenUpTo returns the events up to a number that a member hasn't seen that they are for.
func (tx *Tx) unseenUpTo(room stick.RoomID, to int64) (unseen map[int64]bool, err error) {
	unseen = map[int64]bool{}
	err = tx.scan(`SELECT DISTINCT r.event_seq FROM receipts r
		JOIN members m ON m.room_id = r.room_id AND m.agent_id = r.agent_id
		WHERE r.room_id = ? AND r.event_seq <= ? AND m.state = ? AND m.last_seen_at >= ?
		AND r.shown_at = 0 AND r.read_at = 0 AND r.acked_at = 0 AND r.withdrawn = 0
		AND NOT EXISTS (SELECT 1 FROM cursors c
			WHERE c.room_id = r.room_id AND c.agent_id = r.agent_id AND c.event_seq >= r.event_seq)
		ORDER BY r.event_seq`,
		[]any{room, to, stick.Joined, tx.Now().Add(-unseenFor)}, func(scan rowScan) error {
			var seq int64
			err := scan(&seq)
			unseen[seq] = true
			return err
		})

	return unseen, err
}

// proveCut replays what stays of a log, and fails if it doesn't come to what the whole log does.
func (tx *Tx) proveCut(cut LogCut, later *stick.Record) error {
	// The event of the checkpoint will come after all others.
	p := cut.checkpoint
	p.Seq = cut.last + 1
	record, err := stick.RecordFrom(p)
	if err != nil {
		return err
	}

	kept := map[int64]bool{}
	for _, k := range cut.kept {
		kept[k.Seq] = true
	}
	err = tx.eachEvent(cut.Room, func(e stick.Event) error {
		isRemoved := e.Seq <= p.PrunedTo && !kept[e.Seq]
		if isRemoved {
			return nil
		}
		return record.Replay(e)
	})
	if err != nil {
		return err
	}

	later.Forget(p.PrunedTo, cut.kept)
	if !record.Equals(later) {
		return fmt.Errorf("room %s: without its old events, its log would say something else", cut.Room)
	}
	return nil
}

// cutLog does what was planned. It fails with errLogMoved if the log has gone on since.
func (tx *Tx) cutLog(cut LogCut, q CutRequest) error {
	if err := tx.lockRoom(cut.Room); err != nil {
		return err
	}
	last, err := tx.LastSeq(cut.Room)
	if err != nil {
		return err
	}
	if last != cut.last {
		return errLogMoved
	}

	room, err := tx.Room(cut.Room)
	if err != nil {
		return err
	}
	p := cut.checkpoint
	e := room.NewEvent(stick.EventCheckpoint, q.By, "").WithPayload(stick.CheckpointPayload{
		PrunedTo: p.PrunedTo, Removed: cut.Removed, OlderBy: stick.Millis(tx.Now().Sub(q.Before).Milliseconds()),
		StateSum: p.Sum(),
	})
	_, saved, err := tx.Save(room, room, []stick.Event{e})
	if err != nil {
		return err
	}

	p.Seq = saved[len(saved)-1].Seq
	if err := tx.putCheckpoint(cut.Room, p); err != nil {
		return err
	}
	return tx.removeEvents(cut)
}

// removeEvents removes the old events that aren't kept, and what belongs to them.
func (tx *Tx) removeEvents(cut LogCut) error {
	numbers := make([]int64, len(cut.kept))
	for i, k := range cut.kept {
		numbers[i] = k.Seq
	}
	kept, err := json.Marshal(slices.Clip(numbers))
	if err != nil {
		return err
	}

	for _, table := range []string{"receipts", "notes", "events"} {
		query := "DELETE FROM " + table + ` WHERE room_id = ? AND event_seq <= ?
			AND event_seq NOT IN (SELECT value FROM json_each(?))`
		if err := tx.exec(query, cut.Room, cut.checkpoint.PrunedTo, string(kept)); err != nil {
			return fmt.Errorf("remove old rows of %s: %w", table, err)
		}
	}

	return nil
}
