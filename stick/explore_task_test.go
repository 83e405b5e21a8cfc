package stick_test

import (
	"fmt"
	"testing"

	"talkingstick/internal/testenv"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// taskWorld is a state that the exploration reaches: a task, its branch and the integration branch. Commits
// are letters. The function change says what a commit changes, so that two commits can make the same change.
type taskWorld struct {
	task   stick.Task
	branch string // the commit at which the task's branch is
	landed string // the commit that the integration branch contains, empty for none
	open   string // the commit that lands now: its intent is open
	moved  bool   // … and the branch contains it already
	runner bool   // … and its process lives
	seen   [2]string
}

func (w taskWorld) key() string {
	t := w.task
	return fmt.Sprint(t.State, t.Attempt, t.Worker, t.Earlier, t.Head, t.Patch, t.Approved, t.ApprovedBy, t.Cause, w.branch, w.landed, w.open, w.moved, w.runner, w.seen)
}

// Two agents work and two review, one of whom also works.
var taskAgents = []stick.AgentID{"codex:a", "codex:b", "claude:r"}

// maxTaskAttempts limits the exploration. With -short there is only one attempt.
var maxTaskAttempts = 3

// change returns what a commit changes. A and B make the same change on two bases; C makes another one.
func change(commit string) string {
	if commit == "B" {
		return "a"
	}
	return map[string]string{"A": "a", "C": "c"}[commit]
}

// next lists what can happen in a world.
func (w taskWorld) next(t *testing.T) (out []taskWorld, acts []string) {
	add := func(act string, n taskWorld) { out, acts = append(out, n), append(acts, act) }
	say := func(act string, e *stick.Event, err error, after func(*taskWorld)) {
		if err != nil || e == nil {
			return
		}

		n := w
		ev := *e
		ev.Seq = w.task.Seq + 1
		task, err := w.task.Apply(ev)
		if err != nil {
			t.Fatalf("%s in %s: a rule made an event that doesn't follow: %v", act, w.key(), err)
		}

		if got, _ := ev.TaskStatus(); got.Attempt != w.task.Attempt && ev.Type != stick.EventTaskRetried {
			t.Fatalf("%s in %s: of attempt %d", act, w.key(), got.Attempt)
		}

		n.task = task
		n.task.Seq = 1 // how many there were doesn't matter for what can happen
		if task.ApprovedSeq != 0 {
			n.task.ApprovedSeq = 1
		}

		if after != nil {
			after(&n)
		}

		add(act, n)
	}

	one := func(e stick.Event, err error) (*stick.Event, error) { return &e, err }
	locked := w.open != ""
	for _, commit := range []string{"A", "B", "C"} { // anybody may commit to the branch at any time
		if n := w; w.branch != commit && !w.task.Over() {
			n.branch = commit
			add("commit", n)
		}
	}

	for i, a := range taskAgents {
		by := tasks.Call{By: a}
		if i < 2 {
			for _, attempt := range []int{0, 1, 2} {
				call := tasks.Call{By: a, Attempt: attempt}
				if !locked { // done holds the task's lock
					e, err := tasks.Done(w.task, call, tasks.Offering{Base: "0", Head: w.branch, Patch: change(w.branch)})
					say("done", e, err, nil)
					e, err = one(tasks.Conflict(w.task, call, "0", []string{"f"}))
					say("conflict", e, err, nil)
					e, err = one(tasks.Fail(w.task, call, "no"))
					say("fail", e, err, nil)
					for _, away := range []bool{false, true} {
						e, err := tasks.Start(w.task, call, away)
						say("start", e, err, nil)
					}
				}
			}
		}

		if i > 0 {
			if n := w; n.seen[i-1] != w.branch {
				n.seen[i-1] = w.branch
				add("show", n)
			}

			v := tasks.Decision{Call: by, Head: w.seen[i-1], Branch: w.branch}
			if !locked {
				e, err := tasks.Approve(w.task, v, "")
				say("approve", e, err, nil)
				v.Merge = true
				e, err = tasks.Approve(w.task, v, "")
				say("approve --merge", e, err, nil)
				e, err = one(tasks.RequestChanges(w.task, v, "x"))
				say("request changes", e, err, nil)
			}
		}
	}

	if !locked {
		e, err := tasks.Cancel(w.task, tasks.Call{By: "claude:r"}, "no")
		say("cancel", e, err, nil)
		if w.task.Attempt < maxTaskAttempts {
			e, err := one(tasks.Retry(w.task, "claude:r", "0", stick.Checkout{}, 0))
			say("retry", e, err, func(n *taskWorld) { n.landed = "" })
		}

		e, err = one(tasks.Rollback(w.task, "claude:r", "r", "no"))
		say("rollback", e, err, func(n *taskWorld) { n.landed = "" })
		if w.task.State == stick.TaskApproved && w.branch != w.task.Approved {
			e, err := one(tasks.Moved(w.task, "claude:r", tasks.Offering{Head: w.branch, Patch: change(w.branch)}))
			say("new commits", e, err, nil)
		} else {
			e, err := one(tasks.Merge(w.task, "claude:r", "0", "r"))
			say("merge", e, err, func(n *taskWorld) { n.open, n.runner = w.task.Approved, true })
		}

		return out, acts
	}

	if w.runner {
		n := w
		n.runner = false
		add("kill", n)
	}

	if w.runner && !w.moved {
		n := w
		n.moved, n.landed = true, w.open
		add("move", n)
		n = w
		n.open, n.runner = "", false
		add("lose the race", n)
		e, err := one(tasks.Return(w.task, "claude:r", stick.CauseGate, "red", "", nil))
		say("return", e, err, func(n *taskWorld) { n.open, n.runner = "", false })
	}

	switch { // the runner itself, or whoever finds that it is dead
	case w.moved:
		e, err := one(tasks.Land(w.task, "claude:r", w.open, "r"))
		if err != nil {
			t.Fatalf("what has landed can't be told in %s: %v", w.key(), err)
		}

		say("land", e, err, func(n *taskWorld) { n.open, n.moved, n.runner = "", false, false })
	case !w.runner:
		n := w
		n.open = ""
		add("recover", n)
	}

	return out, acts
}

// check returns what is wrong with a world, "" for nothing.
func (w taskWorld) check() string {
	t := w.task
	switch {
	case t.State == stick.TaskCompleted && w.landed == "":
		return "it is completed, and the branch doesn't contain it"
	case t.State != stick.TaskCompleted && w.landed != "" && w.open == "":
		return "the branch contains it, and it isn't completed"
	case w.landed != "" && t.Worked(t.ApprovedBy):
		return "its own worker approved what landed"
	case w.landed != "" && w.open == "" && w.landed != t.Head:
		return "another commit landed than the one that was approved"
	case t.State == stick.TaskApproved && (t.Approved == "" || t.ApprovedBy == "" || t.Approved != t.Head):
		return "it is approved, and no commit is"
	case t.State != stick.TaskApproved && t.State != stick.TaskCompleted && t.Approved != "":
		return "it isn't approved, and a commit is"
	case t.State == stick.TaskAssigned && t.Worker != "" || t.Busy() && t.Worker == "":
		return "its worker doesn't fit its state"
	}
	return ""
}

// TestExploreTasks reaches every state of a task with three attempts, three commits, workers that are gone,
// reviewers that haven't seen the latest commit, and merges that are killed or lose their race at any point.
// In all of them, nothing lands unless somebody else approved exactly that; what has landed isn't lost or
// cancelled; an attempt that is over makes no event; and every task can still end.
func TestExploreTasks(t *testing.T) {
	least := 1000
	if testenv.Leaves(t, testenv.Every, "all attempts but the first of the tasks that are explored") {
		maxTaskAttempts, least = 1, 100
		t.Cleanup(func() { maxTaskAttempts = 3 })
	}
	made, err := tasks.Spawn(stick.Task{}, tasks.Spawning{By: "claude:r", ID: "T", Branch: "feat/T", Integration: "main", Base: "0"})
	if err != nil {
		t.Fatal(err)
	}
	made.Seq = 1
	task, err := stick.Task{}.Apply(made)
	if err != nil {
		t.Fatal(err)
	}
	first := taskWorld{task: task, branch: "A"}
	worlds := map[string]taskWorld{first.key(): first}
	queue, back := []taskWorld{first}, map[string][]string{}
	steps := 0
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		next, acts := w.next(t)
		from := w.key()
		for i, n := range next {
			steps++
			to := n.key()
			if wrong := n.check(); wrong != "" {
				t.Fatalf("%s, after %s\nin %s\ncame %s", wrong, acts[i], from, to)
			}
			back[to] = append(back[to], from)
			if _, known := worlds[to]; !known {
				worlds[to] = n
				queue = append(queue, n)
			}
		}
	}
	ends := map[string]bool{}
	var todo []string
	for k, w := range worlds {
		if w.task.State == stick.TaskCompleted || w.task.State == stick.TaskFailed && w.task.Attempt == maxTaskAttempts {
			ends[k] = true
			todo = append(todo, k)
		}
	}
	for len(todo) > 0 {
		k := todo[0]
		todo = todo[1:]
		for _, b := range back[k] {
			if !ends[b] {
				ends[b] = true
				todo = append(todo, b)
			}
		}
	}
	for k := range worlds {
		if !ends[k] {
			t.Errorf("no way leads out of %s", k)
		}
	}
	t.Logf("%d states, %d steps", len(worlds), steps)
	if len(worlds) < least {
		t.Errorf("only %d states were seen", len(worlds))
	}
}
