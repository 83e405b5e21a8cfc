package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
)

// runs is what is known of a task's command.
type runs struct {
	State string `json:"state"`
	Run   *struct {
		Run   int    `json:"run"`
		State string `json:"state"`
		PID   int    `json:"pid"`
		Exit  *int   `json:"exit"`
	} `json:"run"`
	NextAction string `json:"next_action"`
}

func (f *farm) runs() (s runs) {
	f.Helper()
	r := f.ok("claude:boss", "worker", "show", "x", "--json")
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		f.Fatal(err)
	}
	return s
}

// alive lists the commands that have started and still run. Each has written its process.
func (f *farm) alive() (alive []int, started int) {
	f.Helper()
	b, err := os.ReadFile(filepath.Join(f.base, "pids"))
	if err != nil && !os.IsNotExist(err) {
		f.Fatal(err)
	}

	for _, line := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			f.Fatal(err)
		}
		started++
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil &&
			!strings.Contains(string(stat), ") Z ") {
			alive = append(alive, pid)
		}
	}

	return alive, started
}

// settles waits until the run neither is about to start nor about to end.
func (f *farm) settles(long bool) runs {
	f.Helper()
	for range 2000 { // each look takes longer than a step of a run
		s := f.runs()
		alive, _ := f.alive()
		switch {
		case s.Run == nil, s.Run.State == "ended", s.Run.State == "lost":
			return s
		case s.Run.State == "running" && long && len(alive) == 1:
			return s
		}
	}

	f.Fatalf("it never settles: %+v", f.runs().Run)
	return runs{}
}

// TestKilledRuns kills the processes of tt task run at every point that they pass: the command itself, and
// the process that attends to the worker. Nothing is started twice, what was printed until then can be read,
// and afterwards the run can be stopped and started again.
func TestKilledRuns(t *testing.T) {
	storetest.SkipQuick(t, "tt task run, killed")
	testenv.Leaves(t, testenv.Every, "six of seven points at which it is killed")

	for _, c := range []struct {
		name, command string
		long          bool
	}{
		{"a command that ends", "echo $$ >>%s; echo printed; exit 3", false},
		{"a command that runs on", "echo printed; echo $$ >>%s; exec sleep 600", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			f.ok("claude:boss", "worker", "init")
			f.ok("claude:boss", "worker", "spawn", "x")
			f.save()
			args := []string{"tt", "worker", "run", "x", "--", fmt.Sprintf(c.command, filepath.Join(f.base, "pids"))}
			as := "TT_HARNESS_AGENT_ID=claude:boss"
			list := filepath.Join(f.base, "points")
			if r := f.run(f.dir, []string{as, clitest.Points + "=" + list}, args...); r.exit != 0 {
				t.Fatalf("%d %s%s", r.exit, r.out, r.err)
			}

			f.settles(c.long)
			f.ok("claude:boss", "worker", "stop", "x")
			points := pointsIn(t, list)
			for i, point := range points {
				if !testenv.KillsAt(i) {
					continue
				}

				t.Run(point, func(t *testing.T) {
					f := &farm{T: t, base: f.base, dir: f.dir, env: f.env}
					f.restore()
					t.Cleanup(f.endAll)
					f.run(f.dir, []string{as, clitest.Kill + "=" + point}, args...)
					s := f.settles(c.long)
					alive, started := f.alive()
					if s.Run != nil && s.Run.State == "running" && len(alive) != 1 ||
						s.Run != nil && s.Run.State == "ended" && len(alive) > 0 ||
						started > 1 {
						t.Errorf("of %d commands %v run: %+v", started, alive, s.Run)
					}

					if started == 1 && s.Run != nil {
						// The process that reads the command's pipe may be killed only now. What it hasn't
						// read is gone with it.
						if out := f.output(); f.runs().Run.State != "lost" && !strings.Contains(out, "printed\n") {
							t.Errorf("the output is %q", out)
						}
					}

					if again := f.run(f.dir, []string{as}, args...); again.exit != 0 {
						if !strings.Contains(again.err, "tt task stop x") || len(alive) != 1 {
							t.Errorf("run again with %v alive: %d %s%s", alive, again.exit, again.out, again.err)
						}
						f.ok("claude:boss", "worker", "stop", "x")
						if alive, _ := f.alive(); len(alive) > 0 {
							t.Errorf("after a stop %v run", alive)
						}
						f.ok("claude:boss", "worker", "run", "x")
					}

					s = f.settles(c.long)
					if alive, now := f.alive(); now != started+1 || c.long != (len(alive) == 1) {
						t.Errorf("of %d commands, %d of which are new, %v run: %+v", now, now-started, alive, s.Run)
					}
					if out := f.output(); !strings.Contains(out, "printed\n") {
						t.Errorf("the output is %q", out)
					}
					f.sound()
				})
			}
		})
	}
}

// output waits until the run shows what its command has printed, or is lost.
func (f *farm) output() (out string) {
	f.Helper()
	for range 500 {
		out = f.ok("claude:boss", "worker", "logs", "x").out
		if strings.Contains(out, "printed\n") || f.runs().Run.State == "lost" {
			break
		}
	}

	return out
}

// TestKilledStops kills tt task stop at every point that it passes, with a worker that is attended to, and
// with one whose own process has died. The same command again ends everything, and records it.
func TestKilledStops(t *testing.T) {
	storetest.SkipQuick(t, "tt task stop, killed")
	testenv.Leaves(t, testenv.Every, "six of seven points at which it is killed")

	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("lost %v", lost), func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			f.ok("claude:boss", "worker", "init")
			f.ok("claude:boss", "worker", "spawn", "x")
			f.save()
			pids := filepath.Join(f.base, "pids")

			// One process leaves its session and its parent behind, and one ignores that it is asked to end.
			command := fmt.Sprintf(
				"setsid sh -c 'setsid sleep 600 & echo $! >>%[1]s'; sh -c 'trap : TERM; while :; do sleep 600; done' & echo $! >>%[1]s; echo $$ >>%[1]s; wait; wait",
				pids,
			)
			start := func(f *farm) {
				f.ok("claude:boss", "worker", "run", "x", "--", command)
				for range 2000 {
					if alive, _ := f.alive(); len(alive) == 3 {
						break
					}
					f.runs()
				}

				if lost {
					s := f.runs()
					if err := syscall.Kill(s.Run.PID, syscall.SIGKILL); err != nil {
						f.Fatal(err)
					}
					if s := f.settles(false); s.Run.State != "lost" {
						f.Fatalf("the run is %+v", s.Run)
					}
				}
			}

			stop, as := []string{"tt", "worker", "stop", "x"}, "TT_HARNESS_AGENT_ID=claude:boss"
			f.env = append(f.env, clitest.StopGrace+"=300ms")
			start(f)
			list := filepath.Join(f.base, "points")
			if r := f.run(f.dir, []string{as, clitest.Points + "=" + list}, stop...); r.exit != 0 {
				t.Fatalf("%d %s%s", r.exit, r.out, r.err)
			}

			for i, point := range pointsIn(t, list) {
				if !testenv.KillsAt(i) {
					continue
				}

				t.Run(point, func(t *testing.T) {
					f := &farm{T: t, base: f.base, dir: f.dir, env: f.env}
					f.restore()
					t.Cleanup(f.endAll)
					start(f)
					if r := f.run(f.dir, []string{as, clitest.Kill + "=" + point}, stop...); r.exit != 137 {
						t.Fatalf("it wasn't killed: %d %s%s", r.exit, r.out, r.err)
					}
					if r := f.run(f.dir, []string{as}, stop...); r.exit != 0 {
						t.Errorf("%d %s%s", r.exit, r.out, r.err)
					}

					s := f.runs()
					if alive, n := f.alive(); len(alive) > 0 || n != 3 {
						t.Errorf("of %d processes %v still run", n, alive)
					}
					if s.Run == nil ||
						s.Run.State != "ended" ||
						s.State != "ASSIGNED" ||
						!strings.Contains(s.NextAction, "tt task run x") {
						t.Errorf("the run is %+v of %+v", s.Run, s)
					}
					f.sound()
				})
			}
		})
	}
}

// TestStopOfAStoppedRunner: the process that attends to a worker is stopped by a signal, and its command,
// too. Both are ended all the same, and the end is recorded.
func TestStopOfAStoppedRunner(t *testing.T) {
	f := newFarm(t)
	f.ok("claude:boss", "worker", "init")
	t.Cleanup(f.endAll)
	f.ok("claude:boss", "worker", "spawn", "x", "--run",
		fmt.Sprintf("echo $$ >>%s; exec sleep 600", filepath.Join(f.base, "pids")))
	s := f.settles(true)

	alive, _ := f.alive()
	for _, pid := range []int{s.Run.PID, alive[0]} {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}

	f.ok("claude:boss", "worker", "stop", "x")
	if alive, _ := f.alive(); len(alive) > 0 {
		t.Errorf("%v still run", alive)
	}
	if s := f.runs(); s.Run.State != "ended" || s.Run.Exit == nil || *s.Run.Exit != 128+int(syscall.SIGTERM) {
		t.Errorf("the run is %+v", s.Run)
	}
	f.sound()
}

// TestKilledWaiterOfAReturn: the process that waits for the return of a task is killed. The command doesn't
// start by itself then, and whoever sends the task back is told how to start it.
func TestKilledWaiterOfAReturn(t *testing.T) {
	storetest.SkipQuick(t, "the process that waits for the return of a task, killed")
	f := newFarm(t)
	f.ok("claude:boss", "worker", "init")
	work := "tt task start >/dev/null && echo 1 >>lexer && git add lexer && git commit -q -m lexer && tt task done"
	f.ok("claude:boss", "worker", "spawn", "x", "--restart", "on-return", "--run", work)
	f.settles(false)
	s := f.runs()
	if s.State != "IN_REVIEW" {
		t.Fatalf("%+v", s)
	}

	if err := syscall.Kill(s.Run.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.ok("claude:boss", "worker", "diff", "x")

	for range 2000 {
		if !strings.Contains(f.ok("claude:boss", "worker", "show", "x", "--json").out, `"waits"`) {
			break
		}
	}

	if r := f.ok("claude:boss", "worker", "request-changes", "x", "more"); !strings.Contains(r.out, "x goes on; started run 2: ") {
		t.Errorf("%s", r.out) // who returns the task starts its command, and that goes on to wait
	}
	for s = f.runs(); s.State != "IN_REVIEW" || s.Run.Run != 2 || s.Run.State != "ended"; s = f.runs() {
	}
	f.ok("claude:boss", "worker", "diff", "x")
	if r := f.ok("claude:boss", "worker", "request-changes", "x", "still more"); !strings.Contains(r.out, "start again by itself") {
		t.Errorf("%s", r.out)
	}

	for s = f.runs(); s.State != "IN_REVIEW" || s.Run.Run != 3 || s.Run.State != "ended"; s = f.runs() {
	}
	f.ok("claude:boss", "worker", "cancel", "x")
	f.sound()
}

// pointsIn lists the points of a file, each with how often it had been passed before.
func pointsIn(t *testing.T, list string) (points []string) {
	t.Helper()
	b, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, name := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		times[name]++
		points = append(points, fmt.Sprintf("%s#%d", name, times[name]))
	}

	if len(points) < 5 {
		t.Fatalf("only %q were seen", points)
	}
	return points
}

// endAll ends what a failed test has left.
func (f *farm) endAll() {
	alive, _ := f.alive()
	for _, pid := range alive {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if s := f.tt("claude:boss", "worker", "stop", "x"); s.exit != 0 && s.exit != 3 {
		f.Errorf("%s%s", s.out, s.err)
	}
}
