package stick_test

import (
	"fmt"
	"slices"

	"talkingstick/internal/model"
	"talkingstick/stick"
	"talkingstick/stick/scope"
	"talkingstick/stick/sticktest"
)

// compareAnswer compares what an act was answered.
func (g *game) compareAnswer(act model.Act, o performed, res model.Result) string {
	if act.Kind == model.Edit {
		judgement := model.Fine
		switch {
		case o.judgement.Denied != nil:
			judgement = model.Denied
		case o.judgement.Told != nil:
			judgement = model.Told
		}

		g.total.count("edit: " + []string{model.Fine: "fine", model.Told: "told", model.Denied: "denied"}[judgement])
		if judgement != res.Judgement {
			return fmt.Sprintf("edit: the rules say %d, the model %d", judgement, res.Judgement)
		}
	}

	if !o.asked {
		return ""
	}

	status := model.Status(o.answer.Status)
	switch o.answer.Status {
	case "":
		status = model.GoesOn
	case stick.WasKicked, stick.HasLeft, stick.RoomClosed:
		status = model.Over

	case stick.YourTurn:
		if o.answer.Claim == stick.AlreadyOwner {
			status = model.AlreadyHeld
		}
	}

	g.total.count("answer: " + string(status))
	switch {
	case status != res.Status:
		return fmt.Sprintf("answer: the rules say %q, the model %q", status, res.Status)
	case status != model.Takeover:
	case o.answer.Opening.Cause != causes[res.Cause]:
		return fmt.Sprintf("answer: a takeover because of %s, not %s", o.answer.Opening.Cause, causes[res.Cause])
	case act.Kind != model.Try && !res.MayOffer:
		return "offer: to one that can't have it now"
	}

	return ""
}

// compareDeadline compares when the wait that has just looked looks again. It may be earlier than the model
// says, not later.
func (g *game) compareDeadline(act model.Act, o performed) string {
	if !o.asked || act.Kind == model.Try || g.waits[act.By] == "" {
		return ""
	}
	r := g.room
	r.Listeners = g.listeners()
	at := r.NextDeadline(o.asking(g.waits[act.By], true), o.s, g.now)
	g.wakesAt[act.By] = at

	m := g.model.Agents[act.By]
	latest := sticktest.Start.Add(ticks(m.Alarm))
	switch {
	case m.Alarm != model.Never && (at == 0 || at > latest):
		return fmt.Sprintf("deadline: %v, and the model says %v", at, latest)
	case g.waits[act.By] == stick.Work && r.Opening(o.s, g.now).Open() && at == 0:
		return "deadline: none although a takeover is open"
	}

	return ""
}

// compare compares the two rooms.
func (g *game) compare() string {
	r, m, s := g.room, &g.model, g.probed()
	r.Listeners = g.listeners()
	t := r.Turn

	type pair struct {
		what         string
		rules, model any
	}

	pairs := []pair{
		{"closed", r.Closed, m.Closed},
		{"paused", r.Paused.On(), m.Paused},
		{
			"stage",
			t.State,
			[]stick.TurnState{
				model.Idle: stick.Idle, model.Owned: stick.Owned, model.Reserved: stick.Reserved,
			}[m.Stage],
		},
		{"owner", t.Owner, agentAt(m.Owner)},
		{"recipient", t.ReservedFor, agentAt(m.Recipient)},
		{"by a pass", t.ReservedBy == stick.ByPass, m.Stage == model.Reserved && m.ByPass},
		{"turn", t.ID - g.skipped, int64(m.Turn)},
		{"prior", t.Prior, agentAt(m.Prior)},
		{"handoff", t.HandoffSeq > 0, m.HasHandoff},
		{"handoff pending", t.HandoffPending, m.HandoffPending},
		{"handoff direct", t.HandoffDirect, m.HandoffDirect},
		{"grace", r.Policy.WaiterGrace, ticks(m.Limits.Grace)},
		{"claim", r.Policy.ClaimTTL, ticks(m.Limits.Claim)},
		{"lease", r.Policy.OwnerLeaseTTL, ticks(m.Limits.Lease)},
		{"idle", r.Policy.OwnerIdleTTL, ticks(m.Limits.Idle)},
		{"enforce", r.Policy.Enforce, stick.Strictness[m.Enforce]},
		{"cause", r.Opening(s, g.now).Cause, causes[m.Cause()]},
	}

	for _, p := range pairs {
		if p.rules != p.model {
			return fmt.Sprintf("%s: the rules say %v, the model %v", p.what, p.rules, p.model)
		}
	}

	if differs := g.compareReservations(s); differs != "" {
		return differs
	}

	for a := range m.Count {
		if differs := g.compareAgent(r, a, s); differs != "" {
			return differs
		}
	}

	return g.compareNext(r, s)
}

func (g *game) compareReservations(s *stick.Probed) string {
	var owners [len(model.Room{}.Reservations)]stick.AgentID
	for _, v := range g.record.Reservations {
		path := slices.Index(reservedPaths, v.Pattern)
		if owners[path] != "" {
			return fmt.Sprintf("reservation: two of %s", v.Pattern)
		}
		owners[path] = v.Agent
	}

	for path, v := range g.model.Reservations {
		if owners[path] != agentAt(v.By) {
			return fmt.Sprintf("reservation: of %s the rules say %q, the model %q",
				reservedPaths[path], owners[path], agentAt(v.By))
		}
	}

	for _, v := range g.record.Reservations {
		path := slices.Index(reservedPaths, v.Pattern)
		if stale := scope.Stale(g.room, v, s, g.now); stale != g.model.IsStale(path) {
			return fmt.Sprintf("reservation: that of %s is stale: the rules say %v", v.Pattern, stale)
		}
	}

	return ""
}

func (g *game) compareAgent(r stick.Room, a model.Who, s *stick.Probed) string {
	m := g.model.Agents[a]
	x, _ := r.Member(agentAt(a))
	joined, waits := x.State == stick.Joined, g.waits[a] != ""
	switch {
	case joined != (m.Membership == model.Joined):
		return fmt.Sprintf("member: the rules say that %s is %q", agentAt(a), x.State)
	case waits != (m.Wait != model.NoWait):
		return fmt.Sprintf("wait: the rules say %v of %s", waits, agentAt(a))
	case !joined:
		return ""
	case x.Rests() != m.Rests:
		return fmt.Sprintf("rest: the rules say %v of %s", x.Rests(), x.Agent)
	case x.Ordinal != m.Ordinal:
		return fmt.Sprintf("order: the rules put %s at %d, the model at %d", x.Agent, x.Ordinal, m.Ordinal)
	}

	if _, under := r.Parent(x.Agent, g.lineage(a), s); under != g.model.IsUnder(a) {
		return fmt.Sprintf("parent: the rules say %v of %s", under, x.Agent)
	}
	return ""
}

// compareNext compares whom a release would name now.
func (g *game) compareNext(r stick.Room, s *stick.Probed) string {
	if r.Turn.State != stick.Owned {
		return ""
	}
	released, _, err := r.Release(r.Turn.Owner, g.fence(), someHandoff, s, g.now)
	if err != nil {
		return "next: " + err.Error()
	}
	if to := agentAt(g.model.NextAfterRelease()); released.Turn.ReservedFor != to {
		return fmt.Sprintf("next: the rules name %q, the model %q", released.Turn.ReservedFor, to)
	}

	return ""
}
