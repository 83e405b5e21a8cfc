package room

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/hooklog"
	"talkingstick/internal/cli/setup"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// StatusCmd is tt without a command, under a name.
func StatusCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the room of the working directory, as tt alone does", Args: app.NoArgs,
		Long: "Show the room of the working directory, as tt alone does. A person also sees what needs " +
			"them, and what each agent does. The primary is the agent that came first and leads; a helper " +
			"came later, and leaves pulling and cleaning up to it. Outside rooms it says what tt is, and how " +
			"to start. For all your rooms, live: tt watch.",
		RunE: func(c *cobra.Command, args []string) error { return ShowOverview(c.Context(), a) },
	}
}

// StatusResult is the state of a room, with what needs its reader.
type StatusResult struct {
	engine.GetRoomStateResult
	Needs   []presence.Need       `json:"needs"`                   // what waits for the caller, the most urgent first; none for an agent
	Refused []hooklog.RefusedHook `json:"refused_hooks,omitempty"` // unanswered lately: that tt is too old for the database
	Task    *task.TaskView        `json:"task,omitempty"`          // that of the worktree that the caller is in
}

// taskHere returns the task whose worktree is the working directory; nil if there is none.
func taskHere(ctx context.Context, a *app.Run, e app.Operations, by core.Caller) *task.TaskView {
	// Reading the checkout's files is cheap, and saves an operation elsewhere.
	at, ok := workspace.FindCheckout(".", a.WorkspaceEnv())
	if !ok || at.Git == at.Common {
		// The main checkout is no task's.
		return nil
	}

	res, err := e.WorkerContext(ctx, task.WorkerContextParams{Caller: by})
	if err != nil {
		return nil
	}
	return &res.TaskView
}

// showRoom shows the room of the working directory.
func showRoom(ctx context.Context, a *app.Run) error {
	return app.Show(a, func(e app.Operations, by core.Caller) (res StatusResult, err error) {
		res.Needs, res.Refused = []presence.Need{}, hooklog.RefusedHooks(a, a.NewPage().Now)
		defer func() {
			if err == nil {
				res.setNext(taskHere(ctx, a, e, by))
			}
		}()

		// Only people have needs.
		if !by.ActsAsPerson() {
			state, err := e.GetRoomState(ctx, engine.GetRoomStateParams{Caller: by})
			res.GetRoomStateResult = state
			return res, err
		}

		p, err := monitor.TakeRoomPicture(ctx, monitor.Options{Operations: e, Caller: by})
		if err != nil {
			return res, err
		}

		res.GetRoomStateResult = p.Rooms[0].State
		res.Needs = append(res.Needs, p.Rooms[0].Needs...)
		return res, nil
	}, func(p *term.Page, res StatusResult) {
		p.Doing = true
		if t := res.Task; t != nil {
			p.Linef("this is the worktree of task %s, which is %s: %s", p.Strong(term.Wordsf("%s", t.TaskID)),
				t.State.Word(t.Cause), stick.Wrote(t.SpawnedBy, t.Description, 80))
			p.Linef("work here without the stick; it is for the main checkout:")
		}

		showNeeds(p, res.Needs)
		hooklog.ShowRefusedHooks(p, res.Refused)
		showState(p, res.GetRoomStateResult)
	})
}

// setNext says what to do next: the step of the task whose worktree the caller is in, or of the most urgent
// need.
func (s *StatusResult) setNext(here *task.TaskView) {
	s.Task = here
	switch {
	case here != nil && here.NextAction != "":
		s.NextAction = here.NextAction
	case len(s.Needs) > 0 && s.Needs[0].NextAction != "":
		s.NextAction = s.Needs[0].NextAction
	}
}

// showNeeds lists what needs the reader.
func showNeeds(p *term.Page, all []presence.Need) {
	if len(all) == 0 {
		return
	}

	p.Linef("%s", p.Strong("needs you:"))
	t := term.Table{Indent: "  "}
	for _, n := range all {
		kind := stick.Words(strings.ReplaceAll(string(n.Kind), "_", " "))
		row := t.Add(term.Cell{Text: term.Wordsf("%s", kind), Hue: "33"}, p.Ago(n.Since), n.Text)
		if n.NextAction != "" {
			row.Below = append(row.Below, term.Cell{Text: term.Wordsf("next: %s", n.NextAction)})
		}
	}

	p.ShowTable(t)
}

// findRoomAround returns the path of the superproject of the submodule in which the caller is, if that has a
// room.
func findRoomAround(ctx context.Context, a *app.Run) string {
	here, err := workspace.Resolve(".", a.WorkspaceEnv())
	if err != nil || here.Found != workspace.FoundGit || here.Worktree != "" {
		return ""
	}

	// In a submodule, .git is a file that leads to the git directory.
	if git, err := os.Lstat(filepath.Join(here.Root, ".git")); err != nil || !git.Mode().IsRegular() {
		return ""
	}

	around, err := workspace.Resolve(filepath.Dir(here.Root), a.WorkspaceEnv())
	if err != nil || around.Found != workspace.FoundGit {
		return ""
	}

	e, by, err := a.Open()
	if err != nil {
		return ""
	}

	state, err := e.GetRoomState(ctx, engine.GetRoomStateParams{Caller: by, Where: core.Where{Path: around.Root}})
	if err != nil {
		return ""
	}
	return state.Path
}

// ShowOverview is tt without a command: it shows the room. Outside rooms it says what tt is, and how to
// start. It never joins.
func ShowOverview(ctx context.Context, a *app.Run) error {
	err := showRoom(ctx, a)

	// Outside of rooms a newcomer learns how to begin.
	if stick.CodeOf(err) != stick.CodeNoRoom {
		return err
	}

	a.Reads = true
	start, does := stick.Cmd("tt wait"), term.Text("join this workspace's room, and wait for your turn")
	if _, by, err := a.Open(); err == nil && by.ActsAsPerson() {
		// A person is never led to take the stick.
		start, does = stick.Cmd("tt join"), term.Text("make a room of this directory, and join it")
	}

	if setup.SetsUp(a) {
		start, does = stick.Cmd("tt init"), term.Text("set this repository up: its room, hooks of git, your harnesses")
	}

	around := findRoomAround(ctx, a)
	return a.Print(map[string]string{"room_state": "none", "next_action": start.As(a.As).String()}, func(p *term.Page) {
		p.Linef("Talking Stick lets several coding agents and people work on one codebase without " +
			"overwriting each other.")
		p.Linef("There is no room here. Whoever wants to change files waits for the stick, and gets a handoff with it.")
		if around != "" {
			p.Linef("This is a submodule. The repository around it has a room: %s",
				p.Next(stick.Cmd("tt state --path <path>", around)))
		}

		list := term.Table{Indent: "  "}
		list.Add(p.Next(start), does)
		list.Add(term.Text("tt demo"), term.Text("see it work in a scratch repository"))
		list.Add(term.Text("tt --help"), term.Text("list the commands"))
		p.ShowTable(list)
	})
}
