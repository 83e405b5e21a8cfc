package tui

import (
	"context"
	"strings"

	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// rescuePage is what a copy of uncommitted work holds.
type rescuePage struct {
	room stick.RoomID
	id   string
	res  *restore.ShowRescueResult // nil until it was read
	diff string                    // what bringing it back would change
}

func (p rescuePage) subjectKey() string { return "rescue " + p.id }

func (p rescuePage) roomID() stick.RoomID { return p.room }

func (p rescuePage) pageTitle(*canvas) term.Text { return term.Textf("rescue %s", p.id) }

func (p rescuePage) readPage(ctx context.Context, e *env) (page, error) {
	res, err := e.Operations.ShowRescue(ctx, restore.ShowRescueParams{ID: p.id})
	if err != nil {
		return p, err
	}

	p.res = &res

	// Without its checkout there is nothing to compare with.
	if !res.Gone {
		diff, err := e.Operations.DiffRescue(ctx, restore.DiffRescueParams{ID: p.id})
		p.diff = diff.Diff
		return p, err
	}

	return p, nil
}

func (p rescuePage) layoutLines(s *canvas) (head, body []line) {
	if p.res == nil {
		return nil, []line{textLine(faint, "reading …")}
	}

	kept := textLine("", "%s of %s, kept %s", stick.Count(p.res.Files, "file"), p.res.Top, s.agoText(p.res.At))
	head = []line{kept, textLine("", "%s", p.res.Origin()), blank}
	for _, f := range p.res.Entries {
		body = append(body, line{cells: []cell{
			{text: term.Textf("%s", strings.Join(f.States, ", ")), width: 20}, {text: term.Path(f.Path)},
		}})
	}

	if p.res.Hidden > 0 {
		body = append(body, textLine(faint, "%s more", stick.Count(p.res.Hidden, "file")))
	}

	for _, l := range p.res.LeftOut {
		body = append(body, textLine(bad, "not in it: %s: %s", term.Path(l.Path), l.Why))
	}

	switch {
	case p.res.Gone:
		body = append(body, blank, textLine(bad, "Its checkout is gone."))
	case p.diff != "":
		body = append(body, blank, textLine(strong, "What bringing it back would change"))
		body = append(body, s.patchLines(p.diff)...)
	}

	return head, body
}

// patchLines shows a diff.
func (s *canvas) patchLines(diff string) (lines []line) {
	for l := range strings.Lines(diff) {
		lines = append(lines, s.sourceLines(strings.TrimRight(l, "\r\n"), diffHue(l), "")...)
	}
	return lines
}

// diffHue is the hue of a line of a diff.
func diffHue(l string) hue {
	switch {
	case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
		return strong
	case strings.HasPrefix(l, "+"):
		return added
	case strings.HasPrefix(l, "-"):
		return gone
	case strings.HasPrefix(l, "@@"):
		return place
	}

	return ""
}

func (p rescuePage) targetAt(pic *monitor.Picture, _ string) target {
	return target{room: pic.Room(p.room), rescue: p.id}
}
