package tasks_test

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/tasks"
)

// TestTaskElsewhere: a task is where its branch and worktree were made, and another attempt may be made
// elsewhere.
func TestTaskElsewhere(t *testing.T) {
	here, there, unknown := stick.Checkout{Host: "h1", Path: "/w"}, stick.Checkout{Host: "h2", Path: "/w"}, stick.Checkout{}
	again := func(t stick.Task) (stick.Event, error) { return tasks.Retry(t, "claude:o", "b2", there, 0) }
	task := sticktest.Made(t, sticktest.Begun)
	sticktest.Equal(t, "one that nobody knows of is here", task.Elsewhere(here), false)

	task = sticktest.Made(t, sticktest.Begun, sticktest.Cancel, again)
	sticktest.Equal(t, "elsewhere", task.Elsewhere(here), true)
	sticktest.Equal(t, "there", task.Elsewhere(there), false)
	sticktest.Equal(t, "in a checkout that isn't known", task.Elsewhere(unknown), false)

	e, err := tasks.Spawn(stick.Task{}, tasks.Spawning{By: "claude:o", ID: "T-1", In: here})
	if err == nil {
		task, err = stick.Task{}.Apply(e)
	}
	if err != nil || task.In != here {
		t.Errorf("%+v, %v", task.In, err)
	}
}

// TestNeeds says to whom a task is shown as theirs to act on.
func TestNeeds(t *testing.T) {
	task := stick.Task{ID: "t", Worker: "codex:w", SpawnedBy: "claude:s", Earlier: []stick.AgentID{"gemini:e"}}
	callers := []tasks.Call{
		{By: "codex:w"},
		{By: "claude:s"},
		{By: "gemini:e"},
		{By: "opencode:o"},
		{By: "human:h", Person: true},
	}
	for _, c := range []struct {
		state stick.TaskState
		cause string
		want  string // the first letters of those who have to act
		alone bool   // tt merges it by itself
	}{
		{stick.TaskAssigned, "", "", false},
		{stick.TaskWorking, "", "", false},
		{stick.TaskWorking, stick.CauseReview, "w", false},
		{stick.TaskConflicted, "", "w", false},
		{stick.TaskInReview, "", "soh", false},
		{stick.TaskApproved, "", "sh", false},
		{stick.TaskApproved, "", "", true},
		{stick.TaskCompleted, "", "", false},
		{stick.TaskFailed, stick.CauseGivenUp, "", false},
	} {
		task.State, task.Cause = c.state, c.cause
		got := ""
		for _, call := range callers {
			if tasks.Needs(task, call, c.alone) != nil {
				_, name, _ := strings.Cut(string(call.By), ":")
				got += name
			}
		}

		if got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.state, c.cause, got, c.want)
		}
	}
}

func TestTaskID(t *testing.T) {
	for _, id := range []string{"a", "z", "A-1", "Z", "ui-7", "0", "9", "a.b_c-d", strings.Repeat("x", 64)} {
		if err := tasks.CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}

	for _, id := range []string{
		"", "-a", ".a", "_a", "a/b", "a b", "a\x00", "a\n", "../a", "a..b", "a.", "a.lock", "a.LOCK", "ä",
		"a:b", "a~1", "a^", "@", "a*", "$(x)", strings.Repeat("x", 65),
	} {
		if stick.CodeOf(tasks.CheckID(id)) != stick.CodeUsage {
			t.Errorf("%q may be a task", id)
		}
	}
}

func TestTaskRefusals(t *testing.T) {
	err2 := func(_ any, err error) error { return err }
	reviewed := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"))
	approved := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Approve)
	again := sticktest.Made(t, sticktest.Begun, sticktest.Cancel, sticktest.Retry)

	see := func(by tasks.Call, head, branch string) tasks.Decision {
		return tasks.Decision{Call: by, Head: head, Branch: branch}
	}
	for _, c := range []struct {
		name string
		err  error
		want stick.Code
	}{
		{"a second task of the name", err2(tasks.Spawn(reviewed, tasks.Spawning{ID: "t-1"})), stick.CodeAlreadyExists},
		{
			"a description that is too long",
			err2(tasks.Spawn(stick.Task{}, tasks.Spawning{ID: "x", Description: strings.Repeat("x", stick.MaxBody+1)})),
			stick.CodeMessageTooLarge,
		},
		{
			"a spec that is no text",
			err2(tasks.Spawn(stick.Task{}, tasks.Spawning{ID: "x", Spec: "\xff"})),
			stick.CodeUsage,
		},
		{"another starts", err2(tasks.Start(reviewed, tasks.Call{By: "pi:x"}, false)), stick.CodeInvalidTransition},
		{
			"another starts what is worked on",
			err2(tasks.Start(sticktest.Made(t, sticktest.Begun), tasks.Call{By: "pi:x"}, false)),
			stick.CodeNotYourTask,
		},
		{
			"another is done",
			err2(tasks.Done(sticktest.Made(t, sticktest.Begun), tasks.Call{By: "pi:x"}, tasks.Offering{Head: "h"})),
			stick.CodeNotYourTask,
		},
		{
			"nobody has started",
			err2(tasks.Done(sticktest.Made(t), sticktest.TheWorker, tasks.Offering{Head: "h"})),
			stick.CodeInvalidTransition,
		},
		{
			"the worker approves",
			err2(tasks.Approve(reviewed, see(sticktest.TheWorker, "h", "h"), "")),
			stick.CodeAuthorCannotReview,
		},
		{
			"the worker asks itself for changes",
			err2(tasks.RequestChanges(reviewed, see(sticktest.TheWorker, "h", "h"), "x")),
			stick.CodeAuthorCannotReview,
		},
		{
			"an agent overrides",
			err2(tasks.Approve(reviewed,
				tasks.Decision{Call: sticktest.TheWorker, Head: "h", Branch: "h", Override: true}, "")),
			stick.CodePersonOnly,
		},
		{
			"nothing was seen",
			err2(tasks.Approve(reviewed, see(sticktest.TheReviewer, "", "h"), "")),
			stick.CodeReviewStale,
		},
		{
			"another commit was seen",
			err2(tasks.Approve(reviewed, see(sticktest.TheReviewer, "g", "h"), "")),
			stick.CodeReviewStale,
		},
		{
			"the branch has moved",
			err2(tasks.Approve(reviewed, see(sticktest.TheReviewer, "h", "i"), "")),
			stick.CodeReviewStale,
		},
		{
			"the branch was seen, and not offered",
			err2(tasks.Approve(reviewed, see(sticktest.TheReviewer, "i", "i"), "")),
			stick.CodeReviewStale,
		},
		{
			"the branch is gone",
			err2(tasks.Approve(reviewed, see(sticktest.TheReviewer, "h", ""), "")),
			stick.CodeReviewStale,
		},
		{
			"changes of another commit are asked for",
			err2(tasks.RequestChanges(reviewed, see(sticktest.TheReviewer, "g", "i"), "x")),
			stick.CodeReviewStale,
		},
		{
			"changes of nothing that was seen are asked for",
			err2(tasks.RequestChanges(reviewed, see(sticktest.TheReviewer, "", ""), "x")),
			stick.CodeReviewStale,
		},
		{
			"no changes are named",
			err2(tasks.RequestChanges(reviewed, see(sticktest.TheReviewer, "h", "h"), " ")),
			stick.CodeUsage,
		},
		{
			"an approved task is started",
			err2(tasks.Start(approved, tasks.Call{By: "pi:x"}, true)),
			stick.CodeInvalidTransition,
		},
		{"a task in review is merged", err2(tasks.Merge(reviewed, "x", "", "")), stick.CodeInvalidTransition},
		{
			"the worker of an earlier attempt is done",
			err2(tasks.Done(again, sticktest.TheWorker, tasks.Offering{Head: "h"})),
			stick.CodeStaleAttempt,
		},
		{"the worker of an earlier attempt reviews", err2(func() (any, error) {
			other := sticktest.Made(t, sticktest.Begun, sticktest.Cancel, sticktest.Retry, func(t stick.Task) (stick.Event, error) {
				e, err := tasks.Start(t, tasks.Call{By: "pi:x"}, false)
				return *e, err
			},
				func(t stick.Task) (stick.Event, error) {
					e, err := tasks.Done(t, tasks.Call{By: "pi:x"}, tasks.Offering{Head: "h"})
					return *e, err
				})

			return tasks.Approve(other, see(sticktest.TheWorker, "h", "h"), "")
		}()), stick.CodeAuthorCannotReview},
		{
			"an earlier attempt is started",
			err2(tasks.Start(again, tasks.Call{By: "codex:w", Attempt: 1}, false)),
			stick.CodeStaleAttempt,
		},
		{
			"a later attempt is named",
			err2(tasks.Start(again, tasks.Call{By: "codex:w", Attempt: 3}, false)),
			stick.CodeStaleAttempt,
		},
		{
			"a cancelled task is done",
			err2(tasks.Done(sticktest.Made(t, sticktest.Begun, sticktest.Cancel), sticktest.TheWorker,
				tasks.Offering{Head: "h"})),
			stick.CodeStaleAttempt,
		},
		{
			"a completed task is cancelled",
			err2(tasks.Cancel(
				sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Approve, sticktest.Land),
				sticktest.TheReviewer, "x",
			)),
			stick.CodeInvalidTransition,
		},
		{
			"a task that isn't over is retried",
			err2(tasks.Retry(approved, "x", "b", stick.Checkout{}, 0)),
			stick.CodeInvalidTransition,
		},
		{
			"what hasn't landed is taken back",
			err2(tasks.Rollback(approved, "x", "r", "why")),
			stick.CodeInvalidTransition,
		},
		{
			"it fails without a reason",
			err2(tasks.Fail(sticktest.Made(t, sticktest.Begun), sticktest.TheWorker, "")),
			stick.CodeUsage,
		},
	} {
		if got := stick.CodeOf(c.err); got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.name, got, c.err, c.want)
		}
	}
}

// TestMovedInReview: a commit that nobody offered can't be approved, and the refusal says who can change
// that. The task can be returned to its worker, whichever of the two commits the reviewer saw.
func TestMovedInReview(t *testing.T) {
	reviewed := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"))
	see := func(head, branch string) tasks.Decision {
		return tasks.Decision{Call: sticktest.TheReviewer, Head: head, Branch: branch}
	}
	for _, c := range []struct{ head, branch, hint string }{
		{"h", "i", "ask: tt msg send codex:w"},
		{"i", "i", "ask: tt msg send codex:w"},
		{"", "i", "ask: tt msg send codex:w"},
		{"h", "", "git branch feat/T-1 h"},
		{"g", "h", "tt task diff T-1"},
	} {
		_, err := tasks.Approve(reviewed, see(c.head, c.branch), "")
		if e := stick.AsError(err); e.Code != stick.CodeReviewStale ||
			!strings.Contains(e.Hint.String(), c.hint) ||
			strings.HasSuffix(e.Message, " ") {
			t.Errorf("%q was seen, the branch is at %q: %v (%s)", c.head, c.branch, e, e.Hint)
		}
		if seen, ok := stick.AsError(err).Fields["seen"]; ok != (c.head != "") || ok && seen != c.head {
			t.Errorf("%q was seen, the branch is at %q: the refusal says that %v was seen (%v)",
				c.head, c.branch, seen, ok)
		}
	}

	for _, head := range []string{"h", "i"} {
		e, err := tasks.RequestChanges(reviewed, see(head, "i"), "not like this")
		if err != nil || sticktest.Said[stick.TaskPayload[stick.TaskChangesRequestedFacts]](e).Task.Head != head {
			t.Errorf("changes of %s: %+v, %v", head, e, err)
		}
	}
}

// TestStart_NextAttempt: whoever worked on a task may start its next attempt, and starts nothing once the task
// is over.
func TestStart_NextAttempt(t *testing.T) {
	other := func(t stick.Task) (stick.Event, error) {
		e, err := tasks.Start(t, tasks.Call{By: "pi:x"}, false)
		return *e, err
	}

	if e, err := tasks.Start(sticktest.Made(t, sticktest.Begun, sticktest.Cancel, sticktest.Retry),
		sticktest.TheWorker, false); e == nil ||
		err != nil {
		t.Errorf("the worker of the attempt before: %v, %v", e, err)
	}
	if e, err := tasks.Start(sticktest.Made(t, sticktest.Begun, sticktest.Cancel, sticktest.Retry, other, sticktest.Cancel), sticktest.TheWorker, false); stick.CodeOf(err) != stick.CodeInvalidTransition {
		t.Errorf("an earlier worker, when the task is over: %v, %v", e, err)
	}
}

// TestApprove_WorkerNotDone: whoever wants to review or merge a task whose worker isn't done yet is
// told to wait for the worker. Starting the task would make the reviewer its author.
func TestApprove_WorkerNotDone(t *testing.T) {
	look := tasks.Decision{Call: sticktest.TheReviewer, Head: "h", Branch: "h"}
	for _, task := range []stick.Task{sticktest.Made(t), sticktest.Made(t, sticktest.Begun)} {
		state := string(task.State)
		_, err := tasks.Approve(task, look, "")
		sticktest.Says(t, err, "T-1 is "+state+": approve needs IN_REVIEW", "wait until its worker offers it for review; to see how far it is: tt task show T-1")
		_, err = tasks.Merge(task, sticktest.TheReviewer.By, "b", "r")
		sticktest.Says(t, err, "T-1 is "+state+": merge needs APPROVED", "wait until its worker offers it for review and somebody else approves it; to see how far it is: tt task show T-1")
	}
}

// TestRetry_NotFailed: a task that is being worked on can't be retried, reverted or made to wait. Its next step,
// which is the worker's, is no answer to that.
func TestRetry_NotFailed(t *testing.T) {
	begun := sticktest.Made(t, sticktest.Begun)
	sticktest.Says(t, tasks.CanRetry(begun), "T-1 is WORKING: retry needs FAILED",
		"this attempt hasn't failed; to see how far it is: tt task show T-1")
	_, err := tasks.Rollback(begun, sticktest.TheReviewer.By, "r", "why")
	sticktest.Says(t, err, "T-1 is WORKING: rollback needs COMPLETED",
		"it isn't merged, so there is nothing to revert; to see how far it is: tt task show T-1")
}

// TestApprove_Merge: the wish that tt merges a task goes with its approval, or follows it once.
func TestApprove_Merge(t *testing.T) {
	offered := sticktest.Made(t, sticktest.Begun, sticktest.Offers("A", "P"))
	v := tasks.Decision{Call: sticktest.TheReviewer, Head: "A", Branch: "A", Merge: true}
	e, err := tasks.Approve(offered, v, "")
	if err != nil || e == nil || !stick.MergesByItself(*e) {
		t.Fatalf("approved with the wish: got %v, %v", e, err)
	}

	approved, err := offered.Apply(*e)
	sticktest.Equal(t, "error", err == nil, true)
	v.Merging = true
	again, err := tasks.Approve(approved, v, "")
	sticktest.Equal(t, "error of the second", err == nil, true)
	if again != nil {
		t.Errorf("the second one changes something: %+v", again)
	}

	// Approved without the wish, it can still be told.
	v.Merging = false
	later, err := tasks.Approve(approved, v, "")
	if err != nil || later == nil || !stick.MergesByItself(*later) {
		t.Errorf("told later: got %v, %v", later, err)
	}

	// The wish makes nobody a reviewer.
	v.Call = sticktest.TheWorker
	_, err = tasks.Approve(approved, v, "")
	sticktest.Equal(t, "by its worker", stick.CodeOf(err), stick.CodeAuthorCannotReview)
	_, err = tasks.Approve(sticktest.Made(t, sticktest.Begun), v, "")
	sticktest.Says(t, err, "T-1 is WORKING: \"approve --merge\" needs IN_REVIEW or APPROVED",
		"wait until its worker offers it for review; to see how far it is: tt task show T-1")
}

// TestStart_EarlierWorker: that the attempt is over is half of what a worker needs to
// know.
func TestStart_EarlierWorker(t *testing.T) {
	other := func(t stick.Task) (stick.Event, error) {
		e, err := tasks.Start(t, tasks.Call{By: "pi:x"}, false)
		return *e, err
	}
	const stop = "stop this work; to see what happened: tt task show T-1"
	sticktest.Says(t, tasks.Mine(sticktest.Made(t, sticktest.Begun, sticktest.Cancel), sticktest.TheWorker), "attempt 1 of T-1 is over: it is CANCELLED", stop)
	sticktest.Says(t, tasks.Mine(sticktest.Made(t, sticktest.Begun, sticktest.Cancel, sticktest.Retry), sticktest.TheWorker), "codex:w worked on T-1 in an earlier attempt; nobody has started attempt 2 yet",
		"stop the earlier work; to start attempt 2: tt task start --task T-1")
	sticktest.Says(t,
		tasks.Mine(sticktest.Made(t, sticktest.Begun, sticktest.Cancel, sticktest.Retry, other), sticktest.TheWorker),
		"codex:w worked on T-1 before; attempt 2 is that of pi:x", stop)
}

// TestEarlierWorkers: a task remembers each worker that it no longer has, once, and never that it had none.
func TestEarlierWorkers(t *testing.T) {
	other := func(t stick.Task) (stick.Event, error) {
		e, err := tasks.Start(t, tasks.Call{By: "pi:x"}, true)
		return *e, err
	}

	for _, c := range []struct {
		steps []func(stick.Task) (stick.Event, error)
		want  []stick.AgentID
	}{
		{[]func(stick.Task) (stick.Event, error){sticktest.Begun}, nil},
		{[]func(stick.Task) (stick.Event, error){sticktest.Begun, other}, []stick.AgentID{"codex:w"}},
		{
			[]func(stick.Task) (stick.Event, error){sticktest.Begun, sticktest.Cancel, sticktest.Retry, other},
			[]stick.AgentID{"codex:w"},
		},
		{
			[]func(stick.Task) (stick.Event, error){
				sticktest.Begun,
				sticktest.Cancel,
				sticktest.Retry,
				sticktest.Begun,
				sticktest.Cancel,
				sticktest.Retry,
			},
			[]stick.AgentID{"codex:w"},
		},
		{
			[]func(stick.Task) (stick.Event, error){
				sticktest.Begun, sticktest.Cancel, sticktest.Retry, other, sticktest.Cancel, sticktest.Retry,
			},
			[]stick.AgentID{"codex:w", "pi:x"},
		},
	} {
		if got := sticktest.Made(t, c.steps...).Earlier; !slices.Equal(got, c.want) {
			t.Errorf("after %d steps the earlier workers are %q, want %q", len(c.steps), got, c.want)
		}
	}
}

// TestTaskTwice: an act that is repeated makes no second event.
func TestTaskTwice(t *testing.T) {
	if e, err := tasks.Start(sticktest.Made(t, sticktest.Begun), sticktest.TheWorker, false); e != nil || err != nil {
		t.Errorf("start: %v, %v", e, err)
	}
	reviewed := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"))
	if e, err := tasks.Start(reviewed, sticktest.TheWorker, false); e != nil || err != nil {
		t.Errorf("start while it is in review, by its worker: %v, %v", e, err)
	}
	if e, err := tasks.Done(reviewed, sticktest.TheWorker, tasks.Offering{Head: "h"}); e != nil || err != nil {
		t.Errorf("done: %v, %v", e, err)
	}

	approved := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Approve)
	if e, err := tasks.Approve(approved, tasks.Decision{Call: sticktest.TheReviewer, Head: "h", Branch: "h"},
		""); e != nil ||
		err != nil {
		t.Errorf("approve: %v, %v", e, err)
	}
	if e, err := tasks.Cancel(sticktest.Made(t, sticktest.Begun, sticktest.Cancel), sticktest.TheReviewer, ""); e != nil ||
		err != nil {
		t.Errorf("cancel: %v, %v", e, err)
	}
}

// TestApprovalKept: only the same change on another base keeps its approval.
func TestApprovalKept(t *testing.T) {
	approved := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Approve)
	e, err := tasks.Done(approved, sticktest.TheWorker, tasks.Offering{Base: "b2", Head: "h2", Patch: "p"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := approved.Apply(*e)
	if err != nil ||
		kept.State != stick.TaskApproved ||
		kept.Approved != "h2" ||
		kept.ApprovedSeq != approved.ApprovedSeq {
		t.Errorf("%+v, %v", kept, err)
	}

	for name, q := range map[string]tasks.Offering{"another change": {Head: "h3", Patch: "q"}, "no sum": {Head: "h3"}} {
		e, err := tasks.Moved(approved, "claude:o", q)
		if err != nil {
			t.Fatal(err)
		}
		if moved, err := approved.Apply(e); err != nil || moved.State != stick.TaskInReview || moved.Approved != "" {
			t.Errorf("%s: %+v, %v", name, moved, err)
		}
	}
}

// TestTaskSteps: every step of the table is reachable, a person can leave every state unless it is the end,
// and each state has a hint for the next step.
func TestTaskSteps(t *testing.T) {
	for _, s := range stick.TaskStates {
		if len((stick.Task{ID: "T", State: s}).NextStep()) == 0 {
			t.Errorf("%s: what is next?", s)
		}
		leaves := slices.ContainsFunc(stick.TaskSteps, func(x stick.TaskStep) bool {
			return slices.Contains(x.From, s) && x.To != "" && x.To != s
		})
		if !leaves {
			t.Errorf("nothing leads out of %s", s)
		}

		enters := slices.ContainsFunc(stick.TaskSteps, func(x stick.TaskStep) bool { return x.To == s })
		if !enters {
			t.Errorf("nothing leads to %s", s)
		}
	}

	for _, s := range stick.TaskSteps {
		if !s.Event.OfTask() || s.Meaning == "" {
			t.Errorf("the step %+v isn't complete", s)
		}
	}
}

// TestTaskLogIsChecked: the replay of a log refuses an event that no step allows.
func TestTaskLogIsChecked(t *testing.T) {
	approved := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Approve)
	e, err := tasks.Land(approved, "x", "h", "r")
	if err != nil {
		t.Fatal(err)
	}

	for name, wrong := range map[string]stick.Event{
		"of another state": stick.Amend(e, func(p *stick.TaskPayload[stick.TaskCompletedFacts]) {
			p.Task.State = stick.TaskWorking
		}),
		"of another attempt": stick.Amend(e, func(p *stick.TaskPayload[stick.TaskCompletedFacts]) {
			p.Task.Attempt = 2
		}),
		"without its facts": {Type: stick.EventTaskCompleted, Task: "T-1"},
	} {
		if _, err := approved.Apply(wrong); err == nil {
			t.Errorf("an event %s is taken", name)
		}
	}
}

// TestRollbackNeedsAMerge: a task that landed without a merge of its own can't be rolled back.
func TestRollbackNeedsAMerge(t *testing.T) {
	for _, c := range []struct {
		task stick.Task
		ok   bool
	}{
		{stick.Task{ID: "a", State: stick.TaskCompleted, Result: "m"}, true},
		{stick.Task{ID: "a", State: stick.TaskCompleted}, false},
		{
			stick.Task{
				ID: "a", State: stick.TaskCompleted,
				PR: stick.PullRequest{Number: 7, State: stick.PullMerged, Commit: "c"},
			},
			false,
		},
		{stick.Task{ID: "a", State: stick.TaskApproved, Result: "m"}, false},
	} {
		_, err := tasks.Rollback(c.task, "claude:a", "r", "why")
		for _, err := range []error{err, tasks.CanRollback(c.task)} {
			if (err == nil) != c.ok || err != nil && stick.CodeOf(err) != stick.CodeInvalidTransition {
				t.Errorf("%+v: %v", c.task, err)
			}
		}
	}
}

// TestBusy: a worker is expected to work on a task that it has started, also while a conflict is in its way.
func TestBusy(t *testing.T) {
	for _, state := range stick.TaskStates {
		sticktest.Equal(t, string(state),
			stick.Task{State: state}.Busy(), state == stick.TaskWorking || state == stick.TaskConflicted)
	}
}

// TestDoneWithAnotherChange: an approved task whose worker offers another change needs another review.
func TestDoneWithAnotherChange(t *testing.T) {
	task := sticktest.Made(t, sticktest.Begun, sticktest.Offers("h", "p"), sticktest.Approve,
		sticktest.Offers("i", "q"))
	sticktest.Equal(t, "the state", task.State, stick.TaskInReview)
	sticktest.Equal(t, "the approved commit", task.Approved, "")
}

func TestSplitGateReason(t *testing.T) {
	ours, printed := stick.SplitGateReason(stick.CauseGate, "The gate is red: make printed:\n  line\n    deeper")
	if ours != "The gate is red: make printed:" || printed != "line\n  deeper" {
		t.Errorf("%q, %q", ours, printed)
	}
	if ours, theirs := stick.SplitGateReason(stick.CauseReview, "do\n  this"); ours != "" || theirs != "do\n  this" {
		t.Errorf("%q, %q", ours, theirs)
	}
}
