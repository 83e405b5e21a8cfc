package stick

import (
	"slices"
	"strings"
	"testing"
)

// worked is a room in which a holds the stick, and b works on the task parser.
func worked(t *testing.T, enforce Enforce) (*fixture, Task) {
	t.Helper()
	f := room(t).member("a", "b", "c").alive("a", "b", "c").owns("a")
	f.Policy.Enforce = enforce
	return f, Task{ID: "parser", State: TaskWorking, Attempt: 2, Branch: "feat/parser", Worktree: "worktrees/parser", Worker: "b"}
}

// TestMayStray: a worker is kept to the worktree of its task, unless it holds the stick.
func TestMayStray(t *testing.T) {
	mark := TaskMark{Room: "r1", Task: "Parser", Attempt: 2}
	lexer := Task{ID: "lexer", State: TaskInReview, Attempt: 1, Worktree: "worktrees/lexer", Worker: "b"}
	tests := []struct {
		name string
		by   Working
		to   Straying
		task func(*Task)
		also []Task
		says string // empty if it may
	}{
		{name: "to the main checkout", by: Working{By: "b"}, to: Straying{Path: "src/a.go"}, says: "src/a.go lies in the main checkout, and you work on task parser in /app/worktrees/parser"},
		{name: "anything there", by: Working{By: "b"}, says: "the main checkout isn't yours to change: you work on task parser in /app/worktrees/parser"},
		{name: "to another worktree", by: Working{By: "b"}, to: Straying{Tree: "worktrees/x", Path: "a.go"}, says: "a.go lies in the worktree worktrees/x, and you work on task parser in /app/worktrees/parser"},
		{name: "one elsewhere", by: Working{By: "b"}, to: Straying{Tree: "/fix"}, says: "the worktree /fix isn't yours to change: you work on task parser"},
		{name: "to its own", by: Working{By: "b"}, to: Straying{Tree: "worktrees/parser", Path: "a.go"}},
		{name: "to that of another task of its own", by: Working{By: "b"}, to: Straying{Tree: "worktrees/lexer"}, also: []Task{lexer}},
		{name: "who works on nothing", by: Working{By: "c"}, to: Straying{Path: "a.go"}},
		{name: "one without a name, of a task without a worker", to: Straying{Path: "a.go"}, task: func(t *Task) { t.State, t.Worker = TaskAssigned, "" }},
		{name: "the holder", by: Working{By: "a"}, to: Straying{Path: "a.go"}, task: func(t *Task) { t.Worker = "a" }},
		{name: "below the holder, as a worker", by: Working{By: "b", Under: []AgentID{"a"}}, to: Straying{Path: "a.go"}, says: "lies in the main checkout"},
		{name: "below the holder that is the worker", by: Working{By: "c", Under: []AgentID{"a"}}, to: Straying{Path: "a.go"}, task: func(t *Task) { t.Worker = "a" }},
		{name: "below the worker", by: Working{By: "c", Under: []AgentID{"x", "b"}}, to: Straying{Path: "a.go"}, says: "lies in the main checkout"},
		{name: "in the command of the attempt", by: Working{By: "c", Mark: mark}, to: Straying{Path: "a.go"}, says: "lies in the main checkout"},
		{name: "before it has begun", by: Working{By: "c", Mark: mark}, to: Straying{Path: "a.go"}, task: func(t *Task) { t.State, t.Worker = TaskAssigned, "" }, says: "lies in the main checkout"},
		{name: "in the command of an earlier attempt", by: Working{By: "c", Mark: TaskMark{"r1", "parser", 1}}, to: Straying{Path: "a.go"}},
		{name: "in the command of another room's task", by: Working{By: "c", Mark: TaskMark{"r2", "parser", 2}}, to: Straying{Path: "a.go"}},
		{name: "with a conflict", by: Working{By: "b"}, to: Straying{Path: "a.go"}, task: func(t *Task) { t.State = TaskConflicted }, says: "lies in the main checkout"},
		{name: "while it waits for the review", by: Working{By: "b"}, to: Straying{Path: "a.go"}, task: func(t *Task) { t.State = TaskInReview }},
		{name: "when the task is over", by: Working{By: "b"}, to: Straying{Path: "a.go"}, task: func(t *Task) { t.State = TaskCompleted }},
		{name: "the task comes second", by: Working{By: "b"}, to: Straying{Path: "a.go"}, task: func(t *Task) { t.State = TaskApproved }, also: []Task{
			{ID: "ui", State: TaskWorking, Worktree: "worktrees/ui", Worker: "b"},
		}, says: "and you work on task ui in /app/worktrees/ui"},
	}
	for _, tt := range tests {
		for _, enforce := range []Enforce{EnforceOff, EnforceWarn, EnforceScopes, EnforceStick} {
			t.Run(tt.name+", "+string(enforce), func(t *testing.T) {
				f, task := worked(t, enforce)
				if tt.task != nil {
					tt.task(&task)
				}
				tt.to.Root = "/app"
				j := f.MayStray(tt.to, tt.by, append([]Task{task}, tt.also...))
				why := j.Denied
				if !enforce.Denies() {
					why, j.Told = j.Told, j.Denied
				}
				if j.Told != nil || (why != nil) != (tt.says != "" && enforce != EnforceOff) {
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
				if why.Code != CodeEditDenied || !strings.Contains(why.Message, tt.says) || why.Hint.String() != step ||
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
	f, task := worked(t, EnforceStick)
	for _, w := range []Working{{By: "b"}, {By: "c", Under: []AgentID{"b"}}, {By: "c", Mark: TaskMark{"r1", "parser", 2}}} {
		if j := f.MayWorkOn(task, w); j != (Judgement{}) {
			t.Errorf("%+v: %+v", w, j)
		}
	}
	for _, w := range []Working{{By: "a"}, {By: "c"}, {By: "c", Under: []AgentID{"a"}}, {By: "c", Mark: TaskMark{"r1", "parser", 1}}} {
		if j := f.MayWorkOn(task, w); j.Denied == nil || j.Denied.Fields["worker"] != AgentID("b") {
			t.Errorf("%+v: %+v", w, j)
		}
	}
	free := task
	free.Worker = ""
	over := task
	over.State = TaskFailed
	for _, open := range []Task{free, over} {
		if j := f.MayWorkOn(open, Working{By: "a"}); j != (Judgement{}) {
			t.Errorf("%+v: %+v", open, j)
		}
	}
}

func TestParseTaskMark(t *testing.T) {
	for text, want := range map[string]TaskMark{
		"room-1/ui-7/2": {"room-1", "ui-7", 2}, "a/b/ui-7/12": {"a/b", "ui-7", 12},
		"": {}, "2": {}, "ui-7/": {}, "ui-7/0": {}, "ui-7/-1": {}, "ui-7/two": {}, "room/ui-7": {}, "ui-7/2": {}, "/ui-7/2": {}, "room//2": {},
	} {
		got, ok := ParseTaskMark(text)
		if got != want || ok != (want != TaskMark{}) {
			t.Errorf("%q: got %+v, %v", text, got, ok)
		}
	}
}
