package term

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"talkingstick/internal/harness"
	"talkingstick/stick"
	"talkingstick/stick/names"
)

// FileName is the name of a file or a branch.
func FileName(s string) Text { return Wordsf("%s", stick.Name(s)) }

// PlainText is text of others alone on its line, for programs.
func PlainText(s string) Text { return Textf("%s", s) }

// Page collects the text of one answer.
type Page struct {
	b     strings.Builder
	Color bool
	Width int    // of the terminal in columns; 0 elsewhere
	As    string // the name that the reader has given by the flag --as
	Now   stick.Time
	Doing bool // members are shown with what they do

	ForAgent bool // the reader is an agent, as far as that is known

	NameOf func(stick.AgentID) string // what the reader calls an agent, empty for its id; nil shows ids

	TaskWord string // by which the reader has called tt task, if that is another
}

// fitColumns is text cut to a number of columns, as [Fit] cuts it.
func fitColumns(s Text, columns int) Text { return Text(CutLine(string(s), columns)) }

// Padding is a number of blanks.
func Padding(n int) Text { return Text(strings.Repeat(" ", max(0, n))) }

// Rowf adds a line without the blanks at its end that keep columns aligned.
func (p *Page) Rowf(format string, args ...any) {
	p.Linef("%s", Text(strings.TrimRight(string(Wordsf(format, args...)), " ")))
}

// Linef adds a line of our own words. Like [Wordsf] it makes its arguments safe.
func (p *Page) Linef(format string, args ...any) { p.addLine(p.showNames(Wordsf(format, args...))) }

// addLine adds a line as it is.
func (p *Page) addLine(line Text) {
	p.b.WriteString(string(line))
	p.b.WriteByte('\n')
}

// showNames is a text of ours with the names by which the reader knows agents.
func (p *Page) showNames(s Text) Text {
	if p.NameOf == nil {
		return s
	}
	return Text(names.Show(string(s), p.NameOf))
}

// Next is a command that the reader may run next, as whom it has run this one.
func (p *Page) Next(c stick.Command) Text {
	if p.TaskWord != "" && len(c) > 1 && c[0].Text == "tt" && c[1].Text == "task" {
		c = slices.Clone(c)
		c[1].Text = p.TaskWord
	}
	return Text(stick.Path(c.As(p.As).String()))
}

// NextByPerson is [Page.Next] for a command that tt refuses to agents.
func (p *Page) NextByPerson(c stick.Command) Text {
	if p.ForAgent {
		return "ask a person to run " + p.Next(c)
	}
	return p.Next(c)
}

// Text is what the page holds, without tags that an agent could take for those of its harness.
func (p *Page) Text() Text { return Text(harness.BreakTags(p.b.String())) }

// Strong marks text that matters most.
func (p *Page) Strong(s Text) Text { return p.Paint("1", s) }

// Faint marks text that matters less.
func (p *Page) Faint(s Text) Text { return p.Paint("2", s) }

// Paint gives text the code of a terminal, where colours are wanted.
func (p *Page) Paint(code, s Text) Text {
	if !p.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// ShowText adds text of others, each of its lines after an indent of ours, so that it can't look like a line of
// ours.
func (p *Page) ShowText(indent Text, text string) {
	if strings.TrimSpace(text) != "" {
		p.ShowHanging(indent, indent, text)
	}
}

// What stands before each line of a text of others where lines of ours are indented, too: quote before what
// somebody wrote, and bar before code and what a program printed.
const (
	Quote Text = "> "
	Bar   Text = "| "
)

// ShowOutput adds what a program printed, or lists of git's, each line after a bar.
func (p *Page) ShowOutput(indent Text, text string) {
	for l := range strings.Lines(stick.Block(text)) {
		p.ShowCode(indent+Bar, Text(strings.TrimRight(l, "\n")))
	}
}

// ShowCode adds a line of code or of output after a mark. On a terminal each part of a long line gets the mark:
// the terminal would continue the line without it.
func (p *Page) ShowCode(mark, line Text) {
	room := 0
	if p.Width > 0 {
		room = max(1, p.Width-utf8.RuneCountInString(string(mark)))
	}
	for _, part := range BreakLine(line, room) {
		p.addLine(mark + Text(strings.TrimRight(string(part), " ")))
	}
}

// ShowHanging adds text of others: its first line after first, and the others after indent. On a terminal it
// breaks long lines itself, because the terminal would continue them at the start of a line.
func (p *Page) ShowHanging(first, indent Text, text string) {
	for _, l := range strings.Split(strings.Trim(stick.Block(text), "\n"), "\n") {
		room := 0
		if p.Width > 0 {
			room = p.Width - max(utf8.RuneCountInString(string(first)), utf8.RuneCountInString(string(indent)))
		}

		for _, part := range BreakWords(Text(l), room) {
			p.addLine(first + part)
			first = indent
		}
	}
}

// ShowBlock adds text of several lines as it is, for programs and for whoever asked for that text alone.
func (p *Page) ShowBlock(text string) {
	for l := range strings.Lines(stick.Block(text)) {
		p.addLine(Text(strings.TrimRight(l, "\n")))
	}
}

// ShowPatch adds a diff, in colour if colours are wanted. On a terminal it breaks long lines itself, as
// showHanging does. after is called after each line; it may be nil.
func (p *Page) ShowPatch(diff string, after func(line string)) {
	for raw := range strings.Lines(diff) {
		l := stick.Patch(strings.TrimRight(raw, "\n"))
		code := Text("")
		switch {
		case strings.HasPrefix(l, "diff --git "):
			code = "1"
			p.Linef("")
		case strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++"):
			code = "32"
		case strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "---"):
			code = "31"
		case strings.HasPrefix(l, "@@"):
			code = "36"
		}

		// Continued lines are indented by two, so that no part looks like a line of the diff.
		room := 0
		if p.Width > 0 {
			room = p.Width - 2
		}

		for i, part := range BreakLine(Text(l), room) {
			if code != "" {
				part = p.Paint(code, part)
			}
			if i > 0 {
				part = "  " + part
			}

			p.addLine(part)
		}

		if after != nil {
			after(raw)
		}
	}
}

// Ago says how long ago t was.
func (p *Page) Ago(t stick.Time) stick.Words {
	if t.IsZero() {
		return "never"
	}
	return stick.Ago(p.Now.Sub(t))
}

// Clock says when t was in local time, to the second, with the day if it isn't today.
func (p *Page) Clock(t stick.Time) stick.Words {
	at, now := t.Go().Local(), p.Now.Go().Local()
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return stick.Words(at.Format(time.TimeOnly))
	}
	return stick.Words(at.Format(time.DateTime))
}

// Until says how long it is until t.
func (p *Page) Until(t stick.Time) stick.Words {
	if t <= p.Now {
		return "now"
	}

	// A time that has just begun to run shows in full.
	return "in " + stick.Age(t.Sub(p.Now).Round(time.Second))
}

// ShowHandoff adds a handoff. The lines of its bodies are indented, so that no body can look like a
// line of ours.
func (p *Page) ShowHandoff(h stick.Handoff) {
	for _, f := range stick.HandoffFields {
		for _, text := range f.Show(h) {
			p.ShowBody(stick.Words(f.Label), text)
		}
	}
	if w := h.Workspace; w != nil && w.DirtyCount > 0 {
		p.Linef("  left uncommitted: %s, on top of %s", stick.Count(w.DirtyCount, "file"), ShortCommit(w.Head))
	}
}

// ShortCommit is the beginning of a commit's hash, which is enough to name it.
func ShortCommit(commit string) stick.Words {
	if commit == "" {
		return "no commit yet"
	}
	return stick.Wordsf("%s", commit[:min(len(commit), 10)])
}

// ShowBody adds text of an agent under a label of ours.
func (p *Page) ShowBody(name stick.Words, text string) {
	p.ShowHanging(Wordsf("  %s: ", name), "    ", strings.TrimRight(text, "\n "))
}

// DurationText says for how long something has run, unless it has just begun.
func (p *Page) DurationText(since stick.Time) stick.Words {
	if d := p.Now.Sub(since); d >= time.Second {
		return " (" + stick.Age(d) + ")"
	}
	return ""
}

// DurationOf says since when a session has its role.
func (p *Page) DurationOf(what stick.Words, since stick.Time) stick.Words {
	d := p.Now.Sub(since)
	if d < time.Second {
		return "is " + what + " now"
	}
	return "has been " + what + " for " + stick.Age(d)
}
