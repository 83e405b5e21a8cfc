package stick

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// fixture is a room under test with its surroundings: the verdicts of processes and waits, the clock, and the
// log. [room] makes it, and short methods say what happens. Every act is committed as the store does it; then
// the log is replayed and compared with the room.
type fixture struct {
	Room
	t   *testing.T
	s   *Probed
	now Time
	seq int64
	log []Event
	rec Record

	receipts map[ReceiptKey]Receipt
}

const start = Time(1_800_000_000_000)

func room(t *testing.T) *fixture {
	return &fixture{
		t: t, now: start, s: &Probed{Processes: map[Process]Verdict{}, Listeners: map[ListenerID]Verdict{}},
		Room:     Room{ID: "r1", Policy: DefaultPolicy(), Turn: Turn{State: Idle}},
		receipts: map[ReceiptKey]Receipt{},
	}
}

// commit numbers the events of an act and makes r the room.
func (f *fixture) commit(r Room, events []Event) []Event {
	f.t.Helper()
	for i := range events {
		f.seq++
		events[i].Seq, events[i].ID, events[i].CreatedAt = f.seq, fmt.Sprintf("e%d", f.seq), f.now
		events[i].Sum = events[i].Chain(f.rec.Sum)
		if err := f.rec.Replay(events[i]); err != nil {
			f.t.Fatalf("replay: %v", err)
		}
		for _, c := range events[i].Receipts() {
			f.receipts[ReceiptKey{f.seq, c.Agent}] = c
		}
	}
	f.Room = r.Stamp(events)
	f.log = append(f.log, events...)
	if d := f.rec.Differs(f.Room); d != "" {
		f.t.Fatalf("the room differs from its log: %s", d)
	}
	for k, c := range f.receipts {
		if logged := f.rec.Receipts[k]; logged != c {
			f.t.Fatalf("the receipt of %s is %+v, and the log says %+v", k.Agent, c, logged)
		}
	}
	for k := range f.rec.Receipts {
		if _, ok := f.receipts[k]; !ok {
			f.t.Fatalf("the log says that event %d is for %s", k.Event, k.Agent)
		}
	}
	return events
}

// send sends a message; reads, acks and withdraws read, acknowledge and withdraw one.
func (f *fixture) send(by AgentID, m Message) ([]Event, error) {
	f.t.Helper()
	if m.Category == "" {
		m.Category = Info
	}
	r, events, err := f.Send(Sending{By: by, Message: m}, f.s, f.now)
	return f.done(r, events, err)
}

// sent sends a message that is accepted, and returns its number.
func (f *fixture) sent(by AgentID, m Message) int64 {
	f.t.Helper()
	return f.must(f.send(by, m))[0].Seq
}

func (f *fixture) reads(by AgentID, id int64) []Event {
	f.t.Helper()
	k := ReceiptKey{id, by}
	var events []Event
	f.receipts[k], events = f.ReadMessage(by, f.event(id), f.receipts[k], f.now)
	return f.commit(f.Room, events)
}

func (f *fixture) acks(by AgentID, id int64) ([]Event, error) {
	f.t.Helper()
	k := ReceiptKey{id, by}
	c, events, err := f.AckMessage(by, f.event(id), f.receipts[k], f.now)
	if err != nil {
		return nil, err
	}
	f.receipts[k] = c
	return f.commit(f.Room, events), nil
}

func (f *fixture) withdraws(by AgentID, id int64) []Event {
	f.t.Helper()
	var cs []Receipt
	for k, c := range f.receipts {
		if k.Event == id {
			cs = append(cs, c)
		}
	}
	changed, events := f.WithdrawMessage(by, cs)
	for _, c := range changed {
		f.receipts[ReceiptKey{id, c.Agent}] = c
	}
	return f.commit(f.Room, events)
}

func (f *fixture) event(id int64) Event {
	for _, e := range f.log {
		if e.Seq == id {
			return e
		}
	}
	f.t.Fatalf("there is no event %d", id)
	return Event{}
}

// state returns the state of a message at a recipient.
func (f *fixture) state(id int64, a AgentID) ReceiptState {
	return f.Receipt(f.receipts[ReceiptKey{id, a}], f.s)
}

// member lets agents join, one after the other.
func (f *fixture) member(names ...AgentID) *fixture {
	f.t.Helper()
	for _, a := range names {
		r, events, _, err := f.Join(a, true, f.now)
		if err != nil {
			f.t.Fatalf("join: %v", err)
		}
		f.commit(r, events)
	}
	return f
}

func (f *fixture) policy(changes ...string) *fixture {
	f.t.Helper()
	r, events, err := f.SetPolicy("a", true, changes, f.now)
	if err != nil {
		f.t.Fatalf("policy: %v", err)
	}
	f.commit(r, events)
	return f
}

func (f *fixture) process(a AgentID, proof Proof, v Verdict) *fixture {
	p := Process{PID: 100 + slices.IndexFunc(f.Members, func(m Member) bool { return m.Agent == a })}
	f.editMember(a, func(m *Member) { m.Processes = []Evidence{{Process: p, Proof: proof}} })
	f.s.Processes[p] = v
	return f
}

func (f *fixture) alive(names ...AgentID) *fixture { return f.each(names, ProvesSession, Alive) }
func (f *fixture) gone(names ...AgentID) *fixture  { return f.each(names, ProvesSession, Gone) }

func (f *fixture) each(names []AgentID, proof Proof, v Verdict) *fixture {
	for _, a := range names {
		f.process(a, proof, v)
	}
	return f
}

// hooks records that the hooks of an agent's harness fire.
func (f *fixture) hooks(a AgentID) *fixture {
	f.editMember(a, func(m *Member) { m.HooksSeen = true })
	return f
}

// waits gives agents a live wait for work, and parks one for events. ends ends it.
func (f *fixture) waits(names ...AgentID) *fixture { return f.listens(Work, names) }
func (f *fixture) parks(names ...AgentID) *fixture { return f.listens(Listen, names) }

func (f *fixture) listens(intent Purpose, names []AgentID) *fixture {
	for _, a := range names {
		f.ends(a)
		id := ListenerID(fmt.Sprintf("%s-%d", a, len(f.Listeners)))
		f.Listeners = append(f.Listeners[:len(f.Listeners):len(f.Listeners)], Listener{ID: id, Agent: a, Purpose: intent, StartedAt: f.now})
		f.s.Listeners[id] = Alive
	}
	return f
}

func (f *fixture) ends(names ...AgentID) *fixture {
	for _, a := range names {
		for _, l := range f.Listeners {
			if l.Agent == a {
				f.s.Listeners[l.ID] = Gone
			}
		}
	}
	return f
}

// after lets time pass.
func (f *fixture) after(d time.Duration) *fixture {
	f.now = f.now.Add(d)
	return f
}

func (f *fixture) lease() LeaseID { return LeaseID(fmt.Sprintf("lease-%d", f.Turn.ID+1)) }

// fence returns the fence of the current turn.
func (f *fixture) fence() Fence { return Fence{f.Turn.ID, f.Turn.Lease} }

// try is one check by a call that doesn't block.
func (f *fixture) try(a AgentID) Answer { f.t.Helper(); return f.look(a, Work, false) }

// ask is one check by a blocked wait for work.
func (f *fixture) ask(a AgentID) Answer { f.t.Helper(); return f.look(a, Work, true) }

func (f *fixture) look(a AgentID, intent Purpose, blocking bool) Answer {
	f.t.Helper()
	r, events, ans := f.Ask(Asking{Agent: a, Purpose: intent, Blocking: blocking, Lease: f.lease()}, f.s, f.now)
	f.commit(r, events)
	return ans
}

func (f *fixture) deadline(a AgentID) time.Duration {
	at := f.NextDeadline(Asking{Agent: a, Purpose: Work, Blocking: true}, f.s, f.now)
	if at.IsZero() {
		return -1
	}
	return at.Sub(f.now)
}

// owns gives a the stick by a claim.
func (f *fixture) owns(a AgentID) *fixture {
	f.t.Helper()
	if ans := f.try(a); ans.Status != YourTurn {
		f.t.Fatalf("%s can't claim: %+v", a, ans)
	}
	return f
}

var handoff = Handoff{Status: "half done", NextAction: "do the other half"}

// release lets the owner release; releases does so and must succeed.
func (f *fixture) release(by AgentID, fence Fence, h Handoff) ([]Event, error) {
	f.t.Helper()
	r, events, err := f.Release(by, fence, h, f.s, f.now)
	return f.done(r, events, err)
}

func (f *fixture) releases() *fixture {
	f.t.Helper()
	f.must(f.release(f.Turn.Owner, f.fence(), handoff))
	return f
}

func (f *fixture) pass(to AgentID) ([]Event, error) {
	f.t.Helper()
	r, events, err := f.Pass(f.Turn.Owner, f.fence(), to, handoff, f.s, f.now)
	return f.done(r, events, err)
}

func (f *fixture) passes(to AgentID) *fixture { f.t.Helper(); f.must(f.pass(to)); return f }

func (f *fixture) take(q Take) (ClaimReason, error) {
	f.t.Helper()
	r, events := f.Settle(q.By, true, f.s, f.now)
	f.commit(r, events)
	before := f.Room
	r, events, why, err := f.Takeover(q, f.lease(), f.s, f.now)
	if err != nil && len(events) == 0 && !sameRoom(r, before) {
		f.t.Errorf("a refused takeover changed the room")
	}
	f.commit(r, events)
	return why, err
}

func (f *fixture) takes(a AgentID) (ClaimReason, error) {
	f.t.Helper()
	return f.take(Take{By: a, Reason: "it is needed"})
}

func (f *fixture) settle(by AgentID) []Event {
	f.t.Helper()
	r, events := f.Settle(by, false, f.s, f.now)
	return f.commit(r, events)
}

func (f *fixture) leave(q Leaving) ([]Event, error) {
	f.t.Helper()
	r, events, err := f.Leave(q, f.s, f.now)
	return f.done(r, events, err)
}

func (f *fixture) kick(q Kicking) ([]Event, error) {
	f.t.Helper()
	r, events, err := f.Kick(q, f.s, f.now)
	return f.done(r, events, err)
}

func (f *fixture) close(q Closing) ([]Event, error) {
	f.t.Helper()
	r, events, err := f.Close(q, f.now)
	return f.done(r, events, err)
}

// done commits the outcome of an act. An act that failed must have changed nothing.
func (f *fixture) done(r Room, events []Event, err error) ([]Event, error) {
	f.t.Helper()
	if err != nil {
		if len(events) > 0 || !sameRoom(r, f.Room) {
			f.t.Errorf("an act that was refused changed the room: %v", err)
		}
		return nil, err
	}
	return f.commit(r, events), nil
}

func (f *fixture) must(events []Event, err error) []Event {
	f.t.Helper()
	if err != nil {
		f.t.Fatalf("refused: %v", err)
	}
	return events
}

// opening returns the cause of the open takeover.
func (f *fixture) opening() Cause { return f.Opening(f.s, f.now).Cause }

// refused checks the code and the facts of a refusal. A fact that is nil must be present as null.
func refused(t *testing.T, err error, code Code, facts map[string]any) {
	t.Helper()
	if CodeOf(err) != code {
		t.Errorf("code %q (%v), want %q", CodeOf(err), err, code)
		return
	}
	e := AsError(err)
	for k, want := range facts {
		if got, ok := e.Fields[k]; !ok || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", k, got, want)
		}
	}
	if e.Message == "" {
		t.Errorf("the refusal says nothing")
	}
}

// says checks the words of a refusal and of its hint.
func says(t *testing.T, err error, message, hint string) {
	t.Helper()
	e := AsError(err)
	if e == nil {
		t.Errorf("it isn't refused, want %q", message)
		return
	}
	equal(t, "message", e.Message, message)
	equal(t, "hint", e.Hint.String(), hint)
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

const ms = time.Millisecond

// Times of the default policy.
const (
	grace = 10 * time.Second
	claim = 20 * time.Minute
	limit = 45 * time.Minute // of a lease, and of idleness
)
