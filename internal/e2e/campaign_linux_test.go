package e2e

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"talkingstick/internal/clitest"
	"talkingstick/internal/store"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

var (
	campaignTime  = flag.Duration("campaign.time", 5*time.Second, "how long the campaign runs at least")
	campaignProcs = flag.Int("campaign.procs", 8, "how many agents take part in the campaign")
	campaignSeed  = flag.Uint64("campaign.seed", 0, "seed of the campaign's choices; 0 takes a new one")
)

// TestCampaign has agents in real processes do random operations in one room: harnesses, one that runs below
// another, a shell that was left behind, a worker's command, and an MCP client that nobody knows. Meanwhile
// processes are killed and stopped at random, and clocks are wrong. Then it checks the laws:
//
//   - the history, as the agents saw it, is linearizable;
//   - an agent below another is told that it works under that one's turn while that one holds the stick, and
//     only then;
//   - the log has no double grant, and no turn that was skipped or repeated;
//   - every handoff reaches the next holder, and again on every ask;
//   - every release that was acknowledged is in the log, exactly once;
//   - no command failed because the database was busy, and the integrity check finds nothing.
func TestCampaign(t *testing.T) {
	newCampaign(t).run()
}

// newCampaign prepares a campaign in a room of its own.
func newCampaign(t *testing.T) *campaign {
	return &campaign{
		t: t, w: newWorld(t), start: time.Now(), counts: map[string]int{}, bad: map[string]int{},
		must: []string{grants, handoffs, "tt killed", "stops"},
	}
}

// run runs the campaign, and checks the laws.
func (c *campaign) run() {
	t := c.t
	agents, length, seed := *campaignProcs, *campaignTime, *campaignSeed
	if testenv.Leaves(t, testenv.Every, "8 agents for 5 s, where 4 work for 1 s") {
		agents, length, seed = 4, time.Second, max(seed, 1)
	}
	if seed == 0 {
		seed = rand.Uint64N(1 << 32)
	}
	fmt.Printf("campaign: %d agents for %s, -campaign.seed=%d\n", agents, length, seed)
	ok(t, c.w.person("join"))
	c.w.policy("waiter_grace=100ms", "claim_ttl=600ms", "owner_lease_ttl=1500ms", "owner_idle_ttl=1s",
		"heartbeat_interval=1s")
	opt := c.w.database()
	if c.hosts != nil {
		opt.Dir, opt.URL = t.TempDir(), c.hosts.url
	}
	db, err := store.Open(context.Background(), opt, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c.db = db
	c.room = said(t, ok(t, c.w.person("state"))).Room

	var workers, chaos sync.WaitGroup
	stop := make(chan struct{})
	for i := range agents {
		w := &worker{c: c, i: i, rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		c.workers = append(c.workers, w)
		w.restart()
	}

	c.cut()
	for _, w := range c.workers {
		workers.Go(func() { w.work(stop) })
	}
	chaos.Go(func() { c.chaos(rand.New(rand.NewPCG(seed, 1000)), stop) })
	if c.hosts != nil {
		chaos.Go(func() { c.hosts.faults(c, stop) })
	}

	for end := time.Now().Add(length); ; {
		time.Sleep(min(2*time.Second, length)) // the length of a segment
		c.gate.Lock()
		c.cut()
		c.gate.Unlock()
		over := time.Since(end)
		if over >= 0 && len(c.lacks()) == 0 || over > time.Minute {
			break
		}
	}

	close(stop)
	workers.Wait()
	chaos.Wait()
	c.cut()
	for _, w := range c.workers {
		w.agent.kill()
	}
	c.check()
	c.report()
}

// What the log of the campaign is counted by.
const (
	grants   = "grants"
	handoffs = "handoffs"
)

// campaign is one run.
type campaign struct {
	t       *testing.T
	w       *world
	db      *store.DB
	room    stick.RoomID
	start   time.Time
	workers []*worker
	hosts   *hosts   // nil for one host, with a file
	must    []string // what has to happen in it, as it is counted

	// A worker holds gate for reading during an operation. Whoever holds it alone knows that no operation
	// is going on.
	gate sync.RWMutex

	mu       sync.Mutex // guards all below
	history  []porcupine.Operation
	segments []segment
	was      register // at the last cut
	records  []record
	counts   map[string]int
	bad      map[string]int // what must not happen
	notes    int
}

// segment is a part of the history between two moments at which no operation was going on, so that the state
// there is known. If all segments are right, the whole history is.
type segment struct {
	was, is register
	ops     []porcupine.Operation
}

// record is what the log has to hold.
type record struct {
	in  call
	out outcome
	a   answer
}

// cut ends a segment, while no operation is going on.
func (c *campaign) cut() {
	var r stick.Room
	err := c.read(func(tx *store.Tx) (err error) {
		r, err = tx.Room(c.room)
		return err
	})
	if err != nil {
		c.t.Errorf("read the room: %v", err)
		return
	}

	is := register{turn: r.Turn.ID, owner: r.Turn.Owner, lease: string(r.Turn.Lease)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.history) > 0 {
		c.segments = append(c.segments, segment{c.was, is, c.history})
	}
	c.history, c.was = nil, is
}

func (c *campaign) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

// now is the time for the history.
func (c *campaign) now() int64 { return time.Since(c.start).Nanoseconds() }

// note makes a text that no other handoff has.
func (c *campaign) note() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes++
	return fmt.Sprintf("handoff %d of the campaign", c.notes)
}

// worker is an agent of the campaign. It does one operation at a time.
type worker struct {
	c    *campaign
	i    int
	rand *rand.Rand

	mu    sync.Mutex // guards what others read
	me    stick.AgentID
	agent *agent
	back  chan struct{} // closed when another agent has come in its place
	now   *run

	acts    bool     // in one process that stays
	below   string   // the harness that the agent it runs below starts for each of its commands; else empty
	env     []string // of these commands
	offered bool     // it was offered a takeover
	turn    int64
	lease   string
	old     op // the last release or pass, which may be repeated
	seen    int64
}

// actorKind is who a worker is.
type actorKind struct {
	as               string // the first part of its agent's name
	harness, program string
	session          string // the variable with its session's name, if it has one
	env              []string
	below            string // the harness that runs its commands, below another worker's
}

// actors are those that take part, in this order.
var actors = []actorKind{
	{as: "claude", harness: "claude", program: "actor"},
	{as: "codex", harness: "codex", program: "runner"},
	{as: "claude", harness: "claude", program: "actor", session: "CLAUDE_CODE_SESSION_ID"},
	{as: "claude", harness: "claude", program: "runner", session: "CLAUDE_CODE_SESSION_ID"},
	// a worker's command, which runs no harness
	{as: "worker", harness: "tt-worker", program: "runner"},
	// an MCP client that nobody knows
	{as: "cursor", harness: "cursor", program: "actor", env: []string{clientEnv + "=cursor"}},
	{as: "claude", program: "runner", env: []string{"CLAUDECODE=1"}}, // a shell that an agent left behind
	{as: "codex", session: "CODEX_SESSION_ID", below: "codex"},       // it runs in the tool calls of the fourth
}

// parent returns the worker below which w runs.
func (w *worker) parent() *worker { return w.c.workers[w.i-4] }

// parentBack waits until the agent below which w runs has been started again.
func (w *worker) parentBack(stop chan struct{}) {
	for w.below != "" && w.agent.gone() {
		p := w.parent()
		p.mu.Lock()
		back, gone := p.back, p.agent.gone()
		p.mu.Unlock()
		if !gone {
			return
		}

		select {
		case <-back:
		case <-stop:
			return
		}
	}
}

// restart starts a harness, or starts it again after it was killed. Some come back as the same session, some
// as a new one. Some have a wrong clock. What runs below another agent comes back with it.
func (w *worker) restart() {
	k := actors[w.i%len(actors)]
	env := slices.Clone(k.env)
	if k.session != "" {
		env = append(env, fmt.Sprintf("%s=worker-%d", k.session, w.i))
	}
	if k.harness == "" { // all that one user's agents left behind are one
		env = append(env, fmt.Sprintf("USER=ann%d", w.i))
	}

	if w.c.hosts != nil {
		env = append(env, w.c.hosts.env(w.i)...)
	} else if w.rand.IntN(5) == 0 {
		jumps := []string{"45s", "-45s", "10m", "-10m", "1h", "-1h"}
		env = append(env, clitest.Clock+"="+jumps[w.rand.IntN(len(jumps))])
		w.c.count("wrong clocks")
	}

	a, err := w.c.started(w, k, env)
	if err != nil {
		w.c.t.Errorf("start an agent: %v", err)
		return
	}
	w.acts, w.below, w.env = k.program == "actor", k.below, nil
	if w.below != "" {
		w.env = env
	}
	w.turn, w.lease = 0, ""
	w.mu.Lock()
	w.agent, w.now, w.me = a, nil, ""
	if w.back != nil {
		close(w.back)
	}
	w.back = make(chan struct{})
	w.mu.Unlock()

	for w.name() == "" && !a.gone() { // a join can be killed as well
		_, ans, _ := w.do(op{Kind: "join"}, nil)
		w.mu.Lock()
		w.me = ans.Agent
		w.mu.Unlock()
		if w.me != "" && !strings.HasPrefix(string(w.me), k.as+":") {
			w.c.forbidden(fmt.Sprintf("%s:… is called %s", k.as, w.me))
		}
	}
}

// started starts the process of a worker, or finds that of the one below which it runs.
func (c *campaign) started(w *worker, k actorKind, env []string) (*agent, error) {
	if k.below == "" {
		return c.w.tryStart(k.harness, k.program, env)
	}
	p := w.parent()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.agent, nil
}

// work does random operations until it is told to stop.
func (w *worker) work(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}

		w.parentBack(stop)
		w.c.gate.RLock()
		if w.agent.gone() {
			w.agent.kill()
			w.restart()
		} else {
			w.step()
		}
		w.c.gate.RUnlock()
	}
}

// step does one operation.
func (w *worker) step() {
	o := w.choose()
	var env []string
	if !w.acts && w.rand.IntN(12) == 0 {
		points := []string{"before commit", "after commit", "before print", "after commit#2", "before commit#2"}
		env = append(env, clitest.Kill+"="+points[w.rand.IntN(len(points))])
	}
	w.record(o, env)
}

// choose picks an operation, mostly one that makes sense for what the worker believes.
func (w *worker) choose() op {
	r, n := w.rand, w.rand.IntN(100)
	o := op{Turn: w.turn, Lease: w.lease}
	if w.turn != 0 {
		switch {
		case n < 50:
			o.Kind, o.Note = "release", w.c.note()
		case n < 64:
			o.Kind, o.Note, o.To = "pass", w.c.note(), "next"
			if other := w.c.workers[r.IntN(len(w.c.workers))].name(); other != "" && other != w.me {
				o.To = string(other)
			}

		case n < 72:
			o.Kind = "heartbeat"
		case n < 78:
			o = op{Kind: "try"}
		case n < 82:
			o = op{Kind: "take"}
		case n < 86:
			o = op{Kind: "state"}
		case n < 89: // abandoning means whatever turn it has
			o = op{Kind: "leave"}
		case n < 92:
			o.Kind, o.Note = "leave", w.c.note()
		case n < 95:
			o = op{Kind: "wait", WaitMS: 50, Park: true}
		case n < 97: // it forgets its turn, like an agent whose memory was cleared
			w.turn, w.lease = 0, ""
			return op{Kind: "state"}
		default: // a fence that can't be current
			o.Kind, o.Note, o.Lease = "release", w.c.note(), "ffffffffffffffffffffffffffffffff"
		}

		return o
	}

	if w.offered && n < 50 {
		w.offered = false
		return op{Kind: "take"}
	}

	switch {
	case n < 28:
		return op{Kind: "try"}
	case n < 62:
		return op{Kind: "wait", WaitMS: 10 + r.Int64N(200)}
	case n < 66:
		return op{Kind: "wait", WaitMS: 10 + r.Int64N(100), Park: true}
	case n < 74:
		return op{Kind: "take"}
	case n < 80 && w.old.Kind != "": // the last release again
		return w.old
	case n < 84: // without a fence: its own last turn
		return op{Kind: "release", Note: w.c.note()}
	case n < 87:
		return op{Kind: "leave"}
	case n < 90:
		return op{Kind: "join"}
	case n < 95:
		return op{Kind: "events", After: w.seen}
	}

	return op{Kind: "state"}
}

func (w *worker) name() stick.AgentID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.me
}

// do runs an operation. lost is true when its process was killed.
func (w *worker) do(o op, env []string) (raw reply, a answer, lost bool) {
	q := request{Env: append(slices.Clip(w.env), env...), Below: w.below}
	if w.acts {
		q.Op = &o
	} else {
		q.Args = o.args()
	}

	r := w.agent.do(q)
	w.mu.Lock()
	w.now = r
	w.mu.Unlock()
	<-r.done
	w.mu.Lock()
	w.now = nil
	w.mu.Unlock()

	if r.lost {
		w.agent.kill() // it returns when all its processes have ended
		return raw, a, true
	}

	if r.got.Killed || w.below != "" && r.got.Out+r.got.Err == "" { // a harness doesn't say how its command ended
		return r.got, a, true
	}
	a, err := decode(r.got)
	if err != nil {
		w.c.forbidden(fmt.Sprintf("an answer that can't be read: exit %d %q %q", r.got.Exit, r.got.Out, r.got.Err))
	}

	return r.got, a, false
}

func (c *campaign) forbidden(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad[what]++
}

// record does an operation and writes it into the history.
func (w *worker) record(o op, env []string) {
	c := w.c
	me := w.me
	var above stick.AgentID
	if w.below != "" {
		above = w.parent().name() // empty until it has come back
	}
	from := c.now()
	raw, a, lost := w.do(o, env)
	to := c.now()
	out := outcome{kind: unknown}
	if !lost {
		out = w.judge(o, raw, a)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts["operations"]++
	c.counts[o.Kind+" "+out.kind]++
	in := call{me, o, above}
	c.records = append(c.records, record{in, out, a})

	switch o.Kind {
	case "join", "events": // they don't concern the turn
	default:
		c.history = append(c.history, porcupine.Operation{
			ClientId: w.i, Input: in, Call: from, Output: out, Return: to,
		})
	}

	switch out.kind {
	case granted, held:
		w.turn, w.lease = out.turn, out.lease
	case ended, fenced, left, repeated:
		if o.Kind == "release" && o.Lease == "ffffffffffffffffffffffffffffffff" {
			return
		}
		w.turn, w.lease = 0, ""

	case unknown:
		// Either way the agent has to ask, or to do the same again.
		w.turn, w.lease = 0, ""

	case refused:
		if o.Kind == "heartbeat" || o.Kind == "release" || o.Kind == "leave" {
			w.turn, w.lease = 0, ""
		}
	}

	w.offered = a.Status == string(stick.TakeoverAvailable)
	if (o.Kind == "release" || o.Kind == "pass") && o.Turn != 0 {
		w.old = o // without a fence it would mean whichever turn is its last one by then
	}
	if o.Kind == "events" && out.kind == saw {
		w.seen = a.Cursor
	}
}

// judge turns an answer into an outcome.
func (w *worker) judge(o op, raw reply, a answer) outcome {
	if a.Error != "" {
		out := outcome{kind: refused, code: a.Error}
		switch a.Error {
		case stick.CodeTurnMismatch, stick.CodeStaleLease, stick.CodeAlreadyEnded:
			out.kind = fenced
		case stick.CodeNotYourTurn, stick.CodeTakeoverNotAvailable, stick.CodePriorOwner, stick.CodeUnknownMember:

		case stick.CodeDatabaseUnavailable, stick.CodeDatabaseBusy:
			if w.c.hosts != nil { // nobody knows whether it was done
				w.c.count("without an answer of the server")
				return outcome{kind: unknown}
			}
			w.c.forbidden(fmt.Sprintf("%s was refused with %s: %s", o.Kind, a.Error, a.Message))

		default:
			w.c.forbidden(fmt.Sprintf("%s was refused with %s: %s", o.Kind, a.Error, a.Message))
		}

		return out
	}

	out := outcome{turn: a.Turn, lease: a.Lease}
	switch o.Kind {
	case "try", "wait", "take":
		switch stick.WaitStatus(a.Status) {
		case stick.YourTurn:
			out.kind = granted
			if a.Reason == string(stick.AlreadyOwner) {
				out.kind = held
			}
			if a.From != nil && a.Cause != "" && out.kind == granted {
				out.from = *a.From
			}

		case stick.NotYet, stick.TakeoverAvailable, stick.GotEvents:
			out.kind = without
		case stick.UnderParent:
			out = outcome{kind: under, turn: a.ParentTurn, from: a.Parent}
		default:
			w.c.forbidden(fmt.Sprintf("%s was answered with %s", o.Kind, a.Status))
			out.kind = without
		}

	case "release", "pass":
		out.kind = ended
		if a.Already {
			out.kind = repeated
		}

	case "heartbeat":
		out.kind = renewed
	case "leave":
		out.kind = left
		if a.Abandon || o.Note != "" && !a.Already {
			out.kind, out.turn = ended, o.Turn
		}

	case "state":
		out.kind = saw
		if a.Owner != nil {
			out.from = *a.Owner
		}

	case "join", "events":
		out.kind = saw
	}

	return out
}

// chaos kills and stops processes until it is told to stop.
func (c *campaign) chaos(r *rand.Rand, stop chan struct{}) {
	var pauses sync.WaitGroup
	defer pauses.Wait()
	pause := func(d time.Duration, halt, resume func()) {
		halt()
		c.count("stops")
		pauses.Go(func() {
			time.Sleep(d)
			resume()
		})
	}

	every := time.Millisecond
	if c.hosts != nil {
		every *= 4 // an operation takes longer
	}

	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(5+r.IntN(50)) * every):
		}

		w := c.workers[r.IntN(len(c.workers))]
		w.mu.Lock()
		a, now := w.agent, w.now
		w.mu.Unlock()

		n := r.IntN(100)
		switch {
		case n < 4: // a harness with all that runs in it
			c.count("harnesses killed")
			a.kill()
		case n < 12: // a harness with all that runs in it
			pause(time.Duration(1+r.IntN(300))*time.Millisecond, func() { a.group(syscall.SIGSTOP) }, func() {
				a.group(syscall.SIGCONT)
			})
		case now == nil || a.self == 0 || w.acts && n < 50:
		case w.acts: // the process that does the operation
			pause(time.Duration(1+r.IntN(150))*time.Millisecond,
				func() { a.signal(syscall.SIGSTOP) }, func() { a.signal(syscall.SIGCONT) })
		case n < 55:
			c.count("tt killed")
			now.signal(syscall.SIGKILL)
		default:
			pause(time.Duration(1+r.IntN(150))*time.Millisecond, func() { now.signal(syscall.SIGSTOP) },
				func() { now.signal(syscall.SIGCONT) })
		}
	}
}

// check compares what was seen with the laws.
func (c *campaign) check() {
	t := c.t
	for what, n := range c.bad {
		t.Errorf("%d times: %s", n, what)
	}
	found, err := c.db.Check(context.Background())
	if err != nil || len(found) > 0 {
		t.Errorf("the integrity check found %q (%v)", found, err)
	}

	log := c.log()
	c.counts["events in the log"] = len(log)
	c.checkTurns(log)
	c.checkHandoffs(log)
	c.checkHistory()
}

func (c *campaign) log() (log []stick.Event) {
	err := c.read(func(tx *store.Tx) error {
		log = nil
		for seq, more := int64(0), true; more; {
			var events []stick.Event
			var err error
			if events, more, err = tx.Events(store.EventQuery{Room: c.room, After: seq, Limit: 500}); err != nil {
				return err
			}
			log = append(log, events...)
			if len(events) > 0 {
				seq = events[len(events)-1].Seq
			}
		}

		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}

	return log
}

// checkTurns: one grant at a time, one turn after the other.
func (c *campaign) checkTurns(log []stick.Event) {
	var owner stick.AgentID
	turn := int64(0)
	for _, e := range log {
		switch e.Type {
		case stick.EventClaim, stick.EventTakeover:
			if e.Turn != turn+1 {
				c.t.Errorf("event %d grants turn %d after turn %d", e.Seq, e.Turn, turn)
			}
			if e.Type == stick.EventClaim && owner != "" {
				c.t.Errorf("event %d grants turn %d to %s while %s has the stick", e.Seq, e.Turn, e.From, owner)
			}
			turn, owner = e.Turn, e.From
			c.counts[grants]++
			if took, ok := stick.PayloadOf[stick.TakeoverPayload](e); ok {
				c.counts["takeovers: "+string(took.Cause)]++
			}

		case stick.EventRelease, stick.EventPass:
			if owner != e.From || e.Turn != turn {
				c.t.Errorf("event %d ends turn %d of %s; %s has turn %d", e.Seq, e.Turn, e.From, owner, turn)
			}
			owner = ""
			c.counts[handoffs]++

		case stick.EventRestored:
			c.t.Errorf("event %d ended the world", e.Seq)
		default:
			if e.TurnEndedOf() != "" {
				owner = ""
				c.counts["turns abandoned"]++
			}
			if e.Type == stick.EventRerouted {
				c.counts["reroutes"]++
			}
		}
	}
}

// checkHandoffs: what was acknowledged is in the log, exactly once. Every grant that an agent was given came
// with the last handoff before it.
func (c *campaign) checkHandoffs(log []stick.Event) {
	t := c.t
	notes := map[string][]stick.Event{}
	given := map[int64]*stick.Event{} // the last handoff before each turn
	grant := map[int64]stick.Event{}  // by turn

	var newest *stick.Event
	for i, e := range log {
		if e.Handoff != nil {
			notes[e.Handoff.Status] = append(notes[e.Handoff.Status], e)
			newest = &log[i]
		}

		if e.Type == stick.EventClaim || e.Type == stick.EventTakeover {
			given[e.Turn], grant[e.Turn] = newest, e
		}
	}

	for note, events := range notes {
		if len(events) > 1 {
			t.Errorf("%q is in the log %d times", note, len(events))
		}
	}

	for _, r := range c.records {
		o, me := r.in.op, r.in.me
		switch r.out.kind {
		case ended:
			if o.Note == "" {
				continue
			}
			events := notes[o.Note]
			if len(events) != 1 || events[0].From != me || r.a.Seq != 0 && events[0].Seq != r.a.Seq {
				t.Errorf("%s was told that its %s succeeded as event %d; in the log there is %v",
					me, o, r.a.Seq, events)
			}
			c.counts["acknowledged handoffs found in the log"]++

		case repeated:
			i := slices.IndexFunc(log, func(e stick.Event) bool { return e.Seq == r.a.Seq })
			if i < 0 ||
				log[i].From != me ||
				log[i].Turn != r.a.Turn ||
				log[i].Handoff == nil ||
				log[i].Handoff.Status != o.Note {
				t.Errorf("%s repeated %s and was told event %d; that isn't its release", me, o, r.a.Seq)
			}
			c.counts["repeated releases answered with the first result"]++

		case fenced, refused:
			if o.Note != "" && len(notes[o.Note]) > 0 && !c.doneBefore(r) {
				t.Errorf("%s was refused %s (%s), and its handoff is in the log", me, o, r.out.code)
			}

		case granted, held:
			g, ok := grant[r.out.turn]
			if !ok || g.From != me || g.Lease() != stick.LeaseSum(stick.LeaseID(r.out.lease)) {
				t.Errorf("%s was told that it has turn %d; the log says %v", me, r.out.turn, g)
				continue
			}

			want := given[r.out.turn]
			claim, _ := stick.PayloadOf[stick.ClaimPayload](g)
			direct := want != nil && claim.HandoffSeq == want.Seq
			switch {
			case want == nil && (r.a.Handoff != nil || r.a.Recovery != nil):
				t.Errorf("turn %d came with a handoff that nobody gave", r.out.turn)
			case want == nil:
			case direct && (r.a.Handoff == nil || r.a.Recovery != nil || r.a.Handoff.Status != want.Handoff.Status):
				t.Errorf("turn %d of %s came without the handoff of event %d, given to it directly: %+v",
					r.out.turn, me, want.Seq, r.a)
			case !direct &&
				(r.a.Recovery == nil ||
					r.a.Handoff != nil ||
					r.a.Recovery.Seq != want.Seq ||
					r.a.Recovery.Handoff.Status != want.Handoff.Status):
				t.Errorf("turn %d of %s came without the handoff of event %d, as what is to be recovered: %+v",
					r.out.turn, me, want.Seq, r.a)
			}
			c.counts["grants told with the right handoff"]++
		}

		if o.Kind == "events" && r.out.kind == saw {
			c.checkRead(log, o, r.a)
		}
	}
}

// doneBefore reports whether the same handoff was given in another operation: one that was killed,
// or that this one repeats.
func (c *campaign) doneBefore(r record) bool {
	n := 0
	for _, other := range c.records {
		if other.in.op.Note == r.in.op.Note {
			n++
		}
	}

	return n > 1
}

// checkRead: the events that were read are a part of the log, without a gap.
func (c *campaign) checkRead(log []stick.Event, o op, a answer) {
	events := a.events(c.t)
	if len(events) == 0 {
		return
	}

	first := o.After + 1
	if o.After == 0 { // without a cursor it is the newest ones
		first = events[0].Seq
	}

	i := slices.IndexFunc(log, func(e stick.Event) bool { return e.Seq >= first })
	for k, e := range events {
		if i < 0 || i+k >= len(log) || log[i+k].Seq != e.Seq || log[i+k].ID != e.ID {
			c.t.Errorf("events behind %d: event %d isn't the next one of the log", o.After, e.Seq)
			return
		}
	}
	c.counts["events read"] += len(events)
}

// checkHistory has porcupine check every segment.
func (c *campaign) checkHistory() {
	c.counts["segments of the history"] = len(c.segments)
	for i, s := range c.segments {
		m, end := from(s.was), int64(0)
		for _, o := range s.ops {
			end = max(end, o.Return)
		}

		ops := append(slices.Clip(s.ops), porcupine.Operation{
			ClientId: len(c.workers), Input: call{op: op{Kind: "state"}}, Call: end + 1, Return: end + 2,
			Output: outcome{kind: saw, turn: s.is.turn, from: s.is.owner, lease: s.is.lease},
		})

		res, info := porcupine.CheckOperationsVerbose(m, ops, time.Minute)
		if res == porcupine.Ok {
			c.counts["operations in linearizable history"] += len(s.ops)
			continue
		}

		c.t.Log(stuck(info, ops))
		path := filepath.Join(c.t.ArtifactDir(), fmt.Sprintf("segment-%d.html", i))
		if err := porcupine.VisualizePath(m, info, path); err != nil {
			path = err.Error()
		}
		c.t.Errorf("segment %d of %d operations, from %+v to %+v, isn't linearizable (%s); see %s",
			i, len(s.ops), s.was, s.is, res, path)
	}
}

// stuck says how far porcupine could order a history.
func stuck(info porcupine.LinearizationInfo, ops []porcupine.Operation) string {
	var longest []porcupine.Operation
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, p := range partition {
			if len(p) > len(longest) {
				longest = p
			}
		}
	}

	tell := func(o porcupine.Operation) string {
		return fmt.Sprintf("  %9.3f–%9.3f ms %s\n",
			float64(o.Call)/1e6, float64(o.Return)/1e6, model.DescribeOperation(o.Input, o.Output))
	}
	in := map[string]bool{}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d operations can be put in order, the last of them are\n", len(longest), len(ops))

	for i, o := range longest {
		in[tell(o)] = true
		if i >= len(longest)-12 {
			b.WriteString(tell(o))
		}
	}

	b.WriteString("and these are left\n")
	n := 0
	for _, o := range ops {
		if n < 12 && !in[tell(o)] {
			b.WriteString(tell(o))
			n++
		}
	}

	return b.String()
}

// report prints the figures.
func (c *campaign) report() {
	var b strings.Builder
	fmt.Fprintf(&b, "campaign: %d agents, %.1f s\n", len(c.workers), time.Since(c.start).Seconds())
	for _, k := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(&b, "%8d %s\n", c.counts[k], k)
	}
	fmt.Print(b.String())
	for _, k := range c.lacks() {
		c.t.Errorf("the campaign had no %s", k)
	}
}

// lacks lists what has to happen in the campaign and hasn't yet. On a slow machine that takes longer than the
// campaign was asked to.
func (c *campaign) lacks() []string {
	c.mu.Lock()
	happened := maps.Clone(c.counts)
	c.mu.Unlock()

	for _, e := range c.log() {
		switch e.Type {
		case stick.EventClaim, stick.EventTakeover:
			happened[grants]++
		case stick.EventRelease, stick.EventPass:
			happened[handoffs]++
		}
	}

	return slices.DeleteFunc(slices.Clone(c.must), func(k string) bool { return happened[k] > 0 })
}
