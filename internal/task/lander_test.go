package task_test

import (
	"testing"

	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestRunLander merges what its approver wants merged by itself, as the act of that approver, and nothing else.
func TestRunLander(t *testing.T) {
	s, ann, bob := cast(t, "")
	for _, name := range []string{"wanted", "approved"} {
		ann.Spawn(name).OK()
		w := ann.WorksOn(name)
		w.Commits(name, "x\n")
		w.Done("").OK()
	}

	bob.WorkerDiff(task.WorkerDiffParams{TaskID: "wanted"}).OK()
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "wanted", Merge: true}).OK()
	bob.Approve("approved").OK()

	order := task.LanderOrder{RoomID: s.Room().ID, Root: s.Work}
	err := bob.Tasks.RunLander(s.Context(), task.LanderParams{LanderOrder: order, Say: func(stick.Words) {}})
	s.Check(err == nil, "the lander failed: %v", err)
	merged := s.TaskIs("wanted", stick.TaskCompleted)
	last := merged.Events[len(merged.Events)-1]
	s.Check(last.From == bob.ID, "%s merged it", last.From)
	s.TaskIs("approved", stick.TaskApproved)
}
