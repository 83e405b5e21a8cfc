package stick

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"talkingstick/stick/glob"
)

// EventInfo is a row of the table of event types.
type EventInfo struct {
	Type    EventType
	Meaning string // for the reference
	say     func(Event, Facts) string
}

// EventTypes is the table of event types: what they mean, and how one is told to people.
var EventTypes = []EventInfo{
	{EventJoin, "a member joined", func(e Event, f Facts) string { return who(e.From) + " joined" }},
	{EventLeave, "a member left; an owner without a handoff abandoned its turn", func(e Event, f Facts) string {
		if f.Ends {
			return who(e.From) + " left and abandoned its turn" + because(e.Reason) + owed(f)
		}
		return who(e.From) + " left" + because(e.Reason) + owed(f)
	}},
	{EventKick, "a member was removed", func(e Event, f Facts) string {
		s := fmt.Sprintf("%s removed %s", who(e.From), who(e.To))
		if f.Verdict == Gone {
			s += ", which was gone"
		}
		if f.Ends {
			s += "; its turn ended"
		}
		return s + relayed(f) + because(e.Reason) + owed(f)
	}},
	{EventClaim, "the stick was claimed: a turn began", func(e Event, f Facts) string {
		return fmt.Sprintf("%s took the stick (turn %d)", who(e.From), e.Turn)
	}},
	{EventRelease, "the owner gave the stick back with a handoff; to_agent_id is the one named next", func(e Event, f Facts) string {
		s := who(e.From) + " released the stick"
		if e.To != "" {
			s += ", next is " + who(e.To)
		}
		return s + next(e)
	}},
	{EventPass, "the owner passed the stick to a member with a handoff", func(e Event, f Facts) string {
		return fmt.Sprintf("%s passed the stick to %s%s", who(e.From), who(e.To), next(e))
	}},
	{EventRerouted, "a reservation moved on, or a turn that ended without a handoff was given on", func(e Event, f Facts) string {
		to := "the stick is free"
		if e.To != "" {
			to = "next is " + who(e.To)
		}
		switch {
		case f.Prior == "":
			return to
		case f.Verdict == Gone:
			return fmt.Sprintf("%s is gone; %s", who(f.Prior), to)
		}
		return fmt.Sprintf("%s didn't take the stick; %s", who(f.Prior), to)
	}},
	{EventTakeover, "the stick was taken from its owner or recipient", func(e Event, f Facts) string {
		from := "nobody"
		if f.Prior != "" {
			from = who(f.Prior)
		}
		return fmt.Sprintf("%s took the stick over from %s (%s, turn %d)%s%s", who(e.From), from,
			strings.ReplaceAll(string(f.Cause), "_", " "), e.Turn, relayed(f), because(e.Reason))
	}},
	{EventClose, "the room was closed", func(e Event, f Facts) string { return who(e.From) + " closed the room" + because(e.Reason) }},
	{EventReopen, "the room was opened again", func(e Event, f Facts) string { return who(e.From) + " opened the room again" }},
	{EventRestored, "leases and reservations ended because the machine restarted or the database was restored", func(e Event, f Facts) string {
		s := "the machine restarted"
		if f.World == "restore" {
			s = "the database was restored"
		}
		if f.Ends {
			s += "; the turn of " + who(f.Prior) + " ended"
		}
		return s
	}},
	{EventPolicyChanged, "a policy or the order of members was changed", func(e Event, f Facts) string {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(f.Policy)) {
			parts = append(parts, fmt.Sprintf("%s from %s to %s", k, f.Policy[k].From, f.Policy[k].To))
		}
		if len(f.Order) > 0 {
			names := make([]string, len(f.Order))
			for i, a := range f.Order {
				names[i] = who(a)
			}
			parts = append(parts, "the order to "+strings.Join(names, ", "))
		}
		if len(parts) == 0 { // by a newer program, or damaged
			return who(e.From) + " changed a policy"
		}
		return who(e.From) + " changed " + strings.Join(parts, ", ")
	}},
	{EventOwnerIdle, "the owner was told that it looks idle", func(e Event, f Facts) string {
		return fmt.Sprintf("%s holds the stick and did nothing for %s", who(e.To), Age(e.CreatedAt.Sub(f.IdleSince)))
	}},
	{EventMessageSent, "a message was sent; its payload holds it", func(e Event, f Facts) string {
		if f.Message == nil { // damaged
			return who(e.From) + " sent a message"
		}
		return f.said(who(e.From)) + f.Gist(160)
	}},
	{EventMessageRead, "a recipient opened a message", func(e Event, f Facts) string {
		return fmt.Sprintf("Seen by %s: message %d", who(e.From), f.MessageID)
	}},
	{EventMessageAcked, "a recipient accepted a message", func(e Event, f Facts) string {
		return fmt.Sprintf("Accepted by %s: message %d", who(e.From), f.MessageID)
	}},
	{EventMessageWithdrawn, "the sender took a message back", func(e Event, f Facts) string {
		return fmt.Sprintf("%s withdrew message %d", who(e.From), f.MessageID)
	}},
	{EventNoteAdded, "a note was left; its payload holds it", func(e Event, f Facts) string {
		return who(e.From) + " left a note" + because(f.Note)
	}},
	{EventNoteResolved, "a note was dealt with", func(e Event, f Facts) string {
		return fmt.Sprintf("%s resolved note %d", who(e.From), f.NoteID)
	}},
	{EventReserved, "paths were reserved", func(e Event, f Facts) string {
		return fmt.Sprintf("%s reserved %s", who(e.From), paths(f.Pattern)) + task(e)
	}},
	{EventUnreserved, "a reservation ended before its time", func(e Event, f Facts) string {
		p := paths(f.Pattern)
		switch {
		case f.Stale:
			return fmt.Sprintf("%s took over %s, which %s had reserved and left", who(e.From), p, who(e.To))
		case e.To != "":
			return fmt.Sprintf("%s ended %s's reservation of %s", who(e.From), who(e.To), p)
		}
		return fmt.Sprintf("%s gave %s free", who(e.From), p)
	}},
	{EventIncursion, "the scopes of two agents overlap; its payload is the INCURSION to both", func(e Event, f Facts) string {
		return fmt.Sprintf("%s wants %s, which overlaps with %s of %s", who(e.From), paths(f.Pattern),
			paths(f.Held), who(e.To))
	}},
	{EventResume, "work that somebody had left was taken up; its payload is the RESUME to the one who had it", func(e Event, f Facts) string {
		whose := "an earlier session"
		if e.To != "" {
			whose = who(e.To)
		}
		s := who(e.From) + " resumed the work of " + whose
		if f.Pattern != "" {
			s += " on " + paths(f.Pattern)
		}
		return s
	}},
	{EventStickDenied, "a hook kept an agent without the stick from editing; once in a turn", func(e Event, f Facts) string {
		return fmt.Sprintf("%s wanted to edit %s and was denied", who(e.From), edited(f))
	}},
	{EventLateEdit, "an edit ended after the right to make it was lost, or was made without one", func(e Event, f Facts) string {
		s := fmt.Sprintf("%s edited %s after it had lost the right to", who(e.From), edited(f))
		if f.NeverHeld {
			s = fmt.Sprintf("%s edited %s without the right to", who(e.From), edited(f))
		}
		if e.To != "" {
			s += "; " + who(e.To) + " holds the stick: look at the file before you go on"
		}
		return s
	}},
	{EventSessionStarted, "a session started; its payload tells its role", func(e Event, f Facts) string {
		s := who(e.From) + " started a session"
		switch f.Role {
		case RolePrimary:
			s = who(e.From) + " is the primary"
		case RoleHelper:
			s = who(e.From) + " works here as a helper"
		}
		if f.Context != "" {
			s += ", " + clip(f.Context, maxContext)
		}
		switch {
		case f.Start == StartRecover:
			s += ", and recovers what was left behind"
		case f.Prior != "":
			s += " after " + who(f.Prior)
		}
		return s
	}},
	{EventSessionEnded, "a session ended: by its own act, as its harness told, or because its process carries another", func(e Event, f Facts) string {
		s := who(e.From) + " ended its session"
		if f.Role != "" {
			s += " as " + clip(string(f.Role), 20)
		}
		return s + because(e.Reason)
	}},
	{EventTaskAssigned, "a task was made, with a branch and a worktree", sayTask("%s made the task %s%s", "description")},
	{EventTaskStarted, "an agent took a task on", sayTask("%s works on %s", "")},
	{EventTaskConflicted, "a task's branch conflicts with the integration branch; a rebase is in progress", sayTask("%s met a conflict in %s%s", "files")},
	{EventTaskReviewRequested, "a commit of a task waits for review", sayTask("%s asks for a review of %s%s", "head")},
	{EventTaskApproved, "a commit of a task was approved", sayTask("%s approved %s%s", "head")},
	{EventTaskChangesRequested, "a task went back to its worker: a reviewer's word, a conflict, or a red gate", sayTask("%s gave %s back%s", "reason")},
	{EventTaskMergeStarted, "a task began to land", sayTask("%s began to merge %s%s", "head")},
	{EventTaskCompleted, "the integration branch contains a task", sayTask("%s merged %s%s", "result")},
	{EventTaskFailed, "a task was given up or called off", func(e Event, f Facts) string {
		did := "gave up"
		if f.Task != nil && f.Task.Cause == CauseCancelled {
			did = "called off"
		}
		return fmt.Sprintf("%s %s %s%s", who(e.From), did, taskOf(e), because(e.Reason))
	}},
	{EventTaskRetried, "another attempt at a task began", sayTask("%s began another attempt at %s", "")},
	{EventTaskRolledBack, "the merge of a task was taken back by a new commit", sayTask("%s took the merge of %s back%s", "reason")},
}

// sayTask tells an event of a task, with what matters most of it at the end.
func sayTask(format, detail string) func(Event, Facts) string {
	return func(e Event, f Facts) string {
		args := []any{who(e.From), taskOf(e)}
		if f.Task == nil { // damaged
			f.Task = &TaskFacts{}
		}
		switch detail {
		case "":
			return fmt.Sprintf(format, args...)
		case "description":
			return fmt.Sprintf(format, append(args, because(f.Task.Description))...)
		case "files":
			return fmt.Sprintf(format, append(args, because(strings.Join(f.Task.Files, ", ")))...)
		case "reason":
			return fmt.Sprintf(format, append(args, because(e.Reason))...)
		case "result":
			return fmt.Sprintf(format, append(args, at(f.Task.Result))...)
		}
		return fmt.Sprintf(format, append(args, at(f.Task.Head))...)
	}
}

func taskOf(e Event) string {
	if e.Task == "" { // damaged
		return "a task"
	}
	return clip(e.Task, MaxTaskID)
}

// at names a commit.
func at(commit string) string {
	if commit == "" {
		return ""
	}
	return ", commit " + short(commit)
}

// said says what a message from somebody does, in the words of the screens for people.
func (m Message) said(from string) string {
	to := m.recipients()
	switch m.Category {
	case Handover:
		return fmt.Sprintf("Passed to %s by %s", to, from)
	case Blocked:
		return fmt.Sprintf("Needs input from %s, says %s", to, from)
	case Resume:
		return fmt.Sprintf("%s resumed work and told %s", from, to)
	case Incursion:
		return fmt.Sprintf("%s overlaps with %s", from, to)
	}
	return fmt.Sprintf("%s told %s", from, to)
}

// recipients names whom the message went to.
func (m Message) recipients() string {
	switch {
	case len(m.To) == 0:
		return "nobody"
	case m.everybody():
		return "everybody"
	case m.nobody():
		return "the log"
	}
	const most = 3
	names := make([]string, min(len(m.To), most))
	for i := range names {
		names[i] = who(m.To[i])
	}
	if more := len(m.To) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// Gist is what a message is about, behind a colon, in at most n characters; empty when it says
// nothing.
func (m Message) Gist(n int) string {
	text := m.Subject
	if Line(text) == "" {
		text = m.Body
	}
	if says := m.Says(); Line(text) == "" && len(says) > 0 {
		text = *says[0].field(&m.Contract)
	}
	if text = clip(text, n); text != "" {
		return ": " + text
	}
	return ""
}

// owed says that nobody will answer messages any more.
func owed(f Facts) string {
	switch len(f.Owed) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; message %d won't be answered", f.Owed[0])
	}
	return fmt.Sprintf("; message %d and others won't be answered", f.Owed[0])
}

// Say tells the event to people in one line. A type this program doesn't know is told by its name.
func (e Event) Say() string {
	i := slices.IndexFunc(EventTypes, func(t EventInfo) bool { return t.Type == e.Type })
	if i < 0 {
		return Line(string(e.Type)) + " by " + who(e.From)
	}
	return EventTypes[i].say(e, e.Facts())
}

func paths(p glob.Pattern) string {
	if p == "" {
		return "paths"
	}
	return clip(string(p), glob.MaxBytes)
}

func edited(f Facts) string {
	switch len(f.Paths) {
	case 0:
		return "files"
	case 1:
		return clip(f.Paths[0], 160)
	}
	return clip(f.Paths[0], 160) + " and others"
}

func task(e Event) string {
	if e.Task == "" {
		return ""
	}
	return " for " + clip(e.Task, MaxLabel)
}

func who(a AgentID) string {
	if a == "" {
		return "tt"
	}
	return clip(string(a), maxAgentBytes)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + clip(reason, 160)
}

func next(e Event) string {
	if e.Handoff == nil {
		return ""
	}
	return ": " + clip(e.Handoff.NextAction, 160)
}

func relayed(f Facts) string {
	if f.RelayedBy == "" {
		return ""
	}
	return " on a person's word"
}
