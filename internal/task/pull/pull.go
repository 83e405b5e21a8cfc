package pull

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/forge"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerPRParams asks for the pull request of a task.
type WorkerPRParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`
}

// WorkerPRResult is the pull request of a task, as the forge has it now.
type WorkerPRResult struct {
	RoomID stick.RoomID    `json:"room_id"`
	TaskID string          `json:"task_id"`
	State  stick.TaskState `json:"state"`
	stick.PullRequest
	Opened             bool        `json:"opened,omitempty"`      // by this command
	Pushed             string      `json:"pushed,omitempty"`      // the commit that this command pushed
	Next               stick.Words `json:"next_action,omitempty"` // if it was closed without being merged
	Warning            stick.Words `json:"warning,omitempty"`
	repository.Remains             // after a merge at the forge

	Ready   []string             `json:"ready,omitempty"`   // the tasks that waited for it, and can begin now
	Started []runner.StartedTask `json:"started,omitempty"` // the tasks whose commands were started because they are ready
}

// pullRun is one run of WorkerPR.
type pullRun struct {
	*repository.Repo
	requests  *Requests
	task      stick.Task
	target    repository.Target
	forgeRepo forge.Repo
	program   forge.Program
	id        string            // of the intent
	command   string            // the project's own, instead of program
	opened    stick.PullRequest // what it has opened

	remoteIsForeign bool // the branch at the remote has commits of others, so tt doesn't push
	res             WorkerPRResult
}

// WorkerPR opens a pull request for the commit that a task's worker has offered, with the program of the
// forge. If there is one, it is read again: a newer commit is pushed to it, and a task that was merged there
// is completed. It fails with [stick.CodeForgeFailed], [stick.CodeInvalidTransition], [stick.CodeElsewhere]
// and [stick.CodeGitFailed]. See docs/decisions/pull-requests.md.
func (rq *Requests) WorkerPR(ctx context.Context, p WorkerPRParams) (WorkerPRResult, error) {
	rp, err := rq.config.Repos.Open(ctx, p.Where, p.Caller)
	if err != nil {
		return WorkerPRResult{}, err
	}

	unlock, err := rp.LockTask(ctx, p.TaskID)
	if err != nil {
		return WorkerPRResult{}, err
	}
	defer unlock()

	q := &pullRun{Repo: rp, requests: rq}
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) (err error) {
		if err := repository.RequireMemberOrPerson(r, me); err != nil {
			return err
		}
		if q.task, err = repository.TaskOf(tx, r.ID, p.TaskID); err == nil {
			q.res = WorkerPRResult{RoomID: r.ID, TaskID: q.task.ID}
		}
		return err
	})
	if err != nil {
		return q.res, err
	}

	err = q.syncPull(ctx)
	q.res.State, q.res.PullRequest = q.task.State, q.task.PR
	if q.task.PR.State == stick.PullClosed && q.task.State != stick.TaskCompleted {
		q.res.Next = tasks.AfterClosed(q.task).As(p.Caller.AssumedByFlag()).Words()
	}
	return q.res, err
}

func (q *pullRun) syncPull(ctx context.Context) error {
	// What can't change any more isn't asked for.
	completed := q.task.State == stick.TaskCompleted
	if q.task.PR.Number == 0 {
		if err := tasks.CanPull(q.task); err != nil {
			return err
		}
	} else if completed && q.task.PR.State != stick.PullOpen {
		return nil
	}

	if err := q.findForge(ctx); err != nil {
		return err
	}

	now, ok, err := q.findPull(ctx)
	if err != nil {
		return err
	}

	// tt has merged the task, and the forge has seen that meanwhile.
	if completed {
		return q.recordPull(ctx, now, "")
	}

	// What the forge says of a merge is believed only if git confirms it.
	got, err := q.proveMerged(ctx, now)
	if err != nil {
		return err
	}

	// A closed one, or one that was merged without the newest commit, is replaced.
	newer := ok && q.task.Offered() && now.Head != q.task.Head
	replace := newer && now.State == stick.PullClosed ||
		got == offerLacking && q.task.PR.State == stick.PullMerged && q.task.Offered()

	// A run that was killed may have opened another one.
	if replace && q.command == "" {
		other, found, err := q.program.Find(ctx, q.requests.programRunner(q.forgeRepo), q.forgeRepo, q.pullQuery(),
			q.task.Head)
		if err != nil {
			return err
		}
		if found && other.State == stick.PullOpen {
			now, replace, got, newer = other, false, notMerged, other.Head != q.task.Head
		}
	}

	switch {
	case !ok || replace:
		if now, err = q.openNew(ctx); err != nil {
			return err
		}

		got = notMerged
	case newer && now.State == stick.PullOpen:
		if now, err = q.pushNewer(ctx, now); err != nil {
			return err
		}
	}

	// What the forge merged without the offered commit stays recorded with that.
	without := ""
	if got == offerLacking {
		without = q.task.Head
	}
	if err := q.recordPull(ctx, now, without); err != nil {
		return err
	}
	return q.landMerged(ctx, got)
}

// openNew opens a pull request, and asks the forge for it.
func (q *pullRun) openNew(ctx context.Context) (now stick.PullRequest, err error) {
	if err := q.pushOffer(ctx, true); err != nil {
		return now, err
	}

	now, ok, err := q.findPull(ctx)
	if err == nil && (!ok || now.State != stick.PullOpen) {
		err = q.errForge("%s opened a pull request for %s, and doesn't find it", q.program.Name, q.task.ID).
			Hintf("look at %s, and run the same command again", q.forgeRepo.Host)
	}

	q.res.Opened = err == nil
	return now, err
}

// pushNewer pushes a newer commit to an open pull request, and asks the forge for it again. If that may not
// be done from here, the result says so as a warning: what the forge says is worth recording all the same.
func (q *pullRun) pushNewer(ctx context.Context, now stick.PullRequest) (stick.PullRequest, error) {
	err := q.pushOffer(ctx, false)

	// What may not be pushed from here is a warning, no failure.
	if q.remoteIsForeign || stick.CodeOf(err) == stick.CodeElsewhere {
		e := stick.AsError(err)
		q.res.Warning = e.Words() + "; " + e.Hint.As(q.By.AssumedByFlag()).Words()
		return now, nil
	}

	if err != nil {
		return now, err
	}

	now, ok, err := q.findPull(ctx)
	if err == nil && !ok {
		err = q.errForge("%s doesn't find pull request #%d any more", q.program.Name, q.task.PR.Number).
			Hintf("look at %s, and run the same command again", q.forgeRepo.Host)
	}

	return now, err
}

// findPull asks the forge for the task's pull request.
func (q *pullRun) findPull(ctx context.Context) (stick.PullRequest, bool, error) {
	if q.command != "" {
		return q.askCommand(ctx)
	}
	if n := q.task.PR.Number; n != 0 && q.id == "" {
		pr, err := q.program.View(ctx, q.requests.programRunner(q.forgeRepo), q.forgeRepo, n)
		return pr, err == nil, err
	}

	return q.program.Find(ctx, q.requests.programRunner(q.forgeRepo), q.forgeRepo, q.pullQuery(), q.task.Head)
}

// pullQuery says which pull requests may be the task's.
func (q *pullRun) pullQuery() forge.Query {
	return forge.Query{Branch: q.task.Branch, Base: q.task.Integration}
}

// findForge finds the forge that the integration branch is pushed to, and its program; or the project's own
// command, which a person has to have accepted.
func (q *pullRun) findForge(ctx context.Context) (err error) {
	if q.target, err = q.ReadTarget(ctx, q.task.Integration); err != nil {
		return err
	}
	if q.target.Remote == "" {
		return q.errNoBase(ctx)
	}

	c, err := q.ReadConfig(ctx, q.target.Head())
	if err != nil {
		return err
	}

	if q.command = c.PR.Command; q.command != "" {
		return q.RequireAccepted(ctx, c.PR.ProjectCommand())
	}

	// Without a command of the project's own, the address of the remote tells the forge.
	address, err := q.Git.AddressOf(ctx, q.Root, q.target.Remote)
	if err != nil {
		return err
	}

	at, ok := forge.ParseRemote(address)

	// The user's configuration may replace the address by that of a copy.
	if !ok {
		if address, err = q.Git.Config(ctx, q.Root, "remote."+q.target.Remote+".url"); err != nil {
			return err
		}

		at, ok = forge.ParseRemote(address)
	}

	if !ok {
		if at, ok, err = q.resolveAlias(ctx, address); err != nil {
			return err
		}
	}

	if !ok {
		return stick.Errorf(stick.CodeForgeFailed, "the remote %s isn't at a forge, so it has no pull requests",
			q.target.Remote).
			With("remote", q.target.Remote).
			Hintf("go on without one; to see what comes next: %s", stick.Cmd("tt task show <task_id>", q.task.ID))
	}

	q.forgeRepo = at
	q.program, err = q.requests.chooseProgram(ctx, at)
	return err
}

// errNoBase says that no remote has the branch that the pull request would be for.
func (q *pullRun) errNoBase(ctx context.Context) error {
	e := stick.Errorf(stick.CodeNotFound, "no remote has the branch %s, so a pull request has nothing "+
		"to merge into",
		q.task.Integration).
		With("branch", q.task.Integration)
	if address, err := q.Git.AddressOf(ctx, q.Root, "origin"); err == nil && address != "" {
		return e.Hintf("push it: %s", stick.Cmd("git push -u <remote> <branch>", "origin", q.task.Integration))
	}
	return e.Hintf("add the repository at the forge as the remote origin, then push %s to it", q.task.Integration)
}

// pushOffer pushes the commit that the worker has offered, and with create opens a pull request for it. The
// push overwrites only what the worker pushed before.
func (q *pullRun) pushOffer(ctx context.Context, create bool) (err error) {
	if err := tasks.CanPull(q.task); err != nil {
		return err
	}

	err = q.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		return repository.RequireBranchHere(tx, r, q.task)
	})
	if err != nil {
		return err
	}

	// The push is the one of done, with the same care for the commits of others.
	f := &repository.Push{Repo: q.Repo, Task: q.task, Path: q.WorktreePath(q.task), Head: q.task.Head, Target: q.target}
	err = f.RequireRemoteIsOurs(ctx)
	if q.remoteIsForeign = f.RemoteIsForeign; err != nil {
		return err
	}

	offer, err := q.composeOffer(ctx)
	if err != nil {
		return err
	}

	// The intent is stored before anything leaves this host.
	if f.IntentID, err = q.NewID(ctx); err != nil {
		return err
	}

	q.id = f.IntentID
	err = q.Write(ctx, core.MustBeMember, func(o *repository.Op) error {
		return o.StoreIntent(q.id, repository.IntentPR, q.task, q.task.Attempt, repository.DoneIntent{
			Path: f.Path, Head: f.Head, Pushed: f.Head,
		})
	})
	if err != nil {
		return err
	}
	defer q.ServeIntent(ctx, q.id)()
	q.KillPoint("pr: intended")

	defer func() {
		if err != nil {
			id := q.id
			_ = q.WriteOutcome(ctx, func(o *repository.Op) error { return o.Tx.EndIntent(id, "failed") })
			q.id, q.remoteIsForeign = "", f.RemoteIsForeign
		}
	}()

	// The forge may have the commit already.
	if f.RemoteHead != f.Head {
		if _, err := f.PushBranch(ctx, f.Head, ""); err != nil {
			return err
		}

		q.res.Pushed = f.Head
	}
	q.KillPoint("pr: pushed")

	switch {
	case create && q.command != "":
		err = q.openByCommand(ctx, offer)
	case create:
		err = q.program.Create(ctx, q.requests.programRunner(q.forgeRepo), q.forgeRepo, offer)
	}
	q.KillPoint("pr: made")
	return err
}

// recordPull stores what the forge says of the pull request, and ends the intent. without is as in
// [tasks.Pulled].
func (q *pullRun) recordPull(ctx context.Context, now stick.PullRequest, without string) error {
	err := q.WriteOutcome(ctx, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, q.task.ID)
		if err != nil {
			return err
		}

		ev, err := tasks.Pulled(task, o.Me.Agent, now, without)
		if err != nil {
			return err
		}

		if ev != nil {
			o.AddTaskEvent(*ev)
		}
		if q.id == "" {
			return nil
		}
		return o.Tx.EndIntent(q.id, "done")
	})
	if err != nil {
		return err
	}

	q.task.PR = now
	q.KillPoint("pr: kept")
	return nil
}
