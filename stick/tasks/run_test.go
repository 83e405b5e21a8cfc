package tasks_test

import (
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// liveRun is a run whose process lives, with this number.
func liveRun(attempt, n int) tasks.Run {
	return tasks.Run{
		Task: "x", Attempt: attempt, Number: n, Command: "make",
		Process: stick.Process{Boot: "b", PID: 1, Start: 1}, StartedAt: 5,
	}
}

func alive(stick.Process) stick.Verdict { return stick.Alive }

func gone(stick.Process) stick.Verdict { return stick.Gone }

// TestStartRun: what a command may be started for, which command that is, and which number the run gets.
func TestStartRun(t *testing.T) {
	ended := func(r tasks.Run) tasks.Run { r.EndedAt = 9; return r }
	claimed := liveRun(2, 1)
	claimed.StartedAt = 0
	three, none, one := tasks.Restart{OnReturn: 3}, 0, 1
	left := ended(liveRun(2, 1))
	left.Restarts = 2

	for _, c := range []struct {
		name    string
		state   stick.TaskState
		q       tasks.RunStart
		runs    []tasks.Run
		verdict func(stick.Process) stick.Verdict
		code    stick.Code
		number  int
		command string
		is      int // the number of the run that there is
		left    int
		queued  bool
	}{
		{name: "the first", state: stick.TaskAssigned, q: tasks.RunStart{Command: "go"}, number: 1, command: "go"},
		{name: "nobody knows the command", state: stick.TaskAssigned, code: stick.CodeUsage},
		{
			name: "a command that is no text", state: stick.TaskAssigned,
			q: tasks.RunStart{Command: "a\x00b"}, code: stick.CodeUsage,
		},
		{
			name: "a command that is too long", state: stick.TaskAssigned,
			q: tasks.RunStart{Command: strings.Repeat("x", tasks.MaxRunCommand+1)}, code: stick.CodeUsage,
		},
		{
			name: "the command of the attempt before", state: stick.TaskAssigned,
			runs: []tasks.Run{ended(liveRun(1, 4))}, number: 1, command: "make",
		},
		{
			name: "after one that has ended", state: stick.TaskWorking,
			runs: []tasks.Run{ended(liveRun(2, 1)), ended(liveRun(2, 2))}, number: 3, command: "make",
		},
		{
			name: "while one runs", state: stick.TaskWorking, runs: []tasks.Run{liveRun(2, 1)},
			verdict: alive, code: stick.CodeAlreadyRunning,
		},
		{
			name: "while one may run", state: stick.TaskWorking, runs: []tasks.Run{liveRun(2, 1)},
			verdict: func(stick.Process) stick.Verdict { return stick.Unknown },
			code:    stick.CodeAlreadyRunning,
		},
		{
			name: "while one starts", state: stick.TaskWorking, runs: []tasks.Run{claimed}, verdict: alive,
			code: stick.CodeAlreadyRunning,
		},
		{
			name: "after one whose start died", state: stick.TaskWorking, runs: []tasks.Run{claimed},
			verdict: gone, number: 1, command: "make",
		},
		{
			name: "after one whose process died", state: stick.TaskWorking, runs: []tasks.Run{liveRun(2, 1)},
			verdict: gone, number: 2, command: "make",
		},
		{
			name: "of a task that is over", state: stick.TaskFailed, q: tasks.RunStart{Command: "go"},
			code: stick.CodeStaleAttempt,
		},
		{
			name: "of a task that was merged", state: stick.TaskCompleted, q: tasks.RunStart{Command: "go"},
			code: stick.CodeStaleAttempt,
		},
		{
			name: "as many as may", state: stick.TaskAssigned,
			q: tasks.RunStart{Command: "go", Running: 2, Most: 3}, number: 1, command: "go",
		},
		{
			name: "more than may", state: stick.TaskAssigned,
			q: tasks.RunStart{Command: "go", Running: 3, Most: 3}, code: stick.CodeMaxRunning,
		},
		{
			name: "only the first, again", state: stick.TaskWorking,
			q:    tasks.RunStart{Command: "make", First: true, Running: 9, Most: 1},
			runs: []tasks.Run{ended(liveRun(2, 1))}, is: 1,
		},
		{
			name: "only the first, while it runs", state: stick.TaskWorking,
			q: tasks.RunStart{Command: "make", First: true}, runs: []tasks.Run{liveRun(2, 1)}, verdict: alive,
			is: 1,
		},
		{
			name: "only the first, another one", state: stick.TaskWorking,
			q: tasks.RunStart{Command: "go", First: true}, runs: []tasks.Run{ended(liveRun(2, 1))},
			code: stick.CodeAlreadyExists,
		},
		{
			name: "only the first, of a new attempt", state: stick.TaskAssigned,
			q: tasks.RunStart{Command: "go", First: true}, runs: []tasks.Run{ended(liveRun(1, 1))}, number: 1,
			command: "go",
		},
		{
			name: "only the first, whose start died", state: stick.TaskAssigned,
			q: tasks.RunStart{Command: "go", First: true}, runs: []tasks.Run{claimed}, verdict: gone,
			number: 1, command: "go",
		},
		{
			name: "with what is left of its restarts", state: stick.TaskWorking, runs: []tasks.Run{left},
			number: 2, command: "make", left: 2,
		},
		{
			name: "more than may, but it can wait", state: stick.TaskAssigned,
			q: tasks.RunStart{Command: "go", Running: 3, Most: 3, Queue: true}, number: 1, command: "go",
			queued: true,
		},
		{
			name: "it needn't wait", state: stick.TaskAssigned,
			q: tasks.RunStart{Command: "go", Running: 2, Most: 3, Queue: true}, number: 1, command: "go",
		},
		{
			name: "after the one that was seen", state: stick.TaskWorking, q: tasks.RunStart{Follows: &one},
			runs: []tasks.Run{ended(liveRun(2, 1))}, number: 2, command: "make",
		},
		{
			name: "after none, as was seen", state: stick.TaskAssigned, q: tasks.RunStart{Follows: &none},
			runs: []tasks.Run{claimed}, verdict: gone, number: 1, command: "make",
		},
		{
			name: "somebody was faster", state: stick.TaskWorking, q: tasks.RunStart{Follows: &one},
			runs: []tasks.Run{ended(liveRun(2, 1)), ended(liveRun(2, 2))}, is: 2,
		},
		{
			name: "somebody was faster with the first", state: stick.TaskWorking,
			q: tasks.RunStart{Follows: &none}, runs: []tasks.Run{liveRun(2, 1)}, is: 1,
		},
		{
			name: "with restarts", state: stick.TaskWorking, q: tasks.RunStart{Restart: &three},
			runs: []tasks.Run{left}, number: 2, command: "make", left: 3,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.verdict == nil {
				c.verdict = alive
			}
			task := stick.Task{ID: "X", State: c.state, Attempt: 2, StateAt: 7}
			next, is, err := tasks.StartRun(task, c.q, c.runs, c.verdict)
			if stick.CodeOf(err) != c.code {
				t.Fatalf("%v", err)
			}

			if c.code != "" {
				if len(stick.AsError(err).Hint) == 0 {
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

			if is != nil ||
				next.Queued != c.queued ||
				next.Number != c.number ||
				next.Command != c.command ||
				next.Attempt != 2 ||
				next.Task != "x" ||
				next.TaskAt != 7 ||
				next.Restarts != c.left {
				t.Errorf("%+v, %+v", next, is)
			}
		})
	}
}

// TestStartRun_TaskForLater: it has no worktree in which a command could run.
func TestStartRun_TaskForLater(t *testing.T) {
	_, _, err := tasks.StartRun(stick.Task{ID: "x", State: stick.TaskAssigned, Attempt: 1, Later: true},
		tasks.RunStart{Command: "go"}, nil, alive)
	if stick.CodeOf(err) != stick.CodeInvalidTransition || len(stick.AsError(err).Hint) == 0 {
		t.Errorf("%v", err)
	}
}

// TestResume: which commands start without somebody's asking for their tasks, and which of them only if
// somebody asks for all.
func TestResume(t *testing.T) {
	unknown := func(stick.Process) stick.Verdict { return stick.Unknown }
	working := stick.Task{ID: "x", State: stick.TaskWorking, Attempt: 2, StateAt: 7}
	back := working
	back.Cause = stick.CauseReview
	review := working
	review.State = stick.TaskInReview
	conflicted := working
	conflicted.State = stick.TaskConflicted
	assigned := working
	assigned.State = stick.TaskAssigned
	later := assigned
	later.Later = true

	run := func(change func(*tasks.Run)) []tasks.Run {
		r := liveRun(2, 3)
		r.Restarts = 2
		change(&r)
		return []tasks.Run{liveRun(1, 1), r}
	}

	cut := func(*tasks.Run) {}
	ended := func(r *tasks.Run) { r.EndedAt = 9 }
	claimed := func(r *tasks.Run) { r.StartedAt, r.Number = 0, 1 }
	for _, c := range []struct {
		name     string
		task     stick.Task
		runs     []tasks.Run
		verdict  func(stick.Process) stick.Verdict
		by, all  bool // starts by itself, or if somebody asks for all
		restarts int
		follows  int
	}{
		{name: "it never had a command", task: working, verdict: gone},
		{name: "it runs", task: working, runs: run(cut), verdict: alive},
		{name: "nobody knows whether it runs", task: working, runs: run(cut), verdict: unknown},
		{name: "its process is gone", task: working, runs: run(cut), verdict: gone, all: true, restarts: 2, follows: 3},
		{
			name: "its process is gone, and the task has come back", task: back, runs: run(cut),
			verdict: gone, by: true, all: true, restarts: 1, follows: 3,
		},
		{name: "it has ended", task: working, runs: run(ended), verdict: gone, all: true, restarts: 2, follows: 3},
		{
			name: "it has ended, and its rebase stopped", task: conflicted, runs: run(ended), verdict: gone,
			all: true, restarts: 2, follows: 3,
		},
		{name: "its process waits for the task to come back", task: working, runs: run(ended), verdict: alive},
		{name: "its process sees that the task has come back", task: back, runs: run(ended), verdict: alive},
		{
			name: "nobody sees that the task has come back", task: back, runs: run(ended), verdict: gone,
			by: true, all: true, restarts: 1, follows: 3,
		},
		{
			name: "it has started often enough", task: back,
			runs: run(func(r *tasks.Run) { r.EndedAt, r.Restarts = 9, 0 }), verdict: gone, all: true,
			follows: 3,
		},
		{
			name: "it had come back before", task: back,
			runs: run(func(r *tasks.Run) { r.EndedAt, r.TaskAt = 9, 7 }), verdict: gone, all: true,
			restarts: 2, follows: 3,
		},
		{
			name: "somebody has stopped it", task: back,
			runs: run(func(r *tasks.Run) { r.EndedAt, r.StopAt = 9, 8 }), verdict: gone,
		},
		{name: "it waits for review", task: review, runs: run(ended), verdict: gone},
		{
			name: "it is merged", task: stick.Task{ID: "x", State: stick.TaskCompleted, Attempt: 2},
			runs: run(ended), verdict: gone,
		},
		{name: "another attempt", task: working, runs: []tasks.Run{liveRun(1, 1)}, verdict: gone},
		{name: "it is about to start", task: assigned, runs: run(claimed), verdict: alive},
		{name: "it never started", task: assigned, runs: run(claimed), verdict: gone, by: true, all: true, restarts: 2},
		{
			name: "nobody has claimed it", task: assigned,
			runs: run(func(r *tasks.Run) { claimed(r); r.Process = stick.Process{} }), verdict: unknown,
			by: true, all: true, restarts: 2,
		},
		{
			name: "nobody has begun the task", task: later,
			runs: run(func(r *tasks.Run) { claimed(r); r.Process = stick.Process{} }), verdict: gone,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, ok := tasks.Resume(c.task, c.runs, c.verdict, 10, false); ok != c.by {
				t.Errorf("by itself: %v", ok)
			}
			r, ok := tasks.Resume(c.task, c.runs, c.verdict, 10, true)
			if ok != c.all {
				t.Errorf("with all: %v", ok)
			}
			if want := (tasks.Resumption{Command: "make", Follows: c.follows, Restarts: c.restarts}); ok && r != want {
				t.Errorf("%+v, not %+v", r, want)
			}
		})
	}
}

// TestRestartsOn: a run starts again when its task has come back since it began, and only then.
func TestRestartsOn(t *testing.T) {
	run := liveRun(2, 3)
	run.EndedAt, run.Restarts, run.TaskAt = 9, 1, 100
	back := stick.Task{ID: "x", State: stick.TaskWorking, Cause: stick.CauseReview, Attempt: 2, StateAt: 200}
	with := func(change func(*stick.Task, *tasks.Run)) (stick.Task, tasks.Run) {
		t, r := back, run
		change(&t, &r)
		return t, r
	}

	for _, c := range []struct {
		name      string
		change    func(*stick.Task, *tasks.Run)
		now, ever bool
	}{
		{"it came back", func(*stick.Task, *tasks.Run) {}, true, true},
		{"by a conflict", func(t *stick.Task, _ *tasks.Run) { t.Cause = stick.CauseConflict }, true, true},
		{"by a red gate", func(t *stick.Task, _ *tasks.Run) { t.Cause = stick.CauseGate }, true, true},
		{"it had come back when the run began", func(t *stick.Task, _ *tasks.Run) { t.StateAt = 100 }, false, true},
		{"it waits for review", func(t *stick.Task, _ *tasks.Run) { t.State = stick.TaskInReview }, false, true},
		{"its worker works", func(t *stick.Task, _ *tasks.Run) { t.Cause = "" }, false, true},
		{
			"its worker's own rebase stopped",
			func(t *stick.Task, _ *tasks.Run) { t.State = stick.TaskConflicted },
			false,
			true,
		},
		{"it has started often enough", func(_ *stick.Task, r *tasks.Run) { r.Restarts = 0 }, false, false},
		{"somebody has stopped it", func(_ *stick.Task, r *tasks.Run) { r.StopAt = 9 }, false, false},
		{"somebody has started another run", func(_ *stick.Task, r *tasks.Run) { r.Number = 4 }, false, false},
		{"another attempt", func(t *stick.Task, _ *tasks.Run) { t.Attempt = 3 }, false, false},
		{"it was merged", func(t *stick.Task, _ *tasks.Run) { t.State = stick.TaskCompleted }, false, false},
		{"it was cancelled", func(t *stick.Task, _ *tasks.Run) { t.State = stick.TaskFailed }, false, false},
	} {
		task, last := with(c.change)
		if now, ever := run.RestartsOn(task, []tasks.Run{last}); now != c.now || ever != c.ever {
			t.Errorf("%s: %v, %v", c.name, now, ever)
		}
	}

	last := run
	if h := tasks.Again(back, []tasks.Run{last}, alive); !strings.Contains(h.String(), "by itself") {
		t.Errorf("its process waits: %s", h)
	}
	if h := tasks.Again(back, []tasks.Run{last}, gone); h.String() != "to start its worker again: tt task run x" {
		t.Errorf("its process has died: %s", h)
	}
	if h := tasks.Again(back, []tasks.Run{liveRun(2, 4)}, gone); h.String() != "to start its worker again: tt task stop x, then tt task run x" {
		t.Errorf("tt has lost it, and a part of it may run: %s", h)
	}
	if h := tasks.Again(back, []tasks.Run{liveRun(2, 4)}, alive); len(h) > 0 {
		t.Errorf("it runs: %s", h)
	}
	if h := tasks.Again(back, nil, alive); len(h) > 0 {
		t.Errorf("it has no command: %s", h)
	}
	if h := tasks.Again((stick.Task{ID: "x", State: stick.TaskInReview, Attempt: 2}), []tasks.Run{last}, gone); len(h) > 0 {
		t.Errorf("it waits for review: %s", h)
	}
}

func TestParseRestart(t *testing.T) {
	for text, want := range map[string]tasks.Restart{
		"no": {}, "on-return": {OnReturn: tasks.DefaultRestarts}, "on-return:1": {OnReturn: 1}, "on-return:100": {OnReturn: 100},
		"on-failure": {OnFailure: tasks.DefaultRestarts}, "on-failure=2": {OnFailure: 2},
		"on-return,on-failure:5": {OnReturn: tasks.DefaultRestarts, OnFailure: 5},
	} {
		if n, err := tasks.ParseRestart(text); err != nil || n != want {
			t.Errorf("%q: %+v, %v", text, n, err)
		}
	}

	for _, text := range []string{
		"", "always", "on-return:", "on-return:0", "on-return:101", "on-return:x", "on-return:-1", "no:3", "no,on-failure", "on-failure,",
	} {
		if _, err := tasks.ParseRestart(text); stick.CodeOf(err) != stick.CodeUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
}
