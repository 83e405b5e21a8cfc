package store

import (
	"testing"
)

func TestIssued_bytes(t *testing.T) {
	i := issued{database: 1 << 62, committed: numbers{7, 1 << 40}, highest: numbers{8, 1<<40 + 3}, turn: 9}
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
	i := issued{committed: numbers{commit: 20, event: 50}, highest: numbers{commit: 21, event: 52}}
	for _, c := range []struct {
		name string
		have numbers
		says string // empty for no loss
	}{
		{"what was committed", numbers{20, 50}, ""},
		{"what was announced, too", numbers{21, 52}, ""},
		{"more than the file knows, after a power loss", numbers{30, 90}, ""},
		{"the last change, which made no event", numbers{19, 50}, "its last change"},
		{"changes without events", numbers{17, 50}, "its last 3 changes"},
		{"one event", numbers{19, 49}, "its last change, with event 50"},
		{"several events", numbers{11, 46}, "its last 9 changes, with events 47 to 50"},
		{"all", numbers{}, "its last 20 changes, with events 1 to 50"},
		{"events, in a database of an older program", numbers{25, 46}, "events 47 to 50"},
	} {
		l, ok := i.lossOf(c.have)
		if ok != (c.says != "") || ok && string(l.Words()) != c.says {
			t.Errorf("%s: it says %q (%t), want %q", c.name, l.Words(), ok, c.says)
		}
	}
}
