package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/timeline"
)

// drawn writes a timeline in short: seconds since the start, and "-" for an end that isn't known.
func drawn(t timeline.Timeline) string {
	at := func(x stick.Time) string {
		if x.IsZero() {
			return "-"
		}
		return fmt.Sprint(x.Sub(sticktest.Start).Seconds())
	}

	span := func(s timeline.Span) string { return at(s.From) + ".." + at(s.To) }
	var b strings.Builder
	for _, l := range t.Lanes {
		fmt.Fprintf(&b, "%s:", l.Agent)
		for _, h := range l.Holds {
			fmt.Fprintf(&b, " held(%s turn %d %s/%s", span(h.Span), h.Turn, h.Began, h.Ended)
			if h.By != "" {
				fmt.Fprintf(&b, " by %s", h.By)
			}
			b.WriteString(")")
		}

		for _, n := range l.Named {
			fmt.Fprintf(&b, " named(%s %s %t)", span(n.Span), n.By, n.Claimed)
		}
		for _, w := range l.Waits {
			fmt.Fprintf(&b, " waited(%s turn %d)", span(w.Span), w.Turn)
		}
		for _, m := range l.Marks {
			fmt.Fprintf(&b, " %s(%s %s %s %s)", m.Type, at(m.At), m.Other, m.Cause, m.Reason)
		}
		b.WriteString("\n")
	}

	for _, p := range t.Pauses {
		fmt.Fprintf(&b, "paused(%s %s %s)\n", span(p.Span), p.By, p.Reason)
	}
	return b.String()
}

// turnEvents are those of a log that a timeline is made of.
func turnEvents(log []stick.Event) []stick.Event {
	return slices.DeleteFunc(slices.Clone(log), func(e stick.Event) bool {
		return !slices.Contains(timeline.Events, e.Type)
	})
}

func drawTimeline(f *sticktest.Fixture) timeline.Timeline {
	return timeline.Of(turnEvents(f.Log), timeline.Waiters(f.Room, f.Probed, f.Now), sticktest.Start, f.Now)
}

func TestTimeline(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		name string
		f    func(*sticktest.Fixture)
		want []string
	}{
		{"nothing", func(f *sticktest.Fixture) { f.WithMembers("a").After(second) }, nil},
		{
			"a turn that goes on",
			func(f *sticktest.Fixture) { f.WithMembers("a").After(second).Owns("a").After(second) },
			[]string{"a: held(1..- turn 1 open_claim/)"},
		},
		{
			"a release, and a wait that it ends",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "b").Owns("a").After(second).Waits("b").After(second).Releases().
					After(second).Owns("b").Ends("b").After(second).Releases()
			},
			[]string{
				"a: held(0..2 turn 1 open_claim/release)",
				"b: held(3..4 turn 2 sequence/release) named(2..3 release true) waited(1..3 turn 2)",
			},
		},
		{
			"a pass that another takes over",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "b", "c").Owns("a").After(second).Passes("b").After(sticktest.Claim).Takes("c")
			},
			[]string{
				"a: held(0..1 turn 1 open_claim/pass)",
				"b: named(1..1201 pass false)",
				"c: held(1201..- turn 2 takeover/) takeover(1201 b claim_timeout it is needed)",
			},
		},
		{
			"a takeover from a holder, by one that waits",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "b").Owns("a").Waits("b").After(sticktest.Limit).Takes("b")
			},
			[]string{
				"a: held(0..2700 turn 1 open_claim/takeover by b)",
				"b: held(2700..- turn 2 takeover/) waited(0..2700 turn 2) takeover(2700 a owner_timeout it is needed)",
			},
		},
		{
			"an abandoned turn, and the next one is named",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "b").Owns("a").Waits("b").After(second)
				f.Must(f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence(), Abandon: "wrong branch"}))
				f.After(second)
			},
			[]string{"a: held(0..1 turn 1 open_claim/leave)", "b: named(1..- release false) waited(0..- turn 0)"},
		},
		{
			"a reservation that moves on",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "b", "c").Owns("a").Waits("b", "c").After(second).Releases().
					After(sticktest.Grace).Settles("x")
			},
			[]string{
				"a: held(0..1 turn 1 open_claim/release)",
				"b: named(1..11 release false) waited(0..- turn 0)",
				"c: named(11..- release false) waited(0..- turn 0)",
			},
		},
		{
			"the holder is removed",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "human:x").Owns("a").After(second)
				f.Must(f.TryKick(stick.Kicking{By: "human:x", Who: "a", Force: true, Reason: "it runs wild"}))
			},
			[]string{"a: held(0..1 turn 1 open_claim/kick by human:x) kick(1 human:x  it runs wild)"},
		},
		{
			"the recipient is removed",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "b").Owns("a").Passes("b").After(second)
				f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Force: true}))
			},
			[]string{"a: held(0..0 turn 1 open_claim/pass)", "b: named(0..1 pass false) kick(1 a  )"},
		},
		{
			"a restart",
			func(f *sticktest.Fixture) {
				f.WithMembers("a").Owns("a").After(second)
				f.Commit(f.Restore(stick.Generation{Number: 7, Cause: stick.RebootCause}, f.Probed, f.Now))
				f.After(second).Owns("a")
			},
			[]string{"a: held(0..1 turn 1 open_claim/restored) held(2..- turn 4098 open_claim/)"},
		},
		{
			"a pause, with another reason later, in which the holder's wait goes on",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "human:x").Owns("a").Waits("a").After(second)
				f.Commit(first2(f.Pause("human:x", true, "a demo", f.Now)))
				f.After(second)
				f.Commit(first2(f.Pause("human:x", true, "lunch", f.Now)))
				f.After(second)
				f.Commit(first2(f.Resume("human:x", true, f.Probed, f.Now)))
				f.After(second)
			},
			[]string{"a: held(0..- turn 1 open_claim/)", "paused(1..3 human:x a demo)"},
		},
		{
			"a person's wait that has gone on since before a turn of the same person",
			func(f *sticktest.Fixture) {
				f.WithMembers("human:x").Waits("human:x").After(second).Owns("human:x").
					After(second).Releases().After(second).Owns("human:x")
			},
			[]string{
				"human:x: held(1..2 turn 1 open_claim/release) held(3..- turn 2 sequence/)" +
					" named(2..3 release true) waited(0..1 turn 1) waited(2..3 turn 2)",
			},
		},
		{
			"scopes that overlap",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "b").After(second)
				e := f.Room.NewEvent(stick.EventIncursion, "b", "a").WithPayload(stick.IncursionPayload{
					Message: &stick.Message{To: []stick.AgentID{"a"}},
				})
				f.Commit(f.Room, []stick.Event{e})
			},
			[]string{"b: incursion(1 a  )", "a: incursion(1 b  )"},
		},
		{
			"a closed room",
			func(f *sticktest.Fixture) {
				f.WithMembers("a", "b").Owns("a").Passes("b").After(second)
				f.Must(f.TryClose(stick.Closing{By: "human:x", Person: true}))
				f.After(second)
			},
			[]string{"a: held(0..0 turn 1 open_claim/pass)", "b: named(0..1 pass false)"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sticktest.NewRoom(t)
			c.f(f)
			sticktest.Equal(t, "timeline", drawn(drawTimeline(f)), lines(c.want))
		})
	}
}

func first2(r stick.Room, events []stick.Event, err error) (stick.Room, []stick.Event) {
	if err != nil {
		panic(err)
	}
	return r, events
}

// TestTimelineTotals: what lies outside the range doesn't count, and what has no end counts up to the
// range's.
func TestTimelineTotals(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Waits("b").After(time.Minute).
		Releases().Owns("b").Ends("b").After(time.Hour)
	whole := drawTimeline(f)
	sticktest.Equal(t, "held", whole.Lanes[0].Held, stick.Millis(time.Minute.Milliseconds()))
	sticktest.Equal(t, "waited", whole.Lanes[1].Waited, stick.Millis(time.Minute.Milliseconds()))
	sticktest.Equal(t, "held so far", whole.Lanes[1].Held, stick.Millis(time.Hour.Milliseconds()))

	part := timeline.Of(turnEvents(f.Log), nil, sticktest.Start.Add(30*time.Second),
		sticktest.Start.Add(90*time.Second))
	for _, l := range part.Lanes {
		sticktest.Equal(t, "turns", l.Turns, 1)
		sticktest.Equal(t, "held", l.Held, 30_000)
	}

	sticktest.Equal(t, "waited", part.Lanes[1].Waited, 30_000)
	f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Force: true}))
	early := timeline.Of(turnEvents(f.Log), nil, sticktest.Start, f.Now-1)
	sticktest.Equal(t, "marks after the range", len(early.Lanes[1].Marks), 0)
	sticktest.Equal(t, "marks at its end", len(drawTimeline(f).Lanes[1].Marks), 1)

	late := timeline.Of(turnEvents(f.Log), nil, sticktest.Start.Add(2*time.Minute), f.Now)
	sticktest.Equal(t, "lanes", len(late.Lanes), 1)
	sticktest.Equal(t, "who", late.Lanes[0].Agent, "b")
	sticktest.Equal(t, "clock back",
		stick.Millis(0),
		timeline.SumOfSpans([]timeline.Span{{From: sticktest.Start.Add(time.Hour), To: sticktest.Start}},
			sticktest.Start, sticktest.Start.Add(2*time.Hour)))
}

// TestTimelineEvents: a type that begins or ends a turn is among those that timelines are made of.
func TestTimelineEvents(t *testing.T) {
	for _, info := range stick.EventTypes {
		_, ends := info.Payload().(interface {
			turnEndedOf(stick.Event) stick.AgentID
		})
		_, sums := info.Payload().(interface{ leaseSum() string })
		if (ends || sums || info.Type.Grants()) && !slices.Contains(timeline.Events, info.Type) {
			t.Errorf("timelines lack %s", info.Type)
		}
	}
}

// TestTimelineFromTheMiddle plays random histories, and draws each from each of its events on: that shows
// what the whole log shows of the same time, but for beginnings that it doesn't know, and turns and
// reservations that go on through all of it.
func TestTimelineFromTheMiddle(t *testing.T) {
	for seed := range uint64(40) {
		f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "human:x")
		plays(f, rand.New(rand.NewPCG(seed, 1)), 60)
		log := turnEvents(f.Log)
		for i := range log {
			from := log[i].CreatedAt
			for i > 0 && log[i-1].CreatedAt == from {
				i-- // what happened at once is in both, or in neither
			}
			whole := drawn(forgets(timeline.Of(log, nil, from, f.Now), from))
			part := drawn(forgets(timeline.Of(log[i:], nil, from, f.Now), from))
			if whole != part {
				t.Fatalf("seed %d, from event %d (%s):\n%s\nthe whole log shows\n%s", seed, i, log[i].Type, part, whole)
			}
		}
	}
}

// TestTimeline_CutLog: the events begin with the last one of a type. What began before them has no
// beginning.
func TestTimeline_CutLog(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		first stick.EventType
		f     func(*sticktest.Fixture)
		want  []string
	}{
		{
			stick.EventRelease,
			func(f *sticktest.Fixture) { f.Owns("a").Releases().Owns("a").After(second).Releases() },
			[]string{"a: held(-..1 turn 2 /release)"},
		},
		{
			stick.EventPass,
			func(f *sticktest.Fixture) { f.Owns("a").Passes("b") },
			[]string{"a: held(-..0 turn 1 /pass)", "b: named(0..- pass false)"},
		},
		{
			stick.EventClaim,
			func(f *sticktest.Fixture) { f.Owns("a").Passes("b").After(second).Owns("b") },
			[]string{"b: held(1..- turn 2 direct_pass/) named(-..1 pass true)"},
		},
		{
			stick.EventClaim,
			func(f *sticktest.Fixture) { f.Owns("a").Waits("b").Releases().After(second).Owns("b") },
			[]string{"b: held(1..- turn 2 sequence/) named(-..1 release true) waited(0..1 turn 2)"},
		},
		{stick.EventClaim, func(f *sticktest.Fixture) { f.Owns("a") }, []string{"a: held(0..- turn 1 open_claim/)"}},
		{
			stick.EventTakeover,
			func(f *sticktest.Fixture) { f.Owns("a").After(sticktest.Limit).Takes("b") },
			[]string{
				"a: held(-..2700 turn 1 /takeover by b)",
				"b: held(2700..- turn 2 takeover/) takeover(2700 a owner_timeout it is needed)",
			},
		},
		{
			stick.EventTakeover,
			func(f *sticktest.Fixture) { f.Owns("a").Passes("b").After(sticktest.Claim).Takes("c") },
			[]string{
				"b: named(-..1200 release false)",
				"c: held(1200..- turn 2 takeover/) takeover(1200 b claim_timeout it is needed)",
			},
		},
		{
			stick.EventRestored,
			func(f *sticktest.Fixture) {
				f.Owns("a").After(second).
					Commit(f.Restore(stick.Generation{Number: 7, Cause: stick.RebootCause}, f.Probed, f.Now))
			},
			[]string{"a: held(-..1 turn 0 /restored)"},
		},
		{
			stick.EventRestored,
			func(f *sticktest.Fixture) {
				f.Owns("a").Passes("b").After(second).
					Commit(f.Restore(stick.Generation{Number: 7, Cause: stick.RebootCause}, f.Probed, f.Now))
			},
			[]string{"b: named(-..1 release false)"},
		},
		{
			stick.EventRerouted,
			func(f *sticktest.Fixture) { f.Owns("a").Waits("b", "c").Releases().After(sticktest.Grace).Settles("x") },
			[]string{
				"b: named(-..10 release false) waited(0..- turn 0)",
				"c: named(10..- release false) waited(0..- turn 0)",
			},
		},
		{ // who was named before is in an event of the same moment
			stick.EventRerouted,
			func(f *sticktest.Fixture) {
				f.Owns("a").Waits("b").After(second)
				f.Must(f.TryLeave(stick.Leaving{By: "a", Fence: f.Fence(), Abandon: "wrong branch"}))
				f.Owns("b")
			},
			[]string{"b: held(1..- turn 2 sequence/) named(1..1 release true) waited(0..1 turn 2)"},
		},
		{
			stick.EventKick,
			func(f *sticktest.Fixture) {
				f.Owns("a").Releases().Owns("a").After(second)
				f.Must(f.TryKick(stick.Kicking{By: "b", Who: "a", Force: true}))
			},
			[]string{"a: held(-..1 turn 2 /kick by b) kick(1 b  )"},
		},
		{
			stick.EventKick,
			func(f *sticktest.Fixture) { f.Owns("a").Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Force: true})) },
			[]string{"b: kick(0 a  )"},
		},
		{
			stick.EventRoomResumed,
			func(f *sticktest.Fixture) {
				f.Commit(first2(f.Pause("human:x", true, "a demo", f.Now)))
				f.After(second).Commit(first2(f.Resume("human:x", true, f.Probed, f.Now)))
			},
			[]string{"paused(0..1  )"},
		},
	} {
		t.Run(string(c.first), func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c", "human:x")
			c.f(f)
			log := turnEvents(f.Log)
			for i, e := range slices.Backward(log) {
				if e.Type == c.first {
					log = log[i:]
					break
				}
			}
			sticktest.Equal(t, "timeline",
				drawn(timeline.Of(log, timeline.Waiters(f.Room, f.Probed, f.Now), sticktest.Start, f.Now)),
				lines(c.want))
		})
	}
}

// TestTimelineOfAnUnsoundLog: events that can't follow each other are drawn as far as they make sense.
func TestTimelineOfAnUnsoundLog(t *testing.T) {
	at := func(s int, typ stick.EventType, by stick.AgentID, turn int64, p stick.Payload) stick.Event {
		return stick.Event{
			Type: typ, From: by, Turn: turn, CreatedAt: sticktest.Start.Add(time.Duration(s) * time.Second),
		}.WithPayload(p)
	}
	for name, c := range map[string]struct {
		log  []stick.Event
		want []string
	}{
		"a turn in a turn": {
			[]stick.Event{
				at(0, stick.EventClaim, "a", 1, stick.ClaimPayload{Claim: stick.OpenClaim}),
				at(1, stick.EventClaim, "b", 2, stick.ClaimPayload{Claim: stick.OpenClaim}),
			},
			[]string{"a: held(0..1 turn 1 open_claim/)", "b: held(1..- turn 2 open_claim/)"},
		},
		"the end of another's turn": {
			[]stick.Event{
				at(0, stick.EventClaim, "a", 1, stick.ClaimPayload{Claim: stick.OpenClaim}),
				at(1, stick.EventRelease, "b", 1, stick.ReleasePayload{}),
			},
			[]string{"a: held(0..- turn 1 open_claim/)"},
		},
		"the end of a turn that was over": {
			[]stick.Event{
				at(0, stick.EventRelease, "a", 1, stick.ReleasePayload{}),
				at(1, stick.EventRelease, "b", 1, stick.ReleasePayload{}),
			},
			[]string{"a: held(-..0 turn 1 /release)"},
		},
		"the end of a reservation that nobody had": {
			[]stick.Event{
				at(0, stick.EventClaim, "a", 1, stick.ClaimPayload{Claim: stick.OpenClaim}),
				at(1, stick.EventRerouted, "", 1, stick.ReroutedPayload{Prior: "b"}),
			},
			[]string{"a: held(0..- turn 1 open_claim/)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			sticktest.Equal(t, "timeline",
				drawn(timeline.Of(c.log, nil, sticktest.Start, sticktest.Start.Add(2*time.Second))),
				lines(c.want))
		})
	}
}

func lines(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\n") + "\n"
}

// plays lets the members do what comes up, with a second between.
func plays(f *sticktest.Fixture, dice *rand.Rand, acts int) {
	f.T.Helper()
	all := []stick.AgentID{"a", "b", "c", "human:x"}
	for range acts {
		f.After(time.Duration(dice.IntN(3)) * time.Second)
		a := all[dice.IntN(len(all))]
		owner := f.Turn.Owner
		switch dice.IntN(12) {
		case 0, 1, 2:
			f.Peeks(a)
		case 3:
			f.Waits(a)
		case 4:
			f.Ends(a)

		case 5:
			if owner != "" {
				f.Releases()
			}

		case 6:
			_, _ = f.TryPass(a) // nobody owns, or a does
		case 7:
			_, _ = f.TryTake(stick.Take{By: a, Reason: "it is needed", Operator: true})

		case 8:
			q := stick.Leaving{By: a}
			if owner == a {
				q.Fence, q.Abandon = f.Fence(), "it must"
			}
			_, _ = f.TryLeave(q) // it may have left

		case 9:
			f.WithMembers(a)
		case 10:
			_, _ = f.TryKick(stick.Kicking{By: "human:x", Who: a, Force: true})

		case 11:
			if dice.IntN(3) == 0 {
				f.Commit(f.Restore(stick.Generation{Number: f.Generation + 1, Cause: stick.RebootCause}, f.Probed,
					f.Now))
			} else if f.Turn.State == stick.Reserved {
				f.After(sticktest.Claim).Settles("nobody")
			}
		}
	}
}

// forgets drops from a timeline what a part of the log that begins at a time can't tell.
func forgets(t timeline.Timeline, from stick.Time) timeline.Timeline {
	before := func(s *timeline.Span) bool {
		if s.From < from {
			s.From = 0
		}
		return s.From.IsZero() && s.To.IsZero()
	}

	lanes := t.Lanes[:0]
	for _, l := range t.Lanes {
		for i := range l.Holds {
			if l.Holds[i].From < from {
				l.Holds[i].Began, l.Holds[i].Turn = "", 0
			}
		}

		for i := range l.Named {
			if l.Named[i].From < from {
				l.Named[i].By = ""
			}
		}

		l.Holds = slices.DeleteFunc(l.Holds, func(h timeline.Holding) bool {
			return before(&h.Span) || h.To == from && h.From < from
		})
		l.Named = slices.DeleteFunc(l.Named, func(n timeline.Naming) bool {
			return before(&n.Span) || n.To == from && n.From < from
		})
		for i := range l.Holds {
			before(&l.Holds[i].Span)
		}
		for i := range l.Named {
			before(&l.Named[i].Span)
		}
		for i := range l.Waits {
			before(&l.Waits[i].Span)
		}
		if len(l.Holds)+len(l.Named)+len(l.Waits)+len(l.Marks) > 0 {
			lanes = append(lanes, l)
		}
	}

	slices.SortFunc(lanes, func(a, b timeline.Lane) int { return strings.Compare(string(a.Agent), string(b.Agent)) })
	t.Lanes = lanes
	return t
}
