package cli

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"talkingstick/internal/harness"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// file is the name of a file or a branch.
func file(s string) term.Text { return term.Wordsf("%s", stick.Name(s)) }

// plainText is text of others alone on its line, for programs.
func plainText(s string) term.Text { return term.Textf("%s", s) }

// page collects the text of one answer.
type page struct {
	b     strings.Builder
	color bool
	width int    // of the terminal in columns; 0 elsewhere
	as    string // the name that the reader has given by the flag --as
	now   stick.Time
	doing bool // members are shown with what they do

	taskWord string // by which the reader has called tt task, if that is another
}

// fitColumns is text cut to a number of columns, as [term.Fit] cuts it.
func fitColumns(s term.Text, columns int) term.Text { return term.Text(term.Fit(string(s), columns)) }

// padding is a number of blanks.
func padding(n int) term.Text { return term.Text(strings.Repeat(" ", max(0, n))) }

// rowf adds a line without the blanks at its end that keep columns aligned.
func (p *page) rowf(format string, args ...any) {
	p.linef("%s", term.Text(strings.TrimRight(string(term.Wordsf(format, args...)), " ")))
}

// linef adds a line. Like [term.Wordsf] it makes its arguments safe.
func (p *page) linef(format string, args ...any) {
	p.b.WriteString(string(term.Wordsf(format, args...)))
	p.b.WriteByte('\n')
}

// next is a command that the reader may run next, as whom it has run this one.
func (p *page) next(c stick.Command) term.Text {
	if p.taskWord != "" && len(c) > 1 && c[0].Text == "tt" && c[1].Text == "task" {
		c = slices.Clone(c)
		c[1].Text = p.taskWord
	}
	return term.Text(stick.Path(c.As(p.as).String()))
}

// shown is what the page holds, without tags that an agent could take for those of its harness.
func (p *page) shown() term.Text { return term.Text(harness.BreakTags(p.b.String())) }

// strong and faint mark text where colours are wanted.
func (p *page) strong(s term.Text) term.Text { return p.paint("1", s) }

func (p *page) faint(s term.Text) term.Text { return p.paint("2", s) }

func (p *page) paint(code, s term.Text) term.Text {
	if !p.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// text adds text of others, each of its lines after an indent of ours, so that it can't look like a line of
// ours.
func (p *page) text(indent term.Text, text string) {
	if strings.TrimSpace(text) != "" {
		p.showHanging(indent, indent, text)
	}
}

// What stands before each line of a text of others where lines of ours are indented, too: quote before what
// somebody wrote, and bar before code and what a program printed.
const (
	quote term.Text = "> "
	bar   term.Text = "| "
)

// output adds what a program printed, or lists of git's, each line after a bar.
func (p *page) output(indent term.Text, text string) {
	for l := range strings.Lines(stick.Block(text)) {
		p.showCode(indent+bar, term.Text(strings.TrimRight(l, "\n")))
	}
}

// showCode adds a line of code or of output after a mark. On a terminal each part of a long line gets the mark:
// the terminal would continue the line without it.
func (p *page) showCode(mark, line term.Text) {
	room := 0
	if p.width > 0 {
		room = max(1, p.width-utf8.RuneCountInString(string(mark)))
	}
	for _, part := range term.Broken(line, room) {
		p.rowf("%s%s", mark, part)
	}
}

// showHanging adds text of others: its first line after first, and the others after indent. On a terminal it
// breaks long lines itself, because the terminal would continue them at the start of a line.
func (p *page) showHanging(first, indent term.Text, text string) {
	for _, l := range strings.Split(strings.Trim(stick.Block(text), "\n"), "\n") {
		room := 0
		if p.width > 0 {
			room = p.width - max(utf8.RuneCountInString(string(first)), utf8.RuneCountInString(string(indent)))
		}

		for _, part := range term.Broken(term.Text(l), room) {
			p.linef("%s%s", first, part)
			first = indent
		}
	}
}

// block adds text of several lines as it is, for programs and for whoever asked for that text alone.
func (p *page) block(text string) {
	for l := range strings.Lines(stick.Block(text)) {
		p.linef("%s", term.Text(strings.TrimRight(l, "\n")))
	}
}

// showPatch adds a diff, in colour if colours are wanted. On a terminal it breaks long lines itself, as
// showHanging does. after is called after each line; it may be nil.
func (p *page) showPatch(diff string, after func(line string)) {
	for raw := range strings.Lines(diff) {
		l := stick.Patch(strings.TrimRight(raw, "\n"))
		code := term.Text("")
		switch {
		case strings.HasPrefix(l, "diff --git "):
			code = "1"
			p.linef("")
		case strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++"):
			code = "32"
		case strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "---"):
			code = "31"
		case strings.HasPrefix(l, "@@"):
			code = "36"
		}

		// Continued lines are indented by two, so that no part looks like a line of the diff.
		room := 0
		if p.width > 0 {
			room = p.width - 2
		}

		for i, part := range term.Broken(term.Text(l), room) {
			if code != "" {
				part = p.paint(code, part)
			}
			if i > 0 {
				part = "  " + part
			}

			p.linef("%s", part)
		}

		if after != nil {
			after(raw)
		}
	}
}

// ago says how long ago t was.
func (p *page) ago(t stick.Time) stick.Words {
	if t.IsZero() {
		return "never"
	}
	return stick.Ago(p.now.Sub(t))
}

// clock says when t was in local time, to the second, with the day if it isn't today.
func (p *page) clock(t stick.Time) stick.Words {
	at, now := t.Go().Local(), p.now.Go().Local()
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return stick.Words(at.Format(time.TimeOnly))
	}
	return stick.Words(at.Format(time.DateTime))
}

// until says how long it is until t.
func (p *page) until(t stick.Time) stick.Words {
	if t <= p.now {
		return "now"
	}

	// A time that has just begun to run shows in full.
	return "in " + stick.Age(t.Sub(p.now).Round(time.Second))
}

// showHandoff adds a handoff. The lines of its bodies are indented, so that no body can look like a
// line of ours.
func (p *page) showHandoff(h stick.Handoff) {
	for _, f := range stick.HandoffFields {
		for _, text := range f.Show(h) {
			p.showBody(stick.Words(f.Label), text)
		}
	}
	if w := h.Workspace; w != nil && w.DirtyCount > 0 {
		p.linef("  left uncommitted: %s at %s", stick.Count(w.DirtyCount, "file"), short(w.Head))
	}
}

func short(commit string) stick.Words {
	if commit == "" {
		return "no commit yet"
	}
	return stick.Wordsf("%s", commit[:min(len(commit), 10)])
}

// showBody adds text of an agent under a label of ours.
func (p *page) showBody(name stick.Words, text string) {
	p.showHanging(term.Wordsf("  %s: ", name), "    ", strings.TrimRight(text, "\n "))
}

// durationText says for how long something has run, unless it has just begun.
func (p *page) durationText(since stick.Time) stick.Words {
	if d := p.now.Sub(since); d >= time.Second {
		return " (" + stick.Age(d) + ")"
	}
	return ""
}

// durationOf says since when a session has its role.
func (p *page) durationOf(what stick.Words, since stick.Time) stick.Words {
	d := p.now.Sub(since)
	if d < time.Second {
		return "is " + what + " now"
	}
	return "has been " + what + " for " + stick.Age(d)
}
