//go:build linux

package realharness

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// Copilot is GitHub's Copilot CLI, with another provider's model. It needs no login then.
var Copilot = &Harness{
	Name:    "copilot",
	program: "copilot",
	known:   "gpt-4.1",
	config: func(a *Agent) map[string]any {
		return map[string]any{".copilot/config.json": map[string]any{"trustedFolders": []string{a.Place.Repo}}}
	},
	args: func(_ *Agent, prompt string, o Options) []string {
		args := append([]string{"--output-format", "json", "--allow-all-tools", "--allow-all-paths"}, o.Args...)
		return append(args, "-p", prompt)
	},
	tui: func(_ *Agent, o Options) []string {
		return append([]string{"--allow-all-tools", "--allow-all-paths"}, o.Args...)
	},
	ready: "/ commands",
	env: func(a *Agent) []string {
		env := []string{
			"COPILOT_PROVIDER_BASE_URL=" + a.Config.API + "/v1", "COPILOT_PROVIDER_API_KEY=scripted", "COPILOT_MODEL=" + a.Config.Model,
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
		}

		// Some of these models get a tool that takes patches.
		if strings.HasPrefix(a.Config.Model, "gpt-5") {
			env = append(env, "COPILOT_PROVIDER_WIRE_API=responses")
		}
		if dir, err := npmDir(); err == nil { // else it isn't installed there
			env = append(env, "COPILOT_PKG_CACHE_HOME="+filepath.Join(dir, "copilot"))
		}
		return env
	},
	answer: func(out []byte, r *Result) {
		eachLine(out, func(line []byte) {
			var e struct {
				Type      string `json:"type"`
				SessionID string `json:"sessionId"`
				Data      struct {
					Content string `json:"content"`
				} `json:"data"`
			}
			json.Unmarshal(line, &e)
			switch {
			case e.Type == "result":
				r.SessionID = e.SessionID
			case e.Type == "assistant.message" && e.Data.Content != "":
				r.Text = e.Data.Content
			}
		})
	},
}
