package roster_test

import (
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/scene"
)

// TestSessionEndsInSeveralRooms: an agent leaves all its rooms at once, even a closed one, and abandons the
// turn that it has in one of them.
func TestSessionEndsInSeveralRooms(t *testing.T) {
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("claude:b")
	s.Joins(ann, bob)
	closed, third := core.Where{Path: s.Dir("closed")}, core.Where{Path: s.Dir("third")}
	for _, w := range []core.Where{closed, third} {
		ann.JoinPath(engine.JoinPathParams{Path: w.Path, ForceNew: true}).OK()
		ann.WaitForTurn(engine.WaitForTurnParams{Where: w}).Granted(1)
	}
	ann.CloseRoom(engine.CloseRoomParams{Where: closed, Handoff: new(scene.Handoff("done", "rest"))}).OK()
	res := ann.EndSession(roster.EndSessionParams{Why: strings.Repeat("long ", 40)}).OK()
	s.Check(len(res.Left) == 3, "it left %v", res.Left)
	for _, w := range []core.Where{{Path: s.Work}, third} {
		state := bob.GetRoomState(engine.GetRoomStateParams{Where: w}).OK()
		if state.Owner != nil {
			t.Errorf("%s holds the stick of %s", *state.Owner, state.Path)
		}
		for _, m := range state.Members {
			if m.AgentID == res.AgentID {
				t.Errorf("%s is still a member of %s", m.AgentID, state.Path)
			}
		}
	}
	ann.Ends().That("nothing left to leave", func(r roster.EndSessionResult) bool { return len(r.Left) == 0 })
}
