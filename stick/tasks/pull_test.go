package tasks_test

import (
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/tasks"
)

func TestPullRequestCheck(t *testing.T) {
	good := stick.PullRequest{
		Number: 7, URL: "https://github.com/acme/app/pull/7", State: stick.PullOpen,
		Head: strings.Repeat("a", 40),
	}
	sticktest.Equal(t, "a good one", stick.CodeOf(good.Check()), "")
	long := good
	long.Head = strings.Repeat("a", 64)
	sticktest.Equal(t, "one in a repository with SHA-256", stick.CodeOf(long.Check()), "")

	for name, change := range map[string]func(*stick.PullRequest){
		"no number":           func(p *stick.PullRequest) { p.Number = 0 },
		"no address":          func(p *stick.PullRequest) { p.URL = "" },
		"a script as address": func(p *stick.PullRequest) { p.URL = "javascript:alert(1)" },
		"a password": func(p *stick.PullRequest) {
			p.URL = "https://pat:secret@github.com/acme/app/pull/7"
		},
		"escapes in the address": func(p *stick.PullRequest) { p.URL = "https://github.com/\x1b[2J" },
		"a blank in the address": func(p *stick.PullRequest) { p.URL = "https://github.com/acme app" },
		"a long address":         func(p *stick.PullRequest) { p.URL += strings.Repeat("x", 500) },
		"another state":          func(p *stick.PullRequest) { p.State = "LOST" },
		"no commit":              func(p *stick.PullRequest) { p.Head = "--upload-pack=x" },
		"a word as a commit":     func(p *stick.PullRequest) { p.Head = strings.Repeat("x", 40) },
		"a part of a commit":     func(p *stick.PullRequest) { p.Head = strings.Repeat("a", 39) },
		"no merge commit":        func(p *stick.PullRequest) { p.Commit = "HEAD" },
	} {
		p := good
		change(&p)
		if stick.CodeOf(p.Check()) != stick.CodeForgeFailed {
			t.Errorf("%s: %v", name, p.Check())
		}
	}
}

func TestPulled(t *testing.T) {
	task := stick.Task{
		ID: "x", State: stick.TaskInReview, Attempt: 1, Worker: "w", SpawnedBy: "s",
		Head: strings.Repeat("a", 40),
	}
	open := stick.PullRequest{
		Number: 7, URL: "https://github.com/acme/app/pull/7", State: stick.PullOpen, Head: task.Head,
	}
	without := ""
	apply := func(by stick.AgentID, p stick.PullRequest) *stick.Event {
		t.Helper()
		e, err := tasks.Pulled(task, by, p, without)
		sticktest.Equal(t, "code", stick.CodeOf(err), "")

		if e != nil {
			task, err = task.Apply(*e)
			sticktest.Equal(t, "applied", err, nil)
		}

		return e
	}

	e := apply("s", open)
	sticktest.Equal(t, "told to nobody", len(e.Addressees()), 0)
	sticktest.Equal(t, "kept", task.PR, open)
	sticktest.Equal(t, "its state stays", task.State, stick.TaskInReview)
	if again := apply("s", open); again != nil {
		t.Error("the same again made an event")
	}

	closed := open
	closed.State = stick.PullClosed
	sticktest.Equal(t, "told to its worker", apply("s", closed).Addressees()[0].Agent, stick.AgentID("w"))
	apply("s", open)
	sticktest.Equal(t, "told by its worker to who created it",
		apply("w", closed).Addressees()[0].Agent, stick.AgentID("s"))

	merged := open
	merged.State, merged.Commit = stick.PullMerged, strings.Repeat("b", 40)
	sticktest.Equal(t, "merged", apply("s", merged).Say(), "pull request #7 of x was merged at the forge")

	without, merged.Commit = task.Head, strings.Repeat("c", 40)
	e = apply("s", merged)
	sticktest.Equal(t, "merged without it",
		e.Say(), "pull request #7 of x was merged at the forge without aaaaaaaaaa, which waits for review")
	sticktest.Equal(t, "told to its worker", e.Addressees()[0].Agent, stick.AgentID("w"))

	landed, err := tasks.Land(task, "s", task.Head, "")
	sticktest.Equal(t, "code", stick.CodeOf(err), "")
	sticktest.Equal(t, "completed by it",
		landed.Say(), "pull request #7 of x was merged at the forge, so it is completed, commit cccccccccc")
	without, task.State = "", stick.TaskCompleted
	sticktest.Equal(t, "closed after tt has merged it: told to nobody", len(apply("s", closed).Addressees()), 0)

	for state, want := range map[stick.TaskState]string{
		stick.TaskInReview: "to send it back: tt task request-changes x \"…\"; to give it up: tt task cancel x",
		stick.TaskWorking:  "its worker commits, then: tt task done --task x",
		stick.TaskFailed:   "to begin again: tt task retry x",
	} {
		sticktest.Equal(t, "closed while "+string(state),
			tasks.AfterClosed(stick.Task{ID: "x", State: state}).String(), want)
	}

	retried, err := tasks.Retry(stick.Task{ID: "x", State: stick.TaskFailed, Attempt: 1, PR: closed}, "s", "base",
		stick.Checkout{}, stick.NoSlot)
	sticktest.Equal(t, "code", stick.CodeOf(err), "")
	after, _ := stick.Task{ID: "x", State: stick.TaskFailed, Attempt: 1, PR: closed}.Apply(retried)
	sticktest.Equal(t, "another attempt has none", after.PR, stick.PullRequest{})

	for _, s := range []stick.TaskState{
		stick.TaskAssigned, stick.TaskWorking, stick.TaskConflicted, stick.TaskCompleted, stick.TaskFailed,
	} {
		sticktest.Refused(t, tasks.CanPull(stick.Task{ID: "x", State: s}),
			stick.CodeInvalidTransition, map[string]any{"state": s})
	}
	sticktest.Equal(t, "approved", stick.CodeOf(tasks.CanPull(stick.Task{ID: "x", State: stick.TaskApproved})), "")
}
