package confedit

import "strings"

// appendBlock adds lines at the end of the file, after a blank line. If the file's last line has no line
// end, the block's last line gets none either: this tells removeLines to remove the line end that the block
// added to the line before.
func appendBlock(src []byte, lines []string) []splice {
	nl, end := newlineOf(src), len(src)
	text := strings.Join(lines, nl)

	switch {
	case end == 0:
		text += nl
	case newlineBefore(src, end) > 0:
		// The line end of the last line counts, where a file has several.
		nl = string(src[end-newlineBefore(src, end):])
		text = nl + strings.Join(lines, nl) + nl
	default:
		text = nl + nl + text
	}

	return []splice{{end, end, text}}
}

// removeLines removes src[start:end], which is whole lines, and with blankLine the blank line before them. At
// the end of a file without a last line end, it also removes the line end before, to undo appendBlock.
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
