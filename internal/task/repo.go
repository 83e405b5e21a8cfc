package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
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

// killPoint marks a point at which a test may kill the process.
func (rp *repo) killPoint(point string) { rp.tasks.core.KillPoint(point) }

// write runs an operation that changes the repository's room.
func (rp *repo) write(ctx context.Context, j core.Joining, fn func(*Op) error) error {
	return rp.tasks.write(ctx, rp.where, rp.by, j, func(o *Op) error {
		o.Settle()
		return fn(o)
	}, nil)
}

// writeOutcome is write for the outcome of what git has done. It completes even if the caller is cancelled.
func (rp *repo) writeOutcome(ctx context.Context, fn func(*Op) error) error {
	return rp.write(context.WithoutCancel(ctx), core.MustBeMemberQuietly, fn)
}

// read runs an operation that only reads the repository's room.
func (rp *repo) read(ctx context.Context, fn func(*store.Tx, *core.Probes, stick.Room, core.Identity) error) error {
	return rp.tasks.core.Read(ctx, rp.where, rp.by, fn)
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

// readTask reads a task. It fails with [stick.CodeNotFound].
func (rp *repo) readTask(ctx context.Context, id string) (task stick.Task, err error) {
	err = rp.read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		task, err = taskOf(tx, r.ID, id)
		return err
	})
	return task, err
}

// isRebasing reports whether a rebase is in progress in a worktree.
func (rp *repo) isRebasing(ctx context.Context, path string) bool {
	at, err := rp.git.Checkout(ctx, path)
	return err == nil && git.OperationInProgress(at.GitDir) == "rebase"
}

// errDirty returns the error for uncommitted changes. where is the subject of its sentence.
func errDirty(where stick.Words, files []string, count int) *stick.Error {
	return stick.Errorf(stick.CodeDirtyTree, "%s has %s: %s",
		where, stick.Count(count, "uncommitted change"), stick.Names(files, mostNamed)).
		With("left", files)
}

// mostNamed is how many files a sentence names.
const mostNamed = 5

// shortCommit shortens the id of a commit or an output for display.
func shortCommit(sum string) string { return sum[:min(len(sum), 12)] }
