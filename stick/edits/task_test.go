package edits_test

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

// worked is a room in which a holds the stick, and b works on the task parser.
func worked(t *testing.T, enforce stick.Enforce) (*sticktest.Fixture, stick.Task) {
	t.Helper()
	f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a", "b", "c").Owns("a")
	f.Policy.Enforce = enforce
	return f, stick.Task{
		ID: "parser", State: stick.TaskWorking, Attempt: 2, Branch: "feat/parser",
		Worktree: "worktrees/parser", Worker: "b",
	}
}

// TestMayStray: a worker is kept to the worktree of its task, unless it holds the stick.
func TestMayStray(t *testing.T) {
	mark := edits.TaskMark{Room: "r1", Task: "Parser", Attempt: 2}
	lexer := stick.Task{ID: "lexer", State: stick.TaskInReview, Attempt: 1, Worktree: "worktrees/lexer", Worker: "b"}
	tests := []struct {
		name string
		by   edits.Working
		to   edits.Straying
		task func(*stick.Task)
		also []stick.Task
		says string // empty if it may
	}{
		{
			name: "to the main checkout", by: edits.Working{By: "b"}, to: edits.Straying{Path: "src/a.go"},
			says: "src/a.go lies in the main checkout, and you work on task parser in /app/worktrees/parser",
		},
		{
			name: "anything there", by: edits.Working{By: "b"},
			says: "the main checkout isn't yours to change: you work on task parser in /app/worktrees/parser",
		},
		{
			name: "to another worktree", by: edits.Working{By: "b"},
			to:   edits.Straying{Tree: "worktrees/x", Path: "a.go"},
			says: "a.go lies in the worktree worktrees/x, and you work on task parser in /app/worktrees/parser",
		},
		{
			name: "one elsewhere", by: edits.Working{By: "b"}, to: edits.Straying{Tree: "/fix"},
			says: "the worktree /fix isn't yours to change: you work on task parser",
		},
		{name: "to its own", by: edits.Working{By: "b"}, to: edits.Straying{Tree: "worktrees/parser", Path: "a.go"}},
		{
			name: "to that of another task of its own", by: edits.Working{By: "b"},
			to: edits.Straying{Tree: "worktrees/lexer"}, also: []stick.Task{lexer},
		},
		{name: "who works on nothing", by: edits.Working{By: "c"}, to: edits.Straying{Path: "a.go"}},
		{
			name: "one without a name, of a task without a worker", to: edits.Straying{Path: "a.go"},
			task: func(t *stick.Task) { t.State, t.Worker = stick.TaskAssigned, "" },
		},
		{
			name: "the holder", by: edits.Working{By: "a"}, to: edits.Straying{Path: "a.go"},
			task: func(t *stick.Task) { t.Worker = "a" },
		},
		{
			name: "below the holder, as a worker", by: edits.Working{By: "b", Under: []stick.AgentID{"a"}},
			to: edits.Straying{Path: "a.go"}, says: "lies in the main checkout",
		},
		{
			name: "below the holder that is the worker",
			by:   edits.Working{By: "c", Under: []stick.AgentID{"a"}}, to: edits.Straying{Path: "a.go"},
			task: func(t *stick.Task) { t.Worker = "a" },
		},
		{
			name: "below the worker", by: edits.Working{By: "c", Under: []stick.AgentID{"x", "b"}},
			to: edits.Straying{Path: "a.go"}, says: "lies in the main checkout",
		},
		{
			name: "in the command of the attempt", by: edits.Working{By: "c", Mark: mark},
			to: edits.Straying{Path: "a.go"}, says: "lies in the main checkout",
		},
		{
			name: "before it has begun", by: edits.Working{By: "c", Mark: mark},
			to:   edits.Straying{Path: "a.go"},
			task: func(t *stick.Task) { t.State, t.Worker = stick.TaskAssigned, "" },
			says: "lies in the main checkout",
		},
		{
			name: "in the command of an earlier attempt",
			by:   edits.Working{By: "c", Mark: edits.TaskMark{Room: "r1", Task: "parser", Attempt: 1}},
			to:   edits.Straying{Path: "a.go"},
		},
		{
			name: "in the command of another room's task",
			by:   edits.Working{By: "c", Mark: edits.TaskMark{Room: "r2", Task: "parser", Attempt: 2}},
			to:   edits.Straying{Path: "a.go"},
		},
		{
			name: "with a conflict", by: edits.Working{By: "b"}, to: edits.Straying{Path: "a.go"},
			task: func(t *stick.Task) { t.State = stick.TaskConflicted }, says: "lies in the main checkout",
		},
		{
			name: "while it waits for the review", by: edits.Working{By: "b"},
			to: edits.Straying{Path: "a.go"}, task: func(t *stick.Task) { t.State = stick.TaskInReview },
		},
		{
			name: "when the task is over", by: edits.Working{By: "b"}, to: edits.Straying{Path: "a.go"},
			task: func(t *stick.Task) { t.State = stick.TaskCompleted },
		},
		{name: "the task comes second", by: edits.Working{By: "b"}, to: edits.Straying{Path: "a.go"}, task: func(t *stick.Task) {
			t.State = stick.TaskApproved
		}, also: []stick.Task{
			{ID: "ui", State: stick.TaskWorking, Worktree: "worktrees/ui", Worker: "b"},
		}, says: "and you work on task ui in /app/worktrees/ui"},
	}

	for _, tt := range tests {
		for _, enforce := range []stick.Enforce{
			stick.EnforceOff, stick.EnforceWarn, stick.EnforceScopes, stick.EnforceStick,
		} {
			t.Run(tt.name+", "+string(enforce), func(t *testing.T) {
				f, task := worked(t, enforce)
				if tt.task != nil {
					tt.task(&task)
				}
				tt.to.Root = "/app"
				j := edits.MayStray(f.Room, tt.to, tt.by, append([]stick.Task{task}, tt.also...))
				why := j.Denied
				if !enforce.Denies() {
					why, j.Told = j.Told, j.Denied
				}
				if j.Told != nil || (why != nil) != (tt.says != "" && enforce != stick.EnforceOff) {
					t.Fatalf("got %+v", j)
				}
				if why == nil {
					return
				}

				own := why.Fields["worktree"].(string)
				step, paths := "work in "+own+" instead", []string{}
				if tt.to.Path != "" {
					step, paths = "change "+own+"/"+tt.to.Path+" instead", []string{tt.to.Path}
				}

				if why.Code != stick.CodeEditDenied ||
					!strings.Contains(why.Message, tt.says) ||
					why.Hint.String() != step ||
					!slices.Equal(why.Fields["paths"].([]string), paths) {
					t.Errorf("got %s (%s) %v", why.Message, why.Hint, why.Fields)
				}
			})
		}
	}
}

// TestMayWorkOn: a task's worktree and branch are its worker's, of whom that one has started, and of what
// runs in the command of the attempt.
func TestMayWorkOn(t *testing.T) {
	f, task := worked(t, stick.EnforceStick)
	for _, w := range []edits.Working{
		{By: "b"},
		{By: "c", Under: []stick.AgentID{"b"}},
		{By: "c", Mark: edits.TaskMark{Room: "r1", Task: "parser", Attempt: 2}},
	} {
		if j := edits.MayWorkOn(f.Room, task, w); j != (edits.Judgement{}) {
			t.Errorf("%+v: %+v", w, j)
		}
	}

	for _, w := range []edits.Working{
		{By: "a"},
		{By: "c"},
		{By: "c", Under: []stick.AgentID{"a"}},
		{By: "c", Mark: edits.TaskMark{Room: "r1", Task: "parser", Attempt: 1}},
	} {
		if j := edits.MayWorkOn(f.Room, task, w); j.Denied == nil || j.Denied.Fields["worker"] != stick.AgentID("b") {
			t.Errorf("%+v: %+v", w, j)
		}
	}

	free := task
	free.Worker = ""
	over := task
	over.State = stick.TaskFailed

	for _, open := range []stick.Task{free, over} {
		if j := edits.MayWorkOn(f.Room, open, edits.Working{By: "a"}); j != (edits.Judgement{}) {
			t.Errorf("%+v: %+v", open, j)
		}
	}
}

func TestParseTaskMark(t *testing.T) {
	for text, want := range map[string]edits.TaskMark{
		"room-1/ui-7/2": {Room: "room-1", Task: "ui-7", Attempt: 2},
		"a/b/ui-7/12":   {Room: "a/b", Task: "ui-7", Attempt: 12},
		"":              {}, "2": {}, "ui-7/": {}, "ui-7/0": {}, "ui-7/-1": {}, "ui-7/two": {}, "room/ui-7": {},
		"ui-7/2": {}, "/ui-7/2": {}, "room//2": {},
	} {
		got, ok := edits.ParseTaskMark(text)
		if got != want || ok != (want != edits.TaskMark{}) {
			t.Errorf("%q: got %+v, %v", text, got, ok)
		}
	}
}
