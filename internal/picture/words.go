package picture

import (
	"fmt"
	"strings"
	"time"

	"talkingstick/stick"
)

// when writes a time for whoever looks: with its day, unless all of the picture is of one day.
func (c *canvas) when(t stick.Time) string {
	at := t.Go().In(c.opt.Zone)
	if c.day(c.t.From) == c.day(c.t.To) {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2 Jan 15:04")
}

func (c *canvas) day(t stick.Time) string { return t.Go().In(c.opt.Zone).Format(time.DateOnly) }

// title says what the picture shows.
func (c *canvas) title() string {
	if c.t.To <= c.t.From {
		return "Who held the stick"
	}
	from, to := c.t.From.Go().In(c.opt.Zone), c.t.To.Go().In(c.opt.Zone)
	until := to.Format("15:04 MST")
	if c.day(c.t.From) != c.day(c.t.To) {
		until = to.Format("2 Jan 2006 15:04 MST")
	}
	return "Who held the stick from " + from.Format("2 Jan 2006 15:04") + " to " + until
}

// describe says what the lanes show, for those who can't see them.
func (c *canvas) describe() string {
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
		s := name(l.Agent)
		switch {
		case l.Turns == 0 && l.Waited == 0:
			s += " didn't hold the stick"
		case l.Turns == 0:
			s += " waited for the stick for " + lasted(l.Waited.Duration())
		default:
			s += fmt.Sprintf(" held the stick in %s for %s", stick.Count(l.Turns, "turn"), lasted(l.Held.Duration()))
			if l.Waited > 0 {
				s += " and waited for " + lasted(l.Waited.Duration())
			}
		}
		for _, m := range l.Marks {
			if m.Type == stick.EventTakeover {
				s += fmt.Sprintf("; it took over from %s", other(m.Other))
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

// lasted is [stick.Lasted] as text.
func lasted(d time.Duration) string { return string(stick.Lasted(d)) }

// totals says on a lane what it comes to.
func totals(l stick.Lane) string {
	var said []string
	if l.Turns > 0 {
		said = append(said, string(stick.Count(l.Turns, "turn")), "held "+lasted(l.Held.Duration()))
	}
	if l.Waited > 0 {
		said = append(said, "waited "+lasted(l.Waited.Duration()))
	}
	return strings.Join(said, " · ")
}

// began says how a turn began.
var began = map[stick.ClaimReason]string{
	stick.DirectPass: "the stick was passed to it", stick.InSequence: "it was next in line", stick.OpenClaim: "the stick was free",
	stick.TookOver: "it took the stick over",
}

// sayHeld says what a bar shows of the turns of a lane.
func (c *canvas) sayHeld(l stick.Lane, b bar) string {
	h := l.Holds[b.first]
	if b.first != b.last {
		return c.several(l, "held the stick in", "turn", b, l.Holds[b.first].Span, l.Holds[b.last].Span)
	}
	s := name(l.Agent)
	if h.To.IsZero() {
		s += " has held the stick" + c.since(h.Span)
	} else {
		s += " held the stick" + c.during(h.Span)
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
		s += "; " + other(h.By) + " took over"
	case stick.EventKick:
		s += "; " + other(h.By) + " removed it"
	case stick.EventRestored:
		s += "; the machine restarted, or the database was restored or has lost changes"
	}
	return s
}

// sayNamed says what a bar shows of the time in which the stick was reserved for the agent of a lane.
func (c *canvas) sayNamed(l stick.Lane, b bar) string {
	n := l.Named[b.first]
	switch {
	case b.first != b.last:
		return fmt.Sprintf("the stick was reserved for %s %d times%s", name(l.Agent), b.last-b.first+1, c.between(n.From, l.Named[b.last].To))
	case n.To.IsZero():
		return "the stick is reserved for " + name(l.Agent) + c.since(n.Span)
	case n.Claimed:
		return "the stick was reserved for " + name(l.Agent) + c.during(n.Span) + ", and it took it"
	}
	return "the stick was reserved for " + name(l.Agent) + c.during(n.Span) + ", and it didn't take it"
}

// sayWaited says what a bar shows of the waits of a lane.
func (c *canvas) sayWaited(l stick.Lane, b bar) string {
	w := l.Waits[b.first]
	switch {
	case b.first != b.last:
		return c.several(l, "waited for", "turn", b, w.Span, l.Waits[b.last].Span)
	case w.To.IsZero():
		return name(l.Agent) + " has waited for the stick" + c.since(w.Span)
	}
	return fmt.Sprintf("%s waited%s; it got turn %d", name(l.Agent), c.during(w.Span), w.Turn)
}

// sayMarks says what marks show, the first few of them.
func (c *canvas) sayMarks(l stick.Lane, b bar) string {
	const most = 3
	var said []string
	for i := b.first; i <= b.last; i++ {
		m := l.Marks[i]
		if len(said) == most {
			said = append(said, fmt.Sprintf("and %d more", b.last-i+1))
			break
		}
		if m.Type != l.Marks[b.first].Type {
			continue // it has a mark of its own
		}
		s := c.when(m.At) + " "
		switch m.Type {
		case stick.EventTakeover:
			s += fmt.Sprintf("%s took over from %s: %s", name(l.Agent), other(m.Other), isolated(stick.Clip(strings.ReplaceAll(string(m.Cause), "_", " "), maxText)))
		case stick.EventKick:
			s += fmt.Sprintf("%s removed %s", other(m.Other), name(l.Agent))
		default:
			s += fmt.Sprintf("what %s and %s reserved overlaps", name(l.Agent), other(m.Other))
		}
		if m.Reason != "" {
			s += "; " + isolated(stick.Clip(m.Reason, maxText))
		}
		said = append(said, s)
	}
	return strings.Join(said, "; ")
}

// sayPauses says what a bar shows of the pauses.
func (c *canvas) sayPauses(b bar) string {
	p := c.t.Pauses[b.first]
	if b.first != b.last {
		return fmt.Sprintf("the room was paused %d times%s", b.last-b.first+1, c.between(p.From, c.t.Pauses[b.last].To))
	}
	s := "somebody"
	if p.By != "" {
		s = name(p.By)
	}
	if p.To.IsZero() {
		s += " has paused the room" + c.since(p.Span)
	} else {
		s += " paused the room" + c.during(p.Span)
	}
	if p.Reason != "" {
		s += ": " + isolated(stick.Clip(p.Reason, maxText))
	}
	return s
}

// several says what many spans show that are drawn as one.
func (c *canvas) several(l stick.Lane, did string, what stick.Words, b bar, first, last stick.Span) string {
	return fmt.Sprintf("%s %s %s%s", name(l.Agent), did, stick.Count(b.last-b.first+1, what), c.between(first.From, last.To))
}

// during says how long something lasted that has ended, and when it was.
func (c *canvas) during(s stick.Span) string {
	if s.From.IsZero() {
		return " until " + c.when(s.To)
	}
	return " for " + lasted(s.To.Sub(s.From)) + c.between(s.From, s.To)
}

// since says how long something has gone on.
func (c *canvas) since(s stick.Span) string {
	if s.From.IsZero() {
		return ""
	}
	return " for " + lasted(c.t.To.Sub(s.From)) + ", since " + c.when(s.From)
}

// between says from when to when something was, as far as that is known.
func (c *canvas) between(from, to stick.Time) string {
	switch {
	case from.IsZero() && to.IsZero():
		return ""
	case from.IsZero():
		return ", until " + c.when(to)
	case to.IsZero():
		return ", since " + c.when(from)
	}
	return ", " + c.when(from) + " to " + c.when(to)
}

// name is the name of an agent within a sentence.
func name(a stick.AgentID) string { return isolated(fitted(string(a), 2*maxName)) }

// other names the other side of something.
func other(a stick.AgentID) string {
	if a == "" {
		return "nobody"
	}
	return name(a)
}

// What stands between these two characters has a direction of its own.
const (
	isolate    = '\u2068'
	isolateEnd = '\u2069'
)

// isolated keeps a text that is written from right to left from turning the sentence around it.
func isolated(s string) string {
	for _, r := range s {
		if r >= 0x590 {
			return string(isolate) + s + string(isolateEnd)
		}
	}
	return s
}
