package app

import (
	"slices"

	"github.com/spf13/cobra"
)

// RosterName is the name under which the program is only the roster.
const RosterName = "agent-roster"

// Command is a command that is made when it is needed. To make all of them takes up to a tenth of the time of
// a short one.
type Command struct {
	Name string
	Make func(*Run) *cobra.Command
}

// CalledCommand makes the one of these commands that the arguments name, after the commands above it. It
// returns nil if they name none.
func (a *Run) CalledCommand(commands []Command, parents ...string) *cobra.Command {
	at := len(parents)
	if len(a.Args) <= at || !slices.Equal(a.Args[:at], parents) {
		return nil
	}
	i := slices.IndexFunc(commands, func(c Command) bool { return c.Name == a.Args[at] })
	if i < 0 {
		return nil
	}
	return commands[i].Make(a)
}

// UnknownWord is the failure of a command that has no command of that name.
type UnknownWord struct {
	Command *cobra.Command
	Typed   string
}

// Error implements error. Nobody reads it: [app.noCommand] takes its place.
func (w *UnknownWord) Error() string { return "there is no command " + w.Typed }
