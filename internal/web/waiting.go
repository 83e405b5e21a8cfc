package web

import (
	"cmp"
	"net/url"

	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// block is somebody or something that can't go on, and whom or what it waits for.
type block struct {
	Who, On party
	Why     string
	Since   stick.Time
	Message int64  // that says so; 0 for none
	Room    string // a link to its room
}

// party is an agent or a task.
type party struct {
	Name string
	To   string // a link to what the pages show of it; empty for nothing
}

// agentParty returns an agent as a party. The person who looks is "you".
func (v *view) agentParty(r *monitor.Room, a stick.AgentID) party {
	if a == v.Picture.Me {
		return party{Name: "you"}
	}

	for _, m := range r.State.Members {
		if m.AgentID == a {
			return party{string(a), v.Root + "/sessions#" + url.PathEscape(v.Anchor(r, a))}
		}
	}

	return party{Name: string(a)}
}

// Anchor is the id of an agent on the page of sessions and on that of its room.
func (v *view) Anchor(r *monitor.Room, a stick.AgentID) string {
	return string(r.ID()) + "-" + string(a)
}

// taskParty returns a task as a party.
func (v *view) taskParty(r *monitor.Room, id string) party { return party{id, v.To(r, "task", id)} }

// Blocks says who waits for whom in a room: for the stick, for an answer, for another task, or for whoever
// has to act on a task.
func (v *view) Blocks(r *monitor.Room) (out []block) {
	add := func(b block) {
		b.Room = v.To(r)
		out = append(out, b)
	}

	// Members wait for the stick, or for their person.
	for _, m := range r.State.Members {
		a := m.Activity
		if a == nil || m.Verdict == stick.Gone {
			continue
		}

		switch a.State {
		case presence.AgentWaits:
			if on := v.Holder(r); on != "" && on != m.AgentID {
				add(block{Who: v.agentParty(r, m.AgentID), On: v.agentParty(r, on), Why: "waits for the stick", Since: a.Since})
			}
		case presence.AgentAsks:
			whose, where := monitor.AskedPerson(m)
			on := "you"
			if whose != "your" {
				on = "its person"
			}

			why := "waits for " + whose + " answer " + where
			add(block{Who: v.agentParty(r, m.AgentID), On: party{Name: on}, Why: string(why), Since: a.Since})
		}
	}

	for _, b := range v.blockedBy(r) {
		add(b)
	}

	// What a task waits for doesn't say which task it is.
	for _, t := range r.Tasks {
		for _, b := range v.blocksOf(r, t) {
			b.Who = v.taskParty(r, t.TaskID)
			add(b)
		}
	}

	return out
}

// blocksOf says what a task waits for. What the task itself is, its caller fills in.
func (v *view) blocksOf(r *monitor.Room, t task.TaskView) (out []block) {
	for _, w := range t.WaitsFor {
		out = append(out, block{On: v.taskParty(r, w.TaskID), Why: "begins when that task has landed", Since: t.CreatedAt})
	}

	switch {
	case t.State == stick.TaskInReview && t.Doing == "":
		on := party{Name: "somebody who didn't work on it"}
		if isNeeded(r, presence.NeedReview, t.TaskID) {
			on = party{Name: "you"}
		}
		out = append(out, block{On: on, Why: "waits for a review", Since: t.StateAt})
	case (t.State == stick.TaskWorking || t.State == stick.TaskConflicted) && t.Cause != "" && t.Worker != "":
		out = append(out, block{On: v.agentParty(r, t.Worker), Why: cameBack(t) + backWith(r, t), Since: t.StateAt})
	case t.State == stick.TaskApproved && t.Doing == "":
		if j := v.Failed(r, t.TaskID); j != nil {
			on := party{Name: "whoever merges it"}
			if isNeeded(r, presence.NeedMerge, t.TaskID) {
				on = party{Name: "you"}
			}
			out = append(out, block{On: on, Why: j.Name() + " failed: " + stick.Clip(j.Err.Message, 160), Since: j.End})
		}
	}

	return out
}

// cameBack says why a task is its worker's again.
func cameBack(t task.TaskView) string {
	switch t.Cause {
	case stick.CauseReview:
		return "came back: a reviewer asked for changes"
	case stick.CauseConflict:
		return "came back: it conflicts with " + cmp.Or(t.Integration, "the integration branch")
	case stick.CauseGate:
		return "came back: the gate failed with it"
	}

	return "came back: " + spacedWords(t.Cause)
}

// backWith says why nobody works on a task that came back, to add to a sentence. It is empty where somebody
// may.
func backWith(r *monitor.Room, t task.TaskView) string {
	switch {
	case r.HasLostWorker(&t):
		return "; its worker is gone"
	case r.Unread[stick.TaskKey(t.TaskID)]:
		return "; its worker hasn't read why"
	case t.Warning != "":
		return "; " + string(t.Warning)
	}

	return ""
}

// isNeeded reports whether the person is needed for a task.
func isNeeded(r *monitor.Room, kind presence.NeedKind, id string) bool {
	for _, n := range r.Needs {
		if n.Kind == kind && n.Task == id {
			return true
		}
	}

	return false
}

// blockedBy finds the messages among the last events of a room whose senders still need something from their
// recipients.
func (v *view) blockedBy(r *monitor.Room) (out []block) {
	settled := map[int64]bool{}

	// A message needs nothing more once it is accepted, withdrawn or answered.
	for _, e := range r.Events {
		if p, ok := stick.PayloadOf[stick.MessageAckedPayload](e); ok {
			settled[p.MessageID] = true
		}
		if p, ok := stick.PayloadOf[stick.MessageWithdrawnPayload](e); ok {
			settled[p.MessageID] = true
		}
		if m := e.Message(); m != nil && m.ReplyTo != 0 {
			settled[m.ReplyTo] = true
		}
	}

	for _, e := range r.Events {
		m := e.Message()
		if m == nil || e.Type != stick.EventMessageSent || m.Category != stick.Blocked || settled[e.Seq] {
			continue
		}

		for _, to := range m.To {
			why := "needs input"
			if gist := m.Gist(100); gist != "" {
				why += string(gist)
			}

			out = append(out, block{
				Who: v.agentParty(r, e.From), On: v.agentParty(r, to), Why: why, Since: e.CreatedAt, Message: e.Seq,
			})
		}
	}

	return out
}
