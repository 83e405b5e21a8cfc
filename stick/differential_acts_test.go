package stick_test

import (
	"fmt"
	"slices"

	"talkingstick/internal/model"
	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
	"talkingstick/stick/talk"
)

// performed is what an act came to by the rules, before it is saved.
type performed struct {
	room      stick.Room
	events    []stick.Event
	told      []stick.Event // those of the rule itself, not of what was due before
	err       error
	asked     bool
	answer    stick.Answer
	judgement edits.Judgement
	waits     [model.MaxAgents]stick.Purpose
	skipped   int64

	g   *game
	by  model.Who
	me  stick.AgentID
	s   *stick.Probed
	now stick.Time
}

// causes are the causes of takeovers, by those of the model.
var causes = [...]stick.Cause{
	"", stick.OwnerGone, stick.RecipientGone, stick.OwnerTimeout, stick.OwnerIdle, stick.ClaimTimeout,
	stick.OperatorRequested,
}

const person stick.AgentID = "human:x"

// perform performs an act by the rules, each as a transaction of the engine does it.
func (g *game) perform(act model.Act) performed {
	o := performed{room: g.room, waits: g.waits, g: g, by: act.By, me: agentAt(act.By), s: g.probed(), now: g.now}
	o.room.Listeners = g.listeners()

	switch act.Kind {
	case model.Join:
		o.join(true)
		o.settle(false)
	case model.Wait, model.WaitForEvents, model.WaitAgain, model.Try:
		o.wait(act.Kind)
	case model.WaitLooks:
		o.ask(o.waits[o.by], true)
	case model.WaitReturns, model.WaitIsKilled, model.WaitContinues, model.ProcessEnds:
		o.endWait(act.Kind)
	case model.WaitStops, model.ProcessMutes, model.ProcessUnmutes, model.ProcessRestarts: // the room doesn't see it
	case model.Call, model.Prompt, model.ToolBegins, model.ToolEnds, model.Message:
		o.call(act.Kind)

	case model.Heartbeat:
		if o.room.Turn.Owner == o.me {
			o.recordProcess()
		}
		o.room, o.err = o.room.Heartbeat(o.me, g.fence(), proofOf(g.agents[o.by].Proof), o.now)
	case model.SaveDraft, model.Release, model.ReleaseUnchanged, model.ReleaseOldTurn, model.ReleaseByLease, model.Pass, model.PassNext:
		o.endTurn(act)
	case model.Take, model.TakeForPerson:
		o.take(act.Kind == model.TakeForPerson)
	case model.Leave, model.Abandon, model.Kick, model.KickByForce, model.Close, model.PersonCloses:
		o.endMembership(act)
	case model.SetLimits, model.SetEnforce, model.Reorder, model.PersonSetsLimits, model.PersonSetsEnforce:
		o.changePolicy(act)
	case model.Pause, model.PersonPauses:
		o.rule(o.room.Pause(person, act.Kind == model.PersonPauses, "a demo", o.now))
	case model.PersonResumes:
		o.rule(o.room.Resume(person, true, o.s, o.now))
	case model.Edit, model.Reserve, model.Unreserve:
		o.usePath(act)

	case model.Restore:
		r, events := o.room.Restore(stick.Generation{Number: o.room.Generation + 1, Cause: stick.RestoreCause},
			o.s, o.now)
		o.rule(r, events, nil)
		if g.room.Turn.ID > 0 {
			o.skipped = stick.RestoreSkip
		}
	}

	return o
}

// rule takes what a rule returns.
func (o *performed) rule(r stick.Room, events []stick.Event, err error) {
	o.room, o.err, o.told = r, err, events
	o.events = append(o.events, events...)
}

func (o *performed) settle(take bool) {
	r, events := o.room.Settle(o.me, take, o.s, o.now)
	o.room, o.events = r, append(o.events, events...)
}

// recordProcess records the process from which the agent calls.
func (o *performed) recordProcess() {
	a := o.g.agents[o.by]
	o.room.EditMember(o.me, func(m *stick.Member) {
		m.Processes = []stick.Evidence{{Process: process(o.by, o.g.model.Agents[o.by].Run), Proof: proofOf(a.Proof)}}
		m.HooksSeen = a.HasHooks
	})
}

// begin is how a command of a member begins.
func (o *performed) begin() {
	o.room = o.room.Touch(o.me, o.now)
	o.recordProcess()
	o.settle(false)
}

func (o *performed) join(explicit bool) {
	r, events, _, err := o.room.Join(o.me, "", explicit, o.now)
	o.rule(r, events, err)
	o.recordProcess()
}

func (o *performed) wait(kind model.Kind) {
	if o.join(false); o.err != nil {
		return
	}

	if kind == model.Try {
		o.ask(stick.Work, false)
		return
	}

	if kind != model.WaitAgain && o.waits[o.by] != "" { // which the store finds
		o.err, o.told = stick.Errorf(stick.CodeAlreadyListening, "it waits already"), nil
		return
	}

	o.waits[o.by] = stick.Work
	if kind == model.WaitForEvents {
		o.waits[o.by] = stick.Listen
	}
	o.ask(o.waits[o.by], true)
}

// ask lets a wait or a try read the room.
func (o *performed) ask(purpose stick.Purpose, blocking bool) {
	o.seeWaits()
	r, events, answer := o.room.Ask(o.asking(purpose, blocking), o.s, o.now)
	o.rule(r, events, nil)
	o.asked, o.answer = true, answer

	if !blocking || answer.Status == "" {
		return
	}
	if purpose == stick.Work && answer.Status != stick.YourTurn && answer.Status != stick.UnderParent {
		o.room = o.room.Returned(o.me, o.now, o.now)
	}
	o.waits[o.by] = ""
}

func (o *performed) asking(purpose stick.Purpose, blocking bool) stick.Asking {
	return stick.Asking{Agent: o.me, Above: o.g.lineage(o.by), Purpose: purpose, Blocking: blocking, Lease: o.lease()}
}

func (o *performed) lease() stick.LeaseID {
	return stick.LeaseID(fmt.Sprintf("lease-%d", o.g.room.Turn.ID+1))
}

// seeWaits lets the rules see the waits that there are by now.
func (o *performed) seeWaits() {
	now := *o.g
	now.waits = o.waits
	o.room.Listeners, o.s = now.listeners(), now.probed()
}

// endWait ends the wait that what happens ends.
func (o *performed) endWait(kind model.Kind) {
	m := o.g.model.Agents[o.by]
	ended := m.Process == model.Ended || m.Process == model.Restarted
	switch {
	case kind == model.ProcessEnds && m.Stopped, kind == model.WaitContinues && !ended:
		return
	case kind == model.WaitReturns && o.waits[o.by] == stick.Work:
		o.room = o.room.Returned(o.me, o.now, o.now)
	}
	o.waits[o.by] = ""
}

func (o *performed) call(kind model.Kind) {
	o.room = o.room.Touch(o.me, o.now)
	o.recordProcess()

	switch kind {
	case model.Prompt:
		o.room = o.room.EndRest(o.me)
	case model.ToolBegins:
		o.room.EditMember(o.me, func(m *stick.Member) { m.BusySince = o.now })
	case model.ToolEnds:
		o.room.EditMember(o.me, func(m *stick.Member) { m.BusySince = 0 })
	case model.Message:
		o.settle(false)
		o.rule(talk.Send(o.room,
			talk.Sending{
				By:      o.me,
				Message: stick.Message{To: []stick.AgentID{"room"}, Category: stick.Info, Body: "x"},
			},
			o.s, o.now))
	}
}

// endTurn performs the commands that carry a fence.
func (o *performed) endTurn(act model.Act) {
	o.room = o.room.Touch(o.me, o.now)
	o.recordProcess()
	fence := o.g.fence()

	switch act.Kind {
	case model.SaveDraft:
		d, events, err := talk.SaveDraft(o.room, o.me, fence, stick.Draft{Text: "half way"}, o.g.draft, o.now)
		if o.rule(o.room, events, err); err == nil {
			o.g.draft = &d
		}

	case model.Release:
		o.rule(o.room.Release(o.me, fence, someHandoff, o.s, o.now))
	case model.ReleaseUnchanged:
		tree := &stick.Workspace{Head: "c0ffee"}
		o.room = o.room.RestAfter(o.me, stick.TurnWork{Before: tree, After: tree}, o.now)
		o.rule(o.room.Release(o.me, fence, someHandoff, o.s, o.now))
	case model.ReleaseOldTurn:
		if fence = o.g.old; fence.Turn == 0 || fence.Turn == o.room.Turn.ID {
			fence = stick.Fence{Turn: o.room.Turn.ID + 3, Lease: "lease-x"}
		}
		o.rule(o.room.Release(o.me, fence, someHandoff, o.s, o.now))

	case model.ReleaseByLease:
		o.rule(o.room.Pass(o.me, stick.Fence{Turn: fence.Turn, Lease: "lease-x"}, stick.Next, someHandoff, o.s, o.now))
	case model.Pass:
		o.rule(o.room.Pass(o.me, fence, agentAt(act.To), someHandoff, o.s, o.now))
	case model.PassNext:
		o.rule(o.room.Pass(o.me, fence, stick.Next, someHandoff, o.s, o.now))
	}
}

func (o *performed) take(operator bool) {
	o.room = o.room.Touch(o.me, o.now)
	o.recordProcess()
	o.settle(true)

	r, events, why, err := o.room.Takeover(stick.Take{By: o.me, Reason: "x", Operator: operator, Relayed: true},
		o.lease(), o.s, o.now)
	if why == stick.AlreadyOwner {
		err = stick.Errorf("already_owner", "it has the stick")
	}
	if o.rule(r, events, err); len(events) > 0 {
		o.err = nil // it was refused, but the notice to an idle holder is saved
	}
}

func (o *performed) endMembership(act model.Act) {
	switch act.Kind {
	case model.Leave, model.Abandon:
		o.begin()
		q := stick.Leaving{By: o.me}
		switch {
		case o.room.Turn.Owner != o.me:
		case act.Kind == model.Leave:
			q.Fence, q.Handoff = o.g.fence(), &someHandoff
		default:
			q.Fence, q.Abandon = o.g.fence(), "something else came up"
		}

		if o.rule(o.room.Leave(q, o.s, o.now)); o.err == nil {
			o.waits[o.by] = ""
		}

	case model.Kick, model.KickByForce:
		o.begin()
		q := stick.Kicking{By: o.me, Who: agentAt(act.To), Force: act.Kind == model.KickByForce, Reason: "in the way"}
		if o.rule(o.room.Kick(q, o.s, o.now)); o.err == nil {
			o.waits[act.To] = ""
		}

	case model.Close:
		o.room = o.room.Touch(o.me, o.now)
		o.recordProcess()
		o.rule(o.room.Close(stick.Closing{By: o.me, Fence: o.g.fence(), Handoff: &someHandoff}, o.now))

	case model.PersonCloses:
		o.rule(o.room.Close(stick.Closing{By: person, Person: true}, o.now))
	}
}

func (o *performed) changePolicy(act model.Act) {
	by, isPerson := o.me, act.Kind == model.PersonSetsLimits || act.Kind == model.PersonSetsEnforce
	if isPerson {
		by = person
	} else {
		o.begin()
	}

	switch act.Kind {
	case model.SetLimits, model.PersonSetsLimits:
		order := stick.Fair
		if act.Sequence {
			order = stick.Sequence
		}

		o.rule(o.room.SetPolicy(by, isPerson, []string{
			"waiter_grace=" + ticks(act.Limits.Grace).String(), "claim_ttl=" + ticks(act.Limits.Claim).String(),
			"owner_lease_ttl=" + ticks(act.Limits.Lease).String(),
			"owner_idle_ttl=" + ticks(act.Limits.Idle).String(), "order=" + string(order),
		}, o.now))

	case model.SetEnforce, model.PersonSetsEnforce:
		o.rule(o.room.SetPolicy(by, isPerson, []string{"enforce=" + string(stick.Strictness[act.Enforce])}, o.now))
	case model.Reorder:
		var order []stick.AgentID
		for _, a := range act.Order {
			order = append(order, agentAt(a))
		}
		o.rule(o.room.Reorder(by, order))
	}
}

func (o *performed) usePath(act model.Act) {
	pattern, near := reservedPaths[act.Path], o.g.reservations()
	switch act.Kind {
	case model.Edit:
		q := edits.Editing{By: o.me, Above: o.g.lineage(o.by), Paths: []string{string(pattern)}}
		o.judgement = edits.MayEdit(o.room, q, near, o.s, o.now)

	case model.Reserve:
		o.begin()
		q := scope.Reserving{By: o.me, Patterns: []glob.Pattern{pattern}, TTL: ticks(model.ReservationTTL)}
		events, _, err := scope.Reserve(o.room, q, near, o.s, o.now)
		o.rule(o.room, events, err)

	case model.Unreserve:
		o.begin()
		near = slices.DeleteFunc(near, func(v stick.Reservation) bool {
			return v.Agent != o.me || v.Pattern != pattern
		})
		events, err := scope.Unreserve(o.room, o.me, false, near)
		o.rule(o.room, events, err)
	}
}

// reservations lists those of paths, the earliest first.
func (g *game) reservations() (all []stick.Reservation) {
	for _, v := range g.record.Reservations {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b stick.Reservation) int { return int(a.ID - b.ID) })
	return all
}
