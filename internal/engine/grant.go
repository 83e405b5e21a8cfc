package engine

import (
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Grant is what the holder of the stick needs to know. It is the same on every ask, until the
// holder's own release or pass commits.
type Grant struct {
	RoomID         stick.RoomID      `json:"room_id"`
	Path           string            `json:"canonical_path"`
	AgentID        stick.AgentID     `json:"agent_id"`
	TurnID         int64             `json:"turn_id"`
	LeaseID        stick.LeaseID     `json:"lease_id"`
	Reason         stick.ClaimReason `json:"reason"`
	Handoff        *stick.Handoff    `json:"handoff"`       // null without one, and when it is in Recovery
	FromAgentID    *stick.AgentID    `json:"from_agent_id"` // who left Handoff
	Recovery       *Recovery         `json:"recovery,omitempty"`
	LeaseExpiresAt stick.Time        `json:"lease_expires_at"` // null while a process keeps the lease
	LeaseKeptBy    stick.LeaseKeeper `json:"lease_kept_by"`
	GuardianPID    int               `json:"guardian_pid,omitempty"`
	Drift          *Drift            `json:"drift,omitempty"`
	Notes          int               `json:"unresolved_notes,omitempty"`
	NeedsGuardian  bool              `json:"-"` // others can't see the process that keeps this lease
}

// Recovery is the last handoff for a holder that didn't get it from its giver: what happened
// since is told with it.
type Recovery struct {
	Handoff     stick.Handoff `json:"handoff"`
	EventSeq    int64         `json:"handoff_event_seq"`
	FromAgentID stick.AgentID `json:"from_agent_id"`
	CreatedAt   stick.Time    `json:"created_at"`
	Since       []string      `json:"since"` // takeovers, abandons and kicks since, a line each
}

// grantOf describes the grant that me holds in r. The log of the transaction doesn't have the unsaved events yet.
func grantOf(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity, why stick.ClaimReason, unsaved []stick.Event) (*Grant, error) {
	t := r.Turn
	g := &Grant{
		RoomID: r.ID, Path: r.Path, AgentID: me.Agent, TurnID: t.ID, LeaseID: t.Lease, Reason: why,
		LeaseKeptBy: r.LeaseKeptBy(probes.Probed), LeaseExpiresAt: r.LeaseExpiresAt(probes.Probed), GuardianPID: t.GuardianPID,
		NeedsGuardian: t.GuardianPID == 0 && needsGuardian(r, me, probes),
	}
	var err error
	if g.Notes, err = tx.CountNotes(openNotes(r)); err != nil || t.HandoffSeq == 0 {
		return g, err
	}
	last, err := tx.Event(r.ID, t.HandoffSeq)
	if err != nil || last == nil || last.Handoff == nil {
		return g, err
	}
	if t.HandoffDirect {
		g.Handoff, g.FromAgentID = last.Handoff, &last.From
		return g, nil
	}
	g.Recovery = &Recovery{Handoff: *last.Handoff, EventSeq: last.Seq, FromAgentID: last.From, CreatedAt: last.CreatedAt, Since: []string{}}
	since, _, err := tx.Events(store.EventQuery{
		Room: r.ID, After: last.Seq, Limit: maxRecovery, Newest: true,
		Types: []stick.EventType{stick.EventTakeover, stick.EventKick, stick.EventLeave, stick.EventRestored},
	})
	for _, e := range append(since, unsaved...) {
		if e.Type == stick.EventTakeover || e.TurnEndedOf() != "" {
			g.Recovery.Since = append(g.Recovery.Since, e.Say())
		}
	}
	return g, err
}

// Drift says that the shared tree isn't where it was when the last handoff was made.
type Drift struct {
	HeadWas   string `json:"head_was"`
	HeadIs    string `json:"head_is"`
	BranchWas string `json:"branch_was,omitempty"`
	BranchIs  string `json:"branch_is,omitempty"`
}

// addDrift tells the new holder when the tree has moved since the handoff. It reads git's files
// only, because a turn should begin at once.
func (e *Engine) addDrift(g *Grant) {
	if g == nil {
		return
	}
	var was *stick.Workspace
	switch {
	case g.Handoff != nil:
		was = g.Handoff.Workspace
	case g.Recovery != nil:
		was = g.Recovery.Handoff.Workspace
	}
	if was == nil || was.Head == "" {
		return
	}
	p, err := workspace.Resolve(g.Path, e.core.Config.Workspace)
	if err != nil {
		return
	}
	commit, branch, ok := workspace.Head(p.Root)
	if ok && (commit != was.Head || branch != was.Branch) {
		g.Drift = &Drift{HeadWas: was.Head, HeadIs: commit, BranchWas: was.Branch, BranchIs: branch}
	}
}

// maxRecovery bounds how much of what happened since the last handoff is told.
const maxRecovery = 20

// needsGuardian tells whether a process carries me that some other member can't see: it runs in another
// pid namespace or on another boot, so that my lease needs a guardian. What ended with an earlier
// boot looks at nothing any more; a process of another world is judged without being probed.
func needsGuardian(r stick.Room, me core.Identity, probes *core.Probes) bool {
	mine := me.Caller.Process
	if mine.IsZero() || me.Caller.Proof == stick.ProvesCarrier {
		return false
	}
	elsewhere := func(p stick.Process) bool { return !p.Comparable(mine) && probes.Procs.Verdict(p) != stick.Gone }
	for _, m := range r.Members {
		if m.Agent != me.Agent && m.State == stick.Joined &&
			slices.ContainsFunc(m.Processes, func(ev stick.Evidence) bool { return elsewhere(ev.Process) }) {
			return true
		}
	}
	return slices.ContainsFunc(r.Listeners, func(l stick.Listener) bool { return l.Agent != me.Agent && elsewhere(l.Process) })
}

// fence completes the fence of an owner's command: what the caller gave, or its own last grant.
// Without either the caller never had the stick.
func (o *op) fence(given stick.Fence) (stick.Fence, error) {
	switch {
	case given.Turn != 0 && given.Lease != "":
		return given, nil
	case given.Turn != 0 || given.Lease != "":
		return given, stick.Errorf(stick.CodeUsage, "a turn and its lease are given together").
			Hintf("give --turn and --lease, or neither to mean your own last turn")
	}
	now := o.Room.Turn
	if now.State == stick.Owned && now.Owner == o.Me.Agent {
		return stick.Fence{Turn: now.ID, Lease: now.Lease}, nil
	}
	last, err := o.lastGrant()
	if err != nil {
		return given, err
	}
	if last == nil {
		return given, o.errNotYourTurn()
	}
	return stick.Fence{Turn: last.Turn}, nil // the lease is over, and the log knows only its sum
}

// lastGrant is the event of the caller's own last grant, or nil.
func (o *op) lastGrant() (*stick.Event, error) {
	events, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, From: o.Me.Agent, Limit: 1, Newest: true,
		Types: []stick.EventType{stick.EventClaim, stick.EventTakeover},
	})
	if err != nil || len(events) == 0 {
		return nil, err
	}
	return &events[0], nil
}

func (o *op) errNotYourTurn() error {
	r, now := o.Room, o.Tx.Now()
	e := stick.Errorf(stick.CodeNotYourTurn, "it isn't your turn; %s", r.Holder(now)).
		With("room_state", r.State(o.Probes.Probed, now)).With("current_turn_id", r.Turn.ID).With("current_owner", nil).
		Hintf("%s", r.NextStep())
	switch {
	case r.Closed:
		e.Hintf("stop here; a closed room has no turns")
	case r.Turn.State == stick.Owned:
		e.With("current_owner", r.Turn.Owner)
	case r.Turn.State == stick.Reserved:
		e.With("reserved_for", r.Turn.ReservedFor)
	}
	return e
}

// endingEvent looks for the event by which the caller itself ended the turn of a fence, with the same
// kind of command: the command is then repeated, and gets its first result again. When somebody
// else ended the turn, or the caller by another command, the fence is refused and says by what.
func (o *op) endingEvent(f stick.Fence, types ...stick.EventType) (*stick.Event, error) {
	r := o.Room
	if r.Turn.State == stick.Owned && r.Turn.ID == f.Turn {
		return nil, nil
	}
	events, _, err := o.Tx.Events(store.EventQuery{Room: r.ID, Turn: f.Turn, Limit: 100, Types: []stick.EventType{
		stick.EventClaim, stick.EventTakeover, stick.EventRelease, stick.EventPass, stick.EventLeave, stick.EventKick,
		stick.EventClose, stick.EventRestored,
	}})
	if err != nil {
		return nil, err
	}
	var end *stick.Event
	for i, e := range events {
		switch {
		case e.Type == stick.EventRelease || e.Type == stick.EventPass,
			e.TurnEndedOf() != "" && e.Type != stick.EventTakeover && e.Type != stick.EventRestored:
			end = &events[i]
		case (e.Type == stick.EventClose || e.Type == stick.EventLeave) && end != nil && end.From == e.From:
			end = &events[i] // leaving or closing with a handoff: a release, and then this
		}
	}
	if end != nil && end.From == o.Me.Agent && slices.Contains(types, end.Type) && o.sameLease(f, events) {
		return end, nil
	}
	if end == nil {
		later, _, err := o.Tx.Events(store.EventQuery{
			Room: r.ID, After: lastSeq(events), Limit: 1, Types: []stick.EventType{stick.EventTakeover, stick.EventRestored},
		})
		if err != nil {
			return nil, err
		}
		if len(later) > 0 && len(events) > 0 {
			end = &later[0]
		}
	}
	if end == nil {
		return nil, nil
	}
	what := *end
	what.Handoff = nil // who holds the stick is told with its next action
	e := stick.Errorf(stick.CodeTurnMismatch, "turn %d is over: %s; %s", f.Turn, what.Say(), r.Holder(o.Tx.Now()))
	if f.Turn == r.Turn.ID {
		e.Code = stick.CodeStaleLease
	}
	e.With("current_turn_id", r.Turn.ID).With("room_state", r.State(o.Probes.Probed, o.Tx.Now())).With("current_owner", nil).
		With("ended_by", end.Type).Hintf("stop, and wait for your turn: %s", stick.Cmd("tt wait"))
	switch {
	case r.Closed:
		e.Hintf("stop here; a closed room has no turns")
	case r.Turn.State == stick.Owned && r.Turn.Owner != o.Me.Agent:
		e.With("current_owner", r.Turn.Owner).Hintf("stop, and %s", r.NextStep())
	case r.Turn.State == stick.Owned:
		e.With("current_owner", r.Turn.Owner)
	}
	return nil, e
}

// sameLease tells whether the lease of a fence is the one of the turn's grant; a fence without a
// lease means the caller's own.
func (o *op) sameLease(f stick.Fence, events []stick.Event) bool {
	return f.Lease == "" || slices.ContainsFunc(events, func(e stick.Event) bool {
		return e.Type.Grants() && e.Lease() == stick.LeaseSum(f.Lease)
	})
}

func lastSeq(events []stick.Event) int64 {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}
