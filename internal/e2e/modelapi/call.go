package modelapi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Call is something that the model has the harness do, in no harness's words yet.
type Call struct {
	do        act
	command   string
	path      string
	old, new  string
	server    string
	tool      string
	arguments any
}

type act int

const (
	shell act = iota
	look
	write
	edit
	mcp
	named
)

// Shell runs a command in the harness's shell. They wait more than a minute for its end, except
// Codex with a model that isn't of its code mode, which says after 30 seconds that it still runs. Gemini CLI refuses commands with command substitution, which for it $((1+1)) is too.
func Shell(command string) Call { return Call{do: shell, command: command} }

// Write makes a file with the harness's tool for that. The path is absolute.
func Write(path, content string) Call { return Call{do: write, path: path, new: content} }

// Edit replaces whole lines of a file, given without their last newline, with the harness's tool
// for that. A harness may refuse it for a file that wasn't read before, see [Read].
func Edit(path, old, new string) Call { return Call{do: edit, path: path, old: old, new: new} }

// Read reads a file: with the harness's tool, or in the shell where it has none.
func Read(path string) Call { return Call{do: look, path: path} }

// MCP calls a tool of an MCP server by the name that the harness gives it. The arguments become
// a JSON object.
func MCP(server, tool string, arguments any) Call {
	return Call{do: mcp, server: server, tool: tool, arguments: arguments}
}

// Named calls a tool by the harness's own name for it, for what only that harness has. To a tool that
// takes text instead of an object, as Codex's exec does, the arguments are a string.
func Named(name string, arguments any) Call { return Call{do: named, tool: name, arguments: arguments} }

// native is a call in the harness's words.
type native struct {
	id   string
	tool Tool
	args json.RawMessage // an object; for a custom tool a string
}

// text is the text for a custom tool.
func (n native) text() string {
	var s string
	json.Unmarshal(n.args, &s) // made by call, which saw that it is one
	return s
}

// in finds the harness's words.
func (c Call) in(r *Request) (native, error) {
	if c.do == named {
		return r.call(c.arguments, c.tool)
	}
	return r.api.words(r, c)
}

// words is what the three harnesses have in common whose tools take an object each.
type words struct {
	shell, read, write, edit string // tools
	path, old, new           string // their parameters
	mcp                      func(server, tool string) string
}

func (w words) words(r *Request, c Call) (native, error) {
	switch c.do {
	case shell:
		return r.call(map[string]any{"command": c.command, "description": "A scripted command"}, w.shell)
	case look:
		return r.call(map[string]any{w.path: c.path}, w.read)
	case write:
		return r.call(map[string]any{w.path: c.path, "content": c.new}, w.write)
	case edit:
		args := map[string]any{w.path: c.path, w.old: c.old, w.new: c.new}
		if w.edit == "replace" { // Gemini's asks to be told what for
			args["instruction"] = "A scripted edit"
		}
		return r.call(args, w.edit)
	default:
		return r.call(c.arguments, w.mcp(c.server, c.tool))
	}
}

// call is a call of the first of the named tools that the harness offers.
func (r *Request) call(args any, names ...string) (native, error) {
	t, ok := r.tool(names...)
	if !ok {
		var offered []string
		for _, t := range r.Tools {
			offered = append(offered, t.Name)
		}
		return native{}, fmt.Errorf("the harness offers no tool %s, but %s", strings.Join(names, " or "), strings.Join(offered, ", "))
	}
	if args == nil {
		args = map[string]any{}
	}
	if t.code {
		return native{}, fmt.Errorf("the tool %s can only be called by code", t.Name)
	}
	if _, isText := args.(string); isText != t.custom {
		return native{}, fmt.Errorf("the tool %s doesn't take a %T", t.Name, args)
	}
	b, err := json.Marshal(args)
	if err != nil {
		return native{}, err
	}
	return native{tool: t, args: b}, nil
}
