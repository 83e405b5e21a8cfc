package engine

import (
	"context"
	"fmt"

	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// joining says what an operation does when its caller isn't a member.
type joining int

const (
	mustBeMember joining = iota // it is refused
	justBeats                   // it is refused, and if it is a member this is no act of its own
	joinsIfNew                  // it joins, and makes the room; a kicked member and a closed room stay out
	staysOut                    // like joinsIfNew, but one that left is refused
	speaks                      // like joinsIfNew, and a person opens a closed room
	joinsOnWord                 // an explicit join
)

// turn is one run of an operation inside its transaction: the room before and as it is now.
type turn struct {
	tx     *store.Tx
	s      *sights
	me     identity
	before stick.Room
	room   stick.Room
	events []stick.Event

	joined  bool // by this operation
	created bool // the room was

	// refused is an error that the operation ends with although what was found on the way is
	// saved: nothing that the caller asked for is in it.
	refused error

	firstID int // the place of its events among those of the whole operation

	lease stick.LeaseID // to grant; the same however often the transaction runs
}

// add takes over what a rule came to.
func (t *turn) add(r stick.Room, events []stick.Event) {
	t.room = r
	t.events = append(t.events, events...)
}

// act performs an operation of a member on its room: it finds or makes the room, names the
// caller, lets it join where that is due, calls rule, saves, and calls done, which sees the events
// with their numbers and makes the result. rule works on t.room; what it returns as an error is
// returned, after anything was probed that might change it, and nothing is saved then.
func (e *Engine) act(ctx context.Context, w Where, by Caller, j joining, rule func(*turn) error, done func(*turn) error) error {
	p, err := e.place(w)
	if err != nil {
		return err
	}
	db, err := e.open(ctx, j > justBeats)
	if err == store.ErrAbsent {
		if p == nil {
			return stick.Errorf(stick.CodeNoRoom, "there is no room %q", stick.Clip(string(w.RoomID), 60))
		}
		return noRoom(p.Path)
	}
	if err != nil {
		return err
	}
	var refused error
	lease := stick.LeaseID(db.NewID())
	err = e.update(ctx, db, by, func(tx *store.Tx, s *sights) error {
		t := &turn{tx: tx, s: s, lease: lease}
		if err := t.begin(w, p, by, j); err != nil {
			return err
		}
		err := rule(t)
		if missed := s.enough(t.room); missed != nil {
			return missed
		}
		if err != nil {
			return err
		}
		refused = t.refused
		if err := t.save(); err != nil || refused != nil {
			return err
		}
		return done(t)
	})
	if err != nil {
		return err
	}
	return refused
}

// begin loads the room for its caller.
func (t *turn) begin(w Where, p *workspace.Place, by Caller, j joining) (err error) {
	t.room, err = find(t.tx, w, p)
	if stick.CodeOf(err) == stick.CodeNoRoom && p != nil && j > justBeats {
		t.room, err = t.tx.NewRoom(p.Root)
		t.created = true
	}
	if err != nil {
		return err
	}
	return t.enter(by, j)
}

// enter names the caller in the room and brings both up to date.
func (t *turn) enter(by Caller, j joining) (err error) {
	t.before = t.room
	t.add(t.room.Restore(t.tx.Generation(), t.tx.World(), t.tx.Now()))
	if t.me, err = identify(t.tx, t.s, by); err != nil {
		return err
	}
	if err := t.me.record(t.tx, t.s); err != nil {
		return err
	}
	m, _ := t.room.Member(t.me.Agent)
	switch {
	case j == staysOut && m.State == stick.Left:
		return t.member()
	case j > justBeats:
		explicit := j == joinsOnWord || j == speaks && t.me.person() && m.State != stick.Kicked
		r, events, joined, err := t.room.Join(t.me.Agent, explicit, t.tx.Now())
		if err != nil {
			return err
		}
		t.joined = joined
		t.add(r, events)
	case m.State == stick.Kicked:
		return stick.Errorf(stick.CodeKicked, "%s was removed from this room", t.me.Agent).
			Hintf("ask a person; on their word: tt join")
	case m.State == stick.Joined && j != justBeats:
		t.room = t.room.Touch(t.me.Agent, t.tx.Now())
	}
	t.refresh()
	return nil
}

// refresh gives the caller's member the process that was just recorded for it.
func (t *turn) refresh() {
	by := t.me.Caller
	for i, m := range t.room.Members {
		if m.Agent != t.me.Agent || by.Process.IsZero() {
			continue
		}
		for _, ev := range m.Processes {
			if ev.Process == by.Process {
				return
			}
		}
		ms := append([]stick.Member(nil), t.room.Members...)
		ms[i].Processes = append(append([]stick.Evidence(nil), m.Processes...), stick.Evidence{Process: by.Process, Proof: by.Proof})
		t.room.Members = ms
		return
	}
}

// settle does what is due in the room before the caller's own act.
func (t *turn) settle() {
	t.add(t.room.Settle(t.me.Agent, false, t.s.Sight, t.tx.Now()))
}

// member refuses a caller that is no member.
func (t *turn) member() error {
	if m, ok := t.room.Member(t.me.Agent); !ok || m.State != stick.Joined {
		return stick.Errorf(stick.CodeUnknownMember, "%s isn't a member of this room", t.me.Agent).
			With("agent_id", t.me.Agent).Hintf("join it: tt join")
	}
	return nil
}

// save stores what was made of the room, and forgets the listeners that are known to be dead.
func (t *turn) save() (err error) {
	for i := range t.events {
		t.events[i].ID = t.s.eventID(t.firstID + i)
	}
	t.room, t.events, err = t.tx.Save(t.before, t.room, t.me.sign(t.events))
	if err != nil {
		return fmt.Errorf("save room: %w", err)
	}
	for _, l := range t.before.Listeners {
		if t.s.Listeners[l.ID] == stick.Gone {
			if err := t.tx.DropListener(l.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// last is the newest event of a type that the operation made.
func (t *turn) last(types ...stick.EventType) *stick.Event {
	for i := len(t.events) - 1; i >= 0; i-- {
		for _, typ := range types {
			if t.events[i].Type == typ {
				return &t.events[i]
			}
		}
	}
	return nil
}

// saved is the done of operations that make their result on the way.
func saved(*turn) error { return nil }
