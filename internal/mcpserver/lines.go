package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest line that is read. No call needs as much.
const maxLine = 16 << 20

// lineConn is a connection of JSON-RPC messages, one a line. Unlike the SDK's own it goes on after a line
// that isn't a message, and sends no response to a call that was cancelled, as the protocol asks for.
type lineConn struct {
	in  io.ReadCloser
	out io.WriteCloser

	incoming chan []jsonrpc.Message
	end      error // why there are no more; read it when incoming is closed
	queue    []jsonrpc.Message
	closed   chan struct{}
	once     sync.Once

	mu   sync.Mutex          // guards out and open
	open map[jsonrpc.ID]bool // the calls without a response; true if its client has cancelled it
}

// Connect begins to read.
func (c *lineConn) Connect(context.Context) (mcp.Connection, error) {
	c.incoming, c.closed, c.open = make(chan []jsonrpc.Message), make(chan struct{}), map[jsonrpc.ID]bool{}
	go c.receiveMessages() // ends with the input or the connection
	return c, nil
}

func (c *lineConn) receiveMessages() {
	defer close(c.incoming)
	r := bufio.NewReader(c.in)

	for {
		line, err := readLine(r)

		// What was read before an error is a line, too.
		if msgs := c.decodeLine(line); len(msgs) > 0 {
			select {
			case c.incoming <- msgs:
			case <-c.closed:
				return
			}
		}

		if err != nil {
			c.end = err
			return
		}
	}
}

// readLine reads a line. Of one that is too long it returns the beginning, which isn't JSON.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// decodeLine returns the messages of a line: one, or those of a batch. What can't be read is answered, and
// left out.
func (c *lineConn) decodeLine(line []byte) (msgs []jsonrpc.Message) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}

	if !utf8.Valid(line) || !json.Valid(line) {
		c.refuseLine(jsonrpc.CodeParseError, "the line isn't JSON in UTF-8")
		return nil
	}

	// A line holds one message, or a list of them.
	batch := []json.RawMessage{line}
	if line[0] == '[' {
		// It can't fail: the line is a list.
		_ = json.Unmarshal(line, &batch)
	}

	for _, raw := range batch {
		m, err := jsonrpc.DecodeMessage(raw)
		if err != nil {
			c.refuseLine(jsonrpc.CodeInvalidRequest, "it isn't a message of JSON-RPC 2.0")
			continue
		}
		c.noteCall(m)
		msgs = append(msgs, m)
	}
	return msgs
}

// noteCall records that a call begins, or that its client has cancelled it.
func (c *lineConn) noteCall(m jsonrpc.Message) {
	q, ok := m.(*jsonrpc.Request)
	if !ok {
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if q.IsCall() {
		c.open[q.ID] = false
		return
	}
	var p struct {
		RequestID any `json:"requestId"`
	}
	if q.Method != "notifications/cancelled" || json.Unmarshal(q.Params, &p) != nil {
		return
	}

	// Only a call that still runs can be cancelled.
	if id, err := jsonrpc.MakeID(p.RequestID); err == nil {
		if _, running := c.open[id]; running {
			c.open[id] = true
		}
	}
}

// refuseLine answers what can't be read, so nobody knows which call it is.
func (c *lineConn) refuseLine(code int64, why string) {
	failure := jsonrpc.Error{Code: code, Message: why}
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": failure}) // it can't fail

	c.mu.Lock()
	defer c.mu.Unlock()

	// If the client is gone, reading says so.
	_, _ = c.out.Write(append(b, '\n'))
}

// Read returns the next message.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	if len(c.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case msgs, ok := <-c.incoming:
			if !ok {
				return nil, c.end
			}
			c.queue = msgs
		}
	}

	m := c.queue[0]
	c.queue = c.queue[1:]
	return m, nil
}

// Write sends a message, unless it responds to a call that was cancelled.
func (c *lineConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	// A client that has cancelled its call expects no response.
	if r, ok := m.(*jsonrpc.Response); ok {
		cancelled := c.open[r.ID]
		delete(c.open, r.ID)
		if cancelled {
			return nil
		}
	}

	_, err = c.out.Write(append(b, '\n'))
	return err
}

// Close ends the connection, and Read.
func (c *lineConn) Close() (err error) {
	c.once.Do(func() {
		close(c.closed)
		err = errors.Join(c.in.Close(), c.out.Close())
	})
	return err
}

// SessionID is empty: there is one session.
func (c *lineConn) SessionID() string { return "" }
