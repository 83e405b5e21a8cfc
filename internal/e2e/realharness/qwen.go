//go:build linux

package realharness

import "encoding/json"

// Qwen is Alibaba's Qwen Code.
var Qwen = &Harness{
	Name:    "qwen",
	program: "qwen",
	node22:  true,
	known:   "fake",
	config: func(*Agent) map[string]any {
		return map[string]any{".qwen/settings.json": map[string]any{
			"security": map[string]any{"auth": map[string]any{"selectedType": "openai"}},
			"privacy":  map[string]any{"usageStatisticsEnabled": false},
			"general":  map[string]any{"enableAutoUpdate": false},
			// It would ask the model what its person may type next, and what is worth remembering.
			"ui":     map[string]any{"enableFollowupSuggestions": false},
			"memory": map[string]any{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
		}}
	},
	args: func(_ *Agent, prompt string, o Options) []string {
		args := append([]string{"--yolo", "--output-format", "json"}, o.Args...)
		return append(args, "-p", prompt)
	},
	tui:   func(_ *Agent, o Options) []string { return append([]string{"--yolo"}, o.Args...) },
	ready: "Type your message",
	env: func(a *Agent) []string {
		return []string{"OPENAI_BASE_URL=" + a.Config.API + "/v1", "OPENAI_API_KEY=scripted", "OPENAI_MODEL=" + a.Config.Model}
	},
	answer: func(out []byte, r *Result) {
		var all []struct {
			Type      string `json:"type"`
			Result    string `json:"result"`
			SessionID string `json:"session_id"`
		}
		json.Unmarshal(out, &all) // a test may ask for another output format, which has no text here
		for _, e := range all {
			if e.SessionID != "" {
				r.SessionID = e.SessionID
			}
			if e.Type == "result" {
				r.Text = e.Result
			}
		}
	},
}
