package cli

import (
	"io"
	"sync"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// progressLine is one line on the terminal of standard error, which says what a command is doing. It is no
// part of the answer: it goes before anything else is printed, and when the command is over. Without a
// terminal there is none, and nil does nothing.
type progressLine struct {
	out     io.Writer
	columns func() int // of the terminal now

	mu    sync.Mutex
	text  func() shown // nil for nothing
	drawn string       // what the terminal shows
	stop  chan struct{}
	ended chan struct{} // closed when the goroutine that redraws the line has ended; nil without one
}

// startProgress begins a line, which the caller ends before it prints its answer. If time passes in it, it is
// drawn again every second.
func (a *app) startProgress(timePasses bool) *progressLine {
	if a.json || a.inHook || a.ErrColumns == nil || a.ErrColumns() == 0 || a.Getenv("TERM") == "dumb" {
		return nil
	}

	l := &progressLine{out: a.Stderr, columns: a.ErrColumns, stop: make(chan struct{})}
	if timePasses {
		l.ended = make(chan struct{})

		// This goroutine runs until end.
		go l.redrawEverySecond()
	}

	a.progress = l
	return l
}

func (l *progressLine) redrawEverySecond() {
	defer close(l.ended)
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-t.C:
			l.mu.Lock()
			l.draw()
			l.mu.Unlock()
		}
	}
}

// setText changes the line.
func (l *progressLine) setText(text func() shown) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
	l.draw()
}

// draw shows the line, if it isn't there already. Its caller holds l.mu.
func (l *progressLine) draw() {
	if l.text == nil {
		return
	}
	// Nothing is written in the last column: some terminals would go on to the next line.
	if now := term.Fit(string(l.text()), l.columns()-1); now != l.drawn {
		// The terminal may be gone, and the command goes on.
		_, _ = io.WriteString(l.out, "\r"+now+"\x1b[K")
		l.drawn = now
	}
}

// clear removes the line until it is drawn again.
func (l *progressLine) clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn != "" {
		_, _ = io.WriteString(l.out, "\r\x1b[K")
		l.drawn = ""
	}
}

// end removes the line for good.
func (l *progressLine) end() {
	if l == nil {
		return
	}
	close(l.stop)
	if l.ended != nil {
		<-l.ended
	}
	l.clear()
}

// showsStanding returns what tells l for what a wait waits, nil if there is no line. It says since when by
// the clock, so that nothing has to run while the wait sleeps.
func (a *app) showsStanding(l *progressLine) func(engine.Standing) {
	if l == nil {
		return nil
	}
	return func(s engine.Standing) { l.setText(func() shown { return a.page().standingText(s) }) }
}

// standingText says for what a wait waits.
func (p *page) standingText(s engine.Standing) shown {
	if s.Paused.On() {
		return showf("%s", s.Paused.Says(p.now, ""))
	}

	who := shown("nobody has the stick")
	switch {
	case s.Owner != "":
		who = showf("%s has held the stick since %s", s.Owner, p.clock(s.OwnedSince))
	case s.ReservedFor != "":
		who = showf("the stick is reserved for %s", s.ReservedFor)
	}

	switch {
	case s.Place == 1:
		who += "; you are next"
	case s.Place > 1:
		who += showf("; you are number %d of %d", s.Place, s.Of)
	default:
		who += "; you wait for events"
	}

	if s.NextAction != "" {
		who += showf("; the last handoff names the next step: %s", stick.Quote(s.NextAction, maxNextAction))
	}

	return who
}

// showsGate returns what tells l which gate runs, nil if there is no line.
func (a *app) showsGate(l *progressLine) func(task.GateRun) {
	if l == nil {
		return nil
	}
	return func(g task.GateRun) { l.setText(func() shown { return a.page().gateRun(g) }) }
}

// gateRun says which gate runs, for how long, and what it printed last.
func (p *page) gateRun(g task.GateRun) shown {
	on := showf("%s", g.TaskID)
	if g.OnBranch {
		on = showf("%s itself", g.Branch)
	}
	line := showf("running the gate on %s%s: %s", on, p.durationText(g.Since), stick.Name(g.Command).Cut(40))
	if last := g.LastLine(); last != "" {
		line += showf(" | %s", stick.Quote(last, 160))
	}
	return line
}

// durationText says for how long something has run, unless it has just begun.
func (p *page) durationText(since stick.Time) stick.Words {
	if d := p.now.Sub(since); d >= time.Second {
		return " (" + stick.Age(d) + ")"
	}
	return ""
}

// showsCheck returns what tells l which check of the doctor runs.
func (a *app) showsCheck(l *progressLine) func(check string) {
	return func(check string) {
		began := a.now()
		l.setText(func() shown { return showf("checking %s%s", stick.Words(check), a.page().durationText(began)) })
	}
}
