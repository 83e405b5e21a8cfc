package cli

import (
	"strconv"
	"strings"

	"talkingstick/internal/cli/doctor"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// topic is a page of help about something that several commands have in common.
type topic struct {
	names []string // the first is its own
	show  func(*term.Page)
}

var topics = []topic{
	{[]string{"environment", "env", "variables"}, aboutEnvironment},
	{[]string{"exit-codes", "exit-status", "exit", "exits"}, aboutExits},
	{[]string{"policy", "policies", "rules"}, aboutPolicy},
}

// aboutEnvironment explains the variables that the program reads.
func aboutEnvironment(p *term.Page) {
	showWrapped(p, "", "A flag comes before a variable, a variable before your file, "+
		"and your file before the project's.")
	p.Linef("")
	for _, v := range doctor.Variables {
		showEntry(p, v.Name, strings.ReplaceAll(v.Meaning, "`", ""), 28)
	}
}

// aboutExits explains the exit statuses.
func aboutExits(p *term.Page) {
	showWrapped(p, "", "A command that fails prints one line on standard error, "+
		"and mostly a second one with the next step. With --json both are one object.")
	p.Linef("")
	for _, e := range exits {
		showEntry(p, strconv.Itoa(e.status), strings.ReplaceAll(e.meaning, "`", ""), 5)
	}
}

// aboutPolicy explains the rules of a room, with what each is at first.
func aboutPolicy(p *term.Page) {
	showWrapped(p, "", "The rules of a room. To see what yours are: tt policy. To change one: tt policy enforce=stick")
	p.Linef("")
	first := stick.DefaultPolicy()
	for _, k := range stick.PolicyKeys {
		meaning := k.Meaning + "; at first " + first.Get(k.Name)
		showEntry(p, k.Name, meaning, 25)
	}
}

// exits are the classes of exit statuses.
var exits = []struct {
	status  int
	meaning string
}{
	{stick.ExitOK, "done; `tt wait` without `--turn` for whatever it returns: read `status`; `tt roster`: alone"},
	{stick.ExitInternal, "a fault of the program; `tt roster`: not alone"},
	{stick.ExitUsage, "the command line or a parameter is wrong; `tt roster`: it couldn't be found out, " +
		"whatever the reason"},
	{stick.ExitNotFound, "what was named doesn't exist"},
	{stick.ExitRefused, "refused now; also `tt try` and `tt wait --turn` without the stick, " +
		"so that `tt wait --turn && …` is safe"},
	{stick.ExitFenced, "fenced: the turn is over, or the lease isn't the current one"},
	{stick.ExitBusy, "the database stayed locked, or its server doesn't answer"},
	{stick.ExitEnvironment, "the environment: file system, permissions, versions; `tt doctor` when it found a fault"},
	{stick.ExitHands, "a conflict, a dirty tree or a red gate needs hands; `left` says what was left in progress"},
	{stick.ExitInterrupted, "interrupted by Ctrl-C; 129 when it was by SIGHUP, 131 by SIGQUIT, 143 by SIGTERM"},
}
