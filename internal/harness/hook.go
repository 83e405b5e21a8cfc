package harness

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// HookEvent is what happened in a harness, whatever the harness calls it.
type HookEvent string

// What hooks tell.
const (
	HookSessionStart HookEvent = "session_start"
	HookPrompt       HookEvent = "prompt"      // a person or a script said something
	HookBeforeTool   HookEvent = "before_tool" // for the tools that are [Row.Editors]
	HookAfterTool    HookEvent = "after_tool"
	HookStop         HookEvent = "stop" // the agent wants to end its turn of the conversation
	HookSessionEnd   HookEvent = "session_end"
)

// Hook is an event of a harness that we listen to.
type Hook struct {
	Event HookEvent
	Name  string // the harness's own name for it
}

// NewsHead is the first line of what is new for an agent, also when it is woken with it.
const NewsHead = "Talking Stick, new for you (it doesn't give you the turn):"

// HookInput is what a harness tells its hook.
type HookInput struct {
	Event          HookEvent
	Name           string // the harness's own name for the event
	SessionID      string
	Dir            string // where the session works; empty if it wasn't told or isn't absolute
	Why            string // why a session started or ended, in the harness's words
	AlreadyBlocked bool   // the agent goes on only because a hook has just held it back
	Subagent       bool   // a sub-agent did it, inside of the session
	Woken          bool   // the prompt is what we woke the agent with
	Edits          Edits  // before and after a tool: what it changes
}

// hookMessage is what we read of it. Its fields have the same names in all harnesses.
type hookMessage struct {
	Session        string `json:"session_id"`
	Name           string `json:"hook_event_name"`
	Dir            string `json:"cwd"`
	Source         string `json:"source"`
	Reason         string `json:"reason"`
	AlreadyBlocked bool   `json:"stop_hook_active"`
	Subagent       string `json:"agent_id"`
	Prompt         string `json:"prompt"`
	Tool           string `json:"tool_name"`

	Input json.RawMessage `json:"tool_input"` // as the tool has it
}

// ReadHook reads what the harness tells its hook on standard input. It fails for what it can't read;
// events that we don't listen to have an empty Event.
func (r Row) ReadHook(b []byte) (HookInput, error) {
	var in hookMessage
	if err := json.Unmarshal(b, &in); err != nil {
		return HookInput{}, fmt.Errorf("what %s told its hook can't be read: %w", r.Title, err)
	}
	out := HookInput{Name: in.Name, SessionID: in.Session, Why: in.Source + in.Reason, AlreadyBlocked: in.AlreadyBlocked, Subagent: in.Subagent != "", Woken: strings.HasPrefix(in.Prompt, NewsHead)}
	if filepath.IsAbs(in.Dir) {
		out.Dir = in.Dir
	}
	if i := slices.IndexFunc(r.Hooks, func(h Hook) bool { return h.Name == in.Name }); i >= 0 {
		out.Event = r.Hooks[i].Event
	}
	switch {
	case out.Event == HookBeforeTool || out.Event == HookAfterTool:
		out.Edits = r.edits(in.Tool, in.Input, out.Dir, out.Event == HookAfterTool)
	case out.Subagent:
		out.Event = "" // neither does the session start, stop or end with it, nor is it the one that is prompted
	}
	return out, nil
}

// HookAnswer is what a hook says.
type HookAnswer struct {
	Context string // what the model is told
	Block   string // why the agent shouldn't stop yet
	Deny    string // why the tool may not run
}

// WriteHook puts an answer into the harness's words; nothing for an answer that says nothing: to allow
// a tool would skip the harness's own question to its user, so that is never said. A harness gets no field that it doesn't know, because some refuse the whole answer then.
func (r Row) WriteHook(in HookInput, a HookAnswer) []byte {
	var v map[string]any
	switch {
	case a.Deny != "" && in.Event == HookBeforeTool && r.HookDeny != "":
		v = map[string]any{"decision": r.HookDeny, "reason": a.Deny}
	case a.Deny != "" && in.Event == HookBeforeTool:
		v = map[string]any{"hookSpecificOutput": map[string]any{
			"hookEventName": in.Name, "permissionDecision": "deny", "permissionDecisionReason": a.Deny,
		}}
	case a.Block != "" && r.HookBlock != "":
		v = map[string]any{"decision": r.HookBlock, "reason": a.Block}
	case a.Context != "":
		v = map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": in.Name, "additionalContext": a.Context}}
	default:
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic("a hook's answer can't be marshalled: " + err.Error()) // strings only
	}
	return b
}
