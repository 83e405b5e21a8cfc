package git

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Lines is a range of lines of a file, both included.
type Lines struct{ First, Last int }

func (l Lines) String() string {
	if l.First == l.Last {
		return strconv.Itoa(l.First)
	}
	return strconv.Itoa(l.First) + "-" + strconv.Itoa(l.Last)
}

// hunk is one change of a file: these lines of the old one became those of the new one. Where there
// are none, first is the line before.
type hunk struct{ first, count, newFirst, newCount int }

// fileDiff is how a file differs.
type fileDiff struct {
	hunks   []hunk
	deleted bool
}

// touches tells whether a merge takes the two for changes of the same place: they overlap, or lie
// side by side with no line between.
func (h hunk) touches(o hunk) bool {
	start, end := h.old()
	ostart, oend := o.old()
	return start <= oend && ostart <= end
}

// old is the part of the old file that the hunk replaces, the end not included.
func (h hunk) old() (start, end int) {
	if h.count == 0 {
		return h.first + 1, h.first + 1
	}
	return h.first, h.first + h.count
}

// maxRanges bounds the ranges of one file. The last one covers what is left.
const maxRanges = 20

// lines are the lines of the new file that a change concerns: where lines were only removed, the one
// before. Only those hunks count that keep says yes to.
func (d fileDiff) lines(keep func(hunk) bool) []Lines {
	var out []Lines
	if d.deleted {
		return out
	}
	for _, h := range d.hunks {
		if !keep(h) {
			continue
		}
		l := Lines{max(h.newFirst, 1), max(h.newFirst+h.newCount-1, h.newFirst, 1)}
		if n := len(out); n > 0 && (l.First <= out[n-1].Last+1 || n == maxRanges) {
			out[n-1].Last = max(out[n-1].Last, l.Last)
			continue
		}
		out = append(out, l)
	}
	return out
}

// overlap is where two changes of a file meet, in the lines of each. Where they don't meet anywhere,
// as when names are what collides, it is all that was changed.
func overlap(a, b fileDiff) (inA, inB []Lines) {
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
	inA, inB = a.lines(meets(b.hunks)), b.lines(meets(a.hunks))
	if len(inA)+len(inB) == 0 {
		return a.lines(all), b.lines(all)
	}
	return inA, inB
}

func all(hunk) bool { return true }

// diff reads the output of git diff-tree -p -U0 while it comes. Of the lines themselves nothing is
// kept, so that large files cost no memory.
type diff struct {
	files   map[string]fileDiff
	path    string
	part    []byte // the begin of a line whose end hasn't come yet
	problem error
}

// maxHeader is more than the longest line that matters: two quoted paths.
const maxHeader = 64 << 10

// Write takes a part of the output. It never fails: git is left to run to its end.
func (d *diff) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		end := i
		if i < 0 {
			end = len(p)
		}
		if room := maxHeader - len(d.part); room > 0 {
			d.part = append(d.part, p[:min(end, room)]...)
		}
		if i < 0 {
			return n, nil
		}
		if err := d.line(string(d.part)); err != nil && d.problem == nil {
			d.problem = err
		}
		d.part, p = d.part[:0], p[i+1:]
	}
}

// line takes a line. Those of the files begin with a sign, so that none can be taken for a header.
func (d *diff) line(l string) error {
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
	case strings.HasPrefix(l, "new file mode "): // a file that became a link is deleted first, and new then
		f := d.files[d.path]
		f.deleted = false
		d.files[d.path] = f
	case strings.HasPrefix(l, "@@ "):
		h, err := parseHunk(l)
		if err != nil {
			return err
		}
		f := d.files[d.path]
		f.hunks = append(f.hunks, h)
		d.files[d.path] = f
	}
	return nil
}

// diffPath takes the path out of "a/path b/path", of which each half may be quoted. Without renames
// both are the same.
func diffPath(names string) (string, error) {
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

// parseHunk reads "@@ -first,count +first,count @@"; a count of 1 is left out.
func parseHunk(l string) (h hunk, err error) {
	fields := strings.Fields(l)
	if len(fields) < 4 {
		return h, fmt.Errorf("read git diff-tree: %.100q isn't the head of a change", l)
	}
	if h.first, h.count, err = parseRange(fields[1], "-"); err != nil {
		return h, err
	}
	h.newFirst, h.newCount, err = parseRange(fields[2], "+")
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
	if err != nil || !ok || first < 0 || count < 0 {
		return 0, 0, fmt.Errorf("read git diff-tree: %.100q is no range of lines", s)
	}
	return first, count, nil
}
