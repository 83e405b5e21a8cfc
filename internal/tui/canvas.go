package tui

import (
	"path"
	"strings"
	"time"

	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// canvas is what a page is drawn from. Drawing changes nothing in it, except that it notes until when what it
// says of the time holds.
type canvas struct {
	picture *monitor.Picture
	width   int // of the screen, in columns; 0 for any
	height  int // of the page, in lines; 0 for any
	now     stick.Time
	home    string // the user's home directory, which paths are shown from

	unmerged map[string]string // see the model

	until stick.Time // when the first age on the screen changes; zero for never
}

// ageStep is how far apart the moments are at which ages change on the screen, in milliseconds. Those of a
// minute that many agents and events have would else each have a moment of its own, and the screen would be
// drawn every second.
const ageStep = 30_000

// ageText says for how long something has been so, without seconds: an idle screen would have to be drawn
// every second for them.
func (s *canvas) ageText(since stick.Time) string {
	if since.IsZero() {
		return ""
	}

	d := max(s.now.Sub(since), 0)
	step := time.Minute
	switch {
	case d >= 48*time.Hour:
		step = 24 * time.Hour
	case d >= time.Hour:
		step = time.Hour
	}

	// The screen is drawn again when the first age changes, at one of few moments.
	next := since.Add(d.Truncate(step) + step)
	next += (ageStep - next%ageStep) % ageStep
	if s.until.IsZero() || next < s.until {
		s.until = next
	}
	if d < time.Minute {
		return "now"
	}

	return string(stick.Age(d))
}

// agoText says how long ago something was, as a part of a sentence.
func (s *canvas) agoText(at stick.Time) string {
	if a := s.ageText(at); a != "" && a != "now" {
		return a + " ago"
	}
	return "just now"
}

// roomPath is the path of a room as it is shown, from the user's home directory if it lies there.
func (s *canvas) roomPath(r *monitor.Room) term.Text {
	p := r.State.Path
	if p == "" {
		p = "room " + string(r.ID())
	}
	if in, ok := strings.CutPrefix(p, s.home+"/"); ok && s.home != "" {
		p = "~/" + in
	}

	return term.Path(p)
}

// roomName is the last part of a room's path.
func roomName(r *monitor.Room) term.Text {
	if r.State.Path == "" {
		return term.Textf("%s", stick.Clip(string(r.ID()), 8))
	}
	return term.Path(path.Base(strings.ReplaceAll(r.State.Path, `\`, "/")))
}

// isTall reports whether there is room for more than the most important.
func (s *canvas) isTall() bool { return s.height == 0 || s.height >= 34 }

// usableWidth is the width that columns may divide among them.
func (s *canvas) usableWidth() int {
	if s.width == 0 {
		return 120
	}
	return s.width - markWidth
}

// columnWidths are the widths of the columns in which agents and tasks are listed: name, state, age.
func (s *canvas) columnWidths() (name, state, age int) {
	w := s.usableWidth()
	return min(max(w/4, 14), 30), 21, 8
}
