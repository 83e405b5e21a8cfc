package task_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestRun_NoCommand: nobody has started a command for it, so there is none to start again, to look at
// or to end.
func TestRun_NoCommand(t *testing.T) {
	_, ann, _ := cast(t, "")
	ann.Spawn("one").OK()
	ann.WorkerRun(task.WorkerRunParams{TaskID: "one"}).Refused(stick.CodeUsage)
	ann.WorkerLogs(task.WorkerLogsParams{TaskID: "one"}).Refused(stick.CodeNotFound)
	ann.WorkerStop(task.WorkerStopParams{TaskID: "one"}).Refused(stick.CodeNotFound)
	ann.WorkerRun(task.WorkerRunParams{TaskID: "two", Command: "true"}).Refused(stick.CodeNotFound)
}

// TestRun_WorktreeGone: the worktree goes while the command runs, because its task was merged. The
// end is recorded all the same.
func TestRun_WorktreeGone(t *testing.T) {
	s, ann, _ := cast(t, "")
	ann.Spawn("one").OK()
	run := *ann.WorkerRun(task.WorkerRunParams{
		TaskID: "one", Command: `tree=$PWD; cd /; rm -rf "$tree"; exit 3`,
	}).OK().Start
	if err := ann.RunTask(t.Context(), run); err != nil {
		t.Fatal(err)
	}

	r := s.TaskIs("one", stick.TaskAssigned).Run
	s.Check(r != nil && r.Exit != nil && *r.Exit == 3, "%+v", r)
	ann.Cancel("one").OK()
}

// TestRun_UnrecordedEnd: the output can't be written when the command ends. Its end is recorded as soon
// as that is possible again.
func TestRun_UnrecordedEnd(t *testing.T) {
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

// TestRun_RestartFailsFirst: the task comes back while the project's file is broken and the worktree is
// gone. The command starts as soon as that is mended, in a worktree that is made again. Until then its output
// says what hinders it.
func TestRun_RestartFailsFirst(t *testing.T) {
	s, ann, bob := cast(t, "")
	ann.Spawn("one").OK()
	w := ann.WorksOn("one")
	w.Commits("one.txt", "one\n")
	w.Done("").OK()
	bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	run := *ann.WorkerRun(task.WorkerRunParams{
		TaskID: "one", Command: "printf no-end; cat one.txt >&2; exit 3", Restart: "on-return:1",
	}).OK().Start
	s.Git("switch", "-q", "integration")

	run.Begun = func() { // while the first run runs
		s.Later(time.Second)
		bob.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one", Reason: "more"}).OK()
		s.Commit(".talking-stick.toml", "[worker\n")
		if err := os.RemoveAll(w.Path); err != nil {
			t.Error(err)
		}
	}

	logs := func(run int) string {
		return ann.WorkerLogs(task.WorkerLogsParams{TaskID: "one", Run: run}).OK().Text
	}
	ann.Meets("run: can't start", func() {
		text := logs(1)
		if !strings.Contains(text, "[tt: the command can't start again: .talking-stick.toml ") ||
			!strings.HasSuffix(text, "; tt goes on trying]\n") {
			t.Errorf("the output of the first run: %q", text)
		}
		s.Commit(".talking-stick.toml", "")
		bob.Send(ann, "it's mended").OK() // it rings
	}, func(a *scene.Actor) {
		if err := a.RunTask(t.Context(), run); err != nil {
			t.Error(err)
		}
	})

	r := s.TaskIs("one", stick.TaskWorking).Run
	s.Check(r.Run == 2 && r.Exit != nil && *r.Exit == 3 && logs(2) == "no-endone\n", "%+v, %q", r, logs(2))
	ann.Cancel("one").OK()
}

// TestRun_ClaimTakenBack: its run never begins.
func TestRun_ClaimTakenBack(t *testing.T) {
	_, ann, _ := cast(t, "")
	ann.Spawn("one").OK()
	run := *ann.WorkerRun(task.WorkerRunParams{TaskID: "one", Command: "true"}).OK().Start
	if dropped, err := ann.DropRun(run); !dropped || err != nil {
		t.Errorf("taken back: %v, %v", dropped, err)
	}
	if dropped, err := ann.DropRun(run); dropped || err != nil {
		t.Errorf("taken back twice: %v, %v", dropped, err)
	}
	if err := ann.RunTask(t.Context(), run); stick.CodeOf(err) != stick.CodeStaleAttempt {
		t.Errorf("it begins all the same: %v", err)
	}
}
