package stick

import (
	"maps"
	"slices"
	"testing"
	"time"

	"talkingstick/internal/model"
	"talkingstick/stick/glob"
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

	room    Room
	now     Time
	record  Record
	seq     int64
	skipped int64 // turn ids that restores have left out
	old     Fence // of an earlier turn
	draft   *Draft
	leases  map[LeaseID]bool
	waits   [model.MaxAgents]Purpose // empty for none
	wakesAt [model.MaxAgents]Time    // the deadlines of waits
}

// reservedPaths are the patterns of the paths that the model names.
var reservedPaths = []glob.Pattern{model.File: "file", model.FileBelow: "dir/file", model.Directory: "dir"}

func newGame(s setting, total *tally) *game {
	p := DefaultPolicy()
	p.WaiterGrace, p.ClaimTTL, p.OwnerLeaseTTL, p.OwnerIdleTTL = ticks(s.limits.Grace), ticks(s.limits.Claim), ticks(s.limits.Lease), ticks(s.limits.Idle)
	p.HeartbeatInterval, p.PresenceTTL = ticks(1), ticks(50_000)
	if s.sequence {
		p.Order = Sequence
	}
	return &game{
		setting: s, total: total, model: model.NewRoom(s.limits, s.sequence, s.agents...), now: start, leases: map[LeaseID]bool{},
		room: Room{ID: "r", Policy: p, Turn: Turn{State: Idle}, Generation: 1},
	}
}

func agentAt(a model.Who) AgentID {
	if a == model.Nobody {
		return ""
	}
	return AgentID(rune('a' + a))
}

// process is the n-th process of an agent.
func process(a model.Who, n int) Process { return Process{PID: 1000*(int(a)+1) + n} }

func proofOf(p model.Proof) Proof {
	return map[model.Proof]Proof{
		model.Session: ProvesSession, model.Carrier: ProvesCarrier, model.Person: ProvesTurn, model.Hidden: ProvesSession, model.Guarded: ProvesSession,
	}[p]
}

// probed is what the world shows of processes and waits now.
func (g *game) probed() *Probed {
	s := &Probed{Processes: map[Process]Verdict{}, Listeners: map[ListenerID]Verdict{}}
	for a := range g.model.Count {
		m := g.model.Agents[a]
		for n := 1; n <= m.Run; n++ {
			v := Gone
			switch {
			case m.Proof == model.Hidden || m.Proof == model.Guarded:
				v = Unknown
			case n == m.Run && m.Process != model.Ended:
				v = Alive
			}
			s.Processes[process(a, n)] = v
		}

		s.Listeners[ListenerID(agentAt(a))] = Gone
		if g.waits[a] != "" {
			s.Listeners[ListenerID(agentAt(a))] = Alive
		}
	}
	return s
}

func (g *game) listeners() (ls []Listener) {
	for a := range g.model.Count {
		if g.waits[a] != "" {
			ls = append(ls, Listener{ID: ListenerID(agentAt(a)), Agent: agentAt(a), Purpose: g.waits[a]})
		}
	}
	return ls
}

// lineage is what an agent knows of who started it.
func (g *game) lineage(a model.Who) (l Lineage) {
	if p := g.agents[a].Parent; p != model.Nobody {
		l.Processes = []Process{process(p, 1)}
	}
	return l
}

func (g *game) fence() Fence { return Fence{g.room.Turn.ID, g.room.Turn.Lease} }

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
	for _, code := range []Code{
		CodeAlreadyListening, CodeKicked, CodeMemberPresent, CodeNoRecipient, CodeNotYourTurn, CodePaused, CodePersonOnly, CodePriorOwner, CodeReservationConflict,
		CodeReservationStale, CodeRoomClosed, CodeStaleLease, CodeTakeoverNotAvailable, CodeTurnMismatch, CodeUnknownMember, CodeUsage,
	} {
		expected = append(expected, "refused: "+string(code))
	}
	for _, c := range Causes {
		expected = append(expected, "taken: "+string(c.Cause))
	}
	for _, status := range []model.Status{model.GoesOn, model.YourTurn, model.AlreadyHeld, model.Takeover, model.UnderParent, model.Over} {
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
