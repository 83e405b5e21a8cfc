package store

import "talkingstick/stick"

// roomTable has rooms, without their members and where they lie. The end of the log is stored with the log.
var roomTable = onceTable(func() table[stick.Room] {
	type room = stick.Room
	return table[stick.Room]{
		name: "rooms", keys: []string{"room_id"}, also: []string{"canonical_path", "created_at", "last_event_seq", "last_sum"},
		columns: []column[room]{
			{"updated_at", func(r *room) any { return &r.UpdatedAt }, fixed},
			{"closed", func(r *room) any { return &r.Closed }, changing},
			{"policy", func(r *room) any { return policyOf(&r.Policy) }, changing},
			{"generation", func(r *room) any { return &r.Generation }, changing},
			{"turn_id", func(r *room) any { return &r.Turn.ID }, changing},
			{"state", func(r *room) any { return &r.Turn.State }, changing},
			{"sequence_index", func(r *room) any { return &r.Turn.SequenceIndex }, changing},
			{"owner", func(r *room) any { return &r.Turn.Owner }, changing},
			{"lease_id", func(r *room) any { return &r.Turn.Lease }, changing},
			{"granted_at", func(r *room) any { return &r.Turn.GrantedAt }, changing},
			{"reserved_for", func(r *room) any { return &r.Turn.ReservedFor }, changing},
			{"reserved_by", func(r *room) any { return &r.Turn.ReservedBy }, changing},
			{"reserved_at", func(r *room) any { return &r.Turn.ReservedAt }, changing},
			{"prior_owner", func(r *room) any { return &r.Turn.Prior }, changing},
			{"free_since", func(r *room) any { return &r.Turn.FreeSince }, changing},
			{"handoff_event_seq", func(r *room) any { return &r.Turn.HandoffSeq }, changing},
			{"handoff_pending", func(r *room) any { return &r.Turn.HandoffPending }, changing},
			{"handoff_direct", func(r *room) any { return &r.Turn.HandoffDirect }, changing},
			{"next_action", func(r *room) any { return &r.Turn.NextAction }, changing},
			{"messages", func(r *room) any { return &r.Turn.Messages }, changing},
			{"acked", func(r *room) any { return &r.Turn.Acked }, changing},
			{"renewed_at", func(r *room) any { return &r.Turn.RenewedAt }, changing},
			{"heartbeat_at", func(r *room) any { return &r.Turn.HeartbeatAt }, changing},
			{"guardian_pid", func(r *room) any { return &r.Turn.GuardianPID }, changing},
			{"guardian_of", func(r *room) any { return &r.Turn.GuardianOf }, changing},
			{"idle_notice_at", func(r *room) any { return &r.Turn.IdleNoticeAt }, changing},
			{"idle_since", func(r *room) any { return &r.Turn.IdleSince }, changing},
			{"opened_at", func(r *room) any { return &r.Turn.OpenedAt }, changing},
			{"resumed_at", func(r *room) any { return &r.Turn.ResumedAt }, changing},
			{"round", func(r *room) any { return &r.Turn.Round }, changing},
			{"round_at", func(r *room) any { return &r.Turn.RoundAt }, changing},
			{"offered_at", func(r *room) any { return &r.Turn.OfferedAt }, changing},
			{"session_ended_at", func(r *room) any { return &r.SessionEndedAt }, changing},
			{"paused_by", func(r *room) any { return &r.Paused.By }, changing},
			{"pause_reason", func(r *room) any { return &r.Paused.Reason }, changing},
			{"paused_at", func(r *room) any { return &r.Paused.Since }, changing},
		},
	}
})

// memberTable has the members of rooms, as far as that comes from no session and no process.
var memberTable = onceTable(func() table[stick.Member] {
	type member = stick.Member
	return table[stick.Member]{
		name: "members", keys: []string{"room_id", "agent_id"},
		columns: []column[member]{
			{"agent_id", func(r *member) any { return &r.Agent }, fixed},
			{"name", func(r *member) any { return &r.Name }, changing},
			{"ordinal", func(r *member) any { return &r.Ordinal }, changing},
			{"state", func(r *member) any { return &r.State }, changing},
			{"joined_at", func(r *member) any { return &r.JoinedAt }, changing},
			{"join_seq", func(r *member) any { return &r.JoinSeq }, changing},
			{"held_seq", func(r *member) any { return &r.HeldSeq }, changing},
			{"last_seen_at", func(r *member) any { return &r.LastSeenAt }, changing},
			{"told", func(r *member) any { return &r.LastOfferRound }, changing},
			{"passed_over", func(r *member) any { return &r.PassedOver }, changing},
			{"returned_at", func(r *member) any { return &r.ReturnedAt }, changing},
			{"waited_since", func(r *member) any { return &r.WaitedSince }, changing},
			{"rests_since", func(r *member) any { return &r.RestsSince }, changing},
			{"role", func(r *member) any { return &r.Session.Role }, changing},
			{"context", func(r *member) any { return &r.Session.Context }, changing},
			{"in_session", func(r *member) any { return &r.Session.Running }, changing},
			{"session_at", func(r *member) any { return &r.Session.Since }, changing},
			{"host_id", func(r *member) any { return &r.Checkout.Host }, changing},
			{"checkout", func(r *member) any { return &r.Checkout.Path }, changing},
		},
	}
})

// listenerTable has the waits that are registered.
var listenerTable = onceTable(func() table[stick.Listener] {
	type listener = stick.Listener
	return table[stick.Listener]{
		name: "listeners", keys: []string{"listener_id"}, also: []string{"room_id"},
		columns: []column[listener]{
			{"listener_id", func(r *listener) any { return &r.ID }, fixed},
			{"agent_id", func(r *listener) any { return &r.Agent }, fixed},
			{"intent", func(r *listener) any { return &r.Purpose }, fixed},
			{"deaf", func(r *listener) any { return &r.Deaf }, fixed},
			{"machine", func(r *listener) any { return &r.Process.Machine }, fixed},
			{"boot", func(r *listener) any { return &r.Process.Boot }, fixed},
			{"pid_ns", func(r *listener) any { return &r.Process.PIDNS }, fixed},
			{"pid", func(r *listener) any { return &r.Process.PID }, fixed},
			{"start_time", func(r *listener) any { return &r.Process.Start }, fixed},
			{"started_at", func(r *listener) any { return &r.StartedAt }, fixed},
		},
	}
})
