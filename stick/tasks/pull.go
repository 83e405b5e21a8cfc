package tasks

import (
	"talkingstick/stick"
)

// CanPull refuses to open a pull request for a task without a commit for it: its worker has offered none, or
// it has ended. It fails with [stick.CodeInvalidTransition].
func CanPull(t stick.Task) error {
	if t.Offered() {
		return nil
	}
	return withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition,
		"%s is %s: a pull request needs a commit that its worker has offered for review", t.ID, t.State.Word(t.Cause))).
		Hintf("%s", t.NextStep())
}

// AfterClosed returns the hint what to do with a task whose pull request was closed without being merged.
func AfterClosed(t stick.Task) stick.Hint {
	if !t.Offered() {
		return t.NextStep()
	}
	return stick.Hintf("to send it back: %s; to give it up: %s",
		stick.Cmd("tt task request-changes <task_id> …", t.ID), stick.Cmd("tt task cancel <task_id>", t.ID))
}

// Pulled records what is known of the task's pull request. If nothing has changed, the event is nil. without
// is the commit that the worker has offered, if the forge merged the pull request without it. This, and that
// it was closed without being merged, is told to the task's worker, or to whoever created the task.
func Pulled(t stick.Task, by stick.AgentID, p stick.PullRequest, without string) (*stick.Event, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if t.PR == p {
		return nil, nil
	}

	s, err := findStep(t, stick.ActPull)
	if err != nil {
		return nil, err
	}

	// Only what somebody has to act on is told, and not to a worker that did it itself.
	to := stick.AgentID("")
	if (p.State == stick.PullClosed && t.PR.State != stick.PullClosed || without != "") && t.State != stick.TaskCompleted {
		if to = t.Worker; to == by || to == "" {
			to = t.SpawnedBy
		}
	}

	e := stick.TaskEvent(t, s, by, to, stick.TaskPullRequestFacts{PullRequest: p, Without: without})
	return &e, nil
}
