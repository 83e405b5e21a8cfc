package tui

import (
	"context"
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// review is what a diff is opened for.
type review string

const (
	toApprove review = "approve"
	toReturn  review = "return"
)

func isInReview(_ *model, t target) bool {
	v := taskOf(t)
	return v != nil && v.State == stick.TaskInReview && v.Doing == ""
}

func isApproved(_ *model, t target) bool {
	v := taskOf(t)
	return v != nil && v.State == stick.TaskApproved && v.Doing == ""
}

// beginReview begins a review: it shows what the task changes, and asks then. So nobody decides on a commit
// that wasn't shown.
func beginReview(what review) func(*model, target) tea.Cmd {
	return func(m *model, t target) tea.Cmd {
		if p, ok := m.shownPage().page.(diffPage); ok && p.res != nil {
			m.askDecision(p, what)
			return nil
		}
		return m.openPage(diffPage{room: t.room.ID(), id: t.task, asks: what})
	}
}

// askDecision asks for a decision on the commit that a page shows.
func (m *model) askDecision(p diffPage, what review) {
	of := "commit " + shortCommit(p.res.Head) + " of " + p.id
	switch {
	case p.res.Head == "":
		m.note = note{text: term.Textf("%s has no commit", p.id), bad: true}
	case what == toReturn:
		drafts := p.draftCount()
		m.ask = newPrompt(func(m *model, text string) tea.Cmd { return m.requestChanges(p, text) },
			"What must change in %s?", of)

		// Drafts are sent with the decision, so they may be all that is said.
		if m.ask.allowsEmpty = drafts > 0; drafts > 0 {
			verb := "is"
			if drafts > 1 {
				verb = "are"
			}

			m.ask.text = term.Textf("What must change in %s? Your %s %s sent with it; enter alone sends nothing else.",
				of, stick.Count(drafts, "comment"), verb)
		}
	default:
		// What makes a yes risky is in the question.
		warning := ""
		if p.res.ChangesGate {
			warning = " It changes the gate itself."
		}
		if p.res.Cut {
			warning += " It is longer than what is shown."
		}

		approve := func(m *model) tea.Cmd { return m.approveCommit(p, false) }
		m.ask = newConfirm("approve", approve, "Approve %s?%s", of, warning)

		merge := func(m *model) tea.Cmd { return m.approveCommit(p, true) }
		m.ask.answers = append(m.ask.answers, answer{"m", "approve and merge", merge})
	}
}

// draftCount is how many comments on the task wait to be sent with the decision.
func (p diffPage) draftCount() (n int) {
	for _, c := range p.res.Comments {
		if c.Draft {
			n++
		}
	}

	return n
}

func (m *model) approveCommit(p diffPage, merges bool) tea.Cmd {
	e, at := m.env, core.Where{RoomID: p.room}
	return m.startAct(term.Textf("approving %s", p.id), func(ctx context.Context, now func(term.Text)) doneMsg {
		res, err := e.Operations.WorkerApprove(ctx, task.WorkerApproveParams{
			Caller: e.Caller, Where: at, TaskID: p.id, Head: p.res.Head,
		})

		said := term.Textf("%s is %s: commit %s", p.id, res.State, shortCommit(res.Head))
		if res.Note != "" {
			said += term.Textf("; %s", res.Note)
		}

		done := doneMsg{text: said, err: err, closes: p.subjectKey()}
		if err != nil || !merges {
			return done
		}

		// The approval stands, whatever comes of the merge.
		done.text, done.err = e.runMerge(ctx, at, p.id, now)
		done.merges = taskKey(p.room, p.id)
		return done
	})
}

func (m *model) requestChanges(p diffPage, reason string) tea.Cmd {
	e, at := m.env, core.Where{RoomID: p.room}
	return m.startAct(term.Textf("returning %s", p.id), func(ctx context.Context, _ func(term.Text)) doneMsg {
		res, err := e.Operations.WorkerRequestChanges(ctx, task.WorkerRequestChangesParams{
			Caller: e.Caller, Where: at, TaskID: p.id, Head: p.res.Head, Reason: reason,
		})
		if err != nil {
			return doneMsg{err: err}
		}

		said := term.Textf("%s is %s again", p.id, res.State)
		if res.MessageID != 0 {
			reaches := strings.ReplaceAll(string(res.Delivery), "_", " ")
			said += term.Textf("; %s is told by message %d (%s)", res.Worker, res.MessageID, reaches)
		}

		said += startedText(res.Started)
		return doneMsg{text: said, closes: p.subjectKey()}
	})
}

// mergeTask asks whether to merge a task that is approved.
func mergeTask(m *model, t target) tea.Cmd {
	at, id, v := t.whereOf(), t.task, taskOf(t)
	m.ask = newConfirm("merge", func(m *model) tea.Cmd {
		e := m.env
		return m.startAct(term.Textf("merging %s", id), func(ctx context.Context, now func(term.Text)) doneMsg {
			said, err := e.runMerge(ctx, at, id, now)
			return doneMsg{text: said, err: err, merges: taskKey(at.RoomID, id)}
		})
	}, "Merge commit %s of %s into %s?", shortCommit(v.Approved), id, v.Integration)
	return nil
}

// runMerge merges a task, and says what came of it. It says meanwhile which gate runs.
func (e *env) runMerge(ctx context.Context, at core.Where, id string, now func(term.Text)) (term.Text, error) {
	now(term.Textf("merging %s", id))
	res, err := e.Operations.WorkerMerge(ctx, task.WorkerMergeParams{
		Caller: e.Caller, Where: at, TaskID: id,
		Waits: func(on string, r task.Runner) {
			now(term.Textf("waiting for %s: it works on %s", r.Words(), on))
		},
		Shows: func(g task.GateRun) { now(term.Textf("running the gate on %s: %s", id, stick.Clip(g.Command, 60))) },
	})
	if err != nil {
		return "", err
	}

	said := startedText(res.Started)
	for _, m := range res.Merged {
		gate := "no gate"
		if m.Gate == "green" {
			gate = "the gate passed"
		}
		if m.Already {
			gate = "already"
		}

		said = term.Textf("%s is merged into %s (%s)", m.TaskID, m.Branch, gate) + said
		if m.Note != "" {
			said += term.Textf("; %s", m.Note)
		}
	}

	return said, nil
}

// startedText says which commands of ready or returned tasks were started.
func startedText(started []task.StartedTask) (said term.Text) {
	for _, s := range started {
		if s.Error != "" {
			said += term.Textf("; the command of %s wasn't started: %s", s.TaskID, s.Why)
		} else {
			said += term.Textf("; started the command of %s", s.TaskID)
		}
	}

	return said
}

// commentableLine is the line of a diff that is selected, if somebody can comment on it.
func (m *model) commentableLine() (p diffPage, l diffLine, ok bool) {
	if p, ok = m.shownPage().page.(diffPage); ok && p.res != nil {
		l, ok = p.selectedLine(m.shownPage().key)
	}
	return p, l, ok
}

func canComment(m *model, _ target) bool {
	_, _, ok := m.commentableLine()
	return ok
}

// commentLine asks for a comment on a line. It is a draft until the next decision.
func commentLine(m *model, _ target) tea.Cmd {
	p, l, _ := m.commentableLine()
	at := l.path + ":" + strconv.Itoa(l.at)
	m.ask = newPrompt(func(m *model, text string) tea.Cmd {
		e := m.env
		return m.startAct(term.Textf("commenting"), func(ctx context.Context, _ func(term.Text)) doneMsg {
			res, err := e.Operations.WorkerComment(ctx, task.WorkerCommentParams{
				Caller: e.Caller, Where: core.Where{RoomID: p.room}, TaskID: p.id,
				At: at, Old: l.old, Body: text, Head: p.res.Head,
			})

			done := doneWith(err, "your draft is on %s; your decision sends it: a or r", term.Path(res.Comment.At()))
			done.reread = true
			return done
		})
	}, "Comment on %s", term.Path(at))
	return nil
}

// runWord says whether the command of a task's worker can be stopped, or started again.
func (m *model) runWord(t target) string {
	v := taskOf(t)
	if v == nil || v.Run == nil || v.Checkout != "" {
		return ""
	}

	switch over := v.State == stick.TaskCompleted || v.State == stick.TaskFailed; {
	case v.Run.State.Live() || v.Run.Waits:
		return "stop"
	case !over && m.env != nil:
		return "run"
	}

	return ""
}

// toggleRun asks whether to stop the command of a task's worker, or to start it again.
func toggleRun(m *model, t target) tea.Cmd {
	at, id, run := t.whereOf(), t.task, taskOf(t).Run
	if m.runWord(t) == "stop" {
		m.ask = newConfirm("stop", func(m *model) tea.Cmd {
			e := m.env
			act := term.Textf("stopping the command of %s", id)
			return m.startAct(act, func(ctx context.Context, _ func(term.Text)) doneMsg {
				res, err := e.Operations.WorkerStop(ctx, task.WorkerStopParams{Caller: e.Caller, Where: at, TaskID: id})

				// It has ended, but what it started may not.
				if err == nil && len(res.Left) > 0 {
					err = errors.New("some of its processes couldn't be ended")
				}

				return doneWith(err, "run %d of %s %s", res.Run.Run, id, res.Run.StateText())
			})
		}, "Stop the command of %s? %s", id, stick.Clip(run.Command, 120))
		return nil
	}

	m.ask = newConfirm("run", func(m *model) tea.Cmd {
		e := m.env
		act := term.Textf("starting the command of %s", id)
		return m.startAct(act, func(ctx context.Context, _ func(term.Text)) doneMsg {
			res, err := e.Operations.WorkerRun(ctx, task.WorkerRunParams{Caller: e.Caller, Where: at, TaskID: id})
			return doneWith(err, "started run %d of %s", res.Run.Run, id)
		})
	}, "Run the command of %s again? %s", id, stick.Clip(run.Command, 120))
	return nil
}
