package store

import (
	"strings"

	"talkingstick/stick"
)

// putReceipts stores a receipt for each addressee of an event.
func (tx *Tx) putReceipts(e stick.Event) error {
	for _, c := range e.Receipts() {
		args, err := receiptTable().insertArgs(&c, e.Room, c.Open())
		if err == nil {
			err = tx.exec(receiptTable().insert, args...)
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// Receipt returns an agent's receipt for an event; ok is false when the event isn't addressed to it.
func (tx *Tx) Receipt(room stick.RoomID, a stick.AgentID, event int64) (c stick.Receipt, ok bool, err error) {
	query := "SELECT " + receiptTable().names + " FROM receipts WHERE room_id = ? AND agent_id = ? AND event_seq = ?"
	ok, err = receiptTable().readOne(tx, query, []any{room, a, event}, &c)
	return c, ok, err
}

// Receipts returns the receipts of all addressees of an event, ordered by name.
func (tx *Tx) Receipts(event int64) ([]stick.Receipt, error) {
	return tx.scanReceipts("WHERE r.event_seq = ? ORDER BY r.agent_id", event)
}

// OpenReceipts lists the messages that an agent must still acknowledge in a room, in the order of the log.
func (tx *Tx) OpenReceipts(room stick.RoomID, a stick.AgentID) ([]stick.Receipt, error) {
	return tx.scanReceipts(`WHERE r.room_id = ? AND r.agent_id = ? AND r.is_open = 1 AND r.owes = ?
		ORDER BY r.event_seq`,
		room, a, stick.OwesAck)
}

func (tx *Tx) scanReceipts(where string, args ...any) ([]stick.Receipt, error) {
	var out []stick.Receipt
	err := tx.scan("SELECT "+receiptTable().namesOf("r")+" FROM receipts r "+where, args, func(scan rowScan) error {
		var c stick.Receipt
		err := receiptTable().read(scan, &c)
		out = append(out, c)
		return err
	})

	return out, err
}

// PutReceipt stores a recipient's receipt for a message.
func (tx *Tx) PutReceipt(room stick.RoomID, c stick.Receipt) error {
	return tx.execIn(room, `UPDATE receipts SET read_at = ?, acked_at = ?, withdrawn = ?, is_open = ?
		WHERE room_id = ? AND agent_id = ? AND event_seq = ?`,
		c.ReadAt, c.AckedAt, c.Withdrawn, c.Open(), room, c.Agent, c.Event)
}

// MarkShown records when an event was first put into the context of an addressee.
func (tx *Tx) MarkShown(room stick.RoomID, a stick.AgentID, event int64) error {
	return tx.execIn(room, `UPDATE receipts SET shown_at = ?
		WHERE room_id = ? AND agent_id = ? AND event_seq = ? AND shown_at = 0`,
		tx.Now(), room, a, event)
}

// CountOpen counts what an agent's inbox holds: messages it hasn't read, and messages it must acknowledge.
func (tx *Tx) CountOpen(room stick.RoomID, a stick.AgentID) (unread, unacked int, err error) {
	_, err = tx.queryOne(`SELECT COALESCE(SUM(CASE WHEN read_at = 0 THEN 1 ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN owes = ? THEN 1 ELSE 0 END), 0)
		FROM receipts WHERE room_id = ? AND agent_id = ? AND is_open = 1`,
		[]any{stick.OwesAck, room, a}, &unread, &unacked)
	return unread, unacked, err
}

// CountOwed counts the messages that the members of a room must still acknowledge.
func (tx *Tx) CountOwed(room stick.RoomID) (map[stick.AgentID]int, error) {
	out := map[stick.AgentID]int{}
	err := tx.scan(`SELECT agent_id, COUNT(*) FROM receipts WHERE room_id = ? AND is_open = 1 AND owes = ?
		GROUP BY agent_id ORDER BY agent_id`,
		[]any{room, stick.OwesAck}, func(scan rowScan) error {
			var a stick.AgentID
			var n int
			err := scan(&a, &n)
			out[a] = n
			return err
		})

	return out, err
}

// InboxQuery selects entries of inboxes: messages and other events that must be read.
type InboxQuery struct {
	Room   stick.RoomID
	Agent  stick.AgentID // whose inbox; empty for all
	States []stick.ReceiptState
	Open   bool          // only those that must still be read or acknowledged
	Owed   bool          // only those that must still be acknowledged
	From   stick.AgentID // only those of this sender
	Task   string
	Thread string
	After  int64 // the oldest after this number, instead of the newest
	Limit  int
}

// InboxEntry is an event with the receipt of one addressee.
type InboxEntry struct {
	stick.Event
	stick.Receipt
}

// readInboxEntry reads the columns of an event, and those of a receipt after them.
func readInboxEntry(scan rowScan, i *InboxEntry) error {
	return receiptTable().read(func(receipt ...any) error {
		return eventTable().read(scan, &i.Event, receipt...)
	}, &i.Receipt)
}

// Inbox returns the newest entries up to the limit, or with After the oldest after it. It lists the oldest
// first and reports whether there are more.
func (tx *Tx) Inbox(q InboxQuery) (entries []InboxEntry, more bool, err error) {
	where, args := []string{"r.room_id = ?", "r.event_seq > ?", "r.owes <> 0"}, []any{q.Room, q.After}
	filter := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}

	if q.Agent != "" {
		filter("r.agent_id = ?", q.Agent)
	}
	if q.Open {
		filter("r.is_open = 1")
	}
	if q.Owed {
		filter("r.is_open = 1 AND r.owes = ?", stick.OwesAck)
	}

	// An entry is in one of these states.
	var states []string
	for _, s := range q.States {
		switch s {
		case stick.Unread:
			states = append(states, "(r.read_at = 0 AND r.acked_at = 0 AND r.withdrawn = 0)")
		case stick.Read:
			states = append(states, "(r.read_at <> 0 AND r.acked_at = 0 AND r.withdrawn = 0)")
		case stick.Acked:
			states = append(states, "r.acked_at <> 0")
		case stick.Withdrawn:
			states = append(states, "r.withdrawn = 1")
		}
	}

	if len(states) > 0 {
		filter("(" + strings.Join(states, " OR ") + ")")
	}
	if q.From != "" {
		filter("e.from_agent_id = ?", q.From)
	}
	if q.Task != "" {
		filter("e.task_id = ?", q.Task)
	}
	if q.Thread != "" {
		filter("r.thread = ?", q.Thread)
	}

	// The newest are read backwards, and turned round in the end.
	order := "DESC"
	if q.After > 0 {
		order = "ASC"
	}

	from, seq := "receipts r JOIN events e ON e.event_seq = r.event_seq", "r.event_seq"

	// The index of senders is shorter than that of all receipts in the room.
	if q.Agent == "" && q.From != "" && !q.Open {
		from, seq = "events e CROSS JOIN receipts r", "e.event_seq"
		where[0], where[1] = "e.room_id = ? AND r.event_seq = e.event_seq", "e.event_seq > ?"
	}

	text := "SELECT " + eventTable().namesOf("e") + ", " + receiptTable().namesOf("r") + " FROM " + from + " WHERE " +
		strings.Join(where, " AND ") + " ORDER BY " + seq + " " + order + ", r.agent_id " + order + " LIMIT ?"
	err = tx.scan(text, append(args, q.Limit+1), func(scan rowScan) error {
		var i InboxEntry
		err := readInboxEntry(scan, &i)
		entries = append(entries, i)
		return err
	})
	if err != nil {
		return nil, false, err
	}

	return boundRows(entries, q.Limit, q.After == 0)
}
