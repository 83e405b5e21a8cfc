package stick

import (
	"strings"
)

// Pause says who has paused a room, why, and since when. The zero Pause is none.
//
// While a room is paused, nobody is granted the stick, and nobody loses it because of the time that passes: a
// holder keeps its turn, and a reservation of the stick stands. A holder may still end its turn. Edits of
// agents are against the rules.
type Pause struct {
	By     AgentID `json:"by"`
	Reason string  `json:"reason"`
	Since  Time    `json:"since"`
}

// On reports whether the room is paused.
func (p Pause) On() bool { return p.By != "" }

// Says says who has paused the room, what that means for the reader, and at the end why. so begins with a
// punctuation mark, or is empty.
func (p Pause) Says(now Time, so Words) Words {
	if so == "" {
		return p.SaysWho(now) + reasonSuffix(p.Reason)
	}
	return p.SaysWho(now) + so + "; " + Wrote(p.By, p.Reason, maxShownReason)
}

// SaysWho says who has paused the room, as a part of a sentence.
func (p Pause) SaysWho(now Time) Words {
	return Wordsf("%s paused the room %s", p.By, Ago(now.Sub(p.Since)))
}

// Pause pauses the room, which only a person may do. In a paused room it changes who paused it and why, but
// not since when; for the same reason again it changes nothing and makes no event. It fails with
// [CodePersonOnly], [CodeUsage] and [CodeRoomClosed]. See docs/decisions/turns-and-takeovers.md#a-pause.
func (r Room) Pause(by AgentID, person bool, reason string, now Time) (Room, []Event, error) {
	if err := CheckReason("reason", reason); err != nil {
		return r, nil, err
	}

	reason = strings.TrimSpace(reason)
	switch {
	case !person:
		return r, nil, Errorf(CodePersonOnly, "only a person may pause a room").
			Hintf("ask everybody here to stop: %s", Cmd("tt msg send room …"))
	case reason == "":
		return r, nil, Errorf(CodeUsage,
			"a pause needs a reason for everybody here to read").With("field", "reason").
			Hintf("say why: %s", Cmd("tt pause …"))
	case r.Closed:
		return r, nil, r.ErrClosed()
	case r.Paused.On() && r.Paused.Reason == reason:
		return r, nil, nil
	}
	p := Pause{By: by, Reason: reason, Since: now}
	if r.Paused.On() {
		// Another reason goes on with the same pause.
		p.Since = r.Paused.Since
	}

	r.Paused = p
	e := r.NewEvent(EventRoomPaused, by, "").WithPayload(RoomPausedPayload{})
	e.Reason = reason
	return r, []Event{r.TellAll(e)}, nil
}

// Resume ends the pause, which only a person may do. All time limits of the turn begin anew, because nobody
// could do anything about them. If the stick is free, the release rule names the next holder. Resume makes no
// event if the room isn't paused. It fails with [CodePersonOnly] and [CodeRoomClosed].
func (r Room) Resume(by AgentID, person bool, s *Probed, now Time) (Room, []Event, error) {
	switch {
	case !person:
		return r, nil, Errorf(CodePersonOnly, "only a person may resume a room").
			Hintf("wait until a person does: %s", Cmd("tt wait"))
	case r.Closed:
		return r, nil, r.ErrClosed()
	case !r.Paused.On():
		return r, nil, nil
	}
	p := RoomResumedPayload{Since: r.Paused.Since}
	r.Paused = Pause{}
	events := []Event{r.TellAll(r.NewEvent(EventRoomResumed, by, "").WithPayload(p))}

	// No offer and no notice from before the pause counts any more.
	t := &r.Turn
	t.Round++
	t.RoundAt, t.OfferedAt, t.OpenedAt, t.IdleNoticeAt, t.IdleSince = 0, 0, 0, 0, 0

	switch t.State {
	case Owned:
		t.ResumedAt = now
	case Reserved:
		t.ReservedAt = now
	case Idle:
		var named []Event

		// Somebody may have waited through the whole pause.
		r, named = r.rerouteStick(s, now)
		events = append(events, named...)
	}
	return r, events, nil
}

// TellAll addresses an event to everybody in the room, except for who made it.
func (r Room) TellAll(e Event) Event {
	for _, m := range r.Members {
		if m.State == Joined && m.Agent != e.From {
			e.For = append(e.For, Addressee{Agent: m.Agent})
		}
	}
	return e
}

// errPaused refuses a grant to by in a paused room.
func (r Room) errPaused(by AgentID, now Time) *Error {
	return r.WithStickFacts(Errorf(CodePaused, "%s",
		r.Paused.Says(now, "; until a person resumes it, nobody gets the stick"))).
		With("paused", r.Paused).Hintf("%s", r.StepInPause(by, Cmd("tt wait")))
}

// MayLand refuses an agent that would land a task on its integration branch, or revert one there, while the
// room is paused. It fails with [CodePaused].
func (r Room) MayLand(by AgentID, person bool, now Time) error {
	if person || !r.Paused.On() {
		return nil
	}
	return Errorf(CodePaused, "%s", r.Paused.Says(now, "; until a person resumes it, only people merge")).
		With("paused", r.Paused).Hintf("%s", r.StepInPause(by, Cmd("tt wait --park")))
}

// StepInPause returns the hint what by does in a paused room: an agent waits.
func (r Room) StepInPause(by AgentID, wait Command) Hint {
	m, _ := r.Member(by)
	switch {
	case m.State == Kicked:
		return RejoinStep(by)
	case by.Human():
		return Hintf("end the pause: %s", Cmd("tt resume"))
	}
	return Hintf("wait until the pause ends: %s", wait)
}
