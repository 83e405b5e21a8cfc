package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestTyping(t *testing.T) {
	key := func(k tea.Key) tea.KeyPressMsg { return tea.KeyPressMsg(k) }
	left, back, ctrl := key(tea.Key{Code: tea.KeyLeft}), key(tea.Key{Code: tea.KeyBackspace}), func(r rune) tea.KeyPressMsg {
		return key(tea.Key{Code: r, Mod: tea.ModCtrl})
	}
	for _, c := range []struct {
		keys []tea.KeyPressMsg
		want string
	}{
		{[]tea.KeyPressMsg{left, keyOf("x")}, "one twxo"},
		{[]tea.KeyPressMsg{back, back, keyOf("漢")}, "one t漢"},
		{[]tea.KeyPressMsg{ctrl('w')}, "one "},
		{[]tea.KeyPressMsg{ctrl('w'), ctrl('w'), back}, ""},
		{[]tea.KeyPressMsg{left, left, ctrl('u')}, "wo"},
		{[]tea.KeyPressMsg{ctrl('a'), keyOf("-"), key(tea.Key{Code: tea.KeyDelete})}, "-ne two"},
		{[]tea.KeyPressMsg{ctrl('a'), left, ctrl('e'), keyOf("!")}, "one two!"},
	} {
		typed := typing{}
		typed.insertText("one two")
		for _, k := range c.keys {
			typed.pressKey(k)
		}
		if got := string(typed.text); got != c.want {
			t.Errorf("after %v it is %q, want %q", c.keys, got, c.want)
		}
	}
}

// What is pasted is text, whatever it holds, and doesn't press keys.
func TestPaste(t *testing.T) {
	m := onScreen(pictured(shop()), 80, 24, false)
	performs(t, m, &recorder{})
	m.applyMessage(tea.PasteMsg{Content: "q"})
	m.presses(t, "2", "s")
	m.runs(t, m.applyMessage(tea.PasteMsg{Content: "two\nlines\x1b[2J\x00" + strings.Repeat("x", 2*maxTyped)}))
	if m.ask == nil || len(m.ask.typed.text) != maxTyped {
		t.Fatal("the text isn't taken, or not cut")
	}

	f := drawModel(m)
	if f.caret[0] > 80 || f.caret[1] != 24 || strings.Contains(strings.Join(f.lines, ""), "\x1b") {
		t.Errorf("the caret is at %v, and the screen is\n%q", f.caret, f.lines)
	}

	r := m.env.Operations.(*recorder)
	m.presses(t, "enter")
	if len(r.done) != 2 || !strings.HasPrefix(r.done[0], "send [claude:0d12]  40: two\nlines\x1b[2Jxxx") {
		t.Errorf("it did %.80q", r.done)
	}
}

// The cursor stands where the next character goes, also in a text that is longer than the line.
func TestCaret(t *testing.T) {
	typed := typing{}
	for _, c := range []struct {
		text, shown string
		at          int
	}{{"", "", 0}, {"ab", "ab", 2}, {"漢", "ab漢", 4}, {"cdefgh", "defgh", 5}} {
		typed.insertText(c.text)
		if shown, at := typed.fitAround(6); string(shown) != c.shown || at != c.at {
			t.Errorf("after %q it shows %q with the cursor at %d, want %q and %d", c.text, shown, at, c.shown, c.at)
		}
	}
}

// TestQuestion_Left: what was typed is kept when the question is left, for the same question alone.
func TestQuestion_Left(t *testing.T) {
	r := &recorder{head: "2dd9464f4a0c"}
	m := onScreen(pictured(shop()), 80, 24, false)
	performs(t, m, r)
	m.presses(t, "1", "s", "h", "a", "l", "f", "esc")
	if len(r.done) != 0 || !strings.Contains(drawn(m), "what you typed is there") {
		t.Fatalf("%q\n%s", r.done, drawn(m))
	}

	m.presses(t, "/")
	if strings.Contains(drawn(m), "half") {
		t.Errorf("another question has it\n%s", drawn(m))
	}
	m.presses(t, "esc", "s")
	if !strings.Contains(drawn(m), "half") {
		t.Errorf("it is lost\n%s", drawn(m))
	}
	m.presses(t, " ", "o", "f", "enter")
	if len(r.done) != 1 || !strings.Contains(r.done[0], "half of") {
		t.Errorf("it sends %q", r.done)
	}
}
