package stick_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                     "plain",
		"  a \t b\r\nc  ":           "a b c",
		"\x1b[31mred\x1b[0m":        "red",
		"\x1b]0;title\aend":         "]0;title end",
		"\x9b31mred":                "\uFFFD31mred",
		"a\u009b31mb":               "a 31mb",
		"a\x00b\x7fc":               "a b c",
		"zero\u200bwidth":           "zero width",
		"right\u202eto left":        "right to left",
		"line\u2028separator":       "line separator",
		"größe ✓ 日本":                "größe ✓ 日本",
		"":                          "",
		"\x1b\x1b\x1b":              "",
		"half a character \xe6\x97": "half a character \uFFFD",
	} {
		sticktest.Equal(t, strings.ToValidUTF8(in, "?"), stick.Line(in), want)
	}

	t.Run("never a control character", rapid.MakeCheck(func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		n := rapid.IntRange(1, 40).Draw(t, "n")
		for _, l := range []string{stick.Line(s), stick.Clip(s, n)} {
			for _, r := range l {
				if !unicode.IsPrint(r) {
					t.Fatalf("%q has %U", l, r)
				}
			}

			if !utf8.ValidString(l) || stick.Line(l) != l || l != strings.TrimSpace(l) {
				t.Fatalf("%q isn't one clean line", l)
			}
		}

		if utf8.RuneCountInString(stick.Clip(s, n)) > n {
			t.Fatalf("%q has more than %d characters", stick.Clip(s, n), n)
		}

		for _, r := range stick.Block(s) + stick.Patch(s) {
			if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
				t.Fatalf("the block %q or the patch %q has %U", stick.Block(s), stick.Patch(s), r)
			}
		}

		if p := stick.Path(s); strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("the path %q has a character that can't be seen", p)
		}
	}))
}

func TestPath(t *testing.T) {
	for in, want := range map[string]string{
		" a  b.txt":     " a  b.txt",
		"größe/日本.txt":  "größe/日本.txt",
		`"quoted".txt`:  `"quoted".txt`,
		"a\tb":          `"a\tb"`,
		"a\u00a0b":      `"a\u00a0b"`,
		"\x1b[31m.txt":  `"\x1b[31m.txt"`,
		"right\u202e":   `"right\u202e"`,
		"a\u200bb":      `"a\u200bb"`,
		"filler\u3164":  `"filler\u3164"`,
		"a\ufe0f":       `"a\ufe0f"`,
		"join\u034f":    `"join\u034f"`,
		"\"ö\\\u00ad":   `"\"ö\\\u00ad"`,
		"latin\xf6.txt": `"latin\xf6.txt"`,
	} {
		sticktest.Equal(t, want, stick.Path(in), want)
	}
}

func TestPatch(t *testing.T) {
	sticktest.Equal(t, "blanks stay", stick.Patch("+a  b\tc \n"), "+a  b\tc \n")
	sticktest.Equal(t, "what can't be seen is named",
		stick.Patch("+a\u00a0b\u202e\r\n"), "+a<U+00A0>b<U+202E><U+000D>\n")
	sticktest.Equal(t, "escapes are named", stick.Patch("\x1b[31m"), "<U+001B>[31m")
	sticktest.Equal(t, "invalid text is marked", stick.Patch("a\xffb"), "a\uFFFDb")
}

func TestBlock(t *testing.T) {
	sticktest.Equal(t, "lines stay", stick.Block("a\n\tb  c\r\n"), "a\n\tb  c\n")
	sticktest.Equal(t, "five tabs stay", stick.Block("a\t\t\t\t\tb"), "a\t\t\t\t\tb")
	sticktest.Equal(t, "six are counted", stick.Block("a\t\t\t\t\t\tb"), "a[48 blanks]b")
	sticktest.Equal(t, "escapes go", stick.Block("\x1b[1;31mred\x1b[0m\a\x00\x1b[K"), "red")
	sticktest.Equal(t, "titles are shown", stick.Block("\x1b]0;a title\a"), "]0;a title")
	sticktest.Equal(t, "what no sequence is, too", stick.Block("\x1b[\x1b[31\nx \x1b["), "[[31\nx [")
	sticktest.Equal(t, "C1 escapes go", stick.Block("a\u009bb"), "ab")
	sticktest.Equal(t, "invalid text is marked", stick.Block("a\xffb"), "a\uFFFDb")
}

func TestClip(t *testing.T) {
	sticktest.Equal(t, "short", stick.Clip("abc", 3), "abc")
	sticktest.Equal(t, "long", stick.Clip("abcd", 3), "ab…")
	sticktest.Equal(t, "characters, not bytes", stick.Clip("日本語", 3), "日本語")
	sticktest.Equal(t, "two lines", stick.Clip("a\nb", 3), "a b")
}

func TestCount(t *testing.T) {
	for n, want := range map[int]stick.Words{0: "0 tasks", 1: "1 task", 2: "2 tasks"} {
		sticktest.Equal(t, "count", stick.Count(n, "task"), want)
	}
}

func TestLasted(t *testing.T) {
	for d, want := range map[time.Duration]stick.Words{
		-time.Hour: "0 s", 0: "0 s", time.Second - 1: "0 s", time.Second: "1 s", 59 * time.Second: "59 s",
		time.Minute: "1 min", time.Hour - 1: "59 min", time.Hour: "1 h", time.Hour + 59*time.Second: "1 h",
		65 * time.Minute: "1 h 5 min", 61 * time.Minute: "1 h 1 min",
		24*time.Hour - 1: "23 h 59 min", 24 * time.Hour: "1 d", 24*time.Hour + 59*time.Minute: "1 d",
		51 * time.Hour: "2 d 3 h",
	} {
		sticktest.Equal(t, d.String(), stick.Lasted(d), want)
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]stick.Words{
		-time.Hour: "just now", 0: "just now", time.Second - 1: "just now", time.Second: "1 s",
		59 * time.Second: "59 s",
		time.Minute:      "1 min", time.Hour - 1: "59 min", time.Hour: "1 h", 48*time.Hour - 1: "47 h",
		48 * time.Hour: "2 d",
	} {
		sticktest.Equal(t, d.String(), stick.Age(d), want)
	}

	sticktest.Equal(t, "ago", stick.Ago(4*time.Minute), "4 min ago")
	sticktest.Equal(t, "just now", stick.Ago(0), "just now")
}
