package stick

import (
	"strings"
	"testing"
)

// liveRun is a run whose process lives, with this number.
func liveRun(attempt, n int) Run {
	return Run{Task: "x", Attempt: attempt, Number: n, Command: "make", Process: Process{Boot: "b", PID: 1, Start: 1}, StartedAt: 5}
}

func alive(Process) Verdict { return Alive }
func gone(Process) Verdict  { return Gone }

// TestStartRun: what a command may be started for, which command that is, and which number the run gets.
func TestStartRun(t *testing.T) {
	ended := func(r Run) Run { r.EndedAt = 9; return r }
	claimed := liveRun(2, 1)
	claimed.StartedAt = 0
	three, none, one := 3, 0, 1
	left := ended(liveRun(2, 1))
	left.Restarts = 2
	for _, c := range []struct {
		name    string
		state   TaskState
		q       RunStart
		runs    []Run
		verdict func(Process) Verdict
		code    Code
		number  int
		command string
		is      int // the number of the run that there is
		left    int
		queued  bool
	}{
		{name: "the first", state: TaskAssigned, q: RunStart{Command: "go"}, number: 1, command: "go"},
		{name: "nobody knows the command", state: TaskAssigned, code: CodeUsage},
		{name: "a command that is no text", state: TaskAssigned, q: RunStart{Command: "a\x00b"}, code: CodeUsage},
		{name: "a command that is too long", state: TaskAssigned, q: RunStart{Command: strings.Repeat("x", maxRunCommand+1)}, code: CodeUsage},
		{name: "the command of the attempt before", state: TaskAssigned, runs: []Run{ended(liveRun(1, 4))}, number: 1, command: "make"},
		{name: "after one that has ended", state: TaskWorking, runs: []Run{ended(liveRun(2, 1)), ended(liveRun(2, 2))}, number: 3, command: "make"},
		{name: "while one runs", state: TaskWorking, runs: []Run{liveRun(2, 1)}, verdict: alive, code: CodeAlreadyRunning},
		{name: "while one may run", state: TaskWorking, runs: []Run{liveRun(2, 1)}, verdict: func(Process) Verdict { return Unknown }, code: CodeAlreadyRunning},
		{name: "while one starts", state: TaskWorking, runs: []Run{claimed}, verdict: alive, code: CodeAlreadyRunning},
		{name: "after one whose start died", state: TaskWorking, runs: []Run{claimed}, verdict: gone, number: 1, command: "make"},
		{name: "after one whose process died", state: TaskWorking, runs: []Run{liveRun(2, 1)}, verdict: gone, number: 2, command: "make"},
		{name: "of a task that is over", state: TaskFailed, q: RunStart{Command: "go"}, code: CodeStaleAttempt},
		{name: "of a task that was merged", state: TaskCompleted, q: RunStart{Command: "go"}, code: CodeStaleAttempt},
		{name: "as many as may", state: TaskAssigned, q: RunStart{Command: "go", Running: 2, Most: 3}, number: 1, command: "go"},
		{name: "more than may", state: TaskAssigned, q: RunStart{Command: "go", Running: 3, Most: 3}, code: CodeMaxRunning},
		{name: "only the first, again", state: TaskWorking, q: RunStart{Command: "make", First: true, Running: 9, Most: 1}, runs: []Run{ended(liveRun(2, 1))}, is: 1},
		{name: "only the first, while it runs", state: TaskWorking, q: RunStart{Command: "make", First: true}, runs: []Run{liveRun(2, 1)}, verdict: alive, is: 1},
		{name: "only the first, another one", state: TaskWorking, q: RunStart{Command: "go", First: true}, runs: []Run{ended(liveRun(2, 1))}, code: CodeAlreadyExists},
		{name: "only the first, of a new attempt", state: TaskAssigned, q: RunStart{Command: "go", First: true}, runs: []Run{ended(liveRun(1, 1))}, number: 1, command: "go"},
		{name: "only the first, whose start died", state: TaskAssigned, q: RunStart{Command: "go", First: true}, runs: []Run{claimed}, verdict: gone, number: 1, command: "go"},
		{name: "with what is left of its restarts", state: TaskWorking, runs: []Run{left}, number: 2, command: "make", left: 2},
		{name: "more than may, but it can wait", state: TaskAssigned, q: RunStart{Command: "go", Running: 3, Most: 3, Queue: true}, number: 1, command: "go", queued: true},
		{name: "it needn't wait", state: TaskAssigned, q: RunStart{Command: "go", Running: 2, Most: 3, Queue: true}, number: 1, command: "go"},
		{name: "after the one that was seen", state: TaskWorking, q: RunStart{Follows: &one}, runs: []Run{ended(liveRun(2, 1))}, number: 2, command: "make"},
		{name: "after none, as was seen", state: TaskAssigned, q: RunStart{Follows: &none}, runs: []Run{claimed}, verdict: gone, number: 1, command: "make"},
		{name: "somebody was faster", state: TaskWorking, q: RunStart{Follows: &one}, runs: []Run{ended(liveRun(2, 1)), ended(liveRun(2, 2))}, is: 2},
		{name: "somebody was faster with the first", state: TaskWorking, q: RunStart{Follows: &none}, runs: []Run{liveRun(2, 1)}, is: 1},
		{name: "with restarts", state: TaskWorking, q: RunStart{Restarts: &three}, runs: []Run{left}, number: 2, command: "make", left: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.verdict == nil {
				c.verdict = alive
			}
			task := Task{ID: "X", State: c.state, Attempt: 2, StateAt: 7}
			next, is, err := task.StartRun(c.q, c.runs, c.verdict)
			if CodeOf(err) != c.code {
				t.Fatalf("%v", err)
			}
			if c.code != "" {
				if len(AsError(err).Hint) == 0 {
					t.Errorf("%v has no hint", err)
				}
				return
			}
			if c.is > 0 {
				if is == nil || is.Number != c.is {
					t.Errorf("the run that there is: %+v", is)
				}
				return
			}
			if is != nil || next.Queued != c.queued || next.Number != c.number || next.Command != c.command || next.Attempt != 2 || next.Task != "x" || next.TaskAt != 7 || next.Restarts != c.left {
				t.Errorf("%+v, %+v", next, is)
			}
		})
	}
}

// TestATaskForLaterHasNoRun: it has no worktree in which a command could run.
func TestATaskForLaterHasNoRun(t *testing.T) {
	_, _, err := Task{ID: "x", State: TaskAssigned, Attempt: 1, Later: true}.StartRun(RunStart{Command: "go"}, nil, alive)
	if CodeOf(err) != CodeInvalidTransition || len(AsError(err).Hint) == 0 {
		t.Errorf("%v", err)
	}
}

// TestResume: which commands start without somebody's asking for their tasks, and which of them only if
// somebody asks for all.
func TestResume(t *testing.T) {
	unknown := func(Process) Verdict { return Unknown }
	working := Task{ID: "x", State: TaskWorking, Attempt: 2, StateAt: 7}
	back := working
	back.Cause = CauseReview
	review := working
	review.State = TaskInReview
	conflicted := working
	conflicted.State = TaskConflicted
	assigned := working
	assigned.State = TaskAssigned
	later := assigned
	later.Later = true
	run := func(change func(*Run)) []Run {
		r := liveRun(2, 3)
		r.Restarts = 2
		change(&r)
		return []Run{liveRun(1, 1), r}
	}
	cut := func(*Run) {}
	ended := func(r *Run) { r.EndedAt = 9 }
	claimed := func(r *Run) { r.StartedAt, r.Number = 0, 1 }
	for _, c := range []struct {
		name     string
		task     Task
		runs     []Run
		verdict  func(Process) Verdict
		by, all  bool // starts by itself, or if somebody asks for all
		restarts int
		follows  int
	}{
		{name: "it never had a command", task: working, verdict: gone},
		{name: "it runs", task: working, runs: run(cut), verdict: alive},
		{name: "nobody knows whether it runs", task: working, runs: run(cut), verdict: unknown},
		{name: "its process is gone", task: working, runs: run(cut), verdict: gone, all: true, restarts: 2, follows: 3},
		{name: "its process is gone, and the task has come back", task: back, runs: run(cut), verdict: gone, by: true, all: true, restarts: 1, follows: 3},
		{name: "it has ended", task: working, runs: run(ended), verdict: gone, all: true, restarts: 2, follows: 3},
		{name: "it has ended, and its rebase stopped", task: conflicted, runs: run(ended), verdict: gone, all: true, restarts: 2, follows: 3},
		{name: "its process waits for the task to come back", task: working, runs: run(ended), verdict: alive},
		{name: "its process sees that the task has come back", task: back, runs: run(ended), verdict: alive},
		{name: "nobody sees that the task has come back", task: back, runs: run(ended), verdict: gone, by: true, all: true, restarts: 1, follows: 3},
		{name: "it has started often enough", task: back, runs: run(func(r *Run) { r.EndedAt, r.Restarts = 9, 0 }), verdict: gone, all: true, follows: 3},
		{name: "it had come back before", task: back, runs: run(func(r *Run) { r.EndedAt, r.TaskAt = 9, 7 }), verdict: gone, all: true, restarts: 2, follows: 3},
		{name: "somebody has stopped it", task: back, runs: run(func(r *Run) { r.EndedAt, r.StopAt = 9, 8 }), verdict: gone},
		{name: "it waits for review", task: review, runs: run(ended), verdict: gone},
		{name: "it is merged", task: Task{ID: "x", State: TaskCompleted, Attempt: 2}, runs: run(ended), verdict: gone},
		{name: "another attempt", task: working, runs: []Run{liveRun(1, 1)}, verdict: gone},
		{name: "it is about to start", task: assigned, runs: run(claimed), verdict: alive},
		{name: "it never started", task: assigned, runs: run(claimed), verdict: gone, by: true, all: true, restarts: 2},
		{name: "nobody has claimed it", task: assigned, runs: run(func(r *Run) { claimed(r); r.Process = Process{} }), verdict: unknown, by: true, all: true, restarts: 2},
		{name: "nobody has begun the task", task: later, runs: run(func(r *Run) { claimed(r); r.Process = Process{} }), verdict: gone},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, ok := c.task.Resume(c.runs, c.verdict, false); ok != c.by {
				t.Errorf("by itself: %v", ok)
			}
			r, ok := c.task.Resume(c.runs, c.verdict, true)
			if ok != c.all {
				t.Errorf("with all: %v", ok)
			}
			if want := (Resumption{"make", c.follows, c.restarts}); ok && r != want {
				t.Errorf("%+v, not %+v", r, want)
			}
		})
	}
}

// TestRestartsOn: a run starts again when its task has come back since it began, and only then.
func TestRestartsOn(t *testing.T) {
	run := liveRun(2, 3)
	run.EndedAt, run.Restarts, run.TaskAt = 9, 1, 100
	back := Task{ID: "x", State: TaskWorking, Cause: CauseReview, Attempt: 2, StateAt: 200}
	with := func(change func(*Task, *Run)) (Task, Run) {
		t, r := back, run
		change(&t, &r)
		return t, r
	}
	for _, c := range []struct {
		name      string
		change    func(*Task, *Run)
		now, ever bool
	}{
		{"it came back", func(*Task, *Run) {}, true, true},
		{"by a conflict", func(t *Task, _ *Run) { t.Cause = CauseConflict }, true, true},
		{"by a red gate", func(t *Task, _ *Run) { t.Cause = CauseGate }, true, true},
		{"it had come back when the run began", func(t *Task, _ *Run) { t.StateAt = 100 }, false, true},
		{"it waits for review", func(t *Task, _ *Run) { t.State = TaskInReview }, false, true},
		{"its worker works", func(t *Task, _ *Run) { t.Cause = "" }, false, true},
		{"its worker's own rebase stopped", func(t *Task, _ *Run) { t.State = TaskConflicted }, false, true},
		{"it has started often enough", func(_ *Task, r *Run) { r.Restarts = 0 }, false, false},
		{"somebody has stopped it", func(_ *Task, r *Run) { r.StopAt = 9 }, false, false},
		{"somebody has started another run", func(_ *Task, r *Run) { r.Number = 4 }, false, false},
		{"another attempt", func(t *Task, _ *Run) { t.Attempt = 3 }, false, false},
		{"it was merged", func(t *Task, _ *Run) { t.State = TaskCompleted }, false, false},
		{"it was cancelled", func(t *Task, _ *Run) { t.State = TaskFailed }, false, false},
	} {
		task, last := with(c.change)
		if now, ever := run.RestartsOn(task, []Run{last}); now != c.now || ever != c.ever {
			t.Errorf("%s: %v, %v", c.name, now, ever)
		}
	}
	last := run
	if h := back.Again([]Run{last}, alive); !strings.Contains(h.String(), "by itself") {
		t.Errorf("its process waits: %s", h)
	}
	if h := back.Again([]Run{last}, gone); h.String() != "to start its worker again: tt task run x" {
		t.Errorf("its process has died: %s", h)
	}
	if h := back.Again([]Run{liveRun(2, 4)}, gone); h.String() != "to start its worker again: tt task stop x, then tt task run x" {
		t.Errorf("tt has lost it, and a part of it may run: %s", h)
	}
	if h := back.Again([]Run{liveRun(2, 4)}, alive); len(h) > 0 {
		t.Errorf("it runs: %s", h)
	}
	if h := back.Again(nil, alive); len(h) > 0 {
		t.Errorf("it has no command: %s", h)
	}
	if h := (Task{ID: "x", State: TaskInReview, Attempt: 2}).Again([]Run{last}, gone); len(h) > 0 {
		t.Errorf("it waits for review: %s", h)
	}
}

func TestParseRestart(t *testing.T) {
	for text, want := range map[string]int{"no": 0, "on-return": DefaultRestarts, "on-return:1": 1, "on-return:100": 100} {
		if n, err := ParseRestart(text); err != nil || n != want {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "always", "on-return:", "on-return:0", "on-return:101", "on-return:x", "on-return:-1", "no:3"} {
		if _, err := ParseRestart(text); CodeOf(err) != CodeUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
}
