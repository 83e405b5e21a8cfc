// Package mcpserver serves the operations of package engine as tools of the Model Context Protocol,
// for harnesses that reach tools more easily than a command line, and for shells in sandboxes that
// can't write the database. It does nothing that an operation doesn't do.
package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// Options are what a server needs of its surroundings.
type Options struct {
	Engine  *engine.Engine
	Tasks   *task.Tasks
	Version string

	// Caller tells who makes a call.
	Caller func(Call) (core.Caller, error)

	// All serves every tool and not only those that an agent needs all the time.
	All bool

	// Wait is how long a wait lasts at most where its caller doesn't say: as long as every
	// harness lets a tool take.
	Wait time.Duration

	// Progress is how often a wait that was given a progress token says that it still runs; zero
	// for every ten seconds.
	Progress time.Duration
}

// Call is what a call says of its caller.
type Call struct {
	As   string         // agent_id_override
	Meta map[string]any // the harness's own remarks
}

// Run serves one client on a pair of streams until the client closes its side or ctx ends.
func Run(ctx context.Context, o Options, in io.ReadCloser, out io.WriteCloser) error {
	return newServer(ctx, o).Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

// instructions are what a harness tells its model of the server.
const instructions = "Several agents share this workspace; only the one whose turn it is may change files. " +
	"Before changing any: wait_for_turn until status is your_turn, again when it answers not_yet. " +
	"Then work, and end the turn with release_stick and a real handoff. Events and messages never give the turn."

// newServer makes a server whose calls end with ctx at the latest.
func newServer(ctx context.Context, o Options) *mcp.Server {
	if o.Progress == 0 {
		o.Progress = 10 * time.Second
	}
	s := &server{ctx: ctx, o: o, unconfirmed: map[stick.AgentID]engine.WaitForTurnResult{}}
	m := mcp.NewServer(&mcp.Implementation{Name: "talking-stick", Title: "Talking Stick", Version: o.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	for _, t := range tools {
		if t.kind&always != 0 || o.All {
			m.AddTool(&mcp.Tool{Name: t.name, Description: t.description, InputSchema: t.schema(), Annotations: t.kind.hints()}, s.handler(t))
		}
	}
	return m
}

// server is a server of one client.
type server struct {
	ctx context.Context // the server's own: the SDK waits for calls that run, and doesn't end them
	o   Options

	mu sync.Mutex
	// unconfirmed holds the last events that a wait answered with. That the caller has them shows when
	// it calls again; an answer that got lost is given again instead.
	unconfirmed map[stick.AgentID]engine.WaitForTurnResult
}

// handler performs calls of a tool. Failures are answers of the tool, with the same fields as on
// every other surface, so that the model sees them.
func (s *server) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		stop := s.progress(ctx, req)
		defer stop()
		result, err := s.call(ctx, t, req)
		if err != nil {
			return answer(stick.AsError(err), true)
		}
		return answer(result, false)
	}
}

func (s *server) call(ctx context.Context, t tool, req *mcp.CallToolRequest) (any, error) {
	arguments, as, err := t.arguments(req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	by, err := s.o.Caller(Call{As: as, Meta: req.Params.Meta})
	if err != nil {
		return nil, err
	}
	if err := s.delivered(ctx, by); err != nil {
		return nil, err
	}
	result, err := t.run(ctx, s, by, arguments)
	waited, ok := result.(engine.WaitForTurnResult)
	if ok && err == nil && len(waited.Events) > 0 && ctx.Err() == nil { // nobody gets the answer of a call that was cancelled
		s.mu.Lock()
		s.unconfirmed[waited.AgentID] = waited
		s.mu.Unlock()
	}
	return result, err
}

// delivered notes that the caller has got what its last wait answered with.
func (s *server) delivered(ctx context.Context, by core.Caller) error {
	s.mu.Lock()
	waiting := len(s.unconfirmed) > 0
	s.mu.Unlock()
	if !waiting {
		return nil
	}
	me, err := s.o.Engine.Whoami(ctx, engine.WhoamiParams{Caller: by})
	if err != nil {
		return err
	}
	s.mu.Lock()
	res, ok := s.unconfirmed[me.AgentID]
	delete(s.unconfirmed, me.AgentID)
	s.mu.Unlock()
	if !ok {
		return nil
	}
	return s.o.Engine.Delivered(ctx, res)
}

// progress says from time to time that a call still runs, if the client wants to hear it.
func (s *server) progress(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ends with the call
		defer close(done)
		tick := time.NewTicker(s.o.Progress)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-tick.C:
				_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n)})
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// answer makes a tool's answer of a result or a failure.
func answer(v any, failed bool) (*mcp.CallToolResult, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}, StructuredContent: json.RawMessage(b), IsError: failed,
	}, nil
}
