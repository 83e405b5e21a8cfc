package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"talkingstick/stick"
)

const (
	maxBody        = 1 << 20 // bytes of a request
	maxConnections = 4096

	// sendBuffer is how many bytes of the system's a connection may fill. It would give some megabytes to
	// each that doesn't read.
	sendBuffer = 128 << 10

	readWithin  = 20 * time.Second // a request has to be there by then
	writeWithin = time.Minute      // a page has to be taken by then
)

// contentPolicy is what a page may load and do: nothing from elsewhere, and no script that stands in a page.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guardPages lets only those requests through to the pages that a browser of a person makes from our own
// pages, and those of programs that have a session. What is public everybody gets. It bounds how long each
// request may take.
func (s *Server) guardPages(public, pages http.Handler) http.Handler {
	inSession := s.inSession(pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header(), r)
		s.limitRequest(w, r)

		switch {
		case !s.allowsHost(r.Host):
			s.refuseRequest(w, r, http.StatusMisdirectedRequest, stick.Errorf(stick.CodePersonOnly, "this server isn't called %s", stick.Clip(r.Host, 80)).
				Hintf("to let it be called that: %s", stick.Cmd("tt serve --host <host>", hostOf(r.Host))))
		case r.URL.Path == enterPath:
			// The address may be followed out of another site's page, such as a web mail.
			public.ServeHTTP(w, r)
		case isForeign(r) && isTabNavigation(r):
			s.renderPage(w, r, http.StatusOK, "visit", &view{Title: "Welcome"})
		case isForeign(r):
			s.refuseRequest(w, r, http.StatusForbidden, stick.Errorf(stick.CodePersonOnly, "the request comes from a page of another site"))
		case isStatic[r.URL.Path]:
			public.ServeHTTP(w, r)
		default:
			inSession.ServeHTTP(w, r)
		}
	})
}

// setHeaders says what a browser may do with an answer.
func setHeaders(h http.Header, r *http.Request) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", referrerPolicy(r))
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// referrerPolicy keeps the path of a session out of every Referer. Without a referrer a browser hides, too,
// from which origin a form comes, and only Sec-Fetch-Site says that it is ours. By plain HTTP beyond this
// machine there is no such header, so a form has to name its origin there.
func referrerPolicy(r *http.Request) string {
	if schemeOf(r) == "https" || isLoopback(hostOf(r.Host)) {
		return "no-referrer"
	}
	return "strict-origin"
}

// limitRequest bounds how long a request and its answer may take, and how much it may send.
func (s *Server) limitRequest(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	// A test's recorder has no deadlines.
	_ = c.SetReadDeadline(time.Now().Add(s.readWithin))
	_ = c.SetWriteDeadline(time.Now().Add(writeWithin))
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
}

// inSession shows the pages to those who have a session, at the paths that they have without it.
func (s *Server) inSession(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sess, ok := s.keys.sessionOf(r)
		if !ok {
			s.refuseRequest(w, r, http.StatusUnauthorized, errNotSignedIn())
			return
		}

		// The pages know their paths without that of the session.
		http.StripPrefix("/"+sess.path, pages).ServeHTTP(w, withSession(r, sess))
	})
}

// errNotSignedIn says what a browser without a session does, or one whose session is over.
func errNotSignedIn() *stick.Error {
	return stick.Errorf(stick.CodePersonOnly, "this browser isn't signed in, or its session is over").
		Hintf("run %s, which prints an address that signs a browser in", stick.Cmd("tt serve"))
}

// isStatic are the paths of files that need no session.
var isStatic = map[string]bool{
	"/static/style.css": true, "/static/app.js": true, "/static/icon.svg": true, "/static/icon-needs.svg": true,
}

// allowsHost reports whether a browser may call the server by this name. A page of another site can have its
// name lead here, but can't change the name that the browser sends. Ports may differ: a tunnel has its own.
func (s *Server) allowsHost(host string) bool {
	name := hostOf(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return isLoopback(name) || s.o.AnyAddress || slices.Contains(s.o.Hosts, name)
	}
	return isLoopback(name) || slices.ContainsFunc(s.o.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// isLoopback reports whether a name or an address is of the loopback interface.
func isLoopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return strings.EqualFold(name, "localhost")
	}
	return ip.IsLoopback()
}

// hostOf is a host without its port.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// isForeign reports whether a page of another origin makes a request, as far as the browser says where it
// comes from. Another port is another origin, though of the same site. It holds for requests that only read,
// too: nobody else's page has any business here.
func isForeign(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch site {
	case "", "none", "same-origin":
		// Nothing is said, a person has typed or opened the address, or it is our page.
	default:
		return true
	}

	switch origin {
	case "":
		return false
	case "null":
		// It is a form of ours, see [referrerPolicy], or a page that hides its origin.
		return site != "same-origin"
	}

	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}

// isTabNavigation reports whether a request shows a page in a tab of its own, where no other page can look
// into it.
func isTabNavigation(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return reads && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// limitConnections returns a listener that has only so many connections open at a time. Further ones wait in
// the system's queue.
func limitConnections(l net.Listener, n int) net.Listener {
	return &limitedListener{Listener: l, free: make(chan struct{}, n), closed: make(chan struct{})}
}

type limitedListener struct {
	net.Listener
	free   chan struct{} // has a value for each open connection
	closed chan struct{}
	once   sync.Once
}

func (l *limitedListener) Accept() (net.Conn, error) {
	// A place is taken before the connection, so that the system's queue holds the others.
	select {
	case l.free <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}

	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}

	// A browser that doesn't read would fill megabytes of the system's.
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer)
	}

	return &countedConn{Conn: c, free: l.free}, nil
}

func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type countedConn struct {
	net.Conn
	free chan struct{}
	once sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { <-c.free })
	return c.Conn.Close()
}
