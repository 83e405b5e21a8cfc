package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// roomColumns are the columns of a row of rooms that scanRoom reads.
func (tx *Tx) roomColumns() string {
	return roomTable().names + ", room_id, canonical_path, last_sum, " + tx.db.dialect.PathsColumn()
}

// scanRoom reads a row of roomColumns.
func (tx *Tx) scanRoom(scan rowScan) (stick.Room, error) {
	var r stick.Room
	var sum, key, paths string
	if err := roomTable().read(scan, &r, &r.ID, &key, &sum, &paths); err != nil {
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

	return r, nil
}

// policyText has the policy of a room as JSON.
type policyText struct {
	of   *stick.Policy
	text string
}

func policyOf(field *stick.Policy) *policyText { return &policyText{of: field} }

func (p *policyText) encode() (any, error) {
	b, err := json.Marshal(p.of)
	return string(b), err
}

func (p *policyText) place() any { return &p.text }

// decodedPolicy is the policy that was decoded last. Every read of a room needs one, and most rooms have the
// same.
type decodedPolicy struct {
	text   string
	policy stick.Policy
}

var lastPolicy atomic.Pointer[decodedPolicy]

func (p *policyText) decode() error {
	// No room has an empty policy.
	if last := lastPolicy.Load(); last != nil && last.text == p.text {
		*p.of = last.policy
		return nil
	}

	if err := json.Unmarshal([]byte(p.text), p.of); err != nil {
		return err
	}
	lastPolicy.Store(&decodedPolicy{p.text, *p.of})
	return nil
}

// Room loads a room with its members and listeners. It fails with [stick.CodeNoRoom].
func (tx *Tx) Room(id stick.RoomID) (stick.Room, error) {
	if err := tx.lockRoom(id); err != nil {
		return stick.Room{}, err
	}

	r, ok, err := tx.loadRoom(id)
	if err == nil && !ok {
		err = stick.Errorf(stick.CodeNoRoom, "there is no room %q", stick.Clip(string(id), 60)).
			Hintf("see the rooms: %s", stick.Cmd("tt list --all"))
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

	// Where RoomAt has found no room, the paths are locked already.
	if _, err := tx.lockClass(dialect.PathsClass); err != nil {
		return r, err
	}

	args, err := roomTable().insertArgs(&r, r.ID, cmp.Or(r.Key, r.Path), tx.Now(), 0, "")
	if err != nil {
		return r, err
	}

	err = tx.exec(roomTable().insert, args...)
	if err == nil && key != "" {
		r, err = tx.Checkout(r, path)
	}

	tx.addBell(&tx.rings, roomsBell)
	return r, err
}

// Save stores a room as a rule has changed it, together with the rule's events. It gives the events their
// sequence numbers and returns the room as it was stored. After the commit those waiters wake whom it concerns.
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
	tx.RingFor(after.ID, after.RingAfter(before, events), len(events) > 0)
	if len(events) > 0 {
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

	if roomTable().differs(&before, &after, fixed) != "" {
		if err := tx.saveTurn(after); err != nil {
			return after, nil, err
		}
	}

	return after, events, nil
}

// saveTurn stores what the row of a room holds besides its path and the end of its log.
func (tx *Tx) saveTurn(r stick.Room) error {
	args, err := roomTable().updateArgs(&r, r.ID)
	if err != nil {
		return err
	}
	return tx.exec(roomTable().update, args...)
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
	err := tx.scanLater("SELECT "+memberTable().names+`,
		COALESCE((SELECT MAX(hooks_at) FROM sessions s WHERE s.agent_id = m.agent_id AND s.ended_at = 0), 0) > 0,
		COALESCE((SELECT MAX(busy_since) FROM sessions s WHERE s.agent_id = m.agent_id AND s.ended_at = 0), 0),
		COALESCE((SELECT MAX(idle_at) FROM sessions s WHERE s.agent_id = m.agent_id AND s.ended_at = 0), 0)
		FROM members m WHERE room_id = ?`+only+` ORDER BY ordinal, agent_id`,
		append([]any{id}, args...), func(scan rowScan) error {
			var m stick.Member
			err := memberTable().read(scan, &m, &m.HooksSeen, &m.BusySince, &m.IdleAt)

			*out = append(*out, m)
			tx.evidence[m.Agent] = nil
			return err
		})
	if err != nil {
		return err
	}

	return tx.scanLater("SELECT "+processTable().namesOf("p")+`, p.agent_id, p.gone_at > 0
		FROM processes p JOIN members m ON m.agent_id = p.agent_id
		WHERE m.room_id = ?`+only+` ORDER BY p.seen_at, p.process_key`,
		append([]any{id}, args...), func(scan rowScan) error {
			var a stick.AgentID
			var e stick.Evidence
			if err := processTable().read(scan, &e, &a, &e.Gone); err != nil {
				return err
			}

			if i := slices.IndexFunc(*out, func(m stick.Member) bool { return m.Agent == a }); i >= 0 {
				(*out)[i].Processes = append((*out)[i].Processes, e)
				tx.evidence[a] = (*out)[i].Processes
			}
			return nil
		})
}

// saveMember stores a member, if it is new or anything has changed that its row holds. What else a member has
// comes from its sessions and processes.
func (tx *Tx) saveMember(room stick.RoomID, was, m stick.Member, known bool) error {
	if !known {
		args, err := memberTable().insertArgs(&m, room)
		if err != nil {
			return err
		}
		return tx.exec(memberTable().insert, args...)
	}

	if memberTable().differs(&was, &m) == "" {
		return nil
	}

	args, err := memberTable().updateArgs(&m, room, m.Agent)
	if err != nil {
		return err
	}
	return tx.exec(memberTable().update, args...)
}
