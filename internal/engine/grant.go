package engine

import (
	"context"
	"slices"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Grant is what the holder of the stick needs to know. Every answer repeats it unchanged until the holder's
// own release or pass commits.
type Grant struct {
	RoomID         stick.RoomID      `json:"room_id"`
	Path           string            `json:"canonical_path"`
	AgentID        stick.AgentID     `json:"agent_id"`
	TurnID         int64             `json:"turn_id"`
	LeaseID        stick.LeaseID     `json:"lease_id"`
	Reason         stick.ClaimReason `json:"reason"`
	Handoff        *stick.Handoff    `json:"handoff"`       // null if there is none, or if it is in Recovery
	FromAgentID    *stick.AgentID    `json:"from_agent_id"` // who wrote Handoff
	Recovery       *Recovery         `json:"recovery,omitempty"`
	LeaseExpiresAt stick.Time        `json:"lease_expires_at"` // null while a process keeps the lease
	LeaseKeptBy    stick.LeaseKeeper `json:"lease_kept_by"`
	GuardianPID    int               `json:"guardian_pid,omitempty"`
	Drift          *Drift            `json:"drift,omitempty"`
	Notes          int               `json:"unresolved_notes,omitempty"`
	Changes        *guard.NotedWork  `json:"changes,omitempty"` // without paths
	NeedsGuardian  bool              `json:"-"`                 // others can't see the process that keeps this lease
}

// Recovery is the last handoff, for a holder that didn't get the stick directly from the agent that wrote it.
// It also lists what happened since, and what later holders saved of handoffs that they never gave.
type Recovery struct {
	Handoff     *stick.Handoff `json:"handoff"` // null if the room has none, only a draft
	EventSeq    int64          `json:"handoff_event_seq"`
	FromAgentID stick.AgentID  `json:"from_agent_id"` // who wrote Handoff
	CreatedAt   stick.Time     `json:"created_at"`
	Since       []stick.Words  `json:"since"` // later takeovers, abandoned turns and kicks, a line each

	Draft  *stick.Draft         `json:"draft,omitempty"`          // what a holder since then saved of its handoff before its turn ended without one
	Drafts []stick.EarlierDraft `json:"earlier_drafts,omitempty"` // those of turns before that one, the newest first; of many of them the newest 20
}

// grantOf describes the grant that me holds in r. The log of the transaction doesn't have the unsaved events
// yet.
func grantOf(tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity, why stick.ClaimReason, unsaved []stick.Event) (*Grant, error) {
	t := r.Turn
	s, now := probes.Probed, tx.Now()
	g := &Grant{
		RoomID: r.ID, Path: r.Path, AgentID: me.Agent, TurnID: t.ID, LeaseID: t.Lease, Reason: why,
		LeaseKeptBy: r.LeaseKeptBy(s, now), LeaseExpiresAt: r.LeaseExpiresAt(s, now), GuardianPID: r.Guardian(now),
		NeedsGuardian: (r.Guardian(now) == 0 || t.GuardianOf != me.Caller.Process.Key()) && needsGuardian(r, me, probes),
	}
	if err := tx.LaterCountNotes(openNotes(r), &g.Notes); err != nil {
		return g, err
	}
	var last *stick.Event
	if t.HandoffSeq != 0 {
		if err := tx.LaterEvent(r.ID, t.HandoffSeq, &last); err != nil {
			return g, err
		}
	}
	var err error
	if g.Changes, err = guard.CountNotedWork(tx, probes, r, me); err == nil {
		err = tx.Arrive()
	}
	if err != nil {
		return g, err
	}
	if g.Changes != nil {
		g.Changes.Paths = nil
	}
	if t.HandoffSeq != 0 {
		if last == nil || last.Handoff == nil {
			return g, nil
		}
		if t.HandoffDirect {
			g.Handoff, g.FromAgentID = last.Handoff, &last.From
			return g, nil
		}
	}
	g.Recovery, err = recoveryOf(tx, r, last, unsaved)
	return g, err
}

// handoffWorkspace is the state of the tree that the last handoff is about, or nil.
func (v *Recovery) handoffWorkspace() *stick.Workspace {
	if v.Handoff == nil {
		return nil
	}
	return v.Handoff.Workspace
}

// recoveryOf returns the last handoff and what happened since, or nil if there is neither a handoff nor a
// draft.
func recoveryOf(tx *store.Tx, r stick.Room, last *stick.Event, unsaved []stick.Event) (*Recovery, error) {
	v := &Recovery{Since: []stick.Words{}}
	if last != nil {
		v.Handoff, v.EventSeq, v.FromAgentID, v.CreatedAt = last.Handoff, last.Seq, last.From, last.CreatedAt
	}
	drafts, err := earlierDrafts(tx, r)
	if err != nil || last == nil && len(drafts) == 0 {
		return nil, err
	}
	if len(drafts) > 0 {
		v.Draft, v.Drafts = &drafts[0], stick.EarlierDrafts(drafts[1:])
	}
	since, _, err := tx.Events(store.EventQuery{
		Room: r.ID, After: v.EventSeq, Limit: maxRecovery, Newest: true,
		Types: []stick.EventType{stick.EventTakeover, stick.EventKick, stick.EventLeave, stick.EventRestored},
	})
	for _, e := range append(since, unsaved...) {
		if e.Type == stick.EventTakeover || e.TurnEndedOf() != "" {
			v.Since = append(v.Since, e.Say())
		}
	}
	return v, err
}

// Drift says that HEAD of the shared tree has moved since the last handoff, or isn't where it was in another
// checkout.
type Drift struct {
	HeadWas   string `json:"head_was"`
	HeadIs    string `json:"head_is"`
	BranchWas string `json:"branch_was,omitempty"`
	BranchIs  string `json:"branch_is,omitempty"`
	Absent    bool   `json:"absent,omitempty"` // HeadWas isn't in this repository
}

// addDrift adds [Drift] to a grant if the tree has moved since the handoff. It only reads git's files and
// runs no git, because a turn should begin at once. Only where the handoff may come from another checkout it
// asks git whether its commit is here.
func (e *Engine) addDrift(ctx context.Context, g *Grant) {
	if g == nil {
		return
	}
	var was *stick.Workspace
	switch {
	case g.Handoff != nil:
		was = g.Handoff.Workspace
	case g.Recovery != nil:
		was = g.Recovery.handoffWorkspace()
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
	if g.Drift == nil && ok || !e.manyHosts(ctx) {
		return
	}
	limited, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	if has, err := e.core.Config.Git.HasCommit(limited, p.Root, was.Head); err == nil && !has {
		g.Drift = &Drift{HeadWas: was.Head, HeadIs: commit, BranchWas: was.Branch, BranchIs: branch, Absent: true}
	}
}

// manyHosts reports whether members may have other checkouts.
func (e *Engine) manyHosts(ctx context.Context) bool {
	db, err := e.core.Open(ctx, false)
	return err == nil && db.ManyHosts()
}

// maxRecovery is how many events since the last handoff a recovery lists at most.
const maxRecovery = 20

// needsGuardian reports whether me runs in a process that some other member or listener can't see, because
// that one is in another pid namespace or on another boot. Then my lease needs a guardian. Processes that
// ended with an earlier boot don't count. Verdict decides about them without asking the operating system, so
// it may be called inside a transaction.
func needsGuardian(r stick.Room, me core.Identity, probes *core.Probes) bool {
	mine := me.Caller.Process
	if mine.IsZero() || me.Caller.Proof == stick.ProvesCarrier {
		return false
	}
	isInvisible := func(p stick.Process) bool { return !p.Comparable(mine) && probes.Procs.Verdict(p) != stick.Gone }
	hasInvisible := func(ev stick.Evidence) bool { return !ev.Gone && isInvisible(ev.Process) }
	for _, m := range r.Members {
		if m.Agent != me.Agent && m.State == stick.Joined &&
			slices.ContainsFunc(m.Processes, hasInvisible) {
			return true
		}
	}
	return slices.ContainsFunc(r.Listeners, func(l stick.Listener) bool { return l.Agent != me.Agent && isInvisible(l.Process) })
}

// completeEndingFence completes the fence of a command that ends the caller's turn, as [op.ownFence] does. A caller that
// was detached from its session has to name the turn and the lease: nothing else shows that its session wants
// this.
func (o *op) completeEndingFence(given stick.Fence) (stick.Fence, error) {
	f, err := o.ownFence(given)
	if err == nil && o.Me.Detached && f.Lease != "" && given.Lease == "" {
		return given, stick.Errorf(stick.CodeUsage, "this command runs outside of the session of %s, so it must name the turn that it ends, and its lease", o.Me.Agent).
			With("agent_id", o.Me.Agent).Hintf("give --turn and --lease, as %s prints them", stick.Cmd("tt try"))
	}
	return f, err
}

// ownFence completes the fence of an owner's command: it is what the caller gave, else the caller's own last
// grant. A caller that never had the stick gets [stick.CodeNotYourTurn].
func (o *op) ownFence(given stick.Fence) (stick.Fence, error) {
	switch {
	case given.Turn != 0 && given.Lease != "":
		return given, o.requireKnown(given)
	case given.Turn != 0 || given.Lease != "":
		return given, stick.Errorf(stick.CodeUsage, "give a turn and its lease together").
			Hintf("give --turn and --lease, or neither for your own last turn")
	}
	now := o.Room.Turn
	if now.State == stick.Owned && now.Owner == o.Me.Agent {
		return stick.Fence{Turn: now.ID, Lease: now.Lease}, nil
	}
	last, err := o.LastGrant()
	if err != nil {
		return given, err
	}
	if last == nil {
		return given, o.errNotYourTurn()
	}
	return stick.Fence{Turn: last.Turn}, nil // the lease is over, and the log has only its hash
}

// errNotYourTurn says who has the stick, and what the caller can do next.
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

// ending is a command by which a caller ends its turn, as far as it can repeat an earlier one.
type ending struct {
	typ     stick.EventType // of the event that it makes; empty for a command that doesn't end a turn
	handoff *stick.Handoff
	to      stick.AgentID // whom it passes the stick to, as the caller named it
	reason  string        // why the turn is abandoned, or the room closed
}

// isRepeatOf reports whether the command says again what the caller said when it ended the turn. first is the
// handoff of that turn, or nil.
func (q ending) isRepeatOf(end stick.Event, first *stick.Handoff) bool {
	switch {
	case q.typ != end.Type:
		return false
	case q.to != "" && q.to != stick.Next && q.to != end.To && !strings.HasPrefix(string(end.To), string(q.to)+":"):
		return false
	case q.handoff != nil:
		return first != nil && q.handoff.SameAs(*first)
	}
	return strings.TrimSpace(q.reason) == end.Reason
}

// endingEvent returns the event with which the caller itself ended the turn of a fence by the same command.
// The caller is repeating that command then, and gets its first result again. If the caller ended the turn by
// another command, or with another handoff, endingEvent fails with [stick.CodeAlreadyEnded], because what it
// says now would be lost. If the turn ended in any other way, it fails with [stick.CodeTurnMismatch] or
// [stick.CodeStaleLease] and says how. While the turn runs, or if nothing is known of its end, it returns
// nil.
func (o *op) endingEvent(f stick.Fence, q ending) (*stick.Event, error) {
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
	var handoff *stick.Handoff
	for i, e := range events {
		if e.Handoff != nil {
			handoff = e.Handoff
		}
		switch {
		case e.Type == stick.EventRelease || e.Type == stick.EventPass,
			e.TurnEndedOf() != "" && e.Type != stick.EventTakeover && e.Type != stick.EventRestored:
			end = &events[i]
		case (e.Type == stick.EventClose || e.Type == stick.EventLeave) && end != nil && end.From == e.From:
			end = &events[i] // leaving or closing with a handoff is a release followed by this event
		}
	}
	if end != nil && end.From == o.Me.Agent && q.typ != "" && o.sameLease(f, events) {
		if q.isRepeatOf(*end, handoff) {
			return end, nil
		}
		return nil, o.errAlreadyEnded(f.Turn, *end, handoff)
	}
	if end == nil {
		later, _, err := o.Tx.Events(store.EventQuery{
			Room: r.ID, After: lastSeq(events), Limit: 1, Types: []stick.EventType{stick.EventTakeover, stick.EventRestored},
		})
		if err != nil {
			return nil, err
		}
		later = append(later, o.restoredEvents()...)
		if len(later) > 0 && len(events) > 0 {
			end = &later[0]
		}
	}
	if end == nil {
		return nil, nil
	}
	what := *end
	what.Handoff = nil // Say would repeat its next action, and r.HolderFor gives the current one
	e := stick.Errorf(stick.CodeTurnMismatch, "turn %d is over: %s; %s", f.Turn, what.Say(), r.HolderFor(o.Me.Agent, o.Tx.Now()))
	if f.Turn == r.Turn.ID {
		e.Code = stick.CodeStaleLease
	}
	e.With("current_turn_id", r.Turn.ID).With("room_state", r.State(o.Probes.Probed, o.Tx.Now())).With("current_owner", nil).
		With("ended_by", end.Type).Hintf("%s", r.FencedStep(o.Me.Agent))
	if !r.Closed && r.Turn.State == stick.Owned {
		e.With("current_owner", r.Turn.Owner)
	}
	return nil, e
}

// restoredEvents returns the event by which the operation itself has brought the room to a new generation, if it
// has.
func (o *op) restoredEvents() []stick.Event {
	return slices.DeleteFunc(slices.Clone(o.Events), func(e stick.Event) bool { return e.Type != stick.EventRestored })
}

// errAlreadyEnded says how the caller ended its turn, and how to add what it wants to say now.
func (o *op) errAlreadyEnded(turn int64, end stick.Event, handoff *stick.Handoff) error {
	r := o.Room
	how, said := map[stick.EventType]stick.Words{
		stick.EventRelease: "released it", stick.EventPass: stick.Wordsf("passed it to %s", end.To),
		stick.EventLeave: "left the room", stick.EventClose: "closed the room",
	}[end.Type], stick.Words("without a handoff")
	if handoff != nil {
		first := *handoff
		first.Workspace = nil // the caller didn't say that
		handoff = &first
		said = "with the status " + stick.Quote(handoff.Status, 200) + " and the next action " + stick.Quote(handoff.NextAction, 200)
	}
	e := stick.Errorf(stick.CodeAlreadyEnded, "turn %d is over, and this command changed nothing: you %s %s", turn, how, said).
		With("current_turn_id", r.Turn.ID).With("room_state", r.State(o.Probes.Probed, o.Tx.Now())).With("current_owner", nil).
		With("ended_by", end.Type).With("handoff", handoff)
	next := stick.AgentID("")
	switch {
	case r.Closed:
	case r.Turn.State == stick.Owned && r.Turn.Owner == o.Me.Agent:
		return e.With("current_owner", o.Me.Agent).Hintf("say it in the handoff of turn %d, which you hold; %s shows its lease", r.Turn.ID, stick.Cmd("tt try"))
	case r.Turn.State == stick.Owned:
		e.With("current_owner", r.Turn.Owner)
		next = r.Turn.Owner
	case r.Turn.State == stick.Reserved:
		e.With("reserved_for", r.Turn.ReservedFor)
		next = r.Turn.ReservedFor
	}
	add := stick.Cmd("tt notes add …")
	switch next {
	case "":
		return e.Hintf("to add something for the next holder: %s", add)
	case o.Me.Agent:
		return e.Hintf("say it in the handoff of your next turn, which is reserved for you: %s", stick.Cmd("tt wait"))
	}
	return e.Hintf("to add something for the next holder: %s; to tell %s: %s", add, next, stick.Cmd("tt msg send <agent> …", next))
}

// sameLease reports whether the fence has the lease of the turn's grant. A fence without a lease means the
// caller's own.
func (o *op) sameLease(f stick.Fence, events []stick.Event) bool {
	return f.Lease == "" || slices.ContainsFunc(events, func(e stick.Event) bool {
		return e.Type.Grants() && e.Lease() == stick.LeaseSum(f.Lease)
	})
}

// lastSeq returns the number of the last event, 0 for none.
func lastSeq(events []stick.Event) int64 {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}
