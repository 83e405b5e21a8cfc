package monitor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// TestNeeds_storm: what needs a person stays, whatever else is said in the room afterwards.
func TestNeeds_storm(t *testing.T) {
	s := scene.InGit(t)
	s.Queue("true")
	ann, bob, carl := s.Agent("claude:a"), s.Agent("codex:b"), s.Person("carl")
	s.Joins(ann, bob, carl)

	blocked := ann.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{carl.ID}, Body: "which database?", Category: string(stick.Blocked),
	}).OK().MessageID

	// The tasks of a room's state are a few, and the needs all of them.
	var tasks []string
	for i := range 7 {
		name := fmt.Sprintf("part-%d", i)
		bob.Spawn(name).OK()
		w := bob.WorksOn(name)
		w.Commits(name+".txt", name+"\n")
		w.Done("").OK()
		tasks = append(tasks, w.Task)
	}

	for i := range 60 {
		body := "progress: tests pass"
		if i%6 == 0 {
			body = strings.Repeat("long ", 300)
		}
		ann.SendAs(engine.SendMessageParams{To: []stick.AgentID{carl.ID}, Body: body}).OK()
	}

	r := look(carl)
	if i := slices.IndexFunc(r.Needs, func(n presence.Need) bool { return n.Message == blocked }); i < 0 {
		t.Errorf("the question is gone: %+v", r.Needs)
	}
	if _, ok := r.OpenMessage(blocked); !ok {
		t.Error("the question can't be answered")
	}
	for _, task := range tasks {
		isReview := func(n presence.Need) bool { return n.Kind == presence.NeedReview && n.Task == task }
		if !slices.ContainsFunc(r.Needs, isReview) {
			t.Errorf("the review of %s is gone", task)
		}
	}
	if n := len(r.State.Tasks); n != 5 {
		t.Errorf("the state of the room lists %d tasks", n)
	}
}
