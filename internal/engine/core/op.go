package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// Joining says what an operation does when its caller isn't a member of the room.
type Joining int

const (
	MustBeMember        Joining = iota // refuse it
	MustBeMemberQuietly                // refuse it; a member's call doesn't count as its activity
	// JoinsIfNew lets it join, and makes the room if needed. It refuses a kicked member and a closed room.
	JoinsIfNew
	JoinsUnlessLeft // like JoinsIfNew, but refuse a member that left
	JoinsOrReopens  // like JoinsIfNew, but a person reopens a closed room
	JoinsExplicitly // the caller asked to join
)

// Op is one run of an operation inside its transaction. It has the room as it was loaded and as it is now.
type Op struct {
	Tx     *store.Tx
	Probes *Probes
	Me     Identity
	Before stick.Room    // as loaded
	Room   stick.Room    // as the rules applied so far left it
	Events []stick.Event // what those rules added to the log

	Joined  bool // this operation made the caller a member
	Created bool // this operation made the room

	// Refused is an error to return although the transaction commits. What was due in the room anyway
	// is saved then, and nothing of what the caller asked for.
	Refused error

	FirstID int // how many events of the same operation come before these

	Lease stick.LeaseID // for a grant; the same in every run of the transaction
}

// Apply takes the result of a rule: the room becomes r, and events are added.
func (o *Op) Apply(r stick.Room, events []stick.Event) {
	o.Room = r
	o.Events = append(o.Events, events...)
}

// Write performs an operation of a caller on its room. It finds the room or makes it, names the caller, makes
// it a member if j says so, calls rule, saves the room, and calls done.
//
// rule changes o.Room by [Op.Apply]. If it returns an error, Write returns that error and saves nothing, but
// only after everything was probed that might change the outcome. done makes the result; it sees the events
// with their numbers, and may be nil. Both may run several times.
func (k *Kernel) Write(
	ctx context.Context, w Where, by Caller, j Joining, rule func(*Op) error, done func(*Op) error,
) error {
	// A room is made only at a place that exists.
	place := k.PlaceToRead
	if j > MustBeMemberQuietly {
		place = k.Place
	}

	p, err := place(w)
	if err != nil {
		return err
	}

	db, err := k.Open(ctx, j > MustBeMemberQuietly)
	if err == store.ErrAbsent {
		return errNoRoom(w, p, by)
	}
	if err != nil {
		return err
	}

	var refused error

	// It is chosen once, so that each run of the transaction grants the same lease.
	lease := db.NewID()
	attempt := func(key string) error {
		return k.Update(ctx, db, by, func(tx *store.Tx, probes *Probes) error {
			o := &Op{Tx: tx, Probes: probes}
			if err := o.loadRoom(w, p, by, j, key); err != nil {
				return err
			}

			o.Lease = o.Room.ID.Lease(lease)
			err := rule(o)

			// A rule that has missed a verdict may refuse for that reason alone, so this comes before its
			// error.
			if missed := probes.RequireComplete(o.Room); missed != nil {
				return missed
			}
			if err != nil {
				return err
			}

			// What was due in the room is saved, also where the caller is refused.
			refused = o.Refused
			if err := o.Save(); err != nil || refused != nil {
				return err
			}
			if done == nil {
				return nil
			}

			return done(o)
		})
	}

	if p == nil {
		err = attempt("")
	} else {
		err = k.WithKey(ctx, db, p, p.Root, attempt)
	}
	if err != nil {
		return k.explainNoRoom(ctx, db, w, p, by, err)
	}

	return refused
}

// explainNoRoom adds the next step to the error for a path without a room: how its caller makes one or, where
// the directory of one of the caller's rooms is gone, that it may have been moved here. Where the repository
// can't be found, it says so instead.
func (k *Kernel) explainNoRoom(
	ctx context.Context, db *store.DB, w Where, p *workspace.Place, by Caller, err error,
) error {
	// Only the error for a path has a path.
	no, ok := errors.AsType[*stick.Error](err)
	if !ok || no.Code != stick.CodeNoRoom || no.Fields["path"] == nil {
		return err
	}

	if p != nil {
		if lost := p.CheckRepository(); lost != nil {
			return lost
		}
	}

	hintInit(no, w, p, by)
	var gone stick.Room
	verr := k.View(ctx, db, by, func(tx *store.Tx, probes *Probes) error {
		me, err := Identify(tx, probes, by)
		if err != nil {
			return err
		}
		gone, err = FindGoneRoom(tx, me.Agent, func(string) bool { return true })
		return err
	})

	// The hint isn't worth another error.
	if verr != nil || gone.ID == "" {
		return err
	}

	return no.Hintf("the directory of your room, %s, is gone; if its files are here now, move the room here: %s",
		gone.Path, stick.Cmd("tt join --room <room_id>", gone.ID))
}

// FindGoneRoom finds a room of an agent whose directory, which may be meant, is gone. It is zero if there is
// none.
func FindGoneRoom(tx *store.Tx, a stick.AgentID, isMeant func(path string) bool) (stick.Room, error) {
	ids, err := tx.RoomsOf(a)
	if err != nil {
		return stick.Room{}, err
	}

	for _, id := range ids {
		r, err := tx.RoomPart(id, a)
		if err != nil {
			return stick.Room{}, err
		}

		// Of a server's rooms, many have no directory on this host.
		if r.Path == "" || !isMeant(r.Path) {
			continue
		}
		if _, err := os.Stat(r.Path); errors.Is(err, fs.ErrNotExist) {
			return r, nil
		}
	}

	return stick.Room{}, nil
}

// loadRoom loads or makes the room, and lets the caller enter it. key names a room that is made, see
// [MakeRoom].
func (o *Op) loadRoom(w Where, p *workspace.Place, by Caller, j Joining, key string) (err error) {
	o.Room, err = FindRoom(o.Tx, w, p)
	if stick.CodeOf(err) == stick.CodeNoRoom && p != nil && j > MustBeMemberQuietly {
		if err := p.CheckRepository(); err != nil {
			return err // that repository may have a room
		}
		if p.Broad && j != JoinsExplicitly {
			return errBroad(p)
		}

		o.Room, o.Created, err = MakeRoom(o.Tx, p.Root, key)
	}
	if err != nil {
		return err
	}
	if err := o.enterRoom(by, j); err != nil || p == nil {
		return err
	}

	o.Room = edits.WorksIn(o.Room, o.Me.Agent, o.Tx.CheckoutOf(o.Room))
	return nil
}

// enterRoom names the caller, records it, and makes it a member where j says so. It brings the room to the
// current generation first.
func (o *Op) enterRoom(by Caller, j Joining) (err error) {
	o.Before = o.Room
	o.Apply(o.Room.Restore(o.Tx.Generation(), o.Probes.Probed, o.Tx.Now()))
	if o.Me, err = IdentifyToRecord(o.Tx, o.Probes, by); err != nil {
		return err
	}
	if err := o.Me.Record(o.Tx, o.Probes); err != nil {
		return err
	}

	// The state that counts is that before this call.
	m, _ := o.Room.Member(o.Me.Agent)
	switch {
	case j == JoinsUnlessLeft && m.State == stick.Left:
		return o.RequireMember()
	case j > MustBeMemberQuietly:
		explicit := j == JoinsExplicitly || j == JoinsOrReopens && o.Me.Person() && m.State != stick.Kicked
		name, err := nameOf(o.Tx, o.Room.ID, m, o.Me.Agent)
		if err != nil {
			return err
		}

		r, events, joined, err := o.Room.Join(o.Me.Agent, name, explicit, o.Tx.Now())
		if err != nil {
			return err
		}

		o.Joined = joined
		o.Apply(r, events)
	case m.State == stick.Kicked:
		return stick.Errorf(stick.CodeKicked, "%s was removed from this room", o.Me.Agent).
			Hintf("%s", stick.RejoinStep(o.Me.Agent))
	case m.State == stick.Joined && j != MustBeMemberQuietly && by.Behalf == "":
		o.Room = o.Room.Touch(o.Me.Agent, o.Tx.Now())
	}
	o.RefreshProcess()

	return nil
}

// RefreshProcess adds the process that [Identity.Record] has just stored to the caller's member in o.Room,
// which was loaded before.
func (o *Op) RefreshProcess() {
	by := o.Me.Caller
	for i, m := range o.Room.Members {
		if m.Agent != o.Me.Agent || by.Process.IsZero() {
			continue
		}

		for _, ev := range m.Processes {
			if ev.Process == by.Process {
				return
			}
		}

		// The members are shared with the room as it was loaded, so they are copied.
		ms := append([]stick.Member(nil), o.Room.Members...)
		called := stick.Evidence{Process: by.Process, Proof: by.Proof}
		ms[i].Processes = append(append([]stick.Evidence(nil), m.Processes...), called)
		o.Room.Members = ms

		return
	}
}

// Settle applies what is due in the room, such as an expired reservation, before the caller's own act.
func (o *Op) Settle() {
	o.Apply(o.Room.Settle(o.Me.Agent, false, o.Probes.Probed, o.Tx.Now()))
}

// RequireMember returns [stick.CodeUnknownMember] if the caller isn't a member now.
func (o *Op) RequireMember() error {
	if m, ok := o.Room.Member(o.Me.Agent); !ok || m.State != stick.Joined {
		return stick.Errorf(stick.CodeUnknownMember, "%s isn't a member of this room", o.Me.Agent).
			With("agent_id", o.Me.Agent).Hintf("join it: %s", stick.Cmd("tt join"))
	}
	return nil
}

// Save stores the changes to the room and drops listeners that are known to be dead.
func (o *Op) Save() (err error) {
	// Ids that stay the same show after a broken connection whether the events were committed.
	for i := range o.Events {
		o.Events[i].ID = o.Probes.eventID(o.FirstID + i)
	}

	if err := o.dropDeadListeners(); err != nil {
		return err
	}

	o.Room, o.Events, err = o.Tx.Save(o.Before, o.Room, o.Me.signEvents(o.Events))
	if err != nil {
		return fmt.Errorf("save room: %w", err)
	}
	if o.Tx.ManyHosts() && o.Room.HasRestEnded(o.Before) {
		// Its wait may take the free stick now.
		o.Tx.Ring(o.Room.ID)
	}
	if len(o.Events) > 0 {
		o.Probes.changedRooms = append(o.Probes.changedRooms, o.Room.ID)
	}
	return nil
}

// dropDeadListeners ends the waits whose processes have ended, which couldn't say so.
func (o *Op) dropDeadListeners() error {
	var dead []stick.ListenerID
	for _, l := range o.Before.Listeners {
		if o.Probes.Listeners[l.ID] == stick.Gone {
			dead = append(dead, l.ID)
		}
	}
	return o.EndListeners(dead...)
}

// EndListeners deletes the rows of waits that end, and rings whoever keeps the time in their place.
func (o *Op) EndListeners(ended ...stick.ListenerID) error {
	if len(ended) == 0 {
		return nil
	}
	for _, id := range ended {
		if err := o.Tx.DropListener(id); err != nil {
			return err
		}
	}

	o.Tx.RingFor(o.Room.ID, o.Room.RingWithout(ended...), false)
	o.Room.Listeners = slices.DeleteFunc(slices.Clone(o.Room.Listeners), func(l stick.Listener) bool {
		return slices.Contains(ended, l.ID)
	})
	return nil
}

// LastEvent returns the newest of the operation's events that has one of the types, or nil.
func (o *Op) LastEvent(types ...stick.EventType) *stick.Event {
	for i := len(o.Events) - 1; i >= 0; i-- {
		for _, typ := range types {
			if o.Events[i].Type == typ {
				return &o.Events[i]
			}
		}
	}

	return nil
}

// Read runs an operation that writes nothing on a room that exists. fn may run several times. It fails with
// [stick.CodeNoRoom].
func (k *Kernel) Read(
	ctx context.Context, w Where, by Caller, fn func(*store.Tx, *Probes, stick.Room, Identity) error,
) error {
	return k.ReadRoom(ctx, w, by, func(tx *store.Tx, probes *Probes, r stick.Room) error {
		me, err := Identify(tx, probes, by)
		if err != nil {
			return err
		}
		return fn(tx, probes, r, me)
	})
}

// ReadRoom is [Kernel.Read] for what is the same whoever calls.
func (k *Kernel) ReadRoom(
	ctx context.Context, w Where, by Caller, fn func(*store.Tx, *Probes, stick.Room) error,
) error {
	p, err := k.PlaceToRead(w)
	if err != nil {
		return err
	}

	db, err := k.Open(ctx, false)
	if err == store.ErrAbsent {
		return errNoRoom(w, p, by)
	}
	if err != nil {
		return err
	}

	err = k.View(ctx, db, by, func(tx *store.Tx, probes *Probes) error {
		r, err := FindRoom(tx, w, p)
		if err != nil {
			return err
		}

		// A reader can't bring the room to the current generation, but sees it so.
		r = r.AtGeneration(tx.Generation(), tx.Now())
		err = fn(tx, probes, r)

		// A refusal, too, may be another one once the verdicts are known.
		if missed := probes.RequireComplete(r); missed != nil {
			return missed
		}

		return err
	})

	return k.explainNoRoom(ctx, db, w, p, by, err)
}
