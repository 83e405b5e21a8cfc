// Package hooklog reads what hooks have left in the log: failures, and hooks of an older tt.
package hooklog

import (
	"bufio"
	"os"
	"strings"
	"time"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/term"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Faults is what the log says about the last days. Hooks that fail keep silent, so tt doctor and the next
// session report it.
type Faults struct {
	Path  string     `json:"path"`
	Lines int        `json:"lines"`
	Last  string     `json:"last"` // the newest line
	At    stick.Time `json:"at"`
}

// faultsFor is how long a fault is worth reporting.
const faultsFor = 72 * time.Hour

// ReadFaults reads the log. It returns nil if the log has nothing recent.
func ReadFaults(a *app.Run, now stick.Time) *Faults {
	f, err := plainfile.Open(a.LogFile(), os.O_RDONLY)
	if err != nil {
		return nil
	}

	defer f.Close()
	out := Faults{Path: a.LogFile()}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		when, what, _ := strings.Cut(lines.Text(), " ")
		at, err := time.Parse(time.RFC3339, when)

		// A line that isn't ours, or an old one, is passed over.
		if err != nil || now.Sub(stick.At(at)) > faultsFor {
			continue
		}

		out.Lines++
		out.Last, out.At = stick.Clip(what, 300), stick.At(at)
	}

	if out.Lines == 0 {
		return nil
	}

	return &out
}

// NewFaults returns the faults that no session was told of. It tells one session of each.
func NewFaults(a *app.Run, now stick.Time) *Faults {
	f := ReadFaults(a, now)
	if f == nil {
		return nil
	}

	// Of two sessions that start at once, both may tell: that is better than none.
	if !isStampOlder(a, "told", f.At) || !setStamp(a, "told", f.At) {
		return nil
	}
	return f
}

// OlderHooks says what to do if the hooks of a harness are of an earlier version. It is empty if they aren't.
func OlderHooks(a *app.Run, name string) stick.Words {
	return olderText(a, name, install.OlderHooksText)
}

// OlderFiles is olderHooks, and speaks of the skill where the hooks are of this version: one install renews
// both.
func OlderFiles(a *app.Run, name string) stick.Words {
	if says := OlderHooks(a, name); says != "" {
		return says
	}
	return olderText(a, name, install.OlderSkillText)
}

func olderText(a *app.Run, name string, says func(install.Target, harness.Row) stick.Words) stick.Words {
	row, ok := harness.ByName(name)
	if !ok || a.Home == "" {
		return ""
	}

	t := install.Target{Home: a.Home, Getenv: a.Getenv}

	// Without a data directory nothing is known of what was installed.
	t.DataDir, _ = a.DataDir()
	if place, err := workspace.Resolve(a.Dir, a.WorkspaceEnv()); err == nil {
		t.Project = place.Root
	}
	return says(t, row)
}

// olderEvery is how often a command looks whether the hooks of its agent's harness are of an earlier version:
// looking costs more than most commands.
const olderEvery = time.Hour

// TellOlderHooks tells the agent that runs a command that its hooks are of an earlier version.
func TellOlderHooks(a *app.Run) {
	if a.Caller == nil || a.Caller.Person || a.JSON || a.InHook {
		return
	}
	if _, known := harness.ByName(a.Caller.Harness); !known {
		return
	}

	stamp, now := "hooks-"+a.Caller.Harness, a.CurrentTime()
	if !isStampOlder(a, stamp, now.Add(-olderEvery)) || !setStamp(a, stamp, now) {
		return
	}

	if older := OlderHooks(a, a.Caller.Harness); older != "" {
		_ = a.Sayf("tt: %s", older)
	}
}

// isStampOlder reports whether the stamp of this name beside the log is older than a time, or missing.
func isStampOlder(a *app.Run, name string, than stick.Time) bool {
	info, err := os.Stat(a.LogFile() + "." + name)
	return err != nil || stick.At(info.ModTime()) < than
}

// setStamp sets the time of the stamp of this name. It reports false if there is nowhere to write it.
func setStamp(a *app.Run, name string, at stick.Time) bool {
	if a.LogFile() == "" {
		return false
	}

	path := a.LogFile() + "." + name
	f, err := plainfile.Open(path, os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return false
	}

	// A failure of Close loses nothing, because nothing was written.
	_ = f.Close()

	// If this fails, the file has the present time, which is good enough.
	_ = os.Chtimes(path, at.Go(), at.Go())
	return true
}

// ShowFaults adds the line of the doctor about the log; f may be nil.
func ShowFaults(p *term.Page, f *Faults) {
	if f != nil {
		p.Linef("%-8s %-12s hooks failed %s in the last days, most recently %s: %s (%s)",
			"note", "log", stick.Count(f.Lines, "time"), p.Ago(f.At), f.Last, f.Path)
	}
}
