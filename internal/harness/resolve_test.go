package harness

import (
	"strings"
	"testing"

	"talkingstick/internal/proc"
	"talkingstick/stick"
	"talkingstick/stick/edits"

	"github.com/google/go-cmp/cmp"
)

// at gives each process of a chain, the nearest first, an identity of its own.
func at(chain ...proc.Info) []proc.Info {
	for i := range chain {
		pid := 1000 - i
		if i == len(chain)-1 && chain[i].Comm == "systemd" {
			pid = 1
		}
		chain[i].ID = id(pid)
	}

	return chain
}

func id(pid int) stick.Process {
	return stick.Process{Boot: "boot", PIDNS: "ns", PID: pid, Start: int64(10 * pid)}
}

func run(comm string, args ...string) proc.Info { return proc.Info{Comm: comm, Args: args} }

func onTTY(p proc.Info, tty string) proc.Info {
	p.TTY = tty
	return p
}

func inSession(p proc.Info, leader int) proc.Info {
	p.SID = leader
	return p
}

// Recorded processes: harnesses, with the shells in which they run commands.
var (
	systemd   = run("systemd", "/sbin/init")
	sshd      = run("sshd", "sshd: dev@pts/3")
	bash      = run("bash", "/bin/bash", "-c", "tt wait")
	subshell  = run("bash", "bash", "-c", "tt wait")
	login     = onTTY(run("bash", "-bash"), "pts/3")
	makeTest  = onTTY(run("make", "make", "test"), "pts/3")
	claude    = run("claude", "/home/dev/.npm/bin/claude", "--resume", "x")
	codexNode = run("node", "node", "/usr/lib/node_modules/.bin/codex", "exec", "--json", "do it")
	codex     = run("codex", "/usr/lib/node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex",
		"exec", "--json", "do it")
	codexd = run("codex", "/home/dev/.codex/packages/app-server-daemon/bin/codex", "app-server", "--listen",
		"unix://")
	codexide = run("codex", "/home/dev/.vscode/extensions/openai.chatgpt/bin/codex", "app-server",
		"--analytics-default-enabled")
	codexBox    = run("codex-linux-san", "codex-linux-sandbox", "--sandbox-policy-cwd", "/home/dev/repo")
	workerRun   = run("tt", "tt-worker", "worker", "run")
	gemini1     = run("node", "node", "/usr/bin/gemini", "-p", "do it")
	gemini2     = run("node", "/usr/bin/node", "--max-old-space-size=4096", "/usr/bin/gemini", "-p", "do it")
	copilotNode = run("node", "node", "/usr/lib/node_modules/.bin/copilot", "-p", "do it")
	copilot     = run("MainThread", "/usr/lib/node_modules/@github/copilot-linux-x64/copilot", "-p", "do it")
	qwen1       = run("node", "node", "/usr/lib/node_modules/.bin/qwen", "-p", "do it")
	qwen2       = run("node", "/usr/bin/node", "--expose-gc", "/usr/lib/node_modules/@qwen-code/qwen-code/cli.js",
		"-p", "do it")
	pi        = run("pi", "pi", "", "", "")
	aider     = onTTY(run("aider", "/usr/bin/python3", "/home/dev/.local/bin/aider"), "pts/3")
	crush     = onTTY(run("crush", "/usr/bin/crush"), "pts/3") // its shell is a part of it
	opencode  = run("opencode", "/usr/bin/opencode", "run", "do it")
	openserve = run("opencode", "opencode", "serve")
	openport  = run("opencode", "opencode", "--port", "4096")
)

const (
	session  = "7c4d0c1e-fb65-49cf-afd6-acb2c07c1fa6"
	session2 = "01a1fb60-9f47-7563-963b-7128fb6813fd"
)

type env map[string]string

func (e env) get(name string) string { return e[name] }

var (
	claudeEnv = env{
		"CLAUDE_CODE_SESSION_ID": session, "CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1",
		"AI_AGENT": "claude-code_2-1-197_agent",
	}
	codexEnv = env{
		"CODEX_SESSION_ID": session2, "CODEX_THREAD_ID": session2, "CODEX_CI": "1",
		"CODEX_VERSION": "0.169.0",
	}
	geminiEnv  = env{"GEMINI_CLI": "1"}
	copilotEnv = env{"COPILOT_AGENT_SESSION_ID": session, "COPILOT_CLI": "1", "COPILOT_CLI_BINARY_VERSION": "1.0.102"}
	qwenEnv    = env{"QWEN_CODE_SESSION_ID": session, "QWEN_CODE": "1", "QWEN_CODE_AGENT_ID": ""}
	piEnv      = env{"PI_SESSION_ID": session, "PI_CODING_AGENT": "true", "AI_AGENT": "pi"}
	crushEnv   = env{AgentEnv: "crush"}
	openEnv    = env{"OPENCODE": "1", "OPENCODE_PID": "999", "AGENT": "1"}
)

func both(a, b env) env {
	all := env{}
	for _, e := range []env{a, b} {
		for name, value := range e {
			all[name] = value
		}
	}

	return all
}

func TestResolve(t *testing.T) {
	const (
		complete = true
		unseen   = false
	)

	agent := func(harness, session string, pid int, proof stick.Proof) Caller {
		f := Caller{Harness: harness, SessionID: session, Proof: proof}
		if pid != 0 {
			f.Process = id(pid)
		}
		return f
	}

	above := func(f Caller, pids ...int) Caller {
		for _, pid := range pids {
			f.Above = append(f.Above, id(pid))
		}
		return f
	}

	taskEnv := env{TaskEnv: "room-1/ui-7/2"}
	inTask := func(f Caller) Caller {
		f.Task = edits.TaskMark{Room: "room-1", Task: "ui-7", Attempt: 2}
		return f
	}

	in := func(f Caller, sessions ...string) Caller {
		f.AboveIn = sessions
		return f
	}

	onDaemon := func(f Caller) Caller {
		f.OnDaemon = true
		return f
	}

	earlier := func(f Caller) Caller {
		f.Earlier = true
		return f
	}

	detached := func(harness, session string) Caller {
		return Caller{Harness: harness, SessionID: session, Detached: true}
	}

	person := func(terminal string, pid int) Caller {
		f := Caller{Harness: Human, Person: true, Terminal: terminal}
		if pid != 0 {
			f.Process, f.Proof = id(pid), stick.ProvesTurn
		}
		return f
	}

	for _, c := range []struct {
		name     string
		chain    []proc.Info
		complete bool
		env      env
		call     [2]string // session id and harness given with the call
		want     Caller
	}{
		// Each harness by itself.
		{
			"claude: a command", at(bash, claude, login, sshd, systemd), complete, claudeEnv,
			[2]string{},
			agent("claude", session, 999, stick.ProvesSession),
		},
		{
			"claude: an MCP server, after /clear", at(claude, login, systemd), complete, claudeEnv,
			[2]string{session2, "claude"},
			agent("claude", session2, 1000, stick.ProvesSession),
		},
		{
			"claude: a sub-agent has its parent's session", at(subshell, bash, claude, login, systemd),
			complete, claudeEnv,
			[2]string{},
			agent("claude", session, 998, stick.ProvesSession),
		},
		{
			"codex: a command of codex exec", at(bash, codex, codexNode, login, systemd), complete, codexEnv,
			[2]string{},
			agent("codex", session2, 998, stick.ProvesSession),
		},
		{
			"codex: a sub-agent has its parent's session", at(bash, codex, codexNode, systemd), complete,
			both(codexEnv, env{"CODEX_THREAD_ID": "another"}),
			[2]string{},
			agent("codex", session2, 998, stick.ProvesSession),
		},
		{
			"codex: an MCP server without any variable", at(codex, codexNode, systemd), complete, nil,
			[2]string{session2, "codex"},
			agent("codex", session2, 999, stick.ProvesSession),
		},
		{
			"codex: a command under the daemon", at(bash, codexd, systemd), complete, codexEnv,
			[2]string{},
			onDaemon(agent("codex", session2, 999, stick.ProvesCarrier)),
		},
		{
			"codex: a hook under the daemon", at(codexd, systemd), complete, nil,
			[2]string{session2, "codex"},
			onDaemon(agent("codex", session2, 1000, stick.ProvesCarrier)),
		},
		{
			"codex: the daemon isn't one with the program that started it",
			at(codexd, codex, codexNode, login, systemd), complete, nil,
			[2]string{session2, "codex"},
			onDaemon(agent("codex", session2, 1000, stick.ProvesCarrier)),
		},
		{
			"codex: a session in the daemon's tree isn't the daemon", at(bash, codex, codexd, systemd),
			complete, codexEnv,
			[2]string{},
			agent("codex", session2, 999, stick.ProvesSession),
		},
		{
			"codex: below an editor, which talks to its server", at(codexide, systemd), complete, nil,
			[2]string{session2, "codex"},
			agent("codex", session2, 1000, stick.ProvesCarrier),
		},
		{
			"codex: in its sandbox", at(bash, codexBox), unseen, codexEnv,
			[2]string{},
			agent("codex", session2, 0, ""),
		},
		{
			"codex: in its sandbox, which can't be seen", at(bash), unseen, codexEnv,
			[2]string{},
			agent("codex", session2, 0, ""),
		},
		{
			"codex: in its sandbox, started under claude", at(bash, codexBox), unseen, both(claudeEnv, codexEnv),
			[2]string{},
			in(agent("codex", session2, 0, ""), "claude session "+session),
		},
		{
			"gemini: a command", at(subshell, bash, gemini2, gemini1, login, systemd), complete, geminiEnv,
			[2]string{},
			agent("gemini", "", 997, stick.ProvesSession),
		},
		{
			"gemini: a hook", at(gemini2, gemini1, systemd), complete,
			env{"GEMINI_SESSION_ID": session, "CLAUDE_PROJECT_DIR": "/home/dev/repo"},
			[2]string{},
			agent("gemini", session, 999, stick.ProvesSession),
		},
		{
			"opencode: a command", at(bash, opencode, systemd), complete, openEnv,
			[2]string{},
			agent("opencode", "", 999, stick.ProvesSession),
		},
		{
			"opencode: under a server", at(bash, openserve, systemd), complete, openEnv,
			[2]string{},
			onDaemon(agent("opencode", "", 999, stick.ProvesCarrier)),
		},
		{
			"opencode: with a port for clients", at(bash, openport, systemd), complete, openEnv,
			[2]string{session, "opencode"},
			agent("opencode", session, 999, stick.ProvesCarrier),
		},
		{
			"copilot: a command, perhaps of a sub-agent, whose session is another",
			at(bash, copilot, copilotNode, login, systemd), complete, copilotEnv,
			[2]string{},
			earlier(agent("copilot", session, 998, stick.ProvesSession)),
		},
		{
			"copilot: a hook", at(copilot, copilotNode, systemd), complete,
			env{"COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/home/dev/repo"},
			[2]string{session2, "copilot"},
			agent("copilot", session2, 999, stick.ProvesSession),
		},
		{
			"qwen: a command without a terminal", at(bash, qwen2, qwen1, login, systemd), complete, qwenEnv,
			[2]string{},
			agent("qwen", session, 998, stick.ProvesSession),
		},
		{
			"qwen: a hook in a terminal, where its program has started itself again",
			at(qwen2, qwen2, qwen1, login, systemd), complete, qwenEnv,
			[2]string{session, "qwen"},
			agent("qwen", session, 998, stick.ProvesSession),
		},
		{
			"qwen below qwen, in place of a shell", at(bash, qwen2, qwen1, qwen2, qwen2, qwen1, systemd),
			complete, qwenEnv,
			[2]string{},
			above(agent("qwen", session, 998, stick.ProvesSession), 997, 996, 995),
		},
		{
			"pi: a command", at(bash, pi, login, systemd), complete, piEnv,
			[2]string{},
			agent("pi", session, 999, stick.ProvesSession),
		},
		{
			"pi: what its extension starts", at(pi, login, systemd), complete,
			env{"PI_CODING_AGENT": "true", "AI_AGENT": "pi"},
			[2]string{session, "pi"},
			agent("pi", session, 1000, stick.ProvesSession),
		},
		{
			"a harness without a row: a command", at(crush, login, systemd), complete, crushEnv,
			[2]string{},
			agent("crush", "", 1000, stick.ProvesCarrier),
		},
		{
			"a harness without a row, in node",
			at(bash, run("node", "node", "/usr/bin/deep-code.js"), systemd), complete,
			env{AgentEnv: "Deep-Code_1.2_agent"},
			[2]string{},
			agent("deep-code", "", 999, stick.ProvesCarrier),
		},
		{
			"a harness without a row, not all seen", at(bash), unseen, crushEnv,
			[2]string{},
			agent("crush", "", 0, ""),
		},
		{
			"a harness that only says who it is, not all seen", at(bash), unseen,
			env{AgentEnv: "claude-code_2-1-330_agent"},
			[2]string{},
			agent("claude", "", 0, ""),
		},
		{
			"a harness that is called as a person is, not all seen", at(bash), unseen,
			env{AgentEnv: "human"},
			[2]string{},
			agent("mcp-human", "", 0, ""),
		},
		{
			"a harness without a row under claude", at(run("brush", "brush"), bash, claude, systemd),
			complete, both(claudeEnv, env{AgentEnv: "brush"}),
			[2]string{},
			agent("brush", "", 1000, stick.ProvesCarrier),
		},
		{
			"a harness known by its program, in a terminal", at(bash, aider, login, systemd), complete,
			env{},
			[2]string{},
			agent("aider", "", 999, stick.ProvesCarrier),
		},
		{
			"a harness known by its program, under claude", at(bash, aider, bash, claude, systemd), complete, claudeEnv,
			[2]string{},
			above(agent("aider", "", 999, stick.ProvesCarrier), 997),
		},
		{
			"claude under a harness known by its program", at(bash, claude, bash, aider, systemd), complete, claudeEnv,
			[2]string{},
			agent("claude", session, 999, stick.ProvesSession),
		},
		{
			"claude under a harness without a row", at(bash, claude, crush, systemd), complete,
			both(crushEnv, claudeEnv),
			[2]string{},
			agent("claude", session, 999, stick.ProvesSession),
		},
		{
			"codex under a harness without a row, whose variable has stayed",
			at(bash, codex, codexNode, crush, systemd), complete, both(crushEnv, codexEnv),
			[2]string{},
			agent("codex", session2, 998, stick.ProvesSession),
		},
		{
			"a harness without a row has left it behind", at(bash, systemd), complete, crushEnv,
			[2]string{},
			detached("crush", ""),
		},
		{
			"a person, to whose terminal the variable of a harness without a row has come",
			at(login, systemd), complete, crushEnv,
			[2]string{},
			person("pts/3", 1000),
		},

		// One harness under another.
		{
			"claude under codex", at(bash, claude, bash, codex, codexNode, systemd), complete,
			both(codexEnv, claudeEnv),
			[2]string{},
			above(agent("claude", session, 999, stick.ProvesSession), 997, 996),
		},
		{
			"codex under claude", at(bash, codex, codexNode, bash, claude, systemd), complete,
			both(codexEnv, claudeEnv),
			[2]string{},
			above(agent("codex", session2, 998, stick.ProvesSession), 996),
		},
		{
			"a codex hook under claude has no variable of its own",
			at(codex, codexNode, bash, claude, systemd), complete, claudeEnv,
			[2]string{},
			above(agent("codex", "", 999, stick.ProvesSession), 997),
		},
		{
			"opencode under claude", at(bash, opencode, bash, claude, systemd), complete, both(openEnv, claudeEnv),
			[2]string{},
			above(agent("opencode", "", 999, stick.ProvesSession), 997),
		},
		{
			"claude under claude: a shell stands between", at(bash, claude, bash, claude, systemd), complete, claudeEnv,
			[2]string{},
			above(agent("claude", session, 999, stick.ProvesSession), 997),
		},
		{
			"gemini under gemini", at(bash, gemini2, gemini1, bash, gemini2, gemini1, systemd), complete, geminiEnv,
			[2]string{},
			above(agent("gemini", "", 998, stick.ProvesSession), 996, 995),
		},
		{
			"codex below codex, in place of a shell", at(bash, codex, codexNode, codex, codexNode, systemd),
			complete, codexEnv,
			[2]string{},
			above(agent("codex", session2, 998, stick.ProvesSession), 997, 996),
		},
		{
			"claude below claude, in place of a shell that led a session of its own",
			at(bash, inSession(claude, 7), inSession(claude, 1), systemd), complete, claudeEnv,
			[2]string{},
			above(agent("claude", session, 999, stick.ProvesSession), 998),
		},
		{
			"claude in a sandbox of codex", at(bash, claude, bash, codexBox), unseen, both(codexEnv, claudeEnv),
			[2]string{},
			in(agent("claude", session, 999, stick.ProvesSession), "codex session "+session2,
				"codex session "+session2),
		},
		{
			"claude below codex's daemon", at(bash, claude, bash, codexd, systemd), complete, both(codexEnv, claudeEnv),
			[2]string{},
			in(agent("claude", session, 999, stick.ProvesSession), "codex session "+session2),
		},
		{
			"codex's daemon, which claude has started", at(bash, codexd, bash, claude, systemd), complete,
			both(codexEnv, claudeEnv),
			[2]string{},
			onDaemon(agent("codex", session2, 999, stick.ProvesCarrier)),
		},
		{
			"claude in a worker's command, which codex has started",
			at(bash, claude, workerRun, bash, codex, systemd), complete, claudeEnv,
			[2]string{},
			agent("claude", session, 999, stick.ProvesSession),
		},
		{
			"claude in the command of a task", at(bash, claude, workerRun, bash, codex, systemd), complete,
			both(claudeEnv, taskEnv),
			[2]string{},
			inTask(agent("claude", session, 999, stick.ProvesSession)),
		},
		{
			"claude in a sandbox, in the command of a task", at(bash, claude), unseen, both(claudeEnv, taskEnv),
			[2]string{},
			inTask(agent("claude", session, 999, stick.ProvesSession)),
		},
		{
			"claude beside a task whose variable has stayed", at(bash, claude, systemd), complete,
			both(claudeEnv, taskEnv),
			[2]string{},
			agent("claude", session, 999, stick.ProvesSession),
		},
		{
			"claude in the command of a task with a broken mark", at(bash, claude, workerRun, systemd),
			complete, both(claudeEnv, env{TaskEnv: "ui-7"}),
			[2]string{},
			agent("claude", session, 999, stick.ProvesSession),
		},
		{
			"the call names another than the nearest", at(bash, claude, systemd), complete, claudeEnv,
			[2]string{session2, "codex"},
			agent("codex", session2, 0, ""),
		},
		{
			"the call names a session but no harness", at(claude, systemd), complete, nil,
			[2]string{session2, ""},
			agent("claude", session2, 1000, stick.ProvesSession),
		},
		{
			"the call names a harness but no session", at(login, sshd, systemd), complete, nil,
			[2]string{"", "codex"},
			person("pts/3", 1000),
		},
		{
			"a hook whose harness has ended", at(systemd), complete, nil,
			[2]string{session, "claude"},
			agent("claude", session, 0, ""),
		},

		// Variables that are set to nothing, or stale.
		{
			"=0 isn't set", at(bash), unseen,
			env{"CLAUDECODE": "0", "GEMINI_CLI": "false", "OPENCODE": "", "CODEX_SESSION_ID": "0"},
			[2]string{},
			person("", 0),
		},
		{
			"a stale id in a person's shell", at(login, sshd, systemd), complete, claudeEnv,
			[2]string{},
			person("pts/3", 1000),
		},
		{
			"a stale marker in a test run at a terminal",
			at(onTTY(run("go", "go", "test"), "pts/3"), systemd), complete,
			env{"CLAUDECODE": "1"},
			[2]string{},
			person("pts/3", 1000),
		},

		// Commands that a harness has left behind.
		{
			"detached", at(bash, systemd), complete, claudeEnv,
			[2]string{},
			detached("claude", session),
		},
		{
			"detached, of a harness that gives no session", at(bash, systemd), complete, geminiEnv,
			[2]string{},
			detached("gemini", ""),
		},
		{
			"detached from a harness below another", at(bash, systemd), complete,
			both(codexEnv, env{"CLAUDECODE": "1"}),
			[2]string{},
			detached("codex", session2),
		},
		{
			"without any parent", nil, complete,
			env{"CLAUDECODE": "1"},
			[2]string{},
			detached("claude", ""),
		},
		{
			"another harness's stale id", at(bash, gemini2, gemini1, systemd), complete, both(claudeEnv, geminiEnv),
			[2]string{},
			agent("gemini", "", 998, stick.ProvesSession),
		},
		{
			"Gemini's CLAUDE_PROJECT_DIR isn't Claude", at(bash), unseen,
			env{"CLAUDE_PROJECT_DIR": "/home/dev/repo"},
			[2]string{},
			person("", 0),
		},

		// Ancestors that can't be seen.
		{
			"nothing seen, an id", nil, unseen, claudeEnv,
			[2]string{},
			agent("claude", session, 0, ""),
		},
		{
			"nothing seen, only a marker", at(bash), unseen, geminiEnv,
			[2]string{},
			agent("gemini", "", 0, ""),
		},
		{
			"nothing seen, a marker and another's id", at(bash), unseen, both(openEnv, claudeEnv),
			[2]string{},
			agent("claude", session, 0, ""),
		},
		{
			"a container that holds the harness too", at(bash, claude, run("bash", "bash")), unseen, claudeEnv,
			[2]string{},
			agent("claude", session, 999, stick.ProvesSession),
		},
		{
			"a person in a container", at(onTTY(run("bash", "bash"), "pts/0")), unseen, nil,
			[2]string{},
			person("pts/0", 1000),
		},

		// People.
		{
			"a login shell", at(login, sshd, systemd), complete, nil,
			[2]string{},
			person("pts/3", 1000),
		},
		{
			"the outermost in the terminal", at(makeTest, login, sshd, systemd), complete, nil,
			[2]string{},
			person("pts/3", 999),
		},
		{
			"without a terminal", at(run("sh", "sh", "-c", "tt take"), run("cron", "cron", "-f"), systemd),
			complete, nil,
			[2]string{},
			person("", 0),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.User, c.want.Host = "dev", "host"
			in := Input{
				Getenv: c.env.get, Chain: c.chain, Complete: c.complete,
				SessionID: c.call[0], SessionHarness: c.call[1],
				User: "dev", Host: "host",
			}

			got, err := Resolve(in)
			if err != nil {
				t.Fatal(err)
			}
			checkExplain(t, got.Explain)

			got.Explain = nil
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}

			// A requested name changes only the name.
			in.As, in.AsSource = "codex:reviewer", "--as"
			named, err := Resolve(in)
			if err != nil {
				t.Fatal(err)
			}

			c.want.As, c.want.AsSource, named.Explain = in.As, in.AsSource, nil
			if d := cmp.Diff(c.want, named); d != "" {
				t.Errorf("with --as: %s", d)
			}
		})
	}
}

func checkExplain(t *testing.T, steps []stick.Words) {
	t.Helper()
	if len(steps) == 0 {
		t.Error("nothing is explained")
	}

	for _, s := range steps {
		if !strings.HasSuffix(string(s), ".") || strings.Contains(string(s), "%!") {
			t.Errorf("not a sentence: %q", s)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Input
		want []stick.Words
	}{
		{"a run of two processes", Input{
			Chain: at(bash, codex, codexNode, systemd), Complete: true, Getenv: codexEnv.get,
		}, []stick.Words{
			"The nearest harness is Codex: process 999 (codex), started by its own process 998 (node).",
			"The session id comes from CODEX_SESSION_ID.",
			"While that process lives, so does the session.",
		}},
		{"stale variables", Input{Chain: at(login, systemd), Complete: true, Getenv: claudeEnv.get}, []stick.Words{
			"No ancestor is a harness.",
			"CLAUDE_CODE_SESSION_ID is set, but Claude Code isn't an ancestor, so the variable is ignored.",
			"CLAUDECODE is set, but Claude Code isn't an ancestor, so the variable is ignored.",
			"So this is a person: dev.",
			"Process 1000 holds the terminal pts/3; its end proves nothing.",
		}},
		{"a sandbox, with a name", Input{
			Chain: at(bash, codexBox), Getenv: codexEnv.get, As: "codex:b", AsSource: "TT_HARNESS_AGENT_ID",
		}, []stick.Words{
			"The nearest harness is Codex: process 999 (codex-linux-san) is its sandbox.",
			"The session id comes from CODEX_SESSION_ID.",
			"Its process can't be seen, so no process vouches for the session.",
			"TT_HARNESS_AGENT_ID gives it the name codex:b.",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.User = "dev"
			got, err := Resolve(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got.Explain); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	inClaude := at(bash, claude, systemd)
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"a name with a space", Input{As: "a b"}, `--as "a b" isn't an agent's name`},
		{"a name in capitals", Input{As: "Claude:x"}, `--as "Claude:x" isn't an agent's name`},
		{"two colons", Input{As: "a:b:c"}, `--as "a:b:c" isn't an agent's name`},
		{"nothing behind the colon", Input{As: "a:"}, `--as "a:" isn't an agent's name`},
		{"a line end", Input{As: "a\n"}, `--as "a" isn't an agent's name`},
		{
			"too long",
			Input{As: strings.Repeat("a", 65)},
			`--as "` + strings.Repeat("a", 65) + `" isn't an agent's name`,
		},
		{"a name that means something else", Input{As: "next"}, `--as "next" isn't an agent's name`},
		{
			"an agent that calls itself a person",
			Input{As: "human:dev", Chain: inClaude},
			`--as "human:dev" is a person's name, but this is a shell inside Claude Code`,
		},
		{
			"a session of an unknown harness",
			Input{SessionID: "x", SessionHarness: "hal"},
			`"hal" isn't a known harness`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.AsSource, c.in.Getenv = "--as", env{}.get
			_, err := Resolve(c.in)
			if stick.CodeOf(err) != stick.CodeUsage || err.Error() != c.want {
				t.Errorf("got %v (%s), want %s", err, stick.CodeOf(err), c.want)
			}
		})
	}

	for _, name := range []string{
		"claude", "claude:1a2b3c4d", "human:dev", "a.b_c-d:E.F_g-1", strings.Repeat("a", 64),
	} {
		if _, err := Resolve(Input{As: name, AsSource: "--as", Getenv: env{}.get}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSeed(t *testing.T) {
	p, q := id(1), id(2)
	seeds := map[string]string{}
	for name, f := range map[string]Caller{
		"a session":               {Harness: "claude", SessionID: "s", Process: p},
		"another session":         {Harness: "claude", SessionID: "t", Process: p},
		"another's session":       {Harness: "codex", SessionID: "s", Process: p},
		"a process":               {Harness: "claude", Process: p},
		"another process":         {Harness: "claude", Process: q},
		"nothing":                 {Harness: "claude", Host: "h", User: "u"},
		"nothing on another host": {Harness: "claude", Host: "i", User: "u"},
		"a stray session":         {Harness: "claude", Stray: "s", Host: "h", User: "u"},
		"another stray session":   {Harness: "claude", Stray: "t", Host: "h", User: "u"},
		"a person":                {Harness: Human, Person: true, Process: p, User: "u"},
	} {
		if other, ok := seeds[f.Seed()]; ok {
			t.Errorf("%s and %s have the same seed %q", name, other, f.Seed())
		}
		seeds[f.Seed()] = name
	}

	if seeds[""] != "a person" {
		t.Errorf("the empty seed is that of %q", seeds[""])
	}
	stray := Caller{Harness: "claude", SessionID: "s", Detached: true, Host: "h", User: "u"}.WithoutSession()
	if stray.StrayAgent().Seed() != (Caller{Harness: "claude", SessionID: "s"}).Seed() ||
		stray.Seed() == stray.StrayAgent().Seed() {
		t.Errorf("a stray caller has the seed %q, and its session %q", stray.Seed(), stray.StrayAgent().Seed())
	}

	one := Caller{Harness: "claude", SessionID: "s", Process: p, Explain: []stick.Words{"x"}}
	if one.Seed() != (Caller{Harness: "claude", SessionID: "s", Process: q}).Seed() {
		t.Error("a session resumed in another process has another seed")
	}
}

func TestUserName(t *testing.T) {
	for user, want := range map[string]string{
		"dev":                    "dev",
		"Dev.Eloper":             "dev.eloper",
		`CORP\dev`:               "corp-dev",
		"dev@example.org":        "dev-example.org",
		"Zoë":                    "zo",
		"東京":                     "user",
		"":                       "user",
		strings.Repeat("x", 100): strings.Repeat("x", 58),
	} {
		got := userName(user)
		if got != want {
			t.Errorf("%q: got %q, want %q", user, got, want)
		}

		if err := checkName(Human+":"+got, "user"); err != nil {
			t.Error(err)
		}
	}
}
