// Package web serves the rooms to people's browsers. It is a transport: what a page shows comes from the
// picture that one monitor keeps for all viewers, or from an operation that reads, and what a person does
// there is the operation that the command line performs.
//
// Everything is a page that the server renders, so that it works without script. The script swaps parts of the page as the server sends
// them (stream.go). Who may ask is decided in guard.go and auth.go, before any page sees the request.
//
// See docs/decisions/screens-and-browser.md#pages and docs/decisions/security-of-the-browser.md.
package web

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// Options configure a server.
type Options struct {
	Engine  *engine.Engine
	Tasks   *task.Tasks
	Caller  core.Caller // as whom everybody acts who has the address with its token
	Version string
	Hosts   []string // names by which a browser may call the server, besides those of the loopback interface

	// AnyAddress lets a browser call the server by any IP address: it listens beyond the loopback interface.
	AnyAddress bool

	// Sessions is the directory in which sums of the browsers' sessions are kept, so that tabs go on when the
	// server is started again. If it is empty, they end with the server.
	Sessions string

	Now func() time.Time // nil for the real clock; for tokens, not for what pages show
}

// operations are those on rooms, logs, sessions, edits, rescues and tasks.
type operations struct {
	*engine.Engine
	*eventlog.Log
	*guard.Guard
	*restore.Restorer
	*roster.Roster
	*scopes.Scopes
	*task.Tasks
}

// Server serves people's browsers.
type Server struct {
	o            Options
	ops          operations
	keys         *keys
	monitor      *monitor.Monitor
	streams      streams
	jobs         jobs
	pages        *pages
	firstPicture chan struct{} // closed when the monitor has one

	readWithin time.Duration // a request has to be there by then
}

// New returns a server. It reads nothing before [Server.Serve].
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}

	ops := operations{
		o.Engine, o.Engine.Log, o.Engine.Guard, o.Engine.Guard.Restorer, o.Engine.Roster, o.Engine.Scopes, o.Tasks,
	}
	s := &Server{
		o:            o,
		ops:          ops,
		keys:         newKeys(o.Now, newSessionFolder(o.Sessions, o.Caller)),
		pages:        newPages(),
		firstPicture: make(chan struct{}),
		streams:      streams{most: maxStreams, taken: takeWithin},
		jobs:         jobs{patience: pagePatience},
		readWithin:   readWithin,
		monitor: monitor.New(monitor.Options{
			Operations: ops, Caller: o.Caller, Limit: maxRooms, Events: eventsShown,
		}),
	}

	// What a job has changed is seen at once, not at the monitor's next time.
	s.jobs.onEnd, s.jobs.now = s.monitor.Renew, ops.Now
	return s
}

const (
	maxRooms    = 100 // rooms that the pages list; others have a page each all the same
	eventsShown = 60  // events of a room on its page; older ones are on further pages
)

// Address returns the address that lets one browser in, once. to is the page that it leads to, "" for the
// first one.
func (s *Server) Address(at net.Addr, to string) string {
	u := url.URL{Scheme: "http", Host: at.String(), Path: enterPath}
	q := url.Values{"token": {s.keys.makeInvite(0)}}
	if to != "" {
		q.Set("to", to)
	}

	u.RawQuery = q.Encode()
	return u.String()
}

// Serve answers requests until ctx ends, or the database can't be read any more. It closes l. Requests that
// are being answered have a moment to end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	s.jobs.ctx = ctx
	s.keys.listenOn(l.Addr().String())

	// The first pages wait for the first picture.
	var looked sync.Once
	changed, stop := s.monitor.Changed()
	defer stop()

	// The goroutine ends with the first picture, or with the server.
	go func() {
		select {
		case <-changed:
			looked.Do(func() { close(s.firstPicture) })
		case <-ctx.Done():
		}
	}()

	// The monitor ends with ctx.
	watch := make(chan error, 1)
	go func() { watch <- s.monitor.Run(ctx) }()

	h := &http.Server{
		Handler:           s.rootHandler(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // a client that leaves is no news
	}

	// Serving ends when h is closed.
	served := make(chan error, 1)
	go func() { served <- h.Serve(limitConnections(l, maxConnections)) }()

	var err error
	select {
	case <-ctx.Done():
		err = stick.Errorf(stick.CodeCanceled, "interrupted")
	case err = <-watch:
		watch <- err
	case err = <-served:
	}

	// Streams end with ctx. Whoever is being answered has a moment.
	cancel()
	grace, over := context.WithTimeout(context.Background(), 2*time.Second)
	defer over()

	if h.Shutdown(grace) != nil {
		_ = h.Close()
	}

	// Nothing of the server reads the database after this.
	<-watch
	s.jobs.waitForAll()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}

	return err
}

// latestPicture returns the latest picture. Before the first one it waits for that, because an empty page
// would say that there is nothing.
func (s *Server) latestPicture(ctx context.Context) *monitor.Picture {
	select {
	case <-s.firstPicture:
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
	}

	return s.monitor.Picture()
}
