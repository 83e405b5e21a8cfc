package stick

import (
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/stick/glob"
)

// standing returns the reservations that the log has, the earliest first.
func (f *fixture) standing() []Reservation {
	var out []Reservation
	for _, v := range f.rec.Reservations {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b Reservation) int { return int(a.ID - b.ID) })
	return out
}

func (f *fixture) reserve(q Reserving) ([]Event, []Meet, error) {
	f.t.Helper()
	for _, e := range f.log {
		if e.Type == EventIncursion && e.From == q.By {
			q.Told = append(q.Told, e)
		}
	}
	events, met, err := f.Reserve(q, f.standing(), f.s, f.now)
	return f.commit(f.Room, events), met, err
}

// reserves makes one reservation, which is granted.
func (f *fixture) reserves(a AgentID, p glob.Pattern) Reservation {
	f.t.Helper()
	events, _, err := f.reserve(Reserving{By: a, Patterns: []glob.Pattern{p}})
	if err != nil || len(events) == 0 {
		f.t.Fatalf("reserve %s: %v, %d events", p, err, len(events))
	}
	return ReservationOf(events[0])
}

func kinds(events []Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func TestReserve(t *testing.T) {
	tests := []struct {
		name   string
		ask    Reserving // by b
		before func(*fixture)
		events string
		code   Code
		meets  glob.Overlap
	}{
		{name: "elsewhere", ask: Reserving{Patterns: []glob.Pattern{"docs"}}, events: "reserved"},
		{name: "in part", ask: Reserving{Patterns: []glob.Pattern{"src/*.go"}}, events: "reserved incursion", meets: glob.Partial},
		{name: "in part, and strict", ask: Reserving{Patterns: []glob.Pattern{"src/*.go"}, Strict: true}, events: "incursion", code: CodeReservationConflict, meets: glob.Partial},
		{name: "the same", ask: Reserving{Patterns: []glob.Pattern{"src"}}, events: "incursion", code: CodeReservationConflict, meets: glob.Exact},
		{name: "all or none", ask: Reserving{Patterns: []glob.Pattern{"docs", "src"}}, events: "incursion", code: CodeReservationConflict, meets: glob.Exact},
		{name: "nobody is told twice", ask: Reserving{Patterns: []glob.Pattern{"src"}}, before: func(f *fixture) {
			f.reserve(Reserving{By: "b", Patterns: []glob.Pattern{"src"}})
		}, code: CodeReservationConflict, meets: glob.Exact},
		{name: "asked twice", ask: Reserving{Patterns: []glob.Pattern{"src/*.go"}}, before: func(f *fixture) {
			f.reserve(Reserving{By: "b", Patterns: []glob.Pattern{"src/*.go"}})
		}, meets: glob.Partial},
		{name: "for longer", ask: Reserving{Patterns: []glob.Pattern{"src/*.go"}, TTL: time.Hour}, before: func(f *fixture) {
			f.reserve(Reserving{By: "b", Patterns: []glob.Pattern{"src/*.go"}})
		}, events: "reserved", meets: glob.Partial},
		{name: "of one past its time", ask: Reserving{Patterns: []glob.Pattern{"src"}}, before: func(f *fixture) {
			f.after(DefaultReservationTTL)
		}, code: CodeReservationStale, meets: glob.Exact},
		{name: "of one that is gone", ask: Reserving{Patterns: []glob.Pattern{"src"}}, before: func(f *fixture) { f.gone("a") }, code: CodeReservationStale, meets: glob.Exact},
		{
			name: "taken over", ask: Reserving{Patterns: []glob.Pattern{"src"}, TakeStale: true}, before: func(f *fixture) { f.gone("a") },
			events: "unreserved resume reserved", meets: glob.Exact,
		},
		{name: "not taken over while it holds", ask: Reserving{Patterns: []glob.Pattern{"src"}, TakeStale: true}, events: "incursion", code: CodeReservationConflict, meets: glob.Exact},
		{
			name: "a part of a stale one", ask: Reserving{Patterns: []glob.Pattern{"src/a.go"}, TakeStale: true, Strict: true}, before: func(f *fixture) { f.gone("a") },
			events: "reserved", meets: glob.Partial,
		},
		{name: "nothing", code: CodeUsage},
		{name: "too short", ask: Reserving{Patterns: []glob.Pattern{"docs"}, TTL: time.Minute}, code: CodeUsage},
		{name: "too long", ask: Reserving{Patterns: []glob.Pattern{"docs"}, TTL: 25 * time.Hour}, code: CodeUsage},
		{name: "too many", ask: Reserving{Patterns: make([]glob.Pattern, MaxPatterns+1)}, code: CodeUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := room(t).member("a", "b").alive("a", "b")
			f.reserves("a", "src")
			if tt.before != nil {
				tt.before(f)
			}
			tt.ask.By = "b"
			events, met, err := f.reserve(tt.ask)
			if CodeOf(err) != tt.code || kinds(events) != tt.events {
				t.Fatalf("got %v with the events %q, want %q with %q", err, kinds(events), tt.code, tt.events)
			}
			if tt.meets != "" && (len(met) != 1 || met[0].Overlap != tt.meets || !met[0].Pattern.Match(met[0].Witness, false)) {
				t.Errorf("met %+v, want one %s", met, tt.meets)
			}
		})
	}
}

// TestBothSidesAreTold reads what an overlap and a takeover put into the inboxes.
func TestBothSidesAreTold(t *testing.T) {
	f := room(t).member("a", "b").alive("a", "b")
	mine := f.reserves("a", "src")
	events, _, _ := f.reserve(Reserving{By: "b", Patterns: []glob.Pattern{"src/*.go"}, Task: "T-1"})
	hit := events[1]
	m := hit.Message()
	if m == nil || len(m.Missing(Incursion)) > 0 || m.Owner != "a" || m.Incoming != "b" || m.OwnerLiveness != "alive" || hit.Task != "T-1" {
		t.Fatalf("the incursion says %+v", m)
	}
	if f.state(hit.Seq, "a") != Unread || f.receipts[ReceiptKey{hit.Seq, "b"}].Owes != OwesNothing {
		t.Error("the owner has to read it, and the other knows it already")
	}
	f.gone("a")
	events, _, _ = f.reserve(Reserving{By: "b", Patterns: []glob.Pattern{"src"}, TakeStale: true})
	resume := events[1]
	if m := resume.Message(); m == nil || len(m.Missing(Resume)) > 0 || m.PriorSession != "a" || m.Adopted != "b" || resume.To != "a" {
		t.Errorf("the resume says %+v", m)
	}
	if f := said[ResumePayload](resume); f.Verdict != Gone || f.ReservationID != mine.ID {
		t.Errorf("the facts of the takeover are %+v", f)
	}
}

// TestMostPatternsOfOneCall: the largest number that the refusal names is allowed.
func TestMostPatternsOfOneCall(t *testing.T) {
	q := Reserving{TTL: DefaultReservationTTL, Patterns: make([]glob.Pattern, MaxPatterns)}
	if err := q.checkRequest(); err != nil {
		t.Errorf("%d patterns: %v", MaxPatterns, err)
	}
	q.Patterns = append(q.Patterns, "src")
	refused(t, q.checkRequest(), CodeUsage, map[string]any{"field": "paths"})
}

// TestConflictNamesWhatOverlaps: a refusal quotes the caller's own pattern, and a path that matches both,
// only where the reservation isn't of the same paths anyway.
func TestConflictNamesWhatOverlaps(t *testing.T) {
	for asked, want := range map[glob.Pattern]string{
		"src":      "a has reserved src",
		"src/*.go": "a has reserved src, which overlaps with src/*.go as in src/a.go",
	} {
		f := room(t).member("a", "b").alive("a", "b")
		f.reserves("a", "src")
		_, _, err := f.reserve(Reserving{By: "b", Patterns: []glob.Pattern{asked}, Strict: true})
		refused(t, err, CodeReservationConflict, nil)
		equal(t, "the refusal of "+string(asked), AsError(err).Message, want)
	}
}

// TestWhyAReservationIsStale: whoever meets it, and its owner when it is taken over, learn which of the two
// it was: its owner is gone, or its time is over. Only of an owner whose processes have ended is it said that
// it is gone.
func TestWhyAReservationIsStale(t *testing.T) {
	for _, c := range []struct {
		owner            Verdict
		refusal, message string
	}{
		{Gone, "and its owner is gone", "its owner is gone; process: gone"},
		{Alive, "and its time is over", "past its time; process: alive"},
		{Unknown, "and its time is over", "past its time; process: unknown"},
	} {
		f := room(t).member("a", "b").process("a", ProvesSession, c.owner)
		f.reserves("a", "src")
		f.after(DefaultReservationTTL)
		_, _, err := f.reserve(Reserving{By: "b", Patterns: []glob.Pattern{"src"}})
		refused(t, err, CodeReservationStale, map[string]any{"owner_liveness": c.owner})
		if !strings.HasSuffix(AsError(err).Message, c.refusal) {
			t.Errorf("%s: the refusal is %q, want it to end with %q", c.owner, err, c.refusal)
		}
		events, _, err := f.reserve(Reserving{By: "b", Patterns: []glob.Pattern{"src"}, TakeStale: true})
		if err != nil || len(events) < 2 || events[1].Message() == nil {
			t.Fatalf("%s: the takeover makes %+v, %v", c.owner, events, err)
		}
		equal(t, "the reason that the owner reads", events[1].Message().Evidence, c.message)
	}
}

func TestReservationsLastWhileTheirOwnerActs(t *testing.T) {
	f := room(t).member("a", "b").alive("a", "b")
	v := f.reserves("a", "src")
	f.after(DefaultReservationTTL - time.Second)
	f.Room = f.Touch("a", f.now)
	f.after(DefaultReservationTTL - time.Second)
	if f.Stale(v, f.s, f.now) {
		t.Error("stale although its owner acted since")
	}
	f.after(time.Second)
	if !f.Stale(v, f.s, f.now) || f.ExpiresAt(v) != f.now {
		t.Error("it holds past its time")
	}
}

func TestReservationsEndWithTheirOwner(t *testing.T) {
	tests := []struct {
		name string
		end  func(*fixture)
	}{
		{"it leaves", func(f *fixture) { f.must(f.leave(Leaving{By: "a"})) }},
		{"it is removed", func(f *fixture) { f.must(f.kick(Kicking{By: "b", Who: "a", Force: true})) }},
		{"another world", func(f *fixture) { f.commit(f.Restore(Generation{Number: 2, Cause: RebootCause}, f.s, f.now)) }},
		{"it gives it free", func(f *fixture) {
			f.must(f.done2(f.Unreserve("a", false, f.standing())))
		}},
		{"a person ends it", func(f *fixture) {
			f.must(f.done2(f.Unreserve("human:x", true, f.standing())))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := room(t).member("a", "b").alive("a", "b")
			f.reserves("a", "src")
			tt.end(f)
			if n := len(f.rec.Reservations); n != 0 {
				t.Errorf("%d still stand", n)
			}
		})
	}
	f := room(t).member("a", "b")
	f.reserves("a", "src")
	if _, err := f.Unreserve("b", false, f.standing()); CodeOf(err) != CodePersonOnly {
		t.Errorf("another agent ends it: %v", err)
	}
}

func (f *fixture) done2(events []Event, err error) ([]Event, error) {
	return f.done(f.Room, events, err)
}

func TestParsePattern(t *testing.T) {
	for in, hint := range map[string]string{
		"/src":     "write it as seen from the root of the workspace, as in: tt reserve src/lib",
		`a\b`:      "write / between directories, and a character that isn't meant as a wildcard as a class of its own, as in: tt reserve 'app/[[]id]'",
		"[b-a]":    "write the lower character first",
		"src/.git": "",
	} {
		p, err := ParsePattern(in)
		refused(t, err, CodeUsage, map[string]any{"field": "pattern"})
		equal(t, in, p, "")
		equal(t, "the hint for "+in, AsError(err).Hint.String(), hint)
	}
	p, err := ParsePattern("./src//*.go")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "pattern", p, glob.Pattern("src/*.go"))
}
