package app

import (
	"io"
	"sync"
	"time"

	"talkingstick/internal/term"
)

// ProgressLine is one line on the terminal of standard error, which says what a command is doing. It is no
// part of the answer: it goes before anything else is printed, and when the command is over. Without a
// terminal there is none, and nil does nothing.
type ProgressLine struct {
	out     io.Writer
	columns func() int // of the terminal now

	mu    sync.Mutex
	text  func() term.Text // nil for nothing
	drawn string           // what the terminal shows
	stop  chan struct{}
	ended chan struct{} // closed when the goroutine that redraws the line has ended; nil without one
}

// StartProgress begins a line, which the caller ends before it prints its answer. If time passes in it, it is
// drawn again every second.
func (a *Run) StartProgress(timePasses bool) *ProgressLine {
	if a.JSON || a.InHook || a.ErrColumns == nil || a.ErrColumns() == 0 || a.Getenv("TERM") == "dumb" {
		return nil
	}

	l := &ProgressLine{out: a.Stderr, columns: a.ErrColumns, stop: make(chan struct{})}
	if timePasses {
		l.ended = make(chan struct{})

		// This goroutine runs until end.
		go l.redrawEverySecond()
	}

	a.progress = l
	return l
}

func (l *ProgressLine) redrawEverySecond() {
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

// SetText changes the line.
func (l *ProgressLine) SetText(text func() term.Text) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
	l.draw()
}

// draw shows the line, if it isn't there already. Its caller holds l.mu.
func (l *ProgressLine) draw() {
	if l.text == nil {
		return
	}
	// Nothing is written in the last column: some terminals would go on to the next line.
	if now := term.CutLine(string(l.text()), l.columns()-1); now != l.drawn {
		// The terminal may be gone, and the command goes on.
		_, _ = io.WriteString(l.out, "\r"+now+"\x1b[K")
		l.drawn = now
	}
}

// clear removes the line until it is drawn again.
func (l *ProgressLine) clear() {
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

// End removes the line for good.
func (l *ProgressLine) End() {
	if l == nil {
		return
	}
	close(l.stop)
	if l.ended != nil {
		<-l.ended
	}
	l.clear()
}
