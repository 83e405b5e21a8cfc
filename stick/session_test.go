package stick

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"
)

// starts lets an agent join and starts its session.
func (f *fixture) starts(q Starting) Started {
	f.t.Helper()
	f.acts(q.By)
	r, events, out := f.StartSession(q, f.s, f.now)
	f.commit(r, events)
	return out
}

// acts lets an agent act, and join if it hasn't.
func (f *fixture) acts(a AgentID) {
	f.t.Helper()
	r, events, _, err := f.Join(a, true, f.now)
	if err != nil {
		f.t.Fatal(err)
	}
	f.commit(r, events)
}

// runsIn gives a member a process.
func (f *fixture) runsIn(a AgentID, pid int, v Verdict) Process {
	p := Process{Boot: "b", PIDNS: "n", PID: pid, Start: int64(pid)}
	f.editMember(a, func(m *Member) { m.Processes = []Evidence{{Process: p, Proof: ProvesSession}} })
	f.s.Processes[p] = v
	return p
}

func (f *fixture) leads(a AgentID) bool {
	p, ok := f.Primary()
	return ok && p.Agent == a
}

// TestStartSessionTable: alone or not, with or without an anchor, and with every state of an earlier primary.
func TestStartSessionTable(t *testing.T) {
	const me, other AgentID = "claude:me", "codex:other"
	type before struct {
		name  string
		led   bool
		v     Verdict
		ended bool
	}
	priors := []before{
		{name: "nobody before"},
		{"crashed", true, Gone, false},
		{"live", true, Alive, false},
		{"remote or unknown", true, Unknown, false}, // another host, another namespace, a blind scan: nothing is proved
		{"ended", true, Gone, true},
	}
	for _, earlier := range []bool{false, true} {
		for _, anchor := range []bool{false, true} {
			for _, prior := range priors {
				name := fmt.Sprintf("%s, anchor %v, unregistered one before me %v", prior.name, anchor, earlier)
				t.Run(name, func(t *testing.T) {
					f := room(t)
					written := f.now.Add(time.Second)
					if prior.led {
						f.starts(Starting{By: other, Same: true})
						f.runsIn(other, 1, prior.v)
						f.now = f.now.Add(time.Minute)
					}
					if prior.ended {
						r, events, err := f.Leave(Leaving{By: other, Abandon: "session ended"}, f.s, f.now)
						f.must(f.done(r, events, err))
						f.now = f.now.Add(time.Minute)
					}
					got := f.starts(Starting{By: me, Same: true, Earlier: earlier, Anchor: anchor, AnchorAt: written, Seed: "x"})

					live := prior.led && !prior.ended && prior.v != Gone
					want := Started{Session: Session{Role: RolePrimary}, Kind: StartFresh}
					if live || earlier {
						want.Role, want.Kind = RoleHelper, StartHelper
					} else if anchor && !prior.ended {
						want.Kind = StartRecover
					}
					if live {
						want.Primary = other
					}
					if prior.led && prior.v == Gone && !prior.ended && want.Role == RolePrimary {
						want.Crashed = other
					}
					if got.Role != want.Role || got.Kind != want.Kind || got.Primary != want.Primary || got.Crashed != want.Crashed {
						t.Errorf("got %s, %s, primary %q, crashed %q; want %s, %s, %q, %q",
							got.Role, got.Kind, got.Primary, got.Crashed, want.Role, want.Kind, want.Primary, want.Crashed)
					}
					if want.Role == RolePrimary != f.leads(me) {
						t.Error("the room doesn't say so")
					}
					resumed := slices.ContainsFunc(f.log, func(e Event) bool {
						return e.Type == EventResume && e.From == me && e.To == want.Crashed && e.Message().Adopted == string(me)
					})
					if resumed != (want.Kind == StartRecover) {
						t.Errorf("that there is a RESUME is %v", resumed)
					}
					for _, e := range f.log { // from which it is told again
						if say, ok := PayloadOf[SessionStartedPayload](e); ok && e.From == me &&
							(say.Start != want.Kind || resumed && (say.Prior != want.Crashed || say.Written != written)) {
							t.Errorf("the log says %+v", say)
						}
					}
				})
			}
		}
	}
}

func TestSessionGoesOn(t *testing.T) {
	const a, b, c AgentID = "claude:a", "claude:b", "codex:c"
	primary := func(t *testing.T) *fixture {
		f := room(t)
		f.starts(Starting{By: a, Same: true})
		f.runsIn(a, 1, Alive)
		return f
	}
	ends := func(f *fixture, who AgentID) {
		f.now = f.now.Add(time.Minute)
		r, events, err := f.Leave(Leaving{By: who, Abandon: "session ended (clear)"}, f.s, f.now)
		f.must(f.done(r, events, err))
	}
	t.Run("started twice", func(t *testing.T) {
		f := primary(t)
		n := len(f.log)
		if got := f.starts(Starting{By: a, Same: true, Anchor: true, AnchorAt: f.now}); !got.Already || got.Role != RolePrimary || got.Kind != StartContinue || len(f.log) != n {
			t.Errorf("%+v", got)
		}
	})
	t.Run("cleared: another agent in the same process inherits", func(t *testing.T) {
		f := primary(t)
		ends(f, a)
		if got := f.starts(Starting{By: b, Same: true, Continues: true, Before: []AgentID{a}, Anchor: true, AnchorAt: f.now.Add(-time.Hour)}); got.Role != RolePrimary || got.Kind != StartContinue {
			t.Errorf("%+v", got)
		}
	})
	t.Run("cleared without a word of the end", func(t *testing.T) {
		f := primary(t)
		if got := f.starts(Starting{By: b, Same: true, Continues: true, Before: []AgentID{a}}); got.Role != RolePrimary || got.Kind != StartContinue || !f.leads(b) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("another one in the same process: the one before is over", func(t *testing.T) {
		for _, role := range []Role{RolePrimary, RoleHelper} {
			for _, goes := range []bool{true, false} {
				f := primary(t)
				old, led := a, role == RolePrimary
				if !led {
					old = "codex:old"
					f.starts(Starting{By: old, Same: true, Seed: "x"})
				}
				f.runsIn(old, 2, Alive)
				was, _ := f.Member(old)
				got := f.starts(Starting{By: c, Same: true, Continues: goes, Before: []AgentID{"gone:1", old}, Anchor: true, AnchorAt: f.now.Add(-time.Hour), Seed: "y"})
				want := map[bool]StartKind{true: StartContinue, false: StartFresh}[goes]
				if !led {
					want = StartHelper
				}
				if f.hasSession(old) || got.Role != role || got.Kind != want || got.Crashed != "" || led == f.SessionEndedAt.IsZero() {
					t.Errorf("%s, goes on %v: %+v", role, goes, got)
				}
				if !led && goes != (got.Context == was.Session.Context) {
					t.Errorf("goes on %v: its context is %q, and that of the one before was %q", goes, got.Context, was.Session.Context)
				}
				if to, _, err := f.withRole("role:"+AgentID(role), ""); err != nil || len(to) != 1 || to[0] != c {
					t.Errorf("%s: %v (%v)", role, to, err)
				}
				f.runsIn(c, 3, Gone) // it touched the file when it started, and crashes
				if next := f.starts(Starting{By: b, Same: true, Anchor: true, AnchorAt: f.now}); led && next.Kind != StartRecover {
					t.Errorf("after its crash: %+v", next)
				}
			}
		}
	})
	t.Run("a helper stays one", func(t *testing.T) {
		f := primary(t)
		was := f.starts(Starting{By: b, Same: true, Seed: "x"})
		ends(f, a)
		ends(f, b)
		if got := f.starts(Starting{By: b, Same: true, Continues: true}); got.Role != RoleHelper || got.Context != was.Context || got.Primary != "" {
			t.Errorf("%+v, it was %+v", got, was)
		}
	})
	t.Run("resumed when another leads: never two", func(t *testing.T) {
		f := primary(t)
		ends(f, a)
		f.starts(Starting{By: b, Same: true})
		f.runsIn(b, 2, Alive)
		if got := f.starts(Starting{By: a, Continues: true}); got.Role != RoleHelper || got.Primary != b {
			t.Errorf("%+v", got)
		}
	})
	t.Run("resumed after its own crash", func(t *testing.T) {
		f := primary(t)
		f.runsIn(a, 1, Gone)
		if got := f.starts(Starting{By: a, Continues: true, Anchor: true, AnchorAt: f.now}); got.Role != RolePrimary || got.Kind != StartRecover || got.Crashed != a {
			t.Errorf("%+v", got)
		}
	})
	t.Run("told to help", func(t *testing.T) {
		f := primary(t)
		if got := f.starts(Starting{By: a, Same: true, Helper: true, Seed: "x"}); got.Role != RoleHelper || got.Already || f.leads(a) {
			t.Errorf("%+v", got)
		}
		// It gave its role up: that is an end of the primary's session, and nothing is recovered after it.
		if got := f.starts(Starting{By: c, Same: true, Anchor: true, AnchorAt: f.now.Add(-time.Second)}); got.Role != RolePrimary || got.Kind != StartFresh {
			t.Errorf("%+v", got)
		}
	})
	t.Run("started as a helper, and promoted", func(t *testing.T) {
		f := primary(t)
		if got := f.starts(Starting{By: b, Same: true, Launched: true, Seed: "x"}); got.Role != RoleHelper {
			t.Errorf("%+v", got)
		}
		f.runsIn(b, 2, Alive)
		ends(f, a)
		r, events, err := f.Promote(b, Lineage{}, f.s, f.now)
		f.must(f.done(r, events, err))
		n := len(f.log)
		if got := f.starts(Starting{By: b, Same: true, Continues: true, Launched: true}); got.Role != RolePrimary || !got.Already || len(f.log) != n {
			t.Errorf("compacted: %+v", got)
		}
		if got := f.starts(Starting{By: c, Same: true, Continues: true, Before: []AgentID{b}, Launched: true}); got.Role != RolePrimary {
			t.Errorf("cleared: %+v", got)
		}
		ends(f, c)
		if got := f.starts(Starting{By: c, Same: true, Continues: true, Launched: true}); got.Role != RolePrimary {
			t.Errorf("resumed in the same process: %+v", got)
		}
		ends(f, c)
		if got := f.starts(Starting{By: c, Continues: true, Launched: true}); got.Role != RoleHelper {
			t.Errorf("resumed in another process, which was started for a helper: %+v", got)
		}
	})
	t.Run("kicked", func(t *testing.T) {
		f := primary(t)
		f.acts(b)
		r, events, err := f.Kick(Kicking{By: b, Who: a, Force: true}, f.s, f.now)
		f.must(f.done(r, events, err))
		if f.leads(a) || f.hasSession(a) || !f.SessionEndedAt.IsZero() {
			t.Error("it has a session still, or ended it by itself")
		}
	})
}

func TestPromote(t *testing.T) {
	const a, b AgentID = "claude:a", "claude:b"
	f := room(t)
	promote := func() error {
		r, events, err := f.Promote(b, Lineage{}, f.s, f.now)
		if err == nil {
			f.commit(r, events)
		}
		return err
	}
	f.starts(Starting{By: a, Same: true})
	f.runsIn(a, 1, Alive)
	f.acts(b)
	if err := promote(); CodeOf(err) != CodeUnknownMember {
		t.Errorf("without a session: %v", err)
	}
	f.starts(Starting{By: b, Same: true, Seed: "x"})
	f.now = f.now.Add(2 * f.Policy.OwnerLeaseTTL)
	if err := promote(); CodeOf(err) != CodeMemberPresent {
		t.Errorf("beside a live one: %v", err)
	}
	f.runsIn(a, 1, Unknown)
	f.editMember(a, func(m *Member) { m.LastSeenAt = f.now.Add(-f.Policy.OwnerLeaseTTL + time.Second) })
	if err := promote(); CodeOf(err) != CodeMemberPresent {
		t.Errorf("beside one that was seen lately: %v", err)
	}
	f.now = f.now.Add(time.Minute)
	if err := promote(); err != nil || !f.leads(b) || f.hasSession(a) {
		t.Errorf("beside a silent one: %v", err)
	}
	n := len(f.log)
	if err := promote(); err != nil || len(f.log) != n {
		t.Errorf("twice: %v", err)
	}
	if got := f.starts(Starting{By: a, Same: true, Seed: "y"}); got.Role != RoleHelper || got.Primary != b {
		t.Errorf("the one before: %+v", got)
	}
}

// TestRolesExplored visits every state of the roles that two agents, or with -explore.long three, can reach
// while they come and go in processes of their own. The third has one process only, and is always seen as
// what it is. No act may lead to two primaries that aren't gone. If all others are gone, there must be a
// primary after the next start of an agent.
func TestRolesExplored(t *testing.T) {
	agents := []AgentID{"a:1", "b:2"}
	if *exploreLong {
		agents = append(agents, "c:3")
	}
	type state struct { // the third agent's place is empty where there are two
		r       Room
		running [3]bool // its process lives
		known   [3]bool // and has started a session
		run     [3]int  // which of its two processes it is, in turn
		seen    [3]Verdict
	}
	process := func(s state, i int) Process {
		return Process{Boot: "b", PIDNS: "n", PID: i + 1, Start: int64(10*s.run[i] + i + 1)}
	}
	first := state{r: Room{ID: "r", Policy: DefaultPolicy(), Turn: Turn{State: Idle}}}
	key := func(s state) string {
		var b []byte
		for i := range agents {
			b = append(b, '|', both(s.running[i], s.known[i]), byte('0'+s.run[i]))
			b = append(b, s.seen[i]...)
		}
		for _, m := range s.r.Members {
			b = append(append(append(b, '|'), m.Agent...), m.State...)
			b = append(append(b, both(m.Session.Running, false)), m.Session.Role...)
			for _, e := range m.Processes {
				b = strconv.AppendInt(append(b, ' '), e.Process.Start, 10)
			}
		}
		return string(b)
	}
	probed := func(s state) *Probed {
		out := &Probed{Processes: map[Process]Verdict{}, Listeners: map[ListenerID]Verdict{}}
		for i := range agents {
			for run := range 2 {
				p := process(state{run: [3]int{run, run, run}}, i)
				if out.Processes[p] = Gone; s.running[i] && run == s.run[i] {
					out.Processes[p] = s.seen[i]
				}
			}
		}
		return out
	}
	begin := func(s state, i int, q Starting) state {
		r, _, _, err := s.r.Join(agents[i], true, start)
		if err != nil {
			t.Fatal(err)
		}
		q.By, q.Seed, q.Process = agents[i], string(agents[i]), process(s, i)
		q.Same = s.known[i]
		r.editMember(agents[i], func(m *Member) { m.Processes = []Evidence{{Process: process(s, i), Proof: ProvesSession}} })
		for j := range agents {
			_, registered := r.Registered(process(s, j))
			q.Earlier = q.Earlier || j != i && s.running[j] && !registered && process(s, j).Before(process(s, i))
		}
		s.running[i], s.known[i] = true, true
		r, _, out := r.StartSession(q, probed(s), start)
		s.r = r
		if elder, ok := r.findElder(q, probed(s)); ok && out.Role == RoleHelper && out.Primary == "" {
			t.Fatalf("%s joined earlier, and there is no primary: %s", elder, key(s))
		}
		return s
	}
	seen := map[string]bool{key(first): true}
	queue := []state{first}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		live := 0
		for _, m := range s.r.Members {
			if m.isPrimary() && m.Verdict(probed(s)) != Gone {
				live++
			}
		}
		if live > 1 {
			t.Fatalf("two primaries: %s", key(s))
		}
		var next []state
		for i := range agents {
			if i == 2 && s.run[i] > 0 {
				continue // its only process has ended
			}
			if !s.running[i] {
				up := s // it runs, and nobody has heard of it
				up.running[i], up.seen[i] = true, Alive
				next = append(next, up)
				if last := begin(up, i, Starting{}); !slices.ContainsFunc([]int{0, 1, 2}, func(j int) bool { return j != i && s.running[j] }) && !last.r.lead(agents[i]) {
					t.Fatalf("alone, and no primary: %s", key(s))
				}
				continue
			}
			for _, q := range []Starting{{}, {Continues: true}, {Helper: true}, {Launched: true}, {Launched: true, Continues: true}} {
				next = append(next, begin(s, i, q))
			}
			if m, ok := s.r.Member(agents[i]); !s.known[i] && (!ok || m.State != Joined) { // it takes part without a session
				joined := s
				r, _, _, err := s.r.Join(agents[i], true, start)
				if err != nil {
					t.Fatal(err)
				}
				r.editMember(agents[i], func(m *Member) { m.Processes = []Evidence{{Process: process(s, i), Proof: ProvesSession}} })
				joined.r = r
				next = append(next, joined)
			}
			dead := s
			dead.seen[i] = "" // what it was seen as no longer matters
			if dead.running[i] = false; dead.known[i] {
				dead.known[i], dead.run[i] = false, 1-s.run[i]
			}
			next = append(next, dead)
			for _, v := range []Verdict{Alive, Unknown}[:2-i/2] {
				other := s
				other.seen[i] = v
				next = append(next, other)
			}
			if r, _, err := s.r.Promote(agents[i], Lineage{}, probed(s), start.Add(time.Duration(len(seen)%2)*24*time.Hour)); err == nil {
				up := s
				up.r = r
				next = append(next, up)
			}
			if r, _, err := s.r.Leave(Leaving{By: agents[i]}, probed(s), start); err == nil {
				left := s
				left.r = r
				next = append(next, left)
			}
		}
		for _, n := range next {
			if k := key(n); !seen[k] {
				seen[k] = true
				queue = append(queue, n)
			}
		}
	}
	t.Logf("explored %d states", len(seen))
	if len(seen) < 100 {
		t.Errorf("only %d states were seen", len(seen))
	}
}

// both writes two truths as one letter.
func both(a, b bool) byte {
	return "-ab+"[map[bool]int{true: 1}[a]+map[bool]int{true: 2}[b]]
}

func (r Room) lead(a AgentID) bool {
	p, ok := r.Primary()
	return ok && p.Agent == a
}

// TestAPrimaryStartedAsAHelper: a new process of the primary that another agent has launched is a helper. The
// session before has crashed with its process, so nothing says that it went on as one.
func TestAPrimaryStartedAsAHelper(t *testing.T) {
	f := room(t)
	f.starts(Starting{By: "p:0", Same: true})
	_, events, started := f.StartSession(Starting{By: "p:0", Launched: true, Seed: "x"}, f.s, f.now)
	equal(t, "role", started.Role, RoleHelper)
	if len(events) != 1 || events[0].Type != EventSessionStarted {
		t.Errorf("the events are %+v", events)
	}
}

// TestAnElderLeads: a member that was here first leads, and the session that starts is told so. Only a
// process that proves its session shows who was first.
func TestAnElderLeads(t *testing.T) {
	for proof, want := range map[Proof]AgentID{ProvesSession: "a:0", ProvesCarrier: ""} {
		f := room(t).member("a:0", "z:9")
		first := f.runsIn("a:0", 1, Alive)
		lost, shell := first, first // z:9 is there, but nobody knows whether its session, which began earlier, is
		lost.PID, lost.Start, shell.PID, shell.Start = 5, 0, 6, 3
		f.s.Processes[lost], f.s.Processes[shell] = Unknown, Alive
		f.editMember("z:9", func(m *Member) {
			m.Processes = []Evidence{{Process: lost, Proof: ProvesSession}, {Process: shell, Proof: ProvesTurn}}
		})
		f.editMember("a:0", func(m *Member) { m.Processes = []Evidence{{Process: first, Proof: proof}} })
		second := first
		second.PID, second.Start = 9, 9
		started := f.starts(Starting{By: "b:0", Process: second})
		equal(t, "the primary, by a process that proves its "+string(proof), started.Primary, want)
		equal(t, "that of the room", f.leads("a:0"), want != "")
	}
}

// TestWhoFollowsNeverLeads: even alone.
func TestWhoFollowsNeverLeads(t *testing.T) {
	equal(t, "role", room(t).starts(Starting{By: "w:0", Follows: true, Seed: "x"}).Role, RoleHelper)
}

// TestWhatASessionGoesOnAs: a session that starts again keeps its role, also when it is resumed in another
// process. One that has had no role here is alone, and leads.
func TestWhatASessionGoesOnAs(t *testing.T) {
	for name, again := range map[string]Starting{"the same": {Same: true}, "resumed": {Continues: true}} {
		f := room(t)
		f.starts(Starting{By: "h:0", Helper: true, Same: true, Seed: "x"})
		again.By, again.Seed = "h:0", "x"
		equal(t, name, f.starts(again).Role, RoleHelper)
	}
	equal(t, "resumed, and new here", room(t).starts(Starting{By: "p:0", Continues: true}).Role, RolePrimary)
}
