package stick

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	EventRoomMoved     EventType = "room_moved"
	EventOwnerIdle     EventType = "owner_idle"
	EventRoomPaused    EventType = "room_paused"
	EventRoomResumed   EventType = "room_resumed"
	EventDraftSaved    EventType = "draft_saved"
	EventDraftAsked    EventType = "draft_asked"
	EventCheckpoint    EventType = "checkpoint"

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
	EventEditTold    EventType = "edit_told"
	EventWorkTaken   EventType = "work_taken"

	EventChangesAdopted EventType = "changes_adopted"
	EventCallUndone     EventType = "call_undone"

	EventSessionStarted EventType = "session_started"
	EventSessionEnded   EventType = "session_ended"

	EventTaskAssigned         EventType = "task_assigned"
	EventTaskBegun            EventType = "task_begun"
	EventTaskAfter            EventType = "task_after"
	EventTaskEdited           EventType = "task_edited"
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
	EventTaskPullRequest      EventType = "task_pull_request"
	EventTaskCommentResolved  EventType = "task_comment_resolved"
)

// Event is a row of the append-only log. It holds what was true when it happened.
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

	// For lists addressees other than To. The rule that makes an event fills it in. The log doesn't keep
	// it, because it follows from the earlier events.
	For []Addressee `json:"-"`
}

// Lease makes a lease of the room from an id that is never made again. Its end tells the room: so the room
// knows each of its leases, also one whose grant its log has lost.
func (r RoomID) Lease(id string) LeaseID {
	id = id[:max(0, len(id)-leaseEnd)]
	return LeaseID(id + r.endOf(id))
}

// HasMade reports whether a lease was made for the room.
func (r RoomID) HasMade(l LeaseID) bool {
	id, end := l[:max(0, len(l)-leaseEnd)], l[max(0, len(l)-leaseEnd):]
	return id != "" && string(end) == r.endOf(string(id))
}

// leaseEnd is how long the end of a lease is.
const leaseEnd = 8

func (r RoomID) endOf(id string) string {
	h := sha256.Sum256([]byte("lease of " + string(r) + ": " + id))
	return hex.EncodeToString(h[:leaseEnd/2])
}

// LeaseSum stands for a lease in the log, which everybody may read: equal leases have equal sums, and a sum
// doesn't reveal its lease.
func LeaseSum(l LeaseID) string {
	h := sha256.Sum256([]byte("lease " + l))
	return hex.EncodeToString(h[:8])
}

// Chain returns the sum of e if the sum of the event before it is prev: a SHA-256 over prev and every field
// of e, each with its length. So a changed, lost or swapped row breaks the chain.
func (e Event) Chain(prev string) string {
	h := sha256.New()
	field := func(b []byte) {
		// The length comes first, so that bytes can't move from one field to the next.
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

	// The order is part of the format: sums that are stored depend on it.
	for _, s := range []string{
		e.ID, string(e.Room), string(e.Type), string(e.From), string(e.To),
		e.Session, e.Task, string(handoff), e.Reason, string(e.Payload),
	} {
		field([]byte(s))
	}

	return hex.EncodeToString(h.Sum(nil))
}

// Addressees returns the agents that an event is for. It changes what they may do next or asks something of
// them, and they didn't make it themselves.
func (e Event) Addressees() []Addressee {
	row, ok := e.Type.findRow()
	if !ok {
		return e.For
	}
	return row.isFor(e)
}

// Receipts returns a new receipt for each addressee.
func (e Event) Receipts() []Receipt { return e.receiptsBy(e.Decode()) }

// receiptsBy is [Event.Receipts] for a caller that has decoded the payload.
func (e Event) receiptsBy(p Payload) []Receipt {
	thread := ""

	// Only a message that was sent has a thread of its own; an incursion holds one for its facts.
	if m := messageIn(p); m != nil && e.Type == EventMessageSent {
		thread = m.Thread
	}

	var out []Receipt
	for _, a := range e.Addressees() {
		out = append(out, Receipt{Event: e.Seq, Agent: a.Agent, Owes: a.Owes, Thread: thread})
	}

	return out
}

// tellPeople puts an event that an agent made on a person's word into the inboxes of all people in the room.
// It returns the agent and these people, for the payload.
func (r Room) tellPeople(e *Event) (by AgentID, told []AgentID) {
	for _, m := range r.Members {
		if m.State == Joined && m.Agent.Human() {
			told = append(told, m.Agent)
			e.For = append(e.For, Addressee{m.Agent, OwesReading})
		}
	}

	return e.From, told
}

// NewEvent makes an event of the room and its current turn, without a payload.
func (r Room) NewEvent(t EventType, from, to AgentID) Event {
	return Event{Room: r.ID, Turn: r.Turn.ID, Type: t, From: from, To: to}
}
