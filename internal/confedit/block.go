package confedit

import "strings"

// appendBlock puts lines at the end of the file, behind a blank line. Where the file's last line
// lacks its end, so does the block's: by that, removing it knows to take away the end that this
// gave to the line before.
func appendBlock(src []byte, lines []string) []splice {
	nl, end := newline(src), len(src)
	text := strings.Join(lines, nl)
	switch {
	case end == 0:
		text += nl
	case newlineBefore(src, end) > 0:
		nl = string(src[end-newlineBefore(src, end):])
		text = nl + strings.Join(lines, nl) + nl
	default:
		text = nl + nl + text
	}
	return []splice{{end, end, text}}
}

// removeLines takes src[start:end] away, which is whole lines, and with blankLine the blank line before
// them. At the end of a file whose last line has no end, the line before loses its end too: what
// appendBlock did is undone.
func removeLines(src []byte, start, end int, blankLine bool) []splice {
	if blankLine {
		if n := newlineBefore(src, start); n > 0 && (start == n || newlineBefore(src, start-n) > 0) {
			start -= n
		}
	}
	if end == len(src) && newlineBefore(src, end) == 0 {
		start -= newlineBefore(src, start)
	}
	return []splice{{start, end, ""}}
}
