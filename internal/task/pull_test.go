package task_test

import (
	"path/filepath"
	"testing"

	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestPull_NoForge: a pull request needs a commit that was offered, and a remote at a forge with
// the branch that it is for.
func TestPull_NoForge(t *testing.T) {
	s, ann, bob := cast(t, "")
	ann.Spawn("one").OK()
	pr := func(code stick.Code) {
		t.Helper()
		bob.WorkerPR(task.WorkerPRParams{TaskID: "one"}).Refused(code)
	}

	pr(stick.CodeInvalidTransition)
	work := ann.WorksOn("one")
	work.Commits("one.txt", "one\n")
	pr(stick.CodeInvalidTransition)
	work.Done("").OK()
	pr(stick.CodeNotFound) // no remote has the branch that it is for
	up := filepath.Join(t.TempDir(), "up.git")
	s.Git("init", "--quiet", "--bare", up)
	s.Git("remote", "add", "origin", up)
	s.Git("push", "--quiet", "origin", "integration")
	pr(stick.CodeForgeFailed) // a directory is no forge
	s.Git("remote", "set-url", "origin", "https://nowhere.invalid/acme/app.git")
	pr(stick.CodeForgeFailed) // no program is logged in there
	bob.WorkerPR(task.WorkerPRParams{TaskID: "two"}).Refused(stick.CodeNotFound)
	s.Agent("pi:x").WorkerPR(task.WorkerPRParams{TaskID: "one"}).Refused(stick.CodeUnknownMember)
	s.TaskIs("one", stick.TaskInReview)
}
