package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// fakeProcess is a process of a machine that is made of data.
type fakeProcess struct {
	pid, ppid int
	comm      string
	args      string // words; empty for comm alone
	tty       int    // the device of its terminal; 0 for none
	dir       string
	start     int
	state     string
}

// fakeMachine is such a machine, seen by the process self.
func fakeMachine(self int, all ...fakeProcess) *proc.Table {
	m := fstest.MapFS{}
	for _, p := range append(all, fakeProcess{pid: 1, comm: "init", start: 1}) {
		if p.state == "" {
			p.state = "S"
		}
		if p.start == 0 {
			p.start = p.pid
		}
		if p.args == "" {
			p.args = p.comm
		}
		stat := &fstest.MapFile{Data: fmt.Appendf(nil, "%d (%s) %s %d %d %d %d -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", p.pid, p.comm, p.state, p.ppid, p.pid, p.pid, p.tty, p.start)}
		name := fmt.Sprint(p.pid)
		m[name+"/stat"], m[name+"/comm"] = stat, &fstest.MapFile{Data: []byte(p.comm + "\n")}
		m[name+"/cmdline"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(p.args, " ", "\x00") + "\x00")}
		if p.dir != "" && p.state != "Z" {
			m[name+"/cwd"] = &fstest.MapFile{Data: []byte(p.dir), Mode: os.ModeSymlink}
		}
		if p.pid == self {
			m["self/stat"] = stat
		}
	}
	return &proc.Table{FS: m, World: proc.World{Boot: "b", PIDNS: "n"}, Initial: true, OneHost: true, Signal: func(int) error { return syscall.ESRCH }}
}

// TestSessionStartsByData: what a session start comes to on machines that are made of data: alone or not,
// with the context file of an earlier primary or without it, and with everything that can have become
// of that one.
func TestSessionStartsByData(t *testing.T) {
	const before, me, tt = 500, 800, 801
	type machine func(work string) *proc.Table
	mine := func(work string, others ...fakeProcess) *proc.Table {
		return fakeMachine(tt, append(others, fakeProcess{pid: me, ppid: 1, comm: "codex", dir: work}, fakeProcess{pid: tt, ppid: me, comm: "tt", dir: work})...)
	}
	fresh, recovered, helped := "primary fresh", "primary recover", "helper helper"
	for _, c := range []struct {
		name            string
		led             bool // an earlier primary started here
		ended           bool // and ended its session
		see             machine
		without, anchor string // what becomes of the start, without and with the context file
		others          int
	}{
		{"nobody before", false, false, func(w string) *proc.Table { return mine(w) }, "", "", 0},
		{"nobody before, somebody is there and began later", false, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: 900, ppid: 1, comm: "claude", dir: w + "/sub dir\n"})
		}, fresh, recovered, 1},
		{"nobody before, somebody is there and began earlier", false, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: 600, ppid: 1, comm: "claude", dir: w})
		}, helped, helped, 1},
		{"at the same instant, with a smaller pid", false, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: 600, ppid: 1, comm: "claude", dir: w, start: me})
		}, helped, helped, 1},
		{"blind, nobody known", false, false, func(w string) *proc.Table {
			p := mine(w, fakeProcess{pid: 600, ppid: 1, comm: "claude", dir: w})
			p.Initial = false
			return p
		}, "", "", 0},
		{"crashed", true, false, func(w string) *proc.Table { return mine(w) }, fresh, recovered, 0},
		{"crashed, and is a zombie", true, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: before, ppid: 1, comm: "claude", dir: w, state: "Z"})
		}, fresh, recovered, 0},
		{"crashed, and its pid is an editor's", true, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: before, ppid: 1, comm: "vim", dir: w, start: 700})
		}, fresh, recovered, 0},
		{"crashed, and its pid is a later agent's", true, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: before, ppid: 1, comm: "claude", dir: w, start: 900})
		}, fresh, recovered, 1},
		{"live", true, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: before, ppid: 1, comm: "claude", dir: w})
		}, helped, helped, 1},
		{"live, in a directory that was deleted", true, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: before, ppid: 1, comm: "claude", dir: w + "/gone (deleted)"})
		}, helped, helped, 1},
		{"live, renamed", true, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: before, ppid: 1, comm: "not-a-harness", dir: w})
		}, helped, helped, 1},
		{"live, and works elsewhere now", true, false, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: before, ppid: 1, comm: "claude", dir: "/"})
		}, helped, helped, 1},
		{"hidden: the kernel knows its pid, and /proc doesn't show it", true, false, func(w string) *proc.Table {
			p := mine(w)
			p.Signal = func(int) error { return syscall.EPERM }
			return p
		}, helped, helped, 1},
		{"remote: I am in another pid namespace", true, false, func(w string) *proc.Table {
			p := mine(w)
			p.World.PIDNS, p.Initial = "inner", false
			return p
		}, helped, helped, 1},
		{"ended, and its process is gone", true, true, func(w string) *proc.Table { return mine(w) }, fresh, fresh, 0},
		{"ended, and its process lives", true, true, func(w string) *proc.Table {
			return mine(w, fakeProcess{pid: before, ppid: 1, comm: "claude", dir: w})
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
				at := engine.HookParams{Where: engine.Where{Path: work}}
				on := func(p *proc.Table) *engine.Engine {
					e := engine.New(engine.Config{Dir: data, Procs: p, Workspace: workspace.Env{Dir: work, Home: dir}})
					t.Cleanup(func() { e.Close() })
					return e
				}
				if c.led {
					e := on(fakeMachine(before+1, fakeProcess{pid: before, ppid: 1, comm: "claude", dir: work}, fakeProcess{pid: before + 1, ppid: before, comm: "tt", dir: work}))
					at.Caller = harness.Found{Harness: "claude", SessionID: "one", Process: stick.Process{Boot: "b", PIDNS: "n", PID: before, Start: before}, Proof: stick.ProvesSession}
					if _, err := e.JoinPath(t.Context(), engine.JoinPathParams{Caller: at.Caller, Path: work}); err != nil {
						t.Fatal(err)
					}
					if res, err := e.StartSession(t.Context(), engine.StartSessionParams{HookParams: at}); err != nil || res.Role != stick.RolePrimary {
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
						if _, err := e.EndSession(t.Context(), engine.EndSessionParams{HookParams: at, Why: "other"}); err != nil {
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
				at.Caller = harness.Found{Harness: "codex", SessionID: "two", Process: stick.Process{Boot: p.World.Boot, PIDNS: p.World.PIDNS, PID: me, Start: me}, Proof: stick.ProvesSession}
				res, err := e.StartSession(t.Context(), engine.StartSessionParams{HookParams: at, Auto: true})
				if err != nil {
					t.Fatal(err)
				}
				want := c.without
				if anchor {
					want = c.anchor
				}
				if got := strings.TrimSpace(fmt.Sprintf("%s %s", res.Role, res.Start)); got != want || len(res.Others) != c.others || res.Alone != (c.others == 0) {
					t.Errorf("%q, others %+v, alone %v; want %q and %d", got, res.Others, res.Alone, want, c.others)
				}
				if want == "" {
					if _, err := os.Stat(data); !os.IsNotExist(err) {
						t.Errorf("something was written: %v", err)
					}
					return
				}
				found, err := e.Doctor(t.Context(), engine.DoctorParams{})
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
