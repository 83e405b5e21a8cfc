package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/clitest"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

var (
	talkAgents   = flag.Int("talk.agents", 8, "how many agents take part in the campaign of messages")
	talkMessages = flag.Int("talk.messages", 400, "how many messages each of them sends")
	talkSeed     = flag.Uint64("talk.seed", 0, "seed of its choices; 0 takes a new one")
)

// TestTalkCampaign has agents send messages to each other as fast as they can, from processes that stay. The
// processes that receive are killed and terminated at random, and started again. Then it checks the laws:
//
//   - each message reaches each of its recipients at least once, in the order of the log, and none reaches
//     anybody else;
//   - no cursor skips a message, whoever keeps it: the tool for a named stream and for a wait, the consumer
//     for a stream of messages;
//   - no run of a consumer repeats or reorders anything;
//   - the log has every message that was acknowledged, once, in the order of sending;
//   - receiving marks nothing as read, and the integrity check finds nothing.
func TestTalkCampaign(t *testing.T) {
	storetest.SkipQuick(t, "a campaign of messages")
	messages, seed := *talkMessages, *talkSeed
	if testenv.Leaves(t, testenv.Every, "400 messages of each agent, where it sends 50") {
		messages, seed = 50, max(seed, 1)
	}
	if seed == 0 {
		seed = rand.Uint64N(1 << 32)
	}
	fmt.Printf("talk campaign: %d agents, %d messages each, -talk.seed=%d\n", *talkAgents, messages, seed)
	c := &talk{
		t: t, messages: messages, w: newWorld(t), start: time.Now(), counts: map[string]int{},
		bad: map[string]int{},
	}
	c.more = sync.NewCond(&c.mu)

	for i := range *talkAgents {
		me := stick.AgentID(fmt.Sprintf("%s:%08x", clitest.Harnesses[i%len(clitest.Harnesses)], i))
		c.talkers = append(c.talkers, &talker{c: c, me: me, rand: rand.New(rand.NewPCG(seed, uint64(i)))})
		c.consumers = append(c.consumers, &consumer{
			c: c, me: me, kind: consumerKind(i % int(kinds)), rand: rand.New(rand.NewPCG(seed, uint64(1000+i))),
			seen: map[int64]bool{}, done: make(chan struct{}),
		})
	}

	for _, s := range c.talkers { // all join before anybody sends, so that "room" means all
		s.agent = c.w.start("", "actor", []string{"TT_HARNESS_AGENT_ID=" + string(s.me)})
		said(t, ok(t, s.agent.do(request{Op: &op{Kind: "join"}}).wait()))
	}

	c.room = said(t, ok(t, c.w.person("state"))).Room

	var talkers, consumers sync.WaitGroup
	for _, k := range c.consumers {
		consumers.Go(k.run)
	}
	for _, s := range c.talkers {
		talkers.Go(s.talk)
	}
	talkers.Wait()
	c.said(0)
	sending := time.Since(c.start)
	for _, k := range c.consumers { // now nobody kills them, and they catch up
		k.settle(c.meantFor(k.me))
	}
	c.await()
	consumers.Wait()
	c.check()
	c.report(sending)
}

// talk is one run of the campaign.
type talk struct {
	t         *testing.T
	messages  int // that each agent sends
	w         *world
	room      stick.RoomID
	start     time.Time
	talkers   []*talker
	consumers []*consumer
	received  atomic.Int64
	over      atomic.Bool // the test has stopped it

	mu     sync.Mutex // guards the rest
	more   *sync.Cond // sent has grown, or nothing more is sent
	sent   int
	silent bool // nothing more is sent
	counts map[string]int
	bad    map[string]int // what must not happen
}

// said records that so many more messages were sent.
func (c *talk) said(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent += n
	c.silent = n == 0
	c.more.Broadcast()
}

// away waits until so many more messages were sent, or the last one.
func (c *talk) away(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n += c.sent; c.sent < n && !c.silent; {
		c.more.Wait()
	}
}

func (c *talk) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

func (c *talk) forbidden(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad[fmt.Sprintf(format, args...)]++
}

// talker sends messages.
type talker struct {
	c     *talk
	me    stick.AgentID
	rand  *rand.Rand
	agent *agent
	sent  []letter
}

// letter is a message as its sender knows it.
type letter struct {
	seq   int64
	event string
	from  stick.AgentID
	to    []stick.AgentID // who has to receive it, ordered
	body  string
}

// sendResult is the answer to a sender.
type sendResult struct {
	MessageID  int64  `json:"message_id"`
	EventID    string `json:"event_id"`
	Recipients []struct {
		AgentID stick.AgentID `json:"agent_id"`
	} `json:"recipients"`
}

// talk sends all messages, one after the other.
func (s *talker) talk() {
	for n := range s.c.messages {
		l := letter{from: s.me, body: fmt.Sprintf("message %d of %s%s", n, s.me, s.padding())}
		var names string
		l.to, names = s.choose()
		r := s.agent.do(request{Op: &op{Kind: "send", To: names, Note: l.body}})
		<-r.done

		if r.lost || r.got.Exit != 0 {
			s.c.forbidden("sending failed: exit %d %s", r.got.Exit, r.got.Err)
			return
		}

		var res sendResult
		if err := json.Unmarshal([]byte(r.got.Out), &res); err != nil {
			s.c.forbidden("an answer that can't be read: %v", err)
			return
		}
		var told []stick.AgentID
		for _, x := range res.Recipients {
			told = append(told, x.AgentID)
		}
		if slices.Sort(told); !slices.Equal(told, l.to) {
			s.c.forbidden("a message to %s went to others: %v", names, told)
		}
		l.seq, l.event = res.MessageID, res.EventID
		s.sent = append(s.sent, l)
		s.c.said(1)
	}
}

// padding makes some messages longer than a pipe's buffer.
func (s *talker) padding() string {
	if s.rand.IntN(20) > 0 {
		return ""
	}
	return "\n" + strings.Repeat("…", 1+s.rand.IntN(1200))
}

// choose picks recipients: mostly one member, else several, or all. names are the names that the message is
// sent to.
func (s *talker) choose() (to []stick.AgentID, names string) {
	var others []stick.AgentID
	for _, x := range s.c.talkers {
		if x.me != s.me {
			others = append(others, x.me)
		}
	}

	n := 1
	switch k := s.rand.IntN(100); {
	case k < 5:
		slices.Sort(others)
		return others, string(stick.ToRoom)
	case k < 30:
		n = min(2+s.rand.IntN(4), len(others))
	}

	var list []string
	for _, i := range s.rand.Perm(len(others))[:n] {
		to = append(to, others[i])
		list = append(list, string(others[i]))
	}

	slices.Sort(to)
	return to, strings.Join(list, ",")
}

// meantFor returns the messages to a, by number.
func (c *talk) meantFor(a stick.AgentID) map[int64]letter {
	meant := map[int64]letter{}
	for _, s := range c.talkers {
		for _, l := range s.sent {
			if slices.Contains(l.to, a) {
				meant[l.seq] = l
			}
		}
	}

	return meant
}

// consumerKind is how an agent receives its messages.
type consumerKind int

const (
	byName   consumerKind = iota // tt events --follow --name: the tool keeps the cursor
	byCursor                     // tt msg recv --follow --after: the consumer keeps it
	byWaits                      // tt wait --park, again and again: the tool keeps it
	kinds
)

func (k consumerKind) String() string { return [...]string{"named", "own", "parked"}[k] }

// consumer receives the messages of one agent.
type consumer struct {
	c    *talk
	me   stick.AgentID
	kind consumerKind
	rand *rand.Rand

	after int64      // of the consumer that keeps its cursor
	runs  []received // what came, run by run

	mu       sync.Mutex // guards the rest
	cmd      *exec.Cmd  // of the current run
	signaled bool       // the current run was sent a signal
	seen     map[int64]bool
	meant    map[int64]letter // once everything was sent
	missing  int              // how many of meant haven't come
	done     chan struct{}    // closed when nothing is missing
}

// received is what one process received, in order.
type received []stick.Event

// run receives until everything has come. Now and then it pauses for so long that more waits for it than one
// answer holds.
func (k *consumer) run() {
	for !k.finished() && !k.c.over.Load() {
		if all := *talkAgents * k.c.messages; k.rand.IntN(8) == 0 {
			k.c.away(all/8 + k.rand.IntN(all/8))
		}
		k.once()
	}
}

func (k *consumer) finished() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// settle sets what has to arrive in the end. From then on nobody kills the consumer.
func (k *consumer) settle(meant map[int64]letter) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.meant = meant

	for seq := range meant {
		if !k.seen[seq] {
			k.missing++
		}
	}

	if k.missing == 0 {
		k.finish()
	}
}

// finish ends the current run. The caller holds k.mu.
func (k *consumer) finish() {
	close(k.done)
	if k.cmd != nil {
		k.signal(syscall.SIGTERM)
	}
}

// signal sends a signal to the current run, if it is the first one: a second SIGTERM ends a command at once, whatever
// it does, and a stream that is about to end would end without its cursor. The caller holds k.mu.
func (k *consumer) signal(s syscall.Signal) {
	if k.signaled {
		return
	}
	k.signaled = true
	k.cmd.Process.Signal(s) // fails when it has ended, and that is all right
}

// take records that a message has come.
func (k *consumer) take(e stick.Event) {
	k.c.received.Add(1)
	k.mu.Lock()
	defer k.mu.Unlock()
	again := k.seen[e.Seq]
	k.seen[e.Seq] = true

	if _, ok := k.meant[e.Seq]; ok && !again {
		if k.missing--; k.missing == 0 {
			k.finish()
		}
	}
}

// args returns the consumer's command line.
func (k *consumer) args() []string {
	switch k.kind {
	case byName:
		return []string{"events", "--follow", "--name", "inbox", "--json"}
	case byCursor:
		return []string{"msg", "recv", "--follow", "--after", strconv.FormatInt(k.after, 10)}
	default:
		return []string{"wait", "--park", "--json"}
	}
}

// end says how a run should end.
type end struct {
	signal syscall.Signal // 0 for by itself
	after  time.Duration  // it is sent so long after the start,
	lines  int            // or when so many messages have come
	point  string         // it kills itself there, unless the signal comes first
}

// fate picks how a run ends.
func (k *consumer) fate() end {
	k.mu.Lock()
	settled := k.meant != nil
	k.mu.Unlock()
	r := k.rand
	if settled || k.kind == byWaits && r.IntN(3) == 0 {
		return end{}
	}

	// The more processes there are, the longer each takes.
	e := end{
		signal: syscall.SIGKILL,
		after:  time.Duration(r.Int64N(int64(len(k.c.consumers)) * int64(15*time.Millisecond))),
	}
	switch points := k.kind.points(); {
	case len(points) > 0 && r.IntN(4) == 0:
		e.point = points[r.IntN(len(points))] // if it is reached in time
	case r.IntN(2) == 0:
		e.lines, e.after = 1+r.IntN(40), 0
		fallthrough

	default:
		if r.IntN(4) == 0 {
			e.signal = syscall.SIGTERM
		}
	}

	return e
}

// points are the kill points that a consumer may pass. A consumer that keeps its own cursor commits nothing.
func (k consumerKind) points() []string {
	commits := []string{
		"before commit",
		"after commit",
		"before commit#2",
		"after commit#2",
		"before commit#3",
		"after commit#3",
	}
	switch k {
	case byName:
		return commits
	case byWaits:
		return append(commits, "before print")
	}

	return nil
}

var cursorLine = regexp.MustCompile(`^cursor ([0-9]+)\n$`)

// once runs one process until its end.
func (k *consumer) once() {
	c, fate := k.c, k.fate()
	cmd := exec.Command(filepath.Join(c.w.bin, "tt"), k.args()...)
	env := []string{"TT_HARNESS_AGENT_ID=" + string(k.me)}
	if fate.point != "" {
		env = append(env, clitest.Kill+"="+fate.point)
	}
	cmd.Env, cmd.Dir = overlay(c.w.env, env), c.w.work
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.forbidden("start a consumer: %v", err)
		return
	}

	k.mu.Lock()
	if k.finished() {
		k.mu.Unlock()
		return
	}

	if err := cmd.Start(); err != nil {
		k.mu.Unlock()
		c.forbidden("start a consumer: %v", err)
		return
	}
	k.cmd, k.signaled = cmd, false
	k.mu.Unlock()
	c.count("runs: " + k.kind.String())

	var dead atomic.Bool // it was sent SIGKILL
	strike := func() {
		if fate.signal == syscall.SIGKILL {
			dead.Store(true)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.cmd == cmd {
			k.signal(fate.signal)
		}
	}

	if fate.after > 0 {
		defer time.AfterFunc(fate.after, strike).Stop()
	}
	var run received
	take := func(e stick.Event) {
		if k.kind == byCursor && dead.Load() {
			return // the consumer died with its tt: it hasn't received what it didn't process
		}
		run = append(run, e)
		k.after = e.Seq
		k.take(e)
		if fate.lines > 0 && len(run) == fate.lines {
			strike()
		}
	}

	if k.kind == byWaits {
		k.whole(out, take)
	} else {
		k.lines(out, take)
	}

	cmd.Wait() // how it ended shows in its state
	k.mu.Lock()
	k.cmd = nil
	k.mu.Unlock()
	k.runs = append(k.runs, run)
	k.ended(cmd, fate, dead.Load(), run, errs.String())
}

// lines reads a stream. A part of a line at the end was cut off.
func (k *consumer) lines(out io.Reader, take func(stick.Event)) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			if len(line) > 0 {
				k.c.count("lines cut off")
			}
			return
		}

		var e stick.Event
		if err := json.Unmarshal(line, &e); err != nil {
			k.c.forbidden("a line that can't be read: %v: %.100q", err, line)
			continue
		}
		take(e)
	}
}

// whole reads the answer of a wait. One that isn't whole wasn't delivered.
func (k *consumer) whole(out io.Reader, take func(stick.Event)) {
	text, _ := io.ReadAll(out)
	var a answer
	if len(text) == 0 || json.Unmarshal(text, &a) != nil {
		return
	}

	if a.Status != string(stick.GotEvents) {
		k.c.forbidden("a parked wait was answered with %s", a.Status)
	}
	var events []stick.Event
	if err := json.Unmarshal(a.Events, &events); err != nil {
		k.c.forbidden("events that can't be read: %v", err)
	}

	for _, e := range events {
		take(e)
	}
}

// ended compares how a run ended with how it should.
func (k *consumer) ended(cmd *exec.Cmd, fate end, dead bool, run received, errs string) {
	c := k.c
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	cursor := cursorLine.FindStringSubmatch(errs)
	switch {
	case status.Signaled():
		if s := status.Signal(); s != syscall.SIGKILL && s != syscall.SIGTERM { // a very young process dies of SIGTERM
			c.forbidden("a consumer died of %s: %s", s, errs)
		}
		c.count("kills: " + k.kind.String())
		if fate.point != "" && !dead {
			c.count("kills at a point of the program")
		}

	case k.kind == byWaits:
		if n := status.ExitStatus(); n != 0 && n != 128+int(syscall.SIGTERM) {
			c.forbidden("a wait ended with %d: %s", n, errs)
		} else if n != 0 {
			c.count("terminations: " + k.kind.String())
		}

	case status.ExitStatus() == 0 && errs == "" && len(run) == 0: // it has read nothing, and has no cursor
		c.count("terminations: " + k.kind.String())
	case status.ExitStatus() != 0 || cursor == nil:
		c.forbidden("a stream ended with %d and said %q", status.ExitStatus(), errs)

	default:
		c.count("terminations: " + k.kind.String())
		n, _ := strconv.ParseInt(cursor[1], 10, 64)
		if len(run) > 0 && n < run[len(run)-1].Seq || k.kind == byCursor && n < k.after {
			c.forbidden("the cursor of a terminated stream lies before what it has printed")
		}
		if k.kind == byCursor { // the cursor may lie beyond what it has printed: the rest isn't for it
			k.after = n
		}
	}
}

// await waits until all have everything. It fails when nothing more comes.
func (c *talk) await() {
	all := make(chan struct{})
	go func() { // ends with the consumers, which are ended below
		for _, k := range c.consumers {
			<-k.done
		}
		close(all)
	}()

	for before := c.received.Load(); ; {
		select {
		case <-all:
			return
		case <-time.After(patience):
		}

		now := c.received.Load()
		if now != before {
			before = now
			continue
		}

		c.over.Store(true)
		for _, k := range c.consumers {
			k.mu.Lock()
			if !k.finished() {
				c.t.Errorf("%s (%s) never got %d of %d messages", k.me, k.kind, k.missing, len(k.meant))
				k.finish()
			}
			k.mu.Unlock()
		}
	}
}

// check compares what was received with the laws.
func (c *talk) check() {
	t := c.t
	for what, n := range c.bad {
		t.Errorf("%d times: %s", n, what)
	}
	db, err := store.Open(context.Background(), c.w.database(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c.checkLog(db)

	for _, k := range c.consumers {
		k.check()
		c.checkReceipts(db, k)
	}

	found, err := db.Check(context.Background())
	if err != nil || len(found) > 0 {
		t.Errorf("the integrity check found %q (%v)", found, err)
	}
	c.w.healthy()
}

// checkLog: the log has what was sent, in the order of sending, and nothing else.
func (c *talk) checkLog(db *store.DB) {
	bySender := map[stick.AgentID][]stick.Event{}
	err := db.View(context.Background(), func(tx *store.Tx) error {
		for seq, more := int64(0), true; more; {
			events, m, err := tx.Events(store.EventQuery{
				Room: c.room, After: seq, Types: []stick.EventType{stick.EventMessageSent}, Limit: 500,
			})
			if err != nil {
				return err
			}
			for _, e := range events {
				bySender[e.From], seq = append(bySender[e.From], e), e.Seq
			}
			more = m
		}

		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}

	for _, s := range c.talkers {
		log := bySender[s.me]
		if len(log) != c.messages || len(s.sent) != c.messages {
			c.t.Errorf("%s sent %d of %d messages, and the log has %d", s.me, len(s.sent), c.messages, len(log))
			continue
		}

		for i, l := range s.sent {
			if log[i].Seq != l.seq || log[i].ID != l.event || log[i].Message().Body != l.body {
				c.t.Errorf("message %d of %s is event %d in the log, and its sender was told %d",
					i, s.me, log[i].Seq, l.seq)
				break
			}
		}
		c.counts["messages"] += len(log)
	}
}

// check: the agent received what was meant for it, all of it, in order.
func (k *consumer) check() {
	t, c := k.c.t, k.c
	first := map[int64]bool{}
	lastOf := map[stick.AgentID]int64{} // by sender
	for n, run := range k.runs {
		before := int64(0)
		for _, e := range run {
			if e.Seq <= before {
				t.Errorf("run %d of %s (%s) brought event %d behind event %d", n, k.me, k.kind, e.Seq, before)
			}
			before = e.Seq

			l, meant := k.meant[e.Seq]
			switch {
			case e.From == k.me:
				t.Errorf("%s (%s) got event %d, which is its own", k.me, k.kind, e.Seq)
				continue
			case !meant:
				t.Errorf("%s (%s) got event %d, a %s that isn't meant for it", k.me, k.kind, e.Seq, e.Type)
				continue
			case e.Type != stick.EventMessageSent || e.ID != l.event || e.From != l.from || e.Message().Body != l.body:
				t.Errorf("%s (%s) got event %d with something else in it than was sent", k.me, k.kind, e.Seq)
			}

			if first[e.Seq] {
				c.counts["duplicates: "+k.kind.String()]++
				continue
			}

			first[e.Seq] = true
			if e.Seq < lastOf[e.From] {
				t.Errorf("%s (%s) got message %d of %s after message %d", k.me, k.kind, e.Seq, e.From, lastOf[e.From])
			}

			lastOf[e.From] = e.Seq
			c.counts["deliveries"]++
		}
	}

	for seq := range k.meant {
		if !first[seq] {
			t.Errorf("%s (%s) never got message %d", k.me, k.kind, seq)
		}
	}
}

// checkReceipts: receiving isn't reading. A wait marks what it prints as shown; a stream marks nothing.
func (c *talk) checkReceipts(db *store.DB, k *consumer) {
	shown := 0
	err := db.View(context.Background(), func(tx *store.Tx) error {
		unread, unacked, err := tx.CountOpen(c.room, k.me)
		if unread != len(k.meant) || unacked != 0 {
			c.t.Errorf("%s has %d unread messages and %d to accept; %d were sent to it",
				k.me, unread, unacked, len(k.meant))
		}

		for seq := range k.meant {
			r, _, rerr := tx.Receipt(c.room, k.me, seq)
			if rerr != nil {
				return rerr
			}

			if !r.ShownAt.IsZero() {
				shown++
			}
		}

		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}

	want := 0
	if k.kind == byWaits {
		want = len(k.meant)
	}
	if shown != want {
		c.t.Errorf("%d messages are noted as shown to %s (%s), want %d", shown, k.me, k.kind, want)
	}
}

// report prints the figures. It fails if nothing was really tested.
func (c *talk) report(sending time.Duration) {
	var b strings.Builder
	fmt.Fprintf(&b, "talk campaign: %d agents, %.1f s, %.1f s of them while they sent\n", len(c.talkers),
		time.Since(c.start).Seconds(), sending.Seconds())
	for _, k := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(&b, "%8d %s\n", c.counts[k], k)
	}
	fmt.Print(b.String())

	for k := range kinds {
		if c.counts["kills: "+k.String()] == 0 {
			c.t.Errorf("no %s consumer was killed", k)
		}
	}
}
