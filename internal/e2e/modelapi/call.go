package modelapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Call is something that the model wants the harness to do, in words of no particular harness.
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
	background
	look
	write
	edit
	mcp
	named
)

// Shell runs a command in the harness's shell. Harnesses wait more than a minute for its end. Only Codex
// without code mode reports after 30 seconds that it still runs. Gemini CLI refuses command substitution, and
// takes $((1+1)) for one.
func Shell(command string) Call { return Call{do: shell, command: command} }

// Background runs a command in the harness's shell, and has the harness answer at once.
func Background(command string) Call { return Call{do: background, command: command} }

// Write creates a file with the harness's own tool. The path is absolute.
func Write(path, content string) Call { return Call{do: write, path: path, new: content} }

// Edit replaces whole lines of a file, given without their last newline, with the harness's own tool. A
// harness may refuse to edit a file that it hasn't read, see [Read].
func Edit(path, old, new string) Call { return Call{do: edit, path: path, old: old, new: new} }

// Read reads a file with the harness's own tool, or in the shell if it has none.
func Read(path string) Call { return Call{do: look, path: path} }

// MCP calls a tool of an MCP server, by the name that the harness gives it. args becomes a JSON object.
func MCP(server, tool string, arguments any) Call {
	return Call{do: mcp, server: server, tool: tool, arguments: arguments}
}

// Named calls a tool by the harness's own name, for tools that only one harness has. For a tool that takes
// text instead of an object, such as Codex's exec, args is a string.
func Named(name string, arguments any) Call { return Call{do: named, tool: name, arguments: arguments} }

// native is a call in a harness's words.
type native struct {
	id   string
	tool Tool
	args json.RawMessage // an object; for a custom tool a string
}

// customText returns the text for a custom tool.
func (n native) customText() string {
	var s string
	json.Unmarshal(n.args, &s) // call has checked that it is one
	return s
}

// translateFor translates the call into a harness's words.
func (c Call) translateFor(r *Request) (native, error) {
	if c.do == named {
		return r.callTool(c.arguments, c.tool)
	}
	return r.api.translateCall(r, c)
}

// words names the tools and parameters of a harness whose tools take an object each, which most of them do.
type words struct {
	shell, read, write, edit string // tools
	path, content, old, new  string // their parameters
	edits                    string // the parameter with a list of old and new, if it takes several at a time
	mcp                      func(server, tool string) string
	hidesMCP                 bool // it offers the tools of servers only once the model has searched for them, and yet takes a call

	shellMore, editMore map[string]any // what else those tools need
	background          map[string]any // has the shell answer at once; nil if a test has no need of it
}

func (w words) translateCall(r *Request, c Call) (native, error) {
	switch c.do {
	case shell:
		return r.callTool(mergeArguments(map[string]any{"command": c.command, "description": "A scripted command"}, w.shellMore), w.shell)
	case background:
		if w.background == nil {
			return native{}, fmt.Errorf("how to run a command in the background of the tool %s isn't written down", w.shell)
		}
		return r.callTool(mergeArguments(map[string]any{"command": c.command, "description": "A scripted command"}, w.background), w.shell)
	case look:
		return r.callTool(map[string]any{w.path: c.path}, w.read)
	case write:
		return r.callTool(map[string]any{w.path: c.path, w.content: c.new}, w.write)
	case edit:
		args := map[string]any{w.old: c.old, w.new: c.new}
		if w.edits != "" {
			args = map[string]any{w.edits: []any{args}}
		}
		args[w.path] = c.path
		return r.callTool(mergeArguments(args, w.editMore), w.edit)
	case mcp:
		if w.mcp == nil {
			return native{}, fmt.Errorf("the harness with the tool %s has no MCP", w.shell)
		}
		name := w.mcp(c.server, c.tool)
		if w.hidesMCP && !r.Offers(name) {
			return Tool{Name: name, name: name}.callWith(c.arguments)
		}
		return r.callTool(c.arguments, name)
	}
	panic("unknown call")
}

// mergeArguments adds arguments to others.
func mergeArguments(args, more map[string]any) map[string]any {
	maps.Copy(args, more)
	return args
}

// isOffered reports whether a harness offers all of the tools, and the one that writes takes the path by its
// name. Where it isn't known what a tool takes, its name is enough, unless another harness has the same ones.
func (w words) isOffered(r *Request) bool {
	writes, ok := r.findTool(w.write)
	fits := slices.Contains(writes.takes, w.path) || len(writes.takes) == 0 && w.write != opencode.write
	return ok && fits && r.Offers(w.shell) && r.Offers(w.read) && r.Offers(w.edit)
}

// callTool calls the first of the named tools that the harness offers.
func (r *Request) callTool(args any, names ...string) (native, error) {
	t, ok := r.findTool(names...)
	if !ok {
		var offered []string
		for _, t := range r.Tools {
			offered = append(offered, t.Name)
		}
		return native{}, fmt.Errorf("the harness offers no tool %s, but %s", strings.Join(names, " or "), strings.Join(offered, ", "))
	}
	return t.callWith(args)
}

// callWith returns a call of the tool.
func (t Tool) callWith(args any) (native, error) {
	if args == nil {
		args = map[string]any{}
	}
	if t.code {
		return native{}, fmt.Errorf("only code can call the tool %s", t.Name)
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
