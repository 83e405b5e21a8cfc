//go:build unix

package wake_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/testenv"
	"talkingstick/internal/wake"
	"talkingstick/stick"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m)) }

// socket returns a path that is short enough for a socket.
func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// serve listens on a socket, and sends what each connection brings.
func serve(t *testing.T, path string) (net.Listener, <-chan string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got := make(chan string, 10)
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b, _ := io.ReadAll(c)
			c.Close()
			got <- string(b)
		}
	}()

	return l, got
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestOnlyTheHarnessIsWrittenTo: the operating system says who listens, and nothing is written to anybody
// else.
func TestOnlyTheHarnessIsWrittenTo(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system doesn't say who listens")
	}
	path := socket(t)
	l, got := serve(t, path)
	b := wake.Inbox{
		Agent: "claude:a", Process: stick.Process{PID: os.Getpid(), Start: 1}, Socket: path, Token: "secret",
	}
	if err := b.Write(soon(t), nil, []byte("a\nb\n")); err != nil || <-got != "a\nb\n" {
		t.Error(err)
	}
	if !b.Open(soon(t), nil) || <-got != "" {
		t.Error("it isn't open, or something was written to find that out")
	}

	b.Process.PID = os.Getppid()
	if err := b.Write(soon(t), nil, []byte("secret")); !errors.Is(err, wake.ErrStranger) || <-got != "" {
		t.Errorf("to a stranger: %v", err)
	}

	l.Close()
	if err := b.Write(soon(t), nil, []byte("secret")); err == nil ||
		strings.Contains(fmt.Sprintf("%v %+v %#v", err, b, b), "secret") {
		t.Errorf("to nobody: %v", err)
	}
}

// TestAHarnessThatReadsNothing: a write ends at its time.
func TestAHarnessThatReadsNothing(t *testing.T) {
	path := socket(t)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := wake.Inbox{Process: stick.Process{PID: 7}, Socket: path}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	peer := func(*net.UnixConn) (int, bool) { return 7, true }
	if err := b.Write(ctx, peer, make([]byte, 8<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// TestFolder: each session has a file, which only its user can read.
func TestFolder(t *testing.T) {
	data := t.TempDir()
	f := wake.FolderOf(data)
	if len(f.All()) != 0 || f.Drop("none") != nil {
		t.Error("an absent folder holds something")
	}

	one := wake.Inbox{
		Agent: "claude:a", Harness: "claude", Process: stick.Process{Boot: "b", PID: 1, Start: 2},
		Socket: "/s", Token: "t",
	}
	two := one
	two.Agent = "claude:b"

	for session, b := range map[string]wake.Inbox{"one": two, "two": two} {
		if err := f.Keep(session, b); err != nil {
			t.Fatal(err)
		}
	}

	if err := f.Keep("one", one); err != nil { // it has changed
		t.Fatal(err)
	}
	all := f.All()
	if len(all) != 2 || all[0].Inbox != one && all[1].Inbox != one || all[0].Inbox == all[1].Inbox {
		t.Errorf("%v", all)
	}

	files, err := filepath.Glob(filepath.Join(data, "inboxes", "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}

	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}

	if err := os.WriteFile(filepath.Join(data, "inboxes", "other.json"), []byte("not what we write"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Drop("one"), f.Drop("one")); err != nil {
		t.Error(err)
	}
	if all = f.All(); len(all) != 1 || all[0].Inbox != two {
		t.Errorf("%v", all)
	}
	if err := all[0].Drop(); err != nil || len(f.All()) != 0 {
		t.Error(err)
	}

	if err := os.RemoveAll(filepath.Join(data, "inboxes")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "inboxes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Keep("one", one); err == nil || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "/s") {
		t.Errorf("where no folder can be: %v", err)
	}
}
