package stick_test

import (
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// ringOf says whom a ring wakes, by the names of the agents.
func ringOf(ring stick.Ring) string {
	if ring.All {
		return "all"
	}

	var names []string
	for _, l := range ring.Listeners {
		name, _, _ := strings.Cut(string(l), "-")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// Of the agents a has the stick, b to e wait for it in this order, and f waits for events.
func ringRoom(t *testing.T) *sticktest.Fixture {
	return sticktest.NewRoom(t).WithMembers("a", "b", "c", "d", "e", "f").
		Alive("a", "b", "c", "d", "e", "f").Owns("a").Waits("b", "c", "d", "e").Parks("f")
}

func TestRoom_RingAfter(t *testing.T) {
	for _, c := range []struct {
		name string
		act  func(*sticktest.Fixture)
		want string
	}{
		{"a message rings its recipient", func(f *sticktest.Fixture) { f.Sent("a", sticktest.To("d")) }, "d"},
		{"a message to one that waits for events", func(f *sticktest.Fixture) { f.Sent("b", sticktest.To("f")) }, "f"},
		{"a message to one that doesn't wait", func(f *sticktest.Fixture) { f.Sent("b", sticktest.To("a")) }, ""},
		{"nothing happens", func(*sticktest.Fixture) {}, ""},

		// A new turn concerns those whom it names, and two who keep the time for all others.
		{"a release rings the one named, and the next two", func(f *sticktest.Fixture) { f.Releases() }, "b c d"},
		{"a pass rings its recipient, and the first two", func(f *sticktest.Fixture) { f.Passes("e") }, "b c e"},
		{"a pass to one that waits for events", func(f *sticktest.Fixture) { f.Passes("f") }, "b c f"},
		{"an act of the holder", func(f *sticktest.Fixture) { f.Room = f.Touch("a", f.Now) }, ""},
		{
			"its heartbeat", func(f *sticktest.Fixture) {
				f.Room, _ = f.Heartbeat("a", f.Fence(), stick.ProvesSession, f.Now)
			}, "",
		},

		// Whoever may act now, and whose deadlines are others, are all.
		{
			"a release that names nobody", func(f *sticktest.Fixture) {
				f.Ends("b", "c", "d", "e").Releases()
			}, "all",
		},
		{
			"a pause", func(f *sticktest.Fixture) { f.Pauses("a demo") }, "all",
		},
		{
			"a takeover is open", func(f *sticktest.Fixture) {
				f.Gone("a").Settles("b")
			}, "all",
		},
		{
			"a takeover is offered", func(f *sticktest.Fixture) {
				f.Room.Turn.OpenedAt = 0
				f.Gone("a").Asks("b")
			}, "all",
		},

		// Members and rules that are others.
		{
			"a member leaves", func(f *sticktest.Fixture) { f.Must(f.TryLeave(stick.Leaving{By: "f"})) }, "all",
		},
		{
			"a member joins", func(f *sticktest.Fixture) {
				r, events, _, err := f.Join("g", "", true, f.Now)
				f.Must(f.TryCommit(r, events, err))
			}, "",
		},
		{
			"a limit changes", func(f *sticktest.Fixture) {
				r, events, err := f.SetPolicy("human:ann", true, []string{"waiter_grace=7s"}, f.Now)
				f.Must(f.TryCommit(r, events, err))
			}, "all",
		},

		// Limits that have come, and the end of everything.
		{
			"the holder learns that it looks idle", func(f *sticktest.Fixture) {
				f.After(f.Policy.OwnerIdleTTL).Asks("b")
			}, "all",
		},
		{
			"the database was restored", func(f *sticktest.Fixture) {
				r, events := f.Restore(stick.Generation{Number: 2, Cause: stick.RestoreCause}, f.Probed, f.Now)
				f.Must(f.TryCommit(r, events, nil))
			}, "all",
		},
		{
			"the room closes", func(f *sticktest.Fixture) {
				r, events, err := f.Close(stick.Closing{By: "a", Fence: f.Fence(), Handoff: &sticktest.Handoff}, f.Now)
				f.Must(f.TryCommit(r, events, err))
			}, "all",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := ringRoom(t)
			before, logged := f.Room, len(f.Log)
			c.act(f)
			sticktest.Equal(t, "rung", ringOf(f.RingAfter(before, f.Log[logged:])), c.want)
		})
	}
}

func TestRoom_RingAfter_claim(t *testing.T) {
	f := ringRoom(t).Releases()
	before, logged := f.Room, len(f.Log)
	f.Asks("b")
	sticktest.Equal(t, "a claim rings the claimant, and the next two",
		ringOf(f.RingAfter(before, f.Log[logged:])), "b c d")
}

// A limit that an agent lowers during another's turn applies from the next one on.
func TestRoom_RingAfter_policy_of_the_next_turn(t *testing.T) {
	f := ringRoom(t)
	r, events, err := f.SetPolicy("b", false, []string{"owner_idle_ttl=" + (f.Policy.OwnerIdleTTL / 2).String()}, f.Now)
	f.Must(f.TryCommit(r, events, err))
	f.Releases()
	before, logged := f.Room, len(f.Log)
	f.Asks("b")
	sticktest.Equal(t, "a claim rings", ringOf(f.RingAfter(before, f.Log[logged:])), "all")
}

// Each wait has its own time for an offer, which counts from the last one. The next grant ends that.
func TestRoom_RingAfter_offer(t *testing.T) {
	f := ringRoom(t).Gone("a")
	f.Settles("b")
	before, logged := f.Room, len(f.Log)
	sticktest.Equal(t, "b is told", f.Asks("b").Status, stick.TakeoverAvailable)
	sticktest.Equal(t, "an offer rings", ringOf(f.RingAfter(before, f.Log[logged:])), "all")

	f.Alive("a")
	before, logged = f.Room, len(f.Log)
	f.Releases()
	sticktest.Equal(t, "a release after it rings", ringOf(f.RingAfter(before, f.Log[logged:])), "b c d")
}

// A reservation that nobody has claimed moves on to the next one.
func TestRoom_RingAfter_reroute(t *testing.T) {
	f := ringRoom(t).Releases()
	before, logged := f.Room, len(f.Log)
	f.After(f.Policy.WaiterGrace + time.Second).Asks("e")
	sticktest.Equal(t, "the stick is reserved for", f.Turn.ReservedFor, "c")
	sticktest.Equal(t, "rung", ringOf(f.RingAfter(before, f.Log[logged:])), "b c d")
}

func TestRoom_RingAfter_rest(t *testing.T) {
	f := ringRoom(t).Hooks("a").ReleasesUnchanged().Waits("a")
	before := f.Room
	f.Room = f.EndRest("a")
	sticktest.Equal(t, "who rests no longer is rung", ringOf(f.RingAfter(before, nil)), "a")
}

// Where too few wait for the stick, those that wait for something else keep the time.
func TestRoom_RingAfter_few_waits(t *testing.T) {
	f := ringRoom(t)
	f.Listeners = f.Listeners[3:] // e and f
	before, logged := f.Room, len(f.Log)
	f.Passes("b")
	sticktest.Equal(t, "rung", ringOf(f.RingAfter(before, f.Log[logged:])), "e f")
}

func TestRoom_RingWithout(t *testing.T) {
	for _, c := range []struct{ name, ended, want string }{
		{"the first sentinel ends", "b", "c d"},
		{"the second one ends", "c", "b d"},
		{"both end", "b c", "d e"},
		{"another ends", "d", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := ringRoom(t)
			var ended []stick.ListenerID
			for _, l := range f.Listeners {
				if strings.Contains(c.ended, string(l.Agent)) {
					ended = append(ended, l.ID)
				}
			}
			sticktest.Equal(t, "rung", ringOf(f.RingWithout(ended...)), c.want)
		})
	}
}
