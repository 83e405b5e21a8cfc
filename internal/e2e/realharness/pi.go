//go:build linux

package realharness

import (
	"encoding/json"
	"fmt"
)

// piProvider is an extension that adds the model. A provider in a file of its own can't have its address from
// a variable.
const piProvider = `export default function (pi) {
  pi.registerProvider("scripted", { baseUrl: process.env.SCRIPTED_API + "/v1", apiKey: "scripted", api: "openai-completions", models: [{
    id: %q, name: %q, reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 200000, maxTokens: 8000,
  }] })
}
`

// Pi is pi. It has no MCP.
var Pi = &Harness{
	Name:    "pi",
	program: "pi",
	node22:  true,
	known:   "fake",
	config: func(a *Agent) map[string]any {
		return map[string]any{".pi/agent/extensions/scripted.ts": fmt.Sprintf(piProvider, a.Config.Model, a.Config.Model)}
	},
	args: func(a *Agent, prompt string, o Options) []string {
		args := append([]string{"--provider", "scripted", "--model", a.Config.Model, "--mode", "json"}, o.Args...)
		return append(args, "-p", prompt)
	},
	tui: func(a *Agent, o Options) []string {
		return append([]string{"--provider", "scripted", "--model", a.Config.Model}, o.Args...)
	},
	ready: "/ commands",
	env: func(a *Agent) []string {
		return []string{"PI_OFFLINE=1", "SCRIPTED_API=" + a.Config.API}
	},
	answer: func(out []byte, r *Result) {
		eachLine(out, func(line []byte) {
			var e struct {
				Type    string `json:"type"`
				ID      string `json:"id"`
				Message struct {
					Role    string `json:"role"`
					Content []struct {
						Text string `json:"text"`
					} `json:"content"`
				} `json:"message"`
			}
			json.Unmarshal(line, &e)
			switch {
			case e.Type == "session":
				r.SessionID = e.ID
			case e.Type == "message_end" && e.Message.Role == "assistant" && len(e.Message.Content) > 0 && e.Message.Content[0].Text != "":
				r.Text = e.Message.Content[0].Text
			}
		})
	},
}
