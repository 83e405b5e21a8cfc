package timeline

import (
	"slices"

	"talkingstick/stick"
)

// Digest is what became of the work of one agent in a part of the log. Each list is in the order of the log.
type Digest struct {
	Agent  stick.AgentID `json:"agent_id"`
	Landed []Fact        `json:"landed,omitempty"`
	Back   []Fact        `json:"came_back,omitempty"` // returned, given up, cancelled or reverted
	Lost   []Fact        `json:"lost,omitempty"`      // what commands took of its work, and where the copy is
}

// Fact is one thing that happened.
type Fact struct {
	Seq    int64      `json:"event_seq"`
	At     stick.Time `json:"at"`
	Task   string     `json:"task_id,omitempty"`
	What   string     `json:"description,omitempty"` // what the task asks for
	Cause  string     `json:"cause,omitempty"`       // why a task came back
	Report string     `json:"report,omitempty"`      // the output of the gate that was red
	Rescue string     `json:"rescue_id,omitempty"`

	Now stick.TaskState `json:"now,omitempty"` // of a task that came back: its state now

	Text stick.Words `json:"text"` // one sentence, without a full stop
}

// DigestTypes are the types of the events that a digest tells of.
var DigestTypes = []stick.EventType{
	stick.EventTaskCompleted, stick.EventTaskChangesRequested, stick.EventTaskFailed, stick.EventTaskRolledBack,
	stick.EventWorkTaken,
}

// DigestEvents sums up events by the agents whose work they are about. taskOf returns a task as it is now; the zero
// task is nobody's. Agents come in the order in which the log names them first.
func DigestEvents(events []stick.Event, taskOf func(id string) stick.Task) []Digest {
	var all []Digest
	of := func(a stick.AgentID) *Digest {
		i := slices.IndexFunc(all, func(d Digest) bool { return d.Agent == a })
		if i < 0 {
			i, all = len(all), append(all, Digest{Agent: a})
		}
		return &all[i]
	}

	for _, e := range events {
		f := Fact{Seq: e.Seq, At: e.CreatedAt, Task: e.Task, Text: e.Say()}
		switch e.Type {
		case stick.EventTaskCompleted:
			task := taskOf(e.Task)
			f.What = task.Description
			d := of(ownerOf(task))
			d.Landed = append(d.Landed, f)
		case stick.EventTaskChangesRequested, stick.EventTaskFailed, stick.EventTaskRolledBack:
			task := taskOf(e.Task)
			f.What, f.Cause, f.Now = task.Description, causeOf(e), task.State
			if facts, ok := stick.TaskFactsOf[stick.TaskChangesRequestedFacts](e); ok {
				f.Report = facts.Report
			}
			d := of(ownerOf(task))
			d.Back = append(d.Back, f)
		case stick.EventWorkTaken:
			p, _ := stick.PayloadOf[stick.WorkTakenPayload](e)
			f.Rescue = p.Rescue
			for _, a := range losersOf(p) {
				d := of(a)
				d.Lost = append(d.Lost, f)
			}
		}
	}

	return all
}

// ownerOf returns whose work a task is, whoever has merged it or sent it back.
func ownerOf(t stick.Task) stick.AgentID {
	if t.Worker == "" {
		return t.SpawnedBy
	}
	return t.Worker
}

// losersOf lists whose work a command has taken away. What it only put into a commit is still there.
func losersOf(p stick.WorkTakenPayload) []stick.AgentID {
	if p.Sweeps {
		return nil
	}
	return p.Of
}

// causeOf returns why a task came back, by the event that says so.
func causeOf(e stick.Event) string {
	if f, ok := stick.TaskFactsOf[stick.TaskChangesRequestedFacts](e); ok {
		return f.Cause
	}
	if f, ok := stick.TaskFactsOf[stick.TaskFailedFacts](e); ok {
		return f.Cause
	}
	if f, ok := stick.TaskFactsOf[stick.TaskRolledBackFacts](e); ok {
		return f.Cause
	}
	return ""
}
