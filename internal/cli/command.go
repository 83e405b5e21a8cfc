package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// rosterName is the name under which the program is only the roster.
const rosterName = "agent-roster"

// command is a command that is made when it is needed. To make all of them takes up to a tenth of the time of
// a short one.
type command struct {
	name string
	make func(*app) *cobra.Command
}

// calledCommand makes the one of these commands that the arguments name, after the commands above it. It
// returns nil if they name none.
func (a *app) calledCommand(commands []command, parents ...string) *cobra.Command {
	at := len(parents)
	if len(a.Args) <= at || !slices.Equal(a.Args[:at], parents) {
		return nil
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == a.Args[at] })
	if i < 0 {
		return nil
	}
	return commands[i].make(a)
}

// unknownWord is the failure of a command that has no command of that name.
type unknownWord struct {
	command *cobra.Command
	typed   string
}

// Error implements error. Nobody reads it: [app.noCommand] takes its place.
func (w *unknownWord) Error() string { return "there is no command " + w.typed }
