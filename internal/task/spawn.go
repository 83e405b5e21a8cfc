package task

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// WorkerInitParams asks for the branch that tasks are merged into.
type WorkerInitParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Branch string `json:"branch,omitempty"` // empty for the one that is set, or integration
}

// WorkerInitResult is the branch that tasks are merged into.
type WorkerInitResult struct {
	Branch  string `json:"branch"`
	Commit  string `json:"commit"`
	Remote  string `json:"remote,omitempty"` // that decides where the branch is
	Created bool   `json:"created"`
	Gate    string `json:"gate,omitempty"` // the command that judges what is merged
}

// WorkerInit makes the branch that tasks are merged into, from the commit that is checked out, or takes
// one that exists. It fails with [stick.CodeInvalidPath] and [stick.CodeUsage].
func (ts *Tasks) WorkerInit(ctx context.Context, p WorkerInitParams) (WorkerInitResult, error) {
	var res WorkerInitResult
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	named := p.Branch != ""
	if !named {
		if p.Branch, err = rp.integration(ctx); err != nil {
			return res, err
		}
	}
	if !git.BranchName(p.Branch) {
		return res, stick.Errorf(stick.CodeUsage, "%q can't be the name of a branch", stick.Clip(p.Branch, 60)).With("field", "branch")
	}
	t, err := rp.readTarget(ctx, p.Branch)
	if stick.CodeOf(err) == stick.CodeNotFound {
		head, ok, herr := rp.git.Commit(ctx, rp.root, "HEAD")
		if herr != nil {
			return res, herr
		}
		if !ok {
			return res, stick.Errorf(stick.CodeNotFound, "there is no commit yet to begin from").Hintf("make a first commit")
		}
		if _, err := rp.git.UpdateRef(ctx, rp.root, "refs/heads/"+p.Branch, head, ""); err != nil {
			return res, err
		}
		res.Created = true
		t, err = rp.readTarget(ctx, p.Branch)
	} else if err == nil && t.local == "" {
		if _, err := rp.git.UpdateRef(ctx, rp.root, t.ref(), t.tracked, ""); err != nil {
			return res, err
		}
		res.Created = true
	}
	if err != nil {
		return res, err
	}
	if named {
		if err := rp.git.SetConfig(ctx, rp.root, integrationKey, p.Branch); err != nil {
			return res, err
		}
	}
	gate, _, err := rp.settings(ctx, t.head())
	res.Branch, res.Commit, res.Remote, res.Gate = t.name, t.head(), t.remote, gate.Command
	return res, err
}

// WorkerSpawnParams asks for a task.
type WorkerSpawnParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID      string `json:"task_id"`
	Description string `json:"description,omitempty"`
	Spec        string `json:"spec,omitempty"`
	Base        string `json:"base,omitempty"` // a commit; empty for the integration branch
}

// WorkerSpawnResult is a task that was made.
type WorkerSpawnResult struct {
	RoomID   stick.RoomID  `json:"room_id"`
	AgentID  stick.AgentID `json:"agent_id"`
	Worktree string        `json:"worktree"`
	Task     TaskView      `json:"task"`
	Note     string        `json:"note,omitempty"` // what became of the attempt before
	Joined   bool          `json:"joined,omitempty"`
	Already  bool          `json:"already,omitempty"`
}

// spawnPlan is what spawn and retry make: a task's branch and worktree.
type spawnPlan struct {
	task      stick.Task
	path      string
	base      string
	from      string // where the branch is, if it is to be moved forward to base
	newBranch bool
	newTree   bool
}

// intent is the stored form of the plan.
func (m spawnPlan) intent() spawnIntent {
	return spawnIntent{Task: spawnedTask{m.task.Branch}, Path: m.path, Base: m.base, NewBranch: m.newBranch, NewTree: m.newTree}
}

// WorkerSpawn makes a task with a branch and a worktree. It fails with [stick.CodeUsage],
// [stick.CodeAlreadyExists], [stick.CodeNotFound] and as [Engine.JoinPath] does. What had been begun is
// undone then.
func (ts *Tasks) WorkerSpawn(ctx context.Context, p WorkerSpawnParams) (WorkerSpawnResult, error) {
	var res WorkerSpawnResult
	q := stick.Spawning{ID: p.TaskID, Description: p.Description, Spec: p.Spec, Branch: "feat/" + p.TaskID}
	if err := q.Check(); err != nil {
		return res, err
	}
	rp, err := ts.openRepo(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}
	if err := rp.git.Identity(ctx, rp.root); err != nil {
		return res, err
	}
	unlock, err := rp.lock(ctx, "task", stick.TaskKey(p.TaskID), lockWait)
	if err != nil {
		return res, err
	}
	defer unlock()
	if err := rp.recover(ctx, p.TaskID); err != nil {
		return res, err
	}
	if was, yes, err := rp.alreadyDone(ctx, p.TaskID, stick.EventTaskAssigned, ""); err == nil {
		if yes && was.Description == p.Description && was.Spec == p.Spec {
			return rp.shownAfterSpawn(ctx, was)
		}
		_, err := stick.SpawnTask(was, q)
		return res, err
	}
	m, err := rp.planSpawn(ctx, &q, p.Base)
	if err != nil {
		return res, err
	}
	id, err := rp.newID(ctx)
	if err != nil {
		return res, err
	}
	err = rp.write(ctx, core.JoinsIfNew, func(o *op) error {
		was, _, err := o.Tx.Task(o.Room.ID, p.TaskID)
		if err != nil {
			return err
		}
		q.By = o.Me.Agent
		if _, err := stick.SpawnTask(was, q); err != nil {
			return err
		}
		res.Joined = o.Joined
		return o.storeIntent(id, intentSpawn, m.task, 1, m.intent())
	})
	if err != nil {
		return res, err
	}
	rp.setIntentEnv(id)
	rp.killPoint("spawn: intended")
	if err := rp.create(ctx, m); err != nil {
		return res, rp.undoFailedSpawn(ctx, id, m, err)
	}
	rp.killPoint("spawn: made")
	err = rp.writeOutcome(ctx, func(o *op) error {
		q.By = o.Me.Agent
		was, _, err := o.Tx.Task(o.Room.ID, p.TaskID)
		if err != nil {
			return err
		}
		ev, err := stick.SpawnTask(was, q)
		if err != nil {
			return err
		}
		o.addTaskEvent(ev)
		res.RoomID, res.AgentID, res.Worktree = o.Room.ID, o.Me.Agent, m.path
		return o.Tx.EndIntent(id, "done")
	})
	if err != nil {
		return res, rp.undoFailedSpawn(ctx, id, m, err)
	}
	rp.killPoint("spawn: done")
	shown, err := ts.WorkerShow(context.WithoutCancel(ctx), WorkerShowParams{Caller: p.Caller, Where: rp.w, TaskID: p.TaskID, skipSeen: true})
	res.Task = shown.TaskView
	return res, err
}

// shownAfterSpawn answers again what was answered to who made a task, or another attempt at it.
func (rp *repo) shownAfterSpawn(ctx context.Context, task stick.Task) (WorkerSpawnResult, error) {
	shown, err := rp.tasks.WorkerShow(context.WithoutCancel(ctx), WorkerShowParams{Caller: rp.by, Where: rp.w, TaskID: task.ID, skipSeen: true})
	if err != nil {
		return WorkerSpawnResult{}, err
	}
	res := WorkerSpawnResult{RoomID: shown.RoomID, Worktree: rp.worktree(task), Task: shown.TaskView, Already: true}
	return res, rp.read(ctx, func(_ *store.Tx, _ *core.Probes, _ stick.Room, me core.Identity) error {
		res.AgentID = me.Agent
		return nil
	})
}

// planSpawn chooses the branch and the worktree of a new task. It refuses what is there already.
func (rp *repo) planSpawn(ctx context.Context, q *stick.Spawning, base string) (m spawnPlan, err error) {
	name, err := rp.integration(ctx)
	if err != nil {
		return m, err
	}
	t, err := rp.readTarget(ctx, name)
	if err != nil {
		return m, err
	}
	_, w, err := rp.settings(ctx, t.head())
	if err != nil {
		return m, err
	}
	q.Integration, q.Base, q.Worktree = name, t.head(), path.Join(w.Dir, q.ID)
	if base != "" {
		commit, ok, err := rp.git.Commit(ctx, rp.root, base)
		if err != nil {
			return m, err
		}
		if !ok {
			return m, stick.Errorf(stick.CodeNotFound, "there is no commit %q", stick.Clip(base, 60)).With("base", stick.Clip(base, 60)).
				Hintf("name a commit or a branch that git knows here")
		}
		q.Base = commit
	}
	task := stick.Task{
		ID: q.ID, Branch: q.Branch, Worktree: q.Worktree, Integration: name, Base: q.Base, Description: q.Description, Spec: q.Spec,
	}
	m = spawnPlan{task: task, path: rp.worktree(task), base: q.Base, newBranch: true, newTree: true}
	refs, err := rp.git.Refs(ctx, rp.root, "refs/heads/"+q.Branch, "refs/heads/feat")
	if err != nil {
		return m, err
	}
	for _, r := range refs {
		if stick.TaskKey(r.Name) == "refs/heads/"+stick.TaskKey(q.Branch) || r.Name == "refs/heads/feat" {
			return m, stick.Errorf(stick.CodeAlreadyExists, "there is a branch %s already", r.Name[len("refs/heads/"):]).
				With("branch", r.Name[len("refs/heads/"):]).Hintf("give the task another name, or rename that branch: %s", stick.Cmd("git branch -m"))
		}
	}
	if _, err := os.Lstat(m.path); err == nil {
		return m, stick.Errorf(stick.CodeAlreadyExists, "%s exists already", stick.Line(m.path)).With("path", m.path).
			Hintf("give the task another name, or move that directory away")
	}
	return m, nil
}

// whyLocked is what git says of the worktrees of tasks when somebody wants to remove one.
const whyLocked = "a worker's: tt worker status"

// create makes a task's branch and worktree.
func (rp *repo) create(ctx context.Context, m spawnPlan) error {
	dir := path.Dir(m.task.Worktree)
	if err := git.Exclude(rp.common, "/"+dir+"/", core.TaskFileName, ".talking-stick/"); err != nil {
		return stick.Errorf(stick.CodeGitFailed, "git's list of what to ignore can't be written: %w", err).Hintf("see to %s", stick.Line(rp.common))
	}
	rp.killPoint("make: excluded")
	if err := os.MkdirAll(filepath.Dir(m.path), 0o755); err != nil {
		return stick.Errorf(stick.CodeGitFailed, "the worktree can't be made: %w", err).Hintf("see to %s", stick.Line(filepath.Dir(m.path)))
	}
	if m.newTree { // git may still list one that somebody removed by hand, and would make no other in its place
		if err := rp.git.RemoveRecord(rp.common, m.path); err != nil {
			return err
		}
	}
	var err error
	if m.from != "" && m.newTree {
		_, err = rp.git.UpdateRef(ctx, rp.root, "refs/heads/"+m.task.Branch, m.base, m.from)
	}
	switch {
	case err != nil:
	case !m.newTree && m.from != "":
		err = rp.git.FastForward(ctx, m.path, m.base)
	case !m.newTree:
	case m.newBranch:
		err = rp.git.AddWorktree(ctx, rp.root, m.path, m.task.Branch, m.base, whyLocked)
	default:
		err = rp.git.AddWorktreeOf(ctx, rp.root, m.path, m.task.Branch, whyLocked)
	}
	if err != nil {
		return err
	}
	rp.killPoint("make: worktree")
	return rp.writeTaskFile(m.task, max(m.task.Attempt, 1))
}

// undoFailedSpawn undoes a making that failed, and returns why it did.
func (rp *repo) undoFailedSpawn(ctx context.Context, id string, m spawnPlan, why error) error {
	ctx = context.WithoutCancel(ctx)
	if err := rp.removeSpawned(ctx, m.intent()); err != nil {
		return fmt.Errorf("%w (and what was begun couldn't be undone: %v)", why, err)
	}
	if err := rp.writeOutcome(ctx, func(o *op) error { return o.Tx.EndIntent(id, "undone") }); err != nil {
		return fmt.Errorf("%w (%v)", why, err)
	}
	return why
}

// removeSpawned takes back what a making that wasn't told to anybody has made. A branch that has moved since is
// somebody's work, and stays, with its worktree.
func (rp *repo) removeSpawned(ctx context.Context, m spawnIntent) error {
	ref := "refs/heads/" + m.Task.Branch
	at, ok, err := rp.git.Commit(ctx, rp.root, ref)
	if err != nil {
		return err
	}
	if m.NewBranch && ok && at != m.Base {
		return nil
	}
	if m.NewTree {
		if err := rp.git.RemoveDetached(rp.common, m.Path); err != nil {
			return err
		}
		_ = os.Remove(filepath.Dir(m.Path)) // if it is empty
	}
	rp.killPoint("undo: worktree")
	if m.NewBranch && ok {
		return rp.git.DeleteRef(ctx, rp.root, ref, m.Base)
	}
	return nil
}

// undoSpawn finishes a spawn, or a retry, whose process died: it is undone, and may begin again.
func (rp *repo) undoSpawn(ctx context.Context, i store.Intent) error {
	m, err := readIntent[spawnIntent](i)
	if err != nil {
		return err
	}
	if err := rp.removeSpawned(ctx, m); err != nil {
		return err
	}
	return rp.writeOutcome(ctx, func(o *op) error { return o.Tx.EndIntent(i.ID, "undone") })
}

// openLocked finds the repository of an operation on one task, keeps other commands from the task, and
// finishes what one that died has begun.
func (ts *Tasks) openLocked(ctx context.Context, w core.Where, by core.Caller, id string) (*repo, func(), error) {
	rp, err := ts.openRepo(ctx, w, by)
	if err != nil {
		return nil, nil, err
	}
	unlock, err := rp.lockTask(ctx, id)
	return rp, unlock, err
}

// lockTask keeps other commands from a task that exists, and finishes what one that died has begun.
func (rp *repo) lockTask(ctx context.Context, id string) (func(), error) {
	task, err := rp.task(ctx, id)
	if err != nil {
		return nil, err
	}
	wait := lockWait
	if landing, err := rp.isLanding(ctx, id); err != nil {
		return nil, err
	} else if landing {
		wait = 0
	}
	unlock, err := rp.lock(ctx, "task", stick.TaskKey(task.ID), max(wait, shortLockWait))
	if err != nil {
		return nil, err
	}
	if err := rp.recover(ctx, task.ID); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// task reads a task.
func (rp *repo) task(ctx context.Context, id string) (task stick.Task, err error) {
	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		task, err = taskOf(tx, r.ID, id)
		return err
	})
	return task, err
}
