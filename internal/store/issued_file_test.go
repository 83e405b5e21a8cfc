package store

import (
	"testing"
)

func TestIssued_bytes(t *testing.T) {
	i := IssuedNumbers{database: 1 << 62, Committed: Numbers{7, 1 << 40}, Highest: Numbers{8, 1<<40 + 3}, Turn: 9}
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
	i := IssuedNumbers{Committed: Numbers{Commit: 20, Event: 50}, Highest: Numbers{Commit: 21, Event: 52}}
	for _, c := range []struct {
		name string
		have Numbers
		says string // empty for no loss
	}{
		{"what was committed", Numbers{20, 50}, ""},
		{"what was announced, too", Numbers{21, 52}, ""},
		{"more than the file knows, after a power loss", Numbers{30, 90}, ""},
		{"the last change, which made no event", Numbers{19, 50}, "its last change"},
		{"changes without events", Numbers{17, 50}, "its last 3 changes"},
		{"one event", Numbers{19, 49}, "its last change, with event 50"},
		{"several events", Numbers{11, 46}, "its last 9 changes, with events 47 to 50"},
		{"all", Numbers{}, "its last 20 changes, with events 1 to 50"},
		{"events, in a database of an older program", Numbers{25, 46}, "events 47 to 50"},
	} {
		l, ok := i.lossOf(c.have)
		if ok != (c.says != "") || ok && string(l.Words()) != c.says {
			t.Errorf("%s: it says %q (%t), want %q", c.name, l.Words(), ok, c.says)
		}
	}
}
