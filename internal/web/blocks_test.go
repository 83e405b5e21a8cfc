package web

import (
	"net/url"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
)

// TestWhoWaitsForWhom: whoever and whatever waits leads to its page, and tasks wait for whoever has to act on them.
func TestWhoWaitsForWhom(t *testing.T) {
	s := scene.InGit(t)
	s.Queue("")
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
	until(named("a"), agent(claude), "came back: a reviewer asked for changes")
	if waits(named("a"), "you", "review")(x.parts["turn"]) {
		t.Error("a task that came back waits for its review")
	}
}
