package stick_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"talkingstick/internal/model"
	"talkingstick/stick"
	"talkingstick/stick/glob"
	"talkingstick/stick/sticktest"
)

// tick is how long a tick of the model is.
const tick = 30 * time.Second

func ticks(n int) time.Duration { return time.Duration(n) * tick }

// setting is what a game begins with.
type setting struct {
	agents   []model.Agent
	limits   model.Limits
	sequence bool
	quiet    bool // more time passes between acts, so that limits run out
}

// game is a room that is played twice, by the rules and by the model.
type game struct {
	setting
	total *tally
	model model.Room

	room    stick.Room
	now     stick.Time
	record  stick.Record
	seq     int64
	skipped int64       // turn ids that restores have left out
	old     stick.Fence // of an earlier turn
	draft   *stick.Draft
	leases  map[stick.LeaseID]bool
	waits   [model.MaxAgents]stick.Purpose // empty for none
	wakesAt [model.MaxAgents]stick.Time    // the deadlines of waits
}

// reservedPaths are the patterns of the paths that the model names.
var reservedPaths = []glob.Pattern{model.File: "file", model.FileBelow: "dir/file", model.Directory: "dir"}

func newGame(s setting, total *tally) *game {
	p := stick.DefaultPolicy()
	p.WaiterGrace, p.ClaimTTL, p.OwnerLeaseTTL, p.OwnerIdleTTL = ticks(s.limits.Grace), ticks(s.limits.Claim), ticks(s.limits.Lease), ticks(s.limits.Idle)
	p.HeartbeatInterval, p.PresenceTTL = ticks(1), ticks(50_000)
	if s.sequence {
		p.Order = stick.Sequence
	}

	return &game{
		setting: s, total: total, model: model.NewRoom(s.limits, s.sequence, s.agents...),
		now: sticktest.Start, leases: map[stick.LeaseID]bool{},
		room: stick.Room{ID: "r", Policy: p, Turn: stick.Turn{State: stick.Idle}, Generation: 1},
	}
}

func agentAt(a model.Who) stick.AgentID {
	if a == model.Nobody {
		return ""
	}
	return stick.AgentID(rune('a' + a))
}

// process is the n-th process of an agent.
func process(a model.Who, n int) stick.Process { return stick.Process{PID: 1000*(int(a)+1) + n} }

func proofOf(p model.Proof) stick.Proof {
	return map[model.Proof]stick.Proof{
		model.Session: stick.ProvesSession, model.Carrier: stick.ProvesCarrier,
		model.Person: stick.ProvesTurn, model.Hidden: stick.ProvesSession, model.Guarded: stick.ProvesSession,
	}[p]
}

// probed is what the world shows of processes and waits now.
func (g *game) probed() *stick.Probed {
	s := &stick.Probed{Processes: map[stick.Process]stick.Verdict{}, Listeners: map[stick.ListenerID]stick.Verdict{}}
	for a := range g.model.Count {
		m := g.model.Agents[a]
		for n := 1; n <= m.Run; n++ {
			v := stick.Gone
			switch {
			case m.Proof == model.Hidden || m.Proof == model.Guarded:
				v = stick.Unknown
			case n == m.Run && m.Process != model.Ended:
				v = stick.Alive
			}
			s.Processes[process(a, n)] = v
		}

		s.Listeners[stick.ListenerID(agentAt(a))] = stick.Gone
		if g.waits[a] != "" {
			s.Listeners[stick.ListenerID(agentAt(a))] = stick.Alive
		}
	}

	return s
}

func (g *game) listeners() (ls []stick.Listener) {
	for a := range g.model.Count {
		if g.waits[a] != "" {
			ls = append(ls, stick.Listener{ID: stick.ListenerID(agentAt(a)), Agent: agentAt(a), Purpose: g.waits[a]})
		}
	}
	return ls
}

// lineage is what an agent knows of who started it.
func (g *game) lineage(a model.Who) (l stick.Lineage) {
	if p := g.agents[a].Parent; p != model.Nobody {
		l.Processes = []stick.Process{process(p, 1)}
	}
	return l
}

func (g *game) fence() stick.Fence {
	return stick.Fence{Turn: g.room.Turn.ID, Lease: g.room.Turn.Lease}
}

// tally counts what was played, so that a test that no longer reaches something fails.
type tally struct {
	steps int
	acts  map[string]int
}

func (n *tally) count(what string) { n.acts[what]++ }

// check fails for whatever the acts should come to and didn't.
func (n *tally) check(t *testing.T) {
	t.Helper()
	var expected []string
	refused := []model.Kind{model.ReleaseOldTurn, model.ReleaseByLease, model.Pause}
	for kind := range model.Kinds {
		if !slices.Contains(refused, kind) {
			expected = append(expected, kind.String())
		}
	}

	for _, code := range []stick.Code{
		stick.CodeAlreadyListening, stick.CodeKicked, stick.CodeMemberPresent, stick.CodeNoRecipient,
		stick.CodeNotYourTurn, stick.CodePaused, stick.CodePersonOnly, stick.CodePriorOwner,
		stick.CodeReservationConflict,
		stick.CodeReservationStale, stick.CodeRoomClosed, stick.CodeStaleLease,
		stick.CodeTakeoverNotAvailable, stick.CodeTurnMismatch, stick.CodeUnknownMember, stick.CodeUsage,
	} {
		expected = append(expected, "refused: "+string(code))
	}

	for _, c := range stick.Causes {
		expected = append(expected, "taken: "+string(c.Cause))
	}
	for _, status := range []model.Status{
		model.GoesOn, model.YourTurn, model.AlreadyHeld, model.Takeover, model.UnderParent, model.Over,
	} {
		expected = append(expected, "answer: "+string(status))
	}

	expected = append(expected, "edit: fine", "edit: told", "edit: denied", "rerouted")

	for _, what := range expected {
		if n.acts[what] == 0 {
			t.Errorf("in %d acts this never happened: %s", n.steps, what)
		}
	}

	for _, what := range slices.Sorted(maps.Keys(n.acts)) {
		t.Logf("%7d %s", n.acts[what], what)
	}
}
