//go:build unix

package confedit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}

	for name, size := range map[string]int64{"plain": 3, "largest": MaxSize, "too large": MaxSize + 1} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(at(name), size); err != nil {
			t.Fatal(err)
		}
	}

	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	link("plain", "link")
	link("fifo", "link to a FIFO")
	link(os.DevNull, "device")
	link("self", "self")
	link("two", "one")
	link("one", "two")
	link("nowhere", "dangling")

	for name, why := range map[string]string{
		"plain": "", "link": "", "largest": "",
		"too large": TooLarge, "fifo": NotRegular, "link to a FIFO": NotRegular, "device": NotRegular,
		".": NotRegular, "self": Loop, "one": Loop,
		"plain/below": "can't be read",
	} {
		b, err := Read(at(name))
		e, _ := errors.AsType[*FileError](err)
		switch {
		case why == "" && (err != nil || len(b) == 0):
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		case why != "" && (e == nil || e.Why != why || e.File != at(name)):
			t.Errorf("%s: %v, want %q", name, err, why)
		}
	}

	for _, name := range []string{"missing", "dangling"} {
		if _, err := Read(at(name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFollow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.MkdirAll(at("real/sub"), 0o700); err != nil {
		t.Fatal(err)
	}

	for name, to := range map[string]string{
		"dir": "real", "real/up": "../new/file", "far": at("dir/sub/new"), "self": "self", "one": "two",
		"two": "one", "into": "self/below", "chain": "far",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}

	for name, want := range map[string]string{
		"real": "real", "dir/sub": "real/sub", "dir/sub/x/y": "real/sub/x/y", "far": "real/sub/new",
		"chain": "real/sub/new", "dir/up": "new/file", "missing/x": "missing/x",
		"self": "", "self/below": "", "one": "", "into": "", "real/../self": "",
	} {
		if want != "" {
			want = at(want)
		}
		if got := FollowLinks(dir + "/" + name); got != want {
			t.Errorf("%s leads to %q, want %q", name, got, want)
		}
	}
}
