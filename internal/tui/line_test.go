package tui

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/term"
)

// hostile are texts that others may have written.
var hostile = []string{
	"<script>alert(1)</script>", "\x1b[2J\x1b[31mred\x1b]0;title\x07", "\u202eright to left\u202c",
	"a\nhuman:ann accepted", strings.Repeat("😀", 1024),
	"👨‍👩‍👧‍👦 🇩🇪🇯🇵 👍🏽 ❤️", "Z" + strings.Repeat("\u0301\u0323", 500), "한글 漢字 ﾊﾝ ＡＢ", "\u1112\u1161\u11ab",
	"\t\ttabs\x00\x7f", "नमस्ते स्वागत", "مرحبا", strings.Repeat("W", 5000), "",
}

// A drawn line never needs more columns than there are, and holds nothing that a terminal acts on but our own
// hues.
func TestLineFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() term.Text { return term.Textf("%s", hostile[r.IntN(len(hostile))]) }
	for range 3000 {
		l := line{key: "k", end: cell{text: text()}}
		for range r.IntN(4) {
			l.cells = append(l.cells, cell{text: text(), hue: good, width: r.IntN(3) * 10})
		}

		width := 20 + r.IntN(100)
		for _, selected := range []bool{false, true} {
			for _, color := range []bool{false, true} {
				got := l.drawLine(width, selected, color)
				if n := drawnWidth(got); n > width || selected && color && n != width {
					t.Fatalf("in %d columns it takes %d: %q", width, n, got)
				}
				bare := strip(got)
				if strings.ContainsAny(bare, "\x1b\u202e\n\r\t\x07\x00") || !color && strings.Contains(got, "\x1b") {
					t.Fatalf("the line is %q", got)
				}
			}
		}
	}
}

var hues = regexp.MustCompile(`\x1b\[[0-9;]+m`)

// strip removes the hues of a drawn line.
func strip(drawn string) string { return hues.ReplaceAllString(drawn, "") }

func TestSteady(t *testing.T) {
	for text, want := range map[string]string{
		"🇩🇪 ok": "DE ok", "👍🏽": "👍", "❤️": "❤", "e\u0301": "e\u0301",
		"Z" + strings.Repeat("\u0301", 9): "Z" + strings.Repeat("\u0301", 3), "a\tb": "a    b",
	} {
		if got := normalizeText(term.Text(text)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text   term.Text
		indent int
		most   int
		want   string
	}{
		{"one two three", 0, 0, "one two|three"},
		{"abcdefghijklmnop", 0, 0, "abcdefghij|klmnop"},
		{"漢字漢字漢字", 0, 0, "漢字漢字漢|字"},
		{"a\nb", 2, 0, "  a|  b"},
		{"a\nb\nc\nd", 0, 3, "a|b|… 2 more lines"},
		{"", 0, 0, ""},
	} {
		var got []string
		for _, l := range wrapText(c.text, c.indent, 12, c.most) {
			got = append(got, string(l.cells[0].text))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, strings.Join(got, "|"), c.want)
		}
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		text    term.Text
		columns int
		want    term.Text
	}{{"/a/b", 4, "/a/b"}, {"/a/bc", 4, "…/bc"}, {"漢字漢字", 5, "…漢字"}, {"", 3, ""}, {"漢字", 4, "漢字"}} {
		if got := keepTail(c.text, c.columns); got != c.want {
			t.Errorf("the tail of %q is %q, want %q", c.text, got, c.want)
		}
	}
}
