package store

import "talkingstick/stick"

// eventTable has the log.
var eventTable = onceTable(func() table[stick.Event] {
	type event = stick.Event
	return table[stick.Event]{
		name: "events", keys: []string{"event_seq"},
		columns: []column[event]{
			{"event_seq", func(r *event) any { return &r.Seq }, fixed},
			{"event_id", func(r *event) any { return &r.ID }, fixed},
			{"room_id", func(r *event) any { return &r.Room }, fixed},
			{"turn_id", func(r *event) any { return &r.Turn }, fixed},
			{"event_type", func(r *event) any { return &r.Type }, fixed},
			{"from_agent_id", func(r *event) any { return &r.From }, fixed},
			{"to_agent_id", func(r *event) any { return &r.To }, fixed},
			{"session_id", func(r *event) any { return &r.Session }, fixed},
			{"task_id", func(r *event) any { return &r.Task }, fixed},
			{"handoff", func(r *event) any { return jsonOrEmpty(&r.Handoff) }, fixed},
			{"reason", func(r *event) any { return &r.Reason }, fixed},
			{"payload", func(r *event) any { return rawOf(&r.Payload) }, fixed},
			{"created_at", func(r *event) any { return &r.CreatedAt }, fixed},
			{"sum", func(r *event) any { return &r.Sum }, fixed},
		},
	}
})

// receiptTable has the receipts of addressees. Whether one is open is noted beside it.
var receiptTable = onceTable(func() table[stick.Receipt] {
	type receipt = stick.Receipt
	return table[stick.Receipt]{
		name: "receipts", keys: []string{"room_id", "agent_id", "event_seq"}, also: []string{"is_open"},
		columns: []column[receipt]{
			{"agent_id", func(r *receipt) any { return &r.Agent }, fixed},
			{"event_seq", func(r *receipt) any { return &r.Event }, fixed},
			{"owes", func(r *receipt) any { return &r.Owes }, fixed},
			{"thread", func(r *receipt) any { return &r.Thread }, fixed},
			{"read_at", func(r *receipt) any { return &r.ReadAt }, changing},
			{"acked_at", func(r *receipt) any { return &r.AckedAt }, changing},
			{"withdrawn", func(r *receipt) any { return &r.Withdrawn }, changing},
			{"shown_at", func(r *receipt) any { return &r.ShownAt }, unlogged},
		},
	}
})

// noteTable has notes.
var noteTable = onceTable(func() table[stick.Note] {
	type note = stick.Note
	return table[stick.Note]{
		name: "notes", keys: []string{"event_seq"}, also: []string{"room_id"},
		columns: []column[note]{
			{"event_seq", func(r *note) any { return &r.ID }, fixed},
			{"author", func(r *note) any { return &r.Author }, fixed},
			{"turn_id", func(r *note) any { return &r.Turn }, fixed},
			{"body", func(r *note) any { return &r.Body }, fixed},
			{"created_at", func(r *note) any { return &r.CreatedAt }, fixed},
			{"resolved_at", func(r *note) any { return &r.ResolvedAt }, changing},
			{"resolved_by", func(r *note) any { return &r.ResolvedBy }, changing},
		},
	}
})

// reservationTable has reservations, each with the prefix by which it is found.
var reservationTable = onceTable(func() table[stick.Reservation] {
	type reservation = stick.Reservation
	return table[stick.Reservation]{
		name: "reservations", keys: []string{"event_seq"}, also: []string{"room_id", "prefix"},
		columns: []column[reservation]{
			{"event_seq", func(r *reservation) any { return &r.ID }, fixed},
			{"agent_id", func(r *reservation) any { return &r.Agent }, fixed},
			{"pattern", func(r *reservation) any { return &r.Pattern }, fixed},
			{"task_id", func(r *reservation) any { return &r.Task }, fixed},
			{"ttl_ms", func(r *reservation) any { return &r.TTL }, fixed},
			{"made_at", func(r *reservation) any { return &r.MadeAt }, fixed},
		},
	}
})

// draftTable has the drafts of turns.
var draftTable = onceTable(func() table[stick.Draft] {
	type draft = stick.Draft
	return table[stick.Draft]{
		name: "drafts", keys: []string{"room_id", "turn_id"},
		columns: []column[draft]{
			{"turn_id", func(r *draft) any { return &r.Turn }, fixed},
			{"agent_id", func(r *draft) any { return &r.Agent }, changing},
			{"saved_at", func(r *draft) any { return &r.SavedAt }, changing},
			{"body", func(r *draft) any { return &r.Text }, changing},
			{"handoff", func(r *draft) any { return jsonOrEmpty(&r.Handoff) }, changing},
		},
	}
})

// checkpointTable has what the removed events of rooms came to.
var checkpointTable = onceTable(func() table[stick.Checkpoint] {
	type checkpoint = stick.Checkpoint
	return table[stick.Checkpoint]{
		name: "checkpoints", keys: []string{"room_id"},
		columns: []column[checkpoint]{
			{"event_seq", func(r *checkpoint) any { return &r.Seq }, changing},
			{"pruned_to", func(r *checkpoint) any { return &r.PrunedTo }, changing},
			{"turn_id", func(r *checkpoint) any { return &r.Turn }, changing},
			{"state", func(r *checkpoint) any { return rawOf(&r.State) }, changing},
		},
	}
})
