package task

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/bell"
	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// repo is the repository of one operation on tasks.
type repo struct {
	tasks          *Tasks
	by             core.Caller
	where          core.Where
	git            git.Client
	root           string // the main checkout
	common         string // the .git directory that all checkouts share
	callerWorktree string // the linked worktree that the caller is in; empty outside of one
	lockPrefix     string // the repository in the names of locks

	onWait func(on string, r Runner) // called when a command begins to wait for another one; may be nil
	onGate func(GateRun)             // called when a gate begins to run; may be nil
}

// openRepo finds the repository that w means. It fails with [stick.CodeGitMissing], [stick.CodeGitTooOld],
// [stick.CodeNoRepository], [stick.CodeRepositoryMissing], [stick.CodeGitFailed] and [stick.CodeInvalidPath].
func (ts *Tasks) openRepo(ctx context.Context, w core.Where, by core.Caller) (*repo, error) {
	rp, err := ts.locateRepo(ctx, w, by)
	if err == nil {
		err = rp.askGit(ctx)
	}
	if err != nil {
		return nil, err
	}
	return rp, nil
}

// locateRepo is the part of [Tasks.openRepo] that needs no git: afterwards one can read the room.
func (ts *Tasks) locateRepo(ctx context.Context, w core.Where, by core.Caller) (*repo, error) {
	rp := &repo{tasks: ts, by: by, where: w, git: ts.core.Config.Git}

	// A room that is named by its id says itself where it is.
	dir := w.Path
	if w.RoomID != "" {
		err := ts.core.Read(ctx, w, by, func(_ *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
			dir = r.Path
			return nil
		})
		if err != nil {
			return nil, err
		}
	}

	p, err := ts.core.Place(core.Where{Path: dir})
	if err != nil {
		return nil, err
	}

	rp.root, rp.callerWorktree = p.Root, p.Worktree

	// A caller that names a room may still stand in one of its worktrees.
	if w.RoomID == "" {
		rp.where = core.Where{Path: p.Path}
	} else if at, err := ts.core.Place(core.Where{}); err == nil && at.Root == p.Root {
		rp.callerWorktree = at.Worktree
	}

	return rp, nil
}

// askGit is the rest of [Tasks.openRepo].
func (rp *repo) askGit(ctx context.Context) error {
	old := make(chan error, 1)

	// beside, because each git costs as much as the rest of a short command.
	go func() { old <- rp.git.CheckVersion(ctx, rp.root) }()
	err := rp.askCheckout(ctx)
	return cmp.Or(<-old, err)
}

// askCheckout is [repo.askGit] for a git that isn't too old.
func (rp *repo) askCheckout(ctx context.Context) error {
	if err := workspace.CheckRepository(rp.root, rp.tasks.core.Config.Workspace); err != nil {
		return err
	}

	// Opening the database takes its time, so it happens beside git.
	closed := make(chan error, 1)
	go func() {
		_, err := rp.tasks.core.Open(ctx, false)
		closed <- err
	}()

	at, err := rp.git.Checkout(ctx, rp.root)
	unopened := <-closed
	switch {
	case stick.CodeOf(err) == stick.CodeNoRepository:
		return stick.Errorf(stick.CodeNoRepository, "%s isn't a git repository, and workers need one", rp.root).
			With("path", rp.root).
			Hintf("create one with %s and a first commit", stick.Cmd("git init"))
	case err != nil:
		return err
	case at.Bare || at.Top == "":
		return stick.Errorf(stick.CodeInvalidPath,
			"%s is a bare repository, and workers need one with a checkout", rp.root).
			With("path", rp.root).Hintf("clone it, and work in the clone")
	case at.Shallow:
		return stick.Errorf(stick.CodeInvalidPath, "%s is a shallow clone, and merges need the whole history", rp.root).
			With("path", rp.root).Hintf("%s", stick.Cmd("git fetch --unshallow"))
	case unopened != nil && !errors.Is(unopened, store.ErrAbsent):
		return unopened
	}

	rp.common = at.Common
	rp.setLockPrefix()
	return nil
}

// setLockPrefix sets the name of the repository in the names of locks.
func (rp *repo) setLockPrefix() {
	sum := sha256.Sum256([]byte(rp.root))
	rp.lockPrefix = hex.EncodeToString(sum[:8])
}

// lockPath returns the path of the file of a lock. A task has one, however its name is written.
func (rp *repo) lockPath(kind, name string) string {
	if kind == "task" {
		name = stick.TaskKey(name)
	}
	sum := sha256.Sum256([]byte(kind + " " + name))
	return filepath.Join(rp.tasks.core.Config.Dir, "tasks", rp.lockPrefix+"-"+hex.EncodeToString(sum[:8])+".lock")
}

// killPoint marks a point at which a test may kill the process.
func (rp *repo) killPoint(point string) { rp.tasks.core.KillPoint(point) }

// lockWait is how long a command waits for another one on the same task.
const lockWait = 10 * time.Second

// acquireLock takes the lock of a task or of an integration branch. The git commands that tt starts inherit
// the lock, so it becomes free only when this process and all of them have ended. If wait passes first, it
// fails with [stick.CodeLanding].
func (rp *repo) acquireLock(ctx context.Context, kind, name string, wait time.Duration) (unlock func(), err error) {
	if err := rp.makeLockDir(); err != nil {
		return nil, err
	}

	// Most often the lock is free at once. Only a longer wait is worth telling.
	l, held, err := rp.waitForLock(ctx, rp.lockPath(kind, name), min(wait, shortLockWait))
	if held != nil && wait > shortLockWait {
		if rp.onWait != nil {
			rp.onWait(name, *held)
		}
		rp.killPoint("lock: waits")

		l, held, err = rp.waitForLock(ctx, rp.lockPath(kind, name), wait)
	}

	if held != nil {
		return nil, errBusy(name, *held, stick.At(rp.tasks.core.Now()))
	}
	if err != nil {
		return nil, err
	}
	return rp.inheritLock(l), nil
}

// tryLock is [repo.acquireLock] without waiting. If the lock isn't free, unlock is nil.
func (rp *repo) tryLock(kind, name string) (unlock func(), err error) {
	if err := rp.makeLockDir(); err != nil {
		return nil, err
	}

	l, free, err := bell.TryLock(rp.lockPath(kind, name))
	if err != nil || !free {
		return nil, err
	}
	return rp.inheritLock(l), nil
}

// inheritLock has the git commands that follow inherit a lock, until unlock is called.
func (rp *repo) inheritLock(l *bell.FileLock) (unlock func()) {
	rp.git.Inherit = append(rp.git.Inherit, l.File())
	return func() {
		rp.git.Inherit = rp.git.Inherit[:len(rp.git.Inherit)-1]
		_ = l.Unlock()
	}
}

// makeLockDir makes the directory of the locks of tasks and branches.
func (rp *repo) makeLockDir() error {
	if err := plainfile.MkdirAll(filepath.Join(rp.tasks.core.Config.Dir, "tasks")); err != nil {
		return stick.Errorf(stick.CodeDataDirNotWritable, "can't write to the data directory: %w", err).
			Hintf("%s", stick.Cmd("tt doctor"))
	}
	return nil
}

// waitForLock takes the lock at path. If wait passes first, it returns the process that holds it.
func (rp *repo) waitForLock(ctx context.Context, path string, wait time.Duration) (*bell.FileLock, *Runner, error) {
	// If the wait has passed, whoever holds the lock is the answer; the caller's own cancellation isn't.
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	l, err := bell.Lock(limited, path)
	if err == nil || ctx.Err() != nil {
		return l, nil, errors.Join(err, ctx.Err())
	}
	if held, ok := errors.AsType[*bell.LockedError](err); ok {
		return nil, rp.tasks.runnerOf(held.Holder), nil
	}
	return nil, nil, err
}

// write runs an operation that changes the repository's room.
func (rp *repo) write(ctx context.Context, j core.Joining, fn func(*op) error) error {
	return rp.tasks.write(ctx, rp.where, rp.by, j, func(o *op) error {
		o.Settle()
		return fn(o)
	}, nil)
}

// writeOutcome is write for the outcome of what git has done. It completes even if the caller is cancelled.
func (rp *repo) writeOutcome(ctx context.Context, fn func(*op) error) error {
	return rp.write(context.WithoutCancel(ctx), core.MustBeMemberQuietly, fn)
}

// read runs an operation that only reads the repository's room.
func (rp *repo) read(ctx context.Context, fn func(*store.Tx, *core.Probes, stick.Room, core.Identity) error) error {
	return rp.tasks.core.Read(ctx, rp.where, rp.by, fn)
}

// taskOf loads a task. It fails with [stick.CodeNotFound].
func taskOf(tx *store.Tx, room stick.RoomID, id string) (stick.Task, error) {
	t, ok, err := tx.Task(room, id)
	if err == nil && !ok {
		err = stick.Errorf(stick.CodeNotFound, "there is no task %q here", stick.Clip(id, 80)).
			With("task_id", stick.Clip(id, 80)).
			Hintf("to list the tasks: %s", stick.Cmd("tt task list"))
	}
	return t, err
}

// addTaskEvent adds the event of a task to the events of the operation.
func (o *op) addTaskEvent(e stick.Event) { o.Apply(o.Room, []stick.Event{o.Room.About(e)}) }

// endTask adds the event that ends a task, and releases the paths that were reserved for it.
func (o *op) endTask(e stick.Event) error {
	o.addTaskEvent(e)

	// Nobody works on the task any more, so its paths are free.
	vs, _, err := o.Tx.Reservations(store.ReservationQuery{Room: o.Room.ID, Task: e.Task})
	if err != nil {
		return err
	}

	events, err := o.Room.Unreserve(o.Me.Agent, true, vs)
	o.Apply(o.Room, events)
	return err
}

// sameAsLast reports whether the caller repeats the last change of a task: the last event has this type and
// reason, and is the caller's.
func sameAsLast(
	tx *store.Tx, room stick.RoomID, me core.Identity, task stick.Task, typ stick.EventType, reason string,
) (bool, error) {
	e, err := tx.Event(room, task.Seq)
	return err == nil && e != nil && e.Type == typ && e.From == me.Agent && e.Reason == reason, err
}

// alreadyDone reads a task and returns sameAsLast for it.
func (rp *repo) alreadyDone(
	ctx context.Context, id string, typ stick.EventType, reason string,
) (task stick.Task, yes bool, err error) {
	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) (err error) {
		if task, err = taskOf(tx, r.ID, id); err == nil {
			yes, err = sameAsLast(tx, r.ID, me, task, typ, reason)
		}
		return err
	})
	return task, yes, err
}

// requireMemberOrPerson refuses callers that are neither members nor people.
func (o *op) requireMemberOrPerson() error { return requireMemberOrPerson(o.Room, o.Me) }

func requireMemberOrPerson(r stick.Room, me core.Identity) error {
	if m, ok := r.Member(me.Agent); ok && m.State == stick.Joined || me.Person() {
		return nil
	}
	return stick.Errorf(stick.CodeUnknownMember, "%s isn't a member of this room", me.Agent).
		With("agent_id", me.Agent).Hintf("join it: %s", stick.Cmd("tt join"))
}

// taskCall returns the caller as the rules of tasks need it.
func (o *op) taskCall(attempt int) stick.TaskCall {
	return stick.TaskCall{By: o.Me.Agent, Person: o.Me.Person(), Attempt: attempt}
}

// openForWorker opens the repository for a worker, and returns the task and the attempt that it means. See
// ownTask.
func (ts *Tasks) openForWorker(
	ctx context.Context, w core.Where, by core.Caller, id string, attempt int,
) (*repo, string, int, error) {
	rp, err := ts.openRepo(ctx, w, by)
	if err != nil {
		return nil, "", 0, err
	}
	id, attempt, err = rp.resolveTask(id, attempt)
	return rp, id, attempt, err
}

// resolveTask returns the task and the attempt that a worker means: the task that it names, or the one whose
// worktree it is in. It fails with [stick.CodeUsage] if it is in none.
func (rp *repo) resolveTask(id string, attempt int) (string, int, error) {
	if id != "" {
		return id, attempt, nil
	}

	f, ok := core.ReadTaskFile(rp.callerWorktree)
	if !ok {
		return "", 0, stick.Errorf(stick.CodeUsage, "this isn't the worktree of a task").With("field", "task_id").
			Hintf("go to the task's worktree, or add --task <task>; to list the tasks: %s", stick.Cmd("tt task list"))
	}

	if attempt == 0 {
		attempt = f.Attempt
	}
	return f.TaskID, attempt, nil
}

// worktreePath returns the absolute path of a task's worktree.
func (rp *repo) worktreePath(t stick.Task) string {
	return filepath.Join(rp.root, filepath.FromSlash(t.Worktree))
}

// writeTaskFile writes the task file into a task's worktree.
func (rp *repo) writeTaskFile(t stick.Task, attempt int) error {
	b, err := json.MarshalIndent(core.TaskFile{
		TaskID: t.ID, Attempt: attempt, Root: rp.root, Branch: t.Branch, Worktree: rp.worktreePath(t),
		Integration: t.Integration, Base: t.Base,
		Description: t.Description, Spec: t.Spec, Slot: slotView(t),
	}, "", "  ")
	if err != nil {
		return err
	}

	// A reader finds the old file or the new one, never half of it.
	path := filepath.Join(rp.worktreePath(t), core.TaskFileName)
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o600); err != nil {
		return stick.Errorf(stick.CodeGitFailed, "can't write to the worktree: %w", err).
			Hintf("check the disk and its permissions, and run the same command again")
	}

	return os.Rename(path+".new", path)
}

// readConfig reads the project's settings from a commit.
func (rp *repo) readConfig(ctx context.Context, commit string) (config.Config, error) {
	b, _, err := rp.git.ReadFile(ctx, rp.root, commit, config.FileName)
	if err != nil {
		return config.Config{}, err
	}
	return config.Parse(b)
}

// taskSettings reads the project's settings about tasks from a commit.
func (rp *repo) taskSettings(ctx context.Context, commit string) (config.Gate, config.Worker, error) {
	c, err := rp.readConfig(ctx, commit)
	return c.Gate, c.Worker, err
}

// newID returns a new id. It is made outside of the transaction, which may run again.
func (rp *repo) newID(ctx context.Context) (string, error) {
	db, err := rp.tasks.core.Open(ctx, true)
	if err != nil {
		return "", err
	}
	return db.NewID(), nil
}
