package stick_test

import (
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/testenv"
	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

var (
	waits = []deed{dLook, dWork, dRelease}
	dying = []deed{dDie, dBack, dKill}
	stops = []deed{dStop, dContinue}
)

func deeds(sets ...any) []deed {
	var out []deed
	for _, s := range sets {
		switch s := s.(type) {
		case deed:
			out = append(out, s)
		case []deed:
			out = append(out, s...)
		}
	}
	return out
}

var (
	provedAll = [crowd]bool{true, true, true}
	provedOne = [crowd]bool{true, false, false}
	provedTwo = [crowd]bool{true, true, false}
)

// shortLeases is a policy whose leases are shorter than a round of offers.
var shortLeases = stick.Policy{
	OwnerLeaseTTL: units(2), ClaimTTL: units(4), WaiterGrace: units(1), OwnerIdleTTL: units(1),
	PresenceTTL: units(10_000), HeartbeatInterval: units(1),
}

// shortIdle is a policy under which heartbeats alone soon no longer count.
var shortIdle = stick.Policy{
	OwnerLeaseTTL: units(3), ClaimTTL: units(2), WaiterGrace: units(1), OwnerIdleTTL: units(1),
	PresenceTTL: units(10_000), HeartbeatInterval: units(1),
}

// scenarios are configurations small enough to be explored completely. Together they cover every act of the
// rules.
var scenarios = []scenario{
	{name: "fair releases", proves: provedAll, fair: true, acts: deeds(waits, dKill, stops)},
	{name: "leases that time out", acts: deeds(waits, dTake, dBeat)},
	{name: "clock back, two agents", two: true, proves: provedOne, acts: deeds(waits, dTake, dAct, dJump)},
	{name: "passes and deaths, two agents", two: true, proves: provedTwo, acts: deeds(waits, dying, stops, dPass, dTake, dOperator, dKick, dAct)},
	{name: "limits that change, two agents", two: true, proves: provedOne, acts: deeds(waits, dTake, dAct, dLimit, dLower)},
	{name: "heartbeats, two agents", two: true, proves: provedOne, policy: &shortIdle, acts: deeds(waits, dTake, dBeat, dAct)},
	{name: "a child of the other, two agents", two: true, nested: true, proves: provedTwo, acts: deeds(waits, dDie, dPass, dTake)},
	{name: "pauses, two agents", two: true, proves: provedOne, acts: deeds(waits, dDie, dPass, dTake, dAct, dPause)},
	{name: "rests, two agents", two: true, proves: provedTwo, hooks: provedAll, acts: deeds(waits, dEmpty, dTell, dTry, dPrompt, dKill, dDie, dTake)},
	{name: "rings to all", rings: "all", proves: provedAll, acts: deeds(waits, dKill, dTake)},
	{name: "one sentinel", sentinels: 1, proves: provedAll, acts: deeds(waits, dTimeout, dTake)},
	{name: "one sentinel, and deaths", sentinels: 1, proves: provedAll, acts: deeds(waits, dDie, dTake)},
	{
		name: "a sentinel killed or stopped, the net", sentinels: 1, net: units(1), proves: provedAll,
		acts: deeds(waits, dKill, stops),
	},
	{name: "lost rings, the net", net: units(1), proves: provedAll, acts: deeds(waits, dLose, dKill, stops)},
	{name: "closing", proves: provedAll, acts: deeds(waits, dClose, dPerson, dJoin, dOperator)},

	{
		long: true, name: "one sentinel, and passes", sentinels: 1, proves: provedAll,
		acts: deeds(waits, dTimeout, dTake, dPass),
	},
	{
		long: true, name: "one sentinel, and comings", sentinels: 1, proves: provedAll,
		acts: deeds(waits, dying, dTake, dLeave, dJoin),
	},
	{long: true, name: "rests", proves: provedAll, hooks: provedTwo, acts: deeds(waits, dEmpty, dTell, dTry, dPrompt)},
	{long: true, name: "rests and comings, two agents", two: true, proves: provedOne, hooks: provedOne, acts: deeds(waits, dEmpty, dTell, dPrompt, dPass, dTake, dLeave, dJoin, dPause)},
	{long: true, name: "kicks of the gone", proves: provedAll, acts: deeds(waits, dDie, dKick)},
	{long: true, name: "kicks", proves: provedAll, acts: deeds(waits, dDie, dKick, dForce, dJoin)},
	{long: true, name: "pauses", proves: provedTwo, acts: deeds(waits, dTake, dPause)},
	{long: true, name: "pauses and leaves, two agents", two: true, proves: provedTwo, hooks: provedOne, acts: deeds(waits, dying, dPass, dLeave, dAbandon, dJoin, dRestore, dPause)},
	{long: true, name: "restores", proves: provedTwo, acts: deeds(waits, dPass, dTake, dRestore)},
	{long: true, name: "guardians", acts: deeds(waits, dTake, dRenew)},
	{long: true, name: "sequence releases", proves: provedAll, order: stick.Sequence, fair: true, acts: deeds(waits, dKill, stops)},
	{long: true, name: "unacknowledged grants", proves: provedAll, hooks: provedOne, acts: deeds(waits, dAct, dTake)},
	{long: true, name: "unacknowledged passes", proves: provedTwo, hooks: provedTwo, acts: deeds(waits, dAct, dPass, dTake)},
	{long: true, name: "stopped waits", proves: provedAll, acts: deeds(waits, stops, dTake, dPass)},
	{long: true, name: "passes", proves: provedAll, acts: deeds(waits, dPass, dPassNext, dTake, dDie, dBack)},
	{long: true, name: "deaths and takeovers", proves: provedAll, acts: deeds(waits, dying, dTake, dAct)},
	{long: true, name: "listeners", proves: provedAll, acts: deeds(waits, dListen, dTimeout, dPass, dTake)},
	{long: true, name: "leaves", proves: provedAll, acts: deeds(waits, dLeave, dAbandon, dJoin, dDie, dTake)},
	{long: true, name: "kicks and passes", proves: provedTwo, acts: deeds(waits, dPass, dDie, dKick, dForce, dJoin)},
	{long: true, name: "closing and leaving", proves: provedAll, acts: deeds(waits, dPass, dClose, dPerson, dJoin, dLeave, dOperator)},
	{long: true, name: "long claims, short leases", proves: provedOne, policy: &shortLeases, acts: deeds(waits, dTake, dAct, dPass)},
	{long: true, name: "guardians of the short leased", policy: &shortLeases, acts: deeds(waits, dTake, dRenew, dBeat)},
	{long: true, name: "clock back with passes, two agents", two: true, proves: provedOne, hooks: provedOne, acts: deeds(waits, dTake, dAct, dPass, dJump)},
	{long: true, name: "comings and goings, two agents", two: true, proves: provedOne, acts: deeds(waits, dDie, dBack, dListen, dPass, dTake, dLeave, dAbandon, dJoin, dClose, dRestore)},
}

// How many states of a configuration are visited: at most those that memory holds, and in a short run the
// first ones. A breadth-first exploration has then tried every way of some eight acts, which is where nearly
// every broken law shows.
const (
	mostStates  = 4_000_000
	shortStates = 4_000
)

// TestExplore visits every state of the stick that three agents can reach, breadth first, and checks the laws
// in each. `go test ./stick -explore.long` explores the large configurations as well; -short visits only the
// first thousands of states of the small ones.
func TestExplore(t *testing.T) {
	limit := mostStates
	if testing.Short() {
		limit = shortStates
	}

	left := 0
	for _, sc := range scenarios {
		if sc.long && !*sticktest.ExploreLong {
			left++
			continue
		}
		if sc.order == "" {
			sc.order = stick.Fair
		}
		t.Run(strings.ReplaceAll(sc.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			found := sc.explore(limit)
			line := fmt.Sprintf("explored %-36s %8d states %9d transitions, longest wait %2d units, %5.1f s",
				sc.name, found.states, found.transitions, int(found.longest), time.Since(began).Seconds())
			t.Log(line)
			fmt.Println(line) // .ci/gotest adds them up

			if found.broken != "" {
				t.Errorf("%s\n%s", found.broken, strings.Join(found.trace, "\n"))
			}
			if found.unfinished && !testenv.Leaves(t, testenv.Every, fmt.Sprintf("what %s comes to after %d states", sc.name, found.states)) {
				t.Errorf("the configuration is too large to finish")
			}
		})
	}
	if left > 0 {
		testenv.Leaves(t, testenv.Full, fmt.Sprintf("%d large configurations", left))
	}
}

type findings struct {
	states, transitions int
	longest             time.Duration // that a wait for work went without the stick, nobody acting
	broken              string
	trace               []string
	unfinished          bool
}

// explore visits all states breadth first, so that the trace of a violation is as short as possible.
func (sc *scenario) explore(limit int) (found findings) {
	type step struct {
		from int32
		act  act
	}

	seed := maphash.MakeSeed()
	perms := sc.alike()
	visited := map[[2]uint64]struct{}{}
	fences := map[stick.Turn]bool{}
	mark := func(w *world) bool {
		k := sc.key(w, perms)
		f := fnv.New64a()
		f.Write(k[:])
		id := [2]uint64{maphash.Bytes(seed, k[:]), f.Sum64()}
		if _, ok := visited[id]; ok {
			return false
		}

		visited[id] = struct{}{}
		return true
	}

	steps := []step{{-1, act{}}}
	type entry struct {
		world world
		id    int32
	}

	first := sc.normal(sc.start())
	mark(&first)
	level := []entry{{first, 0}}
	fail := func(id int32, last *act, what string) {
		found.broken = what
		if last != nil {
			found.trace = append(found.trace, last.String())
		}

		for ; id > 0; id = steps[id].from {
			found.trace = append(found.trace, steps[id].act.String())
		}

		slices.Reverse(found.trace)
	}

	for len(level) > 0 {
		var next []entry
		for n := range level {
			e := &level[n]
			found.states++
			if bad := sc.checkState(&e.world); bad != "" {
				fail(e.id, nil, bad)
				return
			}

			// A fence looks at nothing but the turn.
			if t := e.world.room.Turn; !fences[t] {
				fences[t] = true
				if bad := e.world.checkFence(); bad != "" {
					fail(e.id, nil, bad)
					return
				}
			}

			waited, bad := sc.checkLive(e.world)
			if bad != "" {
				fail(e.id, nil, bad)
				return
			}

			found.longest = max(found.longest, waited/unit)
			for _, a := range sc.actsIn(&e.world) {
				to, o := sc.do(e.world, a)
				if o == nil {
					continue
				}

				if bad := sc.checkStep(&e.world, &to, a, o); bad != "" {
					fail(e.id, &a, bad)
					return
				}

				found.transitions++
				norm := sc.normal(to)
				if !mark(&norm) {
					continue
				}

				if len(steps)%64 == 0 {
					if bad := sc.sound(&to, &norm, perms); bad != "" {
						fail(e.id, &a, bad)
						return
					}
				}

				steps = append(steps, step{e.id, a})
				next = append(next, entry{norm, int32(len(steps) - 1)})
			}

			e.world = world{}
		}

		level = next
		if len(steps) > limit {
			found.unfinished = true
			return
		}
	}

	return
}

// sound checks that a world and its representative behave alike: the same acts lead to the same worlds. If it
// fails, the exploration is wrong, not the rules.
func (sc *scenario) sound(raw, norm *world, perms [][crowd]int) string {
	a, b := sc.actsIn(raw), sc.actsIn(norm)
	if !slices.Equal(a, b) {
		return fmt.Sprintf("the representative has other acts: %v, %v", a, b)
	}
	for _, x := range a {
		u, _ := sc.do(*raw, x)
		v, _ := sc.do(*norm, x)
		u, v = sc.normal(u), sc.normal(v)
		if k, l := sc.key(&u, perms), sc.key(&v, perms); k != l {
			return fmt.Sprintf("the representative goes elsewhere on %s:\n%v\n%v", x, k, l)
		}
	}
	return ""
}
