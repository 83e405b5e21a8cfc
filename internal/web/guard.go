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
	sendBuffer     = 128 << 10        // bytes of the system's that a connection may fill; it would give some megabytes to each that doesn't read
	readWithin     = 20 * time.Second // a request has to be there by then
	writeWithin    = time.Minute      // a page has to be taken by then
)

// policy is what a page may load and do: nothing from elsewhere, and no script that stands in a page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard lets only those requests through to the pages that a browser of a person makes from our own pages, and those of programs that have
// a session. What is public everybody gets. It bounds how long each request may take.
func (s *Server) guard(public, pages http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, http.StatusForbidden, stick.Errorf(stick.CodePersonOnly, "the request comes from a page of another site"))
	}))
	checked := cross.Handler(s.inSession(pages))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(s.readWithin)) // a test's recorder has none
		_ = c.SetWriteDeadline(time.Now().Add(writeWithin))
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		switch {
		case !s.allowsHost(r.Host):
			s.refuse(w, r, http.StatusMisdirectedRequest, stick.Errorf(stick.CodePersonOnly, "this server isn't called %s", stick.Clip(r.Host, 80)).
				Hintf("if it should be: %s", stick.Cmd("tt serve --host <host>", hostOf(r.Host))))
		case !sameOrigin(r):
			s.refuse(w, r, http.StatusForbidden, stick.Errorf(stick.CodePersonOnly, "the request comes from a page of another site"))
		case isPublic[r.URL.Path]:
			public.ServeHTTP(w, r)
		default:
			checked.ServeHTTP(w, r)
		}
	})
}

// inSession shows the pages to those who have a session, at the paths that they have without it.
func (s *Server) inSession(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one, ok := s.keys.sessionOf(r)
		if !ok {
			s.refuse(w, r, http.StatusUnauthorized, stick.Errorf(stick.CodePersonOnly, "this browser isn't signed in, or its session is over").
				Hintf("run %s, which prints an address that lets a browser in", stick.Cmd("tt serve")))
			return
		}
		http.StripPrefix("/"+one.path, pages).ServeHTTP(w, r)
	})
}

// isPublic are the paths that need no session.
var isPublic = map[string]bool{enterPath: true, "/static/style.css": true, "/static/app.js": true, "/static/icon.svg": true}

// allowsHost reports whether a browser may call the server by this name. A page of another site can have its name lead here, but can't
// change the name that the browser sends. Ports may differ: a tunnel has its own.
func (s *Server) allowsHost(host string) bool {
	name := hostOf(host)
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.IsLoopback() || s.o.AnyAddress || slices.Contains(s.o.Hosts, name)
	}
	return strings.EqualFold(name, "localhost") || slices.ContainsFunc(s.o.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// hostOf is a host without its port.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// sameOrigin reports whether the page that makes a request is one of ours, if the browser says which it is. It holds for requests that only
// read, too: nobody else's page has any business here.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}

// atMost is a listener that has only so many connections open at a time. Further ones wait in the system's queue.
func atMost(l net.Listener, n int) net.Listener {
	return &limited{Listener: l, free: make(chan struct{}, n), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	free   chan struct{} // has a value for each open connection
	closed chan struct{}
	once   sync.Once
}

func (l *limited) Accept() (net.Conn, error) {
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
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer)
	}
	return &counted{Conn: c, free: l.free}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type counted struct {
	net.Conn
	free chan struct{}
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() { <-c.free })
	return c.Conn.Close()
}
