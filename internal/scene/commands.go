package scene

import (
	"os/exec"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/shell"
)

// Executes runs a command in bash, with the hooks before and after it, and returns the answer of the one before.
// instead, if it isn't nil, is done in its place.
func (a *Actor) Executes(command string, instead func()) guard.MayEditResult {
	a.Helper()
	p := a.CommandParams(command)
	res := a.CheckEdit(p).OK()
	if err := a.Engine.Guard.EditChecked(a.Context(), p, res); err != nil {
		a.Fatal(err)
	}
	if !res.Allowed {
		return res
	}

	if instead == nil {
		instead = func() { RunInBash(a.Work, command) }
	}
	instead()
	a.CheckEdited(p)

	return res
}

// CommandParams is what a hook knows of a command.
func (a *Actor) CommandParams(command string) guard.CheckEditParams {
	c := shell.Edits(command, a.Work, shell.Env{})
	p := guard.CheckEditParams{
		HookParams: a.Hook(), Paths: c.Paths, Names: c.Names, Trees: c.Trees, Acts: c.Acts, Text: command,
		Unread: !c.Reads, LookFor: time.Minute,
	}
	p.Tool = "Bash"
	return p
}

// RunInBash runs a command as it is; some fail, as git may refuse what they ask for.
func RunInBash(dir, command string) {
	c := exec.Command("bash", "-c", command)
	c.Dir = dir
	_ = c.Run()
}

// LearnsAfterTool plays the hook after a tool, and returns what the agent learns from it.
func (a *Actor) LearnsAfterTool() (said []string) {
	a.Helper()
	res := a.ReadNews(core.HookParams{}).OK()
	if err := a.Engine.RecordShownByHook(a.Context(), a.Hook(), res); err != nil {
		a.Fatal(err)
	}

	for _, e := range res.Events {
		said = append(said, string(e.Say()))
	}

	return said
}
