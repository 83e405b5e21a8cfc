package roster

import (
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// fillResult makes the result.
func (s *sessionStart) fillResult(o *op) error {
	now := o.Tx.Now()
	s.res = StartSessionResult{
		RoomID: o.Room.ID, Path: o.Room.Path, AgentID: o.Me.Agent,
		Role: s.started.Role, Start: s.started.Kind, Already: s.started.Already,
		Context: s.anchor.absPath(s.started.Context), Contract: s.roleContract(),
		RoomState: o.Room.State(o.Probes.Probed, now),
		Answered:  s.answered,
		Holder:    o.Room.Holder(now), Enforce: o.Room.Policy.Enforce,
		Apart:  o.Tx.ManyHosts() && o.Room.Policy.EnforceCheckouts != stick.AllCheckouts,
		Joined: o.Joined, Created: o.Created, Note: o.Me.Note,
		NoSnapshots: edits.Enforces(o.Room) && !edits.KeepsSnapshots(o.Room),
		YourTurn:    o.Room.Turn.State == stick.Owned && o.Room.Turn.Owner == o.Me.Agent,
	}

	if s.started.Primary != "" {
		s.res.Primary = &s.started.Primary
	}
	if s.started.Parent != "" {
		s.res.Parent = &s.started.Parent
	}
	if o.Room.Paused.On() {
		s.res.Paused = &o.Room.Paused
	}
	if o.Room.Turn.State == stick.Reserved {
		s.res.ReservedFor = &o.Room.Turn.ReservedFor
	}

	roster := s.roster.buildRoster(o.Room, s.scan, GetRosterParams{Caller: s.p.Caller}, o.Me.Agent, o.Probes.Probed, now)
	s.res.Others, s.res.Alone, s.res.Blind = roster.Others, roster.Alone, roster.Blind

	var err error

	// A session that goes on has read this at its start.
	if !s.continues || !s.started.Already {
		var how stick.StartKind
		if how, s.res.Recovered, err = startOf(o.Tx, o.Room, o.Me.Agent); err != nil {
			return err
		}
		s.res.Start = how
		s.res.Recovered.setPath(s.anchor)

		if s.res.Abandoned, err = abandonedBy(o.Tx, o.Room, s.earlierAgents); err != nil {
			return err
		}

		if s.res.Draft, err = s.roster.leftDraft(o.Op); err != nil {
			return err
		}
	}

	if s.res.Unread, s.res.Unacked, err = o.Tx.CountOpen(o.Room.ID, o.Me.Agent); err != nil {
		return err
	}
	if s.res.Changes, err = ledger.CountNotedWork(o.Tx, o.Probes, o.Room, o.Me); err != nil {
		return err
	}
	if s.res.Notes, err = o.Tx.CountNotes(core.OpenNotes(o.Room)); err != nil {
		return err
	}

	s.res.OlderHooks, err = o.olderHooks()
	return err
}

// olderHooks lists the active members, other than the caller, whose hooks an older program answers.
func (o *op) olderHooks() (agents []stick.AgentID, err error) {
	signs, err := o.Tx.SessionSigns(o.Room.ID)
	for _, m := range o.Room.Members {
		isOther := m.State == stick.Joined && m.Agent != o.Me.Agent
		if isOther && signs[m.Agent].OlderProgram && o.Room.Active(m.Agent, o.Tx.Now(), o.Probes.Probed) {
			agents = append(agents, m.Agent)
		}
	}

	return agents, err
}

// noPrimaryNote tells a helper without a primary who will become the primary. A member has to start its
// session itself; another agent is told to by its next hook.
func (s *sessionStart) noPrimaryNote() stick.Words {
	promote := stick.Hintf("if you are the only one: %s", stick.Cmd("tt session promote")).As(s.p.Caller.AssumedByFlag())
	switch f := s.elder; {
	case f == nil:
		return promote.Words()
	case f.member != "":
		return stick.Wordsf("%s was here before you, and becomes the primary when it starts its session; %s",
			f.member, promote)
	default:
		return stick.Wordsf("%s (pid %d) was here before you, and becomes the primary at its next prompt; "+
			"if it ends before that, and %s", f.Harness, f.Process.PID, promote)
	}
}

// startOf reads from the log how a member's running session started, and what it should recover. It returns
// the same as often as it is called, because an answer may have been lost.
func startOf(tx *store.Tx, r stick.Room, a stick.AgentID) (stick.StartKind, *Recovered, error) {
	started, _, err := tx.Events(store.EventQuery{
		Room: r.ID, From: a, Types: []stick.EventType{stick.EventSessionStarted}, Limit: 1, Newest: true,
	})
	if err != nil || len(started) == 0 {
		return "", nil, err
	}

	f, _ := stick.PayloadOf[stick.SessionStartedPayload](started[0])
	if f.Start != stick.StartRecover {
		return f.Start, nil, nil
	}

	left := &Recovered{AgentID: f.Prior, WrittenAt: f.Written}
	if seq := r.Turn.HandoffSeq; seq != 0 {
		last, err := tx.Event(r.ID, seq)
		if err != nil {
			return "", nil, err
		}

		// On a damaged log the handoff may be missing.
		if last != nil {
			left.Handoff, left.From, left.EventSeq = last.Handoff, last.From, seq
		}
	}

	return f.Start, left, nil
}

// setPath fills in the path, now that the place of the room's context files is known.
func (r *Recovered) setPath(a anchor) {
	if r != nil {
		r.Path = a.absPath("")
	}
}

// finishStart makes the session's context file, and adds notes and the project's instructions to the result.
func (s *sessionStart) finishStart() {
	// An earlier start may have been killed before this.
	if !s.started.Already || !s.anchor.hasFile(s.started.Context) {
		if err := s.anchor.beginFile(s.started.Context, s.res.AgentID, s.startedAt); err != nil {
			s.res.Note = core.JoinNotes(s.res.Note, stick.Wordsf("the context file can't be created: %s", err))
		}
	}

	// If this fails, the next start of that agent's own makes the file.
	if s.started.Elder != "" {
		_ = s.anchor.beginFile("", s.started.Elder, s.startedAt)
	}

	if s.started.Role == stick.RoleHelper && s.started.Primary == "" && s.started.Parent == "" && !s.inTaskTree {
		s.res.Note = core.JoinNotes(s.res.Note, s.noPrimaryNote())
	}

	s.res.Instructions = readInstructions(s.res.Path)
}
