package diff

import (
	"fmt"
	"strconv"
	"strings"

	"talkingstick/stick"
)

// maxLine is the largest number of a line that is read. No file has as many.
const maxLine = 1 << 30

// ParseLines reads a range of lines as people write it: 12 or 12-15.
func ParseLines(s string) (l stick.Lines, ok bool) {
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}

	// ParseUint takes no sign, so that "+5" is no line.
	a, err := strconv.ParseUint(first, 10, 31)
	b, err2 := strconv.ParseUint(last, 10, 31)
	l = stick.Lines{int(a), int(b)}
	return l, err == nil && err2 == nil && 1 <= l[0] && l[0] <= l[1] && l[1] <= maxLine
}

// Hunk is one change of a file between two versions, as git diff -U0 shows it: it replaces Count lines from
// First by NewCount lines from NewFirst. Where a count is 0, the line is the one before.
type Hunk struct{ First, Count, NewFirst, NewCount int }

// ParseHunk reads the header of a hunk: "@@ -12,2 +14,3 @@ …". A count of 1 may be left out.
func ParseHunk(header string) (h Hunk, err error) {
	fields := strings.Fields(header)
	if len(fields) < 4 || fields[0] != "@@" {
		return h, fmt.Errorf("%.100q isn't the header of a hunk", header)
	}
	if h.First, h.Count, err = parseRange(fields[1], "-"); err == nil {
		h.NewFirst, h.NewCount, err = parseRange(fields[2], "+")
	}

	return h, err
}

func parseRange(s, sign string) (first, count int, err error) {
	r, ok := strings.CutPrefix(s, sign)
	begin, length, both := strings.Cut(r, ",")
	if !both {
		length = "1"
	}
	if first, err = strconv.Atoi(begin); err == nil {
		count, err = strconv.Atoi(length)
	}
	if err != nil || !ok || first < 0 || count < 0 || first > maxLine || count > maxLine {
		return 0, 0, fmt.Errorf("%.100q isn't a range of lines", s)
	}

	return first, count, nil
}

// Hunks are all changes of a file between two versions, in their order.
type Hunks []Hunk

// Follow returns where a range of lines of the old version is in the new one. It reports false if one of
// these lines was changed or removed.
func (hs Hunks) Follow(l stick.Lines) (stick.Lines, bool) {
	to := l
	for _, h := range hs {
		end := h.First + h.Count // the line behind what it replaces

		// Lines that were only added stand behind the line that the hunk names.
		if h.Count == 0 {
			end = h.First + 1
		} else if h.First <= l[1] && l[0] < end {
			return stick.Lines{}, false
		}

		// A change above moves both ends of the range, and one inside only the last.
		if end <= l[0] {
			to[0] += h.NewCount - h.Count
		}
		if end <= l[1] {
			to[1] += h.NewCount - h.Count
		}
	}

	return to, true
}

// ContextLines is how many lines a diff shows on each side of a change, and a comment on each side of its
// lines.
const ContextLines = 3

// shownLines returns the lines around a hunk that a diff shows, of the old version or of the new one. They may go
// beyond the ends of the file.
func (h Hunk) shownLines(old bool) stick.Lines {
	first, count := h.NewFirst, h.NewCount
	if old {
		first, count = h.First, h.Count
	}
	if count == 0 {
		first++ // what lies between this line and the one before was added or removed
	}

	return stick.Lines{first - ContextLines, first + count - 1 + ContextLines}
}

// Shows reports whether a diff shows all these lines: changed ones, and the three on each side. They are
// lines of the version before with old, else of the one after.
func (hs Hunks) Shows(l stick.Lines, old bool) bool {
	for _, h := range hs {
		if s := h.shownLines(old); s[0] <= l[0] && l[0] <= s[1] {
			// What the hunk shows of the range is taken off its beginning.
			l[0] = s[1] + 1
		}
	}
	return l[0] > l[1]
}

// Nearest returns the line that a diff shows nearest to this one, and 0 if it shows none. The file has this
// many lines.
func (hs Hunks) Nearest(line, lines int, old bool) (nearest int) {
	for _, h := range hs {
		s := h.shownLines(old)

		// The hunk's context may go beyond both ends of the file.
		near := min(max(line, s[0], 1), s[1], lines)
		if near >= max(s[0], 1) && (nearest == 0 || lineDistance(near, line) < lineDistance(nearest, line)) {
			nearest = near
		}
	}

	return nearest
}

func lineDistance(a, b int) int { return max(a-b, b-a) }

// Changes reports whether a hunk changes a line of the version before, with old, or of the one after.
func (hs Hunks) Changes(line int, old bool) bool {
	for _, h := range hs {
		first, count := h.NewFirst, h.NewCount
		if old {
			first, count = h.First, h.Count
		}
		if first <= line && line < first+count {
			return true
		}
	}

	return false
}
