package tasks_test

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// failedRun is a run that has failed at a time, and may start again.
func failedRun(number int, at stick.Time) tasks.Run {
	r := liveRun(2, number)
	r.EndedAt, r.Exit, r.Retries = at, 1, 2
	return r
}

func TestRun_RetryTime(t *testing.T) {
	working := stick.Task{ID: "x", State: stick.TaskWorking, Attempt: 2}
	first, second := failedRun(1, 1000), failedRun(2, 2000)
	if at := first.RetryTime(working, []tasks.Run{liveRun(1, 1), first}); at != first.EndedAt.Add(tasks.FirstPause) {
		t.Errorf("the first failure: %d", at)
	}
	if at := second.RetryTime(working, []tasks.Run{first, second}); at != second.EndedAt.Add(2*tasks.FirstPause) {
		t.Errorf("the second in a row: %d", at)
	}

	many := []tasks.Run{}
	for i := range 20 {
		many = append(many, failedRun(i+1, 1000))
	}
	if at := many[19].RetryTime(working, many); at != stick.Time(1000).Add(tasks.LongestPause) {
		t.Errorf("the longest pause: %d", at)
	}

	for name, change := range map[string]func(*stick.Task, *tasks.Run){
		"it ended well":         func(_ *stick.Task, r *tasks.Run) { r.Exit = 0 },
		"somebody stopped it":   func(_ *stick.Task, r *tasks.Run) { r.StopAt = 9 },
		"often enough":          func(_ *stick.Task, r *tasks.Run) { r.Retries = 0 },
		"it waits for review":   func(t *stick.Task, _ *tasks.Run) { t.State = stick.TaskInReview },
		"the task was given up": func(t *stick.Task, _ *tasks.Run) { t.State = stick.TaskFailed },
	} {
		task, run := working, first
		change(&task, &run)
		if at := run.RetryTime(task, []tasks.Run{run}); !at.IsZero() {
			t.Errorf("%s: %d", name, at)
		}
	}

	limited := first
	limited.Exit, limited.Limited = 0, true
	if at := limited.RetryTime(working, []tasks.Run{limited}); at.IsZero() {
		t.Error("a command that its limit ended has failed, whatever it says")
	}
}

func TestRun_StartsAgain_after_a_failure(t *testing.T) {
	working := stick.Task{ID: "x", State: stick.TaskWorking, Attempt: 2}
	run := failedRun(1, 1000)
	run.RetryAt = 5000

	early := run.StartsAgain(working, []tasks.Run{run}, tasks.RunEnded, 4999)
	if early.Now != "" || !early.Ever || early.At != 5000 {
		t.Errorf("before its time: %+v", early)
	}
	if due := run.StartsAgain(working, []tasks.Run{run}, tasks.RunEnded, 5000); due.Now != tasks.OnFailure {
		t.Errorf("at its time: %+v", due)
	}

	lost := liveRun(2, 1)
	lost.Retries = 1
	if now := lost.StartsAgain(working, []tasks.Run{lost}, tasks.RunLost, 1); now.Now != tasks.OnFailure {
		t.Errorf("nobody saw how it ended: %+v", now)
	}
	r, ok := tasks.Resume(working, []tasks.Run{lost}, gone, 1, false)
	if !ok || r.Retries != 0 || r.Follows != 1 {
		t.Errorf("whoever comes starts it: %+v, %v", r, ok)
	}

	done := run
	done.Exit, done.RetryAt = 0, 0
	if never := done.StartsAgain(working, []tasks.Run{done}, tasks.RunEnded, 9000); never.Now != "" || never.Ever {
		t.Errorf("it ended well: %+v", never)
	}
	if h := tasks.Again(working, []tasks.Run{run}, alive); h.String() != tasks.Starts("x").String() {
		t.Errorf("its process waits: %s", h)
	}
}
