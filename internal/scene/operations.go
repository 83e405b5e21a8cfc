package scene

import (
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/engine/upkeep"
)

// Each operation is a method of the actor, with the operation's own name and parameters. It fills in the
// caller, and the actor's directory unless the story names a place. The verbs of the stories use these
// methods. A test reports an operation that is missing here or that no story calls.

// AckMessage is the operation of that name.
func (a *Actor) AckMessage(p engine.MessagesParams) Answer[engine.MessagesResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "AckMessage", a.Engine.AckMessage, p)
}

// AddNote is the operation of that name.
func (a *Actor) AddNote(p engine.AddNoteParams) Answer[engine.AddNoteResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "AddNote", a.Engine.AddNote, p)
}

// AskDraft is the operation of that name.
func (a *Actor) AskDraft(p core.HookParams) Answer[engine.AskDraftResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "AskDraft", a.Engine.AskDraft, p)
}

// CheckCommit is the operation of that name.
func (a *Actor) CheckCommit(p guard.CheckEditParams) Answer[guard.MayEditResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "CheckCommit", a.Engine.Guard.CheckCommit, p)
}

// CheckEdit is the operation of that name.
func (a *Actor) CheckEdit(p guard.CheckEditParams) Answer[guard.MayEditResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "CheckEdit", a.Engine.Guard.CheckEdit, p)
}

// CheckPush is the operation of that name.
func (a *Actor) CheckPush(p guard.CheckPushParams) Answer[guard.MayEditResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "CheckPush", a.Engine.Guard.CheckPush, p)
}

// CheckStop is the operation of that name.
func (a *Actor) CheckStop(p roster.CheckStopParams) Answer[roster.CheckStopResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "CheckStop", a.Engine.Roster.CheckStop, p)
}

// CloseRoom is the operation of that name.
func (a *Actor) CloseRoom(p engine.CloseRoomParams) Answer[engine.CloseRoomResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "CloseRoom", a.Engine.CloseRoom, p)
}

// PauseRoom is the operation of that name.
func (a *Actor) PauseRoom(p engine.PauseRoomParams) Answer[engine.PauseRoomResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "PauseRoom", a.Engine.PauseRoom, p)
}

// ResumeRoom is the operation of that name.
func (a *Actor) ResumeRoom(p engine.ResumeRoomParams) Answer[engine.ResumeRoomResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ResumeRoom", a.Engine.ResumeRoom, p)
}

// ReadNews is the operation of that name.
func (a *Actor) ReadNews(p core.HookParams) Answer[engine.ReadNewsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ReadNews", a.Engine.ReadNews, p)
}

// DiffRescue is the operation of that name.
func (a *Actor) DiffRescue(p restore.DiffRescueParams) Answer[restore.DiffRescueResult] {
	return runOperation(a, "DiffRescue", a.Engine.Guard.Restorer.DiffRescue, p)
}

// Doctor is the operation of that name.
func (a *Actor) Doctor(p upkeep.DoctorParams) Answer[upkeep.DoctorResult] {
	p.Caller = a.By
	return runOperation(a, "Doctor", a.Engine.Upkeep.Doctor, p)
}

// MigrateDB is the operation of that name.
func (a *Actor) MigrateDB(p upkeep.MigrateDBParams) Answer[upkeep.MigrateDBResult] {
	p.Caller = a.By
	return runOperation(a, "MigrateDB", a.Engine.Upkeep.MigrateDB, p)
}

// BackupDB is the operation of that name.
func (a *Actor) BackupDB(p upkeep.BackupDBParams) Answer[upkeep.BackupDBResult] {
	p.Caller = a.By
	return runOperation(a, "BackupDB", a.Engine.Upkeep.BackupDB, p)
}

// RestoreDB is the operation of that name.
func (a *Actor) RestoreDB(p upkeep.RestoreDBParams) Answer[upkeep.RestoreDBResult] {
	p.Caller = a.By
	return runOperation(a, "RestoreDB", a.Engine.Upkeep.RestoreDB, p)
}

// Prune is the operation of that name.
func (a *Actor) Prune(p upkeep.PruneParams) Answer[upkeep.PruneResult] {
	p.Caller = a.By
	return runOperation(a, "Prune", a.Engine.Upkeep.Prune, p)
}

// ExportRoom is the operation of that name.
func (a *Actor) ExportRoom(p upkeep.ExportRoomParams) Answer[upkeep.ExportedRoom] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ExportRoom", a.Engine.Upkeep.ExportRoom, p)
}

// ImportRoom is the operation of that name.
func (a *Actor) ImportRoom(p upkeep.ImportRoomParams) Answer[upkeep.ImportRoomResult] {
	p.Caller = a.By
	return runOperation(a, "ImportRoom", a.Engine.Upkeep.ImportRoom, p)
}

// EndSession is the operation of that name.
func (a *Actor) EndSession(p roster.EndSessionParams) Answer[roster.EndSessionResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "EndSession", a.Engine.Roster.EndSession, p)
}

// ForgetRescue is the operation of that name.
func (a *Actor) ForgetRescue(p restore.ForgetRescueParams) Answer[restore.ForgetRescueResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ForgetRescue", a.Engine.Guard.Restorer.ForgetRescue, p)
}

// GetConflicts is the operation of that name.
func (a *Actor) GetConflicts(p scopes.GetConflictsParams) Answer[scopes.GetConflictsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "GetConflicts", a.Engine.Scopes.GetConflicts, p)
}

// GetInbox is the operation of that name.
func (a *Actor) GetInbox(p engine.GetInboxParams) Answer[engine.GetInboxResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "GetInbox", a.Engine.GetInbox, p)
}

// GetMessage is the operation of that name.
func (a *Actor) GetMessage(p engine.GetMessageParams) Answer[engine.GetMessageResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "GetMessage", a.Engine.GetMessage, p)
}

// GetRoomEvents is the operation of that name.
func (a *Actor) GetRoomEvents(p eventlog.GetRoomEventsParams) Answer[eventlog.EventsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "GetRoomEvents", a.Engine.Log.GetRoomEvents, p)
}

// GetRoomState is the operation of that name.
func (a *Actor) GetRoomState(p engine.GetRoomStateParams) Answer[engine.GetRoomStateResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "GetRoomState", a.Engine.GetRoomState, p)
}

// GetRoster is the operation of that name.
func (a *Actor) GetRoster(p roster.GetRosterParams) Answer[roster.GetRosterResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "GetRoster", a.Engine.Roster.GetRoster, p)
}

// GetSession is the operation of that name.
func (a *Actor) GetSession(p roster.GetSessionParams) Answer[roster.GetSessionResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "GetSession", a.Engine.Roster.GetSession, p)
}

// GetDigest is the operation of that name.
func (a *Actor) GetDigest(p eventlog.GetDigestParams) Answer[eventlog.GetDigestResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "GetDigest", a.Engine.Log.GetDigest, p)
}

// GetTimeline is the operation of that name.
func (a *Actor) GetTimeline(p eventlog.GetTimelineParams) Answer[eventlog.GetTimelineResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "GetTimeline", a.Engine.Log.GetTimeline, p)
}

// Heartbeat is the operation of that name.
func (a *Actor) Heartbeat(p engine.HeartbeatParams) Answer[engine.HeartbeatResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "Heartbeat", a.Engine.Heartbeat, p)
}

// JoinPath is the operation of that name.
func (a *Actor) JoinPath(p engine.JoinPathParams) Answer[engine.JoinPathResult] {
	p.Caller = a.By
	if p.Path == "" && p.RoomID == "" {
		p.Path = a.dir
	}
	return runOperation(a, "JoinPath", a.Engine.JoinPath, p)
}

// KickMember is the operation of that name.
func (a *Actor) KickMember(p engine.KickMemberParams) Answer[engine.KickMemberResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "KickMember", a.Engine.KickMember, p)
}

// LeaveRoom is the operation of that name.
func (a *Actor) LeaveRoom(p engine.LeaveRoomParams) Answer[engine.LeaveRoomResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "LeaveRoom", a.Engine.LeaveRoom, p)
}

// ListNotes is the operation of that name.
func (a *Actor) ListNotes(p engine.ListNotesParams) Answer[engine.ListNotesResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ListNotes", a.Engine.ListNotes, p)
}

// ListCalls is the operation of that name.
func (a *Actor) ListCalls(p restore.ListCallsParams) Answer[restore.ListCallsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ListCalls", a.Engine.Guard.Restorer.ListCalls, p)
}

// ListRescues is the operation of that name.
func (a *Actor) ListRescues(p restore.ListRescuesParams) Answer[restore.ListRescuesResult] {
	p.Where = a.fillWhere(p.Where)
	return runOperation(a, "ListRescues", a.Engine.Guard.Restorer.ListRescues, p)
}

// ListReservations is the operation of that name.
func (a *Actor) ListReservations(p scopes.ListReservationsParams) Answer[scopes.ListReservationsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ListReservations", a.Engine.Scopes.ListReservations, p)
}

// ListChanges is the operation of that name.
func (a *Actor) ListChanges(p guard.ListChangesParams) Answer[guard.ListChangesResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ListChanges", a.Engine.Guard.ListChanges, p)
}

// ClaimChanges is the operation of that name.
func (a *Actor) ClaimChanges(p guard.ClaimChangesParams) Answer[guard.ClaimChangesResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ClaimChanges", a.Engine.Guard.ClaimChanges, p)
}

// AdoptChanges is the operation of that name.
func (a *Actor) AdoptChanges(p guard.AdoptChangesParams) Answer[guard.AdoptChangesResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "AdoptChanges", a.Engine.Guard.AdoptChanges, p)
}

// ListRooms is the operation of that name.
func (a *Actor) ListRooms(p engine.ListRoomsParams) Answer[engine.ListRoomsResult] {
	p.Caller = a.By
	if p.Path == "" {
		p.Path = a.dir
	}
	return runOperation(a, "ListRooms", a.Engine.ListRooms, p)
}

// ListSessions is the operation of that name.
func (a *Actor) ListSessions(p roster.ListSessionsParams) Answer[roster.ListSessionsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ListSessions", a.Engine.Roster.ListSessions, p)
}

// MayEdit is the operation of that name.
func (a *Actor) MayEdit(p guard.MayEditParams) Answer[guard.MayEditResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "MayEdit", a.Engine.Guard.MayEdit, p)
}

// PassStick is the operation of that name.
func (a *Actor) PassStick(p engine.PassStickParams) Answer[engine.PassStickResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "PassStick", a.Engine.PassStick, p)
}

// PromoteSession is the operation of that name.
func (a *Actor) PromoteSession(p roster.PromoteSessionParams) Answer[roster.PromoteSessionResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "PromoteSession", a.Engine.Roster.PromoteSession, p)
}

// ReadMessage is the operation of that name.
func (a *Actor) ReadMessage(p engine.ReadMessageParams) Answer[engine.MessagesResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ReadMessage", a.Engine.ReadMessage, p)
}

// ReleasePaths is the operation of that name.
func (a *Actor) ReleasePaths(p scopes.ReleasePathsParams) Answer[scopes.ReleasePathsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ReleasePaths", a.Engine.Scopes.ReleasePaths, p)
}

// ReleaseStick is the operation of that name.
func (a *Actor) ReleaseStick(p engine.ReleaseStickParams) Answer[engine.ReleaseStickResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ReleaseStick", a.Engine.ReleaseStick, p)
}

// RemoveData is the operation of that name.
func (a *Actor) RemoveData(p upkeep.RemoveDataParams) Answer[upkeep.RemoveDataResult] {
	p.Caller = a.By
	return runOperation(a, "RemoveData", a.Engine.Upkeep.RemoveData, p)
}

// ReorderMembers is the operation of that name.
func (a *Actor) ReorderMembers(p engine.ReorderMembersParams) Answer[engine.ReorderMembersResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ReorderMembers", a.Engine.ReorderMembers, p)
}

// ReservePaths is the operation of that name.
func (a *Actor) ReservePaths(p scopes.ReservePathsParams) Answer[scopes.ReservePathsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ReservePaths", a.Engine.Scopes.ReservePaths, p)
}

// ResolveNote is the operation of that name.
func (a *Actor) ResolveNote(p engine.ResolveNoteParams) Answer[engine.ResolveNoteResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "ResolveNote", a.Engine.ResolveNote, p)
}

// RestoreRescue is the operation of that name.
func (a *Actor) RestoreRescue(p restore.RestoreRescueParams) Answer[restore.RestoreRescueResult] {
	p.Caller = a.By
	return runOperation(a, "RestoreRescue", a.Engine.Guard.Restorer.RestoreRescue, p)
}

// SaveDraft is the operation of that name.
func (a *Actor) SaveDraft(p engine.SaveDraftParams) Answer[engine.SaveDraftResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "SaveDraft", a.Engine.SaveDraft, p)
}

// SendMessage is the operation of that name.
func (a *Actor) SendMessage(p engine.SendMessageParams) Answer[engine.SendMessageResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "SendMessage", a.Engine.SendMessage, p)
}

// SetRoomPolicy is the operation of that name.
func (a *Actor) SetRoomPolicy(p engine.SetRoomPolicyParams) Answer[engine.SetRoomPolicyResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "SetRoomPolicy", a.Engine.SetRoomPolicy, p)
}

// ShowRescue is the operation of that name.
func (a *Actor) ShowRescue(p restore.ShowRescueParams) Answer[restore.ShowRescueResult] {
	return runOperation(a, "ShowRescue", a.Engine.Guard.Restorer.ShowRescue, p)
}

// StartSession is the operation of that name.
func (a *Actor) StartSession(p roster.StartSessionParams) Answer[roster.StartSessionResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "StartSession", a.Engine.Roster.StartSession, p)
}

// TakeNotices is the operation of that name.
func (a *Actor) TakeNotices(p engine.TakeNoticesParams) Answer[engine.TakeNoticesResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "TakeNotices", a.Engine.TakeNotices, p)
}

// TakeoverStick is the operation of that name.
func (a *Actor) TakeoverStick(p engine.TakeoverStickParams) Answer[engine.TakeoverStickResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "TakeoverStick", a.Engine.TakeoverStick, p)
}

// WaitForEvents is the operation of that name.
func (a *Actor) WaitForEvents(p eventlog.WaitForEventsParams) Answer[eventlog.EventsResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WaitForEvents", a.Engine.Log.WaitForEvents, p)
}

// UndoCall is the operation of that name.
func (a *Actor) UndoCall(p restore.UndoCallParams) Answer[restore.UndoCallResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "UndoCall", a.Engine.Guard.Restorer.UndoCall, p)
}

// Whoami is the operation of that name.
func (a *Actor) Whoami(p roster.WhoamiParams) Answer[roster.WhoamiResult] {
	p.Caller = a.By
	return runOperation(a, "Whoami", a.Engine.Roster.Whoami, p)
}

// WithdrawMessage is the operation of that name.
func (a *Actor) WithdrawMessage(p engine.WithdrawMessageParams) Answer[engine.WithdrawMessageResult] {
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	return runOperation(a, "WithdrawMessage", a.Engine.WithdrawMessage, p)
}
