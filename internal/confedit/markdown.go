package confedit

import (
	"bytes"
	"regexp"
	"strings"
)

// Begin and End are the lines around our block in a Markdown file. A line that is nothing but a
// marker counts wherever it stands, also in an example between backquotes.
const (
	Begin = "<!-- talking-stick:begin -->"
	End   = "<!-- talking-stick:end -->"
)

// SetBlock sees to it that the file has a block of ours, with these lines between [Begin] and [End].
// It is appended behind a blank line, or, if there is one, given this text where it stands.
func SetBlock(text string) Edit {
	lines := []string{Begin}
	if text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"); text != "" {
		lines = append(lines, strings.Split(text, "\n")...)
	}
	lines = append(lines, End)
	for _, l := range lines[1 : len(lines)-1] {
		if l = strings.TrimSpace(l); l == Begin || l == End {
			return failing(&unsafeError{"the text has a marker in it"})
		}
	}
	return func(src []byte) ([]byte, bool, error) {
		body, mark := cutBOM(src)
		b, ok, err := findBlock(body)
		if err != nil {
			return src, false, err
		}
		if !ok {
			return append(mark, apply(body, appendBlock(body, lines))...), true, nil
		}
		nl := newline(body[b.start:])
		want := strings.Join(lines, nl)
		end := b.end - newlineBefore(body, b.end)
		if string(body[b.start:end]) == want {
			return src, false, nil
		}
		return append(mark, apply(body, []splice{{b.start, end, want}})...), true, nil
	}
}

// RemoveBlock takes our block away, with the blank line before it.
func RemoveBlock() Edit {
	return func(src []byte) ([]byte, bool, error) {
		body, mark := cutBOM(src)
		b, ok, err := findBlock(body)
		if err != nil || !ok {
			return src, false, err
		}
		return append(mark, apply(body, removeLines(body, b.start, b.end, true))...), true, nil
	}
}

// SetImport sees to it that a CLAUDE.md imports a file, by the line @file. Where somebody has written
// that import already, nothing is done; otherwise it is put into a block of ours, so that
// [RemoveBlock] takes away what we put there and nothing else. The file can't have another block.
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

// cutBOM splits a byte order mark off; mark has no room to be appended to in place.
func cutBOM(src []byte) (body, mark []byte) {
	if rest, ok := bytes.CutPrefix(src, []byte(bom)); ok {
		return rest, []byte(bom)
	}
	return src, nil
}

// findBlock finds the lines from Begin to End, with their line ends.
func findBlock(src []byte) (block span, ok bool, err error) {
	begin, end := 0, 0 // lines, from 1
	at := 0
	for n, l := range bytes.SplitAfter(src, []byte("\n")) {
		text := string(bytes.TrimSpace(l))
		switch {
		case text == Begin && begin > 0:
			return span{}, false, &MarkerError{Line: n + 1, Why: "a second block begins"}
		case text == Begin:
			begin, block.start = n+1, at
		case text == End && begin == 0:
			return span{}, false, &MarkerError{Line: n + 1, Why: "a block ends that didn't begin"}
		case text == End && end > 0:
			return span{}, false, &MarkerError{Line: n + 1, Why: "the block ends a second time"}
		case text == End:
			end, block.end = n+1, at+len(l)
		}
		at += len(l)
	}
	if begin > 0 && end == 0 {
		return span{}, false, &MarkerError{Line: begin, Why: "the block that begins here doesn't end"}
	}
	return block, begin > 0, nil
}
