package stick

import "testing"

// TestOvertaken: what was told of a turn isn't told any more when that turn is over.
func TestOvertaken(t *testing.T) {
	f := room(t)
	f.acts("a")
	f.acts("b")
	is := func(e Event, a AgentID, want bool) {
		t.Helper()
		if got := f.Overtaken(e, a); got != want {
			t.Errorf("%s (turn %d) for %s: %v, in %+v", e.Type, e.Turn, a, got, f.Turn)
		}
	}
	pass := func(to AgentID) Event {
		t.Helper()
		events, err := f.pass(to)
		if err != nil {
			t.Fatal(err)
		}
		return events[0]
	}
	f.owns("a")
	first := pass("b")
	is(first, "b", false)
	is(first, "a", true)
	f.owns("b")
	is(first, "b", true)
	again := pass("a")
	f.owns("a")
	third := pass("b")
	is(third, "b", false)
	is(first, "b", true) // the stick is reserved for b, but not by this one
	is(again, "a", true)

	f.owns("b")
	idle := Event{Type: EventOwnerIdle, Turn: f.Turn.ID, To: "b"}
	is(idle, "b", false)
	taken := Event{Type: EventTakeover, Turn: f.Turn.ID + 1, From: "a", To: "b", Seq: f.seq + 1}
	pass("a")
	is(idle, "b", true)
	f.owns("a")
	f.editMember("b", func(m *Member) { m.HeldSeq = taken.Seq })
	is(taken, "b", false)
	pass("b")
	is(taken, "b", false)
	f.owns("b")
	is(taken, "b", true)
	is(Event{Type: EventMessageSent}, "b", false)
}
