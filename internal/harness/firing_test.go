package harness

import (
	"strings"
	"testing"

	"talkingstick/internal/proc"
)

// TestReadFiring: the nearest ancestor decides who calls, then variables, then the input. Whoever that is,
// the answer has the words in which the input is written.
func TestReadFiring(t *testing.T) {
	const (
		shared  = `{"hook_event_name":"SessionStart","session_id":"s1","cwd":"/w"}` // several write this
		codex   = `{"hook_event_name":"Stop","session_id":"s1","turn_id":"t1"}`
		gemini  = `{"hook_event_name":"SessionEnd","session_id":"s1","timestamp":"now"}`
		home    = `{"hook_event_name":"SessionStart","session_id":"s1","transcript_path":"/home/ann/.codex/x.jsonl"}`
		windows = `{"hook_event_name":"SessionStart","session_id":"s1","transcript_path":"C:\\Users\\ann\\.gemini\\x.jsonl"}`
		qwen    = `{"hook_event_name":"SessionEnd","session_id":"s1","timestamp":"now","transcript_path":"/home/ann/.qwen/projects/x.jsonl"}`
		tool    = `{"hook_event_name":"BeforeTool","session_id":"s1"}`
		plugin  = `{"hook_event_name":"stop"}`
		camel   = `{"hookEventName":"SessionStart","sessionId":"s1"}`
	)

	for _, c := range []struct {
		name    string
		chain   string // the programs above the hook, the nearest first
		env     string
		input   string
		want    string // the harness; empty if nobody is answered
		dialect string // whose words the answer has
	}{
		{"an ancestor", "sh claude bash", "", shared, "claude", "claude"},
		{"the nearest of two", "sh codex claude", "CLAUDE_CODE_SESSION_ID=s1", shared, "codex", "codex"},
		{"with another's input", "sh codex", "", tool, "codex", "gemini"},
		{"with the input of our plugin", "sh claude", "", plugin, "claude", "opencode"},
		{"with an unknown input", "sh claude", "", camel, "", ""},
		{"without hooks of its own", "agy", "", shared, "", ""},
		{"a stranger below Claude Code", "sh grok claude", "CLAUDE_CODE_SESSION_ID=s1", shared, "", ""},
		{"a stranger known by its program", "sh aider claude", "CLAUDE_CODE_SESSION_ID=s1", shared, "", ""},
		{"a stranger above Claude Code", "sh claude grok", "", shared, "claude", "claude"},
		{
			"a hook of Claude Code's that Copilot runs",
			"sh copilot", "CLAUDE_PROJECT_DIR=/w", shared, "copilot", "copilot",
		},
		{
			"such a hook below Claude Code",
			"sh copilot claude", "CLAUDE_CODE_SESSION_ID=s0 CLAUDECODE=1", shared, "copilot", "copilot",
		},
		{"a worker's command below Claude Code", "sh tt-worker claude", "", codex, "codex", "codex"},
		{
			"the variable with the session",
			"bash", "CLAUDE_CODE_SESSION_ID=s0 GEMINI_SESSION_ID=s1", shared, "gemini", "gemini",
		},
		{"a variable with another session", "bash", "CODEX_SESSION_ID=s0", shared, "codex", "codex"},
		{"a marker", "bash", "GEMINI_CLI=1", shared, "gemini", "gemini"},
		{
			"a stranger that only its variable knows",
			"sh droid claude", "AI_AGENT=droid CLAUDE_CODE_SESSION_ID=s0", shared, "", "",
		},
		{"a stranger's variable alone", "bash", "AI_AGENT=droid CLAUDECODE=1", shared, "", ""},
		{
			"the variable of a harness with a row",
			"bash", "AI_AGENT=claude-code_2-1-330_harness", shared, "claude", "claude",
		},
		{"a marker that is off", "bash", "CLAUDECODE=0 QWEN_CODE=1", shared, "qwen", "qwen"},
		{"nothing but the input", "bash", "", shared, "claude", "claude"},
		{"a field of Codex", "bash", "", codex, "codex", "codex"},
		{"a field of Gemini", "bash", "", gemini, "gemini", "gemini"},
		{"a transcript of Codex", "bash", "", home, "codex", "codex"},
		{"a transcript on Windows", "bash", "", windows, "gemini", "gemini"},
		{"a transcript of Qwen Code, which has a field of Gemini", "bash", "", qwen, "qwen", "qwen"},
		{"an event of Gemini", "bash", "", tool, "gemini", "gemini"},
		{"an event of our plugin", "bash", "", plugin, "opencode", "opencode"},
		{"an event of our extension", "bash", "PI_CODING_AGENT=true", plugin, "pi", "pi"},
		{"an unknown input", "bash", "", camel, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{}
			for _, set := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(set, "=")
				env[name] = value
			}

			in := Input{Getenv: func(name string) string { return env[name] }, Complete: true}
			for _, name := range strings.Fields(c.chain) {
				in.Chain = append(in.Chain, proc.Info{Comm: name, Args: []string{name}})
			}
			f, err := ReadFiring(in, []byte(c.input))
			got := f.Harness.Name
			if f.Event == "" {
				got = ""
			}
			if err != nil || got != c.want || f.dialect.Name != c.dialect {
				t.Errorf("it is %q in the words of %q (%v), want %q and %q",
					got, f.dialect.Name, err, c.want, c.dialect)
			}
		})
	}
}

// TestReadFiring_ToolsOfTwoHarnesses: a harness that runs another one's hooks may name the tools in them in
// its own way, or in the way of the other one.
func TestReadFiring_ToolsOfTwoHarnesses(t *testing.T) {
	in := Input{
		Getenv: func(string) string { return "" },
		Chain:  []proc.Info{{Comm: "opencode", Args: []string{"opencode"}}},
	}
	for tool, want := range map[string]string{
		`"tool_name":"write","tool_input":{"filePath":"a.go"}`:  "/w/a.go",
		`"tool_name":"Write","tool_input":{"file_path":"b.go"}`: "/w/b.go",
		`"tool_name":"Read","tool_input":{"file_path":"c.go"}`:  "",
	} {
		f, err := ReadFiring(in, []byte(`{"hook_event_name":"PreToolUse","cwd":"/w",`+tool+`}`))
		if err != nil || f.Harness.Name != "opencode" || strings.Join(f.Edits.Paths, " ") != want {
			t.Errorf("%s changes %v for %s (%v)", tool, f.Edits.Paths, f.Harness.Name, err)
		}
	}
}
