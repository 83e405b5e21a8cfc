package stick

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// drawn writes a timeline in short: seconds since the start, and "-" for an end that isn't known.
func drawn(t Timeline) string {
	at := func(x Time) string {
		if x.IsZero() {
			return "-"
		}
		return fmt.Sprint(x.Sub(start).Seconds())
	}
	span := func(s Span) string { return at(s.From) + ".." + at(s.To) }
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
func turnEvents(log []Event) []Event {
	return slices.DeleteFunc(slices.Clone(log), func(e Event) bool { return !slices.Contains(TimelineEvents, e.Type) })
}

func (f *fixture) timeline() Timeline {
	return TimelineOf(turnEvents(f.log), f.Waiters(f.s, f.now), start, f.now)
}

func TestTimeline(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		name string
		f    func(*fixture)
		want []string
	}{
		{"nothing", func(f *fixture) { f.member("a").after(second) }, nil},
		{
			"a turn that goes on",
			func(f *fixture) { f.member("a").after(second).owns("a").after(second) },
			[]string{"a: held(1..- turn 1 open_claim/)"},
		},
		{
			"a release, and a wait that it ends",
			func(f *fixture) {
				f.member("a", "b").owns("a").after(second).waits("b").after(second).releases().after(second).owns("b").ends("b").after(second).releases()
			},
			[]string{
				"a: held(0..2 turn 1 open_claim/release)",
				"b: held(3..4 turn 2 sequence/release) named(2..3 release true) waited(1..3 turn 2)",
			},
		},
		{
			"a pass that another takes over",
			func(f *fixture) {
				f.member("a", "b", "c").owns("a").after(second).passes("b").after(claim).takes("c")
			},
			[]string{
				"a: held(0..1 turn 1 open_claim/pass)",
				"b: named(1..1201 pass false)",
				"c: held(1201..- turn 2 takeover/) takeover(1201 b claim_timeout it is needed)",
			},
		},
		{
			"a takeover from a holder, by one that waits",
			func(f *fixture) { f.member("a", "b").owns("a").waits("b").after(limit).takes("b") },
			[]string{
				"a: held(0..2700 turn 1 open_claim/takeover by b)",
				"b: held(2700..- turn 2 takeover/) waited(0..2700 turn 2) takeover(2700 a owner_timeout it is needed)",
			},
		},
		{
			"an abandoned turn, and the next one is named",
			func(f *fixture) {
				f.member("a", "b").owns("a").waits("b").after(second)
				f.must(f.leave(Leaving{By: "a", Fence: f.fence(), Abandon: "wrong branch"}))
				f.after(second)
			},
			[]string{"a: held(0..1 turn 1 open_claim/leave)", "b: named(1..- release false) waited(0..- turn 0)"},
		},
		{
			"a reservation that moves on",
			func(f *fixture) {
				f.member("a", "b", "c").owns("a").waits("b", "c").after(second).releases().after(grace).settle("x")
			},
			[]string{
				"a: held(0..1 turn 1 open_claim/release)",
				"b: named(1..11 release false) waited(0..- turn 0)",
				"c: named(11..- release false) waited(0..- turn 0)",
			},
		},
		{
			"the holder is removed",
			func(f *fixture) {
				f.member("a", "human:x").owns("a").after(second)
				f.must(f.kick(Kicking{By: "human:x", Who: "a", Force: true, Reason: "it runs wild"}))
			},
			[]string{"a: held(0..1 turn 1 open_claim/kick by human:x) kick(1 human:x  it runs wild)"},
		},
		{
			"the recipient is removed",
			func(f *fixture) {
				f.member("a", "b").owns("a").passes("b").after(second)
				f.must(f.kick(Kicking{By: "a", Who: "b", Force: true}))
			},
			[]string{"a: held(0..0 turn 1 open_claim/pass)", "b: named(0..1 pass false) kick(1 a  )"},
		},
		{
			"a restart",
			func(f *fixture) {
				f.member("a").owns("a").after(second)
				f.commit(f.Restore(Generation{Number: 7, Cause: RebootCause}, f.s, f.now))
				f.after(second).owns("a")
			},
			[]string{"a: held(0..1 turn 1 open_claim/restored) held(2..- turn 4098 open_claim/)"},
		},
		{
			"a pause, with another reason later, in which the holder's wait goes on",
			func(f *fixture) {
				f.member("a", "human:x").owns("a").waits("a").after(second)
				f.commit(first2(f.Pause("human:x", true, "a demo", f.now)))
				f.after(second)
				f.commit(first2(f.Pause("human:x", true, "lunch", f.now)))
				f.after(second)
				f.commit(first2(f.Resume("human:x", true, f.s, f.now)))
				f.after(second)
			},
			[]string{"a: held(0..- turn 1 open_claim/)", "paused(1..3 human:x a demo)"},
		},
		{
			"a person's wait that has gone on since before a turn of the same person",
			func(f *fixture) {
				f.member("human:x").waits("human:x").after(second).owns("human:x").after(second).releases().after(second).owns("human:x")
			},
			[]string{
				"human:x: held(1..2 turn 1 open_claim/release) held(3..- turn 2 sequence/)" +
					" named(2..3 release true) waited(0..1 turn 1) waited(2..3 turn 2)",
			},
		},
		{
			"scopes that overlap",
			func(f *fixture) {
				f.member("a", "b").after(second)
				e := f.Room.newEvent(EventIncursion, "b", "a").withPayload(IncursionPayload{Message: &Message{To: []AgentID{"a"}}})
				f.commit(f.Room, []Event{e})
			},
			[]string{"b: incursion(1 a  )", "a: incursion(1 b  )"},
		},
		{
			"a closed room",
			func(f *fixture) {
				f.member("a", "b").owns("a").passes("b").after(second)
				f.must(f.close(Closing{By: "human:x", Person: true}))
				f.after(second)
			},
			[]string{"a: held(0..0 turn 1 open_claim/pass)", "b: named(0..1 pass false)"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := room(t)
			c.f(f)
			equal(t, "timeline", drawn(f.timeline()), lines(c.want))
		})
	}
}

func first2(r Room, events []Event, err error) (Room, []Event) {
	if err != nil {
		panic(err)
	}
	return r, events
}

// TestTimelineTotals: what lies outside the range doesn't count, and what has no end counts up to the
// range's.
func TestTimelineTotals(t *testing.T) {
	f := room(t).member("a", "b").owns("a").waits("b").after(time.Minute).releases().owns("b").ends("b").after(time.Hour)
	whole := f.timeline()
	equal(t, "held", whole.Lanes[0].Held, Millis(time.Minute.Milliseconds()))
	equal(t, "waited", whole.Lanes[1].Waited, Millis(time.Minute.Milliseconds()))
	equal(t, "held so far", whole.Lanes[1].Held, Millis(time.Hour.Milliseconds()))
	part := TimelineOf(turnEvents(f.log), nil, start.Add(30*time.Second), start.Add(90*time.Second))
	for _, l := range part.Lanes {
		equal(t, "turns", l.Turns, 1)
		equal(t, "held", l.Held, 30_000)
	}
	equal(t, "waited", part.Lanes[1].Waited, 30_000)
	f.must(f.kick(Kicking{By: "a", Who: "b", Force: true}))
	early := TimelineOf(turnEvents(f.log), nil, start, f.now-1)
	equal(t, "marks after the range", len(early.Lanes[1].Marks), 0)
	equal(t, "marks at its end", len(f.timeline().Lanes[1].Marks), 1)
	late := TimelineOf(turnEvents(f.log), nil, start.Add(2*time.Minute), f.now)
	equal(t, "lanes", len(late.Lanes), 1)
	equal(t, "who", late.Lanes[0].Agent, "b")
	equal(t, "clock back", Millis(0), sumOfSpans([]Span{{From: start.Add(time.Hour), To: start}}, start, start.Add(2*time.Hour)))
}

// TestTimelineEvents: a type that begins or ends a turn is among those that timelines are made of.
func TestTimelineEvents(t *testing.T) {
	for _, info := range EventTypes {
		_, ends := info.Payload().(interface{ turnEndedOf(Event) AgentID })
		_, sums := info.Payload().(interface{ leaseSum() string })
		if (ends || sums || info.Type.Grants()) && !slices.Contains(TimelineEvents, info.Type) {
			t.Errorf("timelines lack %s", info.Type)
		}
	}
}

// TestTimelineFromTheMiddle plays random histories, and draws each from each of its events on: that shows
// what the whole log shows of the same time, but for beginnings that it doesn't know, and turns and
// reservations that go on through all of it.
func TestTimelineFromTheMiddle(t *testing.T) {
	for seed := range uint64(40) {
		f := room(t).member("a", "b", "c", "human:x")
		f.plays(rand.New(rand.NewPCG(seed, 1)), 60)
		log := turnEvents(f.log)
		for i := range log {
			from := log[i].CreatedAt
			for i > 0 && log[i-1].CreatedAt == from {
				i-- // what happened at once is in both, or in neither
			}
			whole := drawn(forgets(TimelineOf(log, nil, from, f.now), from))
			part := drawn(forgets(TimelineOf(log[i:], nil, from, f.now), from))
			if whole != part {
				t.Fatalf("seed %d, from event %d (%s):\n%s\nthe whole log shows\n%s", seed, i, log[i].Type, part, whole)
			}
		}
	}
}

// TestTimelineWithoutABeginning: the events begin with the last one of a type. What began before them has no
// beginning.
func TestTimelineWithoutABeginning(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		first EventType
		f     func(*fixture)
		want  []string
	}{
		{EventRelease, func(f *fixture) { f.owns("a").releases().owns("a").after(second).releases() }, []string{"a: held(-..1 turn 2 /release)"}},
		{EventPass, func(f *fixture) { f.owns("a").passes("b") }, []string{"a: held(-..0 turn 1 /pass)", "b: named(0..- pass false)"}},
		{
			EventClaim,
			func(f *fixture) { f.owns("a").passes("b").after(second).owns("b") },
			[]string{"b: held(1..- turn 2 direct_pass/) named(-..1 pass true)"},
		},
		{
			EventClaim,
			func(f *fixture) { f.owns("a").waits("b").releases().after(second).owns("b") },
			[]string{"b: held(1..- turn 2 sequence/) named(-..1 release true) waited(0..1 turn 2)"},
		},
		{EventClaim, func(f *fixture) { f.owns("a") }, []string{"a: held(0..- turn 1 open_claim/)"}},
		{
			EventTakeover,
			func(f *fixture) { f.owns("a").after(limit).takes("b") },
			[]string{
				"a: held(-..2700 turn 1 /takeover by b)",
				"b: held(2700..- turn 2 takeover/) takeover(2700 a owner_timeout it is needed)",
			},
		},
		{
			EventTakeover,
			func(f *fixture) { f.owns("a").passes("b").after(claim).takes("c") },
			[]string{"b: named(-..1200 release false)", "c: held(1200..- turn 2 takeover/) takeover(1200 b claim_timeout it is needed)"},
		},
		{
			EventRestored,
			func(f *fixture) {
				f.owns("a").after(second).commit(f.Restore(Generation{Number: 7, Cause: RebootCause}, f.s, f.now))
			},
			[]string{"a: held(-..1 turn 0 /restored)"},
		},
		{
			EventRestored,
			func(f *fixture) {
				f.owns("a").passes("b").after(second).commit(f.Restore(Generation{Number: 7, Cause: RebootCause}, f.s, f.now))
			},
			[]string{"b: named(-..1 release false)"},
		},
		{
			EventRerouted,
			func(f *fixture) { f.owns("a").waits("b", "c").releases().after(grace).settle("x") },
			[]string{"b: named(-..10 release false) waited(0..- turn 0)", "c: named(10..- release false) waited(0..- turn 0)"},
		},
		{ // who was named before is in an event of the same moment
			EventRerouted,
			func(f *fixture) {
				f.owns("a").waits("b").after(second)
				f.must(f.leave(Leaving{By: "a", Fence: f.fence(), Abandon: "wrong branch"}))
				f.owns("b")
			},
			[]string{"b: held(1..- turn 2 sequence/) named(1..1 release true) waited(0..1 turn 2)"},
		},
		{
			EventKick,
			func(f *fixture) {
				f.owns("a").releases().owns("a").after(second)
				f.must(f.kick(Kicking{By: "b", Who: "a", Force: true}))
			},
			[]string{"a: held(-..1 turn 2 /kick by b) kick(1 b  )"},
		},
		{
			EventKick,
			func(f *fixture) { f.owns("a").must(f.kick(Kicking{By: "a", Who: "b", Force: true})) },
			[]string{"b: kick(0 a  )"},
		},
		{
			EventRoomResumed,
			func(f *fixture) {
				f.commit(first2(f.Pause("human:x", true, "a demo", f.now)))
				f.after(second).commit(first2(f.Resume("human:x", true, f.s, f.now)))
			},
			[]string{"paused(0..1  )"},
		},
	} {
		t.Run(string(c.first), func(t *testing.T) {
			f := room(t).member("a", "b", "c", "human:x")
			c.f(f)
			log := turnEvents(f.log)
			for i, e := range slices.Backward(log) {
				if e.Type == c.first {
					log = log[i:]
					break
				}
			}
			equal(t, "timeline", drawn(TimelineOf(log, f.Waiters(f.s, f.now), start, f.now)), lines(c.want))
		})
	}
}

// TestTimelineOfAnUnsoundLog: events that can't follow each other are drawn as far as they make sense.
func TestTimelineOfAnUnsoundLog(t *testing.T) {
	at := func(s int, typ EventType, by AgentID, turn int64, p Payload) Event {
		return Event{Type: typ, From: by, Turn: turn, CreatedAt: start.Add(time.Duration(s) * time.Second)}.withPayload(p)
	}
	for name, c := range map[string]struct {
		log  []Event
		want []string
	}{
		"a turn in a turn": {
			[]Event{at(0, EventClaim, "a", 1, ClaimPayload{Claim: OpenClaim}), at(1, EventClaim, "b", 2, ClaimPayload{Claim: OpenClaim})},
			[]string{"a: held(0..1 turn 1 open_claim/)", "b: held(1..- turn 2 open_claim/)"},
		},
		"the end of another's turn": {
			[]Event{at(0, EventClaim, "a", 1, ClaimPayload{Claim: OpenClaim}), at(1, EventRelease, "b", 1, ReleasePayload{})},
			[]string{"a: held(0..- turn 1 open_claim/)"},
		},
		"the end of a turn that was over": {
			[]Event{at(0, EventRelease, "a", 1, ReleasePayload{}), at(1, EventRelease, "b", 1, ReleasePayload{})},
			[]string{"a: held(-..0 turn 1 /release)"},
		},
		"the end of a reservation that nobody had": {
			[]Event{at(0, EventClaim, "a", 1, ClaimPayload{Claim: OpenClaim}), at(1, EventRerouted, "", 1, ReroutedPayload{Prior: "b"})},
			[]string{"a: held(0..- turn 1 open_claim/)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, "timeline", drawn(TimelineOf(c.log, nil, start, start.Add(2*time.Second))), lines(c.want))
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
func (f *fixture) plays(dice *rand.Rand, acts int) {
	f.t.Helper()
	all := []AgentID{"a", "b", "c", "human:x"}
	for range acts {
		f.after(time.Duration(dice.IntN(3)) * time.Second)
		a := all[dice.IntN(len(all))]
		owner := f.Turn.Owner
		switch dice.IntN(12) {
		case 0, 1, 2:
			f.try(a)
		case 3:
			f.waits(a)
		case 4:
			f.ends(a)
		case 5:
			if owner != "" {
				f.releases()
			}
		case 6:
			_, _ = f.pass(a) // nobody owns, or a does
		case 7:
			_, _ = f.take(Take{By: a, Reason: "it is needed", Operator: true})
		case 8:
			q := Leaving{By: a}
			if owner == a {
				q.Fence, q.Abandon = f.fence(), "it must"
			}
			_, _ = f.leave(q) // it may have left
		case 9:
			f.member(a)
		case 10:
			_, _ = f.kick(Kicking{By: "human:x", Who: a, Force: true})
		case 11:
			if dice.IntN(3) == 0 {
				f.commit(f.Restore(Generation{Number: f.Generation + 1, Cause: RebootCause}, f.s, f.now))
			} else if f.Turn.State == Reserved {
				f.after(claim).settle("nobody")
			}
		}
	}
}

// forgets drops from a timeline what a part of the log that begins at a time can't tell.
func forgets(t Timeline, from Time) Timeline {
	before := func(s *Span) bool {
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
		l.Holds = slices.DeleteFunc(l.Holds, func(h Holding) bool { return before(&h.Span) || h.To == from && h.From < from })
		l.Named = slices.DeleteFunc(l.Named, func(n Naming) bool { return before(&n.Span) || n.To == from && n.From < from })
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
	slices.SortFunc(lanes, func(a, b Lane) int { return strings.Compare(string(a.Agent), string(b.Agent)) })
	t.Lanes = lanes
	return t
}
