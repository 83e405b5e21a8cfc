package edits

import (
	"talkingstick/stick"
)

// Taking is the question whether an agent may run a command that takes uncommitted work away, or sweeps it
// into the index or a commit.
type Taking struct {
	By     stick.AgentID
	Person bool
	Form   string // the command, as a person names it
	Sweeps bool

	Theirs []string        // files that are others' work, and that the command would take; relative to the checkout
	Of     []stick.AgentID // whose they are
}

// MayTake judges such a command by the work of others that it would take. The caller's own work, work that
// has passed with the stick and work that nobody has noted are no reason to stop it: they are copied first.
func MayTake(r stick.Room, q Taking) Judgement {
	if q.Person || !Enforces(r) || len(q.Theirs) == 0 {
		return Judgement{}
	}

	does := stick.Words("would take away uncommitted work of")
	step := stick.Hintf("see what is whose: %s; ask: %s; take only your own files, by their paths; or make it yours: %s",
		stick.Cmd("tt changes"), stick.Cmd("tt msg send <agent> …", q.Of[0]),
		stick.Cmd("tt changes adopt … --reason …"))
	if q.Sweeps {
		does = "would sweep up uncommitted work of"
		step = stick.Hintf("name your own files, one by one: git add -- <path>; see what is whose: %s",
			stick.Cmd("tt changes"))
	}

	files := stick.EditedOf(clipPaths(q.Theirs), len(q.Theirs))
	return asEnforced(r, errEditDenied(r,
		stick.Wordsf("%s %s %s: %s", q.Form, does, stick.AgentNames(q.Of), files), q.Theirs).
		With("command", q.Form).With("of", q.Of).Hintf("%s", step))
}

// NotKept refuses a command that takes away work, or commits, of which no whole copy can be kept. missing
// says what, and why. It is refused once in a turn: the same command again goes through, see
// [AskedAgain].
func NotKept(r stick.Room, form string, missing []stick.Words) *stick.Error {
	what := missing[0]
	if len(missing) > 1 {
		what = stick.Wordsf("%d files, first %s", len(missing), what)
	}

	return errEditDenied(r, stick.Wordsf("no copy can be kept of what %s would take away: %s", form, what), nil).
		With("command", form).Hintf("copy that yourself, or run the same command again: it goes through")
}

// NoneKept is [NotKept] where no copies can be kept at all. why says so, and its hint what to do about
// that.
func NoneKept(r stick.Room, form string, why *stick.Error) *stick.Error {
	return errEditDenied(r, stick.Wordsf("no copy can be kept of what %s would take away: %s", form, why), nil).
		With("command", form).Hintf("%s; else copy that yourself, or run the same command again: it goes through", why.Hint)
}

// Unrecorded is such a refusal where nobody can write down that there was one: then the same command is
// refused again.
func Unrecorded(e *stick.Error) *stick.Error {
	return e.Hintf("copy that yourself, and ask a person to make the data directory writable")
}

// AskedAgain reports whether an agent was refused a command in this turn already, by its last events
// [stick.EventStickDenied]. Two commands are the same if sum is, which is of all that the command would take; the
// text of a command is cut, and doesn't say where it runs. Events from before there was a sum are compared by
// that text.
func AskedAgain(r stick.Room, form, sum string, last []stick.Event) bool {
	for _, e := range last {
		p, ok := stick.PayloadOf[stick.StickDeniedPayload](e)
		if !ok || e.Turn != r.Turn.ID {
			continue
		}

		// Two commands are the same by their sums; an event from before there was one has only the text.
		if p.Sum == sum && sum != "" || p.Sum == "" && p.Command == stick.Clip(form, maxCommand) {
			return true
		}
	}

	return false
}

// DeniesEdit reports whether an event [stick.EventStickDenied] is about an edit. The others are about commands, see
// [NotKept].
func DeniesEdit(e stick.Event) bool {
	p, ok := stick.PayloadOf[stick.StickDeniedPayload](e)
	return ok && p.Command == ""
}

// maxCommand is how much of a command an event quotes, in bytes.
const maxCommand = 256

// Taken is what a command took, and the copy that was made before it.
type Taken struct {
	By     stick.AgentID
	Form   string
	Sweeps bool
	Files  []string        // whose uncommitted state it takes
	Stash  []string        // entries of the stash that it uses, in words
	Of     []stick.AgentID // the others among whose work it is
	Rescue string          // the id of the copy; empty if there is none
	Call   int64           // that took all this, as hooks have seen it; 0 if it isn't known
	Kept   []string        // refs that keep the old tips of branches
	Left   []string        // what the copy lacks

	// instead of all that: the git directory that it has removed, without which the room has no repository
	Repository string
}

// With joins what another part of the same command takes, of which the same copy was made.
func (t Taken) With(more Taken) Taken {
	if t.Form != more.Form {
		t.Form += " and " + more.Form
	}

	// The copy is the same for both parts, so it keeps its id.
	t.Files, t.Stash, t.Of = stick.MergeUnique(t.Files, more.Files), stick.MergeUnique(t.Stash, more.Stash),
		stick.MergeUnique(t.Of, more.Of)
	t.Kept, t.Left = stick.MergeUnique(t.Kept, more.Kept), stick.MergeUnique(t.Left, more.Left)
	return t
}

// Take makes the event that a command takes uncommitted work. It is for the agent that runs it, and for the
// others whose work it is. That the repository is gone concerns everybody in the room.
func Take(r stick.Room, t Taken) stick.Event {
	p := stick.WorkTakenPayload{
		Command: stick.Clip(t.Form, maxCommand), Sweeps: t.Sweeps, Paths: clipPaths(t.Files),
		Count: len(t.Files), Stash: clipPaths(t.Stash), Of: t.Of,
		Rescue: t.Rescue, Call: t.Call, Kept: clipPaths(t.Kept), LeftOut: clipPaths(t.Left), Repository: t.Repository,
	}

	// Nobody can go on without the repository: everybody in the room learns of it.
	if t.Repository != "" {
		for _, a := range r.TellAll(stick.Event{From: t.By}).For {
			p.Of = append(p.Of, a.Agent)
		}
	}

	e := r.NewEvent(stick.EventWorkTaken, t.By, "").WithPayload(p)
	e.For = p.ListReaders(t.By)

	return e
}
