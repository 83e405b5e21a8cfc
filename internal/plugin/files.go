package main

import (
	"bytes"
	"maps"
	"path"

	"talkingstick/internal/harness"
	"talkingstick/internal/install"
)

// plugins is what the plugins say of themselves.
type plugins struct{ version, author, homepage string }

const summary = "Several coding agents and people, one codebase, one talking stick: the skill, hooks and MCP server of tt"

// Where the extension for Gemini CLI and the package for OpenCode lie. The extension doesn't lie at the top,
// because Qwen Code would take it there instead of the plugin.
const (
	geminiDir   = "gemini"
	openCodeDir = "opencode"
)

// object is a JSON object.
type object = map[string]any

// allFiles returns all files by their names, with /. They are the same at every call.
func (p plugins) allFiles() map[string]string {
	all := p.claudeFiles()
	maps.Copy(all, p.geminiFiles())
	maps.Copy(all, p.openCodeFiles())
	all["README.md"] = p.readmeText()
	return all
}

// skillIn names the file of the skill below a directory.
func skillIn(dir string) string { return path.Join(dir, "skills", harness.SkillName, "SKILL.md") }

// hooksOf is a file of hooks for all harnesses that take a plugin.
func hooksOf(f harness.Format) string {
	return harness.JSON(object{"description": "Tells tt what happens in a session", "hooks": install.PluginHooks(harness.RowsForFormat(f)...)})
}

// claudeFiles is the plugin in the format of Claude Code, and the marketplace that offers it.
func (p plugins) claudeFiles() map[string]string {
	dir := harness.PluginName
	servers := object{harness.ServerName: install.PluginServer(harness.PluginServer)}
	manifest := object{
		"name": harness.PluginName, "version": p.version, "description": summary,
		"author": object{"name": p.author}, "license": "MIT",
		"mcpServers": servers, // not every harness of this format reads .mcp.json
	}

	if p.homepage != "" {
		manifest["homepage"] = p.homepage
	}

	return map[string]string{
		".claude-plugin/marketplace.json": harness.JSON(object{
			"name": harness.PluginName, "description": summary, "owner": object{"name": p.author},
			"plugins": []object{{"name": harness.PluginName, "source": "./" + dir, "description": summary}},
		}),
		path.Join(dir, ".claude-plugin/plugin.json"): harness.JSON(manifest),
		path.Join(dir, ".mcp.json"):                  harness.JSON(object{"mcpServers": servers}),
		path.Join(dir, "hooks/hooks.json"):           hooksOf(harness.FormatClaude),
		skillIn(dir):                                 harness.Skill,
		path.Join(dir, "README.md"):                  about,
	}
}

// about is what people read of the plugin in a list of plugins, and what the directory of Claude Code's
// plugins asks for.
const about = `# Talking Stick

Several coding agents and people work on one codebase, and take turns. This plugin connects an agent to ` + "`tt`" + `: a skill teaches it to take
the stick before it edits and to hand it on with what comes next, hooks tell it of messages and of edits that aren't its own to make, and
an MCP server lets it do all of that by tools.

The plugin brings no program. Install ` + "`tt`" + ` first and put it on your ` + "`PATH`" + `; without it the plugin does nothing. It uses no network, and keeps
what agents say in a database in your home directory. ` + "`tt doctor`" + ` says whether everything works.
`

// geminiFiles is the extension of Gemini CLI.
func (p plugins) geminiFiles() map[string]string {
	row := harness.RowsForFormat(harness.FormatGemini)[0]
	return map[string]string{
		path.Join(geminiDir, "gemini-extension.json"): harness.JSON(object{
			"name": harness.PluginName, "version": p.version, "description": summary,
			"mcpServers": object{harness.ServerName: install.PluginServer(row.Setup.Entry)},
		}),
		path.Join(geminiDir, "hooks/hooks.json"): hooksOf(harness.FormatGemini),
		skillIn(geminiDir):                       harness.Skill,
	}
}

// openCodeFiles is the package of npm for OpenCode.
func (p plugins) openCodeFiles() map[string]string {
	row := harness.RowsForFormat(harness.FormatOpenCode)[0]

	manifest := object{
		"name": harness.PluginPackage, "version": p.version, "description": summary,
		"license": "MIT", "type": "module", "main": "./index.js",
		"exports": object{".": "./index.js", "./server": "./index.js"}, "files": []string{"index.js", "plugin.js", "skills"},
		"publishConfig": object{"access": "public"}, // npm takes a package with an owner's name for private
	}

	if p.homepage != "" {
		manifest["homepage"] = p.homepage
	}

	server := bytes.TrimSpace([]byte(harness.JSON(install.PluginServer(row.Setup.Entry))))
	return map[string]string{
		path.Join(openCodeDir, "package.json"): harness.JSON(manifest),
		path.Join(openCodeDir, "index.js"):     harness.OpenCodePackage(string(server)),
		path.Join(openCodeDir, "plugin.js"):    install.PluginCode(row),
		skillIn(openCodeDir):                   harness.Skill,
	}
}

// readmeText says to people what the directory is, and how each harness installs from it.
func (p plugins) readmeText() string {
	var b bytes.Buffer
	b.WriteString("# Talking Stick as plugins\n\n" + summary + ". They bring no program: install `tt` first, and put it on your `PATH`.\n" +
		"Without it they do nothing.\n\n`" + harness.From + "` is this directory, or the address of the repository that holds it. " +
		"Where a plugin is installed, `tt install` writes nothing.\n")

	for _, row := range harness.Rows {
		bundle := row.Setup.Bundle
		if bundle.Format == harness.NoPlugin {
			continue
		}

		b.WriteString("\n## " + string(row.Title) + "\n\n")
		for _, command := range bundle.Add {
			b.WriteString("    " + command + "\n")
		}

		b.WriteString("\nTo take it away:\n\n")
		for _, command := range bundle.Remove {
			b.WriteString("    " + command + "\n")
		}

		if bundle.ByHand != "" {
			b.WriteString(string(bundle.ByHand) + ".\n")
		}

		if trust := row.Setup.Trust; trust != nil {
			b.WriteString("It skips hooks that nobody has trusted: " + string(trust.Review) + ".\n")
		}
	}
	return b.String()
}
