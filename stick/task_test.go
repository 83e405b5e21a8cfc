package stick

import (
	"slices"
	"strings"
	"testing"
)

// made returns a task after some steps. Its worker is codex:w.
func made(t *testing.T, steps ...func(Task) (Event, error)) Task {
	t.Helper()
	var task Task
	e, err := SpawnTask(task, Spawning{By: "claude:o", ID: "T-1", Description: "d", Branch: "feat/T-1", Worktree: "worktrees/T-1", Integration: "main", Base: "b"})
	for i := 0; ; i++ {
		if err != nil {
			t.Fatal(err)
		}
		e.Seq = int64(i + 1)
		if task, err = task.Apply(e); err != nil {
			t.Fatal(err)
		}
		if i == len(steps) {
			return task
		}
		e, err = steps[i](task)
	}
}

var (
	theWorker   = TaskCall{By: "codex:w"}
	theReviewer = TaskCall{By: "claude:r"}

	begun  = func(t Task) (Event, error) { e, err := t.Start(theWorker, false); return *e, err }
	offers = func(head, patch string) func(Task) (Event, error) {
		return func(t Task) (Event, error) {
			e, err := t.Done(theWorker, Offering{Base: "b", Head: head, Patch: patch})
			return *e, err
		}
	}
	approve = func(t Task) (Event, error) {
		e, err := t.Approve(TaskDecision{TaskCall: theReviewer, Head: t.Head, Branch: t.Head}, "")
		return *e, err
	}
	cancel = func(t Task) (Event, error) { e, err := t.Cancel(theReviewer, "no"); return *e, err }
	retry  = func(t Task) (Event, error) { return t.Retry("claude:o", "b2", Checkout{}, 0) }
	land   = func(t Task) (Event, error) { return t.Land("claude:o", t.Approved, "r") }
)

// TestTaskElsewhere: a task is where its branch and worktree were made, and another attempt may be made
// elsewhere.
func TestTaskElsewhere(t *testing.T) {
	here, there, unknown := Checkout{"h1", "/w"}, Checkout{"h2", "/w"}, Checkout{}
	again := func(t Task) (Event, error) { return t.Retry("claude:o", "b2", there, 0) }
	task := made(t, begun)
	equal(t, "one that nobody knows of is here", task.Elsewhere(here), false)
	task = made(t, begun, cancel, again)
	equal(t, "elsewhere", task.Elsewhere(here), true)
	equal(t, "there", task.Elsewhere(there), false)
	equal(t, "in a checkout that isn't known", task.Elsewhere(unknown), false)
	e, err := SpawnTask(Task{}, Spawning{By: "claude:o", ID: "T-1", In: here})
	if err == nil {
		task, err = Task{}.Apply(e)
	}
	if err != nil || task.In != here {
		t.Errorf("%+v, %v", task.In, err)
	}
}

// TestNeeds says to whom a task is shown as theirs to act on.
func TestNeeds(t *testing.T) {
	task := Task{ID: "t", Worker: "codex:w", SpawnedBy: "claude:s", Earlier: []AgentID{"gemini:e"}}
	callers := []TaskCall{{By: "codex:w"}, {By: "claude:s"}, {By: "gemini:e"}, {By: "opencode:o"}, {By: "human:h", Person: true}}
	for _, c := range []struct {
		state TaskState
		cause string
		want  string // the first letters of those who have to act
	}{
		{TaskAssigned, "", ""},
		{TaskWorking, "", ""},
		{TaskWorking, CauseReview, "w"},
		{TaskConflicted, "", "w"},
		{TaskInReview, "", "soh"},
		{TaskApproved, "", "sh"},
		{TaskCompleted, "", ""},
		{TaskFailed, CauseGivenUp, ""},
	} {
		task.State, task.Cause = c.state, c.cause
		got := ""
		for _, call := range callers {
			if task.Needs(call) != nil {
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
		if err := CheckTaskID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{
		"", "-a", ".a", "_a", "a/b", "a b", "a\x00", "a\n", "../a", "a..b", "a.", "a.lock", "a.LOCK", "ä", "a:b", "a~1", "a^", "@", "a*", "$(x)", strings.Repeat("x", 65),
	} {
		if CodeOf(CheckTaskID(id)) != CodeUsage {
			t.Errorf("%q may be a task", id)
		}
	}
}

func TestTaskRefusals(t *testing.T) {
	err2 := func(_ any, err error) error { return err }
	reviewed := made(t, begun, offers("h", "p"))
	approved := made(t, begun, offers("h", "p"), approve)
	again := made(t, begun, cancel, retry)
	see := func(by TaskCall, head, branch string) TaskDecision {
		return TaskDecision{TaskCall: by, Head: head, Branch: branch}
	}
	for _, c := range []struct {
		name string
		err  error
		want Code
	}{
		{"a second task of the name", err2(SpawnTask(reviewed, Spawning{ID: "t-1"})), CodeAlreadyExists},
		{"a description that is too long", err2(SpawnTask(Task{}, Spawning{ID: "x", Description: strings.Repeat("x", MaxBody+1)})), CodeMessageTooLarge},
		{"a spec that is no text", err2(SpawnTask(Task{}, Spawning{ID: "x", Spec: "\xff"})), CodeUsage},
		{"another starts", err2(reviewed.Start(TaskCall{By: "pi:x"}, false)), CodeInvalidTransition},
		{"another starts what is worked on", err2(made(t, begun).Start(TaskCall{By: "pi:x"}, false)), CodeNotYourTask},
		{"another is done", err2(made(t, begun).Done(TaskCall{By: "pi:x"}, Offering{Head: "h"})), CodeNotYourTask},
		{"nobody has started", err2(made(t).Done(theWorker, Offering{Head: "h"})), CodeInvalidTransition},
		{"the worker approves", err2(reviewed.Approve(see(theWorker, "h", "h"), "")), CodeAuthorCannotReview},
		{"the worker asks itself for changes", err2(reviewed.RequestChanges(see(theWorker, "h", "h"), "x")), CodeAuthorCannotReview},
		{"an agent overrides", err2(reviewed.Approve(TaskDecision{TaskCall: theWorker, Head: "h", Branch: "h", Override: true}, "")), CodePersonOnly},
		{"nothing was seen", err2(reviewed.Approve(see(theReviewer, "", "h"), "")), CodeReviewStale},
		{"another commit was seen", err2(reviewed.Approve(see(theReviewer, "g", "h"), "")), CodeReviewStale},
		{"the branch has moved", err2(reviewed.Approve(see(theReviewer, "h", "i"), "")), CodeReviewStale},
		{"the branch was seen, and not offered", err2(reviewed.Approve(see(theReviewer, "i", "i"), "")), CodeReviewStale},
		{"the branch is gone", err2(reviewed.Approve(see(theReviewer, "h", ""), "")), CodeReviewStale},
		{"changes of another commit are asked for", err2(reviewed.RequestChanges(see(theReviewer, "g", "i"), "x")), CodeReviewStale},
		{"changes of nothing that was seen are asked for", err2(reviewed.RequestChanges(see(theReviewer, "", ""), "x")), CodeReviewStale},
		{"no changes are named", err2(reviewed.RequestChanges(see(theReviewer, "h", "h"), " ")), CodeUsage},
		{"an approved task is started", err2(approved.Start(TaskCall{By: "pi:x"}, true)), CodeInvalidTransition},
		{"a task in review is merged", err2(reviewed.Merge("x", "", "")), CodeInvalidTransition},
		{"the worker of an earlier attempt is done", err2(again.Done(theWorker, Offering{Head: "h"})), CodeStaleAttempt},
		{"the worker of an earlier attempt reviews", err2(func() (any, error) {
			other := made(t, begun, cancel, retry, func(t Task) (Event, error) { e, err := t.Start(TaskCall{By: "pi:x"}, false); return *e, err },
				func(t Task) (Event, error) {
					e, err := t.Done(TaskCall{By: "pi:x"}, Offering{Head: "h"})
					return *e, err
				})
			return other.Approve(see(theWorker, "h", "h"), "")
		}()), CodeAuthorCannotReview},
		{"an earlier attempt is started", err2(again.Start(TaskCall{By: "codex:w", Attempt: 1}, false)), CodeStaleAttempt},
		{"a later attempt is named", err2(again.Start(TaskCall{By: "codex:w", Attempt: 3}, false)), CodeStaleAttempt},
		{"a cancelled task is done", err2(made(t, begun, cancel).Done(theWorker, Offering{Head: "h"})), CodeStaleAttempt},
		{"a completed task is cancelled", err2(made(t, begun, offers("h", "p"), approve, land).Cancel(theReviewer, "x")), CodeInvalidTransition},
		{"a task that isn't over is retried", err2(approved.Retry("x", "b", Checkout{}, 0)), CodeInvalidTransition},
		{"what hasn't landed is taken back", err2(approved.Rollback("x", "r", "why")), CodeInvalidTransition},
		{"it fails without a reason", err2(made(t, begun).Fail(theWorker, "")), CodeUsage},
	} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.name, got, c.err, c.want)
		}
	}
}

// TestMovedInReview: a commit that nobody offered can't be approved, and the refusal says who can change
// that. The task can be returned to its worker, whichever of the two commits the reviewer saw.
func TestMovedInReview(t *testing.T) {
	reviewed := made(t, begun, offers("h", "p"))
	see := func(head, branch string) TaskDecision {
		return TaskDecision{TaskCall: theReviewer, Head: head, Branch: branch}
	}
	for _, c := range []struct{ head, branch, hint string }{
		{"h", "i", "ask: tt msg send codex:w"},
		{"i", "i", "ask: tt msg send codex:w"},
		{"", "i", "ask: tt msg send codex:w"},
		{"h", "", "git branch feat/T-1 h"},
		{"g", "h", "tt task diff T-1"},
	} {
		_, err := reviewed.Approve(see(c.head, c.branch), "")
		if e := AsError(err); e.Code != CodeReviewStale || !strings.Contains(e.Hint.String(), c.hint) || strings.HasSuffix(e.Message, " ") {
			t.Errorf("%q was seen, the branch is at %q: %v (%s)", c.head, c.branch, e, e.Hint)
		}
		if seen, ok := AsError(err).Fields["seen"]; ok != (c.head != "") || ok && seen != c.head {
			t.Errorf("%q was seen, the branch is at %q: the refusal says that %v was seen (%v)", c.head, c.branch, seen, ok)
		}
	}
	for _, head := range []string{"h", "i"} {
		e, err := reviewed.RequestChanges(see(head, "i"), "not like this")
		if err != nil || said[TaskPayload[TaskChangesRequestedFacts]](e).Task.Head != head {
			t.Errorf("changes of %s: %+v, %v", head, e, err)
		}
	}
}

// TestWhoStartsAgain: whoever worked on a task may start its next attempt, and starts nothing once the task
// is over.
func TestWhoStartsAgain(t *testing.T) {
	other := func(t Task) (Event, error) { e, err := t.Start(TaskCall{By: "pi:x"}, false); return *e, err }
	if e, err := made(t, begun, cancel, retry).Start(theWorker, false); e == nil || err != nil {
		t.Errorf("the worker of the attempt before: %v, %v", e, err)
	}
	if e, err := made(t, begun, cancel, retry, other, cancel).Start(theWorker, false); CodeOf(err) != CodeInvalidTransition {
		t.Errorf("an earlier worker, when the task is over: %v, %v", e, err)
	}
}

// TestNobodyIsSentToDoTheWorkersPart: whoever wants to review or merge a task whose worker isn't done yet is
// told to wait for the worker. Starting the task would make the reviewer its author.
func TestNobodyIsSentToDoTheWorkersPart(t *testing.T) {
	look := TaskDecision{TaskCall: theReviewer, Head: "h", Branch: "h"}
	for _, task := range []Task{made(t), made(t, begun)} {
		state := string(task.State)
		_, err := task.Approve(look, "")
		says(t, err, "T-1 is "+state+": approve needs IN_REVIEW", "wait until its worker offers it for review; tt task show T-1 tells how far it is")
		_, err = task.Merge(theReviewer.By, "b", "r")
		says(t, err, "T-1 is "+state+": merge needs APPROVED", "wait until its worker offers it for review and somebody else approves it; tt task show T-1 tells how far it is")
	}
}

// TestAnEarlierWorkerLearnsWhetherItMayStart: that the attempt is over is half of what a worker needs to
// know.
func TestAnEarlierWorkerLearnsWhetherItMayStart(t *testing.T) {
	other := func(t Task) (Event, error) { e, err := t.Start(TaskCall{By: "pi:x"}, false); return *e, err }
	const stop = "stop this work; tt task show T-1 tells what happened"
	says(t, made(t, begun, cancel).Mine(theWorker), "attempt 1 of T-1 is over: it is CANCELLED", stop)
	says(t, made(t, begun, cancel, retry).Mine(theWorker), "codex:w worked on T-1 in an earlier attempt; nobody has started attempt 2 yet",
		"stop the earlier work; to start attempt 2: tt task start --task T-1")
	says(t, made(t, begun, cancel, retry, other).Mine(theWorker), "codex:w worked on T-1 before; attempt 2 is that of pi:x", stop)
}

// TestEarlierWorkers: a task remembers each worker that it no longer has, once, and never that it had none.
func TestEarlierWorkers(t *testing.T) {
	other := func(t Task) (Event, error) { e, err := t.Start(TaskCall{By: "pi:x"}, true); return *e, err }
	for _, c := range []struct {
		steps []func(Task) (Event, error)
		want  []AgentID
	}{
		{[]func(Task) (Event, error){begun}, nil},
		{[]func(Task) (Event, error){begun, other}, []AgentID{"codex:w"}},
		{[]func(Task) (Event, error){begun, cancel, retry, other}, []AgentID{"codex:w"}},
		{[]func(Task) (Event, error){begun, cancel, retry, begun, cancel, retry}, []AgentID{"codex:w"}},
		{[]func(Task) (Event, error){begun, cancel, retry, other, cancel, retry}, []AgentID{"codex:w", "pi:x"}},
	} {
		if got := made(t, c.steps...).Earlier; !slices.Equal(got, c.want) {
			t.Errorf("after %d steps the earlier workers are %q, want %q", len(c.steps), got, c.want)
		}
	}
}

// TestTaskTwice: an act that is repeated makes no second event.
func TestTaskTwice(t *testing.T) {
	if e, err := made(t, begun).Start(theWorker, false); e != nil || err != nil {
		t.Errorf("start: %v, %v", e, err)
	}
	reviewed := made(t, begun, offers("h", "p"))
	if e, err := reviewed.Start(theWorker, false); e != nil || err != nil {
		t.Errorf("start while it is in review, by its worker: %v, %v", e, err)
	}
	if e, err := reviewed.Done(theWorker, Offering{Head: "h"}); e != nil || err != nil {
		t.Errorf("done: %v, %v", e, err)
	}
	approved := made(t, begun, offers("h", "p"), approve)
	if e, err := approved.Approve(TaskDecision{TaskCall: theReviewer, Head: "h", Branch: "h"}, ""); e != nil || err != nil {
		t.Errorf("approve: %v, %v", e, err)
	}
	if e, err := made(t, begun, cancel).Cancel(theReviewer, ""); e != nil || err != nil {
		t.Errorf("cancel: %v, %v", e, err)
	}
}

// TestApprovalKept: only the same change on another base keeps its approval.
func TestApprovalKept(t *testing.T) {
	approved := made(t, begun, offers("h", "p"), approve)
	e, err := approved.Done(theWorker, Offering{Base: "b2", Head: "h2", Patch: "p"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := approved.Apply(*e)
	if err != nil || kept.State != TaskApproved || kept.Approved != "h2" || kept.ApprovedSeq != approved.ApprovedSeq {
		t.Errorf("%+v, %v", kept, err)
	}
	for name, q := range map[string]Offering{"another change": {Head: "h3", Patch: "q"}, "no sum": {Head: "h3"}} {
		e, err := approved.Moved("claude:o", q)
		if err != nil {
			t.Fatal(err)
		}
		if moved, err := approved.Apply(e); err != nil || moved.State != TaskInReview || moved.Approved != "" {
			t.Errorf("%s: %+v, %v", name, moved, err)
		}
	}
}

// TestTaskSteps: every step of the table is reachable, a person can leave every state unless it is the end,
// and each state has a hint for the next step.
func TestTaskSteps(t *testing.T) {
	for _, s := range TaskStates {
		if len((Task{ID: "T", State: s}).NextStep()) == 0 {
			t.Errorf("%s: what is next?", s)
		}
		leaves := slices.ContainsFunc(TaskSteps, func(x TaskStep) bool { return slices.Contains(x.From, s) && x.To != "" && x.To != s })
		if !leaves {
			t.Errorf("nothing leads out of %s", s)
		}
		enters := slices.ContainsFunc(TaskSteps, func(x TaskStep) bool { return x.To == s })
		if !enters {
			t.Errorf("nothing leads to %s", s)
		}
	}
	for _, s := range TaskSteps {
		if !s.Event.OfTask() || s.Meaning == "" {
			t.Errorf("the step %+v isn't complete", s)
		}
	}
}

// TestTaskLogIsChecked: the replay of a log refuses an event that no step allows.
func TestTaskLogIsChecked(t *testing.T) {
	approved := made(t, begun, offers("h", "p"), approve)
	e, err := approved.Land("x", "h", "r")
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]Event{
		"of another state":   Amend(e, func(p *TaskPayload[TaskCompletedFacts]) { p.Task.State = TaskWorking }),
		"of another attempt": Amend(e, func(p *TaskPayload[TaskCompletedFacts]) { p.Task.Attempt = 2 }),
		"without its facts":  {Type: EventTaskCompleted, Task: "T-1"},
	} {
		if _, err := approved.Apply(wrong); err == nil {
			t.Errorf("an event %s is taken", name)
		}
	}
}

// TestRollbackNeedsAMerge: a task that landed without a merge of its own can't be rolled back.
func TestRollbackNeedsAMerge(t *testing.T) {
	for _, c := range []struct {
		task Task
		ok   bool
	}{
		{Task{ID: "a", State: TaskCompleted, Result: "m"}, true},
		{Task{ID: "a", State: TaskCompleted}, false},
		{Task{ID: "a", State: TaskCompleted, PR: PullRequest{Number: 7, State: PullMerged, Commit: "c"}}, false},
		{Task{ID: "a", State: TaskApproved, Result: "m"}, false},
	} {
		_, err := c.task.Rollback("claude:a", "r", "why")
		for _, err := range []error{err, c.task.CanRollback()} {
			if (err == nil) != c.ok || err != nil && CodeOf(err) != CodeInvalidTransition {
				t.Errorf("%+v: %v", c.task, err)
			}
		}
	}
}

// TestBusy: a worker is expected to work on a task that it has started, also while a conflict is in its way.
func TestBusy(t *testing.T) {
	for _, state := range TaskStates {
		equal(t, string(state), Task{State: state}.Busy(), state == TaskWorking || state == TaskConflicted)
	}
}

// TestDoneWithAnotherChange: an approved task whose worker offers another change needs another review.
func TestDoneWithAnotherChange(t *testing.T) {
	task := made(t, begun, offers("h", "p"), approve, offers("i", "q"))
	equal(t, "the state", task.State, TaskInReview)
	equal(t, "the approved commit", task.Approved, "")
}

func TestSplitGateReason(t *testing.T) {
	ours, printed := SplitGateReason(CauseGate, "The gate is red: make printed:\n  line\n    deeper")
	if ours != "The gate is red: make printed:" || printed != "line\n  deeper" {
		t.Errorf("%q, %q", ours, printed)
	}
	if ours, theirs := SplitGateReason(CauseReview, "do\n  this"); ours != "" || theirs != "do\n  this" {
		t.Errorf("%q, %q", ours, theirs)
	}
}
