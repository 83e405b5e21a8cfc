package tasks

import (
	"slices"
	"strings"

	"talkingstick/stick"
)

// isTaskID reports whether a name consists of the characters that a task's name may have.
func isTaskID(id string) bool {
	for i, c := range id {
		// The name becomes a branch and a directory, on every file system.
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}

	return id != ""
}

// CheckID refuses a name that can't name a task, a branch and a directory alike. It fails with
// [stick.CodeUsage].
func CheckID(id string) error {
	bad := func(why stick.Words) *stick.Error {
		return stick.Errorf(stick.CodeUsage, "%q can't be a task's name: %s", stick.Clip(id, 80), why).
			With("field", "task_id").
			Hintf("use a name such as fix-parser")
	}

	switch {
	case id == "":
		return bad("it is empty")
	case len(id) > stick.MaxTaskID || !isTaskID(id):
		return bad(stick.Wordsf("it must begin with a letter or digit, and have at most %d letters, digits, dots, underscores and hyphens", stick.MaxTaskID))
	case strings.Contains(id, ".."), strings.HasSuffix(id, "."), strings.HasSuffix(strings.ToLower(id), ".lock"):
		return bad("git allows no branch of that name").Hintf("avoid .. and the endings . and .lock")
	}
	return nil
}

// findStep returns the transition by which an act leads out of the task's state. It fails with
// [stick.CodeInvalidTransition] if there is none.
func findStep(t stick.Task, act stick.TaskAct) (stick.TaskStep, error) {
	var from []string
	for _, s := range stick.TaskSteps {
		if s.Act != act {
			continue
		}

		if slices.Contains(s.From, t.State) {
			if s.To == "" {
				s.To = t.State
			}
			return s, nil
		}

		for _, f := range s.From {
			from = append(from, string(f))
		}
	}

	// The refusal says from which states the act leads on.
	e := withTaskFacts(t, stick.Errorf(stick.CodeInvalidTransition, "%s is %s: %s needs %s",
		t.ID, t.State.Word(t.Cause), act, stick.Words(strings.Join(from, " or "))).
		Hintf("%s", t.NextStep()))
	hintForAct(e, t, act)
	return stick.TaskStep{}, e
}

// hintForAct replaces the hint of a refusal where the next step of the task isn't what the act was meant for:
// whoever took it for the worker would become the task's author.
func hintForAct(e *stick.Error, t stick.Task, act stick.TaskAct) {
	if act == stick.ActEdit && t.State == stick.TaskApproved {
		e.Hintf("return it to its worker first: %s", stick.Cmd(`tt task request-changes <task_id> "…"`, t.ID))
		return
	}
	if t.State != stick.TaskAssigned && !t.Busy() {
		return
	}

	show := stick.Cmd("tt task show <task_id>", t.ID)
	switch act {
	case stick.ActApprove, stick.ActApproveMerge, stick.ActChanges:
		e.Hintf("wait until its worker offers it for review; to see how far it is: %s", show)
	case stick.ActMerge:
		e.Hintf("wait until its worker offers it for review and somebody else approves it; to see how far it is: %s", show)
	case stick.ActRetry:
		e.Hintf("this attempt hasn't failed; to see how far it is: %s", show)
	case stick.ActRollback:
		e.Hintf("it isn't merged, so there is nothing to revert; to see how far it is: %s", show)
	case stick.ActAfter:
		e.Hintf("it has begun, so it waits for no other task; to see how far it is: %s", show)
	}
}

// Needs returns what a caller should do about a task now. It is empty if somebody else has the next step:
// whoever didn't work on it reviews it, its worker mends what came back, and whoever asked for it or a person
// merges it, unless tt merges it by itself.
func Needs(t stick.Task, c Call, merges bool) stick.Hint {
	switch {
	case t.State == stick.TaskInReview && !t.Worked(c.By):
		return stick.Hintf("%s", stick.Cmd("tt task diff <task_id>", t.ID))
	case t.State == stick.TaskApproved && merges:
		return nil
	case t.State == stick.TaskApproved && (c.Person || t.SpawnedBy == c.By):
		return stick.Hintf("%s", stick.Cmd("tt task merge <task_id>", t.ID))
	case t.Worker == c.By && (t.State == stick.TaskConflicted || t.State == stick.TaskWorking && t.Cause != ""):
		return stick.Hintf("%s", stick.Cmd("tt task show <task_id>", t.ID))
	}
	return nil
}

// withTaskFacts adds the state of the task to an error.
func withTaskFacts(t stick.Task, e *stick.Error) *stick.Error {
	return e.With("task_id", t.ID).With("state", t.State).With("attempt", t.Attempt)
}
