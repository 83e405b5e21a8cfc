package rescue

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
)

// A file that is written again so fast that its size and its times are the same is read again.
func TestSnapshot_Racy(t *testing.T) {
	s := newScratch(t)
	s.write("new", "one")
	s.snapshot()
	for i, text := range []string{"two", "six", "ten", "one"} {
		s.write("new", text)
		var taken Taken
		if i%2 == 0 {
			taken = s.snapshot()
		} else {
			taken = s.keep("new")
		}
		if got := s.blob(taken.ID, "new"); got != text {
			t.Fatalf("%q was kept as %q", text, got)
		}
	}
}

// A file with another content, of which size and time are set to what they were, is read again: when it
// changed can't be set.
func TestSnapshot_TimeSetBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system doesn't tell when a file changed")
	}
	s := newScratch(t)
	s.settle()
	s.write("new", "one")
	s.age("new")
	s.snapshot()
	before := s.stamp("new")
	for now := before; now.ChangeTime == before.ChangeTime; now = s.stamp("new") { // until the clock ticks
		s.write("new", "two")
		s.age("new")
	}
	if got := s.blob(s.keep("new").ID, "new"); got != "two" {
		t.Errorf("new was kept as %q", got)
	}
}

func (s *scratch) stamp(path string) plainfile.Stamp {
	s.t.Helper()
	info, err := os.Lstat(s.path(path))
	if err != nil {
		s.t.Fatal(err)
	}
	return plainfile.StampOf(info)
}

func TestStamp_Settled(t *testing.T) {
	at := time.Unix(1000, 5e8)
	of := func(before time.Duration) plainfile.Stamp {
		n := at.Add(-before).UnixNano()
		return plainfile.Stamp{ModTime: n, ChangeTime: n}
	}
	for _, c := range []struct {
		name string
		s    plainfile.Stamp
		want bool
	}{
		{"long ago", of(time.Minute + 1), true},
		{"just now", of(time.Millisecond), false},
		{"by another clock, in the future", of(-time.Hour), false},
		{"only its other times changed just now", plainfile.Stamp{ModTime: 1, ChangeTime: at.UnixNano() - 1}, false},
		{"whole seconds, two ago", of(2*time.Second + 500*time.Millisecond), false},
		{"whole seconds, long ago", of(9*time.Second + 500*time.Millisecond), true},
	} {
		if got := c.s.IsSettled(at); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// A cache that is missing, damaged, of a newer program or of another checkout is as none.
func TestCache_Damaged(t *testing.T) {
	for name, damage := range map[string]func(s *scratch, path string, b []byte) error{
		"missing":     func(s *scratch, path string, b []byte) error { return os.Remove(path) },
		"cut":         func(s *scratch, path string, b []byte) error { return os.WriteFile(path, b[:len(b)/2], 0o600) },
		"empty":       func(s *scratch, path string, b []byte) error { return os.WriteFile(path, nil, 0o600) },
		"another bit": func(s *scratch, path string, b []byte) error { b[len(b)/2] ^= 4; return os.WriteFile(path, b, 0o600) },
		"newer": func(s *scratch, path string, b []byte) error {
			return os.WriteFile(path, []byte(strings.Replace(string(b), cacheVersion, "tt state 0\n", 1)), 0o600)
		},
		"a directory": func(s *scratch, path string, b []byte) error {
			os.Remove(path)
			return os.MkdirAll(path, 0o700)
		},
		"a lost pack": func(s *scratch, path string, b []byte) error {
			r := s.store.repositoryOf(s.tree.Common)
			return os.Remove(r.PackBase(bare.LeanForm, r.readCache(s.tree).id) + pack.IndexSuffix)
		},
		"a lost snapshot": func(s *scratch, path string, b []byte) error {
			r := s.store.repositoryOf(s.tree.Common)
			return os.Remove(r.RefPath(bare.Ref{Form: bare.LeanForm, Checkout: bare.CheckoutName(s.tree), ID: r.readCache(s.tree).id}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScratch(t)
			s.write("a.txt", "changed\n")
			s.snapshot()
			path := s.store.repositoryOf(s.tree.Common).cachePath(bare.CheckoutName(s.tree))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(s, path, b); err != nil {
				t.Fatal(err)
			}
			s.write("new", "new\n")
			taken := s.keep("new")
			if got := s.blob(taken.ID, "a.txt"); got != "changed\n" || len(s.needsOf(taken.ID)) > 0 {
				t.Errorf("a.txt is %q, and %s needs %q", got, taken.ID, s.needsOf(taken.ID))
			}
			if got := s.blob(taken.ID, "new"); got != "new\n" {
				t.Errorf("new is %q", got)
			}
		})
	}
}

// What is known of a checkout is only decoded again if another snapshot was made since it was read.
func TestCache_ReadAgain(t *testing.T) {
	s := newScratch(t)
	s.write("new", "one")
	first := s.snapshot()
	r := s.store.repositoryOf(s.tree.Common)

	was := r.readCache(s.tree)
	if now := r.readCacheAgain(s.tree, was); now != was {
		t.Error("a file that has stayed the same was decoded again")
	}

	s.write("new", "three")
	second := s.snapshot()
	if now := r.readCacheAgain(s.tree, was); was.id != first.ID || now.id != second.ID {
		t.Errorf("read %s and then %s, want %s and %s", was.id, now.id, first.ID, second.ID)
	}
}

// No cut or changed cache makes reading it fail otherwise than by saying so.
func FuzzDecodeCache(f *testing.F) {
	c := &cache{
		top: "/t", id: "x", state: manifest.State{Entries: []manifest.Entry{{Path: "p", Index: []manifest.Version{{Mode: pack.ModeFile, OID: bare.NoCommit}}, Work: &manifest.WorkFile{Mode: pack.ModeFile}}}},
		stamps: map[string]seenStamp{}, objects: map[string]pack.HeldObject{bare.NoCommit: {Pack: "x", Size: 3}}, leftOut: []manifest.LeftOut{{Path: "l"}},
		index: indexFacts{lines: []indexLine{{path: "f", skip: true, Version: manifest.Version{Mode: pack.ModeFile, OID: bare.NoCommit}}}},
	}
	f.Add(encodeCache(c))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &cacheReader{b: string(b)}
		for range r.readCount() {
			r.readEntry()
			r.readPackID()
		}
		decodeCache(b)
	})
}
