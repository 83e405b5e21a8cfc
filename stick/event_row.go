package stick

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// An event type is a constant in event.go, a payload, which is a struct of its own, and a row that
// holds both together with whom such an event is for, how it is told, and how it is replayed. The
// rows stand beside their payloads in event_room.go, event_talk.go, event_scope.go,
// event_session.go and event_task.go. A test finds, by name, a constant without a row, a row that
// lacks a part, and a payload of which no stored example is kept.

// EventTypes is the table of event types.
var EventTypes = slices.Concat(roomEvents, talkEvents, scopeEvents, sessionEvents, taskEvents)

// EventInfo is a row of the table of event types. It is made by [row], or [taskRow] for a task's.
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

	decode(json.RawMessage) Payload
	holds(Payload) bool
	sign(json.RawMessage, Caller) json.RawMessage
	say(Event) string
	replay(*Record, *Event) error

	// ofTask reports whether the event is one of a task; applyTo is what it makes of its task.
	ofTask() bool
	applyTo(Task, Event) (Task, error)

	// lacks are the parts that the row should have, and hasn't.
	lacks() []string
}

// Payload is what an event says beyond the fields that all events have. Each type has a struct of its
// own for it, so that no two can claim one JSON name for different things. The order of its fields
// is the order of the stored bytes, over which the log is summed: new ones come last.
type Payload interface{ payload() }

// Caller tells how the agent came by its name, where that isn't plain. All payloads embed it.
type Caller struct {
	Override string `json:"override,omitempty"` // where an assumed name came from
	Terminal string `json:"terminal,omitempty"` // a person's terminal
}

func (Caller) payload()               {}
func (c *Caller) setCaller(by Caller) { *c = by }

// Raw is the payload of an event whose type this program doesn't know, as it was stored.
type Raw json.RawMessage

func (Raw) payload() {}

// turnRule says which turn an event belongs to.
type turnRule int

const (
	currentTurn turnRule = iota
	nextTurn             // it grants a turn
	laterTurn            // it may skip some
)

// kind is an event type whose payload is P, as its row is written.
type kind[P Payload] struct {
	Type    EventType
	Meaning string
	Turn    turnRule                           // the current one, unless it says otherwise
	For     func(Event) []Addressee            // whom it is for
	Say     func(Event, P) string              // the line by which people are told of it
	Replay  func(*Record, *Event, P) error     // what it changes
	task    func(Task, Event, P) (Task, error) // set by [taskRow]
}

// decoded is a pointer to a payload.
type decoded[P any] interface {
	*P
	setCaller(Caller)
}

// row makes a row of the table. A part that is missing stays so, and a test names it.
func row[P Payload, D decoded[P]](k kind[P]) EventInfo {
	return EventInfo{Type: k.Type, Meaning: k.Meaning, turn: k.Turn, isFor: k.For, typed: &typedKind[P, D]{k}}
}

// typedKind is a kind that can set the caller of its payloads.
type typedKind[P Payload, D decoded[P]] struct{ kind[P] }

func (k *typedKind[P, D]) Payload() Payload {
	var none P
	return none
}

func (k *typedKind[P, D]) read(b json.RawMessage) (p P) {
	_ = json.Unmarshal(b, &p) // what is damaged reads as empty: the sums tell of it
	return p
}

func (k *typedKind[P, D]) decode(b json.RawMessage) Payload { return k.read(b) }

func (k *typedKind[P, D]) holds(p Payload) bool {
	_, ok := p.(P)
	return ok
}

func (k *typedKind[P, D]) sign(b json.RawMessage, by Caller) json.RawMessage {
	p := k.read(b)
	D(&p).setCaller(by)
	return encode(p)
}

func (k *typedKind[P, D]) say(e Event) string { return k.Say(e, k.read(e.Payload)) }

func (k *typedKind[P, D]) replay(c *Record, e *Event) error { return k.Replay(c, e, k.read(e.Payload)) }

func (k *typedKind[P, D]) ofTask() bool { return k.task != nil }

func (k *typedKind[P, D]) applyTo(t Task, e Event) (Task, error) {
	return k.task(t, e, k.read(e.Payload))
}

func (k *typedKind[P, D]) lacks() (parts []string) {
	for part, missing := range map[string]bool{
		"Meaning": k.Meaning == "", "For": k.For == nil, "Say": k.Say == nil, "Replay (or Apply)": k.Replay == nil,
	} {
		if missing {
			parts = append(parts, part)
		}
	}
	slices.Sort(parts)
	return parts
}

func encode(p Payload) json.RawMessage {
	b, err := json.Marshal(p)
	if err != nil {
		panic("a payload can't be marshalled: " + err.Error()) // plain values: a fault of this package
	}
	if string(b) == "{}" {
		return nil
	}
	return b
}

// row finds the row of a type. ok is false for one that this program doesn't know.
func (t EventType) row() (info *EventInfo, ok bool) {
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

// Decode reads the payload. One of a type that this program doesn't know is [Raw]; of a damaged one
// as much is there as could be read: an older program can still read a newer log.
func (e Event) Decode() Payload {
	if info, ok := e.Type.row(); ok {
		return info.decode(e.Payload)
	}
	return Raw(e.Payload)
}

// PayloadOf is the payload of an event of the type that has payloads P. ok is false for an event of
// any other type.
func PayloadOf[P Payload](e Event) (p P, ok bool) {
	p, ok = e.Decode().(P)
	return p, ok
}

// with gives an event its payload.
func (e Event) with(p Payload) Event {
	info, ok := e.Type.row()
	if !ok || !info.holds(p) {
		panic(fmt.Sprintf("an event of type %s has no %T", e.Type, p))
	}
	e.Payload = encode(p)
	return e
}

// Amend changes the payload of an event that isn't stored yet. The event has to be of the type that has
// payloads P.
func Amend[P Payload](e Event, change func(*P)) Event {
	p, _ := PayloadOf[P](e)
	change(&p)
	return e.with(p)
}

// CalledBy notes in an event that isn't stored yet how its agent came by its name.
func (e Event) CalledBy(c Caller) Event {
	if info, ok := e.Type.row(); ok {
		e.Payload = info.sign(e.Payload, c)
	}
	return e
}

// Message is the message in the payload; nil if it holds none.
func (e Event) Message() *Message {
	if p, ok := e.Decode().(interface{ message() *Message }); ok {
		return p.message()
	}
	return nil
}

// TurnEndedOf is the owner whose turn the event ended without a handoff; "" if it ended none.
func (e Event) TurnEndedOf() AgentID {
	if p, ok := e.Decode().(interface{ turnEndedOf(Event) AgentID }); ok {
		return p.turnEndedOf(e)
	}
	return ""
}

// Lease is the sum of the lease that the event granted or ended, "" if it is about none. See
// [LeaseSum].
func (e Event) Lease() string {
	if p, ok := e.Decode().(interface{ leaseSum() string }); ok {
		return p.leaseSum()
	}
	return ""
}

// Grants reports whether events of the type grant a turn.
func (t EventType) Grants() bool {
	info, ok := t.row()
	return ok && info.turn == nextTurn
}

// Whom an event is for. It adds to what a rule has put into For.

// forNamed is whom the rule named, which may be nobody.
func forNamed(e Event) []Addressee { return e.For }

// forRecipient is the one in To, unless it did it itself.
func forRecipient(e Event) []Addressee {
	named := slices.ContainsFunc(e.For, func(a Addressee) bool { return a.Agent == e.To })
	if e.To == "" || e.To == e.From || named {
		return e.For
	}
	return append([]Addressee{{Agent: e.To}}, e.For...)
}

// forReader is the one in To, who has to read it.
func forReader(e Event) []Addressee {
	if e.To == "" {
		return nil
	}
	return []Addressee{{e.To, OwesReading}}
}

// forBoth are both sides; the one who made it learns it from the answer to its call.
func forBoth(e Event) []Addressee { return append(forReader(e), Addressee{Agent: e.From}) }

// forAuthor is the one who made it, and the one in To: both have to read it.
func forAuthor(e Event) []Addressee {
	return append([]Addressee{{e.From, OwesReading}}, forReader(e)...)
}

// Say tells the event to people in one line. A type this program doesn't know is told by its name.
func (e Event) Say() string {
	info, ok := e.Type.row()
	if !ok {
		return Line(string(e.Type)) + " by " + who(e.From)
	}
	return info.say(e)
}
