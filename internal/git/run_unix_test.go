//go:build unix

package git

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSnapshotKillsChildren runs a git that hangs and that has started a program which holds a pipe
// open. The pipe's end shows that the program was killed too.
func TestSnapshotKillsChildren(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "git")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nsleep 600 >'"+pipe+"' &\nwait\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := Client{Path: program}.Snapshot(ctx, dir)
		done <- err
	}()

	f, err := os.Open(pipe) // until the program has opened it too
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cancel()
	if _, err := io.ReadAll(f); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// program writes a shell script that stands in for git.
func program(t *testing.T, script string) Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return Client{Path: path}
}

// TestOutputLeftOpen runs a git that ends and leaves a program running, which holds git's output open: as a
// server does that a hook has started. Git's exit status decides, and all that git has printed is there.
func TestOutputLeftOpen(t *testing.T) {
	hold := filepath.Join(t.TempDir(), "hold")
	if err := syscall.Mkfifo(hold, 0o600); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { // lets the programs that were left running end
		if f, err := os.OpenFile(hold, os.O_RDWR, 0); err == nil {
			_, _ = f.WriteString("\n\n\n\n\n\n")
			defer f.Close()
		}
	})

	leave := "read line <'" + hold + "' &\n"
	long := "i=0; while [ $i -lt 400 ]; do printf '%0100d' $i; i=$((i+1)); done\n"

	t.Run("a command that succeeds", func(t *testing.T) {
		c := program(t, leave+long)
		for name, f := range map[string]func() (string, error){
			"read":  func() (string, error) { return c.runLine(t.Context(), t.TempDir(), "log") },
			"write": func() (string, error) { return c.runText(t.Context(), t.TempDir(), "log") },
			"hook": func() (string, error) {
				paths, err := c.listPaths(t.Context(), t.TempDir(), "log")
				return strings.Join(paths, ""), err
			},
		} {
			if out, err := f(); err != nil || len(out) != 40_000 {
				t.Errorf("%s: %d bytes, %v", name, len(out), err)
			}
		}
	})

	t.Run("a command that fails", func(t *testing.T) {
		c := program(t, leave+"echo 'fatal: not today' >&2\nexit 3\n")
		_, err := c.runText(t.Context(), t.TempDir(), "log")
		if f := asFailure(err); f == nil || f.Exit != 3 || f.Said != "fatal: not today" {
			t.Errorf("write: %v", err)
		}

		_, err = c.runLine(t.Context(), t.TempDir(), "log")
		if f := asFailure(err); f == nil || f.Exit != 3 || f.Said != "fatal: not today" {
			t.Errorf("read: %v", err)
		}
	})
}

// TestOutputWithoutEnd runs a git that leaves a program running, which goes on to print.
func TestOutputWithoutEnd(t *testing.T) {
	// The program ends when nobody reads any more.
	c := program(t, "while echo more; do :; done 2>/dev/null &\necho done\n")
	out, err := c.runText(t.Context(), t.TempDir(), "log")
	if err != nil || !strings.Contains(out, "done") {
		t.Errorf("%.100q, %v", out, err)
	}
}
