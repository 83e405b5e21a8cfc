package repository

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// whyLocked is the lock reason of tasks' worktrees. git shows it to somebody who tries to remove one.
const whyLocked = "a tt task uses this worktree; see tt task list"

// createWorktree creates a task's branch and worktree, copies files of the room's checkout into it, and
// writes its task file.
func (rp *Repo) createWorktree(ctx context.Context, m *Plan) (c CopiedFiles, err error) {
	defer m.Unlock()

	dir := path.Dir(m.Task.Worktree)

	// A link may have come since it was planned.
	if err := rp.RequireInside(m.Path); err != nil {
		return c, err
	}

	// git must not show the worktrees as untracked files of the main checkout.
	exclude := []string{core.TaskFileName, ".talking-stick/"}
	if filepath.IsLocal(dir) {
		exclude = append([]string{"/" + dir + "/"}, exclude...)
	}
	if err := git.ExcludePatterns(rp.Common, exclude...); err != nil {
		return c, stick.Errorf(stick.CodeGitFailed, "can't write git's exclude file: %w", err).
			Hintf("check the permissions of %s", rp.Common)
	}
	rp.KillPoint("make: excluded")

	if err := rp.MakeDirectory(filepath.Dir(m.Path)); err != nil {
		return c, err
	}

	// Others may add their worktrees while this one is filled.
	err = rp.addWorktree(ctx, m)
	m.Unlock()
	if err != nil {
		return c, err
	}
	rp.KillPoint("make: worktree")

	if m.newTree {
		c = rp.copyFiles(ctx, *m)
		rp.KillPoint("make: copied")
	}

	// The task file comes last: it says that the worktree is complete.
	t := m.Task
	t.Slot = m.slot
	return c, rp.writeTaskFile(t, max(t.Attempt, 1))
}

// worktreesWait is how long a command waits for others to add their worktrees.
const worktreesWait = 2 * time.Minute

// LockWorktrees keeps other commands from adding a worktree to the repository. git reads the records of all
// worktrees when it adds one, and fails at a record that another git is just writing.
func (rp *Repo) LockWorktrees(ctx context.Context) (unlock func(), err error) {
	return rp.AcquireLock(ctx, "worktrees", theWorktrees, worktreesWait)
}

// theWorktrees is the name of their lock, as somebody reads it who waits for it.
const theWorktrees = "the worktrees of this repository"

// addWorktree creates the branch and the worktree of a plan, as far as it says so.
func (rp *Repo) addWorktree(ctx context.Context, m *Plan) (err error) {
	// A plan that was made under the lock has it still, and its intent says so.
	if !m.begun {
		unlock, err := rp.LockWorktrees(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		rp.KillPoint("make: locked")

		if err := rp.recordBegun(ctx, m); err != nil {
			return err
		}
	}
	rp.KillPoint("make: begun")

	// git may still list a worktree that somebody removed by hand, and then refuses to add another there.
	if m.newTree {
		if err := rp.Git.RemoveRecord(rp.Common, m.Path); err != nil {
			return err
		}
	}

	// The branch is moved only from where it was when the attempt was planned.
	if m.oldHead != "" && m.newTree {
		_, err = rp.Git.UpdateRef(ctx, rp.Root, "refs/heads/"+m.Task.Branch, m.startCommit(), m.oldHead)
	}

	switch {
	case err != nil:
	case !m.newTree && m.oldHead != "":
		err = rp.Git.FastForward(ctx, m.Path, m.startCommit())
	case !m.newTree:
	case m.newBranch:
		err = rp.Git.AddWorktree(ctx, rp.Root, m.Path, m.Task.Branch, m.startCommit(), whyLocked)
	default:
		err = rp.Git.AddWorktreeOf(ctx, rp.Root, m.Path, m.Task.Branch, whyLocked)
	}

	return err
}

// recordBegun looks again whether somebody has made the branch or the worktree of a plan while it waited for
// the lock, and says in its intent that git begins.
func (rp *Repo) recordBegun(ctx context.Context, m *Plan) (err error) {
	if m.newBranch {
		err = rp.requireNoBranch(ctx, *m)
	}
	if err == nil && m.newTree {
		err = rp.requireNoDirectory(*m)
	}
	if err != nil {
		return err
	}

	// The intent says so before git acts: after a crash, what lies there may be ours.
	m.begun = true
	return rp.WriteOutcome(ctx, func(o *Op) error { return o.storeSpawn(*m) })
}

// undoFailedSpawn undoes a spawn or retry that failed, and returns why it failed.
func (rp *Repo) undoFailedSpawn(ctx context.Context, m Plan, why error) error {
	// Undoing goes on even if the caller has given up.
	ctx = context.WithoutCancel(ctx)
	if err := rp.removeSpawned(ctx, m.storedForm()); err != nil {
		return fmt.Errorf("%w (and tt couldn't undo what it had created: %v)", why, err)
	}
	if err := rp.WriteOutcome(ctx, func(o *Op) error { return o.Tx.EndIntent(m.id, "undone") }); err != nil {
		return fmt.Errorf("%w (%v)", why, err)
	}
	return why
}

// removeSpawned removes what a spawn or retry created before it failed, and nothing that somebody else has
// made: a directory only if git has it as a worktree that tt has locked, a branch only if git has begun. If
// the new branch has moved since, it holds somebody's work, and stays with its worktree.
func (rp *Repo) removeSpawned(ctx context.Context, m SpawnIntent) error {
	// What tt hasn't made, it doesn't remove.
	ours := git.LockReason(rp.Common, m.Path) == whyLocked
	if m.Begun == nil && !ours || m.Begun != nil && !*m.Begun {
		return nil
	}

	ref := "refs/heads/" + m.Task.Branch
	at, ok, err := rp.Git.Commit(ctx, rp.Root, ref)
	if err != nil {
		return err
	}

	// Somebody has committed there.
	if m.NewBranch && ok && at != m.Base {
		return nil
	}
	if m.NewTree && ours {
		if err := rp.RemoveTree(m.Path); err != nil {
			return err
		}
	}

	// Directories are removed only if they are empty.
	if m.NewTree {
		_ = os.Remove(m.Path)
		_ = os.Remove(filepath.Dir(m.Path))
	}
	rp.KillPoint("undo: worktree")

	if m.NewBranch && ok {
		return rp.Git.DeleteRef(ctx, rp.Root, ref, m.Base)
	}
	return nil
}

// undoSpawn undoes a spawn or retry whose process died. It can then be run again. A worktree that was made
// again for the attempt that there is stays, if it is complete: its worker may work there by now.
func (rp *Repo) undoSpawn(ctx context.Context, i store.Intent) error {
	m, err := ReadIntent[SpawnIntent](i)
	if err != nil {
		return err
	}

	// The task file is written last, so with it the worktree is complete.
	if task, err := rp.ReadTask(ctx, i.Task); err == nil && !m.NewBranch && task.Attempt == i.Attempt {
		if _, complete := core.ReadTaskFile(m.Path); complete {
			return rp.WriteOutcome(ctx, func(o *Op) error { return o.Tx.EndIntent(i.ID, "done") })
		}
	}

	if err := rp.removeSpawned(ctx, m); err != nil {
		return err
	}
	return rp.WriteOutcome(ctx, func(o *Op) error { return o.Tx.EndIntent(i.ID, "undone") })
}

// MadeWorktree is a worktree that was made as planned.
type MadeWorktree struct {
	Room   stick.RoomID  // empty until the task is recorded
	By     stick.AgentID // who made it
	Joined bool          // the caller wasn't a member before
	CopiedFiles
}

// CarryOutPlan creates what a plan says, between an intent of this kind and the events that record makes;
// then the project's command sets a new worktree up. record also decides before anything is created whether
// the task may begin. A failure undoes everything that was created, except if it is [stick.CodeSetupFailed].
func (rp *Repo) CarryOutPlan(
	ctx context.Context, kind string, m Plan, record func(o *Op, slot int) ([]stick.Event, error),
) (made MadeWorktree, err error) {
	id, err := rp.NewID(ctx)
	if err != nil {
		return made, err
	}

	// The intent has the slot, so that nobody else gets it while git works.
	m.id, m.kind = id, kind
	err = rp.Write(ctx, core.JoinsIfNew, func(o *Op) (err error) {
		if m.slot, err = o.freeSlot(m.Task); err != nil {
			return err
		}
		if _, err := record(o, m.slot); err != nil {
			return err
		}

		made.Joined = o.Joined
		return o.storeSpawn(m)
	})
	if err != nil {
		return made, err
	}
	defer rp.ServeIntent(ctx, id)()
	rp.KillPoint(kind + ": intended")

	// git acts between two transactions. A failure is undone at once, a crash by the next command.
	if made.CopiedFiles, err = rp.createWorktree(ctx, &m); err != nil {
		return made, rp.undoFailedSpawn(ctx, m, err)
	}
	rp.KillPoint(kind + ": made")

	setup, err := rp.planSetup(ctx, m)
	if err != nil {
		return made, rp.undoFailedSpawn(ctx, m, err)
	}

	err = rp.WriteOutcome(ctx, func(o *Op) error {
		// The task begins, the intent ends and the set-up is due in one transaction.
		events, err := record(o, m.slot)
		if err != nil {
			return err
		}

		for _, ev := range events {
			o.AddTaskEvent(ev)
		}

		made.Room, made.By = o.Room.ID, o.Me.Agent
		if err := o.Tx.EndIntent(id, "done"); err != nil {
			return err
		}
		return o.beginSetup(setup)
	})
	if err != nil {
		return made, rp.undoFailedSpawn(ctx, m, err)
	}
	return made, rp.setUp(ctx, setup)
}
