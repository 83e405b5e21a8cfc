package modelapi

import (
	"encoding/json"
	"net/http"
)

// gemini is Google's Gemini API. It sends no session id.
type gemini struct{}

var geminiCLI = words{
	shell: "run_shell_command", read: "read_file", write: "write_file", edit: "replace",
	path: "file_path", content: "content", old: "old_string", new: "new_string",
	mcp:      func(server, tool string) string { return "mcp_" + server + "_" + tool },
	editMore: map[string]any{"instruction": "A scripted edit"}, // it requires a reason
}

func (gemini) translateCall(r *Request, c Call) (native, error) { return geminiCLI.translateCall(r, c) }

type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text         string `json:"text"`
		FunctionCall *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		FunctionResponse *struct {
			ID       string          `json:"id"`
			Name     string          `json:"name"`
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (gemini) readRequest(r *Request) error {
	var body struct {
		Contents          []geminiContent `json:"contents"`
		SystemInstruction geminiContent   `json:"systemInstruction"`
		Tools             []struct {
			FunctionDeclarations []struct {
				Name        string `json:"name"`
				Description string `json:"description"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}

	for _, p := range body.SystemInstruction.Parts {
		r.System += p.Text
	}

	for _, group := range body.Tools {
		for _, t := range group.FunctionDeclarations {
			r.Tools = append(r.Tools, Tool{Name: t.Name, Description: t.Description, name: t.Name})
		}
	}

	for _, c := range body.Contents {
		role := User
		if c.Role == "model" {
			role = Model
		}

		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				r.Messages = append(r.Messages, Message{
					Role: Calling, Text: string(p.FunctionCall.Args),
					Tool: p.FunctionCall.Name, CallID: p.FunctionCall.ID,
				})
			case p.FunctionResponse != nil:
				r.Messages = append(r.Messages, Message{
					Role: Result, Text: geminiResult(p.FunctionResponse.Response),
					Tool: p.FunctionResponse.Name, CallID: p.FunctionResponse.ID,
				})
			case p.Text != "":
				r.Messages = append(r.Messages, Message{Role: role, Text: p.Text})
			}
		}
	}
	return nil
}

// geminiResult returns a tool's result: the response's output or error, or all of it.
func geminiResult(response json.RawMessage) string {
	var said struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	}
	if json.Unmarshal(response, &said) != nil || said.Output+said.Error == "" {
		return string(response)
	}
	return said.Output + said.Error
}

func (gemini) writeReply(w http.ResponseWriter, r *Request, said utterance) {
	var parts []map[string]any
	if said.text != "" || len(said.calls) == 0 {
		parts = append(parts, map[string]any{"text": said.text})
	}
	for _, c := range said.calls {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"id": c.id, "name": c.tool.name, "args": c.args}})
	}

	answer := map[string]any{
		"candidates": []any{map[string]any{
			"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		"modelVersion":  r.Model,
	}

	if !r.Stream {
		writeObject(w, answer)
		return
	}
	newStream(w).sendEvent("", answer)
}
