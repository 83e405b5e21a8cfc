package task

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// WorkerOutputParams asks for the output of a gate, a check or a worker's command.
type WorkerOutputParams struct {
	Caller core.Caller `json:"-"`
	Sum    string      `json:"sum"` // the sum of the output, or at least its first six digits
}

// WorkerOutputResult is what a command printed, as far as it is kept.
type WorkerOutputResult struct {
	Sum  string `json:"sum"`
	Size int    `json:"size"`
	Text string `json:"text"`
}

// WorkerOutput returns what a gate, a check or a worker's command printed. It fails with
// [stick.CodeNotFound].
func (ts *Tasks) WorkerOutput(ctx context.Context, p WorkerOutputParams) (WorkerOutputResult, error) {
	missing := stick.Errorf(stick.CodeNotFound, "there is no output %q", stick.Clip(p.Sum, 70)).
		Hintf("to see the outputs of a task: %s", stick.Cmd("tt task show <task_id>"))
	db, err := ts.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return WorkerOutputResult{}, missing
	}
	if err != nil {
		return WorkerOutputResult{}, err
	}

	// A few digits are enough, but not so few that any output would do.
	sum, ok := "", false
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		sum, ok, err = tx.FindBlob(p.Sum)
		return err
	})
	if err != nil {
		return WorkerOutputResult{}, err
	}
	if !ok || len(p.Sum) < 6 {
		return WorkerOutputResult{}, missing
	}

	b, err := db.ReadBlob(sum)
	return WorkerOutputResult{Sum: sum, Size: len(b), Text: string(b)}, err
}
