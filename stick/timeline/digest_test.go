package timeline_test

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

func TestDigestEvents_by_agent(t *testing.T) {
	returned := stick.Event{Seq: 1, Type: stick.EventTaskChangesRequested, From: "human:ann", Task: "ui"}.WithPayload(
		stick.TaskPayload[stick.TaskChangesRequestedFacts]{Task: &stick.TaskChangesRequestedFacts{Cause: stick.CauseReview}})
	landed := stick.Event{Seq: 2, Type: stick.EventTaskCompleted, From: "human:ann", Task: "ui"}.WithPayload(
		stick.TaskPayload[stick.TaskCompletedFacts]{Task: &stick.TaskCompletedFacts{Result: "abc"}})
	taken := stick.Event{Seq: 3, Type: stick.EventWorkTaken, From: "codex"}.WithPayload(
		stick.WorkTakenPayload{Command: "git checkout .", Of: []stick.AgentID{"claude", "gemini"}, Rescue: "r1"})
	swept := stick.Event{Seq: 4, Type: stick.EventWorkTaken, From: "codex"}.WithPayload(
		stick.WorkTakenPayload{Command: "git add .", Of: []stick.AgentID{"claude"}, Sweeps: true})
	other := stick.Event{Seq: 5, Type: stick.EventTaskApproved, From: "human:ann", Task: "ui"}

	got := timeline.DigestEvents([]stick.Event{returned, landed, taken, swept, other},
		func(string) stick.Task {
			return stick.Task{Worker: "claude", State: stick.TaskCompleted, Description: "Show it"}
		})
	if len(got) != 2 || got[0].Agent != "claude" || got[1].Agent != "gemini" {
		t.Fatalf("%+v", got)
	}

	claude := got[0]
	if len(claude.Landed) != 1 || len(claude.Back) != 1 || len(claude.Lost) != 1 {
		t.Errorf("%+v", claude)
	}
	if claude.Landed[0].What != "Show it" || claude.Back[0].What != "Show it" {
		t.Errorf("what the task asks for: %+v", claude)
	}
	if claude.Back[0].Now != stick.TaskCompleted {
		t.Errorf("what came back has landed since: %+v", claude.Back[0])
	}
	if claude.Back[0].Cause != stick.CauseReview || claude.Lost[0].Rescue != "r1" {
		t.Errorf("why it came back, and where the copy is: %+v", claude)
	}
}
