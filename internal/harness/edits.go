package harness

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/shell"
)

// Editor is a tool that changes files, and the field of its input that tells which. Of Path, Patch and
// Command it has one.
type Editor struct {
	Tool    string
	Path    string // a file
	Patch   string // a patch in Codex's form
	Command string // a command of the shell
	Dir     string // where the command runs, if that isn't where the session is
	Follows bool   // after the command, the session is where its cd led to
}

// Edits is what a tool is going to change, or has changed, as far as it can be told. What can't be told
// isn't in it: a command may change more.
type Edits struct {
	Tool  string   // the harness's name of the tool
	Paths []string // cleaned, in order, each once; absolute, unless the session's directory wasn't told
	Names []string // those of Paths that are only removed, moved or replaced: links themselves, not what they lead to
	Trees []string // directories where any file of the checkout around them may change: git reset --hard
}

// Any tells whether anything is going to change that we know of.
func (e Edits) Any() bool { return len(e.Paths)+len(e.Trees) > 0 }

// EditorTools is the pattern by which a harness tells the tools for the hook before them.
func (r Row) EditorTools() string {
	names := make([]string, len(r.Editors))
	for i, e := range r.Editors {
		names[i] = e.Tool
	}
	return strings.Join(names, "|")
}

// edits tells what a tool with its input changes, in a session that works in dir; after the tool, that
// is where it works then.
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
			return "" // it isn't what we know, so it tells nothing
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
		out.set(shell.Edits(command, at))
	}
	return out
}

// afterCommand tells what a command has changed that ended in a directory, or in one that the harness left
// for that of the session. Where it began is told by the way that it went; if not even that is known,
// what it named by whole paths is all there is.
func afterCommand(out Edits, command, end string) Edits {
	c := shell.Edits(command, "")
	if c.End != "" && filepath.IsLocal(c.End) {
		c = shell.Edits(command, cmp.Or(strings.TrimSuffix(end, string(filepath.Separator)+c.End), end))
		out.set(c)
		return out
	}
	for _, paths := range []*[]string{&c.Paths, &c.Names, &c.Trees} {
		*paths = slices.DeleteFunc(*paths, func(path string) bool { return !filepath.IsAbs(path) })
	}
	out.set(c)
	return out
}

// set notes what a command changes.
func (e *Edits) set(c shell.Changes) { e.Paths, e.Names, e.Trees = c.Paths, c.Names, c.Trees }

func (e *Edits) add(dir, path string) {
	if path == "" || strings.ContainsRune(path, 0) {
		return
	}
	if path = under(dir, path); !slices.Contains(e.Paths, path) {
		e.Paths = append(e.Paths, path)
	}
}

// under is a path seen from a directory; without a path it is the directory.
func under(dir, path string) string {
	switch {
	case path == "":
		return dir
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
