package task

import (
	"cmp"
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

// WorkerInitParams asks to set up the integration branch.
type WorkerInitParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	Branch string   `json:"branch,omitempty"` // empty for the one that is configured, or else integration
	Accept []string `json:"accept,omitempty"` // the sums of commands that the caller accepts; see [WorkerInitResult]
}

// WorkerInitResult is the integration branch.
type WorkerInitResult struct {
	Branch  string `json:"branch"`
	Commit  string `json:"commit"`
	Remote  string `json:"remote,omitempty"` // the remote that decides, if there is one
	Created bool   `json:"created"`
	Gate    string `json:"gate,omitempty"` // the command that must pass before a merge; empty if none is set

	Commands []ShownCommand `json:"commands,omitempty"` // the other commands that the project has tt run
}

// WorkerInit creates the integration branch from the commit that is checked out, or uses an existing branch. A named
// branch becomes the configured one. It shows the commands that the project has tt run, and accepts those that the caller
// names. It fails with [stick.CodeInvalidPath], [stick.CodeUsage], [stick.CodeNotFound] and [stick.CodePersonOnly].
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
		return res, stick.Errorf(stick.CodeUsage, "%q isn't a valid branch name", stick.Clip(p.Branch, 60)).With("field", "branch")
	}
	t, err := rp.readTarget(ctx, p.Branch)
	if stick.CodeOf(err) == stick.CodeNotFound {
		head, ok, herr := rp.git.Commit(ctx, rp.root, "HEAD")
		if herr != nil {
			return res, herr
		}
		if !ok {
			return res, stick.Errorf(stick.CodeNotFound, "this repository has no commits, and the branch must start from one").Hintf("create a first commit")
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
	c, err := rp.config(ctx, t.head())
	res.Branch, res.Commit, res.Remote, res.Gate = t.name, t.head(), t.remote, c.Gate.Command
	if err == nil && len(p.Accept) > 0 {
		err = rp.accept(ctx, c.Commands(), p.Accept)
	}
	if err == nil {
		res.Commands, err = rp.showCommands(ctx, c.Commands())
	}
	return res, err
}

// WorkerSpawnParams asks for a new task.
type WorkerSpawnParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID      string `json:"task_id"`
	Description string `json:"description,omitempty"`
	Spec        string `json:"spec,omitempty"`
	Base        string `json:"base,omitempty"` // a commit; empty for the integration branch

	Later bool     `json:"later,omitempty"` // make no branch and no worktree: somebody begins it later
	After []string `json:"after,omitempty"` // the tasks that have to land before it begins; it is for later, too
	Run   string   `json:"run,omitempty"`   // of a task for later: the command that works on it, once it is ready
}

// WorkerSpawnResult is a new task, or a task with a new attempt.
type WorkerSpawnResult struct {
	RoomID   stick.RoomID  `json:"room_id"`
	AgentID  stick.AgentID `json:"agent_id"`
	Worktree string        `json:"worktree"`
	Task     TaskView      `json:"task"`
	Note     string        `json:"note,omitempty"` // that the worktree was made again, or how to get back the work of the earlier attempt
	Joined   bool          `json:"joined,omitempty"`
	Already  bool          `json:"already,omitempty"`
}

// spawnPlan is the branch and worktree that spawn and retry create for a task.
type spawnPlan struct {
	task      stick.Task
	path      string
	base      string
	start     string // the commit at which the branch begins, if it isn't base
	from      string // the commit of the branch, if it must be moved forward to there
	newBranch bool
	newTree   bool
}

// at is the commit at which the branch begins.
func (m spawnPlan) at() string { return cmp.Or(m.start, m.base) }

// intent returns the stored form of the plan.
func (m spawnPlan) intent() spawnIntent {
	return spawnIntent{Task: spawnedTask{m.task.Branch}, Path: m.path, Base: m.at(), NewBranch: m.newBranch, NewTree: m.newTree}
}

// WorkerSpawn creates a task with a branch and a worktree. If the caller isn't a member, it joins the room. It fails
// with [stick.CodeUsage], [stick.CodeAlreadyExists], [stick.CodeNotFound], and as joining a room does. A failure
// undoes everything that it created.
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
	unlock, err := rp.lock(ctx, "task", p.TaskID, lockWait)
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
	res, err = rp.carryOut(ctx, intentSpawn, m, func(o *op) (stick.Event, error) {
		was, _, err := o.Tx.Task(o.Room.ID, p.TaskID)
		if err != nil {
			return stick.Event{}, err
		}
		q.By, q.In = o.Me.Agent, o.Tx.CheckoutOf(o.Room)
		return stick.SpawnTask(was, q)
	})
	if err != nil {
		return res, err
	}
	rp.killPoint("spawn: done")
	return res, rp.showTask(ctx, &res)
}

// carryOut creates what a plan says, between an intent of this kind and the event that record makes. record also decides
// before anything is created whether the task may begin. A failure undoes everything that was created.
func (rp *repo) carryOut(ctx context.Context, kind string, m spawnPlan, record func(*op) (stick.Event, error)) (res WorkerSpawnResult, err error) {
	id, err := rp.newID(ctx)
	if err != nil {
		return res, err
	}
	err = rp.write(ctx, core.JoinsIfNew, func(o *op) error {
		if _, err := record(o); err != nil {
			return err
		}
		res.Joined = o.Joined
		return o.storeIntent(id, kind, m.task, max(m.task.Attempt, 1), m.intent())
	})
	if err != nil {
		return res, err
	}
	defer rp.serve(ctx, id)()
	rp.killPoint(kind + ": intended")
	if err := rp.create(ctx, m); err != nil {
		return res, rp.undoFailedSpawn(ctx, id, m, err)
	}
	rp.killPoint(kind + ": made")
	err = rp.writeOutcome(ctx, func(o *op) error {
		ev, err := record(o)
		if err != nil {
			return err
		}
		o.addTaskEvent(ev)
		res.RoomID, res.AgentID, res.Task.TaskID, res.Worktree = o.Room.ID, o.Me.Agent, m.task.ID, m.path
		return o.Tx.EndIntent(id, "done")
	})
	if err != nil {
		return res, rp.undoFailedSpawn(ctx, id, m, err)
	}
	return res, nil
}

// showTask adds the task as it is now to the result.
func (rp *repo) showTask(ctx context.Context, res *WorkerSpawnResult) error {
	shown, err := rp.tasks.WorkerShow(context.WithoutCancel(ctx), WorkerShowParams{Caller: rp.by, Where: rp.w, TaskID: res.Task.TaskID, skipSeen: true})
	res.Task = shown.TaskView
	return err
}

// shownAfterSpawn returns the result of a spawn or retry that the caller repeats. If the worktree is missing, it is made
// again.
func (rp *repo) shownAfterSpawn(ctx context.Context, task stick.Task) (WorkerSpawnResult, error) {
	m, err := rp.planRestore(ctx, task)
	if err != nil {
		return WorkerSpawnResult{}, err
	}
	note, err := rp.restore(ctx, m)
	if err != nil {
		return WorkerSpawnResult{}, err
	}
	shown, err := rp.tasks.WorkerShow(context.WithoutCancel(ctx), WorkerShowParams{Caller: rp.by, Where: rp.w, TaskID: task.ID, skipSeen: true})
	if err != nil {
		return WorkerSpawnResult{}, err
	}
	res := WorkerSpawnResult{RoomID: shown.RoomID, Worktree: rp.worktree(task), Task: shown.TaskView, Note: note, Already: true}
	return res, rp.read(ctx, func(_ *store.Tx, _ *core.Probes, _ stick.Room, me core.Identity) error {
		res.AgentID = me.Agent
		return nil
	})
}

// planSpawn chooses the branch and the worktree of a new task, and completes q. It fails with
// [stick.CodeAlreadyExists] if one of them exists, and as [repo.requireInside] does.
func (rp *repo) planSpawn(ctx context.Context, q *stick.Spawning, base string) (m spawnPlan, err error) {
	name, err := rp.integration(ctx)
	if err != nil {
		return m, err
	}
	t, err := rp.readTarget(ctx, name)
	if err != nil {
		return m, err
	}
	w, err := rp.acceptedSettings(ctx, t.head())
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
				Hintf("name a commit or a branch of this repository")
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
			return m, stick.Errorf(stick.CodeAlreadyExists, "the branch %s already exists", r.Name[len("refs/heads/"):]).
				With("branch", r.Name[len("refs/heads/"):]).Hintf("give the task another name, or rename that branch: %s", stick.Cmd("git branch -m <branch> <new-branch>"))
		}
	}
	if err := rp.requireInside(m.path); err != nil {
		return m, err
	}
	if _, err := os.Lstat(m.path); err == nil {
		return m, stick.Errorf(stick.CodeAlreadyExists, "%s already exists", stick.Line(m.path)).With("path", m.path).
			Hintf("give the task another name, or move that directory elsewhere")
	}
	return m, nil
}

// whyLocked is the lock reason of tasks' worktrees. git shows it to somebody who tries to remove one.
const whyLocked = "a tt task uses this worktree; see tt worker status"

// create creates a task's branch and worktree, and writes its task file.
func (rp *repo) create(ctx context.Context, m spawnPlan) error {
	dir := path.Dir(m.task.Worktree)
	if err := rp.requireInside(m.path); err != nil { // a link may have come since it was planned
		return err
	}
	if err := git.Exclude(rp.common, "/"+dir+"/", core.TaskFileName, ".talking-stick/"); err != nil {
		return stick.Errorf(stick.CodeGitFailed, "can't write git's exclude file: %w", err).Hintf("check the permissions of %s", stick.Line(rp.common))
	}
	rp.killPoint("make: excluded")
	if err := os.MkdirAll(filepath.Dir(m.path), 0o755); err != nil {
		return stick.Errorf(stick.CodeGitFailed, "can't create the worktree: %w", err).Hintf("check the permissions of %s", stick.Line(filepath.Dir(m.path)))
	}
	if m.newTree { // git may still list a worktree that somebody removed by hand, and then refuses to add another there
		if err := rp.git.RemoveRecord(rp.common, m.path); err != nil {
			return err
		}
	}
	var err error
	if m.from != "" && m.newTree {
		_, err = rp.git.UpdateRef(ctx, rp.root, "refs/heads/"+m.task.Branch, m.at(), m.from)
	}
	switch {
	case err != nil:
	case !m.newTree && m.from != "":
		err = rp.git.FastForward(ctx, m.path, m.at())
	case !m.newTree:
	case m.newBranch:
		err = rp.git.AddWorktree(ctx, rp.root, m.path, m.task.Branch, m.at(), whyLocked)
	default:
		err = rp.git.AddWorktreeOf(ctx, rp.root, m.path, m.task.Branch, whyLocked)
	}
	if err != nil {
		return err
	}
	rp.killPoint("make: worktree")
	return rp.writeTaskFile(m.task, max(m.task.Attempt, 1))
}

// undoFailedSpawn undoes a spawn or retry that failed, and returns why it failed.
func (rp *repo) undoFailedSpawn(ctx context.Context, id string, m spawnPlan, why error) error {
	ctx = context.WithoutCancel(ctx)
	if err := rp.removeSpawned(ctx, m.intent()); err != nil {
		return fmt.Errorf("%w (and tt couldn't undo what it had created: %v)", why, err)
	}
	if err := rp.writeOutcome(ctx, func(o *op) error { return o.Tx.EndIntent(id, "undone") }); err != nil {
		return fmt.Errorf("%w (%v)", why, err)
	}
	return why
}

// removeSpawned removes what a spawn or retry created before it failed. If the new branch has moved since, it holds
// somebody's work, and stays with its worktree.
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
		if err := rp.removeTree(m.Path); err != nil {
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

// undoSpawn undoes a spawn or retry whose process died. It can then be run again. A worktree that was made again for the
// attempt that there is stays, if it is complete: its worker may work there by now.
func (rp *repo) undoSpawn(ctx context.Context, i store.Intent) error {
	m, err := readIntent[spawnIntent](i)
	if err != nil {
		return err
	}
	if task, err := rp.task(ctx, i.Task); err == nil && !m.NewBranch && task.Attempt == i.Attempt {
		if _, complete := core.ReadTaskFile(m.Path); complete {
			return rp.writeOutcome(ctx, func(o *op) error { return o.Tx.EndIntent(i.ID, "done") })
		}
	}
	if err := rp.removeSpawned(ctx, m); err != nil {
		return err
	}
	return rp.writeOutcome(ctx, func(o *op) error { return o.Tx.EndIntent(i.ID, "undone") })
}

// openLocked opens the repository and locks a task: see [repo.lockTask].
func (ts *Tasks) openLocked(ctx context.Context, w core.Where, by core.Caller, id string) (*repo, func(), error) {
	rp, err := ts.openRepo(ctx, w, by)
	if err != nil {
		return nil, nil, err
	}
	unlock, err := rp.lockTask(ctx, id)
	return rp, unlock, err
}

// lockTask locks an existing task against other commands, and finishes or undoes what a command that died began. If
// a landing holds the lock, it fails at once with [stick.CodeLanding].
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
	unlock, err := rp.lock(ctx, "task", task.ID, max(wait, shortLockWait))
	if err != nil {
		return nil, err
	}
	if err = rp.await(ctx, task.ID, "", wait); err == nil {
		err = rp.recover(ctx, task.ID)
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// task reads a task. It fails with [stick.CodeNotFound].
func (rp *repo) task(ctx context.Context, id string) (task stick.Task, err error) {
	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		task, err = taskOf(tx, r.ID, id)
		return err
	})
	return task, err
}
