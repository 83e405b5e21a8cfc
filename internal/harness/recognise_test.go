package harness

import (
	"strings"
	"testing"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// seenProcesses are recorded processes, each with its harness.
var seenProcesses = []struct {
	name  string
	p     proc.Info
	want  string // "" for none
	proof stick.Proof
}{
	{"claude", claude, "claude", stick.ProvesSession},
	{
		"claude as a versioned file",
		run("2.1.197", "/home/dev/.local/share/claude/versions/2.1.197"),
		"claude",
		stick.ProvesSession,
	},
	{
		"claude in node, of an older version",
		run("node", "node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"),
		"claude",
		stick.ProvesSession,
	},
	{"claude, its command line hidden", run("claude"), "claude", stick.ProvesSession},
	{"claude under another name", run("claude", "cc"), "claude", stick.ProvesSession},
	{"claude on Windows", run("claude.exe", `C:\Users\dev\.local\bin\claude.exe`), "claude", stick.ProvesSession},
	{"codex, the launcher", codexNode, "codex", stick.ProvesSession},
	{"codex, the program", codex, "codex", stick.ProvesSession},
	{
		"codex on Windows",
		run("node.exe", `C:\Program Files\nodejs\node.exe`, `C:\npm\node_modules\@openai\codex\bin\codex.js`),
		"codex",
		stick.ProvesSession,
	},
	{"codex, the daemon", codexd, "codex", stick.ProvesCarrier},
	{
		"codex, the daemon behind options",
		run("codex", "codex", "-c", "a=b", "app-server"),
		"codex",
		stick.ProvesCarrier,
	},
	{"codex, the daemon's launcher", run("node", "node", "/usr/bin/codex", "app-server"), "codex", stick.ProvesCarrier},
	{"codex, its sandbox", codexBox, "codex", ""},
	{"codex, its sandbox under the program's name", run("codex", "codex-linux-sandbox", "--"), "codex", ""},
	{"gemini", gemini1, "gemini", stick.ProvesSession},
	{"gemini with more memory", gemini2, "gemini", stick.ProvesSession},
	{"gemini in bun", run("bun", "bun", "run", "/home/dev/gemini.js"), "gemini", stick.ProvesSession},
	{
		"gemini behind a required script",
		run("node", "node", "-r", "/opt/trace.js", "/usr/bin/gemini"),
		"gemini",
		stick.ProvesSession,
	},
	{
		"gemini in a node that names its threads",
		run("node-MainThread", "node", "/usr/bin/gemini"),
		"gemini",
		stick.ProvesSession,
	},
	{
		"gemini's package",
		run("node", "node", "/usr/lib/node_modules/@google/gemini-cli/dist/index.js"),
		"gemini",
		stick.ProvesSession,
	},
	{"copilot, the launcher", copilotNode, "copilot", stick.ProvesSession},
	{"copilot, the program", copilot, "copilot", stick.ProvesSession},
	{"copilot, a server for editors", run("MainThread", "/opt/bin/copilot", "--acp"), "copilot", stick.ProvesCarrier},
	{
		"copilot's language server",
		run("node", "node", "/usr/lib/node_modules/@github/copilot-language-server/dist/language-server.js"),
		"",
		"",
	},
	{"qwen, the launcher", qwen1, "qwen", stick.ProvesSession},
	{"qwen, the program", qwen2, "qwen", stick.ProvesSession},
	{"qwen, the daemon", run("node", "node", "/usr/lib/node_modules/.bin/qwen", "serve"), "qwen", stick.ProvesCarrier},
	{"pi", pi, "pi", stick.ProvesSession},
	{
		"pi in node, before it renames itself",
		run("node", "node", "/usr/lib/node_modules/.bin/pi", "-p", "do it"),
		"pi",
		stick.ProvesSession,
	},
	{"opencode", opencode, "opencode", stick.ProvesSession},
	{"opencode, a server", openserve, "opencode", stick.ProvesCarrier},
	{"opencode, a port", openport, "opencode", stick.ProvesCarrier},
	{"opencode, a port in one word", run("opencode", "opencode", "--port=4096"), "opencode", stick.ProvesCarrier},

	{"a worker's command", run("tt", "tt-worker", "worker", "run"), "worker", stick.ProvesSession},
	{"tt itself", run("tt", "/usr/local/bin/tt", "worker", "run"), "", ""},

	{"aider, its command line hidden", run("aider"), "aider", stick.ProvesCarrier},
	{
		"aider, as pip installs it",
		run("aider", "/usr/bin/python3.12", "/home/dev/.local/bin/aider", "--yes"),
		"aider",
		stick.ProvesCarrier,
	},
	{"aider, as a module", run("python3", "python3", "-m", "aider"), "aider", stick.ProvesCarrier},
	{"another program in Python", run("python3", "python3", "train.py", "aider"), "", ""},
	{"Python alone", run("python3", "python3", "-i"), "", ""},
	{"Cursor's agent", run("cursor-agent", "/home/dev/.local/bin/cursor-agent"), "cursor", stick.ProvesCarrier},
	{
		"Cursor's agent in its own node",
		run("node", "/home/dev/.local/share/cursor-agent/versions/2026.10/node", "index.js"),
		"cursor",
		stick.ProvesCarrier,
	},
	{"Kiro", run("kiro-cli", "kiro-cli", "chat"), "kiro", stick.ProvesCarrier},
	{
		"Amp in node",
		run("node", "node", "/usr/lib/node_modules/@sourcegraph/amp/dist/main.js"),
		"amp",
		stick.ProvesCarrier,
	},
	{"the editor called amp", run("amp", "amp", "notes.md"), "", ""},

	{"a shell", bash, "", ""},
	{"a login shell", login, "", ""},
	{"a shell script called like a harness", run("claude", "/bin/bash", "/home/dev/bin/claude"), "", ""},
	{"a Python script called like a harness", run("gemini", "/usr/bin/python3", "/home/dev/bin/gemini"), "", ""},
	{"an editor of a file called like a harness", run("vim", "vim", "/home/dev/codex"), "", ""},
	{"a server given a harness's name", run("node", "node", "server.js", "gemini"), "", ""},
	{"node alone", run("node", "node"), "", ""},
	{"a longer name", run("codex-something", "codex-something"), "", ""},
	{"nothing known", run(""), "", ""},
}

func TestRecognise(t *testing.T) {
	for _, c := range seenProcesses {
		t.Run(c.name, func(t *testing.T) {
			got, ok := recogniseProcess(c.p)
			if ok != (c.want != "") || got.row.Name != c.want || got.proof != c.proof {
				t.Errorf("got %q, %q, want %q, %q", got.row.Name, got.proof, c.want, c.proof)
			}
		})
	}
}

// No row matches what belongs to another row.
func TestRows(t *testing.T) {
	taken := map[string]string{}
	take := func(row Row, values ...[]string) {
		for _, list := range values {
			for _, v := range list {
				if other, ok := taken[v]; ok && other != row.Name {
					t.Errorf("%s is claimed by %s and %s", v, other, row.Name)
				}
				taken[v] = row.Name
			}
		}
	}

	for _, row := range programRows {
		take(row, row.Programs, row.Scripts, row.Packages)
		if _, ok := ByName(row.Name); ok || !row.isProgramRow() || row.Title == "" {
			t.Errorf("%s isn't known by its programs only", row.Name)
		}
	}

	for _, row := range Rows {
		take(row, row.Programs, row.Packages, row.Sandboxes, row.SessionEnv, row.Markers)
		if got, ok := ByName(row.Name); !ok || got.Title != row.Title {
			t.Errorf("ByName(%q) = %+v, %v", row.Name, got, ok)
		}
	}

	if _, ok := ByName("hal"); ok {
		t.Error("there is a row for hal")
	}
}

// TestSkillTellsTheHandoff: the skill names the flag for each part of a handoff.
func TestSkillTellsTheHandoff(t *testing.T) {
	_, section, _ := strings.Cut(string(Skill), "## A real handoff")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, f := range stick.HandoffFields {
		if !strings.Contains(section, "`--"+f.Flag) {
			t.Errorf("the skill doesn't tell of --%s, the %s of a handoff", f.Flag, f.Name)
		}
	}
}
