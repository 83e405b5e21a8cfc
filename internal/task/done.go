package task

import (
	"context"
	"fmt"
	"os"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// WorkerDoneParams offers a worker's commits for review.
type WorkerDoneParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID     string   `json:"task_id,omitempty"`
	Attempt    int      `json:"attempt,omitempty"`
	SkipRebase bool     `json:"skip_rebase,omitempty"` // after a conflict that git rebase --continue has resolved
	Evidence   []string `json:"evidence,omitempty"`    // name=command, run in the worktree
}

// WorkerDoneResult is what waits for review.
type WorkerDoneResult struct {
	RoomID   stick.RoomID      `json:"room_id"`
	AgentID  stick.AgentID     `json:"agent_id"`
	TaskID   string            `json:"task_id"`
	State    stick.TaskState   `json:"state"`
	Attempt  int               `json:"attempt"`
	Head     string            `json:"head"`
	Base     string            `json:"base"`
	Rebased  bool              `json:"rebased"` // onto a newer base
	Pushed   string            `json:"pushed,omitempty"`
	Kept     bool              `json:"approval_kept,omitempty"`
	Evidence []stick.TaskCheck `json:"evidence,omitempty"`
	Already  bool              `json:"already,omitempty"`
	Warning  stick.Words       `json:"warning,omitempty"`
}

// doneRun is one run of WorkerDone.
type doneRun struct {
	*repository.Push
	p WorkerDoneParams
}

// WorkerDone rebases a task's branch onto its integration branch, and asks for a review.
// It fails with [stick.CodeDirtyTree], [stick.CodeRebaseConflict], [stick.CodeInvalidTransition],
// [stick.CodeStaleAttempt], [stick.CodeNotYourTask] and [stick.CodeGitFailed].
func (ts *Tasks) WorkerDone(ctx context.Context, p WorkerDoneParams) (WorkerDoneResult, error) {
	var res WorkerDoneResult
	rp, id, attempt, err := ts.openForWorker(ctx, p.Where, p.Caller, p.TaskID, p.Attempt)
	if err != nil {
		return res, err
	}
	if err := validateChecks(p.Evidence); err != nil {
		return res, err
	}

	p.Attempt = attempt
	unlock, err := rp.LockTask(ctx, id)
	if err != nil {
		return res, err
	}
	defer unlock()

	f := &doneRun{Push: &repository.Push{Repo: rp.Repo}, p: p}

	// What is refused anyway is refused before git works.
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) (err error) {
		if f.Task, err = repository.TaskOf(tx, r.ID, id); err != nil {
			return err
		}
		if err := repository.RequireBranchHere(tx, r, f.Task); err != nil {
			return err
		}

		_, err = tasks.Done(f.Task, tasks.Call{
			By: me.Agent, Person: me.Person(), Attempt: attempt,
		}, tasks.Offering{Head: "-"})
		return err
	})
	if err != nil {
		return res, err
	}
	if err := f.requireReadyWorktree(ctx); err != nil {
		return res, err
	}
	return f.rebaseAndOffer(ctx)
}

// requireReadyWorktree refuses a worktree that isn't the task's own, isn't on its branch, or has something
// uncommitted or in progress. It sets f.path and f.head.
func (f *doneRun) requireReadyWorktree(ctx context.Context) error {
	f.Path = f.WorktreePath(f.Task)
	task := f.Task.ID
	if _, err := os.Stat(f.Path); err != nil {
		if err := f.CheckMoved(ctx, f.Task); err != nil {
			return err
		}
		return stick.Errorf(stick.CodeNotFound, "the worktree of %s is missing: %s", task, f.Path).
			With("task_id", task).
			Hintf("to recreate it from its branch: %s", stick.Cmd("tt task start --task <task_id>", task))
	}

	at, err := f.Git.Checkout(ctx, f.Path)
	if err != nil {
		return err
	}

	if at.GitDir == at.Common || at.Common != f.Common {
		return stick.Errorf(stick.CodeDirtyTree, "%s isn't a worktree of this repository", f.Path).
			With("task_id", task).
			Hintf("repair it with %s, or start over: %s, then %s",
				stick.Cmd("git worktree repair"), stick.Cmd("tt task cancel <task_id>",
					task), stick.Cmd("tt task retry <task_id>", task))
	}

	if what := git.OperationInProgress(at.GitDir); what != "" {
		files, _ := f.Git.Unmerged(ctx, f.Path)
		if files == nil {
			files = []string{}
		}

		e := stick.Errorf(stick.CodeRebaseConflict, "a %s is in progress in %s", what, f.Path).
			With("task_id", task).With("left", []string{what}).With("files", files)
		return e.Hintf("resolve %s, then %s and %s", nameConflicts(files), repository.ContinueCommand(f.Path, what),
			stick.Cmd("tt task done --skip-rebase --task <task_id>", task))
	}

	// What isn't committed wouldn't be reviewed, and another branch isn't the task's.
	s, err := f.Git.Snapshot(ctx, f.Path)
	if err != nil {
		return err
	}

	switch {
	case s.Branch != f.Task.Branch:
		on := stick.Words("no branch")
		if s.Branch != "" {
			on = stick.Wordsf("branch %q", s.Branch)
		}
		return stick.Errorf(stick.CodeDirtyTree, "the worktree of %s is on %s, not on %s", task, on, f.Task.Branch).
			With("task_id", task).With("left", []string{}).
			Hintf("bring over what you committed there, then: %s",
				stick.Cmd("git -C <path> switch <branch>", f.Path, f.Task.Branch))
	case s.DirtyCount > 0:
		return repository.DirtyError(stick.Wordsf("the worktree of %s", task), s.Dirty, s.DirtyCount).With("task_id", task).
			Hintf("commit or discard what is uncommitted, then: %s", stick.Cmd("tt task done --task <task_id>", task))
	}

	f.Head = s.Head
	return nil
}

// nameConflicts names the conflicts that are left in files, for a sentence.
func nameConflicts(files []string) stick.Words {
	if len(files) == 0 {
		return "what is left"
	}
	return "the conflict in " + stick.Names(files, repository.MostNamed)
}

// rebaseAndOffer rebases the branch, runs the checks, pushes, and offers the commit for review.
func (f *doneRun) rebaseAndOffer(ctx context.Context) (res WorkerDoneResult, err error) {
	// The remote's newest commit is what the work is rebased onto.
	if f.Target, err = f.ReadTarget(ctx, f.Task.Integration); err != nil {
		return res, err
	}
	if err := f.FetchTarget(ctx, &f.Target); err != nil {
		return res, err
	}
	if err := f.RequireRemoteIsOurs(ctx); err != nil {
		return res, err
	}
	if f.IntentID, err = f.NewID(ctx); err != nil {
		return res, err
	}

	// The intent is stored before the rebase, so that a crash leaves a trace.
	onto := f.Target.Head()
	err = f.Write(ctx, core.MustBeMember, func(o *repository.Op) error {
		if _, err := blockedWarning(o, f.Task); err != nil {
			return err
		}
		return o.StoreIntent(f.IntentID, repository.IntentDone, f.Task, f.Task.Attempt, repository.DoneIntent{
			Path: f.Path, Head: f.Head, Onto: onto,
		})
	})
	if err != nil {
		return res, err
	}
	defer f.ServeIntent(ctx, f.IntentID)()
	f.KillPoint("done: intended")

	defer func() {
		// A run that failed leaves nothing to finish.
		if err != nil && f.IntentID != "" {
			cerr := f.WriteOutcome(ctx, func(o *repository.Op) error { return o.Tx.EndIntent(f.IntentID, "failed") })
			if cerr != nil && stick.CodeOf(err) == stick.CodeInternal {
				err = fmt.Errorf("%w (%v)", err, cerr)
			}
		}
	}()

	// The checks run on what is offered, and only what has passed them is pushed.
	q, rebased, err := f.rebaseBranch(ctx, onto)
	if err != nil {
		return res, err
	}
	f.KillPoint("done: rebased")

	blobs, err := f.runChecks(ctx, &q)
	if err != nil {
		return res, err
	}

	pushed, err := f.PushBranch(ctx, q.Head, onto)
	if err != nil {
		return res, err
	}
	f.KillPoint("done: pushed")

	// The offer is recorded last, once the remote has the commit.
	res = WorkerDoneResult{
		TaskID: f.Task.ID, Attempt: f.Task.Attempt, Head: q.Head, Base: q.Base, Rebased: rebased,
		Pushed: pushed, Evidence: q.Checks,
	}

	err = f.recordOffer(ctx, q, blobs, &res)
	if err == nil {
		f.IntentID = ""
		f.KillPoint("done: done")
	}

	return res, err
}

// recordOffer records that the commit waits for review, stores the outputs of the checks, and ends the
// intent. It completes res.
func (f *doneRun) recordOffer(ctx context.Context, q tasks.Offering, blobs []store.Blob, res *WorkerDoneResult) error {
	return f.WriteOutcome(ctx, func(o *repository.Op) error {
		task, err := repository.TaskOf(o.Tx, o.Room.ID, f.Task.ID)
		if err != nil {
			return err
		}

		// The outputs are stored together with the event that names them.
		for _, b := range blobs {
			if err := o.Tx.AddBlob(b); err != nil {
				return err
			}
		}

		ev, err := tasks.Done(task, o.TaskCall(f.p.Attempt), q)
		if err != nil {
			return err
		}

		res.RoomID, res.AgentID, res.State, res.Already = o.Room.ID, o.Me.Agent, task.State, ev == nil
		if ev != nil {
			o.AddTaskEvent(*ev)
			facts, _ := stick.TaskFactsOf[stick.TaskReviewRequestedFacts](*ev)
			res.State, res.Kept = facts.State, facts.Kept
		}

		if res.Warning, err = blockedWarning(o, task); err != nil {
			return err
		}
		return o.Tx.EndIntent(f.IntentID, "done")
	})
}

// blockedWarning returns a warning if the worker has said that it is blocked and nobody has answered. If the
// room requires contracts, it fails with [stick.CodeContractIncomplete] instead.
func blockedWarning(o *repository.Op, task stick.Task) (stick.Words, error) {
	asked, err := unansweredBlocks(o, task)
	if err != nil || asked == 0 {
		return "", err
	}

	if o.Room.Policy.RequireContracts {
		return "", stick.Errorf(stick.CodeContractIncomplete,
			"message %d says that you are blocked, and nobody has accepted it yet", asked).
			With("message_id", asked).Hintf("wait for the answer: %s; or withdraw the message: %s",
			stick.Cmd("tt wait --park"), stick.Cmd("tt msg withdraw <message_id>"))
	}

	return stick.Wordsf("message %d says that you are blocked, and nobody has accepted it yet", asked), nil
}
