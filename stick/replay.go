package stick

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Record is what the log alone says about a room: everything in the store that follows from the events. A
// check rebuilds it from them and compares it with what is stored.
type Record struct {
	Turn       int64
	State      TurnState
	Closed     bool
	Paused     Pause
	Owner      AgentID
	LeaseSum   string
	Reserved   AgentID
	ReservedBy ReservedBy
	Prior      AgentID
	HandoffSeq int64
	Pending    bool
	Direct     bool
	NextAction string
	Members    map[AgentID]MemberRecord
	Sessions   map[AgentID]Session
	Policy     map[string]string // those that were ever changed
	NextTurn   map[string]string // those that change with the next turn
	Generation int64
	Messages   int64 // since the last grant
	Sum        string
	EndedAt    Time   // of the last primary session that ended by its own act
	Path       string // where the room was moved last, empty if it never was
	Events     int64

	Receipts map[ReceiptKey]Receipt `json:"-"`
	Notes    map[int64]Note
	Tasks    map[string]Task            // by their keys
	Attempts map[AttemptKey]TaskAttempt `json:"-"`
	Reviews  map[int64]TaskReview
	Comments map[CommentKey]Comment `json:"-"` // those that were sent

	Reservations map[int64]Reservation

	senders map[int64]AgentID // of messages
	base    *replayBase       // the checkpoint with which the log begins; nil if it begins with its first event
}

// ReceiptKey names a receipt within its room.
type ReceiptKey struct {
	Event int64
	Agent AgentID
}

// AttemptKey names an attempt within its room.
type AttemptKey struct {
	Task   string // its key
	Number int
}

// CommentKey names a comment within its room.
type CommentKey struct {
	Task string // its key
	ID   int
}

// MemberRecord is what the log alone says of a member.
type MemberRecord struct {
	State   MemberState
	Ordinal int
	JoinSeq int64
	HeldSeq int64
	Name    string
}

// Replay applies an event to the record. Events come in the order of the log. Replay fails if the event
// can't follow those before it: a rule broke a law, or somebody changed the log. The row of each type says
// what its events change.
func (c *Record) Replay(e Event) error {
	if c.Members == nil {
		c.startEmpty()
	}

	// What was kept of the removed part is in the record already.
	if c.base.hasRemoved(e.Seq) {
		c.Events++
		return c.base.replayKept(e)
	}

	// A changed, lost or swapped row shows here.
	if sum := e.Chain(c.Sum); sum != e.Sum {
		return fmt.Errorf("event %d: its sum doesn't follow from the events before it", e.Seq)
	}

	c.Sum = e.Sum
	c.Events++

	info, known := e.Type.findRow()
	if !known {
		info = &EventInfo{}
	}

	// Of a type that only a newer program knows, nothing but the turn is checked.
	var p Payload
	err := c.base.requireKept()
	if err == nil {
		err = c.inTurn(e, info.turn)
	}
	if err == nil && known {
		p, err = info.replayEvent(c, &e)
	}
	if err != nil {
		return fmt.Errorf("event %d (%s of turn %d): %w", e.Seq, e.Type, e.Turn, err)
	}

	// The payload was decoded to replay it: that takes most of the time of a check.
	for _, r := range e.receiptsBy(p) {
		c.Receipts[ReceiptKey{r.Event, r.Agent}] = r
	}

	return nil
}

// startEmpty makes the record of a room in which nothing has happened.
func (c *Record) startEmpty() {
	c.State = Idle
	c.Members, c.Sessions = map[AgentID]MemberRecord{}, map[AgentID]Session{}
	c.Policy, c.NextTurn = map[string]string{}, map[string]string{}
	c.Receipts, c.Notes, c.senders = map[ReceiptKey]Receipt{}, map[int64]Note{}, map[int64]AgentID{}
	c.Reservations = map[int64]Reservation{}
	c.Tasks, c.Attempts, c.Reviews = map[string]Task{}, map[AttemptKey]TaskAttempt{}, map[int64]TaskReview{}
	c.Comments = map[CommentKey]Comment{}
}

// inTurn checks that an event has the turn id that its type requires. The first event of a room says after
// which turn its turns begin: where a database before this one had rooms, above theirs.
func (c *Record) inTurn(e Event, rule turnRule) error {
	isFirst := c.Events == 1 && c.base == nil
	if isFirst && rule == currentTurn {
		c.Turn = e.Turn
	}

	switch {
	case rule == nextTurn && e.Turn != c.Turn+1:
		return fmt.Errorf("turn ids rise by one, and turn %d came before", c.Turn)
	case rule == currentTurn && e.Turn != c.Turn:
		return fmt.Errorf("turn %d is current", c.Turn)
	}
	return nil
}

// replayNothing replays an event that changes nothing in the record except for receipts.
func replayNothing[P Payload](*Record, *Event, P) error { return nil }

// handOver replays the end of a turn with a handoff.
func (c *Record) handOver(e *Event, lease string, by ReservedBy) error {
	if c.Owner != e.From || c.LeaseSum != lease {
		return errors.New("the one who releases doesn't own")
	}
	if e.Handoff == nil {
		return errors.New("it lacks its handoff")
	}

	c.endTurn(e.From, e.Seq)
	c.HandoffSeq, c.Pending, c.NextAction = e.Seq, true, Clip(e.Handoff.NextAction, 80)
	c.reserveStick(e.To, by)
	return nil
}

// endTurn ends the turn of an owner.
func (c *Record) endTurn(owner AgentID, seq int64) {
	c.changeMember(owner, func(m *MemberRecord) { m.HeldSeq = seq })
	c.freeStick()
	c.Prior = owner
}

// changeReceipt changes a recipient's receipt for a message.
func (c *Record) changeReceipt(message int64, a AgentID, change func(Receipt) (Receipt, error)) error {
	k := ReceiptKey{message, a}
	r, ok := c.Receipts[k]
	if !ok {
		return errors.New("the one who reads is no recipient")
	}

	r, err := change(r)
	if err == nil {
		c.Receipts[k] = r
	}

	return err
}

// addressPeople puts an event into the inboxes of people.
func addressPeople(e *Event, people []AgentID) {
	for _, a := range people {
		e.For = append(e.For, Addressee{a, OwesReading})
	}
}

// addressOwed addresses an event to the senders of messages that won't be acknowledged because of it.
func (c *Record) addressOwed(e *Event, messages []int64) {
	for _, id := range messages {
		if a := c.senders[id]; a != e.From {
			e.For = append(e.For, Addressee{Agent: a})
		}
	}
}

// TellAll addresses an event to everybody in the room, except for who made it.
func (c *Record) tellAll(e *Event) {
	for a, m := range c.Members {
		if m.State == Joined && a != e.From {
			e.For = append(e.For, Addressee{Agent: a})
		}
	}
}

// listAddressees returns the addressees of a message.
func (c *Record) listAddressees(from AgentID, m Message) (out []Addressee) {
	to := m.To
	switch {
	case m.IsToNobody():
		return nil
	case m.IsToEverybody():
		to = nil
		for a, x := range c.Members {
			if x.State == Joined && a != from && !slices.Contains(m.LeftOut, a) {
				to = append(to, a)
			}
		}
	}
	owes := OwesReading
	if m.RequiresAck {
		owes = OwesAck
	}

	for _, a := range to {
		out = append(out, Addressee{a, owes})
	}

	return out
}

func (c *Record) changeMember(a AgentID, change func(*MemberRecord)) {
	m := c.Members[a]
	change(&m)
	c.Members[a] = m
}

// endReservations ends the reservations of a member that takes part no longer.
func (c *Record) endReservations(a AgentID) {
	maps.DeleteFunc(c.Reservations, func(_ int64, v Reservation) bool { return v.Agent == a })
}

// EndSession ends the session of a member.
func (c *Record) endSession(a AgentID) {
	if s, ok := c.Sessions[a]; ok {
		s.Running = false
		c.Sessions[a] = s
	}
}

func (c *Record) grantTurn(a AgentID, lease string, byClaim bool) error {
	if c.Paused.On() {
		return errors.New("the room is paused")
	}

	// Only a claim hands the last handoff straight on; a takeover finds it as a recovery.
	direct := c.Pending && byClaim
	c.freeStick()
	c.Turn++
	c.Messages = 0
	maps.Copy(c.Policy, c.NextTurn)
	clear(c.NextTurn)
	c.State, c.Owner, c.LeaseSum, c.Pending, c.Direct = Owned, a, lease, false, direct

	return nil
}

func (c *Record) freeStick() {
	c.State, c.Owner, c.LeaseSum, c.Reserved, c.ReservedBy, c.Direct = Idle, "", "", "", "", false
}

func (c *Record) reserveStick(a AgentID, by ReservedBy) {
	if a != "" {
		c.State, c.Reserved, c.ReservedBy = Reserved, a, by
	}
}

// Rebuild returns a room with all that its log says of it, which is what [Record.Differs] compares. A log doesn't
// have the lease of a turn, only its sum: the caller ends a turn that is held.
func (c *Record) Rebuild(r Room) (Room, error) {
	r.Turn.ID, r.Turn.State, r.Turn.Owner = c.Turn, c.State, c.Owner
	r.Turn.ReservedFor, r.Turn.ReservedBy, r.Turn.Prior = c.Reserved, c.ReservedBy, c.Prior
	r.Turn.HandoffSeq, r.Turn.HandoffPending, r.Turn.HandoffDirect = c.HandoffSeq, c.Pending, c.Direct
	r.Turn.NextAction, r.Turn.Messages = c.NextAction, c.Messages
	r.Closed, r.Paused, r.SessionEndedAt = c.Closed, c.Paused, c.EndedAt
	r.Path = cmp.Or(c.Path, r.Path)

	for _, name := range slices.Sorted(maps.Keys(c.Policy)) {
		var err error
		if r.Policy, err = r.Policy.Set(name, c.Policy[name]); err != nil {
			return r, err
		}
	}

	for _, k := range PolicyKeys {
		if next := c.NextTurn[k.Name]; next != "" {
			d, err := time.ParseDuration(next)
			if err != nil {
				return r, err
			}
			*k.next(&r.Policy.NextTurn) = d
		}
	}

	r.Members = nil
	for a, m := range c.Members {
		r.Members = append(r.Members, Member{
			Agent: a, Name: m.Name, State: m.State, Ordinal: m.Ordinal,
			JoinSeq: m.JoinSeq, HeldSeq: m.HeldSeq, Session: c.Sessions[a],
		})
	}

	slices.SortFunc(r.Members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Agent, b.Agent))
	})

	return r, nil
}

// Differs names a difference between a stored room and its log, and returns "" if there is none.
func (c *Record) Differs(r Room) string {
	t := r.Turn
	lease := ""
	if t.Lease != "" {
		lease = LeaseSum(t.Lease)
	}

	type difference struct {
		name           string
		stored, logged any
	}
	var found []difference
	compare := func(name string, stored, logged any) {
		if stored != logged {
			found = append(found, difference{name, stored, logged})
		}
	}

	compare("turn_id", t.ID, c.Turn)
	compare("state", t.State, c.State)
	compare("closed", r.Closed, c.Closed)
	compare("paused", r.Paused, c.Paused)
	compare("owner", t.Owner, c.Owner)
	compare("lease", lease, c.LeaseSum)
	compare("reserved_for", t.ReservedFor, c.Reserved)
	compare("reserved_by", t.ReservedBy, c.ReservedBy)
	compare("prior_owner", t.Prior, c.Prior)
	compare("handoff_direct", t.HandoffDirect, c.Direct)
	compare("next_action", t.NextAction, c.NextAction)
	compare("handoff_event_seq", t.HandoffSeq, c.HandoffSeq)
	compare("handoff_pending", t.HandoffPending, c.Pending)
	compare("messages", t.Messages, c.Messages)
	compare("session_ended_at", r.SessionEndedAt, c.EndedAt)
	compare("the number of members", len(r.Members), len(c.Members))

	if c.Path != "" {
		compare("canonical_path", r.Path, c.Path)
	}

	// The log only knows policies that were ever changed.
	for k, v := range c.Policy {
		if stored := r.Policy.Get(k); stored != v {
			compare("policy "+k, stored, v)
		}
	}

	for _, k := range PolicyKeys {
		if stored, logged := r.Policy.Next(k.Name), c.NextTurn[k.Name]; stored != logged {
			compare("policy "+k.Name+" of the next turn", stored, logged)
		}
	}

	for _, m := range r.Members {
		stored := MemberRecord{m.State, m.Ordinal, m.JoinSeq, m.HeldSeq, m.Name}
		compare("member "+string(m.Agent), stored, c.Members[m.Agent])
		compare("the session of "+string(m.Agent), m.Session, c.Sessions[m.Agent])
	}

	if len(found) == 0 {
		return ""
	}

	// Maps have no order; the first name makes the answer the same each time.
	d := slices.MinFunc(found, func(a, b difference) int { return strings.Compare(a.name, b.name) })
	return fmt.Sprintf("%s is %v, and the log says %v", d.name, d.stored, d.logged)
}
