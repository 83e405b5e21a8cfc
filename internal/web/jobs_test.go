//go:build linux

package web

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestALongMerge: a page that asked for a merge isn't kept until the gate has ended. The merge goes on, and
// the page says how it is.
func TestALongMerge(t *testing.T) {
	s := scene.InGit(t)
	hold := filepath.Join(s.Dir("gate"), "hold")
	if err := syscall.Mkfifo(hold, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Queue("read word <" + hold + `; test "$word" = green`)
	claude, codex := s.Agent("claude:a"), s.Agent("codex:b")
	codex.JoinPath(engine.JoinPathParams{}).OK()
	s.ReadyToMerge("ui-7", claude, codex)
	d := newDesk(s, nil)
	d.server.jobs.patience = time.Millisecond
	room := string(s.Room().ID)
	at := "/room/" + room + "/task/ui-7"
	x := d.stream(at+"?head=x", nil)
	a := d.fill("worker_merge", url.Values{"room_id": {room}, "task_id": {"ui-7"}, "back": {at}})
	if a.status != http.StatusSeeOther {
		t.Fatalf("merge: %d %s", a.status, a.body)
	}

	has(t, d.ok(at), "The merge is in progress since")
	gate, err := os.OpenFile(hold, os.O_WRONLY, 0) // returns when the gate reads
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gate.WriteString("green\n"); err != nil {
		t.Fatal(err)
	}

	gate.Close()
	x.part("taskhead", "completed")
	s.TaskIs("ui-7", stick.TaskCompleted)
}

// TestAMergeThatFailed: the reason is where people look, and nothing says that the task is merged by itself.
func TestAMergeThatFailed(t *testing.T) {
	s := scene.InQueue(t, "true")
	claude, codex := s.Agent("claude:a"), s.Agent("codex:b")
	codex.JoinPath(engine.JoinPathParams{}).OK()
	s.ReadyToMerge("ui-7", claude, codex)
	d := newDesk(s, nil)
	room := string(s.Room().ID)
	at := "/room/" + room + "/task/ui-7"
	has(t, d.ok(at), "ready to merge", "it waits until somebody merges it")
	has(t, d.ok("/needs"), "ui-7 is approved and waits for its merge")

	s.Git("checkout", "-q", "integration")
	s.File("a.txt", "loose\n")
	s.Git("add", "a.txt")
	x := d.stream("/needs", nil)
	a := d.fill("worker_merge", url.Values{"room_id": {room}, "task_id": {"ui-7"}, "back": {"/needs"}})
	if a.status != http.StatusConflict {
		t.Fatalf("merge: %d %s", a.status, a.body)
	}

	has(t, a.body, `id="menu"`, "uncommitted change", `href="`+at+`"`, `href="/needs"`)
	const why = "merge failed"
	x.part("needs", why)
	x.part("needs", "uncommitted change")
	for _, path := range []string{at, "/tasks", "/room/" + room} {
		has(t, d.ok(path), why, "uncommitted change")
	}

	s.Git("reset", "-q", "--hard")
	if a := d.fill("worker_merge", url.Values{"room_id": {room}, "task_id": {"ui-7"}, "back": {at}}); a.status != http.StatusSeeOther {
		t.Fatalf("merge again: %d %s", a.status, a.body)
	}

	x.part("needs", "Nothing needs you")
	if page := d.ok(at); strings.Contains(page, "failed") {
		t.Error("a merge that went well failed")
	}
}
