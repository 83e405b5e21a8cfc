package wake

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel which process called listen on the socket at the other end.
func peerOf(c *net.UnixConn) (pid int, known bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}

	var cred *unix.Ucred
	cerr := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if cerr != nil || err != nil {
		return 0, false
	}
	return int(cred.Pid), cred.Pid > 0
}
