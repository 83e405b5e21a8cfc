package e2e

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"talkingstick/internal/bell"
	"talkingstick/internal/clitest"
	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// promptly is the limit for what is pushed and not polled. It is far more than that takes, and less than the
// two seconds after which the slow net first reads.
const promptly = 1500 * time.Millisecond

// own gives the turn to an agent.
func own(t *testing.T, a *agent) answer {
	t.Helper()
	g := said(t, ok(t, a.tt("try")))
	if g.Status != "your_turn" {
		t.Fatalf("the turn isn't to be had: %+v", g)
	}
	return g
}

func name(t *testing.T, a *agent) stick.AgentID {
	t.Helper()
	return said(t, ok(t, a.tt("whoami"))).Agent
}

func release(t *testing.T, a *agent, note string) answer {
	t.Helper()
	return said(t, ok(t, a.tt("release", "--status", note, "--next-action", "go on")))
}

// trio is a room with an owner and two members that wait for work, in this order.
func trio(t *testing.T, policy ...string) (w *world, owner, first, second *agent, firstWait, secondWait *run) {
	w = newWorld(t)
	owner, first, second = w.start("claude", "runner", nil), w.start("codex", "runner", nil), w.start("opencode", "runner", nil)
	own(t, owner)
	if len(policy) > 0 {
		w.policy(policy...)
	}
	firstWait = first.begin("wait", "--turn")
	w.listening(name(t, first))
	secondWait = second.begin("wait", "--turn")
	w.listening(name(t, second))
	return w, owner, first, second, firstWait, secondWait
}

// hasTurn waits until a wait brings the turn.
func hasTurn(t *testing.T, r *run, note string) answer {
	t.Helper()
	a := said(t, r.wait())
	if a.Status != "your_turn" || note != "" && (a.Handoff == nil || a.Handoff.Status != note) {
		t.Fatalf("the wait brought %+v", a)
	}
	return a
}

// TestOwnerDeathWakesAWaiter kills the owner's harness. Waiting members notice, although nothing is committed
// and no bell rings.
func TestOwnerDeathWakesAWaiter(t *testing.T) {
	t.Parallel()
	w, owner, _, second, firstWait, secondWait := trio(t, "waiter_grace=500ms")
	before := w.log()
	owner.die()
	if !firstWait.within(promptly) {
		t.Fatalf("the death of the owner was noticed by nobody within %s", promptly)
	}

	a := said(t, firstWait.wait())
	if a.Status != "takeover_available" || a.Reason != "owner_gone" || firstWait.got.Exit != stick.ExitRefused {
		t.Errorf("the wait brought %+v (exit %d)", a, firstWait.got.Exit)
	}
	if events := w.log(); len(events) != len(before) {
		t.Errorf("it was told by events: %v", events[len(before):])
	}

	// The second waiter gets an offer one waiter_grace later, in case the first one doesn't act.
	if b := said(t, secondWait.wait()); b.Status != "takeover_available" {
		t.Errorf("the second wait brought %+v", b)
	}
	if got := said(t, ok(t, second.tt("take", "--reason", "the owner is gone"))); got.Cause != "owner_gone" ||
		got.Turn != 2 {
		t.Errorf("taking over brought %+v", got)
	}
	w.healthy()
}

// TestListenerWhoseHarnessWasKilled: its wait ends with its harness. The next release passes it over at once,
// whether or not the wait has noticed yet.
func TestListenerWhoseHarnessWasKilled(t *testing.T) {
	t.Parallel()
	w, owner, first, second, firstWait, secondWait := trio(t)
	first.die()
	gave := release(t, owner, "one")
	if gave.Reserved == nil || *gave.Reserved != name(t, second) {
		t.Errorf("the release named %v", gave.Reserved)
	}

	hasTurn(t, secondWait, "one")
	if !firstWait.within(patience) || firstWait.got.Exit != stick.ExitInterrupted {
		t.Errorf("the wait of the killed harness: over %v, exit %d", firstWait.over(), firstWait.got.Exit)
	}
	if e := last(w.log(), stick.EventRerouted); e != nil {
		t.Errorf("the stick took a way round: %s", e.Say())
	}
	w.healthy()
}

// TestListenerWhoseOutputWasClosed: a wait whose answer nobody can read ends.
func TestListenerWhoseOutputWasClosed(t *testing.T) {
	t.Parallel()
	w, owner, first, second, firstWait, secondWait := trio(t)
	first.send(request{ID: firstWait.id, Hangup: true})
	if !firstWait.within(promptly) {
		t.Fatal("the wait goes on although nobody can read what it says")
	}

	gave := release(t, owner, "one")
	// Its member lives, but doesn't wait.
	if gave.Reserved == nil || *gave.Reserved != name(t, second) {
		t.Errorf("the release named %v", gave.Reserved)
	}

	hasTurn(t, secondWait, "one")
	w.healthy()
}

// TestStoppedListener: a stopped wait looks alive, so its member is named. After one waiter_grace the stick
// moves on. When the process continues, it takes part again.
func TestStoppedListener(t *testing.T) {
	storetest.SkipQuick(t, "a stopped wait")
	t.Parallel()
	const grace = 400 * time.Millisecond
	w, owner, first, second, firstWait, secondWait := trio(t, "waiter_grace=400ms")
	one, two := name(t, first), name(t, second)
	firstWait.signal(syscall.SIGSTOP)
	soon(t, "the wait is stopped", func() bool { return procState(firstWait.pid) == 'T' })
	gave := release(t, owner, "one")
	if gave.Reserved == nil || *gave.Reserved != one {
		t.Errorf("the release named %v", gave.Reserved)
	}

	hasTurn(t, secondWait, "one")
	log := w.log()
	released, moved, claimed := last(log, stick.EventRelease), last(log, stick.EventRerouted), last(log, stick.EventClaim)
	if moved == nil ||
		rerouted(*moved).Prior != one ||
		moved.To != two ||
		claimed.From != two ||
		!(released.Seq < moved.Seq && moved.Seq < claimed.Seq) {
		t.Fatalf("the stick went another way: %v %v %v", released, moved, claimed)
	}
	if took := claimed.CreatedAt.Sub(released.CreatedAt); took < grace || took > grace+promptly {
		t.Errorf("the room stood still for %s; the grace is %s", took, grace)
	}

	firstWait.signal(syscall.SIGCONT)
	soon(t, "the wait looks again", func() bool {
		db, err := store.Open(t.Context(), w.database(), false)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var over bool
		if err := db.View(t.Context(), func(tx *store.Tx) error {
			r, err := tx.RoomPart(gave.Room, one)
			m, _ := r.Member(one)
			over = m.PassedOver
			return err
		}); err != nil {
			t.Fatal(err)
		}

		return !over
	})

	if next := release(t, second, "two"); next.Reserved == nil || *next.Reserved != one {
		t.Errorf("the next release named %v", next.Reserved)
	}
	hasTurn(t, firstWait, "two")
	w.healthy()
}

// TestStoppedOwner: a stopped owner keeps the stick until it counts as idle. Then an event tells it so, and
// one waiter_grace later others are offered the stick.
func TestStoppedOwner(t *testing.T) {
	t.Parallel()
	w, owner, _, _, firstWait, _ := trio(t)
	owner.group(syscall.SIGSTOP)
	w.policy("waiter_grace=300ms", "owner_idle_ttl=500ms")
	if a := said(t, firstWait.wait()); a.Status != "takeover_available" || a.Reason != "owner_idle" {
		t.Errorf("the wait brought %+v", a)
	}

	told := last(w.log(), stick.EventOwnerIdle)
	if told == nil {
		t.Fatal("the owner wasn't told")
	}

	owner.group(syscall.SIGCONT)
	release(t, owner, "one") // it owns the stick until somebody takes over
	w.healthy()
}

// TestRecipientDeathReroutes kills the recipient of a pass, which doesn't listen.
func TestRecipientDeathReroutes(t *testing.T) {
	t.Parallel()
	w, owner, _, _, firstWait, _ := trio(t)
	to := w.start("claude", "runner", []string{"CLAUDE_CODE_SESSION_ID=the recipient"})
	ok(t, to.tt("join"))
	who := name(t, to)
	passed := said(t, ok(t, owner.tt("pass", string(who), "--status", "for you", "--next-action", "go on")))
	if passed.Reserved == nil || *passed.Reserved != who {
		t.Fatalf("the pass is %+v", passed)
	}

	to.die()
	if !firstWait.within(promptly) {
		t.Fatalf("the death of the recipient was noticed by nobody within %s", promptly)
	}

	hasTurn(t, firstWait, "for you")
	moved := last(w.log(), stick.EventRerouted)
	if moved == nil || rerouted(*moved).Prior != who || rerouted(*moved).Verdict != stick.Gone {
		t.Errorf("the stick went another way: %v", moved)
	}
	w.healthy()
}

// TestWaitKilledAfterItsGrant: the grant commits, and the process dies before it can answer. The next ask
// returns the same turn, lease and handoff.
func TestWaitKilledAfterItsGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.start("claude", "runner", nil), w.start("codex", "runner", nil)
	own(t, a)
	wait := b.do(request{Args: []string{"wait"}, Env: []string{clitest.Kill + "=before print"}})
	w.listening(name(t, b))
	release(t, a, "don't lose me")
	if got := wait.wait(); !got.Killed || got.Out != "" {
		t.Fatalf("the wait wasn't killed before it said anything: %+v", got)
	}

	claim := last(w.log(), stick.EventClaim)
	for range 2 {
		g := said(t, ok(t, b.tt("wait")))
		if g.Turn != 2 || g.Reason != "already_owner" || g.Handoff == nil || g.Handoff.Status != "don't lose me" ||
			claim.Lease() != stick.LeaseSum(stick.LeaseID(g.Lease)) {
			t.Errorf("the next ask brought %+v", g)
		}
	}
	w.healthy()
}

// TestPastInotify uses up all inotify instances of a user. Then FIFOs wake waits.
func TestPastInotify(t *testing.T) {
	storetest.SkipQuick(t, "waits without an instance of inotify")
	t.Parallel()
	b, err := os.ReadFile("/proc/sys/fs/inotify/max_user_instances")
	if err != nil {
		t.Skipf("SKIPPED: the limit of inotify instances can't be read: %v", err)
	}

	limit, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	if limit > 4096 {
		t.Skipf("SKIPPED: %d inotify instances are too many to use up", limit)
	}

	w := newWorld(t)
	if os.Getuid() == 0 { // root's other programs need theirs
		w.moveTo(59000 + os.Getpid()%5000)
	}
	ok(t, w.person("join"))
	if r := w.person("doctor"); !strings.Contains(r.Out, "woken by inotify") {
		t.Fatalf("the doctor doesn't say how waits are woken: %s", r.Out)
	}

	hog := exec.Command(filepath.Join(w.bin, "hog"))
	hog.Env = w.env
	hog.SysProcAttr = &syscall.SysProcAttr{Credential: w.cred}
	in, _ := hog.StdinPipe()
	out, _ := hog.StdoutPipe()
	if err := hog.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { in.Close(); hog.Wait() })
	var n int
	if _, err := fmt.Fscan(out, &n); err != nil || n == 0 {
		t.Skipf("SKIPPED: the instances can't be used up: %v", err)
	}
	if r := w.person("doctor"); !strings.Contains(r.Out, "woken by fifo") {
		t.Fatalf("with %d instances used up the doctor says: %s", n, r.Out)
	}

	a, c := w.start("claude", "runner", nil), w.start("codex", "runner", nil)
	own(t, a)
	for i := range 4 {
		wait := c.begin("wait", "--turn")
		w.listening(name(t, c))
		release(t, a, "by fifo")
		if !wait.within(promptly) {
			t.Fatalf("round %d: no FIFO woke the wait within %s", i, promptly)
		}

		hasTurn(t, wait, "by fifo")
		a, c = c, a
	}
	w.healthy()
}

// moveTo gives the world to another user.
func (w *world) moveTo(uid int) {
	exe, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	copied := filepath.Join(w.bin, "e2e.test")

	// No process of this one's may have the copy open for writing when it is started.
	if out, err := exec.Command("cp", exe, copied).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}

	links, err := os.ReadDir(w.bin)
	if err != nil {
		w.t.Fatal(err)
	}

	for _, l := range links {
		if path := filepath.Join(w.bin, l.Name()); path != copied {
			os.Remove(path)
			if err := os.Symlink("e2e.test", path); err != nil {
				w.t.Fatal(err)
			}
		}
	}

	root := filepath.Dir(w.bin)
	os.Chmod(filepath.Dir(root), 0o755)
	filepath.Walk(root, func(path string, _ os.FileInfo, _ error) error { return os.Lchown(path, uid, uid) })
	w.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
}

// hog uses up the inotify instances of its user until its input ends.
func hog() {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) == nil {
		r.Cur = r.Max
		unix.Setrlimit(unix.RLIMIT_NOFILE, &r)
	}

	n := 0
	for {
		_, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err == unix.EMFILE && n > 0 {
			break
		}
		if err != nil {
			n = 0
			break
		}
		n++
	}

	// Whether it was the user's limit or that of descriptors shows in whether a file can be opened.
	if f, err := os.Open("/dev/null"); err != nil {
		n = 0
	} else {
		f.Close()
	}
	fmt.Println(n)
	io.Copy(io.Discard, os.Stdin)
}

func procState(pid int) byte {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := strings.LastIndexByte(string(b), ')')
	if i < 0 || i+2 >= len(b) {
		return 0
	}
	return b[i+2]
}

// TestWaitingIsFree watches ten waits while other rooms are busy. They write nothing, neither to the database
// nor elsewhere, and start no process.
func TestWaitingIsFree(t *testing.T) {
	if storetest.OnServer(t) {
		t.Skip("one of the waits hears there what other hosts commit, and rings their bells; the bench measures what that costs")
	}
	t.Parallel()
	w := newWorld(t)
	owner, many := w.start("claude", "runner", nil), w.start("codex", "runner", nil)
	room := own(t, owner).Room

	var waits []*run
	for i := range 10 {
		as := fmt.Sprintf("codex:w%d", i)
		waits = append(waits, many.begin("wait", "--as", as))
		w.listening(stick.AgentID(as))
	}

	other := filepath.Join(filepath.Dir(w.work), "other")
	if err := os.MkdirAll(filepath.Join(other, ".talking-stick"), 0o755); err != nil {
		t.Fatal(err)
	}
	elsewhere := said(t, ok(t, owner.do(request{Args: []string{"try"}, Dir: other}).wait())).Room

	// cost is what a wait has written so far, and what its children have cost. Go's runtime wakes
	// its own thread by writing eight bytes to an eventfd; such writes reach no file.
	type cost struct {
		written, calls int64
		children       string
	}

	costs := func() (out []cost) {
		for _, r := range waits {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", r.pid))
			if err != nil {
				t.Skipf("SKIPPED: what a process writes can't be seen here: %v", err)
			}
			var c cost
			for _, line := range strings.Split(string(b), "\n") {
				fmt.Sscanf(line, "wchar: %d", &c.written)
				fmt.Sscanf(line, "syscw: %d", &c.calls)
			}

			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.pid))
			f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')'):]))
			c.children = fmt.Sprintf("%s faults, %s and %s ticks;", f[9], f[14], f[15])

			tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", r.pid))
			for _, path := range tasks {
				b, _ := os.ReadFile(path)
				c.children += string(b)
			}
			out = append(out, c)
		}

		return out
	}

	bytes := func() (out string) {
		for _, name := range []string{store.FileName, store.FileName + "-wal"} {
			b, err := os.ReadFile(filepath.Join(w.data, name))
			if err != nil {
				t.Fatal(err)
			}
			out += string(b)
		}

		return out
	}

	before := costs()
	for i := range 5 { // commits in another room, each with a ring
		ok(t,
			owner.do(request{
				Args: []string{"release", "--status", "busy", "--next-action", "stay so"}, Dir: other,
			}).wait())
		if i < 4 {
			ok(t, owner.do(request{Args: []string{"try"}, Dir: other}).wait())
		}
	}

	for i, after := range costs() {
		if b := before[i]; after.written-b.written != 8*(after.calls-b.calls) || after.children != b.children {
			t.Errorf("while another room was busy, a wait wrote or started something: %+v, before %+v", after, b)
		}
	}

	data := bytes()
	bells, err := bell.Open(w.data)
	if err != nil {
		t.Fatal(err)
	}

	// rings alone, of their own room too
	for _, r := range []stick.RoomID{elsewhere, room, elsewhere, room, elsewhere} {
		rope, err := bells.Prepare(string(r))
		if err != nil {
			t.Fatal(err)
		}
		rope.Ring()
	}

	ok(t, w.person("state")) // a reader
	if bytes() != data {
		t.Error("waits changed the database though nothing was to be done")
	}

	for _, r := range waits {
		if r.over() {
			t.Errorf("a wait has ended: %+v", r.got)
		}
	}
	w.healthy()
}

// TestGuardian: an owner in another pid namespace, whose process the others can't see, has a guardian. The
// guardian keeps the lease while the harness lives. It ends with the harness, and with the turn.
func TestGuardian(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "-pf", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no pid namespace can be made here (that needs root): %v %s", err, out)
	}
	w := newWorld(t)
	outside := w.start("codex", "runner", nil)
	ok(t, outside.tt("join"))
	w.policy("owner_lease_ttl=1200ms", "heartbeat_interval=200ms", "waiter_grace=200ms")
	inside := w.start("claude", "runner", []string{clitest.Top + "=0"},
		"unshare", "-pf", "--mount-proc", "sh", "-c", `"$@" 2>/dev/null; sleep 600`, "sh")
	alive := func(pid int) bool { return inside.do(request{Alive: pid}).wait().Exit == 0 }
	guarded := func() int {
		t.Helper()
		g := said(t, ok(t, inside.tt("wait", "--turn", "--timeout", "10s")))
		if g.KeptBy != "guardian" || g.Guardian == 0 {
			t.Fatalf("the grant is kept otherwise: %+v", g)
		}

		soon(t, "the guardian keeps the lease", func() bool {
			s := said(t, ok(t, w.person("state")))
			return s.KeptBy == "guardian" && s.Guardian == g.Guardian
		})

		if !alive(g.Guardian) {
			t.Fatal("the guardian doesn't live")
		}
		return g.Guardian
	}

	first := guarded()
	if r := outside.tt("wait", "--timeout", "1800ms"); said(t, r).Status != "not_yet" {
		t.Errorf("while the guardian lives, a wait brought %s", r.Out)
	}

	release(t, inside, "one")
	soon(t, "the guardian ends with the turn", func() bool { return !alive(first) })

	second := guarded()
	wait := outside.begin("wait")
	w.listening(name(t, outside))
	inside.send(request{Orphan: true})
	soon(t, "the guardian ends with the harness", func() bool { return !alive(second) })
	// Nobody outside sees the owner's process: the guardian says that it has ended.
	if a := said(t, wait.wait()); a.Status != "takeover_available" || a.Reason != "owner_gone" {
		t.Errorf("once the owner has ended, the wait brought %+v", a)
	}
	w.healthy()
}

// TestGuardian_of_a_server: a harness in another pid namespace takes the stick through its MCP server, and has a
// guardian, too.
func TestGuardian_of_a_server(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "-pf", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no pid namespace can be made here (that needs root): %v %s", err, out)
	}
	w := newWorld(t)
	outside := w.start("codex", "runner", nil)
	ok(t, outside.tt("join"))

	inside := w.start("claude", "client", []string{clitest.Top + "=0", clientEnv + "=claude-code"},
		"unshare", "-pf", "--mount-proc", "sh", "-c", `"$@" 2>/dev/null; sleep 600`, "sh")
	g := said(t, inside.calls("wait_for_turn", object{"max_wait_ms": 0}).wait())
	if g.Status != "your_turn" || g.KeptBy != "guardian" || g.Guardian == 0 {
		t.Fatalf("the answer is %+v", g)
	}

	soon(t, "the guardian keeps the lease", func() bool {
		s := said(t, ok(t, w.person("state")))
		return s.KeptBy == "guardian" && s.Guardian == g.Guardian
	})
	w.healthy()
}

// TestReboot: after another boot all leases are over, and the log says so. The handoff is there, and new
// turns have higher numbers than all before.
func TestReboot(t *testing.T) {
	if storetest.OnServer(t) {
		t.Skip("a host that starts again ends only what is its own there: TestARestartedHostEndsItsOwn in internal/store")
	}
	t.Parallel()
	w := newWorld(t)
	w.env = overlay(w.env, []string{clitest.Boot + "=first"})
	session := []string{"CLAUDE_CODE_SESSION_ID=s"}
	a, b := w.start("claude", "runner", session), w.start("codex", "runner", nil)
	own(t, a)
	release(t, a, "before the lights went out")
	g := own(t, b)
	kept := own(t, b)
	if kept.Turn != 2 || kept.Lease != g.Lease {
		t.Fatalf("the turn is %+v", kept)
	}

	a.kill()
	b.kill()

	w.env = overlay(w.env, []string{clitest.Boot + "=second"})
	if s := said(t, ok(t, w.person("state"))); s.State != "owner_gone" || s.Turn != 2 {
		t.Errorf("before anything is written the room is %+v", s) // the owner ended with its boot
	}
	if e := last(w.log(), stick.EventRestored); e != nil {
		t.Error("reading wrote the end of the world")
	}

	a = w.start("claude", "runner", session)
	stale := a.tt("release", "--turn", "2", "--lease", g.Lease, "--status", "x", "--next-action", "y")
	if e := said(t, stale); stale.Exit != stick.ExitFenced && e.Error != stick.CodeTurnMismatch {
		t.Errorf("a lease from before: exit %d, %+v", stale.Exit, e)
	}

	next := own(t, a)
	restored := last(w.log(), stick.EventRestored)
	var why stick.RestoredPayload
	if restored != nil {
		why, _ = stick.PayloadOf[stick.RestoredPayload](*restored)
	}

	switch {
	case restored == nil || restored.TurnEndedOf() == "" || why.World != "reboot":
		t.Errorf("the log says %v", restored)
	case next.Turn <= 2 || next.Turn != restored.Turn+1:
		t.Errorf("the next turn is %d", next.Turn)
	case next.Recovery == nil || next.Recovery.Handoff.Status != "before the lights went out":
		t.Errorf("the handoff is lost: %+v", next)
	case next.KeptBy != "process" || next.Guardian != 0: // processes from before the reboot don't count
		t.Errorf("the lease is kept by %s %d", next.KeptBy, next.Guardian)
	}
	w.healthy()
}

// TestUpgradedMeanwhile: a newer program changes the database so that this one can't read it. A wait then
// ends with that error, at the next ring.
func TestUpgradedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.start("claude", "runner", nil), w.start("codex", "runner", nil)
	room := own(t, a).Room
	wait := b.begin("wait")
	w.listening(name(t, b))

	meta := func(minReader string) {
		t.Helper()
		if w.url != "" {
			if err := storetest.Script(w.url, "UPDATE meta SET value = "+minReader+" WHERE key = 'min_reader'"); err != nil {
				t.Fatal(err)
			}
			return
		}

		raw, err := sql.Open("sqlite", filepath.Join(w.data, store.FileName))
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		if _, err := raw.Exec("PRAGMA busy_timeout=5000; UPDATE meta SET value = ? WHERE key = 'min_reader'", minReader); err != nil {
			t.Fatal(err)
		}
	}

	meta("99")
	bells, err := bell.Open(w.data)
	if err != nil {
		t.Fatal(err)
	}
	rope, err := bells.Prepare(string(room))
	if err != nil {
		t.Fatal(err)
	}

	rope.Ring()
	if e := said(t, wait.wait()); e.Error != stick.CodeUpgraded || wait.got.Exit != stick.ExitEnvironment {
		t.Errorf("the wait ended with exit %d: %+v", wait.got.Exit, e)
	}
	if e := said(t, w.person("state")); e.Error != stick.CodeSchemaTooNew {
		t.Errorf("the next command said %+v", e)
	}

	meta("1")
	w.healthy()
}

// TestManyProcessesMakeOneDatabase starts fifty processes at once, where there is no database.
func TestManyProcessesMakeOneDatabase(t *testing.T) {
	storetest.SkipQuick(t, "fifty processes that make one database")
	w := newWorld(t)
	const n = 50
	h := w.start("codex", "runner", nil)
	var runs []*run
	for i := range n {
		runs = append(runs, h.do(request{Args: []string{"join", "--as", fmt.Sprintf("codex:%d", i)}}))
	}
	var wg sync.WaitGroup
	for _, r := range runs {
		wg.Go(func() { <-r.done })
	}
	wg.Wait()
	for _, r := range runs {
		ok(t, r.got)
	}
	if s := said(t, ok(t, w.person("state"))); len(s.Members) != n {
		t.Errorf("%d processes joined, and the room has %d members", n, len(s.Members))
	}
	w.healthy()
}

// hears says by which means a process listens for bells. It is empty while the process doesn't.
func hears(pid int) string {
	infos, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	for _, f := range infos {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), "inotify wd:") {
			return "inotify"
		}
		if to, _ := os.Readlink(strings.Replace(f, "fdinfo", "fd", 1)); strings.Contains(to, ".fifo.d/") {
			return "fifo"
		}
	}

	return ""
}

func rerouted(e stick.Event) stick.ReroutedPayload {
	p, _ := stick.PayloadOf[stick.ReroutedPayload](e)
	return p
}
