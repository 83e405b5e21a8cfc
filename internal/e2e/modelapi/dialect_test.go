package modelapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// question is a conversation in one of the dialects: instructions, a prompt, a call and its result.
type question struct {
	dialect        Dialect
	path, streamed string
	body           string
	stream         string // what in the body asks for a stream, if the path doesn't
	shell          Message
}

var questions = []question{
	{
		dialect: Anthropic, path: "/v1/messages?beta=true", streamed: "/v1/messages?beta=true",
		stream: `"stream":true,`,
		body: `{"model":"m","system":[{"type":"text","text":"Be good."}],"tools":[{"name":"Bash"},{"name":"Write"},{"name":"mcp__srv__ping"}],"messages":[
			{"role":"user","content":[{"type":"text","text":"reminder"},{"type":"text","text":"Please."}]},
			{"role":"assistant","content":[{"type":"text","text":"Well."},{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"text","text":"no such file"}]}]},
			{"role":"user","content":"And now?"}]}`,
		shell: Message{Role: Result, Text: "no such file", Tool: "Bash", CallID: "c1", Failed: true},
	},
	{
		dialect: Responses, path: "/v1/responses", streamed: "/v1/responses", stream: `"stream":true,`,
		body: `{"model":"m","instructions":"Be good.","tools":[{"type":"function","name":"exec_command"},{"type":"custom","name":"apply_patch"},
			{"type":"namespace","name":"mcp__srv","tools":[{"type":"function","name":"ping"}]},{"type":"web_search"}],"input":[
			{"type":"message","role":"developer","content":[{"type":"input_text","text":"reminder"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"Please."}]},
			{"type":"reasoning","content":null},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Well."}]},
			{"type":"function_call","name":"exec_command","call_id":"c1","arguments":"{\"command\":\"ls\"}"},
			{"type":"function_call_output","call_id":"c1","output":"no such file"},
			{"type":"message","role":"user","content":"And now?"}]}`,
		shell: Message{Role: Result, Text: "no such file", Tool: "exec_command", CallID: "c1"},
	},
	{
		dialect: Gemini, path: "/v1beta/models/m:generateContent",
		streamed: "/v1beta/models/m:streamGenerateContent?alt=sse",
		body: `{"systemInstruction":{"role":"user","parts":[{"text":"Be good."}]},
			"tools":[{"functionDeclarations":[{"name":"run_shell_command"},{"name":"write_file"},{"name":"mcp_srv_ping"}]}],"contents":[
			{"role":"user","parts":[{"text":"reminder"},{"text":"Please."}]},
			{"role":"model","parts":[{"text":"Well."},{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"ls"}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"no such file"}}}]},
			{"role":"user","parts":[{"text":"And now?"}]}]}`,
		shell: Message{Role: Result, Text: "no such file", Tool: "run_shell_command", CallID: "c1"},
	},
	{
		dialect: Chat, path: "/v1/chat/completions", streamed: "/v1/chat/completions", stream: `"stream":true,`,
		body: `{"model":"m","tools":[{"type":"function","function":{"name":"bash"}},{"type":"function","function":{"name":"write"}},
			{"type":"function","function":{"name":"srv_ping"}}],"messages":[
			{"role":"system","content":"Be good."},
			{"role":"user","content":"reminder"},
			{"role":"user","content":[{"type":"text","text":"Please."}]},
			{"role":"assistant","content":"Well.","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"no such file"},
			{"role":"user","content":"And now?"}]}`,
		shell: Message{Role: Result, Text: "no such file", Tool: "bash", CallID: "c1"},
	},
}

func TestConversationIsReadFromEveryDialect(t *testing.T) {
	for _, q := range questions {
		t.Run(string(q.dialect), func(t *testing.T) {
			c := Start(t).Session("x", Say("hello"))
			status, answer := post(t, c, q.path, q.body)
			if status != http.StatusOK || !strings.Contains(answer, "hello") {
				t.Errorf("%d %s", status, answer)
			}
			if len(c.Requests()) != 1 || len(c.SideRequests()) != 0 {
				t.Fatalf("%d requests, %d aside", len(c.Requests()), len(c.SideRequests()))
			}

			r := c.Requests()[0]
			reminder := User
			if q.dialect == Responses {
				reminder = System
			}

			want := []Message{
				{Role: reminder, Text: "reminder"},
				{Role: User, Text: "Please."},
				{Role: Model, Text: "Well."},
				{Role: Calling, Text: `{"command":"ls"}`, Tool: q.shell.Tool, CallID: "c1"},
				q.shell,
				{Role: User, Text: "And now?"},
			}

			if d := cmp.Diff(want, r.Messages); d != "" {
				t.Errorf("messages (-want +got):\n%s", d)
			}
			if r.Session != "x" ||
				r.Dialect != q.dialect ||
				r.Model != "m" ||
				r.System != "Be good." ||
				r.Stream ||
				string(r.Body) != q.body {
				t.Errorf("%+v", r)
			}
			if (r.SessionID == "their-session") != (q.dialect != Gemini) {
				t.Errorf("session %q", r.SessionID)
			}
			if len(r.Tools) != 3 || !r.Offers(q.shell.Tool) || r.Offers("else") {
				t.Errorf("tools %+v", r.Tools)
			}
			if r.LastResult() != q.shell || !strings.Contains(r.Text(), "Be good.\nreminder\nPlease.") {
				t.Errorf("last %+v, text %q", r.LastResult(), r.Text())
			}
		})
	}
}

// TestCallsInEveryDialect compares what is written with what the vendors' documents show.
func TestCallsInEveryDialect(t *testing.T) {
	script := func(context.Context, *Request) (Reply, error) {
		return Reply{
			Text:  "Well.",
			Calls: []Call{Shell("ls"), Write("/f", "x\n"), MCP("srv", "ping", map[string]any{"n": 1})},
		}, nil
	}
	for _, q := range questions {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprint(q.dialect, "/", streamed), func(t *testing.T) {
				c := Start(t).Session("x", script)
				path, body := q.path, q.body
				if streamed {
					path, body = q.streamed, strings.Replace(body, "{", "{"+q.stream, 1)
				}
				status, answer := post(t, c, path, body)
				if status != http.StatusOK || strings.HasPrefix(answer, "{") == streamed {
					t.Fatalf("%d %s", status, answer)
				}

				text, calls := understand(t, q.dialect, answer)
				want := map[Dialect][]string{
					Anthropic: {
						`Bash {"command":"ls","description":"A scripted command"}`,
						`Write {"content":"x\n","file_path":"/f"}`, `mcp__srv__ping {"n":1}`,
					},
					Responses: {
						`exec_command {"cmd":"ls","yield_time_ms":30000}`,
						"apply_patch *** Begin Patch\n*** Add File: /f\n+x\n*** End Patch\n",
						`mcp__srv/ping {"n":1}`,
					},
					Gemini: {
						`run_shell_command {"command":"ls","description":"A scripted command"}`,
						`write_file {"content":"x\n","file_path":"/f"}`, `mcp_srv_ping {"n":1}`,
					},
					Chat: {
						`bash {"command":"ls","description":"A scripted command"}`,
						`write {"content":"x\n","filePath":"/f"}`, `srv_ping {"n":1}`,
					},
				}[q.dialect]

				if d := cmp.Diff(want, calls); d != "" || text != "Well." {
					t.Errorf("text %q, calls (-want +got):\n%s", text, d)
				}
			})
		}
	}
}

// understand reads an answer as a harness does: all objects of a stream, or the only one. Ids of
// calls have to differ.
func understand(t *testing.T, d Dialect, answer string) (said string, calls []string) {
	t.Helper()
	objects := []string{answer}
	if !strings.HasPrefix(answer, "{") {
		objects = nil
		for _, line := range strings.Split(answer, "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok && data != "[DONE]" {
				objects = append(objects, data)
			}
		}
	}

	ids := map[string]bool{}
	call := func(id, name, args string) {
		if ids[id] || id == "" {
			t.Errorf("id %q of a call isn't its own", id)
		}
		ids[id] = true
		calls = append(calls, name+" "+args)
	}

	type block struct {
		Type, Text, ID, Name, Namespace, Arguments string
		Input                                      json.RawMessage
		CallID                                     string `json:"call_id"`
		Content                                    []struct{ Text string }
		FunctionCall                               *struct {
			ID, Name string
			Args     json.RawMessage
		}
		PartialJSON string `json:"partial_json"`
	}

	item := func(b block) {
		switch b.Type {
		case "message":
			said += b.Content[0].Text
		case "custom_tool_call":
			var patch string
			if err := json.Unmarshal(b.Input, &patch); err != nil {
				t.Error(err)
			}
			call(b.CallID, b.Name, patch)

		case "function_call":
			call(b.CallID, strings.TrimPrefix(b.Namespace+"/"+b.Name, "/"), b.Arguments)
		}
	}

	var open block // Anthropic's, whose parts come one by one
	for _, o := range objects {
		var e struct {
			Type         string
			Content      []block
			ContentBlock block `json:"content_block"`
			Delta        json.RawMessage
			Output       []block
			Item         block
			Candidates   []struct{ Content struct{ Parts []block } }
			Choices      []struct {
				Message, Delta struct {
					Content   string
					ToolCalls []struct {
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}

		if err := json.Unmarshal([]byte(o), &e); err != nil {
			t.Fatalf("%v: %s", err, o)
		}

		switch e.Type {
		case "message":
			for _, b := range e.Content {
				if b.Type == "tool_use" {
					call(b.ID, b.Name, string(b.Input))
				}
				said += b.Text
			}

		case "content_block_start":
			open = e.ContentBlock
		case "content_block_delta":
			var delta block
			if err := json.Unmarshal(e.Delta, &delta); err != nil {
				t.Error(err)
			}
			said += delta.Text
			if open.Type == "tool_use" {
				call(open.ID, open.Name, delta.PartialJSON)
			}

		case "response.output_item.done":
			item(e.Item)
		}

		for _, b := range e.Output {
			item(b)
		}

		for _, c := range e.Candidates {
			for _, b := range c.Content.Parts {
				said += b.Text
				if b.FunctionCall != nil {
					call(b.FunctionCall.ID, b.FunctionCall.Name, string(b.FunctionCall.Args))
				}
			}
		}

		for _, c := range e.Choices {
			said += c.Message.Content + c.Delta.Content
			for _, f := range append(c.Message.ToolCalls, c.Delta.ToolCalls...) {
				call(f.ID, f.Function.Name, f.Function.Arguments)
			}
		}
	}

	return said, calls
}

// TestCallsOfChats: several harnesses speak chat completions. What they offer tells which one asks.
func TestCallsOfChats(t *testing.T) {
	for _, c := range []struct {
		tools string
		want  []string
	}{
		{"bash read write:filePath edit srv_ping", []string{
			`bash {"command":"ls","description":"A scripted command"}`,
			`write {"content":"x","filePath":"/f"}`, `edit {"filePath":"/f","newString":"y","oldString":"x"}`,
			`srv_ping {"n":1}`,
		}},
		{"bash read_bash view create:path edit srv-ping", []string{
			`bash {"command":"ls","description":"A scripted command","initial_wait":600,"mode":"sync"}`,
			`create {"file_text":"x","path":"/f"}`, `edit {"new_str":"y","old_str":"x","path":"/f"}`,
			`srv-ping {"n":1}`, `bash {"command":"ls","description":"A scripted command","mode":"async"}`,
		}},
		{"bash read write:path edit", []string{
			`bash {"command":"ls","description":"A scripted command"}`, `write {"content":"x","path":"/f"}`,
			`edit {"edits":[{"newText":"y","oldText":"x"}],"path":"/f"}`,
		}},
		{"run_shell_command read_file write_file:file_path edit tool_search", []string{
			`run_shell_command {"command":"ls","description":"A scripted command","is_background":false}`,
			`write_file {"content":"x","file_path":"/f"}`,
			`edit {"file_path":"/f","new_string":"y","old_string":"x"}`, `mcp__srv__ping {"n":1}`,
			`run_shell_command {"command":"ls","description":"A scripted command","is_background":true}`,
		}},
	} {
		said := []Call{
			Shell("ls"),
			Write("/f", "x"),
			Edit("/f", "x", "y"),
			MCP("srv", "ping", map[string]any{"n": 1}),
			Background("ls"),
		}
		var tools []string
		for _, name := range strings.Fields(c.tools) {
			name, takes, _ := strings.Cut(name, ":")
			tools = append(tools,
				`{"type":"function","function":{"name":"`+name+`","parameters":{"properties":{"`+takes+`":{}}}}}`)
		}

		s := Start(t).Session("x", Do(said[:len(c.want)]...))
		_, answer := post(t, s, "/v1/chat/completions",
			`{"model":"m","tools":[`+strings.Join(tools, ",")+`],"messages":[]}`)
		if _, calls := understand(t, Chat, answer); !cmp.Equal(c.want, calls) {
			t.Errorf("%s:\n%s", c.tools, cmp.Diff(c.want, calls))
		}
	}
}

// TestCodeMode has the calls made by code, as Codex's newer models make them.
func TestCodeMode(t *testing.T) {
	const body = `{"input":[{"type":"additional_tools","tools":[{"type":"namespace","name":"functions","tools":[
		{"type":"custom","name":"exec","description":"Run code\n\n### ` + "`apply_patch`\\nedits\\n\\n### `exec_command`" + `\nruns"}]}]}]}`
	for _, c := range []struct {
		call Call
		want string
	}{
		{Shell("echo '$' \"$HOME\""), `tools.exec_command({cmd: "echo '$' \"$HOME\"",`},
		{
			Edit("/f", "a", "b"),
			`tools.apply_patch("*** Begin Patch\n*** Update File: /f\n@@\n-a\n+b\n*** End Patch\n")`,
		},
		{MCP("my-srv", "ping", nil), `tools["mcp__my_srv__ping"]({})`},
		{Named("exec", "text('hello')"), "text('hello')"},
	} {
		s := Start(t).Session("x", Do(c.call))
		_, answer := post(t, s, "/v1/responses", body)
		_, calls := understand(t, Responses, answer)
		if len(calls) != 1 || !strings.HasPrefix(calls[0], "exec ") && c.call.do != named {
			t.Fatalf("%s", calls)
		}

		var item struct {
			Output []struct{ Type, Namespace, Input string }
		}
		if err := json.Unmarshal([]byte(answer), &item); err != nil {
			t.Fatal(err)
		}
		o := item.Output[0]
		if o.Type != "custom_tool_call" || o.Namespace != "functions" || !strings.Contains(o.Input, c.want) {
			t.Errorf("%+v, which lacks %s", o, c.want)
		}
		if r := s.Requests()[0]; !r.Offers("exec_command") || !r.Offers("exec") {
			t.Errorf("tools %+v", r.Tools)
		}
	}
}
