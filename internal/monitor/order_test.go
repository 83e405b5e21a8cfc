package monitor_test

import (
	"slices"
	"testing"

	"talkingstick/internal/scene"
	"talkingstick/internal/task"
)

// TestTasks_order: what needs a person comes before what can begin, however new that is.
func TestTasks_order(t *testing.T) {
	s := scene.InGit(t)
	s.Queue("true")
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob, carl)

	bob.Spawn("over").OK()
	bob.WorkerCancel(task.WorkerCancelParams{TaskID: "over", Reason: "not wanted"}).OK()
	s.ReadyToMerge("approved", bob, ann)
	bob.Spawn("at-work").OK()
	bob.WorksOn("at-work").Commits("at-work.txt", "x\n")
	for _, chore := range []string{"chore-1", "chore-2"} {
		bob.WorkerSpawn(task.WorkerSpawnParams{TaskID: chore, Later: true}).OK()
	}

	var got []string
	for _, v := range look(carl).Tasks {
		got = append(got, v.TaskID)
	}
	if want := []string{"approved", "at-work", "chore-2", "chore-1", "over"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
