package engine_test

import (
	"slices"
	"testing"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestNotice_PersonToldOnce: of those who watch for a person, one tells each need. It is no activity of theirs,
// and no business of agents.
func TestNotice_PersonToldOnce(t *testing.T) {
	s := scene.New(t)
	ann, carl, dora := s.Agent("claude:a"), s.Person("carl"), s.Person("dora")
	keys := engine.TakeNoticesParams{Keys: []string{"review/ui-7", "answer/x"}}
	carl.TakeNotices(keys).Refused(stick.CodeNoRoom)

	s.Joins(ann, carl)
	seen := carl.State().Members[1].LastSeenAt
	told := func(want ...string) func(engine.TakeNoticesResult) bool {
		return func(r engine.TakeNoticesResult) bool { return slices.Equal(r.Keys, want) }
	}
	s.Later(time.Second)
	carl.TakeNotices(keys).That("both", told("review/ui-7", "answer/x"))
	carl.TakeNotices(keys).That("nothing again", told())
	carl.TakeNotices(engine.TakeNoticesParams{Where: s.ByID(), Keys: []string{"answer/x", "merge/ui-7"}}).That(
		"the new one", told("merge/ui-7"),
	)
	dora.TakeNotices(keys).That("both, though she isn't a member", told("review/ui-7", "answer/x"))
	ann.TakeNotices(keys).Refused(stick.CodePersonOnly)
	s.Check(carl.State().Members[1].LastSeenAt == seen && len(carl.State().Members) == 2,
		"it counts as activity, or joins: %+v", carl.State().Members)
}
