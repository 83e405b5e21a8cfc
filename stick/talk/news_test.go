package talk_test

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/talk"
)

// TestOvertaken: what was told of a turn isn't told any more when that turn is over.
func TestOvertaken(t *testing.T) {
	f := sticktest.NewRoom(t)
	f.Acts("a")
	f.Acts("b")

	is := func(e stick.Event, a stick.AgentID, want bool) {
		t.Helper()
		if got := talk.Overtaken(f.Room, e, a); got != want {
			t.Errorf("%s (turn %d) for %s: %v, in %+v", e.Type, e.Turn, a, got, f.Turn)
		}
	}

	pass := func(to stick.AgentID) stick.Event {
		t.Helper()
		events, err := f.TryPass(to)
		if err != nil {
			t.Fatal(err)
		}
		return events[0]
	}

	f.Owns("a")
	first := pass("b")
	is(first, "b", false)
	is(first, "a", true)
	f.Owns("b")
	is(first, "b", true)
	again := pass("a")
	f.Owns("a")
	third := pass("b")
	is(third, "b", false)
	is(first, "b", true) // the stick is reserved for b, but not by this one
	is(again, "a", true)

	f.Owns("b")
	idle := stick.Event{Type: stick.EventOwnerIdle, Turn: f.Turn.ID, To: "b"}
	is(idle, "b", false)
	taken := stick.Event{Type: stick.EventTakeover, Turn: f.Turn.ID + 1, From: "a", To: "b", Seq: f.Seq + 1}
	pass("a")
	is(idle, "b", true)
	f.Owns("a")
	f.EditMember("b", func(m *stick.Member) { m.HeldSeq = taken.Seq })
	is(taken, "b", false)
	pass("b")
	is(taken, "b", false)
	f.Owns("b")
	is(taken, "b", true)
	is(stick.Event{Type: stick.EventMessageSent}, "b", false)
}
