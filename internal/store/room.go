package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// roomColumns are the columns of a row of rooms that scanRoom reads.
func (tx *Tx) roomColumns() string {
	return "room_id, canonical_path, " + tx.db.dialect.PathsColumn() + otherColumns
}

const otherColumns = `, updated_at, closed, policy, generation,
	turn_id, state, sequence_index, owner, lease_id, granted_at, reserved_for, reserved_by, reserved_at,
	prior_owner, free_since, handoff_event_seq, handoff_pending, handoff_direct, next_action, messages,
	acked, renewed_at, heartbeat_at, guardian_pid, guardian_of, idle_notice_at, idle_since, opened_at,
	resumed_at, round, round_at, offered_at, session_ended_at,
	paused_by, pause_reason, paused_at, last_sum`

// scanRoom reads a row of roomColumns.
func (tx *Tx) scanRoom(scan rowScan) (stick.Room, error) {
	var r stick.Room
	var policy, sum, key, paths string
	t := &r.Turn
	err := scan(&r.ID, &key, &paths, &r.UpdatedAt, &r.Closed, &policy, &r.Generation,
		&t.ID, &t.State, &t.SequenceIndex, &t.Owner, &t.Lease, &t.GrantedAt,
		&t.ReservedFor, &t.ReservedBy, &t.ReservedAt,
		&t.Prior, &t.FreeSince, &t.HandoffSeq, &t.HandoffPending, &t.HandoffDirect, &t.NextAction, &t.Messages,
		&t.Acked, &t.RenewedAt, &t.HeartbeatAt, &t.GuardianPID, &t.GuardianOf, &t.IdleNoticeAt, &t.IdleSince,
		&t.OpenedAt, &t.ResumedAt, &t.Round, &t.RoundAt, &t.OfferedAt, &r.SessionEndedAt,
		&r.Paused.By, &r.Paused.Reason, &r.Paused.Since, &sum)
	if err != nil {
		return r, err
	}

	tx.sums[r.ID] = sum
	r.Path = paths

	// Where hosts share rooms, the row has the key, and this host's paths come from its checkouts.
	if tx.ManyHosts() {
		r.Key = key
		if paths != "" {
			tx.paths[r.ID] = strings.Split(paths, "\n")
		}

		r = tx.chooseCheckout(r, nil)
	}

	if r.Policy, err = tx.db.decodePolicy(policy); err != nil {
		return r, fmt.Errorf("policy of room %s: %w", r.ID, err)
	}

	return r, nil
}

// decodePolicy decodes the policy of a room. It keeps the last one, because every read of a room needs it and
// most rooms have the same.
func (db *DB) decodePolicy(text string) (p stick.Policy, err error) {
	// No room has an empty policy.
	if text != db.lastPolicy.text || text == "" {
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

	r, ok, err := tx.loadRoom(id)
	if err == nil && !ok {
		err = stick.Errorf(stick.CodeNoRoom, "there is no room %q", stick.Clip(string(id), 60)).
			Hintf("%s lists the rooms", stick.Cmd("tt list --all"))
	}

	return r, err
}

// loadRoomWhere loads the room that a condition means. ok is false if there is none.
func (tx *Tx) loadRoomWhere(where string, arg any) (r stick.Room, ok bool, err error) {
	err = tx.scan("SELECT "+tx.roomColumns()+" FROM rooms "+where+" ORDER BY room_id",
		[]any{arg}, tx.roomReader(&r, &ok))
	if err == nil && ok {
		err = tx.loadParts(r.ID, &r)
	}

	return r, ok, err
}

// loadRoom is [Tx.loadRoomWhere] by the id, which tells all that is to be asked: a server answers it
// together.
func (tx *Tx) loadRoom(id stick.RoomID) (r stick.Room, ok bool, err error) {
	err = tx.scanLater("SELECT "+tx.roomColumns()+" FROM rooms WHERE room_id = ? ORDER BY room_id",
		[]any{id}, tx.roomReader(&r, &ok))
	if err == nil {
		err = tx.loadParts(id, &r)
	}

	return r, ok, err
}

// roomReader returns what reads the row of a room.
func (tx *Tx) roomReader(r *stick.Room, ok *bool) rowReader {
	return func(scan rowScan) (err error) {
		*ok = true
		*r, err = tx.scanRoom(scan)
		return err
	}
}

// loadParts loads the members and listeners of a room.
func (tx *Tx) loadParts(id stick.RoomID, r *stick.Room) (err error) {
	var members []stick.Member
	if err := tx.loadMembersLater(id, &members, ""); err != nil {
		return err
	}

	listeners, err := tx.loadListeners(id)
	r.Members, r.Listeners = members, listeners
	return err
}

// RoomPart loads only as much of a room as shows whether the turn has changed: no listeners, and of the
// members the owner, the one whom the stick is reserved for, and a. It fails with [stick.CodeNoRoom].
func (tx *Tx) RoomPart(id stick.RoomID, a stick.AgentID) (stick.Room, error) {
	var r stick.Room
	if err := tx.lockRoom(id); err != nil {
		return r, err
	}

	// The row and its members are asked for together: on a server each answer takes a round trip.
	exists := false
	err := tx.scanLater("SELECT "+tx.roomColumns()+" FROM rooms WHERE room_id = ? ORDER BY room_id",
		[]any{id}, tx.roomReader(&r, &exists))
	if err != nil {
		return r, err
	}

	members, err := tx.loadMembers(id, ` AND m.agent_id IN (?,
		(SELECT owner FROM rooms WHERE room_id = ?), (SELECT reserved_for FROM rooms WHERE room_id = ?))`,
		a, id, id)
	if r.Members = members; err == nil && !exists {
		err = stick.Errorf(stick.CodeNoRoom, "there is no room %q", stick.Clip(string(id), 60))
	}

	return r, err
}

// NewRoom makes a room at a path. Where several hosts share the database, the room has a key, by which other
// hosts find it, and the path is that on this host.
func (tx *Tx) NewRoom(path, key string) (stick.Room, error) {
	if !tx.ManyHosts() {
		key = ""
	}

	r := stick.Room{
		ID:         stick.RoomID("room-" + tx.db.NewID()[:16]),
		Path:       path,
		Key:        key,
		UpdatedAt:  tx.Now(),
		Policy:     stick.DefaultPolicy(),
		Generation: tx.Generation().Number,
		Turn:       stick.Turn{ID: tx.Generation().Above, State: stick.Idle, FreeSince: tx.Now()},
	}

	policy, err := json.Marshal(r.Policy)
	if err != nil {
		return r, err
	}

	// Where RoomAt has found no room, the paths are locked already.
	if _, err := tx.lockClass(dialect.PathsClass); err != nil {
		return r, err
	}

	err = tx.exec(`INSERT INTO rooms (room_id, canonical_path, created_at, updated_at, closed, policy,
		generation, last_event_seq, last_sum,
		turn_id, state, sequence_index, owner, lease_id, granted_at, reserved_for, reserved_by, reserved_at,
		prior_owner, free_since, handoff_event_seq, handoff_pending, handoff_direct, next_action, messages,
		acked, renewed_at, heartbeat_at, guardian_pid, guardian_of, idle_notice_at, idle_since, opened_at,
		round, round_at, offered_at)
		VALUES (?, ?, ?, ?, 0, ?,
		?, 0, '',
		?, ?, 0, '', '', 0, '', '', 0,
		'', ?, 0, 0, 0, '', 0,
		0, 0, 0, 0, '', 0, 0, 0,
		0, 0, 0)`,
		r.ID, cmp.Or(r.Key, r.Path), tx.Now(), tx.Now(), string(policy), r.Generation, r.Turn.ID, r.Turn.State,
		r.Turn.FreeSince)
	if err == nil && key != "" {
		r, err = tx.Checkout(r, path)
	}

	tx.addBell(&tx.rings, roomsBell)
	return r, err
}

// Save stores a room as a rule has changed it, together with the rule's events. It gives the events their
// sequence numbers and returns the room as it was stored. If there are events, the room's waiters wake after
// the commit.
func (tx *Tx) Save(before, after stick.Room, events []stick.Event) (stick.Room, []stick.Event, error) {
	if err := tx.lockRoom(after.ID); err != nil {
		return after, nil, err
	}

	// The events come first, because the row of the room refers to their numbers.
	events, err := tx.appendEvents(after.ID, events)
	if err != nil {
		return after, nil, err
	}

	after = after.Stamp(events)
	tx.highestTurn = max(tx.highestTurn, after.Turn.ID)
	if len(events) > 0 {
		tx.Ring(after.ID)
		after.UpdatedAt = tx.Now()
	}

	for i, m := range after.Members {
		var was stick.Member

		// Rules rarely change the order of members.
		known := i < len(before.Members) && before.Members[i].Agent == m.Agent
		if known {
			was = before.Members[i]
		} else {
			was, known = before.Member(m.Agent)
		}
		if err := tx.saveMember(after.ID, was, m, known); err != nil {
			return after, nil, err
		}
	}

	// A room with a key has its paths in the table of checkouts.
	if after.Path != before.Path && after.Key == "" {
		if err := tx.exec("UPDATE rooms SET canonical_path = ? WHERE room_id = ?", after.Path, after.ID); err != nil {
			return after, nil, err
		}
	}

	if !hasSameTurn(before, after) {
		if err := tx.saveTurn(after); err != nil {
			return after, nil, err
		}
	}

	return after, events, nil
}

// hasSameTurn reports whether what [Tx.saveTurn] stores is the same for both.
func hasSameTurn(a, b stick.Room) bool {
	return a.Turn == b.Turn && a.Closed == b.Closed && a.Paused == b.Paused && a.Policy == b.Policy &&
		a.Generation == b.Generation && a.SessionEndedAt == b.SessionEndedAt
}

// saveTurn stores what the row of a room holds besides its path and the end of its log.
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
		acked = ?, renewed_at = ?, heartbeat_at = ?, guardian_pid = ?, guardian_of = ?,
		idle_notice_at = ?, idle_since = ?, opened_at = ?, resumed_at = ?,
		round = ?, round_at = ?, offered_at = ?,
		session_ended_at = ?, paused_by = ?, pause_reason = ?, paused_at = ? WHERE room_id = ?`,
		r.Closed, string(policy), r.Generation,
		t.ID, t.State, t.SequenceIndex, t.Owner, t.Lease, t.GrantedAt,
		t.ReservedFor, t.ReservedBy, t.ReservedAt, t.Prior, t.FreeSince,
		t.HandoffSeq, t.HandoffPending, t.HandoffDirect, t.NextAction, t.Messages,
		t.Acked, t.RenewedAt, t.HeartbeatAt, t.GuardianPID, t.GuardianOf,
		t.IdleNoticeAt, t.IdleSince, t.OpenedAt, t.ResumedAt,
		t.Round, t.RoundAt, t.OfferedAt,
		r.SessionEndedAt, r.Paused.By, r.Paused.Reason, r.Paused.Since, r.ID)
}

// loadMembers loads members of a room in order, each with the evidence of its sessions; only, if it
// isn't empty, is a further condition on members m, with its arguments.
func (tx *Tx) loadMembers(id stick.RoomID, only string, args ...any) (out []stick.Member, err error) {
	if err := tx.loadMembersLater(id, &out, only, args...); err != nil {
		return nil, err
	}
	return out, tx.fetchLater()
}

// loadMembersLater is [Tx.loadMembers] for a caller that doesn't need them before its next scan or queryOne.
func (tx *Tx) loadMembersLater(id stick.RoomID, out *[]stick.Member, only string, args ...any) error {
	err := tx.scanLater(`SELECT agent_id, ordinal, state, joined_at, join_seq, held_seq, last_seen_at, told,
		passed_over, returned_at, waited_since,
		role, context, in_session, session_at, host_id, checkout,
		COALESCE((SELECT MAX(hooks_at) FROM sessions s WHERE s.agent_id = m.agent_id AND s.ended_at = 0), 0) > 0,
		COALESCE((SELECT MAX(busy_since) FROM sessions s WHERE s.agent_id = m.agent_id AND s.ended_at = 0), 0),
		COALESCE((SELECT MAX(idle_at) FROM sessions s WHERE s.agent_id = m.agent_id AND s.ended_at = 0), 0)
		FROM members m WHERE room_id = ?`+only+` ORDER BY ordinal, agent_id`,
		append([]any{id}, args...), func(scan rowScan) error {
			var m stick.Member
			err := scan(&m.Agent, &m.Ordinal, &m.State, &m.JoinedAt, &m.JoinSeq, &m.HeldSeq, &m.LastSeenAt,
				&m.LastOfferRound, &m.PassedOver, &m.ReturnedAt, &m.WaitedSince,
				&m.Session.Role, &m.Session.Context, &m.Session.Running, &m.Session.Since,
				&m.Checkout.Host, &m.Checkout.Path,
				&m.HooksSeen, &m.BusySince, &m.IdleAt)

			*out = append(*out, m)
			tx.evidence[m.Agent] = nil
			return err
		})
	if err != nil {
		return err
	}

	return tx.scanLater(`SELECT p.agent_id, p.machine, p.boot, p.pid_ns, p.pid, p.start_time, p.proof, p.gone_at > 0
		FROM processes p JOIN members m ON m.agent_id = p.agent_id
		WHERE m.room_id = ?`+only+` ORDER BY p.seen_at, p.process_key`,
		append([]any{id}, args...), func(scan rowScan) error {
			var a stick.AgentID
			var e stick.Evidence
			err := scan(&a, &e.Process.Machine, &e.Process.Boot, &e.Process.PIDNS, &e.Process.PID,
				&e.Process.Start, &e.Proof, &e.Gone)
			if err != nil {
				return err
			}

			if i := slices.IndexFunc(*out, func(m stick.Member) bool { return m.Agent == a }); i >= 0 {
				(*out)[i].Processes = append((*out)[i].Processes, e)
				tx.evidence[a] = (*out)[i].Processes
			}
			return nil
		})
}

// saveMember stores a member, if it is new or anything has changed that its row holds.
func (tx *Tx) saveMember(room stick.RoomID, was, m stick.Member, known bool) error {
	if !known {
		return tx.exec(`INSERT INTO members (room_id, agent_id, ordinal, state, joined_at, join_seq, held_seq,
			last_seen_at, told, passed_over, returned_at, waited_since,
			role, context, in_session, session_at, host_id, checkout)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			room, m.Agent, m.Ordinal, m.State, m.JoinedAt, m.JoinSeq, m.HeldSeq,
			m.LastSeenAt, m.LastOfferRound, m.PassedOver, m.ReturnedAt, m.WaitedSince,
			m.Session.Role, m.Session.Context, m.Session.Running, m.Session.Since, m.Checkout.Host, m.Checkout.Path)
	}

	if hasSameRow(was, m) {
		return nil
	}

	return tx.exec(`UPDATE members
		SET ordinal = ?, state = ?, joined_at = ?, join_seq = ?, held_seq = ?,
		last_seen_at = ?, told = ?, passed_over = ?, returned_at = ?, waited_since = ?,
		role = ?, context = ?, in_session = ?, session_at = ?, host_id = ?, checkout = ?
		WHERE room_id = ? AND agent_id = ?`,
		m.Ordinal, m.State, m.JoinedAt, m.JoinSeq, m.HeldSeq,
		m.LastSeenAt, m.LastOfferRound, m.PassedOver, m.ReturnedAt, m.WaitedSince,
		m.Session.Role, m.Session.Context, m.Session.Running, m.Session.Since, m.Checkout.Host, m.Checkout.Path,
		room, m.Agent)
}

// hasSameRow reports whether the row of a member holds the same for both. What else a member has comes from
// its sessions and processes.
func hasSameRow(a, b stick.Member) bool {
	return a.Ordinal == b.Ordinal && a.State == b.State &&
		a.JoinedAt == b.JoinedAt && a.JoinSeq == b.JoinSeq && a.HeldSeq == b.HeldSeq &&
		a.LastSeenAt == b.LastSeenAt && a.LastOfferRound == b.LastOfferRound && a.PassedOver == b.PassedOver &&
		a.ReturnedAt == b.ReturnedAt && a.WaitedSince == b.WaitedSince &&
		a.Session == b.Session && a.Checkout == b.Checkout
}
