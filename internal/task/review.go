package task

import (
	"context"
	"slices"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task/queue"
	"talkingstick/internal/task/repository"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/talk"
	"talkingstick/stick/tasks"
)

// WorkerApproveParams approves one commit of a task.
type WorkerApproveParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`
	Head   string `json:"head,omitempty"` // empty for the commit that the caller has seen last
	Reason string `json:"reason,omitempty"`

	// a person approves even their own work, or a commit that they haven't seen
	Override bool `json:"override,omitempty"`

	// tt merges it by itself, also without a further command; where the project sets [merge] auto, always
	Merge bool `json:"merge,omitempty"`
}

// WorkerReviewResult is the state of a task after a decision.
type WorkerReviewResult struct {
	RoomID  stick.RoomID    `json:"room_id"`
	AgentID stick.AgentID   `json:"agent_id"`
	TaskID  string          `json:"task_id"`
	State   stick.TaskState `json:"state"`
	Attempt int             `json:"attempt"`
	Head    string          `json:"head"`
	Worker  stick.AgentID   `json:"worker,omitempty"`

	// those of the gate's own files that the approved commit changes
	GateFiles []string          `json:"gate_files,omitempty"`
	Merges    bool              `json:"merges,omitempty"`        // tt merges it by itself
	Comments  int               `json:"comments_sent,omitempty"` // how many comments on lines it sent
	MessageID int64             `json:"message_id,omitempty"`    // the message to the worker
	Delivery  presence.Delivery `json:"delivery,omitempty"`      // how the message reaches the worker
	Note      stick.Words       `json:"note,omitempty"`
	Next      stick.Words       `json:"next_action,omitempty"` // how its command starts again, if that has ended
	Already   bool              `json:"already,omitempty"`

	// the tasks whose commands were started because they have come back
	Started []runner.StartedTask `json:"started,omitempty"`
}

// WorkerApprove approves exactly one commit, and puts the task into the merge queue. It fails with
// [stick.CodeInvalidTransition], [stick.CodeAuthorCannotReview], [stick.CodeReviewStale],
// [stick.CodePersonOnly] and [stick.CodeLanding].
func (ts *Tasks) WorkerApprove(ctx context.Context, p WorkerApproveParams) (WorkerReviewResult, error) {
	var res WorkerReviewResult
	rp, err := ts.openForTask(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	// git is asked before the transaction, because that may run again.
	task, err := rp.ReadTask(ctx, p.TaskID)
	if err != nil {
		return res, err
	}

	branch, target, err := rp.ReadBranches(ctx, task)
	if err != nil {
		return res, err
	}

	head, err := rp.resolveNamed(ctx, task.ID, p.Head)
	if err != nil {
		return res, err
	}

	set, err := rp.settingsOfReview(ctx, task, target)
	if err != nil {
		return res, err
	}

	err = rp.runDecision(ctx, &res, func(o *repository.Op, in *core.Inboxes) error {
		task, v, err := prepareDecision(o, p.TaskID, head, branch)
		if err != nil {
			return err
		}

		v.Independent, v.Merge = set.gate.IndependentReview, p.Merge || set.auto
		if v.Merging, err = o.Tx.MergesByItself(o.Room.ID, task); err != nil {
			return err
		}

		// A person who overrides approves what the branch has now, seen or not.
		if v.Override = p.Override; v.Override && v.Head == "" && v.Person {
			v.Head = branch
		}

		ev, err := tasks.Approve(task, v, p.Reason)
		if err != nil {
			return err
		}

		// A second approval of the same commit changes nothing, and sends nothing.
		res = decisionResult(o, task)
		res.State, res.Already, res.Merges = stick.TaskApproved, ev == nil, v.Merge || v.Merging
		if ev != nil {
			o.AddTaskEvent(*ev)
			if res.Comments = len(v.Drafts); res.Comments > 0 {
				if res.Delivery, res.Note, err = tellWorker(o, in, task, "Approved", p.Reason, v.Drafts...); err != nil {
					return err
				}
			}
		}

		// The reviewer has to know that the task changes what judges it.
		res.GateFiles = set.changed
		res.addNote(gateNote(set.changed))
		return nil
	})

	if err == nil && res.Merges {
		res.addNote(rp.landByItself(res.RoomID, set.gate.Env))
	}
	return res, err
}

// addNote adds a note to the result; it may be empty.
func (res *WorkerReviewResult) addNote(note stick.Words) {
	switch {
	case res.Note == "":
		res.Note = note
	case note != "":
		res.Note += "; " + note
	}
}

// landByItself has the process begin that merges by itself. The note says why it can't; the approval stands.
func (rp *repo) landByItself(room stick.RoomID, variables []string) (note stick.Words) {
	if err := rp.tasks.queue.StoreEnviron(rp.Repo, variables); err != nil {
		return stick.AsError(err).Words()
	}
	return rp.tasks.queue.WakeLander(rp.Repo, room, false)
}

// WorkerRequestChangesParams asks a task's worker for changes.
type WorkerRequestChangesParams struct {
	Caller core.Caller `json:"-"`
	core.Where
	TaskID string `json:"task_id"`
	Head   string `json:"head,omitempty"`
	Reason string `json:"reason"`
}

// WorkerRequestChanges returns a task to its worker, which gets the reason as a message. The worker's command
// starts again if it waits for that. It fails as [Tasks.WorkerApprove] does, and with [stick.CodeUsage] without a reason.
func (ts *Tasks) WorkerRequestChanges(ctx context.Context, p WorkerRequestChangesParams) (WorkerReviewResult, error) {
	var res WorkerReviewResult
	rp, err := ts.openForTask(ctx, p.Where, p.Caller)
	if err != nil {
		return res, err
	}

	head, branch, err := rp.resolveHeads(ctx, p.TaskID, p.Head)
	if err != nil {
		return res, err
	}

	err = rp.runDecision(ctx, &res, func(o *repository.Op, in *core.Inboxes) error {
		task, v, err := prepareDecision(o, p.TaskID, head, branch)
		if err != nil {
			return err
		}

		// Asking twice is safe, but new comments are news.
		if len(v.Drafts) == 0 {
			yes, err := repository.RepeatsLast(o.Tx, o.Room.ID, o.Me, task, stick.EventTaskChangesRequested, p.Reason)
			if err != nil || yes {
				res = decisionResult(o, task)
				res.Already = true
				return err
			}
		}

		ev, err := tasks.RequestChanges(task, v, p.Reason)
		if err != nil {
			return err
		}

		o.AddTaskEvent(ev)
		res = decisionResult(o, task)
		res.State, res.Comments = stick.TaskWorking, len(v.Drafts)
		if res.Delivery, res.Note, err = tellWorker(o, in, task, "Changes requested", p.Reason, v.Drafts...); err != nil {
			return err
		}
		if res.Note != "" {
			res.Note += stick.Wordsf("; another agent can take on the task: %s",
				stick.Cmd("tt task start --task <task_id>", task.ID))
		}

		again, err := ts.runs.RestartHint(o.Tx, o.Room.ID, task, stick.CauseReview)
		res.Next = again.As(p.Caller.AssumedByFlag()).Words()
		return err
	})

	// A worker's command may wait until the task is back.
	if err == nil {
		res.Started = ts.startReady(ctx, p.Caller, p.Where)
	}
	return res, err
}

// runDecision runs a decision, and adds the number of its message to the result.
func (rp *repo) runDecision(ctx context.Context, res *WorkerReviewResult, rule func(*repository.Op, *core.Inboxes) error) error {
	// The number of the message is known only once the events are numbered.
	in := rp.Core.Inboxes()
	return in.RetryUnseen(ctx, func() error {
		return rp.tasks.repos.Write(ctx, rp.Where, rp.By, core.MustBeMember, func(o *repository.Op) error {
			o.Settle()
			return rule(o, in)
		}, func(o *repository.Op) error {
			if sent := o.LastEvent(stick.EventMessageSent); sent != nil && sent.Task == res.TaskID {
				res.MessageID = sent.Seq
			}
			return nil
		})
	})
}

// resolveHeads returns the commit that a decision names, if it names one, and the commit of the task's
// branch. It fails with [stick.CodeNotFound].
func (rp *repo) resolveHeads(ctx context.Context, id, head string) (seen, branch string, err error) {
	task, err := rp.ReadTask(ctx, id)
	if err != nil {
		return "", "", err
	}
	if branch, err = rp.BranchCommit(ctx, task); err != nil {
		return "", "", err
	}

	seen, err = rp.resolveNamed(ctx, task.ID, head)
	return seen, branch, err
}

// resolveNamed returns the commit that a decision on a task names, "" if it names none. It fails with
// [stick.CodeNotFound].
func (rp *repo) resolveNamed(ctx context.Context, id, head string) (string, error) {
	if head == "" {
		return "", nil
	}

	commit, ok, err := rp.Git.Commit(ctx, rp.Root, head)
	if err == nil && !ok {
		err = stick.Errorf(stick.CodeNotFound, "there is no commit %q", stick.Clip(head, 60)).
			With("head", stick.Clip(head, 60)).
			Hintf("to see the commit that waits for review: %s", stick.Cmd("tt task show <task_id>", id))
	}
	return commit, err
}

// reviewSettings are what a review needs to know of the project.
type reviewSettings struct {
	gate    config.Gate
	auto    bool     // what is approved is merged by itself
	changed []string // those of the gate's own files that the offered commit changes
}

// settingsOfReview reads from the head of a task's integration branch what a review needs to know.
func (rp *repo) settingsOfReview(
	ctx context.Context, task stick.Task, t repository.Target,
) (set reviewSettings, err error) {
	// A merge tells that the branch is missing.
	if t.Head() == "" {
		return set, nil
	}

	c, err := rp.ReadConfig(ctx, t.Head())
	set.gate, set.auto = c.Gate, c.Merge.Auto
	if err == nil && task.Offered() {
		set.changed, err = queue.GateFiles(ctx, rp.Repo, t.Head(), task.Base, task.Head)
	}
	return set, err
}

// gateNote says what follows from that a task changes these files of the gate.
func gateNote(files []string) stick.Words {
	var notes []stick.Words
	if slices.Contains(files, config.FileName) {
		notes = append(notes,
			"the task changes the file that sets the gate; its own merge is still tested by the gate of the branch that it is merged into")
	}

	scripts := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == config.FileName })
	if len(scripts) > 0 {
		notes = append(notes,
			"the task changes files of the gate itself, and its merge is tested with them as the task has them: "+stick.Names(scripts, repository.MostNamed))
	}

	return stick.JoinWords(notes, "; ")
}

// prepareDecision prepares the caller's decision on a task, with the drafts that it sends.
func prepareDecision(o *repository.Op, id, head, branch string) (task stick.Task, v tasks.Decision, err error) {
	if task, v, err = prepareReview(o, id, head, branch); err != nil {
		return task, v, err
	}
	if err := o.RequireNotLanding(task.ID); err != nil {
		return task, v, err
	}

	comments, err := commentsOn(o.Tx, o.Room.ID, task)
	v.Drafts = draftsOf(comments, o.Me.Agent)
	return task, v, err
}

// prepareReview prepares what the caller says about a task as its reviewer. Without a named commit, it is
// about the one that the caller has seen last.
func prepareReview(o *repository.Op, id, head, branch string) (task stick.Task, v tasks.Decision, err error) {
	if err := o.RequireMemberOrPerson(); err != nil {
		return task, v, err
	}
	if task, err = repository.TaskOf(o.Tx, o.Room.ID, id); err != nil {
		return task, v, err
	}
	if head == "" {
		if head, err = o.Tx.SeenHead(o.Room.ID, task.ID, o.Me.Agent); err != nil {
			return task, v, err
		}
	}

	// The rules compare who reviews with who has worked on the task.
	v = tasks.Decision{Call: o.TaskCall(0), Head: head, Branch: branch}
	if v.Reviewer, err = o.Me.Actor(o.Tx); err != nil {
		return task, v, err
	}

	for _, a := range task.Authors() {
		author, err := core.ActorOf(o.Tx, a)
		if err != nil {
			return task, v, err
		}

		v.Authors = append(v.Authors, author)
	}

	return task, v, nil
}

// decisionResult returns the result of a decision on a task. The caller sets what the decision changed.
func decisionResult(o *repository.Op, task stick.Task) WorkerReviewResult {
	return WorkerReviewResult{
		RoomID: o.Room.ID, AgentID: o.Me.Agent, TaskID: task.ID, State: task.State,
		Attempt: task.Attempt, Head: task.Head, Worker: task.Worker,
	}
}

// tellWorker sends the task's worker one message: words, and as many comments with the lines around them as
// fit. It returns how the message reaches the worker, and a note if the worker is gone. It fails with
// [core.ErrUnseenInbox].
func tellWorker(
	o *repository.Op, in *core.Inboxes, task stick.Task, subject, words string, comments ...stick.Comment,
) (how presence.Delivery, note stick.Words, err error) {
	if !hasWorkerToTell(o, task) {
		return "", "", nil
	}

	sent, ok := sendWorker(o, task, subject, words, comments...)
	if !ok {
		return presence.DeliveryNeedsPerson, stick.Wordsf("%s can't be reached", task.Worker), nil
	}

	how, _, err = o.ReachOf(task.Worker, sent, in)
	return how, "", err
}

// hasWorkerToTell reports whether a task has a worker, and it isn't the caller.
func hasWorkerToTell(o *repository.Op, task stick.Task) bool {
	return task.Worker != "" && task.Worker != o.Me.Agent
}

// sendWorker sends the message of [tellWorker]. It isn't ok if the worker has left or is gone.
func sendWorker(o *repository.Op, task stick.Task, subject, words string, comments ...stick.Comment) (sent stick.Event, ok bool) {
	subject += ": " + task.ID
	if n := len(comments); n > 0 {
		subject += string(", with " + stick.Count(n, "comment"))
		if words != "" {
			words += "\n\n"
		}

		// The words always fit. Of the comments, as many as there is room for.
		last := "\nWhen you have dealt with one: " + stick.Cmd("tt task comment <task_id> --resolve <comment>",
			task.ID).String()
		if text := commentsText(task.ID, comments, stick.MaxBody-len(words)-len(last)); text != "" {
			words += text + last
		}
	}

	q := talk.Sending{By: o.Me.Agent, Task: task.ID, Message: stick.Message{
		To: []stick.AgentID{task.Worker}, Category: stick.Info, Subject: subject,
		Body: strings.TrimSpace(words), Thread: "bead:" + task.ID,
	}}

	r, events, err := talk.Send(o.Room, q, o.Probes.Probed, o.Tx.Now())
	if err != nil {
		return stick.Event{}, false
	}

	o.Apply(r, events)
	return events[0], true
}

// tellOfLanding sends the message of a landing to the worker, unless that is the caller or can't be reached.
func tellOfLanding(o *repository.Op, task stick.Task, subject, words string) {
	if hasWorkerToTell(o, task) {
		sendWorker(o, task, subject, words)
	}
}
