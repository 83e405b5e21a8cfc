package stick_test

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestTurnWork_HasChangedNothing(t *testing.T) {
	tree := func(head string, dirty ...string) *stick.Workspace {
		return &stick.Workspace{Head: head, Branch: "main", Dirty: dirty, DirtyCount: len(dirty)}
	}
	made := func(types ...stick.EventType) (events []stick.Event) {
		for _, typ := range types {
			events = append(events, stick.Event{Type: typ, From: "a"})
		}
		return events
	}

	for _, c := range []struct {
		name string
		work stick.TurnWork
		want bool
	}{
		{"the tree is the same", stick.TurnWork{Before: tree("1", "x"), After: tree("1", "x")}, true},
		{"a commit", stick.TurnWork{Before: tree("1"), After: tree("2")}, false},
		{"another file has changes", stick.TurnWork{Before: tree("1", "x"), After: tree("1", "y")}, false},
		{"a file has none any more", stick.TurnWork{Before: tree("1", "x"), After: tree("1")}, false},
		{"hooks saw an edit", stick.TurnWork{Before: tree("1", "x"), After: tree("1", "x"), Edited: true}, false},
		{"the tree at the end isn't known", stick.TurnWork{Before: tree("1")}, false},
		{"no handoff before, and no call", stick.TurnWork{After: tree("1")}, true},
		{"no handoff before, and a call", stick.TurnWork{After: tree("1"), Called: true}, false},
		{"a call after which the tree is the same", stick.TurnWork{Before: tree("1"), After: tree("1"), Called: true}, true},
		{
			"a call in another checkout",
			stick.TurnWork{Before: tree("1"), After: tree("1"), Called: true, CalledApart: true},
			false,
		},
		{"a message", stick.TurnWork{Before: tree("1"), After: tree("1"), Events: made(stick.EventMessageSent)}, false},
		{"a step of a task", stick.TurnWork{Before: tree("1"), After: tree("1"), Events: made(stick.EventTaskApproved)}, false},
		{"a note", stick.TurnWork{Before: tree("1"), After: tree("1"), Events: made(stick.EventNoteAdded)}, false},
		{"an edit that was denied", stick.TurnWork{Before: tree("1"), After: tree("1"), Events: made(stick.EventStickDenied)}, false},
		{"a reservation", stick.TurnWork{Before: tree("1"), After: tree("1"), Events: made(stick.EventReserved)}, false},
		{
			"its session, a draft and its release", stick.TurnWork{
				Before: tree("1"), After: tree("1"),
				Events: made(stick.EventSessionStarted, stick.EventDraftSaved, stick.EventRelease),
			}, true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			sticktest.Equal(t, "changed nothing", c.work.HasChangedNothing(), c.want)
		})
	}
}

func TestRoom_RestAfter(t *testing.T) {
	rests := func(f *sticktest.Fixture, a stick.AgentID) bool {
		m, _ := f.Member(a)
		return m.Rests()
	}
	hooked := func(t *testing.T) *sticktest.Fixture {
		return sticktest.NewRoom(t).WithMembers("a", "b").WithPolicy("enforce=warn").Hooks("a").Hooks("b")
	}
	resting := func(t *testing.T) *sticktest.Fixture { return hooked(t).Owns("a").ReleasesUnchanged() }

	t.Run("a turn that changed nothing", func(t *testing.T) {
		f := resting(t)
		sticktest.Equal(t, "a rests", rests(f, "a"), true)
		sticktest.Equal(t, "in the event", sticktest.Said[stick.ReleasePayload](f.Log[len(f.Log)-1]).Rests, true)
		m, _ := f.Member("a")
		sticktest.Equal(t, "since", m.RestsSince, f.Now)
	})
	t.Run("a turn that changed something", func(t *testing.T) {
		f := hooked(t).Owns("a").Releases()
		sticktest.Equal(t, "a rests", rests(f, "a"), false)
		sticktest.Equal(t, "in the event", sticktest.Said[stick.ReleasePayload](f.Log[len(f.Log)-1]).Rests, false)
	})
	t.Run("a pass after a turn that changed nothing", func(t *testing.T) {
		f := hooked(t).Owns("a")
		tree := &stick.Workspace{Head: "c0ffee"}
		f.Room = f.RestAfter("a", stick.TurnWork{Before: tree, After: tree}, f.Now)
		f.Passes("b")
		sticktest.Equal(t, "a rests", rests(f, "a"), true)
		sticktest.Equal(t, "in the event", sticktest.Said[stick.PassPayload](f.Log[len(f.Log)-1]).Rests, true)
	})
	t.Run("a look for messages alone doesn't end it", func(t *testing.T) {
		f := resting(t)
		f.Look("a", stick.Listen, false)
		sticktest.Equal(t, "a rests", rests(f, "a"), true)
		f.Look("a", stick.Work, false)
		sticktest.Equal(t, "after a try", rests(f, "a"), false)
	})
	t.Run("without hooks", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").WithPolicy("enforce=warn").Owns("a").ReleasesUnchanged()
		sticktest.Equal(t, "a rests", rests(f, "a"), false)
	})
	t.Run("a rest that an older program has left", func(t *testing.T) {
		f := hooked(t).Owns("a")
		f.EditMember("a", func(m *stick.Member) { m.RestsSince = f.Now })
		f.Room = f.RestAfter("a", stick.TurnWork{}, f.Now)
		f.Releases()
		sticktest.Equal(t, "a rests", rests(f, "a"), false)
	})
	t.Run("where no edits are noted", func(t *testing.T) {
		f := hooked(t).WithPolicy("enforce=off").Owns("a").ReleasesUnchanged()
		sticktest.Equal(t, "a rests", rests(f, "a"), false)
	})
	t.Run("who doesn't have the stick", func(t *testing.T) {
		f := hooked(t).Owns("a")
		f.Room = f.RestAfter("b", stick.TurnWork{After: &stick.Workspace{}}, f.Now)
		sticktest.Equal(t, "b rests", rests(f, "b"), false)
	})

	t.Run("isn't named", func(t *testing.T) {
		f := resting(t).Waits("a").Owns("b").Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "")
		sticktest.Equal(t, "why nobody", sticktest.Said[stick.ReleasePayload](f.Log[len(f.Log)-1]).Nobody, stick.NobodyWorks)
		sticktest.Equal(t, "in line", len(f.InLine(f.Probed)), 0)
	})
	t.Run("isn't named after a wait that returned", func(t *testing.T) {
		f := resting(t).Owns("b")
		f.Room = f.Returned("a", f.Now, f.Now)
		f.Releases()
		sticktest.Equal(t, "named", f.Turn.ReservedFor, "")
	})
	t.Run("its wait leaves the free stick alone, and sleeps", func(t *testing.T) {
		f := resting(t).Waits("a").After(sticktest.Grace)
		sticktest.Equal(t, "answer", f.Asks("a").Status, "")
		sticktest.Equal(t, "deadline", f.Deadline("a"), -1)
	})
	t.Run("keeps nobody from going on", func(t *testing.T) {
		f := resting(t).Waits("a").Owns("b").Releases()
		sticktest.Equal(t, "b again", f.Asks("b").Status, stick.YourTurn)
	})
	t.Run("is still offered a takeover", func(t *testing.T) {
		f := resting(t).Owns("b").Waits("a").Gone("b")
		sticktest.Equal(t, "answer", f.Asks("a").Status, stick.TakeoverAvailable)
	})

	for _, c := range []struct {
		name string
		ends func(f *sticktest.Fixture)
	}{
		{"a message to it", func(f *sticktest.Fixture) { f.Sent("b", stick.Message{To: []stick.AgentID{"a"}, Body: "look"}) }},
		{"a message of its own", func(f *sticktest.Fixture) { f.Sent("a", stick.Message{To: []stick.AgentID{"b"}, Body: "look"}) }},
		{"its prompt or its edit", func(f *sticktest.Fixture) { f.Room = f.EndRest("a") }},
		{"a handoff that names it", func(f *sticktest.Fixture) {
			f.Owns("b")
			h := stick.Handoff{Status: "half done", NextAction: "a does the other half"}
			f.Must(f.TryRelease("b", f.Fence(), h))
			sticktest.Equal(t, "named", f.Turn.ReservedFor, "a")
		}},
		{"a pass to it", func(f *sticktest.Fixture) { f.Owns("b").Passes("a") }},
		{"that it joins again", func(f *sticktest.Fixture) {
			f.Must(f.TryLeave(stick.Leaving{By: "a"}))
			f.WithMembers("a")
		}},
	} {
		t.Run("ends with "+c.name, func(t *testing.T) {
			f := resting(t).Waits("a")
			before := f.Room
			c.ends(f)
			sticktest.Equal(t, "a rests", rests(f, "a"), false)
			sticktest.Equal(t, "its rest has ended", f.HasRestEnded(before), true)
			sticktest.Equal(t, "answer", f.Asks("a").Status, stick.YourTurn)
		})
	}
	t.Run("ends with its try", func(t *testing.T) {
		f := resting(t)
		sticktest.Equal(t, "answer", f.Peeks("a").Status, stick.YourTurn)
		sticktest.Equal(t, "a rests", rests(f, "a"), false)
	})
	t.Run("ends with a wait for nothing but the turn", func(t *testing.T) {
		f := resting(t).Waits("a")
		q := stick.Asking{Agent: "a", Purpose: stick.Work, Blocking: true, Insists: true, Lease: f.Lease()}
		r, events, answer := f.Ask(q, f.Probed, f.Now)
		f.Commit(r, events)
		sticktest.Equal(t, "answer", answer.Status, stick.YourTurn)
	})
	t.Run("doesn't end with a handoff of its own that names it", func(t *testing.T) {
		f := hooked(t).Owns("a")
		tree := &stick.Workspace{Head: "c0ffee"}
		f.Room = f.RestAfter("a", stick.TurnWork{Before: tree, After: tree}, f.Now)
		f.Must(f.TryRelease("a", f.Fence(), stick.Handoff{Status: "a looked", NextAction: "nothing"}))
		sticktest.Equal(t, "a rests", rests(f, "a"), true)
	})
	t.Run("two members without work have one turn each", func(t *testing.T) {
		f := hooked(t).Waits("a", "b")
		turns := 0
		for range 20 {
			for _, a := range []stick.AgentID{"a", "b"} {
				if f.Asks(a).Status == stick.YourTurn {
					turns++
					f.ReleasesUnchanged()
				}
			}
			f.After(sticktest.Grace)
		}
		sticktest.Equal(t, "turns", turns, 2)
	})
}
