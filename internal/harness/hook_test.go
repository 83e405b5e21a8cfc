package harness

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/proc"
)

// samples are recorded inputs of hooks, shortened and with other names, by harness and by the event with the
// tool. OpenCode's and pi's are what our plugin and our extension send.
func samples(t testing.TB) map[string]map[string]json.RawMessage {
	b, err := os.ReadFile("testdata/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}

	return all
}

// readHook reads an input of a harness that is known by its process.
func readHook(row Row, told []byte) (HookInput, error) {
	f, err := ReadFiring(runBy(row), told)
	return f.HookInput, err
}

// runBy is what a hook finds that a harness runs.
func runBy(row Row) Input {
	return Input{
		Getenv: func(string) string { return "" },
		Chain:  []proc.Info{{Comm: row.Programs[0], Args: row.Programs[:1]}},
	}
}

// subagentOf returns the sub-agent that an input names.
func subagentOf(t *testing.T, told []byte) string {
	t.Helper()
	var named struct {
		ID string `json:"agent_id"`
	}
	if err := json.Unmarshal(told, &named); err != nil {
		t.Fatal(err)
	}

	return named.ID
}

// TestReadHook reads all samples. Events that we listen to are recognised, and no others.
func TestReadHook(t *testing.T) {
	claude, codex, gemini := "a0000000-0000-4000-8000-000000000001", "a0000008-0000-4000-8000-000000000009", "a0000012-0000-4000-8000-000000000019"
	claudeMCP, claudeSub, codexSub := "a0000002-0000-4000-8000-000000000003", "a0000006-0000-4000-8000-000000000007", "a000000e-0000-4000-8000-000000000015"
	copilot := "a0000020-0000-4000-8000-000000000021"
	pi := "a0000023-0000-4000-8000-000000000024"
	qwen := "a0000022-0000-4000-8000-000000000023"

	tool := func(name string, paths ...string) Edits {
		for i := range paths {
			paths[i] = "/home/ann/app/" + paths[i]
		}
		return Edits{Tool: name, Paths: paths}
	}

	whole := func(name string, paths ...string) Edits { // replaced as a whole
		e := tool(name, paths...)
		e.Wholes = e.Paths
		return e
	}

	shows := func(name, path string) Edits { return Edits{Tool: name, Shown: []string{path}} }
	reads := func(name string) Edits { return Edits{Tool: name, Reads: true} }
	missing := Edits{Tool: "Bash", Reads: true, Shown: []string{"/nonexistent-file"}}
	want := map[string]map[string]HookInput{
		"claude": {
			"SessionStart":            {Event: HookSessionStart, SessionID: claude, Why: "startup"},
			"UserPromptSubmit":        {Event: HookPrompt, SessionID: claude},
			"PostToolUse:Bash":        {Event: HookAfterTool, SessionID: claude, Edits: reads("Bash")},
			"PostToolUseFailure:Bash": {Event: HookAfterTool, SessionID: claude, Edits: missing},
			// in Codex's words, too
			"PermissionRequest:Bash":     {Event: HookAsks, SessionID: "a0000004-0000-4000-8000-000000000005"},
			"Notification":               {Event: HookAsks, SessionID: "a0000004-0000-4000-8000-000000000005"},
			"PreToolUse:Bash":            {Event: HookBeforeTool, SessionID: claude, Edits: missing},
			"PostToolUse:Skill":          {Event: HookAfterTool, SessionID: claude, Edits: tool("Skill")},
			"PreToolUse:Skill":           {Event: HookBeforeTool, SessionID: claude, Edits: tool("Skill")},
			"PostToolUse:mcp__lab__ping": {Event: HookAfterTool, SessionID: claudeMCP, Edits: tool("mcp__tt__ping")},
			"PreToolUse:mcp__lab__ping":  {Event: HookBeforeTool, SessionID: claudeMCP, Edits: tool("mcp__tt__ping")},
			"PostToolUse:Agent":          {Event: HookAfterTool, SessionID: claudeSub, Edits: tool("Agent")},
			"PreToolUse:Agent":           {Event: HookBeforeTool, SessionID: claudeSub, Edits: tool("Agent")},
			"PreToolUse:Write": {
				Event: HookBeforeTool, SessionID: claudeSub, Edits: whole("Write", "locked.txt"),
			},
			"PostToolUse:Bash:subagent": {
				Event: HookAfterTool, SessionID: claudeSub, Subagent: true, Edits: tool("Bash"),
			},
			"PreToolUse:Bash:subagent": {
				Event: HookBeforeTool, SessionID: claudeSub, Subagent: true, Edits: tool("Bash"),
			},
			"Stop":       {Event: HookStop, SessionID: claude},
			"SessionEnd": {Event: HookSessionEnd, SessionID: claude, Why: "other"},
		},
		"codex": {
			"SessionStart":     {Event: HookSessionStart, SessionID: codex, Why: "startup"},
			"UserPromptSubmit": {Event: HookPrompt, SessionID: codex},
			"PostToolUse:Bash": {Event: HookAfterTool, SessionID: codex, Edits: reads("Bash")},
			"PreToolUse:Bash":  {Event: HookBeforeTool, SessionID: codex, Edits: reads("Bash")},
			"PostToolUse:apply_patch": {
				Event: HookAfterTool, SessionID: codex, Edits: tool("apply_patch", "ok.txt"),
			},
			"PreToolUse:apply_patch": {
				Event: HookBeforeTool, SessionID: codex, Edits: tool("apply_patch", "locked.txt"),
			},
			"PostToolUse:mcp__lab__ping": {
				Event: HookAfterTool, SessionID: codex, Edits: tool("mcp__tt__ping"),
			},
			"PreToolUse:mcp__lab__ping": {
				Event: HookBeforeTool, SessionID: codex, Edits: tool("mcp__tt__ping"),
			},
			"PostToolUse:spawn_agent": {
				Event: HookAfterTool, SessionID: codexSub, Edits: tool("spawn_agent"),
			},
			"PreToolUse:spawn_agent": {
				Event: HookBeforeTool, SessionID: codexSub, Edits: tool("spawn_agent"),
			},
			"PostToolUse:multi_agent_v1wait_agent": {
				Event: HookAfterTool, SessionID: codexSub, Edits: tool("multi_agent_v1wait_agent"),
			},
			"PreToolUse:multi_agent_v1wait_agent": {
				Event: HookBeforeTool, SessionID: codexSub, Edits: tool("multi_agent_v1wait_agent"),
			},
			"PostToolUse:Bash:subagent": {
				Event: HookAfterTool, SessionID: codexSub, Subagent: true, Edits: tool("Bash"),
			},
			"PreToolUse:Bash:subagent": {
				Event: HookBeforeTool, SessionID: codexSub, Subagent: true, Edits: tool("Bash"),
			},
			"PostToolUse:mcp__lab__ping:subagent": {
				Event: HookAfterTool, SessionID: codexSub, Subagent: true, Edits: tool("mcp__tt__ping"),
			},
			"PreToolUse:mcp__lab__ping:subagent": {
				Event: HookBeforeTool, SessionID: codexSub, Subagent: true, Edits: tool("mcp__tt__ping"),
			},
			"Stop":       {Event: HookStop, SessionID: codex},
			"SessionEnd": {Event: HookSessionEnd, SessionID: codex, Why: "other"},
		},
		"gemini": {
			"SessionStart": {Event: HookSessionStart, SessionID: gemini, Why: "startup"},
			// before each call of the model, whether it summarizes or not
			"PreCompress": {SessionID: gemini},
			"BeforeAgent": {Event: HookPrompt, SessionID: gemini},
			"AfterTool:run_shell_command": {
				Event: HookAfterTool, SessionID: gemini, Edits: reads("run_shell_command"),
			},
			"BeforeTool:run_shell_command": {
				Event: HookBeforeTool, SessionID: gemini, Edits: reads("run_shell_command"),
			},
			"AfterTool:write_file": {
				Event: HookAfterTool, SessionID: gemini, Edits: whole("write_file", "ok.txt"),
			},
			"BeforeTool:write_file": {
				Event: HookBeforeTool, SessionID: gemini, Edits: whole("write_file", "locked.txt"),
			},
			"AfterTool:mcp_lab_ping":  {Event: HookAfterTool, SessionID: gemini, Edits: tool("mcp_tt_ping")},
			"BeforeTool:mcp_lab_ping": {Event: HookBeforeTool, SessionID: gemini, Edits: tool("mcp_tt_ping")},
			"AfterAgent":              {Event: HookStop, SessionID: gemini},
			"SessionEnd":              {Event: HookSessionEnd, SessionID: gemini, Why: "exit"},
		},
		"opencode": {
			"session_start":         {Event: HookSessionStart, Why: "startup"},
			"session_start:compact": {Event: HookSessionStart, Why: "compact"},
			"prompt":                {Event: HookPrompt},
			"after_tool":            {Event: HookAfterTool, Edits: whole("write", "ok.txt")},
			"before_tool":           {Event: HookBeforeTool, Edits: tool("edit", "locked.txt")},
			"before_tool:bash":      {Event: HookBeforeTool, Edits: whole("bash", "sub/ok.txt")},
			"before_tool:subagent":  {Event: HookBeforeTool, Subagent: true, Edits: tool("apply_patch", "locked.txt")},
			"stop":                  {Event: HookStop},
			"stop:held":             {Event: HookStop, AlreadyBlocked: true},
			"session_end":           {Event: HookSessionEnd, Why: "exit"},
		},
		"copilot": {
			"SessionStart":           {Event: HookSessionStart, SessionID: copilot, Why: "startup"},
			"SessionStart:resume":    {Event: HookSessionStart, SessionID: copilot, Why: "resume"},
			"UserPromptSubmit":       {Event: HookPrompt, SessionID: copilot},
			"UserPromptSubmit:woken": {Event: HookPrompt, SessionID: copilot}, // by a command in the background
			"PreToolUse:Bash":        {Event: HookBeforeTool, SessionID: copilot, Edits: reads("Bash")},
			"PostToolUse:Bash":       {Event: HookAfterTool, SessionID: copilot, Edits: reads("Bash")},
			"PreToolUse:Write": {
				Event: HookBeforeTool, SessionID: copilot, Edits: whole("Write", "locked.txt"),
			},
			"PostToolUse:Write":       {Event: HookAfterTool, SessionID: copilot, Edits: whole("Write", "ok.txt")},
			"PreToolUse:Edit":         {Event: HookBeforeTool, SessionID: copilot, Edits: tool("Edit", "locked.txt")},
			"PreToolUse:apply_patch":  {Event: HookBeforeTool, SessionID: copilot, Edits: tool("Edit", "locked.txt")},
			"PostToolUseFailure:Edit": {Event: HookAfterTool, SessionID: copilot, Edits: tool("Edit", "ok.txt")},
			"PostToolUse:Read": {
				Event: HookAfterTool, SessionID: copilot, Edits: shows("Read", "/home/ann/app/ok.txt"),
			},
			"PreToolUse:lab-ping":  {Event: HookBeforeTool, SessionID: copilot, Edits: tool("tt-ping")},
			"PostToolUse:lab-ping": {Event: HookAfterTool, SessionID: copilot, Edits: tool("tt-ping")},
			// its session isn't the agent's
			"PreToolUse:Bash:subagent":  {Event: HookBeforeTool, Subagent: true, Edits: tool("Bash")},
			"PostToolUse:Bash:subagent": {Event: HookAfterTool, Subagent: true, Edits: tool("Bash")},
			"PostToolUse:Agent":         {Event: HookAfterTool, SessionID: copilot, Edits: tool("Agent")},
			"PreCompact":                {Event: HookCompact, SessionID: copilot},
			"Notification":              {}, // a shell command has ended
			"Stop":                      {Event: HookStop, SessionID: copilot},
			"Stop:held":                 {Event: HookStop, SessionID: copilot, AlreadyBlocked: true},
			"SessionEnd":                {Event: HookSessionEnd, SessionID: copilot, Why: "complete"},
		},
		"qwen": {
			"SessionStart":        {Event: HookSessionStart, SessionID: qwen, Why: "startup"},
			"SessionStart:resume": {Event: HookSessionStart, SessionID: qwen, Why: "resume"},
			"SessionStart:clear":  {Event: HookSessionStart, SessionID: qwen, Why: "clear"},
			"UserPromptSubmit":    {Event: HookPrompt, SessionID: qwen},
			// before a call of the model without a new prompt
			"UserPromptSubmit:again": {SessionID: qwen},
			"PreToolUse:write_file": {
				Event: HookBeforeTool, SessionID: qwen, Edits: whole("write_file", "locked.txt"),
			},
			"PostToolUse:write_file": {
				Event: HookAfterTool, SessionID: qwen, Edits: whole("write_file", "ok.txt"),
			},
			"PreToolUse:edit": {
				Event: HookBeforeTool, SessionID: qwen, Edits: tool("edit", "locked.txt"),
			},
			"PostToolUseFailure:edit": {
				Event: HookAfterTool, SessionID: qwen, Edits: tool("edit", "locked.txt"),
			},
			"PreToolUse:run_shell_command": {
				Event: HookBeforeTool, SessionID: qwen, Edits: reads("run_shell_command"),
			},
			"PostToolUse:run_shell_command": {
				Event: HookAfterTool, SessionID: qwen, Edits: reads("run_shell_command"),
			},
			"PreToolUse:mcp__lab__ping": {
				Event: HookBeforeTool, SessionID: qwen, Edits: tool("mcp__tt__ping"),
			},
			"PostToolUse:mcp__lab__ping": {
				Event: HookAfterTool, SessionID: qwen, Edits: tool("mcp__tt__ping"),
			},
			"PreToolUse:run_shell_command:subagent": {
				Event: HookBeforeTool, SessionID: qwen, Subagent: true, Edits: tool("run_shell_command"),
			},
			"PostToolUse:run_shell_command:subagent": {
				Event: HookAfterTool, SessionID: qwen, Subagent: true, Edits: tool("run_shell_command"),
			},
			"Notification": {SessionID: qwen},
			"PreCompact":   {Event: HookCompact, SessionID: qwen},
			"Stop":         {Event: HookStop, SessionID: qwen},
			"Stop:held":    {Event: HookStop, SessionID: qwen, AlreadyBlocked: true},
			"SessionEnd": {
				Event: HookSessionEnd, SessionID: qwen, Why: "prompt_input_exit",
			},
		},
		"pi": {
			"session_start":         {Event: HookSessionStart, SessionID: pi, Why: "startup"},
			"session_start:resume":  {Event: HookSessionStart, SessionID: pi, Why: "resume"},
			"session_start:clear":   {Event: HookSessionStart, SessionID: pi, Why: "clear"},
			"session_start:compact": {Event: HookSessionStart, SessionID: pi, Why: "compact"},
			"prompt":                {Event: HookPrompt, SessionID: pi},
			"before_tool:write":     {Event: HookBeforeTool, SessionID: pi, Edits: whole("write", "locked.txt")},
			"before_tool:edit":      {Event: HookBeforeTool, SessionID: pi, Edits: tool("edit", "locked.txt")},
			"before_tool:bash":      {Event: HookBeforeTool, SessionID: pi, Edits: whole("bash", "sub/ok.txt")},
			"after_tool:write":      {Event: HookAfterTool, SessionID: pi, Edits: whole("write", "ok.txt")},
			"after_tool:read": {
				Event: HookAfterTool, SessionID: pi, Edits: shows("read", "/home/ann/app/ok.txt"),
			},
			"stop":        {Event: HookStop, SessionID: pi},
			"stop:held":   {Event: HookStop, SessionID: pi, AlreadyBlocked: true},
			"compact":     {Event: HookCompact, SessionID: pi},
			"session_end": {Event: HookSessionEnd, SessionID: pi, Why: "quit"},
		},
	}

	for name, events := range samples(t) {
		row, ok := ByName(name)
		if !ok {
			t.Fatalf("no harness %s", name)
		}

		for event := range want[name] {
			if events[event] == nil {
				t.Errorf("%s: there is no sample of %s", name, event)
			}
		}

		for event, told := range events {
			in, err := readHook(row, told)
			if err != nil {
				t.Errorf("%s %s: %v", name, event, err)
				continue
			}
			w, listens := want[name][event]
			if !listens {
				if in.Event != "" {
					t.Errorf("%s %s is read as %s", name, event, in.Event)
				}
				continue
			}

			w.Name, _, _ = strings.Cut(event, ":")
			w.Dir = "/home/ann/app"
			w.Helper, w.Failed = subagentOf(t, told), strings.HasSuffix(w.Name, "Failure")
			tool := strings.ToLower(w.Edits.Tool)
			w.Edits.Command = tool == "bash" || tool == "run_shell_command"

			// What a harness names as it likes.
			if isNamed := in.Call != ""; isNamed != (w.Edits.Tool != "" && namesCalls[name]) {
				t.Errorf("%s %s: the call is %q", name, event, in.Call)
			}
			if hasText := in.Edits.Text != ""; hasText != w.Edits.Command {
				t.Errorf("%s %s: the command is %q", name, event, in.Edits.Text)
			}

			in.Call, in.Edits.Text = "", ""
			if diff := cmp.Diff(w, in); diff != "" {
				t.Errorf("%s %s:\n%s", name, event, diff)
			}
		}
	}

	if len(want) != len(samples(t)) {
		t.Error("the samples are of other harnesses")
	}
}

// namesCalls are the harnesses that name a tool call before and after it.
var namesCalls = map[string]bool{"claude": true, "codex": true, "qwen": true}

// TestReadHookOfWhatIsOdd: of an odd input, what can be used is used. What can't be read fails.
func TestReadHookOfWhatIsOdd(t *testing.T) {
	row, _ := ByName("claude")
	for told, want := range map[string]HookInput{
		`{}`:                              {},
		`{"hook_event_name":"Stop"}`:      {Event: HookStop, Name: "Stop"},
		`{"hook_event_name":"STOP"}`:      {},
		`{"hook_event_name":"AfterRain"}`: {},
		`{"hook_event_name":"Stop","stop_hook_active":true,"cwd":"work"}`: {
			Event: HookStop, Name: "Stop", AlreadyBlocked: true,
		},
		`{"hook_event_name":"Stop","session_id":null,"cwd":null,"agent_id":null}`:             {Event: HookStop, Name: "Stop"},
		`{"hook_event_name":"Stop","agent_id":"","tool_input":[1],"x":{"session_id":"deep"}}`: {Event: HookStop, Name: "Stop"},
		`{"hook_event_name":"Stop","agent_id":"sub"}`:                                         {Name: "Stop", Subagent: true, Helper: "sub"},
		`{"hook_event_name":"SessionEnd","agent_id":"sub","reason":"other"}`: {
			Name: "SessionEnd", Why: "other", Subagent: true, Helper: "sub",
		},
		`{"hook_event_name":"UserPromptSubmit","agent_id":"sub"}`: {
			Name: "UserPromptSubmit", Subagent: true, Helper: "sub",
		},
		`{"hook_event_name":"PostToolUse","agent_id":"sub"}`: {
			Event: HookAfterTool, Name: "PostToolUse", Subagent: true, Helper: "sub",
		},
		`{"hook_event_name":"PreToolUse","agent_id":"sub","tool_name":"Write","tool_input":{"file_path":"a"}}`: {
			Event: HookBeforeTool, Name: "PreToolUse", Subagent: true, Helper: "sub",
			Edits: Edits{Tool: "Write", Paths: []string{"a"}, Wholes: []string{"a"}},
		},
	} {
		in, err := readHook(row, []byte(told))
		if diff := cmp.Diff(want, in); diff != "" || err != nil {
			t.Errorf("%s (%v):\n%s", told, err, diff)
		}
	}

	for _, told := range []string{
		"", " ", "Stop", "[]", `"Stop"`, "7", `{"hook_event_name":`, `{"hook_event_name":7}`,
		`{"session_id":{}}`, `{"stop_hook_active":"no"}`, "{}{}",
	} {
		if in, err := readHook(row, []byte(told)); err == nil || !cmp.Equal(in, HookInput{}) {
			t.Errorf("%q is read as %+v (%v)", told, in, err)
		}
	}

	if row, _ := ByName("antigravity"); len(row.Hooks) > 0 {
		t.Error("nobody has seen how antigravity takes an answer")
	}
}

// answers are the fields that a harness knows in the answer to a hook, and the values that they may have; nil
// stands for any text. Codex rejects an answer with a field that it doesn't know.
var answers = map[string]map[string][]string{
	"claude": {
		"decision": {"block"}, "reason": nil, "hookSpecificOutput.permissionDecision": {"deny"},
		"hookSpecificOutput.permissionDecisionReason": nil,
		"hookSpecificOutput.hookEventName": {
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
		},
		"hookSpecificOutput.additionalContext": nil,
	},
	"codex": {
		"decision": {"block"}, "reason": nil, "hookSpecificOutput.permissionDecision": {"deny"},
		"hookSpecificOutput.permissionDecisionReason": nil,
		"hookSpecificOutput.hookEventName": {
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse",
		},
		"hookSpecificOutput.additionalContext": nil,
	},
	"gemini": {
		"decision": {"deny"}, "reason": nil,
		"hookSpecificOutput.hookEventName":     {"SessionStart", "BeforeAgent", "AfterTool"},
		"hookSpecificOutput.additionalContext": nil,
	},
	"copilot": {
		"decision": {"block"}, "reason": nil, "permissionDecision": {"deny"}, "permissionDecisionReason": nil,
		"additionalContext": nil,
	},
	"pi": {
		"decision": {"block", "deny"}, "reason": nil,
		"hookSpecificOutput.hookEventName":     {"session_start", "prompt", "before_tool", "after_tool"},
		"hookSpecificOutput.additionalContext": nil,
	},
	"qwen": {
		"decision": {"block"}, "reason": nil, "hookSpecificOutput.permissionDecision": {"deny"},
		"hookSpecificOutput.permissionDecisionReason": nil,
		"hookSpecificOutput.hookEventName": {
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
		},
		"hookSpecificOutput.additionalContext": nil,
	},
	"opencode": {
		"decision": {"block", "deny"}, "reason": nil,
		"hookSpecificOutput.hookEventName":     {"session_start", "prompt", "before_tool", "after_tool"},
		"hookSpecificOutput.additionalContext": nil,
	},
}

// fields flattens a document.
func fields(t testing.TB, b []byte) map[string]string {
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatalf("the answer isn't JSON: %v\n%s", err, b)
	}
	out := map[string]string{}
	var walk func(string, map[string]any)
	walk = func(at string, m map[string]any) {
		for k, v := range m {
			switch v := v.(type) {
			case string:
				out[at+k] = v
			case map[string]any:
				walk(at+k+".", v)
			default:
				t.Fatalf("%s%s is %T", at, k, v)
			}
		}
	}

	walk("", doc)
	return out
}

// TestWriteHook: the answer to every event that we listen to has only fields that the harness understands.
func TestWriteHook(t *testing.T) {
	const text = "two\nlines, \"quoted\" <b>\u2028 & all"
	for _, row := range Rows {
		for _, h := range row.Hooks {
			in := HookInput{Event: h.Event, Name: h.Name}
			if h.Event != HookBeforeTool {
				if b := row.WriteHook(in, HookAnswer{Deny: text}); b != nil {
					t.Errorf("%s: a tool is denied at %s by %s", row.Name, h.Name, b)
				}
			}

			if b := row.WriteHook(in, HookAnswer{}); b != nil {
				t.Errorf("%s: nothing is said as %s", row.Name, b)
			}

			switch h.Event {
			case HookSessionEnd: // nobody is left to read an answer
			case HookCompact, HookAsks: // nothing is answered
			case HookStop:
				got := fields(t, row.WriteHook(in, HookAnswer{Block: text}))
				if diff := cmp.Diff(map[string]string{
					"decision": answers[row.Name]["decision"][0], "reason": text,
				}, got); diff != "" {
					t.Errorf("%s %s:\n%s", row.Name, h.Name, diff)
				}

			case HookBeforeTool:
				got := fields(t, row.WriteHook(in, HookAnswer{Deny: text}))
				want := map[string]string{
					"hookSpecificOutput.hookEventName": h.Name, "hookSpecificOutput.permissionDecision": "deny",
					"hookSpecificOutput.permissionDecisionReason": text,
				}

				if row.HookFlat {
					want = map[string]string{"permissionDecision": "deny", "permissionDecisionReason": text}
				}
				if row.HookDeny != "" {
					want = map[string]string{"decision": row.HookDeny, "reason": text}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s %s:\n%s", row.Name, h.Name, diff)
				}

			default:
				got := fields(t, row.WriteHook(in, HookAnswer{Context: text}))
				want := map[string]string{
					"hookSpecificOutput.hookEventName": h.Name, "hookSpecificOutput.additionalContext": text,
				}
				if row.HookFlat {
					want = map[string]string{"additionalContext": text}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s %s:\n%s", row.Name, h.Name, diff)
				}
				if !row.HookFlat && !slices.Contains(answers[row.Name]["hookSpecificOutput.hookEventName"], h.Name) {
					t.Errorf("%s knows no context at %s", row.Name, h.Name)
				}
			}
		}
	}
}

// FuzzReadHook reads whatever a harness might send. It never panics, the event is a known one, and the answer
// has no field that the harness doesn't know.
func FuzzReadHook(f *testing.F) {
	for name, events := range samples(f) {
		i := slices.Index(Names(), name)
		for _, event := range slices.Sorted(maps.Keys(events)) {
			f.Add(i, []byte(events[event]), "what is new")
		}
	}

	f.Add(0, []byte(`{"hook_event_name":"Stop","cwd":"\u0000","stop_hook_active":1}`), "\xff\x00")
	f.Fuzz(func(t *testing.T, i int, told []byte, text string) {
		row := Rows[uint(i)%uint(len(Rows))]
		f, err := ReadFiring(runBy(row), told)
		in := f.HookInput
		if err != nil {
			if !cmp.Equal(in, HookInput{}) {
				t.Fatalf("what can't be read is read as %+v", in)
			}
			return
		}

		known := slices.ContainsFunc(f.dialect.Hooks, func(h Hook) bool {
			return h.Event == in.Event && h.Name == in.Name
		})
		if in.Event != "" && !known {
			t.Fatalf("%s has no %s called %q", f.dialect.Name, in.Event, in.Name)
		}
		if in.Dir != "" && !strings.HasPrefix(in.Dir, "/") && os.PathSeparator == '/' {
			t.Fatalf("the directory is %q", in.Dir)
		}
		if in.Event == "" {
			return // nothing is answered
		}

		said := []HookAnswer{{Context: text}, {Block: text}}
		if in.Event == HookBeforeTool {
			said = []HookAnswer{{Deny: text}}
		}

		for _, a := range said {
			b := f.Answer(a)
			if (b == nil) != (text == "") {
				t.Fatalf("%+v is answered by %q", a, b)
			}
			if b == nil {
				continue
			}
			if bytes.ContainsAny(b, "\n\r") {
				t.Fatalf("the answer isn't one line: %q", b)
			}

			for field, value := range fields(t, b) {
				values, ok := answers[f.dialect.Name][field]
				if !ok || field == "decision" && !slices.Contains(values, value) {
					t.Fatalf("%s doesn't know %s: %q", f.dialect.Name, field, value)
				}
			}
		}
	})
}
