package task_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/harness"
	"talkingstick/internal/proc/proctest"
	"talkingstick/internal/task"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// TestRun_Claim: of several callers that want to start the command of an attempt, only one may. If that
// one dies before the command has started, another may, and the process that the first had started is
// refused.
func TestRun_Claim(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	t.Setenv("HOME", dir)

	for _, args := range [][]string{
		{"init", "-q", work},
		{"-C", work, "config", "user.name", "w"},
		{"-C", work, "config", "user.email", "w@example.invalid"},
		{"-C", work, "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}

	// on returns the operations as the process self runs them while the others are alive.
	on := func(self int, others ...int) *task.Tasks {
		all := []proctest.Process{{PID: self, PPID: 1, Comm: "tt", Dir: work}}
		for _, pid := range others {
			all = append(all, proctest.Process{PID: pid, PPID: 1, Comm: "tt", Dir: work})
		}
		kernel := core.New(core.Config{
			Dir: filepath.Join(dir, "data"), Procs: proctest.Machine(self, all...),
			Workspace: workspace.Env{Dir: work, Home: dir},
		})
		t.Cleanup(func() { kernel.Close() })
		return task.New(task.Config{Kernel: kernel})
	}

	by := harness.Caller{Harness: "claude", SessionID: "one"}
	at := core.Where{Path: work}
	if _, err := on(100).WorkerInit(t.Context(), task.WorkerInitParams{Caller: by, Where: at}); err != nil {
		t.Fatal(err)
	}
	if _, err := on(100).WorkerSpawn(t.Context(), task.WorkerSpawnParams{Caller: by, Where: at, TaskID: "x"}); err != nil {
		t.Fatal(err)
	}

	const command = "exit 3"
	claim := func(e *task.Tasks, command string) (task.WorkerRunResult, error) {
		return e.WorkerRun(t.Context(), task.WorkerRunParams{
			Caller: by, Where: at, TaskID: "x", Command: command, First: true,
		})
	}

	begin := func(e *task.Tasks, run *task.RunTaskParams) (begun bool, err error) {
		p := *run
		p.Begun = func() { begun = true }
		return begun, e.RunTask(t.Context(), p)
	}

	dead := func() *task.RunView {
		t.Helper()
		res, err := on(103).WorkerShow(t.Context(), task.WorkerShowParams{Caller: by, Where: at, TaskID: "x"})
		if err != nil {
			t.Fatal(err)
		}
		return res.Run
	}

	first, err := claim(on(101), command)
	if err != nil || first.Start == nil || first.Start.Starter.PID != 101 {
		t.Fatalf("the first claim: %+v, %v", first, err)
	}
	if c, err := claim(on(102, 101), command); err != nil || !c.Already || c.Run.State != tasks.RunClaimed {
		t.Errorf("a claim while the first process is alive: %+v, %v", c, err)
	}
	if _, err := claim(on(102, 101), "another"); stick.CodeOf(err) != stick.CodeAlreadyExists {
		t.Errorf("a claim with another command: %v", err)
	}
	if r := dead(); r != nil {
		t.Errorf("a command that never started is shown as %+v", r)
	}

	second, err := claim(on(102), command)
	if err != nil || second.Start == nil || second.Start.Starter.PID != 102 || second.Run.Run != 1 {
		t.Fatalf("a claim after the first process has ended: %+v, %v", second, err)
	}
	if begun, err := begin(on(201, 102), first.Start); begun || stick.CodeOf(err) != stick.CodeStaleAttempt {
		t.Errorf("the process that the first had started: %v, %v", begun, err)
	}
	if begun, err := begin(on(202, 102), second.Start); !begun || err != nil {
		t.Errorf("the process that the second has started: %v, %v", begun, err)
	}
	if begun, err := begin(on(203, 102), second.Start); begun || stick.CodeOf(err) != stick.CodeStaleAttempt {
		t.Errorf("the same start again: %v, %v", begun, err)
	}
	if c, err := claim(on(104), command); err != nil || !c.Already || c.Run.Exit == nil || *c.Run.Exit != 3 {
		t.Errorf("a claim after the command has ended: %+v, %v", c, err)
	}

	if _, err := on(100).WorkerCancel(t.Context(), task.WorkerCancelParams{
		Caller: by, Where: at, TaskID: "x",
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := claim(on(105), command); stick.CodeOf(err) != stick.CodeStaleAttempt {
		t.Errorf("a claim for a cancelled task: %v", err)
	}
}
