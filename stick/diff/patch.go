package diff

import (
	"strconv"
	"strings"
)

// PatchReader finds out, line by line, where the lines of a diff of git belong. Its zero value is at the
// start of a diff.
type PatchReader struct {
	Old, New string // the path of the file before and after; empty where it isn't there, or between files
	hunk     Hunk   // what is left of the current hunk: the next lines, and how many
}

// PatchLine says what a line of a diff is. Of a line of the file it has the numbers before and after: 0 where
// the file doesn't have the line.
type PatchLine struct {
	Old, New int
	Hunk     *Hunk // the line is the header of this hunk
}

// Next reads the next line, with or without its line break. Lines of a file are told from headers by the
// counts of their hunk, because they may look alike.
func (r *PatchReader) Next(line string) (l PatchLine) {
	line = strings.TrimSuffix(line, "\n")
	h := &r.hunk

	// Inside a hunk every line is one of the file, even one that looks like a header.
	if h.Count > 0 || h.NewCount > 0 {
		switch {
		case strings.HasPrefix(line, `\`): // "\ No newline at end of file"
			return l
		case strings.HasPrefix(line, "-"):
			l.Old = h.First
		case strings.HasPrefix(line, "+"):
			l.New = h.NewFirst
		default:
			l.Old, l.New = h.First, h.NewFirst
		}

		// The hunk shrinks by what was read of it.
		if l.Old != 0 {
			h.First, h.Count = h.First+1, h.Count-1
		}
		if l.New != 0 {
			h.NewFirst, h.NewCount = h.NewFirst+1, h.NewCount-1
		}

		return l
	}

	switch {
	case strings.HasPrefix(line, "diff --git "):
		r.Old, r.New = "", ""
	case strings.HasPrefix(line, "--- "):
		r.Old = patchPath(line[4:], "a/")
	case strings.HasPrefix(line, "+++ "):
		r.New = patchPath(line[4:], "b/")
	case strings.HasPrefix(line, "@@ "):
		if found, err := ParseHunk(line); err == nil {
			*h, l.Hunk = found, &found
		}
	}
	return l
}

// patchPath reads a path as a diff writes it: with a prefix, quoted if it has odd characters, and with a tab
// at its end if it has blanks. It returns "" for /dev/null.
func patchPath(s, prefix string) string {
	s = strings.TrimSuffix(s, "\t")
	if unquoted, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		s = unquoted
	}

	// Only a path that a file has carries the prefix.
	path, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return ""
	}

	return path
}
