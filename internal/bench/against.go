//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/stick"
)

// pairs is how often two programs are measured beside each other.
const pairs = 400

// comparePrograms measures the program of this tree beside another one, such as that of an earlier commit.
// Both run in turn, each in a room and a database of its own, and each second pair begins with the other one.
// A row's figure is the median of the ratios of its pairs.
func (b *bench) comparePrograms(other string) ([]row, error) {
	// The other program gets a scratch directory of its own.
	otherBench := *b
	otherBench.dir = filepath.Join(b.dir, "then")
	if err := os.Mkdir(otherBench.dir, 0o700); err != nil {
		return nil, err
	}

	// It lies there as a copy, because ours is one.
	otherBench.tt = filepath.Join(otherBench.dir, "tt")
	if err := copyProgram(otherBench.tt, other); err != nil {
		return nil, err
	}

	both := [2]*bench{b, &otherBench}
	n := b.sampleCount(pairs, 40)

	var rows []row
	for _, measure := range []func([2]*bench, int) (series, error){compareStart, compareHooks, compareWake} {
		s, err := measure(both, n)
		if err != nil {
			return nil, err
		}
		rows = append(rows, ratioRows(s)...)
	}

	return rows, nil
}

// The names of a row's samples end with these.
const (
	nowSuffix  = ", now"
	thenSuffix = ", then"
)

var suffixes = [2]string{nowSuffix, thenSuffix}

// ratioRows makes a row of each two series of pairs.
func ratioRows(s series) (rows []row) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		what, ok := strings.CutSuffix(name, nowSuffix)
		if !ok {
			continue
		}

		var ratio []float64
		for i, took := range s[name] {
			ratio = append(ratio, took/s[what+thenSuffix][i])
		}
		median, low, high := medianInterval(ratio)

		rows = append(rows, row{
			What: what,
			Goal: "95 % interval of the ratio ends at 1.03 or below",
			Met:  high <= 1.03,
			Measured: fmt.Sprintf("%.3f × (%.3f to %.3f), %d pairs: %s, then %s",
				median, low, high, len(ratio), s.formatTimes(name), s.formatTimes(what+thenSuffix)),
			Figures: map[string]float64{"ratio": median, "low": low, "high": high},
			Samples: map[string][]float64{"now": s[name], "then": s[what+thenSuffix]},
		})
	}
	return rows
}

func compareStart(both [2]*bench, n int) (series, error) {
	var places [2]place
	for i, b := range both {
		places[i] = b.newPlace("")
		for _, agent := range []string{"bench:one", "bench:two"} {
			if err := places[i].runAs(agent, "join"); err != nil {
				return nil, err
			}
		}

		if err := places[i].runAs("bench:one", "wait"); err != nil {
			return nil, err
		}
	}

	s := series{}
	for round := range n + 10 {
		for _, args := range [][]string{{"whoami", "--json"}, {"state", "--json"}} {
			for _, i := range alternate([]int{0, 1}, round) {
				took, err := timeCommand(places[i].command(both[i].tt, args...), 0)
				if err != nil {
					return nil, err
				}

				// The first ten rounds warm up the caches of both programs.
				if round >= 10 {
					s.addSample("`tt "+strings.Join(args, " ")+"`, whole process"+suffixes[i], took)
				}
			}
		}
	}

	return s, nil
}

func compareHooks(both [2]*bench, n int) (series, error) {
	var first place
	plan := hookPlan{Warm: 10, Rounds: n}
	for i, b := range both {
		p := b.newPlace("")
		if i == 0 {
			first = p
		}

		if err := p.fillHookRoom(); err != nil {
			return nil, err
		}

		env := []string{"TALKING_STICK_DATA_DIR=" + p.data}
		plan.Setup = append(plan.Setup, hookVariant{
			Name: "join",
			Args: []string{b.tt, "join"},
			Dir:  p.dir,
			Env:  env,
		})

		for _, v := range [][2]string{
			{"hook after a tool call, nothing new", "PostToolUse"},
			{"hook before an edit, denied", "PreToolUse"},
			{"hook when a session starts", "SessionStart"},
		} {
			plan.Variants = append(plan.Variants, hookVariant{
				Name:  v[0] + ", whole process" + suffixes[i],
				Args:  []string{b.tt, "hook", "claude"},
				Dir:   p.dir,
				Env:   env,
				Stdin: b.hookInput(v[1], p.dir),
			})
		}
	}

	ordered := plan.Variants
	plan.Variants = nil

	// The two variants of a pair run one after the other.
	for i := range len(ordered) / 2 {
		plan.Variants = append(plan.Variants, ordered[i], ordered[i+len(ordered)/2])
	}

	return first.runHookPlan(plan)
}

func compareWake(both [2]*bench, n int) (series, error) {
	var places [2]place
	var holder, other [2]string
	for i, b := range both {
		places[i] = b.newPlace("")
		holder[i], other[i] = "bench:one", "bench:two"
		if err := places[i].runAs(holder[i], "wait", "--turn"); err != nil {
			return nil, err
		}
	}

	s := series{}
	for round := range n + 10 {
		for _, i := range alternate([]int{0, 1}, round) {
			waiter := places[i].commandAs(other[i], "wait", "--turn")
			began, released, woken, err := places[i].handOver(holder[i], waiter, places[i].awaitListenerByState)
			if err != nil {
				return nil, err
			}

			// The roles change, so that each agent waits as often as it releases.
			holder[i], other[i] = other[i], holder[i]

			if round >= 10 {
				s.addSample("`tt release` starts → the woken `tt wait` has exited"+suffixes[i], woken.Sub(began))
				s.addSample("`tt release`, whole process, while it wakes another"+suffixes[i], released.Sub(began))
			}
		}
	}

	return s, nil
}

// awaitListenerByState waits until a member of the place's room waits for work, as the place's own program
// says it. The program of this tree can't read every database of another one.
func (p place) awaitListenerByState() error {
	deadline := time.Now().Add(giveUpAfter)
	for time.Now().Before(deadline) {
		out, err := p.commandAs("bench:viewer", "state", "--json").Output()
		if err != nil {
			return err
		}
		var state struct {
			Members []struct {
				Listening stick.Purpose `json:"listening"`
			} `json:"members"`
		}

		if err := json.Unmarshal(out, &state); err != nil {
			return err
		}

		for _, m := range state.Members {
			if m.Listening == stick.Work {
				return nil
			}
		}

		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("a wait should block, but doesn't")
}
