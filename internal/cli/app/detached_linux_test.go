package app

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestStartDetached_leaves_no_zombie: a process that a server has started is gone once it has ended.
func TestStartDetached_leaves_no_zombie(t *testing.T) {
	exe, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}

	pid, err := StartDetached(exe, []string{exe}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}

	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}
