package task_test

import (
	"testing"

	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestNextReview gives the commit that has waited for longest, and none to whoever has worked on it.
func TestNextReview(t *testing.T) {
	_, ann, bob := cast(t, "")
	for _, name := range []string{"first", "second"} {
		ann.Spawn(name).OK()
		w := ann.WorksOn(name)
		w.Commits(name, "x\n")
		w.Done("").OK()
	}

	bob.NextReview(task.NextReviewParams{}).That("the first, and one more", func(r task.NextReviewResult) bool {
		return r.TaskID == "first" && r.More == 1
	})
	ann.NextReview(task.NextReviewParams{}).Refused(stick.CodeNothingReady)

	bob.Approve("first").OK()
	bob.NextReview(task.NextReviewParams{}).That("the second", func(r task.NextReviewResult) bool {
		return r.TaskID == "second" && r.More == 0
	})
}
