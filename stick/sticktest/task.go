package sticktest

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// Made returns a task after some steps. Its worker is codex:w.
func Made(t *testing.T, steps ...func(stick.Task) (stick.Event, error)) stick.Task {
	t.Helper()
	var task stick.Task
	e, err := tasks.Spawn(task, tasks.Spawning{
		By: "claude:o", ID: "T-1", Description: "d",
		Branch: "feat/T-1", Worktree: "worktrees/T-1", Integration: "main", Base: "b",
	})
	for i := 0; ; i++ {
		if err != nil {
			t.Fatal(err)
		}
		e.Seq = int64(i + 1)
		if task, err = task.Apply(e); err != nil {
			t.Fatal(err)
		}
		if i == len(steps) {
			return task
		}
		e, err = steps[i](task)
	}
}

var (
	TheWorker   = tasks.Call{By: "codex:w"}
	TheReviewer = tasks.Call{By: "claude:r"}

	Begun  = func(t stick.Task) (stick.Event, error) { e, err := tasks.Start(t, TheWorker, false); return *e, err }
	Offers = func(head, patch string) func(stick.Task) (stick.Event, error) {
		return func(t stick.Task) (stick.Event, error) {
			e, err := tasks.Done(t, TheWorker, tasks.Offering{Base: "b", Head: head, Patch: patch})
			return *e, err
		}
	}
	Approve = func(t stick.Task) (stick.Event, error) {
		e, err := tasks.Approve(t, tasks.Decision{Call: TheReviewer, Head: t.Head, Branch: t.Head}, "")
		return *e, err
	}
	Cancel = func(t stick.Task) (stick.Event, error) { e, err := tasks.Cancel(t, TheReviewer, "no"); return *e, err }
	Retry  = func(t stick.Task) (stick.Event, error) { return tasks.Retry(t, "claude:o", "b2", stick.Checkout{}, 0) }
	Land   = func(t stick.Task) (stick.Event, error) { return tasks.Land(t, "claude:o", t.Approved, "r") }
)
