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
)

// TestClaimRun: of those who want to start the command of an attempt one does. One that died before the command
// had begun is followed by another, and what it had started comes too late.
func TestClaimRun(t *testing.T) {
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
	// on is the program as a process sees it among others that live.
	on := func(self int, others ...int) *task.Tasks {
		all := []proctest.Process{{PID: self, PPID: 1, Comm: "tt", Dir: work}}
		for _, pid := range others {
			all = append(all, proctest.Process{PID: pid, PPID: 1, Comm: "tt", Dir: work})
		}
		kernel := core.New(core.Config{Dir: filepath.Join(dir, "data"), Procs: proctest.Machine(self, all...), Workspace: workspace.Env{Dir: work, Home: dir}})
		t.Cleanup(func() { kernel.Close() })
		return task.New(task.Config{Kernel: kernel})
	}
	by := harness.Caller{Harness: "claude", SessionID: "one"}
	at := core.Where{Path: work}
	if _, err := on(100).WorkerInit(t.Context(), task.WorkerInitParams{Caller: by, Where: at}); err != nil {
		t.Fatal(err)
	}
	spawned, err := on(100).WorkerSpawn(t.Context(), task.WorkerSpawnParams{Caller: by, Where: at, TaskID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	run := task.RunTaskParams{Root: work, TaskID: "x", Attempt: 1, Command: "exit 3", Dir: spawned.Worktree}
	claim := func(e *task.Tasks, command string) (task.ClaimRunResult, error) {
		p := run
		p.Command = command
		return e.ClaimRun(t.Context(), p)
	}
	begin := func(e *task.Tasks, as stick.Process) (begun bool, err error) {
		p := run
		p.Starter, p.Begun = as, func() { begun = true }
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

	first, err := claim(on(101), run.Command)
	if err != nil || first.Starter.PID != 101 {
		t.Fatalf("the first: %+v, %v", first, err)
	}
	if c, err := claim(on(102, 101), run.Command); err != nil || !c.Starter.IsZero() || c.Run == nil || c.Run.PID != 0 {
		t.Errorf("while the first is at it: %+v, %v", c, err)
	}
	if _, err := claim(on(102, 101), "another"); stick.CodeOf(err) != stick.CodeAlreadyExists {
		t.Errorf("another command: %v", err)
	}
	if r := dead(); r != nil {
		t.Errorf("what never began is shown as %+v", r)
	}
	second, err := claim(on(102), run.Command)
	if err != nil || second.Starter.PID != 102 {
		t.Fatalf("when the first is gone: %+v, %v", second, err)
	}
	if begun, err := begin(on(201, 102), first.Starter); begun || stick.CodeOf(err) != stick.CodeStaleAttempt {
		t.Errorf("what the first had started: %v, %v", begun, err)
	}
	if begun, err := begin(on(202, 102), second.Starter); !begun || err != nil {
		t.Errorf("what the second has started: %v, %v", begun, err)
	}
	if begun, err := begin(on(203, 102), second.Starter); begun || stick.CodeOf(err) != stick.CodeStaleAttempt {
		t.Errorf("the same again: %v, %v", begun, err)
	}
	if c, err := claim(on(104), run.Command); err != nil || !c.Starter.IsZero() || c.Run == nil || c.Run.Exit == nil || *c.Run.Exit != 3 {
		t.Errorf("when it has ended: %+v, %v", c, err)
	}
	if _, err := on(100).WorkerCancel(t.Context(), task.WorkerCancelParams{Caller: by, Where: at, TaskID: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := claim(on(105), run.Command); stick.CodeOf(err) != stick.CodeStaleAttempt {
		t.Errorf("a task that is over: %v", err)
	}
}
