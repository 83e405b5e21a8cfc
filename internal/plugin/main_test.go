package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/harness"
	"talkingstick/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m)) }

// TestPlugins: two runs write the same files, all JSON is valid, each plugin has the skill, and nothing names
// this machine.
func TestPlugins(t *testing.T) {
	p := plugins{version: "1.2.3", author: "Ann", homepage: "https://example.invalid/plugins"}
	one, two := t.TempDir(), filepath.Join(t.TempDir(), "new", "directory")
	for _, dir := range []string{one, two} {
		if err := p.writeFiles(dir); err != nil {
			t.Fatal(err)
		}
	}

	skills := 0
	err := fs.WalkDir(os.DirFS(one), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			return err
		}
		if again, err := os.ReadFile(filepath.Join(two, name)); err != nil || string(again) != string(b) {
			t.Errorf("%s differs in two runs (%v)", name, err)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(b) {
			t.Errorf("%s isn't JSON:\n%s", name, b)
		}

		if strings.HasSuffix(name, "SKILL.md") && string(b) == harness.Skill {
			skills++
		}
		if wd, err := os.Getwd(); err != nil || strings.Contains(string(b), wd) || strings.Contains(string(b), "{{") {
			t.Errorf("%s isn't for every machine (%v):\n%s", name, err, b)
		}

		return nil
	})

	if err != nil || skills != 3 {
		t.Errorf("%d plugins have the skill (%v)", skills, err)
	}
}

// TestPluginsSay: what plugins say of themselves is what the command was told.
func TestPluginsSay(t *testing.T) {
	p := plugins{version: "1.2.3", author: "Ann", homepage: "https://example.invalid/plugins"}
	all := p.allFiles()
	for name, want := range map[string][]string{
		".claude-plugin/marketplace.json":          {`"Ann"`, `"./talking-stick"`},
		"talking-stick/.claude-plugin/plugin.json": {`"1.2.3"`, `"Ann"`, `"homepage"`, `"--plugin"`},
		"talking-stick/.mcp.json":                  {`"--plugin"`},
		"gemini/gemini-extension.json":             {`"1.2.3"`, `"tt"`},
		"opencode/package.json":                    {`"1.2.3"`, harness.PluginPackage},
		"opencode/index.js":                        {`"tt",`, `"mcp"`},
		"README.md": {
			"claude plugin marketplace add " + harness.From, "gemini extensions uninstall talking-stick",
		},
	} {
		for _, w := range want {
			if !strings.Contains(all[name], w) {
				t.Errorf("%s lacks %s:\n%s", name, w, all[name])
			}
		}
	}

	if bare := (plugins{}).allFiles(); strings.Contains(bare["talking-stick/.claude-plugin/plugin.json"], "homepage") {
		t.Error("a plugin that is published nowhere has a homepage")
	}
}

// TestGuideNamesTheCommands: the guide shows the commands of each harness that install our plugin, and no
// others. Package e2e runs them.
func TestGuideNamesTheCommands(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/connect.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`]*"+harness.From+"[^`]*|[a-z]+ plugin [^`]*)`").FindAllStringSubmatch(string(guide), -1) {
		shown[m[1]] = true
	}
	delete(shown, harness.From)

	for _, row := range harness.Rows {
		for _, command := range row.Setup.Bundle.Add {
			if !shown[command] || !strings.Contains(string(guide), "| "+string(row.Title)+" |") {
				t.Errorf("the guide doesn't show %q for %s", command, row.Title)
			}
			delete(shown, command)
		}
	}

	for command := range shown {
		t.Errorf("the guide shows %q, which no harness has", command)
	}
}
