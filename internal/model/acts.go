package model

import "fmt"

// Kind is a kind of act.
type Kind uint8

// The acts of agents, then those of people, and then what happens around them.
const (
	Join Kind = iota
	Wait
	WaitForEvents
	WaitAgain // replaces the wait that runs
	Try
	Call   // any command that has no effect on the stick
	Prompt // a hook shows that its person gives it one
	Message
	Heartbeat
	ToolBegins
	ToolEnds
	SaveDraft
	Release
	ReleaseUnchanged // after a turn that has changed nothing
	ReleaseOldTurn   // with the number of an earlier turn
	ReleaseByLease   // with another lease than the turn's
	Pass
	PassNext
	Take
	TakeForPerson
	Leave // the holder leaves a handoff
	Abandon
	Kick
	KickByForce
	Close
	SetLimits
	SetEnforce
	Reorder
	Pause
	Edit
	Reserve
	Unreserve

	PersonCloses
	PersonSetsLimits
	PersonSetsEnforce
	PersonPauses
	PersonResumes

	WaitLooks // which it may at any time, even if nothing has woken it
	WaitReturns
	WaitIsKilled
	WaitStops
	WaitContinues
	ProcessEnds
	ProcessMutes
	ProcessUnmutes
	ProcessRestarts
	Restore
	Tick

	Kinds
)

var kindNames = [Kinds]string{
	"joins", "waits", "waits for events", "waits again", "tries", "calls", "gets a prompt", "sends a message", "sends a heartbeat",
	"begins a tool call", "ends a tool call", "saves a draft",
	"releases", "releases unchanged", "releases an old turn", "releases with another lease", "passes to", "passes to the next",
	"takes", "takes on a person's word", "leaves with a handoff", "abandons or leaves",
	"kicks", "kicks by force", "closes", "sets limits",
	"sets enforce", "reorders", "pauses", "edits", "reserves", "ends the reservation of",
	"person closes", "person sets limits",
	"person sets enforce", "person pauses", "person resumes",
	"wait looks", "wait returns", "wait is killed", "wait stops", "wait continues",
	"process ends", "process mutes", "process unmutes", "process restarts", "restore", "tick",
}

func (k Kind) String() string { return kindNames[k] }

// isOfAgent reports whether the agent itself performs the act, which it can only if it isn't mute and its
// process lives.
func (k Kind) isOfAgent() bool { return k < PersonCloses }

// Act is one thing that happens.
type Act struct {
	Kind     Kind
	By, To   Who
	Limits   Limits
	Sequence bool
	Order    []Who
	Enforce  Enforce
	Path     int
}

func (a Act) String() string {
	by := fmt.Sprintf("%c %s", 'a'+a.By, a.Kind)

	switch a.Kind {
	case Tick, Restore, PersonCloses, PersonPauses, PersonResumes:
		return a.Kind.String()
	case Pass, Kick, KickByForce:
		return fmt.Sprintf("%s %c", by, 'a'+a.To)
	case SetLimits, PersonSetsLimits:
		return fmt.Sprintf("%s %+v sequence=%v", by, a.Limits, a.Sequence)
	case SetEnforce, PersonSetsEnforce:
		return fmt.Sprintf("%s %d", by, a.Enforce)
	case Reorder:
		return fmt.Sprintf("%s %v", by, a.Order)
	case Edit, Reserve, Unreserve:
		return fmt.Sprintf("%s path %d", by, a.Path)
	}

	return by
}

// Refusal is why an act was refused: the code of the error.
type Refusal string

// Accepted isn't refused. Impossible can't happen in this world, or isn't asked of the rules.
const (
	Accepted   Refusal = ""
	Impossible Refusal = "impossible"
)

// Status is what a wait or a try answers.
type Status string

// The answers.
const (
	GoesOn      Status = "goes on" // a wait; a try answers that it is nobody's turn
	YourTurn    Status = "your_turn"
	AlreadyHeld Status = "already_owner"
	Takeover    Status = "takeover_available"
	UnderParent Status = "under_parent"
	Over        Status = "over" // its agent takes no part, or the room is closed
)

// Result is what an act comes to.
type Result struct {
	Refusal   Refusal
	Status    Status
	Cause     Cause // of a takeover that succeeded, or was offered
	Judgement Judgement
	MayOffer  bool // a wait may be offered the open takeover now
}
