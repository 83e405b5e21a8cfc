package harness

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/shell"
)

// Editor is a tool that changes files, and the field of its input that says which. It has one of Path,
// Patch and Command. A tool that takes its files in different fields has an Editor for each.
type Editor struct {
	Tool    string
	Path    string // a file
	Patch   string // a patch, as for apply_patch, or [whole]
	Command string // a shell command
	Dir     string // the field with the directory of the command, if it isn't the session's
	Follows bool   // a cd in the command moves the session too

	// it replaces all that is in Path, whatever that is. Others fail if the text isn't the one that they know
	Whole bool
}

// Reader is a tool that shows the agent a file, or a part of it, and the field of its input that says which.
type Reader struct{ Tool, Path string }

// whole, as a field, is the input itself, where that is a text.
const whole = "*"

// Edits is what a tool is going to change, or has changed, as far as its input shows. A command may change
// more.
type Edits struct {
	Tool  string      // the harness's name of the tool
	Paths []string    // cleaned, in order, each once; absolute if the session's directory is known
	Names []string    // those of Paths where a link itself is removed, moved or replaced, not what it leads to
	Trees []string    // directories in whose checkout any file may change, as by git reset --hard
	Acts  []shell.Act // what a command may cost: work that isn't committed, or commits; empty for other tools

	Wholes []string // those of Paths whose content is replaced as a whole

	// files that the tool shows to the agent, or parts of them; absolute if the session's directory is known
	Shown []string

	Text    string // of a command
	Command bool   // the tool runs a command
	Reads   bool   // the command is known to change nothing
}

// Any reports whether we know of any change.
func (e Edits) Any() bool { return len(e.Paths)+len(e.Trees) > 0 }

// EditorTools is the pattern of the tools that a harness runs the hook before a tool for. It matches whole
// names.
func (r Row) EditorTools() string { return EditorTools(r) }

// EditorTools is the pattern of the tools of several harnesses that run the same hook.
func EditorTools(rows ...Row) string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}

	for _, r := range rows {
		for _, e := range r.Editors {
			add(e.Tool)
		}
		add(r.MCPTools)
	}

	return "^(" + strings.Join(names, "|") + ")$"
}

// isEditor reports whether a tool of that name may change files.
func (r Row) isEditor(tool string) bool {
	return slices.ContainsFunc(r.Editors, func(e Editor) bool { return e.Tool == tool })
}

// isReader reports whether a tool of that name shows the agent a file.
func (r Row) isReader(tool string) bool {
	return slices.ContainsFunc(r.Readers, func(x Reader) bool { return x.Tool == tool })
}

// toolCall is a call of a tool in a session that works in dir. After the tool, dir is where the session works
// then.
type toolCall struct {
	tool  string
	input json.RawMessage
	dir   string
	after bool
	env   shell.Env
}

// editsOf returns what a tool changes.
func (r Row) editsOf(c toolCall) Edits {
	out := Edits{Tool: c.tool}
	var in toolInput
	if json.Unmarshal(c.input, &in) != nil {
		in = toolInput{whole: c.input}
	}

	for _, x := range r.Readers {
		if x.Tool == c.tool {
			out.addShown(c.dir, in.text(x.Path))
		}
	}

	// A tool that isn't the harness's own may be one of an MCP server.
	if !r.isEditor(c.tool) && !r.isReader(c.tool) {
		r.serverEdits(&out, c, in)
		return out
	}

	for _, e := range r.Editors {
		if e.Tool == c.tool {
			out.addEditorCall(e, c, in)
		}
	}

	return out
}

// toolInput are the fields of a tool's input.
type toolInput map[string]json.RawMessage

// text returns a field. It is empty if the field isn't a text, and so not of the form that we know.
func (in toolInput) text(name string) (s string) {
	if json.Unmarshal(in[name], &s) != nil {
		return ""
	}
	return s
}

// addEditorCall adds what a tool of a known form changes.
func (e *Edits) addEditorCall(tool Editor, c toolCall, in toolInput) {
	switch {
	case tool.Path != "":
		e.addPath(c.dir, in.text(tool.Path))

		// The same tool of a server may append to a file.
		if tool.Whole && in.text("mode") != "append" {
			e.Wholes = slices.Clone(e.Paths)
		}
	case tool.Patch != "":
		for _, path := range shell.PatchFiles(in.text(tool.Patch)) {
			e.addPath(c.dir, path)
		}
	case tool.Command != "":
		command, at := in.text(tool.Command), resolveIn(c.dir, in.text(tool.Dir))
		e.Command, e.Text = true, command

		// After the call, the session may be where a cd of the command led.
		if c.after && tool.Follows && c.dir != "" {
			e.afterCommand(command, at, c.env)
			return
		}

		e.setChanges(shell.Edits(command, at, c.env))
	}
}

// afterCommand adds what a command has changed. end is the session's directory after it: where a cd of the
// command led, unless the harness went back from there. The command's own steps show where it began. If
// they don't, only its absolute paths count.
func (e *Edits) afterCommand(command, end string, env shell.Env) {
	c := shell.Edits(command, "", shell.Env{Home: env.Home})
	if c.End != "" && filepath.IsLocal(c.End) {
		e.setChanges(shell.Edits(command, cmp.Or(strings.TrimSuffix(end, string(filepath.Separator)+c.End), end), env))
		return
	}

	for _, paths := range []*[]string{&c.Paths, &c.Names, &c.Trees, &c.Wholes, &c.Shown} {
		*paths = slices.DeleteFunc(*paths, func(path string) bool { return !filepath.IsAbs(path) })
	}

	e.setChanges(c)
}

// setChanges takes over what a command changes.
func (e *Edits) setChanges(c shell.Changes) {
	e.Paths, e.Names, e.Trees, e.Wholes, e.Shown = c.Paths, c.Names, c.Trees, c.Wholes, c.Shown
	e.Acts, e.Reads = c.Acts, c.Reads
}

func (e *Edits) addPath(dir, path string) {
	if path == "" || strings.ContainsRune(path, 0) {
		return
	}
	if path = resolveIn(dir, path); !slices.Contains(e.Paths, path) {
		e.Paths = append(e.Paths, path)
	}
}

// addShown adds a file that a tool shows.
func (e *Edits) addShown(dir, path string) {
	if path != "" && !strings.ContainsRune(path, 0) {
		e.Shown = append(e.Shown, resolveIn(dir, path))
	}
}

// resolveIn returns a path as seen from dir; without a path, dir.
func resolveIn(dir, path string) string {
	switch {
	case path == "":
		return dir
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}

	return filepath.Join(dir, path)
}
