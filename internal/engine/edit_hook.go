package engine

import (
	"cmp"
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// CheckEditParams is what a hook knows of a tool call that is about to run, or has run.
type CheckEditParams struct {
	HookParams
	Tool  string   // the harness's name of the tool
	Trees []string // directories in whose checkouts it may change anything

	// What it changes, as far as that can be told.
	Paths   []string // a directory means all that is below it
	Names   []string // those of Paths that are only removed, moved or replaced: links themselves, not what they lead to
	Tracked []string // what git records of its tree, as seen from the top level, at which the question is asked

	Branches []string // branches that it moves, by their whole names
}

// CheckEdit decides for a hook whether a tool call may run: as [Engine.MayEdit], and a call that
// changes nothing may. It only reads; [Engine.EditChecked] notes what is to be noted.
func (e *Engine) CheckEdit(ctx context.Context, p CheckEditParams) (MayEditResult, error) {
	q, err := e.hookQuestion(p)
	if err != nil {
		return MayEditResult{Allowed: true}, err
	}
	return e.mayEdit(ctx, q, func(tx *store.Tx, probes *core.Probes, me core.Identity, r stick.Room, res *MayEditResult) error {
		o := &op{&core.Op{Tx: tx, Probes: probes, Me: me, Room: r}}
		m, ok := r.Member(me.Agent)
		quiet := !m.HooksSeen || (stick.Deadline{SetAt: m.LastSeenAt, TTL: freshHook}).Due(tx.Now())
		res.due = res.due || ok && m.State == stick.Joined && (quiet || !m.IdleAt.IsZero() || o.owns() && m.BusySince.IsZero())
		if !res.Allowed && !res.due {
			told, err := o.alreadyDenied()
			res.due = !told
			return err
		}
		return nil
	})
}

// hookQuestion is what a hook asks. A path that can't be looked up is judged by its name, and one that not
// even so tells where it lies is left out: the others are asked about all the same. Where the hook runs
// matters only for relative paths.
func (e *Engine) hookQuestion(p CheckEditParams) (editQuestion, error) {
	at, aerr := e.core.PlaceOfHook(p.Where)
	q, err := e.newEditQuestion(at, p, false)
	if err = cmp.Or(aerr, err); err != nil && len(q.in)+len(q.tree) == 0 {
		return q, err
	}
	q.decides = true
	return q, nil
}

// EditChecked notes that a tool call of the caller begins, or that it was denied. It writes nothing
// when there is nothing new to note.
func (e *Engine) EditChecked(ctx context.Context, p CheckEditParams, res MayEditResult) error {
	if !res.due {
		return nil
	}
	p.Where = core.Where{RoomID: res.RoomID}
	return e.hooked(ctx, p.HookParams, true, func(o *op) error {
		if !res.Allowed {
			told, err := o.alreadyDenied()
			if err != nil {
				return err
			}
			if !told {
				o.Events = append(o.Events, o.Room.Denied(o.Me.Agent, res.Denied))
			}
			return o.Tx.RecordHook(o.Me.Session.Key, 0)
		}
		if o.owns() {
			return o.Tx.RecordToolCall(o.Me.Session.Key)
		}
		return o.Tx.RecordHook(o.Me.Session.Key, 0)
	})
}

// alreadyDenied tells whether the log has it that the caller was denied in this turn.
func (o *op) alreadyDenied() (bool, error) {
	events, _, err := o.Tx.Events(store.EventQuery{
		Room: o.Room.ID, From: o.Me.Agent, Turn: o.Room.Turn.ID, Types: []stick.EventType{stick.EventStickDenied}, Limit: 1, Newest: true,
	})
	return len(events) > 0, err
}

// CheckEdited looks again when a tool call is done: if the caller lost the right to make the change
// in the meantime, both it and the holder of the stick are told.
func (e *Engine) CheckEdited(ctx context.Context, p CheckEditParams) error {
	if len(p.Paths)+len(p.Trees) == 0 {
		return nil
	}
	q, err := e.hookQuestion(p)
	if err != nil {
		return err
	}
	res, err := e.mayEdit(ctx, q, nil)
	if err != nil || res.Allowed {
		return err
	}
	p.Where = core.Where{RoomID: res.RoomID}
	return e.hooked(ctx, p.HookParams, true, func(o *op) error {
		if o.owns() { // it came back
			return nil
		}
		gave, err := o.gaveUpTurn(res.Denied)
		if err != nil || gave {
			return err
		}
		o.Events = append(o.Events, o.Room.LateEdit(o.Me.Agent, res.Denied, p.Tool))
		return nil
	})
}

// gaveUpTurn tells whether the caller itself gave up what let it change the paths while the tool call ran, as
// a command does that edits and then releases. Where nobody noted when the call began (a hook whose write was
// dropped, a caller whose session isn't known), what it gave up last is taken for that: who is told of a late
// edit is told for ever.
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
		return false, nil // it edited by the stick
	}
	return o.unreservedBefore(func(e stick.Event) bool {
		p, _ := stick.PayloadOf[stick.UnreservedPayload](e)
		return e.Seq > m.HeldSeq && slices.ContainsFunc(paths, func(path string) bool { return p.Pattern.Meets(path, true) })
	})
}
