package store

import (
	"talkingstick/stick/edits"
	"talkingstick/stick/tasks"
)

// intentTable has what is being done outside of the database. Its end is recorded by a statement of its own.
var intentTable = onceTable(func() table[Intent] {
	type intent = Intent
	return table[Intent]{
		name: "intents", keys: []string{"intent_id"},
		columns: []column[intent]{
			{"intent_id", func(r *intent) any { return &r.ID }, fixed},
			{"room_id", func(r *intent) any { return &r.Room }, fixed},
			{"task_key", func(r *intent) any { return &r.Task }, fixed},
			{"attempt", func(r *intent) any { return &r.Attempt }, fixed},
			{"kind", func(r *intent) any { return &r.Kind }, fixed},
			{"agent_id", func(r *intent) any { return &r.Agent }, fixed},
			{"data", func(r *intent) any { return rawOf(&r.Data) }, changing},
			{"pid", func(r *intent) any { return &r.PID }, changing},
			{"started_at", func(r *intent) any { return &r.StartedAt }, fixed},
			{"ended_at", func(r *intent) any { return &r.EndedAt }, fixed},
			{"outcome", func(r *intent) any { return &r.Outcome }, fixed},
			{"host_id", func(r *intent) any { return &r.In.Host }, fixed},
			{"checkout", func(r *intent) any { return &r.In.Path }, fixed},
			{"renewed_at", func(r *intent) any { return &r.RenewedAt }, changing},
		},
	}
})

// runTable has the last run of each attempt. Those before it are in past_runs, which has the same columns.
var runTable = onceTable(func() table[tasks.Run] {
	type run = tasks.Run
	return table[tasks.Run]{
		name: "task_runs", keys: []string{"room_id", "task_key", "attempt"},
		columns: []column[run]{
			{"task_key", func(r *run) any { return &r.Task }, fixed},
			{"attempt", func(r *run) any { return &r.Attempt }, fixed},
			{"run", func(r *run) any { return &r.Number }, changing},
			{"command", func(r *run) any { return &r.Command }, changing},
			{"machine", func(r *run) any { return &r.Process.Machine }, changing},
			{"boot", func(r *run) any { return &r.Process.Boot }, changing},
			{"pid_ns", func(r *run) any { return &r.Process.PIDNS }, changing},
			{"pid", func(r *run) any { return &r.Process.PID }, changing},
			{"start_time", func(r *run) any { return &r.Process.Start }, changing},
			{"started_at", func(r *run) any { return &r.StartedAt }, changing},
			{"ended_at", func(r *run) any { return &r.EndedAt }, changing},
			{"exit", func(r *run) any { return &r.Exit }, changing},
			{"output", func(r *run) any { return &r.Output }, changing},
			{"started_by", func(r *run) any { return &r.By }, changing},
			{"exit_signal", func(r *run) any { return &r.Signal }, changing},
			{"stop_at", func(r *run) any { return &r.StopAt }, changing},
			{"stopped_by", func(r *run) any { return &r.StoppedBy }, changing},
			{"restarts", func(r *run) any { return &r.Restarts }, changing},
			{"task_at", func(r *run) any { return &r.TaskAt }, changing},
			{"queued", func(r *run) any { return &r.Queued }, changing},
			{"retries", func(r *run) any { return &r.Retries }, changing},
			{"retry_at", func(r *run) any { return &r.RetryAt }, changing},
			{"limited", func(r *run) any { return &r.Limited }, changing},
		},
	}
})

// setupTable has the set-ups of worktrees.
var setupTable = onceTable(func() table[TaskSetup] {
	type setup = TaskSetup
	return table[TaskSetup]{
		name: "task_setups", keys: []string{"room_id", "task_key", "attempt"},
		columns: []column[setup]{
			{"task_key", func(r *setup) any { return &r.Task }, fixed},
			{"attempt", func(r *setup) any { return &r.Attempt }, fixed},
			{"command", func(r *setup) any { return &r.Command }, changing},
			{"started_at", func(r *setup) any { return &r.StartedAt }, changing},
			{"ended_at", func(r *setup) any { return &r.EndedAt }, changing},
			{"exit", func(r *setup) any { return &r.Exit }, changing},
			{"output", func(r *setup) any { return &r.Output }, changing},
		},
	}
})

// callTable has the calls of agents' tools. The checkout is named with its host.
var callTable = onceTable(func() table[edits.Call] {
	type call = edits.Call
	return table[edits.Call]{
		name: "calls", keys: []string{"room_id", "call_id"},
		columns: []column[call]{
			{"room_id", func(r *call) any { return &r.Room }, fixed},
			{"call_id", func(r *call) any { return &r.ID }, fixed},
			{"checkout", func(r *call) any { return &r.Checkout }, fixed},
			{"agent_id", func(r *call) any { return &r.Agent }, fixed},
			{"helper", func(r *call) any { return &r.Helper }, fixed},
			{"tool", func(r *call) any { return &r.Tool }, fixed},
			{"command", func(r *call) any { return &r.Command }, fixed},
			{"call_key", func(r *call) any { return &r.Key }, fixed},
			{"before_id", func(r *call) any { return &r.Before }, changing},
			{"after_id", func(r *call) any { return &r.After }, changing},
			{"files", func(r *call) any { return &r.Files }, changing},
			{"overlapped", func(r *call) any { return &r.Overlapped }, changing},
			{"started_at", func(r *call) any { return &r.Started }, fixed},
			{"ended_at", func(r *call) any { return &r.Ended }, changing},
			{"noted", func(r *call) any { return &r.Noted }, changing},
			{"late", func(r *call) any { return &r.Late }, changing},
		},
	}
})

// editTable has who has edited files.
var editTable = onceTable(func() table[edits.EditedFile] {
	type edited = edits.EditedFile
	return table[edits.EditedFile]{
		name: "edits", keys: []string{"room_id", "checkout", "path"},
		columns: []column[edited]{
			{"path", func(r *edited) any { return &r.Path }, fixed},
			{"editors", func(r *edited) any { return jsonOf(&r.Editors) }, changing},
			{"sum", func(r *edited) any { return &r.State.Sum }, changing},
			{"size", func(r *edited) any { return &r.State.Size }, changing},
			{"mod_time", func(r *edited) any { return &r.State.ModTime }, changing},
			{"inode", func(r *edited) any { return wideOf(&r.State.Inode) }, changing},
			{"mode", func(r *edited) any { return &r.State.Mode }, changing},
			{"asleep_at", func(r *edited) any { return &r.Asleep }, changing},
		},
	}
})

// readTable has what agents have seen of files.
var readTable = onceTable(func() table[edits.NotedRead] {
	type noted = edits.NotedRead
	return table[edits.NotedRead]{
		name: "reads", keys: []string{"room_id", "agent_id", "helper", "checkout", "path"},
		columns: []column[noted]{
			{"agent_id", func(r *noted) any { return &r.Agent }, fixed},
			{"helper", func(r *noted) any { return &r.Helper }, fixed},
			{"path", func(r *noted) any { return &r.Path }, fixed},
			{"sum", func(r *noted) any { return &r.State.Sum }, changing},
			{"size", func(r *noted) any { return &r.State.Size }, changing},
			{"mod_time", func(r *noted) any { return &r.State.ModTime }, changing},
			{"inode", func(r *noted) any { return wideOf(&r.State.Inode) }, changing},
			{"mode", func(r *noted) any { return &r.State.Mode }, changing},
			{"wrote", func(r *noted) any { return &r.Wrote }, changing},
			{"refused", func(r *noted) any { return &r.Refused }, changing},
			{"read_at", func(r *noted) any { return &r.At }, changing},
		},
	}
})
