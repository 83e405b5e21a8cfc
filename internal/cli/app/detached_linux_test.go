package app

import (
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStartDetached_leaves_no_zombie: a process that a server has started is gone once it has ended.
func TestStartDetached_leaves_no_zombie(t *testing.T) {
	exe, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}

	pid, err := StartDetached(exe, []string{exe}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}

	// To wait for its end without collecting it needs somebody else to collect it.
	for err = nil; err != unix.ECHILD; {
		err = unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != nil && err != unix.EINTR && err != unix.ECHILD {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
}
