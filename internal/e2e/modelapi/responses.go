package modelapi

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// responses is OpenAI's Responses API, as Codex speaks it, and Copilot with some models.
type responses struct{}

type responsesTool struct {
	Type        string          `json:"type"` // function, custom, namespace, or one that the model's own side runs
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Tools       []responsesTool `json:"tools"` // of a namespace
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	CallID    string          `json:"call_id"`
	Output    json.RawMessage `json:"output"`
	Tools     []responsesTool `json:"tools"`
}

func (responses) readRequest(r *Request) error {
	var body struct {
		Model        string          `json:"model"`
		Instructions string          `json:"instructions"`
		Stream       bool            `json:"stream"`
		Tools        []responsesTool `json:"tools"`
		Input        json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}

	r.Model, r.System, r.Stream = body.Model, body.Instructions, body.Stream
	r.SessionID = r.Header.Get("Session-Id")
	r.addTools("", body.Tools)

	var items []responsesItem

	// What is no list is a string.
	if json.Unmarshal(body.Input, &items) != nil {
		items = []responsesItem{{Type: "message", Role: "user", Content: body.Input}}
	}

	for _, i := range items {
		switch i.Type {
		case "additional_tools":
			r.addTools("", i.Tools)
		case "message", "":
			said := textOf(i.Content)
			switch i.Role {
			case "assistant":
				r.Messages = append(r.Messages, Message{Role: Model, Text: said})
			case "developer", "system":
				if r.System == "" && len(r.Messages) == 0 {
					r.System = said
					continue
				}
				r.Messages = append(r.Messages, Message{Role: System, Text: said})
			default:
				r.Messages = append(r.Messages, Message{Role: User, Text: said})
			}
		case "function_call", "custom_tool_call":
			r.Messages = append(r.Messages, Message{
				Role: Calling, Text: i.Arguments + i.Input, Tool: inNamespace(i.Namespace, i.Name), CallID: i.CallID,
			})
		case "function_call_output", "custom_tool_call_output":
			r.Messages = append(r.Messages, Message{Role: Result, Text: textOf(i.Output), CallID: i.CallID})
		}
	}
	return nil
}

// addTools adds tools, including those in namespaces and those of code mode. The latter are listed in the
// description of the tool that takes the code.
func (r *Request) addTools(namespace string, tools []responsesTool) {
	for _, t := range tools {
		switch t.Type {
		case "namespace":
			r.addTools(t.Name, t.Tools)
		case "function", "custom":
			r.Tools = append(r.Tools, Tool{
				Name: inNamespace(namespace, t.Name), Description: t.Description,
				namespace: namespace, name: t.Name, custom: t.Type == "custom",
			})
			if t.Type == "custom" && t.Name == "exec" {
				for _, m := range nested.FindAllStringSubmatch(t.Description, -1) {
					r.Tools = append(r.Tools, Tool{Name: m[1], name: m[1], code: true})
				}
			}
		}
	}
}

// nested matches the headings of the tools in the description of code mode.
var nested = regexp.MustCompile("(?m)^### `([^`]+)`$")

// inNamespace joins a namespace and a name as hooks do. The namespace of Codex's own tools is left out.
func inNamespace(namespace, name string) string {
	if namespace == "" || namespace == "functions" {
		return name
	}
	return namespace + "__" + name
}

func (responses) writeReply(w http.ResponseWriter, r *Request, said utterance) {
	var items []map[string]any
	if said.text != "" || len(said.calls) == 0 {
		items = append(items, map[string]any{
			"type": "message", "id": "msg_scripted", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": said.text, "annotations": []any{}}},
		})
	}

	for _, c := range said.calls {
		item := map[string]any{
			"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "name": c.tool.name, "status": "completed",
		}
		if c.tool.namespace != "" {
			item["namespace"] = c.tool.namespace
		}
		if c.tool.custom {
			item["type"], item["input"] = "custom_tool_call", c.customText()
		} else {
			item["arguments"] = string(c.args)
		}
		items = append(items, item)
	}

	response := func(status string, output any) map[string]any {
		return map[string]any{
			"id": "resp_scripted", "object": "response", "created_at": 1, "model": r.Model, "status": status, "output": output,
			"usage": map[string]any{
				"input_tokens": 1, "input_tokens_details": map[string]any{"cached_tokens": 0},
				"output_tokens": 1, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 2,
			},
		}
	}

	if !r.Stream {
		writeObject(w, response("completed", items))
		return
	}

	s := newStream(w)
	n := 0
	send := func(kind string, v map[string]any) {
		v["type"], v["sequence_number"] = kind, n
		n++
		s.sendEvent(kind, v)
	}

	send("response.created", map[string]any{"response": response("in_progress", []any{})})
	for i, item := range items {
		send("response.output_item.added", map[string]any{"output_index": i, "item": item})
		if item["type"] == "message" {
			send("response.output_text.delta", map[string]any{
				"output_index": i, "item_id": "msg_scripted", "content_index": 0, "delta": said.text,
			})
		}
		send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}

	send("response.completed", map[string]any{"response": response("completed", items)})
}

// translateCall finds Codex's words, which depend on the model. Some models get one tool that takes JavaScript, which
// calls the others (code mode). Others get tools like those of other harnesses, with or without one for patches.
func (responses) translateCall(r *Request, c Call) (native, error) {
	if r.Offers(copilot.shell) {
		if c.do == write || c.do == edit {
			return r.callTool(codexPatch(c), "apply_patch")
		}
		return copilot.translateCall(r, c)
	}

	exec, code := r.findTool("exec")
	code = code && exec.custom

	switch c.do {
	case shell, look:
		command := c.command
		if c.do == look {
			command = "cat " + quoteShell(c.path)
		}
		if code {
			return r.runCode(codeShell, command)
		}
		return r.callTool(map[string]any{"cmd": command, "yield_time_ms": 30000}, "exec_command")
	case write, edit:
		p := codexPatch(c)
		switch {
		case code:
			return r.runCode(`text(await tools.apply_patch($))`, p)
		case r.Offers("apply_patch"):
			return r.callTool(p, "apply_patch")
		}
		// Codex recognises this as a patch, but its hooks see a command.
		return r.callTool(map[string]any{"cmd": "apply_patch <<'END OF PATCH'\n" + p + "END OF PATCH\n"}, "exec_command")
	default:
		name := inNamespace("mcp__"+c.server, c.tool)
		if !code {
			return r.callTool(c.arguments, name)
		}
		// Code mode has tools that it doesn't list, so don't check that it offers this one.
		args := c.arguments
		if args == nil {
			args = map[string]any{}
		}
		return r.runCode(strings.Replace(codeMCP, "TOOL", jsIdentifier(name), 1), args)
	}
}

// codeShell runs a command and waits for its end, which Codex doesn't do by itself.
const codeShell = `let r = await tools.exec_command({cmd: $, yield_time_ms: 30000})
let output = r.output
while (r.session_id !== undefined) {
	r = await tools.write_stdin({session_id: r.session_id, yield_time_ms: 300000})
	output += r.output
}
text(output + "\nexit code: " + r.exit_code)`

// codeMCP calls a tool of an MCP server and prints its text, as the model gets it without code mode.
const codeMCP = `const r = await tools["TOOL"]($)
text((r.isError ? "error: " : "") + r.content.map(c => c.text ?? JSON.stringify(c)).join("\n"))`

// runCode calls exec with JavaScript, with value in place of $, and makes Codex wait for its end.
func (r *Request) runCode(source string, value any) (native, error) {
	b, err := json.Marshal(value)
	if err != nil {
		return native{}, err
	}
	return r.callTool("// @exec: {\"yield_time_ms\": 600000}\n"+strings.Replace(source, "$", string(b), 1), "exec")
}

// jsIdentifier returns a tool's name as a JavaScript identifier.
func jsIdentifier(name string) string {
	return regexp.MustCompile(`[^A-Za-z0-9_]`).ReplaceAllString(name, "_")
}

// codexPatch returns a Write or an Edit in the format of Codex's patches.
func codexPatch(c Call) string {
	lines := func(sign, text string) string {
		var b strings.Builder
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			b.WriteString(sign + line + "\n")
		}
		return b.String()
	}

	change := "*** Add File: " + c.path + "\n" + lines("+", c.new)
	if c.do == edit {
		change = "*** Update File: " + c.path + "\n@@\n" + lines("-", c.old) + lines("+", c.new)
	}
	return "*** Begin Patch\n" + change + "*** End Patch\n"
}

// quoteShell quotes a word for the shell.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
