package presence

import (
	"cmp"
	"fmt"
	"slices"

	"talkingstick/stick"
)

// NeedKind says for what a person is needed.
type NeedKind string

// What a person may be needed for, the most urgent first.
const (
	NeedAnswer   NeedKind = "answer"   // the harness of an agent asks its person something, such as a permission
	NeedTakeover NeedKind = "takeover" // the holder of the stick can't go on, and somebody has to take over
	NeedRelease  NeedKind = "release"  // the person holds the stick, and agents wait for it
	NeedMessage  NeedKind = "message"  // a message waits for the person's acknowledgement
	NeedReview   NeedKind = "review"   // a task waits for its review
	NeedRedGate  NeedKind = "red_gate" // the gate failed on a branch itself, so nothing is merged into it
	NeedMerge    NeedKind = "merge"    // an approved task waits for its merge
	NeedTask     NeedKind = "task"     // a task doesn't get on by itself
	NeedRescue   NeedKind = "rescue"   // a copy of uncommitted work was made before a command took it away
)

// NeedKinds are all kinds in their order.
var NeedKinds = []NeedKind{
	NeedAnswer, NeedTakeover, NeedRelease, NeedMessage, NeedReview, NeedRedGate, NeedMerge, NeedTask,
	NeedRescue,
}

// Need is something that waits for a person.
type Need struct {
	Kind NeedKind `json:"kind"`
	// its name within the room. It stays the same as long as the need lasts, and no later need has it, so a
	// person is told of each once
	Key        string        `json:"key"`
	Since      stick.Time    `json:"since"`
	Agent      stick.AgentID `json:"agent_id,omitempty"`   // whom it is about
	Task       string        `json:"task_id,omitempty"`    // that it is about
	Message    int64         `json:"message_id,omitempty"` // that it is about
	Rescue     string        `json:"rescue_id,omitempty"`  // that it is about
	Text       stick.Words   `json:"text"`                 // one sentence, without a full stop
	NextAction stick.Words   `json:"next_action"`          // a command that helps
}

// NewNeed makes a need. of tells it from others of its kind, and next is what helps.
func NewNeed(kind NeedKind, of any, since stick.Time, next stick.Hint, text string, args ...any) Need {
	return Need{
		Kind: kind, Key: fmt.Sprintf("%s/%v", kind, of), Since: since,
		Text: stick.Wordsf(text, args...), NextAction: next.Words(),
	}
}

// About says whom or what the need is about: an agent, and a task; either may be empty.
func (n Need) About(a stick.AgentID, task string) Need {
	n.Agent, n.Task = a, task
	return n
}

// SortNeeds puts the most urgent needs first. Of a kind the oldest comes first, because it has waited for
// longest.
func SortNeeds(needs []Need) {
	slices.SortStableFunc(needs, func(a, b Need) int {
		return cmp.Or(slices.Index(NeedKinds, a.Kind)-slices.Index(NeedKinds, b.Kind), cmp.Compare(a.Since, b.Since))
	})
}
