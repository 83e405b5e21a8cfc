package web

import (
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestTask_RedGate: a task that its gate has returned says so, and shows what the gate printed without colours. Whoever
// merged it has requested nothing.
func TestTask_RedGate(t *testing.T) {
	s := scene.InQueue(t, `test ! -e a.txt || { printf 'first\n\033[31mFAIL\033[0m TestCart\n'; false; }`)
	claude := s.Agent("claude:a")
	s.Joins(claude)
	claude.Spawn("ui-7").OK()
	w := claude.WorksOn("ui-7")
	w.Commits("a.txt", "x")
	w.Done("").OK()
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()
	d.ann.Approve("ui-7").OK()
	d.ann.Merge("ui-7").Refused(stick.CodeGateFailed)

	page := d.ok("/room/" + string(s.Room().ID) + "/task/ui-7")
	has(t, page, "<b>The gate</b> returned", "<pre>first\nFAIL TestCart")
	lacks(t, page, "requested changes to")
}
