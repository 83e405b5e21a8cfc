package picture

import (
	"fmt"
	"strings"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/timeline"
)

// formatTime writes a time for whoever looks: with its day, unless all of the picture is of one day.
func (c *canvas) formatTime(t stick.Time) string {
	at := t.Go().In(c.opt.Zone)

	if c.dateOf(c.t.From) == c.dateOf(c.t.To) {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2 Jan 15:04")
}

func (c *canvas) dateOf(t stick.Time) string { return t.Go().In(c.opt.Zone).Format(time.DateOnly) }

// titleText says what the picture shows.
func (c *canvas) titleText() string {
	if c.t.To <= c.t.From {
		return "Who held the stick"
	}
	from, to := c.t.From.Go().In(c.opt.Zone), c.t.To.Go().In(c.opt.Zone)

	until := to.Format("15:04 MST")
	if c.dateOf(c.t.From) != c.dateOf(c.t.To) {
		until = to.Format("2 Jan 2006 15:04 MST")
	}

	return "Who held the stick from " + from.Format("2 Jan 2006 15:04") + " to " + until
}

// describeLanes says what the lanes show, for those who can't see them.
func (c *canvas) describeLanes() string {
	const most = 8
	if len(c.t.Lanes) == 0 {
		return "Nobody held the stick in this time."
	}

	var said []string
	for i, l := range c.t.Lanes {
		if i == most {
			said = append(said, fmt.Sprintf("The picture shows %s.", stick.Count(len(c.t.Lanes)-most, "more agent")))
			break
		}

		s := nameOf(l.Agent)
		switch {
		case l.Turns == 0 && l.Waited == 0:
			s += " didn't hold the stick"
		case l.Turns == 0:
			s += " waited for the stick for " + formatDuration(l.Waited.Duration())
		default:
			s += fmt.Sprintf(" held the stick in %s for %s", stick.Count(l.Turns, "turn"), formatDuration(l.Held.Duration()))
			if l.Waited > 0 {
				s += " and waited for " + formatDuration(l.Waited.Duration())
			}
		}

		// One takeover is enough for a summary.
		for _, m := range l.Marks {
			if m.Type == stick.EventTakeover {
				s += fmt.Sprintf("; it took over from %s", nameOrNobody(m.Other))
				break
			}
		}

		said = append(said, s+".")
	}

	if n := len(c.t.Pauses); n > 0 {
		said = append(said, "The room was paused "+map[bool]string{true: "once.", false: fmt.Sprintf("%d times.", n)}[n == 1])
	}

	return strings.Join(said, " ")
}

// formatDuration is [stick.Lasted] as text.
func formatDuration(d time.Duration) string { return string(stick.Lasted(d)) }

// laneTotals says on a lane what it comes to.
func laneTotals(l timeline.Lane) string {
	var said []string
	if l.Turns > 0 {
		said = append(said, string(stick.Count(l.Turns, "turn")), "held "+formatDuration(l.Held.Duration()))
	}

	if l.Waited > 0 {
		said = append(said, "waited "+formatDuration(l.Waited.Duration()))
	}

	return strings.Join(said, " · ")
}

// began says how a turn began.
var began = map[stick.ClaimReason]string{
	stick.DirectPass: "the stick was passed to it", stick.InSequence: "it was next in line", stick.OpenClaim: "the stick was free",
	stick.TookOver: "it took the stick over",
}

// sayHeld says what a bar shows of the turns of a lane.
func (c *canvas) sayHeld(l timeline.Lane, b bar) string {
	h := l.Holds[b.first]
	if b.first != b.last {
		return c.saySeveral(l, "held the stick in", "turn", b, l.Holds[b.first].Span, l.Holds[b.last].Span)
	}

	s := nameOf(l.Agent)
	if h.To.IsZero() {
		s += " has held the stick" + c.saySince(h.Span)
	} else {
		s += " held the stick" + c.sayDuring(h.Span)
	}

	if h.Turn != 0 {
		s += fmt.Sprintf(", turn %d", h.Turn)
	}

	if how := began[h.Began]; how != "" {
		s += "; " + how
	}

	switch h.Ended {
	case stick.EventRelease:
		s += "; it released the stick"
	case stick.EventPass:
		s += "; it passed the stick on"
	case stick.EventLeave:
		s += "; it left and abandoned its turn"
	case stick.EventTakeover:
		s += "; " + nameOrNobody(h.By) + " took over"
	case stick.EventKick:
		s += "; " + nameOrNobody(h.By) + " removed it"
	case stick.EventRestored:
		s += "; the machine restarted, or the database was restored or has lost changes"
	}

	return s
}

// sayNamed says what a bar shows of the time in which the stick was reserved for the agent of a lane.
func (c *canvas) sayNamed(l timeline.Lane, b bar) string {
	n := l.Named[b.first]
	switch {
	case b.first != b.last:
		return fmt.Sprintf("the stick was reserved for %s %d times%s",
			nameOf(l.Agent), b.last-b.first+1, c.sayBetween(n.From, l.Named[b.last].To))
	case n.To.IsZero():
		return "the stick is reserved for " + nameOf(l.Agent) + c.saySince(n.Span)
	case n.Claimed:
		return "the stick was reserved for " + nameOf(l.Agent) + c.sayDuring(n.Span) + ", and it took it"
	}
	return "the stick was reserved for " + nameOf(l.Agent) + c.sayDuring(n.Span) + ", and it didn't take it"
}

// sayWaited says what a bar shows of the waits of a lane.
func (c *canvas) sayWaited(l timeline.Lane, b bar) string {
	w := l.Waits[b.first]

	switch {
	case b.first != b.last:
		return c.saySeveral(l, "waited for", "turn", b, w.Span, l.Waits[b.last].Span)
	case w.To.IsZero():
		return nameOf(l.Agent) + " has waited for the stick" + c.saySince(w.Span)
	}
	return fmt.Sprintf("%s waited%s; it got turn %d", nameOf(l.Agent), c.sayDuring(w.Span), w.Turn)
}

// sayMarks says what marks show, the first few of them.
func (c *canvas) sayMarks(l timeline.Lane, b bar) string {
	const most = 3
	var said []string
	for i := b.first; i <= b.last; i++ {
		m := l.Marks[i]
		if len(said) == most {
			said = append(said, fmt.Sprintf("and %d more", b.last-i+1))
			break
		}

		// Marks of another type have a place of their own.
		if m.Type != l.Marks[b.first].Type {
			continue
		}

		s := c.formatTime(m.At) + " "
		switch m.Type {
		case stick.EventTakeover:
			cause := stick.Clip(strings.ReplaceAll(string(m.Cause), "_", " "), maxText)
			s += fmt.Sprintf("%s took over from %s: %s", nameOf(l.Agent), nameOrNobody(m.Other), isolateText(cause))
		case stick.EventKick:
			s += fmt.Sprintf("%s removed %s", nameOrNobody(m.Other), nameOf(l.Agent))
		default:
			s += fmt.Sprintf("what %s and %s reserved overlaps", nameOf(l.Agent), nameOrNobody(m.Other))
		}

		if m.Reason != "" {
			s += "; " + isolateText(stick.Clip(m.Reason, maxText))
		}

		said = append(said, s)
	}

	return strings.Join(said, "; ")
}

// sayPauses says what a bar shows of the pauses.
func (c *canvas) sayPauses(b bar) string {
	p := c.t.Pauses[b.first]
	if b.first != b.last {
		return fmt.Sprintf("the room was paused %d times%s", b.last-b.first+1, c.sayBetween(p.From, c.t.Pauses[b.last].To))
	}

	s := "somebody"
	if p.By != "" {
		s = nameOf(p.By)
	}

	if p.To.IsZero() {
		s += " has paused the room" + c.saySince(p.Span)
	} else {
		s += " paused the room" + c.sayDuring(p.Span)
	}

	if p.Reason != "" {
		s += ": " + isolateText(stick.Clip(p.Reason, maxText))
	}

	return s
}

// saySeveral says what many spans show that are drawn as one.
func (c *canvas) saySeveral(l timeline.Lane, did string, what stick.Words, b bar, first, last timeline.Span) string {
	return fmt.Sprintf("%s %s %s%s", nameOf(l.Agent), did, stick.Count(b.last-b.first+1, what), c.sayBetween(first.From, last.To))
}

// sayDuring says how long something lasted that has ended, and when it was.
func (c *canvas) sayDuring(s timeline.Span) string {
	if s.From.IsZero() {
		return " until " + c.formatTime(s.To)
	}
	return " for " + formatDuration(s.To.Sub(s.From)) + c.sayBetween(s.From, s.To)
}

// saySince says how long something has gone on.
func (c *canvas) saySince(s timeline.Span) string {
	if s.From.IsZero() {
		return ""
	}
	return " for " + formatDuration(c.t.To.Sub(s.From)) + ", since " + c.formatTime(s.From)
}

// sayBetween says from when to when something was, as far as that is known.
func (c *canvas) sayBetween(from, to stick.Time) string {
	switch {
	case from.IsZero() && to.IsZero():
		return ""
	case from.IsZero():
		return ", until " + c.formatTime(to)
	case to.IsZero():
		return ", since " + c.formatTime(from)
	}
	return ", " + c.formatTime(from) + " to " + c.formatTime(to)
}

// nameOf is the name of an agent within a sentence.
func nameOf(a stick.AgentID) string { return isolateText(clipColumns(string(a), 2*maxName)) }

// nameOrNobody names the other side of something.
func nameOrNobody(a stick.AgentID) string {
	if a == "" {
		return "nobody"
	}
	return nameOf(a)
}

// What stands between these two characters has a direction of its own.
const (
	isolate    = '\u2068'
	isolateEnd = '\u2069'
)

// isolateText keeps a text that is written from right to left from turning the sentence around it.
func isolateText(s string) string {
	for _, r := range s {
		if r >= 0x590 {
			return string(isolate) + s + string(isolateEnd)
		}
	}
	return s
}
