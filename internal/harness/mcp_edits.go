package harness

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// serverEditor is a tool of an MCP server that changes files. People choose the names of servers, so Server
// is a part that the name has to have. A tool of that name on another server may be about files elsewhere.
type serverEditor struct {
	Server string
	Editor
	To string // the field with the file that Path is moved to
}

// serverEditors are those of servers that are much in use, as their sources name them: server-filesystem of
// the protocol's own project, Serena, and Desktop Commander.
var serverEditors = []serverEditor{
	{Server: "file", Editor: Editor{Tool: "write_file", Path: "path", Whole: true}},
	{Server: "file", Editor: Editor{Tool: "edit_file", Path: "path"}},
	{Server: "file", Editor: Editor{Tool: "create_directory", Path: "path"}},
	{Server: "file", Editor: Editor{Tool: "move_file", Path: "source"}, To: "destination"},
	{Server: "commander", Editor: Editor{Tool: "write_file", Path: "path", Whole: true}},
	{Server: "commander", Editor: Editor{Tool: "edit_block", Path: "file_path"}},
	{Server: "commander", Editor: Editor{Tool: "create_directory", Path: "path"}},
	{Server: "commander", Editor: Editor{Tool: "move_file", Path: "source"}, To: "destination"},
	{Server: "commander", Editor: Editor{Tool: "start_process", Command: "command"}},
	{Server: "serena", Editor: Editor{Tool: "create_text_file", Path: "relative_path", Whole: true}},
	{Server: "serena", Editor: Editor{Tool: "replace_content", Path: "relative_path"}},
	{Server: "serena", Editor: Editor{Tool: "delete_lines", Path: "relative_path"}},
	{Server: "serena", Editor: Editor{Tool: "replace_lines", Path: "relative_path"}},
	{Server: "serena", Editor: Editor{Tool: "insert_at_line", Path: "relative_path"}},
	{Server: "serena", Editor: Editor{Tool: "replace_symbol_body", Path: "relative_path"}},
	{Server: "serena", Editor: Editor{Tool: "insert_after_symbol", Path: "relative_path"}},
	{Server: "serena", Editor: Editor{Tool: "insert_before_symbol", Path: "relative_path"}},
	{Server: "serena", Editor: Editor{Tool: "execute_shell_command", Command: "command", Dir: "cwd"}},
}

// serverReader is a tool of an MCP server that shows a file. Its Server is that of a [serverEditor].
type serverReader struct {
	Server string
	Reader
}

// serverReaders are those of the same servers.
var serverReaders = []serverReader{
	{"file", Reader{"read_file", "path"}},
	{"file", Reader{"read_text_file", "path"}},
	{"commander", Reader{"read_file", "path"}},
	{"serena", Reader{"read_file", "relative_path"}},
}

// serverEdits adds what a tool of an MCP server changes. Of a tool that isn't known, it goes by the names:
// one that says that it writes, with a field that has a whole path. A relative one may be about files
// elsewhere, such as those of a repository on a forge.
func (r Row) serverEdits(out *Edits, c toolCall, in toolInput) {
	prefix, ok := strings.CutSuffix(r.MCPTools, ".*")
	joint := cmp.Or(r.MCPJoint, "_")
	if r.MCPJoint != "" {
		prefix, ok = "", strings.Contains(c.tool, joint)
	}

	name, its := strings.CutPrefix(c.tool, prefix)
	if !ok || !its || string(in["dryRun"]) == "true" {
		return
	}

	// People name their servers, so a part of the name has to do.
	isTool := func(server, tool string) bool {
		named, fits := strings.CutSuffix(name, joint+tool)
		return fits && strings.Contains(strings.ToLower(named), server)
	}

	for _, x := range serverReaders {
		if isTool(x.Server, x.Tool) {
			out.addShown(c.dir, in.text(x.Path))
			return
		}
	}

	for _, e := range serverEditors {
		if !isTool(e.Server, e.Tool) {
			continue
		}
		if out.addEditorCall(e.Editor, c, in); e.To != "" {
			out.addPath(c.dir, in.text(e.To))
			out.Names = slices.Clone(out.Paths)
		}

		return
	}

	// Nobody knows this tool, so its name has to say what it does.
	_, tool, found := strings.Cut(name, "__")
	if !found {
		_, tool, _ = strings.Cut(name, joint)
	}

	isJoint := func(r rune) bool { return r == '_' || r == '-' }
	words := strings.FieldsFunc(strings.ToLower(tool), isJoint)
	if !slices.ContainsFunc(words, saysWrite) {
		return
	}

	// A relative path may be one of a repository on a forge.
	for _, field := range []string{"path", "file_path", "filePath", "source", "destination"} {
		if path := in.text(field); filepath.IsAbs(path) {
			out.addPath(c.dir, path)
		}
	}
}

// saysWrite reports whether a word in the name of a tool says that it changes files.
func saysWrite(word string) bool {
	switch word {
	case "write", "edit", "create", "delete", "remove", "move",
		"rename", "replace", "insert", "append", "patch", "copy":
		return true
	}

	return false
}
