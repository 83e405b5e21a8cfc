package engine

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/talk"
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
	Handoff        *stick.Handoff    `json:"handoff"`       // null if there is none, or if it is in recovery
	FromAgentID    *stick.AgentID    `json:"from_agent_id"` // who wrote Handoff
	Recovery       *Recovery         `json:"recovery,omitempty"`
	LeaseExpiresAt stick.Time        `json:"lease_expires_at"` // null while a process keeps the lease
	LeaseKeptBy    stick.LeaseKeeper `json:"lease_kept_by"`
	GuardianPID    int               `json:"guardian_pid,omitempty"`
	GuardianWhy    stick.Words       `json:"guardian_why,omitempty"` // why there is none, although the lease needs one
	Drift          *Drift            `json:"drift,omitempty"`
	Notes          int               `json:"unresolved_notes,omitempty"`
	Changes        *ledger.NotedWork `json:"changes,omitempty"` // without paths

	unseen stick.Process // the holder's, if others can't see it and no guardian serves it; zero otherwise
}

// Recovery is the last handoff, for a holder that didn't get the stick directly from the agent that wrote it.
// It also lists what happened since, and what later holders saved of handoffs that they never gave.
type Recovery struct {
	Handoff     *stick.Handoff `json:"handoff"` // null if the room has none, only a draft
	EventSeq    int64          `json:"handoff_event_seq"`
	FromAgentID stick.AgentID  `json:"from_agent_id"` // who wrote Handoff
	CreatedAt   stick.Time     `json:"created_at"`
	Since       []stick.Words  `json:"since"` // later takeovers, abandoned turns and kicks, a line each

	// Draft is what a holder since then saved of its handoff, before its turn ended without one.
	Draft *stick.Draft `json:"draft,omitempty"`
	// those of turns before that one, the newest first; of many of them the newest 20.
	Drafts []talk.EarlierDraft `json:"earlier_drafts,omitempty"`
}

// grantOf describes the grant that me holds in r. The log of the transaction doesn't have the unsaved events
// yet.
func grantOf(
	tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity, why stick.ClaimReason, unsaved []stick.Event,
) (*Grant, error) {
	t := r.Turn
	s, now := probes.Probed, tx.Now()
	g := &Grant{
		RoomID: r.ID, Path: r.Path, AgentID: me.Agent, TurnID: t.ID, LeaseID: t.Lease, Reason: why,
		LeaseKeptBy: r.LeaseKeptBy(s, now), LeaseExpiresAt: r.LeaseExpiresAt(s, now), GuardianPID: r.Guardian(now),
	}

	hasGuardian := r.Guardian(now) != 0 && t.GuardianOf == me.Caller.Process.Key()
	if !hasGuardian && needsGuardian(r, me, probes) {
		g.unseen = me.Caller.Process
	}

	// The next query brings what these two ask for, so that a server is asked once.
	if err := tx.LaterCountNotes(core.OpenNotes(r), &g.Notes); err != nil {
		return g, err
	}

	var last *stick.Event
	if t.HandoffSeq != 0 {
		if err := tx.LaterEvent(r.ID, t.HandoffSeq, &last); err != nil {
			return g, err
		}
	}

	var err error
	if g.Changes, err = ledger.CountNotedWork(tx, probes, r, me); err == nil {
		err = tx.FetchLater()
	}
	if err != nil {
		return g, err
	}

	// A grant says how many changes there are, and not which.
	if g.Changes != nil {
		g.Changes.Paths = nil
	}

	if t.HandoffSeq != 0 {
		// On a damaged log the handoff may be missing.
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
		v.Draft, v.Drafts = &drafts[0], talk.EarlierDrafts(drafts[1:])
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

	// A commit can be missing here only if it was made in another host's checkout.
	if g.Drift == nil && ok || !e.core.ManyHosts(ctx) {
		return
	}

	limited, cancel := context.WithTimeout(ctx, core.TreeLimit)
	defer cancel()
	if has, err := e.core.Config.Git.HasCommit(limited, p.Root, was.Head); err == nil && !has {
		g.Drift = &Drift{HeadWas: was.Head, HeadIs: commit, BranchWas: was.Branch, BranchIs: branch, Absent: true}
	}
}

// maxRecovery is how many events since the last handoff a recovery lists at most.
const maxRecovery = 20

// needsGuardian reports whether me runs in a process that some other member or listener can't see, because
// that one is in another pid namespace or on another boot. Then my lease needs a guardian. Processes that
// ended with an earlier boot don't count. Verdict decides about them without asking the operating system, so
// it may be called inside a transaction.
func needsGuardian(r stick.Room, me core.Identity, probes *core.Probes) bool {
	mine := me.Caller.Process

	// Without a process of its own, a session has nothing that a guardian could watch.
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

	return slices.ContainsFunc(r.Listeners, func(l stick.Listener) bool {
		return l.Agent != me.Agent && isInvisible(l.Process)
	})
}
