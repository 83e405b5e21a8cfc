//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOldSnapshotsGoInTheBackground: a hook after a call starts a process that drops old snapshots, once an
// hour, and doesn't wait for it.
func TestOldSnapshotsGoInTheBackground(t *testing.T) {
	r := newRepo(t)
	r.must("", "tt join")
	began, ended := filepath.Join(r.work, "began"), filepath.Join(r.work, "ended")
	for _, fifo := range []string{began, ended} {
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	// What the hook starts in the background is this, in the place of tt. It says how it was called, and then
	// waits.
	stand := filepath.Join(r.work, "stand in", "tt")
	script := "#!/bin/sh\necho \"$@\" >'" + began + "'\nread x <'" + ended + "'\n"
	if err := os.MkdirAll(filepath.Dir(stand), 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(stand, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}

	after := func(file string) {
		t.Helper()
		r.must("", "echo "+file+" >"+file)
		c := exec.Cmd{
			Path: filepath.Join(r.bin, "tt"), Args: []string{stand, "hook"}, Dir: r.app,
			Env: r.command("claude", "").Env,
		}
		c.Stdin = strings.NewReader(`{"session_id":"5f0c2b9e-one","transcript_path":"/home/pat/.claude/x.jsonl","hook_event_name":"PostToolUse","cwd":"` + r.app +
			`","tool_name":"Write","tool_input":{"file_path":"` + filepath.Join(r.app, file) + `","content":"x"}}`)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("the hook: %v\n%s", err, out)
		}
	}

	r.must("claude", "tt join")
	after("one") // there are no old ones yet: nothing is started, or the stand-in would wait for a reader for ever
	heads, err := filepath.Glob(filepath.Join(r.work, "data", "rescue", "*.git", "HEAD"))
	if err != nil || len(heads) != 1 {
		t.Fatalf("%q, %v; %s", heads, err, r.must("", "cat $TALKING_STICK_DATA_DIR/tt.log || true"))
	}

	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(heads[0], old, old); err != nil {
		t.Fatal(err)
	}
	after("two")
	after("three") // once

	said, err := os.ReadFile(began) // it runs, and the hooks are over
	if err != nil || !bytes.Equal(said, []byte("rescue prune\n")) {
		t.Errorf("it was called with %q, %v", said, err)
	}

	if err := os.WriteFile(ended, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("", "tt rescue prune")
	if _, err := os.Stat(filepath.Join(filepath.Dir(heads[0]), "pruned")); err != nil {
		t.Error(err)
	}
}
