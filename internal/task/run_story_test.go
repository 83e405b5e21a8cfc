package task_test

import (
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestATaskWithoutACommand: nobody has started a command for it, so there is none to start again, to look at or to end.
func TestATaskWithoutACommand(t *testing.T) {
	_, ann, _ := cast(t, "")
	ann.Spawn("one").OK()
	ann.WorkerRun(task.WorkerRunParams{TaskID: "one"}).Refused(stick.CodeUsage)
	ann.WorkerLogs(task.WorkerLogsParams{TaskID: "one"}).Refused(stick.CodeNotFound)
	ann.WorkerStop(task.WorkerStopParams{TaskID: "one"}).Refused(stick.CodeNotFound)
	ann.WorkerRun(task.WorkerRunParams{TaskID: "two", Command: "true"}).Refused(stick.CodeNotFound)
}

// TestACommandWithoutItsWorktree: the worktree goes while the command runs, because its task was merged. The end is recorded all the same.
func TestACommandWithoutItsWorktree(t *testing.T) {
	s, ann, _ := cast(t, "")
	ann.Spawn("one").OK()
	run := *ann.WorkerRun(task.WorkerRunParams{TaskID: "one", Command: `tree=$PWD; cd /; rm -rf "$tree"; exit 3`}).OK().Start
	if err := ann.RunTask(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	r := s.TaskIs("one", stick.TaskAssigned).Run
	s.Check(r != nil && r.Exit != nil && *r.Exit == 3, "%+v", r)
	ann.Cancel("one").OK()
}

// TestAnEndThatCantBeRecorded: the output can't be written when the command ends. Its end is recorded as soon as that is possible again.
func TestAnEndThatCantBeRecorded(t *testing.T) {
	storetest.NeedsFile(t)
	s, ann, _ := cast(t, "")
	ann.Spawn("one").OK()
	run := *ann.WorkerRun(task.WorkerRunParams{TaskID: "one", Command: "echo out; exit 3"}).OK().Start
	blobs := filepath.Join(s.Dir("data"), "blobs")
	if err := os.WriteFile(blobs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ann.Meets("run: end not recorded", func() {
		if err := os.Remove(blobs); err != nil {
			t.Error(err)
		}
	}, func(a *scene.Actor) {
		if err := a.RunTask(t.Context(), run); err != nil {
			t.Error(err)
		}
	})
	r := s.TaskIs("one", stick.TaskAssigned).Run
	s.Check(r != nil && r.Exit != nil && *r.Exit == 3, "%+v", r)
	s.Check(ann.WorkerOutput(task.WorkerOutputParams{Sum: r.Output}).OK().Text == "out\n", "the output")
	ann.Cancel("one").OK()
}
