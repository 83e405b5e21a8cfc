package core

import (
	"context"
	"path/filepath"
	"time"

	"talkingstick/internal/store"
	"talkingstick/stick"
)

// HookParams is what a hook of a harness knows: the session, and the place.
type HookParams struct {
	Caller Caller `json:"-"`
	Where
	Sub bool // it runs for a sub-agent: the session is active, but events for the agent aren't shown here

	Prompted bool // its person gives the agent something to do

	Tool string // the tool call that it is about, in the harness's words; empty for none
	File string // a file that this call is about, absolute or relative to the place; empty for none

	// Inbox is that of the session's harness: the socket and the token. Empty where it has none.
	Inbox struct{ Socket, Token string } `json:"-"`

	// Began is when the hook's process began. A harness runs all its hooks for an event at the same time. So
	// if another hook of the session was recorded since, that one has answered the same event.
	Began stick.Time
}

// FreshHook is how recent a hook's record of a session must be for later hooks not to write it again.
const FreshHook = time.Minute

// RunHook runs a hook's transaction in the room of a place. It does nothing if there is no room, if the room
// is closed, or if the agent was removed from it. If the agent is a member, and the hook writes, it counts as
// activity; of other agents nothing is recorded.
func (k *Kernel) RunHook(ctx context.Context, p HookParams, writes bool, fn func(*Op) error) error {
	place, err := k.PlaceOfHook(p.Where)
	if err != nil {
		return err
	}

	// A hook makes no database: without one there is no room to work in.
	db, err := k.Open(ctx, false)
	if err == store.ErrAbsent {
		return nil
	}
	if err != nil {
		return err
	}

	run := func(tx *store.Tx, probes *Probes) error {
		o := &Op{Tx: tx, Probes: probes}
		o.Room, err = FindRoom(tx, p.Where, place)

		// Most directories have no room, and their hooks pass.
		if stick.CodeOf(err) == stick.CodeNoRoom {
			return nil
		}
		if err != nil {
			return err
		}

		o.Before = o.Room
		if o.Me, err = IdentifyToRecord(tx, probes, p.Caller); err != nil {
			return err
		}

		// Who was removed from the room isn't told what happens in it.
		m, ok := o.Room.Member(o.Me.Agent)
		if o.Room.Closed || ok && m.State == stick.Kicked {
			return nil
		}

		// A read sees the room as a write would bring it to the current generation.
		if !writes {
			o.Room = o.Room.AtGeneration(tx.Generation(), tx.Now())
			if err := fn(o); err != nil {
				return err
			}
			return probes.RequireComplete(o.Room)
		}

		o.Apply(o.Room.Restore(tx.Generation(), probes.Probed, tx.Now()))

		// Of members alone it is recorded that they are active.
		if ok && m.State == stick.Joined {
			if err := o.Me.Record(tx, probes); err != nil {
				return err
			}
			o.Room = o.Room.Touch(o.Me.Agent, tx.Now())
		}

		o.RefreshProcess()
		if err := fn(o); err != nil {
			return err
		}
		if err := probes.RequireComplete(o.Room); err != nil {
			return err
		}

		return o.Save()
	}

	if writes {
		return k.Update(ctx, db, p.Caller, run)
	}

	return k.View(ctx, db, p.Caller, run)
}

// HoldsStick reports whether the caller has the stick.
func (o *Op) HoldsStick() bool {
	return o.Room.Turn.State == stick.Owned && o.Room.Turn.Owner == o.Me.Agent
}

// toolInterval is how often the last tool call of an agent is written anew for people who watch. Nothing is
// decided by it.
const toolInterval = 5 * time.Second

// IsToolWorthWriting reports whether the caller's tool call is worth a write of its own.
func (o *Op) IsToolWorthWriting(h store.HookTimes, p HookParams) bool {
	if p.Tool == "" || p.Tool == h.Tool && o.toolFile(p) == h.File {
		return false
	}
	return stick.Deadline{SetAt: h.At, TTL: toolInterval}.Due(o.Tx.Now())
}

// toolFile is the file of a tool call, relative to the room if it lies there.
func (o *Op) toolFile(p HookParams) string {
	if in, err := filepath.Rel(o.Room.Path, p.File); err == nil && filepath.IsLocal(in) {
		return filepath.ToSlash(in)
	}
	return p.File
}

// RecordWork records that the caller works, and with which tool.
func (o *Op) RecordWork(p HookParams) error {
	if err := o.ShowWork(p); err != nil {
		return err
	}
	return o.Tx.RecordWork(o.Me.Session.Key)
}

// ShowWork records for people who watch with which tool the caller works, and rings for them: for all of them
// if it was idle or asked its person, which changes what it does, and else for those on this host.
func (o *Op) ShowWork(p HookParams) error {
	h, err := o.Tx.HookTimes(o.Me.Session.Key)
	if err != nil {
		return err
	}

	// A change between idle and busy is rare, and interests everybody. Tool calls come all the time.
	if h.ActiveSince.IsZero() || !h.AskedAt.IsZero() {
		o.Tx.RingLooks(o.Room.ID)
	} else {
		o.Tx.RingLooksHere(o.Room.ID)
	}

	if p.Tool == "" {
		return nil
	}

	return o.Tx.RecordTool(o.Me.Session.Key, stick.Clip(p.Tool, maxTool), stick.Clip(o.toolFile(p), maxToolFile))
}

// Bounds of what is kept of a tool call, in bytes.
const (
	maxTool     = 80
	maxToolFile = 400
)
