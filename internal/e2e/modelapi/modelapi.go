// Package modelapi plays the model for real harnesses. It serves Anthropic's Messages, OpenAI's Responses and
// chat completions, and Gemini's API on a loopback address, and answers from a test's script. Only tests link
// it.
//
// The same script works for every harness. "Call the shell" becomes a call of Bash for Claude Code, of
// exec_command or a piece of JavaScript for Codex, of run_shell_command for Gemini CLI and Qwen Code and of
// bash for OpenCode, Copilot and pi; see [Shell], [Write], [MCP]. A test can read the harness's requests in
// one form, too: [Request].
//
//	api := modelapi.Start(t)
//	claude := api.Session("claude", modelapi.Steps(
//		modelapi.Do(modelapi.Shell("make test")),
//		modelapi.Say("done"),
//	))
//	// run the harness with claude.URL() as the address of its API
//	claude.Requests()
package modelapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Server serves the model APIs until the test ends.
type Server struct {
	t    testing.TB
	http *httptest.Server

	mu       sync.Mutex // guards sessions and their requests
	sessions map[string]*Session
}

// Session is one harness's part of the server: an address, a script, and the requests. Several harnesses can
// use one server without seeing each other's steps.
type Session struct {
	server *Server
	name   string
	script Script

	requests []*Request // guarded by server.mu
}

// Start starts a server without sessions. When the test ends, the server cancels waiting scripts and shuts
// down.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, sessions: map[string]*Session{}}

	ctx, cancel := context.WithCancel(context.Background())
	s.http = httptest.NewUnstartedServer(s)
	s.http.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	s.http.Start()

	if host, _, err := net.SplitHostPort(s.http.Listener.Addr().String()); err != nil || !net.ParseIP(host).IsLoopback() {
		t.Fatalf("the model API listens on %s, which isn't a loopback address", s.http.Listener.Addr())
	}

	t.Cleanup(func() {
		cancel()

		// A harness that has ended leaves connections behind.
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// On has the server serve on another listener, too, until the test ends.
func (s *Server) On(l net.Listener) {
	also := &http.Server{Handler: s, BaseContext: s.http.Config.BaseContext}
	go also.Serve(l) // ends when it is closed
	s.t.Cleanup(func() { also.Close() })
}

// Session adds a session. Its name must be a plain word and unique, because it is part of the address.
func (s *Server) Session(name string, script Script) *Session {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[name] != nil || name == "" || strings.ContainsAny(name, "/?#% ") {
		s.t.Fatalf("there can't be a session %q", name)
	}

	c := &Session{server: s, name: name, script: script}
	s.sessions[name] = c
	return c
}

// URL returns the base address of the API for the harness, without the version (/v1 or /v1beta).
func (c *Session) URL() string { return c.server.http.URL + "/s/" + c.name }

// URLOn is [Session.URL] on another listener.
func (c *Session) URLOn(l net.Listener) string { return "http://" + l.Addr().String() + "/s/" + c.name }

// Requests returns the requests that the script has answered so far, in order.
func (c *Session) Requests() []*Request {
	return c.recordedRequests(func(r *Request) bool { return !r.Side })
}

// SideRequests returns the other requests: for titles, token counts, lists of models, and addresses that
// belong to no model API.
func (c *Session) SideRequests() []*Request {
	return c.recordedRequests(func(r *Request) bool { return r.Side })
}

func (c *Session) recordedRequests(which func(*Request) bool) (out []*Request) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, r := range c.requests {
		if which(r) {
			out = append(out, r)
		}
	}
	return out
}

// ServeHTTP answers one request of a harness.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	path, ok := strings.CutPrefix(q.URL.Path, "/s/")
	name, rest, _ := strings.Cut(path, "/")

	s.mu.Lock()
	c := s.sessions[name]
	s.mu.Unlock()
	if !ok || c == nil {
		s.t.Errorf("the model API got %s %s, which belongs to no session", q.Method, q.URL.Path)
		http.NotFound(w, q)
		return
	}

	r, err := newRequest(q, c.name, "/"+rest)
	if err != nil {
		if q.Context().Err() == nil { // else the harness hung up, which is fine
			s.t.Errorf("session %s: %s %s can't be read: %v", c.name, q.Method, q.URL.Path, err)
		}
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}

	s.mu.Lock()
	c.requests = append(c.requests, r)
	s.mu.Unlock()
	c.answerRequest(w, q, r)
}

// answerRequest runs the script, and writes its reply in the dialect of the request.
func (c *Session) answerRequest(w http.ResponseWriter, q *http.Request, r *Request) {
	if r.api == nil || r.count {
		r.answerOther(w)
		return
	}

	said := utterance{text: sideReply(r)}
	if !r.Side {
		said = c.runScript(q.Context(), r)
	}

	if q.Context().Err() != nil {
		return // the harness hung up, or the test ended
	}
	if said.status != 0 {
		writeFailure(w, said)
		return
	}
	r.api.writeReply(w, r, said)
}

// writeFailure writes an error of the API, with the fields of each dialect.
func writeFailure(w http.ResponseWriter, said utterance) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(said.status)
	json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{
		"type": "invalid_request_error", "code": said.status, "status": "INVALID_ARGUMENT", "message": said.text,
	}})
}

// runScript runs the script and translates its reply into the harness's words. If that isn't possible, it fails the
// test and replies with a text, which ends the harness's turn.
func (c *Session) runScript(ctx context.Context, r *Request) utterance {
	reply, err := c.script(ctx, r)
	if ctx.Err() != nil {
		return utterance{}
	}

	said := utterance{text: reply.Text, status: reply.Status}
	for _, call := range reply.Calls {
		if err != nil {
			break
		}
		var one native
		one, err = call.translateFor(r)

		// The id is unique even in a conversation that another server began.
		one.id = "call_" + rand.Text()
		said.calls = append(said.calls, one)
	}

	if err != nil {
		c.server.t.Errorf("session %s: %v", c.name, err)
		return utterance{text: "The script failed: " + err.Error()}
	}
	return said
}
