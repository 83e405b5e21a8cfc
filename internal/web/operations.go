package web

import (
	"context"
	"reflect"
	"sync"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/params"
	"talkingstick/internal/task"
)

// operation is a row of the table of operations.
type operation struct {
	params.Operation
	long bool // it may take as long as a gate: a page doesn't wait for it
	run  func(ctx context.Context, s *Server, arguments any) (any, error)
}

// engineOp makes a row of an operation on rooms.
func engineOp[P, R any](
	name string, call func(*engine.Engine, context.Context, P) (R, error), required ...string,
) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) {
		return call(s.o.Engine, ctx, p)
	}, required)
}

// guardOp makes a row of an operation on edits.
func guardOp[P, R any](
	name string, call func(*guard.Guard, context.Context, P) (R, error), required ...string,
) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) {
		return call(s.o.Engine.Guard, ctx, p)
	}, required)
}

// logOp makes a row of an operation that reads the log.
func logOp[P, R any](
	name string, call func(*eventlog.Log, context.Context, P) (R, error), required ...string,
) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) {
		return call(s.o.Engine.Log, ctx, p)
	}, required)
}

// restoreOp makes a row of an operation on rescues and calls.
func restoreOp[P, R any](
	name string, call func(*restore.Restorer, context.Context, P) (R, error), required ...string,
) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) {
		return call(s.o.Engine.Guard.Restorer, ctx, p)
	}, required)
}

// rosterOp makes a row of an operation on sessions.
func rosterOp[P, R any](
	name string, call func(*roster.Roster, context.Context, P) (R, error), required ...string,
) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) {
		return call(s.o.Engine.Roster, ctx, p)
	}, required)
}

// scopeOp makes a row of an operation on reservations or conflicts.
func scopeOp[P, R any](
	name string, call func(*scopes.Scopes, context.Context, P) (R, error), required ...string,
) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) {
		return call(s.o.Engine.Scopes, ctx, p)
	}, required)
}

// taskOp makes a row of an operation on tasks.
func taskOp[P, R any](
	name string, call func(*task.Tasks, context.Context, P) (R, error), required ...string,
) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) {
		return call(s.o.Tasks, ctx, p)
	}, required)
}

func newRow[P, R any](name string, call func(context.Context, *Server, P) (R, error), required []string) operation {
	return operation{
		Operation: params.Operation{Name: name, Type: reflect.TypeFor[P](), Required: required},
		run: func(ctx context.Context, s *Server, arguments any) (any, error) {
			p := arguments.(*P)
			// Rescues are everybody's: their operations have no caller.
			if by := reflect.ValueOf(p).Elem().FieldByName("Caller"); by.IsValid() {
				by.Set(reflect.ValueOf(s.o.Caller))
			}

			return call(ctx, s, *p)
		},
	}
}

// markLong marks an operation that may take as long as a gate.
func markLong(o operation) operation {
	o.long = true
	return o
}

// turnWait is how long a person's wait for the turn may hold a request.
const turnWait = 20 * time.Second

// operationsByName are the operations that are on HTTP, by their names. Every request that acts, and every
// form of a page, is one of them.
var operationsByName = sync.OnceValue(func() map[string]operation {
	m := map[string]operation{}
	for _, o := range []operation{
		engineOp("list_rooms", (*engine.Engine).ListRooms),
		engineOp("join_path", (*engine.Engine).JoinPath, "context_path"),
		newRow("wait_for_turn", waitForTurn, []string{"room_id"}),
		engineOp("release_stick", (*engine.Engine).ReleaseStick, "room_id", "handoff"),
		engineOp("pass_stick", (*engine.Engine).PassStick, "room_id", "to_agent_id", "handoff"),
		engineOp("takeover_stick", (*engine.Engine).TakeoverStick, "room_id", "reason"),
		engineOp("get_room_state", (*engine.Engine).GetRoomState, "room_id"),
		logOp("get_timeline", (*eventlog.Log).GetTimeline, "room_id"),
		logOp("get_room_events", (*eventlog.Log).GetRoomEvents, "room_id"),
		engineOp("send_message", (*engine.Engine).SendMessage, "room_id", "to"),
		engineOp("get_inbox", (*engine.Engine).GetInbox, "room_id"),
		engineOp("get_message", (*engine.Engine).GetMessage, "room_id", "message_id"),
		engineOp("read_message", (*engine.Engine).ReadMessage, "room_id"),
		engineOp("ack_message", (*engine.Engine).AckMessage, "room_id", "message_ids"),
		engineOp("withdraw_message", (*engine.Engine).WithdrawMessage, "room_id", "message_id"),
		engineOp("add_note", (*engine.Engine).AddNote, "room_id", "body"),
		engineOp("list_notes", (*engine.Engine).ListNotes, "room_id"),
		engineOp("resolve_note", (*engine.Engine).ResolveNote, "room_id", "note_id"),
		scopeOp("list_reservations", (*scopes.Scopes).ListReservations, "room_id"),
		scopeOp("reserve_paths", (*scopes.Scopes).ReservePaths, "room_id", "paths"),
		scopeOp("release_paths", (*scopes.Scopes).ReleasePaths, "room_id"),
		guardOp("may_edit", (*guard.Guard).MayEdit, "room_id", "paths"),
		scopeOp("get_conflicts", (*scopes.Scopes).GetConflicts, "room_id"),
		rosterOp("get_roster", (*roster.Roster).GetRoster, "room_id"),
		rosterOp("list_sessions", (*roster.Roster).ListSessions, "room_id"),
		engineOp("leave_room", (*engine.Engine).LeaveRoom, "room_id"),
		engineOp("kick_member", (*engine.Engine).KickMember, "room_id", "agent_id"),
		engineOp("close_room", (*engine.Engine).CloseRoom, "room_id"),
		engineOp("pause_room", (*engine.Engine).PauseRoom, "room_id", "reason"),
		engineOp("resume_room", (*engine.Engine).ResumeRoom, "room_id"),
		engineOp("set_room_policy", (*engine.Engine).SetRoomPolicy, "room_id"),
		engineOp("reorder_members", (*engine.Engine).ReorderMembers, "room_id", "order"),
		restoreOp("list_calls", (*restore.Restorer).ListCalls, "room_id"),
		restoreOp("undo_call", (*restore.Restorer).UndoCall, "room_id", "call_id"),
		restoreOp("list_rescues", (*restore.Restorer).ListRescues),
		restoreOp("show_rescue", (*restore.Restorer).ShowRescue, "rescue_id"),
		restoreOp("diff_rescue", (*restore.Restorer).DiffRescue, "rescue_id"),
		restoreOp("restore_rescue", (*restore.Restorer).RestoreRescue, "rescue_id"),

		taskOp("worker_status", (*task.Tasks).WorkerStatus, "room_id"),
		taskOp("worker_show", (*task.Tasks).WorkerShow, "room_id", "task_id"),
		taskOp("worker_diff", (*task.Tasks).WorkerDiff, "room_id", "task_id"),
		taskOp("worker_logs", (*task.Tasks).WorkerLogs, "room_id", "task_id"),
		taskOp("worker_output", (*task.Tasks).WorkerOutput, "sum"),
		taskOp("worker_context", (*task.Tasks).WorkerContext, "room_id", "task_id"),
		taskOp("worker_comment", (*task.Tasks).WorkerComment, "room_id", "task_id"),
		taskOp("worker_approve", (*task.Tasks).WorkerApprove, "room_id", "task_id"),
		taskOp("worker_request_changes", (*task.Tasks).WorkerRequestChanges, "room_id", "task_id"),
		markLong(taskOp("worker_merge", (*task.Tasks).WorkerMerge, "room_id")),
		taskOp("worker_run", (*task.Tasks).WorkerRun, "room_id", "task_id"),
		markLong(taskOp("worker_stop", (*task.Tasks).WorkerStop, "room_id", "task_id")),
		markLong(taskOp("worker_pr", (*task.Tasks).WorkerPR, "room_id", "task_id")),
		taskOp("worker_cancel", (*task.Tasks).WorkerCancel, "room_id", "task_id"),
		markLong(taskOp("worker_retry", (*task.Tasks).WorkerRetry, "room_id", "task_id")),
		markLong(taskOp("worker_rollback", (*task.Tasks).WorkerRollback, "room_id", "task_id")),
		taskOp("worker_edit", (*task.Tasks).WorkerEdit, "room_id", "task_id"),
		taskOp("worker_after", (*task.Tasks).WorkerAfter, "room_id", "task_id"),
	} {
		m[o.Name] = o
	}

	return m
})

// waitForTurn waits for the turn, but no longer than a request may take.
func waitForTurn(ctx context.Context, s *Server, p engine.WaitForTurnParams) (engine.WaitForTurnResult, error) {
	p.AtMost = turnWait
	return s.o.Engine.WaitForTurn(ctx, p)
}
