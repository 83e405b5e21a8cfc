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
// Patch and Command.
type Editor struct {
	Tool    string
	Path    string // a file
	Patch   string // a patch, as for apply_patch
	Command string // a shell command
	Dir     string // the field with the directory of the command, if it isn't the session's
	Follows bool   // a cd in the command moves the session too
}

// Edits is what a tool is going to change, or has changed, as far as its input shows. A command may change
// more.
type Edits struct {
	Tool  string   // the harness's name of the tool
	Paths []string // cleaned, in order, each once; absolute if the session's directory is known
	Names []string // those of Paths where a link itself is removed, moved or replaced, not what it leads to
	Trees []string // directories in whose checkout any file may change, as by git reset --hard
}

// Any reports whether we know of any change.
func (e Edits) Any() bool { return len(e.Paths)+len(e.Trees) > 0 }

// EditorTools is the pattern of the tools that a harness runs the hook before a tool for. It matches whole names.
func (r Row) EditorTools() string {
	var names []string
	for _, e := range r.Editors {
		names = append(names, e.Tool)
	}
	if r.MCPTools != "" {
		names = append(names, r.MCPTools)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// isEditor reports whether a tool of that name may change files.
func (r Row) isEditor(tool string) bool {
	return slices.ContainsFunc(r.Editors, func(e Editor) bool { return e.Tool == tool })
}

// edits returns what a tool changes in a session that works in dir. After the tool, dir is where the
// session works then.
func (r Row) edits(tool string, input json.RawMessage, dir string, after bool) Edits {
	out := Edits{Tool: tool}
	i := slices.IndexFunc(r.Editors, func(e Editor) bool { return e.Tool == tool })
	if i < 0 {
		return out
	}
	e := r.Editors[i]
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return out
	}
	field := func(name string) (s string) {
		if json.Unmarshal(in[name], &s) != nil {
			return "" // not the form that we know
		}
		return s
	}
	switch {
	case e.Path != "":
		out.add(dir, field(e.Path))
	case e.Patch != "":
		for _, path := range shell.PatchFiles(field(e.Patch)) {
			out.add(dir, path)
		}
	case e.Command != "":
		command, at := field(e.Command), under(dir, field(e.Dir))
		if after && e.Follows && dir != "" {
			return afterCommand(out, command, at)
		}
		out.set(shell.Edits(command, at, nil))
	}
	return out
}

// afterCommand adds what a command has changed. end is the session's directory after it: where a cd of the
// command led, unless the harness went back from there. The command's own steps show where it began. If
// they don't, only its absolute paths count.
func afterCommand(out Edits, command, end string) Edits {
	c := shell.Edits(command, "", nil)
	if c.End != "" && filepath.IsLocal(c.End) {
		c = shell.Edits(command, cmp.Or(strings.TrimSuffix(end, string(filepath.Separator)+c.End), end), nil)
		out.set(c)
		return out
	}
	for _, paths := range []*[]string{&c.Paths, &c.Names, &c.Trees} {
		*paths = slices.DeleteFunc(*paths, func(path string) bool { return !filepath.IsAbs(path) })
	}
	out.set(c)
	return out
}

// set takes over what a command changes.
func (e *Edits) set(c shell.Changes) { e.Paths, e.Names, e.Trees = c.Paths, c.Names, c.Trees }

func (e *Edits) add(dir, path string) {
	if path == "" || strings.ContainsRune(path, 0) {
		return
	}
	if path = under(dir, path); !slices.Contains(e.Paths, path) {
		e.Paths = append(e.Paths, path)
	}
}

// under returns a path as seen from dir; without a path, dir.
func under(dir, path string) string {
	switch {
	case path == "":
		return dir
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
