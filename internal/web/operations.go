package web

import (
	"context"
	"reflect"
	"sync"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/params"
	"talkingstick/internal/task"
)

// operation is a row of the table of operations.
type operation struct {
	params.Operation
	long bool // it may take as long as a gate: a page doesn't wait for it
	run  func(ctx context.Context, s *Server, arguments any) (any, error)
}

// op makes a row of an operation on rooms.
func op[P, R any](name string, call func(*engine.Engine, context.Context, P) (R, error), required ...string) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) { return call(s.o.Engine, ctx, p) }, required)
}

// guardOp makes a row of an operation on edits and rescues.
func guardOp[P, R any](name string, call func(*guard.Guard, context.Context, P) (R, error), required ...string) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) { return call(s.o.Engine.Guard, ctx, p) }, required)
}

// taskOp makes a row of an operation on tasks.
func taskOp[P, R any](name string, call func(*task.Tasks, context.Context, P) (R, error), required ...string) operation {
	return newRow(name, func(ctx context.Context, s *Server, p P) (R, error) { return call(s.o.Tasks, ctx, p) }, required)
}

func newRow[P, R any](name string, call func(context.Context, *Server, P) (R, error), required []string) operation {
	return operation{
		Operation: params.Operation{Name: name, Type: reflect.TypeFor[P](), Required: required},
		run: func(ctx context.Context, s *Server, arguments any) (any, error) {
			p := arguments.(*P)
			if by := reflect.ValueOf(p).Elem().FieldByName("Caller"); by.IsValid() { // rescues are everybody's
				by.Set(reflect.ValueOf(s.o.Caller))
			}
			return call(ctx, s, *p)
		},
	}
}

// long marks an operation that may take as long as a gate.
func long(o operation) operation {
	o.long = true
	return o
}

// attempt is how long a person's wait for the turn may hold a request.
const attempt = 20 * time.Second

// operationsByName are the operations that are on HTTP, by their names. Every request that acts, and every
// form of a page, is one of them.
var operationsByName = sync.OnceValue(func() map[string]operation {
	m := map[string]operation{}
	for _, o := range []operation{
		op("list_rooms", (*engine.Engine).ListRooms),
		op("join_path", (*engine.Engine).JoinPath, "context_path"),
		newRow("wait_for_turn", func(ctx context.Context, s *Server, p engine.WaitForTurnParams) (engine.WaitForTurnResult, error) {
			p.AtMost = attempt
			return s.o.Engine.WaitForTurn(ctx, p)
		}, []string{"room_id"}),
		op("release_stick", (*engine.Engine).ReleaseStick, "room_id", "handoff"),
		op("pass_stick", (*engine.Engine).PassStick, "room_id", "to_agent_id", "handoff"),
		op("takeover_stick", (*engine.Engine).TakeoverStick, "room_id", "reason"),
		op("get_room_state", (*engine.Engine).GetRoomState, "room_id"),
		op("get_timeline", (*engine.Engine).GetTimeline, "room_id"),
		op("get_room_events", (*engine.Engine).GetRoomEvents, "room_id"),
		op("send_message", (*engine.Engine).SendMessage, "room_id", "to"),
		op("get_inbox", (*engine.Engine).GetInbox, "room_id"),
		op("get_message", (*engine.Engine).GetMessage, "room_id", "message_id"),
		op("read_message", (*engine.Engine).ReadMessage, "room_id"),
		op("ack_message", (*engine.Engine).AckMessage, "room_id", "message_ids"),
		op("withdraw_message", (*engine.Engine).WithdrawMessage, "room_id", "message_id"),
		op("add_note", (*engine.Engine).AddNote, "room_id", "body"),
		op("list_notes", (*engine.Engine).ListNotes, "room_id"),
		op("resolve_note", (*engine.Engine).ResolveNote, "room_id", "note_id"),
		op("list_reservations", (*engine.Engine).ListReservations, "room_id"),
		op("reserve_paths", (*engine.Engine).ReservePaths, "room_id", "paths"),
		op("release_paths", (*engine.Engine).ReleasePaths, "room_id"),
		guardOp("may_edit", (*guard.Guard).MayEdit, "room_id", "paths"),
		op("get_conflicts", (*engine.Engine).GetConflicts, "room_id"),
		op("get_roster", (*engine.Engine).GetRoster, "room_id"),
		op("list_sessions", (*engine.Engine).ListSessions, "room_id"),
		op("leave_room", (*engine.Engine).LeaveRoom, "room_id"),
		op("kick_member", (*engine.Engine).KickMember, "room_id", "agent_id"),
		op("close_room", (*engine.Engine).CloseRoom, "room_id"),
		op("pause_room", (*engine.Engine).PauseRoom, "room_id", "reason"),
		op("resume_room", (*engine.Engine).ResumeRoom, "room_id"),
		op("set_room_policy", (*engine.Engine).SetRoomPolicy, "room_id"),
		op("reorder_members", (*engine.Engine).ReorderMembers, "room_id", "order"),
		guardOp("list_calls", (*guard.Guard).ListCalls, "room_id"),
		guardOp("undo_call", (*guard.Guard).UndoCall, "room_id", "call_id"),
		guardOp("list_rescues", (*guard.Guard).ListRescues),
		guardOp("show_rescue", (*guard.Guard).ShowRescue, "rescue_id"),
		guardOp("diff_rescue", (*guard.Guard).DiffRescue, "rescue_id"),
		guardOp("restore_rescue", (*guard.Guard).RestoreRescue, "rescue_id"),

		taskOp("worker_status", (*task.Tasks).WorkerStatus, "room_id"),
		taskOp("worker_show", (*task.Tasks).WorkerShow, "room_id", "task_id"),
		taskOp("worker_diff", (*task.Tasks).WorkerDiff, "room_id", "task_id"),
		taskOp("worker_logs", (*task.Tasks).WorkerLogs, "room_id", "task_id"),
		taskOp("worker_output", (*task.Tasks).WorkerOutput, "sum"),
		taskOp("worker_context", (*task.Tasks).WorkerContext, "room_id", "task_id"),
		taskOp("worker_comment", (*task.Tasks).WorkerComment, "room_id", "task_id"),
		taskOp("worker_approve", (*task.Tasks).WorkerApprove, "room_id", "task_id"),
		newRow("worker_request_changes", func(ctx context.Context, s *Server, p task.WorkerRequestChangesParams) (task.WorkerReviewResult, error) {
			res, err := s.o.Tasks.WorkerRequestChanges(ctx, p)
			if err == nil {
				res.Started = s.ready(ctx, p.Where)
			}
			return res, err
		}, []string{"room_id", "task_id"}),
		long(newRow("worker_merge", func(ctx context.Context, s *Server, p task.WorkerMergeParams) (task.WorkerMergeResult, error) {
			res, err := s.o.Tasks.WorkerMerge(ctx, p)
			if err == nil || len(res.Merged) > 0 {
				res.Started = s.ready(ctx, p.Where)
			}
			return res, err
		}, []string{"room_id"})),
		newRow("worker_run", func(ctx context.Context, s *Server, p task.WorkerRunParams) (task.WorkerRunResult, error) {
			if s.o.Run == nil {
				return s.o.Tasks.WorkerRun(ctx, p)
			}
			return s.o.Run(ctx, p)
		}, []string{"room_id", "task_id"}),
		long(taskOp("worker_stop", (*task.Tasks).WorkerStop, "room_id", "task_id")),
		long(taskOp("worker_pr", (*task.Tasks).WorkerPR, "room_id", "task_id")),
		taskOp("worker_cancel", (*task.Tasks).WorkerCancel, "room_id", "task_id"),
		long(taskOp("worker_retry", (*task.Tasks).WorkerRetry, "room_id", "task_id")),
		long(taskOp("worker_rollback", (*task.Tasks).WorkerRollback, "room_id", "task_id")),
		taskOp("worker_after", (*task.Tasks).WorkerAfter, "room_id", "task_id"),
	} {
		m[o.Name] = o
	}
	return m
})

// ready starts the commands of the tasks that are ready to begin or came back.
func (s *Server) ready(ctx context.Context, w core.Where) []task.StartedTask {
	if s.o.Ready == nil {
		return nil
	}
	return s.o.Ready(ctx, w)
}
