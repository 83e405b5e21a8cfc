package web

import (
	"net/http"
	"slices"
	"testing"

	"talkingstick/internal/scene"
	"talkingstick/internal/task"
)

// TestWorkerAfterStartsTheCommand of a task that waits for nothing any more, as on every other surface.
func TestWorkerAfterStartsTheCommand(t *testing.T) {
	s := scene.InQueue(t, "")
	claude := s.Agent("claude:a")
	claude.Spawn("first").OK()
	claude.WorkerSpawn(task.WorkerSpawnParams{TaskID: "next", After: []string{"first"}, Run: "true"}).OK()

	var started []string
	server := s.Person("server").Starting(func(run task.RunTaskParams) { started = append(started, run.TaskID) })
	d := newDesk(s, func(o *Options) { o.Engine, o.Tasks = server.Engine, server.Tasks })
	status, got := d.call("worker_after", map[string]any{"room_id": s.Room().ID, "task_id": "next"})
	if status != http.StatusOK || !slices.Equal(started, []string{"next"}) {
		t.Errorf("%d %v; started: %q", status, got, started)
	}
}
