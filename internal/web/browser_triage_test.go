//go:build linux

package web

import (
	"testing"

	"github.com/chromedp/chromedp"

	"talkingstick/stick"
)

// TestBrowserTriage: the list of what needs ann is cleared by keys, with the thing itself beside it, and without leaving
// the page for anything but the decisions.
func TestBrowserTriage(t *testing.T) {
	s, claude, _, _, d := studio(t)
	b := d.open()
	b.goTo("/needs")
	b.until(`document.body.dataset.linked === "yes"`)

	// The first one is a message: it stands beside the list, and is put off by a key.
	b.says("#thing", "The uploads fail with 401 since this morning.")
	b.picture("triage")
	b.press("l")
	b.says("#needs", "1 thing put off")
	if n := len(d.ann.Inbox().Messages); n != 1 {
		t.Errorf("%d messages are open", n)
	}

	// The next one is a review. It is read and commented on there.
	b.says("#thing", "return send(path)")
	b.run(chromedp.Evaluate(`window.kept = true; document.querySelector('#thing [aria-label="Comment on upload.go:3"]').click()`, nil))
	b.until(`document.activeElement.name === "body"`)
	b.run(chromedp.SendKeys("#thing .commentrow textarea", "say which file"))
	b.click("#thing .commentrow button", "Comment")
	b.says("#thing .comment.draft", "say which file")
	if !eval[bool](b, `window.kept === true`) {
		t.Error("the page was loaded again")
	}

	b.picture("triage-review")
	b.loads(func() { b.press("a") })
	s.TaskIs("ui-7", stick.TaskApproved)
	b.says("#needs", "waits for its merge")
	b.press("j", "m")
	b.says("#needs", "Nothing needs you")
	s.TaskIs("ui-7", stick.TaskCompleted)

	b.click("#needs summary", "1 thing put off")
	b.click("#needs .below button", "Now")
	b.says("#needs", claude.ShownName()+" waits for your answer")
	b.size(375, 812)
	b.fits(t, "needs on a phone")
	b.picture("triage-phone")
}
