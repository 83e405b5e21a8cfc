// Package wake writes to the inboxes of harnesses, and keeps what it takes to write there.
//
// A harness tells its hooks the path of a socket and a token. The hooks keep both in a file of mode 0600 in
// the data directory, so that other processes of the same user can wake the session. Nothing else holds the
// token: no database, log, argument or error. The file also says which process the harness is. A path of a
// socket can come back with another process behind it, so whoever writes first asks the operating system who
// listens there.
//
// See docs/decisions/waking-agents.md#inboxes.
package wake

import (
	"context"
	"errors"
	"fmt"
	"net"

	"talkingstick/stick"
)

// Inbox is where a session can be woken.
type Inbox struct {
	Agent   stick.AgentID `json:"agent_id"`
	Harness string        `json:"harness"`
	Process stick.Process `json:"process"` // the harness's, which listens on the socket
	Socket  string        `json:"socket"`
	Token   string        `json:"token"`
}

// String leaves out the token.
func (b Inbox) String() string { return fmt.Sprintf("the inbox of %s", b.Agent) }

// GoString leaves out the token.
func (b Inbox) GoString() string { return b.String() }

// ErrStranger says that another process than the harness listens on the socket, or that nobody can tell.
var ErrStranger = errors.New("another process than the harness listens on its socket")

// PeerOf returns the id of the process that listens at the other end of a connection, in the caller's pid
// namespace. known is false where the operating system doesn't tell.
type PeerOf func(*net.UnixConn) (pid int, known bool)

// Dial connects to an inbox until ctx ends. It fails with [ErrStranger] before anything is written, unless
// the harness listens there. peer is nil for what the operating system says.
func (b Inbox) Dial(ctx context.Context, peer PeerOf) (*net.UnixConn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", b.Socket)
	if err != nil {
		return nil, err
	}

	if peer == nil {
		peer = peerOf
	}

	// Nothing is written before it is known who would read it.
	conn := c.(*net.UnixConn)
	if pid, known := peer(conn); !known || pid != b.Process.PID {
		conn.Close()
		return nil, ErrStranger
	}

	if at, ok := ctx.Deadline(); ok {
		// It fails on a closed connection only, and so does what follows.
		_ = conn.SetDeadline(at)
	}
	return conn, nil
}

// Open reports whether something can be written to the inbox now. It writes nothing.
func (b Inbox) Open(ctx context.Context, peer PeerOf) bool {
	conn, err := b.Dial(ctx, peer)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// Write writes lines to the inbox until ctx ends. The harness doesn't answer: success means that the
// operating system has taken all of them for the process that listens.
func (b Inbox) Write(ctx context.Context, peer PeerOf, lines []byte) error {
	conn, err := b.Dial(ctx, peer)
	if err != nil {
		return err
	}

	_, err = conn.Write(lines)
	return errors.Join(err, conn.Close())
}
