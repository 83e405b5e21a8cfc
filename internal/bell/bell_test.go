package bell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func open(t testing.TB) *Dir {
	t.Helper()
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func watch(t testing.TB, d *Dir, rooms ...string) *Watch {
	t.Helper()
	w, err := d.Watch(rooms...)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close watch: %v", err)
		}
	})

	return w
}

func prepare(t testing.TB, d *Dir, rooms ...string) *Ringer {
	t.Helper()
	r, err := d.Prepare(rooms...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hear waits for a ring.
func hear(t testing.TB, w *Watch) {
	t.Helper()
	select {
	case <-w.C:
	case <-time.After(20 * time.Second):
		t.Fatal("no ring")
	}
}

func TestOpenMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d.Listening("nobody")
	NewMutex(filepath.Join(dir, "write.lock"))
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("got %v, want that nothing was made", err)
	}
}

func TestNames(t *testing.T) {
	d := open(t)
	for _, name := range []string{
		"", ".", "..", "a/b", `a\b`, "a.lock", "a b", "ä", "a\x00", strings.Repeat("x", 129),
	} {
		if _, err := d.Prepare("good", name); err == nil {
			t.Errorf("Prepare(%q): want an error", name)
		}

		if w, err := d.Watch(name); err == nil {
			w.Close()
			t.Errorf("Watch(%q): want an error", name)
		}

		if p, err := d.TakePresence(name); err == nil {
			p.Close()
			t.Errorf("TakePresence(%q): want an error", name)
		}
	}

	rooms, err := plainNames([]string{"b", "A-1_z", "b"})
	if want := []string{"A-1_z", "b"}; err != nil || !slices.Equal(rooms, want) {
		t.Errorf("got %v (%v), want %v", rooms, err, want)
	}
}

func TestRing(t *testing.T) {
	d := open(t)
	w := watch(t, d, "a", "b")
	for _, room := range []string{"a", "b", "a"} {
		r := prepare(t, d, room)
		r.Ring()
		r.Ring()
		hear(t, w)
	}
	(*Ringer)(nil).Ring()
}

func TestRingsCoalesce(t *testing.T) {
	d := open(t)
	w := watch(t, d, "a")
	for range 100 {
		prepare(t, d, "a").Ring() // nobody receives, nothing blocks
	}
	hear(t, w)
	if n := cap(w.C); n != 1 {
		t.Errorf("got room for %d rings, want 1", n)
	}
}

// TestNoCommitMissed commits while a waiter is about to watch, to read or to sleep: it must see
// every commit without a net. The bells' platforms add their other means to it.
func TestNoCommitMissed(t *testing.T) { noCommitMissed(t, open(t)) }

func noCommitMissed(t *testing.T, d *Dir) {
	var committed atomic.Int64
	for i := range int64(200) {
		go func() {
			r, err := d.Prepare("a")
			if err != nil {
				t.Errorf("prepare: %v", err)
			}
			committed.Add(1)
			r.Ring()
		}()

		w := watch(t, d, "a")
		for committed.Load() <= i {
			hear(t, w)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkRingToWake(b *testing.B) {
	d := open(b)
	w := watch(b, d, "a")
	b.Logf("by %s", w.Mechanism())

	for b.Loop() {
		prepare(b, d, "a").Ring()
		<-w.C
	}
}

func BenchmarkPullAndRing(b *testing.B) {
	d := open(b)
	for b.Loop() {
		prepare(b, d, "a").Ring()
	}
}

func BenchmarkWatch(b *testing.B) {
	d := open(b)
	for b.Loop() {
		w, err := d.Watch("a")
		if err != nil {
			b.Fatal(err)
		}
		w.Close()
	}
}
