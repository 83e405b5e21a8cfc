package app

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"talkingstick/stick"
)

// FullName is the name of the program that has every command. It lies beside tt, which hands over to it what
// needs the packages of MCP, of pages and of the screen: each hook would pay for these as it starts.
const FullName = "tt-full"

// What lists of commands say of those that only tt-full has.
const (
	MCPShort    = "Serve tt's operations as MCP tools on standard input and output"
	NotifyShort = "Wait, and tell you what needs you in your rooms, each thing once"
	ServeShort  = "Show the rooms in a browser, and act on them there"
	WatchShort  = "Show all your rooms live, with what needs you on top, and act on it"
)

// handedBy is the variable in which tt names its build to tt-full.
const handedBy = "TT_HANDED_BY"

// FullSystem is [System] for tt-full, which has these commands besides those of tt. What it starts is the tt
// that lies beside it.
func FullSystem(commands []Command) Env {
	e := System()
	e.Full, e.handedBy = commands, os.Getenv(handedBy)

	// Programs that it starts weren't handed over.
	_ = os.Unsetenv(handedBy)
	if tt := besideOf(e.Exe, "tt"); tt != "" {
		e.Exe = tt
	}
	return e
}

// HandedOver is a command that only tt-full has, as tt lists it and hands it over.
func HandedOver(name, use, short string) Command {
	return Command{Name: name, Make: func(a *Run) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, DisableFlagParsing: true, Annotations: map[string]string{FullName: name},
			RunE: func(*cobra.Command, []string) error { return a.HandOver() },
		}
	}}
}

// IsHandedOver reports whether a command is one that this program hands over.
func IsHandedOver(c *cobra.Command) bool { return c.Annotations[FullName] != "" }

// HandOver has tt-full run the command that this process was called with: on Unix in its place. It fails with
// [stick.CodeNotFound] if there is no tt-full beside this program.
func (a *Run) HandOver() error {
	full := besideOf(a.Exe, FullName)
	if full == "" {
		return stick.Errorf(stick.CodeNotFound, "this command is in %s, which isn't beside %s", FullName, a.Exe).
			With("program", FullName).Hintf("%s", FullFix())
	}

	if err := os.Setenv(handedBy, buildName()); err != nil {
		return err
	}
	status, err := replaceProcess(full, append([]string{a.Name}, a.Args...))
	a.Status = status
	return err
}

// CheckHandOver refuses to go on for a tt of another build: the two may disagree about anything. It fails with
// [stick.CodeUpgraded].
func (a *Run) CheckHandOver() error {
	// Reading who built the program takes time, which a program that wasn't handed anything doesn't spend.
	if a.handedBy == "" {
		return nil
	}

	mine := buildName()
	if a.handedBy == mine {
		return nil
	}
	return stick.Errorf(stick.CodeUpgraded, "tt is %s, but the %s beside it is %s", a.handedBy, FullName, mine).
		Hintf("%s", FullFix())
}

// LacksFull reports whether this program would hand over commands, and there is no tt-full beside it.
func (a *Run) LacksFull() bool {
	return a.Full == nil && a.Exe != "" && besideOf(a.Exe, FullName) == ""
}

// FullFix says how the two programs come to lie beside each other.
func FullFix() stick.Words {
	return stick.Wordsf("install both programs of one release; from a clone: %s", stick.Cmd("go install ./cmd/..."))
}

// buildName tells builds apart, as far as they know what they were built from.
func buildName() string { return string(ThisBuild().FullName()) }

// besideOf returns the program of this name beside another one, or nothing if there is none.
func besideOf(program, name string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}

	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(real), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}
