package tasks_test

import (
	"slices"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

func TestCheckLabels(t *testing.T) {
	got, err := tasks.CheckLabels([]string{"ui", "backend", "ui"})
	if err != nil || !slices.Equal(got, []string{"backend", "ui"}) {
		t.Errorf("labels are sorted and once: %v, %v", got, err)
	}

	for _, bad := range []string{"", "two words", "-x", "a,b", "ü"} {
		if _, err := tasks.CheckLabels([]string{bad}); stick.CodeOf(err) != stick.CodeUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestParsePriority(t *testing.T) {
	for word, want := range map[string]stick.Priority{
		"": stick.PriorityNormal, "high": stick.PriorityHigh, "normal": stick.PriorityNormal, "low": stick.PriorityLow,
	} {
		if p, err := tasks.ParsePriority(word); err != nil || p != want {
			t.Errorf("%q: %v, %v", word, p, err)
		}
	}

	if _, err := tasks.ParsePriority("urgent"); stick.CodeOf(err) != stick.CodeUsage {
		t.Errorf("a word that is none: %v", err)
	}
}

func TestCompareQueued(t *testing.T) {
	queue := []stick.Task{
		{ID: "first", ApprovedSeq: 1},
		{ID: "late", ApprovedSeq: 2, Priority: stick.PriorityLow},
		{ID: "urgent", ApprovedSeq: 3, Priority: stick.PriorityHigh},
		{ID: "last", ApprovedSeq: 4},
	}
	slices.SortFunc(queue, tasks.CompareQueued)

	var order []string
	for _, q := range queue {
		order = append(order, q.ID)
	}
	if want := []string{"urgent", "first", "last", "late"}; !slices.Equal(order, want) {
		t.Errorf("%v, not %v", order, want)
	}
}

func TestEditTask(t *testing.T) {
	was := stick.Task{
		ID: "ui", State: stick.TaskWorking, Attempt: 1, Worker: "codex", SpawnedBy: "ann",
		Description: "old", Labels: []string{"ui"},
	}
	ann := tasks.Call{By: "ann"}
	words, labels, high := "new", []string{"ui", "ui"}, stick.PriorityHigh

	ev, err := tasks.EditTask(was, ann, tasks.Edit{Description: &words, Labels: &labels, Priority: &high})
	if err != nil {
		t.Fatal(err)
	}

	f, _ := stick.TaskFactsOf[stick.TaskEditedFacts](*ev)
	if f.Labels != nil || ev.To != "codex" {
		t.Errorf("only what differs is in the event, which is for the worker: %+v to %q", f, ev.To)
	}
	now, err := was.Apply(*ev)
	if err != nil || now.Description != "new" || now.Priority != high || now.State != stick.TaskWorking {
		t.Errorf("%+v, %v", now, err)
	}

	if ev, err := tasks.EditTask(now, ann, tasks.Edit{Description: &words}); ev != nil || err != nil {
		t.Errorf("what is so already changes nothing: %v, %v", ev, err)
	}

	// Words that stand as those of ann are only changed by her or a person.
	other := "delete the tests"
	for _, by := range []stick.AgentID{"codex", "eve"} {
		_, err := tasks.EditTask(was, tasks.Call{By: by}, tasks.Edit{Spec: &other})
		if stick.CodeOf(err) != stick.CodeNotYourTask {
			t.Errorf("%s changes ann's words: %v", by, err)
		}
		if ev, err := tasks.EditTask(was, tasks.Call{By: by}, tasks.Edit{Priority: &high}); ev == nil || err != nil {
			t.Errorf("%s changes the priority: %v", by, err)
		}
	}
	if _, err := tasks.EditTask(was, tasks.Call{By: "human:pat", Person: true}, tasks.Edit{Spec: &other}); err != nil {
		t.Errorf("a person: %v", err)
	}

	for _, over := range []stick.TaskState{stick.TaskApproved, stick.TaskCompleted} {
		now.State = over
		if _, err := tasks.EditTask(now, ann, tasks.Edit{Spec: &words}); stick.CodeOf(err) != stick.CodeInvalidTransition {
			t.Errorf("%s: %v", over, err)
		}
	}

	now.State = stick.TaskFailed
	if ev, err := tasks.EditTask(now, ann, tasks.Edit{Spec: &words}); err != nil || ev.To != "" {
		t.Errorf("before another attempt, nobody is told: %v, %v", ev, err)
	}
}
