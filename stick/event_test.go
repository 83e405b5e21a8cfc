package stick_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestEventChain(t *testing.T) {
	base := stick.Event{
		Seq: 1, ID: "id", Room: "r", Turn: 2, Type: stick.EventClaim, From: "a", To: "b", Session: "s", Task: "t",
		Handoff: &stick.Handoff{Status: "s", NextAction: "n"}, Reason: "why", Payload: []byte(`{"x":1}`), CreatedAt: 3,
	}

	for name, change := range map[string]func(*stick.Event){
		"seq":        func(e *stick.Event) { e.Seq++ },
		"id":         func(e *stick.Event) { e.ID += "x" },
		"room":       func(e *stick.Event) { e.Room += "x" },
		"turn":       func(e *stick.Event) { e.Turn++ },
		"type":       func(e *stick.Event) { e.Type = stick.EventPass },
		"from":       func(e *stick.Event) { e.From += "x" },
		"to":         func(e *stick.Event) { e.To += "x" },
		"session":    func(e *stick.Event) { e.Session += "x" },
		"task":       func(e *stick.Event) { e.Task += "x" },
		"no handoff": func(e *stick.Event) { e.Handoff = nil },
		"handoff":    func(e *stick.Event) { e.Handoff = &stick.Handoff{Status: "s", NextAction: "m"} },
		"reason":     func(e *stick.Event) { e.Reason += "x" },
		"payload":    func(e *stick.Event) { e.Payload = []byte(`{"x":2}`) },
		"created at": func(e *stick.Event) { e.CreatedAt++ },
		"shifted":    func(e *stick.Event) { e.Session, e.Task = "st", "" },
	} {
		t.Run(name, func(t *testing.T) {
			e := base
			change(&e)
			sticktest.Equal(t, "the same sum", e.Chain("p") == base.Chain("p"), false)
		})
	}

	sticktest.Equal(t, "another event before", base.Chain("p") == base.Chain("q"), false)
	e := base
	e.Sum = "anything"
	sticktest.Equal(t, "its own sum doesn't count", e.Chain("p"), base.Chain("p"))

	t.Run("is a sum of what is stored", rapid.MakeCheck(func(t *rapid.T) {
		text := rapid.String()
		e := stick.Event{
			Seq: rapid.Int64Min(1).Draw(t, "seq"), ID: text.Draw(t, "id"),
			From: stick.AgentID(text.Draw(t, "from")), Reason: text.Draw(t, "reason"),
			Handoff: &stick.Handoff{
				Status: text.Draw(t, "status"), NextAction: text.Draw(t, "next"),
				DoNot: rapid.SliceOf(text).Draw(t, "do not"),
			},
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
	e := stick.Event{Type: stick.EventLeave, Payload: []byte("{")}
	sticktest.Equal(t, "a damaged payload", sticktest.Said[stick.LeavePayload](e).Ends, false)
	e = stick.Event{Type: stick.EventClose}.WithPayload(stick.ClosePayload{})
	sticktest.Equal(t, "nothing said, no payload", len(e.Payload), 0)

	e = e.CalledBy(stick.Caller{Override: "--as", Terminal: "pts/1"})
	sticktest.Equal(t, "payload", string(e.Payload), `{"override":"--as","terminal":"pts/1"}`)
	_, ok := stick.PayloadOf[stick.LeavePayload](e)
	sticktest.Equal(t, "the payload of another type", ok, false)

	e = stick.Event{Type: stick.EventKick}.WithPayload(stick.KickPayload{Ends: true}).Owing([]int64{7})
	sticktest.Equal(t, "amended", string(e.Payload), `{"ends_turn":true,"owed":[7]}`)
	newer := stick.Event{Type: "later", Payload: []byte(`{"b":1, "a":[]}`)}
	sticktest.Equal(t, "of a type that isn't known", string(newer.Decode().(stick.Raw)), string(newer.Payload))
	sticktest.Equal(t, "of a type that isn't known, signed",
		string(newer.CalledBy(stick.Caller{Override: "--as", Terminal: ""}).Payload), string(newer.Payload))
}

func TestEventAddressees(t *testing.T) {
	a := []stick.Addressee{{Agent: "a"}}
	for _, c := range []struct {
		name string
		e    stick.Event
		want []stick.Addressee
	}{
		{"a pass to it", stick.Event{Type: stick.EventPass, From: "b", To: "a"}, a},
		{"a release that names it", stick.Event{Type: stick.EventRelease, From: "b", To: "a"}, a},
		{"a reservation that moved on to it", stick.Event{Type: stick.EventRerouted, To: "a"}, a},
		{"a takeover from it", stick.Event{Type: stick.EventTakeover, From: "b", To: "a"}, a},
		{"its removal", stick.Event{Type: stick.EventKick, From: "b", To: "a"}, a},
		{"it looks idle", stick.Event{Type: stick.EventOwnerIdle, To: "a"}, a},
		{"a policy that concerns it", stick.Event{Type: stick.EventPolicyChanged, From: "b", To: "a"}, a},
		{"its lease ended with the world", stick.Event{Type: stick.EventRestored, To: "a"}, a},
		{"its message was accepted", stick.Event{Type: stick.EventMessageAcked, From: "b", To: "a"}, a},
		{"its message was seen", stick.Event{Type: stick.EventMessageRead, From: "b", To: "a"}, nil},
		{
			"a message says itself for whom it is",
			stick.Event{
				Type: stick.EventMessageSent, From: "b", To: "a",
				For: []stick.Addressee{{Agent: "a", Owes: stick.OwesAck}},
			},
			[]stick.Addressee{{Agent: "a", Owes: stick.OwesAck}},
		},
		{
			"an act that people are told, too",
			stick.Event{
				Type: stick.EventKick, From: "b", To: "a",
				For: []stick.Addressee{{Agent: "human:x", Owes: stick.OwesReading}},
			},
			[]stick.Addressee{{Agent: "a"}, {Agent: "human:x", Owes: stick.OwesReading}},
		},
		{"its own act", stick.Event{Type: stick.EventPass, From: "a", To: "a"}, nil},
		{"another's joining", stick.Event{Type: stick.EventJoin, From: "b"}, nil},
		{"another's claim", stick.Event{Type: stick.EventClaim, From: "b"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			sticktest.Equal(t, "addressees", slices.Equal(c.e.Addressees(), c.want), true)
		})
	}
}

func TestLeaseSum(t *testing.T) {
	sticktest.Equal(t, "length", len(stick.LeaseSum("x")), 16)
	again := stick.LeaseSum("x")
	sticktest.Equal(t, "same", stick.LeaseSum("x"), again)
	sticktest.Equal(t, "other", stick.LeaseSum("x") == stick.LeaseSum("y"), false)
}

func TestRoomID_Lease(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	l := stick.RoomID("room-1").Lease(id)
	sticktest.Equal(t, "its length", len(l), len(id))
	sticktest.Equal(t, "its beginning", string(l[:24]), id[:24])
	sticktest.Equal(t, "of its room", stick.RoomID("room-1").HasMade(l), true)
	sticktest.Equal(t, "of another", stick.RoomID("room-2").HasMade(l), false)

	for _, other := range []stick.LeaseID{"", "x", id, l[1:], l[:31], "0" + l, "1" + l[1:]} {
		sticktest.Equal(t, string(other), stick.RoomID("room-1").HasMade(other), false)
	}
}
