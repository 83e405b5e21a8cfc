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

// wantedHooks lists the hooks that a harness gets.
func (t Target) wantedHooks(row harness.Row, s harness.Setup) (all []hook) {
	if s.Hooks.User == "" {
		return nil
	}

	for _, h := range row.Hooks {
		tools := ""
		if h.Event == harness.HookBeforeTool {
			tools = row.EditorTools()
		}

		all = append(all, hook{
			h.Name, tools, false, harness.Handler{
				Type: "command", Command: t.hookCommand(false), Timeout: hookTimeout * s.HookUnit,
			},
		})
		if h.Event == harness.HookStop && row.Wake != harness.WakeNone && s.Background != nil {
			waker := harness.Handler{
				Type: "command", Command: t.hookCommand(true), Timeout: wakeTimeout * s.HookUnit,
			}
			s.Background(&waker)
			all = append(all, hook{h.Name, "", true, waker})
		}
	}

	return all
}

func (t Target) hooksEdit(row harness.Row, s harness.Setup) confedit.Edit {
	var edits []confedit.Edit
	for _, h := range t.wantedHooks(row, s) {
		edits = append(
			edits, confedit.JSONPutHook([]string{"hooks", h.event}, t.isHook(h.wake), harness.HookGroup{
				Matcher: h.tools, Hooks: []harness.Handler{h.Handler},
			}),
		)
	}

	if edits == nil {
		return nil
	}

	return confedit.JoinEdits(edits...)
}

func (t Target) noHooks(row harness.Row, s harness.Setup) func(keep func([]string) int) confedit.Edit {
	return func(keep func([]string) int) confedit.Edit {
		var edits []confedit.Edit
		for _, h := range t.wantedHooks(row, s) {
			at := []string{"hooks", h.event}
			edits = append(edits, confedit.JSONRemoveHook(at, t.isHook(h.wake), keep(at)))
		}
		return confedit.JoinEdits(edits...)
	}
}

// hookCommand returns the command of a hook. It does nothing when the program is gone. A harness takes some
// exit statuses for an order: 2 denies, blocks or wakes. So every end of the program is 0, however it comes
// about, except its word for waking. The command's text never changes between versions, because harnesses
// trust a command by its text. Where a shell has no file descriptor left, a redirection ends with 2: the one
// in a project's command is negated, so it ends with 0.
func (t Target) hookCommand(wake bool) string {
	tt, more, end := quotePath(t.TT), "", " || true"
	if wake {
		more, end = " --wake", fmt.Sprintf(" || [ $? -ne %d ] || exit 2", harness.ExitWake)
	}

	switch {
	case t.plugin:
		more = " --plugin" + more
		fallthrough
	case t.Project != "":
		return fmt.Sprintf("! command -v %s >/dev/null 2>&1 || %s hook%s%s", onPath, onPath, more, end)
	case runtime.GOOS == "windows":
		// There is no telling which shell it is.
		return tt + " hook" + more + " --child"
	}

	return fmt.Sprintf("[ ! -x %s ] || %s hook%s%s", tt, tt, more, end)
}

var plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9/_.+-]+$`) })

// quotePath quotes a path for a shell.
func quotePath(path string) string {
	if plainPath().MatchString(path) {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// hookForm matches the commands of our hooks: the program, and whether it waits to wake an agent. Earlier
// versions put the harness's name into the command, and nothing behind it.
var hookForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(.*) hook(?: (?:` + strings.Join(harness.Names(), "|") + `))?( --wake)?(?: --child)?(?: \|\| true| \|\| \[ \$\? -ne [0-9]+ \] \|\| exit 2)?$`,
	)
})

// isHook recognises our handlers among a harness's hooks: by what they run, wherever the program lies.
func (t Target) isHook(wake bool) confedit.Ours {
	return func(element json.RawMessage) bool {
		var h harness.Handler
		if json.Unmarshal(element, &h) != nil {
			return false
		}

		m := hookForm().FindStringSubmatch(h.Command)
		return m != nil && (m[2] != "") == wake && t.isTT(strings.Trim(m[1], `'"`))
	}
}

// isTT reports whether the last word of a command names this program's file.
func (t Target) isTT(command string) bool {
	base := func(s string) string { return strings.TrimSuffix(s[strings.LastIndexAny(s, `/\ `)+1:], ".exe") }
	return base(command) == "tt" || base(command) == base(t.TT)
}
