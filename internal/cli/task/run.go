package task

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// runFlags are the flags of commands that may also start a worker's command.
type runFlags struct{ command, restart string }

func (r *runFlags) addFlags(c *cobra.Command, usage string) {
	c.Flags().StringVar(&r.command, "run", "", usage)
	r.addRestart(c, "no")
}

func (r *runFlags) addRestart(c *cobra.Command, otherwise string) {
	c.Flags().StringVar(&r.restart, "restart", "", "on-return, on-failure, or both separated by a comma: start the command again when the task comes back, or when "+
		"the command has failed; each with :<times> for at most that many times (3); or no (default: "+otherwise+")")
}

// checkRestart refuses wrong flags before anything is done.
func (r *runFlags) checkRestart() error {
	if r.restart == "" {
		return nil
	}
	if r.command == "" {
		return stick.Errorf(stick.CodeUsage, "--restart needs --run, whose command it restarts").
			With("field", "restart")
	}
	_, err := tasks.ParseRestart(r.restart)
	return err
}

func workerRunCmd(a *app.Run) *cobra.Command {
	var p task.WorkerRunParams
	var run runFlags
	all := false
	c := &cobra.Command{
		Use: "run [task] [-- <command>…]", Short: "Start the command of a task, or start it again",
		Args: app.ArgsBetween(0, -1, "the name of a task"),
		Long: "Start a command in the task's worktree, in the background, for the current attempt. Without\n" +
			"a command tt starts the last one again. The shell runs a single argument after --; several\n" +
			"are a command and its arguments. One command of a task runs at a time. The prompt contains\n" +
			"what a reviewer has said: claude -p \"$(tt task prompt)\".\n\n" +
			"With --all, for example after a reboot, tt restarts every command that was cut off, or " +
			"that ended while its worker still had the task, and starts those of tasks that are ready " +
			"to begin. It skips commands that somebody stopped, and tasks that somebody else works on.",
	}

	c.Flags().BoolVar(&all, "all", false, "start again whatever was cut off")
	run.addRestart(c, "what the last run has left")
	path := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		p.Where = path.Where()
		switch {
		case all && (len(args) > 0 || run.restart != ""):
			return stick.Errorf(stick.CodeUsage, "--all takes no task, command or --restart: "+
				"each command starts again as it did before").With("field", "all")
		case all:
			return runAll(c.Context(), a, p.Where)
		case len(args) == 0:
			return stick.Errorf(stick.CodeUsage, "name the task, or use --all").With("field", "task_id").
				Hintf("to start again whatever was cut off: %s", stick.Cmd("tt task run --all"))
		case len(args) > 1 && c.ArgsLenAtDash() != 1:
			// Without the dashes, flags of the command would be taken for tt's.
			return stick.Errorf(stick.CodeUsage, "put -- between the task and the command, "+
				"so that tt doesn't take the command's flags for its own").With("field", "command").
				Hintf("%s", stick.Cmd("tt task run <task_id> -- …", args[0]))
		}

		p.TaskID, p.Command, p.Restart = args[0], commandLine(args[1:]), run.restart
		return app.Answer(a, func(e app.Operations, by core.Caller) (task.WorkerRunResult, error) {
			p.Caller = by
			return e.WorkerRun(c.Context(), p)
		}, func(p *term.Page, res task.WorkerRunResult) {
			p.Linef("started run %d of %s (process %d): %q", res.Run.Run, res.TaskID, res.Run.PID,
				stick.Name(res.Run.Command))
			for _, often := range restartText(res.Run) {
				p.Linef("it %s", often)
			}
			if res.Note != "" {
				p.Linef("note: %s", res.Note)
			}

			p.Linef("to follow it: %s", p.Next(stick.Cmd("tt task logs <task_id> -f", res.TaskID)))
		})
	}

	return c
}

// restartText says when a command starts again by itself.
func restartText(r task.RunView) (often []stick.Words) {
	if r.Restarts > 0 {
		often = append(often, "starts again when the task comes back, at most "+stick.Count(r.Restarts, "time"))
	}
	if r.Retries > 0 {
		often = append(often, "starts again when it has failed, at most "+stick.Count(r.Retries, "time"))
	}
	return often
}

// RunAllResult is the commands that tt task run --all has started.
type RunAllResult struct {
	Started []task.StartedTask `json:"started"`
}

// runAll starts whatever was cut off.
func runAll(ctx context.Context, a *app.Run, w core.Where) error {
	return app.Answer(a, func(e app.Operations, by core.Caller) (res RunAllResult, err error) {
		res.Started, err = e.StartReady(ctx, task.WorkerReadyParams{Caller: by, Where: w, All: true})
		return res, err
	}, func(p *term.Page, res RunAllResult) {
		showStarted(p, res.Started)
		if len(res.Started) == 0 {
			p.Linef("no command is to be started again; to see the tasks: %s", p.Next(stick.Cmd("tt task list")))
		}
	})
}

// commandLine returns a command for the shell: a single word as it is, and several words quoted.
func commandLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}

	quoted := make([]string, len(words))
	for i, w := range words {
		// Words of harmless characters stay readable.
		quoted[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+,:@%=", r)
		}) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}

	return strings.Join(quoted, " ")
}

// workerRunnerCmd is the process that attends to the command of a task, and records its end.
func workerRunnerCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "runner", Hidden: true, Args: app.NoArgs, Short: "Run the command of a task and record its end",
		RunE: func(c *cobra.Command, args []string) error {
			// The process that has started this one reads JSON.
			a.JSON = true
			a.Interrupts.Tends.Store(true)
			var p task.RunTaskParams
			if err := json.NewDecoder(a.Input()).Decode(&p); err != nil || p.TaskID == "" {
				return stick.Errorf(stick.CodeUsage, "only tt starts this, for tt task run")
			}

			p.Environ, p.Alone = app.ProjectEnviron(os.Environ()), true
			_, procs, err := a.ReadSurroundings()
			if err != nil {
				return err
			}

			p.Begun = func() { a.Write(app.RunBegun + "\n") }
			return a.NewOperations(procs).RunTask(c.Context(), p)
		},
	}
}

// workerLanderCmd is the process that merges by itself. Its output is a file.
func workerLanderCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "lander", Hidden: true, Args: app.NoArgs, Short: "Merge what is approved to be merged by itself",
		RunE: func(c *cobra.Command, args []string) error {
			a.Interrupts.Tends.Store(true)
			var p task.LanderParams
			if err := json.NewDecoder(a.Input()).Decode(&p.LanderOrder); err != nil || p.Root == "" {
				return stick.Errorf(stick.CodeUsage, "only tt starts this, for tt task approve --merge")
			}

			_, procs, err := a.ReadSurroundings()
			if err != nil {
				return err
			}

			p.Say = func(line stick.Words) {
				a.Write(term.Wordsf("%s %s\n", stick.Words(time.Now().UTC().Format(time.RFC3339)), line))
			}
			return a.NewOperations(procs).RunLander(c.Context(), p)
		},
	}
}
