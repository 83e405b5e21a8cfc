package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/diff"
)

// maxDiffLines is how many lines of a diff a page shows. A browser gets slow with more.
const maxDiffLines = 20_000

// diffFile is a file of a diff.
type diffFile struct {
	Nth            int    // its place in the diff
	Sum            string // of its lines: a page knows by it what a person has viewed
	Path, From     string
	Added, Deleted int // lines; -1 for a file that isn't text
	Conflict       bool
	Lines          []diffLine
	Comments       int
	Folded         stick.Words // why it is shown folded; empty for a file that is open
}

// diffLine is a line of a diff. Of a line that the file doesn't have before or after, that number is 0.
type diffLine struct {
	Kind     string // add, del, same, hunk or other
	Old, New int
	Sign     string
	Text     string

	Before, Marked, After string // the text in three parts, where words of it differ from those of the line it replaces

	At       string // the line, as a comment names it; empty where there can't be one
	OldSide  bool   // that names the file before the change
	Comments []task.ShownComment
	Form     bool // the person comments on it
}

// lineCount is how many lines a change adds and deletes.
type lineCount struct{ Added, Deleted int }

// countLines counts the lines of all files that are text.
func countLines(files []diffFile) (n lineCount) {
	for _, f := range files {
		n.Added, n.Deleted = n.Added+max(f.Added, 0), n.Deleted+max(f.Deleted, 0)
	}
	return n
}

// commentTarget is the line that a person comments on: as it is named, before the change or after it.
type commentTarget struct {
	at  string
	old bool
}

// linePlace is a line of a file.
type linePlace struct {
	path string
	old  bool
	line int
}

// layDiff lays a diff out in files and lines, with the comments below the lines that they are about. It
// returns the comments that the diff has no lines for, and whether it had to be cut.
func layDiff(
	d task.WorkerDiffResult, on commentTarget,
) (files []diffFile, left []task.ShownComment, cut bool) {
	// A comment stands below the last of its lines.
	at := map[linePlace][]task.ShownComment{}
	for _, c := range d.Comments {
		if c.Now == nil {
			left = append(left, c)
			continue
		}

		k := linePlace{c.Now.Path, c.Old, c.Now.Lines[1]}
		at[k] = append(at[k], c)
	}

	stats := map[string]diff.FileStat{}
	for _, f := range d.Files {
		stats[f.Path] = f
	}

	// Read the diff line by line, up to the limit.
	var r diff.PatchReader
	cut = d.Cut
	lines := 0
	for raw := range strings.Lines(d.Diff) {
		if lines++; lines > maxDiffLines {
			cut = true
			break
		}

		text := strings.TrimRight(raw, "\r\n")
		l := r.Next(text)
		if strings.HasPrefix(text, "diff --git ") && l.Old == 0 && l.New == 0 {
			files = append(files, diffFile{Added: -1})
			continue
		}

		if len(files) == 0 {
			continue
		}

		f := &files[len(files)-1]

		// The path is known once both names have been read: a file that is renamed has another one now.
		isHead := l.Old == 0 && l.New == 0
		if f.Path == "" && isHead && strings.HasPrefix(text, "+++ ") {
			f.Path = cmp.Or(r.New, r.Old)
			if s, ok := stats[f.Path]; ok {
				f.From, f.Added, f.Deleted = s.From, s.Added, s.Deleted
			}
		}

		f.addLine(text, l, &r, at, on)
	}

	for i := range files {
		f := &files[i]
		// Git says nothing of the lines if only the mode changed, or if it isn't text.
		if f.Path == "" && i < len(d.Files) {
			of := d.Files[i]
			f.Path, f.From, f.Added, f.Deleted = of.Path, of.From, of.Added, of.Deleted
		}

		f.Conflict = slices.Contains(d.Conflicts, f.Path)
		f.Nth, f.Sum = i, f.sumLines()
		f.Folded = f.explainFold()
		markWords(f.Lines)
	}

	// What is still there has no line in the diff.
	for _, more := range at {
		left = append(left, more...)
	}

	return files, left, cut
}

// sumLines returns a sum of a file's path and of all its lines.
func (f *diffFile) sumLines() string {
	h := sha256.New()
	fmt.Fprintln(h, f.Path)
	for _, l := range f.Lines {
		fmt.Fprintln(h, l.Sign+l.Text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// addLine adds a line to a file, with its comments, which it takes out of at.
func (f *diffFile) addLine(
	text string, l diff.PatchLine, r *diff.PatchReader, at map[linePlace][]task.ShownComment, on commentTarget,
) {
	x := diffLine{Kind: "other", Old: l.Old, New: l.New, Text: text}
	switch {
	case l.Hunk != nil:
		x.Kind = "hunk"
	case l.Old == 0 && l.New == 0:
		// The head of the file says this already.
		if strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "+++ ") || strings.HasPrefix(text, "index ") {
			return
		}
	default:
		x.Kind, x.Sign = "same", " "
		if l.Old == 0 {
			x.Kind, x.Sign = "add", "+"
		} else if l.New == 0 {
			x.Kind, x.Sign, x.OldSide = "del", "-", true
		}

		x.Text = strings.TrimPrefix(text, x.Sign)
		x.At = fmt.Sprintf("%s:%d", r.New, l.New)
		if x.OldSide {
			x.At = fmt.Sprintf("%s:%d", r.Old, l.Old)
		}
	}

	// A line that is the same has comments on both of its sides.
	for _, k := range []linePlace{{r.Old, true, l.Old}, {r.New, false, l.New}} {
		if k.line != 0 {
			x.Comments = append(x.Comments, at[k]...)
			delete(at, k)
		}
	}

	x.Form = x.At != "" && x.At == on.at && x.OldSide == on.old
	f.Comments += len(x.Comments)
	if x.Form {
		f.Comments++
	}

	f.Lines = append(f.Lines, x)
}
