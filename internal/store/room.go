package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"talkingstick/stick"
)

// roomColumns are the columns of a row of rooms that scanRoom reads.
func (tx *Tx) roomColumns() string {
	return "room_id, canonical_path, " + tx.db.dialect.paths() + otherColumns
}

const otherColumns = `, updated_at, closed, policy, generation,
	turn_id, state, sequence_index, owner, lease_id, granted_at, reserved_for, reserved_by, reserved_at,
	prior_owner, free_since, handoff_event_seq, handoff_pending, handoff_direct, next_action, messages,
	acked, renewed_at, heartbeat_at, guardian_pid, guardian_of, idle_notice_at, idle_since, opened_at, resumed_at, round, round_at, offered_at, session_ended_at,
	paused_by, pause_reason, paused_at, last_sum`

// scanRoom reads a row of roomColumns.
func (tx *Tx) scanRoom(scan func(...any) error) (stick.Room, error) {
	var r stick.Room
	var policy, sum, key, paths string
	t := &r.Turn
	err := scan(&r.ID, &key, &paths, &r.UpdatedAt, &r.Closed, &policy, &r.Generation,
		&t.ID, &t.State, &t.SequenceIndex, &t.Owner, &t.Lease, &t.GrantedAt, &t.ReservedFor, &t.ReservedBy, &t.ReservedAt,
		&t.Prior, &t.FreeSince, &t.HandoffSeq, &t.HandoffPending, &t.HandoffDirect, &t.NextAction, &t.Messages,
		&t.Acked, &t.RenewedAt, &t.HeartbeatAt, &t.GuardianPID, &t.GuardianOf, &t.IdleNoticeAt, &t.IdleSince, &t.OpenedAt, &t.ResumedAt, &t.Round, &t.RoundAt, &t.OfferedAt, &r.SessionEndedAt,
		&r.Paused.By, &r.Paused.Reason, &r.Paused.Since, &sum)
	if err != nil {
		return r, err
	}
	tx.sums[r.ID] = sum
	r.Path = paths
	if tx.ManyHosts() {
		r.Key = key
		if paths != "" {
			tx.paths[r.ID] = strings.Split(paths, "\n")
		}
		r = tx.near(r, nil)
	}
	if r.Policy, err = tx.db.policy(policy); err != nil {
		return r, fmt.Errorf("policy of room %s: %w", r.ID, err)
	}
	return r, nil
}

// policy decodes the policy of a room. It keeps the last one, because every read of a room needs it and most
// rooms have the same.
func (db *DB) policy(text string) (p stick.Policy, err error) {
	if text != db.lastPolicy.text {
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			return p, err
		}
		db.lastPolicy.text, db.lastPolicy.policy = text, p
	}
	return db.lastPolicy.policy, nil
}

// Room loads a room with its members and listeners. It fails with [stick.CodeNoRoom].
func (tx *Tx) Room(id stick.RoomID) (stick.Room, error) {
	if err := tx.lockRoom(id); err != nil {
		return stick.Room{}, err
	}
	r, ok, err := tx.room("WHERE room_id = ?", id)
	if err == nil && !ok {
		err = stick.Errorf(stick.CodeNoRoom, "there is no room %q", stick.Clip(string(id), 60)).
			Hintf("%s lists the rooms", stick.Cmd("tt list --all"))
	}
	return r, err
}

// minName is how many characters of a room's id name the room, if they are unique.
const minName = 6

// RoomNamed is [Tx.Room] for an id as somebody typed it: in full, or at least six characters of its start. It fails
// with [stick.CodeNoRoom], and where several ids begin like this with [stick.CodeUsage].
func (tx *Tx) RoomNamed(name stick.RoomID) (stick.Room, error) {
	after := name
	if len(name) >= minName {
		after += "~" // it sorts after all characters of ids
	}
	var ids []stick.RoomID
	err := tx.scan("SELECT room_id FROM rooms WHERE room_id >= ? AND room_id <= ? ORDER BY room_id LIMIT 5", []any{name, after}, func(scan func(...any) error) error {
		var id stick.RoomID
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	switch {
	case err != nil:
		return stick.Room{}, err
	case len(ids) > 1 && ids[0] != name:
		return stick.Room{}, stick.Errorf(stick.CodeUsage, "several rooms have an id that begins with %q", stick.Clip(string(name), 60)).
			With("field", "room_id").With("candidates", ids).Hintf("%s lists the rooms with their ids", stick.Cmd("tt list --all --json"))
	case len(ids) > 0:
		name = ids[0]
	case tx.ManyHosts():
		if r, ok, err := tx.RoomOf(string(name)); ok || err != nil {
			return r, err
		}
	}
	return tx.Room(name)
}

// RoomAt loads the room of the first of the paths that has one.
func (tx *Tx) RoomAt(paths []string) (stick.Room, bool, error) {
	if tx.Concurrent() {
		return tx.lockRoomAt(paths)
	}
	for _, p := range paths {
		if r, ok, err := tx.room("WHERE room_id IN (SELECT room_id FROM "+tx.db.dialect.places()+" p WHERE p.path = ?)", p); ok || err != nil {
			return tx.near(r, paths), ok, err
		}
	}
	return stick.Room{}, false, nil
}

// lockRoomAt is [Tx.RoomAt] where several transactions write at a time. If no path has a room, none gets one before this
// transaction ends, except by itself.
func (tx *Tx) lockRoomAt(paths []string) (r stick.Room, ok bool, err error) {
	for {
		ids, err := tx.RoomsAt([][]string{paths})
		if err != nil {
			return r, false, err
		}
		if ids[0] == "" {
			if again, err := tx.lockClass(pathsClass); !again {
				return r, false, err
			}
			continue
		}
		if r, err = tx.Room(ids[0]); err != nil || slices.ContainsFunc(paths, func(p string) bool { return slices.Contains(tx.paths[r.ID], p) }) {
			return tx.near(r, paths), err == nil, err
		}
		// It was moved before it was locked.
	}
}

func (tx *Tx) room(where string, arg any) (r stick.Room, ok bool, err error) {
	err = tx.scan("SELECT "+tx.roomColumns()+" FROM rooms "+where+" ORDER BY room_id", []any{arg}, func(scan func(...any) error) error {
		ok = true
		r, err = tx.scanRoom(scan)
		return err
	})
	if err != nil || !ok {
		return r, ok, err
	}
	if r.Members, err = tx.members(r.ID, ""); err != nil {
		return r, ok, err
	}
	r.Listeners, err = tx.listeners(r.ID)
	return r, ok, err
}

// RoomPart loads only as much of a room as shows whether the turn has changed: no listeners, and of the members
// the owner, the one whom the stick is reserved for, and a. It fails with [stick.CodeNoRoom].
func (tx *Tx) RoomPart(id stick.RoomID, a stick.AgentID) (stick.Room, error) {
	var r stick.Room
	if err := tx.lockRoom(id); err != nil {
		return r, err
	}
	found := false
	err := tx.scan("SELECT "+tx.roomColumns()+" FROM rooms WHERE room_id = ? ORDER BY room_id", []any{id}, func(scan func(...any) error) (err error) {
		found = true
		r, err = tx.scanRoom(scan)
		return err
	})
	if err == nil && !found {
		err = stick.Errorf(stick.CodeNoRoom, "there is no room %q", stick.Clip(string(id), 60))
	}
	if err != nil {
		return r, err
	}
	r.Members, err = tx.members(id, " AND m.agent_id IN (?, ?, ?)", a, r.Turn.Owner, r.Turn.ReservedFor)
	return r, err
}

// RoomsAt finds, for each chain of paths, the room of the first path that has one. It is empty for none.
func (tx *Tx) RoomsAt(chains [][]string) ([]stick.RoomID, error) {
	at := map[string]stick.RoomID{}
	for _, c := range chains {
		for _, p := range c {
			at[p] = ""
		}
	}
	paths := slices.Sorted(maps.Keys(at))
	for some := range slices.Chunk(paths, maxMarks) {
		marks, args := marks(some)
		err := tx.scan("SELECT path, room_id FROM "+tx.db.dialect.places()+" p WHERE path IN ("+marks+") ORDER BY path", args,
			func(scan func(...any) error) error {
				var path string
				var id stick.RoomID
				err := scan(&path, &id)
				at[path] = id
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	out := make([]stick.RoomID, len(chains))
	for i, c := range chains {
		for _, p := range c {
			if out[i] = at[p]; out[i] != "" {
				break
			}
		}
	}
	return out, nil
}

// RoomsBelow lists the rooms of a directory and of all directories in it, ordered by path.
func (tx *Tx) RoomsBelow(dir string) ([]stick.RoomID, error) {
	below := strings.TrimSuffix(dir, "/")
	return tx.roomIDs("SELECT room_id FROM "+tx.db.dialect.places()+" p WHERE path = ? OR (path > ? AND path < ?) ORDER BY path",
		dir, below+"/", below+"0")
}

// roomIDs lists the rooms that a query returns.
func (tx *Tx) roomIDs(query string, args ...any) (ids []stick.RoomID, err error) {
	err = tx.scan(query, args, func(scan func(...any) error) error {
		var id stick.RoomID
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// maxMarks is how many values one query is given at most in a list.
const maxMarks = 500

// marks are the placeholders for a list of values, and the values as arguments.
func marks[T ~string](values []T) (string, []any) {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", "), args
}

// TurnAt returns the turn of the room with an id or, without an id, of the first path that has a room. The
// returned id is empty when there is no room.
func (tx *Tx) TurnAt(room stick.RoomID, paths []string) (id stick.RoomID, state stick.TurnState, err error) {
	if room != "" {
		_, err = tx.one("SELECT room_id, state FROM rooms WHERE room_id = ?", []any{room}, &id, &state)
		return id, state, err
	}
	for _, p := range paths {
		if ok, err := tx.one("SELECT r.room_id, r.state FROM rooms r JOIN "+tx.db.dialect.places()+" p ON p.room_id = r.room_id WHERE p.path = ?", []any{p}, &id, &state); ok || err != nil {
			return id, state, err
		}
	}
	return "", "", nil
}

// Rooms lists rooms without their members, ordered by path: those at the given paths and those
// below dir, or every room when dir is empty and no path is given.
func (tx *Tx) Rooms(at []string, below string) ([]stick.Room, error) {
	query, args := "SELECT "+tx.roomColumns()+" FROM rooms", []any{}
	if below != "" || len(at) > 0 {
		dir := strings.TrimSuffix(below, "/")
		query += " WHERE room_id IN (SELECT room_id FROM " + tx.db.dialect.places() + " p WHERE (path > ? AND path < ?)"
		args = append(args, dir+"/", dir+"0") // "0" is the character after "/"
		for _, p := range at {
			query += " OR path = ?"
			args = append(args, p)
		}
		query += ")"
	}
	var out []stick.Room
	err := tx.scan(query+" ORDER BY canonical_path", args, func(scan func(...any) error) error {
		r, err := tx.scanRoom(scan)
		out = append(out, r)
		return err
	})
	return out, err
}

// NewRoom makes a room at a path. Where several hosts share the database, the room has a key, by which other hosts find it, and the path
// is that on this host.
func (tx *Tx) NewRoom(path, key string) (stick.Room, error) {
	if !tx.ManyHosts() {
		key = ""
	}
	r := stick.Room{
		ID:         stick.RoomID("room-" + tx.db.NewID()[:16]),
		Path:       path,
		Key:        key,
		UpdatedAt:  tx.now,
		Policy:     stick.DefaultPolicy(),
		Generation: tx.meta.generation,
		Turn:       stick.Turn{State: stick.Idle, FreeSince: tx.now},
	}
	policy, err := json.Marshal(r.Policy)
	if err != nil {
		return r, err
	}
	if _, err := tx.lockClass(pathsClass); err != nil { // where RoomAt has found none, it is locked
		return r, err
	}
	err = tx.exec(`INSERT INTO rooms (room_id, canonical_path, created_at, updated_at, closed, policy, generation, last_event_seq, last_sum,
		turn_id, state, sequence_index, owner, lease_id, granted_at, reserved_for, reserved_by, reserved_at,
		prior_owner, free_since, handoff_event_seq, handoff_pending, handoff_direct, next_action, messages,
		acked, renewed_at, heartbeat_at, guardian_pid, guardian_of, idle_notice_at, idle_since, opened_at, round, round_at, offered_at)
		VALUES (?, ?, ?, ?, 0, ?, ?, 0, '', 0, ?, 0, '', '', 0, '', '', 0, '', ?, 0, 0, 0, '', 0, 0, 0, 0, 0, '', 0, 0, 0, 0, 0, 0)`,
		r.ID, cmp.Or(r.Key, r.Path), tx.now, tx.now, string(policy), r.Generation, r.Turn.State, r.Turn.FreeSince)
	if err == nil && key != "" {
		r, err = tx.Checkout(r, path)
	}
	return r, err
}

// Save stores a room as a rule has changed it, together with the rule's events. It gives the events their sequence
// numbers and returns the room as it was stored. If there are events, the room's waiters wake after the commit.
func (tx *Tx) Save(before, after stick.Room, events []stick.Event) (stick.Room, []stick.Event, error) {
	if err := tx.lockRoom(after.ID); err != nil {
		return after, nil, err
	}
	events, err := tx.append(after.ID, events)
	if err != nil {
		return after, nil, err
	}
	after = after.Stamp(events)
	if len(events) > 0 {
		tx.Ring(after.ID)
		after.UpdatedAt = tx.now
	}
	for i, m := range after.Members {
		var was stick.Member
		known := i < len(before.Members) && before.Members[i].Agent == m.Agent // rules rarely change the order
		if known {
			was = before.Members[i]
		} else {
			was, known = before.Member(m.Agent)
		}
		if err := tx.saveMember(after.ID, was, m, known); err != nil {
			return after, nil, err
		}
	}
	if after.Path != before.Path && after.Key == "" {
		if err := tx.exec("UPDATE rooms SET canonical_path = ? WHERE room_id = ?", after.Path, after.ID); err != nil {
			return after, nil, err
		}
	}
	if after.Turn != before.Turn || after.Closed != before.Closed || after.Paused != before.Paused || after.Policy != before.Policy ||
		after.Generation != before.Generation || after.SessionEndedAt != before.SessionEndedAt {
		if err := tx.saveTurn(after); err != nil {
			return after, nil, err
		}
	}
	return after, events, nil
}

func (tx *Tx) saveTurn(r stick.Room) error {
	policy, err := json.Marshal(r.Policy)
	if err != nil {
		return err
	}
	t := r.Turn
	return tx.exec(`UPDATE rooms SET closed = ?, policy = ?, generation = ?,
		turn_id = ?, state = ?, sequence_index = ?, owner = ?, lease_id = ?, granted_at = ?,
		reserved_for = ?, reserved_by = ?, reserved_at = ?, prior_owner = ?, free_since = ?,
		handoff_event_seq = ?, handoff_pending = ?, handoff_direct = ?, next_action = ?, messages = ?,
		acked = ?, renewed_at = ?, heartbeat_at = ?, guardian_pid = ?, guardian_of = ?, idle_notice_at = ?, idle_since = ?, opened_at = ?, resumed_at = ?,
		round = ?, round_at = ?, offered_at = ?, session_ended_at = ?, paused_by = ?, pause_reason = ?, paused_at = ? WHERE room_id = ?`,
		r.Closed, string(policy), r.Generation,
		t.ID, t.State, t.SequenceIndex, t.Owner, t.Lease, t.GrantedAt,
		t.ReservedFor, t.ReservedBy, t.ReservedAt, t.Prior, t.FreeSince,
		t.HandoffSeq, t.HandoffPending, t.HandoffDirect, t.NextAction, t.Messages,
		t.Acked, t.RenewedAt, t.HeartbeatAt, t.GuardianPID, t.GuardianOf, t.IdleNoticeAt, t.IdleSince, t.OpenedAt, t.ResumedAt,
		t.Round, t.RoundAt, t.OfferedAt, r.SessionEndedAt, r.Paused.By, r.Paused.Reason, r.Paused.Since, r.ID)
}

// members loads members of a room in order, each with the evidence of its sessions; only, if it
// isn't empty, is a further condition on members m, with its arguments.
func (tx *Tx) members(id stick.RoomID, only string, agents ...any) ([]stick.Member, error) {
	var out []stick.Member
	err := tx.scan(`SELECT agent_id, ordinal, state, joined_at, join_seq, held_seq, last_seen_at, told, passed_over, returned_at,
		role, context, in_session, session_at,
		COALESCE((SELECT MAX(hooks_at) FROM sessions s WHERE s.agent_id = m.agent_id AND s.ended_at = 0), 0) > 0,
		COALESCE((SELECT MAX(busy_since) FROM sessions s WHERE s.agent_id = m.agent_id AND s.ended_at = 0), 0),
		COALESCE((SELECT MAX(idle_at) FROM sessions s WHERE s.agent_id = m.agent_id AND s.ended_at = 0), 0)
		FROM members m WHERE room_id = ?`+only+` ORDER BY ordinal, agent_id`, append([]any{id}, agents...), func(scan func(...any) error) error {
		var m stick.Member
		err := scan(&m.Agent, &m.Ordinal, &m.State, &m.JoinedAt, &m.JoinSeq, &m.HeldSeq, &m.LastSeenAt, &m.LastOfferRound, &m.PassedOver, &m.ReturnedAt,
			&m.Session.Role, &m.Session.Context, &m.Session.Running, &m.Session.Since,
			&m.HooksSeen, &m.BusySince, &m.IdleAt)
		out = append(out, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = tx.scan(`SELECT p.agent_id, p.machine, p.boot, p.pid_ns, p.pid, p.start_time, p.proof, p.gone_at > 0
		FROM processes p JOIN members m ON m.agent_id = p.agent_id WHERE m.room_id = ?`+only+` ORDER BY p.seen_at, p.process_key`,
		append([]any{id}, agents...), func(scan func(...any) error) error {
			var a stick.AgentID
			var e stick.Evidence
			if err := scan(&a, &e.Process.Machine, &e.Process.Boot, &e.Process.PIDNS, &e.Process.PID, &e.Process.Start, &e.Proof, &e.Gone); err != nil {
				return err
			}
			if i := slices.IndexFunc(out, func(m stick.Member) bool { return m.Agent == a }); i >= 0 {
				out[i].Processes = append(out[i].Processes, e)
			}
			return nil
		})
	return out, err
}

func (tx *Tx) saveMember(room stick.RoomID, was, m stick.Member, known bool) error {
	switch {
	case !known:
		return tx.exec(`INSERT INTO members (room_id, agent_id, ordinal, state, joined_at, join_seq, held_seq, last_seen_at, told, passed_over, returned_at,
			role, context, in_session, session_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			room, m.Agent, m.Ordinal, m.State, m.JoinedAt, m.JoinSeq, m.HeldSeq, m.LastSeenAt, m.LastOfferRound, m.PassedOver, m.ReturnedAt,
			m.Session.Role, m.Session.Context, m.Session.Running, m.Session.Since)
	case was.Ordinal == m.Ordinal && was.State == m.State && was.JoinedAt == m.JoinedAt && was.JoinSeq == m.JoinSeq &&
		was.HeldSeq == m.HeldSeq && was.LastSeenAt == m.LastSeenAt && was.LastOfferRound == m.LastOfferRound && was.PassedOver == m.PassedOver &&
		was.ReturnedAt == m.ReturnedAt && was.Session == m.Session:
		return nil
	}
	return tx.exec(`UPDATE members SET ordinal = ?, state = ?, joined_at = ?, join_seq = ?, held_seq = ?, last_seen_at = ?, told = ?,
		passed_over = ?, returned_at = ?, role = ?, context = ?, in_session = ?, session_at = ? WHERE room_id = ? AND agent_id = ?`,
		m.Ordinal, m.State, m.JoinedAt, m.JoinSeq, m.HeldSeq, m.LastSeenAt, m.LastOfferRound, m.PassedOver, m.ReturnedAt,
		m.Session.Role, m.Session.Context, m.Session.Running, m.Session.Since, room, m.Agent)
}
