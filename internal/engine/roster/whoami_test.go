package roster_test

import (
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestWhoIsWho: an agent is its session, whatever its process. One session in two processes is two members.
// Nobody may assume the name of a session that runs in another process.
func TestWhoIsWho(t *testing.T) {
	s := scene.New(t)
	ann, carl := s.Agent("claude:a"), s.Person("carl")
	ann.Whoami(roster.WhoamiParams{}).That("not known yet", func(r roster.WhoamiResult) bool { return !r.Known && r.AgentID == ann.ID })
	s.Joins(ann, carl)
	ann.Whoami(roster.WhoamiParams{Explain: true}).That("known", func(r roster.WhoamiResult) bool { return r.Known && r.Harness == "claude" && r.Process != nil })
	twin := ann.Returns()
	twin.Whoami(roster.WhoamiParams{}).That("another member", func(r roster.WhoamiResult) bool { return r.AgentID == ann.ID+"-2" && r.Note != "" })
	twin.Join().That("a note on it", func(r engine.JoinPathResult) bool { return r.Warning != "" && r.AgentID == ann.ID+"-2" })
	ann.Dies()
	twin.Whoami(roster.WhoamiParams{}).That("that it stays itself", func(r roster.WhoamiResult) bool { return r.AgentID == ann.ID+"-2" })
	bob := s.Agent("codex:b")
	bob.Join().OK()
	carl.As(string(bob.ID)).Whoami(roster.WhoamiParams{}).Refused(stick.CodeIdentityMismatch)
	carl.As("helper:one").Join().That("by the assumed name", func(r engine.JoinPathResult) bool { return r.AgentID == "helper:one" })
	carl.As("helper:one").Tell("hello").OK()

	// A session is known by its process only, until a call gives its id.
	dan := s.Agent("opencode:")
	dan.Join().OK()
	told := *dan
	told.By.SessionID = "told"
	told.Whoami(roster.WhoamiParams{}).That("the same", func(r roster.WhoamiResult) bool { return r.AgentID == dan.ID })
	told.Tell("hello").OK()
	dan.Whoami(roster.WhoamiParams{}).That("the same", func(r roster.WhoamiResult) bool { return r.AgentID == dan.ID })
	next := told
	next.By.SessionID = "next"
	next.Join().That("another", func(r engine.JoinPathResult) bool { return r.AgentID != dan.ID })
	told.Tell("I am back").That("the first again", func(r engine.SendMessageResult) bool { return r.AgentID == dan.ID })
}
