package recording

import (
	"strings"
	"testing"
)

// A screen shows what a terminal shows, however what is written is cut into pieces.
func TestScreenIsATerminal(t *testing.T) {
	for _, c := range []struct{ name, writes, shows string }{
		{"lines", "one\r\ntwo\rT", "one\nTwo\n"},
		{"a long line goes on below", "0123456789abc", "0123456789\nabc\n"},
		{"a wide character that doesn't fit, too", "012345678漢", "012345678\n漢\n"},
		{"what is typed away", "abc\b\b \b", "a c\n\n"},
		{"the first line goes", "1\r\n2\r\n3\r\n4", "2\n3\n4"},
		{"accents", "e\u0301t\u00e9", "e\u0301t\u00e9\n\n"},
		{"places, and the rest of a line", "\x1b[Habcdef\x1b[1;3H\x1b[K\x1b[2;2Hx", "ab\n x\n"},
		{"all is erased", "abc\x1b[2J", "\n\n"},
		{"the second screen goes again", "first\x1b[?1049h\x1b[H\x1b[2Jsecond\x1b[?1049l", "first\n\n"},
		{"hues aren't text", "\x1b[1;31mred\x1b[0m \x1b[7m>\x1b[0m\a", "red >\n\n"},
	} {
		whole, pieces := NewScreen(10, 3), NewScreen(10, 3)
		if _, err := whole.Write([]byte(c.writes)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}

		for i := range len(c.writes) {
			if _, err := pieces.Write([]byte{c.writes[i]}); err != nil {
				t.Errorf("%s, in pieces: %v", c.name, err)
			}
		}

		if whole.Text() != c.shows || pieces.Text() != c.shows {
			t.Errorf("%s: it shows\n%s\nand in pieces\n%s\nwant\n%s", c.name, whole.Text(), pieces.Text(), c.shows)
		}
	}
}

// What a screen doesn't know is no silent mistake in a picture.
func TestScreenRefuses(t *testing.T) {
	for writes, why := range map[string]string{
		"\x1b[5A":                   "sequence",
		"\x1b]0;title\a":            "sequence",
		"\x1b[38;5;200m":            "look",
		"\x1b[9;99H":                "cursor goes",
		"\v":                        `'\v'`,
		"\x1b[?7l01234567890":       "line 1 is wider",
		"\x1b[?7l0123456789漢":       "line 1 is wider",
		"\x1b[?25l0123456789\x1b[K": "last column",
	} {
		if _, err := NewScreen(10, 3).Write([]byte(writes)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", writes, err, why)
		}
	}
}
