package edits

import (
	"slices"
	"strings"
	"time"

	"talkingstick/stick"
)

// Call is a call of a tool by an agent in one checkout, as hooks have seen it. It is evidence: what a hook
// didn't see isn't in it.
type Call struct {
	Room  stick.RoomID  `json:"-"` // that of the checkout
	ID    int64         `json:"call_id"`
	Agent stick.AgentID `json:"agent"`
	// the sub-agent that made it, as the harness names it; empty for the agent itself
	Helper  string `json:"helper,omitempty"`
	Tool    string `json:"tool"`              // as the harness names it
	Command string `json:"command,omitempty"` // the text of a command, cut; for another tool the file that it names
	// by which the harness names the call before and after it; empty if it doesn't
	Key      string `json:"-"`
	Checkout string `json:"checkout"` // the top level

	// the snapshots of the checkout: the one before is empty where there was no time for one, and the one
	// after it until the call has ended
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`

	Started stick.Time `json:"started"`
	Ended   stick.Time `json:"ended,omitempty"` // zero while it runs, and for ever if its end was never seen

	Files      int  `json:"files"`                // how many have changed
	Overlapped bool `json:"overlapped,omitempty"` // another agent's call ran meanwhile

	// Whether it was the last with which the ledger of the checkout was brought up to date: each uncommitted
	// file in After was compared with what was noted of it.
	Noted bool `json:"-"`

	// Whether there was too little time: of a call that runs, for the snapshot before it; of one that has ended,
	// for finding what it has changed, or for telling of it. Somebody else does that, and then it isn't late.
	Late bool `json:"-"`
}

// Maker names who has made the call: the agent, and its sub-agent if it was that.
func (c Call) Maker() stick.Words {
	if c.Helper != "" {
		return stick.Wordsf("%s, %s", c.Agent, c.Helper)
	}
	return stick.Wordsf("%s", c.Agent)
}

// Title is the tool of the call, and its command or file.
func (c Call) Title() stick.Name {
	const most = 80
	return stick.Name(strings.TrimSpace(c.Tool + " " + strings.TrimSpace(strings.TrimPrefix(c.Command,
		c.Tool)))).Cut(most)
}

// MaxCallText bounds the text of a command that is kept, in characters.
const MaxCallText = 300

// LongestCall is how long a call without an end counts as one that still runs.
const LongestCall = time.Hour

// Runs reports whether a call is still running, as far as anybody knows.
func (c Call) Runs(now stick.Time) bool {
	return c.Ended.IsZero() && !(stick.Deadline{SetAt: c.Started, TTL: LongestCall}).Due(now)
}

// CallPart is a part of a call, from one snapshot of its checkout to the next.
type CallPart struct {
	From, To string // ids of snapshots
	Alone    bool   // no call of another agent ran in it
}

// Parts splits a call that has ended at the snapshots that the calls of other agents have made in the same
// checkout meanwhile. What has changed in a part that is Alone, the call has changed, or somebody whose calls
// no hook sees. Ids of snapshots sort by time.
func (c Call) Parts(others []Call, now stick.Time) []CallPart {
	if c.Before == "" || c.After == "" || c.Before >= c.After {
		return nil
	}

	meanwhile := slices.DeleteFunc(slices.Clone(others), func(o Call) bool {
		return o.Agent == c.Agent || o.Checkout != c.Checkout || o.Before == "" || !o.ranDuring(c, now)
	})

	ids := []string{c.Before, c.After}
	for _, o := range meanwhile {
		for _, id := range []string{o.Before, o.After} {
			if c.Before < id && id < c.After {
				ids = append(ids, id)
			}
		}
	}

	slices.Sort(ids)
	ids = slices.Compact(ids)

	var parts []CallPart
	for i, to := range ids[1:] {
		p := CallPart{From: ids[i], To: to}
		p.Alone = !slices.ContainsFunc(meanwhile, func(o Call) bool {
			return o.Before <= p.From && (o.After == "" || o.After >= p.To)
		})
		parts = append(parts, p)
	}

	return parts
}

// ranDuring reports whether a call ran at a time at which the other, which has ended, ran too.
func (c Call) ranDuring(other Call, now stick.Time) bool {
	if c.Started > other.Ended {
		return false
	}
	return c.Runs(now) || c.Ended >= other.Started
}

// Overlaps reports whether a call of another agent ran in the same checkout while a call did that has ended.
func (c Call) Overlaps(others []Call, now stick.Time) bool {
	return slices.ContainsFunc(others, func(o Call) bool {
		return o.Agent != c.Agent && o.Checkout == c.Checkout && o.ranDuring(c, now)
	})
}

// IsCallOver reports whether a call of a member is over though no hook has seen its end, as far as that is
// sure: the member is gone, or has been idle since, or its conversation has gone on. all are calls in its
// checkout. A harness may run several tools at a time, but it waits for all of them before the next: so if a
// later command has ended, and another one has begun after that, this one has ended, too.
func IsCallOver(r stick.Room, c Call, all []Call, s *stick.Probed) bool {
	m, ok := r.Member(c.Agent)
	switch {
	case !c.Ended.IsZero():
		return true
	case !ok:
		return false
	case m.Verdict(s) == stick.Gone, c.Helper == "" && m.IdleAt > c.Started:
		return true
	}

	// Its end may have been missed. What its conversation did later shows that it is over.
	isOfConversation := func(o Call) bool { return o.Agent == c.Agent && o.Helper == c.Helper }
	return slices.ContainsFunc(all, func(later Call) bool {
		hasEnded := isOfConversation(later) && later.Started > c.Started && later.Ended > later.Started
		return hasEnded &&
			slices.ContainsFunc(all, func(next Call) bool { return isOfConversation(next) && next.Started >= later.Ended })
	})
}
