package harness

import (
	"bytes"
	"encoding/json"
	"fmt"

	"talkingstick/stick"
)

// Snippet is what a person pastes into the configuration of a harness that nobody here has run. tt prints it,
// and never writes it: what the harness makes of it is known from its documentation only.
type Snippet struct {
	Harness string      `json:"harness"`
	Title   stick.Words `json:"title"` // its name for people
	File    string      `json:"file"`  // where it belongs; ~ is the home directory
	Text    string      `json:"text"`  // the whole file, if there is none; else what to add to it
}

// snippets are the harnesses, each with the file of its MCP servers.
var snippets = []struct {
	name  string
	title stick.Words
	file  string
	at    string // the key of the servers
	entry func(tt string) any
	toml  bool
}{
	{"cursor", "Cursor CLI", "~/.cursor/mcp.json", "mcpServers", plainEntry, false},
	{"grok", "Grok Build", "~/.grok/config.toml", "mcp_servers", plainEntry, true},
	{"droid", "Droid", "~/.factory/mcp.json", "mcpServers", typedEntry, false},
	{"kilo", "Kilo", "~/.config/kilo/kilo.jsonc", "mcp", listEntry, false},
	{"crush", "Crush", "~/.config/crush/crush.json", "mcp", typedEntry, false},
	{"cline", "Cline CLI", "~/.cline/data/settings/cline_mcp_settings.json", "mcpServers", plainEntry, false},
}

// SnippetNames lists the harnesses for which there are snippets.
func SnippetNames() []string {
	names := make([]string, len(snippets))
	for i, s := range snippets {
		names[i] = s.name
	}
	return names
}

// SnippetFor returns the snippet for a harness that calls the program tt. ok is false if there is none.
func SnippetFor(name, tt string) (s Snippet, ok bool) {
	for _, h := range snippets {
		if h.name == name {
			text := fmt.Sprintf("[%s.%s]\ncommand = %sargs = [\"mcp\"]\n", h.at, ServerName, JSON(tt))
			if !h.toml {
				text = JSON(map[string]any{h.at: map[string]any{ServerName: h.entry(tt)}})
			}
			return Snippet{h.name, h.title, h.file, text}, true
		}
	}

	return Snippet{}, false
}

// JSON writes a value as people write it, with a line end and the keys of maps in order. A text is one in
// TOML, too. It panics for what is no JSON: callers make it of texts.
func JSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic("a value can't be written: " + err.Error())
	}

	return b.String()
}
