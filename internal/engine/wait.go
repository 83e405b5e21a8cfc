package engine

import (
	"context"
	"encoding/json"
	"time"
	"unicode"
	"unicode/utf8"

	"talkingstick/internal/bell"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// WaitForTurnParams asks for the turn, and for events that the caller should act on.
type WaitForTurnParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	// MaxWaitMS limits the wait, in milliseconds: nil waits until there is something, 0 tries once.
	MaxWaitMS *int64 `json:"max_wait_ms,omitempty"`
	Park      bool   `json:"park,omitempty"`      // wait for events only, and never for the turn
	TurnOnly  bool   `json:"turn_only,omitempty"` // ignore events
	Replace   bool   `json:"replace,omitempty"`   // end an earlier wait of the same member

	// AtMost limits a wait that is a call through a server, together with the room's policy. Zero means that
	// the wait may last.
	AtMost time.Duration `json:"-"`

	// Shows is called while the wait is blocked, whenever it has read the room. It may be nil.
	Shows func(Standing) `json:"-"`
}

// Standing is what a blocked wait has read of its room: who has the stick, and when the caller may get it. A
// wait that begins wakes no other, so the others' places may be a minute old.
type Standing struct {
	Owner       stick.AgentID // empty if nobody holds the stick
	OwnedSince  stick.Time
	NextAction  string        // of the handoff that the holder works on, or that waits for the next holder
	ReservedFor stick.AgentID // empty if the stick isn't reserved
	Paused      stick.Pause   // why nobody gets the stick now
	// Place is the caller's place among the Of that wait for the stick, from 1; 0 if it waits for events
	// only.
	Place, Of int
}

// WaitForTurnResult is the answer of a wait. Status says which of the other fields are set.
type WaitForTurnResult struct {
	Status      stick.WaitStatus `json:"status"`
	RoomID      stick.RoomID     `json:"room_id"`
	Path        string           `json:"canonical_path"`
	Worktree    string           `json:"worktree,omitempty"` // the caller's linked worktree, which needs no turn
	AgentID     stick.AgentID    `json:"agent_id"`
	RoomState   stick.RoomState  `json:"room_state"`
	Reason      string           `json:"reason,omitempty"` // of your_turn and takeover_available
	CurrentTurn int64            `json:"current_turn_id"`
	TurnID      int64            `json:"turn_id,omitempty"` // of your_turn and takeover_available
	Owner       *stick.AgentID   `json:"current_owner"`
	OwnedSince  stick.Time       `json:"owned_since"`
	ReservedFor *stick.AgentID   `json:"reserved_for"`
	Paused      *stick.Pause     `json:"paused"` // null unless the room is paused
	// Rests is of not_yet: the caller's last turn changed nothing, so nobody names it until something is for it or
	// it acts.
	Rests bool `json:"rests,omitempty"`
	// Parent is of under_parent: who started the caller, and holds the stick.
	Parent     *stick.AgentID `json:"parent,omitempty"`
	ParentTurn int64          `json:"parent_turn_id,omitempty"` // of under_parent
	Joined     bool           `json:"joined,omitempty"`         // by this call
	Note       stick.Words    `json:"note,omitempty"`
	Events     []stick.Event  `json:"events"` // addressed to the caller, the oldest first
	More       bool           `json:"more,omitempty"`
	*Grant

	cursor         int64  // of the last event that was read
	releaseTelling func() // releases the lock of whoever tells the caller something; nil without
}

// Limits of one answer. What doesn't fit is left for the next one, because a model reads all of an answer at
// once.
const (
	maxWaitEvents = 50
	// maxAnswer limits the messages and events of an answer, in bytes as they are printed. The rest of 16 KB
	// is for the fields around them.
	maxAnswer = 15 << 10
)

// countFitting returns how many of the entries fit into that many bytes of indented JSON: at least one.
func countFitting[E any](entries []E, most int) int {
	size := 0
	for n, e := range entries {
		// This can't fail: the entries come from JSON.
		b, _ := json.MarshalIndent(e, "    ", "  ")
		for _, r := range string(b) {
			switch {
			case r < utf8.RuneSelf:
				size++
			case unicode.IsPrint(r):
				size += utf8.RuneLen(r)
			default:
				size += len(`\u0000\u0000`) // printed as an escape
			}
		}

		if size += len(",\n    "); size > most {
			return max(n, 1)
		}
	}

	return len(entries)
}

// WaitForTurn waits until there is something for the caller to act on, and claims the turn if the caller may
// have it. While it is blocked, it writes nothing. A caller that isn't a member joins, and the room is made
// if there is none. It fails with [stick.CodeAlreadyListening] when the member is already waiting. It fails
// with [stick.CodeCanceled] when ctx ends, or the process that the wait serves; then nothing was granted.
func (e *Engine) WaitForTurn(ctx context.Context, p WaitForTurnParams) (WaitForTurnResult, error) {
	if err := core.CheckMaxWait(p.MaxWaitMS); err != nil {
		return WaitForTurnResult{}, err
	}
	w := &wait{e: e, p: p, q: stick.Asking{Purpose: stick.Work, Blocking: p.MaxWaitMS == nil || *p.MaxWaitMS > 0}}
	if p.Park {
		w.q.Purpose = stick.Listen
	}
	w.q.Insists = w.turnOnly()

	// Whoever waits in a worktree of its own learns that it needn't.
	if place, err := e.core.Place(p.Where); err == nil {
		w.worktree = core.FreeWorktree(place)
	}

	// A single try that gets nothing, as most do, writes nothing.
	if answered, err := w.answerByReading(ctx); answered || err != nil {
		w.traceRead(byStart, true, err)
		return w.res, err
	}

	w.prepareToRegister(ctx)
	defer w.listening.close()

	err := w.answerOutsider(ctx, w.joinAndAsk(ctx))
	w.traceRead(byStart, w.done || !w.q.Blocking, err)
	if err == nil && !w.done && w.q.Blocking {
		err = w.blockUntilAnswered(ctx)
	}

	if w.res.releaseTelling = w.unlockTelling; p.AtMost != 0 {
		// A client says with its next call that it got the answer, and its agent isn't idle until then.
		w.unlockTelling()
	}

	// A transaction that failed may have left a grant that nobody has.
	if err == nil {
		e.completeGrant(ctx, w.res.Grant)
	}

	return w.res, err
}

// wait is one call of [Engine.WaitForTurn] or [Engine.WaitForWake].
type wait struct {
	e   *Engine
	db  *store.DB
	p   WaitForTurnParams
	q   stick.Asking
	me  core.Identity
	res WaitForTurnResult

	worktree string // the caller's linked worktree; empty without

	forIdle    bool            // it waits for an idle agent, and isn't activity of the agent
	hasInbox   bool            // others may tell the agent at the same moment, by its inbox
	attendLock *bell.FileLock  // it is the one that writes to inboxes for others; nil if it isn't
	follow     *store.Watch    // while it is, it hears all that happens in the room
	heirs      stick.Ring      // whom to leave that to
	tellLock   func()          // releases the lock of whoever tells it something; nil without
	knownIdle  bool            // the agent is known to be idle
	done       bool            // res is the answer
	listener   stick.Listener  // of a blocked wait
	listening  listening       // its lock and its bell
	registered bool            // its row was stored when it entered the room
	next       stick.Time      // the next deadline, zero for none
	now        stick.Time      // when next was computed
	watched    []stick.Process // the processes whose end would change something
	seen       seenTurn        // what it has read last
	netMost    time.Duration   // how long it may sleep without a read; 0: as long as the slow net says
	grace      time.Duration   // the room's policy
	maxWait    time.Duration   // the room's policy
	cursor     int64           // while blocked, the cursor of its events: nobody else moves it meanwhile
	standing   Standing        // for p.Shows
}

// freshActivity is how recent a member's activity must be for a try not to record it again.
const freshActivity = time.Second

// joinAndAsk joins the room and asks for the turn once.
func (w *wait) joinAndAsk(ctx context.Context) error {
	how := core.JoinsIfNew

	// Waiting for an idle agent is no activity of the agent.
	if w.forIdle {
		how = core.MustBeMemberQuietly
	}

	return w.e.writeRoom(ctx, w.p.Where, w.p.Caller, how, func(o *op) error {
		w.me, w.q.Agent, w.q.Above, w.q.Lease = o.Me, o.Me.Agent, o.Me.Above, o.Lease

		if w.q.Blocking {
			if err := w.requireAlone(o.Room, o.Probes, o.Tx.Now()); err != nil {
				return err
			}
		}

		// Each run of the transaction begins anew.
		w.cursor, w.registered = 0, false
		registers := w.isListeningTo(o.Room.ID)
		if registers {
			if err := w.enterListener(o); err != nil {
				return err
			}
		}

		r, events, answer := o.Room.Ask(w.q, o.Probes.Probed, o.Tx.Now())
		o.Apply(r, events)
		err := w.buildAnswer(o.Tx, o.Probes, o.Room, answer, o.Events)
		w.res.Joined, w.res.Note = o.Joined, o.Me.Note
		if err != nil {
			return err
		}

		if w.done && w.q.Blocking {
			w.markReturned(o)
		}
		if registers {
			return w.storeListener(o)
		}
		return nil
	}, nil)
}

// answerOutsider answers a caller that would have to join explicitly: the room is closed, or the caller was
// removed from it. Any other err is returned.
func (w *wait) answerOutsider(ctx context.Context, err error) error {
	if c := stick.CodeOf(err); c != stick.CodeRoomClosed && c != stick.CodeKicked {
		return err
	}

	return w.e.core.Read(ctx, w.p.Where, w.p.Caller, func(
		tx *store.Tx, probes *core.Probes, r stick.Room, me core.Identity,
	) error {
		w.me = me

		status := r.WaitStatusOf(me.Agent)
		if status != stick.WasKicked && r.Closed {
			status = stick.RoomClosed
		}

		return w.buildAnswer(tx, probes, r, stick.Answer{Status: status}, nil)
	})
}

// requireAlone refuses a second wait of the same member. A person may wait in several terminals.
func (w *wait) requireAlone(r stick.Room, probes *core.Probes, now stick.Time) error {
	if w.p.Replace || w.forIdle || w.me.Agent.Human() {
		return nil
	}

	for _, l := range r.Listeners {
		if l.Agent != w.me.Agent || l.ID == w.listener.ID || l.Purpose == stick.Wake {
			continue
		}

		// A wait that isn't probed yet is probed first. After the last round it doesn't count.
		if v, ok := probes.Listeners[l.ID]; !ok && probes.Rounds < core.MaxProbes {
			probes.Wanted = r
			return core.ErrProbe
		} else if v == stick.Alive {
			return stick.Errorf(stick.CodeAlreadyListening, "%s is already waiting in process %d (started %s)",
				w.me.Agent, l.Process.PID, stick.Ago(now.Sub(l.StartedAt))).
				With("agent_id", w.me.Agent).With("pid", l.Process.PID).With("since", l.StartedAt).
				Hintf("let it run, because it brings you %s; or replace it with this one: %s",
					describeAwaited(l), w.replaceCommand())
		}
	}

	return nil
}

// describeAwaited says what a wait returns with.
func describeAwaited(l stick.Listener) stick.Words {
	switch {
	case l.Deaf:
		return "the turn"
	case l.Purpose == stick.Listen:
		return "events"
	}
	return "the turn and events"
}

// replaceCommand returns the command for the same wait in place of another.
func (w *wait) replaceCommand() stick.Command {
	switch {
	case w.p.Park:
		return stick.Cmd("tt wait --park --replace")
	case w.p.TurnOnly:
		return stick.Cmd("tt wait --turn --replace")
	}
	return stick.Cmd("tt wait --replace")
}

// buildAnswer makes the result from the answer of the rules. It sets done if there is something to act on.
// The log of the transaction doesn't have the unsaved events yet.
func (w *wait) buildAnswer(
	tx *store.Tx, probes *core.Probes, r stick.Room, a stick.Answer, unsaved []stick.Event,
) error {
	now := tx.Now()
	w.done = a.Status != ""
	w.res = WaitForTurnResult{
		Status: stick.NotYet, RoomID: r.ID, Path: r.Path, Worktree: w.worktree, AgentID: w.me.Agent,
		Joined: w.res.Joined, Note: w.res.Note,
		RoomState: r.State(probes.Probed, now), CurrentTurn: r.Turn.ID, Events: []stick.Event{},
	}

	switch r.Turn.State {
	case stick.Owned:
		w.res.Owner, w.res.OwnedSince = &r.Turn.Owner, r.Turn.GrantedAt
	case stick.Reserved:
		w.res.ReservedFor = &r.Turn.ReservedFor
	}

	if r.Paused.On() {
		w.res.Status, w.res.Paused = stick.InPause, &r.Paused
	}
	if a.Status != "" {
		w.res.Status = a.Status
	}
	if m, _ := r.Member(w.me.Agent); w.res.Status == stick.NotYet {
		w.res.Rests = m.Rests()
	}

	switch a.Status {
	case stick.YourTurn:
		w.res.TurnID = r.Turn.ID
		w.res.Reason = string(a.Claim)
		g, err := grantOf(tx, probes, r, w.me, a.Claim, unsaved)
		if err != nil {
			return err
		}
		w.res.Grant = g
	case stick.UnderParent:
		w.res.Parent, w.res.ParentTurn = &r.Turn.Owner, r.Turn.ID
	case stick.TakeoverAvailable:
		w.res.TurnID = r.Turn.ID
		w.res.Reason = string(a.Opening.Cause)
	}

	if w.turnOnly() {
		return nil
	}

	return w.readEvents(tx, probes, r)
}

// turnOnly reports whether the wait ignores events.
func (w *wait) turnOnly() bool { return w.p.TurnOnly && !w.p.Park }
