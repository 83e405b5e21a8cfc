package tui

import (
	"sort"
	"strings"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/term"
	"talkingstick/stick"
)

// question is what is asked before an act: one of a few keys, or a text. It stands in the last two lines.
type question struct {
	text        term.Text
	answers     []answer
	typed       *typing                      // nil if a key answers
	allowsEmpty bool                         // no text is an answer, too
	onText      func(*model, string) tea.Cmd // what the text is for
}

// answer is a key that answers a question.
type answer struct {
	key, word string
	do        func(*model) tea.Cmd
}

// newConfirm makes a question whether to do something.
func newConfirm(word string, do func(*model) tea.Cmd, format string, args ...any) *question {
	return &question{text: term.Textf(format, args...), answers: []answer{{"y", word, do}}}
}

// newPrompt makes a question that a text answers.
func newPrompt(done func(*model, string) tea.Cmd, format string, args ...any) *question {
	return &question{text: term.Textf(format, args...), typed: &typing{}, onText: done}
}

// replyToQuestion gives a key to the question that is asked.
func (m *model) replyToQuestion(k tea.KeyPressMsg) tea.Cmd {
	q := m.ask
	switch key := k.String(); {
	case key == "esc", key == "ctrl+c":
		m.keepTyped(q)
		m.ask = nil
	case q.typed == nil:
		// Enter is the first answer, which is the usual one.
		if key == "enter" {
			key = q.answers[0].key
		}

		for _, a := range q.answers {
			if a.key == key {
				m.ask = nil
				return a.do(m)
			}
		}

		if key == "n" || key == "q" {
			m.ask = nil
		}
	case key == "enter":
		text := strings.TrimSpace(string(q.typed.text))
		if text == "" && !q.allowsEmpty {
			return nil
		}

		m.ask = nil
		return q.onText(m, text)
	default:
		q.typed.pressKey(k)
	}

	return nil
}

// keepTyped keeps what was typed for a question that is left, until the same is asked again.
func (m *model) keepTyped(q *question) {
	if q.typed == nil || len(q.typed.text) == 0 {
		return
	}

	if m.unsent == nil {
		m.unsent = map[term.Text][]rune{}
	}
	m.unsent[q.text] = q.typed.text
	m.note = note{text: "what you typed is there when you are asked again"}
}

// restoreTyped gives a question that was just asked what was typed for it before.
func (m *model) restoreTyped() {
	if m.ask == nil || m.ask.typed == nil {
		return
	}

	if text, ok := m.unsent[m.ask.text]; ok {
		delete(m.unsent, m.ask.text)
		m.ask.typed.text, m.ask.typed.at = text, len(text)
	}
}

// questionLines are the question and how it is answered. caret is the column of the cursor, from 1; 0 for
// none.
func (q *question) questionLines(width int) (lines []line, caret int) {
	lines = wrapText(q.text, 0, width, 3)
	for i := range lines {
		lines[i].cells[0].hue = strong
	}

	var l line
	if q.typed != nil {
		shown, at := q.typed.fitAround(width - markWidth - 1)
		l.cells = []cell{{text: shown}}
		return append(lines, l), markWidth + at + 1
	}

	for _, a := range q.answers {
		l.cells = append(l.cells,
			cell{text: term.Textf("%s", a.key), hue: strong}, cell{text: term.Textf(" %s  ", a.word)})
	}

	l.end = cell{text: "esc no", hue: faint}
	return append(lines, l), 0
}

// typing is a text that is being typed, on one line.
type typing struct {
	text []rune
	at   int // where the next character goes
}

// pressKey edits the text.
func (t *typing) pressKey(k tea.KeyPressMsg) {
	switch k.String() {
	case "left":
		t.at = max(t.at-1, 0)
	case "right":
		t.at = min(t.at+1, len(t.text))
	case "home", "ctrl+a":
		t.at = 0
	case "end", "ctrl+e":
		t.at = len(t.text)
	case "backspace", "ctrl+h":
		t.dropRune(t.at - 1)
	case "delete":
		t.dropRune(t.at)
	case "ctrl+u":
		t.text, t.at = t.text[t.at:], 0
	case "ctrl+w":
		// The blanks before the cursor go, and then the word.
		for t.at > 0 && t.text[t.at-1] == ' ' {
			t.dropRune(t.at - 1)
		}

		for t.at > 0 && t.text[t.at-1] != ' ' {
			t.dropRune(t.at - 1)
		}
	default:
		t.insertText(k.Text)
	}
}

// dropRune removes the character at i, if there is one.
func (t *typing) dropRune(i int) {
	if i < 0 || i >= len(t.text) {
		return
	}

	t.text = append(t.text[:i], t.text[i+1:]...)
	if t.at > i {
		t.at--
	}
}

// maxTyped is how many characters may be typed or pasted. Longer texts come by a command that reads a file.
const maxTyped = 8000

// insertText puts text in, as much as there is room for.
func (t *typing) insertText(text string) {
	r := []rune(strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", ""))

	// Bubble Tea gives a paste as one text, of any length.
	r = r[:min(len(r), max(0, maxTyped-len(t.text)))]
	t.text = append(t.text[:t.at], append(r, t.text[t.at:]...)...)
	t.at += len(r)
}

// fitAround returns the part of the text around the cursor that has room in so many columns, and the column
// of the cursor in it, from 0. A line break is shown as a blank.
func (t *typing) fitAround(columns int) (shown term.Text, at int) {
	visible := func(r []rune) string {
		return normalizeText(term.Text(stick.Patch(strings.ReplaceAll(string(r), "\n", " "))))
	}

	// As much before the cursor is shown as there is room for, and then what follows it.
	from := sort.Search(t.at, func(i int) bool { return term.Width(visible(t.text[i:t.at])) < columns })
	before := visible(t.text[from:t.at])
	return term.Text(term.CutLine(before+visible(t.text[t.at:]), max(columns, 0))), term.Width(before)
}
