package install

import (
	"bytes"
	"slices"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// everywhere is where a plugin is for: like a project's files, it comes to machines that have the program in
// other places, or not at all.
var everywhere = Target{Project: ".", plugin: true}

// PluginServer returns the entry of our server in a plugin.
func PluginServer(entry func(tt string) any) any { return entry(everywhere.programPath()) }

// PluginCode returns the code of the plugin of a harness that has no file of hooks.
func PluginCode(row harness.Row) string { return row.Setup.Code(everywhere.programPath()) }

// PluginHooks returns the hooks of a plugin that several harnesses take: the events of all of them, for the
// tools of all of them. What a harness doesn't know there, it leaves out. Time limits are in the smallest
// unit of these harnesses.
func PluginHooks(rows ...harness.Row) map[string][]harness.HookGroup {
	unit := 0
	for _, row := range rows {
		if u := row.Setup.HookUnit; unit == 0 || u < unit {
			unit = u
		}
	}

	var all []hook
	for _, row := range rows {
		s := row.Setup
		s.HookUnit = unit
		for _, h := range everywhere.wantedHooks(row, s) {
			i := slices.IndexFunc(all, func(x hook) bool { return x.event == h.event && x.wake == h.wake })
			if i < 0 {
				all = append(all, h)
				continue
			}

			all[i].Async = all[i].Async || h.Async
			all[i].AsyncRewake = all[i].AsyncRewake || h.AsyncRewake
		}
	}

	hooks := map[string][]harness.HookGroup{}
	for _, h := range all {
		if h.tools != "" {
			h.tools = harness.EditorTools(rows...)
		}

		hooks[h.event] = append(hooks[h.event], harness.HookGroup{
			Matcher: h.tools, Hooks: []harness.Handler{h.Handler},
		})
	}

	return hooks
}

// pluginNote returns the file by which a harness knows that it has our plugin, at this level. It is empty if
// it hasn't.
func (t Target) pluginNote(row harness.Row) string {
	b := row.Setup.Bundle
	file := t.filePath(row.Setup, b.Noted)
	if file == "" {
		return ""
	}

	files := []string{file}

	// The harness reads both files.
	if row.Setup.ServerJSONC {
		files = append(files, file+"c")
	}

	for _, f := range files {
		src, err := confedit.Read(f)
		if err != nil {
			continue
		}
		if len(b.At) == 0 {
			return f
		}
		if value := valueAt(src, b.TOML, b.At); value != nil && b.Says(value) {
			return f
		}
	}

	return ""
}

// planPlugin says in the plan that a harness has our plugin, and reports that. Then tt install writes only
// what a plugin can't bring. tt uninstall takes away what tt install has written, and leaves the plugin.
func (p *plan) planPlugin(row harness.Row) bool {
	at := p.t.pluginNote(row)
	if at == "" {
		return false
	}

	s := FileChange{Harness: row.Name, What: plugin, File: at, Target: p.t.realPath(at), State: Kept}
	switch {
	case p.removing:
		s.Note = "its plugin stays; to take it away: " + row.Setup.Bundle.RemovalText()
	case p.isInstalled(row.Name):
		s.Note = stick.Wordsf(
			"its plugin brings the same as what tt install has written; one of them is enough: tt uninstall %s",
			row.Name,
		)
	default:
		s.Note = "its plugin brings skill, hooks and MCP server, so none of them is written"
	}

	p.steps = append(p.steps, s)
	return true
}

// ServerBeside reports whether tt install has registered a server for the user of a harness that would keep
// that of a plugin, too: the model would get the same tools twice.
func HasOwnServer(t Target, row harness.Row) bool {
	if !row.Setup.Bundle.Apart {
		return false
	}

	t.Project = ""
	src, err := confedit.Read(t.serverFile(row.Setup))
	if err != nil {
		return false
	}

	_, ours, err := t.serverPart(row.Setup).remove(nothingStays)(src)
	return err == nil && ours
}

// HooksBeside reports whether a harness runs hooks that tt install has written for its user. Then those of a
// plugin have nothing to say.
func HasOwnHooks(t Target, row harness.Row) bool {
	t.Project = ""
	src, err := confedit.Read(t.filePath(row.Setup, row.Setup.Hooks))
	if err != nil || !bytes.Contains(src, []byte(" hook")) {
		return false
	}

	_, ours, err := t.noHooks(row, row.Setup)(nothingStays)(src)
	trusted := t.isTrusted(row)
	return err == nil && ours && (trusted == nil || *trusted)
}

// addPlugin adds our plugin to what is installed, if a harness has it at one of the levels. What a plugin
// can't bring may lack.
func (s *Status) addPlugin(row harness.Row, levels ...Target) {
	if !slices.ContainsFunc(levels, func(t Target) bool { return t.pluginNote(row) != "" }) {
		return
	}

	user := levels[0]
	s.Plugin, s.Installed, s.Missing = true, All, nil
	s.Levels = append(s.Levels, plugin)
	p := &plan{t: user, files: user.editFiles()}

	for _, x := range user.partsOf(row) {
		if has, err := p.hasPart(x); x.beyond && err == nil && !has {
			s.Installed, s.Missing = Partly, append(s.Missing, x.what)
		}
	}
}
