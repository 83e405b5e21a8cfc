//go:build unix

package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWatch_AHookThatHangs lets the limit of a git pass while its hook waits for something. The git ends,
// removes its locks, and what it waited for is named. The hook doesn't outlive it.
func TestWatch_AHookThatHangs(t *testing.T) {
	w := newWork(t)
	alive := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(w.dir, ".git", "hooks", "reference-transaction")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\n[ $1 = prepared ] || exit 0\nexec 3>'"+alive+"'\necho >&3\nsleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	cmd := exec.CommandContext(ctx, "git", "-C", w.dir, "update-ref", "refs/heads/new", "HEAD")
	due := make(chan time.Time, 1)
	watch := newWatch(time.Minute, kill)
	watch.due = due

	go func() {
		f, err := os.Open(alive)
		if err != nil {
			return
		}
		defer f.Close()
		f.Read(make([]byte, 1)) // the hook runs
		due <- time.Time{}
	}()

	err := runCommand(cmd, func() { watch.startWatching(cmd.Process.Pid) })
	watch.stop()

	if err == nil || !watch.passed {
		t.Fatalf("it ended with %v, and the limit has passed: %v", err, watch.passed)
	}
	if runtime.GOOS == "linux" && watch.program != "reference-transaction" {
		t.Errorf("it names %q as what it waited for", watch.program)
	}

	said := errTooLong(newFailure([]string{"update-ref"}, &prefixWriter{}, err), watch, "").Error()
	if !strings.HasPrefix(said, "git update-ref was stopped after 1 min: it was still waiting for ") {
		t.Errorf("it says %q", said)
	}
	if _, err := os.Stat(filepath.Join(w.dir, ".git", "refs", "heads", "new.lock")); !os.IsNotExist(err) {
		t.Errorf("the lock of the branch is left: %v", err)
	}
}
