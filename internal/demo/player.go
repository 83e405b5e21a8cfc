package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// player is the actor in its own process. Where it plays a harness, it asks tt's hooks before and after each
// tool, as the harness does once tt init has connected it.
type player struct {
	name string // the actor's
	tt   string // the path of tt
}

// dialect is how a harness calls its hooks and tools.
type dialect struct {
	before, after string // the events around a tool
	shell         string // the tool that runs commands
	edit          string // the tool that edits a file
	path          string // the field of that tool that names the file; empty if it takes a patch
}

// dialects are those of the harnesses. A person has none.
var dialects = map[string]dialect{
	"claude":   {"PreToolUse", "PostToolUse", "Bash", "Edit", "file_path"},
	"codex":    {"PreToolUse", "PostToolUse", "Bash", "apply_patch", ""},
	"gemini":   {"BeforeTool", "AfterTool", "run_shell_command", "replace", "file_path"},
	"opencode": {"before_tool", "after_tool", "bash", "edit", "filePath"},
	"qwen":     {"PreToolUse", "PostToolUse", "run_shell_command", "edit", "file_path"},
}

// carryOut carries out an order.
func (p player) carryOut(ctx context.Context, o order) (r reply) {
	began := time.Now().UnixNano()
	switch {
	case o.Run != nil:
		r = runProgram(ctx, o.Dir, "", p.tt, o.Run...)
	case o.Shell != "":
		r = p.useTool(ctx, o.Dir, p.shellTool(o), func() reply { return runProgram(ctx, o.Dir, "", "sh", "-c", o.Shell) })
	default:
		r = p.useTool(ctx, o.Dir, p.editTool(o), func() reply { return writeFile(o.Write, o.Text) })
	}

	r.ID, r.Began = o.ID, began
	return r
}

// toolCall is a harness's input to its hooks.
type toolCall struct {
	Event string         `json:"hook_event_name"`
	Dir   string         `json:"cwd"`
	Tool  string         `json:"tool_name"`
	Input map[string]any `json:"tool_input"`
}

// shellTool is the call of the tool that runs an order's command.
func (p player) shellTool(o order) toolCall {
	return toolCall{Tool: dialects[p.name].shell, Input: map[string]any{"command": o.Shell}}
}

// editTool is the call of the tool that writes an order's file.
func (p player) editTool(o order) toolCall {
	d := dialects[p.name]
	if d.path == "" {
		patch := "*** Begin Patch\n*** Update File: " + o.Write + "\n@@\n-\n+\n*** End Patch"
		return toolCall{Tool: d.edit, Input: map[string]any{"command": patch}}
	}
	return toolCall{Tool: d.edit, Input: map[string]any{d.path: o.Write, "old_string": readFile(o.Write), "new_string": o.Text}}
}

// useTool runs a tool of the harness, unless the hook before it denies that. A person's commands ask nobody.
func (p player) useTool(ctx context.Context, dir string, call toolCall, run func() reply) reply {
	d, isHarness := dialects[p.name]
	if !isHarness {
		return run()
	}

	call.Dir = dir
	denied, _, err := p.askHook(ctx, d.before, call)
	if err != nil {
		return reply{Fault: err.Error()}
	}
	if denied != "" {
		return reply{Denied: denied, Ended: time.Now().UnixNano()}
	}

	r := run()
	if _, r.Told, err = p.askHook(ctx, d.after, call); err != nil {
		r.Fault = err.Error()
	}
	return r
}

// askHook gives an event to tt's hook. It returns why the tool may not run, and what the agent is told.
func (p player) askHook(ctx context.Context, event string, call toolCall) (denied, told string, err error) {
	call.Event = event
	input, err := json.Marshal(call)
	if err != nil {
		return "", "", err
	}

	r := runProgram(ctx, call.Dir, string(input), p.tt, "hook")
	if r.Fault != "" {
		return "", "", errors.New(r.Fault)
	}
	if strings.TrimSpace(r.Out) == "" {
		return "", "", nil
	}

	// Each harness has one of these two forms.
	var answer struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Specific struct {
			Denied string `json:"permissionDecisionReason"`
			Told   string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(r.Out), &answer); err != nil {
		return "", "", err
	}

	denied = answer.Specific.Denied
	if answer.Decision == "deny" {
		denied = answer.Reason
	}
	return denied, answer.Specific.Told, nil
}

// runProgram runs a program in a directory. Another exit status than 0 is a result; everything else keeps the
// actor from its order.
func runProgram(ctx context.Context, dir, input, program string, args ...string) (r reply) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = dir
	if input != "" {
		c.Stdin = strings.NewReader(input)
	}

	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	r.Ended, r.Out, r.Err = time.Now().UnixNano(), stdout.String(), stderr.String()

	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.Exit = exit.ExitCode()
	} else if err != nil {
		r.Fault = err.Error()
	}
	return r
}

// readFile returns what a file holds; nothing for a file that isn't there.
func readFile(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

// writeFile replaces a file.
func writeFile(path, text string) (r reply) {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		r.Fault = err.Error()
	}

	r.Ended = time.Now().UnixNano()
	return r
}
