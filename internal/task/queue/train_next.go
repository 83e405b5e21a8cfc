package queue

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// mergeNext merges the first of the queued tasks, together with those that ride with it. There is a result for one
// of them at least. by says who merges each task.
func (mg *merger) mergeNext(
	ctx context.Context, queued []stick.Task, by func(stick.Task) core.Caller,
) ([]trainResult, error) {
	ride, err := mg.nextTrain(ctx, queued)
	if err != nil {
		return nil, err
	}

	if len(ride) > 1 {
		results, err := mg.mergeTrain(ctx, ride, by)
		if err != nil || len(results) > 0 {
			return results, err
		}
	}

	// Alone, it also begins again where somebody else was faster.
	mg.By = by(queued[0])
	m, halted, err := mg.mergeOne(ctx, queued[0], false)
	return []trainResult{{queued[0], m, halted, err}}, nil
}

// nextTrain returns the tasks that are to be merged together now, of those that are queued: one, unless the
// project lets more of them ride.
func (mg *merger) nextTrain(ctx context.Context, queued []stick.Task) ([]stick.Task, error) {
	if len(queued) < 2 {
		return queued, nil
	}

	// A merge says what is wrong with the branch or its settings.
	t, err := mg.ReadTarget(ctx, queued[0].Integration)
	if err != nil {
		return queued[:1], nil
	}
	c, err := mg.ReadConfig(ctx, t.Head())
	if err != nil || c.Merge.Batch < 2 {
		return queued[:1], nil
	}

	// Where several hosts share the database, each landing is agreed on by itself.
	db, err := mg.Core.Open(ctx, false)
	if err != nil || db.ManyHosts() {
		return queued[:1], err
	}

	var here []stick.Task
	err = mg.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		here = nil
		for _, q := range queued {
			if !q.Elsewhere(tx.CheckoutOf(r)) {
				here = append(here, q)
			}
		}
		return nil
	})
	if err != nil || len(here) == 0 || here[0].ID != queued[0].ID {
		return queued[:1], err
	}

	return tasks.Passengers(here, c.Merge.Batch), nil
}
