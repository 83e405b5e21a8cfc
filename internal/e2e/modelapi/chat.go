package modelapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
)

// chat is OpenAI's chat completions, which many providers offer.
type chat struct{}

var (
	opencode = words{
		shell: "bash", read: "read", write: "write", edit: "edit",
		path: "filePath", content: "content", old: "oldString", new: "newString",
		mcp: func(server, tool string) string { return server + "_" + tool },
	}
	copilot = words{
		shell: "bash", read: "view", write: "create", edit: "edit",
		path: "path", content: "file_text", old: "old_str", new: "new_str",
		mcp:        func(server, tool string) string { return server + "-" + tool },
		shellMore:  map[string]any{"mode": "sync", "initial_wait": 600}, // by default it waits for 30 seconds
		background: map[string]any{"mode": "async"},
	}
	pi = words{
		shell: "bash", read: "read", write: "write", edit: "edit",
		path: "path", content: "content", old: "oldText", new: "newText", edits: "edits",
	}
	qwen = words{
		shell: "run_shell_command", read: "read_file", write: "write_file", edit: "edit",
		path: "file_path", content: "content", old: "old_string", new: "new_string",
		mcp:        func(server, tool string) string { return "mcp__" + server + "__" + tool },
		hidesMCP:   true,
		shellMore:  map[string]any{"is_background": false},
		background: map[string]any{"is_background": true},
	}
)

// translateCall finds out by the tools which of the harnesses asks.
func (chat) translateCall(r *Request, c Call) (native, error) {
	for _, w := range []words{copilot, qwen, pi, pi} {
		if w.isOffered(r) {
			return w.translateCall(r, c)
		}
	}
	return opencode.translateCall(r, c)
}

func (chat) readRequest(r *Request) error {
	var body struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Tools  []struct {
			Function struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				Parameters  struct {
					Properties map[string]any `json:"properties"`
				} `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}

	r.Model, r.Stream = body.Model, body.Stream
	r.SessionID = r.Header.Get("X-Session-Affinity")

	for _, t := range body.Tools {
		r.Tools = append(r.Tools, Tool{
			Name: t.Function.Name, Description: t.Function.Description, name: t.Function.Name,
			takes: slices.Collect(maps.Keys(t.Function.Parameters.Properties)),
		})
	}

	for i, m := range body.Messages {
		role := Role(m.Role)
		switch role {
		case "assistant":
			role = Model
		case "tool":
			r.Messages = append(r.Messages, Message{Role: Result, Text: textOf(m.Content), CallID: m.ToolCallID})
			continue
		case "system", "developer":
			// Only the first one is the instructions; others belong to the conversation.
			if role = System; i == 0 {
				r.System = textOf(m.Content)
				continue
			}
		}

		if said := textOf(m.Content); said != "" && said != "null" {
			r.Messages = append(r.Messages, Message{Role: role, Text: said})
		}

		for _, c := range m.ToolCalls {
			r.Messages = append(r.Messages, Message{Role: Calling, Text: c.Function.Arguments, Tool: c.Function.Name, CallID: c.ID})
		}
	}
	return nil
}

func (chat) writeReply(w http.ResponseWriter, r *Request, said utterance) {
	message := map[string]any{"role": "assistant", "content": said.text}
	finish := "stop"
	var calls []map[string]any
	for i, c := range said.calls {
		finish = "tool_calls"
		calls = append(calls, map[string]any{
			"index": i, "id": c.id, "type": "function",
			"function": map[string]any{"name": c.tool.name, "arguments": string(c.args)},
		})
		message["tool_calls"] = calls
	}

	answer := func(kind, key string, v map[string]any, finish any) map[string]any {
		return map[string]any{
			"id": "chatcmpl-scripted", "object": kind, "created": 1, "model": r.Model,
			"choices": []any{map[string]any{"index": 0, key: v, "finish_reason": finish}},
		}
	}

	usage := map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	if !r.Stream {
		all := answer("chat.completion", "message", message, finish)
		all["usage"] = usage
		writeObject(w, all)
		return
	}

	s := newStream(w)
	s.sendEvent("", answer("chat.completion.chunk", "delta", message, nil))

	last := answer("chat.completion.chunk", "delta", map[string]any{}, finish)
	last["usage"] = usage
	s.sendEvent("", last)
	s.writeLine("[DONE]")
}
