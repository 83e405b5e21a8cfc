package core

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"talkingstick/stick"
)

// Trace writes down what nobody can see from outside: why a wait read its room, what was probed, and which
// transactions ran more than once. Each entry is one line of JSON. A nil Trace writes nothing and costs
// nothing.
type Trace struct {
	out io.Writer
	now func() time.Time
}

// NewTrace returns a trace that writes each entry to to, in one call. now gives the time of an entry.
func NewTrace(to io.Writer, now func() time.Time) *Trace { return &Trace{to, now} }

// entry is the beginning of every line.
type entry struct {
	At   stick.Time `json:"at"`
	PID  int        `json:"pid"`
	What string     `json:"what"`
}

func (t *Trace) newEntry(what string) entry { return entry{stick.At(t.now()), os.Getpid(), what} }

// writeLine writes a line. If that fails, the operation goes on.
func (t *Trace) writeLine(line any) {
	if b, err := json.Marshal(line); err == nil {
		_, _ = t.out.Write(append(b, '\n'))
	}
}

// WaitRead is one read of the room by a wait.
type WaitRead struct {
	RoomID  stick.RoomID  `json:"room_id"`
	AgentID stick.AgentID `json:"agent_id"`
	WokenBy string        `json:"woken_by"`         // start, bell, death, deadline, net or limit
	Next    stick.Time    `json:"next_deadline"`    // null without one
	Watched int           `json:"watched"`          // processes whose end would wake it
	Status  string        `json:"status,omitempty"` // the answer; empty while the wait goes on
	Error   string        `json:"error,omitempty"`  // the code of the error it ends with
}

// WaitRead writes an entry for one read by a wait.
func (t *Trace) WaitRead(r WaitRead) {
	if t == nil {
		return
	}

	t.writeLine(struct {
		entry
		WaitRead
	}{t.newEntry("wait_read"), r})
}

// recordProbes writes an entry for one round of probes: the verdicts, and how long they took.
func (t *Trace) recordProbes(round int, probed *stick.Probed, took time.Duration) {
	if t == nil {
		return
	}

	type process struct {
		PID     int           `json:"pid"`
		Verdict stick.Verdict `json:"verdict"`
	}

	type listener struct {
		ID      stick.ListenerID `json:"listener_id"`
		Verdict stick.Verdict    `json:"verdict"`
	}

	line := struct {
		entry
		Round     int        `json:"round"`
		TookUS    int64      `json:"took_us"`
		Processes []process  `json:"processes"`
		Listeners []listener `json:"listeners"`
	}{
		entry: t.newEntry("probe"), Round: round, TookUS: took.Microseconds(),
		Processes: []process{}, Listeners: []listener{},
	}

	for p, v := range probed.Processes {
		line.Processes = append(line.Processes, process{p.PID, v})
	}

	// The order of a map says nothing.
	slices.SortFunc(line.Processes, func(a, b process) int { return a.PID - b.PID })
	for _, id := range slices.Sorted(maps.Keys(probed.Listeners)) {
		line.Listeners = append(line.Listeners, listener{id, probed.Listeners[id]})
	}

	t.writeLine(line)
}

// RanAgain writes an entry for a transaction that runs again, and why.
func (t *Trace) RanAgain(run int, why error) {
	if t == nil {
		return
	}

	t.writeLine(struct {
		entry
		Run int    `json:"run"` // 2 for the second run
		Why string `json:"why"`
	}{t.newEntry("transaction_again"), run, why.Error()})
}
