package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/tasks"
)

// rescueFor is how long people are reminded of a rescue.
const rescueFor = 14 * 24 * time.Hour

// addNeeds finds out what waits for the one who watches. isOpen reports whether a rescue is there that nobody has
// brought back.
func (r *Room) addNeeds(now stick.Time, isOpen func(rescue string) bool) {
	r.Needs = nil
	add := func(n presence.Need) { r.Needs = append(r.Needs, n) }

	for _, m := range r.State.Members {
		if a := m.Activity; a != nil && a.State == presence.AgentAsks {
			whose, where := AskedPerson(m)
			key := string(m.AgentID) + "@" + strconv.FormatInt(int64(a.Since), 10)
			add(presence.NewNeed(presence.NeedAnswer, key, a.Since, stick.Hintf("answer it %s", where),
				"%s waits for %s answer %s", m.AgentID, whose, where).About(m.AgentID, ""))
		}
	}

	if t := r.State.Takeover; t != nil {
		who := r.State.Owner
		if who == nil {
			who = r.State.ReservedFor
		}

		if who != nil {
			add(presence.NewNeed(presence.NeedTakeover, r.State.TurnID, t.Since, stick.Hintf("%s", stick.Cmd("tt take --reason …")),
				"%s can't go on with the stick (%s); anybody may take over", *who, t.Cause.Words()).About(*who, ""))
		}
	}

	if n, ok := r.heldFromAgents(); ok {
		add(n)
	}

	// Only messages wait for an answer; other events in the inbox don't.
	for _, m := range r.Owed {
		if m.Event != "" {
			continue
		}
		words := "%s waits for your answer: %s"
		if r.hasAnswered(m.MessageID) {
			words = "%s has your answer and waits until you accept: %s"
		}

		n := presence.NewNeed(presence.NeedMessage, m.MessageID, m.CreatedAt, stick.Hintf("%s", stick.Cmd("tt ack <message_id>", m.MessageID)),
			words, m.From, stick.Quote(cmp.Or(m.Subject, m.Body), 120)).About(m.From, m.TaskID)
		n.Message = m.MessageID
		add(n)
	}

	next := map[string]stick.Words{}
	for _, t := range r.State.EveryTask {
		next[t.TaskID] = t.NextAction
	}

	for i := range r.Tasks {
		if n, ok := r.needOf(&r.Tasks[i], next[r.Tasks[i].TaskID]); ok {
			add(n)
		}
	}

	for _, q := range r.Paused {
		add(presence.NewNeed(presence.NeedRedGate, q.Branch+"@"+q.Commit, q.Since, stick.Hintf("%s", stick.Cmd("tt task list")),
			"the gate failed on %s itself, so nothing is merged into it", q.Branch))
	}

	for _, e := range r.losses {
		if n, ok := r.needOfLoss(e, now, isOpen); ok {
			add(n)
		}
	}

	presence.SortNeeds(r.Needs)
}

// needOfLoss returns what a person needs to know of work that a command took away, until it is back: its call is
// undone, or its rescue restored or forgotten.
func (r *Room) needOfLoss(e stick.Event, now stick.Time, isOpen func(rescue string) bool) (presence.Need, bool) {
	p, ok := stick.PayloadOf[stick.WorkTakenPayload](e)
	if !ok || p.Rescue == "" || now.Sub(e.CreatedAt) > rescueFor {
		return presence.Need{}, false
	}
	if r.isUndone(p.Call) || !isOpen(p.Rescue) {
		return presence.Need{}, false
	}

	// An undo is the shorter way, and keeps what is there now; not every loss has a call.
	next := stick.Cmd("tt rescue show <rescue_id>", p.Rescue)
	if p.Call != 0 {
		next = stick.Cmd("tt undo <call_id>", p.Call)
	}

	n := presence.NewNeed(presence.NeedRescue, p.Rescue, e.CreatedAt, stick.Hintf("%s", next),
		"%s ran %s; a copy was kept", e.From, p.DescribeTaking()).About(e.From, "")
	n.Rescue = p.Rescue
	return n, true
}

// isUndone reports whether a call was taken back.
func (r *Room) isUndone(call int64) bool {
	return call != 0 && slices.ContainsFunc(r.losses, func(e stick.Event) bool {
		p, ok := stick.PayloadOf[stick.CallUndonePayload](e)
		return ok && p.Call == call
	})
}

// heldFromAgents returns what a person needs to know who holds the stick while agents wait for it: most
// people took it without meaning to.
func (r *Room) heldFromAgents() (presence.Need, bool) {
	s := r.State
	if s.Owner == nil || *s.Owner != s.AgentID || !s.AgentID.Human() {
		return presence.Need{}, false
	}
	i := slices.IndexFunc(s.Members, func(m engine.RoomMember) bool { return m.Listening == stick.Work && m.AgentID != s.AgentID })
	if i < 0 {
		return presence.Need{}, false
	}

	waits := s.Members[i].AgentID
	return presence.NewNeed(presence.NeedRelease, s.TurnID, s.GrantedAt, stick.Hintf("%s", stick.Cmd("tt release --status … --next-action …")),
		"you hold the stick, and %s waits for it", waits).About(waits, ""), true
}

// AskedPerson says whose answer an agent waits for that has asked its person something, and where that person
// gives it. An agent whose process runs on this host counts as one of the person who watches.
func AskedPerson(m engine.RoomMember) (whose, where stick.Words) {
	if m.Process.IsZero() {
		return "its person's", "in its own terminal"
	}
	return "your", stick.Wordsf("in its own terminal (process %d)", m.Process.PID)
}

// hasAnswered reports whether the one who watches has answered a message.
func (r *Room) hasAnswered(message int64) bool {
	return slices.ContainsFunc(r.answers, func(e stick.Event) bool {
		m := e.Message()
		return m != nil && e.Type == stick.EventMessageSent && m.ReplyTo == message && e.From == r.State.AgentID
	})
}

// needOf returns what a task needs of the one who watches. next is what that one should do about it, empty
// for nothing.
func (r *Room) needOf(t *task.TaskView, next stick.Words) (presence.Need, bool) {
	of := fmt.Sprintf("%s/%d@%d", t.TaskID, t.Attempt, t.StateAt)

	need := func(kind presence.NeedKind, text string, args ...any) (presence.Need, bool) {
		n := presence.NewNeed(kind, of, t.StateAt, nil, text, args...).About(t.Worker, t.TaskID)
		n.NextAction = cmp.Or(next, t.NextAction)
		return n, true
	}

	switch {
	case next != "" && t.State == stick.TaskInReview:
		return need(presence.NeedReview, "%s waits for a review", t.TaskID)
	case t.Merges && t.Warning == "":
		return presence.Need{}, false
	case t.Merges:
		next = ""
		return need(presence.NeedMerge, "%s is approved, and the queue stands: %s", t.TaskID, t.Warning)
	case next != "" && t.State == stick.TaskApproved && t.Doing == "":
		return need(presence.NeedMerge, "%s is approved and waits for its merge", t.TaskID)
	case hasComeBack(t) && r.HasLostWorker(t):
		return need(presence.NeedTask, "%s came back (%s), and its worker is gone", t.TaskID, t.Cause)
	case t.Warning != "":
		return need(presence.NeedTask, "%s is stuck: %s", t.TaskID, t.Warning)
	case t.State == stick.TaskFailed && t.Cause != stick.CauseCancelled && t.Reason != "":
		happened := stick.Words("has failed")
		if t.Cause == stick.CauseRolledBack {
			happened = "was merged and reverted"
		}

		return need(presence.NeedTask, "%s %s; %s wrote: %s", t.TaskID, happened, stick.Reasoner(t.Cause), stick.Quote(t.Reason, 120))
	case t.State == stick.TaskFailed && t.Cause != stick.CauseCancelled:
		return need(presence.NeedTask, "%s has failed: %s", t.TaskID, t.Cause)
	case t.State == stick.TaskConflicted && (t.Worker == "" || t.Run != nil && !isRunning(t.Run)):
		return need(presence.NeedTask, "%s conflicts with %s, and nobody works on it", t.TaskID, t.Integration)
	case t.State == stick.TaskWorking && t.Cause != "" && t.Run != nil && !isRunning(t.Run):
		return need(presence.NeedTask, "%s came back (%s), and its worker has ended", t.TaskID, t.Cause)
	}
	return presence.Need{}, false
}

// isRunning reports whether a worker's command runs, or is going to.
func isRunning(r *task.RunView) bool { return r.State != tasks.RunEnded || r.Waits }
