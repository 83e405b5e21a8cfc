package tui

import (
	"slices"
	"strconv"
	"strings"

	"talkingstick/internal/term"
	stickdiff "talkingstick/stick/diff"
)

// placed is a page that says where on it somebody is.
type placed interface {
	// placeText names the place of the line with a key; empty for none.
	placeText(key string) term.Text
}

// diffSteps are the keys that go through a diff: to what kinds of lines, and which way.
var diffSteps = map[string]struct {
	kinds string
	by    int
}{
	"]": {"f", 1}, "[": {"f", -1}, // files
	"}": {"f@", 1}, "{": {"f@", -1}, // hunks
}

// stepInDiff selects the next file or hunk of a diff, or the one before. It is false for another key or another page.
func (m *model) stepInDiff(key string) bool {
	step, ok := diffSteps[key]
	p, isDiff := m.shownPage().page.(diffPage)
	if !ok || !isDiff {
		return false
	}

	o := m.shownPage()
	// Above the diff is the list of its files.
	at := p.lineAt(o.key)
	for i := at + step.by; i >= 0 && i < len(p.lines); i += step.by {
		l := p.lines[i]
		if l.kind != 0 && strings.IndexByte(step.kinds, l.kind) >= 0 {
			o.key = lineKey(i)
			break
		}
	}

	m.settleSelection()
	return true
}

// lineAt is the place of the line with a key, -1 for one above the diff.
func (p diffPage) lineAt(key string) int {
	digits, ok := strings.CutPrefix(key, lineKeyPrefix)
	nth, err := strconv.Atoi(digits)
	if !ok || err != nil || nth >= len(p.lines) {
		return -1
	}
	return nth
}

// placeText names the file that is read, and says which of all files it is.
func (p diffPage) placeText(key string) term.Text {
	nth, path := 0, ""
	for i := range p.lineAt(key) + 1 {
		l := p.lines[i]
		if l.kind == 'f' {
			nth, path = nth+1, ""
		}
		if l.path != "" {
			path = l.path
		}
	}

	if nth == 0 || nth > len(p.res.Files) {
		return ""
	}
	if path == "" {
		path = p.res.Files[nth-1].Path
	}
	return term.Textf("%s, file %d of %d", term.Path(path), nth, len(p.res.Files))
}

// numberWidth is how wide the numbers of lines are, and leastNumbered how wide a screen is at least that shows them.
const (
	numberWidth   = 6
	leastNumbered = 60
)

// numberedLines shows a line of a diff after its number.
func (s *canvas) numberedLines(l diffLine, h hue) []line {
	if s.width < leastNumbered {
		return s.sourceLines(l.text, h, lineKey(l.nth))
	}

	narrow := *s
	narrow.width -= numberWidth
	lines := narrow.sourceLines(l.text, h, lineKey(l.nth))
	for i := range lines {
		number := cell{width: numberWidth, hue: faint}
		if i == 0 && l.at > 0 {
			number.text = padLeft(term.Textf("%d", l.at), numberWidth-1)
		}
		lines[i].cells = slices.Insert(lines[i].cells, 0, number)
	}
	return lines
}

// describeStat says in a word what a change does to a file whose lines it leaves as they are; empty for another one.
func describeStat(f stickdiff.FileStat) string {
	switch {
	case f.Added < 0:
		return "binary"
	case f.Added > 0 || f.Deleted > 0:
		return ""
	case f.From != "" && f.From != f.Path:
		return "renamed"
	}
	return "no lines"
}
