package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/harness"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// RunProgram runs another program, and returns what it prints.
func RunProgram(ctx context.Context, program string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, program, args...)

	// A process that it has started may keep the pipe open.
	c.WaitDelay = 100 * time.Millisecond
	return c.Output()
}

// CallerVariables are our variables that say who calls. The helper is somebody else, and doesn't get them.
var CallerVariables = []string{"TT_HARNESS_AGENT_ID", harness.TaskEnv, "AI_AGENT_ID", "AI_HELPER"}

// gitPlaces are the variables by which git works in another place than the working directory.
var gitPlaces = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
	"GIT_NAMESPACE",
}

// ProjectEnviron is the environment of a project's commands. It lacks the variables that would make them act
// as another agent, or git in another place.
func ProjectEnviron(env []string) []string {
	// The command isn't the caller, and has a project of its own to find.
	clear := append(slices.Clone(CallerVariables), harness.AgentEnv, "TT_JSON", task.SlotEnv)
	for _, r := range harness.Rows {
		clear = append(clear, r.Environment()...)
	}
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(gitPlaces, name) || slices.Contains(clear, name)
	})
}

// RunBegun is the report of the process that runs a command, once the command has started.
const RunBegun = "begun"

// StartRun starts the process that attends to a run, and waits until the command has started or failed to. It
// returns what that process refuses.
func (a *Run) StartRun(ctx context.Context, run task.RunTaskParams) (pid int, err error) {
	failed := func(err error) error {
		return stick.Errorf(stick.CodeInternal, "tt couldn't start the process that attends to the "+
			"command: %w", err).Hintf("run the same command again")
	}

	// The process gets its order on standard input, as a guardian does.
	order, err := json.Marshal(run)
	if err != nil {
		return 0, err
	}

	r, w, err := os.Pipe()
	if err != nil {
		return 0, failed(err)
	}

	defer r.Close()
	pid, err = StartDetached(a.Exe, []string{harness.RunnerName, "worker", "runner"}, nil, order, w)

	// With our writing end open, reading would never end.
	w.Close()
	if err != nil {
		return 0, failed(err)
	}

	// An interruption ends the reading below.
	defer context.AfterFunc(ctx, func() { r.Close() })()
	said, err := bufio.NewReader(r).ReadString('\n')
	said = strings.TrimSpace(said)
	refused, reported := stick.ParseError([]byte(said))
	switch {
	case said == RunBegun:
		return pid, nil
	case reported:
		return pid, refused
	case ctx.Err() != nil:
		return pid, ctx.Err()
	case said != "":
		return pid, failed(errors.New(stick.Clip(said, 400)))
	}

	return pid, failed(fmt.Errorf("process %d ended before the command began: %w", pid, err))
}

// GuardianStarter returns what starts guardians; nil if the path of the program isn't known.
func (a *Run) GuardianStarter() func(engine.KeepLeaseParams) (pid int, err error) {
	if a.Exe == "" {
		return nil
	}

	return func(p engine.KeepLeaseParams) (pid int, err error) {
		// The lease is secret, and everybody can read a command line. So the order goes through standard input.
		order, err := json.Marshal(p)
		if err != nil {
			return 0, err
		}
		return StartDetached(a.Exe, []string{a.Exe, "guard"}, nil, order, nil)
	}
}

// LanderStarter returns what starts the process that merges by itself; nil where that can't be. What it prints
// goes to a file, which begins anew once it is long.
func (a *Run) LanderStarter() func(task.LanderOrder) error {
	if a.Exe == "" {
		return nil
	}

	return func(o task.LanderOrder) error {
		order, err := json.Marshal(o)
		if err != nil {
			return err
		}

		out, err := openLog(o.Output)
		if err != nil {
			return err
		}
		defer out.Close()

		// By this name, what a gate runs is nobody's command, and least of all a person's.
		_, err = StartDetached(a.Exe, []string{harness.RunnerName, "worker", "lander"}, o.Environ, order, out)
		return err
	}
}

// maxLanderLog is how long the output of landers may get before it begins anew.
const maxLanderLog = 1 << 20

// openLog opens a file to write at its end.
func openLog(path string) (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Lstat(path); err == nil && info.Size() > maxLanderLog {
		flags |= os.O_TRUNC
	}
	return plainfile.Open(path, flags)
}
