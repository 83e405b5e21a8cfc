package harness

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/stick"
)

// PluginName is the name of our plugins and extensions, and of the marketplace that offers them.
const PluginName = SkillName

// PluginPackage is the package of npm with our plugin for OpenCode. Its name is the owner's to decide, as
// docs/RELEASING.md says.
const PluginPackage = "@talkingstick/opencode"

// Bundle is a plugin of ours that a harness installs by its own command, instead of tt install. It brings
// what tt install would write, but not the program.
type Bundle struct {
	Format Format

	// Add are the commands of the harness that install it, one after the other. From stands for the plugins'
	// directory or address. Remove are those that take it away; where there are none, ByHand says what to do.
	Add, Remove []string
	ByHand      stick.Words

	// Noted is the file by which the harness knows that it has the plugin: it is there, or, with At, the
	// value at this path of keys says so.
	Noted Levels
	At    []string
	TOML  bool
	Says  func(value json.RawMessage) bool

	// Apart says that a plugin's server stands beside one of the same name that tt install has registered.
	// Elsewhere there is one server of a name.
	Apart bool
}

// From stands for the plugins' directory or address in [Bundle.Add].
const From = "<plugins>"

// RemovalText says how to take the plugin away.
func (b Bundle) RemovalText() stick.Words {
	if len(b.Remove) == 0 {
		return b.ByHand
	}
	return stick.Words(strings.Join(b.Remove, ", then "))
}

// Format is the form of a plugin. Harnesses with the same one share a plugin.
type Format string

// The formats.
const (
	NoPlugin       Format = ""
	FormatClaude   Format = "claude" // of Claude Code, which several harnesses read
	FormatGemini   Format = "gemini"
	FormatOpenCode Format = "opencode"
)

// RowsForFormat returns the harnesses that take a plugin of a format.
func RowsForFormat(f Format) []Row {
	return slices.DeleteFunc(slices.Clone(Rows), func(r Row) bool { return r.Setup.Bundle.Format != f })
}

// PluginServer is the entry of our server in a plugin of Claude Code's format. By its last argument the
// server knows that it may have to stand back.
func PluginServer(tt string) any { return command{"", tt, []string{"mcp", "--plugin"}} }

// enabledPlugin reports whether a list of plugins, by name@marketplace, has ours and doesn't turn it off.
func enabledPlugin(value json.RawMessage) bool {
	var list map[string]json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return false
	}

	for name, says := range list {
		// An element is a bool or a table, and a table that doesn't say so is on.
		on, table := false, struct{ Enabled bool }{true}
		if json.Unmarshal(says, &on) != nil {
			on = json.Unmarshal(says, &table) == nil && table.Enabled
		}
		if on && strings.HasPrefix(name, PluginName+"@") {
			return true
		}
	}

	return false
}

// namedPackage reports whether a list of packages of npm, or of directories with such a package, has ours. An
// element may be a list that begins with it.
func namedPackage(value json.RawMessage) bool {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return false
	}

	return slices.ContainsFunc(list, func(element json.RawMessage) bool {
		var spec string
		var more []json.RawMessage
		if json.Unmarshal(element, &more) == nil && len(more) > 0 {
			element = more[0]
		}
		if json.Unmarshal(element, &spec) != nil {
			return false
		}
		if u, err := url.Parse(spec); err == nil && u.Scheme == "file" {
			spec = u.Path
		}

		return spec == PluginPackage || strings.HasPrefix(spec, PluginPackage+"@") ||
			filepath.IsAbs(spec) && packageIn(spec) == PluginPackage
	})
}

// maxPackage is more bytes than any package.json has that has our name.
const maxPackage = 1 << 20

// packageIn returns the name of the package of npm in a directory; empty if there is none.
func packageIn(dir string) string {
	file := filepath.Join(dir, "package.json")
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPackage {
		// Nobody waits for a FIFO.
		return ""
	}

	b, err := os.ReadFile(file)
	var p struct{ Name string }
	if err != nil || json.Unmarshal(b, &p) != nil {
		return ""
	}

	return p.Name
}
