package task_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// TestRecoveryAtEveryKillPoint kills a command at each of its kill points. The same command, run again, must
// then lead to the same state. A run that isn't killed shows which kill points there are.
func TestRecoveryAtEveryKillPoint(t *testing.T) {
	testenv.Alone(t)

	for _, c := range testenv.Nth(t, "commands that are killed", 2, []struct {
		name   string
		before func(*scene.Scene, *scene.Actor, *scene.Actor)
		act    func(*scene.Actor) error
		after  stick.TaskState
	}{
		{
			"spawn", nil,
			func(a *scene.Actor) error { return a.Spawn("one").Err },
			stick.TaskAssigned,
		},
		{
			"done", func(s *scene.Scene, ann, bob *scene.Actor) {
				ann.Spawn("one").OK()
				ann.WorksOn("one").Commits("one.txt", "one\n")
				s.ReadyToMerge("other", ann, bob)
				bob.Merge("other").OK()
			},
			func(a *scene.Actor) error { return a.Done("one").Err },
			stick.TaskInReview,
		},
		{
			"merge", func(s *scene.Scene, ann, bob *scene.Actor) {
				s.ReadyToMerge("one", ann, bob)
				s.Git("switch", "-q", "integration")
			},
			func(a *scene.Actor) error { return a.Merge("one").Err },
			stick.TaskCompleted,
		},
		{
			"rollback", func(s *scene.Scene, ann, bob *scene.Actor) {
				s.ReadyToMerge("one", ann, bob)
				bob.Merge("one").OK()
			},
			func(a *scene.Actor) error { return a.Rollback("one").Err },
			stick.TaskFailed,
		},
		{
			"retry", func(s *scene.Scene, ann, bob *scene.Actor) {
				ann.Spawn("one").OK()
				ann.WorkerCancel(task.WorkerCancelParams{TaskID: "one", Delete: true}).OK()
			},
			func(a *scene.Actor) error { return a.Retry("one").Err },
			stick.TaskAssigned,
		},
		{
			"cancel --delete", func(s *scene.Scene, ann, bob *scene.Actor) {
				ann.Spawn("one").OK()
				w := ann.WorksOn("one")
				w.Commits("one.txt", "one\n")
				s.File("worktrees/one/half", "not committed\n")
			},
			func(a *scene.Actor) error {
				res := a.WorkerCancel(task.WorkerCancelParams{TaskID: "one", Delete: true})
				if res.Err == nil && len(res.Res.Left)+len(res.Res.Kept) > 0 && res.Res.Rescue == "" {
					return fmt.Errorf("left: %v, kept: %v", res.Res.Left, res.Res.Kept)
				}
				if kept := a.Scene.Git("for-each-ref", "refs/talkingstick/kept/"); kept == "" {
					return errors.New("its commit isn't kept")
				}
				return res.Err
			},
			stick.TaskFailed,
		},
		{
			"spawn by a name that is free again", func(s *scene.Scene, ann, bob *scene.Actor) {
				ann.Spawn("one").OK()
				ann.WorkerCancel(task.WorkerCancelParams{TaskID: "one", Delete: true}).OK()
			},
			func(a *scene.Actor) error { return a.Spawn("one").Err },
			stick.TaskAssigned,
		},
		{
			"spawn with a set-up", setsUp,
			func(a *scene.Actor) error {
				if err := a.Spawn("one").Err; err != nil {
					return err
				}
				return isSetUp(a)
			},
			stick.TaskAssigned,
		},
		{
			"next", func(s *scene.Scene, ann, bob *scene.Actor) {
				setsUp(s, ann, bob)
				bob.SpawnLater("one").OK()
			},
			func(a *scene.Actor) error {
				if err := a.Next().Err; err != nil {
					return err
				}
				return isSetUp(a)
			},
			stick.TaskWorking,
		},
		{
			"start without a worktree", func(s *scene.Scene, ann, bob *scene.Actor) {
				if err := os.RemoveAll(ann.Spawn("one").OK().Worktree); err != nil {
					panic(err)
				}
			},
			func(a *scene.Actor) error {
				res := a.WorkerStart(task.WorkerStartParams{TaskID: "one"})
				if res.Err != nil {
					return res.Err
				}

				if _, err := os.Stat(filepath.Join(res.Res.Worktree, core.TaskFileName)); err != nil {
					return err
				}

				for _, task := range a.WorkerStatus(task.WorkerStatusParams{}).OK().Tasks {
					if task.Doing != "" {
						return errors.New("it is still " + task.Doing)
					}
				}

				return nil
			},
			stick.TaskWorking,
		},
	}) {
		t.Run(c.name, func(t *testing.T) {
			set := func(t *testing.T) (*scene.Scene, *scene.Actor) {
				s, ann, bob := cast(t, "true")
				if c.before != nil {
					c.before(s, ann, bob)
				}
				return s, ann
			}

			s, ann := set(t)
			points := ann.KillPoints(func(a *scene.Actor) {
				if err := c.act(a); err != nil {
					t.Fatal(err)
				}
			})

			s.TaskIs("one", c.after)
			testenv.Leaves(t, testenv.Every, "six of seven kill points")
			nth := map[string]int{}
			for i, point := range points {
				nth[point]++
				n := nth[point]
				if !testenv.KillsAt(i) {
					continue
				}

				t.Run(fmt.Sprintf("%s %d", point, n), func(t *testing.T) {
					s, ann := set(t)
					if !ann.Killed(point, n, func(a *scene.Actor) { _ = c.act(a) }) {
						t.Fatal("the command reached its end, but it should have been killed")
					}

					if err := c.act(ann.Again()); err != nil {
						s.Check(false, "the command fails when run again: %v", err)
					}
					s.TaskIs("one", c.after)
				})
			}
		})
	}
}

// setsUp has the project copy a file into new worktrees, and run a command there.
func setsUp(s *scene.Scene, _, _ *scene.Actor) {
	s.Commit(".gitignore", ".env\nsetup\n")
	s.File(".env", "KEY=1\n")
	s.Commit(".talking-stick.toml", "[worker]\nsetup = 'test -e .env && echo $TT_SLOT >setup'\ncopy = ['.env']\n")
	s.Git("branch", "-f", "integration", "HEAD")
	s.Person("pat").AcceptsCommands()
}

// isSetUp checks that the worktree of the task one is complete.
func isSetUp(a *scene.Actor) error {
	show := a.WorkerShow(task.WorkerShowParams{TaskID: "one"}).OK()
	if show.Doing != "" ||
		show.Setup == nil ||
		show.Setup.Exit == nil ||
		*show.Setup.Exit != 0 ||
		show.Slot == nil ||
		*show.Slot != 0 {
		return fmt.Errorf("its set-up is %+v in slot %v, and it is %q", show.Setup, show.Slot, show.Doing)
	}
	if b, err := os.ReadFile(filepath.Join(show.Path, "setup")); string(b) != "0\n" {
		return fmt.Errorf("its set-up wrote %q (%w)", b, err)
	}

	return nil
}

// TestDoctor_KilledTask checks that the doctor names what a killed command left half done, until the
// next command finishes it.
func TestDoctor_KilledTask(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.LeavesWork()
	s.ReadyToMerge("one", ann, bob)
	s.Check(bob.Killed("merge: moved", 1, func(b *scene.Actor) { b.Merge("one") }),
		"the merge reached its end, but it should have been killed")
	f := ann.Tasks.Check(t.Context())
	s.Check(f.Status == "warning" && f.Fix == "tt task merge one", "%+v", f)
	bob.WorkerShow(task.WorkerShowParams{TaskID: "one"}).That("what was interrupted",
		func(r task.WorkerShowResult) bool { return r.Doing == "land" })
	bob.Cancel("one").Refused(stick.CodeInvalidTransition) // this command finds out that the task has landed

	s.Dir("work/worktrees/.gate-000000000000")
	f = ann.Tasks.Check(t.Context())
	s.Check(f.Status == "ok" || f.Fix != "", "%+v", f)
}
