package stick

import (
	"slices"
)

// Taking is the question whether an agent may run a command that takes uncommitted work away, or sweeps it
// into the index or a commit.
type Taking struct {
	By     AgentID
	Person bool
	Form   string // the command, as a person names it
	Sweeps bool

	Theirs []string  // files that are others' work, and that the command would take; relative to the checkout
	Of     []AgentID // whose they are
}

// MayTake judges such a command by the work of others that it would take. The caller's own work, work that
// has passed with the stick and work that nobody has noted are no reason to stop it: they are copied first.
func (r Room) MayTake(q Taking) Judgement {
	if q.Person || !r.Enforces() || len(q.Theirs) == 0 {
		return Judgement{}
	}

	does := Words("would take away uncommitted work of")
	step := Hintf("see what is whose: %s; ask: %s; take only your own files, by their paths; or make it yours: %s",
		Cmd("tt changes"), Cmd("tt msg send <agent> …", q.Of[0]), Cmd("tt changes adopt … --reason …"))
	if q.Sweeps {
		does = "would sweep up uncommitted work of"
		step = Hintf("name your own files, one by one: git add -- <path>; see what is whose: %s", Cmd("tt changes"))
	}

	files := editedOf(clipPaths(q.Theirs), len(q.Theirs))
	return r.asEnforced(r.errEditDenied(Wordsf("%s %s %s: %s", q.Form, does, agentNames(q.Of), files), q.Theirs).
		With("command", q.Form).With("of", q.Of).Hintf("%s", step))
}

// NotKept refuses a command that takes away work, or commits, of which no whole copy can be kept. missing
// says what, and why. It is refused once in a turn: the same command again goes through, see
// [Room.AskedAgain].
func (r Room) NotKept(form string, missing []Words) *Error {
	what := missing[0]
	if len(missing) > 1 {
		what = Wordsf("%d files, first %s", len(missing), what)
	}

	return r.errEditDenied(Wordsf("no copy can be kept of what %s would take away: %s", form, what), nil).
		With("command", form).Hintf("copy that yourself, or run the same command again: it goes through")
}

// NoneKept is [Room.NotKept] where no copies can be kept at all. why says so, and its hint what to do about
// that.
func (r Room) NoneKept(form string, why *Error) *Error {
	return r.errEditDenied(Wordsf("no copy can be kept of what %s would take away: %s", form, why), nil).
		With("command", form).Hintf("%s; else copy that yourself, or run the same command again: it goes through", why.Hint)
}

// Unrecorded is such a refusal where nobody can write down that there was one: then the same command is
// refused again.
func (e *Error) Unrecorded() *Error {
	return e.Hintf("copy that yourself, and ask a person to make the data directory writable")
}

// AskedAgain reports whether an agent was refused a command in this turn already, by its last events
// [EventStickDenied]. Two commands are the same if sum is, which is of all that the command would take; the
// text of a command is cut, and doesn't say where it runs. Events from before there was a sum are compared by
// that text.
func (r Room) AskedAgain(form, sum string, last []Event) bool {
	for _, e := range last {
		p, ok := PayloadOf[StickDeniedPayload](e)
		if !ok || e.Turn != r.Turn.ID {
			continue
		}

		// Two commands are the same by their sums; an event from before there was one has only the text.
		if p.Sum == sum && sum != "" || p.Sum == "" && p.Command == Clip(form, maxCommand) {
			return true
		}
	}

	return false
}

// DeniesEdit reports whether an event [EventStickDenied] is about an edit. The others are about commands, see
// [Room.NotKept].
func (e Event) DeniesEdit() bool {
	p, ok := PayloadOf[StickDeniedPayload](e)
	return ok && p.Command == ""
}

// maxCommand is how much of a command an event quotes, in bytes.
const maxCommand = 256

// Taken is what a command took, and the copy that was made before it.
type Taken struct {
	By     AgentID
	Form   string
	Sweeps bool
	Files  []string  // whose uncommitted state it takes
	Stash  []string  // entries of the stash that it uses, in words
	Of     []AgentID // the others among whose work it is
	Rescue string    // the id of the copy; empty if there is none
	Kept   []string  // refs that keep the old tips of branches
	Left   []string  // what the copy lacks

	// instead of all that: the git directory that it has removed, without which the room has no repository
	Repository string
}

// With joins what another part of the same command takes, of which the same copy was made.
func (t Taken) With(more Taken) Taken {
	if t.Form != more.Form {
		t.Form += " and " + more.Form
	}

	// The copy is the same for both parts, so it keeps its id.
	t.Files, t.Stash, t.Of = mergeUnique(t.Files, more.Files), mergeUnique(t.Stash, more.Stash), mergeUnique(t.Of, more.Of)
	t.Kept, t.Left = mergeUnique(t.Kept, more.Kept), mergeUnique(t.Left, more.Left)
	return t
}

// mergeUnique returns a, and what b has beside it.
func mergeUnique[T comparable](a, b []T) []T {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(a, x) {
			out = append(out, x)
		}
	}

	return out
}

// Take makes the event that a command takes uncommitted work. It is for the agent that runs it, and for the
// others whose work it is. That the repository is gone concerns everybody in the room.
func (r Room) Take(t Taken) Event {
	p := WorkTakenPayload{
		Command: Clip(t.Form, maxCommand), Sweeps: t.Sweeps, Paths: clipPaths(t.Files),
		Count: len(t.Files), Stash: clipPaths(t.Stash), Of: t.Of,
		Rescue: t.Rescue, Kept: clipPaths(t.Kept), LeftOut: clipPaths(t.Left), Repository: t.Repository,
	}

	// Nobody can go on without the repository: everybody in the room learns of it.
	if t.Repository != "" {
		for _, a := range r.tellAll(Event{From: t.By}).For {
			p.Of = append(p.Of, a.Agent)
		}
	}

	e := r.newEvent(EventWorkTaken, t.By, "").withPayload(p)
	e.For = p.listReaders(t.By)

	return e
}
