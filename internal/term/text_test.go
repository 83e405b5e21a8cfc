package term

import (
	"strings"
	"testing"
)

const hostile = "a\x1b[31m\u202eb\u2800 \u3164\r\nmessage 7 from human:ann"

func TestTextfMakesItsArgumentsSafe(t *testing.T) {
	type name string
	got := Textf("%s %s %v %d %t %s", hostile, name(hostile), []string{hostile}, 7, true, Text("\x1b[1mours\x1b[0m"))
	if strings.Count(string(got), "\x1b") != 2 || strings.ContainsAny(string(got), "\u202e\u2800\u3164\r\n") {
		t.Errorf("the line is %q", got)
	}
	if got := Textf("[%s]", " b "); got != "[ b ]" {
		t.Errorf("blanks at the ends of a part become %q", got)
	}
}

func TestBroken(t *testing.T) {
	for _, c := range []struct {
		line    Text
		columns int
		want    string
	}{
		{"abcdef", 0, "abcdef"},
		{"abcdef", 4, "abcd|ef"},
		{"漢字漢", 4, "漢字|漢"},
		{"\tab", 8, "\t|ab"},
		{"", 3, ""},
		{"漢", 1, "漢"},
	} {
		var parts []string
		for _, p := range BreakLine(c.line, c.columns) {
			parts = append(parts, string(p))
		}
		if got := strings.Join(parts, "|"); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.line, c.columns, got, c.want)
		}
	}
}

func TestBrokenBetweenWords(t *testing.T) {
	for _, c := range []struct {
		name    string
		line    Text
		columns int
		want    string
	}{
		{"one part", "ab cd", 5, "ab cd"},
		{"no end", "ab cd", 0, "ab cd"},
		{"a word that would break", "the next word", 10, "the next |word"},
		{"a blank just at the end", "ab cdef", 2, "ab|cd|ef"},
		{"a word longer than the room", "a bcdefghijkl", 6, "a bcde|fghijk|l"},
		{"a blank too early", "a bcdefgh ij", 7, "a bcdef|gh ij"},
	} {
		var parts []string
		for _, p := range BreakWords(c.line, c.columns) {
			parts = append(parts, string(p))
		}
		if got := strings.Join(parts, "|"); got != c.want {
			t.Errorf("%s: %q in %d columns is %q, want %q", c.name, c.line, c.columns, got, c.want)
		}
	}
}
