package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestNeeds_Later: what a person puts off is out of the list and of its count, and can be brought back at once.
func TestNeeds_Later(t *testing.T) {
	s := scene.New(t)
	claude := s.Agent("claude:a")
	s.Joins(claude)
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()
	x := d.stream("/needs", nil)
	claude.SendAs(engine.SendMessageParams{To: []stick.AgentID{d.ann.ID}, Category: "BLOCKED", Body: "which port?"}).OK()
	x.part("needs", "which port?")

	fields := url.Values{
		"room_id": {string(s.Room().ID)}, "back": {"/needs"},
		"key": {between(d.ok("/needs"), `name="key" value="`, `"`)},
	}
	later := func() answer {
		req := d.request("POST", "/later", strings.NewReader(fields.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", d.base)
		return d.do(req)
	}

	if a := later(); a.status != http.StatusSeeOther {
		t.Fatalf("later: %d %s", a.status, a.body)
	}
	page := d.ok("/needs")
	has(t, page, "Nothing needs you", "1 thing put off", "in 1 h")
	lacks(t, between(page, `id="menu"`, "</nav>"), "count hot")

	fields.Set("now", "true")
	if a := later(); a.status != http.StatusSeeOther {
		t.Fatalf("now: %d %s", a.status, a.body)
	}
	has(t, d.ok("/needs"), "Reply and accept")

	// What needs nobody can't be put off.
	fields.Set("key", "message/1")
	if a := later(); a.status != http.StatusNotFound {
		t.Errorf("another: %d", a.status)
	}
}

// TestNeeds_Acts: a task that hangs can be tried again where it is listed.
func TestNeeds_Acts(t *testing.T) {
	s := scene.InQueue(t, "")
	claude := s.Agent("claude:a")
	s.Joins(claude)
	claude.Spawn("ui-7").OK()
	claude.WorksOn("ui-7")
	claude.WorkerFail(task.WorkerFailParams{TaskID: "ui-7", Reason: "I can't"}).OK()
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()

	page := d.ok("/needs")
	has(t, page, "Task hangs", "Start another attempt", `action="/api/worker_retry"`)
	a := d.fill("worker_retry", url.Values{"room_id": {string(s.Room().ID)}, "task_id": {"ui-7"}, "back": {"/needs"}})
	if a.status != http.StatusSeeOther {
		t.Errorf("retry: %d %s", a.status, a.body)
	}
	s.TaskIs("ui-7", stick.TaskAssigned)
}
