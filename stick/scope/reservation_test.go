package scope_test

import (
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
	"talkingstick/stick/sticktest"
)

func kinds(events []stick.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func TestReserve(t *testing.T) {
	tests := []struct {
		name   string
		ask    scope.Reserving // by b
		before func(*sticktest.Fixture)
		events string
		code   stick.Code
		meets  glob.Overlap
	}{
		{name: "elsewhere", ask: scope.Reserving{Patterns: []glob.Pattern{"docs"}}, events: "reserved"},
		{
			name: "in part", ask: scope.Reserving{Patterns: []glob.Pattern{"src/*.go"}},
			events: "reserved incursion", meets: glob.Partial,
		},
		{
			name: "in part, and strict",
			ask:  scope.Reserving{Patterns: []glob.Pattern{"src/*.go"}, Strict: true}, events: "incursion",
			code: stick.CodeReservationConflict, meets: glob.Partial,
		},
		{
			name: "the same", ask: scope.Reserving{Patterns: []glob.Pattern{"src"}}, events: "incursion",
			code: stick.CodeReservationConflict, meets: glob.Exact,
		},
		{
			name: "all or none", ask: scope.Reserving{Patterns: []glob.Pattern{"docs", "src"}},
			events: "incursion", code: stick.CodeReservationConflict, meets: glob.Exact,
		},
		{name: "nobody is told twice", ask: scope.Reserving{Patterns: []glob.Pattern{"src"}}, before: func(f *sticktest.Fixture) {
			f.TryReserve(scope.Reserving{By: "b", Patterns: []glob.Pattern{"src"}})
		}, code: stick.CodeReservationConflict, meets: glob.Exact},
		{name: "asked twice", ask: scope.Reserving{Patterns: []glob.Pattern{"src/*.go"}}, before: func(f *sticktest.Fixture) {
			f.TryReserve(scope.Reserving{By: "b", Patterns: []glob.Pattern{"src/*.go"}})
		}, meets: glob.Partial},
		{name: "for longer", ask: scope.Reserving{Patterns: []glob.Pattern{"src/*.go"}, TTL: time.Hour}, before: func(f *sticktest.Fixture) {
			f.TryReserve(scope.Reserving{By: "b", Patterns: []glob.Pattern{"src/*.go"}})
		}, events: "reserved", meets: glob.Partial},
		{name: "of one past its time", ask: scope.Reserving{Patterns: []glob.Pattern{"src"}}, before: func(f *sticktest.Fixture) {
			f.After(scope.DefaultTTL)
		}, code: stick.CodeReservationStale, meets: glob.Exact},
		{
			name: "of one that is gone", ask: scope.Reserving{Patterns: []glob.Pattern{"src"}},
			before: func(f *sticktest.Fixture) { f.Gone("a") }, code: stick.CodeReservationStale,
			meets: glob.Exact,
		},
		{
			name: "taken over", ask: scope.Reserving{Patterns: []glob.Pattern{"src"}, TakeStale: true},
			before: func(f *sticktest.Fixture) { f.Gone("a") },
			events: "unreserved resume reserved", meets: glob.Exact,
		},
		{
			name: "not taken over while it holds",
			ask:  scope.Reserving{Patterns: []glob.Pattern{"src"}, TakeStale: true}, events: "incursion",
			code: stick.CodeReservationConflict, meets: glob.Exact,
		},
		{
			name:   "a part of a stale one",
			ask:    scope.Reserving{Patterns: []glob.Pattern{"src/a.go"}, TakeStale: true, Strict: true},
			before: func(f *sticktest.Fixture) { f.Gone("a") },
			events: "reserved", meets: glob.Partial,
		},
		{name: "nothing", code: stick.CodeUsage},
		{
			name: "too short", ask: scope.Reserving{Patterns: []glob.Pattern{"docs"}, TTL: time.Minute},
			code: stick.CodeUsage,
		},
		{
			name: "too long", ask: scope.Reserving{Patterns: []glob.Pattern{"docs"}, TTL: 25 * time.Hour},
			code: stick.CodeUsage,
		},
		{
			name: "too many", ask: scope.Reserving{Patterns: make([]glob.Pattern, scope.MaxPatterns+1)},
			code: stick.CodeUsage,
		},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b")
			f.Reserves("a", "src")
			if tt.before != nil {
				tt.before(f)
			}
			tt.ask.By = "b"
			events, met, err := f.TryReserve(tt.ask)
			if stick.CodeOf(err) != tt.code || kinds(events) != tt.events {
				t.Fatalf("got %v with the events %q, want %q with %q", err, kinds(events), tt.code, tt.events)
			}
			if tt.meets != "" &&
				(len(met) != 1 || met[0].Overlap != tt.meets || !met[0].Pattern.Match(met[0].Witness, false)) {
				t.Errorf("met %+v, want one %s", met, tt.meets)
			}
		})
	}
}

// TestIncursion_TellsBothSides reads what an overlap and a takeover put into the inboxes.
func TestIncursion_TellsBothSides(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b")
	mine := f.Reserves("a", "src")
	events, _, _ := f.TryReserve(scope.Reserving{By: "b", Patterns: []glob.Pattern{"src/*.go"}, Task: "T-1"})
	hit := events[1]
	m := hit.Message()
	if m == nil ||
		len(m.Missing(stick.Incursion)) > 0 ||
		m.Owner != "a" ||
		m.Incoming != "b" ||
		m.OwnerLiveness != "alive" ||
		hit.Task != "T-1" {
		t.Fatalf("the incursion says %+v", m)
	}
	if f.ReceiptState(hit.Seq, "a") != stick.Unread ||
		f.Receipts[stick.ReceiptKey{Event: hit.Seq, Agent: "b"}].Owes != stick.OwesNothing {
		t.Error("the owner has to read it, and the other knows it already")
	}

	f.Gone("a")
	events, _, _ = f.TryReserve(scope.Reserving{By: "b", Patterns: []glob.Pattern{"src"}, TakeStale: true})
	resume := events[1]
	if m := resume.Message(); m == nil ||
		len(m.Missing(stick.Resume)) > 0 ||
		m.PriorSession != "a" ||
		m.Adopted != "b" ||
		resume.To != "a" {
		t.Errorf("the resume says %+v", m)
	}
	if f := sticktest.Said[stick.ResumePayload](resume); f.Verdict != stick.Gone || f.ReservationID != mine.ID {
		t.Errorf("the facts of the takeover are %+v", f)
	}
}

// TestMostPatternsOfOneCall: the largest number that the refusal names is allowed.
func TestMostPatternsOfOneCall(t *testing.T) {
	q := scope.Reserving{TTL: scope.DefaultTTL, Patterns: make([]glob.Pattern, scope.MaxPatterns)}
	if err := q.CheckRequest(); err != nil {
		t.Errorf("%d patterns: %v", scope.MaxPatterns, err)
	}
	q.Patterns = append(q.Patterns, "src")
	sticktest.Refused(t, q.CheckRequest(), stick.CodeUsage, map[string]any{"field": "paths"})
}

// TestConflictNamesWhatOverlaps: a refusal quotes the caller's own pattern, and a path that matches both,
// only where the reservation isn't of the same paths anyway.
func TestConflictNamesWhatOverlaps(t *testing.T) {
	for asked, want := range map[glob.Pattern]string{
		"src":      "a has reserved src",
		"src/*.go": "a has reserved src, which overlaps with src/*.go as in src/a.go",
	} {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b")
		f.Reserves("a", "src")
		_, _, err := f.TryReserve(scope.Reserving{By: "b", Patterns: []glob.Pattern{asked}, Strict: true})
		sticktest.Refused(t, err, stick.CodeReservationConflict, nil)
		sticktest.Equal(t, "the refusal of "+string(asked), stick.AsError(err).Message, want)
	}
}

// TestWhyAReservationIsStale: whoever meets it, and its owner when it is taken over, learn which of the two
// it was: its owner is gone, or its time is over. Only of an owner whose processes have ended is it said that
// it is gone.
func TestWhyAReservationIsStale(t *testing.T) {
	for _, c := range []struct {
		owner            stick.Verdict
		refusal, message string
	}{
		{stick.Gone, "and its owner is gone", "its owner is gone; process: gone"},
		{stick.Alive, "and it has expired", "past its time; process: alive"},
		{stick.Unknown, "and it has expired", "past its time; process: unknown"},
	} {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Process("a", stick.ProvesSession, c.owner)
		f.Reserves("a", "src")
		f.After(scope.DefaultTTL)
		_, _, err := f.TryReserve(scope.Reserving{By: "b", Patterns: []glob.Pattern{"src"}})
		sticktest.Refused(t, err, stick.CodeReservationStale, map[string]any{"owner_liveness": c.owner})
		if !strings.HasSuffix(stick.AsError(err).Message, c.refusal) {
			t.Errorf("%s: the refusal is %q, want it to end with %q", c.owner, err, c.refusal)
		}

		events, _, err := f.TryReserve(scope.Reserving{By: "b", Patterns: []glob.Pattern{"src"}, TakeStale: true})
		if err != nil || len(events) < 2 || events[1].Message() == nil {
			t.Fatalf("%s: the takeover makes %+v, %v", c.owner, events, err)
		}
		sticktest.Equal(t, "the reason that the owner reads", events[1].Message().Evidence, c.message)
	}
}

func TestReservationsLastWhileTheirOwnerActs(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b")
	v := f.Reserves("a", "src")
	f.After(scope.DefaultTTL - time.Second)
	f.Room = f.Touch("a", f.Now)
	f.After(scope.DefaultTTL - time.Second)
	if scope.Stale(f.Room, v, f.Probed, f.Now) {
		t.Error("stale although its owner acted since")
	}

	f.After(time.Second)
	if !scope.Stale(f.Room, v, f.Probed, f.Now) || scope.ExpiresAt(f.Room, v) != f.Now {
		t.Error("it holds past its time")
	}
}

func TestReservationsEndWithTheirOwner(t *testing.T) {
	tests := []struct {
		name string
		end  func(*sticktest.Fixture)
	}{
		{"it leaves", func(f *sticktest.Fixture) { f.Must(f.TryLeave(stick.Leaving{By: "a"})) }},
		{
			"it is removed",
			func(f *sticktest.Fixture) { f.Must(f.TryKick(stick.Kicking{By: "b", Who: "a", Force: true})) },
		},
		{"another world", func(f *sticktest.Fixture) {
			f.Commit(f.Restore(stick.Generation{Number: 2, Cause: stick.RebootCause}, f.Probed, f.Now))
		}},
		{"it gives it free", func(f *sticktest.Fixture) {
			f.Must(f.CommitEvents(scope.Unreserve(f.Room, "a", false, f.Standing())))
		}},
		{"a person ends it", func(f *sticktest.Fixture) {
			f.Must(f.CommitEvents(scope.Unreserve(f.Room, "human:x", true, f.Standing())))
		}},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b")
			f.Reserves("a", "src")
			tt.end(f)
			if n := len(f.Record.Reservations); n != 0 {
				t.Errorf("%d still stand", n)
			}
		})
	}

	f := sticktest.NewRoom(t).WithMembers("a", "b")
	f.Reserves("a", "src")
	if _, err := scope.Unreserve(f.Room, "b", false, f.Standing()); stick.CodeOf(err) != stick.CodePersonOnly {
		t.Errorf("another agent ends it: %v", err)
	}
}

func TestParsePattern(t *testing.T) {
	for in, hint := range map[string]string{
		"/src":     "write it relative to the root of the workspace, as in: tt reserve src/lib",
		`a\b`:      "write / between directories, and a character that isn't meant as a wildcard as a class of its own, as in: tt reserve 'app/[[]id]'",
		"[b-a]":    "write the lower character first",
		"src/.git": "",
	} {
		p, err := scope.ParsePattern(in)
		sticktest.Refused(t, err, stick.CodeUsage, map[string]any{"field": "pattern"})
		sticktest.Equal(t, in, p, "")
		sticktest.Equal(t, "the hint for "+in, stick.AsError(err).Hint.String(), hint)
	}

	p, err := scope.ParsePattern("./src//*.go")
	if err != nil {
		t.Fatal(err)
	}
	sticktest.Equal(t, "pattern", p, glob.Pattern("src/*.go"))
}
