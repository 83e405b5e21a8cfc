package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/harness"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// runName is the name of the process that starts a worker's command. By that name, tt recognises the processes below it
// as a worker's.
const runName = "tt-worker"

// projectEnviron is the environment of a project's commands. It lacks the variables that would make them act as
// another agent, or git in another place.
func projectEnviron(env []string) []string {
	clear := append(slices.Clone(callers), "TT_JSON", task.SlotEnv)
	for _, r := range harness.Rows {
		clear = append(clear, r.Environment()...)
	}
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		elsewhere := slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_NAMESPACE"}, name)
		return elsewhere || slices.Contains(clear, name)
	})
}

// begun is the report of the process that runs a command, once the command has started.
const begun = "begun"

// startRun starts the process that runs the command of a task, unless another tt has claimed that. It returns the
// command that the attempt then has, and reports whether this call started it.
func (a *app) startRun(ctx context.Context, e operations, res task.WorkerSpawnResult, command string) (run *task.RunView, started bool, err error) {
	p := task.RunTaskParams{RoomID: res.RoomID, Root: res.Worktree, TaskID: res.Task.TaskID, Attempt: res.Task.Attempt, Command: command, Dir: res.Worktree}
	claim, err := e.ClaimRun(ctx, p)
	if err != nil || claim.Run != nil {
		return claim.Run, false, err
	}
	p.Starter = claim.Starter
	order, err := json.Marshal(p)
	if err != nil {
		return nil, false, err
	}
	pid, err := a.detachRun(ctx, order)
	if err != nil {
		return nil, false, stick.Errorf(stick.CodeGitFailed, "tt couldn't start the command: %w", err).With("task_id", p.TaskID).
			Hintf("fix that, and run the same command again")
	}
	return &task.RunView{Command: command, PID: pid}, true, nil
}

// detachRun starts the process that runs a command, and waits until the command has started or failed to.
func (a *app) detachRun(ctx context.Context, order []byte) (pid int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	pid, err = detach(a.Exe, []string{runName, "worker", "run"}, order, w)
	w.Close()
	if err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() { r.Close() })()
	said, err := bufio.NewReader(r).ReadString('\n')
	switch said = strings.TrimSpace(said); {
	case said == begun:
		return pid, nil
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case said != "":
		return 0, errors.New(stick.Line(said))
	}
	return 0, fmt.Errorf("process %d ended before it began: %w", pid, err)
}

// workerRunCmd is the process that runs the command of a task, and records its end.
func (a *app) workerRunCmd() *cobra.Command {
	return &cobra.Command{
		Use: "run", Hidden: true, Args: noArgs, Short: "Run the command of a task and record its end",
		RunE: func(c *cobra.Command, args []string) error {
			var p task.RunTaskParams
			if err := json.NewDecoder(a.Stdin).Decode(&p); err != nil || p.Command == "" {
				return stick.Errorf(stick.CodeUsage, "only tt worker spawn --run starts a task's command")
			}
			p.Environ = append(projectEnviron(os.Environ()), fmt.Sprintf("%s=%s/%s/%d", harness.TaskEnv, p.RoomID, p.TaskID, p.Attempt))
			_, procs, err := a.surroundings()
			if err != nil {
				return err
			}
			p.Begun = func() { a.write(begun + "\n") }
			return a.newOperations(procs).RunTask(c.Context(), p)
		},
	}
}
