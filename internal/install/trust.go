package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
)

// Codex runs a hook only if a person has trusted it, and tells nobody when it doesn't. What is trusted
// stands in its config.toml: for each hook, by its file and place, the digest of what it does.

// codexDefault is the time limit of a hook without one, and codexEnd the longest of one at the end of a
// session, in seconds.
const (
	codexDefault = 600
	codexEnd     = 3
)

// trusted tells whether Codex runs all hooks of ours that a file of hooks holds; nil when it holds
// none, or can't be read.
func (t Target) trusted(file string) *bool {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var events map[string][]struct {
		Matcher *string           `json:"matcher"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	raw, _, err := confedit.JSONGet(src, []string{"hooks"})
	if err != nil || json.Unmarshal(raw, &events) != nil {
		return nil
	}
	codex, _ := harness.ByName("codex")
	config, _ := os.ReadFile(filepath.Join(t.config(codex.Setup), "config.toml")) // none trusts nothing
	files := []string{file}
	if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
		files = append(files, real)
	}
	all, any := true, false
	for event, groups := range events {
		for g, in := range groups {
			for h, one := range in.Hooks {
				if !t.isHook("codex", false)(one) && !t.isHook("codex", true)(one) {
					continue
				}
				any = true
				ok := false
				for _, f := range files {
					key := fmt.Sprintf("%s:%s:%d:%d", f, snake(event), g, h)
					has, _, err := confedit.TOMLGet(config, []string{"hooks", "state", key, "trusted_hash"})
					ok = ok || err == nil && has == trustHash(event, in.Matcher, one)
				}
				all = all && ok
			}
		}
	}
	if !any {
		return nil
	}
	return &all
}

// trustHash is the digest by which Codex knows a hook. The time limit in it is the one that counts.
func trustHash(event string, matcher *string, hook json.RawMessage) string {
	h := handler{Timeout: codexDefault}
	if json.Unmarshal(hook, &h) != nil {
		return "none"
	}
	if event == "SessionEnd" {
		h.Timeout = min(h.Timeout, codexEnd)
	}
	// The keys of maps are written in their order, which is what Codex does.
	v := map[string]any{"event_name": snake(event), "hooks": []any{
		map[string]any{"async": h.Async, "command": h.Command, "timeout": h.Timeout, "type": h.Type},
	}}
	if matcher != nil {
		v["matcher"] = *matcher
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "none"
	}
	sum := sha256.Sum256(bytes.TrimSpace(b.Bytes()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

var capital = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z])([A-Z])`) })

// snake is the name of an event as Codex writes it there: SessionStart as session_start.
func snake(event string) string {
	return strings.ToLower(capital().ReplaceAllString(event, "${1}_${2}"))
}
