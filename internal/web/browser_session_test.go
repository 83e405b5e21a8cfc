//go:build linux

package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/scene"
)

// hostilePage is what a server of another port can make a browser do to ours. It sets the [marker], asks its
// own server with all cookies, and tries to read, to listen, to show and to act at ours, by the path of the
// session as well, which it can't know.
const hostilePage = `<!doctype html><title>at work</title><body><script>
const ours = "OURS", below = "BELOW", api = ours + below + "/api/pause_room";
document.cookie = "marker=x; path=/";
const got = [];
const tell = (what) => (r) => r.text().then((text) => { got.push(what + ": " + text); });
const tries = [];
for (const path of ["/", "/enter", "/needs", "/api/list_rooms", "/live", "/static/app.js", below.slice(0, 5) + "/"])
  tries.push(fetch(path, { credentials: "include" }));
for (const path of ["/", "/enter?token=x", "/static/app.js", below + "/", below + "/needs", below + "/live?page=/"]) {
  tries.push(fetch(ours + path, { credentials: "include" }).then(tell(path)));
  tries.push(fetch(ours + path, { credentials: "include", mode: "no-cors" }).then(tell(path)));
}
tries.push(fetch(api, { method: "POST", mode: "no-cors", credentials: "include", headers: { "content-type": "application/x-www-form-urlencoded" }, body: "room_id=ROOM&reason=x" }));
tries.push(fetch(api, { method: "POST", credentials: "include", headers: { "content-type": "application/json" }, body: '{"room_id":"ROOM","reason":"x"}' }));
for (const kind of ["img", "script", "iframe"]) tries.push(new Promise((done) => {
  const e = document.createElement(kind);
  e.onload = e.onerror = done;
  e.src = ours + below + "/";
  document.body.append(e);
}));
tries.push(new Promise((done) => {
  const s = new EventSource(ours + below + "/live?page=/", { withCredentials: true });
  s.onmessage = (e) => { got.push("stream: " + e.data); s.close(); done(); };
  s.onerror = () => { s.close(); done(); };
}));
tries.push(new Promise((done) => {
  const f = document.createElement("iframe"), form = document.createElement("form");
  f.name = "inside";
  document.body.append(f, form);
  form.method = "post"; form.action = api; form.target = "inside";
  form.innerHTML = '<input name="room_id" value="ROOM"><input name="reason" value="x">';
  f.onload = done;
  form.submit();
}));
Promise.allSettled(tries).then(() => { window.got = got.filter((text) => !text.endsWith(": ")); document.title = "done"; });
</script>`

// TestBrowserOfOtherServers: a page of another port of the same host gets no cookie, no path, no page and no
// act of a session, though it tries everything, and though it is told the path.
func TestBrowserOfOtherServers(t *testing.T) {
	realharness.Chromium(t)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		t.Run(host, func(t *testing.T) {
			s := scene.New(t)
			s.Agent("claude:a").Try().Granted(1)
			d := newDesk(s, nil)
			b := d.openAt(host)
			room := string(s.Room().ID)
			e := newEavesdropper(t, func() string {
				return strings.NewReplacer("OURS", d.base, "BELOW", d.below, "ROOM", room).Replace(hostilePage)
			})
			there := e.named(host)
			// the images are of the browser's own page for a frame that is refused
			b.others = []string{there, "data:image"}

			// Our page leads there, so that the other server could get the path from the browser.
			b.run(chromedp.Evaluate(`location.href = "`+there+`/"`, nil))
			b.until(`document.title === "done"`)
			if got := eval[[]string](b, `window.got`); len(got) != 0 {
				t.Errorf("the page of another server has read %q", got)
			}

			e.hasNothing(t, strings.Trim(d.below, "/"))
			if s.Room().Paused.On() {
				t.Error("the page of another server has paused the room")
			}

			// It leads the tab to a page of the session, which shows a button. The person follows it.
			b.run(chromedp.Evaluate(`location.href = "`+d.at("/room/"+room)+`"`, nil))
			b.says("main", "Another page has led here")
			if eval[bool](b, `document.body.innerText.includes("claude")`) {
				t.Error("the page shows data")
			}

			b.click("a", "Go on")
			b.says("#turn", "claude-")
			b.until(`document.body.dataset.linked === "yes"`)
			b.run(chromedp.Reload())
			b.says("#turn", "claude-")
			b.failed = nil // the browser tells of the requests that it has blocked
		})
	}
}

// TestBrowserBeyond: by plain HTTP under a name of another machine, where a browser sends no Sec-Fetch-Site,
// forms work without script all the same, and a browser signs out.
func TestBrowserBeyond(t *testing.T) {
	realharness.Chromium(t)
	d := newDesk(scene.New(t), func(o *Options) { o.Hosts = []string{"box.example"} })
	b := d.openAt("box.example")
	b.click("button", "Another device")
	b.says("main", "/enter?token=")
	b.goTo("/")
	b.click("button", "Sign out")
	b.says("main", "Signed out")
	b.goTo("/")
	b.says("main", "run tt serve")
}

// TestBrowserHistory: of the address that let the browser in, nothing stays in the history of its tab.
func TestBrowserHistory(t *testing.T) {
	d := newDesk(scene.New(t), nil)
	b := d.open()
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, entries, err := page.GetNavigationHistory().Do(ctx)
		for _, e := range entries {
			if strings.Contains(e.URL, "token") {
				t.Errorf("the history has %s", e.URL)
			}
		}

		return err
	}))
}

// TestBrowserRestart: an open tab goes on when its server is started again. While another program has the
// port, it gets nothing of the session, and the tab says what to do.
func TestBrowserRestart(t *testing.T) {
	realharness.Chromium(t)
	s := scene.New(t)
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	dir := t.TempDir()
	keep := func(o *Options) { o.Sessions = dir }
	d := &desk{Scene: s, ann: s.Person("ann"), listen: ownAddress}
	stop := d.serve(keep)
	b := d.openAt("127.77.0.1")
	base := d.base
	b.goTo("/room/" + string(s.Room().ID))
	b.until(`document.body.dataset.linked === "yes"`)

	stop()
	b.says("#link", "reconnecting")
	stop = d.serve(keep)
	if d.base != base {
		t.Fatalf("it listens on %s instead of %s", d.base, base)
	}

	claude.Release("wrote the lexer", "write the parser")
	b.says("#timeline", "write the parser")

	stop()
	b.says("#link", "reconnecting")
	l, err := net.Listen("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}

	e := &eavesdropper{page: func() string { return "" }}
	squatter := &http.Server{Handler: e}
	go func() { _ = squatter.Serve(l) }() // until it is closed
	t.Cleanup(func() { squatter.Close() })
	b.says("#over", "something else answers at its address")
	b.says("#over", "tt serve")
	b.click("#menu a", "Needs you") // leads nowhere
	b.says("#said", "something else answers")

	for _, request := range e.requests() {
		if strings.Contains(request, strings.Trim(d.below, "/")) || strings.Contains(request, cookieName) {
			t.Errorf("another program got\n%s", request)
		}
	}
}

// TestBrowserIsOver: an open tab whose session is over says what to do, and so does one that asks later.
func TestBrowserIsOver(t *testing.T) {
	realharness.Chromium(t)
	d := newDesk(scene.New(t), nil)
	b := d.open()
	for range maxSessions {
		d.server.keys.redeemInvite(d.server.keys.makeInvite(0))
	}
	b.says("#over", "its session is over")
	b.says("#over", "run tt serve")
	b.goTo("/needs")
	b.says("main", "run tt serve")
}

// serviceWorker is a script that a page leaves in a browser. Everything that the browser asks its port for
// goes through it, and it tells where that is.
const serviceWorker = `
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));
const tell = (text) => fetch("COLLECTOR", { method: "POST", mode: "no-cors", body: text });
self.addEventListener("fetch", (e) => {
	e.respondWith(tell(e.request.url).then(() => fetch(e.request)).then((r) => {
		r.clone().text().then(tell);
		return r;
	}));
});`

// TestBrowserServiceWorker: what a page has left in the browser that had the port before sees no session. The
// address has to be opened twice.
func TestBrowserServiceWorker(t *testing.T) {
	realharness.Chromium(t)
	d := &desk{Scene: scene.New(t), listen: ownAddress}
	d.ann = d.Person("ann")
	d.serve(nil)
	b := d.openAt("127.77.0.1")
	collector := newEavesdropper(t, func() string { return "" })
	before := &eavesdropper{script: strings.ReplaceAll(serviceWorker, "COLLECTOR", collector.URL), page: func() string {
		return `<script>navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready)
			.then(() => { document.title = "left" })</script>`
	}}

	l, err := net.Listen("tcp", ownAddress)
	if err != nil {
		t.Fatal(err)
	}
	before.Server = httptest.NewUnstartedServer(before)
	before.Listener.Close()
	before.Listener = l
	before.Start()
	b.others = []string{before.URL, collector.URL}
	b.run(chromedp.Navigate(before.URL))
	b.until(`document.title === "left"`)
	d.listen = strings.TrimPrefix(before.URL, "http://")
	before.Close()

	d.serve(nil)
	address := d.server.Address(addressOf(d.base), "")
	b.run(chromedp.Navigate(address))
	b.says("main", "open it again")
	b.run(chromedp.Navigate(address))
	b.until(`document.body.dataset.linked === "yes"`)
	if eval[bool](b, `!!navigator.serviceWorker.controller`) {
		t.Error("the pages go through a service worker")
	}

	secret := strings.Split(eval[string](b, `location.pathname`), "/")[1]
	heard := collector.requests()
	if len(heard) == 0 {
		t.Error("the service worker has seen nothing")
	}

	for _, request := range heard {
		if strings.Contains(request, secret) {
			t.Errorf("the service worker has seen\n%s", request)
		}
	}
}
