//go:build unix

package git

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
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
