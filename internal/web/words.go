package web

import (
	"unicode"
	"unicode/utf8"
)

// markWords marks, in lines of a diff that replace others, the words that differ. Lines replace each other if as many
// were removed as added in one place; of others nobody can say which became which.
func markWords(lines []diffLine) {
	for i := 0; i < len(lines); {
		removed := countKind(lines[i:], "del")
		added := countKind(lines[i+removed:], "add")
		if removed > 0 && removed == added {
			for k := range removed {
				markPair(&lines[i+k], &lines[i+removed+k])
			}
		}

		i += max(removed+added, 1)
	}
}

// countKind counts the lines of a kind at the beginning.
func countKind(lines []diffLine, kind string) (n int) {
	for n < len(lines) && lines[n].Kind == kind {
		n++
	}
	return n
}

// markPair marks what differs between a line and the one that replaces it, in whole words. Lines that have little in
// common stay as they are: everything in them would be marked.
func markPair(old, now *diffLine) {
	start := commonStart(old.Text, now.Text)
	end := commonEnd(old.Text[start:], now.Text[start:])
	shared, longest := start+end, max(len(old.Text), len(now.Text))
	if shared == 0 || shared*3 < longest || old.Text == now.Text {
		return
	}

	old.split(start, end)
	now.split(start, end)
}

// split divides the text of a line in what comes before the change, the change, and the rest of end bytes.
func (l *diffLine) split(start, end int) {
	l.Before, l.Marked, l.After = l.Text[:start], l.Text[start:len(l.Text)-end], l.Text[len(l.Text)-end:]
}

// commonStart returns how many bytes two texts begin with alike, without a part of a word.
func commonStart(a, b string) int {
	n, whole := 0, 0
	for n < len(a) && n < len(b) {
		x, size := utf8.DecodeRuneInString(a[n:])
		if y, _ := utf8.DecodeRuneInString(b[n:]); x != y {
			break
		}
		if n += size; !isWord(x) {
			whole = n
		}
	}

	if startsInWord(a[n:]) || startsInWord(b[n:]) {
		return whole
	}
	return n
}

// commonEnd returns how many bytes two texts end with alike, without a part of a word.
func commonEnd(a, b string) int {
	n, whole := 0, 0
	for n < len(a) && n < len(b) {
		x, size := utf8.DecodeLastRuneInString(a[:len(a)-n])
		if y, _ := utf8.DecodeLastRuneInString(b[:len(b)-n]); x != y {
			break
		}
		if n += size; !isWord(x) {
			whole = n
		}
	}

	if endsInWord(a[:len(a)-n]) || endsInWord(b[:len(b)-n]) {
		return whole
	}
	return n
}

// startsInWord reports whether a text begins with a character of a word.
func startsInWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isWord(r)
}

// endsInWord reports whether a text ends with a character of a word.
func endsInWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return isWord(r)
}

// isWord reports whether a character belongs to a word.
func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
