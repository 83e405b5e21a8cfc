package task

import (
	"cmp"
	"context"
	"slices"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// NextReviewParams asks for a commit to review.
type NextReviewParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Labels []string `json:"labels,omitempty"` // only tasks that have all of these
}

// NextReviewResult is the commit that has waited for longest for a review that the caller may give.
type NextReviewResult struct {
	RoomID      stick.RoomID  `json:"room_id"`
	AgentID     stick.AgentID `json:"agent_id"`
	TaskID      string        `json:"task_id"`
	Head        string        `json:"head"`             // the commit
	Worker      stick.AgentID `json:"worker,omitempty"` // who offered it
	Description string        `json:"description,omitempty"`
	Since       stick.Time    `json:"since"` // when it was offered
	More        int           `json:"more"`  // how many other commits wait for the caller
	NextAction  stick.Words   `json:"next_action"`
}

// NextReview finds the oldest commit that the caller may review. It claims nothing: two reviews of one commit do no
// harm. It fails with [stick.CodeNothingReady].
func (ts *Tasks) NextReview(ctx context.Context, p NextReviewParams) (NextReviewResult, error) {
	var res NextReviewResult
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	waiting, newest, err := rp.listInReview(ctx, &res)
	if err != nil {
		return res, err
	}

	// The projects' settings are read outside of the transaction.
	may := slices.DeleteFunc(waiting, func(w reviewable) bool {
		if !tasks.HasLabels(w.task, p.Labels) {
			return true
		}

		w.decision.Independent = rp.wantsIndependent(ctx, w.task)
		return !tasks.MayReview(w.task, w.decision)
	})
	if len(may) == 0 {
		return res, stick.Errorf(stick.CodeNothingReady, "no commit waits for a review that you may give").
			With("event_seq", newest).
			Hintf("to see the tasks: %s; to wait for one: %s", stick.Cmd("tt task list"),
				stick.Cmd("tt task next --review --wait"))
	}

	t := may[0].task
	res.TaskID, res.Head, res.Worker, res.Description = t.ID, t.Head, t.Worker, t.Description
	res.Since, res.More = t.StateAt, len(may)-1
	res.NextAction = t.NextStep().As(p.Caller.AssumedByFlag()).Words()
	return res, nil
}

// reviewable is a task in review, and the decision that the caller would make.
type reviewable struct {
	task     stick.Task
	decision tasks.Decision
}

// listInReview lists the tasks in review, the most urgent and of those the oldest offer first. newest is the last event that it has seen.
func (rp *repo) listInReview(
	ctx context.Context, res *NextReviewResult,
) (waiting []reviewable, newest int64, err error) {
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) error {
		waiting, res.RoomID, res.AgentID = nil, r.ID, me.Agent
		if newest, err = tx.LastSeq(r.ID); err != nil {
			return err
		}

		reviewer, err := me.Actor(tx)
		if err != nil {
			return err
		}

		open, err := tx.OpenTasks(r.ID)
		if err != nil {
			return err
		}

		for _, t := range open {
			if t.State != stick.TaskInReview {
				continue
			}

			w := reviewable{task: t, decision: tasks.Decision{Reviewer: reviewer}}
			w.decision.By, w.decision.Person = me.Agent, me.Person()
			for _, a := range t.Authors() {
				author, err := core.ActorOf(tx, a)
				if err != nil {
					return err
				}
				w.decision.Authors = append(w.decision.Authors, author)
			}
			waiting = append(waiting, w)
		}

		return nil
	})

	slices.SortStableFunc(waiting, func(a, b reviewable) int {
		return cmp.Or(tasks.CompareUrgency(a.task, b.task), cmp.Compare(a.task.StateAt, b.task.StateAt), cmp.Compare(a.task.Seq, b.task.Seq))
	})
	return waiting, newest, err
}

// wantsIndependent reports whether the project refuses reviews by whom an author of a task has started. Settings
// that can't be read refuse the approval itself.
func (rp *repo) wantsIndependent(ctx context.Context, t stick.Task) bool {
	target, err := rp.ReadTarget(ctx, t.Integration)
	if err != nil {
		return false
	}

	gate, _, err := rp.TaskSettings(ctx, target.Head())
	return err == nil && gate.IndependentReview
}
