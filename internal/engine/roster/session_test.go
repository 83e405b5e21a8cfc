package roster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/proc/proctest"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// isAlone reports whether a start says that its session is alone, or isn't. A blind one outside of rooms
// can't say either.
func isAlone(res roster.StartSessionResult, want bool) bool {
	if res.Blind && res.RoomID == "" {
		return res.Alone == nil
	}
	return res.Alone != nil && *res.Alone == want
}

// TestSessionStartsByData: how a session starts, on machines that exist only as data. The agent is alone or
// not, there is a context file or not, and an earlier primary ended, crashed, lives, or can't be seen.
func TestSessionStartsByData(t *testing.T) {
	const before, me, tt = 500, 800, 801
	type machine func(work string) *proc.Table
	mine := func(work string, others ...proctest.Process) *proc.Table {
		return proctest.Machine(tt, append(others, proctest.Process{PID: me, PPID: 1, Comm: "codex", Dir: work}, proctest.Process{PID: tt, PPID: me, Comm: "tt", Dir: work})...)
	}
	fresh, recovered, helped := "primary fresh", "primary recover", "helper helper"
	for _, c := range []struct {
		name            string
		led             bool // an earlier primary started here
		ended           bool // and ended its session
		see             machine
		without, anchor string // the role and the kind of start, without and with a context file; empty if nothing was written
		others          int    // how many other agents the start reports
	}{
		{"nobody before", false, false, func(w string) *proc.Table { return mine(w) }, "", "", 0},
		{"nobody before, somebody is there and began later", false, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: 900, PPID: 1, Comm: "claude", Dir: w + "/sub dir\n"})
		}, fresh, recovered, 1},
		{"nobody before, somebody is there and began earlier", false, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: 600, PPID: 1, Comm: "claude", Dir: w})
		}, helped, helped, 1},
		{"at the same instant, with a smaller pid", false, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: 600, PPID: 1, Comm: "claude", Dir: w, Start: me})
		}, helped, helped, 1},
		{"blind, nobody known", false, false, func(w string) *proc.Table {
			p := mine(w, proctest.Process{PID: 600, PPID: 1, Comm: "claude", Dir: w})
			p.Initial = false
			return p
		}, "", "", 0},
		{"crashed", true, false, func(w string) *proc.Table { return mine(w) }, fresh, recovered, 0},
		{"crashed, and is a zombie", true, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: before, PPID: 1, Comm: "claude", Dir: w, State: "Z"})
		}, fresh, recovered, 0},
		{"crashed, and its pid is an editor's", true, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: before, PPID: 1, Comm: "vim", Dir: w, Start: 700})
		}, fresh, recovered, 0},
		{"crashed, and its pid is a later agent's", true, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: before, PPID: 1, Comm: "claude", Dir: w, Start: 900})
		}, fresh, recovered, 1},
		{"live", true, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: before, PPID: 1, Comm: "claude", Dir: w})
		}, helped, helped, 1},
		{"live, in a directory that was deleted", true, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: before, PPID: 1, Comm: "claude", Dir: w + "/gone (deleted)"})
		}, helped, helped, 1},
		{"live, renamed", true, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: before, PPID: 1, Comm: "not-a-harness", Dir: w})
		}, helped, helped, 1},
		{"live, and works elsewhere now", true, false, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: before, PPID: 1, Comm: "claude", Dir: "/"})
		}, helped, helped, 1},
		{"hidden: the kernel knows its pid, and /proc doesn't show it", true, false, func(w string) *proc.Table {
			p := mine(w)
			p.Signal = func(int) error { return syscall.EPERM }
			return p
		}, helped, helped, 1},
		{"remote: I am in another pid namespace", true, false, func(w string) *proc.Table {
			p := mine(w)
			p.PIDSpace.PIDNS, p.Initial = "inner", false
			return p
		}, helped, helped, 1},
		{"ended, and its process is gone", true, true, func(w string) *proc.Table { return mine(w) }, fresh, fresh, 0},
		{"ended, and its process lives", true, true, func(w string) *proc.Table {
			return mine(w, proctest.Process{PID: before, PPID: 1, Comm: "claude", Dir: w})
		}, fresh, fresh, 1},
	} {
		for _, anchor := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, context file %v", c.name, anchor), func(t *testing.T) {
				dir, err := filepath.EvalSymlinks(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				work, data := filepath.Join(dir, "work"), filepath.Join(dir, "data")
				file := filepath.Join(work, ".talking-stick", "session.md")
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				at := core.HookParams{Where: core.Where{Path: work}}
				on := func(p *proc.Table) *engine.Engine {
					e := engine.New(engine.Config{Kernel: core.New(core.Config{Dir: data, Procs: p, Workspace: workspace.Env{Dir: work, Home: dir}})})
					t.Cleanup(func() { e.Close() })
					return e
				}
				if c.led {
					e := on(proctest.Machine(before+1, proctest.Process{PID: before, PPID: 1, Comm: "claude", Dir: work}, proctest.Process{PID: before + 1, PPID: before, Comm: "tt", Dir: work}))
					at.Caller = harness.Caller{Harness: "claude", SessionID: "one", Process: stick.Process{Boot: "b", PIDNS: "n", PID: before, Start: before}, Proof: stick.ProvesSession}
					if _, err := e.JoinPath(t.Context(), engine.JoinPathParams{Caller: at.Caller, Path: work}); err != nil {
						t.Fatal(err)
					}
					if res, err := e.Roster.StartSession(t.Context(), roster.StartSessionParams{HookParams: at}); err != nil || res.Role != stick.RolePrimary {
						t.Fatalf("the one before: %+v, %v", res, err)
					}
					if c.ended {
						if err := os.WriteFile(file, []byte("what it knows\nand more\n"), 0o644); err != nil {
							t.Fatal(err)
						}
						earlier := time.Now().Add(-time.Second)
						if err := os.Chtimes(file, earlier, earlier); err != nil {
							t.Fatal(err)
						}
						if _, err := e.Roster.EndSession(t.Context(), roster.EndSessionParams{HookParams: at, Why: "other"}); err != nil {
							t.Fatal(err)
						}
					}
				}
				switch {
				case !anchor:
					os.Remove(file)
				case !c.led:
					if err := os.WriteFile(file, []byte("what an earlier one knew\n"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				p := c.see(work)
				e := on(p)
				at.Caller = harness.Caller{Harness: "codex", SessionID: "two", Process: stick.Process{Boot: p.PIDSpace.Boot, PIDNS: p.PIDSpace.PIDNS, PID: me, Start: me}, Proof: stick.ProvesSession}
				res, err := e.Roster.StartSession(t.Context(), roster.StartSessionParams{HookParams: at, Auto: true})
				if err != nil {
					t.Fatal(err)
				}
				want := c.without
				if anchor {
					want = c.anchor
				}
				if got := strings.TrimSpace(fmt.Sprintf("%s %s", res.Role, res.Start)); got != want || len(res.Others) != c.others || !isAlone(res, c.others == 0) {
					t.Errorf("%q, others %+v, alone %v; want %q and %d", got, res.Others, res.Alone, want, c.others)
				}
				if want == "" {
					if _, err := os.Stat(data); !os.IsNotExist(err) {
						t.Errorf("something was written: %v", err)
					}
					return
				}
				found, err := e.Upkeep.Doctor(t.Context(), upkeep.DoctorParams{})
				if err != nil || !found.Healthy {
					t.Errorf("the doctor found %+v (%v)", found.Findings, err)
				}
				if res.Recovered != nil != (want == recovered) {
					t.Errorf("recovered: %+v", res.Recovered)
				}
			})
		}
	}
}
