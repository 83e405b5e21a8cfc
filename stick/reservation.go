package stick

import (
	"errors"
	"math"
	"time"

	"talkingstick/stick/glob"
)

// Reservation is an agent's claim on the paths that a pattern matches. Others see it. In a room that
// enforces scopes, its owner may edit these paths without the stick. Everything about it follows from the
// log, except for whether it is stale.
type Reservation struct {
	ID      int64        `json:"reservation_id"` // the event that made it; an earlier reservation has a lower id
	Agent   AgentID      `json:"agent_id"`
	Pattern glob.Pattern `json:"pattern"`
	Task    string       `json:"task_id,omitempty"`
	TTL     Millis       `json:"ttl_ms"`
	MadeAt  Time         `json:"made_at"`
}

// Millis is a duration that is kept and written in milliseconds.
type Millis int64

// Duration returns m as a time.Duration. A value out of its range becomes the longest one.
func (m Millis) Duration() time.Duration {
	const most = math.MaxInt64 / Millis(time.Millisecond)
	return time.Duration(max(-most, min(most, m))) * time.Millisecond
}

// How long a reservation can last, counted from when it was made or from its owner's last act.
const (
	DefaultReservationTTL = 2 * time.Hour
	MinReservationTTL     = 5 * time.Minute
	MaxReservationTTL     = 24 * time.Hour
)

// MaxPatterns is how many patterns one call reserves at most.
const MaxPatterns = 100

// ReservationOf returns the reservation that an event of type [EventReserved] made.
func ReservationOf(e Event) Reservation {
	p, _ := PayloadOf[ReservedPayload](e)
	return p.reservationFrom(e)
}

func (p ReservedPayload) reservationFrom(e Event) Reservation {
	return Reservation{ID: e.Seq, Agent: e.From, Pattern: p.Pattern, Task: e.Task, TTL: p.TTL, MadeAt: e.CreatedAt}
}

// ExpiresAt returns when a reservation becomes stale if its owner does nothing until then.
func (r Room) ExpiresAt(v Reservation) Time { return r.lapseDeadline(v).At() }

func (r Room) lapseDeadline(v Reservation) Deadline {
	m, _ := r.Member(v.Agent)
	return Deadline{max(v.MadeAt, m.LastSeenAt), v.TTL.Duration()}
}

// Stale reports whether a reservation is past its time or its owner is gone. A stale reservation denies
// nobody, and others may take it over.
func (r Room) Stale(v Reservation, s *Probed, now Time) bool {
	return r.lapseDeadline(v).Due(now) || r.isGone(v.Agent, s)
}

// Reserving is a request to reserve paths. It reserves all of the patterns or none.
type Reserving struct {
	By        AgentID
	Patterns  []glob.Pattern
	TTL       time.Duration // 0 for [DefaultReservationTTL]
	Task      string
	Strict    bool // refuse a partial overlap as well
	TakeStale bool // end stale reservations of the same paths
	Fold      bool // the file system doesn't distinguish upper and lower case

	// Told are the incursions of By that the log already has. Nobody gets the same one twice.
	Told []Event
}

// Meet is somebody else's reservation that overlaps with a requested pattern.
type Meet struct {
	Reservation
	Asked   glob.Pattern `json:"asked"`
	Overlap glob.Overlap `json:"overlap"`
	Witness string       `json:"example"` // a path that both match
	Stale   bool         `json:"stale,omitempty"`
	Verdict Verdict      `json:"verdict"` // of its owner
}

// Reserve reserves paths for a member. near must hold at least the reservations of the room that could
// overlap. It fails with [CodeUsage]; with [CodeRoomClosed]; with [CodeReservationConflict] if another agent
// has reserved the same paths, or with Strict some of them; and with [CodeReservationStale] if that
// reservation is stale and TakeStale isn't set. A refusal may have events: they tell both sides of the
// overlap.
func (r Room) Reserve(q Reserving, near []Reservation, s *Probed, now Time) (events []Event, met []Meet, err error) {
	if q.TTL == 0 {
		q.TTL = DefaultReservationTTL
	}

	if err := q.checkRequest(); err != nil {
		return nil, nil, err
	}
	if r.Closed {
		return nil, nil, r.errClosed()
	}

	mine := q.ownReservations(near)

	// Several patterns may meet the same stale reservation, which ends once.
	taken := map[int64]bool{}
	var refused *Error
	for _, p := range q.Patterns {
		for _, m := range r.findMeets(q, p, near, s, now) {
			met = append(met, m)
			switch {
			// Only the same paths can be taken over, and only if the caller says so.
			case m.Stale && m.Overlap == glob.Exact && q.TakeStale:
				if !taken[m.ID] {
					taken[m.ID] = true
					events = append(events, r.takeStale(q, m)...)
				}
			case m.Stale && m.Overlap == glob.Exact:
				refused = firstError(refused, r.errStaleHeld(m, now))
			case m.Stale:
			case m.Overlap == glob.Exact || q.Strict:
				refused = firstError(refused, r.errConflict(m))
			}
		}
	}

	// Nothing is reserved, but both sides learn that they want the same.
	if refused != nil {
		var told []Event
		for _, m := range met {
			if !m.Stale && (m.Overlap == glob.Exact || q.Strict) {
				told = append(told, r.tellIncursion(q, m, true)...)
			}
		}

		return told, met, refused
	}

	// All of the patterns are free to have.
	for _, p := range q.Patterns {
		events = append(events, r.reservePattern(q, p, mine)...)
	}

	for _, m := range met {
		// An overlap that was there before isn't told again.
		if _, had := mine[m.Asked.Key(q.Fold)]; !m.Stale && !had {
			events = append(events, r.tellIncursion(q, m, false)...)
		}
	}

	return events, met, nil
}

func firstError(have, err *Error) *Error {
	if have != nil {
		return have
	}
	return err
}

func (q Reserving) checkRequest() error {
	switch {
	case len(q.Patterns) == 0:
		return Errorf(CodeUsage, "name what to reserve").With("field", "paths").
			Hintf("a file, a directory or a pattern, as in: %s", Cmd("tt reserve <path>", "src/**/*.go"))
	case len(q.Patterns) > MaxPatterns:
		return Errorf(CodeUsage, "%d patterns at once are too many; at most %d are allowed",
			len(q.Patterns), MaxPatterns).With("field", "paths").
			Hintf("reserve the directory that holds them")
	}
	if err := CheckReservationTTL(q.TTL); err != nil {
		return err
	}

	return CheckTask(q.Task)
}

// CheckReservationTTL refuses a time to live that no reservation can have. It fails with [CodeUsage].
func CheckReservationTTL(ttl time.Duration) error {
	if ttl < MinReservationTTL || ttl > MaxReservationTTL {
		return Errorf(CodeUsage, "a reservation lasts from %s to %s, not %s",
			shortDuration(MinReservationTTL), shortDuration(MaxReservationTTL), shortDuration(ttl)).
			With("field", "ttl_ms").Hintf("its time starts again whenever you act, so it lasts while you work")
	}
	return nil
}

// findMeets lists the reservations of others in near that overlap with p.
func (r Room) findMeets(q Reserving, p glob.Pattern, near []Reservation, s *Probed, now Time) (met []Meet) {
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
		met = append(met, Meet{v, p, overlap, witness, r.Stale(v, s, now), m.Verdict(s)})
	}

	return met
}

// ownReservations returns the caller's own reservations in near, by the keys of their patterns.
func (q Reserving) ownReservations(near []Reservation) map[string]Reservation {
	mine := map[string]Reservation{}
	for _, v := range near {
		if v.Agent == q.By {
			mine[v.Pattern.Key(q.Fold)] = v
		}
	}

	return mine
}

// reservePattern makes a reservation. If the caller has one of the same pattern, time to live and task, it stays;
// one of the same pattern that differs otherwise is replaced.
func (r Room) reservePattern(q Reserving, p glob.Pattern, mine map[string]Reservation) []Event {
	have, ok := mine[p.Key(q.Fold)]
	ttl := Millis(q.TTL.Milliseconds())
	if ok && have.TTL == ttl && have.Task == q.Task {
		return nil
	}

	e := r.newEvent(EventReserved, q.By, "")
	e.Task = q.Task
	return []Event{e.withPayload(ReservedPayload{Pattern: p, TTL: ttl, Replaces: have.ID})}
}

// takeStale ends a stale reservation, and tells its owner who took it over and why.
func (r Room) takeStale(q Reserving, m Meet) []Event {
	end := r.newEvent(EventUnreserved, q.By, m.Agent)
	end.Task = m.Task
	told := r.newEvent(EventResume, q.By, m.Agent)
	told.Task = m.Task
	why := "past its time"

	if m.Verdict == Gone {
		why = "its owner is gone"
	}

	return []Event{
		end.withPayload(UnreservedPayload{ReservationID: m.ID, Pattern: m.Pattern, Verdict: m.Verdict, Stale: true}),
		told.withPayload(ResumePayload{ReservationID: m.ID, Pattern: m.Pattern, Verdict: m.Verdict, Message: &Message{
			To: []AgentID{m.Agent}, Category: Resume,
			Subject: string("your reservation of " + patternWords(m.Pattern) + " was taken over"),
			Contract: Contract{
				ResumeReason: "the reservation was stale", PriorSession: string(m.Agent), Adopted: string(q.By),
				Evidence: why + "; process: " + string(m.Verdict),
			},
		}}),
	}
}

// tellIncursion tells both sides that their scopes overlap, unless they know it already. refused says that the
// caller doesn't get its scope.
func (r Room) tellIncursion(q Reserving, m Meet, refused bool) []Event {
	for _, e := range q.Told {
		if p, ok := PayloadOf[IncursionPayload](e); ok && p.ReservationID == m.ID && p.Pattern == m.Asked {
			return nil
		}
	}

	e := r.newEvent(EventIncursion, q.By, m.Agent)
	e.Task = q.Task
	message := &Message{
		To: []AgentID{m.Agent}, Category: Incursion,
		Subject: string(Wordsf("%s and %s overlap, as in %s", patternWords(m.Asked), patternWords(m.Pattern), m.Witness)),
		Contract: Contract{
			Overlap: string(m.Overlap), Owner: string(m.Agent),
			Incoming: string(q.By), OwnerLiveness: string(m.Verdict),
			Resolution: string(settlingAdvice(string(m.Overlap), m.Agent, m.Witness)),
		},
	}

	return []Event{e.withPayload(IncursionPayload{
		ReservationID: m.ID, Pattern: m.Asked, Held: m.Pattern, Witness: m.Witness,
		Verdict: m.Verdict, Refused: refused, Message: message,
	})}
}

func (r Room) errConflict(m Meet) *Error {
	e := Errorf(CodeReservationConflict, "%s has reserved %s", m.Agent, patternWords(m.Pattern))
	if m.Overlap != glob.Exact {
		e = Errorf(CodeReservationConflict, "%s has reserved %s, which overlaps with %s as in %s",
			m.Agent, patternWords(m.Pattern), patternWords(m.Asked), m.Witness)
	}
	return m.withMeetFacts(e).Hintf("reserve something else, or ask: %s", Cmd("tt msg send <agent> …", m.Agent))
}

func (r Room) errStaleHeld(m Meet, now Time) *Error {
	why := Words("its time is over")
	if m.Verdict == Gone {
		why = "its owner is gone"
	}
	return m.withMeetFacts(Errorf(CodeReservationStale, "%s has reserved %s %s, and %s",
		m.Agent, patternWords(m.Pattern), Ago(now.Sub(m.MadeAt)), why)).
		Hintf("check whether its work is still there (%s), then take it: %s",
			Cmd("git status"), Cmd("tt reserve --takeover-stale <path>", m.Asked))
}

func (m Meet) withMeetFacts(e *Error) *Error {
	return e.With("reservation_id", m.ID).With("owner", m.Agent).With("pattern", m.Pattern).With("asked", m.Asked).
		With("overlap", m.Overlap).With("example", m.Witness).With("owner_liveness", m.Verdict)
}

// Unreserve ends reservations. Only their owner or a person may do so; for others it fails with
// [CodePersonOnly].
func (r Room) Unreserve(by AgentID, person bool, vs []Reservation) ([]Event, error) {
	var events []Event
	for _, v := range vs {
		e := r.newEvent(EventUnreserved, by, "")
		if v.Agent != by {
			if !person {
				return nil, Errorf(CodePersonOnly,
					"reservation %d is %s's: only its owner or a person can end it", v.ID, v.Agent).
					With("reservation_id", v.ID).With("owner", v.Agent).Hintf("ask: %s", Cmd("tt msg send <agent> …", v.Agent))
			}

			// An owner whose reservation a person ends is told.
			e.To = v.Agent
		}

		e.Task = v.Task
		events = append(events, e.withPayload(UnreservedPayload{ReservationID: v.ID, Pattern: v.Pattern}))
	}

	return events, nil
}

// ParsePattern is [glob.Parse] for a pattern that somebody wants to reserve. It fails with [CodeUsage] and
// the field "pattern".
func ParsePattern(s string) (glob.Pattern, error) {
	p, err := glob.Parse(s)
	if err == nil {
		return p, nil
	}

	e := Errorf(CodeUsage, "%s", Words(err.Error())).With("field", "pattern") // a pattern's own words aren't in it
	if why, ok := errors.AsType[*glob.Error](err); ok && why.Advice != "" {
		e.Hintf("%s", Words(why.Advice))
		if why.Example != "" {
			e.Hintf("%s, as in: %s", Words(why.Advice), Cmd("tt reserve <path>", why.Example))
		}
	}

	return "", e
}
