package stick

import (
	"strings"
	"testing"
)

func TestPullRequestCheck(t *testing.T) {
	good := PullRequest{Number: 7, URL: "https://github.com/acme/app/pull/7", State: PullOpen, Head: strings.Repeat("a", 40)}
	equal(t, "a good one", CodeOf(good.Check()), "")
	long := good
	long.Head = strings.Repeat("a", 64)
	equal(t, "one in a repository with SHA-256", CodeOf(long.Check()), "")
	for name, change := range map[string]func(*PullRequest){
		"no number":              func(p *PullRequest) { p.Number = 0 },
		"no address":             func(p *PullRequest) { p.URL = "" },
		"a script as address":    func(p *PullRequest) { p.URL = "javascript:alert(1)" },
		"a password":             func(p *PullRequest) { p.URL = "https://pat:secret@github.com/acme/app/pull/7" },
		"escapes in the address": func(p *PullRequest) { p.URL = "https://github.com/\x1b[2J" },
		"a blank in the address": func(p *PullRequest) { p.URL = "https://github.com/acme app" },
		"a long address":         func(p *PullRequest) { p.URL += strings.Repeat("x", 500) },
		"another state":          func(p *PullRequest) { p.State = "LOST" },
		"no commit":              func(p *PullRequest) { p.Head = "--upload-pack=x" },
		"a word as a commit":     func(p *PullRequest) { p.Head = strings.Repeat("x", 40) },
		"a part of a commit":     func(p *PullRequest) { p.Head = strings.Repeat("a", 39) },
		"no merge commit":        func(p *PullRequest) { p.Commit = "HEAD" },
	} {
		p := good
		change(&p)
		if CodeOf(p.Check()) != CodeForgeFailed {
			t.Errorf("%s: %v", name, p.Check())
		}
	}
}

func TestPulled(t *testing.T) {
	task := Task{ID: "x", State: TaskInReview, Attempt: 1, Worker: "w", SpawnedBy: "s", Head: strings.Repeat("a", 40)}
	open := PullRequest{Number: 7, URL: "https://github.com/acme/app/pull/7", State: PullOpen, Head: task.Head}
	without := ""
	apply := func(by AgentID, p PullRequest) *Event {
		t.Helper()
		e, err := task.Pulled(by, p, without)
		equal(t, "code", CodeOf(err), "")
		if e != nil {
			task, err = task.Apply(*e)
			equal(t, "applied", err, nil)
		}
		return e
	}
	e := apply("s", open)
	equal(t, "told to nobody", len(e.Addressees()), 0)
	equal(t, "kept", task.PR, open)
	equal(t, "its state stays", task.State, TaskInReview)
	if again := apply("s", open); again != nil {
		t.Error("the same again made an event")
	}
	closed := open
	closed.State = PullClosed
	equal(t, "told to its worker", apply("s", closed).Addressees()[0].Agent, AgentID("w"))
	apply("s", open)
	equal(t, "told by its worker to who created it", apply("w", closed).Addressees()[0].Agent, AgentID("s"))
	merged := open
	merged.State, merged.Commit = PullMerged, strings.Repeat("b", 40)
	equal(t, "merged", apply("s", merged).Say(), "pull request #7 of x was merged at the forge")

	without, merged.Commit = task.Head, strings.Repeat("c", 40)
	e = apply("s", merged)
	equal(t, "merged without it", e.Say(), "pull request #7 of x was merged at the forge without aaaaaaaaaa, which waits for review")
	equal(t, "told to its worker", e.Addressees()[0].Agent, AgentID("w"))
	landed, err := task.Land("s", task.Head, "")
	equal(t, "code", CodeOf(err), "")
	equal(t, "completed by it", landed.Say(), "pull request #7 of x was merged at the forge, so it is completed, commit cccccccccc")
	without, task.State = "", TaskCompleted
	equal(t, "closed after tt has merged it: told to nobody", len(apply("s", closed).Addressees()), 0)

	for state, want := range map[TaskState]string{
		TaskInReview: "to send it back: tt task request-changes x \"…\"; to give it up: tt task cancel x",
		TaskWorking:  "its worker commits, then: tt task done --task x",
		TaskFailed:   "to begin again: tt task retry x",
	} {
		equal(t, "closed while "+string(state), Task{ID: "x", State: state}.AfterClosed().String(), want)
	}

	retried, err := Task{ID: "x", State: TaskFailed, Attempt: 1, PR: closed}.Retry("s", "base", Checkout{}, NoSlot)
	equal(t, "code", CodeOf(err), "")
	after, _ := Task{ID: "x", State: TaskFailed, Attempt: 1, PR: closed}.Apply(retried)
	equal(t, "another attempt has none", after.PR, PullRequest{})

	for _, s := range []TaskState{TaskAssigned, TaskWorking, TaskConflicted, TaskCompleted, TaskFailed} {
		refused(t, Task{ID: "x", State: s}.CanPull(), CodeInvalidTransition, map[string]any{"state": s})
	}
	equal(t, "approved", CodeOf(Task{ID: "x", State: TaskApproved}.CanPull()), "")
}
