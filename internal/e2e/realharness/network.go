//go:build linux

package realharness

import (
	"net"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Network is a network of its own, with nothing but a loopback device. What runs in it can't reach anything
// else, so harnesses in it need no settings that keep them from the network.
type Network struct{ calls chan func() }

// Loopback makes a network until the test ends. It skips the test where the system doesn't allow that; root
// may.
func Loopback(t testing.TB) *Network {
	t.Helper()
	n := &Network{make(chan func())}
	made := make(chan error)
	go func() {
		// It is never unlocked, so the thread ends with the goroutine.
		runtime.LockOSThread()
		made <- ownNetwork()
		for call := range n.calls {
			call()
		}
	}()

	t.Cleanup(func() { close(n.calls) })
	if err := <-made; err != nil {
		t.Skipf("no network namespace can be had here: %v", err)
	}
	return n
}

// ownNetwork moves the calling thread into a new network, and switches its loopback device on.
func ownNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}

	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}

	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}

	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// runInside runs call in the network.
func (n *Network) runInside(call func() error) error {
	over := make(chan error)
	n.calls <- func() { over <- call() }
	return <-over
}

// Listen listens on the network's loopback address, until the test ends.
func (n *Network) Listen(t testing.TB) net.Listener {
	t.Helper()
	var l net.Listener
	err := n.runInside(func() (err error) {
		l, err = net.Listen("tcp", "127.0.0.1:0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// startCommand starts a command in the network, or in that of the test if n is nil.
func (n *Network) startCommand(c *exec.Cmd) error {
	if n == nil {
		return c.Start()
	}
	return n.runInside(c.Start)
}
