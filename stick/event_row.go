package stick

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// An event type has a constant in event.go, a struct of its own as its payload, and a row. The row says whom
// an event is for, by which sentence people learn of it, and how it is replayed. Rows and payloads are in
// event_member.go, event_room.go, event_draft.go, event_talk.go, event_scope.go, event_session.go,
// event_checkpoint.go, event_task.go, event_task_review.go and event_task_landing.go. Tests name a constant without a row, a row
// that lacks a part, and a payload without a stored example.

// EventTypes is the table of event types.
// See docs/decisions/rules-and-store.md.
var EventTypes = slices.Concat(memberEvents, roomEvents, draftEvents, talkEvents, scopeEvents, sessionEvents,
	checkpointEvents, taskEvents, reviewEvents, landingEvents)

// EventInfo is a row of the table of event types. [eventRow] makes it, or [taskRow] for an event of a task.
type EventInfo struct {
	Type    EventType
	Meaning string // for the reference
	turn    turnRule
	isFor   func(Event) []Addressee
	typed   // what depends on the type of its payload
}

// typed is the part of a row that knows the type of the payload. [typedKind] implements it.
type typed interface {
	// Payload is an empty payload.
	Payload() Payload

	decodePayload(json.RawMessage) Payload
	holdsPayload(Payload) bool
	signPayload(json.RawMessage, Caller) json.RawMessage
	sayEvent(Event) Words
	tellEvent(Event) Words
	replayEvent(*Record, *Event) (Payload, error)

	// ofTask reports whether the event is one of a task; applyTo is what it makes of its task.
	ofTask() bool
	applyTo(Task, Event) (Task, error)
}

// Payload is what an event says beyond the fields that all events have. Each type has a struct of its own, in
// which a JSON name means one thing. Its fields are stored in their order, and the sums
// of the log cover the stored bytes. So new fields come last.
type Payload interface{ payload() }

// Caller says how the agent got its name, if that isn't plain. All payloads embed it.
type Caller struct {
	Override string `json:"override,omitempty"` // where an assumed name came from
	Terminal string `json:"terminal,omitempty"` // a person's terminal
}

func (Caller) payload() {}

func (c *Caller) setCaller(by Caller) { *c = by }

// Raw is the stored payload of an event whose type this program doesn't know.
type Raw json.RawMessage

func (Raw) payload() {}

// turnRule says which turn id an event has.
type turnRule int

const (
	currentTurn turnRule = iota
	nextTurn             // the event grants a turn
	laterTurn            // the event may skip turn ids
)

// eventKind is what one writes to make the row of an event type whose payload is P.
type eventKind[P Payload] struct {
	Type    EventType
	Meaning string
	Turn    turnRule                           // currentTurn if it isn't set
	For     func(Event) []Addressee            // whom an event is for
	Say     func(Event, P) Words               // the sentence that tells people of an event
	Tell    func(Event, P) Words               // how the event speaks to the member that it is for; nil: as to everybody
	Replay  func(*Record, *Event, P) error     // what an event changes
	task    func(Task, Event, P) (Task, error) // set by [taskRow]
}

// payloadPointer is a pointer to a payload.
type payloadPointer[P any] interface {
	*P
	setCaller(Caller)
}

// eventRow makes a row of the table. A part that is missing stays missing, so that a test can name it.
func eventRow[P Payload, D payloadPointer[P]](k eventKind[P]) EventInfo {
	return EventInfo{Type: k.Type, Meaning: k.Meaning, turn: k.Turn, isFor: k.For, typed: &typedKind[P, D]{k}}
}

// typedKind is a kind that can set the caller of its payloads.
type typedKind[P Payload, D payloadPointer[P]] struct{ eventKind[P] }

func (k *typedKind[P, D]) Payload() Payload {
	var none P
	return none
}

func (k *typedKind[P, D]) readPayload(b json.RawMessage) (p P) {
	_ = json.Unmarshal(b, &p) // damaged fields read as empty; the sums show the damage
	return p
}

func (k *typedKind[P, D]) decodePayload(b json.RawMessage) Payload { return k.readPayload(b) }

func (k *typedKind[P, D]) holdsPayload(p Payload) bool {
	_, ok := p.(P)
	return ok
}

func (k *typedKind[P, D]) signPayload(b json.RawMessage, by Caller) json.RawMessage {
	p := k.readPayload(b)

	// Only a pointer to the payload can set its caller.
	D(&p).setCaller(by)
	return encodePayload(p)
}

func (k *typedKind[P, D]) sayEvent(e Event) Words { return k.Say(e, k.readPayload(e.Payload)) }

func (k *typedKind[P, D]) tellEvent(e Event) Words {
	if k.Tell == nil {
		return k.sayEvent(e)
	}
	return k.Tell(e, k.readPayload(e.Payload))
}

func (k *typedKind[P, D]) replayEvent(c *Record, e *Event) (Payload, error) {
	p := k.readPayload(e.Payload)
	return p, k.Replay(c, e, p)
}

func (k *typedKind[P, D]) ofTask() bool { return k.task != nil }

func (k *typedKind[P, D]) applyTo(t Task, e Event) (Task, error) {
	return k.task(t, e, k.readPayload(e.Payload))
}

func encodePayload(p Payload) json.RawMessage {
	b, err := json.Marshal(p)
	if err != nil {
		panic("a payload can't be marshalled: " + err.Error()) // payloads are plain values, so this is a bug
	}
	if string(b) == "{}" {
		return nil
	}

	return b
}

// findRow returns the row of a type. ok is false for a type that this program doesn't know.
func (t EventType) findRow() (info *EventInfo, ok bool) {
	info, ok = eventIndex()[t]
	return info, ok
}

var eventIndex = sync.OnceValue(func() map[EventType]*EventInfo {
	m := make(map[EventType]*EventInfo, len(EventTypes))
	for i := range EventTypes {
		m[EventTypes[i].Type] = &EventTypes[i]
	}
	return m
})

// Decode returns the payload: [Raw] for a type that this program doesn't know, and of a damaged payload as
// much as can be read. So an older program can still read a newer log.
func (e Event) Decode() Payload {
	if info, ok := e.Type.findRow(); ok {
		return info.decodePayload(e.Payload)
	}
	return Raw(e.Payload)
}

// PayloadOf returns the payload of an event whose type has payloads P. ok is false for an event of another
// type.
func PayloadOf[P Payload](e Event) (p P, ok bool) {
	p, ok = e.Decode().(P)
	return p, ok
}

// WithPayload sets the payload of an event. A payload of another type is a bug, and panics.
func (e Event) WithPayload(p Payload) Event {
	info, ok := e.Type.findRow()
	if !ok || !info.holdsPayload(p) {
		panic(fmt.Sprintf("an event of type %s has no %T", e.Type, p))
	}

	e.Payload = encodePayload(p)
	return e
}

// Amend changes the payload of an event that isn't stored. The event's type must have payloads P.
func Amend[P Payload](e Event, change func(*P)) Event {
	p, _ := PayloadOf[P](e)
	change(&p)
	return e.WithPayload(p)
}

// CalledBy adds to an event that isn't stored how its agent got its name.
func (e Event) CalledBy(c Caller) Event {
	if info, ok := e.Type.findRow(); ok {
		e.Payload = info.signPayload(e.Payload, c)
	}
	return e
}

// Message returns the message in the payload, nil if there is none.
func (e Event) Message() *Message { return messageIn(e.Decode()) }

// messageIn returns the message of a payload, nil if it has none.
func messageIn(p Payload) *Message {
	if p, ok := p.(interface{ message() *Message }); ok {
		return p.message()
	}
	return nil
}

// TurnEndedOf returns the owner whose turn the event ended without a handoff, "" if it ended none.
func (e Event) TurnEndedOf() AgentID {
	if p, ok := e.Decode().(interface{ turnEndedOf(Event) AgentID }); ok {
		return p.turnEndedOf(e)
	}
	return ""
}

// Lease returns the sum of the lease that the event granted or ended, "" if it did neither. See [LeaseSum].
func (e Event) Lease() string {
	if p, ok := e.Decode().(interface{ leaseSum() string }); ok {
		return p.leaseSum()
	}
	return ""
}

// Grants reports whether events of the type grant a turn.
func (t EventType) Grants() bool {
	info, ok := t.findRow()
	return ok && info.turn == nextTurn
}

// Whom events are for. Each adds to what a rule has put into For.

// forNamed: the event is for nobody but For.
func forNamed(e Event) []Addressee { return e.For }

// forRecipient: the event is also for To, unless To made it itself.
func forRecipient(e Event) []Addressee {
	// Nobody is addressed twice, and nobody learns of its own act.
	named := slices.ContainsFunc(e.For, func(a Addressee) bool { return a.Agent == e.To })
	if e.To == "" || e.To == e.From || named {
		return e.For
	}
	return append([]Addressee{{Agent: e.To}}, e.For...)
}

// forReader: the event is for To, which has to read it.
func forReader(e Event) []Addressee {
	if e.To == "" {
		return nil
	}
	return []Addressee{{e.To, OwesReading}}
}

// forReaderAndAuthor: the event is for To, which has to read it, and for From, which knows it from the answer
// to its call.
func forReaderAndAuthor(e Event) []Addressee { return append(forReader(e), Addressee{Agent: e.From}) }

// forBothToRead: the event is for From and To, and both have to read it.
func forBothToRead(e Event) []Addressee {
	return append([]Addressee{{e.From, OwesReading}}, forReader(e)...)
}

// IsKnown reports whether this program knows the type.
func (t EventType) IsKnown() bool {
	_, known := t.findRow()
	return known
}

// Say returns a sentence that tells people of the event. What somebody wrote stands last in it, in quotation
// marks. For a type that this program doesn't know, it names the type.
func (e Event) Say() Words {
	info, ok := e.Type.findRow()
	if !ok {
		return Wordsf("%s by %s", e.Type, AgentName(e.From))
	}
	return info.sayEvent(e)
}

// Tell returns the sentence that tells the event to a member that it is for.
func (e Event) Tell() Words {
	if info, ok := e.Type.findRow(); ok {
		return info.tellEvent(e)
	}
	return e.Say()
}
