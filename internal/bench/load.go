//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// readRoom returns what an agent that isn't a member sees of the place's room.
func (p place) readRoom(e *engine.Engine) (engine.GetRoomStateResult, error) {
	return e.GetRoomState(context.Background(), engine.GetRoomStateParams{Caller: callerNamed("bench:viewer")})
}

// roomState returns the state of the place's room.
func (p place) roomState(e *engine.Engine) (stick.RoomState, error) {
	s, err := p.readRoom(e)
	return s.State, err
}

// workerCount is how many long-lived processes share a room.
const workerCount = 8

// tally is what a worker did.
type tally struct {
	Turns int `json:"turns"`
	Asks  int `json:"asks"`
	Busy  int `json:"busy"` // answers that the database was busy
}

// politePause is how long the polite loop rests after a try that failed.
const politePause = 10 * time.Millisecond

// playTurner is a long-lived worker that loops until its time is over. In the parts "try" and "polite" it
// asks without blocking, in "wait" it waits for its turn.
func playTurner(part string) error {
	span, err := time.ParseDuration(os.Getenv(spanEnv))
	if err != nil {
		return err
	}

	room := os.Getenv(roomEnv)
	p := place{
		b:        &bench{dir: filepath.Dir(room)},
		data:     os.Getenv("TALKING_STICK_DATA_DIR"),
		dir:      room,
		database: os.Getenv("TALKING_STICK_DATABASE_URL"),
	}
	e := p.openEngine()

	me := callerNamed(os.Getenv(agentEnv))

	joined, err := e.JoinPath(context.Background(), engine.JoinPathParams{Caller: me})
	if err != nil {
		return err
	}

	// A long-lived client names its room by its id.
	here := core.Where{RoomID: joined.RoomID}

	fmt.Println("ready")

	// All start together.
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()

	// In the part "wait" the limit of the time ends the last wait.
	ask := engine.WaitForTurnParams{Caller: me, Where: here}
	if part != "wait" {
		ask.MaxWaitMS = new(int64)
	}

	var t tally
	for ctx.Err() == nil {
		t.Asks++
		got, err := e.WaitForTurn(ctx, ask)
		if err == nil && got.Status == stick.YourTurn {
			_, err = e.ReleaseStick(context.Background(), engine.ReleaseStickParams{
				Caller: me, Where: here, Fence: engine.Fence{Turn: got.TurnID, Lease: got.LeaseID},
				Handoff: stick.Handoff{
					Status:     "had turn " + strconv.FormatInt(got.TurnID, 10),
					NextAction: "have the next one",
				},
			})
			if err == nil {
				t.Turns++
			}
		} else if part == "polite" {
			time.Sleep(politePause)
		}

		switch code := stick.CodeOf(err); {
		case code == "", code == stick.CodeCanceled, ctx.Err() != nil:
			// The end of the measurement may have cut it off.
		case code == stick.CodeDatabaseBusy:
			t.Busy++
		default:
			return err
		}
	}

	return json.NewEncoder(os.Stdout).Encode(t)
}

// measureTurns measures how many turns a second a room can have.
func (b *bench) measureTurns() error {
	for _, loop := range []struct {
		part, what string
		goal       float64
	}{
		{
			"polite",
			"8 long-lived processes in one room, loops of try + release, 10 ms of rest after a failed try", 1000,
		},
		{"try", "the same without rest: eight processes compete for the cores", 0},
		{"wait", "8 long-lived processes in one room, fair hand-over through waits", 300},
	} {
		alone, _, err := b.runTurnLoops(loop.part, 1, 2*time.Second)
		if err != nil {
			return fmt.Errorf("%s: %w", loop.part, err)
		}

		total, each, err := b.runTurnLoops(loop.part, workerCount, time.Duration(b.sampleCount(10, 4))*time.Second)
		if err != nil {
			return fmt.Errorf("%s: %w", loop.part, err)
		}

		total["turns/s of one process alone"] = alone["turns/s"]
		goal := fmt.Sprintf("≥ %.0f turns/s, no busy error", loop.goal)
		if loop.goal == 0 {
			goal = "none; no busy error"
		}

		b.addRow(row{
			What: loop.what,
			Goal: goal,
			Measured: fmt.Sprintf("%.0f turns/s, %d busy errors; a process had %.0f to %.0f %% of the turns",
				total["turns/s"], int(total["busy errors"]), 100*quantile(each, 0), 100*quantile(each, 1)),
			Met:     total["turns/s"] >= loop.goal && total["busy errors"] == 0,
			Figures: total,
			Samples: series{"share of a process": each},
			Notes: []string{fmt.Sprintf("loops of %s: each turn took %.1f asks and %.2f ms of processor time; "+
				"the eight processes used %.2f cores; one process alone makes %.0f turns/s",
				map[string]string{
					"try": "try + release without a pause", "polite": "try + release with a pause", "wait": "waits",
				}[loop.part],
				total["asks"]/max(total["turns"], 1), 1000*total["cores"]/max(total["turns/s"], 1),
				total["cores"], alone["turns/s"])},
		})
	}

	return nil
}

// addTally adds what another worker did.
func (t *tally) addTally(u tally) {
	t.Turns, t.Asks, t.Busy = t.Turns+u.Turns, t.Asks+u.Asks, t.Busy+u.Busy
}

// runWorkers runs a worker in each place for a time. cores is how many processors they used.
func runWorkers(places []place, part string, span time.Duration) (all []tally, cores float64, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}

	results := make([]*json.Decoder, len(places))
	running := make([]*exec.Cmd, len(places))
	starters := make([]func() error, len(places))
	for i, p := range places {
		c, in, out, err := p.startPart(program, part, agentEnv+"=bench:w"+strconv.Itoa(i), spanEnv+"="+span.String())
		if err != nil {
			return nil, 0, err
		}
		running[i], results[i] = c, json.NewDecoder(out)
		starters[i] = func() error { _, err := in.Write([]byte("go\n")); return err }
	}

	// All have joined before the first one starts.
	began := time.Now()
	for _, begin := range starters {
		if err := begin(); err != nil {
			return nil, 0, err
		}
	}

	var used time.Duration
	for i, c := range running {
		var t tally

		// A worker that failed has printed no tally: its exit status comes first.
		derr := results[i].Decode(&t)
		if err := c.Wait(); err != nil {
			return nil, 0, err
		}
		if derr != nil {
			return nil, 0, derr
		}

		used += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		all = append(all, t)
	}

	return all, used.Seconds() / time.Since(began).Seconds(), nil
}

// runTurnLoops runs workers in one room for a time.
func (b *bench) runTurnLoops(part string, workers int, span time.Duration) (map[string]float64, []float64, error) {
	p := b.newPlace("")

	all, cores, err := runWorkers(slices.Repeat([]place{p}, workers), part, span)
	if err != nil {
		return nil, nil, err
	}

	var sum tally
	var each []float64
	for _, t := range all {
		sum.addTally(t)
		each = append(each, float64(t.Turns))
	}

	for i := range each {
		each[i] /= float64(max(sum.Turns, 1))
	}

	e := p.openEngine()
	defer e.Close()
	state, err := p.readRoom(e)
	if err != nil {
		return nil, nil, err
	}

	// The end of the time may have cut off the last release, but no other.
	if state.TurnID < int64(sum.Turns) || state.TurnID > int64(sum.Turns)+1 {
		return nil, nil, fmt.Errorf("%d turns were released, but the room is at turn %d",
			sum.Turns, state.TurnID)
	}

	return map[string]float64{
		"turns/s":     float64(sum.Turns) / span.Seconds(),
		"turns":       float64(sum.Turns),
		"asks":        float64(sum.Asks),
		"busy errors": float64(sum.Busy),
		"cores":       cores,
	}, each, nil
}

// idleWaits are blocked waits that nothing wakes.
type idleWaits struct {
	place place
	began time.Time
	cmds  []*exec.Cmd
	pids  []int
}

// killProcesses kills the waits.
func (w *idleWaits) killProcesses() {
	if w == nil {
		return
	}

	for _, c := range w.cmds {
		c.Process.Kill()
	}

	// All are killed before any is waited for, so that they end side by side.
	for _, c := range w.cmds {
		// The error only says that it was killed.
		_ = c.Wait()
	}

	w.cmds = nil
}

// beginIdle starts ten waits that nobody disturbs until the end of the run.
func (b *bench) beginIdle() error {
	b.waits = &idleWaits{place: b.newPlace("")}

	p := b.waits.place
	if err := p.runAs("bench:owner", "wait", "--turn"); err != nil {
		return err
	}

	for i := range 10 {
		c := p.commandAs("bench:w"+strconv.Itoa(i), "wait")

		// A harness reads the output through a pipe, too.
		if _, err := c.StdoutPipe(); err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}

		b.waits.cmds, b.waits.pids = append(b.waits.cmds, c), append(b.waits.pids, c.Process.Pid)
	}

	e := p.openEngine()
	defer e.Close()
	b.waits.began = time.Now()
	return p.awaitListeners(e, 10)
}

// settleTime is how long the slow net under a bell takes to reach a minute. It doubles from two seconds.
const settleTime = 75 * time.Second

// sleepUntilSettled sleeps until the waits that began at a time have settled, and returns how long to measure
// them.
func (b *bench) sleepUntilSettled(began time.Time) time.Duration {
	if b.quick {
		time.Sleep(time.Until(began.Add(5 * time.Second)))
		return 10 * time.Second
	}

	// A wait's net is slowest from here on.
	time.Sleep(time.Until(began.Add(settleTime)))
	return 60 * time.Second
}

// measureIdleWaits measures the ten waits.
func (b *bench) measureIdleWaits() error {
	defer b.waits.killProcesses()

	pids := b.waits.pids
	window := b.sleepUntilSettled(b.waits.began)
	before := cpuTimes(pids)
	time.Sleep(window)
	used := cpuTimes(pids) - before
	share := 100 * used.Seconds() / window.Seconds()

	b.addRow(row{
		What: "CPU of 10 idle waits, settled",
		Goal: "< 0.05 % of a core",
		Measured: fmt.Sprintf("%.3f %% of a core (%.1f ms in %.0f s)",
			share, float64(used.Microseconds())/1000, window.Seconds()),
		Met:       share < 0.05,
		Unsettled: b.quick,
		Figures:   map[string]float64{"percent of a core": share, "seconds": window.Seconds()},
	})

	s := series{}
	for _, pid := range pids {
		for _, name := range []string{"VmRSS", "RssAnon"} {
			s[name] = append(s[name], memoryOf(pid, name))
		}
	}

	guardians := countGuardians(b.tt)

	b.addRow(row{
		What: "memory of a wait",
		Goal: "≤ 12 MB, no guardian",
		Measured: fmt.Sprintf("%.1f MB, of which %.1f MB are private and the rest is the program's file; %d guardians",
			s.p50("VmRSS"), s.p50("RssAnon"), guardians),
		Met: quantile(s["VmRSS"], 1) <= 12 && guardians == 0,
		Figures: map[string]float64{
			"VmRSS MB": s.p50("VmRSS"), "RssAnon MB": s.p50("RssAnon"), "guardians": float64(guardians),
		},
		Samples: s,
	})

	return nil
}

// countGuardians counts the processes of the program that keep a lease in the background.
func countGuardians(tt string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")

	for _, path := range all {
		args := strings.Split(readText(path), "\x00")
		if args[0] == tt && len(args) > 1 && args[1] == "guard" {
			n++
		}
	}

	return n
}
