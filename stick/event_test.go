package stick

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEventChain(t *testing.T) {
	base := Event{
		Seq: 1, ID: "id", Room: "r", Turn: 2, Type: EventClaim, From: "a", To: "b", Session: "s", Task: "t",
		Handoff: &Handoff{Status: "s", NextAction: "n"}, Reason: "why", Payload: []byte(`{"x":1}`), CreatedAt: 3,
	}
	for name, change := range map[string]func(*Event){
		"seq":        func(e *Event) { e.Seq++ },
		"id":         func(e *Event) { e.ID += "x" },
		"room":       func(e *Event) { e.Room += "x" },
		"turn":       func(e *Event) { e.Turn++ },
		"type":       func(e *Event) { e.Type = EventPass },
		"from":       func(e *Event) { e.From += "x" },
		"to":         func(e *Event) { e.To += "x" },
		"session":    func(e *Event) { e.Session += "x" },
		"task":       func(e *Event) { e.Task += "x" },
		"no handoff": func(e *Event) { e.Handoff = nil },
		"handoff":    func(e *Event) { e.Handoff = &Handoff{Status: "s", NextAction: "m"} },
		"reason":     func(e *Event) { e.Reason += "x" },
		"payload":    func(e *Event) { e.Payload = []byte(`{"x":2}`) },
		"created at": func(e *Event) { e.CreatedAt++ },
		"shifted":    func(e *Event) { e.Session, e.Task = "st", "" },
	} {
		t.Run(name, func(t *testing.T) {
			e := base
			change(&e)
			equal(t, "the same sum", e.Chain("p") == base.Chain("p"), false)
		})
	}
	equal(t, "another event before", base.Chain("p") == base.Chain("q"), false)
	e := base
	e.Sum = "anything"
	equal(t, "its own sum doesn't count", e.Chain("p"), base.Chain("p"))
	t.Run("is a sum of what is stored", rapid.MakeCheck(func(t *rapid.T) {
		text := rapid.String()
		e := Event{
			Seq: rapid.Int64Min(1).Draw(t, "seq"), ID: text.Draw(t, "id"), From: AgentID(text.Draw(t, "from")), Reason: text.Draw(t, "reason"),
			Handoff: &Handoff{Status: text.Draw(t, "status"), NextAction: text.Draw(t, "next"), DoNot: rapid.SliceOf(text).Draw(t, "do not")},
		}
		b, err := json.Marshal(e.Handoff)
		if err != nil {
			t.Fatal(err)
		}
		back := e
		back.Handoff = nil
		if err := json.Unmarshal(b, &back.Handoff); err != nil {
			t.Fatal(err)
		}
		if e.Chain("p") != back.Chain("p") {
			t.Fatal("the sum changed when the event was stored and read")
		}
		back.Reason += "."
		if e.Chain("p") == back.Chain("p") {
			t.Fatal("two events have one sum")
		}
	}))
}

func TestEventPayload(t *testing.T) {
	e := Event{Type: EventLeave, Payload: []byte("{")}
	equal(t, "a damaged payload", said[LeavePayload](e).Ends, false)
	e = Event{Type: EventClose}.withPayload(ClosePayload{})
	equal(t, "nothing said, no payload", len(e.Payload), 0)
	e = e.CalledBy(Caller{"--as", "pts/1"})
	equal(t, "payload", string(e.Payload), `{"override":"--as","terminal":"pts/1"}`)
	_, ok := PayloadOf[LeavePayload](e)
	equal(t, "the payload of another type", ok, false)
	e = Event{Type: EventKick}.withPayload(KickPayload{Ends: true}).Owing([]int64{7})
	equal(t, "amended", string(e.Payload), `{"ends_turn":true,"owed":[7]}`)
	newer := Event{Type: "later", Payload: []byte(`{"b":1, "a":[]}`)}
	equal(t, "of a type that isn't known", string(newer.Decode().(Raw)), string(newer.Payload))
	equal(t, "of a type that isn't known, signed", string(newer.CalledBy(Caller{"--as", ""}).Payload), string(newer.Payload))
}

// said returns the payload of an event whose type must have payloads P.
func said[P Payload](e Event) P {
	p, ok := PayloadOf[P](e)
	if !ok {
		panic(fmt.Sprintf("the payload of %s is no %T", e.Type, p))
	}
	return p
}

func TestEventAddressees(t *testing.T) {
	a := []Addressee{{Agent: "a"}}
	for _, c := range []struct {
		name string
		e    Event
		want []Addressee
	}{
		{"a pass to it", Event{Type: EventPass, From: "b", To: "a"}, a},
		{"a release that names it", Event{Type: EventRelease, From: "b", To: "a"}, a},
		{"a reservation that moved on to it", Event{Type: EventRerouted, To: "a"}, a},
		{"a takeover from it", Event{Type: EventTakeover, From: "b", To: "a"}, a},
		{"its removal", Event{Type: EventKick, From: "b", To: "a"}, a},
		{"it looks idle", Event{Type: EventOwnerIdle, To: "a"}, a},
		{"a policy that concerns it", Event{Type: EventPolicyChanged, From: "b", To: "a"}, a},
		{"its lease ended with the world", Event{Type: EventRestored, To: "a"}, a},
		{"its message was accepted", Event{Type: EventMessageAcked, From: "b", To: "a"}, a},
		{"its message was seen", Event{Type: EventMessageRead, From: "b", To: "a"}, nil},
		{"a message says itself for whom it is", Event{Type: EventMessageSent, From: "b", To: "a", For: []Addressee{{"a", OwesAck}}}, []Addressee{{"a", OwesAck}}},
		{"an act that people are told, too", Event{Type: EventKick, From: "b", To: "a", For: []Addressee{{"human:x", OwesReading}}}, []Addressee{{Agent: "a"}, {"human:x", OwesReading}}},
		{"its own act", Event{Type: EventPass, From: "a", To: "a"}, nil},
		{"another's joining", Event{Type: EventJoin, From: "b"}, nil},
		{"another's claim", Event{Type: EventClaim, From: "b"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal(t, "addressees", slices.Equal(c.e.Addressees(), c.want), true)
		})
	}
}

func TestLeaseSum(t *testing.T) {
	equal(t, "length", len(LeaseSum("x")), 16)
	again := LeaseSum("x")
	equal(t, "same", LeaseSum("x"), again)
	equal(t, "other", LeaseSum("x") == LeaseSum("y"), false)
}

func TestRoomID_Lease(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	l := RoomID("room-1").Lease(id)
	equal(t, "its length", len(l), len(id))
	equal(t, "its beginning", string(l[:24]), id[:24])
	equal(t, "of its room", RoomID("room-1").HasMade(l), true)
	equal(t, "of another", RoomID("room-2").HasMade(l), false)
	for _, other := range []LeaseID{"", "x", id, l[1:], l[:31], "0" + l, "1" + l[1:]} {
		equal(t, string(other), RoomID("room-1").HasMade(other), false)
	}
}
