package stick_test

import (
	"fmt"
	"slices"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/talk"
)

// The world that is explored: a room, three agents with their processes and waits, and a clock. Only the
// rules change the room. What is around them (the waits, the bell, the processes) is a model of what the
// program does:
//
//   - a transaction settles the room, applies one rule and numbers its events;
//   - a commit rings those whom it concerns; a new process of the owner or the recipient and a guardian's first
//     renewal ring all; other commits of evidence don't ring;
//   - a wait checks the room when it was rung, when the process of the owner or of the recipient ended that it
//     has seen, when its own deadline has passed and, because of the slow net, at any other time too;
//   - time passes only while no running wait has a reason to check. A wait is later than that only if it is
//     stopped.
//
// A stopped owner is an owner that doesn't act, and after a lost answer an agent asks again. Neither leaves a
// trace in the room, so the explored paths include both.

const (
	unit    = 30 * time.Second // so that a step of three back is one that shows
	crowd   = 3                // agents
	origin  = stick.Time(1_000_000_000)
	lastSeq = int64(100) // events of a normalised room have smaller numbers
	anyTurn = 7
	anyPID  = 1000
	longer  = 2 * unit // how much longer a person makes owner_idle_ttl
)

var names = [crowd]stick.AgentID{"a", "b", "c"}

func agentIndex(a stick.AgentID) int { return slices.Index(names[:], a) }

func units(n int) time.Duration { return time.Duration(n) * unit }

var smallPolicy = stick.Policy{
	OwnerLeaseTTL: units(3), ClaimTTL: units(2), WaiterGrace: units(1), OwnerIdleTTL: units(3),
	PresenceTTL: units(10_000), HeartbeatInterval: units(1), Order: stick.Fair,
}

type waitMode uint8

const (
	noWait waitMode = iota
	running
	stopped // holds its lock and never looks
)

// actor is one agent and its wait.
type actor struct {
	proc     stick.Verdict // of its session's process; Unknown: it has none that proves anything
	wait     waitMode
	intent   stick.Purpose
	woken    bool       // something gave the running wait a reason to look
	deadline stick.Time // else it sleeps until then; 0: until it is woken
	lag      bool       // a wait or a bystander ended since it looked, which doesn't ring
	stale    bool       // the room has changed since it looked, and that didn't ring it
	passed   int        // releases that named others while it waited (counted in some scenarios)
}

type world struct {
	room   stick.Room
	now    stick.Time
	jumped bool // the clock went back
	nested bool // as in the scenario
	actors [crowd]actor
}

// scenario is one configuration to explore.
type scenario struct {
	name   string
	long   bool // only with -explore.long
	order  stick.Order
	proves [crowd]bool // the agent has a process that proves its session
	hooks  [crowd]bool // the agent's grants are acknowledged visibly
	acts   []deed
	fair   bool // count releases
	two    bool // the third agent never acts
	nested bool // the second agent runs in the first one's tool call
	policy *stick.Policy

	sentinels int           // how many waits look at each turn; 0 for two
	rings     string        // "all": each commit with events rings all, as on systems without bells of listeners
	net       time.Duration // the slow net, where it counts as a reason to look; 0: nothing depends on it
}

func (sc *scenario) rules() stick.Policy {
	p := smallPolicy
	if sc.policy != nil {
		p = *sc.policy
	}
	p.Order = sc.order
	return p
}

type deed uint8

const (
	dTick deed = iota
	dLook
	dWork    // starts a wait for work, or asks again
	dListen  // starts a wait for events
	dTimeout // its own wait returns without an answer
	dKill    // the process of its wait ends
	dStop
	dContinue
	dDie  // the process of its session ends
	dBack // the same session comes back in a new process
	dBeat // a heartbeat of the owner
	dAct  // any other act of the owner
	dRenew
	dRelease
	dPass
	dPassNext
	dTake
	dOperator
	dLeave
	dAbandon
	dKick
	dForce
	dClose
	dPerson // a person closes
	dJoin
	dRestore
	dJump
	dLimit // a person changes owner_idle_ttl
	dLower // an agent lowers it
	dPause
	dResume
	dEmpty  // releases after a turn that changed nothing
	dTell   // sends a message
	dTry    // asks once for the turn
	dPrompt // its person gives it something to do
	dLose   // a ring gets lost
)

var deedNames = [...]string{
	"tick", "look", "wait", "listen", "timeout", "kill wait", "stop wait", "continue wait", "die", "come back",
	"heartbeat", "act", "renew", "release", "pass", "pass next", "take", "take (operator)", "leave", "abandon", "kick",
	"kick (force)", "close", "close (person)", "join", "restore", "clock back", "change the idle limit", "lower the idle limit",
	"pause", "resume", "release unchanged", "tell", "try", "prompt", "lose ring",
}

type act struct {
	deed   deed
	who    int8
	target int8
}

func (a act) String() string {
	switch a.deed {
	case dTick, dRestore, dJump, dPerson, dLimit, dPause, dResume:
		return deedNames[a.deed]
	case dPass, dKick, dForce, dTell:
		return fmt.Sprintf("%s: %s %s", names[a.who], deedNames[a.deed], names[a.target])
	}
	return fmt.Sprintf("%s: %s", names[a.who], deedNames[a.deed])
}

// outcome is the outcome of an act, for the laws.
type outcome struct {
	before, after stick.Room // of the room, after as it is stored
	events        []stick.Event
	lease         stick.LeaseID // the one offered for a grant
	by            stick.AgentID
	granted       bool
	answer        stick.Answer
	asked         bool // by a wait or a try
	opened        stick.Opening
	err           error
}

func (sc *scenario) start() world {
	w := world{now: origin, nested: sc.nested, room: stick.Room{ID: "room", Policy: sc.rules(), Generation: 1, Turn: stick.Turn{State: stick.Idle}}}
	for i, name := range names {
		m := stick.Member{Agent: name, Ordinal: i + 1, State: stick.Joined, JoinSeq: int64(i + 1), LastSeenAt: origin, HooksSeen: sc.hooks[i]}
		w.actors[i].proc = stick.Unknown
		if sc.proves[i] {
			m.Processes = []stick.Evidence{{Process: stick.Process{PID: i + 1}, Proof: stick.ProvesSession}}
			w.actors[i].proc = stick.Alive
		}
		w.room.Members = append(w.room.Members, m)
	}
	return w
}

// probed returns what a transaction in the world has probed: everything.
func (w *world) probed() *stick.Probed {
	s := &stick.Probed{Processes: map[stick.Process]stick.Verdict{}, Listeners: map[stick.ListenerID]stick.Verdict{}}
	for i, a := range w.actors {
		s.Processes[stick.Process{PID: i + 1}] = a.proc
		s.Listeners[stick.ListenerID(names[i])] = stick.Gone
		if a.wait != noWait {
			s.Listeners[stick.ListenerID(names[i])] = stick.Alive
		}
	}
	return s
}

// proof returns what the process proves from which the agent sends heartbeats.
func (sc *scenario) proof(i int) stick.Proof {
	if sc.proves[i] {
		return stick.ProvesSession
	}
	return ""
}

// living reports whether the agent can act.
func (w *world) living(i int) bool { return w.actors[i].proc != stick.Gone }

func (w *world) fence() stick.Fence {
	return stick.Fence{Turn: w.room.Turn.ID, Lease: w.room.Turn.Lease}
}

// due reports whether a running wait has a reason to check the room.
func (w *world) due(i int) bool {
	a := w.actors[i]
	return a.wait == running && (a.woken || (a.deadline != 0 && a.deadline <= w.now))
}

func (w *world) asking(i int) stick.Asking {
	return stick.Asking{Agent: names[i], Above: w.above(i), Purpose: w.actors[i].intent, Blocking: true, Lease: w.newLease()}
}

// above is what the agent knows of those that started it.
func (w *world) above(i int) (l stick.Lineage) {
	if w.nested && i == 1 {
		l.Processes = []stick.Process{{PID: 1}}
	}
	return l
}

func (w *world) newLease() stick.LeaseID {
	return stick.LeaseID(fmt.Sprintf("lease-%d", w.room.Turn.ID+1))
}

// ring wakes every running wait except for the one that rings.
func (w *world) ring(but int) {
	for i := range w.actors {
		if i != but && w.actors[i].wait == running {
			w.actors[i].woken = true
		}
	}
}

// ringAfter wakes those whom a commit of i concerns. The others haven't seen what it has changed.
func (sc *scenario) ringAfter(w *world, i int, before stick.Room, events []stick.Event) {
	if sc.rings == "all" {
		if len(events) > 0 {
			w.ring(i)
		}
		return
	}

	ring := w.room.RingAfterBy(before, events, sc.countSentinels())
	if ring.All {
		w.ring(i)
		return
	}

	w.ringListeners(ring, i)
	t, b := w.room.Turn, before.Turn
	if t.ID == b.ID && t.State == b.State && t.ReservedFor == b.ReservedFor && t.ReservedAt == b.ReservedAt {
		return
	}
	for k := range w.actors {
		a := &w.actors[k]
		a.stale = a.stale || a.wait != noWait && !a.woken && k != i
	}
}

// ringListeners wakes the waits that a ring names, except for the one that rings.
func (w *world) ringListeners(ring stick.Ring, but int) {
	for _, l := range ring.Listeners {
		if i := agentIndex(stick.AgentID(l)); i != but && w.actors[i].wait == running {
			w.actors[i].woken = true
		}
	}
}

func (sc *scenario) countSentinels() int {
	if sc.sentinels != 0 {
		return sc.sentinels
	}
	return 2
}

// leaveWait ends a wait in good order: it rings whoever is a sentinel in its place.
func (sc *scenario) leaveWait(w *world, i int) {
	if sc.rings != "all" {
		w.ringListeners(w.room.RingWithoutBy(sc.countSentinels(), stick.ListenerID(names[i])), i)
	}
	w.endWait(i)
}

// tellDeath wakes those that watch the process of the owner or the recipient.
func (w *world) tellDeath() {
	for i := range w.actors {
		if a := &w.actors[i]; a.wait == running && !a.stale {
			a.woken = true
		}
	}
}

// lagging records that a wait or a bystander ended, which wakes nobody.
func (w *world) lagging() {
	for i := range w.actors {
		if w.actors[i].wait == running && !w.actors[i].woken {
			w.actors[i].lag = true
		}
	}
}

func (w *world) endWait(i int) {
	a := &w.actors[i]
	a.wait, a.woken, a.deadline, a.lag, a.stale, a.passed = noWait, false, 0, false, false, 0
	w.room.Listeners = slices.DeleteFunc(slices.Clone(w.room.Listeners), func(l stick.Listener) bool {
		return l.Agent == names[i]
	})
	w.lagging()
}

// acts lists the acts that are possible in a world.
func (sc *scenario) actsIn(w *world) []act {
	var out []act
	add := func(d deed, who, target int) { out = append(out, act{d, int8(who), int8(target)}) }
	has := func(d deed) bool { return slices.Contains(sc.acts, d) }
	urgent := false
	for i, a := range w.actors {
		if sc.two && i == crowd-1 {
			break
		}
		m, _ := w.room.Member(names[i])
		owner := w.room.Turn.Owner == names[i]
		living := w.living(i)
		for _, d := range sc.acts {
			switch d {
			case dLook:
				if a.wait == running {
					add(dLook, i, 0)
					urgent = urgent || (w.due(i) && living)
				}

			case dWork, dListen:
				if living && a.wait == noWait && m.State != stick.Kicked && !w.room.Closed {
					add(d, i, 0)
				}

			case dTimeout:
				if a.wait == running && living {
					add(d, i, 0)
				}

			case dKill:
				if a.wait != noWait {
					add(d, i, 0)
				}

			case dStop:
				if a.wait == running {
					add(d, i, 0)
				}

			case dContinue:
				if a.wait == stopped {
					add(d, i, 0)
				}

			case dLose:
				if w.due(i) {
					add(d, i, 0)
				}

			case dDie:
				if a.proc == stick.Alive {
					add(d, i, 0)
				}

			case dBack:
				if a.proc == stick.Gone {
					add(d, i, 0)
				}

			case dBeat, dAct, dRelease, dPassNext, dEmpty:
				if owner && living {
					add(d, i, 0)
				}

			case dRenew:
				if owner && !sc.proves[i] {
					add(d, i, 0)
				}

			case dPass:
				for j := range names {
					if owner && living && i != j {
						add(d, i, j)
					}
				}

			case dTell:
				for j := range names {
					if living && i != j && m.State == stick.Joined && w.living(j) && w.room.IsJoined(names[j]) {
						add(d, i, j)
					}
				}

			case dTry:
				if living && a.wait == noWait && m.State == stick.Joined && !w.room.Closed {
					add(d, i, 0)
				}

			case dPrompt:
				if living && m.State == stick.Joined && m.Rests() {
					add(d, i, 0)
				}

			case dLower:
				if living && m.State == stick.Joined {
					add(d, i, 0)
				}

			case dTake, dOperator:
				if living && !owner && m.State == stick.Joined && !w.room.Closed {
					add(d, i, 0)
				}

			case dLeave, dAbandon:
				if living && m.State == stick.Joined && (d == dLeave || owner) {
					add(d, i, 0)
				}

			case dKick, dForce:
				for j := range names {
					if living && i != j && m.State == stick.Joined && w.room.IsJoined(names[j]) && (d == dForce) == (w.actors[j].proc != stick.Gone) {
						add(d, i, j)
					}
				}

			case dClose:
				if living && owner {
					add(d, i, 0)
				}

			case dJoin:
				if living && (m.State != stick.Joined || w.room.Closed) {
					add(d, i, 0)
				}
			}
		}
	}
	if has(dPerson) && !w.room.Closed && w.room.Turn.State != stick.Owned {
		add(dPerson, 0, 0)
	}
	if has(dPause) && !w.room.Closed {
		if w.room.Paused.On() {
			add(dResume, 0, 0)
		} else {
			add(dPause, 0, 0)
		}
	}
	if has(dRestore) {
		add(dRestore, 0, 0)
	}
	if has(dLimit) {
		add(dLimit, 0, 0)
	}
	if has(dJump) && !w.jumped {
		add(dJump, 0, 0)
	}
	if !urgent {
		add(dTick, 0, 0)
	}
	return out
}

var someHandoff = stick.Handoff{Status: "half done", NextAction: "do the other half"}

// do performs an act. It returns nil if the act changed nothing.
func (sc *scenario) do(w world, a act) (world, *outcome) {
	i := int(a.who)
	by := names[i]
	s := w.probed()
	o := &outcome{before: w.room, lease: w.newLease(), by: by}
	r := w.room
	var events []stick.Event
	note := func(more []stick.Event) { events = append(events, more...) }
	settle := func(take bool) {
		var moved []stick.Event
		r, moved = r.Settle(by, take, s, w.now)
		note(moved)
	}

	ask := func(intent stick.Purpose, blocking bool) {
		o.asked = true
		o.opened = r.Opening(s, w.now)
		var more []stick.Event
		r, more, o.answer = r.Ask(stick.Asking{Agent: by, Above: w.above(i), Purpose: intent, Blocking: blocking, Lease: o.lease}, s, w.now)
		note(more)
		o.granted = o.answer.Status == stick.YourTurn && o.answer.Claim != stick.AlreadyOwner
	}

	always := false // the act changes the world even if it writes nothing
	ringer := -1
	rings := false
	switch a.deed {
	case dTick:
		w.now = w.now.Add(unit)
		always = true

	case dJump:
		w.now = w.now.Add(-3 * unit)
		w.jumped = true
		for k := range w.actors {
			if w.actors[k].deadline != 0 {
				w.actors[k].deadline = w.actors[k].deadline.Add(-3 * unit)
			}
		}

		w.lagging()
		always = true

	case dLook:
		ask(w.actors[i].intent, true)
		ringer = i

	case dWork, dListen:
		intent := stick.Work
		if a.deed == dListen {
			intent = stick.Listen
		}

		var joined []stick.Event
		if r, joined, _, o.err = r.Join(by, "", false, w.now); o.err != nil {
			return w, o
		}

		note(joined)
		r = r.Touch(by, w.now)
		r.Listeners = slices.DeleteFunc(slices.Clone(r.Listeners), func(l stick.Listener) bool { return l.Agent == by })
		r.Listeners = append(r.Listeners, stick.Listener{ID: stick.ListenerID(by), Agent: by, Purpose: intent})
		w.actors[i].wait, w.actors[i].intent = running, intent
		s = w.probed()
		ask(intent, true)
		ringer = i
		always = true

	case dTimeout:
		if w.actors[i].intent == stick.Work {
			r.EditMember(by, func(m *stick.Member) { m.ReturnedAt = w.now })
		}

		sc.leaveWait(&w, i)
		r.Listeners = w.room.Listeners
		always = true

	case dKill:
		w.endWait(i)
		r.Listeners = w.room.Listeners
		always = true

	case dLose:
		a := &w.actors[i]
		a.woken, a.lag, a.stale, a.deadline = false, false, true, w.now.Add(sc.net)
		always = true

	case dStop:
		w.actors[i].wait, w.actors[i].passed = stopped, 0
		always = true

	case dContinue:
		w.actors[i].wait, w.actors[i].woken = running, true
		always = true

	case dDie:
		w.actors[i].proc = stick.Gone
		if r.Turn.Owner == by || r.Turn.ReservedFor == by {
			w.tellDeath()
		} else {
			w.lagging()
		}

		always = true

	case dBack:
		w.actors[i].proc = stick.Alive
		s = w.probed()
		rings = r.Turn.Owner == by || r.Turn.ReservedFor == by
		if w.actors[i].wait != noWait { // it served the process that ended
			w.endWait(i)
			r.Listeners = w.room.Listeners
			s = w.probed()
		}

		r = r.Touch(by, w.now)
		settle(false)
		always = true

	case dBeat:
		r, o.err = r.Heartbeat(by, w.fence(), sc.proof(i), w.now)

	case dAct:
		r = r.Touch(by, w.now)

	case dRenew:
		rings = r.Guardian(w.now) == 0
		r, o.err = r.Renew(by, w.fence(), anyPID, stick.Process{}, w.now)

	case dTell:
		r = r.Touch(by, w.now)
		settle(false)
		var more []stick.Event
		to := []stick.AgentID{names[a.target]}
		r, more, o.err = talk.Send(r, talk.Sending{By: by, Message: stick.Message{To: to, Category: stick.Info, Body: "x"}}, s, w.now)
		note(more)

	case dTry:
		r = r.Touch(by, w.now)
		ask(stick.Work, false)
		ringer = i

	case dPrompt:
		r = r.Touch(by, w.now).EndRest(by)
		rings = sc.rings == "all"

	case dRelease, dPass, dPassNext, dEmpty:
		r = r.Touch(by, w.now)
		settle(false)
		var more []stick.Event
		switch a.deed {
		case dEmpty:
			tree := &stick.Workspace{Head: "c0ffee"}
			r, more, o.err = r.RestAfter(by, stick.TurnWork{Before: tree, After: tree}, w.now).Release(by, w.fence(), someHandoff, s, w.now)
		case dRelease:
			r, more, o.err = r.Release(by, w.fence(), someHandoff, s, w.now)
		case dPass:
			r, more, o.err = r.Pass(by, w.fence(), names[a.target], someHandoff, s, w.now)
		case dPassNext:
			r, more, o.err = r.Pass(by, w.fence(), stick.Next, someHandoff, s, w.now)
		}

		note(more)

	case dTake, dOperator:
		r = r.Touch(by, w.now)
		settle(true)
		o.opened = r.Opening(s, w.now)
		var more []stick.Event
		var why stick.ClaimReason
		r, more, why, o.err = r.Takeover(stick.Take{By: by, Reason: "it is time", Operator: a.deed == dOperator}, o.lease, s, w.now)
		note(more)
		o.granted = why != "" && why != stick.AlreadyOwner

	case dLeave, dAbandon:
		r = r.Touch(by, w.now)
		settle(false)
		q := stick.Leaving{By: by}
		if r.Turn.Owner == by {
			q.Fence = w.fence()
			if a.deed == dLeave {
				q.Handoff = &someHandoff
			} else {
				q.Abandon = "something else came up"
			}
		}

		var more []stick.Event
		r, more, o.err = r.Leave(q, s, w.now)
		note(more)

	case dKick, dForce:
		r = r.Touch(by, w.now)
		settle(false)
		var more []stick.Event
		r, more, o.err = r.Kick(stick.Kicking{By: by, Who: names[a.target], Force: a.deed == dForce, Reason: "in the way"}, s, w.now)
		note(more)

	case dClose:
		r = r.Touch(by, w.now)
		var more []stick.Event
		r, more, o.err = r.Close(stick.Closing{By: by, Fence: w.fence(), Handoff: &someHandoff}, w.now)
		note(more)

	case dPerson:
		var more []stick.Event
		r, more, o.err = r.Close(stick.Closing{By: "human:x", Person: true}, w.now)
		note(more)

	case dJoin:
		var more []stick.Event
		r, more, _, o.err = r.Join(by, "", true, w.now)
		note(more)
		settle(false)

	case dLimit:
		ttl := sc.rules().OwnerIdleTTL
		if r.Policy.OwnerIdleTTL == ttl {
			ttl += longer
		}

		var more []stick.Event
		r, more, o.err = r.SetPolicy("human:x", true, []string{"owner_idle_ttl=" + ttl.String()}, w.now)
		note(more)

	case dLower:
		var more []stick.Event
		r, more, o.err = r.SetPolicy(by, false, []string{"owner_idle_ttl=" + sc.rules().OwnerIdleTTL.String()}, w.now)
		note(more)

	case dPause, dResume:
		var more []stick.Event
		if a.deed == dPause {
			r, more, o.err = r.Pause("human:x", true, "a demo", w.now)
		} else {
			r, more, o.err = r.Resume("human:x", true, s, w.now)
		}

		note(more)
		settle(false)

	case dRestore:
		var more []stick.Event
		r, more = r.Restore(stick.Generation{Number: r.Generation + 1, Cause: stick.RestoreCause}, s, w.now)
		note(more)
	}

	if o.err != nil && len(events) == 0 {
		return w, o // refused: nothing is stored
	}

	sum := ""
	seq := max(lastSeq, o.before.Turn.HandoffSeq)
	for _, m := range o.before.Members {
		seq = max(seq, m.JoinSeq, m.HeldSeq)
	}

	for k := range events {
		seq++
		events[k].Seq, events[k].CreatedAt = seq, w.now
		events[k].Sum = events[k].Chain(sum)
		sum = events[k].Sum
	}

	r = r.Stamp(events)
	o.after, o.events = r, events
	changed := always || len(events) > 0 || !sticktest.IsSameRoom(r, w.room)
	w.room = r
	if rings {
		w.ring(ringer)
	}

	sc.ringAfter(&w, ringer, o.before, events)
	if sc.fair {
		w.count(events)
	}

	if o.asked && w.actors[i].wait == running {
		changed = changed || w.actors[i].woken || w.due(i)
		w.actors[i].woken, w.actors[i].lag, w.actors[i].stale = false, false, false
		w.actors[i].deadline = 0
		if o.answer.Status != "" {
			if o.answer.Status != stick.YourTurn && o.answer.Status != stick.UnderParent && w.actors[i].intent == stick.Work {
				w.room.EditMember(by, func(m *stick.Member) { m.ReturnedAt = w.now })
			}

			sc.leaveWait(&w, i)
		} else {
			w.actors[i].deadline = r.NextDeadline(w.asking(i), s, w.now)
			if sc.net != 0 {
				w.actors[i].deadline = stick.EarlierTime(w.actors[i].deadline, w.now.Add(sc.net))
			}
		}
	}

	if !changed {
		return w, nil
	}

	return w, o
}

// count counts, for each waiting member, the releases that named others.
func (w *world) count(events []stick.Event) {
	for _, e := range events {
		if e.Type != stick.EventRelease {
			continue
		}
		for i := range w.actors {
			a := &w.actors[i]
			switch {
			case e.To == names[i]:
				a.passed = 0
			case a.wait == running && a.intent == stick.Work && e.To != "" && !w.room.Members[i].PassedOver:
				a.passed++
			}
		}
	}
}

// normal returns the representative of all worlds that behave like w. Times become ages, and those too old to
// matter become equal; turns, leases, rounds and event numbers are reduced to what the rules compare. The
// function sound checks that this loses nothing.
func (sc *scenario) normal(w world) world {
	p := w.room.Policy
	shift := origin - w.now
	slack := time.Duration(0)
	if slices.Contains(sc.acts, dJump) && !w.jumped {
		slack = 3 * unit // the clock may still make everything younger
	}

	aged := func(t stick.Time, oldest time.Duration) stick.Time {
		if t == 0 {
			return 0
		}

		return max(t+shift, origin.Add(-oldest-slack))
	}

	t := w.room.Turn
	g := p.WaiterGrace
	offered := p.ClaimTTL + 3*g // the oldest last offer that matters
	open := 3 * g               // the oldest opening that matters
	n := stick.Turn{
		ID: min(t.ID, 1) * anyTurn, State: t.State, HandoffSeq: min(t.HandoffSeq, 1), HandoffPending: t.HandoffPending,
		HandoffDirect: t.HandoffDirect, NextAction: t.NextAction, Round: 10, OfferedAt: aged(t.OfferedAt, offered),
	}

	if p.Order == stick.Sequence {
		n.SequenceIndex = t.SequenceIndex
	}

	idle := p.OwnerIdleTTL // the longest limit that it may get
	if slices.Contains(sc.acts, dLimit) {
		idle = sc.rules().OwnerIdleTTL + longer
	}

	quiet := idle // the oldest act that matters
	if slices.Contains(sc.acts, dBeat) {
		quiet = 4 * idle
	}

	plain := !slices.ContainsFunc(sc.acts, func(d deed) bool { return d == dBeat || d == dLimit || d == dJump })
	if !plain { // it may say since when a takeover is open
		idle, quiet = idle+g+open, quiet+g+open
	}

	var acted stick.Time
	switch t.State {
	case stick.Idle:
		n.Prior, n.FreeSince = t.Prior, aged(t.FreeSince, g)

	case stick.Reserved:
		n.Prior, n.ReservedFor, n.ReservedBy = t.Prior, t.ReservedFor, t.ReservedBy
		n.ReservedAt = aged(t.ReservedAt, g)
		if t.ReservedBy == stick.ByPass {
			n.ReservedAt = aged(t.ReservedAt, p.ClaimTTL+open)
		}

	case stick.Owned:
		n.Owner, n.Lease, n.GuardianPID = t.Owner, "lease-7", w.room.Guardian(w.now)
		i := agentIndex(t.Owner)
		n.Acked = t.Acked || !sc.hooks[i]
		if !n.Acked {
			n.Prior = t.Prior
		}

		oldest := max(p.OwnerLeaseTTL, idle, p.ClaimTTL) + open
		if sc.proves[i] && n.Acked {
			oldest = quiet
		}

		acted = aged(w.room.OwnerActedAt(), oldest)
		if plain && sc.proves[i] && n.Acked && w.room.IdleNoticeSent() {
			acted = aged(t.IdleNoticeAt, g+open).Add(-idle) // only the notice matters, which came at the limit or later
		}

		n.GrantedAt = acted
		if !sc.proves[i] && t.RenewedAt > w.room.OwnerActedAt() {
			n.RenewedAt = aged(t.RenewedAt, oldest)
			if n.RenewedAt == acted {
				n.RenewedAt = 0
			}
		}

		if n.GuardianPID != 0 {
			n.RenewedAt = aged(t.RenewedAt, oldest)
		}

		if sc.proves[i] && t.HeartbeatAt > w.room.OwnerActedAt() {
			n.HeartbeatAt = aged(t.HeartbeatAt, idle)
		}

		if w.room.IdleNoticeSent() {
			n.IdleNoticeAt = aged(t.IdleNoticeAt, g+open)
		}

		n.OpenedAt = aged(t.OpenedAt, open)
		if t.OpenedAt != 0 && t.OpenedAt <= t.OfferedAt {
			n.OpenedAt = n.OfferedAt // it matters only which was first
		}
	}

	var seqs []int64
	for _, m := range w.room.Members {
		if m.State == stick.Joined {
			seqs = append(seqs, max(m.JoinSeq, m.HeldSeq))
		}
	}

	slices.Sort(seqs)
	members := make([]stick.Member, len(w.room.Members))
	for i, m := range w.room.Members {
		members[i] = stick.Member{
			Agent: m.Agent, Ordinal: m.Ordinal, State: m.State, LastSeenAt: aged(m.LastSeenAt, 0), HooksSeen: m.HooksSeen, Processes: m.Processes,
			PassedOver: m.PassedOver && m.State == stick.Joined,
		}

		if m.State == stick.Joined {
			members[i].RestsSince = aged(m.RestsSince, 0)
		}

		if m.State == stick.Joined {
			members[i].JoinSeq = int64(slices.Index(seqs, max(m.JoinSeq, m.HeldSeq)) + 1)
		}

		if m.LastOfferRound == t.Round && t.State != stick.Idle && t.OfferedAt != 0 {
			members[i].LastOfferRound = n.Round
		}

		if m.State == stick.Joined && m.ReturnedAt != 0 && w.now < w.room.GraceAfter(m.ReturnedAt).At().Add(slack) {
			members[i].ReturnedAt = aged(m.ReturnedAt, g)
		}

		if m.Agent == t.Owner && t.State == stick.Owned {
			members[i].LastSeenAt = acted
		}
	}

	out := world{now: origin, jumped: w.jumped, nested: w.nested, actors: w.actors, room: stick.Room{
		ID: w.room.ID, Policy: p, Closed: w.room.Closed, Generation: 1, Turn: n, Members: members,
	}}

	if w.room.Paused.On() {
		out.room.Paused = stick.Pause{By: "human:x", Reason: "a demo", Since: origin}
	}

	if n.IdleNoticeAt != 0 {
		out.room.Turn.IdleSince = out.room.OwnerActiveAt()
	}

	for i := range out.actors {
		a := &out.actors[i]
		switch {
		case a.wait == noWait:
			*a = actor{proc: a.proc, passed: a.passed}
		case a.wait == stopped:
			*a = actor{proc: a.proc, wait: stopped, intent: a.intent}
		case w.due(i):
			a.woken, a.deadline, a.lag, a.stale = true, 0, false, false
		case a.deadline != 0:
			a.deadline += shift
		}

		if a.wait != noWait {
			out.room.Listeners = append(out.room.Listeners, stick.Listener{ID: stick.ListenerID(names[i]), Agent: names[i], Purpose: a.intent})
		}
	}

	return out
}

// key writes a normalised world as bytes. Agents that are configured alike may be swapped, so the smallest of
// the resulting texts stands for all.
func (sc *scenario) key(w *world, perms [][crowd]int) [80]byte {
	var best [80]byte
	for n, p := range perms {
		b := sc.encode(w, p)
		if n == 0 || slices.Compare(b[:], best[:]) < 0 {
			best = b
		}
	}
	return best
}

// encode writes a normalised world with agent p[i] in place i.
func (sc *scenario) encode(w *world, p [crowd]int) [80]byte {
	var b [80]byte
	n := 0
	put := func(v int) { b[n] = byte(v); n++ }
	bit := func(v ...bool) {
		x := 0
		for _, f := range v {
			x <<= 1
			if f {
				x++
			}
		}
		put(x)
	}
	age := func(t stick.Time) {
		if t == 0 {
			put(0)
			return
		}
		put(100 + int(t.Sub(origin)/unit))
	}
	place := func(a stick.AgentID) {
		for i := range p {
			if names[p[i]] == a {
				put(i + 1)
				return
			}
		}
		put(0)
	}
	t := w.room.Turn
	put(int(t.State[0]))
	put(len(t.ReservedBy))
	bit(w.room.Closed, t.Acked, t.HandoffPending, t.HandoffDirect, t.HandoffSeq > 0, t.GuardianPID != 0, w.jumped, t.ID > 0)
	bit(w.room.Paused.On())
	place(t.Owner)
	place(t.ReservedFor)
	place(t.Prior)
	put(t.SequenceIndex)
	put(int(w.room.Policy.OwnerIdleTTL / unit))
	put(int(w.room.Policy.NextTurn.OwnerIdleTTL / unit))
	for _, at := range []stick.Time{t.GrantedAt, t.RenewedAt, t.HeartbeatAt, t.IdleNoticeAt, t.OpenedAt, t.ReservedAt, t.FreeSince, t.OfferedAt} {
		age(at)
	}
	for _, i := range p {
		m, a := w.room.Members[i], w.actors[i]
		put(int(m.State[0]))
		put(int(m.JoinSeq))
		age(m.LastSeenAt)
		age(m.ReturnedAt)
		age(a.deadline)
		bit(m.LastOfferRound != 0, m.PassedOver, a.woken, a.lag, a.proc == stick.Gone, a.intent == stick.Work, m.Rests(), a.stale)
		put(int(a.wait))
		put(a.passed)
	}
	return b
}

// alike lists the ways to swap agents that are configured alike. If turns go in sequence, no two agents are.
func (sc *scenario) alike() [][crowd]int {
	all := [][crowd]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	if sc.order == stick.Sequence || sc.nested {
		return all[:1]
	}
	return slices.DeleteFunc(all, func(p [crowd]int) bool {
		for i, j := range p {
			if sc.proves[i] != sc.proves[j] || sc.hooks[i] != sc.hooks[j] || (sc.two && (i == crowd-1) != (j == crowd-1)) {
				return true
			}
		}
		return false
	})
}
