package web

import (
	"net/http"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
)

// TestWaitForTurnStartsAGuardian for a person whose process an agent can't see, as on every other surface.
func TestWaitForTurnStartsAGuardian(t *testing.T) {
	s := scene.New(t)
	s.AgentElsewhere("claude:a").Join().OK()

	var kept []engine.KeepLeaseParams
	server := s.Person("server").Guarded(func(p engine.KeepLeaseParams) (int, error) {
		kept = append(kept, p)
		return 41, nil
	})

	d := newDesk(s, func(o *Options) { o.Engine, o.Tasks = server.Engine, server.Tasks })

	status, got := d.call("wait_for_turn", map[string]any{"room_id": s.Room().ID, "max_wait_ms": 0})
	if status != http.StatusOK || len(kept) != 1 || got["guardian_pid"] != 41.0 {
		t.Errorf("%d %v; it keeps %+v", status, got, kept)
	}
}
