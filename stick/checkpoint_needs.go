package stick

import (
	"strconv"
	"strings"
)

// LogNeeds says which events of the old part of a log a room still needs.
type LogNeeds struct {
	prunedTo  int64
	events    map[int64]bool
	openTasks map[string]bool // by their keys
	turn      int64           // the one that is held now, 0 if none is
}

// LogNeeds returns what a room needs of the events up to prunedTo. c is the record up to there, and later that of the
// whole log: what a replay from c changes later has to be in c, and so its event stays.
func (c *Record) LogNeeds(prunedTo int64, later *Record) LogNeeds {
	n := LogNeeds{prunedTo: prunedTo, events: map[int64]bool{later.HandoffSeq: true}, openTasks: map[string]bool{}}
	if later.State == Owned {
		n.turn = later.Turn
	}

	for key, r := range c.Receipts {
		if r.Open() || r != later.Receipts[key] {
			n.addMessage(key.Event, r)
		}
	}
	for id, note := range c.Notes {
		if note.ResolvedAt.IsZero() {
			n.events[id] = true
		}
	}
	for id := range c.Reservations {
		n.events[id] = true
	}

	// Decisions on tasks belong to the tasks, which stay.
	for seq := range c.Reviews {
		n.events[seq] = true
	}
	for key, t := range later.Tasks {
		n.events[t.Seq], n.events[t.ApprovedSeq] = true, true
		if !t.Over() {
			n.openTasks[key] = true
		}
	}

	return n
}

// replyThread begins the name of a thread that a reply to a message without one has made.
const replyThread = "message:"

// addMessage adds a message, and the one with which its thread began.
func (n *LogNeeds) addMessage(seq int64, r Receipt) {
	n.events[seq] = true
	root, isReply := strings.CutPrefix(r.Thread, replyThread)
	if !isReply {
		return
	}
	if first, err := strconv.ParseInt(root, 10, 64); err == nil {
		n.events[first] = true
	}
}

// Has reports whether an event stays: it isn't old, or something needs it.
func (n LogNeeds) Has(e Event) bool {
	isOfHeldTurn := n.turn != 0 && e.Turn == n.turn
	isOfOpenTask := e.Task != "" && n.openTasks[TaskKey(e.Task)]
	return e.Seq > n.prunedTo || n.events[e.Seq] || isOfHeldTurn || isOfOpenTask
}
