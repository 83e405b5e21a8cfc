package testenv

import (
	"strconv"
	"strings"
	"unicode"
)

// Unquoted returns a line of tt's without what stands in it in quotation marks, and without the arguments of commands in those of a shell:
// what is left are tt's own words and plain names. ok is false if a quotation has no end.
func Unquoted(line string) (ours string, ok bool) {
	wasQuoted := false
	for {
		i := strings.IndexAny(line, `"'`)
		if i < 0 {
			return ours + line, true
		}
		ours, line = ours+line[:i], line[i:]
		isOpening := ours == "" || strings.HasSuffix(strings.TrimSuffix(ours, "$"), " ")
		if wasQuoted = wasQuoted && i == 0; line[0] == '\'' && (wasQuoted || !isOpening) {
			ours, line, wasQuoted = ours+"'", line[1:], false
			continue
		}

		size := quotedSize(line, strings.HasSuffix(ours, "$"))
		if size == 0 {
			return ours, false
		}
		line, wasQuoted = line[size:], true
	}
}

// quotedSize returns the size of the quotation with which a text begins, or 0 if it has no end. Double marks are those of a string in Go if
// such a one can be read, and else end at the next one.
func quotedSize(text string, escapes bool) int {
	inside := text[1:]
	switch {
	case text[0] == '"':
		if name, err := strconv.QuotedPrefix(text); err == nil {
			return len(name)
		}
	case escapes: // $'…'
		inside = strings.ReplaceAll(strings.ReplaceAll(inside, `\\`, "--"), `\'`, "--")
	default:
		inside = strings.ReplaceAll(inside, `'\''`, "----")
	}
	end := strings.IndexByte(inside, text[0])
	if end < 0 {
		return 0
	}
	return end + len(`""`)
}

// HasUnseen reports whether a text has a character that nobody sees, beside line breaks.
func HasUnseen(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
}
