package store

import (
	"slices"

	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// Session is one run of an agent.
type Session struct {
	Key     string // the harness with the session's own id, or with the process's key
	Agent   stick.AgentID
	Harness string
	ID      string // the harness's own id for it, or empty
}

// AgentOf finds the agent of a session.
func (tx *Tx) AgentOf(sessionKey string) (a stick.AgentID, ok bool, err error) {
	ok, err = tx.queryOne("SELECT agent_id FROM sessions WHERE session_key = ?", []any{sessionKey}, &a)
	return a, ok, err
}

// RunningSession finds the agent of a session that hasn't ended.
func (tx *Tx) RunningSession(sessionKey string) (a stick.AgentID, ok bool, err error) {
	ok, err = tx.queryOne("SELECT agent_id FROM sessions WHERE session_key = ? AND ended_at = 0", []any{sessionKey}, &a)
	return a, ok, err
}

// SessionOf finds the session that a process was last seen carrying. Assumed names don't count.
func (tx *Tx) SessionOf(p stick.Process) (s Session, ok bool, err error) {
	query := "SELECT " + sessionTable().namesOf("s") + `
		FROM processes p JOIN sessions s ON s.session_key = p.session_key
		WHERE p.process_key = ? ORDER BY p.seen_at DESC, p.agent_id LIMIT 1`
	ok, err = sessionTable().readOne(tx, query, []any{p.Key()}, &s)
	return s, ok, err
}

// CarriedBefore lists the agents whose sessions a process was seen carrying, other than a, the latest
// first. Assumed names don't count.
func (tx *Tx) AgentsCarriedBefore(p stick.Process, a stick.AgentID) (before []stick.AgentID, err error) {
	err = tx.scan(`SELECT agent_id FROM processes WHERE process_key = ? AND agent_id <> ? AND session_key <> ''
		ORDER BY seen_at DESC, agent_id`,
		[]any{p.Key(), a}, func(scan rowScan) error {
			var other stick.AgentID
			err := scan(&other)
			before = append(before, other)
			return err
		})

	return before, err
}

// IsKnownName reports whether a name belongs to any session or member.
func (tx *Tx) IsKnownName(a stick.AgentID) (bool, error) {
	var n int
	_, err := tx.queryOne(`SELECT (SELECT COUNT(*) FROM sessions WHERE agent_id = ?)
		+ (SELECT COUNT(*) FROM members WHERE agent_id = ?)`,
		[]any{a, a}, &n)
	return n > 0, err
}

// NameOf returns what people call an agent in the rooms that it has joined; empty if it has no such name.
func (tx *Tx) NameOf(a stick.AgentID) (name string, err error) {
	_, err = tx.queryOne("SELECT name FROM members WHERE agent_id = ? AND name > '' LIMIT 1", []any{a}, &name)
	return name, err
}

// AgentNames returns what people call agents in any room, where that isn't their id.
func (tx *Tx) AgentNames() (map[stick.AgentID]string, error) {
	names := map[stick.AgentID]string{}
	query := "SELECT agent_id, name FROM members WHERE name > '' ORDER BY agent_id"
	err := tx.scan(query, nil, func(scan rowScan) error {
		var a stick.AgentID
		var name string
		err := scan(&a, &name)
		names[a] = name
		return err
	})
	return names, err
}

// IsTakenName reports whether a member that was seen since then has a name, or a task of the room.
func (tx *Tx) IsTakenName(room stick.RoomID, name string, since stick.Time) (bool, error) {
	var n int
	_, err := tx.queryOne(`SELECT (SELECT COUNT(*) FROM members WHERE name = ? AND last_seen_at >= ?)
		+ (SELECT COUNT(*) FROM tasks WHERE room_id = ? AND task_key = ?)`,
		[]any{name, since, room, name}, &n)
	return n > 0, err
}

// Processes lists the processes that are recorded as carrying an agent.
func (tx *Tx) Processes(a stick.AgentID) ([]stick.Evidence, error) {
	// Whoever has loaded a room has the processes of its members.
	if out, known := tx.evidence[a]; known {
		return slices.Clone(out), nil
	}

	var out []stick.Evidence
	err := tx.scan("SELECT "+processTable().names+`, gone_at > 0 FROM processes
		WHERE agent_id = ? ORDER BY seen_at, process_key`,
		[]any{a}, func(scan rowScan) error {
			var e stick.Evidence
			err := processTable().read(scan, &e, &e.Gone)
			out = append(out, e)
			return err
		})

	return out, err
}

// PutSession records a session, once.
func (tx *Tx) PutSession(s Session) error {
	args, err := sessionTable().insertArgs(&s, tx.Now(), 0, 0, 0)
	if err != nil {
		return err
	}
	return tx.exec(sessionTable().insert+" ON CONFLICT (session_key) DO NOTHING", args...)
}

// RecordStart records that a hook told of the start of a session, which works on nothing until it gets a
// prompt. A session that had ended is running again.
func (tx *Tx) RecordStart(sessionKey string) error {
	return tx.recordHook(sessionKey, "active_since = 0, idle_at = 0, busy_since = 0")
}

// RecordWork records that a hook of a session fired outside a tool call, while it works. A session that had
// ended is running again.
func (tx *Tx) RecordWork(sessionKey string) error {
	return tx.recordHook(sessionKey, keepActiveSince+", idle_at = 0, busy_since = 0",
		tx.Now().Add(-presence.SilentAfter), tx.Now())
}

// RecordIdle records that a session has come to its end of work, and waits for a prompt. A session that had
// ended is running again.
func (tx *Tx) RecordIdle(sessionKey string) error {
	return tx.recordHook(sessionKey, "active_since = 0, idle_at = ?, busy_since = 0", tx.Now())
}

// RecordToolCall records that a tool call of a session began, unless one is in progress.
func (tx *Tx) RecordToolCall(sessionKey string) error {
	return tx.recordHook(sessionKey,
		keepActiveSince+", idle_at = 0, busy_since = CASE WHEN busy_since = 0 THEN ? ELSE busy_since END",
		tx.Now().Add(-presence.SilentAfter), tx.Now(), tx.Now())
}

// keepActiveSince keeps since when a session has been working. Its values are before when a last sign was too
// long ago to count, and now.
const keepActiveSince = "active_since = CASE WHEN active_since = 0 OR hooks_at < ? THEN ? ELSE active_since END"

// recordHook records that this program answered a hook of a session, and what that says of the session.
func (tx *Tx) recordHook(sessionKey, says string, args ...any) error {
	args = append(args, tx.Now(), tx.Now(), tx.db.schema, sessionKey)
	return tx.exec(`UPDATE sessions
		SET `+says+`, hooks_at = ?, hooks_noted_at = ?, hooks_schema = ?, asked_at = 0, ended_at = 0
		WHERE session_key = ?`,
		args...)
}

// RecordTool records the last tool call of a session, and a file that it was about, empty for none.
func (tx *Tx) RecordTool(sessionKey, tool, file string) error {
	return tx.exec("UPDATE sessions SET tool = ?, file = ? WHERE session_key = ?", tool, file, sessionKey)
}

// RecordAsked records that the harness of a session asks its person something. It is no sign of what the
// session itself does.
func (tx *Tx) RecordAsked(sessionKey string) error {
	return tx.exec("UPDATE sessions SET asked_at = ? WHERE session_key = ? AND asked_at = 0 AND ended_at = 0",
		tx.Now(), sessionKey)
}

// HookTimes is what hooks have reported about a session: when the last one fired, and since when the session
// has been idle, a tool call in progress, a question open, or it has been working. Zero means never, or not
// now.
type HookTimes struct {
	At, IdleAt, BusySince, AskedAt, ActiveSince stick.Time

	Tool, File string // of its last tool call that was recorded
}

// HookTimes returns what hooks have reported about a session.
func (tx *Tx) HookTimes(sessionKey string) (h HookTimes, err error) {
	_, err = tx.queryOne(`SELECT hooks_at, idle_at, busy_since, asked_at, active_since, tool, file FROM sessions
		WHERE session_key = ?`,
		[]any{sessionKey},
		&h.At, &h.IdleAt, &h.BusySince, &h.AskedAt, &h.ActiveSince, &h.Tool, &h.File)
	return h, err
}

// Signs returns what hooks have reported about the running sessions of a room's members. Of an agent's
// several sessions it is the one whose hooks fired last.
func (tx *Tx) SessionSigns(room stick.RoomID) (map[stick.AgentID]presence.Signs, error) {
	out := map[stick.AgentID]presence.Signs{}
	err := tx.scan(`SELECT s.agent_id, s.hooks_at, s.active_since, s.asked_at, s.tool, s.file, `+answeredByOlder+`
		FROM sessions s JOIN members m ON m.agent_id = s.agent_id
		WHERE m.room_id = ? AND s.ended_at = 0 ORDER BY s.hooks_at, s.session_key`,
		[]any{tx.db.schema, room}, func(scan rowScan) error {
			var a stick.AgentID
			var s presence.Signs
			err := scan(&a, &s.At, &s.ActiveSince, &s.AskedAt, &s.Tool, &s.File, &s.OlderProgram)
			out[a] = s
			return err
		})

	return out, err
}

// answeredByOlder reports whether an older program than this one answered the last hook of a session s. Its
// value is the newest schema that this one knows.
const answeredByOlder = "s.hooks_at > 0 AND (s.hooks_schema < ? OR s.hooks_at > s.hooks_noted_at)"

// OlderHook is a session whose last hook an older program answered.
type OlderHook struct {
	Session
	At stick.Time
}

// OlderHooks lists the running sessions whose last hook an older program answered, and not before a time, the
// latest first.
func (tx *Tx) OlderHooks(since stick.Time) (all []OlderHook, err error) {
	query := "SELECT " + sessionTable().namesOf("s") + `, s.hooks_at FROM sessions s
		WHERE s.ended_at = 0 AND s.hooks_at >= ? AND ` + answeredByOlder + " ORDER BY s.hooks_at DESC, s.session_key"
	err = tx.scan(query, []any{since, tx.db.schema}, func(scan rowScan) error {
		var h OlderHook
		err := sessionTable().read(scan, &h.Session, &h.At)
		all = append(all, h)
		return err
	})

	return all, err
}

// LastHook returns when any hook of a harness last fired, zero for never.
func (tx *Tx) LastHook(harness string) (at stick.Time, err error) {
	_, err = tx.queryOne("SELECT COALESCE(MAX(hooks_at), 0) FROM sessions WHERE harness = ?", []any{harness}, &at)
	return at, err
}

// EndSession records that a session ended. live reports whether its agent has another one that is running. A
// session without an id doesn't count as another: the agent was known by it until its session's id was known.
func (tx *Tx) EndSession(sessionKey string, a stick.AgentID) (live bool, err error) {
	query := `UPDATE sessions SET ended_at = ?, busy_since = 0, idle_at = 0, active_since = 0, asked_at = 0
		WHERE session_key = ? AND ended_at = 0`
	if err := tx.exec(query, tx.Now(), sessionKey); err != nil {
		return false, err
	}

	var n int
	_, err = tx.queryOne("SELECT COUNT(*) FROM sessions WHERE agent_id = ? AND ended_at = 0 AND session_id <> ''",
		[]any{a}, &n)
	return n > 0, err
}

// RoomsOf lists the rooms that an agent is a member of.
func (tx *Tx) RoomsOf(a stick.AgentID) ([]stick.RoomID, error) {
	return tx.roomIDs("SELECT room_id FROM members WHERE agent_id = ? AND state = ? ORDER BY room_id", a, stick.Joined)
}

// LockRoomsOf locks the rooms that an agent is a member of, as [Tx.LockRooms] does, and lists them.
func (tx *Tx) LockRoomsOf(a stick.AgentID) ([]stick.RoomID, error) {
	var had []stick.RoomID
	for {
		rooms, err := tx.RoomsOf(a)
		if err != nil || !tx.IsConcurrent() || slices.Equal(rooms, had) {
			return rooms, err
		}
		if err := tx.LockRooms(rooms...); err != nil {
			return nil, err
		}

		// It may have joined or left one until they were locked, so they are read again.
		had = rooms
	}
}

// PutProcess records that a process carries an agent's session; the session is empty where the
// agent's name was assumed.
func (tx *Tx) PutProcess(a stick.AgentID, sessionKey string, e stick.Evidence) error {
	delete(tx.evidence, a)
	args, err := processTable().insertArgs(&e, a, e.Process.Key(), sessionKey, tx.Now(), 0)
	if err != nil {
		return err
	}
	return tx.exec(processTable().upsert, args...)
}

// DropProcess forgets a process of an agent that is known to have ended.
func (tx *Tx) DropProcess(a stick.AgentID, p stick.Process) error {
	delete(tx.evidence, a)
	return tx.exec("DELETE FROM processes WHERE agent_id = ? AND process_key = ?", a, p.Key())
}

// RoomsHeldBy lists the rooms in which an agent owns the stick or has it reserved.
func (tx *Tx) RoomsHeldBy(a stick.AgentID) ([]stick.RoomID, error) {
	return tx.roomIDs(`SELECT r.room_id FROM rooms r JOIN members m ON m.room_id = r.room_id
		WHERE m.agent_id = ? AND (r.owner = ? OR r.reserved_for = ?) ORDER BY r.room_id`, a, a, a)
}

// PutListener records a wait that is about to block.
func (tx *Tx) PutListener(room stick.RoomID, l stick.Listener) error {
	args, err := listenerTable().insertArgs(&l, room)
	if err != nil {
		return err
	}
	return tx.execIn(room, listenerTable().insert, args...)
}

// DropListener ends a wait's registration. It may be called twice.
func (tx *Tx) DropListener(id stick.ListenerID) error {
	return tx.exec("DELETE FROM listeners WHERE listener_id = ?", id)
}

// LaterListener finds out whether a wait is still registered. Its caller doesn't need that before the next
// query.
func (tx *Tx) LaterListener(id stick.ListenerID, here *bool) error {
	return tx.scanLater("SELECT 1 FROM listeners WHERE listener_id = ?", []any{id}, func(rowScan) error {
		*here = true
		return nil
	})
}

func (tx *Tx) loadListeners(room stick.RoomID) ([]stick.Listener, error) {
	var out []stick.Listener
	query := "SELECT " + listenerTable().names + " FROM listeners WHERE room_id = ? ORDER BY started_at, listener_id"
	err := tx.scan(query, []any{room}, func(scan rowScan) error {
		var l stick.Listener
		err := listenerTable().read(scan, &l)
		out = append(out, l)
		return err
	})

	return out, err
}
