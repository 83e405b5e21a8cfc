package stick

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A member rests once its last turn has changed nothing. The release rule doesn't name it, and its wait leaves
// the free stick alone, until something is for it or it acts by itself. Without that, agents that wait for the
// turn and have no work pass the stick round for ever.

// TurnWork is what is known of what a turn has changed.
type TurnWork struct {
	Before *Workspace // the shared tree at the last handoff before the turn; nil if that isn't known
	After  *Workspace // the shared tree at the end of the turn; nil if that isn't known
	Events []Event    // those that the turn's owner made in it
	Edited bool       // hooks have noted an edit of the owner's
	Called bool       // hooks have seen a call of the owner's that isn't known to only read

	CalledApart bool // one of these ran in a checkout of which Before and After say nothing
}

// HasChangedNothing reports whether a turn is known to have changed nothing. Before the first handoff there is
// no tree to compare with; then any call that may have changed something counts.
func (w TurnWork) HasChangedNothing() bool {
	if w.Edited || w.CalledApart {
		return false
	}
	if w.After == nil || slices.ContainsFunc(w.Events, Event.isWork) {
		return false
	}
	if w.Before == nil {
		return !w.Called
	}
	return w.Before.isSameTree(*w.After)
}

// isSameTree reports whether two descriptions show the same commit, and changes of the same files.
func (w Workspace) isSameTree(v Workspace) bool {
	isSameCommit := w.Head == v.Head && w.Branch == v.Branch
	return isSameCommit && w.DirtyCount == v.DirtyCount && slices.Equal(w.Dirty, v.Dirty)
}

// isWork reports whether who made the event has done something by it, or wanted to: an edit was denied.
func (e Event) isWork() bool {
	switch e.Type {
	case EventMessageSent, EventMessageAcked, EventMessageWithdrawn, EventNoteAdded, EventNoteResolved,
		EventReserved, EventUnreserved, EventChangesAdopted, EventCallUndone, EventStickDenied:
		return true
	}
	return strings.HasPrefix(string(e.Type), "task_")
}

// MayRest reports whether a may rest after its turn. A member whose harness has no hooks may not, because nothing
// would end its rest, and nobody may where hooks note no edits.
func (r Room) MayRest(a AgentID) bool {
	m, _ := r.Member(a)
	isOwner := r.Turn.State == Owned && r.Turn.Owner == a
	isNoted := m.HooksSeen && r.Policy.Enforce != EnforceOff
	return isOwner && isNoted
}

// RestAfter lets the owner rest if its turn, which is about to end, has changed nothing. A rest that an older program
// has left while it granted the turn ends in any case.
func (r Room) RestAfter(owner AgentID, w TurnWork, now Time) Room {
	r = r.EndRest(owner)
	if r.MayRest(owner) && w.HasChangedNothing() {
		r.EditMember(owner, func(m *Member) { m.RestsSince = now })
	}
	return r
}

// EndRest ends the rest of a member: it has acted by itself, or its person has given it something to do.
func (r Room) EndRest(a AgentID) Room {
	if m, _ := r.Member(a); m.Rests() {
		r.EditMember(a, func(m *Member) { m.RestsSince = 0 })
	}
	return r
}

// Rests reports whether the member rests.
func (m Member) Rests() bool { return !m.RestsSince.IsZero() }

// rests reports whether a member rests.
func (r Room) rests(a AgentID) bool {
	m, _ := r.Member(a)
	return m.Rests()
}

// HasRestEnded reports whether a member that rested before does so no longer. It may take the free stick now,
// so its wait has to look.
func (r Room) HasRestEnded(before Room) bool {
	return slices.ContainsFunc(before.listResting(), func(a AgentID) bool { return !r.rests(a) })
}

// listResting lists the members that rest. It copies none of those that don't, because a room may have a thousand.
func (r Room) listResting() (resting []AgentID) {
	for i := range r.Members {
		if !r.Members[i].RestsSince.IsZero() {
			resting = append(resting, r.Members[i].Agent)
		}
	}
	return resting
}

// endRestsNamedIn ends the rest of each member that a handoff names, except for its author.
func (r Room) endRestsNamedIn(h Handoff, author AgentID) Room {
	for _, a := range r.listResting() {
		if a != author && h.names(a) {
			r = r.EndRest(a)
		}
	}
	return r
}

// names reports whether a text of the handoff has the id of an agent in it, as a word of its own.
func (h Handoff) names(a AgentID) bool {
	return slices.ContainsFunc(HandoffFields, func(f HandoffField) bool {
		return slices.ContainsFunc(f.texts(h), func(text string) bool { return hasWord(text, string(a)) })
	})
}

// hasWord reports whether a text has a word in it, with nothing before and behind it that could be a part of it.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}

		at, end := from+i, from+i+len(word)
		last, _ := utf8.DecodeLastRuneInString(text[:at])
		first, _ := utf8.DecodeRuneInString(text[end:])
		if !isOfWord(last) && !isOfWord(first) {
			return true
		}
		from = end
	}
}

func isOfWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' }

// endRestsBy ends the rests of those that an event is for, and of who made it, if it did something by it.
func (r Room) endRestsBy(e Event) Room {
	if len(r.listResting()) == 0 {
		return r
	}

	for _, to := range e.Addressees() {
		r = r.EndRest(to.Agent)
	}
	if e.isWork() {
		r = r.EndRest(e.From)
	}
	return r
}
