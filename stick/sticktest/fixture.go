package sticktest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// IsSameRoom reports whether the rules would treat two rooms alike.
func IsSameRoom(a, b stick.Room) bool {
	return a.Closed == b.Closed && a.Paused == b.Paused && a.Policy == b.Policy && a.Turn == b.Turn && slices.EqualFunc(a.Members, b.Members, func(x, y stick.Member) bool {
		return x.Agent == y.Agent && x.State == y.State && x.JoinSeq == y.JoinSeq && x.HeldSeq == y.HeldSeq &&
			x.LastSeenAt == y.LastSeenAt && x.LastOfferRound == y.LastOfferRound && x.PassedOver == y.PassedOver && x.ReturnedAt == y.ReturnedAt && x.RestsSince == y.RestsSince
	})
}

// Fixture is a room under test with its surroundings: the verdicts of processes and waits, the clock, and the
// log. [NewRoom] makes it, and short methods say what happens. Every act is committed as the store does it; then
// the log is replayed and compared with the room.
type Fixture struct {
	stick.Room
	T      *testing.T
	Probed *stick.Probed
	Now    stick.Time
	Seq    int64
	Log    []stick.Event
	Record stick.Record

	Receipts map[stick.ReceiptKey]stick.Receipt
}

// Start is when a fixture begins.
const Start = stick.Time(1_800_000_000_000)

// NewRoom returns a fixture with an empty room.
func NewRoom(t *testing.T) *Fixture {
	return &Fixture{
		T: t, Now: Start, Probed: &stick.Probed{
			Processes: map[stick.Process]stick.Verdict{},
			Listeners: map[stick.ListenerID]stick.Verdict{},
		},
		Room:     stick.Room{ID: "r1", Policy: stick.DefaultPolicy(), Turn: stick.Turn{State: stick.Idle}},
		Receipts: map[stick.ReceiptKey]stick.Receipt{},
	}
}

// Commit numbers the events of an act and makes r the room.
func (f *Fixture) Commit(r stick.Room, events []stick.Event) []stick.Event {
	f.T.Helper()
	for i := range events {
		f.Seq++
		events[i].Seq, events[i].ID, events[i].CreatedAt = f.Seq, fmt.Sprintf("e%d", f.Seq), f.Now
		events[i].Sum = events[i].Chain(f.Record.Sum)
		if err := f.Record.Replay(events[i]); err != nil {
			f.T.Fatalf("replay: %v", err)
		}
		for _, c := range events[i].Receipts() {
			f.Receipts[stick.ReceiptKey{Event: f.Seq, Agent: c.Agent}] = c
		}
	}
	f.Room = r.Stamp(events)
	f.Log = append(f.Log, events...)
	if d := f.Record.Differs(f.Room); d != "" {
		f.T.Fatalf("the room differs from its log: %s", d)
	}
	for k, c := range f.Receipts {
		if logged := f.Record.Receipts[k]; logged != c {
			f.T.Fatalf("the receipt of %s is %+v, and the log says %+v", k.Agent, c, logged)
		}
	}
	for k := range f.Record.Receipts {
		if _, ok := f.Receipts[k]; !ok {
			f.T.Fatalf("the log says that event %d is for %s", k.Event, k.Agent)
		}
	}
	return events
}

// TrySend sends a message; reads, acks and withdraws read, acknowledge and withdraw one.
func (f *Fixture) TrySend(by stick.AgentID, m stick.Message) ([]stick.Event, error) {
	f.T.Helper()
	if m.Category == "" {
		m.Category = stick.Info
	}
	r, events, err := talk.Send(f.Room, talk.Sending{By: by, Message: m}, f.Probed, f.Now)
	return f.TryCommit(r, events, err)
}

// Sent sends a message that is accepted, and returns its number.
func (f *Fixture) Sent(by stick.AgentID, m stick.Message) int64 {
	f.T.Helper()
	return f.Must(f.TrySend(by, m))[0].Seq
}

// Reads lets a recipient read the message with the number id.
func (f *Fixture) Reads(by stick.AgentID, id int64) []stick.Event {
	f.T.Helper()
	k := stick.ReceiptKey{Event: id, Agent: by}
	var events []stick.Event
	f.Receipts[k], events = talk.Read(f.Room, by, f.Event(id), f.Receipts[k], f.Now)
	return f.Commit(f.Room, events)
}

// Acks lets a recipient acknowledge a message.
func (f *Fixture) Acks(by stick.AgentID, id int64) ([]stick.Event, error) {
	f.T.Helper()
	k := stick.ReceiptKey{Event: id, Agent: by}
	c, events, err := talk.Ack(f.Room, by, f.Event(id), f.Receipts[k], f.Now)
	if err != nil {
		return nil, err
	}
	f.Receipts[k] = c
	return f.Commit(f.Room, events), nil
}

// Withdraws lets the sender withdraw a message.
func (f *Fixture) Withdraws(by stick.AgentID, id int64) []stick.Event {
	f.T.Helper()
	var cs []stick.Receipt
	for k, c := range f.Receipts {
		if k.Event == id {
			cs = append(cs, c)
		}
	}
	changed, events := talk.Withdraw(f.Room, by, cs)
	for _, c := range changed {
		f.Receipts[stick.ReceiptKey{Event: id, Agent: c.Agent}] = c
	}
	return f.Commit(f.Room, events)
}

// Event returns the event with the number id.
func (f *Fixture) Event(id int64) stick.Event {
	for _, e := range f.Log {
		if e.Seq == id {
			return e
		}
	}
	f.T.Fatalf("there is no event %d", id)
	return stick.Event{}
}

// ReceiptState returns the state of a message at a recipient.
func (f *Fixture) ReceiptState(id int64, a stick.AgentID) stick.ReceiptState {
	return talk.Receipt(f.Room, f.Receipts[stick.ReceiptKey{Event: id, Agent: a}], f.Probed)
}

// WithMembers lets agents join, one after the other.
func (f *Fixture) WithMembers(names ...stick.AgentID) *Fixture {
	f.T.Helper()
	for _, a := range names {
		r, events, _, err := f.Join(a, "", true, f.Now)
		if err != nil {
			f.T.Fatalf("join: %v", err)
		}
		f.Commit(r, events)
	}
	return f
}

// WithPolicy changes policies, each written as key=value.
func (f *Fixture) WithPolicy(changes ...string) *Fixture {
	f.T.Helper()
	r, events, err := f.SetPolicy("a", true, changes, f.Now)
	if err != nil {
		f.T.Fatalf("policy: %v", err)
	}
	f.Commit(r, events)
	return f
}

// Process gives a member a process of this proof, with this verdict.
func (f *Fixture) Process(a stick.AgentID, proof stick.Proof, v stick.Verdict) *Fixture {
	p := stick.Process{PID: 100 + slices.IndexFunc(f.Members, func(m stick.Member) bool { return m.Agent == a })}
	f.EditMember(a, func(m *stick.Member) { m.Processes = []stick.Evidence{{Process: p, Proof: proof}} })
	f.Probed.Processes[p] = v
	return f
}

// Alive gives members processes that live.
func (f *Fixture) Alive(names ...stick.AgentID) *Fixture {
	return f.each(names, stick.ProvesSession, stick.Alive)
}

// Gone gives members processes that have ended.
func (f *Fixture) Gone(names ...stick.AgentID) *Fixture {
	return f.each(names, stick.ProvesSession, stick.Gone)
}

func (f *Fixture) each(names []stick.AgentID, proof stick.Proof, v stick.Verdict) *Fixture {
	for _, a := range names {
		f.Process(a, proof, v)
	}
	return f
}

// Hooks records that the hooks of an agent's harness fire.
func (f *Fixture) Hooks(a stick.AgentID) *Fixture {
	f.EditMember(a, func(m *stick.Member) { m.HooksSeen = true })
	return f
}

// Waits gives agents a live wait for work, and parks one for events. ends ends it.
func (f *Fixture) Waits(names ...stick.AgentID) *Fixture { return f.listens(stick.Work, names) }

// Parks lets members wait for events only.
func (f *Fixture) Parks(names ...stick.AgentID) *Fixture { return f.listens(stick.Listen, names) }

func (f *Fixture) listens(intent stick.Purpose, names []stick.AgentID) *Fixture {
	for _, a := range names {
		f.Ends(a)
		id := stick.ListenerID(fmt.Sprintf("%s-%d", a, len(f.Listeners)))
		f.Listeners = append(f.Listeners[:len(f.Listeners):len(f.Listeners)],
			stick.Listener{ID: id, Agent: a, Purpose: intent, StartedAt: f.Now})
		f.Probed.Listeners[id] = stick.Alive
	}
	return f
}

// Ends ends the waits of members.
func (f *Fixture) Ends(names ...stick.AgentID) *Fixture {
	for _, a := range names {
		for _, l := range f.Listeners {
			if l.Agent == a {
				f.Probed.Listeners[l.ID] = stick.Gone
			}
		}
	}
	return f
}

// After lets time pass.
func (f *Fixture) After(d time.Duration) *Fixture {
	f.Now = f.Now.Add(d)
	return f
}

// Lease returns the lease of the next grant.
func (f *Fixture) Lease() stick.LeaseID { return stick.LeaseID(fmt.Sprintf("lease-%d", f.Turn.ID+1)) }

// Fence returns the fence of the current turn.
func (f *Fixture) Fence() stick.Fence { return stick.Fence{Turn: f.Turn.ID, Lease: f.Turn.Lease} }

// Peeks is one check by a call that doesn't block.
func (f *Fixture) Peeks(a stick.AgentID) stick.Answer {
	f.T.Helper()
	return f.Look(a, stick.Work, false)
}

// Asks is one check by a blocked wait for work.
func (f *Fixture) Asks(a stick.AgentID) stick.Answer {
	f.T.Helper()
	return f.Look(a, stick.Work, true)
}

// Look asks for the turn, once or in a wait.
func (f *Fixture) Look(a stick.AgentID, intent stick.Purpose, blocking bool) stick.Answer {
	f.T.Helper()
	r, events, ans := f.Ask(stick.Asking{Agent: a, Purpose: intent, Blocking: blocking, Lease: f.Lease()},
		f.Probed, f.Now)
	f.Commit(r, events)
	return ans
}

// Deadline returns how long a wait of a may sleep.
func (f *Fixture) Deadline(a stick.AgentID) time.Duration {
	at := f.NextDeadline(stick.Asking{Agent: a, Purpose: stick.Work, Blocking: true}, f.Probed, f.Now)
	if at.IsZero() {
		return -1
	}
	return at.Sub(f.Now)
}

// Owns gives a the stick by a claim.
func (f *Fixture) Owns(a stick.AgentID) *Fixture {
	f.T.Helper()
	if ans := f.Peeks(a); ans.Status != stick.YourTurn {
		f.T.Fatalf("%s can't claim: %+v", a, ans)
	}
	return f
}

// Handoff is a handoff that is accepted.
var Handoff = stick.Handoff{Status: "half done", NextAction: "do the other half"}

// TryRelease lets the owner release; releases does so and must succeed.
func (f *Fixture) TryRelease(by stick.AgentID, fence stick.Fence, h stick.Handoff) ([]stick.Event, error) {
	f.T.Helper()
	r, events, err := f.Release(by, fence, h, f.Probed, f.Now)
	return f.TryCommit(r, events, err)
}

// Releases lets the owner release the stick, which must succeed.
func (f *Fixture) Releases() *Fixture {
	f.T.Helper()
	f.Must(f.TryRelease(f.Turn.Owner, f.Fence(), Handoff))
	return f
}

// ReleasesUnchanged lets the owner release the stick after a turn in which the tree stayed as it was.
func (f *Fixture) ReleasesUnchanged() *Fixture {
	f.T.Helper()
	tree := &stick.Workspace{Head: "c0ffee"}
	f.Room = f.RestAfter(f.Turn.Owner, stick.TurnWork{Before: tree, After: tree}, f.Now)
	return f.Releases()
}

// TryPass lets the owner pass the stick.
func (f *Fixture) TryPass(to stick.AgentID) ([]stick.Event, error) {
	f.T.Helper()
	r, events, err := f.Pass(f.Turn.Owner, f.Fence(), to, Handoff, f.Probed, f.Now)
	return f.TryCommit(r, events, err)
}

// Passes lets the owner pass the stick, which must succeed.
func (f *Fixture) Passes(to stick.AgentID) *Fixture { f.T.Helper(); f.Must(f.TryPass(to)); return f }

// TryTake asks for a takeover.
func (f *Fixture) TryTake(q stick.Take) (stick.ClaimReason, error) {
	f.T.Helper()
	r, events := f.Settle(q.By, true, f.Probed, f.Now)
	f.Commit(r, events)
	before := f.Room
	r, events, why, err := f.Takeover(q, f.Lease(), f.Probed, f.Now)
	if err != nil && len(events) == 0 && !IsSameRoom(r, before) {
		f.T.Errorf("a refused takeover changed the room")
	}
	f.Commit(r, events)
	return why, err
}

// Takes asks for a takeover with a reason.
func (f *Fixture) Takes(a stick.AgentID) (stick.ClaimReason, error) {
	f.T.Helper()
	return f.TryTake(stick.Take{By: a, Reason: "it is needed"})
}

// Settles makes the changes that are due.
func (f *Fixture) Settles(by stick.AgentID) []stick.Event {
	f.T.Helper()
	r, events := f.Settle(by, false, f.Probed, f.Now)
	return f.Commit(r, events)
}

// TryLeave lets a member leave.
func (f *Fixture) TryLeave(q stick.Leaving) ([]stick.Event, error) {
	f.T.Helper()
	r, events, err := f.Leave(q, f.Probed, f.Now)
	return f.TryCommit(r, events, err)
}

// TryKick lets somebody remove a member.
func (f *Fixture) TryKick(q stick.Kicking) ([]stick.Event, error) {
	f.T.Helper()
	r, events, err := f.Kick(q, f.Probed, f.Now)
	return f.TryCommit(r, events, err)
}

// TryClose lets somebody close the room.
func (f *Fixture) TryClose(q stick.Closing) ([]stick.Event, error) {
	f.T.Helper()
	r, events, err := f.Close(q, f.Now)
	return f.TryCommit(r, events, err)
}

// TryCommit commits the outcome of an act. An act that failed must have changed nothing.
func (f *Fixture) TryCommit(r stick.Room, events []stick.Event, err error) ([]stick.Event, error) {
	f.T.Helper()
	if err != nil {
		if len(events) > 0 || !IsSameRoom(r, f.Room) {
			f.T.Errorf("an act that was refused changed the room: %v", err)
		}
		return nil, err
	}
	return f.Commit(r, events), nil
}

// Must returns the events of an act that has to succeed.
func (f *Fixture) Must(events []stick.Event, err error) []stick.Event {
	f.T.Helper()
	if err != nil {
		f.T.Fatalf("refused: %v", err)
	}
	return events
}

// OpeningCause returns the cause of the open takeover.
func (f *Fixture) OpeningCause() stick.Cause { return f.Opening(f.Probed, f.Now).Cause }

// Refused checks the code and the facts of a refusal. A fact that is nil must be present as null.
func Refused(t *testing.T, err error, code stick.Code, facts map[string]any) {
	t.Helper()
	if stick.CodeOf(err) != code {
		t.Errorf("code %q (%v), want %q", stick.CodeOf(err), err, code)
		return
	}
	e := stick.AsError(err)
	for k, want := range facts {
		if got, ok := e.Fields[k]; !ok || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", k, got, want)
		}
	}
	if e.Message == "" {
		t.Errorf("the refusal says nothing")
	}
}

// Says checks the words of a refusal and of its hint.
func Says(t *testing.T, err error, message, hint string) {
	t.Helper()
	e := stick.AsError(err)
	if e == nil {
		t.Errorf("it isn't refused, want %q", message)
		return
	}
	Equal(t, "message", e.Message, message)
	Equal(t, "hint", e.Hint.String(), hint)
}

// Equal fails the test if got isn't what is wanted.
func Equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Moment is the smallest time that counts, a millisecond.
const Moment = time.Millisecond

// Times of the default policy.
const (
	Grace = 10 * time.Second
	Claim = 20 * time.Minute
	Limit = 45 * time.Minute // of a lease, and of idleness
)
