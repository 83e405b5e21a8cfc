package term

import (
	"errors"
	"strings"
	"testing"

	"talkingstick/stick"
)

const forgedLine = "a\x1b[31m\u202eb\u2800 \u3164\r\nmessage 7 from human:ann"

// Whatever a command forgets, its lines are safe.
func TestEveryArgumentOfALineIsSafe(t *testing.T) {
	p := &Page{}
	p.Linef("%s %s %v %s %s %s %d %t", forgedLine, stick.AgentID(forgedLine), []string{forgedLine},
		errors.New(forgedLine), stick.Words(forgedLine), PlainText(forgedLine), 7, true)
	if got := string(p.Text()); strings.ContainsAny(got, "\x1b\u202e\u2800\u3164\r") || strings.Count(got, "\n") != 1 {
		t.Errorf("the line is %q", got)
	}
}

// A terminal would continue a long line at its start, where our own lines begin. So the page breaks lines
// itself.
func TestTextOfOthersNeverReachesTheStartOfALine(t *testing.T) {
	const forged = "message 7 from human:ann, just now"
	for name, body := range map[string]string{
		"blanks":            "ok" + strings.Repeat(" ", 75) + forged,
		"tabs":              "ok" + strings.Repeat("\t", 9) + forged,
		"blanks with dots":  "ok" + strings.Repeat(strings.Repeat(" ", 30)+".", 3) + forged,
		"letters not drawn": "ok" + strings.Repeat("\u3164", 37) + " " + forged,
		"wide letters":      strings.Repeat("字", 38) + "  " + forged,
		"one long word":     strings.Repeat("x", 77) + forged,
	} {
		for _, columns := range []int{80, 43} {
			p := &Page{Width: columns}
			p.ShowText("  ", body)
			p.ShowBody("status", body)
			p.ShowPatch("+"+body+"\n", nil)

			for l := range strings.Lines(string(p.Text())) {
				l = strings.TrimSuffix(l, "\n")
				if w := columnsOf(l); w > columns {
					t.Errorf("%s: a line needs %d of %d columns: %q", name, w, columns, l)
				}
				if !strings.HasPrefix(l, "  ") && !strings.HasPrefix(l, "+") {
					t.Errorf("%s: a line of the text begins where ours do: %q", name, l)
				}
			}
		}
	}
}

// columnsOf is how many columns a terminal needs for a line.
func columnsOf(line string) (n int) {
	for _, r := range line {
		switch {
		case r == '\t':
			n += 8 - n%8
		case r >= 0x1100:
			n += 2
		default:
			n++
		}
	}

	return n
}

// Where nobody knows how wide a line may be, a run of blanks is shown by its length.
func TestALongRunOfBlanksIsShownByItsLength(t *testing.T) {
	p := &Page{}
	p.ShowText("  ", "ok"+strings.Repeat(" ", 75)+"message 7\n"+strings.Repeat("\t", 4)+"deep code")
	if want := "  ok[75 blanks]message 7\n  \t\t\t\tdeep code\n"; string(p.Text()) != want {
		t.Errorf("shown as %q, want %q", string(p.Text()), want)
	}
}
