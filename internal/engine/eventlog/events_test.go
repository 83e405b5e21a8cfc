package eventlog_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestEvents: events are listed, filtered and followed.
func TestEvents(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Send(bob, "one").OK()
	ann.Tell("two").OK()

	count := func(f eventlog.EventFilter, start bool) eventlog.EventsResult {
		return bob.GetRoomEvents(eventlog.GetRoomEventsParams{EventFilter: f, FromStart: start}).OK()
	}
	for _, c := range []struct {
		f    eventlog.EventFilter
		want int
	}{
		{eventlog.EventFilter{}, 4},
		{eventlog.EventFilter{Target: eventlog.TargetSelf}, 2},
		{eventlog.EventFilter{Target: string(ann.ID)}, 0},
		{eventlog.EventFilter{From: "claude"}, 3},
		{eventlog.EventFilter{Types: []stick.EventType{stick.EventJoin}}, 2},
		{eventlog.EventFilter{After: 3}, 1},
	} {
		if got := count(c.f, true).Events; len(got) != c.want {
			t.Errorf("%+v: %d events, want %d", c.f, len(got), c.want)
		}
	}

	one := count(eventlog.EventFilter{Limit: 1}, true)
	s.Check(one.More && one.Cursor == 1, "%+v", one)
	last := count(eventlog.EventFilter{Limit: 1}, false)
	s.Check(last.More && last.Events[0].Seq == 4, "%+v", last)
	bob.GetRoomEvents(eventlog.GetRoomEventsParams{EventFilter: eventlog.EventFilter{Limit: 501}}).Refused(stick.CodeUsage)
	bob.GetRoomEvents(eventlog.GetRoomEventsParams{EventFilter: eventlog.EventFilter{From: "?"}}).Refused(stick.CodeUsage)

	wait := func(p eventlog.WaitForEventsParams) []string {
		var bodies []string
		for _, e := range bob.WaitForEvents(p).OK().Events {
			bodies = append(bodies, e.Message().Body)
		}
		return bodies
	}

	s.Check(slices.Equal(wait(eventlog.WaitForEventsParams{}), []string{"one", "two"}), "all of it")
	s.Check(len(wait(eventlog.WaitForEventsParams{FromNow: true, MaxWaitMS: new(int64)})) == 0, "something new")
	s.Check(len(wait(eventlog.WaitForEventsParams{FromNow: true, AtMost: time.Millisecond})) == 0, "something new")
	named := eventlog.WaitForEventsParams{Name: "mine", EventFilter: eventlog.EventFilter{Limit: 1}}
	res := bob.WaitForEvents(named).OK()
	bob.StreamDelivered("mine", res.Cursor)
	bob.StreamDelivered("mine", 1) // it only moves on
	s.Check(slices.Equal(wait(named), []string{"two"}), "the stream goes on")
	s.Agent("gemini:x").WaitForEvents(named).Refused(stick.CodeUnknownMember)
	bob.WaitForEvents(eventlog.WaitForEventsParams{Name: "a\nb"}).Refused(stick.CodeUsage)
}

// TestFollowingEvents: a reader gets events as they are made, until it is interrupted.
func TestFollowingEvents(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	ann.Tell("before").OK()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	got, over := make(chan string, 10), make(chan error, 1)
	go func() { // ends with ctx
		over <- bob.FollowEvents(ctx, eventlog.WaitForEventsParams{}, func(r eventlog.EventsResult) error {
			for _, e := range r.Events {
				got <- e.Message().Body
			}
			return nil
		})
	}()

	for _, body := range []string{"before", "then", "and then"} {
		if body != "before" {
			ann.Tell(body).OK()
		}
		if next := <-got; next != body {
			t.Errorf("%q comes, want %q", next, body)
		}
	}

	stop()
	if err := <-over; stick.CodeOf(err) != stick.CodeCanceled {
		t.Errorf("it ends with %v", err)
	}
}

// TestEvents_UnknownCursor: new events get numbers above it.
func TestEvents_UnknownCursor(t *testing.T) {
	s := scene.New(t)
	ann := s.Agent("claude:a")
	ann.Try().Granted(1)

	for _, ask := range []func(after int64) *stick.Error{
		func(after int64) *stick.Error {
			return ann.GetRoomEvents(eventlog.GetRoomEventsParams{
				EventFilter: eventlog.EventFilter{After: after},
			}).Refused(stick.CodeUsage)
		},
		func(after int64) *stick.Error {
			return ann.WaitForEvents(eventlog.WaitForEventsParams{
				EventFilter: eventlog.EventFilter{After: after},
			}).Refused(stick.CodeUsage)
		},
	} {
		last := ann.Note("before").OK().ID
		after := last + 500
		e := ask(after)
		s.Check(strings.Contains(e.Message, "beyond the last event that this database has issued"), "%s", e.Message)
		seq := ann.Note("after").OK().ID
		s.Check(seq > after && seq <= after+2, "after %d comes %d", after, seq)
		far := ask(seq + 1<<40)
		s.Check(strings.Contains(far.Message, "beyond the last event"), "%s", far.Message)
		s.Check(ann.Note("and on").OK().ID == seq+1, "a number that can't be one has made the counter jump")
	}
}
