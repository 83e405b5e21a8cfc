package stick

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"talkingstick/stick/glob"
)

// EventType names a kind of event. Types are a stored, public format: never renamed, never
// reused.
type EventType string

// The types of events.
const (
	EventJoin          EventType = "join"
	EventLeave         EventType = "leave"
	EventKick          EventType = "kick"
	EventClaim         EventType = "claim"
	EventRelease       EventType = "release"
	EventPass          EventType = "pass"
	EventRerouted      EventType = "rerouted"
	EventTakeover      EventType = "takeover"
	EventClose         EventType = "close"
	EventReopen        EventType = "reopen"
	EventRestored      EventType = "restored"
	EventPolicyChanged EventType = "policy_changed"
	EventOwnerIdle     EventType = "owner_idle"

	EventMessageSent      EventType = "message_sent"
	EventMessageRead      EventType = "message_read"
	EventMessageAcked     EventType = "message_acked"
	EventMessageWithdrawn EventType = "message_withdrawn"
	EventNoteAdded        EventType = "note_added"
	EventNoteResolved     EventType = "note_resolved"

	EventReserved    EventType = "reserved"
	EventUnreserved  EventType = "unreserved"
	EventIncursion   EventType = "incursion"
	EventResume      EventType = "resume"
	EventStickDenied EventType = "stick_denied"
	EventLateEdit    EventType = "late_edit"

	EventSessionStarted EventType = "session_started"
	EventSessionEnded   EventType = "session_ended"

	EventTaskAssigned         EventType = "task_assigned"
	EventTaskStarted          EventType = "task_started"
	EventTaskConflicted       EventType = "task_conflicted"
	EventTaskReviewRequested  EventType = "task_review_requested"
	EventTaskApproved         EventType = "task_approved"
	EventTaskChangesRequested EventType = "task_changes_requested"
	EventTaskMergeStarted     EventType = "task_merge_started"
	EventTaskCompleted        EventType = "task_completed"
	EventTaskFailed           EventType = "task_failed"
	EventTaskRetried          EventType = "task_retried"
	EventTaskRolledBack       EventType = "task_rolled_back"
)

// Event is a row of the append-only log. It carries what was true when it happened.
type Event struct {
	Seq       int64           `json:"event_seq"` // the order of all events, and the cursor
	ID        string          `json:"event_id"`
	Room      RoomID          `json:"room_id"`
	Turn      int64           `json:"turn_id"`
	Type      EventType       `json:"event_type"`
	From      AgentID         `json:"from_agent_id,omitempty"`
	To        AgentID         `json:"to_agent_id,omitempty"`
	Session   string          `json:"session_id,omitempty"`
	Task      string          `json:"task_id,omitempty"` // free text
	Handoff   *Handoff        `json:"handoff,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"`
	CreatedAt Time            `json:"created_at"`
	Sum       string          `json:"-"` // chained over the room's events, see Chain

	// For lists whom the event is for beside To. The rule that makes an event fills it in; the log
	// needn't keep it, because it follows from the events before.
	For []Addressee `json:"-"`
}

// Facts is the payload of an event: what was true when it was made. Each type uses the fields that
// say something about it.
type Facts struct {
	Ordinal    int               `json:"ordinal,omitempty"`     // join: place in the order
	Override   string            `json:"override,omitempty"`    // any: where an assumed name came from
	Terminal   string            `json:"terminal,omitempty"`    // any: a person's terminal
	Claim      ClaimReason       `json:"claim,omitempty"`       // claim
	Lease      string            `json:"lease,omitempty"`       // grants and ends of grants: LeaseSum
	HandoffSeq int64             `json:"handoff_seq,omitempty"` // grants: the handoff that was waiting
	Cause      Cause             `json:"cause,omitempty"`       // takeover
	Prior      AgentID           `json:"prior,omitempty"`       // takeover, kick, restored: who lost the stick or a reservation; session_started: whose session never ended, the primary's or that of the helper whose context file it has now
	Verdict    Verdict           `json:"verdict,omitempty"`     // takeover, kick, session_started: of Prior or of the member kicked
	Ends       bool              `json:"ends_turn,omitempty"`   // leave, kick, restored: a turn ended without a handoff
	Reachable  *bool             `json:"reachable,omitempty"`   // pass: the recipient listens
	Expires    Time              `json:"claim_expires_at,omitzero"`
	Nobody     string            `json:"nobody,omitempty"`     // release, rerouted: why nobody is named
	RelayedBy  AgentID           `json:"relayed_by,omitempty"` // takeover, kick: the agent that relayed a person's word
	Told       []AgentID         `json:"told,omitempty"`       // takeover, kick: the people in whose inboxes it lies
	Forced     bool              `json:"forced,omitempty"`     // kick
	Policy     map[string]Change `json:"policy,omitempty"`     // policy_changed
	Order      []AgentID         `json:"order,omitempty"`      // policy_changed: the new order of members
	IdleSince  Time              `json:"idle_since,omitzero"`  // owner_idle
	Generation int64             `json:"generation,omitempty"` // restored
	World      string            `json:"world,omitempty"`      // restored: "reboot" or "restore"
	Owed       []int64           `json:"owed,omitempty"`       // leave, kick: messages that won't be acknowledged now

	Role    Role   `json:"role,omitempty"`      // session_started, session_ended
	Context string `json:"context,omitempty"`   // session_started, session_ended: the name of its context file; absent for the primary's own
	Start   Start  `json:"start,omitempty"`     // session_started: how it began
	Written Time   `json:"written_at,omitzero"` // session_started: when the context file that it recovers was last written

	*Message         // message_sent, incursion, resume
	MessageID int64  `json:"message_id,omitempty"` // message_read, message_acked, message_withdrawn
	Note      string `json:"note,omitempty"`       // note_added
	NoteTurn  int64  `json:"note_turn,omitempty"`  // note_added: the turn that it is about
	NoteID    int64  `json:"note_id,omitempty"`    // note_resolved

	Pattern       glob.Pattern `json:"pattern,omitempty"`        // reserved, unreserved, resume: the pattern; incursion: the one asked for
	TTL           Millis       `json:"ttl_ms,omitempty"`         // reserved
	Replaces      int64        `json:"replaces,omitempty"`       // reserved: the same agent's reservation that it stands for now
	ReservationID int64        `json:"reservation_id,omitempty"` // unreserved, incursion, resume: the reservation that stood
	Stale         bool         `json:"stale,omitempty"`          // unreserved: it was taken over because it was stale
	Held          glob.Pattern `json:"held,omitempty"`           // incursion: the pattern of the reservation that stood
	Witness       string       `json:"example,omitempty"`        // incursion: a path that both mean
	Paths         []string     `json:"paths,omitempty"`          // stick_denied, late_edit: some of them
	Tool          string       `json:"tool,omitempty"`           // late_edit: by which tool of the harness
	NeverHeld     bool         `json:"never_held,omitempty"`     // late_edit: the agent never had the stick
	Task          *TaskFacts   `json:"task,omitempty"`           // events of tasks
}

// Change is what a value was and what it became.
type Change struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// LeaseSum stands for a lease in the log, which everybody may read: it shows that two leases are
// the same and doesn't give them away.
func LeaseSum(l LeaseID) string {
	h := sha256.Sum256([]byte("lease " + l))
	return hex.EncodeToString(h[:8])
}

// Facts decodes the payload of an event of the stick. An unknown or damaged payload gives empty
// facts: an older program can still read a newer log.
func (e Event) Facts() Facts {
	var f Facts
	_ = json.Unmarshal(e.Payload, &f)
	return f
}

func (e Event) with(f Facts) Event {
	b, err := json.Marshal(f)
	if err != nil {
		panic("facts can't be marshalled: " + err.Error()) // plain values: a fault of this package
	}
	if string(b) != "{}" {
		e.Payload = b
	}
	return e
}

// Amend adds to the facts of an event before it is stored.
func (e Event) Amend(change func(*Facts)) Event {
	f := e.Facts()
	change(&f)
	return e.with(f)
}

// Chain returns the sum of e after an event whose sum was prev: a SHA-256 over prev and every
// field of e, each with its length, so that a changed, lost or swapped row shows.
func (e Event) Chain(prev string) string {
	h := sha256.New()
	field := func(b []byte) {
		var n [8]byte
		for i := range n {
			n[i] = byte(len(b) >> (8 * i))
		}
		h.Write(n[:])
		h.Write(b)
	}
	handoff := []byte{}
	if e.Handoff != nil {
		handoff, _ = json.Marshal(e.Handoff)
	}
	field([]byte(prev))
	numbers, _ := json.Marshal([]int64{e.Seq, e.Turn, int64(e.CreatedAt)})
	field(numbers)
	for _, s := range []string{
		e.ID, string(e.Room), string(e.Type), string(e.From), string(e.To),
		e.Session, e.Task, string(handoff), e.Reason, string(e.Payload),
	} {
		field([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Addressees are those an event is for: something that changes what they may do next, or asks
// something of them, and that they didn't do themselves.
func (e Event) Addressees() []Addressee {
	switch e.Type {
	case EventIncursion: // both sides; the one who came in learns it from the answer to its call
		return []Addressee{{e.To, OwesReading}, {Agent: e.From}}
	case EventLateEdit:
		both := []Addressee{{e.From, OwesReading}}
		if e.To != "" {
			both = append(both, Addressee{e.To, OwesReading})
		}
		return both
	case EventUnreserved, EventResume:
		if e.To == "" {
			return nil
		}
		return []Addressee{{e.To, OwesReading}}
	}
	named := slices.ContainsFunc(e.For, func(a Addressee) bool { return a.Agent == e.To })
	if e.To == "" || e.To == e.From || named || !slices.Contains(addressedTypes, e.Type) {
		return e.For
	}
	return append([]Addressee{{Agent: e.To}}, e.For...)
}

// Receipts are the receipts that the event begins with.
func (e Event) Receipts() []Receipt {
	thread := ""
	if e.Type == EventMessageSent {
		thread = e.Facts().thread()
	}
	var out []Receipt
	for _, a := range e.Addressees() {
		out = append(out, Receipt{Event: e.Seq, Agent: a.Agent, Owes: a.Owes, Thread: thread})
	}
	return out
}

func (f Facts) thread() string {
	if f.Message == nil {
		return ""
	}
	return f.Message.Thread
}

// addressedTypes are the types of events that are for the one in To. A message says itself whom it
// is for.
var addressedTypes = []EventType{
	EventPass, EventRelease, EventRerouted, EventTakeover, EventKick, EventOwnerIdle, EventPolicyChanged, EventRestored,
	EventMessageAcked,
	EventTaskReviewRequested, EventTaskApproved, EventTaskCompleted, EventTaskFailed, EventTaskRetried, EventTaskRolledBack,
}

// tell notes in an event that an agent did it on a person's word, and puts it into the inboxes of all
// people in the room.
func (r Room) tell(e *Event, f *Facts) {
	f.RelayedBy = e.From
	for _, m := range r.Members {
		if m.State == Joined && m.Agent.Human() {
			f.Told = append(f.Told, m.Agent)
			e.For = append(e.For, Addressee{m.Agent, OwesReading})
		}
	}
}

// event starts an event of the room as it is now.
func (r Room) event(t EventType, from, to AgentID) Event {
	return Event{Room: r.ID, Turn: r.Turn.ID, Type: t, From: from, To: to}
}
