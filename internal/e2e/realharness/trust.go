//go:build linux

package realharness

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TrustHooks makes Codex trust the hooks that are in its home now, as a person does with /hooks: Codex keeps
// a digest of each. The option that trusts them for one run isn't used, because it stops the terminal
// program from using its daemon.
func (a *Agent) TrustHooks(t testing.TB) {
	t.Helper()
	path := filepath.Join(a.Place.Home, ".codex/hooks.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Hooks map[string][]struct {
			Matcher string `json:"matcher"`
			Hooks   []struct {
				Command string `json:"command"`
				Timeout int    `json:"timeout"`
				Async   bool   `json:"async"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}

	var out strings.Builder
	for name, groups := range file.Hooks {
		event := strings.ToLower(between.ReplaceAllString(name, "${1}_${2}"))
		for g, group := range groups {
			for n, h := range group.Hooks {
				if h.Timeout == 0 {
					h.Timeout = 600
				}
				if event == "session_end" {
					h.Timeout = min(h.Timeout, 3) // Codex allows no more
				}
				said := map[string]any{"event_name": event, "hooks": []any{
					map[string]any{"async": h.Async, "command": h.Command, "timeout": h.Timeout, "type": "command"},
				}}
				if group.Matcher != "" {
					said["matcher"] = group.Matcher
				}
				id := fmt.Sprintf("%s:%s:%d:%d", path, event, g, n)
				fmt.Fprintf(&out, "\n[hooks.state.%q]\ntrusted_hash = \"sha256:%x\"\n", id, sha256.Sum256(encodePlain(said)))
			}
		}
	}

	config := filepath.Join(a.Place.Home, ".codex/config.toml")
	if b, err = os.ReadFile(config); err == nil {
		err = os.WriteFile(config, append(b, out.String()...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// between matches where two words of a name meet.
var between = regexp.MustCompile(`([a-z])([A-Z])`)

// encodePlain returns JSON without unnecessary escapes.
func encodePlain(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // it is made of maps and strings
	}
	return bytes.TrimSpace(b.Bytes())
}
