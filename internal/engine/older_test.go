package engine_test

import (
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestOlder_Copy: a lease that the room has made and doesn't know shows that the database is an older copy,
// on a server, too. Nothing else ends another's turn, whatever its number.
func TestOlder_Copy(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	s := scene.New(t)
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	first := ann.Try().Granted(1)
	room := ann.Join().OK().RoomID
	ann.Release("wrote it", "review it").OK()

	own := bob.Try().Granted(2)

	for name, f := range map[string]engine.Fence{
		"a wrong turn with an earlier lease": {Turn: 900, Lease: first.Fence().Lease},
		"a wrong turn with its own lease":    {Turn: 900, Lease: own.Fence().Lease},
		"a lease of another room":            {Turn: 900, Lease: stick.RoomID("room-x").Lease(id)},
		"a lease that nobody has made":       {Turn: 900, Lease: id},
	} {
		e := ann.ReleaseOf(f, "s", "n").Refused(stick.CodeTurnMismatch)
		s.Check(strings.Contains(e.Message, "there is no turn 900 yet"), "%s: %s", name, e.Message)
	}

	bob.Heartbeat(engine.HeartbeatParams{}).OK()

	lost := engine.Fence{Turn: 2, Lease: room.Lease(id)} // of a turn that another has in the copy
	e := ann.ReleaseOf(lost, "s", "n").Refused(stick.CodeTurnMismatch)
	s.Check(strings.Contains(e.Message, "it is an older copy"), "%s", e.Message)
	bob.Heartbeat(engine.HeartbeatParams{}).Refused(stick.CodeTurnMismatch)

	e = ann.ReleaseOf(lost, "s", "n").Refused(stick.CodeTurnMismatch)
	s.Check(!strings.Contains(e.Message, "it is an older copy"), "noticed twice: %s", e.Message)
	next := bob.Try().Granted(2 + 1<<32 + 1)
	next.Recovers("wrote it", 1)

	ann.Doctor(upkeep.DoctorParams{}).That("the copy", func(r upkeep.DoctorResult) bool {
		for _, f := range r.Findings {
			if f.Check == "losses" {
				return r.Healthy && strings.Contains(string(f.Detail), "somebody had turn 2")
			}
		}
		return false
	})
}
