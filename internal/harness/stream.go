package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// StreamLine returns what a line says that a harness has written in its JSON format for programs: Claude Code
// with --output-format stream-json, Codex with exec --json. known is false for any other line, also a broken
// one. The text is empty if nothing in it matters to people, and it may have several lines. It is as the
// harness wrote it, so it isn't safe for a terminal.
func StreamLine(line []byte) (text string, known bool) {
	line = bytes.TrimSpace(line)
	if len(line) < 2 || line[0] != '{' {
		return "", false
	}

	var kind struct {
		Type string `json:"type"`
	}

	if json.Unmarshal(line, &kind) != nil {
		return "", false
	}
	if i := slices.IndexFunc(streams, func(s stream) bool { return slices.Contains(s.types, kind.Type) }); i >= 0 {
		return streams[i].say(kind.Type, line)
	}

	return "", false
}

// stream is a format.
type stream struct {
	types []string // of its lines
	say   func(kind string, line []byte) (string, bool)
}

var streams = []stream{
	{[]string{"system", "assistant", "user", "result", "stream_event", "rate_limit_event"}, sayClaude},
	{[]string{
		"thread.started", "turn.started", "turn.completed", "turn.failed",
		"item.started", "item.updated", "item.completed", "error",
	}, sayCodex},
}

// maxSaid is how many bytes of one thing are shown.
const maxSaid = 2000

// markText cuts a text, and marks what is left of it by a first word. Its further lines are indented.
func markText(mark, text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	if text == "" {
		return ""
	}

	return mark + strings.ReplaceAll(text, "\n", "\n  ")
}

// joinLines joins what isn't empty.
func joinLines(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
}

// claudeBlock is a part of a message.
type claudeBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   map[string]any  `json:"input"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

func sayClaude(kind string, line []byte) (string, bool) {
	var l struct {
		Subtype string  `json:"subtype"`
		Model   string  `json:"model"`
		Result  string  `json:"result"`
		IsError bool    `json:"is_error"`
		Millis  int64   `json:"duration_ms"`
		Turns   int     `json:"num_turns"`
		Cost    float64 `json:"total_cost_usd"`
		Message *struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}

	if json.Unmarshal(line, &l) != nil {
		return "", false
	}

	switch kind {
	case "system":
		if l.Subtype == "init" {
			return markText("session of Claude Code, ", l.Model), true
		}
		return "", l.Subtype != ""
	case "result":
		head := fmt.Sprintf("result after %s, %d turns", time.Duration(l.Millis)*time.Millisecond, l.Turns)
		if l.Cost > 0 {
			head += fmt.Sprintf(", $%.2f", l.Cost)
		}
		if l.IsError || l.Subtype != "success" {
			head += ", failed (" + l.Subtype + ")"
		}

		return joinLines([]string{head + ":", markText("  ", l.Result)}), l.Subtype != ""
	case "assistant", "user":
		if l.Message == nil {
			return "", false
		}
		return sayBlocks(l.Message.Content), true
	}

	return "", true
}

// sayBlocks says the content of a message: a text, or a list of blocks.
func sayBlocks(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return markText("> ", text)
	}

	var blocks []claudeBlock
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}

	var out []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			out = append(out, markText("", b.Text))
		case "tool_use":
			out = append(out, markText("* "+b.Name+" ", sayInput(b.Input)))
			if len(b.Input) == 0 {
				out = append(out, "* "+b.Name)
			}
		case "tool_result":
			if b.IsError {
				out = append(out, markText("! ", innerText(b.Content)))
			}
		}
	}

	return joinLines(out)
}

// innerText is the text of a tool's result: a text, or a list of blocks with one.
func innerText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}

	var blocks []claudeBlock

	// Of content of another form there are no blocks.
	_ = json.Unmarshal(content, &blocks)
	for _, b := range blocks {
		text += b.Text + "\n"
	}

	return text
}

// inputKeys are the parameters of tools that say what a call is about, the most telling first.
var inputKeys = []string{
	"file_path", "notebook_path", "path", "command", "pattern", "query", "url", "description", "prompt",
}

// sayInput says what a call of a tool is about.
func sayInput(in map[string]any) string {
	for _, k := range inputKeys {
		if s, ok := in[k].(string); ok && s != "" {
			return s
		}
	}

	if len(in) == 0 {
		return ""
	}

	// What came from JSON can be written as JSON.
	b, _ := json.Marshal(in)
	return string(b)
}

// codexItem is what Codex did.
type codexItem struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Command  string `json:"command"`
	Output   string `json:"aggregated_output"`
	Exit     *int   `json:"exit_code"`
	Status   string `json:"status"`
	Query    string `json:"query"`
	Server   string `json:"server"`
	Tool     string `json:"tool"`
	Message  string `json:"message"`
	OldText  string `json:"item_type"` // what earlier versions call the type
	Changes  []struct{ Path, Kind string }
	Argument json.RawMessage `json:"arguments"`
}

func sayCodex(kind string, line []byte) (string, bool) {
	var l struct {
		Message string     `json:"message"`
		Thread  string     `json:"thread_id"`
		Item    *codexItem `json:"item"`
		Error   *struct {
			Message string `json:"message"`
		} `json:"error"`
		Usage *struct {
			In  int64 `json:"input_tokens"`
			Out int64 `json:"output_tokens"`
		} `json:"usage"`
	}

	if json.Unmarshal(line, &l) != nil {
		return "", false
	}

	switch {
	case kind == "thread.started":
		return markText("session of Codex, ", l.Thread), l.Thread != ""
	case kind == "error":
		return markText("! ", l.Message), l.Message != ""
	case kind == "turn.failed" && l.Error != nil:
		return markText("! ", l.Error.Message), true
	case kind == "turn.completed" && l.Usage != nil:
		return fmt.Sprintf("turn completed: %d tokens in, %d out", l.Usage.In, l.Usage.Out), true
	case kind == "item.started" && l.Item != nil && l.Item.kindText() == "command_execution":
		return markText("* $ ", l.Item.Command), true
	case kind == "item.completed" && l.Item != nil:
		return l.Item.say(), true
	}

	return "", kind == "turn.started" || l.Item != nil
}

func (i codexItem) kindText() string {
	if i.Type == "" {
		return i.OldText
	}
	return i.Type
}

// say says what was done.
func (i codexItem) say() string {
	switch i.kindText() {
	case "agent_message", "assistant_message":
		return markText("", i.Text)
	case "command_execution":
		// Its start was shown.
		if i.Exit != nil && *i.Exit != 0 {
			return joinLines([]string{fmt.Sprintf("! exit status %d", *i.Exit), markText("  ", i.Output)})
		}
		return ""
	case "file_change":
		var out []string
		for _, c := range i.Changes {
			out = append(out, markText("* "+c.Kind+" ", c.Path))
		}
		return joinLines(out)
	case "mcp_tool_call":
		return markText("* "+i.Server+"."+i.Tool+" ", string(i.Argument))
	case "web_search":
		return markText("* search ", i.Query)
	case "error":
		return markText("! ", i.Message)
	}

	return ""
}
