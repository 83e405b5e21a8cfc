package scope

import (
	"errors"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// How long a reservation can last, counted from when it was made or from its owner's last act.
const (
	DefaultTTL        = 2 * time.Hour
	MinReservationTTL = 5 * time.Minute
	MaxReservationTTL = 24 * time.Hour
)

// MaxPatterns is how many patterns one call reserves at most.
const MaxPatterns = 100

// ReservationOf returns the reservation that an event of type [stick.EventReserved] made.
func ReservationOf(e stick.Event) stick.Reservation {
	p, _ := stick.PayloadOf[stick.ReservedPayload](e)
	return p.ReservationFrom(e)
}

// ExpiresAt returns when a reservation becomes stale if its owner does nothing until then.
func ExpiresAt(r stick.Room, v stick.Reservation) stick.Time { return lapseDeadline(r, v).At() }

func lapseDeadline(r stick.Room, v stick.Reservation) stick.Deadline {
	m, _ := r.Member(v.Agent)
	return stick.Deadline{SetAt: max(v.MadeAt, m.LastSeenAt), TTL: v.TTL.Duration()}
}

// Stale reports whether a reservation is past its time or its owner is gone. A stale reservation denies
// nobody, and others may take it over.
func Stale(r stick.Room, v stick.Reservation, s *stick.Probed, now stick.Time) bool {
	return lapseDeadline(r, v).Due(now) || r.IsGone(v.Agent, s)
}

// Reserving is a request to reserve paths. It reserves all of the patterns or none.
type Reserving struct {
	By        stick.AgentID
	Patterns  []glob.Pattern
	TTL       time.Duration // 0 for [DefaultTTL]
	Task      string
	Strict    bool // refuse a partial overlap as well
	TakeStale bool // end stale reservations of the same paths
	Fold      bool // the file system doesn't distinguish upper and lower case

	// Told are the incursions of By that the log already has. Nobody gets the same one twice.
	Told []stick.Event
}

// Meet is somebody else's reservation that overlaps with a requested pattern.
type Meet struct {
	stick.Reservation
	Asked   glob.Pattern  `json:"asked"`
	Overlap glob.Overlap  `json:"overlap"`
	Witness string        `json:"example"` // a path that both match
	Stale   bool          `json:"stale,omitempty"`
	Verdict stick.Verdict `json:"verdict"` // of its owner
}

// Reserve reserves paths for a member. near must hold at least the reservations of the room that could
// overlap. It fails with [stick.CodeUsage]; with [stick.CodeRoomClosed]; with [stick.CodeReservationConflict] if another agent
// has reserved the same paths, or with Strict some of them; and with [stick.CodeReservationStale] if that
// reservation is stale and TakeStale isn't set. A refusal may have events: they tell both sides of the
// overlap.
func Reserve(
	r stick.Room, q Reserving, near []stick.Reservation, s *stick.Probed, now stick.Time,
) (events []stick.Event, met []Meet, err error) {
	if q.TTL == 0 {
		q.TTL = DefaultTTL
	}

	if err := q.checkRequest(); err != nil {
		return nil, nil, err
	}
	if r.Closed {
		return nil, nil, r.ErrClosed()
	}

	mine := q.ownReservations(near)

	// Several patterns may meet the same stale reservation, which ends once.
	taken := map[int64]bool{}
	var refused *stick.Error
	for _, p := range q.Patterns {
		for _, m := range findMeets(r, q, p, near, s, now) {
			met = append(met, m)
			switch {
			// Only the same paths can be taken over, and only if the caller says so.
			case m.Stale && m.Overlap == glob.Exact && q.TakeStale:
				if !taken[m.ID] {
					taken[m.ID] = true
					events = append(events, takeStale(r, q, m)...)
				}
			case m.Stale && m.Overlap == glob.Exact:
				refused = firstError(refused, errStaleHeld(r, m, now))
			case m.Stale:
			case m.Overlap == glob.Exact || q.Strict:
				refused = firstError(refused, errConflict(r, m))
			}
		}
	}

	// Nothing is reserved, but both sides learn that they want the same.
	if refused != nil {
		var told []stick.Event
		for _, m := range met {
			if !m.Stale && (m.Overlap == glob.Exact || q.Strict) {
				told = append(told, tellIncursion(r, q, m, true)...)
			}
		}

		return told, met, refused
	}

	// All of the patterns are free to have.
	for _, p := range q.Patterns {
		events = append(events, reservePattern(r, q, p, mine)...)
	}

	for _, m := range met {
		// An overlap that was there before isn't told again.
		if _, had := mine[m.Asked.Key(q.Fold)]; !m.Stale && !had {
			events = append(events, tellIncursion(r, q, m, false)...)
		}
	}

	return events, met, nil
}

func firstError(have, err *stick.Error) *stick.Error {
	if have != nil {
		return have
	}
	return err
}

func (q Reserving) checkRequest() error {
	switch {
	case len(q.Patterns) == 0:
		return stick.Errorf(stick.CodeUsage, "name what to reserve").With("field", "paths").
			Hintf("a file, a directory or a pattern, as in: %s", stick.Cmd("tt reserve <path>", "src/**/*.go"))
	case len(q.Patterns) > MaxPatterns:
		return stick.Errorf(stick.CodeUsage, "%d patterns at once are too many; at most %d are allowed",
			len(q.Patterns), MaxPatterns).With("field", "paths").
			Hintf("reserve the directory that holds them")
	}
	if err := CheckTTL(q.TTL); err != nil {
		return err
	}

	return stick.CheckTask(q.Task)
}

// CheckTTL refuses a time to live that no reservation can have. It fails with [stick.CodeUsage].
func CheckTTL(ttl time.Duration) error {
	if ttl < MinReservationTTL || ttl > MaxReservationTTL {
		return stick.Errorf(stick.CodeUsage, "a reservation lasts from %s to %s, not %s",
			stick.ShortDuration(MinReservationTTL), stick.ShortDuration(MaxReservationTTL), stick.ShortDuration(ttl)).
			With("field", "ttl_ms").Hintf("choose a time in that range; it starts again whenever you " +
			"act, so the reservation lasts while you work")
	}
	return nil
}

// findMeets lists the reservations of others in near that overlap with p.
func findMeets(
	r stick.Room, q Reserving, p glob.Pattern, near []stick.Reservation, s *stick.Probed, now stick.Time,
) (met []Meet) {
	at := p.Prefix(q.Fold)
	for _, v := range near {
		if v.Agent == q.By || glob.Apart(at, v.Pattern.Prefix(q.Fold)) {
			continue
		}

		// The literal beginnings meet; whether the patterns do costs more to find out.
		overlap, witness := p.Overlap(v.Pattern, q.Fold)
		if overlap == glob.None {
			continue
		}

		m, _ := r.Member(v.Agent)
		met = append(met, Meet{v, p, overlap, witness, Stale(r, v, s, now), m.Verdict(s)})
	}

	return met
}

// ownReservations returns the caller's own reservations in near, by the keys of their patterns.
func (q Reserving) ownReservations(near []stick.Reservation) map[string]stick.Reservation {
	mine := map[string]stick.Reservation{}
	for _, v := range near {
		if v.Agent == q.By {
			mine[v.Pattern.Key(q.Fold)] = v
		}
	}

	return mine
}

// reservePattern makes a reservation. If the caller has one of the same pattern, time to live and task, it stays;
// one of the same pattern that differs otherwise is replaced.
func reservePattern(r stick.Room, q Reserving, p glob.Pattern, mine map[string]stick.Reservation) []stick.Event {
	have, ok := mine[p.Key(q.Fold)]
	ttl := stick.Millis(q.TTL.Milliseconds())
	if ok && have.TTL == ttl && have.Task == q.Task {
		return nil
	}

	e := r.NewEvent(stick.EventReserved, q.By, "")
	e.Task = q.Task
	return []stick.Event{e.WithPayload(stick.ReservedPayload{Pattern: p, TTL: ttl, Replaces: have.ID})}
}

// takeStale ends a stale reservation, and tells its owner who took it over and why.
func takeStale(r stick.Room, q Reserving, m Meet) []stick.Event {
	end := r.NewEvent(stick.EventUnreserved, q.By, m.Agent)
	end.Task = m.Task
	told := r.NewEvent(stick.EventResume, q.By, m.Agent)
	told.Task = m.Task
	why := "past its time"

	if m.Verdict == stick.Gone {
		why = "its owner is gone"
	}

	return []stick.Event{
		end.WithPayload(stick.UnreservedPayload{
			ReservationID: m.ID, Pattern: m.Pattern, Verdict: m.Verdict, Stale: true,
		}),
		told.WithPayload(stick.ResumePayload{
			ReservationID: m.ID, Pattern: m.Pattern, Verdict: m.Verdict,
			Message: &stick.Message{
				To: []stick.AgentID{m.Agent}, Category: stick.Resume,
				Subject: string("your reservation of " + stick.PatternWords(m.Pattern) + " was taken over"),
				Contract: stick.Contract{
					ResumeReason: "the reservation was stale", PriorSession: string(m.Agent), Adopted: string(q.By),
					Evidence: why + "; process: " + string(m.Verdict),
				},
			},
		}),
	}
}

// tellIncursion tells both sides that their scopes overlap, unless they know it already. refused says that the
// caller doesn't get its scope.
func tellIncursion(r stick.Room, q Reserving, m Meet, refused bool) []stick.Event {
	for _, e := range q.Told {
		if p, ok := stick.PayloadOf[stick.IncursionPayload](e); ok && p.ReservationID == m.ID && p.Pattern == m.Asked {
			return nil
		}
	}

	e := r.NewEvent(stick.EventIncursion, q.By, m.Agent)
	e.Task = q.Task
	message := &stick.Message{
		To: []stick.AgentID{m.Agent}, Category: stick.Incursion,
		Subject: string(stick.Wordsf("%s and %s overlap, as in %s", stick.PatternWords(m.Asked),
			stick.PatternWords(m.Pattern), m.Witness)),
		Contract: stick.Contract{
			Overlap: string(m.Overlap), Owner: string(m.Agent),
			Incoming: string(q.By), OwnerLiveness: string(m.Verdict),
			Resolution: string(stick.SettlingAdvice(string(m.Overlap), m.Agent, m.Witness)),
		},
	}

	return []stick.Event{e.WithPayload(stick.IncursionPayload{
		ReservationID: m.ID, Pattern: m.Asked, Held: m.Pattern, Witness: m.Witness,
		Verdict: m.Verdict, Refused: refused, Message: message,
	})}
}

func errConflict(r stick.Room, m Meet) *stick.Error {
	e := stick.Errorf(stick.CodeReservationConflict, "%s has reserved %s", m.Agent, stick.PatternWords(m.Pattern))
	if m.Overlap != glob.Exact {
		e = stick.Errorf(stick.CodeReservationConflict, "%s has reserved %s, which overlaps with %s as in %s",
			m.Agent, stick.PatternWords(m.Pattern), stick.PatternWords(m.Asked), m.Witness)
	}
	return m.withMeetFacts(e).Hintf("reserve something else; or ask: %s", stick.Cmd("tt msg send <agent> …", m.Agent))
}

func errStaleHeld(r stick.Room, m Meet, now stick.Time) *stick.Error {
	why := stick.Words("it has expired")
	if m.Verdict == stick.Gone {
		why = "its owner is gone"
	}
	return m.withMeetFacts(stick.Errorf(stick.CodeReservationStale, "%s has reserved %s %s, and %s",
		m.Agent, stick.PatternWords(m.Pattern), stick.Ago(now.Sub(m.MadeAt)), why)).
		Hintf("check whether its work is still there (%s), then take it: %s",
			stick.Cmd("git status"), stick.Cmd("tt reserve --takeover-stale <path>", m.Asked))
}

func (m Meet) withMeetFacts(e *stick.Error) *stick.Error {
	return e.With("reservation_id", m.ID).With("owner", m.Agent).With("pattern", m.Pattern).With("asked", m.Asked).
		With("overlap", m.Overlap).With("example", m.Witness).With("owner_liveness", m.Verdict)
}

// Unreserve ends reservations. Only their owner or a person may do so; for others it fails with
// [stick.CodePersonOnly].
func Unreserve(r stick.Room, by stick.AgentID, person bool, vs []stick.Reservation) ([]stick.Event, error) {
	var events []stick.Event
	for _, v := range vs {
		e := r.NewEvent(stick.EventUnreserved, by, "")
		if v.Agent != by {
			if !person {
				return nil, stick.Errorf(stick.CodePersonOnly,
					"reservation %d is %s's: only its owner or a person can end it", v.ID, v.Agent).
					With("reservation_id", v.ID).With("owner", v.Agent).
					Hintf("ask: %s", stick.Cmd("tt msg send <agent> …", v.Agent))
			}

			// An owner whose reservation a person ends is told.
			e.To = v.Agent
		}

		e.Task = v.Task
		events = append(events, e.WithPayload(stick.UnreservedPayload{ReservationID: v.ID, Pattern: v.Pattern}))
	}

	return events, nil
}

// ParsePattern is [glob.Parse] for a pattern that somebody wants to reserve. It fails with [stick.CodeUsage] and
// the field "pattern".
func ParsePattern(s string) (glob.Pattern, error) {
	p, err := glob.Parse(s)
	if err == nil {
		return p, nil
	}

	e := stick.Errorf(stick.CodeUsage, "%s", stick.Words(err.Error())).With("field", "pattern") // a pattern's own words aren't in it
	if why, ok := errors.AsType[*glob.Error](err); ok && why.Advice != "" {
		e.Hintf("%s", stick.Words(why.Advice))
		if why.Example != "" {
			e.Hintf("%s, as in: %s", stick.Words(why.Advice), stick.Cmd("tt reserve <path>", why.Example))
		}
	}

	return "", e
}
