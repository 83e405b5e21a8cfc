package confedit

import (
	"bytes"
	"regexp"
	"strings"
)

// Begin and End are the lines around our block in a Markdown file. Such a line counts wherever it is, even
// in an example between backquotes.
const (
	Begin = "<!-- talking-stick:begin -->"
	End   = "<!-- talking-stick:end -->"
)

// SetBlock puts a block of ours with this text into the file, between [Begin] and [End]. A block that is
// there gets the text in its place; a new one is added at the end, after a blank line.
func SetBlock(text string) Edit {
	lines := []string{Begin}
	if text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"); text != "" {
		lines = append(lines, strings.Split(text, "\n")...)
	}
	lines = append(lines, End)

	// A marker in the text would end the block there.
	for _, l := range lines[1 : len(lines)-1] {
		if l = strings.TrimSpace(l); l == Begin || l == End {
			return failingEdit(&unsafeError{"the text has a marker in it"})
		}
	}

	return func(src []byte) ([]byte, bool, error) {
		body, mark := cutBOM(src)
		b, ok, err := findBlock(body)
		if err != nil {
			return src, false, err
		}
		if !ok {
			return append(mark, applySplices(body, appendBlock(body, lines))...), true, nil
		}

		nl := newlineOf(body[b.start:])
		want := strings.Join(lines, nl)
		end := b.end - newlineBefore(body, b.end)

		if string(body[b.start:end]) == want {
			return src, false, nil
		}
		return append(mark, applySplices(body, []splice{{b.start, end, want}})...), true, nil
	}
}

// RemoveBlock removes our block, and the blank line before it.
func RemoveBlock() Edit {
	return func(src []byte) ([]byte, bool, error) {
		body, mark := cutBOM(src)
		b, ok, err := findBlock(body)
		if err != nil || !ok {
			return src, false, err
		}

		return append(mark, applySplices(body, removeLines(body, b.start, b.end, true))...), true, nil
	}
}

// SetImport has a file of instructions import another one, by the line @file. It does nothing where somebody
// has written that import already. Otherwise the import is a block of ours, which [RemoveBlock] removes.
// The file can't have another block.
func SetImport(file string) Edit {
	line := regexp.MustCompile(`(?m)(^|[ \t])@(\./)?` + regexp.QuoteMeta(file) + `([ \t\r]|$)`)
	set := SetBlock("@" + file)
	return func(src []byte) ([]byte, bool, error) {
		body, _ := cutBOM(src)
		if _, ok, err := findBlock(body); err == nil && !ok && line.Match(body) {
			return src, false, nil
		}
		return set(src)
	}
}

// cutBOM splits off a byte order mark. mark has no spare capacity, so appending to it copies.
func cutBOM(src []byte) (body, mark []byte) {
	if rest, ok := bytes.CutPrefix(src, []byte(bom)); ok {
		return rest, []byte(bom)
	}
	return src, nil
}

// findBlock finds the lines from Begin to End, with their line ends.
func findBlock(src []byte) (block span, ok bool, err error) {
	// begin and end are numbers of lines, from 1.
	begin, end := 0, 0
	at := 0

	for n, l := range bytes.SplitAfter(src, []byte("\n")) {
		text := string(bytes.TrimSpace(l))
		switch {
		case text == Begin && begin > 0:
			return span{}, false, &MarkerError{Line: n + 1, Why: "a second block begins"}
		case text == Begin:
			begin, block.start = n+1, at
		case text == End && begin == 0:
			return span{}, false, &MarkerError{Line: n + 1, Why: "a block ends that hasn't begun"}
		case text == End && end > 0:
			return span{}, false, &MarkerError{Line: n + 1, Why: "the block ends a second time"}
		case text == End:
			end, block.end = n+1, at+len(l)
		}

		at += len(l)
	}

	if begin > 0 && end == 0 {
		return span{}, false, &MarkerError{Line: begin, Why: "the block that begins here has no end"}
	}
	return block, begin > 0, nil
}
