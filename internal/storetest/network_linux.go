package storetest

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Network lies between a host and its server, and can be cut. Nobody is told then: nothing is refused and
// nothing is closed, as where a cable is pulled out. What was sent meanwhile arrives when the network is
// mended, however old it is.
type Network struct {
	url string

	mu    sync.Mutex // guards the rest
	up    chan struct{}
	lost  chan struct{} // closed with the connections that were open at Forget
	ended bool
	open  []io.Closer
}

// NewNetwork returns the network of a host whose server has this address, with sockets in the file system.
func NewNetwork(t testing.TB, address string) *Network {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}

	// The path of a socket has to be short.
	dir, err := os.MkdirTemp("", "tt-net-")
	if err != nil {
		t.Fatal(err)
	}

	n := &Network{up: make(chan struct{}), lost: make(chan struct{})}
	close(n.up)
	t.Cleanup(func() {
		n.closeAll()
		os.RemoveAll(dir)
	})

	q := u.Query()

	// The address may name several servers, each of which gets a socket here.
	ports, dirs := strings.Split(q.Get("port"), ","), []string{}
	for i, host := range strings.Split(q.Get("host"), ",") {
		name := ".s.PGSQL." + ports[i]
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}

		n.open = append(n.open, l)

		// It ends when the test closes the socket.
		go n.acceptClients(l, filepath.Join(host, name))
		dirs = append(dirs, dir)
	}

	q.Set("host", strings.Join(dirs, ","))
	u.RawQuery = q.Encode()
	n.url = u.String()
	return n
}

// URL is the server's address through the network.
func (n *Network) URL() string { return n.url }

// Cut cuts the network, in both directions.
func (n *Network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up = make(chan struct{})
}

// Mend mends it.
func (n *Network) Mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.up)
}

// Forget has the network carry nothing more over the connections that are open, as where something between
// has forgotten them. New ones work.
func (n *Network) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.lost)
	n.lost = make(chan struct{})
}

func (n *Network) closeAll() {
	n.mu.Lock()
	defer n.mu.Unlock()

	// Connections that come later are closed at once.
	n.ended = true
	for _, c := range n.open {
		c.Close()
	}

	select {
	case <-n.up:
	default:
		close(n.up)
	}
}

// currentWires returns what ends a wait for the network, and what says that a connection which is made now
// was forgotten.
func (n *Network) currentWires() (up, lost chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up, n.lost
}

func (n *Network) acceptClients(l net.Listener, server string) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}

		go n.connectServer(client, server)
	}
}

func (n *Network) connectServer(client net.Conn, path string) {
	up, lost := n.currentWires()
	<-up
	server, err := net.Dial("unix", path)
	// The server may have crashed.
	if err != nil {
		client.Close()
		return
	}

	n.mu.Lock()
	if n.open = append(n.open, client, server); n.ended {
		client.Close()
		server.Close()
	}

	n.mu.Unlock()
	go n.carryBytes(server, client, lost)
	go n.carryBytes(client, server, lost)
}

// carryBytes carries what one side sends to the other, and its end.
func (n *Network) carryBytes(to, from net.Conn, lost chan struct{}) {
	buf := make([]byte, 64<<10)
	for {
		got, err := from.Read(buf)

		// What was read waits here while the network is cut.
		up, _ := n.currentWires()
		select {
		case <-up:
		case <-lost:
		}
		select {
		case <-lost:
			// Both sides stay open, as nobody tells them.
			return
		default:
		}
		if _, failed := to.Write(buf[:got]); err != nil || failed != nil {
			to.Close()
			return
		}
	}
}
