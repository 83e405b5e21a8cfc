package hooklog

import (
	"bufio"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/harness"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// RefusedHook is a hook that a tt couldn't answer which is too old for the database.
type RefusedHook struct {
	Harness string     `json:"harness"`
	Session string     `json:"session_id,omitempty"` // if that tt has written it down
	At      stick.Time `json:"at"`                   // the last time
}

// refusedFor is how long ago a hook was refused at most. While an agent works, its hooks run every few
// seconds.
const refusedFor = time.Hour

// What the log says of a hook that is refused, whichever tt wrote it.
const (
	refusalText = "the database needs schema "
	sessionText = " of session "
)

// LogHook writes down why a hook has failed. If this tt is too old for the database, a newer one reads there
// whose hook it was.
func LogHook(a *app.Run, f harness.Firing, err error) {
	name := strings.TrimSpace("hook " + f.Harness.Name)
	if e, ok := errors.AsType[*stick.Error](err); ok && e.Code == stick.CodeSchemaTooNew && f.SessionID != "" {
		name += sessionText + stick.Clip(f.SessionID, 80)
	}
	a.Logf("%s: %v", name, err)
}

// RefusedHooks lists the hooks that were lately refused to an older tt, by the log: nothing of them is in the
// database.
func RefusedHooks(a *app.Run, now stick.Time) (all []RefusedHook) {
	f, err := plainfile.Open(a.LogFile(), os.O_RDONLY)
	if err != nil {
		return nil
	}

	defer f.Close()

	for lines := bufio.NewScanner(f); lines.Scan(); {
		r, ok := parseRefusal(lines.Text())
		if !ok || now.Sub(r.At) > refusedFor {
			continue
		}

		// The last refusal of a session stands for all of them.
		all = slices.DeleteFunc(all, func(o RefusedHook) bool {
			return o.Harness == r.Harness && o.Session == r.Session
		})
		all = append(all, r)
	}

	return all
}

// parseRefusal reads a line of the log.
func parseRefusal(line string) (r RefusedHook, ok bool) {
	when, what, _ := strings.Cut(line, " ")
	who, why, _ := strings.Cut(what, ": ")
	name, isHook := strings.CutPrefix(who, "hook ")
	at, err := time.Parse(time.RFC3339, when)
	r.At = stick.At(at)
	r.Harness, r.Session, _ = strings.Cut(name, sessionText)
	_, isHarness := harness.ByName(r.Harness)
	return r, err == nil && isHook && isHarness && strings.HasPrefix(why, refusalText)
}

// ShowRefusedHooks shows the hooks that an older tt couldn't answer.
func ShowRefusedHooks(p *term.Page, all []RefusedHook) {
	for _, r := range all {
		p.Linef("%s", SayRefused(p, r))
	}
}

// SayRefused says that hooks run a tt which is too old, and what to do.
func SayRefused(p *term.Page, r RefusedHook) stick.Words {
	who := stick.Wordsf("%s", r.Harness)
	if r.Session != "" {
		who += stick.Wordsf(" (session %s)", r.Session)
	}
	return stick.Wordsf("hooks of %s run an older tt, which can't use this database, last %s: %s (%s)",
		who, p.Ago(r.At), upkeep.OlderHooksRisk, stick.Cmd("tt install <harness>", r.Harness).As(p.As))
}
