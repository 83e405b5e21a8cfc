package engine_test

import (
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestAgentNames: agents get names of their own, which stay theirs when they come back and in other rooms.
func TestAgentNames(t *testing.T) {
	s := scene.New(t)
	ann, bob, carl := s.Agent("claude:a"), s.Agent("claude:b"), s.Person("carl")
	s.Joins(ann, bob, carl)

	readNames := func() map[stick.AgentID]string {
		names, err := carl.Engine.AgentNames(s.Context())
		s.Check(err == nil, "the names can't be read: %v", err)
		return names
	}

	names := readNames()
	s.Check(len(names) == 2, "the names are %v", names)
	s.Check(names[ann.ID] != names[bob.ID], "both are called %s", names[ann.ID])
	s.Check(names[carl.ID] == "", "a person is called %s", names[carl.ID])

	one, err := carl.Engine.AgentName(s.Context(), ann.ID)
	s.Check(err == nil && one == names[ann.ID], "alone it is called %s, %v", one, err)

	// It is found by its name, also by whoever has only read it.
	carl.SendAs(engine.SendMessageParams{To: []stick.AgentID{stick.AgentID(names[ann.ID])}, Body: "hello"}).OK()
	ann.Whoami(roster.WhoamiParams{}).That(
		"its name", func(r roster.WhoamiResult) bool { return r.Name == names[ann.ID] },
	)

	ann.Leave().OK()
	ann.Join().OK()
	s.Check(readNames()[ann.ID] == names[ann.ID], "it came back as %s", readNames()[ann.ID])
}
