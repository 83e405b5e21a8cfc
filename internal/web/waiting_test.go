package web

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
)

// TestWhoWaitsForWhom: whoever and whatever waits leads to its page, and tasks wait for whoever has to act on
// them.
func TestWhoWaitsForWhom(t *testing.T) {
	s := scene.InQueue(t, "")
	claude, codex := s.Agent("claude:a"), s.Agent("codex:b")
	claude.Try().Granted(1)
	codex.Waits()
	claude.Spawn("a").OK()
	claude.SpawnLater("b", "a").OK()
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()
	room := "/room/" + string(s.Room().ID)
	agent := func(a *scene.Actor) string {
		return `<b><a href="/sessions#` + url.PathEscape(string(s.Room().ID)+"-"+string(a.ID)) + `">`
	}
	named := func(id string) string { return `<b><a href="` + room + "/task/" + id + `">` }

	waits := func(who, on, why string) func(string) bool {
		return func(page string) bool {
			for _, line := range strings.Split(page, "<li>") {
				before, after, ok := strings.Cut(line, "→")
				if ok && strings.Contains(before, who) && strings.Contains(after, on) && strings.Contains(after, why) {
					return true
				}
			}

			return false
		}
	}

	x := d.stream(room, nil)
	until := func(who, on, why string) {
		t.Helper()
		x.shows(who+" waits for "+on+": "+why, func() bool { return waits(who, on, why)(x.parts["turn"]) })
	}

	until(agent(codex), agent(claude), "waits for the stick")
	until(named("b"), named("a"), "begins when that task has landed")
	for _, a := range []*scene.Actor{claude, codex} {
		has(t, d.ok("/sessions"), `id="`+string(s.Room().ID)+"-"+string(a.ID)+`"`)
	}

	w := claude.WorksOn("a")
	w.Commits("a.txt", "x")
	w.Done("").OK()
	until(named("a"), "<b><bdi>you", "waits for a review")
	d.ann.WorkerDiff(task.WorkerDiffParams{TaskID: "a"}).OK()
	d.ann.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "a", Reason: "almost"}).OK()
	until(named("a"), agent(claude), "came back: a reviewer asked for changes; its worker hasn&#39;t read why")
	if waits(named("a"), "<b><bdi>you", "waits for a review")(x.parts["turn"]) {
		t.Error("a task that came back waits for its review")
	}
}

// TestAnAgentAsksItsPerson: what an agent has asked at its terminal is said in the same words everywhere:
// that it asks you, and where you answer.
func TestAnAgentAsksItsPerson(t *testing.T) {
	s := scene.New(t)
	claude := s.Agent("claude:a")
	s.Joins(claude)
	claude.StartsByHook("startup").OK()
	if err := claude.Engine.Roster.AskedPerson(t.Context(), claude.Hook()); err != nil {
		t.Fatal(err)
	}

	d := newDesk(s, nil)
	room := "/room/" + string(s.Room().ID)
	var pid int
	for _, m := range d.ann.State().Members {
		if m.AgentID == claude.ID {
			pid = m.Process.PID
		}
	}

	waits := "waits for your answer in its own terminal (process " + strconv.Itoa(pid) + ")"
	at := strings.ReplaceAll(string(s.Room().ID)+"-"+string(claude.ID), ":", "%3a")
	has(t, d.ok("/needs"), claude.ShownName()+" "+waits, `href="`+room+"#"+at+`"`)
	page := d.ok(room)
	has(t, page, `href="#`+at+`"`, `id="`+string(s.Room().ID)+"-"+string(claude.ID)+`"`, `<b><bdi>you`)
	if n := strings.Count(page, waits); n != 4 {
		t.Errorf("the page of the room says %d times that it waits, not in the menu, as a need, at the stick and at the agent", n)
	}
}
