//go:build linux

package web

import (
	"strconv"
	"testing"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// TestBrowserStays_Rows: the log of a page that stays open keeps a bounded number of rows, and what it let go of is on
// the page of older events.
func TestBrowserStays_Rows(t *testing.T) {
	realharness.Chromium(t)
	s := scene.New(t)
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	d := newDesk(s, nil)
	b := d.open()
	b.goTo("/room/" + string(s.Room().ID))
	b.until(`document.body.dataset.linked === "yes"`)

	for i := range 150 {
		claude.SendAs(engine.SendMessageParams{To: []stick.AgentID{stick.ToSystem}, Body: "message " + strconv.Itoa(i)}).OK()
	}
	b.says("#timeline", "message 149")
	if n := eval[int](b, `document.querySelectorAll("#timeline > li").length`); n > 120 {
		t.Errorf("%d rows", n)
	}

	oldest := eval[string](b, `document.querySelector("#timeline").lastElementChild.dataset.seq`)
	b.click("#older a", "Older events")
	b.until(`location.pathname.endsWith("/log")`)
	next := eval[string](b, `document.querySelector("#timeline, .timeline").firstElementChild.dataset.seq`)
	if a, _ := strconv.Atoi(oldest); strconv.Itoa(a-1) != next {
		t.Errorf("after %s comes %s", oldest, next)
	}
}
