package mcpserver

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/params"
	"talkingstick/internal/task"
)

// tool is a row of the table of tools.
type tool struct {
	name        string
	description string
	kind        kind
	required    []string // parameters that this tool needs
	params      reflect.Type
	run         func(ctx context.Context, s *server, by core.Caller, arguments any) (any, error)
}

// roomOp makes a tool from an operation on rooms.
func roomOp[P, R any](
	name, description string, k kind, call func(*engine.Engine, context.Context, P) (R, error), required ...string,
) tool {
	return newTool(name, description, k, func(s *server, ctx context.Context, p P) (R, error) {
		return call(s.o.Engine, ctx, p)
	}, required)
}

// guardOp makes a tool from an operation on edits.
func guardOp[P, R any](
	name, description string, k kind, call func(*guard.Guard, context.Context, P) (R, error), required ...string,
) tool {
	return newTool(name, description, k, func(s *server, ctx context.Context, p P) (R, error) {
		return call(s.o.Engine.Guard, ctx, p)
	}, required)
}

// logOp makes a tool from an operation that reads the log.
func logOp[P, R any](
	name, description string, k kind, call func(*eventlog.Log, context.Context, P) (R, error), required ...string,
) tool {
	return newTool(name, description, k, func(s *server, ctx context.Context, p P) (R, error) {
		return call(s.o.Engine.Log, ctx, p)
	}, required)
}

// restoreOp makes a tool from an operation on rescues and calls.
func restoreOp[P, R any](
	name, description string, k kind, call func(*restore.Restorer, context.Context, P) (R, error), required ...string,
) tool {
	return newTool(name, description, k, func(s *server, ctx context.Context, p P) (R, error) {
		return call(s.o.Engine.Guard.Restorer, ctx, p)
	}, required)
}

// rosterOp makes a tool from an operation on sessions.
func rosterOp[P, R any](
	name, description string, k kind, call func(*roster.Roster, context.Context, P) (R, error), required ...string,
) tool {
	return newTool(name, description, k, func(s *server, ctx context.Context, p P) (R, error) {
		return call(s.o.Engine.Roster, ctx, p)
	}, required)
}

// scopeOp makes a tool from an operation on reservations or conflicts.
func scopeOp[P, R any](
	name, description string, k kind, call func(*scopes.Scopes, context.Context, P) (R, error), required ...string,
) tool {
	return newTool(name, description, k, func(s *server, ctx context.Context, p P) (R, error) {
		return call(s.o.Engine.Scopes, ctx, p)
	}, required)
}

// taskOp makes a tool from an operation on tasks.
func taskOp[P, R any](
	name, description string, k kind, call func(*task.Tasks, context.Context, P) (R, error), required ...string,
) tool {
	return newTool(name, description, k, func(s *server, ctx context.Context, p P) (R, error) {
		return call(s.o.Tasks, ctx, p)
	}, required)
}

func newTool[P, R any](
	name, description string, k kind, call func(*server, context.Context, P) (R, error), required []string,
) tool {
	return tool{
		name: name, description: description, kind: k, required: required, params: reflect.TypeFor[P](),
		run: func(ctx context.Context, s *server, by core.Caller, arguments any) (any, error) {
			p := arguments.(*P)
			reflect.ValueOf(p).Elem().FieldByName("Caller").Set(reflect.ValueOf(by))
			s.limitWait(p)
			return call(s, ctx, *p)
		},
	}
}

// limitWait bounds a wait by what the harness allows a tool.
func (s *server) limitWait(p any) {
	switch p := p.(type) {
	case *engine.WaitForTurnParams:
		p.AtMost = s.o.Wait
	case *eventlog.WaitForEventsParams:
		p.AtMost = s.o.Wait
	}
}

// kind is what a harness should know about a tool before a model calls it.
type kind int

const (
	always kind = 1 << iota // an agent needs it all the time
	reads                   // it changes nothing
	asks                    // it takes something from others: a person may want to be asked first
	names                   // its caller may give the connection a name

	rare kind = 0
)

// hints tell a harness that a tool touches only our own database, and deletes nothing there. A harness
// that can't ask a person may refuse other tools.
func (k kind) hints() *mcp.ToolAnnotations {
	no := false
	h := &mcp.ToolAnnotations{OpenWorldHint: &no, ReadOnlyHint: k&reads != 0}
	if k&(reads|asks) == 0 {
		h.DestructiveHint = &no
	}
	return h
}

// tools is the table of tools. Their names are those of the operations. Most processes serve none, so it is
// made when it is needed.
var tools = sync.OnceValue(func() []tool {
	return []tool{
		roomOp("list_rooms", "List the rooms around a path.", always|reads, (*engine.Engine).ListRooms),
		roomOp("join_path", "Join the room of a workspace, or make it. Once per session.", always|names,
			(*engine.Engine).JoinPath),
		roomOp("wait_for_turn", "Wait for your turn or for events for you. Only status your_turn, or under_parent (the turn is your parent's), lets you change files; call again on not_yet. "+
			"Read the handoff that comes with it. With park you only get events, even while you hold the stick.", always, (*engine.Engine).WaitForTurn),
		roomOp("heartbeat", "Keep your turn: only if lease_kept_by is heartbeat, or after owner_idle.", always,
			(*engine.Engine).Heartbeat, "room_id", "lease_id", "expected_turn_id"),
		roomOp("release_stick", "End your turn with a handoff; the room chooses who is next. More to do: wait_for_turn again, with max_wait_ms 0 if rests is true. Else call it with park, or stop.", always,
			(*engine.Engine).ReleaseStick, "room_id", "lease_id", "expected_turn_id", "handoff"),
		roomOp("pass_stick", "End your turn with a handoff to the one member who must be next. Prefer release_stick.", always,
			(*engine.Engine).PassStick, "room_id", "lease_id", "expected_turn_id", "to_agent_id", "handoff"),
		roomOp("takeover_stick", "Take over the stick, only on status takeover_available or if a person asked for it.", always,
			(*engine.Engine).TakeoverStick, "reason"),
		roomOp("get_room_state", "Show who holds the stick, who is there and what to do next.", always|reads,
			(*engine.Engine).GetRoomState),
		logOp("get_room_events", "Read the room's log: the newest events, or those after a cursor.", always|reads,
			(*eventlog.Log).GetRoomEvents),
		roomOp("send_message", "Send a message to members by name, or to room. It never moves the stick.", always,
			(*engine.Engine).SendMessage, "to"),
		roomOp("get_inbox", "List your messages that are unread or unacknowledged.", always|reads,
			(*engine.Engine).GetInbox),
		roomOp("ack_message", "Accept the messages you act on; this tells their senders.", always,
			(*engine.Engine).AckMessage, "message_ids"),

		logOp("wait_for_events", "Wait for the next events, without asking for the turn or marking them as read.", reads,
			(*eventlog.Log).WaitForEvents),
		roomOp("read_message", "Mark messages as read, without accepting them: by number, or all unread ones.", rare,
			(*engine.Engine).ReadMessage),
		roomOp("get_message", "Show a message and who has seen or accepted it.", reads,
			(*engine.Engine).GetMessage, "message_id"),
		roomOp("withdraw_message", "Withdraw your message before it is accepted.", rare,
			(*engine.Engine).WithdrawMessage, "message_id"),
		roomOp("add_note", "Leave a note that stays until somebody resolves it.", rare,
			(*engine.Engine).AddNote, "body"),
		roomOp("list_notes", "List open notes.", reads, (*engine.Engine).ListNotes),
		roomOp("resolve_note", "Resolve a note.", rare, (*engine.Engine).ResolveNote, "note_id"),
		scopeOp("reserve_paths", "Reserve files, directories or patterns; both sides are told of overlaps.", rare,
			(*scopes.Scopes).ReservePaths, "paths"),
		scopeOp("release_paths", "Release reserved paths: by pattern, by number, or all of yours.", rare,
			(*scopes.Scopes).ReleasePaths),
		scopeOp("list_reservations", "List reserved paths and who reserved them.", reads,
			(*scopes.Scopes).ListReservations),
		guardOp("may_edit", "Ask whether you may change paths now.", reads, (*guard.Guard).MayEdit, "paths"),
		restoreOp("list_calls", "List the tool calls of the room's agents that changed files.", reads,
			(*restore.Restorer).ListCalls),
		restoreOp("undo_call", "Undo what a tool call changed; by default your last one. Later changes by others stay.", asks,
			(*restore.Restorer).UndoCall),
		scopeOp("get_conflicts", "List files that conflict between the repository's working trees, and whom to talk to.", reads,
			(*scopes.Scopes).GetConflicts),
		roomOp("save_draft", "Save a draft of your handoff, in case your turn ends without one. You keep the stick.", rare,
			(*engine.Engine).SaveDraft, "room_id", "lease_id", "expected_turn_id"),
		roomOp("leave_room", "Leave the room. If you hold the stick, give a handoff or say why you abandon the turn.", rare,
			(*engine.Engine).LeaveRoom),
		roomOp("kick_member", "Remove a member who is gone; force only on a person's word.", asks,
			(*engine.Engine).KickMember, "agent_id"),
		roomOp("close_room", "Close the room. If you hold the stick, give a handoff.", asks,
			(*engine.Engine).CloseRoom),
		roomOp("reorder_members", "Change the order that policy order=sequence follows.", rare,
			(*engine.Engine).ReorderMembers, "order"),
		rosterOp("get_roster", "List the other agents at work in a workspace, with process, directory and role.", reads,
			(*roster.Roster).GetRoster),
		taskOp("worker_next", "Take the oldest task that is ready to begin; says what to do.", rare,
			(*task.Tasks).WorkerNext),
		taskOp("worker_start", "Start the task of this worktree; says what to do.", rare, (*task.Tasks).WorkerStart),
		taskOp("worker_done", "Ask for a review of your commits. Rebases them first; refuses uncommitted changes.", rare,
			(*task.Tasks).WorkerDone),
		taskOp("worker_fail", "Give up your task, with the reason.", asks, (*task.Tasks).WorkerFail, "reason"),
		taskOp("worker_heartbeat", "Report that you are still on your task; returns its state.", rare,
			(*task.Tasks).WorkerHeartbeat),
		taskOp("worker_comment", "Comment on lines of the diff of a task that you review, or resolve a comment. at is path:line or path:line-line. Drafts go to the worker with request-changes.",
			rare, (*task.Tasks).WorkerComment, "task_id"),
		taskOp("worker_context", "Show your task and what to do in it.", reads, (*task.Tasks).WorkerContext),
		roomOp("set_room_policy", "Show the room's policy, or change it by key=value.", rare,
			(*engine.Engine).SetRoomPolicy),
	}
})

// override is a parameter of the tools that may give the connection a name, beside those of their operations.
const override = "agent_id_override"

// readArguments reads a call's arguments into the operation's parameters, and returns a pointer to them, and
// the name that the call gives the connection.
func (t tool) readArguments(raw json.RawMessage) (args any, as string, err error) {
	o := t.operation()
	given, err := o.ReadGiven(raw)
	if err != nil {
		return nil, "", err
	}

	if v, ok := given[override]; ok && t.kind&names != 0 {
		if err := json.Unmarshal(v, &as); err != nil { // null is none
			return nil, "", o.KindError(override, "a string")
		}
		delete(given, override)
	}

	args, err = o.Read(given)
	return args, as, err
}

// operation is what reads the tool's parameters.
func (t tool) operation() params.Operation {
	return params.Operation{Name: t.name, Type: t.params, Required: t.required}
}
