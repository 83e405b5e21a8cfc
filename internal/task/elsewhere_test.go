package task_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// hosts makes two hosts with clones of one repository, whose remote has the integration branch. ann works on
// the first, bob on the other.
func hosts(t *testing.T, gate string) (here, there *scene.Scene, ann, bob *scene.Actor) {
	here = scene.OnServer(t)
	ann = here.Agent("claude:a")
	here.Joins(ann)
	here.Queue(gate)
	here.Git("push", "-q", "origin", "main", "integration")
	there = here.Elsewhere("beta")
	bob = there.Agent("codex:b")
	there.Joins(bob)
	return here, there, ann, bob
}

// landed expects that the remote's integration branch has one merge of a task.
func landed(s *scene.Scene, name string) {
	s.Helper()
	s.Git("fetch", "-q", "origin")
	said := s.Git("log", "--merges", "--format=%s", "origin/integration")
	s.Check(strings.Count(said, "Merge task "+name+":") == 1, "the remote has these merges:\n%s", said)
}

// TestOtherHost_Task: a task stays where it was made. On other hosts it can be reviewed and merged,
// through the remote.
func TestOtherHost_Task(t *testing.T) {
	here, there, ann, bob := hosts(t, "test -f README")
	ann.Spawn("one").OK()
	no := bob.WorkerStart(task.WorkerStartParams{TaskID: "one"}).Refused(stick.CodeElsewhere)
	there.Check(strings.Contains(no.Message, here.Work+" on host"), "%s", no.Message)
	bob.Spawn("one").Refused(stick.CodeAlreadyExists)

	work := ann.WorksOn("one")
	bob.WorkerStart(task.WorkerStartParams{TaskID: "one"}).Refused(stick.CodeNotYourTask)
	for _, x := range bob.WorkerStatus(task.WorkerStatusParams{}).OK().Tasks {
		there.Check(x.Host == "host" && x.Checkout == here.Work, "where it is: %+v", x)
	}
	for _, x := range ann.WorkerStatus(task.WorkerStatusParams{}).OK().Tasks {
		here.Check(x.Host == "" && x.Checkout == "", "where it is: %+v", x)
	}
	there.Person("pat").WorkerDone(task.WorkerDoneParams{TaskID: "one"}).Refused(stick.CodeElsewhere)

	head := work.Commits("one.txt", "one\n")
	work.Done("").OK()

	bob.WorkerShow(task.WorkerShowParams{TaskID: "one"}).That("its commits", func(r task.WorkerShowResult) bool {
		return r.Branched == head && len(r.Commits) == 1 && strings.HasPrefix(r.Path, here.Work) && r.Warning == ""
	})
	bob.Approve("one").OK()
	m := bob.Merge("one").OK().Merged
	there.Check(
		len(m) == 1 &&
			m[0].Gate == "green" &&
			len(m[0].Left) == 1 &&
			strings.Contains(string(m[0].Left[0]), here.Work+" on host"),
		"%+v", m,
	)
	landed(there, "one")
	there.TaskIs("one", stick.TaskCompleted)
	there.Check(there.Git("ls-remote", "origin", "feat/one") == "", "the branch is still at the remote")
	there.Check(there.Git("rev-parse", "origin/integration") == m[0].Commit, "the remote isn't at the merge")

	// the worktree goes with the next merge where it is
	bob.Merge("one").That("again", func(r task.WorkerMergeResult) bool { return r.Merged[0].Already })
	ann.Merge("one").That("again", func(r task.WorkerMergeResult) bool {
		return r.Merged[0].Already && len(r.Merged[0].Removed) == 2
	})
	_, err := os.Stat(work.Path)
	here.Check(os.IsNotExist(err), "the worktree is still there: %v", err)

	ann.Rollback("one").OK()
	there.TaskIs("one", stick.TaskFailed)
}

// TestOtherHost_TaskBeginsWithItsLandings: it waits for another one, which lands on another host. This host
// hasn't fetched that.
func TestOtherHost_TaskBeginsWithItsLandings(t *testing.T) {
	here, there, ann, bob := hosts(t, "")
	here.LeavesWork()
	ann.Spawn("one").OK()
	bob.SpawnLater("two", "one").OK()
	work := ann.WorksOn("one")
	work.Commits("one.txt", "one\n")
	work.Done("").OK()
	pat := here.Person("pat")
	pat.Approve("one").OK()
	pat.Merge("one").OK()
	next := bob.Next().OK()
	_, err := os.Stat(filepath.Join(next.Worktree, "one.txt"))
	there.Check(next.TaskID == "two" && err == nil, "%s begins without what it has waited for: %v", next.TaskID, err)
}

// TestAnotherHostGoesOn: an attempt at a task goes on where somebody begins it, from what the earlier one has
// pushed.
func TestAnotherHostGoesOn(t *testing.T) {
	here, there, ann, bob := hosts(t, "")
	here.LeavesWork() // the worktree of the first attempt stays, because nobody knows whether it is needed
	ann.Spawn("one").OK()
	work := ann.WorksOn("one")
	head := work.Commits("one.txt", "one\n")
	work.Done("").OK()
	work.Commits("more.txt", "not pushed\n")
	bob.Cancel("one").That("what stays", func(r task.WorkerCancelResult) bool {
		return len(r.Kept) == 1 && strings.Contains(string(r.Kept[0]), here.Work+" on host")
	})
	x := bob.Retry("one").OK()
	there.Check(there.GitIn(x.Worktree, "rev-parse", "HEAD") == head, "the attempt begins elsewhere")
	again := bob.WorksOn("one")
	work.WorkerDone(task.WorkerDoneParams{Attempt: 1}).Refused(stick.CodeElsewhere)
	work.WorkerHeartbeat(task.WorkerHeartbeatParams{}).Refused(stick.CodeStaleAttempt)

	again.Commits("two.txt", "two\n")
	again.Done("").OK()
	here.Person("pat").Approve("one").OK()
	ann.Merge("one").OK()
	landed(here, "one")
	bob.Merge("one").OK() // cleans up

	// and back, over a branch of that name that has other commits
	bob.Spawn("two").OK()
	two := bob.WorksOn("two")
	two.Commits("three.txt", "three\n")
	two.Done("").OK()
	here.Git("branch", "feat/two", "main")
	here.CommitIn(here.Work, "own.txt", "own\n")
	here.Git("branch", "-f", "feat/two")
	ann.Cancel("two").OK()
	ann.Retry("two").Refused(stick.CodeAlreadyExists)

	here.Git("branch", "-m", "feat/two", "mine")
	ann.Retry("two").OK()
	ann.Cancel("two").OK()
}

// TestOtherHost_UnpushedCommits: where the integration branch has no remote, a task is reviewed and merged
// where it is.
func TestOtherHost_UnpushedCommits(t *testing.T) {
	here, _, ann, bob := hosts(t, "")
	for _, s := range []*scene.Scene{here, bob.Scene} {
		s.Git("branch", "trunk", "main")
		s.Git("config", "talkingstick.integration", "trunk")
	}

	carl := here.Agent("gemini:c")
	here.Joins(carl)
	here.ReadyToMerge("one", ann, carl)
	bob.WorkerDiff(task.WorkerDiffParams{TaskID: "one"}).Refused(stick.CodeElsewhere)
	bob.WorkerApprove(task.WorkerApproveParams{TaskID: "one"}).Refused(stick.CodeElsewhere)
	bob.Merge("one").Refused(stick.CodeElsewhere)

	bob.WorkerShow(task.WorkerShowParams{TaskID: "one"}).That("why", func(r task.WorkerShowResult) bool {
		return strings.Contains(string(r.Warning), "no remote")
	})
	carl.Merge("one").OK()
}

// TestOtherHost_FinishesLanding kills a merge at each of its kill points. Once it has shown no sign of
// life for a while, another host goes on, and the task lands once.
func TestOtherHost_FinishesLanding(t *testing.T) {
	set := func(t *testing.T) (here, there *scene.Scene, ann, bob *scene.Actor) {
		here, there, ann, bob = hosts(t, "test -f one.txt")
		here.LeavesWork()
		here.ReadyToMerge("one", ann, bob)
		return here, there, ann, bob
	}

	_, _, ann, _ := set(t)
	points := ann.KillPoints(func(a *scene.Actor) { a.Merge("one").OK() })
	testenv.Leaves(t, testenv.Every, "six of seven kill points")

	nth := map[string]int{}
	for i, point := range points {
		nth[point]++
		n := nth[point]
		if !testenv.KillsAt(i) {
			continue
		}

		t.Run(point, func(t *testing.T) {
			here, there, ann, bob := set(t)
			here.Check(ann.Killed(point, n, func(a *scene.Actor) { a.Merge("one") }),
				"the command reached its end, but it should have been killed")
			if bob.WorkerShow(task.WorkerShowParams{TaskID: "one"}).OK().Doing == "land" {
				bob.Cancel("one").Refused(stick.CodeLanding)
			}
			there.Later(2 * time.Minute)
			bob.Merge("one").OK()
			there.TaskIs("one", stick.TaskCompleted)
			landed(there, "one")
			ann.Again().Merge("one").OK()
			_, err := os.Stat(here.Work + "/worktrees/one")
			here.Check(os.IsNotExist(err), "the worktree is still there: %v", err)
		})
	}
}

// TestOtherHost_SleeperIsFenced: a merge that slept while another host took over neither lands the task again nor
// fails.
func TestOtherHost_SleeperIsFenced(t *testing.T) {
	for _, point := range []string{"merge: intended", "merge: judged", "merge: pushed", "merge: moved"} {
		t.Run(point, func(t *testing.T) {
			here, there, ann, bob := hosts(t, "test -f one.txt")
			here.ReadyToMerge("one", ann, bob)
			ann.Meets(point, func() {
				there.Later(2 * time.Minute)
				bob.Merge("one").OK()
			}, func(a *scene.Actor) { a.Merge("one").OK() })

			there.TaskIs("one", stick.TaskCompleted)
			landed(there, "one")
			ann.Merge("one").OK()
		})
	}
}

// TestOtherHost_LongMergeKeepsLease: a merge that takes longer than an intent stands renews it, and nobody takes
// over.
func TestOtherHost_LongMergeKeepsLease(t *testing.T) {
	here, there, ann, bob := hosts(t, "true")
	here.ReadyToMerge("one", ann, bob)
	ann.Renewing(time.Millisecond).Meets("gate: worktree", func() {
		for range 3 {
			here.Later(50 * time.Second)
			here.RenewsIntent("one")
		}
		bob.Cancel("one").Refused(stick.CodeLanding)
	}, func(a *scene.Actor) { a.Merge("one").OK() })
	there.TaskIs("one", stick.TaskCompleted)
}

// TestOtherHost_SleeperLandsNothingCancelled: a merge that slept until another host gave the task up stops before
// it pushes.
func TestOtherHost_SleeperLandsNothingCancelled(t *testing.T) {
	here, there, ann, bob := hosts(t, "true")
	here.ReadyToMerge("one", ann, bob)
	ann.Meets("merge: judged", func() {
		there.Later(2 * time.Minute)
		bob.Cancel("one").OK()
	}, func(a *scene.Actor) { a.Merge("one").Refused(stick.CodeInvalidTransition) })

	there.TaskIs("one", stick.TaskFailed)
	there.Git("fetch", "-q", "origin")
	there.Check(there.Git("rev-parse", "origin/integration") == there.Git("rev-parse", "origin/main"), "it has landed")
}

// TestMergeOfATaskThatIsReviewedAgain: while one host prepares the merge of an approved commit, the worker
// offers another one on its own host, and that is approved, too. What lands is what was approved last.
func TestMergeOfATaskThatIsReviewedAgain(t *testing.T) {
	here, there, ann, bob := hosts(t, "")
	work := here.ReadyToMerge("one", ann, bob)
	pat, head := here.Person("pat"), ""
	bob.Meets("merge: combined", func() {
		head = work.Commits("two.txt", "two\n")
		work.Done("").OK()
		pat.Approve("one").OK()
	}, func(b *scene.Actor) { b.Merge("one").Refused(stick.CodeReviewStale) })

	there.TaskIs("one", stick.TaskApproved)
	there.Git("fetch", "-q", "origin")
	there.Check(there.Git("rev-parse", "origin/integration") == there.Git("rev-parse", "origin/main"),
		"the commit that was approved first has landed")

	bob.Merge("one").OK()
	landed(there, "one")
	there.Check(there.Git("rev-parse", "origin/integration^2") == head,
		"another commit than the approved one has landed")
	ann.Merge("one").OK() // cleans up
}

// TestOtherHost_OneLandingAtATime: while a host lands a task, others wait for it.
func TestOtherHost_OneLandingAtATime(t *testing.T) {
	here, there, ann, bob := hosts(t, "true")
	for _, name := range []string{"one", "two"} {
		here.ReadyToMerge(name, ann, bob)
	}
	over := make(chan scene.Answer[task.WorkerMergeResult])
	ann.Meets("merge: judged", func() {
		bob.WorkerRollback(task.WorkerRollbackParams{TaskID: "one", Reason: "x"}).Refused(stick.CodeLanding)
		bob.WorkerShow(task.WorkerShowParams{TaskID: "one"}).That("who", func(r task.WorkerShowResult) bool {
			return r.Doing == "land" && r.Runner.Host == "host" && r.Runner.State == task.RunnerAlive
		})
		waits := make(chan struct{})
		go func() {
			over <- bob.WorkerMerge(task.WorkerMergeParams{TaskID: "two", Waits: func(_ string, r task.Runner) {
				there.Check(r.Host == "host", "%+v", r)
				close(waits)
			}})
		}()
		<-waits
	}, func(a *scene.Actor) { a.Merge("one").OK() })

	(<-over).OK()
	for _, name := range []string{"one", "two"} {
		landed(here, name)
	}
	ann.Merge("two").OK()
}

// TestOtherHost_Output: what a command prints is seen on its own host while it runs, and everywhere
// when it has ended. To ask for it earlier doesn't change that.
func TestOtherHost_Output(t *testing.T) {
	_, there, ann, bob := hosts(t, "")
	ann.Spawn("one").OK()
	run := *ann.WorkerRun(task.WorkerRunParams{TaskID: "one", Command: "echo out"}).OK().Start
	run.Begun = func() {
		bob.WorkerLogs(task.WorkerLogsParams{TaskID: "one"}).Refused(stick.CodeElsewhere)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := bob.Tasks.WorkerLogs(ctx, task.WorkerLogsParams{
			Caller: bob.By, Where: core.Where{Path: there.Work}, TaskID: "one",
			Follow: func(string) error { return nil },
		})
		there.Check(stick.CodeOf(err) == stick.CodeElsewhere, "to follow it: %v", err)
	}

	if err := ann.RunTask(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	bob.WorkerLogs(task.WorkerLogsParams{TaskID: "one"}).That("the output",
		func(r task.WorkerLogsResult) bool { return r.Text == "out\n" })
	ann.Cancel("one").OK()
}

// TestOtherHost_CommandGoesOn: who cancels its task elsewhere is told so, besides that its worker can't
// hear of it.
func TestOtherHost_CommandGoesOn(t *testing.T) {
	_, _, ann, bob := hosts(t, "")
	ann.Spawn("one").OK()
	ann.WorksOn("one")
	run := *ann.WorkerRun(task.WorkerRunParams{TaskID: "one", Command: "echo out"}).OK().Start
	run.Begun = func() {
		ann.Leave().OK()
		bob.Cancel("one").That("both notes", func(r task.WorkerCancelResult) bool {
			worker, command, two := strings.Cut(string(r.Note), "; ")
			return two &&
				worker != "" &&
				strings.Contains(command, "if its command runs, it isn't ended") &&
				r.Stopped == nil
		})
	}

	if err := ann.RunTask(t.Context(), run); err != nil {
		t.Fatal(err)
	}
}
