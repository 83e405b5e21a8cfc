package eventlog_test

import (
	"testing"

	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestGetDigest_tells_of_each_event_once, to each who asks.
func TestGetDigest_tells_of_each_event_once(t *testing.T) {
	s := scene.InQueue(t, "")
	ann, bob := s.Agent("claude:a"), s.Agent("codex:b")
	ann.GetDigest(eventlog.GetDigestParams{}).Refused(stick.CodeNoRoom)
	s.Joins(ann, bob)
	ann.Spawn("ui").OK()
	w := bob.WorksOn("ui")
	w.Commits("ui", "ui\n")
	w.Done("").OK()
	ann.GetDigest(eventlog.GetDigestParams{}).That("the first, and nothing", func(r eventlog.GetDigestResult) bool {
		return r.First && len(r.Agents) == 0 && r.Cursor > 0
	})
	ann.DigestDelivered()

	ann.Approve("ui").OK()
	ann.Merge("ui").OK()
	landed := func(r eventlog.GetDigestResult) bool {
		return len(r.Agents) == 1 && r.Agents[0].Agent == bob.ID && len(r.Agents[0].Landed) == 1
	}
	ann.GetDigest(eventlog.GetDigestParams{}).That("bob's task has landed", func(r eventlog.GetDigestResult) bool {
		return landed(r) && !r.First && !r.Since.IsZero()
	})
	ann.GetDigest(eventlog.GetDigestParams{}).That("the same until ann has seen it", landed)
	ann.DigestDelivered()
	ann.GetDigest(eventlog.GetDigestParams{}).That("nothing since", func(r eventlog.GetDigestResult) bool {
		return len(r.Agents) == 0
	})
	bob.GetDigest(eventlog.GetDigestParams{}).That("bob hasn't asked before", landed)
}
