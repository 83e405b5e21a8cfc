//go:build linux

package realharness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// apiKey looks like Anthropic's, as Claude Code requires.
const apiKey = "sk-ant-scripted-0000000000000000000000"

// Claude is Claude Code. It shows its model a server's tools only after the model has searched for them,
// unless it is told not to hide them. Scripts don't search.
var Claude = &Harness{
	Name:    "claude",
	program: "claude",
	known:   "claude-sonnet-4-5",
	config: func(a *Agent) map[string]any {
		allow := []string{"Bash", "Read", "Edit", "Write"}
		for _, s := range a.Config.Servers {
			allow = append(allow, "mcp__"+s)
		}
		return map[string]any{
			".claude.json": map[string]any{
				"hasCompletedOnboarding": true,
				"customApiKeyResponses":  map[string]any{"approved": []string{apiKey[len(apiKey)-20:]}},
				"projects":               map[string]any{a.Place.Repo: map[string]any{"hasTrustDialogAccepted": true}},
			},
			".claude/settings.json": map[string]any{"permissions": map[string]any{"allow": allow}},
		}
	},
	args: func(a *Agent, prompt string, o Options) []string {
		args := append([]string{"--output-format", "json", "--model", a.Config.Model}, o.Args...)
		return append(args, "-p", prompt)
	},
	tui:   func(a *Agent, o Options) []string { return append([]string{"--model", a.Config.Model}, o.Args...) },
	ready: "for agents", // the first half of that line is drawn in pieces
	env: func(a *Agent) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + a.Config.API, "ANTHROPIC_API_KEY=" + apiKey, "DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false",
		}
	},
	// It has no inbox with these.
	quiet: []string{"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
	answer: func(out []byte, r *Result) {
		var said struct {
			Result    string `json:"result"`
			SessionID string `json:"session_id"`
		}
		json.Unmarshal(out, &said) // a test may ask for another output format, which has no text here
		r.Text, r.SessionID = said.Result, said.SessionID
	},
}

// Codex is OpenAI's. Its exec does the work itself. The terminal program leaves the work to a daemon, unless
// it gets settings on the command line.
var Codex = &Harness{
	Name:    "codex",
	program: "codex",
	known:   "gpt-6.1-sol",
	config: func(a *Agent) map[string]any {
		return map[string]any{".codex/config.toml": fmt.Sprintf(`model = %q
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = %q
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

# Its sandbox would put a directory .git into the machine's /tmp for as long as a command runs, which
# makes a workspace of it for every other test.
[sandbox_workspace_write]
exclude_slash_tmp = true

[projects.%q]
trust_level = "trusted"
`, a.Config.Model, a.Config.API+"/v1", a.Place.Repo)} // the address is for starting codex by hand
	},
	args: func(a *Agent, prompt string, o Options) []string {
		return append(append([]string{"exec", "--json"}, codexArgs(a, o)...), prompt)
	},
	tui:   codexArgs,
	ready: "Ask Codex to do anything",
	env:   func(*Agent) []string { return []string{"SCRIPTED_API_KEY=scripted"} },
	answer: func(out []byte, r *Result) {
		eachLine(out, func(line []byte) {
			var e struct {
				ThreadID string `json:"thread_id"`
				Item     struct {
					Type string `json:"type"`
					Text string `json:"text"`
				} `json:"item"`
			}
			json.Unmarshal(line, &e)
			if e.ThreadID != "" {
				r.SessionID = e.ThreadID
			}
			if e.Item.Type == "agent_message" {
				r.Text = e.Item.Text
			}
		})
	},
}

// codexArgs are the arguments for both exec and the terminal program. Because the address is among them, the
// terminal program does the work itself instead of its daemon.
func codexArgs(a *Agent, o Options) []string {
	sandbox := o.Sandbox
	if sandbox == "" {
		sandbox = "danger-full-access"
	}
	args := []string{"-s", sandbox, "-m", a.Config.Model}
	if !o.Daemon {
		args = append(args, "-c", fmt.Sprintf("model_providers.scripted.base_url=%q", a.Config.API+"/v1"))
	}
	if o.BypassHookTrust {
		args = append(args, "--dangerously-bypass-hook-trust")
	}
	return append(args, o.Args...)
}

// Gemini is Gemini CLI.
var Gemini = &Harness{
	Name:    "gemini",
	program: "gemini",
	known:   "gemini-2.5-pro",
	config: func(a *Agent) map[string]any {
		return map[string]any{
			".gemini/settings.json": map[string]any{
				"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
				"privacy":  map[string]any{"usageStatisticsEnabled": false},
				"general":  map[string]any{"enableAutoUpdate": false},
			},
			".gemini/trustedFolders.json": map[string]any{a.Place.Repo: "TRUST_FOLDER"},
		}
	},
	args: func(a *Agent, prompt string, o Options) []string {
		args := append([]string{"-m", a.Config.Model, "--yolo", "-o", "json"}, o.Args...)
		return append(args, "-p", prompt)
	},
	env: func(a *Agent) []string {
		return []string{"GOOGLE_GEMINI_BASE_URL=" + a.Config.API, "GEMINI_API_KEY=scripted", "GEMINI_CLI_TRUST_WORKSPACE=true"}
	},
	answer: func(out []byte, r *Result) {
		var said struct {
			Response  string `json:"response"`
			SessionID string `json:"session_id"`
		}
		json.Unmarshal(out[max(bytes.IndexByte(out, '{'), 0):], &said) // notices may precede it
		r.Text, r.SessionID = said.Response, said.SessionID
	},
}

// OpenCode is OpenCode. Before it uses a plugin, it runs npm to install a package, and continues when npm
// succeeds or fails. With a registry that doesn't exist, npm fails at once.
var OpenCode = &Harness{
	Name:    "opencode",
	program: "opencode",
	known:   "fake",
	config: func(a *Agent) map[string]any {
		model := a.Config.Model
		return map[string]any{".config/opencode/opencode.json": map[string]any{
			"$schema": "https://opencode.ai/config.json",
			"provider": map[string]any{"scripted": map[string]any{
				"npm":     "@ai-sdk/openai-compatible",
				"name":    "scripted",
				"options": map[string]any{"baseURL": "{env:SCRIPTED_API}/v1", "apiKey": "scripted"},
				"models": map[string]any{model: map[string]any{
					"name": model, "tool_call": true, "limit": map[string]any{"context": 200000, "output": 8000},
				}},
			}},
			"model":             "scripted/" + model,
			"small_model":       "scripted/" + model,
			"enabled_providers": []string{"scripted"},
			"autoupdate":        false,
			"share":             "disabled",
			"permission":        map[string]any{"edit": "allow", "bash": "allow"},
		}}
	},
	args: func(a *Agent, prompt string, o Options) []string {
		return append(append([]string{"run", "--format", "json"}, o.Args...), prompt)
	},
	tui:   func(_ *Agent, o Options) []string { return o.Args },
	ready: "Ask anything",
	env: func(a *Agent) []string {
		return []string{
			"SCRIPTED_API=" + a.Config.API, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			"npm_config_fetch_retries=0", "npm_config_registry=http://127.0.0.1:9/",
		}
	},
	answer: func(out []byte, r *Result) {
		eachLine(out, func(line []byte) {
			var e struct {
				Type      string `json:"type"`
				SessionID string `json:"sessionID"`
				Part      struct {
					Text string `json:"text"`
				} `json:"part"`
			}
			json.Unmarshal(line, &e)
			if e.SessionID != "" {
				r.SessionID = e.SessionID
			}
			if e.Type == "text" {
				r.Text = strings.TrimSpace(e.Part.Text)
			}
		})
	},
}

// eachLine reads output of one JSON object a line, of any length.
func eachLine(out []byte, f func(line []byte)) {
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, len(out)+1)
	for s.Scan() {
		f(s.Bytes())
	}
}
