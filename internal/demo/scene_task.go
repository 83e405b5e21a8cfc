package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"talkingstick/stick"
)

// The task of the scene.
const (
	taskName = "tax"
	taskDir  = "worktrees/" + taskName
)

// task is the part of a task's JSON that the scene reads.
type task struct {
	State    stick.TaskState `json:"state"`
	Head     string          `json:"head"` // the commit that waits for review
	Approved string          `json:"approved"`
}

// isApproved reports whether the task has passed its review.
func (t task) isApproved() bool {
	return t.State == stick.TaskApproved || t.State == stick.TaskCompleted
}

// readTask reads the task.
func (s *scene) readTask() (t task, err error) {
	err = s.runJSON(s.qwen, &t, "task", "show", taskName)
	return t, err
}

// workOnTask makes the person create a task and qwen do it.
func (s *scene) workOnTask() error {
	if _, err := s.runCommand(tt(s.you, "task", "init", "--branch", "main").showing("gate:")); err != nil {
		return err
	}
	if _, err := s.runCommand(tt(s.you, "task", "new", taskName, "--description", "Add the tax of 20 %").
		showing("worktree:", "branch:")); err != nil {
		return err
	}

	if _, err := s.runCommand(tt(s.qwen, "task", "start").in(taskDir).showing("you are its worker")); err != nil {
		return err
	}
	if err := s.editFile(s.qwen, taskDir+"/"+taxFile, taxText(0)); err != nil {
		return err
	}
	if err := s.handIn("Add the tax"); err != nil {
		return err
	}

	missing := strings.HasPrefix(s.readText(taxFile), "unreadable")
	return s.checkClaim(missing, s.readText(taxFile), "qwen worked without the stick, and the shared checkout has none of it so far")
}

// handIn makes qwen commit, and ask for a review with what the tests say.
func (s *scene) handIn(subject string) error {
	if _, err := s.runShell(s.qwen, taskDir, "git add "+taxFile+" && git commit --quiet -m '"+subject+"'"); err != nil {
		return err
	}
	_, err := s.runCommand(tt(s.qwen, "task", "done", "--evidence", "tests=sh "+gateFile).in(taskDir).showing("waits for review"))
	if err != nil {
		return err
	}

	t, err := s.readTask()
	s.commit = t.Head
	return err
}

// reviewTask shows the commit to the person, who decides. A task that comes back gets another commit, and is
// reviewed again.
func (s *scene) reviewTask() error {
	for {
		if _, err := s.runCommand(tt(s.you, "task", "diff", taskName).showing("IN_REVIEW", "-0  "+taxFile, "+with_tax")); err != nil {
			return err
		}

		approved, err := s.decide()
		if err != nil {
			return err
		}
		if approved {
			break
		}
		if err := s.reviseTask(); err != nil {
			return err
		}
	}

	t, err := s.readTask()
	if err != nil {
		return err
	}
	return s.checkClaim(t.isApproved() && t.Approved == s.commit, fmt.Sprintf("%+v", t),
		"you approved exactly that commit, and no later one")
}

// decide has the person decide about the task. It reports whether they approved it.
func (s *scene) decide() (approved bool, err error) {
	approved, t, err := s.askReview()
	switch {
	case err != nil:
		return false, err
	case t.State != stick.TaskInReview:
		s.showAction(Action{Who: s.you.name, Note: "decided in the browser"})
		return t.isApproved(), nil
	case approved:
		_, err = s.runCommand(tt(s.you, "task", "approve", taskName).showing("APPROVED"))
		return true, err
	}

	_, err = s.runCommand(tt(s.you, "task", "request-changes", taskName, "please say what the number means").showing("WORKING"))
	return false, err
}

// askReview asks the person at the terminal whether the task may land. Without one, it may. The question ends
// when they decide in the browser, and t is the task then.
func (s *scene) askReview() (approved bool, t task, err error) {
	if s.review == nil {
		return true, task{State: stick.TaskInReview}, nil
	}

	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	answered := make(chan struct{})
	go func() { // ends with ctx
		defer close(answered)
		approved, err = s.review(ctx)
	}()

	for t.State = stick.TaskInReview; t.State == stick.TaskInReview; {
		var look <-chan time.Time
		if s.pages != nil {
			look = time.After(browserTime)
		}

		select {
		case <-answered:
			return approved, t, err
		case <-look:
			now, rerr := s.readTask()
			if rerr != nil {
				return false, t, rerr
			}
			t = now
		}
	}

	// The answer that nobody needs any more.
	cancel()
	<-answered
	return false, t, s.ctx.Err()
}

// browserTime is how often the scene looks whether the person has decided in the browser.
const browserTime = 300 * time.Millisecond

// reviseTask makes qwen do what the person has asked for.
func (s *scene) reviseTask() error {
	s.returned++
	if err := s.editFile(s.qwen, taskDir+"/"+taxFile, taxText(s.returned)); err != nil {
		return err
	}
	return s.handIn("Say what the number means")
}

// landTask makes the person merge the task.
func (s *scene) landTask() error {
	if err := s.mergeTask(); err != nil {
		return err
	}

	log, err := s.runShell(s.you, "", "git log --oneline --graph -5")
	if err != nil {
		return err
	}

	landed := strings.Contains(log.Out, "Merge task "+taskName) && s.readText(taxFile) == taxText(s.returned)
	return s.checkClaim(landed, log.Out, "main has the merge, and your checkout has %s", taxFile)
}

// mergeTask merges the task, unless the person has done that in the browser.
func (s *scene) mergeTask() error {
	t, err := s.readTask()
	if err != nil {
		return err
	}
	if t.State == stick.TaskCompleted {
		s.showAction(Action{Who: s.you.name, Note: "merged it in the browser"})
		return nil
	}

	merged, err := s.runCommand(tt(s.you, "task", "merge", taskName).showing("is merged"))
	if err != nil {
		return err
	}
	return s.checkClaim(strings.Contains(merged.Out, "the gate passed"), merged.Out, "the gate ran on the merge, and passed")
}
