package edits

import (
	"slices"
	"time"

	"talkingstick/stick"
)

// NotedRead is what an agent has last seen of a file: what a tool showed it, or what it wrote itself. It is
// evidence from hooks.
type NotedRead struct {
	Agent  stick.AgentID
	Helper string // the sub-agent, as the harness names it; empty for the agent itself. A read of one is none of another
	Path   string // relative to its checkout, / between the names

	State FileState // what the file was like then
	Wrote bool      // the agent wrote it so
	At    stick.Time

	Refused string // the sum of the file when a write over it was refused; empty for none
}

// IsStale reports whether a file is another one now than its reader knows, so that writing it whole would
// undo changes that the writer hasn't seen. It isn't if there is no file any more, or if the write was
// refused over the same file already.
func (n NotedRead) IsStale(now FileState) bool {
	return n.State.Sum != "" && now.Sum != "" && now.Sum != n.State.Sum && now.Sum != n.Refused
}

// companyFor is how long after an agent was last seen it still counts as one that may change files: it may be
// idle, or wait.
const companyFor = 24 * time.Hour

// HasCompany reports whether another agent than a may change files of the room, so that it pays to note what
// a reads.
func HasCompany(r stick.Room, a stick.AgentID, now stick.Time) bool {
	return slices.ContainsFunc(r.Members, func(m stick.Member) bool {
		quiet := (stick.Deadline{SetAt: m.LastSeenAt, TTL: companyFor}).Due(now)
		return m.Agent != a && m.State == stick.Joined && !m.Agent.Human() && !quiet
	})
}

// LastEditor returns the one who made a file what it is now, as far as that was noted. It has no name if
// nobody knows who it was. Who has only said that the file is its own hasn't edited it.
func (f EditedFile) LastEditor(now FileState) Editor {
	if f.State.Sum != now.Sum {
		return Editor{}
	}

	for _, e := range slices.Backward(f.Editors) { // the last edit is the last one
		if !e.Claim {
			return e
		}
	}

	return Editor{}
}

// StaleWrite is a file that an agent is about to write whole, and that has changed since the agent last saw
// it.
type StaleWrite struct {
	Read NotedRead
	By   Editor // who made it what it is now; no agent if nobody knows

	Counted        bool // it is known how many lines have changed
	Added, Removed int
}

// IsOwn reports whether the writer itself has made the file what it is now.
func (w StaleWrite) IsOwn() bool { return w.By.Agent == w.Read.Agent && w.By.Helper == w.Read.Helper }

// RefuseStale refuses to write files whole over changes that the writer hasn't seen. Who calls it notes the
// refusal, because it is made once: see [NotedRead.IsStale]. It returns nil if there is nothing to refuse,
// and in a room that enforces nothing.
func RefuseStale(r stick.Room, writes []StaleWrite) *stick.Error {
	writes = slices.DeleteFunc(slices.Clone(writes), StaleWrite.IsOwn)
	if len(writes) == 0 || !Enforces(r) {
		return nil
	}

	var paths []string
	for _, w := range writes {
		paths = append(paths, w.Read.Path)
	}

	said := writes[0].describeChange()
	if len(writes) > 1 {
		said += stick.Wordsf("; also changed: %s", firstPaths(paths[1:]))
	}

	it := stick.Words("it")
	if len(writes) > 1 {
		it = "them"
	}

	why := errEditDenied(r, said, paths).Hintf("read %s again, then write what keeps these changes", it)
	if by := writes[0].By.Agent; by != "" {
		why = why.With("changed_by", by)
	}

	return why
}

// describeChange tells who has changed the file, and how much.
func (w StaleWrite) describeChange() stick.Words {
	seen, lines := stick.Words("read"), stick.Words("")
	if w.Read.Wrote {
		seen = "wrote"
	}
	if w.Counted {
		lines = stick.Wordsf(" (+%d −%d)", w.Added, w.Removed)
	}

	return stick.Wordsf("%s changed %s after you %s it%s", w.changerName(), stick.Name(w.Read.Path).Cut(120),
		seen, lines)
}

// changerName names who has changed the file, for the writer.
func (w StaleWrite) changerName() stick.Words {
	switch {
	case w.By.Agent == "":
		return "somebody"
	case w.By.Agent != w.Read.Agent:
		return stick.AgentName(w.By.Agent)
	case w.By.Helper != "":
		return "a sub-agent of your session"
	}
	return "the agent that started you"
}
