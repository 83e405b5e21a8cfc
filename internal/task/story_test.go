package task_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// cast makes a repository with a merge queue and this gate, a worker and a reviewer.
func cast(t *testing.T, gate string) (s *scene.Scene, ann, bob *scene.Actor) {
	s = scene.InQueue(t, gate)
	ann, bob = s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(ann, bob)
	return s, ann, bob
}

// TestTaskStory_Lands follows a task from its creation through work, review, gate and merge to its cleanup.
func TestTaskStory_Lands(t *testing.T) {
	s, ann, bob := cast(t, "test -f one.txt && test ! -e broken")
	x := ann.Spawn("one").
		That("a worktree", func(r task.WorkerSpawnResult) bool {
			return r.Task.State == stick.TaskAssigned && !r.Already
		}).OK()
	ann.Spawn("one").That("again", func(r task.WorkerSpawnResult) bool { return r.Already && r.Worktree == x.Worktree })
	bob.Spawn("one").Refused(stick.CodeAlreadyExists)

	work := ann.WorksOn("one")
	work.WorkerStart(task.WorkerStartParams{}).That("again", func(r task.WorkerStartResult) bool {
		return r.Already && strings.Contains(r.Prompt, "task one")
	})
	bob.WorkerStart(task.WorkerStartParams{TaskID: "one"}).Refused(stick.CodeNotYourTask)
	work.Done("").Refused(stick.CodeInvalidTransition) // no commits

	work.WorkerHeartbeat(task.WorkerHeartbeatParams{}).OK()
	bob.WorkerHeartbeat(task.WorkerHeartbeatParams{TaskID: "one"}).Refused(stick.CodeNotYourTask)
	bob.WorkerHeartbeat(task.WorkerHeartbeatParams{}).Refused(stick.CodeUsage)
	s.Check(strings.Contains(work.WorkerContext(task.WorkerContextParams{}).OK().Prompt, "do one"), "no prompt")
	work.HeldBack("Your task one")
	head := work.Commits("one.txt", "one\n")
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one", Head: head}).Refused(stick.CodeInvalidTransition)

	done := work.WorkerDone(task.WorkerDoneParams{Evidence: []string{"says=echo it works", "fails=exit 3"}}).OK()
	s.Check(
		done.Head == head && len(done.Evidence) == 2 && done.Evidence[1].Exit == 3 && done.State == stick.TaskInReview,
		"%+v", done,
	)
	s.Check(bob.WorkerOutput(task.WorkerOutputParams{Sum: done.Evidence[0].Output}).OK().Text == "it works\n",
		"the output of the check")
	bob.WorkerOutput(task.WorkerOutputParams{Sum: "nonsense"}).Refused(stick.CodeNotFound)

	work.Done("").That("again", func(r task.WorkerDoneResult) bool { return r.Already })

	ann.Approve("one").Refused(stick.CodeAuthorCannotReview)
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one"}).Refused(stick.CodeReviewStale) // it has seen nothing
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one", Head: "nonsense"}).Refused(stick.CodeNotFound)
	bob.Merge("one").Refused(stick.CodeInvalidTransition)

	bob.Approve("one").That("approved", func(r task.WorkerReviewResult) bool { return r.State == stick.TaskApproved })
	bob.Approve("one").That("again", func(r task.WorkerReviewResult) bool { return r.Already })
	m := bob.Merge("one").OK().Merged
	s.Check(
		len(m) == 1 && m[0].Gate == "green" && len(m[0].Left) == 0 && m[0].Commit == s.Git("rev-parse", "integration"),
		"%+v", m,
	)
	bob.Merge("one").That("again", func(r task.WorkerMergeResult) bool { return r.Merged[0].Already })
	s.TaskIs("one", stick.TaskCompleted)
	if _, err := os.Stat(work.Path); !os.IsNotExist(err) {
		t.Errorf("its worktree is still there: %v", err)
	}

	ann.WorkerStatus(task.WorkerStatusParams{}).That("one task", func(r task.WorkerStatusResult) bool {
		return len(r.Tasks) == 1
	})
	s.Later(25 * time.Hour)
	ann.WorkerStatus(task.WorkerStatusParams{}).That("hidden after a day",
		func(r task.WorkerStatusResult) bool { return r.Hidden == 1 })
	events := ann.WorkerExport(task.WorkerExportParams{TaskID: "one"}).OK().Events
	s.Check(len(events) > 4, "%d events", len(events))
	ann.WorkerShow(task.WorkerShowParams{TaskID: "none"}).Refused(stick.CodeNotFound)
}

// TestChangesAreRequested: the worker gets a message, and its next offer needs another review.
func TestChangesAreRequested(t *testing.T) {
	s, ann, bob := cast(t, "")
	ann.Spawn("one").OK()
	work := ann.WorksOn("one")
	work.Commits("one.txt", "one\n")
	work.Done("").OK()
	bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).That("what it changes",
		func(r task.WorkerDiffResult) bool { return strings.Contains(r.Diff, "+one") && len(r.Files) == 1 })
	bob.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one"}).Refused(stick.CodeUsage)

	ask := task.WorkerRequestChangesParams{TaskID: "one", Reason: "say two"}
	bob.WorkerRequestChanges(ask).That("a message to ann", func(r task.WorkerReviewResult) bool {
		return r.MessageID != 0 && r.State == stick.TaskWorking
	})
	bob.WorkerRequestChanges(ask).That("again", func(r task.WorkerReviewResult) bool { return r.Already })
	ann.Looks().Is(stick.GotEvents)
	work.Commits("one.txt", "two\n")
	work.Done("").OK()
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one"}).Refused(stick.CodeReviewStale)

	bob.Approve("one").OK()
	work.Commits("one.txt", "three\n") // behind the reviewer's back
	bob.Merge("one").Refused(stick.CodeReviewStale)
	s.TaskIs("one", stick.TaskInReview)
	carl := s.Person("carl")
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one", Override: true}).Refused(stick.CodePersonOnly)

	carl.WorkerApprove(task.WorkerApproveParams{TaskID: "one", Override: true}).OK()
	s.Check(bob.Merge("one").OK().Merged[0].Gate == "none", "a gate has run, but none is set")
}

// TestGate_Fails: a task that breaks the branch returns to its worker. If the branch itself is broken, its queue is
// paused until a task repairs it.
func TestGate_Fails(t *testing.T) {
	s, ann, bob := cast(t, "test ! -e broken")
	s.ReadyToMerge("good", ann, bob)
	ann.Spawn("bad").OK()
	bad := ann.WorksOn("bad")
	bad.Commits("broken", "")
	bad.Done("").OK()
	bob.Approve("bad").OK()
	bob.Merge("bad").Refused(stick.CodeGateFailed)

	s.Check(s.TaskIs("bad", stick.TaskWorking).Cause == "gate", "the cause")
	s.Git("worktree", "add", "-q", "../side", "integration")
	s.CommitIn(filepath.Join(s.Work, "../side"), "broken", "")
	s.Git("worktree", "remove", "../side")
	bob.WorkerMerge(task.WorkerMergeParams{All: true}).Refused(stick.CodeBaseRed)

	paused := bob.WorkerStatus(task.WorkerStatusParams{}).
		That("a paused queue", func(r task.WorkerStatusResult) bool { return len(r.Paused) == 1 }).OK().Paused
	said := bob.WorkerOutput(task.WorkerOutputParams{Sum: paused[0].Report}).OK().Text
	s.Check(said == "[tt: the gate printed nothing; exit status 1]\n",
		"the report of a gate that prints nothing: %q", said)
	bob.WorkerMerge(task.WorkerMergeParams{}).Refused(stick.CodeBaseRed)

	ann.Spawn("mend").OK()
	mend := ann.WorksOn("mend")
	s.GitIn(mend.Path, "rm", "-q", "broken")
	s.GitIn(mend.Path, "commit", "-q", "-m", "mend")
	mend.Done("").OK()
	bob.Approve("mend").OK()
	bob.Merge("mend").OK()
	bob.WorkerMerge(task.WorkerMergeParams{All: true}).That("the good one",
		func(r task.WorkerMergeResult) bool { return len(r.Merged) == 1 && r.Merged[0].TaskID == "good" })
	bob.WorkerMerge(task.WorkerMergeParams{All: true, TaskID: "x"}).Refused(stick.CodeUsage)
	bob.WorkerMerge(task.WorkerMergeParams{}).That("nothing left", func(r task.WorkerMergeResult) bool {
		return len(r.Merged)+len(r.Waiting) == 0
	})
}

// TestDone_Conflict: the worker resolves a conflict in its rebase. With a conflict at the merge, the task returns to its
// worker.
func TestDone_Conflict(t *testing.T) {
	s, ann, bob := cast(t, "")
	one := func(name string) *scene.Work {
		ann.Spawn(name).OK()
		w := ann.WorksOn(name)
		w.Commits("same.txt", name+"\n")
		return w
	}

	first, second, third := one("first"), one("second"), one("third")
	first.Done("").OK()
	third.Done("").OK()
	bob.Approve("first").OK()
	bob.Approve("third").OK()
	bob.Merge("first").OK()
	bob.Merge("third").Refused(stick.CodeRebaseConflict)

	s.TaskIs("third", stick.TaskWorking)
	second.Done("").Refused(stick.CodeRebaseConflict)
	s.TaskIs("second", stick.TaskConflicted)
	second.Done("").Refused(stick.CodeRebaseConflict) // the rebase is in progress

	s.CommitMerged(second.Path, "same.txt", "both\n")
	second.WorkerDone(task.WorkerDoneParams{SkipRebase: true}).OK()
	bob.Approve("second").OK()
	bob.Merge("second").OK()
	third.Cancel("third").OK()
}

// TestDone_Refusals: uncommitted files, another branch, checks that change the worktree, a missing worktree.
func TestDone_Refusals(t *testing.T) {
	s, ann, _ := cast(t, "")
	ann.Spawn("one").OK()
	w := ann.WorksOn("one")
	w.Commits("a", "a\n")
	loose := filepath.Join(w.Path, "loose")
	if err := os.WriteFile(loose, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Done("").Refused(stick.CodeDirtyTree)

	os.Remove(loose)
	for _, evidence := range []string{"nothing", "=x", "x="} {
		w.WorkerDone(task.WorkerDoneParams{Evidence: []string{evidence}}).Refused(stick.CodeUsage)
	}
	w.WorkerDone(task.WorkerDoneParams{Evidence: slices.Repeat([]string{"a=b"}, 21)}).Refused(stick.CodeUsage)
	w.WorkerDone(task.WorkerDoneParams{Evidence: []string{"dirt=touch dirt"}}).Refused(stick.CodeDirtyTree)

	os.Remove(filepath.Join(w.Path, "dirt"))
	w.WorkerDone(task.WorkerDoneParams{
		Evidence: []string{"commit=git -c user.name=w -c user.email=w@example.invalid commit -q --allow-empty -m x"},
	}).Refused(stick.CodeDirtyTree)
	w.WorkerDone(task.WorkerDoneParams{Attempt: 7}).Refused(stick.CodeStaleAttempt)
	s.GitIn(w.Path, "switch", "-q", "-c", "aside")
	w.Done("").Refused(stick.CodeDirtyTree)

	s.GitIn(w.Path, "switch", "-q", "--detach")
	w.Done("").Refused(stick.CodeDirtyTree)
	s.Git("worktree", "remove", "--force", "--force", w.Path)
	ann.Done("one").Refused(stick.CodeNotFound)
	ann.Cancel("one").OK()
}

// TestFail_TaskGivenUp: its worker fails it, or somebody cancels it. The next attempt starts from its branch.
func TestFail_TaskGivenUp(t *testing.T) {
	s, ann, bob := cast(t, "")
	ann.Spawn("one").OK()
	w := ann.WorksOn("one")
	w.Commits("a", "a\n")
	ann.Retry("one").Refused(stick.CodeInvalidTransition)
	w.WorkerFail(task.WorkerFailParams{}).Refused(stick.CodeUsage)
	w.WorkerFail(task.WorkerFailParams{Reason: "one"}).Refused(stick.CodeUsage) // the name of a task is no reason

	w.WorkerFail(task.WorkerFailParams{Reason: "too hard"}).OK()
	w.WorkerFail(task.WorkerFailParams{Reason: "too hard"}).That("again",
		func(r task.WorkerHeartbeatResult) bool { return r.Already })
	s.TaskIs("one", stick.TaskFailed)
	bob.Retry("one").That("the second attempt", func(r task.WorkerSpawnResult) bool { return r.Task.Attempt == 2 })
	bob.Retry("one").That("again", func(r task.WorkerSpawnResult) bool { return r.Already })
	ann.WorkerStart(task.WorkerStartParams{TaskID: "one", Attempt: 1}).Refused(stick.CodeStaleAttempt)

	bob.WorksOn("one").Reserve("a").OK()
	ann.Cancel("one").That("a message to bob", func(r task.WorkerCancelResult) bool {
		return r.Delivery != "" && !r.Already
	})
	ann.Cancel("one").That("again", func(r task.WorkerCancelResult) bool { return r.Already })
	s.File("worktrees/one/half", "not committed\n")
	ann.WorkerCancel(task.WorkerCancelParams{TaskID: "one", Delete: true}).That("its commits and files kept",
		func(r task.WorkerCancelResult) bool {
			return r.Free && len(r.Tips) == 1 && slices.Contains(r.Remains.Kept, "half")
		})
	s.Check(s.Git("branch", "--list", "feat/one") == "", "the branch is still there")
	ann.WorkerCancel(task.WorkerCancelParams{TaskID: "one", Delete: true}).OK()
	ann.Spawn("one").That("a new task", func(r task.WorkerSpawnResult) bool { return r.Task.Attempt == 3 && !r.Already })
	ann.WorkerStart(task.WorkerStartParams{TaskID: "one", Attempt: 2}).Refused(stick.CodeStaleAttempt)
	ann.WorkerShow(task.WorkerShowParams{TaskID: "one"}).That("nothing of the earlier task", func(r task.WorkerShowResult) bool {
		return r.Worker == "" && r.Cause == "" && len(r.Reviews) == 0
	})
	ann.WorkerCancel(task.WorkerCancelParams{TaskID: "one"}).OK()
	ann.Spawn("two").OK()
	ann.WorkerCancel(task.WorkerCancelParams{TaskID: "two", Delete: true}).That("nothing left",
		func(r task.WorkerCancelResult) bool { return len(r.Left) == 0 })
	bob.Retry("two").OK()
	bob.Cancel("two").OK()
	ann.WorkerStatus(task.WorkerStatusParams{All: true}).OK()
}

// TestRollback_RevertsMerge by a new commit, which must also pass the gate.
func TestRollback_RevertsMerge(t *testing.T) {
	s, ann, bob := cast(t, "test ! -e red")
	s.ReadyToMerge("one", ann, bob)
	bob.Rollback("one").Refused(stick.CodeInvalidTransition)
	bob.Merge("one").OK()
	bob.WorkerRollback(task.WorkerRollbackParams{TaskID: "one"}).Refused(stick.CodeUsage)

	bob.Rollback("one").That("green", func(r task.WorkerRollbackResult) bool {
		return r.Gate == "green" && r.State == stick.TaskFailed
	})
	bob.Rollback("one").That("again", func(r task.WorkerRollbackResult) bool { return r.Already })
	s.Check(!strings.Contains(s.Git("ls-tree", "--name-only", "integration"), "one.txt"), "the file is still there")
	ann.Retry("one").That("a note about its work", func(r task.WorkerSpawnResult) bool {
		return strings.Contains(string(r.Note), "git revert")
	})
	ann.Cancel("one").OK()
}

// TestMerge_TargetCheckedOut, a merge moves the files, unless they have uncommitted changes or the caller may
// not change them.
func TestMerge_TargetCheckedOut(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.ReadyToMerge("one", ann, bob)
	s.Git("switch", "-q", "integration")
	s.File("README", "changed\n")
	bob.Merge("one").Refused(stick.CodeDirtyTree)

	s.Git("checkout", "-q", "README")
	s.File("one.txt", "in the way\n")
	bob.Merge("one").Refused(stick.CodeDirtyTree)
	os.Remove(filepath.Join(s.Work, "one.txt"))
	ann.Try().Granted(1)
	ann.Sets("enforce=stick").OK()
	bob.Merge("one").Refused(stick.CodeEditDenied)

	ann.Release("s", "n").OK()
	bob.Try().Granted(2)
	bob.Merge("one").OK()
	if _, err := os.Stat(filepath.Join(s.Work, "one.txt")); err != nil {
		t.Error(err)
	}
}

// TestMerge_RemoteTarget if it has the branch, too: done and merge push to it.
func TestMerge_RemoteTarget(t *testing.T) {
	s, ann, bob := cast(t, "")
	origin := s.Dir("origin.git")
	s.GitIn(origin, "init", "-q", "--bare")
	s.Git("remote", "add", "origin", origin)
	s.Git("push", "-q", "origin", "integration")
	s.Git("fetch", "-q")
	ann.Spawn("one").OK()
	w := ann.WorksOn("one")
	head := w.Commits("one.txt", "one\n")
	w.Done("").That("pushed", func(r task.WorkerDoneResult) bool { return r.Pushed != "" })
	s.Check(s.GitIn(origin, "rev-parse", "feat/one") == head, "the remote")
	bob.Approve("one").OK()
	m := bob.Merge("one").OK().Merged[0]
	s.Check(
		s.GitIn(origin, "rev-parse", "integration") == m.Commit &&
			s.Git("rev-parse", "integration") == m.Commit &&
			len(m.Left) == 0,
		"%+v", m,
	)

	// Done doesn't overwrite somebody else's commits on the task's branch.
	ann.Spawn("two").OK()
	w = ann.WorksOn("two")
	w.Commits("two.txt", "two\n")
	other := s.Dir("other")
	s.GitIn(other, "clone", "-q", origin, ".")
	s.GitIn(other, "switch", "-q", "-c", "feat/two")
	s.CommitIn(other, "theirs", "x\n")
	s.GitIn(other, "push", "-q", "origin", "feat/two")
	w.Done("").Refused(stick.CodeGitFailed)
	w.Cancel("two").OK()
}

// TestSpawn_WorktreeSetup: a repository with a commit, an integration branch, and valid names.
func TestSpawn_WorktreeSetup(t *testing.T) {
	s := scene.New(t)
	ann := s.Agent("claude:a")
	ann.WorkerInit(task.WorkerInitParams{}).Refused(stick.CodeNoRepository)
	s.Git("init", "-q")
	ann.WorkerInit(task.WorkerInitParams{}).Refused(stick.CodeNotFound)

	s.Commit("a", "a\n")
	ann.Spawn("one").Refused(stick.CodeNotFound)
	ann.WorkerInit(task.WorkerInitParams{Branch: "a..b"}).Refused(stick.CodeUsage)
	ann.WorkerInit(task.WorkerInitParams{Branch: "queue"}).That("created", func(r task.WorkerInitResult) bool {
		return r.Created && r.Branch == "queue"
	})
	ann.WorkerInit(task.WorkerInitParams{}).That("as before", func(r task.WorkerInitResult) bool {
		return !r.Created && r.Branch == "queue"
	})
	ann.Spawn("../x").Refused(stick.CodeUsage)
	ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "one", Base: "nonsense"}).Refused(stick.CodeNotFound)

	s.Git("branch", "feat/taken")
	ann.Spawn("taken").Refused(stick.CodeAlreadyExists)
	s.Dir("work/worktrees/there")
	ann.Spawn("there").Refused(stick.CodeAlreadyExists)

	ann.WorkerSpawn(task.WorkerSpawnParams{TaskID: "one", Base: "main", Spec: "read this"}).OK()
	ann.WorkerContext(task.WorkerContextParams{}).Refused(stick.CodeUsage)
	s.Agent("codex:b").Merge("one").Refused(stick.CodeUnknownMember)
	ann.WorkerStatus(task.WorkerStatusParams{Where: s.ByID()}).OK()
	ann.WorkerStatus(task.WorkerStatusParams{Where: core.Where{Path: s.Dir("nowhere")}}).Refused(stick.CodeNoRoom)

	bare := s.Dir("bare.git")
	s.GitIn(bare, "init", "-q", "--bare")
	s.AgentIn("gemini:c", bare).WorkerInit(task.WorkerInitParams{}).Refused(stick.CodeInvalidPath)
}

// TestRun_CommandOfTask runs a command for an attempt, and checks that its exit status is recorded.
func TestRun_CommandOfTask(t *testing.T) {
	s, ann, _ := cast(t, "")
	ann.Spawn("one").OK()
	run := *ann.WorkerRun(task.WorkerRunParams{TaskID: "one", Command: "echo out; exit 3"}).OK().Start
	begun := false
	run.Begun = func() { begun = true }
	if err := ann.RunTask(t.Context(), run); err != nil || !begun {
		t.Fatalf("%v, %v", begun, err)
	}

	r := s.TaskIs("one", stick.TaskAssigned).Run
	s.Check(r != nil && r.Exit != nil && *r.Exit == 3, "%+v", r)
	ann.Cancel("one").OK()
}

// TestMerge_StepsRefusedMeanwhile can't be started, failed or reviewed, and git's hooks know that the change is tt's.
func TestMerge_StepsRefusedMeanwhile(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.ReadyToMerge("one", ann, bob)
	s.Check(!ann.OwnChange("") && !ann.OwnChange("nonsense"), "a change without an open intent counts as tt's")
	id := ""
	bob.Meets("merge: intended", func() {
		id = s.Intent("one")
		s.Check(ann.OwnChange(id), "the change of the merge doesn't count as tt's")
		ann.WorkerStart(task.WorkerStartParams{TaskID: "one"}).Refused(stick.CodeLanding)
		bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one"}).Refused(stick.CodeLanding)
		ann.WorkerFail(task.WorkerFailParams{TaskID: "one", Reason: "x"}).Refused(stick.CodeLanding)
	}, func(b *scene.Actor) { b.Merge("one").OK() })
	s.Check(!ann.OwnChange(id), "a change after the merge still counts as tt's")
}

// TestMerge_LostRace: the branch moves during a merge, so the merge starts again from the new head.
func TestMerge_LostRace(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.ReadyToMerge("one", ann, bob)
	bob.Meets("merge: judged", func() {
		tree := s.Git("rev-parse", "integration^{tree}")
		s.Git("update-ref", "refs/heads/integration", s.Git("commit-tree", "-p", "integration", "-m", "faster", tree))
	}, func(b *scene.Actor) {
		b.Merge("one").That("a second try", func(r task.WorkerMergeResult) bool { return r.Merged[0].Tries == 2 })
	})
}

// TestMerge_ByHand: a task that the branch contains already counts as landed.
func TestMerge_ByHand(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.ReadyToMerge("one", ann, bob)
	s.Git("switch", "-q", "integration")
	s.Git("merge", "-q", "feat/one")
	s.Git("switch", "-q", "main")
	bob.Merge("one").That("by hand", func(r task.WorkerMergeResult) bool {
		return r.Merged[0].Note != "" && r.Merged[0].Commit == ""
	})
	bob.Merge("one").That("again", func(r task.WorkerMergeResult) bool { return r.Merged[0].Already })
}

// TestWorker_Blocked may offer its work, but gets a warning while nobody has answered.
func TestWorker_Blocked(t *testing.T) {
	s, ann, bob := cast(t, "")
	ann.Spawn("one").OK()
	w := ann.WorksOn("one")
	w.Commits("a", "a\n")
	m := w.BlockedOn(bob, "which?").ID()
	w.Done("").That("a warning", func(r task.WorkerDoneResult) bool { return r.Warning != "" })
	bob.Accepts(m).OK()
	w.Done("").That("no warning", func(r task.WorkerDoneResult) bool { return r.Warning == "" })
	s.TaskIs("one", stick.TaskInReview)
	bob.Approve("one").OK()
	ann.Dies()
	bob.Merge("one").That("cleaned up", func(r task.WorkerMergeResult) bool { return len(r.Merged[0].Left) == 0 })
}

// TestCleanup_Leftovers: a worktree in which a process works, or that has uncommitted files.
func TestCleanup_Leftovers(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.LeavesWork()
	w := s.ReadyToMerge("one", ann, bob)
	there := s.AgentIn("gemini:c", w.Path)
	bob.Merge("one").That("a worktree in use", func(r task.WorkerMergeResult) bool {
		return len(r.Merged[0].Left) == 1
	})
	f := ann.Tasks.Check(t.Context())
	s.Check(f.Status == core.FindingWarning, "%+v", f)
	there.Dies()
	if err := os.WriteFile(filepath.Join(w.Path, "loose"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	bob.Merge("one").That("a worktree with a loose file", func(r task.WorkerMergeResult) bool {
		return len(r.Merged[0].Left) == 1
	})
	os.Remove(filepath.Join(w.Path, "loose"))
	bob.WorkerMerge(task.WorkerMergeParams{All: true}).OK()
	if _, err := os.Stat(w.Path); !os.IsNotExist(err) {
		t.Errorf("the worktree is still there: %v", err)
	}
}

// TestCleanupLeavesAWorktreeAtAnotherCommit: the worktree is clean, and its commits are on no branch. Only the worktree holds them.
func TestCleanupLeavesAWorktreeAtAnotherCommit(t *testing.T) {
	s, ann, bob := cast(t, "")
	s.LeavesWork()
	w := s.ReadyToMerge("one", ann, bob)
	s.GitIn(w.Path, "switch", "-q", "--detach")
	held := w.Commits("more.txt", "on no branch\n")

	bob.Merge("one").That("a worktree at another commit", func(r task.WorkerMergeResult) bool {
		left := r.Merged[0].Left
		return len(left) == 1 && strings.Contains(string(left[0]), "at another commit")
	})

	s.Check(s.GitIn(w.Path, "rev-parse", "HEAD") == held, "the worktree isn't at its commit any more")
	bob.WorkerMerge(task.WorkerMergeParams{All: true}).OK() // it tries to clean up again
	s.Check(s.GitIn(w.Path, "rev-parse", "HEAD") == held, "the worktree isn't at its commit after the second cleanup")
}

// TestMergeThatDiedInItsGate: the next command on the task removes the worktree of the gate, whatever that command is.
func TestMergeThatDiedInItsGate(t *testing.T) {
	s, ann, bob := cast(t, "true")
	s.ReadyToMerge("one", ann, bob)
	s.Check(bob.Killed("gate: worktree", 1, func(b *scene.Actor) { b.Merge("one") }),
		"the merge reached its end, but it should have been killed")

	events := ann.WorkerExport(task.WorkerExportParams{TaskID: "one"}).OK().Events
	begun, ok := stick.TaskFactsOf[stick.TaskMergeStartedFacts](events[len(events)-1])
	s.Check(ok, "the last event is %+v", events[len(events)-1])
	tree := filepath.Join(s.Work, "worktrees", ".gate-"+begun.Result[:12])
	// a kill in a story runs what is deferred; a process that dies leaves it
	s.Git("worktree", "add", "-q", "--detach", tree, begun.Result)

	bob.Cancel("one").OK()
	s.TaskIs("one", stick.TaskFailed)
	_, err := os.Stat(tree)
	s.Check(os.IsNotExist(err), "the gate's worktree is still there: %v", err)
}

// TestReview_WakesIdleWorker: the answer to who decides says that the worker is woken now, if its harness has an inbox.
func TestReview_WakesIdleWorker(t *testing.T) {
	s, ann, bob := cast(t, "")
	inbox := ann.HasInbox()
	ann.Works()
	ann.Spawn("one").OK()
	ann.WorksOn("one").Commits("one.txt", "one\n")
	ann.Done("one").OK()
	ann.Idle()
	bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).OK()
	bob.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "one", Reason: "mend it"}).
		That("the worker is woken now", func(r task.WorkerReviewResult) bool {
			return r.Delivery == presence.DeliveryListening
		}).OK()
	inbox.Gets("mend it")
	bob.Cancel("one").
		That("the same", func(r task.WorkerCancelResult) bool { return r.Delivery == presence.DeliveryListening }).OK()
	inbox.Gets("task_failed", "The task one was cancelled: not needed")
	s.TaskIs("one", stick.TaskFailed)
}
