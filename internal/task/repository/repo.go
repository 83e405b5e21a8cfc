// Package repository holds what all operations on tasks share: the repository in which one runs, its locks and
// its transactions; the intents that survive a command that dies; and the branches and worktrees of tasks, from
// the plan of one to its removal.
//
// An operation that changes git stores its intent in one transaction and the outcome in another. If the command
// dies in between, the next one finishes or undoes its work.
package repository

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/task/command"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// Config is what [NewOpener] needs.
type Config struct {
	Kernel *core.Kernel

	// Rescue keeps a copy of files in a worktree that is about to go, and returns its id. lacks names those of
	// which it couldn't. It may be nil.
	Rescue func(ctx context.Context, room stick.RoomID, by stick.AgentID, top string, paths []string,
		command string) (id string, lacks []string, err error)

	// KeepTips keeps commits of a branch that is about to go, and returns the refs that keep them. It may be nil.
	KeepTips func(ctx context.Context, common, branch string, commits []string) (refs []string, err error)

	// FinishLanding finishes a landing whose command died, perhaps in another checkout, and ends its intent.
	FinishLanding func(ctx context.Context, rp *Repo, i store.Intent, inOtherCheckout bool) error

	Renew time.Duration // how often a command renews its intent; 0 for the usual
}

// Opener opens the repositories of operations on tasks.
type Opener struct {
	config Config
	core   *core.Kernel
}

// NewOpener returns what opens repositories. It reads and writes nothing.
func NewOpener(cfg Config) *Opener {
	cfg.Renew = cmp.Or(cfg.Renew, renewInterval)
	return &Opener{config: cfg, core: cfg.Kernel}
}

// Repo is the repository of one operation on tasks.
type Repo struct {
	Core           *core.Kernel
	opener         *Opener
	By             core.Caller
	Where          core.Where
	Git            git.Client
	Root           string // the main checkout
	Common         string // the .git directory that all checkouts share
	CallerWorktree string // the linked worktree that the caller is in; empty outside of one
	lockPrefix     string // the repository in the names of locks
	isBareLayout   bool   // Root holds worktrees around a bare repository, and is none itself
	settings       settingsFile

	OnWait func(on string, r Runner) // called when a command begins to wait for another one; may be nil
}

// Open finds the repository that w means. It fails with [stick.CodeGitMissing], [stick.CodeGitTooOld],
// [stick.CodeNoRepository], [stick.CodeRepositoryMissing], [stick.CodeGitFailed] and [stick.CodeInvalidPath].
func (o *Opener) Open(ctx context.Context, w core.Where, by core.Caller) (*Repo, error) {
	rp, err := o.Locate(ctx, w, by)
	if err == nil {
		err = rp.askGit(ctx)
	}
	if err != nil {
		return nil, err
	}
	return rp, nil
}

// OpenForTask is [Opener.Open] for an operation on a task that is there already: it makes nothing for which git may be
// too old. Only if git fails is it asked for its version.
func (o *Opener) OpenForTask(ctx context.Context, w core.Where, by core.Caller) (*Repo, error) {
	rp, err := o.Locate(ctx, w, by)
	if err != nil {
		return nil, err
	}
	if err := rp.AskCheckout(ctx); err != nil {
		return nil, cmp.Or(rp.Git.CheckVersion(ctx, rp.Root), err)
	}
	return rp, nil
}

// Locate is the part of [Opener.Open] that needs no git: afterwards one can read the room.
func (o *Opener) Locate(ctx context.Context, w core.Where, by core.Caller) (*Repo, error) {
	rp := &Repo{Core: o.core, opener: o, By: by, Where: w, Git: o.core.Config.Git}

	// A room that is named by its id says itself where it is.
	dir := w.Path
	if w.RoomID != "" {
		err := o.core.Read(ctx, w, by, func(_ *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
			dir = r.Path
			return nil
		})
		if err != nil {
			return nil, err
		}
	}

	p, err := o.core.Place(core.Where{Path: dir})
	if err != nil {
		return nil, err
	}

	rp.Root, rp.CallerWorktree = p.Root, p.Worktree

	// A caller that names a room may still stand in one of its worktrees.
	if w.RoomID == "" {
		rp.Where = core.Where{Path: p.Path}
	} else if at, err := o.core.Place(core.Where{}); err == nil && at.Root == p.Root {
		rp.CallerWorktree = at.Worktree
	}

	return rp, nil
}

// RepoAt returns the repository whose main checkout is at root, without asking git or the database: its locks
// and directories need neither.
func (o *Opener) RepoAt(root string) *Repo {
	rp := &Repo{Core: o.core, opener: o, Git: o.core.Config.Git, Root: root, Common: filepath.Join(root, ".git")}
	rp.setLockPrefix()
	return rp
}

// askGit is the rest of [Opener.Open].
func (rp *Repo) askGit(ctx context.Context) error {
	old := make(chan error, 1)

	// beside, because each git costs as much as the rest of a short command.
	go func() { old <- rp.Git.CheckVersion(ctx, rp.Root) }()
	err := rp.AskCheckout(ctx)
	return cmp.Or(<-old, err)
}

// AskCheckout is [Repo.askGit] for a git that isn't too old.
func (rp *Repo) AskCheckout(ctx context.Context) error {
	if err := workspace.CheckRepository(rp.Root, rp.Core.Config.Workspace); err != nil {
		return err
	}

	// Opening the database takes its time, so it happens beside git.
	closed := make(chan error, 1)
	go func() {
		_, err := rp.Core.Open(ctx, false)
		closed <- err
	}()

	at, err := rp.Git.Checkout(ctx, rp.Root)
	unopened := <-closed
	switch {
	case stick.CodeOf(err) == stick.CodeNoRepository:
		return stick.Errorf(stick.CodeNoRepository, "%s isn't a git repository, and workers need one", rp.Root).
			With("path", rp.Root).
			Hintf("create one with %s and a first commit", stick.Cmd("git init"))
	case err != nil:
		return err
	case at.Bare && at.Common != rp.Root:
		// A layout of worktrees around a bare repository has all that tasks need.
		rp.isBareLayout = true
	case at.Bare || at.Top == "":
		return stick.Errorf(stick.CodeInvalidPath,
			"%s is a bare repository, and workers need one with a checkout", rp.Root).
			With("path", rp.Root).Hintf("clone it, and work in the clone")
	case at.Shallow:
		return stick.Errorf(stick.CodeInvalidPath, "%s is a shallow clone, and merges need the whole history", rp.Root).
			With("path", rp.Root).Hintf("%s", stick.Cmd("git fetch --unshallow"))
	case unopened != nil && !errors.Is(unopened, store.ErrAbsent):
		return unopened
	}

	rp.Common = at.Common
	rp.setLockPrefix()
	return nil
}

// KillPoint marks a point at which a test may kill the process.
func (rp *Repo) KillPoint(point string) { rp.Core.KillPoint(point) }

// Write runs an operation that changes the repository's room.
func (rp *Repo) Write(ctx context.Context, j core.Joining, fn func(*Op) error) error {
	return rp.opener.Write(ctx, rp.Where, rp.By, j, func(o *Op) error {
		o.Settle()
		return fn(o)
	}, nil)
}

// WriteOutcome is write for the outcome of what git has done. It completes even if the caller is cancelled.
func (rp *Repo) WriteOutcome(ctx context.Context, fn func(*Op) error) error {
	return rp.Write(context.WithoutCancel(ctx), core.MustBeMemberQuietly, fn)
}

// Read runs an operation that only reads the repository's room.
func (rp *Repo) Read(ctx context.Context, fn func(*store.Tx, *core.Probes, stick.Room, core.Identity) error) error {
	return rp.Core.Read(ctx, rp.Where, rp.By, fn)
}

// IsRepeated reads a task and returns sameAsLast for it.
func (rp *Repo) IsRepeated(
	ctx context.Context, id string, typ stick.EventType, reason string,
) (task stick.Task, yes bool, err error) {
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, me core.Identity) (err error) {
		if task, err = TaskOf(tx, r.ID, id); err == nil {
			yes, err = RepeatsLast(tx, r.ID, me, task, typ, reason)
		}
		return err
	})
	return task, yes, err
}

// PlannedPath returns the absolute path at which tt makes a task's worktree.
func (rp *Repo) PlannedPath(t stick.Task) string {
	return filepath.Join(rp.Root, filepath.FromSlash(t.Worktree))
}

// WorktreePath returns the absolute path of a task's worktree: where tt has made it or, if somebody has moved it
// with git, where it is now. If nothing lies where tt has made it, all of git's records of worktrees are read, so
// who looks at many tasks asks [Repo.PlannedPath].
func (rp *Repo) WorktreePath(t stick.Task) string {
	return LocateWorktree(rp.Root, t)
}

// LocateWorktree is [Repo.WorktreePath] in the repository of the main checkout at root.
func LocateWorktree(root string, t stick.Task) string {
	planned := filepath.Join(root, filepath.FromSlash(t.Worktree))
	if _, err := os.Lstat(planned); err == nil {
		return planned
	}

	// Only the tree that tt has made for the task is the task's, and no other one on its branch.
	for _, top := range workspace.Worktrees(root) {
		_, branch, ok := workspace.Head(top)
		if !ok || branch != t.Branch {
			continue
		}
		if f, ok := core.ReadTaskFile(top); ok && f.TaskID == t.ID {
			return top
		}
	}

	return planned
}

// writeTaskFile writes the task file into a task's worktree.
func (rp *Repo) writeTaskFile(t stick.Task, attempt int) error {
	b, err := json.MarshalIndent(core.TaskFile{
		TaskID: t.ID, Attempt: attempt, Root: rp.Root, Branch: t.Branch, Worktree: rp.WorktreePath(t),
		Integration: t.Integration, Base: t.Base,
		Description: t.Description, Spec: t.Spec, Slot: SlotOf(t),
	}, "", "  ")
	if err != nil {
		return err
	}

	// A reader finds the old file or the new one, never half of it.
	path := filepath.Join(rp.WorktreePath(t), core.TaskFileName)
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o600); err != nil {
		return stick.Errorf(stick.CodeGitFailed, "can't write to the worktree: %w", err).
			Hintf("check the disk and its permissions, and run the same command again")
	}

	return os.Rename(path+".new", path)
}

// RefreshTaskFile writes the task file of a worktree again, after the task has changed. It does nothing where there
// is none: the task is for later, has lost its worktree, or is in another checkout.
func (rp *Repo) RefreshTaskFile(t stick.Task) error {
	if _, err := os.Lstat(filepath.Join(rp.WorktreePath(t), core.TaskFileName)); err != nil {
		return nil
	}
	return rp.writeTaskFile(t, max(t.Attempt, 1))
}

// NewID returns a new id. It is made outside of the transaction, which may run again.
func (rp *Repo) NewID(ctx context.Context) (string, error) {
	db, err := rp.Core.Open(ctx, true)
	if err != nil {
		return "", err
	}
	return db.NewID(), nil
}

// ReadTask reads a task. It fails with [stick.CodeNotFound].
func (rp *Repo) ReadTask(ctx context.Context, id string) (task stick.Task, err error) {
	err = rp.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		task, err = TaskOf(tx, r.ID, id)
		return err
	})
	return task, err
}

// isRebasing reports whether a rebase is in progress in a worktree.
func (rp *Repo) isRebasing(ctx context.Context, path string) bool {
	at, err := rp.Git.Checkout(ctx, path)
	return err == nil && git.OperationInProgress(at.GitDir) == "rebase"
}

// DirtyError returns the error for uncommitted changes. where is the subject of its sentence.
func DirtyError(where stick.Words, files []string, count int) *stick.Error {
	return stick.Errorf(stick.CodeDirtyTree, "%s has %s: %s",
		where, stick.Count(count, "uncommitted change"), stick.Names(files, MostNamed)).
		With("left", files)
}

// MostNamed is how many files a sentence names.
const MostNamed = 5

// ShortCommit shortens the id of a commit or an output for display.
func ShortCommit(sum string) string { return sum[:min(len(sum), 12)] }

// RunShell runs a command of the project in a directory, as [command.Shell.Run] does. extra is added to its
// environment.
func (rp *Repo) RunShell(
	ctx context.Context, dir, text string, limit time.Duration, extra []string, listener io.Writer,
) (command.Result, error) {
	sh := command.Shell{Environ: slices.Concat(rp.Core.Config.Environ, extra), Now: rp.Core.Now}
	return sh.Run(ctx, dir, text, limit, listener)
}
