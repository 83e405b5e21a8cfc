//go:build linux

package web

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// studio is a prepared room: two agents, one of which waits for the other, a question to ann, a task in
// review, and one that hangs.
func studio(t *testing.T) (s *scene.Scene, claude, codex *scene.Actor, w *scene.Work, d *desk) {
	realharness.Chromium(t)
	s = scene.InQueue(t, "")
	claude, codex = s.Agent("claude:a"), s.Agent("codex:b")
	claude.Try().Granted(1)
	codex.Reserve("src/**").OK()
	claude.Reserve("src/*.go").OK()
	claude.AddNote(engine.AddNoteParams{Body: "the build needs go 1.26"}).OK()
	claude.WorkerSpawn(task.WorkerSpawnParams{
		TaskID: "ui-7", Description: "Retry failed uploads", Spec: "Try three times.\nThen say so.",
	}).OK()
	claude.Spawn("ui-8").OK()
	claude.SpawnLater("ui-9", "ui-7", "ui-8").OK()
	w = claude.WorksOn("ui-7")
	w.Commits("upload.go",
		"package upload\n\n// Upload sends a file.\nfunc Upload(path string) error {\n\treturn send(path)\n}\n")
	w.Done("").OK()
	d = newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()

	claude.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{d.ann.ID}, Category: "BLOCKED", Subject: "Uploads fail",
		Body:     "The uploads fail with 401 since this morning.",
		Contract: stick.Contract{Blocker: "no API key", Request: "create one", Urgency: "high"},
	}).OK()

	codex.Waits()
	return s, claude, codex, w, d
}

// TestBrowserIsLive: what somebody does in a terminal appears without reload, and what a person is typing
// stays.
func TestBrowserIsLive(t *testing.T) {
	s, claude, codex, _, d := studio(t)
	b := d.open()
	b.goTo("/room/" + string(s.Room().ID))
	b.says("#turn", claude.ShownName())
	b.until(`document.body.dataset.linked === "yes"`)
	b.run(chromedp.Evaluate(
		`window.kept = true; const f = document.querySelector("textarea[data-key=w]"); f.focus(); f.value = "half a sen"; f.setSelectionRange(4, 4)`,
		nil,
	))
	b.picture("room")

	began := time.Now()
	claude.Release("wrote the lexer", "write the parser")
	b.says("#timeline", "write the parser")
	t.Logf("a release is on the page after %v", time.Since(began))
	b.says("#turn", codex.ShownName())
	if !eval[bool](b, `window.kept === true && document.activeElement.name === "body" && document.activeElement.value === "half a sen" && document.activeElement.selectionStart === 4`) {
		t.Error("the page was loaded again, or what was typed is gone")
	}

	// A message is seen, and then accepted.
	b.goTo("/inbox")
	b.says("#inbox", "no API key")
	b.picture("inbox")
	b.click("#inbox button", "Seen")
	b.says("#inbox .meta", "Seen")
	b.click("#inbox button", "Accepted")
	b.says("#inbox", "No message waits for you")
	if in := d.ann.Inbox(); len(in.Messages) != 0 {
		t.Errorf("the inbox has %+v", in.Messages)
	}

	// A stopped server is said, and a page goes on when it is back.
	b.goTo("/room/" + string(s.Room().ID))
	b.until(`document.body.dataset.linked === "yes"`)
	codex.Dies()
	s.Ring()
	b.says("#agents", "gone")
}

// TestBrowserAnswers: a question is answered by keys where it is listed, and in the log of its room, where it
// takes no further answer then.
func TestBrowserAnswers(t *testing.T) {
	s, claude, _, _, d := studio(t)
	b := d.open()
	b.goTo("/needs")
	b.until(`document.body.dataset.linked === "yes"`)
	b.press("w")
	b.until(`document.activeElement.name === "body"`)
	// the driver types the key, too
	b.run(chromedp.Evaluate(`document.activeElement.value = ""`, nil), chromedp.KeyEvent("here it is"))
	b.picture("reply")
	b.press(kb.Tab)
	b.until(`document.activeElement.innerText === "Reply and accept"`)
	b.press(kb.Enter)
	b.says("#said", "your reply is sent, and the message is accepted")
	b.until(`!document.querySelector(".need.message")`)

	claude.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{d.ann.ID}, Category: "BLOCKED", Body: "which port?",
	}).OK()
	b.goTo("/room/" + string(s.Room().ID))
	b.says("#timeline", "which port?")
	b.click("#timeline .blocked summary", "Read it")
	b.click("#timeline .blocked summary", "Reply")
	b.run(chromedp.SendKeys("#timeline .reply[open] textarea", "8080"))
	b.picture("reply-in-the-log")
	b.click("#timeline .reply[open] button", "Reply and accept")
	b.until(`!document.querySelector("#timeline .reply")`)
	b.says("#timeline", "8080")
	in := claude.Inbox().Messages
	if len(d.ann.Inbox().Messages) != 0 || len(in) != 2 || in[0].Body != "here it is" || in[1].Body != "8080" {
		t.Errorf("claude got %+v", in)
	}
}

// TestBrowserReview: a task goes back with two comments on lines, which its worker gets in one message, and
// another is approved and merged.
func TestBrowserReview(t *testing.T) {
	s, claude, _, w, d := studio(t)
	b := d.open()
	b.goTo("/needs")
	b.picture("needs")
	b.click("#needs a", "Review")
	b.says("h1", "ui-7")

	for line, words := range map[string]string{"3": "say which file", "5": "what if it fails?"} {
		b.until(`document.querySelector('[aria-label="Comment on upload.go:` + line + `"]')`)
		b.run(chromedp.Evaluate(`document.querySelector('[aria-label="Comment on upload.go:`+line+`"]').click()`, nil))
		b.until(`document.activeElement.name === "body"`)
		b.run(chromedp.SendKeys(".commentrow textarea", words))
		b.click(".commentrow button", "Comment")
		b.says(".comment.draft", words)
	}
	b.says("#drafts", "2 drafts go with your decision")

	b.picture("comments")
	b.click("summary", "Request changes")
	b.run(chromedp.SendKeys("textarea[name=reason]", "almost"))
	b.click("button", "Send it back")
	b.says("main", "requested changes to") // the page that comes then
	sent := claude.Inbox().Messages
	if len(sent) != 1 ||
		!strings.Contains(sent[0].Body, "say which file") ||
		!strings.Contains(sent[0].Body, "what if it fails?") ||
		!strings.Contains(sent[0].Body, "almost") {
		t.Errorf("the worker got %+v", sent)
	}

	w.Commits("upload.go",
		"package upload\n\n// Upload sends the file at path.\nfunc Upload(path string) error {\n\treturn send(path)\n}\n")
	w.Done("").OK()
	b.says("#moved", "has moved")
	b.click("#moved a", "Show the newest")
	b.until(`!document.querySelector("#moved a") && document.body.dataset.linked`)

	// Three clicks from the list of what needs ann: the task, Approve, Merge.
	b.goTo("/needs")
	b.click("#needs a", "Review")
	b.loads(func() { b.click("#taskacts button", "Approve") })
	b.click("#taskacts button", "Merge")
	b.says("#taskhead", "completed")
	s.TaskIs("ui-7", stick.TaskCompleted)
	b.picture("merged")
}

// TestBrowserReview_InPlace: a review of several files is written by keys, without a load of the page, and without
// losing the place in it.
func TestBrowserReview_InPlace(t *testing.T) {
	s := scene.InQueue(t, "")
	claude := s.Agent("claude:a")
	claude.JoinPath(engine.JoinPathParams{}).OK()
	claude.Spawn("ui-7").OK()
	w := claude.WorksOn("ui-7")
	for i := range 12 {
		w.Commits(fmt.Sprintf("file%02d.txt", i), strings.Repeat("a line\n", 60))
	}
	w.Commits("package-lock.json", "{}\n")
	w.Done("").OK()
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()

	b := d.open()
	b.goTo("/room/" + string(s.Room().ID) + "/task/ui-7")
	b.until(`document.body.dataset.linked === "yes"`)
	b.says(".files", "13 files")
	b.until(`!document.querySelector("#file12").open`) // the lock file
	b.run(chromedp.Evaluate(`window.kept = true`, nil))

	// Viewed leads on to the next file, and the bar stays.
	b.press("v")
	b.until(`!document.querySelector("#file0").open && document.activeElement.closest("#file1")`)
	b.press("]", "]", "]")
	b.until(`document.activeElement.closest("#file4")`)
	b.press("[")
	b.until(`document.activeElement.closest("#file3")`)
	b.until(`document.querySelector(".bar").getBoundingClientRect().top >= 0`)

	b.press("h")
	b.until(`document.activeElement.closest("#file3 .n")`)
	top := eval[float64](b, `scrollY`)
	b.press(kb.Enter)
	b.until(`document.activeElement.name === "body"`)
	b.run(chromedp.KeyEvent("why this?"))
	b.run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl)))
	b.says("#file3 .comment.draft", "why this?")
	b.says("#drafts", "1 draft goes with your decision")
	b.until(`document.activeElement.closest("#file3 .n")`)
	if !eval[bool](b, fmt.Sprintf(`window.kept === true && Math.abs(scrollY - %f) < 5`, top)) {
		t.Error("the page was loaded again, or the place in it is lost")
	}
	b.picture("review-in-place")

	b.click("#file3 .comment button", "Delete the draft")
	b.until(`!document.querySelector(".comment.draft") && document.querySelector("#drafts").hidden`)

	// What was viewed is known when the page comes again.
	b.goTo("/room/" + string(s.Room().ID) + "/task/ui-7")
	b.says("#viewed", "1 viewed")
	b.until(`!document.querySelector("#file0").open && document.querySelector("#file1").open`)
}

// TestBrowserKeys: everything that matters can be done without a mouse.
func TestBrowserKeys(t *testing.T) {
	s, _, _, _, d := studio(t)
	b := d.open()
	b.press("?")
	b.until(`document.querySelector("dialog").open`)
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog").open`)
	b.press("n")
	b.until(`location.pathname.endsWith("/needs") && document.body.dataset.linked`)
	b.press("a") // the message
	b.until(`!document.querySelector(".need.message")`)
	b.press("j", kb.Enter)
	b.until(`location.pathname.endsWith("/task/ui-7") && document.body.dataset.linked`)
	b.press("h", kb.Enter)
	b.until(`document.activeElement.name === "body"`)
	b.press("w", "h", "y")
	b.until(`document.activeElement.value === "why"`)
	b.press(kb.Tab)
	b.until(`document.activeElement.innerText === "Comment"`)
	b.press(kb.Enter)
	b.says(".comment.draft", "why")
	b.until(`document.body.dataset.linked`)
	b.loads(func() { b.press("a") })
	b.press("m")
	b.says("#taskhead", "completed")
	s.TaskIs("ui-7", stick.TaskCompleted)
	b.press("t")
	b.until(`location.pathname.endsWith("/tasks")`)
	b.until(`document.body.dataset.linked`)
	b.press("/")
	b.until(`document.activeElement.name === "q"`)
	// the driver types the key, too
	b.run(chromedp.Evaluate(`document.activeElement.value = ""`, nil), chromedp.KeyEvent("ui-9"))
	b.press(kb.Enter)
	b.until(`location.search === "?q=ui-9" && document.querySelectorAll(".taskcard").length === 1`)
}

// TestBrowserForEverybody: no page has a serious violation by axe-core, and each fits on a phone, in light
// and in dark.
func TestBrowserForEverybody(t *testing.T) {
	axe := realharness.Axe(t)
	s, claude, _, _, d := studio(t)
	s.File("loose.txt", "x\n")
	claude.Tell("the build is green again").OK()
	asked := d.ann.Inbox().Messages[0].MessageID
	b := d.open()
	room := "/room/" + string(s.Room().ID)

	b.suits(t, axe, map[string]string{
		"rooms": "/", "needs": "/needs", "inbox": "/inbox", "sessions": "/sessions", "tasks": "/tasks",
		"scopes": "/scopes",
		"room":   room, "room-scopes": room + "/scopes", "task": room + "/task/ui-7?at=upload.go:3#comment",
		"failure": "/nothing",
		"message": room + "/message/" + strconv.FormatInt(asked, 10),
	})
}

// TestBrowserForEverybody_LongTexts: so it is if everybody has written as much as they may, and somebody is gone.
func TestBrowserForEverybody_LongTexts(t *testing.T) {
	axe := realharness.Axe(t)
	s, claude, codex, _, d := studio(t)
	long := strings.Repeat("All that has to be said of this, in many words.\n", 60)
	claude.AddNote(engine.AddNoteParams{Body: long}).OK()
	claude.WorkerSpawn(task.WorkerSpawnParams{TaskID: "ui-10", Description: cut(long, 1000), Spec: long}).OK()
	id := claude.SendAs(engine.SendMessageParams{To: []stick.AgentID{d.ann.ID}, Category: "BLOCKED", Body: long}).ID()
	d.ann.WorkerDiff(task.WorkerDiffParams{TaskID: "ui-7"}).OK()
	d.ann.WorkerComment(task.WorkerCommentParams{TaskID: "ui-7", At: "upload.go:3", Body: cut(long, 2000)}).OK()
	d.ann.WorkerRequestChanges(task.WorkerRequestChangesParams{TaskID: "ui-7", Reason: cut(long, 2000)}).OK()
	codex.Dies()
	s.Ring()

	b := d.open()
	room := "/room/" + string(s.Room().ID)
	b.suits(t, axe, map[string]string{
		"rooms": "/", "needs": "/needs", "inbox": "/inbox", "sessions": "/sessions", "tasks": "/tasks", "room": room,
		"log": room + "/log", "task": room + "/task/ui-7", "spec": room + "/task/ui-10",
		"message": room + "/message/" + strconv.FormatInt(id, 10),
	})
}

// suits fails the test for what keeps people from using pages, and for what doesn't fit on a phone.
func (b *tab) suits(t *testing.T, axe string, pages map[string]string) {
	t.Helper()
	contrast := `{ runOnly: ["color-contrast"], resultTypes: ["violations"] }`
	for name, path := range pages {
		b.size(1280, 900)
		b.dark(false)
		b.goTo(path)
		b.run(chromedp.Evaluate(axe+"; 0", nil))
		b.violations(t, `{ resultTypes: ["violations"] }`, name)
		b.fits(t, name)
		b.picture(name)
		b.dark(true)
		b.violations(t, contrast, name+", dark")
		b.size(375, 812)
		b.fits(t, name+" on a phone")
		b.picture(name + "-phone-dark")
	}
}

// TestBrowserHostile: nothing that others write runs, or breaks the layout.
func TestBrowserHostile(t *testing.T) {
	realharness.Chromium(t)
	s := scene.InQueue(t, "")
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()

	for i, text := range hostile {
		claude.SendAs(engine.SendMessageParams{
			To: []stick.AgentID{d.ann.ID}, Body: text, Subject: cut(text, 200), Category: "BLOCKED",
			TaskID: cut(text, 100), Contract: stick.Contract{Blocker: cut(text, 900)},
		}).OK()
		claude.AddNote(engine.AddNoteParams{Body: text}).OK()
		claude.WorkerSpawn(task.WorkerSpawnParams{
			TaskID: "t" + string(rune('0'+i)), Description: cut(text, 1000), Spec: text,
		}).OK()
	}

	w := claude.WorksOn("t0")
	w.Commits("a.txt", strings.Join(hostile, "\n"))
	w.Done("").OK()
	b := d.open()
	room := "/room/" + string(s.Room().ID)
	b.goTo(room)
	b.until(`document.body.dataset.linked === "yes"`)
	for _, text := range hostile { // by the stream
		claude.SendAs(engine.SendMessageParams{
			To: []stick.AgentID{d.ann.ID}, Body: text, Category: "BLOCKED",
			Contract: stick.Contract{Blocker: cut(text, 900)},
		}).OK()
	}
	claude.Release(hostile[0], hostile[1])
	b.says("#timeline", "<img src=x")

	for _, path := range []string{
		"", "/", "/needs", "/inbox", "/sessions", "/tasks", room, room + "/log", room + "/task/t0",
		room + "/task/t5", room + "/task/t6",
	} {
		if path != "" {
			b.goTo(path)
		}

		for _, width := range []int64{1280, 375} {
			b.size(width, 812)
			b.fits(t, path)
			if title := eval[string](b, `document.title`); strings.Contains(title, "owned") {
				t.Errorf("%s ran what somebody wrote", path)
			}
			n := eval[int](b,
				`document.querySelectorAll("main script, main img, main svg:not(.chart svg), main style").length`)
			if n != 0 {
				t.Errorf("%s has %d elements of others", path, n)
			}
		}
	}
	b.picture("hostile")
}
