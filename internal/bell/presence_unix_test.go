//go:build !windows

package bell

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"talkingstick/stick"
)

func TestPresenceOfProcess(t *testing.T) {
	d := open(t)
	listener := play(t, "present", filepath.Dir(d.bells), "l")
	listener.expect("present")

	expect := func(want stick.Verdict) {
		t.Helper()
		if got := d.Listening("l"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}

	expect(stick.Alive)
	listener.stop()
	expect(stick.Alive)
	listener.kill()
	expect(stick.Gone)
	if _, err := os.Stat(filepath.Join(d.waits, "l")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that the dead listener's file is removed", err)
	}

	p := takePresence(t, d, "l")
	expect(stick.Alive)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
