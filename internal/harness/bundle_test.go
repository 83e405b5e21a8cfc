package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnabledPlugin: a list of plugins has ours if it names it, from whatever marketplace, and doesn't turn
// it off.
func TestEnabledPlugin(t *testing.T) {
	for list, want := range map[string]bool{
		`{"talking-stick@talking-stick": true}`:             true,
		`{"talking-stick@company": {"enabled": true}}`:      true,
		`{"talking-stick@company": {}}`:                     true,
		`{"talking-stick@talking-stick": false}`:            false,
		`{"talking-stick@company": {"enabled": false}}`:     false,
		`{"talking-sticks@company": true, "other@x": true}`: false,
		`{"talking-stick@company": "yes"}`:                  false,
		`["talking-stick@company"]`:                         false,
		`{}`:                                                false,
	} {
		if got := enabledPlugin(json.RawMessage(list)); got != want {
			t.Errorf("%s has ours: %v", list, got)
		}
	}
}

// TestNamedPackage: a list of packages has ours by its name at npm, or by a directory that holds it.
func TestNamedPackage(t *testing.T) {
	ours, other := t.TempDir(), t.TempDir()
	for dir, name := range map[string]string{ours: PluginPackage, other: "other"} {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name": "`+name+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	for list, want := range map[string]bool{
		`["` + PluginPackage + `"]`:                  true,
		`["x", "` + PluginPackage + `@1.2.3"]`:       true,
		`[["` + PluginPackage + `", {"a": 1}]]`:      true,
		`["file://` + filepath.ToSlash(ours) + `"]`:  true,
		`["` + filepath.ToSlash(ours) + `"]`:         true,
		`["` + filepath.ToSlash(other) + `"]`:        false,
		`["` + filepath.ToSlash(ours) + `/missing"]`: false,
		`["` + PluginPackage + `-more", 7]`:          false,
		`{"plugin": "` + PluginPackage + `"}`:        false,
		`[]`:                                         false,
	} {
		if got := namedPackage(json.RawMessage(list)); got != want {
			t.Errorf("%s has ours: %v", list, got)
		}
	}
}

// TestBundles: each plugin says how it comes, how it goes, and by what tt install sees it.
func TestBundles(t *testing.T) {
	formats := map[Format]bool{}
	for _, row := range Rows {
		b := row.Setup.Bundle
		if b.Format == NoPlugin {
			continue
		}

		formats[b.Format] = true
		if len(b.Add) == 0 || b.RemovalText() == "" || b.Noted.User == "" || (len(b.At) > 0) != (b.Says != nil) {
			t.Errorf("the plugin of %s lacks something: %+v", row.Name, b)
		}

		for _, command := range append(b.Add, b.Remove...) {
			if !strings.HasPrefix(command, row.Programs[0]+" ") {
				t.Errorf("%q isn't a command of %s", command, row.Title)
			}
		}
	}

	if len(formats) != 3 {
		t.Errorf("the formats are %v", formats)
	}
}
