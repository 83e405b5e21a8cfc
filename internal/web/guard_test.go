package web

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/scene"
)

// TestOneBrowserForAnAddress: an address lets one browser in, once. Nobody else sees anything.
func TestOneBrowserForAnAddress(t *testing.T) {
	d := newDesk(scene.New(t), nil)
	at, err := url.Parse(d.base)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := net.ResolveTCPAddr("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}

	address := d.server.Address(addr, "/needs")
	mine, below := d.client, d.below
	for name, c := range map[string]struct {
		path string
		want int
	}{
		"no token": {"/enter", 401}, "a wrong token": {"/enter?token=" + rand.Text(), 401},
		"a page": {"/", 401}, "a stream": {"/live?page=/", 401},
		"no page": {"/nothing", 401}, "the style": {"/static/style.css", 200},
		"all styles": {"/static/", 401}, "beside the styles": {"/static/../server.go", 401},
	} {
		d.client = d.browser()
		if got := d.page(c.path); got.status != c.want {
			t.Errorf("%s: %d, want %d", name, got.status, c.want)
		}
	}

	d.client = d.browser()
	for _, dest := range []string{"iframe", "image", "empty"} {
		req := d.request("GET", strings.TrimPrefix(address, d.base), nil)
		req.Header.Set("Sec-Fetch-Dest", dest)
		if a := d.do(req); a.status != 403 || a.header.Get("Set-Cookie") != "" {
			t.Errorf("the address as %s: %d", dest, a.status)
		}
	}

	d.do(d.request("HEAD", strings.TrimPrefix(address, d.base), nil)) // as something does that looks at links
	first := d.signIn(address)
	cookie := first.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=" + d.below + "/;"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q isn't %s", cookie, want)
		}
	}

	has(t, first.body, "url="+d.below+"/needs")
	has(t, d.ok("/needs"), "Nothing needs you")
	d.client = d.browser()
	if got := d.do(d.request("GET", strings.TrimPrefix(address, d.base), nil)); got.status != 401 ||
		!strings.Contains(got.body, "already used") {
		t.Errorf("the same address again: %d\n%s", got.status, got.body)
	}

	d.client, d.below = mine, below
	has(t, d.ok("/"), "Rooms")

	// A browser that is in makes an address for another one.
	made := d.do(d.request("POST", "/another-device", nil))
	_, token, _ := strings.Cut(made.body, "/enter?token=")
	token, _, _ = strings.Cut(token, "<")
	if got := d.signIn(d.at("/enter?token=" + token)); got.status != 200 {
		t.Errorf("another device: %d", got.status)
	}
	if got := d.page("/"); got.status != 200 {
		t.Errorf("its first page: %d", got.status)
	}
}

// TestInvitationsEnd: an invitation of a page ends after ten minutes, the first one stays, and their number
// is bounded.
func TestInvitationsEnd(t *testing.T) {
	now := time.Unix(1e9, 0)
	k := newKeys(func() time.Time { return now }, sessionFolder{})
	first, late := k.makeInvite(0), k.makeInvite(inviteFor)
	now = now.Add(inviteFor + time.Second)
	if _, ok := k.redeemInvite(late); ok {
		t.Error("an old invitation is good")
	}

	for range 10 * maxInvites {
		k.makeInvite(inviteFor)
	}
	if len(k.invites) > maxInvites {
		t.Errorf("there are %d invitations", len(k.invites))
	}

	session, ok := k.redeemInvite(first)
	if !ok || !k.useSession(session) {
		t.Error("the first invitation isn't good")
	}

	for range maxSessions {
		if session, ok = k.redeemInvite(k.makeInvite(0)); !ok {
			t.Fatal("an invitation isn't good")
		}
	}

	if len(k.sessions) != maxSessions || !k.useSession(session) {
		t.Errorf("there are %d sessions", len(k.sessions))
	}
}

// TestWhoeverIsElsewhere: other sites get nothing: neither by another name of this machine, nor by requests
// of their pages.
func TestWhoeverIsElsewhere(t *testing.T) {
	d := newDesk(scene.New(t), func(o *Options) { o.Hosts = []string{"box.example.ts.net"} })
	port := d.base[strings.LastIndexByte(d.base, ':'):]
	for _, c := range []struct {
		name, method, path string
		host, origin, site string
		want               int
	}{
		{"as it is", "GET", "/", "", "", "", 200},
		{"localhost, where the browser has no session", "GET", "/", "localhost" + port, "", "", 401},
		{"through a tunnel with another port", "GET", "/", "localhost:9000", "", "", 401},
		{"localhost in capitals", "GET", "/", "LOCALHOST" + port, "", "", 401},
		{"a name that was allowed", "GET", "/", "box.example.ts.net", "", "", 401},
		{"the same with another case", "GET", "/", "Box.Example.TS.net:443", "", "", 401},
		{"DNS rebinding", "GET", "/", "evil.example" + port, "", "", 421},
		{"a name that ends like one of ours", "GET", "/", "evil-localhost" + port, "", "", 421},
		{"an address of another machine", "GET", "/", "192.0.2.1" + port, "", "", 421},
		{"no name", "GET", "/", ".", "", "", 421},
		{"a stream for another site's page", "GET", "/live?page=/", "", "http://evil.example", "", 403},
		{"another site's page acts", "POST", "/api/list_rooms", "", "http://evil.example", "", 403},
		{"the same port of another name", "POST", "/api/list_rooms", "", "http://evil.example" + port, "", 403},
		{"a page of another program on this machine", "POST", "/api/list_rooms", "", "http://127.0.0.1:1", "", 403},
		{"a sandboxed frame", "POST", "/api/list_rooms", "", "null", "", 403},
		{"the browser says it is cross-site", "POST", "/api/list_rooms", "", "", "cross-site", 403},
		{"the browser says it is of the same site, not origin", "POST", "/api/list_rooms", "", "", "same-site", 403},
		{"our own page", "POST", "/api/list_rooms", "", "self", "same-origin", 200},
		{"our own form, which hides its origin", "POST", "/api/list_rooms", "", "null", "same-origin", 200},
		{"a program with the cookie", "POST", "/api/list_rooms", "", "", "", 200},
		{"another site's page reads", "GET", "/", "", "", "cross-site", 403},
		{"a page of another port reads", "GET", "/needs", "", "", "same-site", 403},
		{"a page of another port listens", "GET", "/live?page=/", "", "", "same-site", 403},
		{"a page of another port has our style", "GET", "/static/style.css", "", "", "same-site", 403},
		{"a relation that nobody knows", "GET", "/", "", "", "in-law", 403},
		{"an address that somebody has typed", "GET", "/", "", "", "none", 200},
		{"our own page reads", "GET", "/", "", "", "same-origin", 200},
		{"another site's page has the address of an invitation", "GET", "/enter?token=x", "", "", "cross-site", 401},
	} {
		req := d.request(c.method, c.path, nil)
		if c.method == "POST" {
			req = d.request(c.method, c.path, strings.NewReader("{}"))
			req.Header.Set("Content-Type", "application/json")
		}

		if c.host != "" {
			req.Host = c.host
		}
		if c.origin == "self" {
			c.origin = d.base
		}
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		if c.site != "" {
			req.Header.Set("Sec-Fetch-Site", c.site)
		}
		a, err := d.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}

		a.Body.Close() // unread: a stream that is let through wouldn't end
		if a.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.name, a.StatusCode, c.want)
		}

		for name := range a.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: it answers with %s", c.name, name)
			}
		}
	}
}

// TestForeignVisit: whoever follows a link of another site gets a page with one button and without data, with
// a session and without. Nothing but a tab of its own shows it.
func TestForeignVisit(t *testing.T) {
	s := scene.New(t)
	s.Agent("claude:a").Try().Granted(1)
	d := newDesk(s, nil)
	stranger := d.browser()

	visit := map[string]string{
		"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
	}
	for _, c := range []struct {
		name, method, path, header, value string
		want                              int
	}{
		{"a link of another port's page", "GET", "/", "", "", 200},
		{"a link of another site's page", "GET", "/room/" + string(s.Room().ID), "Sec-Fetch-Site", "cross-site", 200},
		{"a link to nothing", "GET", "/nothing", "", "", 200},
		{"a look at a link", "HEAD", "/", "", "", 200},
		{"a frame", "GET", "/", "Sec-Fetch-Dest", "iframe", 403},
		{"an image", "GET", "/", "Sec-Fetch-Mode", "no-cors", 403},
		{"a form", "POST", "/api/list_rooms", "", "", 403},
	} {
		for _, client := range []*http.Client{d.client, stranger} {
			req := d.request(c.method, c.path, nil)
			for name, value := range visit {
				req.Header.Set(name, value)
			}
			if c.header != "" {
				req.Header.Set(c.header, c.value)
			}
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}

			a := readAnswer(t, res)
			if a.status != c.want {
				t.Errorf("%s: %d, want %d", c.name, a.status, c.want)
			}

			for _, bad := range []string{`id="menu"`, "claude", "app.js", strings.Trim(d.below, "/")} {
				if strings.Contains(a.body, bad) {
					t.Errorf("%s: the page has %s", c.name, bad)
				}
			}

			if c.want == 200 && c.method == "GET" && strings.Count(a.body, "<a ") != 1 {
				t.Errorf("%s: the page is\n%s", c.name, a.body)
			}
		}
	}
}

// failing is a listener out of file descriptors until it gets a connection.
type failing struct {
	net.Listener
	next net.Conn
}

func (f *failing) Accept() (net.Conn, error) {
	if f.next == nil {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return f.next, nil
}

// TestAcceptFails: what fails to become a connection takes no place of one, so that the server goes on when
// there are file descriptors again.
func TestAcceptFails(t *testing.T) {
	f := &failing{}
	l := limitConnections(f, 1)
	for range 3 {
		if c, err := l.Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Fatalf("%v, %v", c, err)
		}
		if n := len(l.(*limitedListener).free); n != 0 {
			t.Fatalf("after a failure %d places are taken", n)
		}
	}

	here, there := net.Pipe()
	defer there.Close()
	f.next = here
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(l.(*limitedListener).free); n != 1 {
		t.Errorf("a connection takes %d places", n)
	}

	c.Close()
	c.Close()
	if n := len(l.(*limitedListener).free); n != 0 {
		t.Errorf("after its end %d places are taken", n)
	}
}

// TestHeaders: every answer says that a page loads nothing from elsewhere, and runs no script that stands in
// it.
func TestHeaders(t *testing.T) {
	d := newDesk(scene.New(t), nil)
	for _, path := range []string{"/", "/nothing", "/static/app.js", "/room/none"} {
		h := d.page(path).header
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "form-action 'self'",
		} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy %q lacks %s", path, csp, want)
			}
		}

		if strings.Contains(csp, "unsafe") ||
			h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

// TestReferrerPolicy: the path of a session is in no Referer. A form names its origin where the browser says
// nothing else of it.
func TestReferrerPolicy(t *testing.T) {
	for _, c := range []struct{ host, proto, want string }{
		{"127.0.0.1:8321", "", "no-referrer"},
		{"[::1]:8321", "", "no-referrer"},
		{"localhost:9000", "", "no-referrer"},
		{"box.example.ts.net", "https", "no-referrer"},
		{"192.0.2.1:8321", "", "strict-origin"},
		{"box.example.ts.net:8321", "", "strict-origin"},
	} {
		r := &http.Request{Host: c.host, Header: http.Header{"X-Forwarded-Proto": {c.proto}}}
		if got := referrerPolicy(r); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.host, c.proto, got, c.want)
		}
	}
}

// TestBodies: a request that is too large is refused, and not kept.
func TestBodies(t *testing.T) {
	d := newDesk(scene.New(t), nil)
	endless := io.LimitReader(zeros{}, 1<<30)
	req := d.request("POST", "/api/list_rooms", endless)
	req.Header.Set("Content-Type", "application/json")
	res, err := d.client.Do(req)
	if err == nil { // the server may close the connection before it is read
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("a body of a gigabyte: %d", res.StatusCode)
		}
		res.Body.Close()
	}

	for kind, body := range map[string]string{
		"text/plain": "{}", "multipart/form-data; boundary=x": "--x--", "": "{}",
	} {
		req := d.request("POST", "/api/list_rooms", strings.NewReader(body))
		req.Header.Set("Content-Type", kind)
		if a := d.do(req); a.status != 400 {
			t.Errorf("a body of kind %q: %d", kind, a.status)
		}
	}
}

// TestBodies_Late: a request whose body doesn't come is refused, and the server has no fault.
func TestBodies_Late(t *testing.T) {
	d := newDesk(scene.New(t), nil)
	d.server.readWithin = time.Millisecond
	for _, kind := range []string{"application/json", "application/x-www-form-urlencoded"} {
		body, end := io.Pipe()
		t.Cleanup(func() { end.Close() })
		req := d.request("POST", "/api/list_rooms", body)
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Accept", "application/json")
		if a := d.do(req); a.status != http.StatusRequestTimeout || !strings.Contains(a.body, "wasn't complete") {
			t.Errorf("a late body of kind %q: %d %s", kind, a.status, a.body)
		}
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
