package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"talkingstick/stick"
)

// codexRow is OpenAI's Codex. npm's launcher is a node process with the native program as its child.
// The terminal program may leave its sessions to a daemon, which is then the ancestor of commands.
var codexRow = Row{
	Name:       "codex",
	Title:      "Codex",
	Programs:   []string{"codex"},
	Scripts:    []string{"codex"},
	Packages:   []string{"/@openai/codex/"},
	Sandboxes:  []string{"codex-linux-sandbox"},
	SessionEnv: []string{"CODEX_SESSION_ID"}, // a sub-agent has its parent's; CODEX_THREAD_ID would be its own
	Clients:    []string{"codex-mcp-client"},
	Markers:    []string{"CODEX_CI"},
	// Its MCP servers get no environment. A sub-agent's calls name its parent's session here.
	CallSession: []string{"x-codex-turn-metadata", "session_id"},
	Hooks: []Hook{
		{HookSessionStart, "SessionStart"},
		{HookPrompt, "UserPromptSubmit"},
		{HookBeforeTool, "PreToolUse"},
		{HookAfterTool, "PostToolUse"},
		{HookStop, "Stop"},
		{HookSessionEnd, "SessionEnd"},
		{HookCompact, "PreCompact"},
		{HookAsks, "PermissionRequest"},
	},
	MCPTools:  "mcp__.*",
	HookField: "turn_id",
	Editors:   []Editor{{Tool: "apply_patch", Patch: "command"}, {Tool: "Bash", Command: "command"}},
	HookBlock: "block",
	Wake:      WakeQueue,
	QueueCommand: func(program, session, text string) []string {
		return []string{program, "queue", "--thread", session, "--message", text}
	},
	Tags: []string{
		"environment_context", "user_instructions", "permissions", "collaboration_mode", "model_switch",
		"personality_spec", "hook_prompt", "turn_aborted", "user_shell_command", "subagent_notification", "skill",
		"skills_instructions", "apps_instructions", "plugins_instructions", "proposed_plan", "instructions",
	},
	Proves:     stick.ProvesSession,
	Carriers:   []string{"app-server", "mcp-server"},
	Daemons:    []string{"app-server", "mcp-server"},
	Listening:  []string{"unix:", "ws:"}, // the value of --listen; an editor talks to it by its standard streams
	Standalone: []string{"exec", "e"},

	Setup: Setup{
		Config: ".codex", ConfigEnv: "CODEX_HOME",
		Skills: agents,

		Hooks:      Levels{".codex/hooks.json", ".codex/hooks.json"},
		HookUnit:   1,
		Background: func(h *Handler) { h.Async = true },
		Trust: &Trust{
			File: "config.toml", At: codexTrustAt, Note: codexTrustNote,
			Review: "open /hooks in Codex once and trust tt's hooks; until then it skips them silently",
		},

		Server:     Levels{".codex/config.toml", ".codex/config.toml"},
		ServerAt:   []string{"mcp_servers"},
		ServerBare: true,
		TOML:       true,
		Sandbox:    []string{"sandbox_workspace_write", "writable_roots"},

		LoginShell: true,

		Bundle: Bundle{
			Format: FormatClaude,
			Add: []string{
				"codex plugin marketplace add " + From, "codex plugin add " + PluginName + "@" + PluginName,
			},
			Remove: []string{
				"codex plugin remove " + PluginName + "@" + PluginName,
				"codex plugin marketplace remove " + PluginName,
			},
			Noted: Levels{".codex/config.toml", ".codex/config.toml"}, At: []string{"plugins"}, TOML: true,
			Says: enabledPlugin,
		},

		Next:          newSession,
		NextInProject: newSessionTrust,
	},
}

// Codex runs only hooks that a person has trusted, and skips the others silently. Its config.toml notes, by
// a hook's file and place, a digest of what the person trusted.

// codexHookLimit is the time limit of a hook that sets none, and codexEndLimit the longest at the end of a
// session, in seconds.
const (
	codexHookLimit = 600
	codexEndLimit  = 3
)

func codexTrustAt(file, event string, group, handler int) []string {
	return []string{
		"hooks", "state", fmt.Sprintf("%s:%s:%d:%d", file, snakeCase(event), group, handler), "trusted_hash",
	}
}

// codexTrustNote returns the digest by which Codex knows a hook. It contains the effective time limit, not
// the one in the file.
func codexTrustNote(event string, matcher *string, handler json.RawMessage) string {
	h := Handler{Timeout: codexHookLimit}
	if json.Unmarshal(handler, &h) != nil {
		return "none"
	}
	if event == "SessionEnd" {
		h.Timeout = min(h.Timeout, codexEndLimit)
	}

	// encoding/json sorts the keys of maps, as Codex does.
	v := map[string]any{"event_name": snakeCase(event), "hooks": []any{
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

// snakeCase writes SessionStart as session_start, as Codex does in its notes.
func snakeCase(event string) string {
	return strings.ToLower(capital().ReplaceAllString(event, "${1}_${2}"))
}
