package bell

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// watchOwn listens as the listener id of a room, whose presence it takes.
func watchOwn(t *testing.T, d *Dir, room, id string) *Watch {
	t.Helper()
	p, err := d.TakePresence(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })

	w, err := d.WatchOwn(room, id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// prepareSome prepares a ring of a room for some listeners.
func prepareSome(t *testing.T, d *Dir, room string, listeners ...string) *Ringer {
	t.Helper()
	r, err := d.PrepareRings(Rings{Some: []SomeOf{{Room: room, Listeners: listeners}}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sleepsOn fails if a watch has heard a ring.
func sleepsOn(t *testing.T, who string, w *Watch) {
	t.Helper()
	select {
	case <-w.C:
		t.Errorf("%s heard a ring that isn't for it", who)
	case <-time.After(50 * time.Millisecond):
	}
}

func TestWatchOwn(t *testing.T) {
	type waiters struct{ named, other, follower, elsewhere *Watch }
	start := func(t *testing.T) (*Dir, waiters) {
		d := open(t)
		return d, waiters{
			watchOwn(t, d, "a", "named"), watchOwn(t, d, "a", "other"), watch(t, d, "a"), watchOwn(t, d, "b", "elsewhere"),
		}
	}

	t.Run("a ring for one", func(t *testing.T) {
		d, w := start(t)
		for range 3 { // the first one makes the second name
			prepareSome(t, d, "a", "named").Ring()
			hear(t, w.named)
			hear(t, w.follower)
			sleepsOn(t, "the other", w.other)
			sleepsOn(t, "another room's", w.elsewhere)
		}
	})

	t.Run("a ring for nobody but followers", func(t *testing.T) {
		d, w := start(t)
		prepareSome(t, d, "a").Ring()
		hear(t, w.follower)
		sleepsOn(t, "a listener", w.named)
	})

	// Older programs know no other ring.
	t.Run("a ring for all", func(t *testing.T) {
		d, w := start(t)
		prepare(t, d, "a").Ring()
		hear(t, w.named)
		hear(t, w.other)
		hear(t, w.follower)
		sleepsOn(t, "another room's", w.elsewhere)
	})

	t.Run("a listener that has ended", func(t *testing.T) {
		d, w := start(t)
		prepareSome(t, d, "a", "ended", "named").Ring()
		hear(t, w.named)
		sleepsOn(t, "the other", w.other)
	})

	t.Run("more than one ring may name", func(t *testing.T) {
		d, w := start(t)
		many := make([]string, maxOwnBells+1)
		for i := range many {
			many[i] = "named"
		}
		prepareSome(t, d, "a", many...).Ring()
		hear(t, w.named)
		hear(t, w.other)
	})

	t.Run("no links between folders", func(t *testing.T) {
		d, w := start(t)
		// A file where the folder should be has the same effect as a sandbox that forbids links.
		if err := os.WriteFile(d.quietFolder(), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		prepareSome(t, d, "a", "named").Ring()
		hear(t, w.named)
		hear(t, w.other)
		hear(t, w.follower)
	})
}

// What nobody should do to the files of bells costs no ring.
func TestWatchOwn_spoilt(t *testing.T) {
	for name, spoil := range map[string]func(*Dir) error{
		"the bell was deleted":        func(d *Dir) error { return os.Remove(d.bellPath("a")) },
		"its second name was deleted": func(d *Dir) error { return os.Remove(d.quietPath("a")) },
		"the folder was deleted":      func(d *Dir) error { return os.RemoveAll(d.bells) },
		"the second name is another file": func(d *Dir) error {
			if err := os.Remove(d.quietPath("a")); err != nil {
				return err
			}
			return os.WriteFile(d.quietPath("a"), nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			w := watchOwn(t, d, "a", "one")
			prepareSome(t, d, "a", "one").Ring()
			hear(t, w)
			if err := spoil(d); err != nil {
				t.Fatal(err)
			}

			// It may ring once by itself, at some time: that makes up for one of these at most.
			f := watch(t, d, "a")
			for range 3 {
				forgetRing(w)
				prepareSome(t, d, "a", "one").Ring()
				hear(t, w)
				hear(t, f)
			}

			// By the first name, too.
			drain(w)
			prepare(t, d, "a").Ring()
			hear(t, w)
		})
	}
}

// forgetRing takes the ring that a watch has heard, if there is one.
func forgetRing(w *Watch) {
	select {
	case <-w.C:
	default:
	}
}

func drain(w *Watch) {
	for {
		select {
		case <-w.C:
		case <-time.After(20 * time.Millisecond):
			return
		}
	}
}

// A writer that is killed rings the bell of the listener that it has opened.
func TestDeathRingsAListener(t *testing.T) {
	d := open(t)
	w := watchOwn(t, d, "a", "one")
	writer := play(t, "ring-one", filepath.Dir(d.bells), "a", "one")
	writer.expect("pulled")
	sleepsOn(t, "the listener", w)
	writer.kill()
	hear(t, w)
}

// Without inotify a listener has a FIFO, which hears the same.
func TestWatchOwn_fifo(t *testing.T) {
	d := openFIFOs(t)
	named, other, follower := watchOwn(t, d, "a", "named"), watchOwn(t, d, "a", "other"), watch(t, d, "a")
	if named.Mechanism() != "fifo" {
		t.Fatalf("it listens by %s", named.Mechanism())
	}

	prepareSome(t, d, "a", "named").Ring()
	hear(t, named)
	hear(t, follower)
	sleepsOn(t, "the other", other)

	prepare(t, d, "a").Ring()
	hear(t, named)
	hear(t, other)
	hear(t, follower)
}

func playRingOne(s *script) error {
	d, err := Open(s.args[0])
	if err != nil {
		return err
	}
	r, err := d.PrepareRings(Rings{Some: []SomeOf{{Room: s.args[1], Listeners: s.args[2:]}}})
	if err != nil {
		return err
	}

	s.say("pulled")
	s.pause()
	r.Ring()
	return nil
}
