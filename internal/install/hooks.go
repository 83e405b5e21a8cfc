package install

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
)

// Time limits of hooks in seconds: of one that a harness waits for, and of one that waits to wake an agent.
const (
	hookTimeout = 5
	wakeTimeout = 24 * 60 * 60
)

// hook is a handler of ours, and where it belongs.
type hook struct {
	event string // the harness's name for it
	tools string // the tools it is for; empty for all, and for events without a tool
	wake  bool
	harness.Handler
}

// wanted lists the hooks that a harness gets.
func (t Target) wanted(row harness.Row, s harness.Setup) (all []hook) {
	if s.Hooks.User == "" {
		return nil
	}
	for _, h := range row.Hooks {
		tools := ""
		if h.Event == harness.HookBeforeTool {
			tools = row.EditorTools()
		}
		all = append(all, hook{h.Name, tools, false, harness.Handler{Type: "command", Command: t.hookCommand(row.Name, ""), Timeout: hookTimeout * s.HookUnit}})
		if h.Event == harness.HookStop && row.Wake != harness.WakeNone && s.Background != nil {
			waker := harness.Handler{Type: "command", Command: t.hookCommand(row.Name, " --wake"), Timeout: wakeTimeout * s.HookUnit}
			s.Background(&waker)
			all = append(all, hook{h.Name, "", true, waker})
		}
	}
	return all
}

func (t Target) hooks(row harness.Row, s harness.Setup) confedit.Edit {
	var edits []confedit.Edit
	for _, h := range t.wanted(row, s) {
		edits = append(edits, confedit.JSONPutHook([]string{"hooks", h.event}, t.isHook(row.Name, h.wake), harness.HookGroup{Matcher: h.tools, Hooks: []harness.Handler{h.Handler}}))
	}
	if edits == nil {
		return nil
	}
	return confedit.All(edits...)
}

func (t Target) noHooks(row harness.Row, s harness.Setup) func(keep func([]string) int) confedit.Edit {
	return func(keep func([]string) int) confedit.Edit {
		var edits []confedit.Edit
		for _, h := range t.wanted(row, s) {
			at := []string{"hooks", h.event}
			edits = append(edits, confedit.JSONRemoveHook(at, t.isHook(row.Name, h.wake), keep(at)))
		}
		return confedit.All(edits...)
	}
}

// hookCommand returns the command of a hook. It does nothing when the program is gone. Its text never
// changes between versions, because harnesses trust a command by its text.
func (t Target) hookCommand(name, more string) string {
	if t.Project != "" {
		return fmt.Sprintf("! command -v %s >/dev/null 2>&1 || %s hook %s%s", onPath, onPath, name, more)
	}
	tt := quote(t.TT)
	if runtime.GOOS == "windows" {
		return fmt.Sprintf("%s hook %s%s", tt, name, more)
	}
	return fmt.Sprintf("[ ! -x %s ] || %s hook %s%s", tt, tt, name, more)
}

var plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9/_.+-]+$`) })

// quote quotes a path for a shell.
func quote(path string) string {
	if plainPath().MatchString(path) {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// isHook recognises our handlers among a harness's hooks: by what they run, wherever the program lies.
func (t Target) isHook(name string, wake bool) confedit.Ours {
	end := " hook " + name
	if wake {
		end += " --wake"
	}
	return func(element json.RawMessage) bool {
		var h harness.Handler
		if json.Unmarshal(element, &h) != nil || !strings.HasSuffix(h.Command, end) {
			return false
		}
		return t.isTT(strings.Trim(strings.TrimSuffix(h.Command, end), `'"`))
	}
}

// isTT reports whether the last word of a command names this program's file.
func (t Target) isTT(command string) bool {
	base := func(s string) string { return strings.TrimSuffix(s[strings.LastIndexAny(s, `/\ `)+1:], ".exe") }
	return base(command) == "tt" || base(command) == base(t.TT)
}
