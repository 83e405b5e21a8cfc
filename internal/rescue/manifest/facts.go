package manifest

import "talkingstick/stick"

// Facts say how a rescue came about. They are kept as they are given.
type Facts struct {
	Room    string `json:"room"`                  // its id
	Agent   string `json:"agent"`                 // who was about to change the tree
	TurnID  int64  `json:"turn_id,omitempty"`     // the turn in which it was made
	Cause   string `json:"cause"`                 // why it was made: command, takeover or call
	Command string `json:"command,omitempty"`     // the command that could destroy the work
	Prior   string `json:"prior_owner,omitempty"` // whose turn a takeover ended

	// whether a snapshot has the state before or after its call; empty where nobody knows
	Moment Moment `json:"moment,omitempty"`
}

// Moment says when a snapshot was made: before or after the call that it was made for. It stays for the calls
// after that as long as nothing changes, so it may also be the state before a later one.
type Moment string

// The moments.
const (
	MomentBefore Moment = "before"
	MomentAfter  Moment = "after"
)

// Loss is what a call took away of which a rescue is the last copy. It is written beside the rescue, as its
// mark, because nobody knows of it when the rescue is made.
type Loss struct {
	Agent   string   `json:"agent"`           // who made the call
	Command string   `json:"command"`         // as the event names it
	Paths   []string `json:"paths,omitempty"` // some of the files
	Count   int      `json:"count,omitempty"` // how many they are
}

// Origin says how a rescue came about: first of all what was lost after it, since that is what people look for.
func (m Manifest) Origin() stick.Words {
	switch {
	case m.Cause == CauseTakeover && m.Prior != "":
		return stick.Wordsf("%s took over from %s", m.Agent, m.Prior)
	case m.Cause == CauseTakeover:
		return stick.Wordsf("%s took over", m.Agent)
	case m.Loss != nil:
		return m.Loss.describe()
	case m.Command == "":
		return stick.Wordsf("before a %s of %s", m.Cause, m.Agent)
	}

	// Older snapshots don't say on which side of their call they are; other rescues are made before.
	when := stick.Words("before")
	switch {
	case m.Cause == CauseCall && m.Moment == "":
		when = "when"
	case m.Moment == MomentAfter:
		when = "after"
	}
	return when + stick.Wordsf(" %s ran %s", m.Agent, stick.Name(m.Command).Cut(80))
}

// describe names the call, and what it took.
func (l Loss) describe() stick.Words {
	s := stick.Wordsf("before %s ran %s", l.Agent, stick.Name(l.Command).Cut(80))
	if l.Count > 0 {
		s += ", which took " + stick.EditedOf(l.Paths, l.Count)
	}
	return s
}

// The causes of rescues.
const (
	CauseCommand  = "command"  // a command that could destroy the work
	CauseTakeover = "takeover" // somebody else has the stick now
	CauseCall     = "call"     // a call of an agent's tool: the rescue is a snapshot
)

// Nested is the rescue of a repository inside another's working tree.
type Nested struct {
	Path string `json:"path"` // relative to the top level of the checkout
	ID   string `json:"id"`   // of the rescue
}
