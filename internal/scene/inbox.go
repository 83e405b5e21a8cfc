package scene

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"talkingstick/internal/wake"
	"talkingstick/stick"
)

// Inbox is the inbox of an actor's harness: a socket that the story serves.
type Inbox struct {
	a      *Actor
	socket string
	token  string
	listen net.Listener
	got    chan string // each text, once it is there
}

// HasInbox gives the actor's harness an inbox. The actor's hooks know of it from then on.
func (a *Actor) HasInbox() *Inbox {
	a.Helper()

	// The path of a socket has to be short.
	dir, err := os.MkdirTemp("", "tt")
	if err != nil {
		a.Fatal(err)
	}

	a.Cleanup(func() { os.RemoveAll(dir) })
	b := &Inbox{a: a, socket: filepath.Join(dir, "s"), token: "token of " + a.Name, got: make(chan string, 100)}
	a.inbox.Socket, a.inbox.Token = b.socket, b.token
	b.Serves(a.pid, b.readTexts)
	return b
}

// Serves has a process of the story listen on the socket, and each connection handled by handle.
func (b *Inbox) Serves(pid int, handle func(net.Conn)) {
	b.a.Helper()
	l, err := net.Listen("unix", b.socket)
	if err != nil {
		b.a.Fatal(err)
	}

	b.listen = l
	b.a.mu.Lock()
	b.a.peers[b.socket] = pid
	b.a.mu.Unlock()
	b.a.Cleanup(func() { l.Close() })

	go func() { // ends when the listener is closed
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}

			// One connection after the other, so that texts keep their order.
			handle(c)
		}
	}()
}

// readTexts reads what a harness would take: a text after the right token.
func (b *Inbox) readTexts(c net.Conn) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	proved := false

	for lines.Scan() {
		var line struct {
			Type, Token string
			Message     struct{ Content string }
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			return
		}
		switch {
		case line.Type == "auth" && line.Token == b.token:
			proved = true
		case line.Type == "user" && proved:
			b.got <- line.Message.Content
		default:
			return
		}
	}
}

// Closes ends the socket, as a harness does that ends.
func (b *Inbox) Closes() { b.listen.Close() }

// Gets waits for the next text, and expects that it brings these bodies.
func (b *Inbox) Gets(bodies ...string) {
	b.a.Helper()
	select {
	case text := <-b.got:
		if want := strings.Join(bodies, "\n"); text != want {
			b.a.failStory("the inbox of %s got %q, want %q", b.a.Name, text, want)
		}
	case <-time.After(patience):
		b.a.failStory("the inbox of %s gets nothing", b.a.Name)
	}
}

// GetsNothing expects that no further text is there. What wrote it has to be over.
func (b *Inbox) GetsNothing() {
	b.a.Helper()
	select {
	case text := <-b.got:
		b.a.failStory("the inbox of %s got %q", b.a.Name, text)
	default:
	}
}

// WrittenDown reports whether the data directory says where the inbox is. It fails the story if the file is
// for others' eyes.
func (b *Inbox) WrittenDown() bool {
	b.a.Helper()
	for _, k := range wake.FolderOf(b.a.data).All() {
		if k.Token == b.token {
			return true
		}
	}
	return false
}

// newsText is the text that wakes an agent in a story.
func newsText(events []stick.Event, more bool) string {
	text := strings.Join(Bodies(events), "\n")
	if more {
		text += " …"
	}
	return text
}

// peerOf says which process of the story listens on a socket.
func (s *Scene) peerOf(c *net.UnixConn) (pid int, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, known = s.peers[c.RemoteAddr().String()]
	return pid, known
}
