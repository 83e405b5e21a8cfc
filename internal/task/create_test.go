package task_test

import (
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestCreate_KeepsWhatOthersMade: a spawn waits for its turn to make a worktree, and somebody makes the
// directory and the branch by hand. The spawn fails, or dies, and what it undoes isn't theirs.
func TestCreate_KeepsWhatOthersMade(t *testing.T) {
	for name, killed := range map[string]bool{"it fails": false, "it is killed": true} {
		t.Run(name, func(t *testing.T) {
			s, ann, bob := cast(t, "")
			mine := filepath.Join(s.Work, "worktrees", "one", "mine")
			byHand := func() {
				s.Git("branch", "feat/one", "integration")
				s.File("worktrees/one/mine", "mine\n")
			}

			if killed {
				s.Check(ann.Killed("make: locked", 1, func(a *scene.Actor) { a.Spawn("one") }), "it wasn't killed")
				byHand()
			} else {
				ann.Meets("make: locked", byHand, func(a *scene.Actor) {
					a.Spawn("one").Refused(stick.CodeAlreadyExists)
				})
			}

			bob.Spawn("one").Refused(stick.CodeAlreadyExists)
			if _, err := os.Stat(mine); err != nil {
				t.Error(err)
			}
			s.Check(s.Git("branch", "--list", "feat/one") != "", "the branch that somebody made is gone")
		})
	}
}

// TestCreate_FailedWorktreeUndone: git has made it, and a hook of the project refuses it.
func TestCreate_FailedWorktreeUndone(t *testing.T) {
	s, ann, _ := cast(t, "")
	hook := filepath.Join(s.Work, ".git", "hooks", "post-checkout")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ann.Spawn("one").Refused(stick.CodeGitFailed)
	if _, err := os.Stat(filepath.Join(s.Work, "worktrees")); !os.IsNotExist(err) {
		t.Errorf("its worktree is still there: %v", err)
	}

	s.Check(s.Git("branch", "--list", "feat/*") == "", "its branch is still there")
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	ann.Spawn("one").OK()
}

// TestCancelOfATaskForLaterDeletesNothing: a branch of its name is somebody else's.
func TestCancelOfATaskForLaterDeletesNothing(t *testing.T) {
	s, ann, _ := cast(t, "")
	ann.SpawnLater("one").OK()
	s.Git("branch", "feat/one", "integration")
	ann.WorkerCancel(task.WorkerCancelParams{TaskID: "one", Reason: "not needed", Delete: true}).That("nothing", func(r task.WorkerCancelResult) bool {
		return len(r.Removed)+len(r.Kept) == 0
	})
	s.Check(s.Git("branch", "--list", "feat/one") != "", "the branch that somebody made is gone")
}
