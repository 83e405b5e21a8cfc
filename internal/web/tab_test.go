//go:build linux

package web

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"talkingstick/internal/e2e/realharness"
)

// tab is the only page of a browser of its own, signed in at a desk. A page behind another one would get no
// frames: Chromium then answers neither a key nor a wish for a picture.
type tab struct {
	*desk
	ctx context.Context

	mu      sync.Mutex // guards the rest
	others  []string   // whom the page may ask beside our server
	foreign []string   // what the page has asked others for
	failed  []string   // what its script has thrown, and what the policy has blocked
}

// open starts a browser, which reaches nothing but this machine and ends with the test, and opens a tab. The
// viewport is that of a desk.
func (d *desk) open() *tab { return d.openAt("127.0.0.1") }

// openAt does so where the browser calls the server by another name or address of this machine.
func (d *desk) openAt(host string) *tab {
	d.Helper()
	address := strings.Replace(d.server.Address(addressOf(d.base), ""), "//127.0.0.1:", "//"+host+":", 1)
	d.base = strings.Replace(d.base, "//127.0.0.1:", "//"+host+":", 1)
	rules := "MAP localhost 127.0.0.1, MAP box.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE 127.77.0.1"
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(realharness.Chromium(d.T)), chromedp.UserDataDir(d.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("host-resolver-rules", rules),
		chromedp.WSURLReadTimeout(patience))

	ctx, over := context.WithTimeout(context.Background(), 3*patience)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	// it logs what it doesn't know of a newer browser
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	b := &tab{desk: d, ctx: ctx}
	d.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // it waits for the end of the browser
		cancel()
		stop()
		over()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, url := range b.foreign {
			d.Errorf("the page asked for %s", url)
		}
		for _, what := range b.failed {
			d.Errorf("the page's script: %s", what)
		}
	})

	chromedp.ListenTarget(ctx, b.hear)
	b.run(network.Enable(), runtime.Enable(), emulation.SetFocusEmulationEnabled(true))
	b.size(1280, 900)
	b.run(chromedp.Navigate(address))
	b.until(`location.pathname.endsWith("/") && document.body.dataset.linked === "yes"`)
	d.below = strings.TrimSuffix(eval[string](b, `location.pathname`), "/")
	return b
}

// hear notes what a page must not do.
func (b *tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		isOthers := func(other string) bool { return strings.HasPrefix(ev.Request.URL, other+"/") }
		if u := ev.Request.URL; !isOthers(b.base) && !slices.ContainsFunc(b.others, isOthers) && u != "about:blank" {
			b.foreign = append(b.foreign, u)
		}

	case *runtime.EventExceptionThrown:
		b.failed = append(b.failed, ev.ExceptionDetails.Error())
	case *page.EventJavascriptDialogOpening:
		b.failed = append(b.failed, "a dialog: "+ev.Message)
	}
}

func (b *tab) run(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.fatal("%v", err)
	}
}

// fatal fails the test with what the page shows.
func (b *tab) fatal(format string, args ...any) {
	b.Helper()
	var text string
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), 10*time.Second)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Evaluate(`location.href + "\n" + document.body.innerText`, &text))
	b.Fatalf("%s\nthe page shows:\n%.4000s", fmt.Sprintf(format, args...), text)
}

func (b *tab) goTo(path string) {
	b.Helper()
	b.run(chromedp.Navigate(b.at(path)))
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string) (v T) {
	b.Helper()
	b.run(chromedp.Evaluate(expression, &v))
	return v
}

// until waits until an expression is true. It looks when the page changes or is painted, also when another
// page comes.
func (b *tab) until(condition string) {
	b.Helper()
	script := `new Promise((done) => {
		const holds = () => { try { return !!(` + condition + `) } catch { return false } };
		if (holds()) return done(true);
		const o = new MutationObserver(() => { if (holds()) { o.disconnect(); done(true) } });
		o.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		addEventListener("load", () => { if (holds()) done(true) });
		new PerformanceObserver(() => { if (holds()) done(true) }).observe({ type: "paint" });
	})`

	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		var ok bool
		err := chromedp.Run(ctx,
			chromedp.Evaluate(script, &ok, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
				return p.WithAwaitPromise(true)
			}))
		switch {
		case err == nil && ok:
			return
		case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
			b.fatal("it never holds that %s", condition)
		} // else the page went away meanwhile
	}
}

// says waits until an element shows a text.
func (b *tab) says(selector, text string) {
	b.Helper()
	s, _ := json.Marshal(selector)
	t, _ := json.Marshal(text)
	b.until(fmt.Sprintf(`[...document.querySelectorAll(%s)].some((e) => e.innerText.includes(%s))`, s, t))
}

// click clicks the control of this text.
func (b *tab) click(selector, text string) {
	b.Helper()
	s, _ := json.Marshal(selector)
	t, _ := json.Marshal(text)
	find := fmt.Sprintf(
		`[...document.querySelectorAll(%s)].find((e) => e.innerText.trim().startsWith(%s) && e.checkVisibility())`,
		s, t,
	)
	for clicked := false; !clicked; { // another page may come in between
		b.until(find)
		clicked = eval[bool](b, `((e) => e ? (e.click(), true) : false)(`+find+`)`)
	}
}

// loads does what brings another page, and waits for that. A key or a click on the page before it would be
// lost.
func (b *tab) loads(do func()) {
	b.Helper()
	b.run(chromedp.Evaluate(`window.before = true`, nil))
	do()
	b.until(`!window.before && document.body.dataset.linked`)
}

// press presses keys, one after the other. A browser drops those that come before it has painted the page.
func (b *tab) press(keys ...string) {
	b.Helper()
	b.until(`performance.getEntriesByType("paint").length`)
	for _, k := range keys {
		b.run(chromedp.KeyEvent(k))
	}
}

func (b *tab) size(width, height int64) {
	b.Helper()
	b.run(emulation.SetDeviceMetricsOverride(width, height, 1, width < 600))
}

func (b *tab) dark(on bool) {
	b.Helper()
	scheme := "light"
	if on {
		scheme = "dark"
	}
	b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
	}))
}

// picture keeps a picture of the whole page as an artefact of the test, where somebody asked for artefacts.
// No test is about it.
func (b *tab) picture(name string) {
	b.Helper()
	if flag.Lookup("test.artifacts").Value.String() != "true" {
		return
	}

	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	var png []byte
	err := chromedp.Run(ctx, chromedp.FullScreenshot(&png, 100))
	if err == nil {
		err = os.WriteFile(filepath.Join(b.ArtifactDir(), name+".png"), png, 0o600)
	}
	if err != nil {
		b.Logf("no picture %s: %v", name, err)
	}
}

// fits fails the test if a page is wider than the window.
func (b *tab) fits(t *testing.T, what string) {
	t.Helper()
	var wide struct {
		Page, Window int
		What         string
	}

	b.run(chromedp.Evaluate(`({ page: document.documentElement.scrollWidth, window: document.documentElement.clientWidth,
		what: [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest(".scroll, .output, .board")).slice(0, 3).map((e) => e.outerHTML.slice(0, 160)).join("\n") })`, &wide))
	if wide.Page > wide.Window {
		t.Errorf("%s is %d wide in a window of %d:\n%s", what, wide.Page, wide.Window, wide.What)
	}
}

// violations runs axe-core, which the page has loaded, and fails the test for what keeps people from using
// the page.
func (b *tab) violations(t *testing.T, options, what string) {
	t.Helper()
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}

	b.run(chromedp.Evaluate(`axe.run(document, `+options+`).then((r) => r.violations)`, &found,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	for _, v := range found {
		if v.Impact != "serious" && v.Impact != "critical" {
			t.Logf("%s: %s (%s)", what, v.Help, v.Impact)
			continue
		}

		for _, n := range v.Nodes {
			t.Errorf("%s: %s (%s, %s)\n%.300s\n%s", what, v.Help, v.ID, v.Impact, n.HTML, n.FailureSummary)
		}
	}
}
