package store

import (
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// sessionTable has the sessions of agents. What hooks report about one is stored by statements of its own.
var sessionTable = onceTable(func() table[Session] {
	type session = Session
	return table[Session]{
		name: "sessions", keys: []string{"session_key"},
		also: []string{"started_at", "ended_at", "hooks_at", "busy_since"},
		columns: []column[session]{
			{"session_key", func(r *session) any { return &r.Key }, fixed},
			{"agent_id", func(r *session) any { return &r.Agent }, fixed},
			{"harness", func(r *session) any { return &r.Harness }, fixed},
			{"session_id", func(r *session) any { return &r.ID }, fixed},
		},
	}
})

// processTable has the processes that carry agents. Whether one is gone follows from a time beside it.
var processTable = onceTable(func() table[stick.Evidence] {
	type process = stick.Evidence
	return table[stick.Evidence]{
		name: "processes", keys: []string{"agent_id", "process_key"},
		also: []string{"session_key", "seen_at", "gone_at"},
		columns: []column[process]{
			{"machine", func(r *process) any { return &r.Process.Machine }, fixed},
			{"boot", func(r *process) any { return &r.Process.Boot }, fixed},
			{"pid_ns", func(r *process) any { return &r.Process.PIDNS }, fixed},
			{"pid", func(r *process) any { return &r.Process.PID }, fixed},
			{"start_time", func(r *process) any { return &r.Process.Start }, fixed},
			{"proof", func(r *process) any { return &r.Proof }, changing},
		},
	}
})

// acceptanceTable has the commands that persons have accepted. Its key names the clone, too.
var acceptanceTable = onceTable(func() table[tasks.Acceptance] {
	type acceptance = tasks.Acceptance
	return table[tasks.Acceptance]{
		name: "accepted_commands", keys: []string{"room_id", "key"},
		columns: []column[acceptance]{
			{"sum", func(r *acceptance) any { return &r.Sum }, changing},
			{"agent_id", func(r *acceptance) any { return &r.By }, changing},
			{"accepted_at", func(r *acceptance) any { return &r.At }, changing},
		},
	}
})
