package repository

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// PlanBegin plans the branch and the worktree of a task that is for later, from the commit that the task
// begins from now. If nobody else is adding a worktree, it locks them before it looks, until
// [Plan.Unlock]. It fails as [Repo.requireRoomFor] and [Repo.acceptedSettings] do.
func (rp *Repo) PlanBegin(ctx context.Context, task stick.Task) (m Plan, err error) {
	m = Plan{Task: task, Path: rp.PlannedPath(task), newBranch: true, newTree: true}
	unlock, err := rp.TryLock("worktrees", theWorktrees)
	if err != nil {
		return m, err
	}

	// With the lock, nothing has to be asked again before git begins.
	if unlock != nil {
		m.begun, m.releaseWorktrees = true, sync.OnceFunc(unlock)
		defer func() {
			if err != nil {
				m.Unlock()
			}
		}()
	}

	// Reading the settings and the refs costs a git each, so both run at the same time.
	settings := rp.readSettingsEarly(ctx, task.Integration)
	refs, err := rp.Git.Refs(ctx, rp.Root, slices.Concat(TargetRefs(task.Integration), branchRefs(task.Branch))...)
	early := <-settings

	// The settings may be missing because git is too old.
	if early.commit == "" {
		err = cmp.Or(rp.Git.CheckVersion(ctx, rp.Root), err)
	}
	if err != nil {
		return m, err
	}

	// The refs that were read answer whether there is room, and where the target is.
	if err := rp.requireRoomAmong(refs, m); err != nil {
		return m, err
	}

	tg, err := rp.TargetAmong(ctx, task.Integration, refs)
	if err != nil {
		return m, err
	}

	// The task must not begin without the work that it has waited for.
	lacks, err := rp.lacksAwaited(ctx, task, tg)
	if err == nil && lacks {
		// Nobody waits for a network.
		m.Unlock()
		m.begun = false
		err = rp.FetchTarget(ctx, &tg)
	}

	if err != nil {
		return m, err
	}

	m.Task.Base, m.Base = tg.Head(), tg.Head()
	m.worker, err = rp.acceptedEarly(ctx, early, tg.Head())
	return m, err
}

// earlySettings are the settings of the project at a commit, before it is known whether that one counts.
type earlySettings struct {
	commit string // empty if they couldn't be read
	config.Config
	err error
}

// readSettingsEarly begins to read the settings at the head of a local branch, beside other commands of git:
// each of those costs as much as the rest of a short command of tt.
func (rp *Repo) readSettingsEarly(ctx context.Context, branch string) <-chan earlySettings {
	// Room for one, so that the goroutine ends even if nobody receives.
	c := make(chan earlySettings, 1)
	go func() {
		commit, b, _, err := rp.Git.ReadFileAt(ctx, rp.Root, Target{Name: branch}.Ref(), config.FileName)
		if err != nil {
			commit = ""
		}

		early := earlySettings{commit: commit}
		early.Config, early.err = config.Parse(b)
		c <- early
	}()
	return c
}

// acceptedEarly is [Repo.acceptedSettings] for settings that were read early, if they are those of the
// commit.
func (rp *Repo) acceptedEarly(ctx context.Context, early earlySettings, commit string) (config.Worker, error) {
	if early.commit != commit {
		return rp.acceptedSettings(ctx, commit)
	}
	if early.err != nil {
		return early.Worker, early.err
	}
	return early.Worker, rp.requireSettingsAccepted(ctx, early.Worker)
}

// lacksAwaited reports whether the target of a task that is for later lacks what the task has waited for.
// That may have landed on another host; a fetch brings it.
func (rp *Repo) lacksAwaited(ctx context.Context, task stick.Task, tg Target) (bool, error) {
	if tg.Remote == "" || len(task.After) == 0 {
		return false, nil
	}

	var results []string
	err := rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		// The transaction may run again.
		results = nil
		for _, id := range task.After {
			t, ok, err := tx.Task(r.ID, id)
			if err != nil {
				return err
			}

			if ok && t.Result != "" {
				results = append(results, t.Result)
			}
		}

		return nil
	})
	if err != nil {
		return false, err
	}

	// One result that is missing is enough.
	for _, commit := range results {
		has, err := rp.Git.HasCommit(ctx, rp.Root, commit)
		if err == nil && has {
			has, err = rp.Git.IsAncestor(ctx, rp.Root, commit, tg.Head())
		}
		if err != nil || !has {
			return err == nil, err
		}
	}

	return false, nil
}
