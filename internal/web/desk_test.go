package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// patience is how long a test waits for something that must happen. No test that passes takes that long.
const patience = 3 * time.Minute

// desk is a server for ann, and a browser of hers that is signed in.
type desk struct {
	*scene.Scene
	ann    *scene.Actor
	server *Server
	listen string // on what the server listens; empty for any port
	base   string // http://127.0.0.1:port
	below  string // the path of the browser's session
	client *http.Client
}

// newDesk serves the rooms of a scene. change may change the options; it may be nil.
func newDesk(s *scene.Scene, change func(*Options)) *desk {
	s.Helper()
	d := &desk{Scene: s, ann: s.Person("ann")}
	d.serve(change)
	d.signIn(d.server.Address(addressOf(d.base), ""))
	return d
}

// serve starts a server. stop ends it before the test does.
func (d *desk) serve(change func(*Options)) (stop func()) {
	d.Helper()
	o := Options{Engine: d.ann.Engine, Tasks: d.ann.Tasks, Caller: d.ann.By, Version: "test"}
	if change != nil {
		change(&o)
	}
	d.server = New(o)
	l, err := d.server.Listen(d.Context(), cmp.Or(d.listen, "127.0.0.1:0"))
	if err != nil {
		d.Fatal(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- d.server.Serve(ctx, l) }() // until cancel

	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-over; stick.CodeOf(err) != stick.CodeCanceled {
			d.Errorf("the server ended with %v", err)
		}
	})

	d.Cleanup(stop)
	d.base = "http://" + l.Addr().String()
	return stop
}

// browser is a client that keeps cookies and follows no redirect.
func (d *desk) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.Fatal(err)
	}
	return &http.Client{
		Jar: jar, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// signIn goes on with another browser, which has opened an address.
func (d *desk) signIn(address string) answer {
	d.Helper()
	d.client, d.below = d.browser(), ""
	res, err := d.client.Get(address)
	if err != nil {
		d.Fatal(err)
	}

	for _, c := range res.Cookies() {
		d.below = strings.TrimSuffix(c.Path, "/")
	}
	return readAnswer(d.T, res)
}

// answer is what the server answers.
type answer struct {
	status int
	header http.Header
	body   string
}

func (d *desk) do(req *http.Request) answer {
	d.Helper()
	res, err := d.client.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	a := readAnswer(d.T, res)
	if to := res.Header.Get("Location"); to != "" {
		res.Header.Set("Location", upwards.ReplaceAllString(to, "/"))
	}
	a.body = fromTop(a.body)
	return a
}

// readAnswer reads a response to its end.
func readAnswer(t testing.TB, res *http.Response) answer {
	t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}

	return answer{res.StatusCode, res.Header, string(b)}
}

// at is the address of a page, or of what is public.
func (d *desk) at(path string) string {
	if strings.HasPrefix(path, enterPath) || strings.HasPrefix(path, "/static/") {
		return d.base + path
	}
	return d.base + d.below + path
}

// upwards is how a relative link begins, and relativeLink such a link or form of a page.
var (
	upwards      = regexp.MustCompile(`^\.\.?(/\.\.)*/`)
	relativeLink = regexp.MustCompile(`\b(href|action)="\.\.?(/\.\.)*/`)
)

// fromTop writes the links of a page as paths below the first page. [TestPages_Links] follows them as they
// are.
func fromTop(page string) string { return relativeLink.ReplaceAllString(page, `$1="/`) }

func (d *desk) request(method, path string, body io.Reader) *http.Request {
	d.Helper()
	req, err := http.NewRequest(method, d.at(path), body)
	if err != nil {
		d.Fatal(err)
	}
	return req
}

// page gets a page.
func (d *desk) page(path string) answer {
	d.Helper()
	return d.do(d.request("GET", path, nil))
}

// ok gets a page that must be there.
func (d *desk) ok(path string) string {
	d.Helper()
	a := d.page(path)
	if a.status != http.StatusOK {
		d.Fatalf("GET %s: %d\n%s", path, a.status, a.body)
	}
	return a.body
}

// fill sends a form as a browser without script does.
func (d *desk) fill(operation string, fields url.Values) answer {
	d.Helper()
	req := d.request("POST", "/api/"+operation, strings.NewReader(fields.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Origin", d.base)
	return d.do(req)
}

type doc = map[string]any

// call performs an operation as a program does.
func (d *desk) call(operation string, parameters any) (int, doc) {
	d.Helper()
	b, err := json.Marshal(parameters)
	if err != nil {
		d.Fatal(err)
	}
	req := d.request("POST", "/api/"+operation, bytes.NewReader(b))
	req.Header.Set("Content-Type", "application/json")
	a := d.do(req)
	var got doc
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		d.Fatalf("%s: %d %q", operation, a.status, a.body)
	}

	return a.status, got
}

// stream opens the stream of a page.
func (d *desk) stream(page string, header http.Header) *listening {
	d.Helper()
	ctx, cancel := context.WithCancel(d.Context())
	req := d.request("GET", "/live?"+url.Values{"page": {page}}.Encode(), nil).WithContext(ctx)
	for name, v := range header {
		req.Header[name] = v
	}
	c := *d.client
	c.Timeout = 0
	res, err := c.Do(req)
	if err != nil {
		d.Fatal(err)
	}

	d.Cleanup(func() {
		cancel()
		res.Body.Close()
	})

	if res.StatusCode != http.StatusOK {
		d.Fatalf("the stream of %s: %d", page, res.StatusCode)
	}
	x := &listening{d: d, page: page, got: make(chan told, 1000), close: cancel, parts: map[string]string{}}
	go func() { // until the stream ends
		defer close(x.got)
		r := bufio.NewReader(res.Body)
		var id string
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if v, ok := strings.CutPrefix(line, "id: "); ok {
				id = strings.TrimSpace(v)
			}

			if v, ok := strings.CutPrefix(line, "data: "); ok {
				t := told{id: id, at: time.Now()}
				if json.Unmarshal([]byte(v), &t.news) == nil {
					x.got <- t
				}
			}
		}
	}()

	return x
}

// listening is an open stream.
type listening struct {
	d     *desk
	page  string
	got   chan told
	close func()

	// What the page shows by the messages that the test has received.
	parts map[string]string
	rows  string
	last  time.Time
}

// told is a message of a stream.
type told struct {
	id string
	at time.Time
	news
}

// until returns the first message for which ok returns true.
func (x *listening) until(what string, ok func(told) bool) told {
	x.d.Helper()
	limit := time.After(patience)
	for {
		select {
		case t, open := <-x.got:
			if !open {
				x.d.Fatalf("the stream of %s ended before %s", x.page, what)
			}
			x.last, x.rows = t.at, x.rows+strings.Join(t.Rows, "\n")
			for _, p := range t.Parts {
				x.parts[p.ID] = fromTop(p.HTML)
			}
			if ok(t) {
				return t
			}

		case <-limit:
			x.d.Fatalf("the stream of %s didn't tell of %s; it shows %.1500v", x.page, what, x.parts)
		}
	}
}

// row waits until the timeline has a row that contains this text, and returns when it came.
func (x *listening) row(text string) time.Time {
	x.d.Helper()
	return x.shows("an event: "+text, func() bool { return strings.Contains(x.rows, text) })
}

// part waits until a part of the page contains this text, and returns when it came.
func (x *listening) part(id, text string) time.Time {
	x.d.Helper()
	return x.shows(id+" with "+text, func() bool { return strings.Contains(x.parts[id], text) })
}

// shows waits until the page is as ok wants it.
func (x *listening) shows(what string, ok func() bool) time.Time {
	x.d.Helper()
	if ok() {
		return x.last
	}
	return x.until(what, func(told) bool { return ok() }).at
}

// lacks fails if a page has one of the texts.
func lacks(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q", text)
		}
	}
}

// has fails the test unless a page contains all texts.
func has(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			_, main, _ := strings.Cut(page, "<main")
			t.Errorf("%q isn't on the page:\n%.3000s", text, main)
		}
	}
}

// addressOf is the address of a server.
func addressOf(base string) net.Addr {
	at, err := net.ResolveTCPAddr("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		panic(err)
	}
	return at
}
