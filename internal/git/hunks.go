package git

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"talkingstick/stick/diff"
)

// Lines is a range of lines of a file, from First to Last inclusive.
type Lines struct{ First, Last int }

func (l Lines) String() string {
	if l.First == l.Last {
		return strconv.Itoa(l.First)
	}
	return strconv.Itoa(l.First) + "-" + strconv.Itoa(l.Last)
}

// hunk is one change of a file: it replaces lines of the old file with lines of the new one. Where a
// count is 0, first is the line before.
type hunk struct{ first, count, newFirst, newCount int }

// fileDiff is the difference between two versions of a file.
type fileDiff struct {
	hunks   []hunk
	deleted bool
}

// touches reports whether a merge takes two hunks for changes of the same place: they overlap, or no
// line lies between them.
func (h hunk) touches(o hunk) bool {
	start, end := h.oldRange()
	ostart, oend := o.oldRange()
	return start <= oend && ostart <= end
}

// oldRange returns the lines of the old file that the hunk replaces, end exclusive.
func (h hunk) oldRange() (start, end int) {
	if h.count == 0 {
		return h.first + 1, h.first + 1
	}
	return h.first, h.first + h.count
}

// maxRanges limits the ranges of one file. The last one covers the rest.
const maxRanges = 20

// changedLines returns the changed lines of the new file, for the hunks that keep accepts. Where lines were
// only removed, it is the line before.
func (d fileDiff) changedLines(keep func(hunk) bool) []Lines {
	var out []Lines
	if d.deleted {
		return out
	}

	for _, h := range d.hunks {
		if !keep(h) {
			continue
		}

		// Lines that touch, and all those beyond the limit, extend the last range.
		l := Lines{max(h.newFirst, 1), max(h.newFirst+h.newCount-1, h.newFirst, 1)}
		if n := len(out); n > 0 && (l.First <= out[n-1].Last+1 || n == maxRanges) {
			out[n-1].Last = max(out[n-1].Last, l.Last)
			continue
		}

		out = append(out, l)
	}

	return out
}

// meetingLines returns where two changes of a file meet, in the lines of each. If they don't meet, as when
// the names collide and not the lines, it returns all changed lines.
func meetingLines(a, b fileDiff) (inA, inB []Lines) {
	meets := func(others []hunk) func(hunk) bool {
		return func(h hunk) bool {
			for _, o := range others {
				if h.touches(o) {
					return true
				}
			}

			return false
		}
	}

	inA, inB = a.changedLines(meets(b.hunks)), b.changedLines(meets(a.hunks))
	if len(inA)+len(inB) == 0 {
		return a.changedLines(anyHunk), b.changedLines(anyHunk)
	}

	return inA, inB
}

func anyHunk(hunk) bool { return true }

// diffParser parses the output of git diff-tree -p -U0 while it arrives. It keeps none of the lines, so that
// large files cost no memory.
type diffParser struct {
	files   map[string]fileDiff
	path    string
	part    []byte // the beginning of a line whose end hasn't arrived yet
	problem error
}

// maxHeader is longer than any line that matters. The longest has two quoted paths.
const maxHeader = 64 << 10

// Write parses a part of the output. It never fails, so that git can run to its end.
func (d *diffParser) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		end := i
		if i < 0 {
			end = len(p)
		}

		// The rest of a line that is too long is dropped.
		if room := maxHeader - len(d.part); room > 0 {
			d.part = append(d.part, p[:min(end, room)]...)
		}
		if i < 0 {
			return n, nil
		}
		if err := d.parseLine(string(d.part)); err != nil && d.problem == nil {
			d.problem = err
		}

		d.part, p = d.part[:0], p[i+1:]
	}
}

// parseLine parses a line. The lines of files begin with a sign, so none of them looks like a header.
func (d *diffParser) parseLine(l string) error {
	switch {
	case strings.HasPrefix(l, "diff --git "):
		path, err := diffPath(strings.TrimPrefix(l, "diff --git "))
		if err != nil {
			return err
		}
		d.path = path
	case strings.HasPrefix(l, "deleted file mode "):
		f := d.files[d.path]
		f.deleted = true
		d.files[d.path] = f
	case strings.HasPrefix(l, "new file mode "):
		// A file that became a link is deleted first, and new then.
		f := d.files[d.path]
		f.deleted = false
		d.files[d.path] = f
	case strings.HasPrefix(l, "@@ "):
		h, err := diff.ParseHunk(l)
		if err != nil {
			return fmt.Errorf("read git diff-tree: %w", err)
		}

		f := d.files[d.path]
		f.hunks = append(f.hunks, hunk{h.First, h.Count, h.NewFirst, h.NewCount})
		d.files[d.path] = f
	}

	return nil
}

// diffPath extracts the path from "a/path b/path". Each half may be quoted. Without renames both are the
// same.
func diffPath(names string) (string, error) {
	// Without renames the two halves are equal, with a blank between them.
	half := names[:len(names)/2]
	if names[len(names)/2:] == "" || names[len(half)] != ' ' {
		return "", fmt.Errorf("read git diff-tree: %.100q isn't one path twice", names)
	}

	if strings.HasPrefix(half, `"`) {
		unquoted, err := strconv.Unquote(half)
		if err != nil {
			return "", fmt.Errorf("read git diff-tree: the path %.100q: %w", half, err)
		}
		half = unquoted
	}

	path, ok := strings.CutPrefix(half, "a/")
	if !ok {
		return "", fmt.Errorf("read git diff-tree: %.100q has no prefix", names)
	}

	return path, nil
}
