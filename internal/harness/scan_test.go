package harness

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// one is a process of a fake machine.
type one struct {
	pid, ppid int
	comm      string
	args      string // words
	dir       string
	state     string
}

// machine fakes /proc. What init has started leads a kernel's session, to which all below it belong.
func machine(all ...one) *proc.Table {
	m := fstest.MapFS{}
	session := func(p one) int {
		for i := 0; i < len(all); i++ {
			if all[i].pid == p.ppid {
				p, i = all[i], -1
			}
		}
		return p.pid
	}

	for _, p := range append([]one{{pid: 1, comm: "init"}}, all...) {
		if p.state == "" {
			p.state = "S"
		}
		dir := fmt.Sprint(p.pid)
		stat := fmt.Sprintf("%d (%s) %s %d %d %d 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n",
			p.pid, p.comm, p.state, p.ppid, p.pid, session(p), 100+p.pid)
		m[dir+"/stat"] = &fstest.MapFile{Data: []byte(stat)}
		m[dir+"/comm"] = &fstest.MapFile{Data: []byte(p.comm + "\n")}
		m[dir+"/cmdline"] = &fstest.MapFile{Data: []byte(strings.Join(strings.Fields(p.args), "\x00") + "\x00")}
		if p.dir != "" {
			m[dir+"/cwd"] = &fstest.MapFile{Data: []byte(p.dir), Mode: os.ModeSymlink}
		}
	}

	return &proc.Table{FS: m, PIDSpace: proc.PIDSpace{Boot: "b", PIDNS: "n"}, Initial: true}
}

func TestScan(t *testing.T) {
	const codexDir = "/npm/@openai/codex/vendor/codex/codex"
	shell := one{pid: 50, ppid: 1, comm: "bash", args: "-bash", dir: "/work"}
	me := []one{
		shell,
		{pid: 100, ppid: 50, comm: "claude", args: "claude", dir: "/work"},
		{pid: 101, ppid: 100, comm: "bash", args: "bash -c tt", dir: "/work"},
		{pid: 102, ppid: 101, comm: "tt", args: "tt roster", dir: "/work"},
	}
	for _, c := range []struct {
		name string
		more []one
		want string // harness pid dir, …
	}{
		{"alone", nil, ""},
		{
			"another, and one below",
			[]one{{200, 1, "claude", "claude", "/work", ""}, {201, 1, "opencode", "opencode run x", "/work/sub", ""}},
			"claude 200 /work, opencode 201 /work/sub",
		},
		{"outside", []one{{200, 1, "claude", "claude", "/elsewhere", ""}}, ""},
		{
			"a launcher and its program are one",
			[]one{
				{200, 1, "node", "node /usr/bin/codex exec", "/work", ""},
				{201, 200, "codex", codexDir + " exec", "/work", ""},
			},
			"codex 200 /work",
		},
		{
			"an interpreter's script",
			[]one{{200, 1, "node", "node --max-old-space-size=9 /npm/.bin/gemini", "/work", ""}},
			"gemini 200 /work",
		},
		{
			"a script of Python's",
			[]one{
				{200, 1, "aider", "/usr/bin/python3 /home/dev/.local/bin/aider", "/work", ""},
				{201, 1, "python3", "python3 train.py", "/work", ""},
			},
			"aider 200 /work",
		},
		{"node of another script", []one{{200, 1, "node", "node server.js", "/work", ""}}, ""},
		{
			"a shell script that is called like one",
			[]one{{200, 1, "claude", "/bin/bash /home/dev/bin/claude", "/work", ""}},
			"",
		},
		{"renamed, but started as one", []one{{200, 1, "whatever", "/opt/claude -c", "/work", ""}}, "claude 200 /work"},
		{
			"started as something else, but named like one",
			[]one{{200, 1, "claude", "", "/work", ""}},
			"claude 200 /work",
		},
		{
			"Codex's daemon",
			[]one{
				{200, 1, "codex", codexDir + " app-server --listen unix://", "/work", ""},
				{201, 200, "codex", codexDir + " app-server daemon pid-update-loop", "/work", ""},
			},
			"",
		},
		{"Codex's server of tools", []one{{200, 1, "codex", codexDir + " mcp-server", "/work", ""}}, ""},
		{
			"OpenCode's server, and OpenCode with a port",
			[]one{
				{200, 1, "opencode", "opencode serve", "/work", ""},
				{201, 1, "opencode", "opencode --port 4096", "/work", ""},
			},
			"opencode 201 /work",
		},
		{"a sandbox", []one{{200, 1, "codex-linux-san", "codex-linux-sandbox -- bash", "/work", ""}}, ""},
		{"what the caller started", []one{{200, 101, "codex", codexDir + " exec", "/work", ""}}, ""},
		{"what the caller's parent started", []one{{200, 50, "codex", codexDir, "/work", ""}}, "codex 200 /work"},
		{"a zombie", []one{{200, 1, "claude", "claude", "/work", "Z"}}, ""},
		{
			"one inside another is two",
			[]one{
				{200, 1, "claude", "claude", "/work", ""},
				{201, 200, "bash", "bash -c codex", "/work", ""},
				{202, 201, "codex", codexDir + " exec", "/work", ""},
			},
			"claude 200 /work, codex 202 /work",
		},
		{
			"one that replaced a shell inside another is two",
			[]one{
				{200, 1, "gemini", "gemini", "/work", ""},
				{201, 200, "gemini", "gemini", "/work", ""},
				{202, 201, "gemini", "gemini", "/work/sub", ""},
				{203, 202, "gemini", "gemini", "/work/sub", ""},
			},
			"gemini 200 /work, gemini 202 /work/sub",
		},
		{
			"spaces and newlines",
			[]one{{200, 1, "claude", "claude", "/work/a b\nc (deleted)", ""}},
			"claude 200 /work/a b\nc",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := machine(append(append([]one{}, me...), c.more...)...)
			caller := stick.Process{Boot: "b", PIDNS: "n", PID: 100, Start: 200}
			got, err := Scan(table,
				func(dir string) bool { return dir == "/work" || strings.HasPrefix(dir, "/work/") }, 102,
				caller)
			if err != nil {
				t.Fatal(err)
			}

			var found []string
			for _, a := range got.Agents {
				found = append(found, fmt.Sprintf("%s %d %s", a.Harness, a.Process.PID, a.Dir))
			}
			if s := strings.Join(found, ", "); s != c.want {
				t.Errorf("found %q, want %q", s, c.want)
			}
		})
	}
}

// TestShows: which processes may be terminals that show a daemon's session.
func TestShows(t *testing.T) {
	for _, c := range []struct {
		args string
		tty  string
		want bool
	}{
		{"codex", "pts/1", true},
		{"codex --remote unix:///run/codex.sock", "pts/1", true},
		{"codex", "", false},
		{"codex exec hello", "pts/1", false},
		{"codex app-server --listen unix://", "pts/1", false},
		{"opencode", "pts/1", false},
		{"opencode --port 4096", "pts/1", false},
		{"opencode attach http://localhost:4096", "pts/1", true},
		{"opencode acp", "pts/1", false},
		{"claude", "pts/1", false},
		{"antigravity", "pts/1", false},
	} {
		p := proc.Info{Args: strings.Fields(c.args), TTY: c.tty}
		near, ok := recogniseProcess(p)
		if got := near.row.showsDaemon(p); !ok || got != c.want {
			t.Errorf("%q on %q: %v", c.args, c.tty, got)
		}
	}
}

// TestServes: to which daemons terminals connect.
func TestServes(t *testing.T) {
	for args, want := range map[string]bool{
		"codex app-server --listen unix://":             true,
		"codex app-server --listen=ws://127.0.0.1:4500": true,
		"codex app-server --listen stdio://":            false,
		"codex app-server":                              false,
		"codex mcp-server":                              false,
		"codex --remote unix:///run/codex.sock":         false,
		"opencode serve":                                true,
		"opencode web --port 4096":                      true,
		"opencode --port 4096":                          false,
		"opencode acp":                                  false,
	} {
		if near, ok := recogniseProcess(proc.Info{Args: strings.Fields(args)}); !ok || near.onDaemon != want {
			t.Errorf("%q: %v", args, near.onDaemon)
		}
	}
}

func TestNamed(t *testing.T) {
	for comm, want := range map[string]bool{
		"claude": true, "codex": true, "node": true, "node-MainThread": true, "MainThread": true,
		"opencode": true, "agy": true, "claude.exe": true, "aider": true, "kiro-cli": true,
		"bash": false, "nodetool": false, "": false, "vim": false,
	} {
		if IsProgramName(comm) != want {
			t.Errorf("%q: %v", comm, !want)
		}
	}
}
