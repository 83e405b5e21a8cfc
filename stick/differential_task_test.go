package stick_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/model"
	"talkingstick/stick"
	"talkingstick/stick/sticktest"
	"talkingstick/stick/tasks"
)

// TestTaskDifferential plays random acts on tasks by the rules and by the model, and compares the two after
// every act: what was refused and by which code, whether there is an event, the state and its attempt, whose
// the task is, and which commit is approved.
//
// It was seen to fail for each of these changes in the rules: an earlier worker may review (mayReview); a
// reviewer needn't have seen the commit (mayApprove); an earlier attempt isn't over (fenced); a worker is
// replaced that is there (Start); a task waits for itself through others (wayTo).
func TestTaskDifferential(t *testing.T) {
	leavesSteps(t)
	rnd := rand.New(rand.NewPCG(*modelSeed, 2))
	seen := map[string]int{}

	for steps := 0; steps < *modelSteps/5; {
		g := taskGame{rnd: rnd, rules: map[string]stick.Task{}, model: model.Tasks{}}
		var log []string
		for range 120 {
			a := g.randomAct()
			outcome, differs := g.play(a)
			if outcome == "" {
				continue
			}

			steps++
			seen[a.name+": "+outcome]++
			log = append(log,
				fmt.Sprintf("%s %s, by %s of attempt %d: %s", a.name, a.id, a.call.By, a.call.Attempt, outcome))
			if differs != "" {
				about := slices.DeleteFunc(log, func(line string) bool { return !strings.Contains(line, " "+a.id+",") })
				t.Fatalf("%s, after\n%s", differs, strings.Join(about, "\n"))
			}
		}
	}

	for _, a := range taskActs {
		if *modelSteps >= shortSteps && seen[a.name+": accepted"] == 0 {
			t.Errorf("%s was never accepted", a.name)
		}
	}

	for _, what := range []string{
		"start: refused: not_your_task", "start: same", "done: refused: stale_attempt", "done: same",
		"approve: refused: author_cannot_review",
		"approve: refused: review_stale", "approve: refused: person_only", "approve: same",
		"request changes: refused: review_stale",
		"spawn: refused: usage", "spawn: refused: not_found", "spawn: refused: already_exists",
		"begin: refused: invalid_transition",
		"set after: refused: usage", "cancel: same", "rollback: refused: invalid_transition",
	} {
		if *modelSteps >= shortSteps && seen[what] == 0 {
			t.Errorf("this never happened: %s", what)
		}
	}

	for _, what := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%7d %s", seen[what], what)
	}
}

// taskGame has tasks that are played twice, by the rules and by the model.
type taskGame struct {
	rnd     *rand.Rand
	rules   map[string]stick.Task
	model   model.Tasks
	seq     int64
	commits int
}

// taskAct is one act on one task, with all that its rule may want.
type taskAct struct {
	name  string
	id    string
	call  tasks.Call
	after []string
	seen  string // the commit that a reviewer saw
	yes   bool   // whatever the act has to decide
	play  func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error)
}

// caller is who acts, as the model has it.
func (a taskAct) caller() model.Caller {
	return model.Caller{Name: string(a.call.By), Person: a.call.Person, Attempt: a.call.Attempt}
}

// taskActs are the acts, each with how often it is drawn.
var taskActs = []struct {
	name  string
	often int
	play  func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error)
}{
	{"spawn", 3, (*taskGame).spawn},
	{"begin", 2, (*taskGame).begin},
	{"set after", 1, (*taskGame).setAfter},
	{"start", 4, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		e, err := tasks.Start(g.rules[a.id], a.call, a.yes)
		return e, g.model[a.id].Start(a.caller(), a.yes), err
	}},
	{"done", 6, (*taskGame).done},
	{"move", 1, (*taskGame).move},
	{"conflict", 1, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		e, err := tasks.Conflict(g.rules[a.id], a.call, "base", []string{"f"})
		return &e, g.model[a.id].Conflict(a.caller()), err
	}},
	{"approve", 5, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		override := a.yes && g.rnd.IntN(2) == 0
		v := tasks.Decision{Call: a.call, Head: a.seen, Branch: g.model[a.id].Branch, Override: override}
		e, err := tasks.Approve(g.rules[a.id], v, "")
		return e, g.model[a.id].Approve(a.caller(), a.seen, override), err
	}},
	{"request changes", 1, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		v := tasks.Decision{Call: a.call, Head: a.seen, Branch: g.model[a.id].Branch}
		e, err := tasks.RequestChanges(g.rules[a.id], v, "mend it")
		return &e, g.model[a.id].RequestChanges(a.caller(), a.seen), err
	}},
	{"merge", 2, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		e, err := tasks.Merge(g.rules[a.id], a.call.By, "base", "result")
		return &e, g.model[a.id].Merge(), err
	}},
	{"return", 1, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		e, err := tasks.Return(g.rules[a.id], a.call.By, stick.CauseGate, "red", "", nil)
		return &e, g.model[a.id].Return(), err
	}},
	{"land", 1, (*taskGame).land},
	{"fail", 1, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		e, err := tasks.Fail(g.rules[a.id], a.call, "no")
		return &e, g.model[a.id].Fail(a.caller()), err
	}},
	{"cancel", 1, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		e, err := tasks.Cancel(g.rules[a.id], a.call, "no")
		return e, g.model[a.id].Cancel(), err
	}},
	{"retry", 2, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		e, err := tasks.Retry(g.rules[a.id], a.call.By, "base", stick.Checkout{}, 2)
		return &e, g.model[a.id].Retry(), err
	}},
	{"rollback", 1, func(g *taskGame, a taskAct) (*stick.Event, model.Refusal, error) {
		e, err := tasks.Rollback(g.rules[a.id], a.call.By, "revert", "bad")
		return &e, g.model[a.id].Rollback(), err
	}},
}

// randomAct draws an act, mostly by the task's worker and mostly of a reviewer who has seen what was offered.
func (g *taskGame) randomAct() taskAct {
	name := func() string { return fmt.Sprintf("t%d", g.rnd.IntN(4)) }
	a := taskAct{id: name(), call: tasks.Call{By: stick.AgentID(rune('a' + g.rnd.IntN(3)))}, yes: g.rnd.IntN(3) == 0}

	t := g.model[a.id]
	a.name = g.randomName(t)
	for _, act := range taskActs {
		if act.name == a.name {
			a.play = act.play
		}
	}

	for range g.rnd.IntN(3) {
		if other := name(); !slices.Contains(a.after, other) {
			a.after = append(a.after, other)
		}
	}

	switch {
	case g.rnd.IntN(12) == 0:
		a.call.By, a.call.Person = person, true
	case t != nil && t.Worker != "" && g.rnd.IntN(2) == 0:
		a.call.By = stick.AgentID(t.Worker)
	}

	if g.rnd.IntN(5) == 0 {
		a.call.Attempt = 1 + g.rnd.IntN(2)
	}
	if t != nil {
		a.seen = []string{t.Offered, t.Offered, t.Offered, t.Branch, "", "another"}[g.rnd.IntN(6)]
	}
	return a
}

// usual are the acts by which most tasks get out of a state.
var usual = map[model.State][]string{
	model.Assigned: {"start", "begin"}, model.Working: {"done"}, model.Conflicted: {"done"},
	model.InReview:  {"approve"},
	model.Approved:  {"land", "merge", "return", "move", "done", "request changes"},
	model.Completed: {"rollback", "start"}, model.Failed: {"retry"},
}

// randomName draws an act: every other time one that brings the task on, else any.
func (g *taskGame) randomName(t *model.Task) string {
	if t != nil && g.rnd.IntN(2) == 0 {
		names := usual[t.State]
		return names[g.rnd.IntN(len(names))]
	}

	var names []string
	for _, act := range taskActs {
		if act.name == "land" && t != nil && t.State != model.Approved && g.rnd.IntN(4) > 0 {
			continue // found in the integration branch, which ends all else
		}
		names = append(names, slices.Repeat([]string{act.name}, act.often)...)
	}

	return names[g.rnd.IntN(len(names))]
}

// play performs an act on both. It returns what it came to, "" if nobody could perform it, and how the two
// differ.
func (g *taskGame) play(a taskAct) (outcome, differs string) {
	if g.model[a.id] == nil && a.name != "spawn" {
		return "", ""
	}
	e, refusal, err := a.play(g, a)

	if err != nil || refusal != model.Accepted && refusal != model.Same {
		code := string(stick.CodeOf(err))
		if code != string(refusal) {
			differs = fmt.Sprintf("the rules say %q (%v), the model %q", code, err, refusal)
		}
		return "refused: " + code, differs
	}

	if (e == nil) != (refusal == model.Same) {
		return "accepted", fmt.Sprintf("the event of the rules is %v, and the model says %q", e, refusal)
	}
	if e == nil {
		return "same", g.compare(a.id)
	}

	g.seq++
	e.Seq, e.CreatedAt = g.seq, sticktest.Start+stick.Time(g.seq)
	t, err := g.rules[a.id].Apply(*e)
	if err != nil {
		return "accepted", "the event doesn't follow: " + err.Error()
	}
	g.rules[a.id] = t
	return "accepted", g.compare(a.id)
}

// compare compares the two tasks of a name.
func (g *taskGame) compare(id string) string {
	t, m := g.rules[id], g.model[id]
	isOffered := m.State == model.InReview || m.State == model.Approved
	type pair struct {
		what         string
		rules, model any
	}

	pairs := []pair{
		{"state", string(t.State), string(m.State)},
		{"attempt", t.Attempt, m.Attempt},
		{"worker", string(t.Worker), m.Worker},
		{"for later", t.Later, m.ForLater},
		{"after", strings.Join(t.After, " "), strings.Join(m.After, " ")},
	}

	for _, a := range []string{"a", "b", "c", string(person)} {
		pairs = append(pairs, pair{"that it was worked on by " + a, t.Worked(stick.AgentID(a)), m.Workers[a]})
	}
	if isOffered {
		pairs = append(pairs, pair{"offered commit", t.Head, m.Offered})
	}
	if !t.Over() { // of one that is over, the log keeps which commit landed or was given up
		pairs = append(pairs, pair{"approved commit", t.Approved, m.Approved})
	}

	for _, p := range pairs {
		if p.rules != p.model {
			return fmt.Sprintf("the %s of %s is %v by the rules, and %v by the model", p.what, id, p.rules, p.model)
		}
	}

	return ""
}

// find finds tasks for the rules.
func (g *taskGame) find(id string) (stick.Task, bool, error) {
	t, ok := g.rules[id]
	return t, ok, nil
}

func (g *taskGame) spawn(a taskAct) (*stick.Event, model.Refusal, error) {
	later := a.yes || len(a.after) > 0
	refusal := g.model.Spawn(a.id, later, a.after)

	after, err := tasks.CheckAfter(a.id, a.after, g.find)
	if err != nil {
		return nil, refusal, err
	}
	e, err := tasks.Spawn(g.rules[a.id], tasks.Spawning{
		By: a.call.By, ID: a.id, Branch: "feat/" + a.id, Worktree: a.id, Integration: "main", Base: "base",
		Later: later, After: after,
	})
	return &e, refusal, err
}

func (g *taskGame) begin(a taskAct) (*stick.Event, model.Refusal, error) {
	refusal := g.model.Begin(a.id)
	waits, err := tasks.WaitsFor(g.rules[a.id], g.find)
	if err != nil {
		return nil, refusal, err
	}
	e, err := tasks.Begin(g.rules[a.id], a.call.By, "base", stick.Checkout{}, 1, waits)
	return &e, refusal, err
}

func (g *taskGame) setAfter(a taskAct) (*stick.Event, model.Refusal, error) {
	refusal := g.model.SetAfter(a.id, a.after)
	after, err := tasks.CheckAfter(a.id, a.after, g.find)
	if err != nil {
		return nil, refusal, err
	}
	e, err := tasks.SetAfter(g.rules[a.id], a.call.By, after)
	return e, refusal, err
}

// commit lets the branch of a task have another commit, mostly with another change.
func (g *taskGame) commit(id string) tasks.Offering {
	t := g.model[id]
	if t.Branch == "" || g.rnd.IntN(3) > 0 {
		g.commits++
		t.Branch = fmt.Sprintf("commit %d", g.commits)
		if t.Change == "" || g.rnd.IntN(2) == 0 {
			t.Change = fmt.Sprintf("change %d", g.commits)
		}
	}

	return tasks.Offering{Base: "base", Head: t.Branch, Patch: t.Change}
}

func (g *taskGame) done(a taskAct) (*stick.Event, model.Refusal, error) {
	e, err := tasks.Done(g.rules[a.id], a.call, g.commit(a.id))
	return e, g.model[a.id].Done(a.caller()), err
}

func (g *taskGame) move(a taskAct) (*stick.Event, model.Refusal, error) {
	e, err := tasks.Moved(g.rules[a.id], a.call.By, g.commit(a.id))
	return &e, g.model[a.id].Move(), err
}

// land lands an approved task by a merge, and finds any other in the integration branch.
func (g *taskGame) land(a taskAct) (*stick.Event, model.Refusal, error) {
	result := ""
	if g.model[a.id].State == model.Approved {
		result = "result"
	}
	e, err := tasks.Land(g.rules[a.id], a.call.By, g.model[a.id].Approved, result)
	return &e, g.model[a.id].Land(result != ""), err
}
