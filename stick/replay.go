package stick

import (
	"fmt"
	"maps"
	"slices"
)

// Record is what the log alone says of a room: everything in the store that is derived. It is
// rebuilt from the events and compared with what is stored.
type Record struct {
	Turn       int64
	State      TurnState
	Closed     bool
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
	Policy     map[string]string // changed from the default
	Generation int64
	Messages   int64 // since the last grant
	Sum        string
	EndedAt    Time // of the last primary session that ended by its own act
	Events     int64

	Receipts map[ReceiptKey]Receipt
	Notes    map[int64]Note
	Tasks    map[string]Task // by their keys
	Attempts map[AttemptKey]TaskAttempt
	Reviews  map[int64]TaskReview

	Reservations map[int64]Reservation

	senders map[int64]AgentID // of messages
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

// MemberRecord is what the log alone says of a member.
type MemberRecord struct {
	State   MemberState
	Ordinal int
	JoinSeq int64
	HeldSeq int64
}

// Replay adds an event to the record, in the order of the log. It fails when the event can't
// follow what came before: that breaks a law, or the log was changed.
func (c *Record) Replay(e Event) error {
	if c.Members == nil {
		c.Members, c.Policy, c.State = map[AgentID]MemberRecord{}, map[string]string{}, Idle
		c.Sessions = map[AgentID]Session{}
		c.Receipts, c.Notes, c.senders = map[ReceiptKey]Receipt{}, map[int64]Note{}, map[int64]AgentID{}
		c.Reservations = map[int64]Reservation{}
		c.Tasks, c.Attempts, c.Reviews = map[string]Task{}, map[AttemptKey]TaskAttempt{}, map[int64]TaskReview{}
	}
	if sum := e.Chain(c.Sum); sum != e.Sum {
		return fmt.Errorf("event %d: its sum doesn't follow from the events before it", e.Seq)
	}
	c.Sum = e.Sum
	c.Events++
	f := e.Facts()
	wrong := func(what string) error {
		return fmt.Errorf("event %d (%s of turn %d): %s", e.Seq, e.Type, e.Turn, what)
	}
	grants := e.Type == EventClaim || e.Type == EventTakeover
	switch {
	case grants && e.Turn != c.Turn+1:
		return wrong(fmt.Sprintf("turn ids rise by one, and turn %d came before", c.Turn))
	case !grants && e.Type != EventRestored && e.Turn != c.Turn:
		return wrong(fmt.Sprintf("turn %d is current", c.Turn))
	}
	switch e.Type {
	case EventJoin:
		m := c.Members[e.From]
		m.State, m.JoinSeq = Joined, e.Seq
		if m.Ordinal == 0 {
			m.Ordinal = f.Ordinal
		}
		c.Members[e.From] = m
	case EventLeave:
		c.unreserve(e.From)
		c.member(e.From, func(m *MemberRecord) { m.State = Left })
		if c.Sessions[e.From].Running {
			return wrong("its session hasn't ended")
		}
		if f.Ends {
			if c.Owner != e.From || c.LeaseSum != f.Lease {
				return wrong("the one who abandons doesn't own")
			}
			c.held(e.From, e.Seq)
			c.free()
			c.Prior = e.From
		}
	case EventKick:
		c.unreserve(e.To)
		c.member(e.To, func(m *MemberRecord) { m.State = Kicked })
		c.over(e.To)
		if f.Ends {
			c.held(e.To, e.Seq)
			c.free()
			c.Prior = e.To
		}
	case EventClaim:
		if c.State == Owned {
			return wrong("the stick is owned by " + string(c.Owner))
		}
		if f.Claim != OpenClaim && c.Reserved != e.From {
			return wrong("the stick is reserved for " + string(c.Reserved))
		}
		if f.Claim == OpenClaim && c.State != Idle {
			return wrong("the stick isn't free")
		}
		c.grant(e.From, f.Lease, true)
	case EventTakeover:
		if f.Ends {
			c.held(f.Prior, e.Seq)
			c.Prior = f.Prior
		}
		c.grant(e.From, f.Lease, false)
	case EventRelease, EventPass:
		if c.Owner != e.From || c.LeaseSum != f.Lease {
			return wrong("the one who releases doesn't own")
		}
		if e.Handoff == nil {
			return wrong("it lacks its handoff")
		}
		c.held(e.From, e.Seq)
		c.free()
		c.Prior = e.From
		c.HandoffSeq, c.Pending, c.NextAction = e.Seq, true, clip(e.Handoff.NextAction, 80)
		c.reserve(e.To, e.Type)
	case EventRerouted:
		c.free()
		c.reserve(e.To, e.Type)
	case EventClose:
		c.Closed = true
		c.free()
	case EventReopen:
		c.Closed = false
	case EventRestored:
		if e.Turn < c.Turn {
			return wrong("turn ids never fall")
		}
		if f.Ends {
			c.held(f.Prior, e.Seq)
		}
		c.free()
		c.Prior = ""
		c.Turn, c.Generation = e.Turn, f.Generation
		clear(c.Reservations)
	case EventPolicyChanged:
		for k, v := range f.Policy {
			c.Policy[k] = v.To
		}
		for i, a := range f.Order {
			c.member(a, func(m *MemberRecord) { m.Ordinal = i + 1 })
		}
	case EventMessageSent:
		if f.Message == nil {
			return wrong("it lacks its message")
		}
		c.Messages++
		c.senders[e.Seq] = e.From
		e.For = c.recipients(e, *f.Message)
	case EventMessageRead, EventMessageAcked:
		k := ReceiptKey{f.MessageID, e.From}
		r, ok := c.Receipts[k]
		if !ok {
			return wrong("the one who reads is no recipient")
		}
		if r = r.Read(e.CreatedAt); e.Type == EventMessageAcked {
			var err error
			if r, err = r.Ack(e.CreatedAt); err != nil {
				return wrong(err.Error())
			}
		}
		c.Receipts[k] = r
	case EventMessageWithdrawn:
		for k, r := range c.Receipts {
			if after := r.Withdraw(); k.Event == f.MessageID && after != r {
				c.Receipts[k] = after
				e.For = append(e.For, Addressee{Agent: k.Agent})
			}
		}
	case EventSessionStarted:
		c.over(f.Prior)
		for a, s := range c.Sessions {
			if a != e.From && f.Role == RolePrimary && s.Running && s.Role == RolePrimary {
				return wrong(string(a) + " is the primary")
			}
		}
		c.Sessions[e.From] = Session{f.Role, f.Context, true, e.CreatedAt}
	case EventSessionEnded:
		if !c.Sessions[e.From].Running {
			return wrong("it has no session")
		}
		c.over(e.From)
		if f.Role == RolePrimary {
			c.EndedAt = e.CreatedAt
		}
	case EventNoteAdded:
		c.Notes[e.Seq] = NoteOf(e)
	case EventNoteResolved:
		n, ok := c.Notes[f.NoteID]
		if !ok {
			return wrong("there is no such note")
		}
		n.ResolvedAt, n.ResolvedBy = e.CreatedAt, e.From
		c.Notes[f.NoteID] = n
	case EventReserved:
		delete(c.Reservations, f.Replaces)
		c.Reservations[e.Seq] = ReservationOf(e)
	case EventUnreserved:
		if _, ok := c.Reservations[f.ReservationID]; !ok {
			return wrong("there is no such reservation")
		}
		delete(c.Reservations, f.ReservationID)
	}
	if err := c.task(e); err != nil {
		return wrong(err.Error())
	}
	for _, a := range f.Told {
		e.For = append(e.For, Addressee{a, OwesReading})
	}
	for _, id := range f.Owed {
		if a := c.senders[id]; a != e.From {
			e.For = append(e.For, Addressee{Agent: a})
		}
	}
	for _, r := range e.Receipts() {
		c.Receipts[ReceiptKey{r.Event, r.Agent}] = r
	}
	return nil
}

// task adds an event of a task.
func (c *Record) task(e Event) error {
	if !e.Type.OfTask() {
		return nil
	}
	key := TaskKey(e.Task)
	t, err := c.Tasks[key].Apply(e)
	if err != nil {
		return err
	}
	c.Tasks[key] = t
	k := AttemptKey{key, t.Attempt}
	c.Attempts[k] = c.Attempts[k].Apply(e)
	if r, ok := ReviewOf(e); ok {
		c.Reviews[r.Seq] = r
	}
	return nil
}

// recipients are those a message is for.
func (c *Record) recipients(e Event, m Message) (out []Addressee) {
	to := m.To
	switch {
	case m.nobody():
		return nil
	case m.everybody():
		to = nil
		for a, x := range c.Members {
			if x.State == Joined && a != e.From && !slices.Contains(m.LeftOut, a) {
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

func (c *Record) member(a AgentID, change func(*MemberRecord)) {
	m := c.Members[a]
	change(&m)
	c.Members[a] = m
}

// unreserve ends the reservations of one who takes part no longer.
func (c *Record) unreserve(a AgentID) {
	maps.DeleteFunc(c.Reservations, func(_ int64, v Reservation) bool { return v.Agent == a })
}

// over ends the session of a member.
func (c *Record) over(a AgentID) {
	if s, ok := c.Sessions[a]; ok {
		s.Running = false
		c.Sessions[a] = s
	}
}

func (c *Record) held(a AgentID, seq int64) {
	c.member(a, func(m *MemberRecord) { m.HeldSeq = seq })
}

func (c *Record) grant(a AgentID, lease string, byClaim bool) {
	direct := c.Pending && byClaim
	c.free()
	c.Turn++
	c.Messages = 0
	c.State, c.Owner, c.LeaseSum, c.Pending, c.Direct = Owned, a, lease, false, direct
}

func (c *Record) free() {
	c.State, c.Owner, c.LeaseSum, c.Reserved, c.ReservedBy, c.Direct = Idle, "", "", "", "", false
}

func (c *Record) reserve(a AgentID, by EventType) {
	switch {
	case a == "":
	case by == EventPass:
		c.State, c.Reserved, c.ReservedBy = Reserved, a, ByPass
	default:
		c.State, c.Reserved, c.ReservedBy = Reserved, a, ByRelease
	}
}

// Differs says in what a stored room differs from what its log says; "" if in nothing.
func (c *Record) Differs(r Room) string {
	t := r.Turn
	lease := ""
	if t.Lease != "" {
		lease = LeaseSum(t.Lease)
	}
	type pair struct{ stored, logged any }
	facts := map[string]pair{
		"turn_id":               {t.ID, c.Turn},
		"state":                 {t.State, c.State},
		"closed":                {r.Closed, c.Closed},
		"owner":                 {t.Owner, c.Owner},
		"lease":                 {lease, c.LeaseSum},
		"reserved_for":          {t.ReservedFor, c.Reserved},
		"reserved_by":           {t.ReservedBy, c.ReservedBy},
		"prior_owner":           {t.Prior, c.Prior},
		"handoff_direct":        {t.HandoffDirect, c.Direct},
		"next_action":           {t.NextAction, c.NextAction},
		"handoff_event_seq":     {t.HandoffSeq, c.HandoffSeq},
		"handoff_pending":       {t.HandoffPending, c.Pending},
		"messages":              {t.Messages, c.Messages},
		"session_ended_at":      {r.SessionEndedAt, c.EndedAt},
		"the number of members": {len(r.Members), len(c.Members)},
	}
	for k, v := range c.Policy {
		facts["policy "+k] = pair{r.Policy.Get(k), v}
	}
	for _, m := range r.Members {
		facts["member "+string(m.Agent)] = pair{
			MemberRecord{m.State, m.Ordinal, m.JoinSeq, m.HeldSeq}, c.Members[m.Agent],
		}
	}
	for _, m := range r.Members {
		facts["the session of "+string(m.Agent)] = pair{m.Session, c.Sessions[m.Agent]}
	}
	var names []string
	for name, p := range facts {
		if p.stored != p.logged {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	p := facts[names[0]]
	return fmt.Sprintf("%s is %v, and the log says %v", names[0], p.stored, p.logged)
}
