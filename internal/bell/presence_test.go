package bell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"talkingstick/stick"
)

func takePresence(t testing.TB, d *Dir, id string) *Presence {
	t.Helper()
	p, err := d.TakePresence(id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPresence(t *testing.T) {
	d := open(t)
	expect := func(want stick.Verdict) {
		t.Helper()
		if got := d.Listening("l"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}

	expect(stick.Gone)
	p := takePresence(t, d, "l")
	expect(stick.Alive)
	_, err := d.TakePresence("l")
	checkHeld(t, err, os.Getpid())
	expect(stick.Alive)

	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	expect(stick.Gone)

	again := takePresence(t, d, "l")
	if err := p.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	expect(stick.Alive)

	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPresenceUnknown(t *testing.T) {
	d := open(t)
	if err := os.WriteFile(d.waits, nil, 0o600); err != nil { // not the folder that it should be
		t.Fatal(err)
	}
	if got := d.Listening("l"); got != stick.Unknown {
		t.Errorf("got %s, want %s", got, stick.Unknown)
	}
	if got := d.Listening("not/an id"); got != stick.Unknown {
		t.Errorf("got %s, want %s", got, stick.Unknown)
	}
}

// TestPresenceWhileLooked begins and ends presences of one id, also upon files that dead
// listeners left, while others look at it all the time.
func TestPresenceWhileLooked(t *testing.T) {
	d := open(t)
	path := filepath.Join(d.waits, "l")
	quit := make(chan struct{})

	var lookers sync.WaitGroup
	for range 3 {
		lookers.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
					d.Listening("l")
				}
			}
		})
	}

	for range 100 {
		p := takePresence(t, d, "l")
		for range 5 {
			if got := d.Listening("l"); got != stick.Alive {
				t.Fatalf("got %s for a live listener", got)
			}
		}

		if _, err := os.Stat(path); err != nil {
			t.Fatalf("the file of a live listener: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	close(quit)
	lookers.Wait()
}

// TestPresenceRace lets several want the same id at once, upon what a dead listener left: one
// gets it, and keeps it.
func TestPresenceRace(t *testing.T) {
	d := open(t)
	if err := os.MkdirAll(d.waits, 0o700); err != nil {
		t.Fatal(err)
	}

	for round := range 50 {
		id := fmt.Sprint(round)
		if err := os.WriteFile(d.presencePath(id), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		got := make(chan *Presence)
		for range 4 {
			go func() {
				p, err := d.TakePresence(id)
				if _, ok := errors.AsType[*LockedError](err); err != nil && !ok {
					t.Errorf("got error %v, want a LockedError", err)
				}
				got <- p
			}()
		}

		var winners []*Presence
		for range 4 {
			if p := <-got; p != nil {
				winners = append(winners, p)
			}
		}

		if len(winners) != 1 {
			t.Fatalf("got %d who are present as one listener, want 1", len(winners))
		}
		if got := d.Listening(id); got != stick.Alive {
			t.Errorf("got %s, want %s", got, stick.Alive)
		}

		if err := winners[0].Close(); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkListening(b *testing.B) {
	d := open(b)
	p := takePresence(b, d, "l")
	defer p.Close()

	b.Run("alive", func(b *testing.B) {
		for b.Loop() {
			d.Listening("l")
		}
	})

	b.Run("missing", func(b *testing.B) {
		for b.Loop() {
			d.Listening("nobody")
		}
	})
}

func BenchmarkPresent(b *testing.B) {
	d := open(b)
	for b.Loop() {
		takePresence(b, d, "l").Close()
	}
}
