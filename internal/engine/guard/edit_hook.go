package guard

import (
	"cmp"
	"context"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/shell"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// CheckEditParams is what a hook knows of a tool call that is about to run, or has run.
type CheckEditParams struct {
	core.HookParams
	Trees []string // it may change anything in the checkouts of these directories

	// What the call changes, as far as the hook knows.
	Paths   []string // files and directories; a directory means everything below it
	Names   []string // those of Paths that it removes, moves or replaces: of a link, not what it leads to
	Tracked []string // paths that git records, relative to the top directory, which is the place of the call

	Wholes []string // those of Paths whose content is replaced as a whole
	Shown  []string // files that it shows to the caller, or parts of them
	Failed bool     // it has failed, as far as the harness says so

	Branches []string    // full names of branches that it moves
	Acts     []shell.Act // what it may cost beyond the changes of files, such as whole directories

	Text string // of the command
	Call string // by which the harness names the call before and after it

	Unread bool // it is a command that may have changed more than is known

	// how long to look for that, or for whose work it takes; after that only what the command names counts. 0
	// for any time
	LookFor time.Duration

	// Rescuing is called before the hook looks at what a command would take away, and copies it, which takes
	// longer than a decision. It may be called more than once, and may be nil.
	Rescuing func()

	// Late is called with each snapshot that the caller is to have finished by another process, see
	// [Guard.FinishSnapshots]. It may be called after the limit of the hook.
	Late func(restore.LateSnapshot)
}

// CheckEdit decides for a hook whether a tool call may run. It decides like [Guard.MayEdit], and allows a
// call that changes nothing. [Guard.EditChecked] records what there is to record, but for a refusal that
// comes once.
func (g *Guard) CheckEdit(ctx context.Context, p CheckEditParams) (MayEditResult, error) {
	q, err := g.hookQuestion(p)
	if err != nil {
		return MayEditResult{Allowed: true}, err
	}

	var guarded keeper
	res, err := g.mayEdit(ctx, q, func(
		tx *store.Tx, probes *core.Probes, me core.Identity, r stick.Room, res *MayEditResult,
	) error {
		guarded.addRoom(r, me)
		o := &op{&core.Op{Tx: tx, Probes: probes, Me: me, Room: r}}
		if err := o.findReads(q, res); err != nil {
			return err
		}

		m, ok := r.Member(me.Agent)

		// A write for each hook would cost too much, so one is due only if it tells something new.
		quiet := !m.HooksSeen || (stick.Deadline{SetAt: m.LastSeenAt, TTL: core.FreshHook}).Due(tx.Now())
		res.due = res.due ||
			ok && m.State == stick.Joined &&
				(quiet || !m.IdleAt.IsZero() || o.timesCall(p) && m.BusySince.IsZero() || o.HoldsStick() && !r.Turn.Acked)

		// One denial in a turn is enough for the log.
		if !res.Allowed && !res.due {
			recorded, err := o.alreadyDenied()
			res.due = !recorded
			return err
		}

		return nil
	})
	if err != nil || res.Allowed {
		q.acts = g.actsIn(q.at, q.Acts)
	}
	if err != nil {
		g.keepAnyway(ctx, q)
		return MayEditResult{Allowed: true}, err
	}

	// The cheap checks come first, and each only if those before it allow the call.
	err = g.checkReads(ctx, q, &res)
	if res.Allowed {
		err = cmp.Or(g.checkPushes(ctx, q, &res), err)
	}
	switch {
	case !res.Allowed:
	case guarded.keepsSnapshots():
		res.kept = g.keepBefore(ctx, q, guarded)
		res.due = res.due || q.Unread
	case guarded.room.ID == "":
		g.keepAlone(ctx, q, rescue.MomentBefore)
	}

	if res.Allowed {
		err = cmp.Or(g.checkStash(ctx, q, &res), err)
	}
	if res.Allowed {
		err = cmp.Or(g.checkActs(ctx, q, &res), err)
	}
	if res.unkept != "" {
		err = cmp.Or(g.recordUnkept(ctx, p, &res), err)
	}

	return res, err
}

// recordUnkept records a refusal that comes once, before anybody hears of it: its words depend on that.
func (g *Guard) recordUnkept(ctx context.Context, p CheckEditParams, res *MayEditResult) error {
	p.Where = core.Where{RoomID: res.RoomID}
	err := g.runHookOp(ctx, p.HookParams, true, func(o *op) error {
		o.Events = append(o.Events, edits.DeniedCommand(o.Room, o.Me.Agent, res.unkept, res.unkeptSum))
		return o.RecordWork(p.HookParams)
	})

	res.due = false

	// Without a record the same command is refused again, and the words have to say so.
	if stick.CodeOf(err) == stick.CodeDataDirNotWritable {
		res.setJudgement(edits.Unrecorded(res.refusal), false)
	}

	return err
}

// hookQuestion makes the question of a hook. A path that can't be looked up is judged by its name. It is left
// out if even the name doesn't say where it lies, and the others are still judged. So the place of the hook
// only matters for relative paths.
func (g *Guard) hookQuestion(p CheckEditParams) (editQuestion, error) {
	for _, act := range p.Acts {
		if act.Kind == shell.Drops {
			p.Branches = append(p.Branches, act.Refs...)
		}
	}

	// Absolute paths can be judged although the place of the hook is unknown.
	at, aerr := g.core.PlaceOfHook(p.Where)
	q, err := g.newEditQuestion(at, p, false)
	if err = cmp.Or(aerr, err); err != nil && len(q.in)+len(q.tree) == 0 {
		return q, err
	}

	q.decides = true
	return q, nil
}

// EditChecked records that a tool call of the caller begins, or that it was denied, and what a command is
// going to do to work of others. It writes nothing if there is nothing new to record.
func (g *Guard) EditChecked(ctx context.Context, p CheckEditParams, res MayEditResult) error {
	if err := g.putTellings(ctx, editQuestion{CheckEditParams: p}, res.tellings); err != nil || !res.due {
		return err
	}
	if len(res.stale) > 0 {
		return g.noteRefusal(ctx, p, res)
	}

	q := editQuestion{CheckEditParams: p}
	p.Where = core.Where{RoomID: res.RoomID}
	var lost []lostCall
	var elsewhere []stick.RoomID
	err := g.runHookOp(ctx, p.HookParams, true, func(o *op) (err error) {
		lost = nil
		if !res.Allowed {
			recorded, err := o.alreadyDenied()
			if err != nil {
				return err
			}
			if !recorded {
				o.Events = append(o.Events, edits.Denied(o.Room, o.Me.Agent, res.Denied))
			}

			return o.RecordWork(p.HookParams)
		}

		// Only some calls need the time at which they began.
		if !o.timesCall(p) {
			return o.RecordWork(p.HookParams)
		}

		// A call whose end no hook saw ends at the latest when the next one begins.
		if p.Unread {
			if lost, err = o.findLost(q, res.kept); err != nil {
				return err
			}
		}

		if elsewhere, err = o.beginCalls(q, res.kept); err != nil {
			return err
		}

		return cmp.Or(o.ShowWork(p.HookParams), o.Tx.RecordToolCall(o.Me.Session.Key))
	})
	return cmp.Or(err, g.beginElsewhere(ctx, q, elsewhere, res.kept), g.endLost(ctx, p.HookParams, lost))
}

// timesCall reports whether it is recorded when a tool call begins: for the holder of the stick, who isn't
// idle then, and to tell what a command has changed.
func (o *op) timesCall(p CheckEditParams) bool {
	return o.HoldsStick() || p.Unread && edits.Enforces(o.Room)
}

// alreadyDenied reports whether the log already says that an edit was denied to the caller in this turn.
func (o *op) alreadyDenied() (bool, error) {
	last, err := o.readDenials()
	return slices.ContainsFunc(last, edits.DeniesEdit), err
}

// readDenials returns the last events by which hooks denied something to the caller in this turn.
func (o *op) readDenials() ([]stick.Event, error) {
	const most = 20 // with more commands in one turn, one may be refused twice
	events, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, From: o.Me.Agent, Turn: o.Room.Turn.ID,
		Types: []stick.EventType{stick.EventStickDenied}, Limit: most, Newest: true,
	})
	return events, err
}

// EditedResult is what an agent should know after a tool call.
type EditedResult struct {
	Told stick.Words // what was against the rules; empty if nothing was, or if the agent has been told already
	Hint stick.Words // the next safe step

	// Prune is true if the caller is to start a process that calls [restore.Restorer.PruneRescues]. Nobody has to wait
	// for that.
	Prune bool
}

// CheckEdited asks again after a tool call has run. If the caller lost the right to make the change
// meanwhile, an event tells it and the holder of the stick. Where the room only warns, the caller is told
// once in a turn, and so is the holder. It also notes who has edited which files, and what the caller was
// shown.
func (g *Guard) CheckEdited(ctx context.Context, p CheckEditParams) (out EditedResult, err error) {
	defer func() { err = cmp.Or(err, g.noteReads(ctx, p)) }()
	pushes := slices.ContainsFunc(p.Acts, func(a shell.Act) bool { return a.Kind == shell.Pushes })
	if len(p.Paths)+len(p.Trees) == 0 && !p.Unread && !pushes {
		return out, nil
	}

	q, err := g.hookQuestion(p)
	if err != nil {
		return out, err
	}

	// A push that failed has reached nobody.
	if pushes && !p.Failed {
		for _, to := range g.pushesIn(q) {
			told, err := g.tellPushed(ctx, p.HookParams, to)
			if err != nil {
				return out, err
			}
			out = cmp.Or(told, out)
		}
	}

	if len(p.Paths)+len(p.Trees) > 0 {
		again, err := g.askedAgain(ctx, p, q)
		if err != nil {
			return out, err
		}
		out = cmp.Or(again, out)
	}

	// An error of the stash doesn't keep the edits from being noted.
	serr := g.noteStash(ctx, q)
	ended, err := g.noteEdits(ctx, q)
	unkept := unkeptIn(ended)
	if refusal := git.RefusalOf(err); refusal != nil {
		unkept, err = newRefusal(q, refusal), nil
	}
	if unkept.why != "" && out.Told == "" {
		told, uerr := g.tellUnkept(ctx, p.HookParams, unkept)
		out, err = told, cmp.Or(err, uerr)
	}

	// Else the room was asked of what the text names.
	if q.Unread && len(p.Paths)+len(p.Trees) == 0 {
		found, aerr := g.askedOfFound(ctx, p, ended)
		out, err = cmp.Or(out, found), cmp.Or(err, aerr)
	}

	out.Prune = slices.ContainsFunc(ended, func(c *checkout) bool { return c.prune })
	if len(ended) == 0 {
		out.Prune = g.keepAfterAlone(ctx, q)
	}
	return out, cmp.Or(err, g.tellHappened(ctx, q), g.tellEnd(ctx, q, ended), serr)
}

// askedOfFound is [Guard.askedAgain] about files that a command has changed, as only the look after it shows.
func (g *Guard) askedOfFound(
	ctx context.Context, p CheckEditParams, ended []*checkout,
) (out EditedResult, err error) {
	// What the text names was asked already.
	p.Paths, p.Names, p.Trees = nil, nil, nil
	for _, c := range ended {
		p.Paths = append(p.Paths, c.changedPaths()...)
	}

	if len(p.Paths) == 0 {
		return out, nil
	}

	q, err := g.hookQuestion(p)
	if err != nil {
		return out, err
	}

	return g.askedAgain(ctx, p, q)
}

// askedAgain is the question and the answer of [Guard.CheckEdited].
func (g *Guard) askedAgain(ctx context.Context, p CheckEditParams, q editQuestion) (out EditedResult, err error) {
	known := false
	res, err := g.mayEdit(ctx, q, func(
		tx *store.Tx, probes *core.Probes, me core.Identity, r stick.Room, res *MayEditResult,
	) (err error) {
		if res.Told != "" && res.RoomID == r.ID {
			known, err = (&op{&core.Op{Tx: tx, Probes: probes, Me: me, Room: r}}).alreadyTold()
		}
		return err
	})

	// Most calls end here, without a write.
	if err != nil || res.Allowed && (res.Told == "" || known) {
		return out, err
	}

	p.Where = core.Where{RoomID: res.RoomID}
	return out, g.runHookOp(ctx, p.HookParams, true, func(o *op) error {
		out = EditedResult{}
		if res.Told != "" {
			known, err := o.alreadyTold()
			if err != nil || known {
				return err
			}

			out = EditedResult{Told: res.Told, Hint: res.Hint}
			o.Events = append(o.Events, edits.EditTold(o.Room, o.Me.Agent, res.against))
			return nil
		}

		// It has the stick again.
		if o.HoldsStick() {
			return nil
		}

		// Who gave up its right during the call knew what it did.
		gave, err := o.gaveUpTurn(res.Denied)
		if err != nil || gave {
			return err
		}

		o.Events = append(o.Events, edits.LateEdit(o.Room, o.Me.Agent, res.Denied, p.Tool))
		return nil
	})
}

// alreadyTold reports whether the caller needn't be told again that it edits against the rules.
func (o *op) alreadyTold() (bool, error) {
	last, err := o.readTellings()
	return edits.Told(o.Room, o.Me.Agent, last), err
}

// readTellings returns the last events by which hooks told the caller of something.
func (o *op) readTellings() ([]stick.Event, error) {
	const most = 20 // with more turns in a session it is told again
	last, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, From: o.Me.Agent, Types: []stick.EventType{stick.EventEditTold}, Limit: most, Newest: true,
	})
	return last, err
}

// gaveUpTurn reports whether the caller itself gave up its right to change the paths while the tool call ran,
// as a command does that edits and then releases. Sometimes nobody recorded when the call began: a hook's
// write was dropped, or the caller's session isn't known. Then the last right that the caller gave up counts,
// because an event about a late edit stays in the log for ever.
func (o *op) gaveUpTurn(paths []string) (bool, error) {
	m, _ := o.Room.Member(o.Me.Agent)
	if m.HeldSeq != 0 {
		end, err := o.Tx.Event(o.Room.ID, m.HeldSeq)
		if err != nil {
			return false, err
		}

		own := []stick.EventType{stick.EventRelease, stick.EventPass, stick.EventLeave}
		if end != nil && end.From == o.Me.Agent && slices.Contains(own, end.Type) && end.CreatedAt >= m.BusySince {
			return true, nil
		}
	}

	if !m.BusySince.IsZero() || o.Room.Policy.Enforce != stick.EnforceScopes {
		// The stick was its right to edit.
		return false, nil
	}

	return o.HasUnreserved(func(e stick.Event) bool {
		p, _ := stick.PayloadOf[stick.UnreservedPayload](e)
		return e.Seq > m.HeldSeq && slices.ContainsFunc(paths, func(path string) bool {
			return p.Pattern.Meets(path, true)
		})
	})
}
