//go:build linux

package web

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

var updatePictures = flag.Bool("pictures.update", false,
	"write the pictures of pages that documents show, instead of comparing what the pages say")

// TestPictures makes the pictures of pages that documents show, from a room that is the same each time. What
// a page says is kept in its picture, and has to be what the page says today. How it looks isn't compared:
// that depends on the fonts of the machine. -pictures.update writes them to docs/pictures.
func TestPictures(t *testing.T) {
	s, d := showroom(t)
	b := d.open()
	b.dark(false)
	b.goTo("/room/" + string(s.Room().ID))
	b.says("#turn", "codex-")
	b.shows("room", 900)
	b.dark(true)
	b.goTo("/room/" + string(s.Room().ID) + "/task/ui-7")
	b.says(".comment", "Three tries")
	b.shows("review", 960)
}

// showroom is a room in which two agents have taken turns for most of an hour, and a third one's task waits
// for ann, who has commented on it.
func showroom(t *testing.T) (*scene.Scene, *desk) {
	realharness.Chromium(t)
	s := scene.InGit(t)
	s.Commit("upload.go",
		"package upload\n\n// Upload sends a file.\nfunc Upload(path string) error {\n\treturn send(path)\n}\n")
	s.Queue("make test")
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()
	claude, codex, worker := s.Agent("claude:1"), s.Agent("codex:2"), s.Agent("claude:3")
	d.ann.WorkerSpawn(task.WorkerSpawnParams{
		TaskID: "ui-7", Description: "Retry failed uploads",
		Spec: "Try three times, then say which file failed.",
	}).OK()
	d.ann.WorkerSpawn(task.WorkerSpawnParams{
		TaskID: "ui-8", Description: "Show the progress of an upload", After: []string{"ui-7"},
	}).OK()
	claude.Try().Granted(1)
	w := worker.WorksOn("ui-7")
	s.Later(11 * time.Minute)
	waits := codex.Waits()
	s.Later(4 * time.Minute)
	claude.Release("Cart totals are done; tests pass.", "Add discounts to cart.go.")
	waits.Ends()
	w.Commits("upload.go",
		"package upload\n\nimport \"fmt\"\n\n// Upload sends a file. It tries three times.\nfunc Upload(path string) (err error) {\n\tfor range 3 {\n\t\tif err = send(path); err == nil {\n\t\t\treturn nil\n\t\t}\n\t}\n\treturn fmt.Errorf(\"upload: %w\", err)\n}\n")
	w.Done("").OK()
	worker.Idle()
	s.Later(6 * time.Minute)
	waits = claude.Waits()
	s.Later(8 * time.Minute)
	codex.Release("Discounts are in; one test is red.", "Round prices before they are added: cart_test.go says how.")
	waits.Ends()
	claude.AddNote(engine.AddNoteParams{Body: "Prices are in cents everywhere."}).OK()
	s.Later(9 * time.Minute)
	claude.Release("Prices are rounded; all tests pass.", "Review the cart, then begin with the invoice.")
	codex.Try().Granted(4)
	codex.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{d.ann.ID}, Body: "Do invoices show prices with tax?", RequiresAck: new(true),
	}).OK()
	q := core.HookParams{
		Caller: codex.By, Where: codex.Hook().Where, Tool: "Edit",
		File: s.File("invoice.go", "package shop\n"),
	}
	res := codex.ReadNews(q).OK()
	if err := codex.Engine.RecordShownByHook(t.Context(), q, res); err != nil {
		t.Fatal(err)
	}

	claude.Waits()
	s.Later(2 * time.Minute)
	head := s.TaskIs("ui-7", stick.TaskInReview).Head
	for _, c := range [][2]string{
		{"upload.go:7", "Three tries right after each other: wait a little before the next one."},
		{"upload.go:12", "Say which file it was."},
	} {
		d.ann.WorkerComment(task.WorkerCommentParams{TaskID: "ui-7", At: c[0], Body: c[1], Head: head}).OK()
	}
	return s, d
}

// shows compares what the page says with what it said when its picture was taken, or takes it.
func (b *tab) shows(name string, height int64) {
	b.Helper()
	b.until(`document.body.dataset.linked === "yes"`)
	b.run(emulation.SetDeviceMetricsOverride(1180, height, 1.5, false))
	from, _ := json.Marshal(b.Work)
	b.run(chromedp.Evaluate(`(() => { // readers needn't see where the test has its scratch directory
		const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let n; n = all.nextNode();) n.data = n.data.replaceAll(`+string(from)+`, "/home/ann/shop").replace(/^work$/, "shop");
	})()`, nil))

	var png []byte
	b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		png, err = page.CaptureScreenshot().Do(ctx)
		return err
	}))

	says := volatile.ReplaceAllString(eval[string](b, `document.querySelector("main").innerText`), "…")
	path := filepath.Join("..", "..", "docs", "pictures", name+".png")
	if *updatePictures {
		small, err := shrink(png, says)
		if err == nil {
			err = os.WriteFile(path, small, 0o644)
		}
		if err != nil {
			b.Fatal(err)
		}

		return
	}

	was, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	if said := saidBy(was); said != says {
		b.Errorf("%s isn't what the page shows\nit says:\n%s\nthe page says:\n%s\nmake it anew by: make pictures",
			path, said, says)
	}
}

// volatile is what differs from time to time and from place to place: hashes of commits, and times of the
// day.
var volatile = regexp.MustCompile(`\b[0-9a-f]{10,40}\b|\b\d\d?:\d\d(:\d\d)?\b`)
