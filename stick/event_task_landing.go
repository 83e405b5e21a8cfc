package stick

// TaskConflictedFacts are the facts of [EventTaskConflicted].
type TaskConflictedFacts struct {
	TaskStatus
	Base  string   `json:"base,omitempty"`  // the commit that the work is rebased onto
	Files []string `json:"files,omitempty"` // in conflict
}

// TaskMergeStartedFacts are the facts of [EventTaskMergeStarted].
type TaskMergeStartedFacts struct {
	TaskStatus
	Base   string `json:"base,omitempty"`   // the commit of the integration branch
	Head   string `json:"head,omitempty"`   // the commit approved
	Result string `json:"result,omitempty"` // the commit made of both
}

// TaskCompletedFacts are the facts of [EventTaskCompleted].
type TaskCompletedFacts struct {
	TaskStatus
	Head   string `json:"head,omitempty"`   // the commit of the task that was merged
	Result string `json:"result,omitempty"` // the commit that merged it; absent if the branch already contained it

	Pull       int    `json:"pr_number,omitempty"` // the pull request by which the forge merged it
	PullCommit string `json:"pr_commit,omitempty"` // the commit that the forge made then
}

// TaskRolledBackFacts are the facts of [EventTaskRolledBack].
type TaskRolledBackFacts struct {
	TaskStatus
	Result string `json:"result,omitempty"` // the commit that reverted the merge
	Cause  string `json:"cause,omitempty"`  // why
}

// TaskPullRequestFacts are the facts of [EventTaskPullRequest].
type TaskPullRequestFacts struct {
	TaskStatus
	PullRequest
	// the commit that the worker has offered, if the forge merged the pull request without it
	Without string `json:"without,omitempty"`
}

// inFiles names files at the end of a sentence.
func inFiles(files []string) Words {
	if len(files) == 0 {
		return ""
	}
	return ": " + Names(files, 5)
}

// landingEvents are the events of tasks on their way into the integration branch.
var landingEvents = []EventInfo{
	taskRow(taskKind[TaskConflictedFacts]{
		Type: EventTaskConflicted, For: forNamed,
		Meaning: "a task's branch conflicts with the integration branch; a rebase is in progress",
		Say: func(e Event, f TaskConflictedFacts) Words {
			return Wordsf("%s hit a conflict in %s%s", AgentName(e.From), taskOf(e), inFiles(f.Files))
		},
		Apply: func(t *Task, _ Event, f TaskConflictedFacts) {
			t.clearApproval()

			// What was approved was on another base, and can't land as it is.
			t.Base = f.Base
		},
	}),
	taskRow(taskKind[TaskMergeStartedFacts]{
		Type: EventTaskMergeStarted, Meaning: "the merge of a task started", For: forNamed,
		Say: func(e Event, f TaskMergeStartedFacts) Words {
			return Wordsf("%s started to merge %s%s", AgentName(e.From), taskOf(e), atCommit(f.Head))
		},
		Apply: func(*Task, Event, TaskMergeStartedFacts) {},
	}),
	taskRow(taskKind[TaskCompletedFacts]{
		Type: EventTaskCompleted, Meaning: "the integration branch contains a task", For: forRecipient,
		Say: func(e Event, f TaskCompletedFacts) Words {
			if f.Pull != 0 {
				return Wordsf("pull request #%d of %s was merged at the forge, so it is completed%s",
					f.Pull, taskOf(e), atCommit(f.PullCommit))
			}
			return Wordsf("%s merged %s%s", AgentName(e.From), taskOf(e), atCommit(f.Result))
		},
		Apply: func(t *Task, _ Event, f TaskCompletedFacts) {
			t.Head, t.Result, t.Cause, t.Reason = f.Head, f.Result, "", ""
		},
	}),
	taskRow(taskKind[TaskRolledBackFacts]{
		Type: EventTaskRolledBack, Meaning: "a new commit reverted a merged task", For: forRecipient,
		Say: func(e Event, _ TaskRolledBackFacts) Words {
			return Wordsf("%s reverted the merge of %s%s", AgentName(e.From), taskOf(e), reasonSuffix(e.Reason))
		},
		Apply: func(t *Task, e Event, f TaskRolledBackFacts) {
			t.clearApproval()
			t.Cause, t.Reason, t.Result = f.Cause, e.Reason, f.Result
		},
	}),
	taskRow(taskKind[TaskPullRequestFacts]{
		Type: EventTaskPullRequest, For: forRecipient,
		Meaning: "a pull request for a task was opened, or tt learned that it changed at the forge",
		Say: func(e Event, f TaskPullRequestFacts) Words {
			pr := Wordsf("pull request #%d of %s", f.Number, taskOf(e))
			switch f.PullRequest.State {
			case PullMerged:
				if f.Without != "" {
					return Wordsf("%s was merged at the forge without %s, which waits for review", pr,
						ShortCommit(f.Without))
				}
				return pr + " was merged at the forge"
			case PullClosed:
				return pr + " was closed at the forge without being merged"
			}
			if f.URL == "" { // damaged
				return AgentName(e.From) + " offered " + pr
			}

			return AgentName(e.From) + " offered " + pr + Wordsf(": %s", f.URL)
		},
		Apply: func(t *Task, _ Event, f TaskPullRequestFacts) { t.PR = f.PullRequest },
	}),
}
