package task_test

import (
	"testing"

	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestWorkerEdit_until_approved changes what the worker of a task has to do, and tells the worker.
func TestWorkerEdit_until_approved(t *testing.T) {
	_, ann, bob := cast(t, "")
	ann.Spawn("ui").OK()
	w := ann.WorksOn("ui")

	words, labels, high := "Show the uploads", []string{"ui"}, "high"
	ann.WorkerEdit(task.WorkerEditParams{TaskID: "ui", Description: &words, Labels: &labels, Priority: &high}).
		That("all of it", func(r task.WorkerEditResult) bool {
			return r.Task.Description == words && r.Task.Priority == stick.PriorityHigh && len(r.Task.Labels) == 1
		})
	ann.WorkerEdit(task.WorkerEditParams{TaskID: "ui", Priority: &high}).
		That("already", func(r task.WorkerEditResult) bool { return r.Already && r.Delivery == "" })

	w.Commits("ui", "x\n")
	w.Done("").OK()
	bob.Approve("ui").OK()
	ann.WorkerEdit(task.WorkerEditParams{TaskID: "ui", Description: &high}).Refused(stick.CodeInvalidTransition)
}

// TestWorkerNext_by_label_and_priority gives the most urgent task of those with a label.
func TestWorkerNext_by_label_and_priority(t *testing.T) {
	_, ann, bob := cast(t, "")
	ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "docs", Later: true, Labels: []string{"docs"}, Priority: "high"}).OK()
	ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "old", Later: true, Labels: []string{"ui"}}).OK()
	ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "new", Later: true, Labels: []string{"ui", "web"}, Priority: "high"}).OK()

	ann.WorkerNext(task.WorkerNextParams{Labels: []string{"db"}}).Refused(stick.CodeNothingReady)
	ann.WorkerNext(task.WorkerNextParams{Labels: []string{"ui"}}).
		That("the urgent one", func(r task.WorkerNextResult) bool { return r.TaskID == "new" })
	bob.WorkerNext(task.WorkerNextParams{Labels: []string{"ui"}}).
		That("the other one", func(r task.WorkerNextResult) bool { return r.TaskID == "old" })
}
