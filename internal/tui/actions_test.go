package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/presence"
	"talkingstick/stick/tasks"
)

// recorder performs the operations of a person's keys, and writes them down.
type recorder struct {
	Operations
	done []string
	fail error
	head string // of the task that is in review
}

func (r *recorder) did(format string, args ...any) error {
	r.done = append(r.done, fmt.Sprintf(format, args...))
	return r.fail
}

func (r *recorder) WorkerDiff(_ context.Context, p task.WorkerDiffParams) (task.WorkerDiffResult, error) {
	res := *shownDiff()
	res.Head = r.head
	return res, r.did("diff %s", p.TaskID)
}

func (r *recorder) WorkerApprove(_ context.Context, p task.WorkerApproveParams) (task.WorkerReviewResult, error) {
	return task.WorkerReviewResult{TaskID: p.TaskID, State: stick.TaskApproved, Head: p.Head}, r.did("approve %s %s", p.TaskID, p.Head)
}

func (r *recorder) WorkerRequestChanges(_ context.Context, p task.WorkerRequestChangesParams) (task.WorkerReviewResult, error) {
	return task.WorkerReviewResult{
		State: stick.TaskWorking, Worker: "claude:0d12", MessageID: 44, Delivery: presence.DeliveryNextTool,
	}, r.did("return %s %s: %s", p.TaskID, p.Head, p.Reason)
}

func (r *recorder) WorkerComment(_ context.Context, p task.WorkerCommentParams) (task.WorkerCommentResult, error) {
	return task.WorkerCommentResult{Comment: stick.Comment{Path: "upload.go", Lines: stick.Lines{4, 4}}}, r.did(
		"comment %s %s %t %s: %s", p.TaskID, p.At, p.Old, p.Head, p.Body,
	)
}

func (r *recorder) WorkerMerge(_ context.Context, p task.WorkerMergeParams) (task.WorkerMergeResult, error) {
	return task.WorkerMergeResult{
		Merged:  []task.MergedTask{{TaskID: p.TaskID, Branch: "integration", Gate: "green"}},
		Started: []task.StartedTask{{ReadyTask: task.ReadyTask{TaskID: "ui-9"}}},
	}, r.did("merge %s in %s", p.TaskID, p.RoomID)
}

func (r *recorder) WorkerRun(_ context.Context, p task.WorkerRunParams) (task.WorkerRunResult, error) {
	return task.WorkerRunResult{}, r.did("run %s", p.TaskID)
}

func (r *recorder) WorkerStop(_ context.Context, p task.WorkerStopParams) (task.WorkerStopResult, error) {
	return task.WorkerStopResult{}, r.did("stop %s", p.TaskID)
}

func (r *recorder) AckMessage(_ context.Context, p engine.MessagesParams) (engine.MessagesResult, error) {
	return engine.MessagesResult{}, r.did("ack %v", p.MessageIDs)
}

func (r *recorder) GetMessage(_ context.Context, p engine.GetMessageParams) (engine.GetMessageResult, error) {
	return engine.GetMessageResult{
		Me: "human:ann", MessageView: engine.MessageView{MessageID: p.MessageID, From: "claude:0d12"},
		Receipts: []engine.ReceiptView{{AgentID: "human:ann", State: stick.Unread}},
	}, nil
}

func (r *recorder) ReadMessage(_ context.Context, p engine.ReadMessageParams) (engine.MessagesResult, error) {
	return engine.MessagesResult{}, r.did("read %v", p.MessageIDs)
}

func (r *recorder) SendMessage(_ context.Context, p engine.SendMessageParams) (engine.SendMessageResult, error) {
	return engine.SendMessageResult{
			MessageID:  45,
			Recipients: []engine.Recipient{{AgentID: p.To[0], Delivery: presence.DeliveryListening}},
		},
		r.did("send %v %s %d: %s", p.To, p.TaskID, p.ReplyTo, p.Body)
}

func (r *recorder) TakeoverStick(_ context.Context, p engine.TakeoverStickParams) (engine.TakeoverStickResult, error) {
	return engine.TakeoverStickResult{Grant: &engine.Grant{}, Rescue: &restore.TakeoverRescue{ID: "1m819e"}}, r.did(
		"take %s turn %d, on a person's word: %t: %s", p.RoomID, p.ExpectedTurn, p.Operator, p.Reason,
	)
}

func (r *recorder) PauseRoom(_ context.Context, p engine.PauseRoomParams) (engine.PauseRoomResult, error) {
	return engine.PauseRoomResult{}, r.did("pause %s: %s", p.RoomID, p.Reason)
}

func (r *recorder) ResumeRoom(_ context.Context, p engine.ResumeRoomParams) (engine.ResumeRoomResult, error) {
	return engine.ResumeRoomResult{}, r.did("resume %s", p.RoomID)
}

func (r *recorder) RestoreRescue(_ context.Context, p restore.RestoreRescueParams) (restore.RestoreRescueResult, error) {
	return restore.RestoreRescueResult{Checkout: "/home/ann/src/shop"}, r.did("restore %s", p.ID)
}

func (r *recorder) ListCalls(_ context.Context, p restore.ListCallsParams) (restore.ListCallsResult, error) {
	return restore.ListCallsResult{Calls: shownCalls()}, r.did("calls of %s", p.RoomID)
}

func (r *recorder) UndoCall(_ context.Context, p restore.UndoCallParams) (restore.UndoCallResult, error) {
	return restore.UndoCallResult{
		Call: edits.Call{ID: p.ID}, UndoID: 19, Restored: []string{"cart.go"}, Removed: []string{"new.go"},
		Left: []restore.LeftFile{{Path: "tax.go", Why: "it has changed since"}},
	}, r.did("undo %d in %s", p.ID, p.RoomID)
}

// keysOn presses keys on a screen with everything, and returns what was done and the screen.
func keysOn(t *testing.T, r *recorder, change func(*model), keys ...string) string {
	t.Helper()
	room := shop()
	room.Tasks[1].Run = &task.RunView{State: tasks.RunEnded, Command: "claude -p"}
	rescue := presence.NewNeed(presence.NeedRescue, "1m819e", before(0), nil,
		"codex:9b22 took uncommitted work away; a copy was kept")
	rescue.Rescue = "1m819e"
	room.Needs = append(room.Needs, rescue)
	m := onScreen(pictured(room, parser()), 80, 24, false)
	performs(t, m, r)
	m.env.Jump = func(_ context.Context, p stick.Process) error { return r.did("jump %d", p.PID) }
	if change != nil {
		change(m)
	}
	m.presses(t, keys...)
	return drawn(m)
}

// types are the keys of a text.
func types(text string, then ...string) (keys []string) {
	for _, c := range text {
		keys = append(keys, string(c))
	}
	return append(keys, then...)
}

func TestKeysAct(t *testing.T) {
	for _, c := range []struct {
		name   string
		keys   []string
		change func(*model)
		done   []string
		says   string
	}{
		{
			"approve, after the diff was shown",
			[]string{"4", "a", "y"},
			nil,
			[]string{"diff ui-7", "approve ui-7 2dd9464f4a0c"},
			"ui-7 is APPROVED: commit 2dd9464f4a",
		},
		{
			"approve and merge, by three keys",
			[]string{"4", "a", "m"},
			nil,
			[]string{"diff ui-7", "approve ui-7 2dd9464f4a0c", "merge ui-7 in shop000000"},
			"ui-7 is merged into integration (the gate passed); started the command of ui-9",
		},
		{"not after all", []string{"4", "a", "esc", "esc"}, nil, []string{"diff ui-7"}, "Needs you"},
		{
			"approve what the diff shows",
			[]string{"4", "d", "a", "y"},
			nil,
			[]string{"diff ui-7", "approve ui-7 2dd9464f4a0c"},
			"ui-7 is APPROVED",
		},
		{
			"request changes",
			append([]string{"4", "r"}, types("twice is enough", "enter")...),
			nil,
			[]string{"diff ui-7", "return ui-7 2dd9464f4a0c: twice is enough"},
			"told by message 44 (next tool call)",
		},
		{"no reason is none", []string{"4", "r", "enter", "esc"}, nil, []string{"diff ui-7"}, "what it changes"},
		{
			"comment on an added line",
			append(append([]string{"4", "d"}, slices.Repeat([]string{"down"}, 11)...),
				append([]string{"c"}, types("why?", "enter")...)...),
			nil,
			[]string{"diff ui-7", "comment ui-7 upload.go:4 false 2dd9464f4a0c: why?", "diff ui-7"},
			"your draft is on upload.go:4",
		},
		{
			"comment on a removed line",
			append(append([]string{"4", "d"}, slices.Repeat([]string{"down"}, 9)...),
				append([]string{"c"}, types("good", "enter")...)...),
			nil,
			[]string{"diff ui-7", "comment ui-7 upload.go:3 true 2dd9464f4a0c: good", "diff ui-7"},
			"your draft",
		},
		{
			"merge",
			[]string{"4", "m", "y"},
			func(m *model) { m.picture.Rooms[0].Tasks[0].State = stick.TaskApproved },
			[]string{"merge ui-7 in shop000000"},
			"ui-7 is merged into integration",
		},
		{"accept", []string{"3", "a", "y"}, nil, []string{"ack [40]"}, "message 40 is accepted"},
		{
			"open a message, answer it",
			append([]string{"3", "enter", "s"}, types("three", "enter")...),
			nil,
			[]string{"read [40]", "send [claude:0d12]  40: three", "ack [40]", "read [40]"},
			"sent to claude:0d12: it gets it now; message 40 is accepted",
		},
		{
			"write to the worker of a task",
			append([]string{"4", "s"}, types("hurry", "enter")...),
			nil,
			[]string{"send [claude:0d12] ui-7 0: hurry"},
			"message 45",
		},
		{
			"write to a room",
			append(slices.Repeat([]string{"down"}, 6), append([]string{"s"}, types("lunch", "enter")...)...),
			nil,
			[]string{"send [room]  0: lunch"},
			"message 45",
		},
		{
			"take over from one that is gone",
			append([]string{"2", "t"}, types("it crashed", "enter")...),
			nil,
			[]string{"take parser0000 turn 31, on a person's word: false: it crashed"},
			"kept as rescue 1m819e",
		},
		{
			"take from one at work",
			append(slices.Repeat([]string{"down"}, 6), append([]string{"t"}, types("stop", "enter")...)...),
			nil,
			[]string{"take shop000000 turn 7, on a person's word: true: stop"},
			"you have the stick",
		},
		{
			"pause",
			append(slices.Repeat([]string{"down"}, 6), append([]string{"p"}, types("lunch", "enter")...)...),
			nil,
			[]string{"pause shop000000: lunch"},
			"shop is paused",
		},
		{
			"resume",
			append(slices.Repeat([]string{"down"}, 6), "p", "y"),
			func(m *model) { m.picture.Rooms[0].State.Paused = &stick.Pause{By: "human:bob", Reason: "x"} },
			[]string{"resume shop000000"},
			"shop goes on",
		},
		{"run a worker again", []string{"5", "w", "y"}, nil, []string{"run ui-8"}, "started run"},
		{
			"stop a worker",
			[]string{"5", "w", "y"},
			func(m *model) { m.picture.Rooms[0].Tasks[1].Run.State = tasks.RunRunning },
			[]string{"stop ui-8"},
			"of ui-8",
		},
		{"bring back", []string{"6", "b", "y"}, nil, []string{"restore 1m819e"}, "brought back 0 files"},
		{
			"undo a call", append(slices.Repeat([]string{"down"}, 6), "e", "u", "y"), nil,
			[]string{"calls of shop000000", "undo 17 in shop000000", "calls of shop000000"},
			"call 17 is undone: 1 file as before it, 1 removed; 1 file stays as it is, the\n  first tax.go: it has changed since; this is call 19",
		},
		{
			"a room isn't undone",
			append(slices.Repeat([]string{"down"}, 6), "u"),
			nil,
			nil,
			"u does nothing with what is selected",
		},
		{
			"go to a pane",
			[]string{"1", "g"},
			func(m *model) { m.picture.Rooms[0].State.Members[2].Process.PID = 77 },
			[]string{"jump 77"},
			"switched to the pane of gemini:77aa",
		},
		{
			"keys that mean nothing here",
			[]string{"1", "a", "m", "c", "b", "g", "d", "l", "w"},
			nil,
			nil,
			"w does nothing with what is selected",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{head: "2dd9464f4a0c"}
			got := keysOn(t, r, c.change, c.keys...)
			if !slices.Equal(r.done, c.done) {
				t.Errorf("it did %q, want %q", r.done, c.done)
			}
			if !strings.Contains(got, c.says) {
				t.Errorf("the screen lacks %q:\n%s", c.says, got)
			}
		})
	}
}

// A refusal is said with its next step, and goes with the next key.
func TestKeysThatAreRefused(t *testing.T) {
	r := &recorder{
		fail: stick.Errorf(stick.CodePersonOnly, "only a person may pause a room").Hintf(
			"ask everybody here to stop: %s", stick.Cmd("tt msg send room …"),
		),
	}
	keys := append(slices.Repeat([]string{"down"}, 6), append([]string{"p"}, types("x", "enter")...)...)
	if got := keysOn(t, r, nil, keys...); !strings.Contains(got, "only a person may pause a room\n  hint: ask everybody here to stop: tt msg send room \"…\"\n") {
		t.Errorf("the screen is\n%s", got)
	}
	if got := keysOn(t, r, nil, append(keys, "up")...); strings.Contains(got, "only a person") {
		t.Errorf("the screen is still\n%s", got)
	}

	// a diff that can't be read is no reason to ask for a decision on it
	if got := keysOn(t, r, nil, "4", "a", "y"); !strings.Contains(got, "only a person may pause a room") ||
		len(r.done) != 3 {
		t.Errorf("it did %q, and the screen is\n%s", r.done, got)
	}
}

// refuser refuses to merge.
type refuser struct{ *recorder }

func (refuser) WorkerMerge(context.Context, task.WorkerMergeParams) (task.WorkerMergeResult, error) {
	return task.WorkerMergeResult{}, stick.Errorf(stick.CodeDirtyTree, "/srv/shop has 1 uncommitted change: a.go")
}

// Why a task wasn't merged is in no log. Its row says so until it is merged, or approved no more.
func TestRefusedMergeIsRemembered(t *testing.T) {
	approved := func() *monitor.Room {
		room := shop()
		room.Tasks[0].State, room.Tasks[0].Queue = stick.TaskApproved, 1
		return room
	}

	m := onScreen(pictured(approved()), 120, 40, false)
	performs(t, m, refuser{&recorder{}})
	const why = "! not merged: /srv/shop has 1 uncommitted change: a.go"
	if got := drawn(m); !strings.Contains(got, "ready to merge") {
		t.Errorf("the screen is\n%s", got)
	}

	m.presses(t, "3", "m", "y", "up")
	if got := drawn(m); !strings.Contains(got, why) || strings.Contains(got, "ready to merge") {
		t.Errorf("the screen is\n%s", got)
	}

	performs(t, m, &recorder{})
	m.presses(t, "3", "m", "y")
	if got := drawn(m); strings.Contains(got, "not merged") || !strings.Contains(got, "ui-7 is merged") {
		t.Errorf("after the merge the screen is\n%s", got)
	}

	performs(t, m, refuser{&recorder{}})
	m.presses(t, "3", "m", "y")
	m.applyMessage(pictureMsg{pictured(shop())}) // in review again
	if got := drawn(m); strings.Contains(got, "! not merged") {
		t.Errorf("in review again, the screen is\n%s", got)
	}
}

// Each line of a message stands for it.
func TestLinesOfAMessageOpenIt(t *testing.T) {
	m := onScreen(pictured(shop()), 80, 24, false)
	r := &recorder{}
	performs(t, m, r)
	m.presses(t, "end")
	opens(m, pagesToSee()["talk"])
	m.presses(t, "end", "enter")
	if !slices.Equal(r.done, []string{"read [40]"}) {
		t.Errorf("it did %q:\n%s", r.done, drawn(m))
	}
}

// The decision is on the commit that was shown, even if the task has got another one meanwhile.
func TestApprovalNamesWhatWasShown(t *testing.T) {
	r := &recorder{head: "one"}
	m := onScreen(pictured(shop()), 80, 24, false)
	performs(t, m, r)
	m.presses(t, "3", "a")
	r.head = "two"
	later := shop()
	later.Events = append(later.Events, event(99, stick.EventJoin, "x", "", 0))
	m.runs(t, m.applyMessage(pictureMsg{pictured(later)}))
	if got := drawn(m); !strings.Contains(got, "Approve commit one of ui-7?") {
		t.Errorf("the screen is\n%s", got)
	}

	m.presses(t, "y")
	if last := r.done[len(r.done)-1]; last != "approve ui-7 one" {
		t.Errorf("it did %q", last)
	}
}

// Who leaves while something is under way is asked; and an act is shown as long as it lasts.
func TestLeaving(t *testing.T) {
	m := onScreen(pictured(shop()), 80, 24, false)
	performs(t, m, &recorder{})
	quits := func(cmd tea.Cmd) bool {
		if cmd == nil {
			return false
		}
		_, quit := cmd().(tea.QuitMsg)
		return quit
	}

	if !quits(m.applyMessage(keyOf("q"))) {
		t.Error("q doesn't leave")
	}
	m.presses(t, "2", "a")
	act := m.applyMessage(keyOf("y"))
	if got := drawn(m); !strings.Contains(got, "accepting message 40 …") {
		t.Errorf("the screen is\n%s", got)
	}

	m.applyMessage(progressMsg{m.lastAct, "still accepting"})
	if quits(m.applyMessage(keyOf("q"))) ||
		!strings.Contains(drawn(m), "This is under way, and ends if you leave now: still accepting") {
		t.Errorf("it doesn't ask:\n%s", drawn(m))
	}
	if !quits(m.applyMessage(keyOf("y"))) {
		t.Error("it doesn't leave")
	}

	m.runs(t, act)
	if !quits(m.applyMessage(keyOf("q"))) {
		t.Error("it asks although nothing is under way")
	}
}

// A fault in an act ends the act alone.
func TestFaultInAnAct(t *testing.T) {
	m := onScreen(pictured(shop()), 80, 24, false)
	performs(t, m, fake{}) // has no operation
	m.presses(t, "2", "a", "y")
	if got := drawn(m); !strings.Contains(got, "the program has a fault") || len(m.ongoing) > 0 {
		t.Errorf("the screen is\n%s", got)
	}
}
