package harness

import (
	"strings"
	"testing"
)

// TestStreamLine: what harnesses write for programs is said in words, and everything else is left alone.
func TestStreamLine(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"assistant","message":{"content":"plain"}}`:                                                                            "> plain",
		`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Edit","input":{"file_path":"/a.go","old_string":"x"}}]}}`: "* Edit /a.go",
		`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Stop","input":{}}]}}`:                                     "* Stop",
		`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Odd","input":{"n":1}}]}}`:                                 `* Odd {"n":1}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","content":"fine"}]}}`:                                               "",
		`{"type":"user","message":{"content":[{"type":"tool_result","content":"bad","is_error":true}]}}`:                                "! bad",
		`{"type":"system","subtype":"hook_response"}`:                                                                                   "",
		`{"type":"stream_event","event":{}}`:                                                                                            "",
		`{"type":"result","subtype":"error_max_turns","is_error":false,"duration_ms":1000,"num_turns":3}`:                               "result after 1s, 3 turns, failed (error_max_turns):",
		`{"type":"item.completed","item":{"item_type":"assistant_message","text":"hi"}}`:                                                "hi",
		`{"type":"item.completed","item":{"type":"mcp_tool_call","server":"tt","tool":"join_path","arguments":{"a":1}}}`:                `* tt.join_path {"a":1}`,
		`{"type":"item.completed","item":{"type":"command_execution","exit_code":0}}`:                                                   "",
		`{"type":"item.completed","item":{"type":"web_search","query":"go"}}`:                                                           "* search go",
		`{"type":"item.updated","item":{"type":"todo_list"}}`:                                                                           "",
		`{"type":"turn.failed","error":{"message":"no key"}}`:                                                                           "! no key",
		`{"type":"error","message":"stream disconnected"}`:                                                                              "! stream disconnected",
		"  {\"type\":\"thread.started\",\"thread_id\":\"t\"}\r":                                                                         "session of Codex, t",
		`{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("x", 3000) + `"}]}}`:                       strings.Repeat("x", maxSaid) + "…",
	} {
		if got, known := StreamLine([]byte(line)); !known || got != want {
			t.Errorf("%.80s is said as %q, %v, want %q", line, got, known, want)
		}
	}

	for _, line := range []string{
		"", "x", "{", "{}", "[]", "null", `{"type":5}`, `{"type":"other"}`, `{"type":"assistant"}`,
		`{"type":"assistant","message":5}`, `{"type":"system"}`,
		`{"type":"error"}`, `{"type":"item.completed"}`, `{"type":"item.completed","item":{"type":5}}`,
		`{"type":"result"}`, `{"type":"user","message":{"conte`,
		"{\"type\":\"assistant\"\x00}", `{"level":"info","msg":"a program's own log"}`,
	} {
		if got, known := StreamLine([]byte(line)); known {
			t.Errorf("%q is said as %q", line, got)
		}
	}
}

func FuzzStreamLine(f *testing.F) {
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]}}`))
	f.Add([]byte(`{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"a"}]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if text, known := StreamLine(line); !known && text != "" {
			t.Errorf("%q isn't known, and is said as %q", line, text)
		}
	})
}
