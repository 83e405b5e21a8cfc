package presence_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/sticktest"
)

func leads(f *sticktest.Fixture, a stick.AgentID) bool {
	p, ok := presence.Primary(f.Room)
	return ok && p.Agent == a
}

// TestStartSession_AllPriors: alone or not, with or without an anchor, and with every state of an earlier primary.
func TestStartSession_AllPriors(t *testing.T) {
	const me, other stick.AgentID = "claude:me", "codex:other"
	type before struct {
		name  string
		led   bool
		v     stick.Verdict
		ended bool
	}

	priors := []before{
		{name: "nobody before"},
		{"crashed", true, stick.Gone, false},
		{"live", true, stick.Alive, false},
		// another host, another namespace, a blind scan: nothing is proved
		{"remote or unknown", true, stick.Unknown, false},
		{"ended", true, stick.Gone, true},
	}

	for _, earlier := range []bool{false, true} {
		for _, anchor := range []bool{false, true} {
			for _, prior := range priors {
				name := fmt.Sprintf("%s, anchor %v, unregistered one before me %v", prior.name, anchor, earlier)
				t.Run(name, func(t *testing.T) {
					f := sticktest.NewRoom(t)
					written := f.Now.Add(time.Second)
					if prior.led {
						f.Starts(presence.Starting{By: other, Same: true})
						f.RunsIn(other, 1, prior.v)
						f.Now = f.Now.Add(time.Minute)
					}

					if prior.ended {
						r, events, err := f.Leave(stick.Leaving{By: other, Abandon: "session ended"}, f.Probed, f.Now)
						f.Must(f.TryCommit(r, events, err))
						f.Now = f.Now.Add(time.Minute)
					}

					got := f.Starts(presence.Starting{
						By: me, Same: true, Earlier: earlier, Anchor: anchor, AnchorAt: written, Seed: "x",
					})

					live := prior.led && !prior.ended && prior.v != stick.Gone
					want := presence.Started{Session: stick.Session{Role: stick.RolePrimary}, Kind: stick.StartFresh}
					if live || earlier {
						want.Role, want.Kind = stick.RoleHelper, stick.StartHelper
					} else if anchor && !prior.ended {
						want.Kind = stick.StartRecover
					}

					if live {
						want.Primary = other
					}
					if prior.led && prior.v == stick.Gone && !prior.ended && want.Role == stick.RolePrimary {
						want.Crashed = other
					}

					if got.Role != want.Role ||
						got.Kind != want.Kind ||
						got.Primary != want.Primary ||
						got.Crashed != want.Crashed {
						t.Errorf("got %s, %s, primary %q, crashed %q; want %s, %s, %q, %q",
							got.Role, got.Kind, got.Primary, got.Crashed, want.Role, want.Kind, want.Primary, want.Crashed)
					}
					if want.Role == stick.RolePrimary != leads(f, me) {
						t.Error("the room doesn't say so")
					}

					resumed := slices.ContainsFunc(f.Log, func(e stick.Event) bool {
						return e.Type == stick.EventResume &&
							e.From == me &&
							e.To == want.Crashed &&
							e.Message().Adopted == string(me)
					})
					if resumed != (want.Kind == stick.StartRecover) {
						t.Errorf("that there is a RESUME is %v", resumed)
					}

					for _, e := range f.Log { // from which it is told again
						if say, ok := stick.PayloadOf[stick.SessionStartedPayload](e); ok && e.From == me &&
							(say.Start != want.Kind ||
								resumed && (say.Prior != want.Crashed || say.Written != written)) {
							t.Errorf("the log says %+v", say)
						}
					}
				})
			}
		}
	}
}

func TestStartSession_Continues(t *testing.T) {
	const a, b, c stick.AgentID = "claude:a", "claude:b", "codex:c"
	primary := func(t *testing.T) *sticktest.Fixture {
		f := sticktest.NewRoom(t)
		f.Starts(presence.Starting{By: a, Same: true})
		f.RunsIn(a, 1, stick.Alive)
		return f
	}

	ends := func(f *sticktest.Fixture, who stick.AgentID) {
		f.Now = f.Now.Add(time.Minute)
		r, events, err := f.Leave(stick.Leaving{By: who, Abandon: "session ended (clear)"}, f.Probed, f.Now)
		f.Must(f.TryCommit(r, events, err))
	}

	t.Run("started twice", func(t *testing.T) {
		f := primary(t)
		n := len(f.Log)
		if got := f.Starts(presence.Starting{By: a, Same: true, Anchor: true, AnchorAt: f.Now}); !got.Already ||
			got.Role != stick.RolePrimary ||
			got.Kind != stick.StartContinue ||
			len(f.Log) != n {
			t.Errorf("%+v", got)
		}
	})

	t.Run("cleared: another agent in the same process inherits", func(t *testing.T) {
		f := primary(t)
		ends(f, a)
		if got := f.Starts(presence.Starting{
			By: b, Same: true, Continues: true, Before: []stick.AgentID{a}, Anchor: true,
			AnchorAt: f.Now.Add(-time.Hour),
		}); got.Role != stick.RolePrimary || got.Kind != stick.StartContinue {
			t.Errorf("%+v", got)
		}
	})

	t.Run("cleared without a word of the end", func(t *testing.T) {
		f := primary(t)
		if got := f.Starts(presence.Starting{By: b, Same: true, Continues: true, Before: []stick.AgentID{a}}); got.Role != stick.RolePrimary ||
			got.Kind != stick.StartContinue ||
			!leads(f, b) {
			t.Errorf("%+v", got)
		}
	})

	t.Run("another one in the same process: the one before is over", func(t *testing.T) {
		for _, role := range []stick.Role{stick.RolePrimary, stick.RoleHelper} {
			for _, goes := range []bool{true, false} {
				f := primary(t)
				old, led := a, role == stick.RolePrimary
				if !led {
					old = "codex:old"
					f.Starts(presence.Starting{By: old, Same: true, Seed: "x"})
				}

				f.RunsIn(old, 2, stick.Alive)
				was, _ := f.Member(old)
				got := f.Starts(presence.Starting{
					By: c, Same: true, Continues: goes, Before: []stick.AgentID{"gone:1", old}, Anchor: true,
					AnchorAt: f.Now.Add(-time.Hour), Seed: "y",
				})
				want := map[bool]stick.StartKind{true: stick.StartContinue, false: stick.StartFresh}[goes]
				if !led {
					want = stick.StartHelper
				}
				if presence.HasSession(f.Room, old) ||
					got.Role != role ||
					got.Kind != want ||
					got.Crashed != "" ||
					led == f.SessionEndedAt.IsZero() {
					t.Errorf("%s, goes on %v: %+v", role, goes, got)
				}
				if !led && goes != (got.Context == was.Session.Context) {
					t.Errorf("goes on %v: its context is %q, and that of the one before was %q",
						goes, got.Context, was.Session.Context)
				}
				if to, _, err := presence.WithRole(f.Room, "role:"+stick.AgentID(role), ""); err != nil ||
					len(to) != 1 ||
					to[0] != c {
					t.Errorf("%s: %v (%v)", role, to, err)
				}

				f.RunsIn(c, 3, stick.Gone) // it touched the file when it started, and crashes
				next := f.Starts(presence.Starting{By: b, Same: true, Anchor: true, AnchorAt: f.Now})
				if led && next.Kind != stick.StartRecover {
					t.Errorf("after its crash: %+v", next)
				}
			}
		}
	})

	t.Run("a helper stays one", func(t *testing.T) {
		f := primary(t)
		was := f.Starts(presence.Starting{By: b, Same: true, Seed: "x"})
		ends(f, a)
		ends(f, b)
		if got := f.Starts(presence.Starting{By: b, Same: true, Continues: true}); got.Role != stick.RoleHelper ||
			got.Context != was.Context ||
			got.Primary != "" {
			t.Errorf("%+v, it was %+v", got, was)
		}
	})

	t.Run("resumed when another leads: never two", func(t *testing.T) {
		f := primary(t)
		ends(f, a)
		f.Starts(presence.Starting{By: b, Same: true})
		f.RunsIn(b, 2, stick.Alive)
		if got := f.Starts(presence.Starting{By: a, Continues: true}); got.Role != stick.RoleHelper ||
			got.Primary != b {
			t.Errorf("%+v", got)
		}
	})

	t.Run("resumed after its own crash", func(t *testing.T) {
		f := primary(t)
		f.RunsIn(a, 1, stick.Gone)
		if got := f.Starts(presence.Starting{By: a, Continues: true, Anchor: true, AnchorAt: f.Now}); got.Role != stick.RolePrimary ||
			got.Kind != stick.StartRecover ||
			got.Crashed != a {
			t.Errorf("%+v", got)
		}
	})

	t.Run("told to help", func(t *testing.T) {
		f := primary(t)
		if got := f.Starts(presence.Starting{By: a, Same: true, Helper: true, Seed: "x"}); got.Role != stick.RoleHelper ||
			got.Already ||
			leads(f, a) {
			t.Errorf("%+v", got)
		}

		// It gave its role up: that is an end of the primary's session, and nothing is recovered after it.
		if got := f.Starts(presence.Starting{
			By: c, Same: true, Anchor: true, AnchorAt: f.Now.Add(-time.Second),
		}); got.Role != stick.RolePrimary || got.Kind != stick.StartFresh {
			t.Errorf("%+v", got)
		}
	})

	t.Run("started as a helper, and promoted", func(t *testing.T) {
		f := primary(t)
		if got := f.Starts(presence.Starting{By: b, Same: true, Launched: true, Seed: "x"}); got.Role != stick.RoleHelper {
			t.Errorf("%+v", got)
		}

		f.RunsIn(b, 2, stick.Alive)
		ends(f, a)
		r, events, err := presence.Promote(f.Room, b, stick.Lineage{}, f.Probed, f.Now)
		f.Must(f.TryCommit(r, events, err))
		n := len(f.Log)
		if got := f.Starts(presence.Starting{By: b, Same: true, Continues: true, Launched: true}); got.Role != stick.RolePrimary ||
			!got.Already ||
			len(f.Log) != n {
			t.Errorf("compacted: %+v", got)
		}
		if got := f.Starts(presence.Starting{
			By: c, Same: true, Continues: true, Before: []stick.AgentID{b}, Launched: true,
		}); got.Role != stick.RolePrimary {
			t.Errorf("cleared: %+v", got)
		}

		ends(f, c)
		if got := f.Starts(presence.Starting{By: c, Same: true, Continues: true, Launched: true}); got.Role != stick.RolePrimary {
			t.Errorf("resumed in the same process: %+v", got)
		}

		ends(f, c)
		if got := f.Starts(presence.Starting{By: c, Continues: true, Launched: true}); got.Role != stick.RoleHelper {
			t.Errorf("resumed in another process, which was started for a helper: %+v", got)
		}
	})

	t.Run("kicked", func(t *testing.T) {
		f := primary(t)
		f.Acts(b)
		r, events, err := f.Kick(stick.Kicking{By: b, Who: a, Force: true}, f.Probed, f.Now)
		f.Must(f.TryCommit(r, events, err))
		if leads(f, a) || presence.HasSession(f.Room, a) || !f.SessionEndedAt.IsZero() {
			t.Error("it has a session still, or ended it by itself")
		}
	})
}

func TestPromote(t *testing.T) {
	const a, b stick.AgentID = "claude:a", "claude:b"
	f := sticktest.NewRoom(t)
	promote := func() error {
		r, events, err := presence.Promote(f.Room, b, stick.Lineage{}, f.Probed, f.Now)
		if err == nil {
			f.Commit(r, events)
		}
		return err
	}

	f.Starts(presence.Starting{By: a, Same: true})
	f.RunsIn(a, 1, stick.Alive)
	f.Acts(b)
	if err := promote(); stick.CodeOf(err) != stick.CodeUnknownMember {
		t.Errorf("without a session: %v", err)
	}

	f.Starts(presence.Starting{By: b, Same: true, Seed: "x"})
	f.Now = f.Now.Add(2 * f.Policy.OwnerLeaseTTL)
	if err := promote(); stick.CodeOf(err) != stick.CodeMemberPresent {
		t.Errorf("beside a live one: %v", err)
	}

	f.RunsIn(a, 1, stick.Unknown)
	f.EditMember(a, func(m *stick.Member) { m.LastSeenAt = f.Now.Add(-f.Policy.OwnerLeaseTTL + time.Second) })
	if err := promote(); stick.CodeOf(err) != stick.CodeMemberPresent {
		t.Errorf("beside one that was seen lately: %v", err)
	}

	f.Now = f.Now.Add(time.Minute)
	if err := promote(); err != nil || !leads(f, b) || presence.HasSession(f.Room, a) {
		t.Errorf("beside a silent one: %v", err)
	}

	n := len(f.Log)
	if err := promote(); err != nil || len(f.Log) != n {
		t.Errorf("twice: %v", err)
	}
	got := f.Starts(presence.Starting{By: a, Same: true, Seed: "y"})
	if got.Role != stick.RoleHelper || got.Primary != b {
		t.Errorf("the one before: %+v", got)
	}
}

// TestStartSession_Explored visits every state of the roles that two agents, or with -explore.long three, can reach
// while they come and go in processes of their own. The third has one process only, and is always seen as
// what it is. No act may lead to two primaries that aren't gone. If all others are gone, there must be a
// primary after the next start of an agent.
func TestStartSession_Explored(t *testing.T) {
	agents := []stick.AgentID{"a:1", "b:2"}
	if *sticktest.ExploreLong {
		agents = append(agents, "c:3")
	}

	type state struct { // the third agent's place is empty where there are two
		r       stick.Room
		running [3]bool // its process lives
		known   [3]bool // and has started a session
		run     [3]int  // which of its two processes it is, in turn
		seen    [3]stick.Verdict
	}

	process := func(s state, i int) stick.Process {
		return stick.Process{Boot: "b", PIDNS: "n", PID: i + 1, Start: int64(10*s.run[i] + i + 1)}
	}
	first := state{r: stick.Room{ID: "r", Policy: stick.DefaultPolicy(), Turn: stick.Turn{State: stick.Idle}}}

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

	probed := func(s state) *stick.Probed {
		out := &stick.Probed{
			Processes: map[stick.Process]stick.Verdict{}, Listeners: map[stick.ListenerID]stick.Verdict{},
		}
		for i := range agents {
			for run := range 2 {
				p := process(state{run: [3]int{run, run, run}}, i)
				if out.Processes[p] = stick.Gone; s.running[i] && run == s.run[i] {
					out.Processes[p] = s.seen[i]
				}
			}
		}

		return out
	}

	begin := func(s state, i int, q presence.Starting) state {
		r, _, _, err := s.r.Join(agents[i], "", true, sticktest.Start)
		if err != nil {
			t.Fatal(err)
		}
		q.By, q.Seed, q.Process = agents[i], string(agents[i]), process(s, i)
		q.Same = s.known[i]
		r.EditMember(agents[i], func(m *stick.Member) {
			m.Processes = []stick.Evidence{{Process: process(s, i), Proof: stick.ProvesSession}}
		})

		for j := range agents {
			_, registered := presence.Registered(r, process(s, j))
			q.Earlier = q.Earlier || j != i && s.running[j] && !registered && process(s, j).Before(process(s, i))
		}

		s.running[i], s.known[i] = true, true
		r, _, out := presence.StartSession(r, q, probed(s), sticktest.Start)
		s.r = r
		if elder, ok := presence.FindElder(r, q, probed(s)); ok && out.Role == stick.RoleHelper && out.Primary == "" {
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
			if presence.IsPrimary(m) && m.Verdict(probed(s)) != stick.Gone {
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
				up.running[i], up.seen[i] = true, stick.Alive
				next = append(next, up)
				last := begin(up, i, presence.Starting{})
				if !slices.ContainsFunc([]int{0, 1, 2}, func(j int) bool { return j != i && s.running[j] }) &&
					!lead(last.r, agents[i]) {
					t.Fatalf("alone, and no primary: %s", key(s))
				}
				continue
			}

			for _, q := range []presence.Starting{
				{}, {Continues: true}, {Helper: true}, {Launched: true}, {Launched: true, Continues: true},
			} {
				next = append(next, begin(s, i, q))
			}

			// it takes part without a session
			if m, ok := s.r.Member(agents[i]); !s.known[i] && (!ok || m.State != stick.Joined) {
				joined := s
				r, _, _, err := s.r.Join(agents[i], "", true, sticktest.Start)
				if err != nil {
					t.Fatal(err)
				}
				r.EditMember(agents[i], func(m *stick.Member) {
					m.Processes = []stick.Evidence{{Process: process(s, i), Proof: stick.ProvesSession}}
				})
				joined.r = r
				next = append(next, joined)
			}

			dead := s
			dead.seen[i] = "" // what it was seen as no longer matters
			if dead.running[i] = false; dead.known[i] {
				dead.known[i], dead.run[i] = false, 1-s.run[i]
			}

			next = append(next, dead)
			for _, v := range []stick.Verdict{stick.Alive, stick.Unknown}[:2-i/2] {
				other := s
				other.seen[i] = v
				next = append(next, other)
			}

			if r, _, err := presence.Promote(s.r, agents[i], stick.Lineage{}, probed(s), sticktest.Start.Add(time.Duration(len(seen)%2)*24*time.Hour)); err == nil {
				up := s
				up.r = r
				next = append(next, up)
			}

			if r, _, err := s.r.Leave(stick.Leaving{By: agents[i]}, probed(s), sticktest.Start); err == nil {
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

func lead(r stick.Room, a stick.AgentID) bool {
	p, ok := presence.Primary(r)
	return ok && p.Agent == a
}

// TestStartSession_LaunchedPrimary: a new process of the primary that another agent has launched is a helper. The
// session before has crashed with its process, so nothing says that it went on as one.
func TestStartSession_LaunchedPrimary(t *testing.T) {
	f := sticktest.NewRoom(t)
	f.Starts(presence.Starting{By: "p:0", Same: true})
	_, events, started := presence.StartSession(f.Room, presence.Starting{By: "p:0", Launched: true, Seed: "x"},
		f.Probed, f.Now)
	sticktest.Equal(t, "role", started.Role, stick.RoleHelper)
	if len(events) != 1 || events[0].Type != stick.EventSessionStarted {
		t.Errorf("the events are %+v", events)
	}
}

// TestStartSession_EarlierMemberLeads: a member that was here first leads, and the session that starts is told so. Only a
// process that proves its session shows who was first.
func TestStartSession_EarlierMemberLeads(t *testing.T) {
	for proof, want := range map[stick.Proof]stick.AgentID{stick.ProvesSession: "a:0", stick.ProvesCarrier: ""} {
		f := sticktest.NewRoom(t).WithMembers("a:0", "z:9")
		first := f.RunsIn("a:0", 1, stick.Alive)
		lost, shell := first, first // z:9 is there, but nobody knows whether its session, which began earlier, is
		lost.PID, lost.Start, shell.PID, shell.Start = 5, 0, 6, 3
		f.Probed.Processes[lost], f.Probed.Processes[shell] = stick.Unknown, stick.Alive
		f.EditMember("z:9", func(m *stick.Member) {
			m.Processes = []stick.Evidence{
				{Process: lost, Proof: stick.ProvesSession}, {Process: shell, Proof: stick.ProvesTurn},
			}
		})
		f.EditMember("a:0", func(m *stick.Member) { m.Processes = []stick.Evidence{{Process: first, Proof: proof}} })
		second := first
		second.PID, second.Start = 9, 9
		started := f.Starts(presence.Starting{By: "b:0", Process: second})
		sticktest.Equal(t, "the primary, by a process that proves its "+string(proof), started.Primary, want)
		sticktest.Equal(t, "that of the room", leads(f, "a:0"), want != "")
	}
}

// TestStartSession_FollowerIsHelper: even alone.
func TestStartSession_FollowerIsHelper(t *testing.T) {
	sticktest.Equal(t, "role",
		sticktest.NewRoom(t).Starts(presence.Starting{By: "w:0", Follows: true, Seed: "x"}).Role,
		stick.RoleHelper)
}

// TestStartSession_KeepsRole: a session that starts again keeps its role, also when it is resumed in another
// process. One that has had no role here is alone, and leads.
func TestStartSession_KeepsRole(t *testing.T) {
	for name, again := range map[string]presence.Starting{"the same": {Same: true}, "resumed": {Continues: true}} {
		f := sticktest.NewRoom(t)
		f.Starts(presence.Starting{By: "h:0", Helper: true, Same: true, Seed: "x"})
		again.By, again.Seed = "h:0", "x"
		sticktest.Equal(t, name, f.Starts(again).Role, stick.RoleHelper)
	}
	sticktest.Equal(t, "resumed, and new here",
		sticktest.NewRoom(t).Starts(presence.Starting{By: "p:0", Continues: true}).Role, stick.RolePrimary)
}
