package task

import (
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/internal/task/pull"
	"talkingstick/stick"
)

// ShownCheck is a worker's check and the end of its output.
type ShownCheck struct {
	stick.TaskCheck
	Head    string        `json:"head"` // the commit that it ran on
	Attempt int           `json:"attempt"`
	By      stick.AgentID `json:"by,omitempty"`    // the worker that ran it
	Stale   bool          `json:"stale,omitempty"` // it ran on another commit than the task's, or in an earlier attempt
	Text    string        `json:"text,omitempty"`
}

// maxShown is how many bytes of an output are shown with its task.
const maxShown = 4 << 10

// addOffers adds what the log says of a task's offers: the checks of the newest that has any, and which of
// the gate's files the newest changes.
func (v *TaskView) addOffers(tx *store.Tx, room stick.RoomID, t stick.Task) error {
	if t.Attempt == 1 && t.Head == "" {
		// It was never offered.
		return nil
	}

	offers, _, err := tx.Events(store.EventQuery{
		Room: room, Task: t.ID, Types: []stick.EventType{stick.EventTaskReviewRequested}, Limit: 20,
		Newest: true,
	})
	if err != nil {
		return err
	}

	// From the newest: its gate files count, and the checks of the first that has any.
	for i, ev := range slices.Backward(offers) {
		f, _ := stick.TaskFactsOf[stick.TaskReviewRequestedFacts](ev)
		if i == len(offers)-1 && t.ChangesGate {
			v.GateFiles = f.GateFiles
		}

		for _, x := range f.Checks {
			v.Evidence = append(v.Evidence, ShownCheck{TaskCheck: x, Head: f.Head, Attempt: f.Attempt, By: ev.From})
		}

		if len(f.Checks) > 0 {
			break
		}
	}

	v.markStale(t, t.Head)
	return nil
}

// markStale marks the checks that say nothing about the task: they are of this attempt and of the commit that
// is offered or, if none is, of the newest.
func (v *TaskView) markStale(t stick.Task, newest string) {
	if t.Offered() {
		newest = t.Head
	}
	for i, c := range v.Evidence {
		v.Evidence[i].Stale = c.Head != newest || c.Attempt != t.Attempt
	}
}

// addOutputs adds the ends of the outputs of checks.
func (ts *Tasks) addOutputs(ctx context.Context, checks []ShownCheck) {
	db, err := ts.core.Open(ctx, false)
	if err != nil {
		return
	}

	for i, c := range checks {
		if b, err := db.ReadBlob(c.Output); err == nil {
			checks[i].Text = string(b[max(0, len(b)-maxShown):])
		}
	}
}

// listChecks lists the newest checks that a task's worker ran, for the text of its pull request.
func (ts *Tasks) listChecks(ctx context.Context, by core.Caller, w core.Where, id string) ([]pull.Check, error) {
	shown, err := ts.WorkerShow(ctx, WorkerShowParams{Caller: by, Where: w, TaskID: id, skipSeen: true})
	var checks []pull.Check
	for _, c := range shown.Evidence {
		checks = append(checks, pull.Check{Name: c.Name, Head: c.Head, Exit: c.Exit})
	}
	return checks, err
}
