package stick

import (
	"errors"

	"talkingstick/stick/glob"
)

// ReservedPayload is the payload of [EventReserved].
type ReservedPayload struct {
	Caller
	Pattern  glob.Pattern `json:"pattern,omitempty"`  // what was reserved
	TTL      Millis       `json:"ttl_ms,omitempty"`   // for how long
	Replaces int64        `json:"replaces,omitempty"` // the same agent's reservation that it replaces
}

// UnreservedPayload is the payload of [EventUnreserved].
type UnreservedPayload struct {
	Caller
	Verdict       Verdict      `json:"verdict,omitempty"`        // of its owner, if it was taken over
	Pattern       glob.Pattern `json:"pattern,omitempty"`        // what was reserved
	ReservationID int64        `json:"reservation_id,omitempty"` // the reservation that ended
	Stale         bool         `json:"stale,omitempty"`          // it was taken over because it was stale
}

// IncursionPayload is the payload of [EventIncursion]: the message to both sides, and its facts.
type IncursionPayload struct {
	Caller
	Verdict Verdict `json:"verdict,omitempty"` // of the owner of the reservation
	*Message
	Pattern       glob.Pattern `json:"pattern,omitempty"`        // the requested pattern
	ReservationID int64        `json:"reservation_id,omitempty"` // the reservation that it overlaps with
	Held          glob.Pattern `json:"held,omitempty"`           // the pattern of that reservation
	Witness       string       `json:"example,omitempty"`        // a path that matches both patterns
	// the requested pattern wasn't reserved. Older events of the same paths don't say it
	Refused bool `json:"refused,omitempty"`
}

// describeOverlap tells of an overlap in the log with what both sides need to know: how the scopes overlap, who has the
// one and who came into it, whether the owner lives, and what they can do.
func (p IncursionPayload) describeOverlap(e Event) Words {
	owner := AgentName(e.To)
	if p.Verdict != "" {
		owner += Wordsf(" (%s)", p.Verdict)
	}

	exact := p.Message != nil && p.Overlap == string(glob.Exact)

	// Who was refused, or wants exactly the same, has reserved nothing.
	got := Words("reserved")
	if p.Refused || exact {
		got = "wants"
	}

	s := Wordsf("%s %s %s%s", AgentName(e.From), got, PatternWords(p.Pattern), forTask(e))
	if exact {
		s += ", exactly what " + owner + " has reserved"
	} else {
		s += ", which overlaps in part with " + PatternWords(p.Held) + ", reserved by " + owner
	}

	if p.Message != nil && p.Resolution != "" {
		s += "; " + SettlingAdvice(p.Overlap, e.To, p.Witness)
	}

	return s
}

// SettlingAdvice says what the two sides of an overlap can do: the owner of the reservation, and who wants its
// scope. witness is a path of both.
func SettlingAdvice(overlap string, owner AgentID, witness string) Words {
	if overlap == string(glob.Exact) {
		return Wordsf("%s keeps the scope; agree who goes first, and tt unreserve when it is free", owner)
	}
	return Wordsf("agree who changes %s; then one of you narrows its scope (tt unreserve, tt reserve)",
		Name(witness).Cut(maxShownName))
}

// ResumePayload is the payload of [EventResume]: the message to the agent that had the work, and its facts.
type ResumePayload struct {
	Caller
	Verdict Verdict `json:"verdict,omitempty"` // of the owner of the reservation
	*Message
	Pattern       glob.Pattern `json:"pattern,omitempty"`        // what was reserved, if it is about a reservation
	ReservationID int64        `json:"reservation_id,omitempty"` // the reservation that was taken over
}

// StickDeniedPayload is the payload of [EventStickDenied].
type StickDeniedPayload struct {
	Caller
	Paths   []string `json:"paths,omitempty"`   // some of them
	Command string   `json:"command,omitempty"` // refused once: no whole copy could be kept of the work that it takes
	Sum     string   `json:"sum,omitempty"`     // a checksum of what that command takes: its kind, directory, paths and refs
}

// LateEditPayload is the payload of [EventLateEdit].
type LateEditPayload struct {
	Caller
	Paths     []string `json:"paths,omitempty"`      // some of them
	Tool      string   `json:"tool,omitempty"`       // the harness's tool that edited
	NeverHeld bool     `json:"never_held,omitempty"` // the agent never had the stick
}

// EditToldPayload is the payload of [EventEditTold].
type EditToldPayload struct {
	Caller
	Paths  []string `json:"paths,omitempty"`  // some of them
	Count  int      `json:"count,omitempty"`  // how many they are
	Paused bool     `json:"paused,omitempty"` // the room was paused, by the member in to_agent_id
	Pushed string   `json:"pushed,omitempty"` // it pushed, and edited nothing: the branch that it pushed to
	Unkept string   `json:"unkept,omitempty"` // no rule was broken: the checkout or file of which tt can keep no copies
}

// describeAct says in words what the agent did.
func (p EditToldPayload) describeAct() Words {
	if p.Pushed != "" {
		return "pushed to " + CutName(p.Pushed, maxShownName)
	}
	return "edited " + EditedOf(p.Paths, p.Count)
}

// WorkTakenPayload is the payload of [EventWorkTaken].
type WorkTakenPayload struct {
	Caller
	Command string   `json:"command,omitempty"` // the command, as a person would name it
	Sweeps  bool     `json:"sweeps,omitempty"`  // it put the work into the index or a commit, where it isn't lost
	Paths   []string `json:"paths,omitempty"`   // some of the files
	Count   int      `json:"count,omitempty"`   // how many they are
	// some of the stash entries that it used, without the agent's own from this checkout
	Stash []string `json:"stash,omitempty"`
	// others whose work it is; everybody else in the room if the repository is gone
	Of      []AgentID `json:"of,omitempty"`
	Rescue  string    `json:"rescue_id,omitempty"` // the copy that was made before
	Call    int64     `json:"call_id,omitempty"`   // the call that took it, which can be undone; 0 if it isn't known
	Kept    []string  `json:"kept,omitempty"`      // the first few refs that keep the old tips of branches
	LeftOut []string  `json:"left_out,omitempty"`  // some of what the copy lacks

	Repository string `json:"repository,omitempty"` // it took the room's repository: the git directory that is gone
}

// ChangesAdoptedPayload is the payload of [EventChangesAdopted].
type ChangesAdoptedPayload struct {
	Caller
	Paths  []string `json:"paths,omitempty"`     // some of them
	Count  int      `json:"count,omitempty"`     // how many they are
	Rescue string   `json:"rescue_id,omitempty"` // the rescue that has a copy; empty if there is none
	Stash  []string `json:"stash,omitempty"`     // entries of the stash instead of files, as git named them then
}

// adoptedFrom says what it was of an agent.
func (p ChangesAdoptedPayload) adoptedFrom(a Words) Words {
	if len(p.Stash) > 0 {
		return editedPaths(p.Stash) + " of " + a
	}
	return "the changes of " + a + " to " + EditedOf(p.Paths, p.Count)
}

// adoptedFromYou says what it was, to whom it was of.
func (p ChangesAdoptedPayload) adoptedFromYou() Words {
	if len(p.Stash) > 0 {
		return "your " + editedPaths(p.Stash)
	}
	return "your changes to " + EditedOf(p.Paths, p.Count)
}

// CallUndonePayload is the payload of [EventCallUndone].
type CallUndonePayload struct {
	Caller
	Call      int64     `json:"call_id,omitempty"`      // the call that was taken back
	Of        AgentID   `json:"call_of,omitempty"`      // whose it was
	Command   string    `json:"command,omitempty"`      // what it ran, or the tool
	As        int64     `json:"undo_call_id,omitempty"` // the call that the undo is; 0 if it has changed nothing
	Checkout  string    `json:"checkout,omitempty"`     // the top level
	Paths     []string  `json:"paths,omitempty"`        // some of the files that were restored or removed
	Count     int       `json:"count,omitempty"`        // how many they are
	Left      []string  `json:"left,omitempty"`         // some of the files that stay as they are
	LeftCount int       `json:"left_count,omitempty"`   // how many they are
	LeftOf    []AgentID `json:"left_of,omitempty"`      // who has changed those since, or ran a call meanwhile
}

// copyIn names the rescue, as the end of a sentence.
func (p ChangesAdoptedPayload) copyIn() Words {
	if p.Rescue == "" {
		return ""
	}
	return "; rescue " + CutName(p.Rescue, 40) + " has a copy"
}

// scopeEvents are the events of reservations and edits.
var scopeEvents = []EventInfo{
	eventRow(eventKind[ReservedPayload]{
		Type: EventReserved, Meaning: "paths were reserved", For: forNamed,
		Say: func(e Event, p ReservedPayload) Words {
			return Wordsf("%s reserved %s", AgentName(e.From), PatternWords(p.Pattern)) + forTask(e)
		},
		Replay: func(c *Record, e *Event, p ReservedPayload) error {
			// What it replaces ends; the event's own number is the id of the new one.
			delete(c.Reservations, p.Replaces)
			c.Reservations[e.Seq] = p.ReservationFrom(*e)
			return nil
		},
	}),
	eventRow(eventKind[UnreservedPayload]{
		Type: EventUnreserved, Meaning: "a reservation ended before its time", For: forReader,
		Say: func(e Event, p UnreservedPayload) Words {
			what := PatternWords(p.Pattern)
			switch {
			case p.Stale:
				return Wordsf("%s took over %s's stale reservation of %s", AgentName(e.From), AgentName(e.To),
					what) + forTask(e)
			case e.To != "":
				return Wordsf("%s ended %s's reservation of %s", AgentName(e.From), AgentName(e.To), what) + forTask(e)
			}
			return Wordsf("%s released %s", AgentName(e.From), what) + forTask(e)
		},
		Replay: func(c *Record, _ *Event, p UnreservedPayload) error {
			if _, ok := c.Reservations[p.ReservationID]; !ok {
				return errors.New("there is no such reservation")
			}
			delete(c.Reservations, p.ReservationID)
			return nil
		},
	}),
	eventRow(eventKind[IncursionPayload]{
		Type: EventIncursion, For: forReaderAndAuthor,
		Meaning: "the scopes of two agents overlap; its payload is the INCURSION to both",
		Say:     func(e Event, p IncursionPayload) Words { return p.describeOverlap(e) },
		Replay:  replayNothing[IncursionPayload],
	}),
	eventRow(eventKind[ResumePayload]{
		Type: EventResume, For: forReader,
		Meaning: "an agent resumed the work of another; its payload is the RESUME to that one",
		Say: func(e Event, p ResumePayload) Words {
			whose := Words("an earlier session")
			if e.To != "" {
				whose = AgentName(e.To)
			}

			s := AgentName(e.From) + " resumed the work of " + whose
			if p.Pattern != "" {
				s += " on " + PatternWords(p.Pattern)
			}

			return s + forTask(e)
		},
		Replay: replayNothing[ResumePayload],
	}),
	eventRow(eventKind[StickDeniedPayload]{
		Type: EventStickDenied, For: forNamed,
		Meaning: "a hook denied an edit to an agent without the stick; noted once a turn",
		Say: func(e Event, p StickDeniedPayload) Words {
			if p.Command != "" {
				return Wordsf("%s tried to run %s and was denied", AgentName(e.From), p.Command)
			}
			return Wordsf("%s tried to edit %s and was denied", AgentName(e.From), editedPaths(p.Paths))
		},
		Replay: replayNothing[StickDeniedPayload],
	}),
	eventRow(eventKind[LateEditPayload]{
		Type: EventLateEdit, For: forBothToRead,
		Meaning: "an agent finished an edit after it had lost the right to make it, or without ever having had it",
		Say: func(e Event, p LateEditPayload) Words {
			s := Wordsf("%s edited %s after it had lost the right to do so", AgentName(e.From), editedPaths(p.Paths))
			if p.NeverHeld {
				s = Wordsf("%s edited %s without the right to do so", AgentName(e.From), editedPaths(p.Paths))
			}
			if e.To != "" {
				s += "; " + AgentName(e.To) + " holds the stick: look at the file before you go on"
			}

			return s
		},
		Replay: replayNothing[LateEditPayload],
	}),
	eventRow(eventKind[EditToldPayload]{
		Type: EventEditTold, For: forRecipient,
		Meaning: "where the room only warns, an agent was warned: it edited without the stick or in a pause, or pushed from another checkout without it; " +
			"noted once a turn. Or it was told that no copies can be kept; noted once a session",
		Say: func(e Event, p EditToldPayload) Words {
			if p.Unkept != "" {
				return AgentName(e.From) + " was told that no copies can be kept of " + CutName(p.Unkept, maxShownName)
			}
			if p.Paused {
				return AgentName(e.From) + " " + p.describeAct() + " while the room was paused"
			}

			s := AgentName(e.From) + " " + p.describeAct() + " without the stick"
			if e.To != "" {
				s += ", which " + AgentName(e.To) + " holds"
			}

			return s
		},
		Tell: func(e Event, p EditToldPayload) Words {
			if p.Paused {
				return AgentName(e.From) + " " + p.describeAct() + " while the room is paused"
			}
			return AgentName(e.From) + " " + p.describeAct() + " while you hold the stick"
		},
		Replay: replayNothing[EditToldPayload],
	}),
	eventRow(eventKind[WorkTakenPayload]{
		Type: EventWorkTaken, For: forNamed,
		Meaning: "a command took uncommitted work away, swept it up, used an entry of the stash that isn't the agent's, or removed the repository; a copy was made before",
		Say:     func(e Event, p WorkTakenPayload) Words { return AgentName(e.From) + " ran " + p.describeLoss() },
		Replay: func(_ *Record, e *Event, p WorkTakenPayload) error {
			e.For = p.ListReaders(e.From)
			return nil
		},
	}),
	eventRow(eventKind[ChangesAdoptedPayload]{
		Type: EventChangesAdopted, For: forReader,
		Meaning: "an agent made another's uncommitted changes or stash entries its own",
		Say: func(e Event, p ChangesAdoptedPayload) Words {
			return Wordsf("%s made %s its own",
				AgentName(e.From), p.adoptedFrom(AgentName(e.To))) + p.copyIn() + reasonSuffix(e.Reason)
		},
		Tell: func(e Event, p ChangesAdoptedPayload) Words {
			return Wordsf("%s made %s its own", AgentName(e.From),
				p.adoptedFromYou()) + p.copyIn() + reasonSuffix(e.Reason)
		},
		Replay: replayNothing[ChangesAdoptedPayload],
	}),
	eventRow(eventKind[CallUndonePayload]{
		Type: EventCallUndone, Meaning: "somebody undid a tool call", For: forNamed,
		Say: func(e Event, p CallUndonePayload) Words {
			return AgentName(e.From) + " undid " + p.describeUndo(e.From)
		},
		Replay: func(_ *Record, e *Event, p CallUndonePayload) error {
			e.For = p.ListReaders(e.From)
			return nil
		},
	}),
}

// ListReaders are those whom the event is for: whose call it was, and whose files stay as they are.
func (p CallUndonePayload) ListReaders(by AgentID) (all []Addressee) {
	for _, a := range MergeUnique([]AgentID{p.Of}, p.LeftOf) {
		if a != "" && a != by {
			all = append(all, Addressee{a, OwesReading})
		}
	}
	return all
}

// describeUndo says which call was taken back, and with what outcome.
func (p CallUndonePayload) describeUndo(by AgentID) Words {
	s := Wordsf("call %d", p.Call)
	if p.Of != "" && p.Of != by {
		s += " of " + AgentName(p.Of)
	}
	if p.Command != "" {
		s += Wordsf(", %s", p.Command)
	}

	// Then the outcome: what came back, and what somebody else has changed since.
	if p.Count > 0 {
		s += "; as before it: " + EditedOf(p.Paths, p.Count)
	}

	if p.LeftCount > 0 {
		s += "; left as now: " + EditedOf(p.Left, p.LeftCount)
	}
	if len(p.LeftOf) > 0 {
		s += ", work of " + AgentNames(p.LeftOf)
	}

	return s
}

// ListReaders are those whom the event is for: who ran the command, and whose work it took.
func (p WorkTakenPayload) ListReaders(by AgentID) []Addressee {
	all := []Addressee{{by, OwesReading}}
	for _, a := range p.Of {
		all = append(all, Addressee{a, OwesReading})
	}
	return all
}

// DescribeTaking says what a command took, and whose work that was.
func (p WorkTakenPayload) DescribeTaking() Words {
	s := Words("a command")
	if p.Command != "" {
		s = Wordsf("%s", p.Command)
	}

	switch {
	case p.Sweeps:
		s += ", which swept up " + EditedOf(p.Paths, p.Count)
	case p.Count > 0:
		s += ", which took " + EditedOf(p.Paths, p.Count)
	}
	if len(p.Stash) > 0 {
		s += ", which used " + stashList(p.Stash)
	}
	if len(p.Of) > 0 && (len(p.Stash) == 0 || p.Count > 0) && p.Repository == "" {
		s += ", work of " + AgentNames(p.Of)
	}
	if p.Repository != "" {
		s += ", which removed the repository " + CutName(p.Repository, glob.MaxBytes)
	}

	return s
}

// describeLoss says what a command took, and where it is now.
func (p WorkTakenPayload) describeLoss() Words {
	s := p.DescribeTaking()
	if p.Repository != "" {
		s += "; its commits, as far as they are kept: tt rescue list"
	}

	// Where the copies are, and what they lack.
	if p.Rescue != "" {
		s += Wordsf("; a copy was kept before: %s", Cmd("tt rescue show <id>", p.Rescue))
	}
	if len(p.LeftOut) > 0 {
		s += ", without " + editedPaths(p.LeftOut)
	}

	// A single commit is named; the command that lists them names several.
	switch len(p.Kept) {
	case 0:
	case 1:
		if s += "; the old commit is kept as " + CutName(p.Kept[0], maxShownName); len(p.Stash) > 0 {
			s += Wordsf("; to put it back: %s", Cmd("git stash store <commit>", p.Kept[0]))
		}
	default:
		s += "; the old commits are kept: tt rescue list"
	}
	return s
}
