package wake

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel which process has the socket at the other end.
func peerOf(c *net.UnixConn) (pid int, known bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}

	cerr := raw.Control(func(fd uintptr) { pid, err = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID) })
	return pid, cerr == nil && err == nil && pid > 0
}
