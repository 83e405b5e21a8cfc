package web

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"talkingstick/internal/scene"
)

// eavesdropper is another server on this machine, such as one by which an agent shows what it has built. It
// notes all that it gets.
type eavesdropper struct {
	*httptest.Server
	page   func() string // what it answers
	script string        // what it answers where a script is asked for

	mu    sync.Mutex // guards the rest
	heard []string
}

// newEavesdropper starts one on an address of the loopback interface.
func newEavesdropper(t *testing.T, page func() string) *eavesdropper {
	e := &eavesdropper{page: page}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *eavesdropper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b strings.Builder
	_ = r.Write(&b)
	e.mu.Lock()
	e.heard = append(e.heard, b.String())
	e.mu.Unlock()

	if path.Ext(r.URL.Path) == ".js" {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, e.script)
		return
	}

	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, e.page())
}

// requests are all that it got, as text.
func (e *eavesdropper) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

// named is its address by another name of this machine.
func (e *eavesdropper) named(host string) string {
	at, err := url.Parse(e.URL)
	if err != nil {
		panic(err)
	}
	return "http://" + net.JoinHostPort(host, at.Port())
}

// marker is a cookie for all paths of a host, which every server there gets.
const marker = "marker"

// hasNothing fails the test if it got one of these secrets. It must have got the [marker], which shows that
// cookies come at all.
func (e *eavesdropper) hasNothing(t *testing.T, secrets ...string) {
	t.Helper()
	heard := e.requests()
	if !slices.ContainsFunc(heard, func(request string) bool { return strings.Contains(request, marker+"=") }) {
		t.Errorf("another server got no cookie in %d requests", len(heard))
	}

	for _, request := range heard {
		for _, secret := range append(secrets, cookieName) {
			if strings.Contains(request, secret) {
				t.Errorf("another server got %q:\n%s", secret, request)
			}
		}
	}
}

// TestSession_OtherServers: a client that sends each cookie to all ports of its host, as browsers do, sends
// that of a session to no other server of this machine.
func TestSession_OtherServers(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "localhost"} {
		t.Run(host, func(t *testing.T) {
			d := newDesk(scene.New(t), nil)
			at := addressOf(d.base).(*net.TCPAddr)
			address := strings.Replace(d.server.Address(at, ""), "127.0.0.1", host, 1)
			d.base = strings.Replace(d.base, "127.0.0.1", host, 1)
			d.signIn(address)
			has(t, d.ok("/"), "Rooms")

			d.client.Jar.SetCookies(mustParse(d.base), []*http.Cookie{{Name: marker, Value: "x", Path: "/"}})
			e := newEavesdropper(t, func() string { return "" })
			for _, path := range []string{"", "/", "/enter", "/needs", "/api/list_rooms", "/live", "/static/app.js"} {
				res, err := d.client.Get(e.named(host) + path)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
			}
			e.hasNothing(t, strings.Trim(d.below, "/"))
		})
	}
}

// TestSession_PathAndCookie: neither the path of a session nor its cookie is enough.
func TestSession_PathAndCookie(t *testing.T) {
	d := newDesk(scene.New(t), nil)
	mine, first := d.client, d.below
	cookies := mine.Jar.Cookies(mustParse(d.at("/")))
	d.signIn(d.server.Address(addressOf(d.base), ""))
	second := d.below
	if first == second || len(first) < 1+26 {
		t.Fatalf("the sessions are at %q and %q", first, second)
	}

	for _, path := range []string{
		"/", "/needs", second + "/", second + "/needs", first, "/x" + first[2:] + "/", first + "x/",
		"/" + first + "/",
	} {
		req, err := http.NewRequest("GET", d.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cookies {
			req.AddCookie(c)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if a := readAnswer(t, res); a.status != http.StatusUnauthorized || strings.Contains(a.body, "menu") {
			t.Errorf("the first session's cookie at %s: %d", path, a.status)
		}
	}

	// The cookies that other servers of this machine have set are in front of ours, or after it.
	req, err := http.NewRequest("GET", d.base+first+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(append([]*http.Cookie{{Name: cookieName, Value: "x"}}, cookies...), &http.Cookie{Name: cookieName, Value: "y"}) {
		req.AddCookie(c)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if a := readAnswer(t, res); a.status != http.StatusOK {
		t.Errorf("with cookies of others: %d", a.status)
	}
}

// TestSession_Unclean: a path that isn't written as the server writes it leads nowhere, and least of all out
// of the session.
func TestSession_Unclean(t *testing.T) {
	d := newDesk(scene.New(t), nil)
	for _, path := range []string{
		"//needs", "/needs/", "/./needs", "/../needs", "/room/../needs", "/%2e%2e/needs",
		"/room/%2e%2e/%2e%2e/needs",
	} {
		req := d.request("GET", "/", nil)
		req.URL.Opaque = "//" + req.URL.Host + d.below + path // the client would clean it
		a := d.do(req)
		if a.status != http.StatusNotFound && a.status != http.StatusUnauthorized || a.header.Get("Location") != "" {
			t.Errorf("%s: %d %s", path, a.status, a.header.Get("Location"))
		}
	}
}

// TestSession_InNoPage: no page, no part of one and no answer to a form has the path of the session.
func TestSession_InNoPage(t *testing.T) {
	s := scene.New(t)
	s.Agent("claude:a").Try().Granted(1)
	d := newDesk(s, nil)
	room := string(s.Room().ID)
	secret := strings.Trim(d.below, "/")

	answers := map[string]answer{
		"a form":         d.fill("pause_room", url.Values{"room_id": {room}, "reason": {"lunch"}, "back": {"/needs"}}),
		"a refusal":      d.fill("pause_room", url.Values{"room_id": {room}}),
		"another device": d.do(d.request("POST", "/another-device", nil)),
	}

	for _, path := range []string{
		"/", "/needs", "/inbox", "/sessions", "/tasks", "/scopes", "/room/" + room, "/nothing",
	} {
		answers[path] = d.page(path)
	}

	for what, a := range answers {
		if strings.Contains(a.body, secret) {
			t.Errorf("%s has the path of the session", what)
		}

		for name, values := range a.header {
			if strings.Contains(strings.Join(values, " "), secret) {
				t.Errorf("%s has the path of the session in its %s", what, name)
			}
		}
	}

	x := d.stream("/room/"+room, nil)
	x.until("the first message", func(told) bool { return true })
	for id, html := range x.parts {
		if strings.Contains(html, secret) {
			t.Errorf("the part %s has the path of the session", id)
		}
	}
}

func mustParse(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u
}

// TestSession_Ends: a browser that signs out, or whose session gives way to newer ones, gets nothing more.
// Its stream says what to do, and that of another browser goes on.
func TestSession_Ends(t *testing.T) {
	for name, end := range map[string]func(d *desk){
		"signs out": func(d *desk) {
			a := d.do(d.request("POST", "/sign-out", nil))
			has(t, a.body, "Signed out", "tt serve")
			if c := a.header.Get("Set-Cookie"); !strings.Contains(c, "Max-Age=0") ||
				!strings.Contains(c, "Path="+d.below+"/;") {
				t.Errorf("the browser keeps its cookie: %q", c)
			}
		},
		"gives way": func(d *desk) {
			for range maxSessions - 1 {
				d.server.keys.redeemInvite(d.server.keys.makeInvite(0))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene.New(t)
			claude := s.Agent("claude:a")
			claude.Try().Granted(1)
			d := newDesk(s, nil)
			room := "/room/" + string(s.Room().ID)
			client, below := d.client, d.below
			cookies := client.Jar.Cookies(mustParse(d.at("/")))
			mine := d.stream(room, nil)
			mine.until("the first message", func(told) bool { return true })
			d.signIn(d.server.Address(addressOf(d.base), ""))
			theirs := d.stream(room, nil)
			theirs.until("the first message", func(told) bool { return true })

			d.client, d.below = client, below
			end(d)
			over := mine.until("its end", func(n told) bool { return n.Over != nil })
			if hint, _ := over.Over.(doc)["hint"].(string); !strings.Contains(hint, "tt serve") {
				t.Errorf("the stream ends with %v", over.Over)
			}
			if _, more := <-mine.got; more {
				t.Error("the stream goes on after its end")
			}

			req := d.request("GET", "/", nil)
			req.Header.Set("Accept", "application/json")
			for _, c := range cookies {
				req.AddCookie(c)
			}
			if a := d.do(req); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "run tt serve") {
				t.Errorf("after the end: %d %s", a.status, a.body)
			}

			claude.Release("wrote the lexer", "write the parser")
			theirs.row("write the parser")
		})
	}
}
