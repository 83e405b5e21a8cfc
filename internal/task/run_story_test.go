package task_test

import (
	"testing"

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
