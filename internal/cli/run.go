package cli

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// runName is the name under which the process runs that starts a worker's command: by it those below are
// known to be a worker's.
const runName = "tt-worker"

// projectEnviron is the environment of commands that a project has run: without what would make them
// another agent, or have git work elsewhere.
func projectEnviron(env []string) []string {
	clear := append(slices.Clone(callers), "TT_JSON", "CLAUDE_CODE_SSE_PORT")
	for _, r := range harness.Rows {
		clear = append(append(clear, r.SessionEnv...), r.Markers...)
		if r.Interactive[0] != "" {
			clear = append(clear, r.Interactive[0])
		}
	}
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		elsewhere := slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_NAMESPACE"}, name)
		return elsewhere || slices.Contains(clear, name)
	})
}

// startRun starts the process that runs the command of a task.
func (a *app) startRun(res engine.WorkerSpawnResult, w engine.Where, command string) (pid int, err error) {
	order, err := json.Marshal(engine.RunTaskParams{
		Root: res.Worktree, TaskID: res.Task.TaskID, Attempt: res.Task.Attempt, Command: command, Dir: res.Worktree,
	})
	if err != nil {
		return 0, err
	}
	pid, err = detach(a.Exe, []string{runName, "worker", "run"}, order)
	if err != nil {
		return 0, stick.Errorf(stick.CodeGitFailed, "the command couldn't be started: %w", err).With("task_id", res.Task.TaskID).
			Hintf("start an agent in %s yourself", stick.Line(res.Worktree))
	}
	return pid, nil
}

// workerRunCmd is the process that runs the command of a task, and notes its end.
func (a *app) workerRunCmd() *cobra.Command {
	return &cobra.Command{
		Use: "run", Hidden: true, Args: noArgs, Short: "Run the command of a task, and note its end",
		RunE: func(c *cobra.Command, args []string) error {
			var p engine.RunTaskParams
			if err := json.NewDecoder(a.Stdin).Decode(&p); err != nil || p.Command == "" {
				return stick.Errorf(stick.CodeUsage, "a task's command is started by tt worker spawn --run")
			}
			p.Environ = append(projectEnviron(os.Environ()), "TT_WORKER_TASK="+p.TaskID, "TT_WORKER_ATTEMPT="+strconv.Itoa(p.Attempt))
			_, procs, err := a.surroundings()
			if err != nil {
				return err
			}
			return a.newEngine(procs).RunTask(c.Context(), p)
		},
	}
}
