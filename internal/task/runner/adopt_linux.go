package runner

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoption makes this process the parent of whatever its command leaves behind. So that stays below this
// process, however it was detached, and can be found and ended.
type adoption struct {
	mu      sync.Mutex
	own     int // the command, for which somebody else waits
	signals chan os.Signal
	stopped chan struct{}
}

// beginAdoption begins an adoption, or one that does nothing: only a process that does nothing else may
// adopt.
func beginAdoption(alone bool) *adoption {
	a := &adoption{}

	// As a subreaper, the process becomes the parent of all orphans below it, also of those of other work.
	if !alone || unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return a
	}

	a.signals, a.stopped = make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(a.signals, syscall.SIGCHLD)

	// This goroutine is ended by close.
	go func() {
		defer close(a.stopped)

		for range a.signals {
			a.reapEnded()
		}
	}()
	return a
}

// startCommand starts the command.
func (a *adoption) startCommand(c *exec.Cmd) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := c.Start()
	if err == nil {
		a.own = c.Process.Pid
	}
	return err
}

// reapEnded takes note of adopted processes that have ended, so that they are gone.
func (a *adoption) reapEnded() {
	a.mu.Lock()
	defer a.mu.Unlock()
	lists, _ := filepath.Glob("/proc/self/task/*/children")

	for _, name := range lists {
		// The thread may have ended.
		b, _ := os.ReadFile(name)
		for _, field := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(field); err == nil && pid != a.own {
				_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // it may live
			}
		}
	}
}

// close ends the adoption. The process stays the parent of what comes later.
func (a *adoption) close() {
	if a.signals == nil {
		return
	}

	// Only this function closes the channel, after nothing is sent to it any more.
	signal.Stop(a.signals)
	close(a.signals)
	<-a.stopped
	a.reapEnded()
}
