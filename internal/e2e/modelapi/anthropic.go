package modelapi

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
)

// anthropic is Anthropic's Messages API.
type anthropic struct{}

var claude = words{
	shell: "Bash", read: "Read", write: "Write", edit: "Edit",
	path: "file_path", content: "content", old: "old_string", new: "new_string",
	mcp: func(server, tool string) string { return "mcp__" + server + "__" + tool },
}

func (anthropic) translateCall(r *Request, c Call) (native, error) { return claude.translateCall(r, c) }

func (anthropic) readRequest(r *Request) error {
	var body struct {
		Model    string          `json:"model"`
		System   json.RawMessage `json:"system"`
		Stream   bool            `json:"stream"`
		Metadata struct {
			UserID string `json:"user_id"`
		} `json:"metadata"`
		Tools []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}

	r.Model, r.Stream = body.Model, body.Stream
	r.SessionID = r.Header.Get("X-Claude-Code-Session-Id")
	if len(body.System) > 0 {
		r.System = textOf(body.System)
	}

	for _, t := range body.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Name, Description: t.Description, name: t.Name})
	}

	for _, m := range body.Messages {
		role := Role(m.Role)
		if role == "assistant" {
			role = Model
		}

		var blocks []struct {
			Type      string          `json:"type"`
			Text      string          `json:"text"`
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Input     json.RawMessage `json:"input"`
			ToolUseID string          `json:"tool_use_id"`
			Content   json.RawMessage `json:"content"`
			IsError   bool            `json:"is_error"`
		}

		// What is no list is a string.
		if json.Unmarshal(m.Content, &blocks) != nil {
			r.Messages = append(r.Messages, Message{Role: role, Text: textOf(m.Content)})
			continue
		}

		for _, b := range blocks {
			switch b.Type {
			case "text":
				r.Messages = append(r.Messages, Message{Role: role, Text: b.Text})
			case "tool_use":
				r.Messages = append(r.Messages, Message{Role: Calling, Text: string(b.Input), Tool: b.Name, CallID: b.ID})
			case "tool_result":
				r.Messages = append(r.Messages, Message{Role: Result, Text: textOf(b.Content), CallID: b.ToolUseID, Failed: b.IsError})
			}
		}
	}
	return nil
}

func (anthropic) writeReply(w http.ResponseWriter, r *Request, said utterance) {
	var content []map[string]any
	if said.text != "" || len(said.calls) == 0 {
		content = append(content, map[string]any{"type": "text", "text": said.text})
	}
	stop := "end_turn"
	for _, c := range said.calls {
		stop = "tool_use"
		content = append(content, map[string]any{"type": "tool_use", "id": toolUse(c.id), "name": c.tool.name, "input": c.args})
	}

	message := map[string]any{
		"id":   "msg_" + rand.Text(), // Claude Code joins messages with the same id
		"type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}

	if !r.Stream {
		writeObject(w, message)
		return
	}

	// The beginning of a stream has neither content nor an end.
	message["content"], message["stop_reason"] = []any{}, nil
	s := newStream(w)
	send := func(kind string, v map[string]any) {
		v["type"] = kind
		s.sendEvent(kind, v)
	}

	send("message_start", map[string]any{"message": message})
	for i, block := range content {
		delta := map[string]any{"type": "text_delta", "text": block["text"]}
		if block["type"] == "text" {
			block["text"] = ""
		} else {
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(block["input"].(json.RawMessage))}
			block["input"] = map[string]any{}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": block})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}

	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 1},
	})
	send("message_stop", map[string]any{})
}

// toolUse returns a call's id in Anthropic's form.
func toolUse(id string) string { return "toolu_" + strings.TrimPrefix(id, "call_") }
