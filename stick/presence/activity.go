package presence

import (
	"cmp"
	"time"

	"talkingstick/stick"
)

// AgentState says what an agent does, as far as facts say it. Only that an agent is idle may be concluded
// from its silence.
type AgentState string

// What agents do.
const (
	AgentWorks   AgentState = "working"          // a tool call or a turn of its model is in progress
	AgentWaits   AgentState = "waits_for_stick"  // it waits for the turn
	AgentRests   AgentState = "rests"            // it waits, but leaves the stick alone until something is for it
	AgentAsks    AgentState = "waits_for_person" // its harness has asked its person something, such as a permission
	AgentIdle    AgentState = "idle"             // it waits for a prompt
	AgentGone    AgentState = "gone"             // its process has ended
	AgentUnknown AgentState = "unknown"          // no hook of its harness says what it does
)

// Words says what an agent does, in the words of a sentence about it.
func (s AgentState) Words() stick.Words {
	switch s {
	case AgentWaits:
		return "waits for the stick"
	case AgentAsks:
		return "waits for its person"
	}

	return stick.Wordsf("%s", s)
}

// Signs is what the hooks of a member's harness have reported last. A zero time means never, or not now.
type Signs struct {
	At          stick.Time // a hook fired
	ActiveSince stick.Time // it has been working since, without a pause
	AskedAt     stick.Time // its harness asked its person something
	Tool        string     // its last tool call, empty if it isn't known
	File        string     // a file that this was about, relative to the room's path; empty for none

	OlderProgram bool // an older program than this one answered its last hook
}

// Activity is what an agent does, and since when.
type Activity struct {
	State AgentState `json:"state"`
	Since stick.Time `json:"since"` // when it was last seen to do something, if only its silence says how it is
	// it counts as idle only because it has been silent for long; an interrupted agent is silent, too
	Silent   bool       `json:"silent,omitempty"`
	LastSign stick.Time `json:"last_sign_at"`
	Tool     string     `json:"tool,omitempty"` // its last tool call, in its harness's words
	File     string     `json:"file,omitempty"` // that this was about, relative to the room's path
}

const (
	// SilentAfter is how long an agent that works may show no sign. An interrupt fires no hook, so one that
	// stays silent for longer is idle.
	SilentAfter = 10 * time.Minute
	// longCall is how long a tool call may take that nothing has ended. After that it counts as interrupted.
	longCall = 2 * time.Hour
)

// ActivityOf returns what a member does. A question to its person comes first, because any later hook takes it
// back. Then comes a wait for the stick, because the wait is seen to run. ok is false for a person, who has
// no hooks, unless it waits. See docs/decisions/screens-and-browser.md#what-an-agent-does.
func ActivityOf(r stick.Room, a stick.AgentID, h Signs, s *stick.Probed, now stick.Time) (does Activity, ok bool) {
	m, _ := r.Member(a)
	last := min(max(m.LastSeenAt, h.At), now)
	does = Activity{Since: last, LastSign: last, Tool: h.Tool, File: h.File}

	since := func(state AgentState, at stick.Time) (Activity, bool) {
		does.State, does.Since = state, min(at, now)
		return does, true
	}

	switch {
	// The order matters: what comes first hides what comes after it.
	case m.State != stick.Joined || m.Verdict(s) == stick.Gone:
		return since(AgentGone, last)
	case !h.AskedAt.IsZero():
		return since(AgentAsks, h.AskedAt)
	case r.Listening(a, stick.Work, s) && m.Rests():
		return since(AgentRests, m.RestsSince)
	case r.Listening(a, stick.Work, s):
		return since(AgentWaits, cmp.Or(r.WaitedSince(a, s, now), now))
	case a.Human():
		return does, false
	case !m.IdleAt.IsZero():
		return since(AgentIdle, m.IdleAt)
	case h.At.IsZero():
		return since(AgentUnknown, last)
	case h.ActiveSince.IsZero():
		return since(AgentIdle, h.At) // its session has started, and had no prompt
	case InCall(r, m, now), !(stick.Deadline{SetAt: last, TTL: SilentAfter}).Due(now):
		return since(AgentWorks, h.ActiveSince)
	}

	// It should be working, and has shown no sign for too long: it was interrupted.
	does.Silent = true
	return since(AgentIdle, last)
}

// InCall reports whether a tool call of a member is in progress.
func InCall(r stick.Room, m stick.Member, now stick.Time) bool {
	return !m.BusySince.IsZero() && !(stick.Deadline{SetAt: m.BusySince, TTL: longCall}).Due(now)
}

// LooksUntil returns when a room will look different to whoever watches it, although nobody commits anything:
// a limit of the turn ends, or an agent has been silent for too long. It is zero for never. The ends of
// processes come on top of that.
func LooksUntil(r stick.Room, signs map[stick.AgentID]Signs, s *stick.Probed, now stick.Time) stick.Time {
	at := stick.Time(0)

	next := func(t stick.Time) {
		if t > now {
			at = stick.EarlierTime(at, t)
		}
	}

	// In a closed or paused room no limit of the turn passes.
	if !r.Closed && !r.Paused.On() {
		switch {
		case r.Turn.State == stick.Reserved:
			next(r.ClaimDeadline().At())
		case r.Turn.State == stick.Owned && !r.Opening(s, now).Open():
			next(r.OpensAt(s, now))
		}
	}

	// An agent that works looks idle once it has been silent for long enough.
	for _, m := range r.Members {
		does, _ := ActivityOf(r, m.Agent, signs[m.Agent], s, now)
		if does.State != AgentWorks {
			continue
		}

		quiet := (stick.Deadline{SetAt: does.LastSign, TTL: SilentAfter}).At()

		// While a tool call runs, its harness is silent: the call's own limit counts.
		if InCall(r, m, now) {
			quiet = max(quiet, (stick.Deadline{SetAt: m.BusySince, TTL: longCall}).At())
		}

		next(quiet)
	}

	return at
}
