//go:build linux

package web

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

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

// TestBrowserStays_Unseen: the title of a page that nobody sees counts what needs its person, its icon has a dot, and
// the desktop is told.
func TestBrowserStays_Unseen(t *testing.T) {
	s, claude, _, _, d := studio(t)
	b := d.open()
	b.goTo("/room/" + string(s.Room().ID))
	b.until(`document.body.dataset.linked === "yes" && document.title.startsWith("(2) ")`)

	b.run(chromedp.Evaluate(`
		window.told = [];
		window.Notification = class { static permission = "granted"; constructor(title, o) { told.push(title + ": " + o.body) } };
		Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
		document.dispatchEvent(new Event("visibilitychange"));`, nil))
	claude.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{d.ann.ID}, Category: "BLOCKED", Body: "which port?",
	}).OK()
	b.until(`document.title.startsWith("(3) ")`)
	b.until(`document.querySelector("link[rel=icon]").href.endsWith("/static/icon-needs.svg")`)
	if told := eval[[]string](b, `told`); len(told) != 1 || !strings.HasPrefix(told[0], "3 things need you: ") {
		t.Errorf("the desktop is told %q", told)
	}

	// Whoever looks again sees the page as it is.
	b.run(chromedp.Evaluate(`delete document.hidden; document.dispatchEvent(new Event("visibilitychange"))`, nil))
	for _, m := range d.ann.Inbox().Messages {
		d.ann.Accepts(m.MessageID).OK()
	}
	b.until(`document.title.startsWith("(1) ")`)
}
