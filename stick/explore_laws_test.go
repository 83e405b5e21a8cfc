package stick_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// The laws that are checked in every state and on every transition. Each returns "" or the violation that it
// found. They follow the design and not the rules: they share no computation with a rule.

// recordOf returns the record of a log that led to the room. That the room agreed with its log before an act
// was checked after the previous act.
func recordOf(r stick.Room) *stick.Record {
	c := &stick.Record{
		Turn: r.Turn.ID, State: r.Turn.State, Closed: r.Closed, Paused: r.Paused, Owner: r.Turn.Owner, Reserved: r.Turn.ReservedFor,
		ReservedBy: r.Turn.ReservedBy, Prior: r.Turn.Prior, HandoffSeq: r.Turn.HandoffSeq, Pending: r.Turn.HandoffPending,
		Messages: r.Turn.Messages, Direct: r.Turn.HandoffDirect, NextAction: r.Turn.NextAction, Generation: r.Generation,
		Members: map[stick.AgentID]stick.MemberRecord{}, Receipts: map[stick.ReceiptKey]stick.Receipt{},
	}
	said := policyWords(r.Policy)
	c.Policy, c.NextTurn = maps.Clone(said.now), maps.Clone(said.next)
	if r.Turn.Lease != "" {
		c.LeaseSum = stick.LeaseSum(r.Turn.Lease)
	}
	for _, m := range r.Members {
		c.Members[m.Agent] = stick.MemberRecord{
			State: m.State, Name: m.Name, Ordinal: m.Ordinal, JoinSeq: m.JoinSeq, HeldSeq: m.HeldSeq,
		}
	}
	return c
}

// wordsOf remembers what policyWords has returned: an exploration has a few policies, and asks for one at
// each step.
var wordsOf sync.Map

type policyTexts struct{ now, next map[string]string }

// policyWords returns a policy as a log says it.
func policyWords(p stick.Policy) policyTexts {
	if known, ok := wordsOf.Load(p); ok {
		return known.(policyTexts)
	}

	said := policyTexts{map[string]string{}, map[string]string{}}
	for _, k := range stick.PolicyKeys {
		said.now[k.Name] = p.Get(k.Name)
		if next := p.Next(k.Name); next != "" {
			said.next[k.Name] = next
		}
	}
	wordsOf.Store(p, said)
	return said
}

// others lists the members, except for those given, that have a live wait for work, aren't gone and don't rest.
func (w *world) others(but ...stick.AgentID) []int {
	var out []int
	for i, a := range w.actors {
		if m, _ := w.room.Member(names[i]); m.Rests() {
			continue
		}
		if a.wait != noWait && a.intent == stick.Work && a.proc != stick.Gone && w.room.IsJoined(names[i]) && !slices.Contains(but, names[i]) {
			out = append(out, i)
		}
	}
	return out
}

// checkStep checks what one act did. It led from one world to the other.
func (sc *scenario) checkStep(from, to *world, a act, o *outcome) string {
	b, n := o.before, o.after
	if o.err != nil && len(o.events) == 0 {
		return ""
	}
	if o.events == nil && n.ID == "" { // an act outside of the room
		return ""
	}
	wellFormed := func() string {
		t := n.Turn
		switch {
		case (t.State == stick.Owned) != (t.Owner != "") || (t.State == stick.Owned) != (t.Lease != ""):
			return "owned without an owner and a lease, or the other way round"
		case (t.State == stick.Reserved) != (t.ReservedFor != "") || (t.State == stick.Reserved) != (t.ReservedBy != ""):
			return "reserved for nobody, or for somebody while it isn't"
		case n.Closed && t.State != stick.Idle:
			return "closed, and still owned or reserved"
		case t.State == stick.Owned && !n.IsJoined(t.Owner):
			return "owned by one who takes no part"
		case t.State == stick.Reserved && !n.IsJoined(t.ReservedFor):
			return "reserved for one who takes no part"
		case t.ID > 0 && t.State == stick.Owned && t.GrantedAt.IsZero():
			return "granted at no time"
		}
		return ""
	}
	if bad := wellFormed(); bad != "" {
		return bad
	}

	// A grant is an epoch.
	grants, handoff := 0, int64(0)
	var last stick.Event
	for _, e := range o.events {
		switch e.Type {
		case stick.EventClaim, stick.EventTakeover:
			grants++
			last = e
		case stick.EventRelease, stick.EventPass:
			handoff = e.Seq
		}
	}
	switch {
	case grants > 1:
		return "two grants in one act"
	case a.deed == dRestore && n.Turn.ID < b.Turn.ID:
		return "a restore lowered the turn"
	case a.deed != dRestore && n.Turn.ID != b.Turn.ID+int64(grants):
		return fmt.Sprintf("%d grants moved the turn from %d to %d", grants, b.Turn.ID, n.Turn.ID)
	case (grants == 1) != o.granted:
		return "the answer and the log disagree on a grant"
	case grants == 1 && (n.Turn.Owner != o.by || n.Turn.Lease != o.lease || n.Turn.Lease == b.Turn.Lease):
		return "granted to another, or with another lease"
	case grants == 0 && n.Turn.Lease != "" && n.Turn.Lease != b.Turn.Lease:
		return "a lease appeared without a grant"
	case grants == 1 && o.asked && to.actors[a.who].intent == stick.Listen && from.actors[a.who].wait != noWait:
		return "granted to one who only listens"
	}

	// Expiry opens, it never revokes.
	if b.Turn.State == stick.Owned && n.Turn.Lease != b.Turn.Lease {
		allowed := false
		for _, e := range o.events {
			switch e.Type {
			case stick.EventRelease, stick.EventPass:
				allowed = allowed || e.From == b.Turn.Owner
			case stick.EventLeave:
				allowed = allowed || e.From == b.Turn.Owner
			case stick.EventKick:
				allowed = allowed || e.To == b.Turn.Owner
			case stick.EventTakeover:
				allowed = allowed || ((a.deed == dTake || a.deed == dOperator) && e.Reason != "")
			case stick.EventRestored:
				allowed = true
			}
		}
		if !allowed {
			return "the owner lost the stick by none of the acts that may end a turn"
		}
	}

	// An agent doesn't shorten what protects another's turn, and nothing outlives the turn that it has waited
	// for.
	switch {
	case a.deed == dLower && b.Turn.State == stick.Owned && b.Turn.Owner != o.by && n.IdleDeadline() != b.IdleDeadline():
		return "an agent changed the idle limit of another's turn"
	case grants > 0 && n.Policy.NextTurn != stick.Limits{}:
		return "a turn began, and a limit still waits for it"
	case grants > 0 && b.Policy.NextTurn.OwnerIdleTTL != 0 && n.Policy.OwnerIdleTTL != b.Policy.NextTurn.OwnerIdleTTL:
		return "a turn began without the limit that waited for it"
	}

	// A pause changes nothing about the stick, and neither does its end, except that a free one is reserved.
	switch b, n := b.Turn, n.Turn; {
	case o.before.Paused.On() && grants > 0:
		return "a turn began in a paused room"
	case a.deed == dPause && b != n:
		return "a pause changed the turn"
	case a.deed == dResume && b.State != stick.Idle && (n.State != b.State || n.Lease != b.Lease || n.ReservedFor != b.ReservedFor) &&
		!(b.State == stick.Reserved && from.actors[agentIndex(b.ReservedFor)].proc == stick.Gone):
		return "the end of a pause took the stick from somebody"
	case a.deed == dResume && o.after.Opening(to.probed(), to.now).Cause != "" && from.actors[max(0, agentIndex(n.Owner))].proc != stick.Gone:
		return "the end of a pause opened a takeover of an owner that isn't gone"
	}

	// No context is ever lost.
	switch {
	case handoff != 0 && (n.Turn.HandoffSeq != handoff || !n.Turn.HandoffPending):
		return "a handoff wasn't kept"
	case handoff == 0 && n.Turn.HandoffSeq != b.Turn.HandoffSeq:
		return "the last handoff changed without a release or a pass"
	case handoff == 0 && grants == 0 && n.Turn.HandoffPending != b.Turn.HandoffPending:
		return "the handoff was marked as given without a grant"
	case grants == 1 && (n.Turn.HandoffPending || n.Turn.HandoffDirect != (b.Turn.HandoffPending && last.Type == stick.EventClaim)):
		return "the grant carries the handoff in the wrong way"
	case grants == 1 && b.Turn.HandoffPending && grantedHandoff(last) != b.Turn.HandoffSeq:
		return "the grant doesn't name the handoff that waited"
	}
	if o.asked && o.answer.Claim == stick.AlreadyOwner &&
		(n.Turn.ID != b.Turn.ID || n.Turn.Lease != b.Turn.Lease || n.Turn.HandoffSeq != b.Turn.HandoffSeq || n.Turn.HandoffDirect != b.Turn.HandoffDirect) {
		return "asking again as the owner answered something else"
	}

	// However a turn ends, the release rule follows.
	if b.Turn.State == stick.Owned && n.Turn.State == stick.Idle && !n.Closed {
		for _, i := range to.others() {
			if !n.Members[i].PassedOver {
				return "a turn ended, and nobody is named though " + string(names[i]) + " waits"
			}
		}
	}

	// Who may be named: never one who only listens, has ended or takes no part.
	for _, e := range o.events {
		if (e.Type != stick.EventRelease && e.Type != stick.EventRerouted) || e.To == "" {
			continue
		}
		i := agentIndex(e.To)
		x := to.actors[i]
		if x.wait == noWait {
			x = from.actors[i]
		}
		if e.To == o.by && (a.deed == dWork || a.deed == dListen) {
			x.wait, x.intent = running, stick.Work
			if a.deed == dListen {
				x.intent = stick.Listen
			}
		}
		switch {
		case to.actors[i].proc == stick.Gone:
			return "a release named one who is gone"
		case b.Members[i].Rests() && e.To != o.by:
			return "a release named one who rests"
		case x.wait != noWait && x.intent == stick.Listen:
			return "a release named one who only listens"
		case x.wait == noWait && b.GraceAfter(b.Members[i].ReturnedAt).Due(from.now):
			return "a release named one who doesn't wait"
		case e.To == n.Turn.Prior && n.Turn.State == stick.Reserved:
			// the one who ended the turn comes last
			for _, j := range to.others(e.To) {
				if !n.Members[j].PassedOver && !b.Members[j].Rests() {
					return "a release named the releaser before another who waits"
				}
			}
		}
	}

	if bad := checkRest(a, o); bad != "" {
		return bad
	}
	if bad := checkPriorOwner(from, a, o, last); bad != "" {
		return bad
	}

	// A takeover needs a cause that is so.
	if took, ok := stick.PayloadOf[stick.TakeoverPayload](last); ok {
		switch took.Cause {
		case stick.OwnerGone:
			if from.actors[agentIndex(b.Turn.Owner)].proc != stick.Gone {
				return "taken over from an owner that isn't gone"
			}
		case stick.RecipientGone:
			if i := agentIndex(b.Turn.ReservedFor); from.actors[i].proc != stick.Gone {
				return "taken over from a recipient that isn't gone"
			}
		case stick.OwnerTimeout:
			if i := agentIndex(b.Turn.Owner); from.actors[i].proc == stick.Alive {
				return "a lease timed out that a process keeps"
			}
		case stick.OwnerIdle:
			if !b.IdleNoticeSent() || from.now < b.Turn.IdleNoticeAt.Add(b.Policy.WaiterGrace) && !from.jumped {
				return "replaced as idle before it was told and had its grace"
			}
			acted := max(b.Turn.GrantedAt, b.Members[agentIndex(b.Turn.Owner)].LastSeenAt)
			beats := min(b.Turn.HeartbeatAt, acted.Add(3*b.Policy.OwnerIdleTTL))
			if from.now < max(acted, beats).Add(b.Policy.OwnerIdleTTL) && !from.jumped {
				return "replaced as idle before its limit"
			}
		}
	}

	// A heartbeat is an answer.
	if a.deed == dBeat {
		s, acted := to.probed(), max(b.Turn.GrantedAt, b.Members[a.who].LastSeenAt)
		switch cause := n.Opening(s, to.now).Cause; {
		case cause == stick.OwnerTimeout:
			return "a heartbeat didn't renew the lease"
		case cause == stick.OwnerIdle && to.now < acted.Add(4*b.Policy.OwnerIdleTTL) && !to.jumped:
			return "a heartbeat didn't end idleness"
		}
	}

	// The log tells the same story.
	c := recordOf(b)
	if a.deed == dTell {
		c.RecordSenders()
	}
	for _, e := range o.events {
		if err := c.Replay(e); err != nil {
			return "the log can't be replayed: " + err.Error()
		}
	}
	if d := c.Differs(n); d != "" {
		return "the stored room differs from its log: " + d
	}

	// What a wait is answered.
	if o.asked && a.deed == dLook || a.deed == dWork {
		if bad := sc.checkAsk(from, to, a, o); bad != "" {
			return bad
		}
	}
	if sc.fair {
		for i, x := range to.actors {
			if x.passed > crowd-1 {
				return fmt.Sprintf("%s waits on while %d releases named others", names[i], x.passed)
			}
		}
	}
	return ""
}

// checkRest checks when a rest begins and ends.
func checkRest(a act, o *outcome) string {
	b, n := o.before.Members[a.who], o.after.Members[a.who]
	waited := a.deed == dLook || a.deed == dWork
	switch {
	case a.deed == dEmpty && n.Rests() != b.HooksSeen:
		return "who has changed nothing doesn't rest, or does without hooks"
	case a.deed == dTell && (n.Rests() || o.after.Members[a.target].Rests()):
		return "a message didn't end the rests of the two"
	case a.deed == dTry && n.Rests():
		return "a try didn't end the rest"
	case waited && b.Rests() && n.State == b.State && o.granted && o.before.Turn.State != stick.Owned:
		return "who rests got the stick by waiting"
	case o.granted && n.Rests():
		return "the holder rests"
	}
	return ""
}

// checkPriorOwner checks that the one who ended the last turn lets others go first: for a grace, and for a
// minute those who were told that they can take over.
func checkPriorOwner(from *world, a act, o *outcome, grant stick.Event) string {
	b := o.before
	if !o.granted || o.by != b.Turn.Prior || a.deed == dOperator {
		return ""
	}
	young := func(at stick.Time, ttl time.Duration) bool {
		return !(stick.Deadline{SetAt: at, TTL: ttl}).Due(from.now)
	}
	claim, _ := stick.PayloadOf[stick.ClaimPayload](grant)
	took, _ := stick.PayloadOf[stick.TakeoverPayload](grant)
	if claim.Claim == stick.OpenClaim && b.Turn.State == stick.Idle && len(from.others(o.by)) > 0 && young(b.Turn.FreeSince, b.Policy.WaiterGrace) {
		return "the prior owner got the free stick back while another waits"
	}
	m, _ := b.Member(o.by)
	toldOf := func(m stick.Member) bool { // in this round
		return m.LastOfferRound == b.Turn.Round && b.Turn.OfferedAt != 0 && young(b.Turn.OfferedAt, b.Policy.ClaimTTL)
	}
	if took.Cause != stick.ClaimTimeout || toldOf(m) {
		return ""
	}
	set := b.Turn.GrantedAt
	if b.Turn.State == stick.Reserved {
		set = b.Turn.ReservedAt
	}
	for i, m := range b.Members {
		if m.State != stick.Joined || m.Agent == o.by || m.Agent == b.Turn.Owner || m.Agent == b.Turn.ReservedFor || from.actors[i].proc == stick.Gone {
			continue
		}
		told := toldOf(m)
		stands := told || len(from.others(o.by, b.Turn.Owner, b.Turn.ReservedFor)) > 0 ||
			m.ReturnedAt != 0 && young(m.ReturnedAt, b.Policy.WaiterGrace)
		if stands && young(set, b.Policy.ClaimTTL+b.Policy.WaiterGrace) || told && young(b.Turn.OfferedAt, time.Minute) {
			return "the prior owner got it back while another may take it"
		}
	}
	return ""
}

// checkAsk checks one check of a room by a wait.
func (sc *scenario) checkAsk(from, to *world, a act, o *outcome) string {
	i := int(a.who)
	b, n := o.before, o.after
	intent := stick.Work
	if a.deed == dLook {
		intent = from.actors[i].intent
	}
	s := to.probed()
	if to.actors[i].wait == noWait {
		s.Listeners[stick.ListenerID(names[i])] = stick.Alive // as it was while it asked
	}
	q := stick.Asking{Agent: names[i], Above: to.above(i), Purpose: intent, Blocking: true, Lease: "another lease"}
	under := sc.nested && i == 1 && intent == stick.Work && !n.Paused.On() && n.Turn.Owner == names[0] && to.living(0) && n.IsJoined(names[1])
	switch {
	case (o.answer.Status == stick.UnderParent) != under:
		return fmt.Sprintf("while %q holds the stick, its child is told %q", n.Turn.Owner, o.answer.Status)
	case under && (n.Turn.ID != b.Turn.ID || o.granted):
		return "who works under another's turn got one"
	case intent == stick.Listen && (o.answer.Status == stick.YourTurn || o.answer.Status == stick.TakeoverAvailable):
		return "one who only listens was granted or offered the stick"
	case o.answer.Status == stick.TakeoverAvailable:
		if m, _ := b.Member(names[i]); m.State == stick.Joined && m.LastOfferRound == b.Turn.Round && b.Turn.OfferedAt != 0 {
			again := stick.Deadline{SetAt: b.Turn.OfferedAt, TTL: b.Policy.ClaimTTL}
			if !again.Due(to.now) && o.answer.Opening.Since <= b.Turn.OfferedAt {
				return "told the same takeover twice in a round"
			}
		}
		if b.Turn.OfferedAt != 0 && to.now < b.Turn.OfferedAt.Add(b.Policy.WaiterGrace) && !to.jumped {
			return "two offers within one grace"
		}
		if _, _, again := n.Ask(q, s, to.now); again.Status != "" || again.Changed {
			return "asking again at once after an offer answers " + string(again.Status)
		}
		if at := n.NextDeadline(q, s, to.now); at <= to.now {
			return "after an offer the next deadline isn't in the future"
		}
	case o.answer.Status == "" && intent == stick.Work:
		at := n.NextDeadline(q, s, to.now)
		rests := n.Turn.State == stick.Idle && n.Members[i].Rests()
		if at.IsZero() != (rests || n.Paused.On()) {
			return "a wait for work has no deadline, or has one in a pause"
		}
		_, _, again := n.Ask(q, s, to.now)
		if again.Status != "" || again.Changed || at <= to.now && !at.IsZero() {
			return fmt.Sprintf("a wait spins: at once asked again it answers %q (changed %v), and its deadline is %s from now",
				again.Status, again.Changed, at.Sub(to.now))
		}
	}
	return ""
}

// checkState checks what must hold in every state, whatever led to it.
func (sc *scenario) checkState(w *world) string {
	s := w.probed()
	// Nothing that a sleeping wait would be told happens without waking it.
	for i, a := range w.actors {
		if a.wait != running || a.intent != stick.Work || w.due(i) {
			continue
		}
		_, _, ans := w.room.Ask(w.asking(i), s, w.now)
		if ans.Status == "" && !ans.Changed {
			continue
		}
		told := w.room.Members[i].LastOfferRound == w.room.Turn.Round && w.room.Turn.OfferedAt != 0
		switch {
		case told && ans.Status == "": // it sleeps until the next round; telling the owner that it looks idle is no answer to it
		case a.stale && w.isServed(): // another looks in its place, and rings it if that is for it
		case a.stale && sc.net != 0 && a.deadline.Sub(w.now) <= sc.net: // the slow net bounds it
		case w.jumped: // a deadline set before the clock went back may be late by as much; the slow net bounds it
		case !a.lag:
			return fmt.Sprintf("%s sleeps for another %s and would be told %q (changed %v)", names[i], a.deadline.Sub(w.now), ans.Status, ans.Changed)
		case a.deadline.Sub(w.now) > crowd*w.room.Policy.WaiterGrace:
			return fmt.Sprintf("%s sleeps for another %s after a wait ended, and would be told %q", names[i], a.deadline.Sub(w.now), ans.Status)
		}
	}
	if bad := w.checkHeartbeats(s); bad != "" {
		return bad
	}
	if bad := w.checkWorkAfterRest(s); bad != "" {
		return bad
	}
	// Unknown is never taken for gone.
	unknown := w.probed()
	for p, v := range unknown.Processes {
		if v == stick.Gone {
			unknown.Processes[p] = stick.Unknown
		}
	}
	switch o := w.room.Opening(unknown, w.now); o.Cause {
	case stick.OwnerGone, stick.RecipientGone:
		return "without a proof of death the opening is " + string(o.Cause)
	}
	for i := range w.actors {
		if r, _ := w.room.Settle(names[i], false, unknown, w.now); r.Turn.OpenedAt != w.room.Turn.OpenedAt {
			return "an owner of which nothing is known was noted as gone"
		}
	}
	return ""
}

// isServed reports whether a wait has a reason to look at the room now.
func (w *world) isServed() bool {
	for i := range w.actors {
		if w.due(i) {
			return true
		}
	}
	return false
}

// checkWorkAfterRest checks that no member that has work sleeps for ever: once its rest has ended, its wait gets
// the free stick, or wakes when it can have it.
func (w *world) checkWorkAfterRest(s *stick.Probed) string {
	r := w.room
	for i, m := range r.Members {
		if !m.Rests() || w.actors[i].wait != running || w.actors[i].intent != stick.Work {
			continue
		}
		if r.Paused.On() || r.Closed || m.State != stick.Joined {
			continue
		}

		q := w.asking(i)
		ended, _, answer := r.EndRest(m.Agent).Ask(q, s, w.now)
		if answer.Status == "" && ended.NextDeadline(q, s, w.now).IsZero() {
			return fmt.Sprintf("%s has work after its rest, and would sleep for ever", m.Agent)
		}
	}
	return ""
}

// checkHeartbeats checks that heartbeats alone don't carry a turn for ever: after four times the limit
// another member can take over a grace after the notice, however often the owner sends them.
func (w *world) checkHeartbeats(s *stick.Probed) string {
	r, now := w.room, w.now
	i := agentIndex(r.Turn.Owner)
	if r.Turn.State != stick.Owned || r.Paused.On() || w.actors[i].proc != stick.Alive || w.jumped ||
		now < max(r.Turn.GrantedAt, r.Turn.ResumedAt, r.Members[i].LastSeenAt).Add(4*r.Policy.OwnerIdleTTL) {
		return ""
	}
	other := names[(i+1)%crowd]
	if !r.IsJoined(other) {
		return ""
	}
	for range 2 {
		r, _ = r.Heartbeat(r.Turn.Owner, w.fence(), stick.ProvesSession, now)
		r, _, _, _ = r.Takeover(stick.Take{By: other, Reason: "it only beats"}, "another lease", s, now)
		if r.Turn.Owner == other {
			return ""
		}
		now = now.Add(r.Policy.WaiterGrace)
	}
	return "heartbeats alone carry a turn for ever"
}

// CheckFence checks that a stale turn or lease changes nothing.
func (w *world) checkFence() string {
	s := w.probed()
	t := w.room.Turn
	for i, by := range names {
		stale := []stick.Fence{{Turn: t.ID - 1, Lease: t.Lease}, {Turn: t.ID + 1, Lease: t.Lease}, {Turn: t.ID, Lease: "forged"}, {Turn: t.ID, Lease: ""}}
		if t.State != stick.Owned || t.Owner != by {
			stale = append(stale, stick.Fence{Turn: t.ID, Lease: t.Lease})
		}
		for k, f := range stale {
			want := stick.CodeStaleLease
			if k < 2 {
				want = stick.CodeTurnMismatch
			}
			for what, call := range fencedCalls {
				r, events, err := call(w.room, by, f, names[(i+1)%crowd], s, w.now)
				if stick.CodeOf(err) != want || len(events) > 0 || !sticktest.IsSameRoom(r, w.room) {
					return fmt.Sprintf("%s of %s with a stale fence %v: %v, %d events", what, by, f, err, len(events))
				}
			}
		}
	}
	return ""
}

// fencedCalls are the calls by which an owner changes the room.
var fencedCalls = map[string]func(stick.Room, stick.AgentID, stick.Fence, stick.AgentID, *stick.Probed, stick.Time) (stick.Room, []stick.Event, error){
	"release": func(r stick.Room, by stick.AgentID, f stick.Fence, _ stick.AgentID, s *stick.Probed, now stick.Time) (stick.Room, []stick.Event, error) {
		return r.Release(by, f, someHandoff, s, now)
	},
	"pass": func(r stick.Room, by stick.AgentID, f stick.Fence, to stick.AgentID, s *stick.Probed, now stick.Time) (stick.Room, []stick.Event, error) {
		return r.Pass(by, f, to, someHandoff, s, now)
	},
	"heartbeat": func(r stick.Room, by stick.AgentID, f stick.Fence, _ stick.AgentID, _ *stick.Probed, now stick.Time) (stick.Room, []stick.Event, error) {
		r, err := r.Heartbeat(by, f, stick.ProvesSession, now)
		return r, nil, err
	},
	"renew": func(r stick.Room, by stick.AgentID, f stick.Fence, _ stick.AgentID, _ *stick.Probed, now stick.Time) (stick.Room, []stick.Event, error) {
		r, err := r.Renew(by, f, anyPID, stick.Process{}, now)
		return r, nil, err
	},
}

// patience returns how long a wait for work may go without the stick or an offer of it, by the design: until
// the running deadline opens a takeover, plus its place in the order of offers. If it got the offer already,
// it may go until the next round.
func (sc *scenario) patience(w *world) time.Duration {
	p := w.room.Policy
	opens := max(p.OwnerLeaseTTL, p.OwnerIdleTTL+p.WaiterGrace)
	switch w.room.Turn.State {
	case stick.Idle:
		return p.WaiterGrace
	case stick.Reserved:
		opens = p.ClaimTTL
		if w.room.Turn.ReservedBy == stick.ByRelease {
			return crowd * p.WaiterGrace
		}
	}
	told := time.Duration(0)
	if w.room.Turn.OfferedAt != 0 {
		told = p.ClaimTTL
	}
	return max(opens, told) + crowd*p.WaiterGrace
}

// checkLive checks that a live wait for work gets the stick, or gets an offer and takes it, even if nobody
// else acts and every dead or stopped agent stays so.
func (sc *scenario) checkLive(w world) (time.Duration, string) {
	alive := func(i int) bool {
		a := w.actors[i]
		return a.wait == running && a.proc != stick.Gone && w.room.IsJoined(names[i])
	}
	waits := false
	for i, a := range w.actors {
		waits = waits || alive(i) && a.intent == stick.Work && !w.room.Members[i].Rests()
	}
	if !waits || w.room.Closed {
		return 0, ""
	}
	if w.room.Paused.On() {
		w, _ = sc.do(w, act{deed: dResume})
	}
	limit := sc.patience(&w)
	if w.jumped {
		limit += units(4)
	}
	start := w.now
	for range 200 {
		next, looked := stick.Time(0), false
		for i := range w.actors {
			if !alive(i) {
				continue
			}
			if !w.due(i) {
				next = stick.EarlierTime(next, w.actors[i].deadline)
				continue
			}
			looked = true
			to, o := sc.do(w, act{dLook, int8(i), 0})
			if o == nil {
				w = to
				continue
			}
			if bad := sc.checkStep(&w, &to, act{dLook, int8(i), 0}, o); bad != "" {
				return 0, bad
			}
			w = to
			if o.answer.Status == stick.TakeoverAvailable {
				take := act{dTake, int8(i), 0}
				to, o = sc.do(w, take)
				if o == nil || !o.granted {
					return 0, fmt.Sprintf("%s was offered the takeover and couldn't take it: %v", names[i], o.err)
				}
				if bad := sc.checkStep(&w, &to, take, o); bad != "" {
					return 0, bad
				}
			}
			if o.answer.Status == stick.UnderParent {
				return w.now.Sub(start), ""
			}
			if o.granted || o.answer.Status == stick.YourTurn {
				if d := w.now.Sub(start); d > limit {
					return d, fmt.Sprintf("the stick came after %s; the limits add up to %s", d, limit)
				}
				return w.now.Sub(start), ""
			}
		}
		switch {
		case looked:
		case next == 0:
			return 0, "waits for work sleep for ever"
		default:
			w.now = next
		}
	}
	return 0, "no wait for work gets the stick"
}

// grantedHandoff returns the handoff that a grant names.
func grantedHandoff(e stick.Event) int64 {
	claim, _ := stick.PayloadOf[stick.ClaimPayload](e)
	took, _ := stick.PayloadOf[stick.TakeoverPayload](e)
	return claim.HandoffSeq + took.HandoffSeq
}
