package tui

import (
	"context"
	"strconv"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
	stickdiff "talkingstick/stick/diff"
)

// diffPage is what a task changes, with the comments at their lines.
type diffPage struct {
	room  stick.RoomID
	id    string
	res   *task.WorkerDiffResult // nil until it was read
	lines []diffLine
	asks  review // it was opened for this decision, which is asked for when it was read
}

// diffLine is a line of a diff, and where it belongs.
type diffLine struct {
	nth  int // its place in the diff
	text string
	kind byte // + or - for changed lines, @ for the header of a hunk, f for that of a file; 0 for others
	path string
	old  bool // the number is that of the version before
	at   int  // the number of the line; 0 for a line that nobody can comment on

	comments []task.ShownComment
}

func (p diffPage) subjectKey() string { return "diff " + string(p.room) + " " + stick.TaskKey(p.id) }

func (p diffPage) roomID() stick.RoomID { return p.room }

func (p diffPage) pageTitle(*canvas) term.Text { return term.Textf("%s: what it changes", p.id) }

func (p diffPage) readPage(ctx context.Context, e *env) (page, error) {
	res, err := e.Operations.WorkerDiff(ctx, task.WorkerDiffParams{
		Caller: e.Caller, Where: core.Where{RoomID: p.room}, TaskID: p.id,
	})
	if err == nil {
		p.res, p.lines = &res, diffLines(res)
	}

	return p, err
}

// diffLines splits a diff into its lines, and puts the comments to theirs. Comments that the diff has no line
// for come last.
func diffLines(res task.WorkerDiffResult) (lines []diffLine) {
	type spot struct {
		path string
		old  bool
		line int
	}

	// A comment stands below the last of its lines.
	at := map[spot][]task.ShownComment{}
	var left []task.ShownComment
	for _, c := range res.Comments {
		if c.Now == nil {
			left = append(left, c)
			continue
		}

		k := spot{c.Now.Path, c.Old, c.Now.Lines[1]}
		at[k] = append(at[k], c)
	}

	var r stickdiff.PatchReader
	for raw := range strings.Lines(res.Diff) {
		raw = strings.TrimRight(raw, "\r\n")
		place := r.Next(raw)

		l := diffLine{text: raw}
		switch {
		case place.Hunk != nil:
			l.kind = '@'
		case place.New != 0:
			l.path, l.at = r.New, place.New
			if place.Old == 0 {
				l.kind = '+'
			}
		case place.Old != 0:
			l.path, l.at, l.old, l.kind = r.Old, place.Old, true, '-'
		case strings.HasPrefix(raw, "diff --git "):
			l.kind = 'f'
		}

		// A line that is the same has comments on both of its sides.
		for _, k := range []spot{{r.Old, true, place.Old}, {r.New, false, place.New}} {
			if k.line != 0 {
				l.comments = append(l.comments, at[k]...)
				delete(at, k)
			}
		}

		lines = append(lines, l)
	}

	// What is still there has no line in the diff. The order is that of the comments.
	for _, c := range res.Comments {
		if c.Now != nil && len(at[spot{c.Now.Path, c.Old, c.Now.Lines[1]}]) > 0 {
			left = append(left, c)
		}
	}

	if len(left) > 0 {
		lines = append(lines, diffLine{}, diffLine{text: "Comments on other lines:", kind: 'f', comments: left})
	}

	for i := range lines {
		lines[i].nth = i
	}
	return lines
}

func (p diffPage) layoutLines(s *canvas) (head, body []line) {
	if p.res == nil {
		return nil, []line{textLine(faint, "reading …")}
	}

	// Warnings stay on top, whatever is scrolled to.
	head = []line{textLine("", "commit %s, %s, from %s", shortCommit(p.res.Head), p.res.State, shortCommit(p.res.Base))}
	if len(p.res.Conflicts) > 0 {
		head = append(head, textLine(bad, "conflicts: %s", strings.Join(p.res.Conflicts, ", ")))
	}
	if p.res.ChangesGate {
		head = append(head, textLine(asks, "it changes the gate itself: %s", strings.Join(p.res.GateFiles, ", ")))
	}

	head = append(head, blank)

	body = append(s.fileLines(p.res.Files), blank)
	for _, l := range p.lines {
		h := map[byte]hue{'+': added, '-': gone, '@': place, 'f': strong}[l.kind]
		body = append(body, s.numberedLines(l, h)...)
		for _, c := range l.comments {
			body = append(body, s.commentBlock(c, l.path == "")...)
		}
	}

	if p.res.Head == "" {
		body = append(body, textLine("", "It has no commit."))
	}
	if p.res.Cut {
		body = append(body, textLine(bad, "The rest is cut off: git diff %s %s", shortCommit(p.res.Base), shortCommit(p.res.Head)))
	}

	return head, body
}

const lineKeyPrefix = "line "

func lineKey(i int) string { return lineKeyPrefix + strconv.Itoa(i) }

func (p diffPage) targetAt(pic *monitor.Picture, _ string) target {
	return target{room: pic.Room(p.room), task: p.id}
}

// selectedLine is the line of the diff with a key. ok is false if there is none that somebody can comment on.
func (p diffPage) selectedLine(key string) (l diffLine, ok bool) {
	i := p.lineAt(key)
	if i < 0 {
		return l, false
	}
	return p.lines[i], p.lines[i].at > 0
}
