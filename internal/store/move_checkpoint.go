package store

import (
	"encoding/json"
	"strings"

	"talkingstick/stick"
)

// movedCheckpoint is the checkpoint of a room that moves to a server.
type movedCheckpoint struct {
	was, is string // the sums of its state
	to      int64
	record  *stick.Record
}

// copyCheckpoints copies what removed events came to, with what copyEvents changes in those that are there.
func (c *copying) copyCheckpoints(string) error {
	c.checkpoints = map[stick.RoomID]movedCheckpoint{}
	query := "SELECT " + checkpointTable().names + ", room_id FROM checkpoints ORDER BY room_id"
	return c.src.scan(query, nil, func(scan rowScan) error {
		var p stick.Checkpoint
		var room stick.RoomID
		if err := checkpointTable().read(func(into ...any) error { return scan(append(into, &room)...) }, &p); err != nil {
			return err
		}

		nowhere, err := json.Marshal(stick.Checkout{})
		if err != nil {
			return err
		}
		in, err := json.Marshal(c.checkoutOf(room))
		if err != nil {
			return err
		}

		m := movedCheckpoint{was: p.Sum(), to: p.PrunedTo}
		text := c.renamePersons(string(p.State))
		p.State = json.RawMessage(strings.ReplaceAll(text, `"In":`+string(nowhere), `"In":`+string(in)))
		m.is = p.Sum()
		if m.record, err = stick.RecordFrom(p); err != nil {
			return err
		}

		c.checkpoints[room] = m
		return c.dst.putCheckpoint(room, p)
	})
}

// sumBefore returns the sum that an event of a room follows from in the copy, where last is that of the one before it.
func (c *copying) sumBefore(e stick.Event, last string) string {
	m, ok := c.checkpoints[e.Room]
	switch {
	case ok && e.Seq <= m.to:
		return m.record.SumBefore(e.Seq)
	case ok && last == "":
		return m.record.Sum
	}
	return last
}
