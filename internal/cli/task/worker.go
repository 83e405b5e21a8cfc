// Package task has the commands of tasks, their reviews and their merges.
package task

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// Commands are the commands about tasks.
func Commands() []app.Command {
	return []app.Command{
		{Name: "init", Make: workerInitCmd},
		{Name: "new", Make: workerSpawnCmd},
		{Name: "list", Make: workerStatusCmd},
		{Name: "show", Make: workerShowCmd},
		{Name: "next", Make: workerNextCmd},
		{Name: "after", Make: workerAfterCmd},
		{Name: "edit", Make: workerEditCmd},
		{Name: "start", Make: workerStartCmd},
		{Name: "done", Make: workerDoneCmd},
		{Name: "heartbeat", Make: workerHeartbeatCmd},
		{Name: "fail", Make: workerFailCmd},
		{Name: "approve", Make: workerApproveCmd},
		{Name: "request-changes", Make: func(a *app.Run) *cobra.Command { return workerChangesCmd(a, "request-changes") }},
		{Name: "comment", Make: workerCommentCmd},
		{Name: "merge", Make: workerMergeCmd},
		{Name: "pr", Make: workerPRCmd},
		{Name: "cancel", Make: workerCancelCmd},
		{Name: "retry", Make: workerRetryCmd},
		{Name: "rollback", Make: workerRollbackCmd},
		{Name: "diff", Make: workerDiffCmd},
		{Name: "prompt", Make: workerPromptCmd},
		{Name: "export", Make: workerExportCmd},
		{Name: "run", Make: workerRunCmd},
		{Name: "stop", Make: workerStopCmd},
		{Name: "logs", Make: workerLogsCmd},
		{Name: "runner", Make: workerRunnerCmd},
		{Name: "lander", Make: workerLanderCmd},
	}
}

// Cmd is tt task, which agents may also call tt worker.
func Cmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "task", Aliases: []string{app.TaskAlias},
		Short: "Work on tasks in branches of their own, review and merge them", Args: app.NoArgs,
		Long: "Each task has a branch in a worktree of its own. An agent works there without the stick, " +
			"and another agent or a person reviews\n" +
			"its commit. The merge queue runs the gate on the merged commit, and moves the branch to exactly that.",
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}

	// Making all commands takes time, so only the called one is made.
	commands := Commands()
	if sub := a.CalledCommand(commands, "task"); sub != nil {
		c.AddCommand(sub)
		return c
	}

	for _, sub := range commands {
		c.AddCommand(sub.Make(a))
	}
	return c
}

// ReviewGateCommands are the commands of the program when it is called review-gate.
func ReviewGateCommands() []app.Command {
	return []app.Command{
		{Name: "approve", Make: workerApproveCmd},
		{Name: "reject", Make: func(a *app.Run) *cobra.Command { return workerChangesCmd(a, "reject") }},
	}
}

func workerInitCmd(a *app.Run) *cobra.Command {
	var p task.WorkerInitParams
	c := &cobra.Command{
		Use: "init [path]", Short: "Create or choose the branch that tasks are merged into",
		Args: app.ArgsBetween(0, 1, "a path"),
	}
	c.Flags().StringVar(&p.Branch, "branch", "", "its name (default: the one set already, or integration)")
	c.Flags().StringArrayVar(&p.Accept, "accept", nil,
		"let tt run the command with this sum; only a person can accept it; repeatable")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if p.Where, err = path.WhereOf(args, 0); err != nil {
			return err
		}

		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerInitResult, error) {
			p.Caller = by
			return e.WorkerInit(c.Context(), p)
		}, func(p *term.Page, res task.WorkerInitResult) {
			if res.Created {
				p.Linef("created branch %s at %s", res.Branch, abbrev(res.Commit))
			} else {
				p.Linef("tasks are merged into %s, at %s", res.Branch, abbrev(res.Commit))
			}

			if res.Gate == "" {
				p.Linef("no gate is set: anything approved will be merged")
				p.Linef("to run tests first, commit this to .talking-stick.toml there: [gate] command = \"make test\"")
			} else {
				p.Linef("gate: %q", stick.Name(res.Gate))
			}

			if res.FoundBy != "" {
				p.Linef("tasks get worktrees in worktrees/, where what reads %s may find every file again", res.FoundBy)
				p.Linef("to have them beside your checkout, commit this to .talking-stick.toml there: " +
					`[worker] worktree_dir = "../{repo}.tasks"`)
			}

			// What a project has tt run, a person has to accept once.
			for _, c := range res.Commands {
				projectCommand(p, c)
			}
		})
	}

	return c
}

// projectCommand shows a command that the project has tt run, and whether a person has accepted it.
func projectCommand(p *term.Page, c task.ShownCommand) {
	if stick.Line(c.Command) == strings.TrimSpace(c.Command) {
		p.Linef("%s: %q", c.Key, stick.Name(c.Command))
	} else {
		// Characters that can't be seen are named, and no line of the text can pass for one of tt's own.
		p.Linef("%s:", c.Key)
		for l := range strings.Lines(c.Command) {
			p.ShowCode("  "+term.Bar, term.SourceLine(strings.TrimRight(l, "\n")))
		}
	}

	if c.AcceptedBy != "" {
		p.Linef("  accepted by %s %s", c.AcceptedBy, p.Ago(c.AcceptedAt))
		return
	}

	use := stick.Words("run")
	if c.Key == tasks.WorktreeDirKey {
		use = "use"
	}
	p.Linef("  nobody has accepted it, so tt doesn't %s it; a person who has read it accepts it: %s", use,
		p.Next(stick.Cmd("tt task init --accept <sum>", c.ShortSum())))
}

// abbrev shortens a commit or a sum.
func abbrev(commit string) string { return commit[:min(len(commit), 10)] }

func workerSpawnCmd(a *app.Run) *cobra.Command {
	var p task.WorkerSpawnParams
	var spec string
	var run runFlags
	c := &cobra.Command{
		Use: "new <task>", Aliases: []string{"spawn"}, Short: "Create a task with a branch and a worktree",
		Args: app.ArgsBetween(1, 1, "the name of a task"),
	}

	c.Flags().StringVar(&p.Description, "description", "", "what to do")
	c.Flags().StringVar(&spec, "spec", "", "a file with the details, or - for standard input")
	addLabelFlag(c, &p.Labels, "labels by which agents choose their tasks, separated by commas")
	addPriorityFlag(c, &p.Priority, "high, normal or low: which task comes first (default: normal)")
	c.Flags().StringVar(&p.Base, "base", "",
		"the commit to start from (default: the branch that tasks are merged into)")
	run.addFlags(c, "a shell command to start in the worktree, in the background")
	c.Flags().BoolVar(&p.Later, "later", false,
		"make no branch and no worktree: an agent that runs tt task next makes them, and gets the task")
	app.AddListFlag(c, &p.After, "after",
		"the tasks that have to land before it begins, separated by commas; implies --later")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		p.TaskID, p.Where, p.Run, p.Restart = args[0], path.Where(), run.command, run.restart
		var err error
		if p.Spec, err = specOf(a, spec); err != nil {
			return err
		}

		return spawnTask(a, run, func(e app.Operations, by core.Caller) (task.WorkerSpawnResult, error) {
			p.Caller = by
			return e.WorkerSpawn(c.Context(), p)
		})
	}

	return c
}

// spawnTask creates a task, or another attempt at one, with the command that works on it.
func spawnTask(
	a *app.Run, run runFlags, operation func(app.Operations, core.Caller) (task.WorkerSpawnResult, error),
) error {
	// Wrong flags are refused before the task exists.
	if err := run.checkRestart(); err != nil {
		return err
	}
	return app.Answer(a, operation, showSpawned)
}

// showSpawned shows a new task, and the command that works on it.
func showSpawned(p *term.Page, res task.WorkerSpawnResult) {
	if res.Task.Later {
		showPlanned(p, res)
		return
	}

	p.Linef("task %s is assigned (attempt %d)%s", res.Task.TaskID, res.Task.Attempt, app.AlreadyText(res.Already))
	p.Linef("worktree: %s", res.Worktree)
	p.Linef("branch:   %s, from %s of %s", res.Task.Branch, abbrev(res.Task.Base), res.Task.Integration)
	showCopied(p, res.CopiedFiles)
	if res.Note != "" {
		p.Linef("note: %s", res.Note)
	}

	// Git leaves the submodules of a new worktree empty.
	if _, err := os.Stat(filepath.Join(res.Worktree, ".gitmodules")); err == nil && res.Task.Setup == nil {
		p.Linef("note: its submodules are empty; to fill them in every new worktree, "+
			"commit this to .talking-stick.toml: [worker] setup = \"%s\"", stick.Cmd("git submodule update --init"))
	}

	switch r := res.Task.Run; {
	case r == nil:
		p.Linef("next: start an agent there, such as: %s && claude \"$(%s)\"",
			p.Next(stick.Cmd("cd <worktree>", res.Worktree)),
			p.Next(stick.Cmd("tt task prompt <task_id>", res.Task.TaskID)))
		return
	case res.Begun:
		p.Linef("started:  %q", stick.Name(r.Command))
	case r.State == tasks.RunEnded && r.Exit != nil:
		p.Linef("ended with exit status %d: %q", *r.Exit, stick.Name(r.Command))
	default:
		p.Linef("started already: %q", stick.Name(r.Command))
	}

	p.Linef("to follow it: %s", p.Next(stick.Cmd("tt task logs <task_id> -f", res.Task.TaskID)))
}

// showPlanned shows a task that is for later.
func showPlanned(p *term.Page, res task.WorkerSpawnResult) {
	p.Linef("task %s is for later (attempt %d): it %s%s", res.Task.TaskID, res.Task.Attempt,
		waitText(res.Task), app.AlreadyText(res.Already))
	if res.Task.Warning != "" {
		p.Linef("warning: %s", res.Task.Warning)
	}

	showStarted(p, res.Started)
	switch {
	case len(res.Started) > 0:
	case res.Task.Run != nil:
		p.Linef("its command starts when it is ready: %q", stick.Name(res.Task.Run.Command))
	default:
		p.Linef("an agent takes the oldest task that is ready by: %s", p.Next(stick.Cmd("tt task next")))
	}
}

// specOf reads the file with the details of a task, or standard input.
func specOf(a *app.Run, file string) (string, error) {
	switch file {
	case "":
		return "", nil
	case "-":
		return app.ReadBody(a.Input(), stick.MaxSpec)
	}

	// A relative path starts at the directory of the call.
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.Dir, file)
	}

	text, err := readFile(a, file)
	if e, ok := errors.AsType[*stick.Error](err); ok {
		return "", e
	}
	if err != nil {
		return "", stick.Errorf(stick.CodeUsage, "can't read the specification: %w", err).With("field", "spec").
			Hintf("name a file with text, or - for standard input")
	}
	return text, nil
}

// readFile reads a file, as far as a specification may be long and a little further. A FIFO may be one.
func readFile(a *app.Run, file string) (string, error) {
	f, err := a.OpenInput(file)
	if err != nil {
		return "", err
	}
	defer f.Close()

	info, err := os.Stat(file)
	isTooLong := err == nil && info.Mode().IsRegular() && info.Size() > stick.MaxSpec
	if isTooLong {
		return "", stick.TooLarge("spec", "the spec", int(info.Size()), stick.MaxSpec)
	}
	return app.ReadText(f, stick.MaxSpec)
}

func workerPromptCmd(a *app.Run) *cobra.Command {
	var p task.WorkerContextParams
	c := &cobra.Command{
		Use: "prompt [task]", Short: "Print the prompt for the agent of a task",
		Args: app.ArgsBetween(0, 1, "the name of a task"),
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		p.Where = path.Where()
		if len(args) > 0 {
			p.TaskID = args[0]
		}

		return app.Show(a, func(e app.Operations, by core.Caller) (task.WorkerContextResult, error) {
			p.Caller = by
			return e.WorkerContext(c.Context(), p)
		}, func(p *term.Page, res task.WorkerContextResult) { p.ShowBlock(res.Prompt) })
	}

	return c
}

func workerExportCmd(a *app.Run) *cobra.Command {
	var p task.WorkerExportParams
	c := &cobra.Command{
		Use: "export [task]", Short: "Print the log of tasks, one JSON event a line",
		Args: app.ArgsBetween(0, 1, "the name of a task"),
		Long: "Print every event of the room's tasks, or of one task, the oldest first. " +
			"Each line is one event in JSON, as in tt events.",
	}

	c.Flags().Int64Var(&p.After, "after", 0, "only events after this one")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		p.Where = path.Where()
		if len(args) > 0 {
			p.TaskID = args[0]
		}

		e, by, err := a.Open()
		if err != nil {
			return err
		}

		p.Caller = by
		a.Reads = true

		// The log may be long, so it comes in batches.
		for {
			res, err := e.WorkerExport(c.Context(), p)
			if err != nil {
				return err
			}

			for _, ev := range res.Events {
				if err := a.PrintLine(ev); err != nil {
					return err
				}

				p.After = ev.Seq
			}

			if !res.More || a.Unheard {
				return nil
			}
		}
	}

	return c
}
