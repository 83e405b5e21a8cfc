package harness

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realPrograms are the harnesses that package realharness runs. It is nil on systems other than Linux.
var realPrograms map[string]bool

// known is what the tests know about harnesses besides their rows.
type known struct {
	processes map[string]bool                       // seen in seenProcesses
	told      map[string]map[string]json.RawMessage // in testdata/hooks.json
	answers   map[string]map[string][]string        // the fields that it understands
	programs  map[string]bool                       // in e2e/realharness; nil where that isn't known
}

func whatTestsKnow(t *testing.T) known {
	k := known{
		processes: map[string]bool{}, told: samples(t), answers: maps.Clone(answers),
		programs: maps.Clone(realPrograms),
	}
	for _, s := range seenProcesses {
		k.processes[s.want] = true
	}
	return k
}

// lacks names the parts of a harness that are missing in its row, or in what the tests know about it. The row
// of a harness that nobody has seen running says why; such a harness needs no recorded parts.
func lacks(row Row, k known) (parts []string) {
	need := func(part string, there bool) {
		if !there {
			parts = append(parts, part)
		}
	}

	s, seen := row.Setup, row.Unproven == ""
	need("Name", row.Name != Human && checkName(row.Name+":1a2b3c4d", "table") == nil)
	need("Title", row.Title != "")
	need("Programs", len(row.Programs) > 0)
	need("Proves", row.Proves != "")
	need("Tags", len(row.Tags) > 0)
	need("SessionEnv or Markers", len(row.SessionEnv)+len(row.Markers) > 0 || !seen)
	need("a process in seenProcesses", k.processes[row.Name] || !seen)
	need("a program in e2e/realharness", k.programs[row.Name] || !seen || k.programs == nil)

	need("Setup.Config", s.Config != "")
	need("Setup.Skills", s.Skills.User != "" && s.Skills.Project != "")
	if len(row.Clients) > 0 || s.Server != (Levels{}) { // else it has no MCP
		need("Setup.Server", s.Server.User != "" && s.Server.Project != "" && len(s.ServerAt) > 0)
		need("Setup.Entry", s.Entry != nil || s.TOML)
	}

	need("Setup.Next", s.Next != "" && s.NextInProject != "")
	need("Setup.Code", (s.Plugin.User != "") == (s.Code != nil))
	if s.Trust != nil {
		need("Setup.Trust", s.Trust.File != "" && s.Trust.At != nil && s.Trust.Note != nil && s.Trust.Review != "")
	}

	if len(row.Hooks) == 0 {
		need("Hooks", !seen)
		return parts
	}

	need("Setup.Hooks or Setup.Plugin", s.Hooks.User != "" && s.HookUnit > 0 || s.Plugin.User != "")
	need("Editors", len(row.Editors) > 0)
	need("HookBlock", row.HookBlock != "")
	need("its answers in hook_test.go", k.answers[row.Name] != nil)

	for _, event := range []HookEvent{
		HookSessionStart, HookPrompt, HookBeforeTool, HookAfterTool, HookStop, HookSessionEnd,
	} {
		is := func(h Hook) bool { return h.Event == event }
		i := slices.IndexFunc(row.Hooks, is)
		need("a hook for "+string(event), i >= 0)

		need("a sample of "+string(event)+" in testdata/hooks.json", i >= 0 && slices.ContainsFunc(slices.Collect(maps.Keys(k.told[row.Name])), func(name string) bool {
			name, _, _ = strings.Cut(name, ":")
			return name == row.Hooks[i].Name
		}))
	}

	switch row.Wake {
	case WakeExit:
		need("Setup.Background", s.Background != nil || s.Plugin.User != "")
	case WakeQueue:
		need("QueueCommand", row.QueueCommand != nil && s.Background != nil)
	}

	return parts
}

// TestRowsAreWhole: no harness lacks a part that the tests require.
func TestRowsAreWhole(t *testing.T) {
	for _, row := range Rows {
		for _, part := range lacks(row, whatTestsKnow(t)) {
			t.Errorf("the harness %s lacks %s", row.Name, part)
		}
	}
}

// TestANewHarnessWithoutAPart leaves out each part of a whole harness, and expects exactly the name of that
// part.
func TestANewHarnessWithoutAPart(t *testing.T) {
	without := func(event HookEvent) func(r *Row, k *known) {
		return func(r *Row, k *known) {
			r.Hooks = slices.DeleteFunc(slices.Clone(r.Hooks), func(h Hook) bool { return h.Event == event })
		}
	}

	for _, c := range []struct {
		from string
		drop func(r *Row, k *known)
		want string
	}{
		{"claude", func(r *Row, k *known) { r.Title = "" }, "Title"},
		{"claude", func(r *Row, k *known) { r.Programs = nil }, "Programs"},
		{"claude", func(r *Row, k *known) { r.Proves = "" }, "Proves"},
		{"claude", func(r *Row, k *known) { r.Tags = nil }, "Tags"},
		{"gemini", func(r *Row, k *known) { r.SessionEnv, r.Markers = nil, nil }, "SessionEnv or Markers"},
		{"gemini", func(r *Row, k *known) { delete(k.processes, r.Name) }, "a process in seenProcesses"},
		{"gemini", func(r *Row, k *known) { k.programs = map[string]bool{} }, "a program in e2e/realharness"},
		{"antigravity", func(r *Row, k *known) { r.Setup.Config = "" }, "Setup.Config"},
		{"gemini", func(r *Row, k *known) { r.Setup.Skills.Project = "" }, "Setup.Skills"},
		{"opencode", func(r *Row, k *known) { r.Setup.ServerAt = nil }, "Setup.Server"},
		{"opencode", func(r *Row, k *known) { r.Setup.Entry = nil }, "Setup.Entry"},
		{"opencode", func(r *Row, k *known) { r.Setup.NextInProject = "" }, "Setup.Next"},
		{"opencode", func(r *Row, k *known) { r.Setup.Code = nil }, "Setup.Code"},
		{"codex", func(r *Row, k *known) { r.Setup.Trust = &Trust{File: "config.toml"} }, "Setup.Trust"},
		{"gemini", func(r *Row, k *known) { r.Hooks = nil }, "Hooks"},
		{"gemini", func(r *Row, k *known) { r.Setup.HookUnit = 0 }, "Setup.Hooks or Setup.Plugin"},
		{"gemini", func(r *Row, k *known) { r.Editors = nil }, "Editors"},
		{"gemini", func(r *Row, k *known) { r.HookBlock = "" }, "HookBlock"},
		{"gemini", func(r *Row, k *known) { delete(k.answers, r.Name) }, "its answers in hook_test.go"},
		{"gemini", without(HookStop), "a hook for stop; a sample of stop in testdata/hooks.json"},
		{
			"gemini",
			func(r *Row, k *known) { delete(k.told[r.Name], "AfterAgent") },
			"a sample of stop in testdata/hooks.json",
		},
		{"claude", func(r *Row, k *known) { r.Setup.Background = nil }, "Setup.Background"},
		{"codex", func(r *Row, k *known) { r.QueueCommand = nil }, "QueueCommand"},
	} {
		row, _ := ByName(c.from)
		k := whatTestsKnow(t)
		if k.programs == nil {
			k.programs = map[string]bool{row.Name: true}
		}
		c.drop(&row, &k)
		if got := strings.Join(lacks(row, k), "; "); got != c.want {
			t.Errorf("%s without %s lacks %q", c.from, c.want, got)
		}
	}
}

// TestEveryRowIsInTheTable: a row that isn't in Rows compiles, but has no effect.
func TestEveryRowIsInTheTable(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared, listed := []string{}, []string{"workerRow"} // it is no harness
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}

		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR || strings.HasSuffix(name, "_test.go") {
				continue
			}

			for _, s := range group.Specs {
				v := s.(*ast.ValueSpec)
				if len(v.Values) != 1 {
					continue
				}

				lit, ok := v.Values[0].(*ast.CompositeLit)
				if !ok {
					continue
				}

				if of, ok := lit.Type.(*ast.Ident); ok && of.Name == "Row" {
					declared = append(declared, v.Names[0].Name)
				}

				for _, e := range lit.Elts {
					if id, ok := e.(*ast.Ident); ok && v.Names[0].Name == "Rows" {
						listed = append(listed, id.Name)
					}
				}
			}
		}
	}

	if len(declared) != len(Rows)+1 {
		t.Errorf("%d rows are declared, and %d are in the table", len(declared)-1, len(Rows))
	}

	for _, name := range declared {
		if !slices.Contains(listed, name) {
			t.Errorf("%s isn't in Rows", name)
		}
	}
}
