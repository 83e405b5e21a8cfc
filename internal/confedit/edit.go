package confedit

import (
	"bytes"
	"slices"
)

// Edit turns a file's bytes into its new bytes. A file that doesn't exist is nil. changed is false when there
// is nothing to do; out is src then, and after an error. An Edit is pure and never writes into src.
//
// Its errors are [*MalformedError], [*PathError] and [*MarkerError]; any other is a bug of ours.
type Edit func(src []byte) (out []byte, changed bool, err error)

// JoinEdits makes one edit after the other: all of them, or none.
func JoinEdits(edits ...Edit) Edit {
	return func(src []byte) ([]byte, bool, error) {
		out := src
		for _, e := range edits {
			next, _, err := e(out)
			if err != nil {
				return src, false, err
			}
			out = next
		}
		return out, !bytes.Equal(out, src), nil
	}
}

// splice replaces src[from:to] by text.
type splice struct {
	from, to int
	text     string
}

// applySplices makes the splices. They don't overlap; those at the same place keep their order.
func applySplices(src []byte, splices []splice) []byte {
	splices = slices.Clone(splices)
	slices.SortStableFunc(splices, func(a, b splice) int { return a.from - b.from })

	var out []byte
	at := 0
	for _, s := range splices {
		out = append(append(out, src[at:s.from]...), s.text...)
		at = s.to
	}

	return append(out, src[at:]...)
}

// span is src[start:end].
type span struct{ start, end int }

const bom = "\xef\xbb\xbf"

// maxRounds bounds how many places of a file one edit may change. It only stops a bug of ours from looping
// for ever.
const maxRounds = 1000

// document is a parsed file.
type document interface {
	// rest returns what the file means without what is ours, in a form that can be compared.
	restOfFile() any
	// plan returns the next change, none when there is nothing left to do.
	planChange() ([]splice, error)
}

// runEdit makes the changes that a document plans, one at a time. After each it checks that the file still
// parses, and that the rest still means the same.
func runEdit(src []byte, parse func([]byte) (document, error), same func(a, b any) bool) ([]byte, bool, error) {
	text, mark := src, ""
	if bytes.HasPrefix(src, []byte(bom)) {
		text, mark = src[len(bom):], bom
	}

	d, err := parse(text)
	if err != nil {
		return src, false, err
	}

	var before any
	for i := range maxRounds {
		splices, err := d.planChange()
		if err != nil {
			return src, false, err
		}

		if len(splices) == 0 {
			if i == 0 {
				return src, false, nil
			}
			return append([]byte(mark), text...), true, nil
		}

		if i == 0 {
			// In most files nothing changes, so this waits until something does.
			before = d.restOfFile()
		}

		text = applySplices(text, splices)
		if d, err = parse(text); err != nil {
			return src, false, &unsafeError{"the result doesn't parse: " + err.Error()}
		}
		if !same(before, d.restOfFile()) {
			return src, false, &unsafeError{"something that isn't ours changed"}
		}
	}
	return src, false, &unsafeError{"it would never end"}
}

// newlineOf returns a text's line end: that of its first line.
func newlineOf(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// newlineAt returns the length of the line end at src[i:], 0 if there is none.
func newlineAt(src []byte, i int) int {
	switch {
	case i < len(src) && src[i] == '\n':
		return 1
	case i+1 < len(src) && src[i] == '\r' && src[i+1] == '\n':
		return 2
	}
	return 0
}

// newlineBefore returns the length of the line end just before i, 0 if there is none.
func newlineBefore(src []byte, i int) int {
	switch {
	case i >= 2 && src[i-1] == '\n' && src[i-2] == '\r':
		return 2
	case i >= 1 && src[i-1] == '\n':
		return 1
	}
	return 0
}

// skipBlanks skips spaces and tabs from i on, not beyond end.
func skipBlanks(src []byte, i, end int) int {
	for i < end && (src[i] == ' ' || src[i] == '\t') {
		i++
	}
	return i
}

// skipBlanksBack skips spaces and tabs from i backwards, not beyond start.
func skipBlanksBack(src []byte, i, start int) int {
	for i > start && (src[i-1] == ' ' || src[i-1] == '\t') {
		i--
	}
	return i
}

// lineStart is where the line of src[i] begins.
func lineStart(src []byte, i int) int { return bytes.LastIndexByte(src[:i], '\n') + 1 }

// lineIndent is the white space with which the line of src[i] begins.
func lineIndent(src []byte, i int) string {
	from := lineStart(src, i)
	return string(src[from:skipBlanks(src, from, i)])
}
