package sqlite

import (
	"testing"

	"talkingstick/internal/store/dialect"
)

func TestIssued_bytes(t *testing.T) {
	i := Issued{
		database: 1 << 62, Committed: dialect.Numbers{Commit: 7, Event: 1 << 40},
		Highest: dialect.Numbers{Commit: 8, Event: 1<<40 + 3}, Turn: 9,
	}
	b := i.bytes()
	if got, ok := parseIssued(b); !ok || got != i || len(b) != issuedSize {
		t.Errorf("of %q comes %+v (%t)", b, got, ok)
	}

	for at := range b {
		damaged := append([]byte(nil), b...)
		damaged[at] ^= 1
		if _, ok := parseIssued(damaged); ok {
			t.Errorf("the change of byte %d doesn't show: %q", at, damaged)
		}
	}

	for _, short := range [][]byte{nil, b[:1], b[:len(b)-1]} {
		if _, ok := parseIssued(short); ok {
			t.Errorf("%q passes for whole", short)
		}
	}
}

func TestIssued_lossOf(t *testing.T) {
	i := Issued{Committed: dialect.Numbers{Commit: 20, Event: 50}, Highest: dialect.Numbers{Commit: 21, Event: 52}}
	for _, c := range []struct {
		name string
		have dialect.Numbers
		says string // empty for no loss
	}{
		{"what was committed", dialect.Numbers{Commit: 20, Event: 50}, ""},
		{"what was announced, too", dialect.Numbers{Commit: 21, Event: 52}, ""},
		{"more than the file knows, after a power loss", dialect.Numbers{Commit: 30, Event: 90}, ""},
		{"the last change, which made no event", dialect.Numbers{Commit: 19, Event: 50}, "its last change"},
		{"changes without events", dialect.Numbers{Commit: 17, Event: 50}, "its last 3 changes"},
		{"one event", dialect.Numbers{Commit: 19, Event: 49}, "its last change, with event 50"},
		{"several events", dialect.Numbers{Commit: 11, Event: 46}, "its last 9 changes, with events 47 to 50"},
		{"all", dialect.Numbers{}, "its last 20 changes, with events 1 to 50"},
		{"events, in a database of an older program", dialect.Numbers{Commit: 25, Event: 46}, "events 47 to 50"},
	} {
		l, ok := i.lossOf(c.have)
		if ok != (c.says != "") || ok && string(l.Words()) != c.says {
			t.Errorf("%s: it says %q (%t), want %q", c.name, l.Words(), ok, c.says)
		}
	}
}
