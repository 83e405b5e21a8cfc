package roster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc/proctest"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// TestRosterOfCarriers: whom the roster lists where processes carry sessions. It never mistakes an agent of
// the scan for another agent that is known to run elsewhere.
func TestRosterOfCarriers(t *testing.T) {
	const (
		daemon = "codex app-server --listen unix://"
		pts    = 34816
	)
	for _, c := range []struct {
		name    string
		agents  []proctest.Process // they work in the workspace, unless they have a directory
		members []int              // pids of agents that start a session first
		self    int                // the pid of the agent that asks
		want    string             // sorted pids, with "known" for members; pid 0 for a member without a process
	}{
		{"two with a port", []proctest.Process{{PID: 10, Comm: "opencode", Args: "opencode --port 4096"}, {PID: 20, Comm: "opencode", Args: "opencode --port 4097"}}, nil, 10, "20 new"},
		{"two with a port, and the younger asks", []proctest.Process{{PID: 10, Comm: "opencode", Args: "opencode --port 4096"}, {PID: 20, Comm: "opencode", Args: "opencode --port 4097"}}, nil, 20, "10 new"},
		{"below an editor", []proctest.Process{{PID: 10, Comm: "opencode", Args: "opencode acp"}, {PID: 20, Comm: "opencode", TTY: pts}}, nil, 10, "20 new"},
		{"one with a port is a member", []proctest.Process{{PID: 10, Comm: "opencode", Args: "opencode --port 4096", TTY: pts}, {PID: 20, Comm: "opencode", TTY: pts}, {PID: 30, Comm: "claude"}}, []int{10}, 30, "10 known, 20 new"},
		{"it asks itself", []proctest.Process{{PID: 10, Comm: "opencode", Args: "opencode --port 4096", TTY: pts}, {PID: 20, Comm: "opencode", TTY: pts}}, []int{10}, 10, "20 new"},
		{"one with a port and somebody at a server's terminal", []proctest.Process{{PID: 10, Comm: "opencode", Args: "opencode --port 4096", TTY: pts}, {PID: 20, Comm: "opencode", Args: "opencode attach http://localhost:1", TTY: pts}, {PID: 30, Comm: "claude"}}, []int{10}, 30, "10 known, 20 new"},
		{"a terminal and its daemon", []proctest.Process{{PID: 10, Comm: "codex", TTY: pts}, {PID: 20, Comm: "codex", Args: daemon, Dir: "/"}}, nil, 20, ""},
		{"a daemon's terminal is the youngest", []proctest.Process{{PID: 10, Comm: "codex", TTY: pts}, {PID: 15, Comm: "codex", TTY: pts}, {PID: 20, Comm: "codex", Args: daemon, Dir: "/"}}, nil, 20, "10 new"},
		{"a terminal and its daemon, seen by another", []proctest.Process{{PID: 10, Comm: "codex", TTY: pts}, {PID: 20, Comm: "codex", Args: daemon, Dir: "/"}, {PID: 30, Comm: "claude"}}, []int{20}, 30, "10 known"},
		{"an editor's server, and somebody's terminal", []proctest.Process{{PID: 10, Comm: "codex", TTY: pts}, {PID: 20, Comm: "codex", Args: "codex app-server"}}, nil, 20, "10 new"},
		{"a server of tools", []proctest.Process{{PID: 10, Comm: "codex", TTY: pts}, {PID: 20, Comm: "codex", Args: "codex mcp-server"}}, nil, 20, "10 new"},
		{"a daemon, and a run without a terminal", []proctest.Process{{PID: 10, Comm: "codex", Args: "codex exec x"}, {PID: 20, Comm: "codex", Args: daemon, Dir: "/"}}, nil, 20, "10 new"},
		{"a daemon, and a run in another terminal", []proctest.Process{{PID: 10, Comm: "codex", Args: "codex exec x", TTY: pts}, {PID: 20, Comm: "codex", Args: daemon, Dir: "/"}}, nil, 20, "10 new"},
		{"a server, and another one's terminal", []proctest.Process{{PID: 10, Comm: "opencode", TTY: pts}, {PID: 20, Comm: "opencode", Args: "opencode serve", Dir: "/"}}, nil, 20, "10 new"},
		{"a server and its terminal", []proctest.Process{{PID: 10, Comm: "opencode", Args: "opencode attach http://localhost:1", TTY: pts}, {PID: 20, Comm: "opencode", Args: "opencode serve", Dir: "/"}}, nil, 20, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			work := filepath.Join(dir, "work")
			mkdir(t, work)
			on := func(pid int) (*engine.Engine, core.HookParams) {
				all := []proctest.Process{{PID: 1000, PPID: pid, Comm: "tt", Dir: work}}
				for _, p := range c.agents {
					if p.PPID = 1; p.Dir == "" {
						p.Dir = work
					}
					all = append(all, p)
				}
				procs := proctest.Machine(1000, all...)
				chain, complete := procs.Ancestry(1000)
				by, err := harness.Resolve(harness.Input{Getenv: func(string) string { return "" }, Chain: chain, Complete: complete, User: "ann", Host: "here"})
				if err != nil || by.Process.PID != pid {
					t.Fatalf("%+v, %v", by, err)
				}
				e := engine.New(engine.Config{Kernel: core.New(core.Config{Dir: filepath.Join(dir, "data"), Procs: procs, Workspace: workspace.Env{Dir: work, Home: dir}})})
				t.Cleanup(func() { e.Close() })
				return e, core.HookParams{Caller: by, Where: core.Where{Path: work}}
			}
			for _, pid := range c.members {
				e, p := on(pid)
				if res, err := e.Roster.StartSession(t.Context(), roster.StartSessionParams{HookParams: p, Helper: true}); err != nil || res.RoomID == "" {
					t.Fatalf("%+v, %v", res, err)
				}
			}
			e, p := on(c.self)
			res, err := e.Roster.GetRoster(t.Context(), roster.GetRosterParams{Caller: p.Caller, Where: p.Where})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range res.Others {
				got = append(got, fmt.Sprintf("%d %s", o.PID, map[bool]string{true: "known", false: "new"}[o.Registered]))
			}
			slices.Sort(got)
			if s := strings.Join(got, ", "); s != c.want || res.Alone == nil || *res.Alone != (c.want == "") {
				t.Errorf("alone %v, others %q, want %q", res.Alone, s, c.want)
			}
			if len(c.members) > 0 {
				return
			}
			// A session that starts there gets the same answer.
			start, err := e.Roster.StartSession(t.Context(), roster.StartSessionParams{HookParams: p, Auto: true})
			if err != nil || start.Alone == nil || *start.Alone != *res.Alone || start.RoomID == "" != *res.Alone {
				t.Errorf("the start of a session: %+v, %v", start, err)
			}
			role := stick.RolePrimary
			if slices.ContainsFunc(res.Others, func(o roster.RosterAgent) bool { return o.PID < c.self }) {
				role = stick.RoleHelper
			}
			if start.RoomID != "" && start.Role != role {
				t.Errorf("it is the %s, want %s", start.Role, role)
			}
		})
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestHookOfAVisitor: a hook starts a session in a newer room only if its agent works there, and not if the
// agent only reads something there.
func TestHookOfAVisitor(t *testing.T) {
	const pid = 10
	for _, c := range []struct {
		name    string
		works   string // the working directory of the agent's process; empty if it isn't visible
		proof   stick.Proof
		running string // where its session runs; empty for nowhere
		sub     bool   // a sub-agent's hook
		want    bool   // the hook starts a session
	}{
		{"it works there", "there", stick.ProvesSession, "", false, true},
		{"below it", "there/sub", stick.ProvesSession, "", false, true},
		{"it works there, and its session runs in another room too", "there", stick.ProvesSession, "home", false, true},
		{"it works elsewhere", "home", stick.ProvesSession, "home", false, false},
		{"it works elsewhere, where there is no room", "home", stick.ProvesSession, "", false, false},
		{"its sub-agent works there", "there", stick.ProvesSession, "", true, false},
		{"nobody can tell", "", stick.ProvesSession, "", false, true},
		{"nobody can tell, and its session runs in another room", "", stick.ProvesSession, "home", false, false},
		{"a daemon's", "home", stick.ProvesCarrier, "", false, true},
		{"a daemon's, and it runs in another room", "there", stick.ProvesCarrier, "home", false, false},
		{"it is there already", "home", stick.ProvesSession, "there", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			there, home := filepath.Join(dir, "there"), filepath.Join(dir, "home")
			mkdir(t, filepath.Join(there, ".git"))
			mkdir(t, filepath.Join(there, "sub"))
			mkdir(t, filepath.Join(home, ".git"))
			agent := proctest.Process{PID: pid, PPID: 1, Comm: "claude"}
			if c.works != "" {
				agent.Dir = filepath.Join(dir, c.works)
			}
			procs := proctest.Machine(1000, agent, proctest.Process{PID: 1000, PPID: pid, Comm: "tt", Dir: there})
			e := engine.New(engine.Config{Kernel: core.New(core.Config{Dir: filepath.Join(dir, "data"), Procs: procs, Workspace: workspace.Env{Dir: there, Home: dir}})})
			t.Cleanup(func() { e.Close() })
			by := core.Caller{Harness: "claude", SessionID: "s", Process: stick.Process{Boot: "b", PIDNS: "n", PID: pid, Start: pid}, Proof: c.proof}
			if _, err := e.JoinPath(t.Context(), engine.JoinPathParams{Caller: core.Caller{Harness: "codex", SessionID: "other"}, Path: there}); err != nil {
				t.Fatal(err)
			}
			if c.running != "" {
				at := core.HookParams{Caller: by, Where: core.Where{Path: filepath.Join(dir, c.running)}}
				if res, err := e.Roster.StartSession(t.Context(), roster.StartSessionParams{HookParams: at, Helper: true}); err != nil || res.RoomID == "" {
					t.Fatalf("%+v, %v", res, err)
				}
			}
			res, err := e.ReadNews(t.Context(), core.HookParams{Caller: by, Where: core.Where{Path: there}, Sub: c.sub})
			if err != nil || res.Unstarted != c.want {
				t.Errorf("%v, %v; want %v", res.Unstarted, err, c.want)
			}
		})
	}
}
