package store

import "talkingstick/stick"

// taskTable has the tasks of rooms. What a task waits for is noted beside it.
var taskTable = onceTable(func() table[stick.Task] {
	type task = stick.Task
	return table[stick.Task]{
		name: "tasks", keys: []string{"room_id", "task_key"}, also: []string{"waits_for"},
		columns: []column[task]{
			{"task_id", func(r *task) any { return &r.ID }, changing},
			{"state", func(r *task) any { return &r.State }, changing},
			{"attempt", func(r *task) any { return &r.Attempt }, changing},
			{"description", func(r *task) any { return &r.Description }, changing},
			{"spec", func(r *task) any { return &r.Spec }, changing},
			{"branch", func(r *task) any { return &r.Branch }, changing},
			{"worktree", func(r *task) any { return &r.Worktree }, changing},
			{"integration", func(r *task) any { return &r.Integration }, changing},
			{"base", func(r *task) any { return &r.Base }, changing},
			{"head", func(r *task) any { return &r.Head }, changing},
			{"patch", func(r *task) any { return &r.Patch }, changing},
			{"changes_gate", func(r *task) any { return &r.ChangesGate }, changing},
			{"worker", func(r *task) any { return &r.Worker }, changing},
			{"earlier", func(r *task) any { return jsonOrEmpty(&r.Earlier) }, changing},
			{"spawned_by", func(r *task) any { return &r.SpawnedBy }, changing},
			{"approved", func(r *task) any { return &r.Approved }, changing},
			{"approved_by", func(r *task) any { return &r.ApprovedBy }, changing},
			{"approved_seq", func(r *task) any { return &r.ApprovedSeq }, changing},
			{"result", func(r *task) any { return &r.Result }, changing},
			{"cause", func(r *task) any { return &r.Cause }, changing},
			{"reason", func(r *task) any { return &r.Reason }, changing},
			{"created_at", func(r *task) any { return &r.CreatedAt }, changing},
			{"state_at", func(r *task) any { return &r.StateAt }, changing},
			{"last_seq", func(r *task) any { return &r.Seq }, changing},
			{"heartbeat_at", func(r *task) any { return &r.HeartbeatAt }, unlogged},
			{"host_id", func(r *task) any { return &r.In.Host }, changing},
			{"checkout", func(r *task) any { return &r.In.Path }, changing},
			{"pr_number", func(r *task) any { return &r.PR.Number }, changing},
			{"pr_url", func(r *task) any { return &r.PR.URL }, changing},
			{"pr_state", func(r *task) any { return &r.PR.State }, changing},
			{"pr_head", func(r *task) any { return &r.PR.Head }, changing},
			{"pr_commit", func(r *task) any { return &r.PR.Commit }, changing},
			{"later", func(r *task) any { return &r.Later }, changing},
			{"after_tasks", func(r *task) any { return jsonOrEmpty(&r.After) }, changing},
			{"labels", func(r *task) any { return jsonOrEmpty(&r.Labels) }, changing},
			{"priority", func(r *task) any { return &r.Priority }, changing},
			{"slot", func(r *task) any { return &r.Slot }, changing},
		},
	}
})

// attemptTable has the attempts at tasks.
var attemptTable = onceTable(func() table[stick.TaskAttempt] {
	type attempt = stick.TaskAttempt
	return table[stick.TaskAttempt]{
		name: "task_attempts", keys: []string{"room_id", "task_key", "attempt"},
		columns: []column[attempt]{
			{"attempt", func(r *attempt) any { return &r.Number }, fixed},
			{"worker", func(r *attempt) any { return &r.Worker }, changing},
			{"assigned_at", func(r *attempt) any { return &r.AssignedAt }, fixed},
			{"started_at", func(r *attempt) any { return &r.StartedAt }, changing},
			{"ended_at", func(r *attempt) any { return &r.EndedAt }, changing},
			{"outcome", func(r *attempt) any { return &r.Outcome }, changing},
		},
	}
})

// reviewTable has the decisions on tasks.
var reviewTable = onceTable(func() table[stick.TaskReview] {
	type review = stick.TaskReview
	return table[stick.TaskReview]{
		name: "reviews", keys: []string{"room_id", "task_key", "event_seq"},
		columns: []column[review]{
			{"event_seq", func(r *review) any { return &r.Seq }, fixed},
			{"attempt", func(r *review) any { return &r.Attempt }, fixed},
			{"reviewer", func(r *review) any { return &r.Reviewer }, fixed},
			{"verdict", func(r *review) any { return &r.Decision }, fixed},
			{"head", func(r *review) any { return &r.Head }, fixed},
			{"body", func(r *review) any { return &r.Body }, fixed},
			{"report", func(r *review) any { return &r.Report }, fixed},
			{"at", func(r *review) any { return &r.At }, fixed},
		},
	}
})

// commentTable has the comments on tasks, drafts among them.
var commentTable = onceTable(func() table[stick.Comment] {
	type comment = stick.Comment
	return table[stick.Comment]{
		name: "comments", keys: []string{"room_id", "task_key", "comment_id"},
		columns: []column[comment]{
			{"comment_id", func(r *comment) any { return &r.ID }, fixed},
			{"author", func(r *comment) any { return &r.Author }, fixed},
			{"base", func(r *comment) any { return &r.Base }, fixed},
			{"head", func(r *comment) any { return &r.Head }, fixed},
			{"path", func(r *comment) any { return &r.Path }, fixed},
			{"is_old", func(r *comment) any { return &r.Old }, fixed},
			{"first_line", func(r *comment) any { return &r.Lines[0] }, fixed},
			{"last_line", func(r *comment) any { return &r.Lines[1] }, fixed},
			{"around", func(r *comment) any { return jsonOf(&r.Around) }, fixed},
			{"body", func(r *comment) any { return &r.Body }, fixed},
			{"created_at", func(r *comment) any { return &r.CreatedAt }, fixed},
			{"event_seq", func(r *comment) any { return &r.Sent }, changing},
			{"resolved_at", func(r *comment) any { return &r.ResolvedAt }, changing},
			{"resolved_by", func(r *comment) any { return &r.ResolvedBy }, changing},
		},
	}
})
