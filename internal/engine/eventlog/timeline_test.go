package eventlog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// lanesOf writes a timeline in short: who held the stick in which turns and who waited, in minutes since a
// time.
func lanesOf(v eventlog.GetTimelineResult, since stick.Time) string {
	at := func(t stick.Time) string {
		if t.IsZero() {
			return "-"
		}
		return fmt.Sprint(t.Sub(since).Minutes())
	}

	var lanes []string
	for _, l := range v.Lanes {
		lane := string(l.Agent)
		for _, h := range l.Holds {
			lane += fmt.Sprintf(" %d:%s-%s", h.Turn, at(h.From), at(h.To))
		}
		for _, w := range l.Waits {
			lane += fmt.Sprintf(" w%s-%s", at(w.From), at(w.To))
		}
		lanes = append(lanes, lane)
	}

	return strings.Join(lanes, "; ")
}

// TestTimeline_Holders: the timeline shows turns, and the waits that ended with one. Those that go on come
// from the room.
func TestTimeline_Holders(t *testing.T) {
	s := scene.New(t)
	ann, bob, cyd := s.Agent("claude:a"), s.Agent("codex:b"), s.Agent("gemini:c")
	ann.GetTimeline(eventlog.GetTimelineParams{}).Refused(stick.CodeNoRoom)
	ann.Join().OK()
	empty := ann.GetTimeline(eventlog.GetTimelineParams{}).OK()
	s.Check(empty.Lanes != nil && len(empty.Lanes) == 0 && empty.From == empty.To && !empty.More, "%+v", empty)

	began := s.Now()
	ann.Try().Granted(1)
	s.Later(time.Minute)
	bobs := bob.Waits()
	s.Later(9 * time.Minute)
	ann.Release("one", "two").NextIs(bob)
	bobs.Ends().Granted(2)
	s.Later(time.Minute)
	cyd.Waits()
	s.Later(4 * time.Minute)
	v := bob.GetTimeline(eventlog.GetTimelineParams{}).OK()
	want := fmt.Sprintf("%s 1:0-10; %s 2:10-- w1-10; %s w11--", ann.ID, bob.ID, cyd.ID)
	s.Check(lanesOf(v, began) == want, "%s, want %s", lanesOf(v, began), want)
	s.Check(v.From == began && v.To == s.Now() && !v.More && v.Before == 0, "%+v", v)
	s.Check(v.Lanes[0].Turns == 1 && v.Lanes[0].Held.Duration() == 10*time.Minute, "%+v", v.Lanes[0])
	s.Check(v.Lanes[1].Held.Duration() == 5*time.Minute && v.Lanes[1].Waited.Duration() == 9*time.Minute, "%+v",
		v.Lanes[1])
	s.Check(v.Lanes[2].Waited.Duration() == 4*time.Minute, "%+v", v.Lanes[2])

	// The last minutes only: what began before them began before them.
	v = bob.GetTimeline(eventlog.GetTimelineParams{LastMS: 120_000}).OK()
	s.Check(v.From == s.Now().Add(-2*time.Minute) && v.More, "%+v", v)
	want = fmt.Sprintf("%s 2:10--; %s w11--", bob.ID, cyd.ID)
	s.Check(lanesOf(v, began) == want, "%s, want %s", lanesOf(v, began), want)
	s.Check(v.Lanes[0].Held.Duration() == 2*time.Minute, "%+v", v.Lanes[0])
}

// TestTimeline_WaitInPieces: an agent whose harness ends long commands waits in pieces. Its wait began with the first
// of them.
func TestTimeline_WaitInPieces(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.AgentUnseen("codex:b")
	s.Joins(ann, bob)
	bob.Try().Granted(1)
	s.Later(time.Minute)
	began := s.Now()
	first := ann.Waits()
	s.Later(time.Minute)
	bob.Tell("news").OK()
	first.Ends().Is(stick.GotEvents)
	s.Later(30 * time.Second)
	second := ann.Waits()
	s.Later(46 * time.Minute)
	second.Ends().TakeoverOpen(stick.OwnerTimeout)
	s.Later(20 * time.Second)
	ann.Take("it is silent").Granted(2, stick.OwnerTimeout)

	v := ann.GetTimeline(eventlog.GetTimelineParams{}).OK()
	for _, l := range v.Lanes {
		if l.Agent == ann.ID {
			s.Check(len(l.Waits) == 1 && l.Waits[0].From == began && l.Waits[0].To == s.Now(), "%+v", l)
			return
		}
	}
	s.Check(false, "ann isn't on the timeline: %+v", v)
}

// TestTimelinePages: the past comes in pages. Each knows who had the stick when it begins, also if that turn
// is older than what it was made of.
func TestTimelinePages(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	began := s.Now()

	for range 3 {
		ann.Try()
		s.Later(time.Minute)
		ann.Tell("news").OK()
		ann.Pass(bob, "one", "two").OK()
		s.Later(time.Minute)
		bob.Try()
		s.Later(time.Minute)
		bob.Pass(ann, "three", "four").OK()
		s.Later(time.Minute)
	}

	p := eventlog.GetTimelineParams{Limit: 5}
	for i, want := range []string{
		fmt.Sprintf("%s 4:6-7 6:10-11; %s 5:8-9", bob.ID, ann.ID), // it begins with the end of turn 4
		fmt.Sprintf("%s 2:2-3 4:6--; %s 3:4-5", bob.ID, ann.ID),
		fmt.Sprintf("%s 1:0-1; %s", ann.ID, bob.ID), // for whom the stick is reserved when it ends
	} {
		v := ann.GetTimeline(p).OK()
		s.Check(lanesOf(v, began) == want, "page %d: %s, want %s\n%+v", i, lanesOf(v, began), want, v)
		s.Check(v.More == (i < 2), "page %d: %+v", i, v)
		p.Before = v.Before
	}

	// Where the log is long, a call reads through a part of it. Its page begins there, and knows the current
	// turn all the same.
	held := s.Now()
	ann.Try().Granted(7)

	for range 8 {
		s.Later(time.Minute)
		ann.Tell("news").OK()
	}

	v := bob.GetTimeline(eventlog.GetTimelineParams{Reach: 5}).OK()
	want := fmt.Sprintf("%s 7:0--", ann.ID)
	s.Check(lanesOf(v, held) == want, "%s, want %s", lanesOf(v, held), want)
	s.Check(v.More && v.From == s.Now().Add(-5*time.Minute), "%+v", v)
	v = bob.GetTimeline(eventlog.GetTimelineParams{Reach: 5, Before: v.Before}).OK()
	s.Check(v.More && v.To == s.Now().Add(-5*time.Minute), "%+v", v)

	for _, p := range []eventlog.GetTimelineParams{{Limit: -1}, {Limit: 2001}, {LastMS: -1}, {Before: 9999}} {
		bob.GetTimeline(p).Refused(stick.CodeUsage)
	}
}

// TestTimeline_Quiet: nothing happened for days. The range shows who has the stick, and where the past
// begins.
func TestTimeline_Quiet(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.Try().Granted(1)
	s.Later(time.Minute)
	ann.Release("one", "two").ForNobody()
	began := s.Now()
	bob.Try().Granted(2)
	s.Later(48 * time.Hour)
	v := ann.GetTimeline(eventlog.GetTimelineParams{LastMS: time.Hour.Milliseconds()}).OK()
	want := fmt.Sprintf("%s 2:0--", bob.ID)
	s.Check(lanesOf(v, began) == want && v.More, "%s, want %s: %+v", lanesOf(v, began), want, v)
	v = ann.GetTimeline(eventlog.GetTimelineParams{Before: v.Before}).OK()
	s.Check(len(v.Lanes) == 1 && v.Lanes[0].Agent == ann.ID, "%+v", v)
}
