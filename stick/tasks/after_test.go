package tasks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// waiting is a project of tasks by their keys. Each is for later and waits for those named.
func waiting(after map[string][]string) (map[string]stick.Task, tasks.Find) {
	all := map[string]stick.Task{}
	for id, names := range after {
		all[stick.TaskKey(id)] = stick.Task{ID: id, State: stick.TaskAssigned, Attempt: 1, Later: true, After: names}
	}

	return all, func(id string) (stick.Task, bool, error) {
		t, ok := all[stick.TaskKey(id)]
		return t, ok, nil
	}
}

func TestCyclesOfTasksAreRefusedWithTheirPath(t *testing.T) {
	all, find := waiting(map[string][]string{"a": {"b", "d"}, "b": {"c"}, "c": nil, "d": nil, "E": {"a"}})
	for _, c := range []struct {
		id    string
		after []string
		cycle string // empty for none
	}{
		{"c", []string{"a"}, "c → a → b → c"},
		{"C", []string{"d", "e"}, "C → E → a → b → c"},
		{"a", []string{"A"}, "a → a"},
		{"new", []string{"new"}, "new → new"},
		{"new", []string{"a", "b", "A"}, ""},
		{"d", []string{"c"}, ""},
		{"c", nil, ""},
	} {
		names, err := tasks.CheckAfter(c.id, c.after, find)
		if c.cycle == "" {
			if err != nil {
				t.Errorf("%s after %v: %v", c.id, c.after, err)
			}
			continue
		}

		if stick.CodeOf(err) != stick.CodeUsage || !strings.HasSuffix(err.Error(), ": "+c.cycle) {
			t.Errorf("%s after %v: %v, %v; want %s", c.id, c.after, names, err, c.cycle)
		}
	}

	b := all["b"]
	b.Later = false // it was begun, so it waits for nothing
	all["b"] = b
	if _, err := tasks.CheckAfter("c", []string{"a"}, find); err != nil {
		t.Errorf("the path leads through a task that was begun: %v", err)
	}
	if names, _ := tasks.CheckAfter("new", []string{"A", "e", "a"}, find); !slices.Equal(names, []string{"a", "E"}) {
		t.Errorf("the names are %v", names)
	}
	if _, err := tasks.CheckAfter("new", []string{"nope"}, find); stick.CodeOf(err) != stick.CodeNotFound {
		t.Errorf("a task that doesn't exist: %v", err)
	}
}

// TestCheckAfterOfManyTasks: each task of a layer waits for all of the layer below, so there are very many
// paths.
func TestCheckAfterOfManyTasks(t *testing.T) {
	after := map[string][]string{"end": nil}
	below := []string{"end"}
	for layer := range 20 {
		var names []string
		for n := range 10 {
			name := fmt.Sprintf("t%d-%d", layer, n)
			after[name] = below
			names = append(names, name)
		}
		below = names
	}

	_, find := waiting(after)
	if _, err := tasks.CheckAfter("top", below, find); err != nil {
		t.Error(err)
	}
	if _, err := tasks.CheckAfter("end", below, find); stick.CodeOf(err) != stick.CodeUsage {
		t.Errorf("a cycle through all layers: %v", err)
	}
}

func TestTasksForLaterBeginWhenOthersHaveLanded(t *testing.T) {
	all, find := waiting(map[string][]string{"a": nil, "b": {"a"}})
	b := all["b"]
	begin := func() error {
		waits, _ := tasks.WaitsFor(b, find)
		_, err := tasks.Begin(b, "claude:x", "0", stick.Checkout{}, 0, waits)
		return err
	}

	for _, state := range stick.TaskStates {
		a := all["a"]
		a.State = state
		all["a"] = a
		if err := begin(); (err == nil) != (state == stick.TaskCompleted) {
			t.Errorf("b begins after a, which is %s: %v", state, err)
		}
	}

	a := all["a"]
	a.State = stick.TaskCompleted
	all["a"] = a
	waits, _ := tasks.WaitsFor(b, find)
	e, err := tasks.Begin(b, "claude:x", "0", stick.Checkout{Path: "/p"}, 2, waits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tasks.Start(b, tasks.Call{By: "claude:x"}, false); stick.CodeOf(err) != stick.CodeInvalidTransition {
		t.Errorf("it starts without a worktree: %v", err)
	}

	b, err = b.Apply(e)
	if err != nil || b.Later || b.Slot != 2 || b.Base != "0" || b.In.Path != "/p" || b.State != stick.TaskAssigned {
		t.Errorf("begun, it is %+v (%v)", b, err)
	}
	if err := begin(); stick.CodeOf(err) != stick.CodeInvalidTransition {
		t.Errorf("it begins twice: %v", err)
	}
	if _, err := tasks.SetAfter(b, "claude:x", nil); stick.CodeOf(err) != stick.CodeInvalidTransition {
		t.Errorf("begun, it waits for others: %v", err)
	}
}

func TestTasksForLaterWaitForOthersThanBefore(t *testing.T) {
	all, _ := waiting(map[string][]string{"b": {"a"}})
	b := all["b"]
	if e, err := tasks.SetAfter(b, "claude:x", []string{"a"}); e != nil || err != nil {
		t.Errorf("the same again: %v, %v", e, err)
	}

	e, err := tasks.SetAfter(b, "claude:x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = b.Apply(*e); err != nil || b.After != nil {
		t.Errorf("it waits for %v (%v)", b.After, err)
	}
}

// TestTasksForLaterAreForLaterAgain: another attempt at a task that nobody had begun makes nothing either.
func TestTasksForLaterAreForLaterAgain(t *testing.T) {
	all, _ := waiting(map[string][]string{"b": {"a"}})
	b := all["b"]
	cancelled, err := tasks.Cancel(b, tasks.Call{By: "claude:x"}, "no")
	if err != nil {
		t.Fatal(err)
	}

	if b, err = b.Apply(*cancelled); err != nil {
		t.Fatal(err)
	}
	e, err := tasks.Retry(b, "claude:x", "", stick.Checkout{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = b.Apply(e); err != nil || !b.Later || b.Slot != stick.NoSlot || b.Attempt != 2 || len(b.After) != 1 {
		t.Errorf("it is %+v (%v)", b, err)
	}
}

func TestFreeSlot(t *testing.T) {
	for _, c := range []struct {
		used []int
		want int
	}{{nil, 0}, {[]int{0, 1, 2}, 3}, {[]int{2, 0}, 1}, {[]int{1}, 0}, {[]int{0, 0}, 1}} {
		if got := tasks.FreeSlot(c.used); got != c.want {
			t.Errorf("%v are used, and the free slot is %d, want %d", c.used, got, c.want)
		}
	}
}
