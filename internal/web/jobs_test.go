//go:build linux

package web

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestALongMerge: a page that asked for a merge isn't kept until the gate has ended. The merge goes on, and the page says how it is.
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
	d.server.jobs.patient = time.Millisecond
	room := string(s.Room().ID)
	at := "/room/" + room + "/task/ui-7"
	x := d.stream(at+"?head=x", nil)
	if a := d.fill("worker_merge", url.Values{"room_id": {room}, "task_id": {"ui-7"}, "back": {at}}); a.status != http.StatusSeeOther {
		t.Fatalf("merge: %d %s", a.status, a.body)
	}
	has(t, d.ok(at), "worker merge is in progress")
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
